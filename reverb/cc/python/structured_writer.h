// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The structured writer as Python sees it.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_STRUCTURED_WRITER_H_
#define REVERB_CC_PYTHON_STRUCTURED_WRITER_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/client/client.h"
#include "reverb/cc/client/structured_writer.h"
#include "reverb/cc/python/dropped_at_exit.h"
#include "reverb/cc/python/layouts.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/owned.h"

namespace reverb::python {

class PyStructuredWriter : public DroppedAtExit {
 public:
  PyStructuredWriter(std::shared_ptr<Client> client,
                     std::unique_ptr<StructuredWriter> writer)
      : client_(std::move(client)), writer_(std::move(writer)) {}

  void Append(pybind11::handle data, bool partial_step);
  void AppendBatch(pybind11::handle data, pybind11::handle episode_ends);
  // Seconds; none: no limit.
  void Flush(int64_t max_pending, std::optional<double> timeout);
  void EndEpisode(int environment, bool clear, std::optional<double> timeout);
  bool step_is_open() const { return writer().step_is_open(); }
  int64_t num_envs() const { return writer().num_envs(); }

 private:
  void Drop() override { writer_.Drop(); }
  // Throws after `Drop` and in a forked child.
  StructuredWriter& writer() const;
  // Makes `columns_` those of the leaves that are used and have values, and
  // `present_` their numbers.
  Layout& Read(pybind11::handle data);

  Owned<std::shared_ptr<Client>> client_;
  Owned<std::unique_ptr<StructuredWriter>> writer_;
  Layouts layouts_;
  Columns columns_;
  std::vector<int> present_;
  size_t num_leaves_ = 0;  // of every step, once there is one
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_STRUCTURED_WRITER_H_
