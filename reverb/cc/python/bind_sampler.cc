// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/batch_builder.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/replay_sample.h"
#include "reverb/cc/python/status.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

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

PySampler::PySampler(std::shared_ptr<Client> client, std::string table,
                     std::unique_ptr<Sampler> sampler)
    : client_(std::move(client)),
      table_(std::move(table)),
      sampler_(std::move(sampler)) {}

std::optional<SampleData> PySampler::NextData() {
  Sampler& sampler = *sampler_.get();
  OneUser user(busy_, "sampler");
  absl::StatusOr<SampleData> sample = WaitWithoutGil(
      [&](const WaitOptions& wait) { return sampler.Next(wait); });
  if (absl::IsOutOfRange(sample.status())) return std::nullopt;
  if (!sample.ok()) {
    Unwrap(NameTableColumns(sample.status(), *client_.get(), table_));
  }
  return *std::move(sample);
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

PyBatchSampler::PyBatchSampler(std::shared_ptr<Client> client,
                               std::string table,
                               std::unique_ptr<BatchBuilder> batches)
    : client_(std::move(client)),
      table_(std::move(table)),
      batches_(std::move(batches)) {}

std::optional<BatchData> PyBatchSampler::NextData() {
  BatchBuilder& batches = *batches_.get();
  OneUser user(busy_, "sampler");
  absl::StatusOr<BatchData> batch = WaitWithoutGil(
      [&](const WaitOptions& wait) { return batches.Next(wait); });
  if (absl::IsOutOfRange(batch.status())) return std::nullopt;
  if (!batch.ok()) {
    Unwrap(NameTableColumns(batch.status(), *client_.get(), table_));
  }
  return *std::move(batch);
}

py::object PyBatchSampler::Next() {
  std::optional<BatchData> batch = NextData();
  if (!batch) return py::none();
  py::object info = ToSampleInfo(*batch);
  return ToReplaySample(std::move(info), ToArrays(std::move(batch->columns)));
}

py::object PyBatchSampler::NextWithStructure() {
  std::optional<BatchData> batch = NextData();
  if (!batch) return py::none();
  py::object info = ToSampleInfo(*batch);
  return py::make_tuple(std::move(info), ToArrays(std::move(batch->columns)),
                        py::bytes(batch->structure));
}

void PyBatchSampler::Close() {
  BatchBuilder* const batches = batches_.get().get();
  WithoutGil([&] {
    batches->Close();
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
  py::class_<PyBatchSampler>(module, "BatchSampler", py::module_local(),
                             "Batches of samples of one table.")
      .def("next", &PyBatchSampler::Next,
           "The next batch as a ReplaySample of arrays `[B]` and a list of "
           "columns `[B, ...]`; None at the end.")
      .def("next_with_structure", &PyBatchSampler::NextWithStructure,
           "(info, columns, the StructuredValue stored with all of the items "
           "or b'') of the next batch; None at the end.")
      .def("close", &PyBatchSampler::Close);
}

}  // namespace reverb::python
