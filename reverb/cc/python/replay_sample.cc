// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/replay_sample.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/packer.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

// A named tuple class of reverb.replay_sample, kept in `known` for ever. (A
// guarded static would wait for the GIL within its guard.)
py::handle SampleClass(PyObject*& known, const char* name) {
  if (known == nullptr) {
    known = py::module_::import("reverb.replay_sample")
                .attr(name)
                .cast<py::object>()
                .release()
                .ptr();
  }
  return known;
}

void SetItem(const py::object& tuple, Py_ssize_t i, py::object value) {
  PyTuple_SET_ITEM(tuple.ptr(), i, value.release().ptr());
}

// Made before the tuple: an exception must not leave one with holes.
py::object NewSampleInfo(std::array<py::object, 5> fields) {
  static PyObject* known = nullptr;
  py::object info = NewTuple(SampleClass(known, "SampleInfo"), fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    SetItem(info, static_cast<Py_ssize_t>(i), std::move(fields[i]));
  }
  return info;
}

}  // namespace

py::object ToSampleInfo(const SampleData& sample) {
  return NewSampleInfo({py::int_(sample.key), py::float_(sample.probability),
                        py::int_(sample.table_size),
                        py::float_(sample.priority),
                        py::int_(sample.times_sampled)});
}

py::object ToSampleInfo(BatchData& batch) {
  return NewSampleInfo({ToArray(std::move(batch.keys)),
                        ToArray(std::move(batch.probabilities)),
                        ToArray(std::move(batch.table_sizes)),
                        ToArray(std::move(batch.priorities)),
                        ToArray(std::move(batch.times_sampled))});
}

py::object ToReplaySample(py::object info, py::object data) {
  static PyObject* known = nullptr;
  const py::handle type = SampleClass(known, "ReplaySample");
  py::object sample = NewTuple(type, 2);
  SetItem(sample, 0, std::move(info));
  SetItem(sample, 1, std::move(data));
  return sample;
}

py::list ToArrays(std::vector<Tensor> columns) {
  py::list arrays(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    arrays[i] = ToArray(std::move(columns[i]));
  }
  return arrays;
}

}  // namespace reverb::python
