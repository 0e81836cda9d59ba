// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/client/cells.h"
#include "reverb/cc/client/step_history.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/cells.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::python {

namespace py = pybind11;

namespace {

std::string ReprText(py::handle object) {
  return py::repr(object).cast<std::string>();
}

py::tuple ShapeTuple(const Dims& dims, std::optional<size_t> rows) {
  py::list shape;
  if (rows) shape.append(*rows);
  for (const int64_t dim : dims) shape.append(dim);
  return py::tuple(shape);
}

py::object Reference(const CellRef& cell) {
  if (!cell) return py::none();
  return py::cast(PyCell(cell));
}

py::list ReferenceList(const std::vector<CellRef>& cells) {
  py::list list;
  for (const CellRef& cell : cells) list.append(Reference(cell));
  return list;
}

// Cells as an array `[cells, ...]`, or the one cell as it is.
py::object Values(absl::Span<const CellRef> cells, bool squeeze) {
  Tensor tensor = Unwrap(WithoutGil([cells] { return StackCells(cells); }));
  if (squeeze) tensor.dims.erase(tensor.dims.begin());
  return ToArray(std::move(tensor));
}

// The int of an index: Python's, NumPy's, whatever has `__index__`. Nothing
// for other objects.
std::optional<int64_t> AsIndex(py::handle key) {
  if (PyIndex_Check(key.ptr()) == 0) return std::nullopt;
  const Py_ssize_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return index;
}

struct SliceRange {
  int64_t start;
  int64_t count;
  int64_t step;
};

SliceRange RangeOf(py::handle slice, int64_t length) {
  Py_ssize_t start;
  Py_ssize_t stop;
  Py_ssize_t step;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) {
    throw py::error_already_set();
  }
  const Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
  return {.start = start, .count = count, .step = step};
}

[[noreturn]] void ThrowIndexError(const std::string& text) {
  throw py::index_error(text);
}

absl::Status InColumn(absl::Status status, py::handle path) {
  return WithErrorInfo(std::move(status), {.column = FormatPath(path)});
}

}  // namespace

std::string FormatPath(py::handle path) {
  if (!path || path.is_none()) return "";
  std::string text;
  for (py::handle part : path) {
    absl::StrAppend(&text, text.empty() ? "" : "/",
                    py::str(part).cast<std::string>());
  }
  return text;
}

void PyCell::CheckAlive() const {
  if (!expired()) return;
  Unwrap(absl::FailedPreconditionError(
      "the cell has expired: only the newest num_keep_alive_refs steps are "
      "kept"));
}

py::object PyCell::Shape() const {
  CheckAlive();
  return ShapeTuple(ref_.block->column().spec().dims, std::nullopt);
}

py::object PyCell::DType() const {
  CheckAlive();
  return DTypeObject(ref_.block->column().spec().dtype);
}

py::object PyCell::Numpy() const {
  CheckAlive();
  return Values(absl::MakeConstSpan(&ref_, 1), true);
}

py::str PyCell::Repr() const {
  return absl::StrCat("<cell ", ref_.block->first_cell() + ref_.row,
                      expired() ? ", expired>" : ">");
}

PyTrajectoryColumn::PyTrajectoryColumn(std::vector<CellRef> cells, bool squeeze,
                                       py::object path)
    : cells_(std::move(cells)), squeeze_(squeeze), path_(std::move(path)) {
  if (squeeze_ && cells_.size() != 1) {
    Unwrap(InColumn(absl::InvalidArgumentError(
                        absl::StrCat("only a single cell can be squeezed, ",
                                     cells_.size(), Where(), " were given")),
                    path_));
  }
  for (const CellRef& cell : cells_) {
    if (cell) continue;
    Unwrap(InColumn(absl::InvalidArgumentError(CutStatusText(absl::StrCat(
                        "steps without a value (None)", Where(),
                        ": path=", ReprText(path_ ? path_ : py::none()),
                        ", references=", ReprText(ReferenceList(cells_))))),
                    path_));
  }
}

