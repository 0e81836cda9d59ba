// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The parts that the module is put together from, in the order they need each
// other, and the Python objects that more than one of them knows.
//
// Bindings convert arguments, call one function and convert the result; what
// is decided about replay is decided in client/, table/ or Python.

#ifndef REVERB_CC_PYTHON_BINDINGS_H_
#define REVERB_CC_PYTHON_BINDINGS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reverb/cc/client/batch_builder.h"
#include "reverb/cc/client/client.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/writer.h"
#include "reverb/cc/python/dropped_at_exit.h"
#include "reverb/cc/python/nest.h"
#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/python/owned.h"
#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/table/extension.h"
#include "reverb/cc/table/rate_limiter.h"
#include "reverb/cc/table/table.h"

namespace reverb::python {

// Options of a selector or limiter, on their way into one table: an object
// stands for the state it will have there, so no two roles can share it.
template <typename Options>
struct Claimable {
  Options options;
  bool claimed = false;
};

// The base that makes all selectors one Python type.
struct PySelector : Claimable<SelectorOptions> {};
struct PyRateLimiter : Claimable<RateLimiter::Options> {};

struct PyTableExtension {
  std::shared_ptr<TableExtension> extension;
};

struct PyTable {
  std::shared_ptr<Table> table;
};

// Marks an object as in use by one thread for the length of a scope; a second
// thread gets FailedPrecondition. Needs the GIL at both ends.
class OneUser {
 public:
  OneUser(bool& busy, const char* what);
  ~OneUser() { busy_ = false; }
  OneUser(const OneUser&) = delete;
  OneUser& operator=(const OneUser&) = delete;

 private:
  bool& busy_;
};

class PyWriter : public DroppedAtExit {
 public:
  PyWriter(std::shared_ptr<Client> client, std::unique_ptr<Writer> writer)
      : client_(std::move(client)), writer_(std::move(writer)) {}

  void Append(pybind11::handle data);
  void AppendSequence(pybind11::handle data);
  void CreateItem(pybind11::handle table, int num_timesteps,
                  pybind11::handle priority);
  void Flush();
  void Close(bool retry_on_unavailable);
  pybind11::str Repr();
  // Also where the writer can't be used any more.
  bool closed() const;

 private:
  void Drop() override { writer_.Drop(); }
  // Throws after `Drop` and in a forked child.
  Writer& writer() const;

  Owned<std::shared_ptr<Client>> client_;
  Owned<std::unique_ptr<Writer>> writer_;
  Flattener flattener_;
  Columns columns_;
};

class PySampler {
 public:
  PySampler(std::shared_ptr<Client> client, std::string table,
            std::unique_ptr<Sampler> sampler);

  // All return None at the end.
  // ReplaySample(info, columns).
  pybind11::object Next();
  // (info, columns, bytes of the structure stored with the item).
  pybind11::object NextWithStructure();
  // (info, [columns of step 0, columns of step 1, ...]).
  pybind11::object NextTimesteps();
  void Close();

 private:
  std::optional<SampleData> NextData();

  Owned<std::shared_ptr<Client>> client_;
  const std::string table_;
  Owned<std::unique_ptr<Sampler>> sampler_;
  bool busy_ = false;
};

// As PySampler, by batches.
class PyBatchSampler {
 public:
  PyBatchSampler(std::shared_ptr<Client> client, std::string table,
                 std::unique_ptr<BatchBuilder> batches);

  pybind11::object Next();
  pybind11::object NextWithStructure();
  void Close();

 private:
  std::optional<BatchData> NextData();

  Owned<std::shared_ptr<Client>> client_;
  const std::string table_;
  Owned<std::unique_ptr<BatchBuilder>> batches_;
  bool busy_ = false;
};

void BindSelectors(pybind11::module_& module);
void BindRateLimiter(pybind11::module_& module);
void BindTable(pybind11::module_& module);
void BindServer(pybind11::module_& module);
void BindNest(pybind11::module_& module);
void BindWriter(pybind11::module_& module);
void BindCells(pybind11::module_& module);
void BindTrajectoryWriter(pybind11::module_& module);
void BindStructuredWriter(pybind11::module_& module);
void BindBulkLoad(pybind11::module_& module);
void BindSampler(pybind11::module_& module);
void BindClient(pybind11::module_& module);
// The hook for the interpreter's exit.
void BindProcess(pybind11::module_& module);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_BINDINGS_H_
