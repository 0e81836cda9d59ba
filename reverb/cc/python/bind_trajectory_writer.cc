// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

#include "reverb/cc/client/trajectory_writer.h"
#include "reverb/cc/python/arguments.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/cells.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/environments.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/python/trajectory_writer.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::python {

namespace py = pybind11;

namespace {

// As `status`, about the column whose path is `path`.
absl::Status AtPath(const absl::Status& status, absl::string_view number,
                    py::handle path, ErrorInfo info) {
  absl::string_view text = status.message();
  absl::ConsumePrefix(&text, absl::StrCat("column ", number, ": "));
  info.column = FormatPath(path);
  return WithErrorInfo(
      absl::Status(status.code(),
                   CutStatusText(absl::StrCat(
                       "column '", info.column, "', path ",
                       py::repr(path).cast<std::string>(), ": ", text))),
      info);
}

}  // namespace

PyTrajectoryWriter::PyTrajectoryWriter(std::shared_ptr<Client> client,
                                       std::unique_ptr<TrajectoryWriter> writer,
                                       int64_t num_keep_alive_refs)
    : client_(std::move(client)),
      writer_(std::move(writer)),
      num_keep_alive_refs_(num_keep_alive_refs),
      step_structure_(py::module_::import("reverb.step_structure")) {}

TrajectoryWriter& PyTrajectoryWriter::writer() const { return *writer_.get(); }

ColumnOptions PyTrajectoryWriter::OptionsOf(py::handle path) const {
  PyObject* const options =
      PyDict_GetItemWithError(configured_.ptr(), path.ptr());
  if (options == nullptr) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return {.num_keep_alive_refs = num_keep_alive_refs_};
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(options)
                        .cast<std::pair<int64_t, std::optional<int64_t>>>();
  return {.num_keep_alive_refs = pair.first, .max_chunk_length = pair.second};
}

void PyTrajectoryWriter::Merge(py::handle data, Step& step) {
  const py::tuple merged = step_structure_.attr("merge")(
      structure_ ? structure_ : py::none(), data, paths_.size());
  step.structure = merged[0];
  step.layout->columns = merged[1].cast<std::vector<int>>();
  step.paths = merged[2];
  for (py::handle path : step.paths) step.added.push_back(OptionsOf(path));
}

PyTrajectoryWriter::Step PyTrajectoryWriter::Read(py::handle data) {
  Step step;
  step.layout = &steps_.Flatten(data, leaves_);
  const std::vector<int>& columns = step.layout->columns;
  bool merge = !structure_ || columns.size() != leaves_.size();
  for (size_t i = 0; !merge && i < leaves_.size(); ++i) {
    merge = columns[i] < 0 && !leaves_[i].is_none();
  }
  if (merge) Merge(data, step);
  try {
    columns_.FillPresent(std::move(leaves_), step.layout->flattener, present_);
  } catch (const py::error_already_set&) {
    Forget(step);
    throw;
  }
  step.columns.reserve(present_.size());
  for (const int leaf : present_) step.columns.push_back(columns[leaf]);
  return step;
}

void PyTrajectoryWriter::ThrowStepError(const absl::Status& status,
                                        const Step& step) const {
  const std::optional<ErrorInfo> info = GetErrorInfo(status);
  size_t column;
  if (info && absl::SimpleAtoi(info->column, &column)) {
    const size_t known = paths_.size();
    const py::object path = column < known
                                ? py::object(paths_[column])
                                : py::object(step.paths[column - known]);
    Unwrap(AtPath(status, info->column, path, *info));
  }
  Unwrap(status);
  throw py::value_error();  // not reached
}

void PyTrajectoryWriter::Forget(const Step& step) {
  columns_.Clear();
  if (step.structure) step.layout->columns.clear();
}

void PyTrajectoryWriter::Finish(const absl::Status& status, const Step& step) {
  if (!status.ok()) {
    Forget(step);
    ThrowStepError(status, step);
  }
  last_step_bytes_ = columns_.num_bytes();
  columns_.Clear();
  if (!step.structure) return;
  structure_ = step.structure;
  for (py::handle path : step.paths) paths_.append(path);
  histories_.clear();
}

void PyTrajectoryWriter::Append(py::handle data, bool partial_step) {
  TrajectoryWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(writer.CheckUsable());
  const Step step = Read(data);
  const TrajectoryWriter::StepColumns columns{.columns = step.columns,
                                              .added = step.added};
  const auto append = [&] {
    return writer.Append(columns, columns_.views(), partial_step);
  };
  Finish(columns_.num_bytes() < kKeepGilBytes ? append() : WithoutGil(append),
         step);
}

void PyTrajectoryWriter::AppendBatch(py::handle data, py::handle episode_ends) {
  TrajectoryWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(writer.CheckUsable());
  Columns ends_columns;
  const absl::Span<const bool> ends = ReadFlags(episode_ends, ends_columns);
  const Step step = Read(data);
  const absl::StatusOr<int64_t> num_envs =
      NumEnvironments(this->num_envs(), columns_.views(), ends);
  const TrajectoryWriter::StepColumns columns{.columns = step.columns,
                                              .added = step.added};
  Finish(num_envs.ok() ? WithoutGil([&] {
           return writer.AppendBatch(columns, columns_.views(), *num_envs,
                                     ends);
         })
                       : num_envs.status(),
         step);
}

