// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "reverb/cc/client/wait.h"
#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/python/arguments.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/owned.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/service/server.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/limits.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

absl::StatusOr<std::unique_ptr<Server>> StartServer(
    std::vector<std::shared_ptr<Table>> tables, int port,
    const Limits& limits) {
  REVERB_ASSIGN_OR_RETURN(auto core,
                          ServerCore::Create(std::move(tables), limits));
  Server::Options options;
  options.port = port;
  return Server::Start(std::move(core), options);
}

class PyServer {
 public:
  explicit PyServer(std::unique_ptr<Server> server)
      : server_(std::move(server)), port_(server_->port()) {}

  static PyServer Start(const std::vector<PyTable*>& tables, int port,
                        const Limits& limits) {
    Unwrap(CheckNotForked());
    std::vector<std::shared_ptr<Table>> engine_tables;
    engine_tables.reserve(tables.size());
    for (const PyTable* table : tables) engine_tables.push_back(table->table);
    return PyServer(Unwrap(WithoutGil(
        [&] { return StartServer(std::move(engine_tables), port, limits); })));
  }

  int port() const { return port_; }

  void Stop() {
    Server* const server = server_.get().get();
    WithoutGil([&] {
      server->Stop();
      return true;
    });
  }

  // Waits in short turns so that signals are seen; the server knows nothing
  // of them and goes on after Ctrl-C.
  bool Wait(py::handle timeout) {
    Server* const server = server_.get().get();
    return WaitWithoutGil(
        DeadlineIn(ToTimeout(timeout)), [&](const WaitOptions& wait) {
          if (!wait.interrupted) return server->WaitUntil(wait.deadline);
          for (;;) {
            const SteadyTime now = Clock::Real().Now();
            if (server->WaitUntil(
                    std::min(wait.deadline, now + kInterruptPeriod))) {
              return true;
            }
            if (now >= wait.deadline || wait.interrupted()) return false;
          }
        });
  }

 private:
  Owned<std::unique_ptr<Server>> server_;
  int port_;
};

}  // namespace

void BindServer(py::module_& module) {
  py::class_<Limits>(module, "Limits", py::module_local(),
                     "What one client may ask of a server.")
      .def(py::init([](int64_t message_bytes, int64_t items, int64_t columns,
                       int64_t slices, int64_t unreferenced_bytes) {
             return Limits{.max_message_bytes = message_bytes,
                           .max_items_per_message = items,
                           .max_columns = columns,
                           .max_slices_per_item = slices,
                           .max_unreferenced_bytes = unreferenced_bytes};
           }),
           py::kw_only(), py::arg("max_message_bytes"),
           py::arg("max_items_per_message"), py::arg("max_columns"),
           py::arg("max_slices_per_item"), py::arg("max_unreferenced_bytes"));
  py::class_<PyServer>(module, "Server", py::module_local(),
                       "Serves tables over gRPC.")
      .def(py::init(&PyServer::Start), py::arg("tables"), py::arg("port"),
           py::arg("limits"))
      .def_property_readonly("port", &PyServer::port)
      .def("stop", &PyServer::Stop)
      .def("wait", &PyServer::Wait, py::arg("timeout") = py::none(),
           "Waits for the server to be stopped; whether it was.");
}

}  // namespace reverb::python
