// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The extension module reverb._core.

#include <pybind11/pybind11.h>

#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/numpy_bridge.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The engine, server and client of reverb.";
  reverb::python::ImportNumpy();
  reverb::python::BindSelectors(module);
  reverb::python::BindRateLimiter(module);
  reverb::python::BindTable(module);
  reverb::python::BindServer(module);
  reverb::python::BindNest(module);
  reverb::python::BindWriter(module);
  reverb::python::BindCells(module);
  reverb::python::BindTrajectoryWriter(module);
  reverb::python::BindStructuredWriter(module);
  reverb::python::BindBulkLoad(module);
  reverb::python::BindSampler(module);
  reverb::python::BindClient(module);
  reverb::python::BindProcess(module);
}