ItemKey PyTrajectoryWriter::CreateItem(py::handle table, py::handle priority,
                                       py::handle trajectory) {
  TrajectoryWriter& writer = this->writer();
  const std::string name = ToString(table, "table");
  OneUser user(busy_, "writer");
  std::vector<py::object> leaves;
  Layout& layout = trajectories_.Flatten(trajectory, leaves);
  std::vector<ItemColumn> columns;
  columns.reserve(leaves.size());
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!py::isinstance<PyTrajectoryColumn>(leaves[i])) {
      const std::string leaf = layout.flattener.LeafNames()[i];
      throw py::type_error(
          absl::StrCat("a trajectory's leaves are TrajectoryColumns, ",
                       leaf.empty() ? "it" : absl::StrCat("leaf '", leaf, "'"),
                       " is ", py::repr(leaves[i]).cast<std::string>()));
    }
    const auto& column = leaves[i].cast<const PyTrajectoryColumn&>();
    columns.push_back({.cells = column.cells(), .squeeze = column.squeeze()});
  }
  const double value = ToDouble(priority, "priority");
  const auto structure = layout.flattener.StructureBytes();
  const auto create = [&](const WaitOptions& wait) {
    return writer.CreateItem(name, value, columns, structure, wait);
  };
  const bool keep_gil =
      last_step_bytes_ < kKeepGilBytes / 16 && !writer.NeedsSignature(name);
  const absl::StatusOr<ItemKey> key =
      keep_gil ? create(WaitOptions()) : WaitWithoutGil(create);
  if (key.ok()) return *key;
  Unwrap(NameColumns(key.status(), layout.flattener.LeafNames(),
                     KnownSignature(*client_.get(), name).get()));
  return 0;  // not reached
}

void PyTrajectoryWriter::Flush(int64_t max_pending,
                               std::optional<double> timeout) {
  TrajectoryWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(WaitWithoutGil(DeadlineIn(timeout), [&](const WaitOptions& wait) {
    return writer.Flush(max_pending, wait);
  }));
}

void PyTrajectoryWriter::EndEpisode(int environment, bool clear,
                                    std::optional<double> timeout) {
  TrajectoryWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  Unwrap(WaitWithoutGil(DeadlineIn(timeout), [&](const WaitOptions& wait) {
    return writer.EndEpisode(environment, clear, wait);
  }));
}

void PyTrajectoryWriter::Configure(py::handle path, int64_t num_keep_alive_refs,
                                   std::optional<int64_t> max_chunk_length) {
  TrajectoryWriter& writer = this->writer();
  OneUser user(busy_, "writer");
  const py::object options =
      py::cast(std::make_pair(num_keep_alive_refs, max_chunk_length));
  if (PyObject_Hash(path.ptr()) == -1) throw py::error_already_set();
  for (size_t column = 0; column < paths_.size(); ++column) {
    if (!py::object(paths_[column]).equal(path)) continue;
    const absl::Status status = writer.Configure(
        static_cast<int>(column), {.num_keep_alive_refs = num_keep_alive_refs,
                                   .max_chunk_length = max_chunk_length});
    if (!status.ok()) ThrowStepError(status, Step());
  }
  // The column may be yet to come.
  writer.WidenWindow(num_keep_alive_refs);
  configured_[path] = options;
}

void PyTrajectoryWriter::Close() {
  TrajectoryWriter& writer = this->writer();
  WithoutGil([&] {
    writer.Close();
    return true;
  });
}

py::object PyTrajectoryWriter::History(int environment) {
  if (!structure_) {
    Unwrap(absl::FailedPreconditionError(
        "there is no history before the first append"));
  }
  const TrajectoryWriter& writer = this->writer();
  const auto at = static_cast<size_t>(environment);
  if (histories_.size() <= at) histories_.resize(writer.histories().size());
  py::object& nest = histories_.at(at);
  if (!nest) {
    py::list columns;
    for (size_t i = 0; i < paths_.size(); ++i) {
      columns.append(py::cast(PyColumnHistory(writer.histories()[at],
                                              static_cast<int>(i), paths_[i])));
    }
    nest = step_structure_.attr("fill")(structure_, columns);
  }
  return step_structure_.attr("copy")(nest, py::type::of<PyColumnHistory>());
}

int64_t PyTrajectoryWriter::EpisodeSteps(int environment) {
  return writer()
      .histories()[static_cast<size_t>(environment)]
      ->episode_steps();
}

int64_t PyTrajectoryWriter::num_envs() {
  const TrajectoryWriter& writer = this->writer();
  return writer.is_batched() ? static_cast<int64_t>(writer.histories().size())
                             : 0;
}

void BindTrajectoryWriter(py::module_& module) {
  py::class_<PyTrajectoryWriter>(
      module, "TrajectoryWriter", py::module_local(),
      "Steps in, items over any of the cells that are still kept out.")
      .def("append", &PyTrajectoryWriter::Append, py::arg("data"),
           py::arg("partial_step"))
      .def("append_batch", &PyTrajectoryWriter::AppendBatch, py::arg("data"),
           py::arg("episode_ends"))
      .def("create_item", &PyTrajectoryWriter::CreateItem, py::arg("table"),
           py::arg("priority"), py::arg("trajectory"))
      .def("flush", &PyTrajectoryWriter::Flush, py::arg("max_pending"),
           py::arg("timeout"))
      .def("end_episode", &PyTrajectoryWriter::EndEpisode,
           py::arg("environment"), py::arg("clear"), py::arg("timeout"))
      .def("configure", &PyTrajectoryWriter::Configure, py::arg("path"),
           py::arg("num_keep_alive_refs"), py::arg("max_chunk_length"))
      .def("close", &PyTrajectoryWriter::Close)
      .def("history", &PyTrajectoryWriter::History, py::arg("environment"))
      .def("episode_steps", &PyTrajectoryWriter::EpisodeSteps,
           py::arg("environment"))
      .def_property_readonly("num_envs", &PyTrajectoryWriter::num_envs);
}

}  // namespace reverb::python
