// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Cells as Python sees them: references, the columns that are put together
// from them, and the histories that they are cut from.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_CELLS_H_
#define REVERB_CC_PYTHON_CELLS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reverb/cc/client/cells.h"
#include "reverb/cc/client/step_history.h"

namespace reverb::python {

// The path of a column, for messages.
std::string FormatPath(pybind11::handle path);

class PyCell {
 public:
  explicit PyCell(CellRef ref) : ref_(std::move(ref)) {}

  const CellRef& ref() const { return ref_; }
  bool expired() const { return ref_.expired(); }
  pybind11::object Shape() const;
  pybind11::object DType() const;
  pybind11::object Numpy() const;
  pybind11::str Repr() const;

 private:
  void CheckAlive() const;

  const CellRef ref_;
};

// Cells that become a column of an item.
class PyTrajectoryColumn {
 public:
  // InvalidArgument if a reference is missing, or if there isn't exactly one
  // to squeeze.
  PyTrajectoryColumn(std::vector<CellRef> cells, bool squeeze,
                     pybind11::object path);
  static PyTrajectoryColumn FromReferences(pybind11::handle references,
                                           bool squeeze, pybind11::object path);

  const std::vector<CellRef>& cells() const { return cells_; }
  bool squeeze() const { return squeeze_; }
  PyTrajectoryColumn Select(pybind11::handle key) const;
  pybind11::list References() const;
  pybind11::object Shape() const;
  pybind11::object DType() const;
  pybind11::object Numpy() const;
  pybind11::str Repr() const;

 private:
  // " of column 'obs/camera'", or nothing.
  std::string Where() const;
  const CellRef& First() const;
  void CheckAlive(size_t index) const;

  std::vector<CellRef> cells_;
  bool squeeze_ = false;
  pybind11::object path_;
};

// What was appended to one column since the history was last cleared.
class PyColumnHistory {
 public:
  PyColumnHistory(std::shared_ptr<const StepHistory> history, int column,
                  pybind11::object path)
      : history_(std::move(history)), column_(column), path_(std::move(path)) {}

  int64_t Length() const { return history_->view(column_).length; }
  pybind11::object path() const { return path_; }
  PyTrajectoryColumn Select(pybind11::handle key) const;
  pybind11::list References() const;
  pybind11::str Repr() const;

 private:
  CellRef At(pybind11::handle index) const;
  std::vector<CellRef> Slice(pybind11::handle slice) const;
  // Cells at `start`, `start + step`, ... below or above `stop`.
  std::vector<CellRef> Range(int64_t start, int64_t count, int64_t step) const;
  [[noreturn]] void ThrowExpired(const std::string& what,
                                 bool as_type_error = false) const;

  const std::shared_ptr<const StepHistory> history_;
  const int column_;
  const pybind11::object path_;
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_CELLS_H_
