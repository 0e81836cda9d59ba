// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the unary calls but ServerInfo, and of InitializeConnection.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/append.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/messages.h"

namespace reverb::wire {
namespace {

constexpr char kMutate[] = "MutatePrioritiesRequest";

absl::Status ParseUpdate(absl::string_view bytes, PriorityUpdate& update) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        update.key = in.varint();
        break;
      case Tag(2, kFixed64):
        update.priority = in.float64();
        break;
    }
  }
  return in.status("KeyWithPriority");
}

// A message whose field 1 is a string, the only one that is read.
absl::StatusOr<std::string> ParseOneString(absl::string_view message,
                                           absl::string_view name,
                                           absl::string_view field) {
  std::string result;
  FieldReader in(message);
  while (in.Next()) {
    if (in.tag() == Tag(1, kBytes)) {
      REVERB_RETURN_IF_ERROR(ReadString(in, field, result));
    }
  }
  REVERB_RETURN_IF_ERROR(in.status(name));
  return result;
}

}  // namespace

absl::StatusOr<MutateMessage> ParseMutateRequest(absl::string_view message) {
  MutateMessage result;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "the name of the table", result.table));
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(
            ParseUpdate(in.bytes(), result.updates.emplace_back()));
        break;
      case Tag(3, kBytes):
        if (!AppendPacked(in.bytes(), result.deletes)) {
          return absl::InvalidArgumentError(
              absl::StrCat("not a valid ", kMutate, ": malformed delete_keys"));
        }
        break;
      case Tag(3, kVarint):
        result.deletes.push_back(in.varint());
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status(kMutate));
  return result;
}

std::string BuildMutateRequest(const MutateMessage& message) {
  std::string result;
  AppendFields(StringSize(1, message.table), result,
               [&](FieldWriter& out) { out.String(1, message.table); });
  for (const PriorityUpdate& update : message.updates) {
    const size_t size =
        NumberSize(1, update.key) + DoubleSize(2, update.priority);
    AppendFields(MessageSize(2, size), result, [&](FieldWriter& out) {
      out.Begin(2, size);
      out.Number(1, update.key);
      out.Double(2, update.priority);
    });
  }
  AppendPackedField(3, message.deletes, result);
  return result;
}

absl::StatusOr<std::string> ParseResetRequest(absl::string_view message) {
  return ParseOneString(message, "ResetRequest", "the name of the table");
}

std::string BuildResetRequest(absl::string_view table) {
  std::string result;
  AppendFields(StringSize(1, table), result,
               [&](FieldWriter& out) { out.String(1, table); });
  return result;
}

absl::Status CheckEmptyRequest(absl::string_view message) {
  FieldReader in(message);
  while (in.Next()) {
  }
  return in.status("request");
}

absl::StatusOr<std::string> ParseCheckpointResponse(absl::string_view message) {
  return ParseOneString(message, "CheckpointResponse", "the path");
}

absl::Status CheckInitializeConnectionRequest(absl::string_view message) {
  std::string table;
  FieldReader in(message);
  while (in.Next()) {
    if (in.tag() == Tag(2, kBytes)) {
      REVERB_RETURN_IF_ERROR(ReadString(in, "the name of the table", table));
    }
  }
  return in.status("InitializeConnectionRequest");
}

}  // namespace reverb::wire
