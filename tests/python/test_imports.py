# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What programs import: every name, in every spelling, and what an import costs."""

import importlib
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import textwrap
import typing

import pytest

import reverb

_ROOT = pathlib.Path(__file__).resolve().parents[2]

# Module paths and the attributes that programs use of them.
_NAMES = {
    "reverb": [
        *("Client", "Writer", "TrajectoryWriter", "TrajectoryColumn", "Server", "Table"),
        *("ReplaySample", "SampleInfo", "TFClient", "TimestepDataset", "TrajectoryDataset"),
        *("PatternDataset", "ReverbError", "DeadlineExceededError"),
        *("selectors", "rate_limiters", "structured", "checkpointers"),
        *("client", "errors", "item_selectors", "pattern_dataset", "platform", "pybind"),
        *("replay_sample", "reverb_types", "server", "structured_writer", "tf_client"),
        *("timestep_dataset", "trajectory_dataset", "trajectory_writer", "cc"),
        *("server_executable", "TensorSpec", "BoundedTensorSpec"),
    ],
    "reverb.selectors": ["Fifo", "Lifo", "Uniform", "Prioritized", "MinHeap", "MaxHeap"],
    "reverb.item_selectors": ["Fifo", "Lifo", "Uniform", "Prioritized", "MinHeap", "MaxHeap"],
    "reverb.rate_limiters": ["MinSize", "SampleToInsertRatio", "RateLimiter", "Queue", "Stack"],
    "reverb.reverb_types": [
        *("TableInfo", "SelectorType", "SpecNest", "Fifo", "Heap", "Lifo", "Prioritized"),
        *("Uniform", "TableInfo.from_serialized_proto"),
    ],
    "reverb.structured_writer": [
        *("Condition", "Condition.step_index", "Condition.steps_since_applied"),
        *("Condition.is_end_episode", "Condition.data", "ConditionProto", "Config", "Pattern"),
        *("PatternTransform", "ReferenceStep", "create_config", "create_reference_step"),
        *("pattern_from_transform", "infer_signature", "unpack_pattern", "td_error"),
        *("constant_priority_fn", "StructuredWriter"),
    ],
    "reverb.structured": ["Condition", "Config", "create_config", "StructuredWriter"],
    "reverb.client": ["Client", "Writer"],
    "reverb.server": [
        *("Server", "Table", "Table.queue", "Table.stack", "Table.replace", "Table.can_sample"),
        *("Table.can_insert", "Table.info", "TableExtensionBase"),
    ],
    "reverb.errors": ["ReverbError", "DeadlineExceededError"],
    "reverb.replay_sample": [
        *("ReplaySample", "SampleInfo", "SampleInfo.tf_dtypes", "SampleInfo.tf_shapes"),
        *("SampleInfo.zeros", "SampleInfo._fields"),
    ],
    "reverb.trajectory_writer": ["TrajectoryColumn", "TrajectoryWriter", "_ColumnHistory"],
    "reverb.tf_client": ["TFClient"],
    "reverb.timestep_dataset": ["TimestepDataset", "TimestepDataset.from_table_signature"],
    "reverb.trajectory_dataset": ["TrajectoryDataset", "TrajectoryDataset.from_table_signature"],
    "reverb.pattern_dataset": ["PatternDataset", "pattern_dataset_with_info"],
    "reverb.checkpointers": [
        *("CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer"),
        "default_checkpointer",
    ],
    "reverb.platform": ["checkpointers_lib", "default"],
    "reverb.platform.checkpointers_lib": [
        *("CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer"),
        "DefaultCheckpointer.internal_checkpointer",
    ],
    "reverb.platform.default.checkpointers": [
        *("CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer"),
        "default_checkpointer",
    ],
    "reverb.server_executable.server_from_proto": [
        *("selector_from_proto", "rate_limiter_from_proto", "tables_from_proto"),
    ],
    "reverb.server_executable.reverb_config_pb2": ["ReverbServerConfig"],
    "reverb.server_executable.server_main": ["app_run_main"],
    "reverb.cc.schema_pb2": [
        *("KeyDistributionOptions", "KeyDistributionOptions.Prioritized"),
        *("KeyDistributionOptions.Heap", "TableInfo", "RateLimiterInfo", "TableWorkerTime"),
        *("ChunkData", "PrioritizedItem", "SampleInfo", "FlatTrajectory", "SequenceRange"),
    ],
    "reverb.cc.checkpointing.checkpoint_pb2": ["PriorityTableCheckpoint", "RateLimiterCheckpoint"],
    "reverb.cc.patterns_pb2": ["StructuredWriterConfig", "PatternNode", "Condition", "Priority"],
    "reverb.pybind": [
        *("HeapSelector", "Checkpointer", "Sampler.NUM_INFO_TENSORS", "ConstantChunkerOptions"),
        *("AutoTunedChunkerOptions", "ChunkerOptions", "Client", "Server", "Table"),
        *("TableExtension", "Writer", "RateLimiter", "FifoSelector", "LifoSelector"),
        *("UniformSelector", "PrioritizedSelector", "create_default_checkpointer"),
        "selector_from_proto",
    ],
}


