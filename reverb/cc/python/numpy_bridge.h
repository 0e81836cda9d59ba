// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Between Python's values and the engine's tensors.
//
// In: a leaf becomes a view of the memory it already has, if that is in row
// order and native byte order. Out: an array owns the buffer that the decoder
// filled.
//
// Errors: Python exceptions, thrown as error_already_set.
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_NUMPY_BRIDGE_H_
#define REVERB_CC_PYTHON_NUMPY_BRIDGE_H_

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/python/nest.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb::python {

// Imports NumPy's C interface; once, before anything else here.
void ImportNumpy();

// The flat columns of one piece of nested data as views. They are valid until
// `Clear` or the next `Fill`, and can be read without the GIL.
class Columns {
 public:
  // TypeError that names the leaf for what tables can't hold.
  void Fill(pybind11::handle data, Flattener& flattener);
  // The same of `leaves`, the data that `flattener` has just flattened; None
  // makes no column. `present` becomes the number of each column's leaf.
  void FillPresent(std::vector<pybind11::object> leaves,
                   const Flattener& flattener, std::vector<int>& present);
  absl::Span<const TensorView> views() const { return views_; }
  size_t num_bytes() const;  // numeric, of all views
  // Releases what the views were made from.
  void Clear();

 private:
  using Scalar = std::array<char, 16>;  // large enough for complex128

  // Adds leaf number `i`; TypeError that names it.
  void AddLeaf(size_t i, const Flattener& flattener);
  void Add(PyObject* leaf, Scalar& scalar);
  void AddInt(PyObject* leaf, Scalar& scalar);
  void AddArray(pybind11::object array);
  template <typename T>
  void AddScalar(DType dtype, T value, Scalar& scalar);
  void AddStrings(Dims dims, std::vector<absl::string_view> strings);

  std::vector<pybind11::object> leaves_;
  std::vector<pybind11::object> kept_;  // arrays and texts made on the way
  std::vector<Scalar> scalars_;
  std::deque<std::vector<absl::string_view>> strings_;
  std::vector<TensorView> views_;
};

// The array that holds `tensor`'s values; strings as an object array of bytes.
// TypeError if NumPy lacks the dtype.
pybind11::object ToArray(Tensor tensor);

// The NumPy dtype; `object` for strings.
pybind11::object DTypeObject(DType dtype);

// Arrays of the steps of `array`: views of array[0], array[1], ... Requires at
// least one dimension.
std::vector<pybind11::object> SplitRows(pybind11::handle array);

// Rank and first dimension of an array.
int Rank(pybind11::handle array);
pybind11::ssize_t NumRows(pybind11::handle array);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_NUMPY_BRIDGE_H_
