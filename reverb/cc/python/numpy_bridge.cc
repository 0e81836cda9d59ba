// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/numpy_bridge.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

// Arrays up to this size are copied into memory of their own: cheaper than a
// capsule, and a scalar doesn't hold on to a pooled buffer.
constexpr size_t kCopyBytes = 256;

py::object Checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

PyArrayObject* AsArray(py::handle object) {
  return reinterpret_cast<PyArrayObject*>(object.ptr());
}

[[noreturn]] void ThrowTypeError(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw py::error_already_set();
}

std::string Repr(py::handle object) {
  return py::repr(object).cast<std::string>();
}

// ---- dtypes

std::optional<DType> IntType(bool is_signed, npy_intp size) {
  switch (size) {
    case 1:
      return is_signed ? DType::kInt8 : DType::kUint8;
    case 2:
      return is_signed ? DType::kInt16 : DType::kUint16;
    case 4:
      return is_signed ? DType::kInt32 : DType::kUint32;
    case 8:
      return is_signed ? DType::kInt64 : DType::kUint64;
    default:
      return std::nullopt;
  }
}

// ml_dtypes' types, whose numbers NumPy gives out at run time, and TensorFlow's
// quantized ones, which are structs.
std::optional<DType> ForeignType(PyArray_Descr* descr) {
  struct Entry {
    py::object descr;  // keeps the address from being used again
    std::optional<DType> dtype;
  };
  static auto* const known = new absl::flat_hash_map<PyArray_Descr*, Entry>;
  if (const auto it = known->find(descr); it != known->end()) {
    return it->second.dtype;
  }
  const auto object =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(descr));
  const py::object number =
      py::module_::import("reverb.specs").attr("dtype_number")(object);
  std::optional<DType> dtype;
  if (!number.is_none()) dtype = DTypeFromWire(number.cast<int64_t>());
  if (known->size() < 100) (*known)[descr] = {object, dtype};
  return dtype;
}

// Nothing for strings and for what tables can't hold.
std::optional<DType> NumericType(PyArray_Descr* descr) {
  const npy_intp size = PyDataType_ELSIZE(descr);
  switch (descr->type_num) {
    case NPY_BOOL:
      return DType::kBool;
    case NPY_BYTE:
    case NPY_SHORT:
    case NPY_INT:
    case NPY_LONG:
    case NPY_LONGLONG:
      return IntType(true, size);
    case NPY_UBYTE:
    case NPY_USHORT:
    case NPY_UINT:
    case NPY_ULONG:
    case NPY_ULONGLONG:
      return IntType(false, size);
    case NPY_HALF:
      return DType::kFloat16;
    case NPY_FLOAT:
      return DType::kFloat32;
    case NPY_DOUBLE:
      return DType::kFloat64;
    case NPY_CFLOAT:
      return DType::kComplex64;
    case NPY_CDOUBLE:
      return DType::kComplex128;
    case NPY_VOID:
      return ForeignType(descr);
    default:
      if (PyTypeNum_ISUSERDEF(descr->type_num)) return ForeignType(descr);
      return std::nullopt;
  }
}

// NumPy's number of a type that is its own; -1 for the others.
int NumpyNumber(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return NPY_FLOAT32;
    case DType::kFloat64:
      return NPY_FLOAT64;
    case DType::kInt32:
      return NPY_INT32;
    case DType::kUint8:
      return NPY_UINT8;
    case DType::kInt16:
      return NPY_INT16;
    case DType::kInt8:
      return NPY_INT8;
    case DType::kString:
      return NPY_OBJECT;
    case DType::kComplex64:
      return NPY_COMPLEX64;
    case DType::kInt64:
      return NPY_INT64;
    case DType::kBool:
      return NPY_BOOL;
    case DType::kUint16:
      return NPY_UINT16;
    case DType::kComplex128:
      return NPY_COMPLEX128;
    case DType::kFloat16:
      return NPY_FLOAT16;
    case DType::kUint32:
      return NPY_UINT32;
    case DType::kUint64:
      return NPY_UINT64;
    default:
      return -1;
  }
}