PyTrajectoryColumn PyTrajectoryColumn::FromReferences(py::handle references,
                                                      bool squeeze,
                                                      py::object path) {
  std::vector<CellRef> cells;
  for (py::handle reference : references) {
    if (reference.is_none()) {
      cells.emplace_back();
    } else if (py::isinstance<PyCell>(reference)) {
      cells.push_back(reference.cast<const PyCell&>().ref());
    } else {
      throw py::type_error(absl::StrCat(
          "a column is made of references taken from a writer's history, not ",
          ReprText(reference)));
    }
  }
  return PyTrajectoryColumn(std::move(cells), squeeze, std::move(path));
}

std::string PyTrajectoryColumn::Where() const {
  const std::string path = FormatPath(path_);
  return path.empty() ? "" : absl::StrCat(" of column '", path, "'");
}

PyTrajectoryColumn PyTrajectoryColumn::Select(py::handle key) const {
  const auto length = static_cast<int64_t>(cells_.size());
  const auto at = [&](int64_t index) {
    if (index < -length || index >= length) {
      ThrowIndexError(
          absl::StrCat("a column of ", length, " cells has no cell ", index));
    }
    return cells_[static_cast<size_t>(index < 0 ? index + length : index)];
  };
  std::vector<CellRef> cells;
  if (PySlice_Check(key.ptr())) {
    const SliceRange range = RangeOf(key, length);
    for (int64_t i = 0; i < range.count; ++i) {
      cells.push_back(at(range.start + i * range.step));
    }
    return PyTrajectoryColumn(std::move(cells), false, path_);
  }
  if (PyList_Check(key.ptr())) {
    for (py::handle item : key) {
      const std::optional<int64_t> index = AsIndex(item);
      if (!index) {
        throw py::type_error(absl::StrCat(
            "positions in a column are ints, not ", ReprText(item)));
      }
      cells.push_back(at(*index));
    }
    return PyTrajectoryColumn(std::move(cells), false, path_);
  }
  if (const std::optional<int64_t> index = AsIndex(key)) {
    cells.push_back(at(*index));
    return PyTrajectoryColumn(std::move(cells), true, path_);
  }
  throw py::type_error(absl::StrCat(
      "a column is indexed by int, slice or list of int, not ", ReprText(key)));
}

py::list PyTrajectoryColumn::References() const {
  return ReferenceList(cells_);
}

void PyTrajectoryColumn::CheckAlive(size_t index) const {
  if (!cells_[index].expired()) return;
  Unwrap(InColumn(absl::FailedPreconditionError(absl::StrCat(
                      "cell ", index, Where(),
                      " has expired: only the newest num_keep_alive_refs "
                      "steps are kept")),
                  path_));
}

const CellRef& PyTrajectoryColumn::First() const {
  if (cells_.empty()) {
    ThrowIndexError("an empty column has neither shape nor dtype");
  }
  CheckAlive(0);
  return cells_[0];
}

py::object PyTrajectoryColumn::Shape() const {
  const Dims& dims = First().block->column().spec().dims;
  return squeeze_ ? ShapeTuple(dims, std::nullopt)
                  : ShapeTuple(dims, cells_.size());
}

py::object PyTrajectoryColumn::DType() const {
  return DTypeObject(First().block->column().spec().dtype);
}

py::object PyTrajectoryColumn::Numpy() const {
  if (cells_.empty()) {
    Unwrap(InColumn(absl::InvalidArgumentError("an empty column has no values"),
                    path_));
  }
  const CellSpec& first = cells_[0].block->column().spec();
  for (size_t i = 0; i < cells_.size(); ++i) {
    CheckAlive(i);
    if (cells_[i].block->column().spec() != first) {
      Unwrap(InColumn(absl::InvalidArgumentError(absl::StrCat(
                          "the cells", Where(),
                          " differ in dtype or shape: there is no array of "
                          "them")),
                      path_));
    }
  }
  return Values(cells_, squeeze_);
}

py::str PyTrajectoryColumn::Repr() const {
  return absl::StrCat(
      "TrajectoryColumn(path=", ReprText(path_ ? path_ : py::none()),
      ", squeeze=", squeeze_ ? "True" : "False",
      ", references=", ReprText(References()), ")");
}

