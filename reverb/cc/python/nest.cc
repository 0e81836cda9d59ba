// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/nest.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/wire/structure.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

// Types whose objects are known to be leaves. Filled as types are met, with a
// reference to each, and bounded for programs that keep making types.
constexpr size_t kMaxLeafTypes = 1000;

absl::flat_hash_set<PyTypeObject*>& LeafTypes() {
  static auto* const types = new absl::flat_hash_set<PyTypeObject*>{
      &PyFloat_Type,     &PyLong_Type,     &PyBool_Type,     &PyUnicode_Type,
      &PyBytes_Type,     &PyComplex_Type,  Py_TYPE(Py_None), &PySet_Type,
      &PyFrozenSet_Type, &PyByteArray_Type};
  return *types;
}

bool IsLeafType(PyTypeObject* type) { return LeafTypes().contains(type); }

void AddLeafType(PyTypeObject* type) {
  if (LeafTypes().size() >= kMaxLeafTypes) return;
  Py_INCREF(type);
  LeafTypes().insert(type);
}

py::object Owned(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// Adds the text of a str; false if it is none, or has no UTF-8.
bool AddText(py::handle text, std::vector<std::string>& texts) {
  if (!PyUnicode_Check(text.ptr())) return false;
  Py_ssize_t size;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    return false;
  }
  texts.emplace_back(bytes, size);
  return true;
}

// Ends the walk of a structure that contains itself.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while flattening nested data") != 0) {
      throw py::error_already_set();
    }
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

}  // namespace

void Flattener::Flatten(py::handle data, std::vector<py::object>& leaves) {
  leaves_ = &leaves;
  must_match_ = false;
  Walk(data.ptr(), root_);
}

bool Flattener::FlattenAgain(py::handle data, std::vector<py::object>& leaves) {
  const size_t begin = leaves.size();
  leaves_ = &leaves;
  must_match_ = true;
  differs_ = false;
  Walk(data.ptr(), root_);
  if (differs_) leaves.resize(begin);
  return !differs_;
}

bool Flattener::Change() {
  if (must_match_) {
    differs_ = true;
    return false;
  }
  changed_ = true;
  return true;
}

void Flattener::AddLeaf(PyObject* value, Node& node) {
  if (!node.is_leaf) {
    if (!Change()) return;
    node.is_leaf = true;
  }
  leaves_->push_back(py::reinterpret_borrow<py::object>(value));
}

bool Flattener::SetType(PyObject* value, Node& node) {
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  if (!node.is_leaf && node.type.ptr() == type) return true;
  if (!Change()) return false;
  node.is_leaf = false;
  node.type = py::reinterpret_borrow<py::object>(type);
  node.fields = py::object();
  if (PyTuple_Check(value) && !PyTuple_CheckExact(value)) {
    node.fields = py::getattr(node.type, "_fields", py::none());
  }
  return true;
}

void Flattener::Walk(PyObject* value, Node& node) {
  if (differs_ && must_match_) return;
  if (IsLeafType(Py_TYPE(value))) return AddLeaf(value, node);
  RecursionGuard guard;
  // Held: the walk may run Python code, which may change the containers.
  const auto held = py::reinterpret_borrow<py::object>(value);
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  if (PyDict_CheckExact(value) || PyODict_CheckExact(value)) {
    WalkDict(value, node);
  } else if (PyList_Check(value) || PyTuple_Check(value)) {
    WalkSequence(value, node);
  } else if (PyObject_HasAttrString(type, "__attrs_attrs__") != 0) {
    WalkAttrs(value, node);
  } else {
    WalkOther(value, node);
  }
}

void Flattener::WalkDict(PyObject* dict, Node& node) {
  if (!SetType(dict, node)) return;
  const size_t begin = leaves_->size();
  if (WalkKnownDict(dict, node) || !Change()) return;
  leaves_->resize(begin);
  const py::object sorted = Owned(PyDict_Keys(dict));
  if (PyList_Sort(sorted.ptr()) != 0) throw py::error_already_set();
  node.keys.clear();
  node.children.clear();
  for (py::handle key : sorted) {
    node.keys.push_back(py::reinterpret_borrow<py::object>(key));
  }
  node.children.resize(node.keys.size());
  if (!WalkKnownDict(dict, node)) {
    throw py::value_error("a dict changed while it was read");
  }
}

bool Flattener::WalkKnownDict(PyObject* dict, Node& node) {
  // As many keys, each of them known: the same keys. A sequence that was here
  // before has left children and no keys.
  const auto size = static_cast<size_t>(PyDict_GET_SIZE(dict));
  if (size != node.keys.size() || size != node.children.size()) return false;
  for (size_t i = 0; i < node.keys.size(); ++i) {
    PyObject* const item = PyDict_GetItemWithError(dict, node.keys[i].ptr());
    if (item == nullptr) {
      if (PyErr_Occurred()) throw py::error_already_set();
      return false;
    }
    Walk(item, node.children[i]);
  }
  return true;
}

void Flattener::WalkSequence(PyObject* sequence, Node& node) {
  if (!SetType(sequence, node)) return;
  // Sizes are read anew: a list may shrink meanwhile.
  const auto size = [sequence] {
    return static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence));
  };
  if (node.children.size() != size() || !node.keys.empty()) {
    if (!Change()) return;
    node.keys.clear();
    node.children.clear();
    node.children.resize(size());
  }
  for (size_t i = 0; i < size() && i < node.children.size(); ++i) {
    Walk(PySequence_Fast_GET_ITEM(sequence, i), node.children[i]);
  }
}

