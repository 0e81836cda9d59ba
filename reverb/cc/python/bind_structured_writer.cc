// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/structured_writer.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/environments.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/python/structured_writer.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::python {

namespace py = pybind11;

StructuredWriter& PyStructuredWriter::writer() const {
  StructuredWriter* const writer = writer_.get().get();
  if (writer == nullptr) {
    Unwrap(absl::CancelledError("the interpreter is shutting down"));
  }
  return *writer;
}

Layout& PyStructuredWriter::Read(py::handle data) {
  std::vector<py::object> leaves;
  Layout& layout = layouts_.Flatten(data, leaves);
  if (!writer().has_steps()) num_leaves_ = leaves.size();
  if (leaves.size() != num_leaves_) {
    Unwrap(WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                             "a step has ", leaves.size(),
                             " leaves, the first one had ", num_leaves_)),
                         {.limit = absl::StrCat(num_leaves_),
                          .actual = absl::StrCat(leaves.size())}));
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!writer().uses(static_cast<int>(i))) leaves[i] = py::none();
  }
  columns_.FillPresent(std::move(leaves), layout.flattener, present_);
  return layout;
}

void PyStructuredWriter::Append(py::handle data, bool partial_step) {
  StructuredWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  const Layout& layout = Read(data);
  const auto append = [&] {
    return writer.Append(present_, columns_.views(), partial_step);
  };
  const absl::Status status =
      columns_.num_bytes() < kKeepGilBytes ? append() : WithoutGil(append);
  columns_.Clear();
  if (!status.ok()) {
    Unwrap(NameColumns(status, layout.flattener.LeafNames(), nullptr));
  }
}

void PyStructuredWriter::AppendBatch(py::handle data, py::handle episode_ends) {
  StructuredWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Columns ends_columns;
  const absl::Span<const bool> ends = ReadFlags(episode_ends, ends_columns);
  const Layout& layout = Read(data);
  const absl::StatusOr<int64_t> num_envs =
      NumEnvironments(writer.num_envs(), columns_.views(), ends);
  const absl::Status status = num_envs.ok() ? WithoutGil([&] {
    return writer.AppendBatch(present_, columns_.views(), *num_envs, ends);
  })
                                            : num_envs.status();
  columns_.Clear();
  if (!status.ok()) {
    Unwrap(NameColumns(status, layout.flattener.LeafNames(), nullptr));
  }
}

void PyStructuredWriter::Flush(int64_t max_pending,
                               std::optional<double> timeout) {
  StructuredWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(WaitWithoutGil(DeadlineIn(timeout), [&](const WaitOptions& wait) {
    return writer.Flush(max_pending, wait);
  }));
}

void PyStructuredWriter::EndEpisode(int environment, bool clear,
                                    std::optional<double> timeout) {
  StructuredWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(WaitWithoutGil(DeadlineIn(timeout), [&](const WaitOptions& wait) {
    return writer.EndEpisode(environment, clear, wait);
  }));
}

void BindStructuredWriter(py::module_& module) {
  py::class_<PyStructuredWriter>(
      module, "StructuredWriter", py::module_local(),
      "Steps in, the items that configs describe out.")
      .def("append", &PyStructuredWriter::Append, py::arg("data"),
           py::arg("partial_step"))
      .def("append_batch", &PyStructuredWriter::AppendBatch, py::arg("data"),
           py::arg("episode_ends"))
      .def("flush", &PyStructuredWriter::Flush, py::arg("max_pending"),
           py::arg("timeout"))
      .def("end_episode", &PyStructuredWriter::EndEpisode,
           py::arg("environment"), py::arg("clear"), py::arg("timeout"))
      .def_property_readonly("step_is_open", &PyStructuredWriter::step_is_open)
      .def_property_readonly("num_envs", &PyStructuredWriter::num_envs);
}

}  // namespace reverb::python
