// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The names that our clients and servers use beside the messages, and the
// methods' paths.
//
// A client that knows more than dm-reverb 0.14 sends `reverb-features` with
// every call, possibly empty. Only then does a server answer with metadata or
// trailers of its own: a plain 0.14 client sees none.

#ifndef REVERB_CC_RPC_METADATA_H_
#define REVERB_CC_RPC_METADATA_H_

#include <grpcpp/support/string_ref.h>

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace reverb::rpc {

// Metadata, as gRPC hands it out.
using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

// Request: the features a client would use; response: those of them that the
// server offers. Names separated by commas.
inline constexpr char kFeaturesKey[] = "reverb-features";
// Initial metadata: 32 hex digits that name the server for its life.
inline constexpr char kServerIdKey[] = "reverb-server-id";
// Initial metadata: the path of a unix socket where clients of the same user
// on the same host reach the server too.
inline constexpr char kUnixSocketKey[] = "reverb-unix";
// Trailer, "1": the stream ends because the server is stopping.
inline constexpr char kStoppingKey[] = "reverb-stopping";
// Trailer: an ErrorInfo message.
inline constexpr char kErrorInfoKey[] = "reverb-error-bin";

// Request of an insert stream: 32 hex digits that name the session which it
// continues.
inline constexpr char kSessionKey[] = "reverb-session";

// Field `item_seqs` of insert requests.
inline constexpr absl::string_view kSessionFeature = "session";
// Fields `wait` and `try_once` of requests, `refused` of responses.
inline constexpr absl::string_view kWaitFeature = "wait";

inline constexpr char kCheckpointMethod[] =
    "/deepmind.reverb.ReverbService/Checkpoint";
inline constexpr char kInitializeConnectionMethod[] =
    "/deepmind.reverb.ReverbService/InitializeConnection";
inline constexpr char kInsertStreamMethod[] =
    "/deepmind.reverb.ReverbService/InsertStream";
inline constexpr char kMutatePrioritiesMethod[] =
    "/deepmind.reverb.ReverbService/MutatePriorities";
inline constexpr char kResetMethod[] = "/deepmind.reverb.ReverbService/Reset";
inline constexpr char kSampleStreamMethod[] =
    "/deepmind.reverb.ReverbService/SampleStream";
inline constexpr char kServerInfoMethod[] =
    "/deepmind.reverb.ReverbService/ServerInfo";

// The first value of `key`, borrowed; nothing if it isn't there.
std::optional<absl::string_view> FindMetadata(const Metadata& metadata,
                                              absl::string_view key);

// Whether `features`, as it stands in the metadata, names `feature`.
bool HasFeature(absl::string_view features, absl::string_view feature);

// Those of `wanted` that are in `offered` too, both as in the metadata.
std::string CommonFeatures(absl::string_view wanted, absl::string_view offered);

}  // namespace reverb::rpc

#endif  // REVERB_CC_RPC_METADATA_H_
