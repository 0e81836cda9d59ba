// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/packer.h"

#include <cstddef>
#include <string>

namespace reverb::python {
namespace {

namespace py = pybind11;

using Kind = wire::Structure::Kind;

}  // namespace

py::object NewTuple(py::handle type, size_t size) {
  auto* const cls = reinterpret_cast<PyTypeObject*>(type.ptr());
  PyObject* const tuple = cls->tp_alloc(cls, static_cast<Py_ssize_t>(size));
  if (tuple == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(tuple);
}

Packer::Packer(const wire::Structure& structure) : root_(Prepare(structure)) {}

Packer::Node Packer::Prepare(const wire::Structure& structure) {
  Node node;
  node.kind = structure.kind;
  if (node.kind == Kind::kLeaf) ++num_leaves_;
  if (node.kind == Kind::kDict) {
    for (const std::string& key : structure.keys) {
      node.keys.push_back(py::str(key));
    }
  }
  if (node.kind == Kind::kNamedTuple) {
    py::tuple fields(structure.keys.size());
    for (size_t i = 0; i < structure.keys.size(); ++i) {
      fields[i] = py::str(structure.keys[i]);
    }
    node.type = py::module_::import("reverb.signature")
                    .attr("named_tuple_class")(structure.name, fields);
  }
  node.children.reserve(structure.children.size());
  for (const wire::Structure& child : structure.children) {
    node.children.push_back(Prepare(child));
  }
  return node;
}

py::object Packer::Pack(const py::list& leaves) const {
  size_t next = 0;
  return Build(root_, leaves.ptr(), next);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as ParseStructure allows.
py::object Packer::Build(const Node& node, PyObject* leaves, size_t& next) {
  const size_t size = node.children.size();
  switch (node.kind) {
    case Kind::kLeaf:
      return py::reinterpret_borrow<py::object>(
          PyList_GET_ITEM(leaves, static_cast<Py_ssize_t>(next++)));
    case Kind::kDict: {
      py::dict dict;
      for (size_t i = 0; i < size; ++i) {
        const py::object value = Build(node.children[i], leaves, next);
        if (PyDict_SetItem(dict.ptr(), node.keys[i].ptr(), value.ptr()) != 0) {
          throw py::error_already_set();
        }
      }
      return dict;
    }
    case Kind::kList: {
      py::list list(size);
      for (size_t i = 0; i < size; ++i) {
        PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                        Build(node.children[i], leaves, next).release().ptr());
      }
      return list;
    }
    default: {
      py::object tuple =
          node.type ? NewTuple(node.type, size) : py::object(py::tuple(size));
      for (size_t i = 0; i < size; ++i) {
        PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i),
                         Build(node.children[i], leaves, next).release().ptr());
      }
      return tuple;
    }
  }
}

}  // namespace reverb::python
