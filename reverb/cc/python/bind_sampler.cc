// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/sampler.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/packer.h"
#include "reverb/cc/python/status.h"

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

py::object ToSampleInfo(const SampleData& sample) {
  static PyObject* known = nullptr;
  const py::handle type = SampleClass(known, "SampleInfo");
  // All made first: an exception must not leave a tuple with holes.
  py::int_ key(sample.key);
  py::float_ probability(sample.probability);
  py::int_ table_size(sample.table_size);
  py::float_ priority(sample.priority);
  py::int_ times_sampled(sample.times_sampled);
  py::object info = NewTuple(type, 5);
  SetItem(info, 0, std::move(key));
  SetItem(info, 1, std::move(probability));
  SetItem(info, 2, std::move(table_size));
  SetItem(info, 3, std::move(priority));
  SetItem(info, 4, std::move(times_sampled));
  return info;
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

// Columns `[T, ...]` as T lists of `[...]`.
py::list ToTimesteps(const py::list& columns) {
  const size_t num_columns = columns.size();
  if (num_columns == 0) return py::list();
  for (size_t i = 0; i < num_columns; ++i) {
    if (Rank(columns[i]) == 0) {
      const std::string text = absl::StrCat(
          "column ", i,
          " is a single value without a time dimension: sample with "
          "emit_timesteps=False");
      PyErr_SetString(PyExc_TypeError, text.c_str());
      throw py::error_already_set();
    }
    if (NumRows(columns[i]) != NumRows(columns[0])) {
      Unwrap(absl::InvalidArgumentError(absl::StrCat(
          "column ", i, " has ", NumRows(columns[i]),
          " steps and column 0 has ", NumRows(columns[0]),
          ", so there are no timesteps: sample with emit_timesteps=False")));
    }
  }
  const size_t num_steps = NumRows(columns[0]);
  py::list steps(num_steps);
  for (size_t step = 0; step < num_steps; ++step) {
    steps[step] = py::list(num_columns);
  }
  for (size_t column = 0; column < num_columns; ++column) {
    std::vector<py::object> rows = SplitRows(columns[column]);
    for (size_t step = 0; step < num_steps; ++step) {
      PyList_SET_ITEM(PyList_GET_ITEM(steps.ptr(), step), column,
                      rows[step].release().ptr());
    }
  }
  return steps;
}

}  // namespace

std::optional<SampleData> PySampler::NextData() {
  Sampler& sampler = *sampler_.get();
  OneUser user(busy_, "sampler");
  absl::StatusOr<SampleData> sample = WaitWithoutGil(
      [&](const WaitOptions& wait) { return sampler.Next(wait); });
  if (absl::IsOutOfRange(sample.status())) return std::nullopt;
  return Unwrap(std::move(sample));
}

py::object PySampler::Next() {
  std::optional<SampleData> sample = NextData();
  if (!sample) return py::none();
  py::object info = ToSampleInfo(*sample);
  return ToReplaySample(std::move(info), ToArrays(std::move(sample->columns)));
}

py::object PySampler::NextWithStructure() {
  std::optional<SampleData> sample = NextData();
  if (!sample) return py::none();
  return py::make_tuple(ToSampleInfo(*sample),
                        ToArrays(std::move(sample->columns)),
                        py::bytes(sample->structure));
}

py::object PySampler::NextTimesteps() {
  std::optional<SampleData> sample = NextData();
  if (!sample) return py::none();
  return py::make_tuple(ToSampleInfo(*sample),
                        ToTimesteps(ToArrays(std::move(sample->columns))));
}

void PySampler::Close() {
  Sampler* const sampler = sampler_.get().get();
  WithoutGil([&] {
    sampler->Close();
    return true;
  });
}

void BindSampler(py::module_& module) {
  py::class_<PySampler>(module, "Sampler", py::module_local(),
                        "Samples of one table, one after the other.")
      .def("next", &PySampler::Next,
           "The next sample as a ReplaySample of a list of columns; None at "
           "the end.")
      .def("next_with_structure", &PySampler::NextWithStructure,
           "(info, columns, the StructuredValue stored with them or b'') of "
           "the next sample; None at the end.")
      .def("next_timesteps", &PySampler::NextTimesteps,
           "(info, list of columns per step) of the next sample; None at the "
           "end.")
      .def("close", &PySampler::Close)
      // The fields of `info`.
      .attr("NUM_INFO_TENSORS") = 5;
}

}  // namespace reverb::python
