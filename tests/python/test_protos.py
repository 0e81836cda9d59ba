# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The schema: complete, fresh, private, and with messages that act as protobuf's do."""

import base64
import copy
import importlib.util
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import textwrap

import pytest
from google.protobuf import descriptor_pb2, json_format, text_format

from reverb import _descriptors, _protos

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_SCRIPT = _ROOT / "scripts" / "gen_protos"


def test_descriptors_are_not_stale():
    subprocess.run([sys.executable, str(_SCRIPT), "--check"], check=True)


@pytest.mark.skipif(
    not shutil.which("protoc") and importlib.util.find_spec("grpc_tools") is None,
    reason="no protoc",
)
def test_descriptors_are_what_protoc_makes(tmp_path):
    source = _SCRIPT.read_text()
    namespace = {"__name__": "gen_protos", "__file__": str(_SCRIPT)}
    exec(compile(source, str(_SCRIPT), "exec"), namespace)
    parse = descriptor_pb2.FileDescriptorSet.FromString
    made = parse(namespace["compile_protos"]())
    committed = parse(base64.b64decode(_descriptors.FILE_DESCRIPTOR_SET))
    assert {f.name: f for f in made.file} == {f.name: f for f in committed.file}


def test_field_numbers_of_our_own_are_at_least_1000():
    ours = {
        "deepmind.reverb.InsertStreamRequest": {"item_seqs": 1000, "wait": 1001},
        "deepmind.reverb.InsertStreamResponse": {"refused": 1000},
        "deepmind.reverb.SampleStreamRequest": {"ack_upto": 1000, "try_once": 1001},
        "deepmind.reverb.FlatTrajectory": {"structure": 1000},
    }
    for full_name, fields in ours.items():
        descriptor = _protos.message(full_name).DESCRIPTOR
        extended = {f.name: f.number for f in descriptor.fields if f.number >= 1000}
        assert extended == fields


def test_service_has_the_calls_of_dm_reverb():
    service = _protos.pool().FindServiceByName("deepmind.reverb.ReverbService")
    assert {method.name for method in service.methods} == {
        "Checkpoint",
        "InsertStream",
        "MutatePriorities",
        "Reset",
        "SampleStream",
        "ServerInfo",
        "InitializeConnection",
    }


def test_oneof_members_have_presence():
    options = _protos.KeyDistributionOptions(fifo=True, is_deterministic=True)
    assert options.WhichOneof("distribution") == "fifo"
    assert options.HasField("fifo")
    assert not options.HasField("prioritized")
    assert _protos.KeyDistributionOptions().WhichOneof("distribution") is None
    node = _protos.PatternNode(stop=0)
    assert node.HasField("stop") and not node.HasField("start")


def test_nested_messages_are_attributes_of_their_class():
    options = _protos.KeyDistributionOptions
    assert options.Prioritized is _protos.message(
        "deepmind.reverb.KeyDistributionOptions.Prioritized"
    )
    built = options(prioritized=options.Prioritized(priority_exponent=0.5))
    assert built.prioritized.priority_exponent == 0.5


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_messages_can_be_copied_and_pickled(clone):
    message = _protos.TableInfo(name="t", max_size=3)
    message.sampler_options.prioritized.priority_exponent = 0.25
    assert clone(message) == message
    assert clone(message.sampler_options.prioritized) == message.sampler_options.prioritized
    message.name = "other"
    assert clone(message) == message


def test_classes_can_be_pickled():
    for cls in (_protos.TableInfo, _protos.TensorProto, _protos.Condition.ModuloEq):
        assert pickle.loads(pickle.dumps(cls)) is cls


def test_messages_parse_from_text_and_json():
    text = 'tables { table_name: "q" sampler { heap { min_heap: true } } } port: 8000'
    config = text_format.Parse(text, _protos.ReverbServerConfig())
    assert config.port == 8000
    assert config.tables[0].sampler.heap.min_heap
    again = json_format.ParseDict(
        json_format.MessageToDict(config),
        _protos.ReverbServerConfig(),
        descriptor_pool=_protos.pool(),
    )
    assert again == config
    with pytest.raises(text_format.ParseError):
        text_format.Parse("nonsense: 1", _protos.ReverbServerConfig())


