// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "reverb/cc/engine/registry.h"
#include "tests/cc/service/service_fixture.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;

class ServerTest : public ServiceTest {
 protected:
  std::string Target() { return absl::StrCat("localhost:", server_->port()); }
};

TEST_F(ServerTest, IsFoundInTheProcess) {
  EXPECT_GT(server_->port(), 0);
  EXPECT_EQ(FindLocalServer(Target()), core_);
}

// A machine may have no IPv6, or have it switched off: sockets can be made
// then, and have no address to bind to.
bool HasIpv6Loopback() {
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (probe < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const int result =
      ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::close(probe);
  return result == 0;
}

TEST_F(ServerTest, IsReachableOverIpv4AndIpv6) {
  std::vector<std::string> addresses = {"ipv4:127.0.0.1:"};
  if (HasIpv6Loopback()) addresses.push_back("ipv6:[::1]:");
  for (const std::string& address : addresses) {
    auto channel = grpc::CreateCustomChannel(
        absl::StrCat(address, server_->port()),
        grpc::InsecureChannelCredentials(), rpc::ChannelArgs(false));
    TestCall call(channel, rpc::kServerInfoMethod);
    call.Write(std::string());
    call.HalfClose();
    EXPECT_TRUE(call.Drain().ok()) << address;
  }
}

TEST_F(ServerTest, ATakenPortIsAnErrorThatNamesIt) {
  const int port = server_->port();
  std::vector<std::shared_ptr<Table>> tables = {
      *Table::Create(TableOptions()[0])};
  const auto second = Server::Start(*ServerCore::Create(tables), {port});
  EXPECT_TRUE(absl::IsInvalidArgument(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat(port)));
  ExpectAlive();
}

TEST_F(ServerTest, PortsOutOfRangeAreRefused) {
  for (const int port : {-1, 65536}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Server::Start(core_, {port}).status()));
  }
}

TEST_F(ServerTest, StopIsForGoodAndMayBeRepeated) {
  const std::string target = Target();
  EXPECT_FALSE(server_->WaitUntil(std::chrono::steady_clock::now()));
  std::thread waiter([&] { EXPECT_TRUE(server_->WaitUntil(kNoDeadline)); });
  std::thread other([&] { server_->Stop(); });
  server_->Stop();
  other.join();
  waiter.join();
  server_->Stop();
  EXPECT_TRUE(server_->WaitUntil(std::chrono::steady_clock::now()));
  EXPECT_TRUE(core_->closed());
  EXPECT_EQ(FindLocalServer(target), nullptr);
  EXPECT_TRUE(absl::IsUnavailable(Once(rpc::kServerInfoMethod, "")));
}

TEST_F(ServerTest, ThePortIsFreeAfterStop) {
  const int port = server_->port();
  server_.reset();
  std::vector<std::shared_ptr<Table>> tables = {
      *Table::Create(TableOptions()[0])};
  auto second = Server::Start(*ServerCore::Create(tables), {port});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->port(), port);
}

TEST_F(ServerTest, StopEndsWaitingStreamsAndSaysSo) {
  auto idle = Call(rpc::kInsertStreamMethod, "wait");
  auto insert = Call(rpc::kInsertStreamMethod, "wait");
  for (ItemKey key = 1; key <= 4; ++key) {
    ASSERT_TRUE(insert->Write(OneItem(key, "small")));
  }
  auto sample = Call(rpc::kSampleStreamMethod, "wait");
  ASSERT_TRUE(sample->Write(SampleRequestFor("queue", 1)));
  auto plain = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(plain->Write(SampleRequestFor("queue", 1)));
  ASSERT_TRUE(Eventually([&] {
    return TableOf("small")->GetInfo().waiting_inserts > 0 &&
           TableOf("queue")->GetInfo().waiting_samples == 2;
  }));
  idle->ReadInitialMetadata();

  server_->Stop();
  // Confirmed is what was inserted, and nothing else.
  EXPECT_EQ(ReadKeys(*insert, 4), (std::multiset<ItemKey>{1, 2}));
  for (TestCall* call : {idle.get(), insert.get(), sample.get()}) {
    const absl::Status status = call->Drain();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("stopping"));
    EXPECT_EQ(call->Trailer(rpc::kStoppingKey), "1");
  }
  EXPECT_TRUE(absl::IsUnavailable(plain->Drain()));
  EXPECT_EQ(plain->num_trailers(), 0u);
}

TEST_F(ServerTest, StopDoesNotWaitForAClientThatDoesNotRead) {
  Insert("uniform", {1}, 100'000);
  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("uniform", 1'000'000)));
  ASSERT_TRUE(Eventually(
      [&] { return TableOf("uniform")->GetInfo().counters.samples > 0; }));
  server_->Stop();
  call->Drain().IgnoreError();
}

TEST_F(ServerTest, StopUnderLoadEndsEveryStream) {
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      auto insert = Call(rpc::kInsertStreamMethod);
      auto sample = Call(rpc::kSampleStreamMethod);
      sample->Write(SampleRequestFor("uniform", 1 << 30));
      for (ItemKey key = 0;; ++key) {
        if (!insert->Write(OneItem(key * 4 + i, "uniform"))) break;
        if (!insert->Read()) break;
        if (!sample->Read()) break;
      }
      EXPECT_FALSE(insert->Drain().ok());
      EXPECT_FALSE(sample->Drain().ok());
    });
  }
  ASSERT_TRUE(Eventually(
      [&] { return TableOf("uniform")->GetInfo().counters.samples > 500; }));
  server_->Stop();
  for (std::thread& client : clients) client.join();
}

TEST_F(ServerTest, StopAllServersStopsThisOne) {
  StopAllServers();
  EXPECT_TRUE(server_->WaitUntil(std::chrono::steady_clock::now()));
}

TEST_F(ServerTest, AForkedChildCanNeitherUseNorMakeServers) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // 0 if all is as it should be. No gtest here: this is the child.
    int wrong = 0;
    if (!absl::IsFailedPrecondition(Server::Start(core_, {}).status())) {
      wrong |= 1;
    }
    if (FindLocalServer(absl::StrCat("localhost:", server_->port())))
      wrong |= 2;
    StopAllServers();
    server_.reset();
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ExpectAlive();
}

}  // namespace
}  // namespace reverb
