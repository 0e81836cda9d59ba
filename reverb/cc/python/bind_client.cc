// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/batch_builder.h"
#include "reverb/cc/client/client.h"
#include "reverb/cc/python/arguments.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/bulk_load.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/owned.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/python/structured_writer.h"
#include "reverb/cc/python/trajectory_writer.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/wire/pattern_config.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

py::tuple NamesTuple(const std::vector<std::string>& names) {
  return py::tuple(py::cast(names));
}

class PyClient {
 public:
  PyClient(std::string server_name, std::optional<double> connect_timeout,
           std::optional<double> reconnect_timeout, bool allow_in_process)
      : client_(Client::Create({std::move(server_name), connect_timeout,
                                reconnect_timeout, allow_in_process})) {}

  void Insert(py::handle data, py::handle priorities, py::handle timeout) {
    // Held by the call, whoever drops the object meanwhile.
    const std::shared_ptr<Client> client = client_.get();
    const auto tables = ToTablePriorities(priorities);
    const std::optional<double> seconds = ToTimeout(timeout);
    Flattener flattener;
    Columns columns;
    columns.Fill(data, flattener);
    const auto structure = flattener.StructureBytes();
    const Client::InsertOutcome outcome =
        WaitWithoutGil([&](const WaitOptions& wait) {
          return client->Insert(columns.views(), tables, seconds, wait,
                                structure);
        });
    if (outcome.status.ok()) return;
    absl::Status status = outcome.status;
    if (const auto info = GetErrorInfo(status)) {
      status = NameColumns(status, flattener.LeafNames(),
                           KnownSignature(*client, info->table).get());
    }
    // 0.14: RuntimeError for data without leaves.
    const py::object error = MakeException(
        status, columns.views().empty() ? Also::kRuntimeError : Also::kNothing);
    if (absl::IsDeadlineExceeded(status)) {
      error.attr("inserted") = NamesTuple(outcome.inserted);
      error.attr("withdrawn") = NamesTuple(outcome.withdrawn);
      error.attr("unknown") = NamesTuple(outcome.unknown);
    }
    ThrowException(error);
  }

  std::unique_ptr<PyWriter> NewWriter(int chunk_length, int max_timesteps,
                                      bool delta_encoded,
                                      int max_in_flight_items) {
    const std::shared_ptr<Client> client = client_.get();
    const Writer::Options options{chunk_length, max_timesteps, delta_encoded,
                                  max_in_flight_items};
    std::unique_ptr<Writer> writer =
        Unwrap(WaitWithoutGil([&](const WaitOptions& wait) {
          return client->NewWriter(options, wait);
        }));
    return std::make_unique<PyWriter>(client, std::move(writer));
  }

  std::unique_ptr<PyTrajectoryWriter> NewTrajectoryWriter(
      int64_t num_keep_alive_refs, bool validate_items,
      std::optional<int64_t> max_pending_bytes) {
    const std::shared_ptr<Client> client = client_.get();
    const TrajectoryWriter::Options options{
        .num_keep_alive_refs = num_keep_alive_refs,
        .validate_items = validate_items,
        .max_pending_bytes = max_pending_bytes};
    std::unique_ptr<TrajectoryWriter> writer =
        Unwrap(WaitWithoutGil([&](const WaitOptions& wait) {
          return client->NewTrajectoryWriter(options, wait);
        }));
    return std::make_unique<PyTrajectoryWriter>(client, std::move(writer),
                                                num_keep_alive_refs);
  }

  // Serialized StructuredWriterConfigs.
  std::unique_ptr<PyStructuredWriter> NewStructuredWriter(
      const std::vector<py::bytes>& messages) {
    const std::shared_ptr<Client> client = client_.get();
    std::vector<PatternConfig> configs;
    configs.reserve(messages.size());
    for (const py::bytes& message : messages) {
      configs.push_back(Unwrap(wire::ParsePatternConfig(absl::string_view(
          PyBytes_AS_STRING(message.ptr()),
          static_cast<size_t>(PyBytes_GET_SIZE(message.ptr()))))));
    }
    return std::make_unique<PyStructuredWriter>(
        client, Unwrap(client->NewStructuredWriter(std::move(configs))));
  }

  std::unique_ptr<PyBulkLoad> NewBulkLoad(py::handle table, py::handle data,
                                          py::handle priorities,
                                          py::handle episode_ends,
                                          int64_t length, int64_t stride,
                                          py::handle timeout) {
    return std::make_unique<PyBulkLoad>(client_.get(), table, data, priorities,
                                        episode_ends, length, stride,
                                        ToTimeout(timeout));
  }

  std::unique_ptr<PySampler> NewSampler(py::handle table, int64_t max_samples,
                                        std::optional<int64_t> max_in_flight,
                                        py::handle timeout, int num_workers) {
    const std::shared_ptr<Client> client = client_.get();
    const Sampler::Options options = ToSamplerOptions(
        table, max_samples, max_in_flight, timeout, num_workers);
    return std::make_unique<PySampler>(client, options.table,
                                       MakeSampler(*client, options));
  }

  std::unique_ptr<PyBatchSampler> NewBatchSampler(
      py::handle table, int64_t batch_size, bool drop_remainder,
      int64_t max_samples, std::optional<int64_t> max_in_flight,
      py::handle timeout, int num_workers) {
    const std::shared_ptr<Client> client = client_.get();
    const Sampler::Options options = ToSamplerOptions(
        table, max_samples, max_in_flight, timeout, num_workers);
    return std::make_unique<PyBatchSampler>(
        client, options.table,
        Unwrap(BatchBuilder::Create(MakeSampler(*client, options),
                                    {.table = options.table,
                                     .batch_size = batch_size,
                                     .drop_remainder = drop_remainder})));
  }

