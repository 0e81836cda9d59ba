// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "reverb/cc/client/client.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/service/server.h"
#include "reverb/cc/support/fork_guard.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

// Before the interpreter is taken apart: nothing of ours waits any longer and
// no thread of ours serves anybody. Writers that are still open count as
// dropped: what they have pending is sent. Clients come before servers, as
// their last items may be for a server of this process.
void AtExit() {
  if (InForkedChildOfGrpcUser()) return;
  DroppedAtExit::DropAll();
  WithoutGil([] {
    CloseAllClients();
    StopAllServers();
    return true;
  });
}

}  // namespace

void BindProcess(py::module_& module) {
  py::module_::import("atexit").attr("register")(py::cpp_function(AtExit));
  module.def("in_forked_child", &InForkedChildOfGrpcUser,
             "Whether the process was forked from one that used gRPC.");
}

}  // namespace reverb::python