// A new reference.
PyArray_Descr* DescrOf(DType dtype) {
  if (const int number = NumpyNumber(dtype); number >= 0) {
    return PyArray_DescrFromType(number);
  }
  static auto* const known = new absl::flat_hash_map<DType, py::object>;
  auto it = known->find(dtype);
  if (it == known->end()) {
    it = known
             ->emplace(dtype,
                       py::module_::import("reverb.specs")
                           .attr("dtype_from_number")(static_cast<int>(dtype)))
             .first;
  }
  return reinterpret_cast<PyArray_Descr*>(it->second.inc_ref().ptr());
}

// ---- strings

// The bytes of a str (as UTF-8) or bytes object, borrowed from it.
std::optional<absl::string_view> StringBytes(PyObject* object) {
  if (PyBytes_Check(object)) {
    return absl::string_view(PyBytes_AS_STRING(object),
                             PyBytes_GET_SIZE(object));
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t size;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) throw py::error_already_set();
    return absl::string_view(text, size);
  }
  return std::nullopt;
}

Dims DimsOf(PyArrayObject* array) {
  const npy_intp* const dims = PyArray_DIMS(array);
  return Dims(dims, dims + PyArray_NDIM(array));
}

// The items of an array of S, U or object dtype. What has to be made for them
// is put into `kept`.
std::vector<absl::string_view> ArrayStrings(const py::object& array,
                                            std::vector<py::object>& kept) {
  std::vector<absl::string_view> strings;
  strings.reserve(PyArray_SIZE(AsArray(array)));
  const py::object flat = array.attr("flat");
  for (py::handle item : flat) {
    // S and U make an object per item; object arrays may be changed by
    // another thread while the views are in use.
    kept.push_back(py::reinterpret_borrow<py::object>(item));
    const auto bytes = StringBytes(item.ptr());
    if (!bytes) {
      ThrowTypeError(absl::StrCat(
          "object arrays may only hold str and bytes, not ",
          py::type::of(item).attr("__name__").cast<std::string>()));
    }
    strings.push_back(*bytes);
  }
  return strings;
}

// Ends the life of a decoder's buffer when the last array lets go.
void DeleteBuffer(PyObject* capsule) {
  delete static_cast<Buffer*>(PyCapsule_GetPointer(capsule, nullptr));
}

py::object StringArray(const Tensor& tensor) {
  std::vector<npy_intp> dims(tensor.dims.begin(), tensor.dims.end());
  py::object array = Checked(PyArray_SimpleNew(static_cast<int>(dims.size()),
                                               dims.data(), NPY_OBJECT));
  auto** const items = static_cast<PyObject**>(PyArray_DATA(AsArray(array)));
  for (size_t i = 0; i < tensor.strings.size(); ++i) {
    const std::string& value = tensor.strings[i];
    PyObject* const bytes =
        PyBytes_FromStringAndSize(value.data(), value.size());
    if (bytes == nullptr) throw py::error_already_set();
    Py_XDECREF(items[i]);
    items[i] = bytes;
  }
  return array;
}

}  // namespace

void ImportNumpy() {
  if (_import_array() < 0) throw py::error_already_set();
}

void Columns::Clear() {
  views_.clear();
  strings_.clear();
  kept_.clear();
  leaves_.clear();
}

void Columns::Fill(py::handle data, Flattener& flattener) {
  Clear();
  flattener.Flatten(data, leaves_);
  scalars_.resize(leaves_.size());
  views_.reserve(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) AddLeaf(i, flattener);
}

void Columns::FillPresent(std::vector<py::object> leaves,
                          const Flattener& flattener,
                          std::vector<int>& present) {
  Clear();
  leaves_ = std::move(leaves);
  scalars_.resize(leaves_.size());
  views_.reserve(leaves_.size());
  present.clear();
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves_[i].is_none()) continue;
    AddLeaf(i, flattener);
    present.push_back(static_cast<int>(i));
  }
}