  void MutatePriorities(py::handle table, py::handle updates,
                        py::handle deletes) {
    const std::shared_ptr<Client> client = client_.get();
    const std::string name = ToString(table, "table");
    const std::vector<PriorityUpdate> update_list = ToUpdates(updates);
    const std::vector<ItemKey> delete_list = ToKeys(deletes);
    Unwrap(WaitWithoutGil([&](const WaitOptions& wait) {
      return client->MutatePriorities(name, update_list, delete_list, wait);
    }));
  }

  void Reset(py::handle table) {
    const std::shared_ptr<Client> client = client_.get();
    const std::string name = ToString(table, "table");
    Unwrap(WaitWithoutGil(
        [&](const WaitOptions& wait) { return client->Reset(name, wait); }));
  }

  std::string Checkpoint() {
    const std::shared_ptr<Client> client = client_.get();
    return Unwrap(WaitWithoutGil(
        [&](const WaitOptions& wait) { return client->Checkpoint(wait); }));
  }

  // ((high, low) of the state's id, [(name, TableInfo bytes), ...]).
  py::tuple ServerInfo(py::handle timeout) {
    const std::shared_ptr<Client> client = client_.get();
    const ServerInfoMessage info = Unwrap(WaitWithoutGil(
        DeadlineIn(ToTimeout(timeout)),
        [&](const WaitOptions& wait) { return client->ServerInfo(wait); }));
    py::list tables(info.tables.size());
    for (size_t i = 0; i < info.tables.size(); ++i) {
      const auto& table = info.tables[i];
      tables[i] = py::make_tuple(table.name, py::bytes(table.bytes));
    }
    return py::make_tuple(py::make_tuple(info.state_id.high, info.state_id.low),
                          std::move(tables));
  }

  std::string transport() { return std::string(client_.get()->transport()); }

  void Close() {
    const std::shared_ptr<Client> client = client_.get();
    WithoutGil([&] {
      client->Close();
      return true;
    });
  }

 private:
  static Sampler::Options ToSamplerOptions(py::handle table,
                                           int64_t max_samples,
                                           std::optional<int64_t> max_in_flight,
                                           py::handle timeout,
                                           int num_workers) {
    Sampler::Options options;
    options.table = ToString(table, "table");
    options.max_samples = max_samples;
    options.max_in_flight = max_in_flight;
    options.timeout = ToTimeout(timeout);
    options.num_workers = num_workers;
    return options;
  }
  static std::unique_ptr<Sampler> MakeSampler(Client& client,
                                              const Sampler::Options& options) {
    return Unwrap(WithoutGil([&] { return client.NewSampler(options); }));
  }

  Owned<std::shared_ptr<Client>> client_;
};

}  // namespace

void BindClient(py::module_& module) {
  py::class_<PyClient>(module, "Client", py::module_local(),
                       "The calls to one server address.")
      .def(py::init<std::string, std::optional<double>, std::optional<double>,
                    bool>(),
           py::arg("server_name"), py::arg("connect_timeout") = 300.0,
           py::arg("reconnect_timeout") = 15.0,
           py::arg("allow_in_process") = true)
      .def("insert", &PyClient::Insert, py::arg("data"), py::arg("priorities"),
           py::arg("timeout") = py::none())
      .def("new_writer", &PyClient::NewWriter, py::arg("chunk_length"),
           py::arg("max_timesteps"), py::arg("delta_encoded") = false,
           py::arg("max_in_flight_items") = 25)
      .def("new_trajectory_writer", &PyClient::NewTrajectoryWriter,
           py::arg("num_keep_alive_refs"), py::arg("validate_items"),
           py::arg("max_pending_bytes"))
      .def("new_structured_writer", &PyClient::NewStructuredWriter,
           py::arg("configs"))
      .def("new_bulk_load", &PyClient::NewBulkLoad, py::arg("table"),
           py::arg("data"), py::arg("priorities"), py::arg("episode_ends"),
           py::arg("length"), py::arg("stride"), py::arg("timeout"))
      .def("new_sampler", &PyClient::NewSampler, py::arg("table"),
           py::arg("max_samples") = -1, py::arg("max_in_flight") = py::none(),
           py::arg("timeout") = py::none(), py::arg("num_workers") = 1)
      .def("new_batch_sampler", &PyClient::NewBatchSampler, py::arg("table"),
           py::arg("batch_size"), py::arg("drop_remainder") = false,
           py::arg("max_samples") = -1, py::arg("max_in_flight") = py::none(),
           py::arg("timeout") = py::none(), py::arg("num_workers") = 1)
      .def("mutate_priorities", &PyClient::MutatePriorities, py::arg("table"),
           py::arg("updates") = py::none(), py::arg("deletes") = py::none())
      .def("reset", &PyClient::Reset, py::arg("table"))
      .def("checkpoint", &PyClient::Checkpoint)
      .def("server_info", &PyClient::ServerInfo,
           py::arg("timeout") = py::none(),
           "The id of the server's state, and (name, TableInfo bytes) of each "
           "table.")
      .def_property_readonly("transport", &PyClient::transport,
                             "The way to the server as of now: 'in_process', "
                             "'unix' (its socket on this host) or 'tcp'.")
      .def("close", &PyClient::Close,
           "Ends all waiting calls and refuses later ones.");
}

}  // namespace reverb::python