def test_timestamp_is_a_well_known_type():
    item = _protos.PrioritizedItem()
    item.inserted_at.FromNanoseconds(1_500_000_000)
    assert (item.inserted_at.seconds, item.inserted_at.nanos) == (1, 500_000_000)


def test_unknown_fields_survive():
    data = bytes([0xFA, 0xFF, 0x01, 0x01, 0x41])  # field 4095, length 1
    assert data in _protos.ChunkData.FromString(data).SerializeToString()


def test_enum_names():
    dtypes = _protos.enum("tensorflow.DataType")
    assert dtypes.Name(14) == "DT_BFLOAT16"
    assert dtypes.Value("DT_UINT4") == 30


def test_unknown_names():
    with pytest.raises(AttributeError, match="Nonsense"):
        _protos.Nonsense  # noqa: B018
    with pytest.raises(KeyError):
        _protos.message("deepmind.reverb.Nonsense")


def test_the_default_pool_stays_free_for_messages_of_the_same_names():
    """As TensorFlow's or dm-reverb's generated modules would fill it, in either order."""
    program = textwrap.dedent(
        """
        import base64, sys
        from google.protobuf import descriptor_pool, descriptor_pb2
        from reverb import _descriptors, _protos
        if sys.argv[1] == "first":
            _protos.TensorProto(dtype=1)
        files = descriptor_pb2.FileDescriptorSet.FromString(
            base64.b64decode(_descriptors.FILE_DESCRIPTOR_SET)
        )
        for file in files.file:
            if file.package == "google.protobuf":
                from google.protobuf import timestamp_pb2
                continue
            for number, name in enumerate(file.dependency):
                if name.startswith("google/protobuf"):
                    continue
                file.dependency[number] = "other/" + name
            file.name = "other/" + file.name
            # Another schema of the same names must not be a conflict.
            if file.package == "tensorflow":
                next(m for m in file.message_type if m.name == "TensorProto").field.add(
                    name="more", number=99, type=5, label=1
                )
            descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
        theirs = descriptor_pool.Default().FindMessageTypeByName("tensorflow.TensorProto")
        assert "more" in theirs.fields_by_name
        assert "more" not in _protos.TensorProto.DESCRIPTOR.fields_by_name
        assert _protos.TensorProto(dtype=1).dtype == 1
        """
    )
    for order in ("first", "last"):
        subprocess.run([sys.executable, "-c", program, order], check=True, cwd=_ROOT)


def test_exported_modules_list_their_messages():
    from reverb.cc import patterns_pb2, schema_pb2

    assert {"ChunkData", "TableInfo", "KeyDistributionOptions"} <= set(dir(schema_pb2))
    assert set(patterns_pb2.__all__) == {
        "PatternNode",
        "Condition",
        "Priority",
        "StructuredWriterConfig",
    }
    assert schema_pb2.TableInfo is _protos.TableInfo
    assert schema_pb2.DESCRIPTOR.package == "deepmind.reverb"
    assert not hasattr(schema_pb2, "Condition")


_RECORDINGS = _ROOT / "tests" / "vectors" / "grpc"


@pytest.mark.skipif(not _RECORDINGS.is_dir(), reason="no recorded messages")
def test_recorded_messages_of_dm_reverb_lose_nothing():
    """Every message parses, has no unknown fields, and says what was recorded beside it."""
    compared = 0
    for index in sorted(_RECORDINGS.glob("*/index.json")):
        for event in json.loads(index.read_text())["events"]:
            if "file" not in event:
                continue
            cls = _protos.message(event["message"])
            data = (index.parent / event["file"]).read_bytes()
            parsed = cls.FromString(data)
            known = cls.FromString(data)
            known.DiscardUnknownFields()
            assert known.SerializeToString() == parsed.SerializeToString(), event["file"]
            try:
                expected = json_format.ParseDict(_without_summaries(event["decoded"]), cls())
            except json_format.ParseError:  # a long message, of which only a summary is kept
                continue
            assert parsed == expected, event["file"]
            compared += 1
    assert compared > 50


def _without_summaries(decoded):
    if isinstance(decoded, dict):
        return {k: _without_summaries(v) for k, v in decoded.items() if k != "decoded_tensors"}
    return [_without_summaries(v) for v in decoded] if isinstance(decoded, list) else decoded