void PyColumnHistory::ThrowExpired(const std::string& what,
                                   bool as_type_error) const {
  const StepHistory::View view = history_->view(column_);
  Unwrap(InColumn(absl::InvalidArgumentError(absl::StrCat(
                      "column '", FormatPath(path_), "': ", what,
                      " has expired or is out of range: of ", view.length,
                      " steps the newest ", view.retained,
                      " are kept (num_keep_alive_refs)")),
                  path_),
         as_type_error ? Also::kTypeError : Also::kNothing);
  throw py::value_error(what);  // not reached
}

CellRef PyColumnHistory::At(py::handle key) const {
  const std::optional<int64_t> index = AsIndex(key);
  if (!index) {
    throw py::type_error(absl::StrCat("column '", FormatPath(path_),
                                      "': positions are ints, not ",
                                      ReprText(key)));
  }
  const StepHistory::View view = history_->view(column_);
  const int64_t position = *index < 0 ? *index + view.length : *index;
  if (position >= view.length) {
    ThrowIndexError(absl::StrCat("column '", FormatPath(path_), "' has ",
                                 view.length, " steps, there is no step ",
                                 *index));
  }
  if (position < view.length - view.retained) {
    ThrowExpired(absl::StrCat("step ", *index));
  }
  return history_->At(column_, position);
}

std::vector<CellRef> PyColumnHistory::Range(int64_t start, int64_t count,
                                            int64_t step) const {
  if (count == 0) return {};
  const StepHistory::View view = history_->view(column_);
  const int64_t oldest = step > 0 ? start : start + (count - 1) * step;
  if (oldest < view.length - view.retained) {
    ThrowExpired(absl::StrCat("step ", oldest));
  }
  return history_->Range(column_, start, count, step);
}

std::vector<CellRef> PyColumnHistory::Slice(py::handle slice) const {
  const auto* const parts = reinterpret_cast<PySliceObject*>(slice.ptr());
  const StepHistory::View view = history_->view(column_);
  const int64_t expired = view.length - view.retained;
  SliceRange range = RangeOf(slice, view.length);
  const std::optional<int64_t> start = AsIndex(parts->start);
  const std::optional<int64_t> stop = AsIndex(parts->stop);
  if (start) {
    if ((*start < 0 ? *start + view.length : *start) < expired) {
      ThrowExpired(absl::StrCat("step ", *start));
    }
    return Range(range.start, range.count, range.step);
  }
  if (!stop) return Range(range.start, range.count, range.step);
  // Without a start, steps that have expired are left out.
  const int64_t end = *stop > 0 ? *stop : *stop + view.length;
  if (0 < end && end < expired) {
    // dm-reverb raises TypeError here.
    ThrowExpired(absl::StrCat("the slice ", ReprText(slice)), true);
  }
  if (range.step > 0) {
    range.start = expired;
    const int64_t span = std::max<int64_t>(
        0, std::min(*stop < 0 ? *stop + view.length : *stop, view.length) -
               expired);
    range.count = (span + range.step - 1) / range.step;
  } else {
    while (range.count > 0 &&
           range.start + (range.count - 1) * range.step < expired) {
      --range.count;
    }
  }
  return Range(range.start, range.count, range.step);
}

PyTrajectoryColumn PyColumnHistory::Select(py::handle key) const {
  if (PySlice_Check(key.ptr())) {
    return PyTrajectoryColumn(Slice(key), false, path_);
  }
  std::vector<CellRef> cells;
  if (PyList_Check(key.ptr())) {
    for (py::handle item : key) cells.push_back(At(item));
    return PyTrajectoryColumn(std::move(cells), false, path_);
  }
  if (PyIndex_Check(key.ptr()) == 0) {
    throw py::type_error(absl::StrCat(
        "column '", FormatPath(path_),
        "': a history is indexed by int, slice or list of int, not ",
        ReprText(key)));
  }
  cells.push_back(At(key));
  return PyTrajectoryColumn(std::move(cells), true, path_);
}

