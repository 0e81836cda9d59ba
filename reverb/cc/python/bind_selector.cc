// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>

#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/selectors/selector.h"

namespace reverb::python {
namespace {

namespace py = pybind11;
using Kind = SelectorOptions::Kind;

// One Python class per kind, as 0.14 has them.
struct PyFifo : PySelector {};
struct PyLifo : PySelector {};
struct PyUniform : PySelector {};
struct PyPrioritized : PySelector {};
struct PyHeap : PySelector {};

template <typename T>
T Make(Kind kind, double exponent = 0,
       std::optional<uint64_t> seed = std::nullopt) {
  T selector;
  selector.options.kind = kind;
  selector.options.priority_exponent = exponent;
  selector.options.seed = seed;
  // A NaN exponent, for one, has no meaning.
  Unwrap(CreateSelector(selector.options).status());
  return selector;
}

template <typename T>
py::class_<T, PySelector> Class(py::module_& module, const char* name,
                                const char* doc) {
  return py::class_<T, PySelector>(module, name, py::module_local(), doc)
      .def(
          "fresh",
          [](const T& self) {
            T copy = self;
            copy.claimed = false;
            return copy;
          },
          "A selector of the same kind and parameters for another role.");
}

}  // namespace

void BindSelectors(py::module_& module) {
  py::class_<PySelector>(module, "ItemSelector", py::module_local(),
                         "How a table chooses one of its items.")
      .def("__repr__",
           [](const PySelector& self) { return self.options.ToString(); })
      .def_readonly("claimed", &PySelector::claimed,
                    "Whether the object serves a table already.");

  Class<PyFifo>(module, "FifoSelector", "Chooses the oldest item.")
      .def(py::init([] { return Make<PyFifo>(Kind::kFifo); }));
  Class<PyLifo>(module, "LifoSelector", "Chooses the newest item.")
      .def(py::init([] { return Make<PyLifo>(Kind::kLifo); }));
  Class<PyUniform>(module, "UniformSelector",
                   "Chooses each item with the same probability.")
      .def(py::init([](std::optional<uint64_t> seed) {
             return Make<PyUniform>(Kind::kUniform, 0, seed);
           }),
           py::arg("seed") = py::none());
  Class<PyPrioritized>(
      module, "PrioritizedSelector",
      "Chooses items in proportion to priority ** priority_exponent.")
      .def(py::init([](double exponent, std::optional<uint64_t> seed) {
             return Make<PyPrioritized>(Kind::kPrioritized, exponent, seed);
           }),
           py::arg("priority_exponent"), py::arg("seed") = py::none());
  Class<PyHeap>(module, "HeapSelector",
                "Chooses the item with the smallest (or largest) priority.")
      .def(py::init([](bool min_heap) {
             return Make<PyHeap>(min_heap ? Kind::kMinHeap : Kind::kMaxHeap);
           }),
           py::arg("min_heap"));
}

}  // namespace reverb::python
