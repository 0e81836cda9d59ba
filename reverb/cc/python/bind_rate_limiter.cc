// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>

#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/table/rate_limiter.h"

namespace reverb::python {

namespace py = pybind11;

void BindRateLimiter(py::module_& module) {
  py::class_<PyRateLimiter>(
      module, "RateLimiter", py::module_local(),
      "Decides when a table's next insert or sample may go.")
      .def(py::init([](double samples_per_insert, int64_t min_size_to_sample,
                       double min_diff, double max_diff) {
             PyRateLimiter limiter;
             limiter.options = {samples_per_insert, min_size_to_sample,
                                min_diff, max_diff};
             Unwrap(RateLimiter::Create(limiter.options).status());
             return limiter;
           }),
           py::arg("samples_per_insert"), py::arg("min_size_to_sample"),
           py::arg("min_diff"), py::arg("max_diff"))
      .def("__repr__",
           [](const PyRateLimiter& self) { return self.options.ToString(); })
      .def_readonly("claimed", &PyRateLimiter::claimed,
                    "Whether the object serves a table already.");
}

}  // namespace reverb::python
