// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "reverb/cc/rpc/metadata.h"
#include "tests/cc/service/service_fixture.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;

using UnaryTest = ServiceTest;

constexpr const char* kMethods[] = {
    rpc::kInsertStreamMethod,         rpc::kSampleStreamMethod,
    rpc::kMutatePrioritiesMethod,     rpc::kResetMethod,
    rpc::kServerInfoMethod,           rpc::kCheckpointMethod,
    rpc::kInitializeConnectionMethod,
};

TEST_F(UnaryTest, MutateAppliesDeletesAndUpdates) {
  Insert("prioritized", {1, 2, 3});
  MutateMessage message;
  message.table = "prioritized";
  message.updates = {{.key = 1, .priority = 5}, {.key = 99, .priority = 1}};
  message.deletes = {2, 98};
  EXPECT_TRUE(
      Once(rpc::kMutatePrioritiesMethod, wire::BuildMutateRequest(message))
          .ok());
  EXPECT_EQ(TableOf("prioritized")->size(), 2);
}

TEST_F(UnaryTest, ABadPriorityChangesNothing) {
  Insert("prioritized", {1, 2});
  MutateMessage message;
  message.table = "prioritized";
  message.updates = {{.key = 1, .priority = std::nan("")}};
  message.deletes = {2};
  const absl::Status status =
      Once(rpc::kMutatePrioritiesMethod, wire::BuildMutateRequest(message));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(TableOf("prioritized")->size(), 2);
}

TEST_F(UnaryTest, UnknownTablesAreNotFound) {
  MutateMessage message;
  message.table = "missing";
  for (const absl::Status& status :
       {Once(rpc::kMutatePrioritiesMethod, wire::BuildMutateRequest(message)),
        Once(rpc::kResetMethod, wire::BuildResetRequest("missing"))}) {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("Priority table missing was not found"));
  }
}

TEST_F(UnaryTest, ResetRemovesEverything) {
  Insert("uniform", {1, 2, 3});
  EXPECT_TRUE(Once(rpc::kResetMethod, wire::BuildResetRequest("uniform")).ok());
  EXPECT_EQ(TableOf("uniform")->size(), 0);
}

TEST_F(UnaryTest, ServerInfoNamesTheTables) {
  auto call = Call(rpc::kServerInfoMethod);
  call->Write(std::string());
  call->HalfClose();
  const auto message = call->Read();
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(call->Drain().ok());
  const auto info = wire::ParseServerInfoResponse(*message);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_TRUE(info->state_id == core_->state_id());
  EXPECT_EQ(info->tables.size(), core_->tables().size());
}

TEST_F(UnaryTest, CheckpointIsNotOffered) {
  const absl::Status status = Once(rpc::kCheckpointMethod, "");
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("checkpointer"));
}

TEST_F(UnaryTest, InitializeConnectionGivesNoAddress) {
  // {pid: 1, table_name: "uniform"} and {pid: 1, table_name: "missing"}
  for (const char* request :
       {"\x08\x01\x12\x07uniform", "\x08\x01\x12\x07missing", ""}) {
    auto call = Call(rpc::kInitializeConnectionMethod);
    ASSERT_TRUE(call->Write(std::string(request)));
    const auto message = call->Read();
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(*message, "");
    // A second message, as 0.14 would not survive it.
    call->Write(std::string("\x08\x01"));
    EXPECT_TRUE(call->Drain().ok());
  }
  auto silent = Call(rpc::kInitializeConnectionMethod);
  silent->HalfClose();
  EXPECT_TRUE(silent->Drain().ok());
}

TEST_F(UnaryTest, UnknownMethodsAreUnimplemented) {
  for (const char* method : {"/deepmind.reverb.ReverbService/Nothing", "/x",
                             "/other.Service/Reset"}) {
    EXPECT_TRUE(absl::IsUnimplemented(Once(method, "")));
  }
}

TEST_F(UnaryTest, MalformedBytesAreRefusedWithAText) {
  const std::string cases[] = {
      std::string("\x0a\xff", 2),          // longer than the message
      std::string("\x0a\x02\xc3\x28", 4),  // not UTF-8
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11),
      std::string("\x0b", 1),  // an open group
      std::string("\x00", 1),  // field 0
      std::string(1000, '\xff'),
  };
  for (const char* method : kMethods) {
    for (const std::string& bytes : cases) {
      const absl::Status status = Once(method, bytes);
      // A field that the method doesn't know may hold any bytes.
      if (bytes == cases[1]) {
        EXPECT_NE(status.code(), absl::StatusCode::kUnavailable);
        continue;
      }
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << method << " " << status;
      EXPECT_NE(status.message(), "");
    }
  }
  ExpectAlive();
}

TEST_F(UnaryTest, ATableNameThatIsNotUtf8IsRefused) {
  const std::string bytes("\x0a\x02\xc3\x28", 4);
  for (const char* method : {rpc::kResetMethod, rpc::kMutatePrioritiesMethod,
                             rpc::kSampleStreamMethod}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Once(method, bytes))) << method;
  }
}

TEST_F(UnaryTest, ACallWithoutARequestIsRefused) {
  auto call = Call(rpc::kResetMethod);
  call->HalfClose();
  EXPECT_TRUE(absl::IsInvalidArgument(call->Drain()));
}

TEST_F(UnaryTest, APlainClientSeesNoMetadataOfOurs) {
  for (const char* method : kMethods) {
    auto call = Call(method);
    call->Write(std::string("\x0a\xff", 2));
    call->HalfClose();
    call->Drain().IgnoreError();
    EXPECT_EQ(call->num_initial(), 0u) << method;
    EXPECT_EQ(call->num_trailers(), 0u) << method;
  }
}

TEST_F(UnaryTest, AClientThatNegotiatesGetsFeaturesAndTheServersId) {
  for (const char* method :
       {rpc::kInsertStreamMethod, rpc::kSampleStreamMethod}) {
    auto call = Call(method, "session, lease,wait,later");
    // Before any message.
    call->ReadInitialMetadata();
    EXPECT_EQ(call->Initial(rpc::kFeaturesKey), "session,wait");
    EXPECT_EQ(call->Initial(rpc::kServerIdKey), core_->server_id());
  }
  auto info = Call(rpc::kServerInfoMethod, "session");
  info->Write(std::string());
  info->HalfClose();
  EXPECT_TRUE(info->Drain().ok());
  EXPECT_EQ(info->Initial(rpc::kFeaturesKey), "session");
  EXPECT_EQ(info->Initial(rpc::kServerIdKey), core_->server_id());
}

}  // namespace
}  // namespace reverb
