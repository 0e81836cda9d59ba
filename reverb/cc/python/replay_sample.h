// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Samples as Python has them: the named tuples of reverb.replay_sample.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_REPLAY_SAMPLE_H_
#define REVERB_CC_PYTHON_REPLAY_SAMPLE_H_

#include <pybind11/pybind11.h>

#include <vector>

#include "reverb/cc/client/batch_builder.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb::python {

// Of Python's scalars.
pybind11::object ToSampleInfo(const SampleData& sample);
// Of arrays `[B]`, which it takes from `batch`.
pybind11::object ToSampleInfo(BatchData& batch);

pybind11::object ToReplaySample(pybind11::object info, pybind11::object data);

pybind11::list ToArrays(std::vector<Tensor> columns);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_REPLAY_SAMPLE_H_
