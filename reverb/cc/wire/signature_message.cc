// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Signatures: a nested StructuredValue whose leaves are tensor specs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/structured_value.h"

namespace reverb::wire {
namespace {

absl::Status MergeShape(absl::string_view message, TensorSpec& spec) {
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(2, kBytes): {
        int64_t size = 0;
        FieldReader dim(in.bytes());
        while (dim.Next()) {
          if (dim.tag() == Tag(1, kVarint)) size = dim.int64();
        }
        REVERB_RETURN_IF_ERROR(dim.status("TensorShapeProto.Dim"));
        spec.dims.push_back(size);
        break;
      }
      case Tag(3, kVarint):
        spec.unknown_rank = in.boolean();
        break;
    }
  }
  return in.status("TensorShapeProto");
}

// TensorSpecProto and BoundedTensorSpecProto: the bounds are not enforced.
// `spec.name` is the spec's own.
absl::Status ParseSpec(absl::string_view message, TensorSpec& spec) {
  int64_t dtype = 0;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(ReadString(in, "the name of a spec", spec.name));
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(MergeShape(in.bytes(), spec));
        break;
      case Tag(3, kVarint):
        dtype = in.int32();
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("TensorSpecProto"));
  if (spec.unknown_rank) spec.dims.clear();
  for (int64_t dim : spec.dims) {
    if (dim < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a spec has a dimension of ", dim));
    }
  }
  const std::optional<DType> known = DTypeFromWire(dtype);
  if (!known.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a spec has the dtype number ", dtype,
                     ", of which there are no values"));
  }
  spec.dtype = *known;
  return absl::OkStatus();
}

bool IsSpec(uint32_t kind) {
  return kind == kTensorSpecValue || kind == kBoundedTensorSpecValue;
}

absl::Status TooDeep() {
  return absl::InvalidArgumentError(
      absl::StrCat("a signature is nested more than ", kMaxDepth, " deep"));
}

std::string JoinPath(absl::string_view path, absl::string_view name) {
  if (path.empty() || name.empty()) return absl::StrCat(path, name);
  return absl::StrCat(path, "/", name);
}

absl::Status Flatten(absl::string_view message, const std::string& path,
                     int depth, Signature& result) {
  if (depth > kMaxDepth) return TooDeep();
  StructuredValue value;
  REVERB_RETURN_IF_ERROR(ParseStructuredValue(message, value));
  if (IsSpec(value.kind)) {
    TensorSpec& spec = result.emplace_back();
    absl::Status status = ParseSpec(value.bytes, spec);
    spec.name = JoinPath(path, spec.name);
    if (status.ok()) return status;
    return absl::InvalidArgumentError(
        absl::StrCat("column '", spec.name, "': ", status.message()));
  }
  if (!IsContainer(value.kind)) {
    return absl::InvalidArgumentError(
        absl::StrCat("column '", path, "' of a signature is no tensor spec"));
  }
  std::vector<StructuredChild> children;
  std::string type_name;
  REVERB_RETURN_IF_ERROR(ParseStructuredChildren(value, children, type_name));
  for (const StructuredChild& child : children) {
    REVERB_RETURN_IF_ERROR(
        Flatten(child.value, JoinPath(path, child.name), depth + 1, result));
  }
  return absl::OkStatus();
}

// ---- text

std::string SpecText(const TensorSpec& spec) {
  const absl::string_view dtype = DTypeName(spec.dtype);
  if (spec.unknown_rank) return absl::StrCat(dtype, " (...)");
  std::string shape =
      absl::StrJoin(spec.dims, ", ", [](std::string* out, int64_t dim) {
        absl::StrAppend(out, dim < 0 ? "?" : absl::StrCat(dim));
      });
  if (spec.dims.size() == 1) shape += ",";
  return absl::StrCat(dtype, " (", shape, ")");
}

absl::Status AppendText(absl::string_view message, int depth,
                        std::string& out) {
  if (depth > kMaxDepth) return TooDeep();
  StructuredValue value;
  REVERB_RETURN_IF_ERROR(ParseStructuredValue(message, value));
  if (IsSpec(value.kind)) {
    TensorSpec spec;
    REVERB_RETURN_IF_ERROR(ParseSpec(value.bytes, spec));
    out += SpecText(spec);
    return absl::OkStatus();
  }
  if (!IsContainer(value.kind)) {
    out += value.kind == kNoneValue ? "None" : "?";
    return absl::OkStatus();
  }
  std::vector<StructuredChild> children;
  std::string type_name;
  REVERB_RETURN_IF_ERROR(ParseStructuredChildren(value, children, type_name));
  const bool is_list = value.kind == kListValue;
  const bool is_dict = value.kind == kDictValue;
  out += type_name;
  out += is_list ? '[' : is_dict ? '{' : '(';
  for (size_t i = 0; i < children.size(); ++i) {
    if (i > 0) out += ", ";
    if (is_dict) {
      absl::StrAppend(&out, "'", absl::Utf8SafeCEscape(children[i].name),
                      "': ");
    } else if (value.kind == kNamedTupleValue) {
      absl::StrAppend(&out, children[i].name, "=");
    }
    REVERB_RETURN_IF_ERROR(AppendText(children[i].value, depth + 1, out));
  }
  if (value.kind == kTupleValue && children.size() == 1) out += ',';
  out += is_list ? ']' : is_dict ? '}' : ')';
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Signature> ParseSignature(absl::string_view structured_value) {
  Signature result;
  REVERB_RETURN_IF_ERROR(Flatten(structured_value, "", 1, result));
  return result;
}

std::string SignatureText(absl::string_view structured_value) {
  std::string text;
  const absl::Status status = AppendText(structured_value, 1, text);
  if (!status.ok()) return absl::StrCat("<", status.message(), ">");
  return text;
}

}  // namespace reverb::wire
