// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/packer.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/wire/structure.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

Packer NewPacker(const py::bytes& structured_value) {
  const absl::string_view bytes(
      PyBytes_AS_STRING(structured_value.ptr()),
      static_cast<size_t>(PyBytes_GET_SIZE(structured_value.ptr())));
  return Packer(Unwrap(wire::ParseStructure(bytes)));
}

py::object Pack(const Packer& packer, const py::list& leaves) {
  if (leaves.size() != packer.num_leaves()) {
    Unwrap(absl::InvalidArgumentError(
        absl::StrCat("the structure has ", packer.num_leaves(), " leaves, ",
                     leaves.size(), " were given")));
  }
  return packer.Pack(leaves);
}

}  // namespace

void BindNest(py::module_& module) {
  py::class_<Packer>(module, "Packer", py::module_local(),
                     "Nests flat lists as a StructuredValue says, in which "
                     "all but containers are leaves.")
      .def(py::init(&NewPacker), py::arg("structured_value"))
      .def_property_readonly("num_leaves", &Packer::num_leaves)
      .def("pack", &Pack, py::arg("leaves"));
}

}  // namespace reverb::python
