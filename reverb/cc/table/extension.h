// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A hook into what happens to a table's items.
//
// Called under the table's lock, in the order of the changes: quick work only,
// nothing that blocks or calls the table back.

#ifndef REVERB_CC_TABLE_EXTENSION_H_
#define REVERB_CC_TABLE_EXTENSION_H_

#include <cstdint>
#include <string>

#include "reverb/cc/data/item.h"

namespace reverb {

class TableExtension {
 public:
  struct Event {
    const Item& item;
    double priority;        // after the change
    int32_t times_sampled;  // after the change
  };

  virtual ~TableExtension() = default;

  virtual void OnInsert(const Event&) {}
  virtual void OnUpdate(const Event&) {}
  virtual void OnSample(const Event&) {}
  virtual void OnDelete(const Event&) {}  // for whatever reason it left
  virtual void OnReset() {}

  virtual std::string ToString() const = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_EXTENSION_H_
