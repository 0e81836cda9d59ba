// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/item.h"

namespace reverb {

int Trajectory::num_columns() const {
  int columns = 0;
  for (const ChunkSlice& slice : slices_) columns += slice.ends_column ? 1 : 0;
  return columns;
}

}  // namespace reverb
