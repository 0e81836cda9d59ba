// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Flat leaves to nested Python data: what a Flattener does, backwards.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_PACKER_H_
#define REVERB_CC_PYTHON_PACKER_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <vector>

#include "reverb/cc/wire/structure.h"

namespace reverb::python {

class Packer {
 public:
  // Nests as `structure` says, with the named tuple classes of
  // reverb.signature.
  explicit Packer(const wire::Structure& structure);

  size_t num_leaves() const { return num_leaves_; }
  // The nest of `leaves`, of which there are `num_leaves`.
  pybind11::object Pack(const pybind11::list& leaves) const;

 private:
  struct Node {
    wire::Structure::Kind kind = wire::Structure::Kind::kLeaf;
    std::vector<pybind11::object> keys;  // of a dict
    pybind11::object type;               // of a named tuple
    std::vector<Node> children;
  };

  Node Prepare(const wire::Structure& structure);
  static pybind11::object Build(const Node& node, PyObject* leaves,
                                size_t& next);

  size_t num_leaves_ = 0;
  Node root_;
};

// A new object of `type`, a subclass of tuple without attributes of its own,
// whose items are null: set them all, and at once.
pybind11::object NewTuple(pybind11::handle type, size_t size);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_PACKER_H_