py::list PyColumnHistory::References() const {
  const StepHistory::View view = history_->view(column_);
  const int64_t expired = view.length - view.retained;
  py::list list;
  for (int64_t i = 0; i < expired; ++i) list.append(py::none());
  for (const CellRef& cell :
       history_->Range(column_, expired, view.retained, 1)) {
    list.append(Reference(cell));
  }
  return list;
}

py::str PyColumnHistory::Repr() const {
  return absl::StrCat("ColumnHistory(path=", ReprText(path_),
                      ", references=", ReprText(References()), ")");
}

void BindCells(py::module_& module) {
  py::class_<PyCell>(module, "Cell", py::module_local(),
                     "Stands for one cell that was appended.")
      .def_property_readonly("expired", &PyCell::expired)
      .def_property_readonly("shape", &PyCell::Shape)
      .def_property_readonly("dtype", &PyCell::DType)
      .def("numpy", &PyCell::Numpy)
      .def("__eq__",
           [](const PyCell& self, py::handle other) {
             return py::isinstance<PyCell>(other) &&
                    self.ref() == other.cast<const PyCell&>().ref();
           })
      .def("__hash__",
           [](const PyCell& self) {
             return reinterpret_cast<uintptr_t>(self.ref().block.get()) / 16 +
                    static_cast<size_t>(self.ref().row);
           })
      .def("__repr__", &PyCell::Repr);

  py::class_<PyTrajectoryColumn>(
      module, "TrajectoryColumn", py::module_local(),
      "Cells of one column that become a column of an item.\n\n"
      "Attributes:\n"
      "  is_squeezed: Whether this is one cell without a time dimension.")
      .def(py::init(&PyTrajectoryColumn::FromReferences),
           py::arg("data_references"), py::kw_only(),
           py::arg("squeeze") = false, py::arg("path") = py::none(),
           "Makes a column of references, in the order that samplers shall "
           "see; they may\ncome from several histories.\n\n"
           "Raises InvalidArgumentError if a reference is None or there isn't "
           "exactly one to\nsqueeze, TypeError for anything else.")
      .def_property_readonly("is_squeezed", &PyTrajectoryColumn::squeeze)
      .def("__len__",
           [](const PyTrajectoryColumn& self) { return self.cells().size(); })
      .def("__iter__",
           [](const PyTrajectoryColumn& self) {
             return py::iter(self.References());
           })
      .def("__getitem__", &PyTrajectoryColumn::Select, py::arg("key"),
           "The cells that `key` selects as from a tuple; an int selects one "
           "and squeezes it.")
      .def_property_readonly(
          "shape", &PyTrajectoryColumn::Shape,
          "Shape of the column: `[T, ...]`, or the cell's if squeezed.\n\n"
          "IndexError: the column is empty. FailedPreconditionError: the first "
          "cell has expired.")
      .def_property_readonly("dtype", &PyTrajectoryColumn::DType,
                             "The NumPy dtype, `object` for strings; errors as "
                             "those of `shape`.")
      .def("numpy", &PyTrajectoryColumn::Numpy,
           "A copy of the values, `[T, ...]`, or the cell's value if "
           "squeezed.\n\nFailedPreconditionError: a cell has expired. "
           "InvalidArgumentError: the column is empty.")
      .def("__repr__", &PyTrajectoryColumn::Repr);

  py::class_<PyColumnHistory>(
      module, "ColumnHistory", py::module_local(),
      "What was appended to one column since the history was last cleared.")
      .def("__len__", &PyColumnHistory::Length)
      .def("__iter__",
           [](const PyColumnHistory& self) {
             return py::iter(self.References());
           })
      .def("__getitem__", &PyColumnHistory::Select, py::arg("key"),
           "The cells that `key` selects, as from a list of all steps.\n\n"
           "An int selects one cell and squeezes it. A slice without a start "
           "(`history[:k]`)\nleaves out steps that have expired.\n\n"
           "IndexError: an int is not below the length. InvalidArgumentError: "
           "a step has\nexpired, had no value, or is before the first.")
      .def("path", &PyColumnHistory::path, "Path of the column.")
      .def("__repr__", &PyColumnHistory::Repr);
}

}  // namespace reverb::python
