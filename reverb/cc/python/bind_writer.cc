// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/writer.h"
#include "reverb/cc/python/arguments.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/support/fork_guard.h"

namespace reverb::python {

namespace py = pybind11;

OneUser::OneUser(bool& busy, const char* what) : busy_(busy) {
  if (busy) {
    Unwrap(absl::FailedPreconditionError(
        absl::StrCat("this ", what,
                     " is in use by another thread: give each thread its "
                     "own")));
  }
  busy = true;
}

Writer& PyWriter::writer() const {
  Writer* const writer = writer_.get().get();
  if (writer == nullptr) {
    Unwrap(absl::CancelledError("the interpreter is shutting down"));
  }
  return *writer;
}

bool PyWriter::closed() const {
  if (InForkedChildOfGrpcUser()) return true;
  const Writer* const writer = writer_.get().get();
  return writer == nullptr || writer->closed();
}

void PyWriter::Append(py::handle data) {
  Writer& writer = this->writer();
  OneUser user(busy_, "writer");
  columns_.Fill(data, flattener_);
  const absl::Status status = WaitWithoutGil([&](const WaitOptions& wait) {
    return writer.Append(columns_.views(), wait);
  });
  columns_.Clear();
  if (!status.ok()) {
    Unwrap(NameColumns(status, flattener_.LeafNames(), nullptr));
  }
  writer.SetStructure(flattener_.StructureBytes());
}

void PyWriter::AppendSequence(py::handle data) {
  Writer& writer = this->writer();
  OneUser user(busy_, "writer");
  columns_.Fill(data, flattener_);
  const absl::Status status = WaitWithoutGil([&](const WaitOptions& wait) {
    return writer.AppendSequence(columns_.views(), wait);
  });
  columns_.Clear();
  if (!status.ok()) {
    Unwrap(NameColumns(status, flattener_.LeafNames(), nullptr));
  }
  writer.SetStructure(flattener_.StructureBytes());
}

void PyWriter::CreateItem(py::handle table, int num_timesteps,
                          py::handle priority) {
  Writer& writer = this->writer();
  const std::string name = ToString(table, "table");
  const double value = ToDouble(priority, "priority");
  OneUser user(busy_, "writer");
  const absl::Status status = WaitWithoutGil([&](const WaitOptions& wait) {
    return writer.CreateItem(name, num_timesteps, value, wait);
  });
  if (status.ok()) return;
  Unwrap(NameColumns(status, flattener_.LeafNames(),
                     KnownSignature(*client_.get(), name).get()));
}

void PyWriter::Flush() {
  Writer& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(WaitWithoutGil(
             [&](const WaitOptions& wait) { return writer.Flush(wait); }),
         Also::kRuntimeError);
}

void PyWriter::Close(bool retry_on_unavailable) {
  Writer& writer = this->writer();
  OneUser user(busy_, "writer");
  // 0.14: ValueError for the second `close`, RuntimeError for what else may
  // fail.
  const Also also = writer.closed() ? Also::kValueError : Also::kRuntimeError;
  Unwrap(WaitWithoutGil([&](const WaitOptions& wait) {
           return writer.Close(retry_on_unavailable, wait);
         }),
         also);
}

py::str PyWriter::Repr() { return writer().ToString(); }

void BindWriter(py::module_& module) {
  py::class_<PyWriter>(module, "Writer", py::module_local(),
                       "Steps in, items over the last steps out.")
      .def("append", &PyWriter::Append, py::arg("data"))
      .def("append_sequence", &PyWriter::AppendSequence, py::arg("sequence"))
      .def("create_item", &PyWriter::CreateItem, py::arg("table"),
           py::arg("num_timesteps"), py::arg("priority"))
      .def("flush", &PyWriter::Flush)
      .def("close", &PyWriter::Close, py::arg("retry_on_unavailable") = true)
      .def_property_readonly("closed", &PyWriter::closed)
      .def("__repr__", &PyWriter::Repr);
}

}  // namespace reverb::python
