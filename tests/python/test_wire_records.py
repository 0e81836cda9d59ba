# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ records of the wire messages agree with Python's protobuf.

`wire_tool` reads a message into records and writes it again; what comes out must
mean what went in. It is built with the C++ tests.
"""

import base64
import os
import pathlib
import struct
import subprocess

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf import message as protobuf_message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverb import _descriptors, _protos, signature

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_VECTORS = _ROOT / "tests" / "vectors" / "grpc"
_OK = 0
_INVALID_ARGUMENT = 3

_PROPERTIES = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _find_tool():
    named = os.environ.get("REVERB_WIRE_TOOL")
    built = [pathlib.Path(named)] if named else list(_ROOT.glob("build/*/wire_tool"))
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


class _Tool:
    def __init__(self, path):
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, kind, message):
        """The status code and the bytes that come back."""
        request = kind.encode() + message
        self._process.stdin.write(struct.pack("<I", len(request)) + request)
        self._process.stdin.flush()
        (size,) = struct.unpack("<I", self._read(4))
        response = self._read(size)
        return response[0], response[1:]

    def _read(self, size):
        data = self._process.stdout.read(size)
        assert len(data) == size, "the tool crashed"
        return data

    def rewrite(self, kind, message):
        """`message`, read and written by the tool."""
        code, data = self.ask(kind, message.SerializeToString())
        assert code == _OK, data
        return type(message).FromString(data)

    def close(self):
        self._process.stdin.close()
        assert self._process.wait(timeout=10) == 0
        self._process.stdout.close()


@pytest.fixture(scope="module")
def tool():
    path = _find_tool()
    if path is None:
        pytest.skip("wire_tool is not built")
    tool = _Tool(path)
    yield tool
    tool.close()


# --- random messages --------------------------------------------------------

_uint64 = st.integers(0, 2**64 - 1) | st.integers(0, 300)
_int64 = st.integers(-(2**63), 2**63 - 1)
_int32 = st.integers(-(2**31), 2**31 - 1)
_double = st.floats(allow_nan=False)
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_count = st.integers(1, 2**31 - 1)


def _message(name, **fields):
    return st.builds(_protos.message(f"deepmind.reverb.{name}"), **fields)


def _tensor():
    # Contents need no meaning here: readers of the header don't look at them.
    shape = st.builds(
        lambda dims: _protos.TensorShapeProto(
            dim=[_protos.TensorShapeProto.Dim(size=dim) for dim in dims]
        ),
        st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4),
    )
    return st.builds(
        _protos.TensorProto,
        dtype=st.sampled_from([1, 2, 3, 7, 9, 10, 14, 18, 19, 22, 30]),
        tensor_shape=shape,
        tensor_content=st.binary(min_size=1, max_size=700),
    )


_range = _message(
    "SequenceRange", episode_id=_uint64, start=_int32, end=_int32, sparse=st.booleans()
)


def _chunk():
    return st.builds(
        lambda key, range_, delta, tensors: _protos.ChunkData(
            chunk_key=key,
            sequence_range=range_,
            delta_encoded=delta,
            data=_protos.ChunkData.Data(tensors=tensors),
            data_tensors_len=len(tensors),
        ),
        _uint64,
        _range,
        st.booleans(),
        st.lists(_tensor(), max_size=3),
    )


_slice = _message(
    "FlatTrajectory.ChunkSlice", chunk_key=_uint64, offset=_int32, length=_int32, index=_int32
)
_column = _message(
    "FlatTrajectory.Column",
    chunk_slices=st.lists(_slice, min_size=1, max_size=4),
    squeeze=st.booleans(),
)
_structure = st.recursive(
    st.builds(lambda: _protos.StructuredValue(none_value=_protos.NoneValue())),
    lambda values: st.builds(
        lambda v: _protos.StructuredValue(list_value=_protos.ListValue(values=v)),
        st.lists(values, max_size=3),
    ),
    max_leaves=5,
)
_trajectory = _message(
    "FlatTrajectory",
    columns=st.lists(_column, max_size=4),
    structure=st.none() | _structure,
)
_item = _message(
    "PrioritizedItem",
    key=_uint64,
    table=_text,
    priority=_double,
    flat_trajectory=_trajectory,
)
_timeout = _message("Timeout", milliseconds=st.integers(0, 2**63 - 1))


@_PROPERTIES
@given(
    message=_message(
        "InsertStreamRequest",
        items=st.lists(_item, max_size=3),
        keep_chunk_keys=st.lists(_uint64, max_size=5),
        item_seqs=st.lists(_uint64, max_size=3),
        wait=st.none() | _timeout,
    )
)
def test_insert_request(tool, message):
    assert tool.rewrite("i", message) == message


@_PROPERTIES
@given(item=_item, count=_int32, seconds=_int64, keys=st.lists(_uint64, max_size=3))
def test_insert_request_ignores_what_servers_fill_in(tool, item, count, seconds, keys):
    sent = _protos.PrioritizedItem()
    sent.CopyFrom(item)
    sent.times_sampled = count
    sent.inserted_at.seconds = seconds
    sent.deprecated_chunk_keys.extend(keys)
    request = _protos.InsertStreamRequest(items=[sent])
    assert tool.rewrite("i", request) == _protos.InsertStreamRequest(items=[item])


@_PROPERTIES
@given(first=_item, second=_item)
def test_repeated_singular_fields_merge_as_in_protobuf(tool, first, second):
    # One item whose bytes are those of two.
    item = first.SerializeToString() + second.SerializeToString()
    size = []
    rest = len(item)
    while rest >= 0x80:
        size.append(rest & 0x7F | 0x80)
        rest >>= 7
    request = bytes([0x12, *size, rest]) + item
    expected = _protos.InsertStreamRequest.FromString(request)
    code, data = tool.ask("i", request)
    assert code == _OK, data
    assert _protos.InsertStreamRequest.FromString(data) == expected


@_PROPERTIES
@given(
    message=_message(
        "InsertStreamResponse",
        keys=st.lists(_uint64, max_size=9),
        refused=st.lists(_uint64, max_size=9),
    )
)
def test_insert_response(tool, message):
    assert tool.rewrite("I", message) == message


@_PROPERTIES
@given(
    message=_message(
        "SampleStreamRequest",
        table=_text,
        num_samples=_count,
        rate_limiter_timeout=st.none() | _message("Timeout", milliseconds=_int64),
        try_once=st.booleans(),
    )
)
def test_sample_request(tool, message):
    assert tool.rewrite("s", message) == message


@_PROPERTIES
@given(
    message=_message(
        "MutatePrioritiesRequest",
        table=_text,
        updates=st.lists(_message("KeyWithPriority", key=_uint64, priority=_double), max_size=5),
        delete_keys=st.lists(_uint64, max_size=5),
    )
)
def test_mutate_request(tool, message):
    assert tool.rewrite("m", message) == message


@_PROPERTIES
@given(message=_chunk())
def test_chunk_data_has_the_bytes_that_protobuf_writes(tool, message):
    code, data = tool.ask("c", message.SerializeToString())
    assert code == _OK, data
    assert data == message.SerializeToString(deterministic=True)


@st.composite
def _sample_entry(draw):
    """A whole sample: info and the chunks that its slices refer to, in their order."""
    chunks = draw(st.lists(_chunk(), max_size=3, unique_by=lambda chunk: chunk.chunk_key))
    columns = [
        _protos.FlatTrajectory.Column(
            chunk_slices=[
                _protos.FlatTrajectory.ChunkSlice(
                    chunk_key=chunk.chunk_key,
                    offset=draw(_int32),
                    length=draw(_int32),
                    index=draw(_int32),
                )
            ],
            squeeze=draw(st.booleans()),
        )
        for chunk in chunks
    ]
    item = _protos.PrioritizedItem(
        key=draw(_uint64),
        table="table",
        priority=draw(_double),
        times_sampled=draw(_int32),
        flat_trajectory=_protos.FlatTrajectory(
            columns=columns, structure=draw(st.none() | _structure)
        ),
    )
    item.inserted_at.seconds = draw(st.integers(-(10**9), 10**9))
    item.inserted_at.nanos = draw(st.integers(0, 10**9 - 1))
    return _protos.SampleStreamResponse.SampleEntry(
        info=_protos.SampleInfo(
            item=item,
            probability=draw(_double),
            table_size=draw(_int64),
            rate_limited=draw(st.booleans()),
        ),
        data=chunks,
        end_of_sequence=True,
    )


@_PROPERTIES
@given(entries=st.lists(_sample_entry(), max_size=3))
def test_sample_response(tool, entries):
    message = _protos.SampleStreamResponse(entries=entries)
    assert tool.rewrite("S", message) == message


# Bytes that are likely to be a tag, a length or a number of something.
_wild_bytes = st.lists(
    st.sampled_from([0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x10, 0x12, 0x15, 0x18, 0x1A, 0x1B, 0x1C])
    | st.integers(0, 4)
    | st.integers(0, 255),
    max_size=24,
).map(bytes)


@settings(_PROPERTIES, max_examples=600)
@given(data=_wild_bytes, kind=st.sampled_from("Im"))
def test_takes_what_protobuf_takes_and_nothing_else(tool, data, kind):
    cls = {"I": _protos.InsertStreamResponse, "m": _protos.MutatePrioritiesRequest}[kind]
    try:
        expected = cls.FromString(data)
    except protobuf_message.DecodeError:
        expected = None
    code, answer = tool.ask(kind, data)
    assert (code == _OK) == (expected is not None), answer
    if expected is not None:
        expected.DiscardUnknownFields()
        assert cls.FromString(answer).SerializeToString() == expected.SerializeToString()


# --- recorded messages ------------------------------------------------------


def _recorded(method, direction):
    return sorted(_VECTORS.glob(f"*/*_{method}_*_{direction}.bin"))


def _ids(path):
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", _recorded("InsertStream", "req"), ids=_ids)
def test_recorded_insert_requests(tool, path):
    message = _protos.InsertStreamRequest.FromString(path.read_bytes())
    expected = _protos.InsertStreamRequest()
    expected.CopyFrom(message)
    for item in expected.items:
        columns = [c for c in item.flat_trajectory.columns if c.chunk_slices]
        del item.flat_trajectory.columns[:]
        item.flat_trajectory.columns.extend(columns)  # also makes it present
        item.flat_trajectory.SetInParent()
    assert tool.rewrite("i", message) == expected


@pytest.mark.parametrize("path", _recorded("SampleStream", "resp"), ids=_ids)
def test_recorded_sample_responses(tool, path):
    message = _protos.SampleStreamResponse.FromString(path.read_bytes())
    if not all(entry.HasField("info") for entry in message.entries):
        pytest.skip("part of a sample")
    if len({entry.info.item.table for entry in message.entries}) != 1:
        pytest.skip("of several tables")
    assert tool.rewrite("S", message) == message


@pytest.mark.parametrize("path", _recorded("MutatePriorities", "req"), ids=_ids)
def test_recorded_mutate_requests(tool, path):
    message = _protos.MutatePrioritiesRequest.FromString(path.read_bytes())
    assert tool.rewrite("m", message) == message


def test_recorded_signature(tool):
    path = _VECTORS / "client_insert" / "002_ServerInfo_call01_resp.bin"
    info = _protos.ServerInfoResponse.FromString(path.read_bytes())
    (signature,) = [t.signature for t in info.table_info if t.HasField("signature")]
    code, lines = tool.ask("g", signature.SerializeToString())
    assert code == _OK
    assert lines.decode().splitlines() == [
        "obs/obs: float32 (?, 2)",
        "reward: float32 (?,)",
    ]
    assert tool.ask("t", signature.SerializeToString()) == (
        _OK,
        b"{'obs': float32 (?, 2), 'reward': float32 (?,)}",
    )


def test_not_a_message(tool):
    code, text = tool.ask("i", b"\x0a\xff")
    assert code == _INVALID_ARGUMENT
    assert b"InsertStreamRequest" in text


# --- dm-reverb's readers ----------------------------------------------------


def _classes_without_our_fields():
    """The messages as dm-reverb knows them: no field has a number from 1000."""
    files = descriptor_pb2.FileDescriptorSet.FromString(
        base64.b64decode(_descriptors.FILE_DESCRIPTOR_SET)
    )
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        for message in file.message_type:
            theirs = [field for field in message.field if field.number < 1000]
            del message.field[:]
            message.field.extend(theirs)
        pool.AddSerializedFile(file.SerializeToString())
    if not hasattr(message_factory, "GetMessageClass"):  # before protobuf 4.22
        return message_factory.MessageFactory(pool).GetPrototype, pool
    return message_factory.GetMessageClass, pool


def test_an_older_reader_skips_the_structure(tool):
    request = _protos.InsertStreamRequest()
    item = request.items.add(key=7, table="t", priority=1.5)
    column = item.flat_trajectory.columns.add(squeeze=True)
    column.chunk_slices.add(chunk_key=3, offset=1, length=1, index=2)
    item.flat_trajectory.structure.CopyFrom(signature.encode_structure({"a": [0]}))
    rewritten = tool.rewrite("i", request)
    assert rewritten.items[0].flat_trajectory.structure == item.flat_trajectory.structure

    get_class, pool = _classes_without_our_fields()
    older = get_class(pool.FindMessageTypeByName("deepmind.reverb.InsertStreamRequest"))
    read = older.FromString(rewritten.SerializeToString())
    assert "structure" not in read.items[0].flat_trajectory.DESCRIPTOR.fields_by_name
    assert read.items[0].key == 7
    (read_column,) = read.items[0].flat_trajectory.columns
    assert read_column.squeeze
    (chunk_slice,) = read_column.chunk_slices
    assert (chunk_slice.chunk_key, chunk_slice.offset, chunk_slice.index) == (3, 1, 2)
