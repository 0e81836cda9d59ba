// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The trajectory writer as Python sees it: nested steps instead of numbered
// columns.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_TRAJECTORY_WRITER_H_
#define REVERB_CC_PYTHON_TRAJECTORY_WRITER_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/client/client.h"
#include "reverb/cc/client/trajectory_writer.h"
#include "reverb/cc/python/layouts.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/owned.h"

namespace reverb::python {

class PyTrajectoryWriter {
 public:
  PyTrajectoryWriter(std::shared_ptr<Client> client,
                     std::unique_ptr<TrajectoryWriter> writer,
                     int64_t num_keep_alive_refs);

  void Append(pybind11::handle data, bool partial_step);
  void AppendBatch(pybind11::handle data, pybind11::handle episode_ends);
  ItemKey CreateItem(pybind11::handle table, pybind11::handle priority,
                     pybind11::handle trajectory);
  // Seconds; none: no limit.
  void Flush(int64_t max_pending, std::optional<double> timeout);
  void EndEpisode(int environment, bool clear, std::optional<double> timeout);
  void Configure(pybind11::handle path, int64_t num_keep_alive_refs,
                 std::optional<int64_t> max_chunk_length);
  void Close();

  // A new nest of the columns' histories.
  pybind11::object History(int environment);
  int64_t EpisodeSteps(int environment);
  // Environments of the batches; 0 before the first, and without them.
  int64_t num_envs();

 private:
  // What a step becomes: columns and, where the structure has grown, what is
  // to be remembered if the step is appended.
  struct Step {
    Layout* layout = nullptr;
    std::vector<int> columns;  // parallel to the views
    std::vector<ColumnOptions> added;
    pybind11::object structure;  // null: as it was
    pybind11::list paths;        // of `added`
  };

  TrajectoryWriter& writer() const;
  Step Read(pybind11::handle data);
  // Fills in `step`'s layout, from the structure that all steps together have.
  void Merge(pybind11::handle data, Step& step);
  ColumnOptions OptionsOf(pybind11::handle path) const;
  // Throws, or remembers what is new.
  void Finish(const absl::Status& status, const Step& step);
  // The step has been given to nobody.
  void Forget(const Step& step);
  [[noreturn]] void ThrowStepError(const absl::Status& status,
                                   const Step& step) const;

  Owned<std::shared_ptr<Client>> client_;
  Owned<std::unique_ptr<TrajectoryWriter>> writer_;
  const int64_t num_keep_alive_refs_;
  const pybind11::module_ step_structure_;  // reverb.step_structure
  bool busy_ = false;

  Layouts steps_;
  Layouts trajectories_;
  Columns columns_;
  size_t last_step_bytes_ = 0;
  std::vector<pybind11::object> leaves_;
  std::vector<int> present_;
  // Nest of column numbers: of all steps so far together. Null before the
  // first.
  pybind11::object structure_;
  pybind11::list paths_;       // by column
  pybind11::dict configured_;  // path -> ColumnOptions, by `Configure`
  std::vector<pybind11::object> histories_;  // nests, by environment; or null
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_TRAJECTORY_WRITER_H_
