// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A BulkLoad and the Python data that it reads.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_BULK_LOAD_H_
#define REVERB_CC_PYTHON_BULK_LOAD_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"

#include "reverb/cc/client/bulk_load.h"
#include "reverb/cc/client/client.h"
#include "reverb/cc/python/nest.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/owned.h"

namespace reverb::python {

class PyBulkLoad {
 public:
  // `priorities`: array of float64 `[1]` or `[items]`. `episode_ends`: array
  // of bool `[rows]`, or None.
  PyBulkLoad(std::shared_ptr<Client> client, pybind11::handle table,
             pybind11::handle data, pybind11::handle priorities,
             pybind11::handle episode_ends, int64_t length, int64_t stride,
             std::optional<double> timeout);

  // Goes on for so long; whether all is done.
  bool Advance(double seconds);
  int64_t num_items() { return load_->num_items(); }
  int64_t num_inserted() { return load_->CountInserted(); }
  void Close();

 private:
  // Throws `status` with the names of the columns.
  [[noreturn]] void Fail(const absl::Status& status);

  Owned<std::shared_ptr<Client>> client_;
  Flattener flattener_;
  Columns columns_;
  bool busy_ = false;
  // Reads the columns.
  Owned<std::unique_ptr<BulkLoad>> load_{nullptr};
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_BULK_LOAD_H_
