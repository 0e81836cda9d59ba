// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A real server on loopback, and data for it.

#ifndef REVERB_TESTS_CC_CLIENT_TEST_SERVER_H_
#define REVERB_TESTS_CC_CLIENT_TEST_SERVER_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/client.h"
#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/service/server.h"
#include "reverb/cc/table/table.h"

namespace reverb {

inline Table::Options UniformTable(std::string name, int64_t max_size = 1000) {
  Table::Options options;
  options.name = std::move(name);
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = max_size;
  options.rate_limiter.min_diff = -std::numeric_limits<double>::max();
  options.rate_limiter.max_diff = std::numeric_limits<double>::max();
  return options;
}

// Takes `size` items, then inserts wait for samples, which remove.
inline Table::Options QueueTable(std::string name, int64_t size) {
  Table::Options options = UniformTable(std::move(name), size);
  options.max_times_sampled = 1;
  options.rate_limiter.min_diff = 0;
  options.rate_limiter.max_diff = static_cast<double>(size);
  return options;
}

inline bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class TestServer {
 public:
  explicit TestServer(std::vector<Table::Options> tables, int port = 0)
      : options_(std::move(tables)) {
    Start(port);
  }
  ~TestServer() { Stop(); }

  void Start(int port) {
    std::vector<std::shared_ptr<Table>> tables;
    for (const Table::Options& options : options_) {
      auto table = Table::Create(options);
      ASSERT_TRUE(table.ok()) << table.status();
      tables.push_back(*std::move(table));
    }
    auto core = ServerCore::Create(std::move(tables));
    ASSERT_TRUE(core.ok()) << core.status();
    core_ = *std::move(core);
    absl::StatusOr<std::unique_ptr<Server>> server =
        Server::Start(core_, {.port = port});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    port_ = server_->port();
  }
  void Stop() {
    if (server_ != nullptr) server_->Stop();
    server_.reset();
    core_.reset();
  }
  // New tables on the old port.
  void Restart() {
    Stop();
    Start(port_);
  }

  std::string target() const { return absl::StrCat("localhost:", port_); }
  Table& table(absl::string_view name) { return **core_->FindTable(name); }

 private:
  const std::vector<Table::Options> options_;
  std::shared_ptr<ServerCore> core_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
};

// A column with storage of its own.
class Column {
 public:
  template <typename T>
  Column(DType dtype, const std::vector<int64_t>& dims, std::vector<T> values,
         std::vector<std::string> strings = {})
      : bytes_(reinterpret_cast<const char*>(values.data()),
               values.size() * sizeof(T)),
        strings_(std::move(strings)) {
    view_.dtype = dtype;
    view_.dims.assign(dims.begin(), dims.end());
  }
  static Column Strings(const std::vector<int64_t>& dims,
                        std::vector<std::string> values) {
    return Column(DType::kString, dims, std::vector<char>(), std::move(values));
  }
  TensorView view() const {
    TensorView view = view_;
    view.data = bytes_;
    if (view.dtype == DType::kString) {
      borrowed_.assign(strings_.begin(), strings_.end());
      view.strings = borrowed_;
    }
    return view;
  }

 private:
  TensorView view_;
  std::string bytes_;
  std::vector<std::string> strings_;
  mutable std::vector<absl::string_view> borrowed_;
};

inline Column Float(float value) {
  return Column(DType::kFloat32, {}, std::vector<float>{value});
}
inline Column Ints(std::vector<int32_t> values) {
  const auto size = static_cast<int64_t>(values.size());
  return Column(DType::kInt32, {size}, std::move(values));
}

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  }
  return values;
}

// Gives up quickly on a server that is away.
inline std::shared_ptr<Client> NewClient(const std::string& target,
                                         bool in_process) {
  Client::Options options;
  options.target = target;
  options.connect_timeout = 10;
  options.reconnect_timeout = 0.5;
  options.allow_in_process = in_process;
  return Client::Create(options);
}

inline WaitOptions Soon(double seconds = 30) {
  return {.deadline = DeadlineAfter(Clock::Real().Now(), seconds),
          .interrupted = nullptr};
}

inline Client::InsertOutcome InsertOne(
    Client& client, const Column& column, const std::string& table,
    double priority = 1, std::optional<double> timeout = std::nullopt) {
  const TensorView view = column.view();
  const std::vector<std::pair<std::string, double>> priorities = {
      {table, priority}};
  return client.Insert({view}, priorities, timeout, Soon());
}

// Tests of this fixture run against the engine and through gRPC.
class BothWaysTest : public testing::TestWithParam<bool> {
 protected:
  bool in_process() const { return GetParam(); }
  std::shared_ptr<Client> Connect(const TestServer& server) {
    return NewClient(server.target(), in_process());
  }
};
inline std::string WayName(const testing::TestParamInfo<bool>& info) {
  return info.param ? "InProcess" : "Remote";
}

}  // namespace reverb

#endif  // REVERB_TESTS_CC_CLIENT_TEST_SERVER_H_