def _resolve(value, path):
    for part in path.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in _NAMES.items() for n in names])
def test_name_exists(module, name):
    _resolve(importlib.import_module(module), name)


def _run(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_is_an_attribute_after_a_bare_import():
    """As a lazy loader, or `reverb.platform.checkpointers_lib.…` in a program, needs it."""
    chains = [f"{m}.{n}" for m, names in _NAMES.items() for n in names]
    _run("import reverb, sys\nfor chain in sys.argv[1:]:\n    eval(chain)\n", *chains)


@pytest.mark.parametrize(
    "statement",
    [
        "from reverb import item_selectors, rate_limiters, reverb_types",
        "from reverb import client as client_lib, server as reverb_server",
        "from reverb.platform.checkpointers_lib import DefaultCheckpointer",
        "from reverb.platform.default import checkpointers",
        "from reverb.cc import schema_pb2, patterns_pb2",
        "from reverb.cc.checkpointing import checkpoint_pb2",
        "from reverb.cc.schema_pb2 import KeyDistributionOptions",
        "from reverb.server_executable import server_from_proto, reverb_config_pb2",
        "import reverb.structured; assert reverb.structured is reverb.structured_writer",
        "import reverb.selectors; assert reverb.selectors is reverb.item_selectors",
        "from reverb.selectors import Uniform",
        "from reverb.structured import Config",
        "import reverb.checkpointers; reverb.checkpointers.default_checkpointer",
        "from reverb import *; Table, selectors, ReverbError",
        "from reverb.cc.schema_pb2 import *; TableInfo",
    ],
)
def test_spellings(statement):
    _run(statement)


def test_names_are_the_same_objects():
    assert reverb.selectors is reverb.item_selectors
    assert reverb.structured is reverb.structured_writer
    assert reverb.checkpointers is reverb.platform.default.checkpointers
    assert reverb.ReverbError is reverb.errors.ReverbError
    assert reverb.DeadlineExceededError is reverb.errors.DeadlineExceededError
    assert reverb.Client is reverb.client.Client
    assert reverb.Table is reverb.server.Table
    assert reverb.TrajectoryColumn is reverb.trajectory_writer.TrajectoryColumn
    assert reverb.pybind.Sampler.NUM_INFO_TENSORS == 5
    assert reverb.structured_writer.Config is reverb.cc.patterns_pb2.StructuredWriterConfig


def test_forward_references_resolve():
    def annotated(
        client: "reverb.Client",
        sample: "reverb.replay_sample.ReplaySample",
        selector: "reverb.reverb_types.SelectorType",
    ) -> "reverb.TrajectoryDataset": ...

    hints = typing.get_type_hints(annotated)
    assert hints["client"] is reverb.Client
    assert pickle.loads(pickle.dumps(hints["return"])) is reverb.TrajectoryDataset


def test_all_and_dir():
    for name in reverb.__all__:
        getattr(reverb, name)
    assert set(reverb.__all__) <= set(dir(reverb))
    assert len(set(reverb.__all__)) == len(reverb.__all__)


def test_unknown_names():
    with pytest.raises(AttributeError, match="nonsense"):
        reverb.nonsense  # noqa: B018
    with pytest.raises(ImportError):
        from reverb import nonsense  # noqa: F401
    assert not hasattr(reverb.platform, "nonsense")
    assert not hasattr(reverb.pybind, "nonsense")


def test_version():
    assert isinstance(reverb.__version__, str) and reverb.__version__


def test_import_loads_numpy_and_the_extension_alone():
    loaded = _run(
        """
        import sys
        import numpy
        before = set(sys.modules)
        import reverb
        print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
        """
    ).split()
    foreign = set(loaded) - set(sys.stdlib_module_names) - {"reverb"}
    assert not foreign, foreign
    ours = _run("import reverb, sys\nprint(*(m for m in sys.modules if m.startswith('reverb')))")
    assert set(ours.split()) <= {"reverb", "reverb._core", "reverb._lazy", "reverb.errors"}


@pytest.mark.parametrize(
    "package",
    ["tensorflow", "grpc", "torch", "jax", "google.protobuf", "tree", "absl", "ml_dtypes"],
)
def test_import_does_not_load(package):
    _run(f"import sys, reverb\nassert {package!r} not in sys.modules")


def test_tables_need_no_protobuf():
    _run(
        """
        import sys, reverb
        reverb.rate_limiters.MinSize(1), reverb.selectors.Uniform(), reverb.TensorSpec((2,))
        assert not {"google.protobuf", "tree", "absl"} & set(sys.modules)
        """
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_import_takes_less_than_80_mb():
    status = _run("import reverb\nprint(open('/proc/self/status').read())")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    assert int(line.split()[1]) < 80 * 1024, line


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("tf_client", "TFClient", ("localhost:1",)),
        ("timestep_dataset", "TimestepDataset", ("localhost:1", "t", 1, 1, 1)),
        ("trajectory_dataset", "TrajectoryDataset", ("localhost:1", "t", 1, 1, 1)),
        ("trajectory_dataset", "TrajectoryDataset.from_table_signature", ("localhost:1", "t", 1)),
        ("pattern_dataset", "PatternDataset", (None, [], True, bool)),
        ("pattern_dataset", "pattern_dataset_with_info", (None, [], True, bool)),
    ],
)
def test_tensorflow_layer_says_what_is_missing(module, name, arguments, monkeypatch):
    use = _resolve(importlib.import_module(f"reverb.{module}"), name)
    monkeypatch.setitem(sys.modules, "tensorflow", object())
    with pytest.raises(NotImplementedError, match=name.split(".")[0]):
        use(*arguments)
    monkeypatch.delitem(sys.modules, "tensorflow")
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    with pytest.raises(ImportError, match="TensorFlow"):
        use(*arguments)


def _copy_of_the_package(folder, *, core):
    """A copy whose extension is a stand-in, or missing, next to a file of dm-reverb."""
    target = folder / "reverb"
    target.mkdir()
    for name in ("__init__.py", "_lazy.py"):
        shutil.copy(_ROOT / "reverb" / name, target / name)
    if core:
        (target / "_core.py").write_text("")
    (target / "libpybind.so").write_bytes(b"")
    return os.environ | {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("core", [True, False])
def test_dm_reverb_in_the_same_folder_is_named(tmp_path, core):
    environment = _copy_of_the_package(tmp_path, core=core)
    done = subprocess.run(
        [sys.executable, "-c", "import reverb"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) is core
    assert "pip uninstall dm-reverb" in done.stderr
