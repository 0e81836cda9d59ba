// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The structures of the nested data that a caller gives in turns, such as the
// parts of partial steps, or the trajectories for several tables.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_LAYOUTS_H_
#define REVERB_CC_PYTHON_LAYOUTS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "reverb/cc/python/nest.h"

namespace reverb::python {

// One structure, and which columns its leaves are.
struct Layout {
  Flattener flattener;
  // Per leaf the number of its column, -1 for one that can only be None.
  // Empty until the owner fills it in.
  std::vector<int> columns;
};

class Layouts {
 public:
  // The layout of `data`, whose leaves are put into `leaves`: one met before,
  // or a new one in the place of the one that wasn't used for longest. Valid
  // until the next call.
  Layout& Flatten(pybind11::handle data, std::vector<pybind11::object>& leaves);
  void Clear() { known_.clear(); }

 private:
  std::vector<std::unique_ptr<Layout>> known_;  // the last used first
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_LAYOUTS_H_