void Flattener::WalkAttrs(PyObject* value, Node& node) {
  if (!SetType(value, node)) return;
  if (!node.fields) {
    py::list names;
    for (py::handle attribute : node.type.attr("__attrs_attrs__")) {
      names.append(attribute.attr("name"));
    }
    node.fields = py::tuple(names);
    node.keys.clear();
    node.children.assign(names.size(), Node());
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    const py::object child = Owned(PyObject_GetAttr(
        value,
        PyTuple_GET_ITEM(node.fields.ptr(), static_cast<Py_ssize_t>(i))));
    Walk(child.ptr(), node.children[i]);
  }
}

void Flattener::WalkOther(PyObject* value, Node& node) {
  const py::module_ tree = py::module_::import("tree");
  if (!tree.attr("is_nested")(py::handle(value)).cast<bool>()) {
    AddLeafType(Py_TYPE(value));
    return AddLeaf(value, node);
  }
  if (!SetType(value, node)) return;
  // What is inside is not looked into here: paths tell structures apart.
  std::vector<py::object> paths;
  std::vector<py::object> leaves;
  for (py::handle entry : tree.attr("flatten_with_path")(py::handle(value))) {
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    paths.push_back(py::module_::import("reverb.nest")
                        .attr("format_path")(py::object(pair[0])));
    leaves.push_back(pair[1]);
  }
  const auto equals = [](const py::object& a, const py::object& b) {
    return a.equal(b);
  };
  if (node.children.size() != leaves.size() ||
      !std::equal(node.keys.begin(), node.keys.end(), paths.begin(),
                  paths.end(), equals)) {
    if (!Change()) return;
    node.children.assign(leaves.size(), Node());
    for (Node& child : node.children) child.is_leaf = true;
    node.keys = std::move(paths);
  }
  for (py::object& leaf : leaves) leaves_->push_back(std::move(leaf));
}

const std::shared_ptr<const std::string>& Flattener::StructureBytes() {
  if (!changed_) return structure_;
  structure_ = nullptr;
  changed_ = false;
  wire::Structure structure;
  if (!Describe(root_, structure)) return structure_;
  const auto is_leaf = [](const wire::Structure& child) {
    return child.kind == wire::Structure::Kind::kLeaf;
  };
  const bool is_flat = structure.kind == wire::Structure::Kind::kList &&
                       std::all_of(structure.children.begin(),
                                   structure.children.end(), is_leaf);
  if (is_flat) return structure_;
  std::string field = wire::StructureField(structure);
  if (!field.empty()) {
    structure_ = std::make_shared<const std::string>(std::move(field));
  }
  return structure_;
}

bool Flattener::Describe(const Node& node, wire::Structure& structure) {
  using Kind = wire::Structure::Kind;
  if (node.is_leaf) return true;
  auto* const type = reinterpret_cast<PyTypeObject*>(node.type.ptr());
  if (type == nullptr) return false;
  if (PyType_FastSubclass(type, Py_TPFLAGS_DICT_SUBCLASS)) {
    structure.kind = Kind::kDict;
    if (node.keys.size() != node.children.size()) return false;
    for (const py::object& key : node.keys) {
      if (!AddText(key, structure.keys)) return false;
    }
  } else if (PyType_FastSubclass(type, Py_TPFLAGS_LIST_SUBCLASS)) {
    structure.kind = Kind::kList;
  } else if (!PyType_FastSubclass(type, Py_TPFLAGS_TUPLE_SUBCLASS)) {
    return false;
  } else if (!node.fields || node.fields.is_none()) {
    structure.kind = Kind::kTuple;
  } else {
    structure.kind = Kind::kNamedTuple;
    structure.name = type->tp_name;
    if (const size_t dot = structure.name.rfind('.');
        dot != std::string::npos) {
      structure.name.erase(0, dot + 1);
    }
    if (!PyTuple_Check(node.fields.ptr())) return false;
    for (py::handle field : node.fields) {
      if (!AddText(field, structure.keys)) return false;
    }
    if (structure.keys.size() != node.children.size()) return false;
  }
  structure.children.resize(node.children.size());
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (!Describe(node.children[i], structure.children[i])) return false;
  }
  return true;
}

std::vector<std::string> Flattener::LeafNames() const {
  std::vector<std::string> names;
  AddNames(root_, "", names);
  return names;
}

void Flattener::AddNames(const Node& node, const std::string& path,
                         std::vector<std::string>& names) {
  if (node.is_leaf) {
    names.push_back(path);
    return;
  }
  const size_t num_children = node.children.size();
  const bool has_fields = node.fields && PyTuple_Check(node.fields.ptr()) &&
                          py::len(node.fields) == num_children;
  for (size_t i = 0; i < num_children; ++i) {
    std::string name = absl::StrCat(i);
    if (node.keys.size() == num_children) {
      name = py::str(node.keys[i]).cast<std::string>();
    } else if (has_fields) {
      name = py::str(py::object(node.fields[py::int_(i)])).cast<std::string>();
    }
    AddNames(node.children[i],
             path.empty() ? name : absl::StrCat(path, "/", name), names);
  }
}

}  // namespace reverb::python
