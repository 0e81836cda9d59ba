// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/server_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/engine/registry.h"
#include "tests/cc/engine/test_session.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::shared_ptr<Table>> Tables(std::vector<std::string> names) {
  std::vector<std::shared_ptr<Table>> tables;
  for (std::string& name : names) {
    tables.push_back(*Table::Create(UniformTable(std::move(name))));
  }
  return tables;
}

TEST(ServerCore, NeedsTables) {
  EXPECT_TRUE(absl::IsInvalidArgument(ServerCore::Create({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ServerCore::Create({nullptr}).status()));
}

TEST(ServerCore, ListsEveryRepeatedName) {
  const absl::Status status =
      ServerCore::Create(Tables({"a", "b", "c", "b", "a", "a"})).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'a', 'b'"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("'c'")));
}

TEST(ServerCore, EveryCoreHasItsOwnIds) {
  const auto a = *ServerCore::Create(Tables({"a"}));
  const auto b = *ServerCore::Create(Tables({"a"}));
  EXPECT_EQ(a->server_id().size(), 32u);
  EXPECT_NE(a->server_id(), b->server_id());
  EXPECT_FALSE(a->state_id() == b->state_id());
}

TEST(ServerCore, UnaryCallsReachTheirTable) {
  const auto core = *ServerCore::Create(Tables({"a", "b"}));
  const auto session = core->OpenInsertSession({});
  ASSERT_TRUE(session->Submit(OneItem(1, "a")).ok());
  const PriorityUpdate update{.key = 1, .priority = 3};
  EXPECT_TRUE(core->MutatePriorities("a", {&update, 1}, {}).ok());
  EXPECT_TRUE(absl::IsNotFound(core->MutatePriorities("c", {}, {})));
  EXPECT_TRUE(core->Reset("a").ok());
  EXPECT_TRUE(absl::IsNotFound(core->Reset("c")));
  const std::vector<Table::Info> infos = core->Info();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].name, "a");
  EXPECT_EQ(infos[0].current_size, 0);
}

TEST(ServerCore, AClosedCoreRefusesCalls) {
  const auto core = *ServerCore::Create(Tables({"a"}));
  core->Close();
  core->Close();
  EXPECT_TRUE(core->closed());
  EXPECT_TRUE(absl::IsUnavailable(core->MutatePriorities("a", {}, {})));
  EXPECT_TRUE(absl::IsUnavailable(core->Reset("a")));
}

TEST(ServerCore, ACoreThatWasNotClosedLeavesItsTablesOpen) {
  const auto tables = Tables({"a"});
  ServerCore::Create(tables).value().reset();
  const auto core = *ServerCore::Create(tables);
  const auto session = core->OpenInsertSession({});
  ASSERT_TRUE(session->Submit(OneItem(1, "a")).ok());
  EXPECT_TRUE(session->status().ok());
  EXPECT_EQ(tables[0]->size(), 1);
}

TEST(ServerCore, ATableClosedByAnotherCoreIsAnErrorOfItsOwn) {
  const auto tables = Tables({"a"});
  const auto other = *ServerCore::Create(tables);
  const auto core = *ServerCore::Create(tables);
  other->Close();
  const auto inserts = core->OpenInsertSession({});
  inserts->Submit(OneItem(1, "a")).IgnoreError();
  EXPECT_TRUE(absl::IsFailedPrecondition(inserts->status()));
  const auto samples = core->OpenSampleSession({});
  SampleMessage request;
  request.table = "a";
  request.num_samples = 1;
  ASSERT_TRUE(samples->Request(request).ok());
  samples->Take();
  EXPECT_TRUE(absl::IsFailedPrecondition(samples->status()));
}

TEST(Registry, FindsServersBehindLoopbackAddressesOnly) {
  const auto core = *ServerCore::Create(Tables({"a"}));
  RegisterServer(8123, core);
  for (const char* target :
       {"localhost:8123", "LOCALHOST:8123", "127.0.0.1:8123", "127.9.8.7:8123",
        "[::1]:8123", "ipv4:127.0.0.1:8123", "ipv6:[::1]:8123",
        "dns:///localhost:8123", "dns:localhost:8123",
        "dns:///127.0.0.1:8123"}) {
    EXPECT_EQ(FindLocalServer(target), core) << target;
  }
  for (const char* target :
       {"", "localhost", "localhost:", "localhost:0", "localhost:8124",
        "localhost:81230", "localhost:8123x", "127.0.0.1.evil.org:8123",
        "127.0.1:8123", "128.0.0.1:8123", "example.org:8123", "[::2]:8123",
        "unix:/tmp/8123", "dns://8.8.8.8/localhost:8123", "0.0.0.0:8123",
        "ipv4:127.0.0.1:1,127.0.0.1:8123", "ipv4:256.0.0.1:8123"}) {
    EXPECT_EQ(FindLocalServer(target), nullptr) << target;
  }
  UnregisterServer(8123, core.get());
  EXPECT_EQ(FindLocalServer("localhost:8123"), nullptr);
}

TEST(Registry, ForgetsClosedAndDeadServers) {
  auto closed = *ServerCore::Create(Tables({"a"}));
  RegisterServer(8124, closed);
  closed->Close();
  EXPECT_EQ(FindLocalServer("localhost:8124"), nullptr);
  auto dead = *ServerCore::Create(Tables({"a"}));
  RegisterServer(8124, dead);
  UnregisterServer(8124, closed.get());  // another's
  EXPECT_EQ(FindLocalServer("localhost:8124"), dead);
  dead.reset();
  EXPECT_EQ(FindLocalServer("localhost:8124"), nullptr);
}

}  // namespace
}  // namespace reverb