size_t Columns::num_bytes() const {
  size_t bytes = 0;
  for (const TensorView& view : views_) bytes += view.data.size();
  return bytes;
}

void Columns::AddLeaf(size_t i, const Flattener& flattener) {
  try {
    Add(leaves_[i].ptr(), scalars_[i]);
  } catch (py::error_already_set& error) {
    // Whatever conversion raised: the value can't be stored. Ctrl-C and the
    // like pass.
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) {
      throw;
    }
    const std::string name = flattener.LeafNames()[i];
    const std::string text = absl::StrCat(
        name.empty() ? "the value" : absl::StrCat("leaf '", name, "'"),
        " can't be stored: ", py::str(error.value()).cast<std::string>());
    py::raise_from(error, PyExc_TypeError, text.c_str());
    throw py::error_already_set();
  }
}

template <typename T>
void Columns::AddScalar(DType dtype, T value, Scalar& scalar) {
  static_assert(sizeof(T) <= sizeof(Scalar));
  std::memcpy(scalar.data(), &value, sizeof(T));
  views_.push_back({dtype, {}, {scalar.data(), sizeof(T)}, {}});
}

void Columns::AddStrings(Dims dims, std::vector<absl::string_view> strings) {
  strings_.push_back(std::move(strings));
  views_.push_back({DType::kString, std::move(dims), {}, strings_.back()});
}

void Columns::AddInt(PyObject* leaf, Scalar& scalar) {
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(leaf, &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
    AddScalar(DType::kInt64, static_cast<int64_t>(value), scalar);
    return;
  }
  const unsigned long long large =
      overflow > 0 ? PyLong_AsUnsignedLongLong(leaf) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    ThrowTypeError("the int doesn't fit into 64 bits");
  }
  AddScalar(DType::kUint64, static_cast<uint64_t>(large), scalar);
}

void Columns::Add(PyObject* leaf, Scalar& scalar) {
  if (PyArray_Check(leaf)) {
    AddArray(py::reinterpret_borrow<py::object>(leaf));
  } else if (PyFloat_Check(leaf)) {
    AddScalar(DType::kFloat64, PyFloat_AS_DOUBLE(leaf), scalar);
  } else if (PyBool_Check(leaf)) {
    AddScalar(DType::kBool, static_cast<uint8_t>(leaf == Py_True), scalar);
  } else if (PyLong_Check(leaf)) {
    AddInt(leaf, scalar);
  } else if (PyComplex_Check(leaf)) {
    AddScalar(DType::kComplex128, PyComplex_AsCComplex(leaf), scalar);
  } else if (const auto bytes = StringBytes(leaf)) {
    AddStrings({}, {*bytes});
  } else {
    AddArray(Checked(PyArray_FROM_O(leaf)));
  }
}

void Columns::AddArray(py::object array) {
  PyArray_Descr* descr = PyArray_DESCR(AsArray(array));
  const int number = descr->type_num;
  if (number == NPY_STRING || number == NPY_UNICODE || number == NPY_OBJECT) {
    if (!PyArray_CheckExact(array.ptr())) {  // a masked array, a matrix
      array = Checked(PyArray_FromAny(array.ptr(), nullptr, 0, 0,
                                      NPY_ARRAY_ENSUREARRAY, nullptr));
    }
    AddStrings(DimsOf(AsArray(array)), ArrayStrings(array, kept_));
    kept_.push_back(std::move(array));
    return;
  }
  const std::optional<DType> dtype = NumericType(descr);
  if (!dtype) {
    ThrowTypeError(absl::StrCat(
        "dtype ", Repr(reinterpret_cast<PyObject*>(descr)),
        " is not supported: tables hold bool, int8 to int64, uint8 to uint64, "
        "float16 to float64, complex64, complex128, strings, and bfloat16, "
        "float8_e5m2, float8_e4m3fn, int4, uint4 of ml_dtypes"));
  }
  if (!PyArray_IS_C_CONTIGUOUS(AsArray(array)) ||
      !PyArray_ISNOTSWAPPED(AsArray(array))) {
    array = Checked(PyArray_FromAny(
        array.ptr(), PyArray_DescrNewByteorder(descr, NPY_NATIVE), 0, 0,
        NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_ENSUREARRAY,
        nullptr));
  }
  PyArrayObject* const result = AsArray(array);
  views_.push_back(
      {*dtype,
       DimsOf(result),
       {PyArray_BYTES(result), static_cast<size_t>(PyArray_NBYTES(result))},
       {}});
  kept_.push_back(std::move(array));
}

