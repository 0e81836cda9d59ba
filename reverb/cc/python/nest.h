// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Nested Python data to its leaves, in dm-tree's flat order: dict keys sorted,
// lists, tuples and named tuples by position.
//
// dm-tree itself is asked about containers of other types (attrs classes, other
// mappings and sequences) and isn't imported without them.
//
// Errors: Python exceptions, thrown as error_already_set.
// Threads: callers hold the GIL; a Flattener is for one thread at a time.

#ifndef REVERB_CC_PYTHON_NEST_H_
#define REVERB_CC_PYTHON_NEST_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "reverb/cc/wire/structure.h"

namespace reverb::python {

class Flattener {
 public:
  // Appends the leaves of `data` to `leaves`. The structure met is remembered:
  // walking the next data of the same structure sorts no keys.
  void Flatten(pybind11::handle data, std::vector<pybind11::object>& leaves);

  // As `Flatten` if `data` has the structure of the last data. Else false:
  // what is remembered stays, and `leaves` is as it was.
  bool FlattenAgain(pybind11::handle data,
                    std::vector<pybind11::object>& leaves);

  // Paths of the leaves of the last data ("obs/camera/0"; empty for data that
  // is a leaf itself), in flat order; for messages.
  std::vector<std::string> LeafNames() const;

  // The nesting of the last data, as an `Item` takes it in `extra`: field
  // `structure` of FlatTrajectory, tag and length included (wire/structure.h).
  // Worked out anew only when the structure has changed; all items of one
  // structure share the string:
  //
  //   flattener.Flatten(trajectory, leaves);
  //   MakeRef<Item>(key, ..., flattener.StructureBytes());
  //
  // Null where there is nothing to store: a flat list, which is how data comes
  // back without it, and what can't be expressed (dict keys that are not str,
  // attrs classes and other containers, very deep nesting).
  const std::shared_ptr<const std::string>& StructureBytes();

 private:
  struct Node {
    bool is_leaf = false;
    pybind11::object type;               // of a container; null at first
    std::vector<pybind11::object> keys;  // of a dict, sorted
    pybind11::object fields;  // of a named tuple or attrs class, else null
    std::vector<Node> children;
  };

  void Walk(PyObject* value, Node& node);
  void AddLeaf(PyObject* value, Node& node);
  // Makes `node` a container of the type of `value`; false if it must stay
  // another.
  bool SetType(PyObject* value, Node& node);
  void WalkDict(PyObject* dict, Node& node);
  // False if a key of `node` is missing.
  bool WalkKnownDict(PyObject* dict, Node& node);
  void WalkSequence(PyObject* sequence, Node& node);
  void WalkAttrs(PyObject* value, Node& node);
  void WalkOther(PyObject* value, Node& node);
  // Says that the structure isn't the remembered one; false if it must stay.
  bool Change();
  // False if it can't be expressed.
  static bool Describe(const Node& node, wire::Structure& structure);
  static void AddNames(const Node& node, const std::string& path,
                       std::vector<std::string>& names);

  Node root_;
  std::vector<pybind11::object>* leaves_ = nullptr;
  bool changed_ = true;  // since `structure_` was made
  bool must_match_ = false;
  bool differs_ = false;  // from what it must match
  std::shared_ptr<const std::string> structure_;
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_NEST_H_
