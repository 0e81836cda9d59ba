// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/wire/messages.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

template <typename T>
void CheckUnclaimed(const Claimable<T>& object, const std::string& table,
                    const char* role) {
  if (!object.claimed) return;
  Unwrap(absl::InvalidArgumentError(absl::StrCat(
      "table '", table, "': the ", role, " ", object.options.ToString(),
      " is in use already: each role of each table needs an object of its "
      "own")));
}

PyTable MakeTable(std::string name, PySelector& sampler, PySelector& remover,
                  int32_t max_size, int32_t max_times_sampled,
                  PyRateLimiter& rate_limiter,
                  const std::vector<PyTableExtension*>& extensions,
                  const std::optional<py::bytes>& signature) {
  CheckUnclaimed(sampler, name, "sampler");
  CheckUnclaimed(remover, name, "remover");
  CheckUnclaimed(rate_limiter, name, "rate limiter");
  if (&sampler == &remover) {
    Unwrap(absl::InvalidArgumentError(absl::StrCat(
        "table '", name, "': sampler and remover are the same object ",
        sampler.options.ToString(),
        ": each role of each table needs an object of its own")));
  }
  Table::Options options;
  options.name = std::move(name);
  options.sampler = sampler.options;
  options.remover = remover.options;
  options.max_size = max_size;
  options.max_times_sampled = max_times_sampled;
  options.rate_limiter = rate_limiter.options;
  if (signature) options.signature = std::string(*signature);
  for (const PyTableExtension* extension : extensions) {
    options.extensions.push_back(extension->extension);
  }
  PyTable result{Unwrap(Table::Create(std::move(options)))};
  sampler.claimed = remover.claimed = rate_limiter.claimed = true;
  return result;
}

}  // namespace

void BindTable(py::module_& module) {
  const py::class_<PyTableExtension> extension(
      module, "TableExtension", py::module_local(),
      "A hook into what happens to a table's items.");

  py::class_<PyTable>(module, "Table", py::module_local(),
                      "Items with a sampler, a remover and a rate limiter.")
      .def(py::init(&MakeTable), py::arg("name"),
           py::arg("sampler").none(false), py::arg("remover").none(false),
           py::arg("max_size"), py::arg("max_times_sampled"),
           py::arg("rate_limiter").none(false), py::arg("extensions"),
           py::arg("signature") = py::none())
      .def_property_readonly(
          "name", [](const PyTable& self) { return self.table->name(); })
      .def(
          "info",
          [](const PyTable& self) {
            return py::bytes(WithoutGil(
                [&] { return wire::BuildTableInfo(self.table->GetInfo()); }));
          },
          "A serialized TableInfo message.")
      .def(
          "can_sample",
          [](const PyTable& self, int64_t num_samples) {
            return Unwrap(
                WithoutGil([&] { return self.table->CanSample(num_samples); }));
          },
          py::arg("num_samples"))
      .def(
          "can_insert",
          [](const PyTable& self, int64_t num_inserts) {
            return Unwrap(
                WithoutGil([&] { return self.table->CanInsert(num_inserts); }));
          },
          py::arg("num_inserts"))
      .def("__repr__", [](const PyTable& self) {
        std::string signature =
            WithoutGil([&] { return self.table->GetInfo().signature; });
        if (!signature.empty()) {
          signature = py::module_::import("reverb.signature")
                          .attr("to_text")(py::bytes(signature))
                          .cast<std::string>();
        }
        return WithoutGil([&] { return self.table->ToString(signature); });
      });
}

}  // namespace reverb::python
