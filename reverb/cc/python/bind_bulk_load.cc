// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/python/arguments.h"
#include "reverb/cc/python/bindings.h"
#include "reverb/cc/python/bulk_load.h"
#include "reverb/cc/python/column_names.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::python {
namespace {

namespace py = pybind11;

}  // namespace

PyBulkLoad::PyBulkLoad(std::shared_ptr<Client> client, py::handle table,
                       py::handle data, py::handle priorities,
                       py::handle episode_ends, int64_t length, int64_t stride,
                       std::optional<double> timeout)
    : client_(std::move(client)) {
  const std::shared_ptr<Client> used = client_.get();
  columns_.Fill(data, flattener_);
  BulkLoad::Options options{.table = ToString(table, "table"),
                            .length = length,
                            .stride = stride,
                            .deadline = kNoDeadline,
                            .try_once = timeout && *timeout <= 0,
                            .structure = flattener_.StructureBytes()};
  if (!options.try_once) options.deadline = DeadlineIn(timeout);

  Flattener flattener;
  Columns arrays;
  arrays.Fill(priorities, flattener);
  const absl::string_view bytes = arrays.views().at(0).data;
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  absl::Span<const uint8_t> ends;
  Columns end_arrays;
  if (!episode_ends.is_none()) {
    end_arrays.Fill(episode_ends, flattener);
    const absl::string_view bools = end_arrays.views().at(0).data;
    ends = {reinterpret_cast<const uint8_t*>(bools.data()), bools.size()};
  }

  auto load = WaitWithoutGil([&](const WaitOptions& wait) {
    return used->NewBulkLoad(std::move(options), columns_.views(), ends,
                             std::move(numbers), wait);
  });
  if (!load.ok()) Fail(load.status());
  load_.Reset(*std::move(load));
}

void PyBulkLoad::Fail(const absl::Status& status) {
  absl::Status named = status;
  if (const auto info = GetErrorInfo(status)) {
    named = NameColumns(status, flattener_.LeafNames(),
                        KnownSignature(*client_.get(), info->table).get());
  }
  ThrowException(MakeException(named));
}

bool PyBulkLoad::Advance(double seconds) {
  BulkLoad& load = *load_.get();
  OneUser user(busy_, "load");
  const absl::StatusOr<bool> done = WaitWithoutGil(
      DeadlineIn(seconds),
      [&](const WaitOptions& wait) { return load.Advance(wait); });
  if (!done.ok()) Fail(done.status());
  return *done;
}

void PyBulkLoad::Close() {
  BulkLoad* const load = load_.get().get();
  WithoutGil([&] {
    load->Close();
    return true;
  });
}

void BindBulkLoad(py::module_& module) {
  py::class_<PyBulkLoad>(module, "BulkLoad", py::module_local(),
                         "Data on its way into a table.")
      .def("advance", &PyBulkLoad::Advance, py::arg("seconds"),
           "Goes on for so long; whether all is done.")
      .def_property_readonly("num_items", &PyBulkLoad::num_items)
      .def_property_readonly("num_inserted", &PyBulkLoad::num_inserted)
      .def("close", &PyBulkLoad::Close);
}

}  // namespace reverb::python
