// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/status.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"

#include "reverb/cc/support/error_info.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

// Messages may quote a peer's bytes.
py::object Text(absl::string_view text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text.data(), text.size(), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(decoded);
}

py::object TextOrNone(const std::string& text) {
  if (text.empty()) return py::none();
  return Text(text);
}

py::object IntOrNone(const std::string& text) {
  int64_t value;
  if (!absl::SimpleAtoi(text, &value)) return py::none();
  return py::int_(value);
}

py::tuple Builtins(Also also) {
  switch (also) {
    case Also::kNothing:
      break;
    case Also::kValueError:
      return py::make_tuple(py::handle(PyExc_ValueError));
    case Also::kRuntimeError:
      return py::make_tuple(py::handle(PyExc_RuntimeError));
    case Also::kTypeError:
      return py::make_tuple(py::handle(PyExc_TypeError));
  }
  return py::tuple();
}

}  // namespace

py::object MakeException(const absl::Status& status, Also also) {
  const ErrorInfo info = GetErrorInfo(status).value_or(ErrorInfo());
  try {
    // Imported here: most programs never see an error.
    return py::module_::import("reverb.errors")
        .attr("error_from_status")(static_cast<int>(status.code()),
                                   Text(status.message()),
                                   py::arg("table") = TextOrNone(info.table),
                                   py::arg("column") = TextOrNone(info.column),
                                   py::arg("limit") = IntOrNone(info.limit),
                                   py::arg("actual") = IntOrNone(info.actual),
                                   py::arg("also") = Builtins(also));
  } catch (const py::error_already_set& error) {
    // Late in the interpreter's life nothing can be imported.
    if (!error.matches(PyExc_ImportError)) throw;
    return py::handle(PyExc_RuntimeError)(Text(status.message()));
  }
}

void ThrowException(const py::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw py::error_already_set();
}

}  // namespace reverb::python
