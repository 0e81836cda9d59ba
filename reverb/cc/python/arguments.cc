// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/arguments.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/python/status.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

std::string TypeName(py::handle value) {
  return py::type::of(value).attr("__name__").cast<std::string>();
}

// As a message shows it: the value, or its type if it may be a large one.
std::string Shown(py::handle value) {
  PyObject* const object = value.ptr();
  if (!value.is_none() && !PyLong_Check(object) && !PyFloat_Check(object) &&
      !PyUnicode_Check(object)) {
    return TypeName(value);
  }
  constexpr size_t kMaxShown = 200;
  const std::string text = py::repr(value).cast<std::string>();
  return text.size() <= kMaxShown ? text : TypeName(value);
}

[[noreturn]] void ThrowTypeError(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw py::error_already_set();
}

// A priority for what `whose` and `name` say, which make the message.
template <typename Name>
double ToPriority(py::handle value, const char* whose, const Name& name) {
  if (PyFloat_CheckExact(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  return ToDouble(value, absl::StrCat(whose, name).c_str());
}

// The items of a mapping, which may be any object with `items`.
py::object Items(py::handle mapping, const char* what) {
  if (!PyDict_Check(mapping.ptr()) && !py::hasattr(mapping, "items")) {
    ThrowTypeError(
        absl::StrCat(what, " must be a dict, not ", TypeName(mapping)));
  }
  return mapping.attr("items")();
}

}  // namespace

std::string ToString(py::handle value, const char* what) {
  if (!PyUnicode_Check(value.ptr())) {
    ThrowTypeError(absl::StrCat(what, " must be a str, not ", TypeName(value)));
  }
  Py_ssize_t size;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {  // lone surrogates
    PyErr_Clear();
    ThrowTypeError(
        absl::StrCat(what, " must be valid Unicode, not ", Shown(value)));
  }
  return std::string(text, size);
}

double ToDouble(py::handle value, const char* what) {
  const double result = PyFloat_AsDouble(value.ptr());
  if (result == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      ThrowTypeError(
          absl::StrCat(what, " must be a float, not ", Shown(value)));
    }
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      ThrowTypeError(absl::StrCat(what, " must fit a float"));
    }
    throw py::error_already_set();
  }
  return result;
}

ItemKey ToKey(py::handle value, const char* what) {
  PyObject* const index = PyNumber_Index(value.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    ThrowTypeError(absl::StrCat(what, " must be an int, not ", Shown(value)));
  }
  const auto held = py::reinterpret_steal<py::object>(index);
  const unsigned long long key = PyLong_AsUnsignedLongLong(index);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    ThrowTypeError(absl::StrCat(what, " must be from 0 to 2**64 - 1, not ",
                                py::str(held).cast<std::string>()));
  }
  return key;
}

std::optional<double> ToTimeout(py::handle value) {
  if (value.is_none()) return std::nullopt;
  const double seconds = ToDouble(value, "timeout");
  if (std::isnan(seconds) || seconds < 0) {
    Unwrap(absl::InvalidArgumentError(absl::StrCat(
        "timeout must be None or a number of seconds >= 0, not ", seconds)));
  }
  return seconds;
}

std::vector<std::pair<std::string, double>> ToTablePriorities(
    py::handle mapping) {
  std::vector<std::pair<std::string, double>> result;
  if (mapping.is_none()) return result;  // as empty as {}
  for (py::handle entry : Items(mapping, "priorities")) {
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    std::string table = ToString(pair[0], "a table's name");
    const double priority =
        ToPriority(pair[1], "the priority for table ", table);
    result.emplace_back(std::move(table), priority);
  }
  return result;
}

std::vector<PriorityUpdate> ToUpdates(py::handle mapping) {
  std::vector<PriorityUpdate> result;
  if (mapping.is_none()) return result;
  for (py::handle entry : Items(mapping, "updates")) {
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    const ItemKey key = ToKey(pair[0], "a key in updates");
    result.push_back({key, ToPriority(pair[1], "the priority of key ", key)});
  }
  return result;
}

std::vector<ItemKey> ToKeys(py::handle keys) {
  std::vector<ItemKey> result;
  if (keys.is_none()) return result;
  if (PyUnicode_Check(keys.ptr()) || PyBytes_Check(keys.ptr()) ||
      !py::hasattr(keys, "__iter__")) {
    ThrowTypeError(
        absl::StrCat("deletes must be a list of keys, not ", Shown(keys)));
  }
  for (py::handle key : py::iter(keys)) {
    result.push_back(ToKey(key, "a key in deletes"));
  }
  return result;
}

}  // namespace reverb::python
