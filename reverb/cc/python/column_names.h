// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Says in an error which leaf of the caller's data a column is: the engine
// knows columns by number, and by the names of a signature.

#ifndef REVERB_CC_PYTHON_COLUMN_NAMES_H_
#define REVERB_CC_PYTHON_COLUMN_NAMES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/client.h"
#include "reverb/cc/tensor/signature.h"

namespace reverb::python {

// The signature of `table` as far as `client` knows it already; else null.
std::shared_ptr<const Signature> KnownSignature(Client& client,
                                                absl::string_view table);

// `status` with the paths of the columns that it is about in its text and its
// ErrorInfo. `names` are those of the data, in flat order; `signature` is the
// table's, or null.
absl::Status NameColumns(const absl::Status& status,
                         absl::Span<const std::string> names,
                         const Signature* signature);

// The same for an error of a sample: columns are named by the signature of
// `table`, which may take a moment to ask for.
absl::Status NameTableColumns(const absl::Status& status, Client& client,
                              absl::string_view table);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_COLUMN_NAMES_H_