py::object ToArray(Tensor tensor) {
  if (tensor.dims.size() > NPY_MAXDIMS) {
    ThrowTypeError(absl::StrCat("an array of ", tensor.dims.size(),
                                " dimensions is too much for NumPy"));
  }
  if (tensor.dtype == DType::kString) return StringArray(tensor);
  PyArray_Descr* const descr = DescrOf(tensor.dtype);
  if (descr == nullptr) throw py::error_already_set();
  std::vector<npy_intp> dims(tensor.dims.begin(), tensor.dims.end());
  const size_t size = tensor.data.size();
  if (size <= kCopyBytes) {
    py::object array = Checked(PyArray_NewFromDescr(
        &PyArray_Type, descr, static_cast<int>(dims.size()), dims.data(),
        nullptr, nullptr, 0, nullptr));
    if (static_cast<size_t>(PyArray_NBYTES(AsArray(array))) != size) {
      throw py::value_error("a tensor's size doesn't match its shape");
    }
    std::copy_n(tensor.data.data(), size, PyArray_BYTES(AsArray(array)));
    return array;
  }
  py::object array = Checked(PyArray_NewFromDescr(
      &PyArray_Type, descr, static_cast<int>(dims.size()), dims.data(), nullptr,
      tensor.data.data(), NPY_ARRAY_CARRAY, nullptr));
  auto* const buffer = new Buffer(std::move(tensor.data));
  PyObject* const capsule = PyCapsule_New(buffer, nullptr, DeleteBuffer);
  if (capsule == nullptr) {
    delete buffer;
    throw py::error_already_set();
  }
  // Takes the capsule over, even if it fails.
  if (PyArray_SetBaseObject(AsArray(array), capsule) != 0) {
    throw py::error_already_set();
  }
  return array;
}

py::object DTypeObject(DType dtype) {
  return Checked(reinterpret_cast<PyObject*>(DescrOf(dtype)));
}

int Rank(py::handle array) { return PyArray_NDIM(AsArray(array)); }

py::ssize_t NumRows(py::handle array) { return PyArray_DIM(AsArray(array), 0); }

std::vector<py::object> SplitRows(py::handle array) {
  PyArrayObject* const whole = AsArray(array);
  const npy_intp rows = PyArray_DIM(whole, 0);
  std::vector<py::object> result;
  result.reserve(rows);
  for (npy_intp row = 0; row < rows; ++row) {
    PyArray_Descr* const descr = PyArray_DESCR(whole);
    Py_INCREF(descr);
    py::object step = Checked(PyArray_NewFromDescr(
        &PyArray_Type, descr, PyArray_NDIM(whole) - 1, PyArray_DIMS(whole) + 1,
        PyArray_STRIDES(whole) + 1,
        PyArray_BYTES(whole) + row * PyArray_STRIDE(whole, 0),
        PyArray_FLAGS(whole) & NPY_ARRAY_WRITEABLE, nullptr));
    if (PyArray_SetBaseObject(AsArray(step), array.inc_ref().ptr()) != 0) {
      throw py::error_already_set();
    }
    PyArray_UpdateFlags(AsArray(step), NPY_ARRAY_UPDATE_ALL);
    result.push_back(std::move(step));
  }
  return result;
}

}  // namespace reverb::python
