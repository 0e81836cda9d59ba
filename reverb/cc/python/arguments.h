// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Arguments that pybind11's own conversions don't cover as 0.14 has them: ints
// are taken for floats, floats never for ints, NumPy's numbers are numbers.
//
// Errors: TypeError or the reverb error named, thrown as error_already_set.
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_ARGUMENTS_H_
#define REVERB_CC_PYTHON_ARGUMENTS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/data/item.h"
#include "reverb/cc/table/table.h"

namespace reverb::python {

// `what` names the argument in messages.
std::string ToString(pybind11::handle value, const char* what);
double ToDouble(pybind11::handle value, const char* what);
// 0 .. 2^64 - 1.
ItemKey ToKey(pybind11::handle value, const char* what);

// Seconds; None: no limit. InvalidArgument if negative or NaN.
std::optional<double> ToTimeout(pybind11::handle value);

// Mappings of table to priority, in their order, and of key to priority.
std::vector<std::pair<std::string, double>> ToTablePriorities(
    pybind11::handle mapping);
std::vector<PriorityUpdate> ToUpdates(pybind11::handle mapping);
// Any iterable of keys, or None.
std::vector<ItemKey> ToKeys(pybind11::handle keys);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_ARGUMENTS_H_
