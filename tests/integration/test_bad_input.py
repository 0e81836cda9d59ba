# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong calls and wrong bytes: each gets an error that says what was wrong, and harms nobody."""

import random

import grpc
import numpy as np
import pytest

import reverb
from tests.integration._server_process import TABLES, run_python

_NAN = float("nan")
_INF = float("inf")
_STEP = {"obs": {"camera": np.zeros((2, 3), np.uint8)}, "reward": np.float32(0)}
_LOOP: list = []
_LOOP.append(_LOOP)


@pytest.fixture(scope="module")
def local_server():
    namespace: dict = {}
    exec(TABLES, namespace)
    with reverb.Server(namespace["tables"]) as server:
        yield server


@pytest.fixture(params=["remote", "in process"])
def client(request):
    """A client of a server with the usual tables, which must be unharmed afterwards."""
    if request.param == "remote":
        client = reverb.Client(request.getfixturevalue("server").address)
    else:
        client = request.getfixturevalue("local_server").localhost_client()
    yield client
    client.reset("prioritized")
    client.insert([np.int32(7)], {"prioritized": 2.0}, timeout=10)
    (sample,) = client.sample("prioritized", timeout=10)
    assert sample[0].data == [7]
    assert client.server_info(10)["prioritized"].current_size == 1


def _write(client, steps, table="fifo", num_timesteps=1, priority=1.0):
    with client.writer(5) as writer:
        for step in steps:
            writer.append(step)
        writer.create_item(table, num_timesteps, priority)


def _nested(depth):
    data = 1
    for _ in range(depth):
        data = [data]
    return data


_INSERTS = [
    # data, priorities, exception, text
    ([1], {"nope": 1.0}, ValueError, "'nope'.*'fifo'"),
    ([1], {"": 1.0}, ValueError, "''.*'fifo'"),
    ([1], {"a\0b": 1.0}, ValueError, "Available tables"),
    ([1], {"x" * 100_000: 1.0}, ValueError, "'xxx"),
    ([1], {"\ud800": 1.0}, TypeError, "table's name.*ud800"),
    ([1], {5: 1.0}, TypeError, "table's name must be a str"),
    ([1], {}, ValueError, "priorities"),
    ([1], None, ValueError, "priorities"),
    ([1], ["fifo"], TypeError, "priorities must be a dict, not list"),
    ([1], {"fifo": "high"}, TypeError, "fifo.*'high'"),
    ([1], {"fifo": None}, TypeError, "fifo.*None"),
    ([1], {"fifo": 10**400}, TypeError, "fifo.*fit a float"),
    ([1], {"fifo": _NAN}, ValueError, "NaN.*'fifo'"),
    ([1], {"prioritized": _NAN}, ValueError, "NaN.*'prioritized'"),
    ([1], {"prioritized": _INF}, ValueError, "'prioritized'.*not inf"),
    ([1], {"prioritized": -1.0}, ValueError, "'prioritized'.*not -1"),
    ({**_STEP, "reward": 0.0}, {"signed": 1.0}, ValueError, "'reward'.*'signed'.*float64"),
    (
        {**_STEP, "reward": np.zeros(2, np.float32)},
        {"signed": 1.0},
        ValueError,
        r"'reward'.*\(2,\)",
    ),
    ({**_STEP, "extra": 1}, {"signed": 1.0}, ValueError, "'extra' not in the signature"),
    ({**_STEP, "a": 1}, {"signed": 1.0}, ValueError, "'a' not in the signature"),
    ({"reward": np.float32(0)}, {"signed": 1.0}, ValueError, "'obs/camera' not in the data"),
    ({}, {"fifo": 1.0}, ValueError, "no columns"),
    ({"a": [], "b": ()}, {"fifo": 1.0}, RuntimeError, "no columns"),
    ({"a": None}, {"fifo": 1.0}, TypeError, "'a'.*NoneType"),
    ({"a": {"b": object()}}, {"fifo": 1.0}, TypeError, "'a/b'.*object"),
    ({"a": [1, {1, 2}]}, {"fifo": 1.0}, TypeError, "'a/1'.*set"),
    ({"a": np.datetime64("2020-01-01")}, {"fifo": 1.0}, TypeError, "'a'.*M8"),
    ({"a": np.zeros(2, [("x", "i4")])}, {"fifo": 1.0}, TypeError, "'a'.*'x'"),
    ({"a": np.array(["s", 1], object)}, {"fifo": 1.0}, TypeError, "'a'.*int"),
    ({"a": np.longdouble(1)}, {"fifo": 1.0}, TypeError, "'a'.*float128"),
    ({"a": 2**64}, {"fifo": 1.0}, TypeError, "'a'.*64 bits"),
    ({"a": "\ud800"}, {"fifo": 1.0}, TypeError, "'a'.*surrogates"),
    ({"a": 1, 2: 3}, {"fifo": 1.0}, TypeError, "str"),
    (_nested(100_000), {"fifo": 1.0}, RecursionError, "nested"),
    (_LOOP, {"fifo": 1.0}, RecursionError, "nested"),
    ([1.0] * 10_001, {"fifo": 1.0}, IndexError, "10001.*10000"),
    # Nothing is copied for these: the pages of zeros are never touched.
    ([np.zeros(2**31, np.uint8)], {"fifo": 1.0}, IndexError, "2147483648 bytes"),
    ([np.zeros(2**30, np.uint8)] * 2, {"fifo": 1.0}, IndexError, "2147483648 bytes"),
]


@pytest.mark.parametrize(("data", "priorities", "error", "text"), _INSERTS)
def test_insert(client, data, priorities, error, text):
    with pytest.raises(error, match=text):
        client.insert(data, priorities)


_CALLS = {
    "sample: table": (lambda c: next(c.sample("nope")), RuntimeError, "nope was not found"),
    "sample: no str": (lambda c: next(c.sample(5)), TypeError, "table must be a str"),
    "sample: surrogate": (lambda c: next(c.sample("\ud800")), TypeError, "ud800"),
    "sample: none": (lambda c: next(c.sample("fifo", 0)), ValueError, "num_samples.*0"),
    "sample: below -1": (lambda c: next(c.sample("fifo", -2)), ValueError, "num_samples.*-2"),
    "sample: float": (lambda c: next(c.sample("fifo", 1.5)), TypeError, "float"),
    "sample: huge": (lambda c: next(c.sample("fifo", 2**70)), TypeError, str(2**70)),
    "sample: timeout": (lambda c: next(c.sample("fifo", timeout=-1)), ValueError, "timeout.*-1"),
    "mutate: table": (lambda c: c.mutate_priorities("nope"), RuntimeError, "nope was not found"),
    "mutate: value": (
        lambda c: c.mutate_priorities("prioritized", {5: "high"}),
        TypeError,
        "key 5 .*'high'",
    ),
    "mutate: nan": (
        lambda c: c.mutate_priorities("prioritized", {5: _NAN}),
        ValueError,
        "'prioritized'.*nan",
    ),
    "mutate: negative": (
        lambda c: c.mutate_priorities("prioritized", {5: -2.0}),
        ValueError,
        "'prioritized'.*-2",
    ),
    "mutate: key": (lambda c: c.mutate_priorities("fifo", {-1: 1.0}), TypeError, "-1"),
    "mutate: float key": (lambda c: c.mutate_priorities("fifo", {1.5: 1.0}), TypeError, "1.5"),
    "mutate: large key": (lambda c: c.mutate_priorities("fifo", {2**64: 1.0}), TypeError, "1844"),
    "mutate: no dict": (lambda c: c.mutate_priorities("fifo", [1]), TypeError, "updates.*list"),
    "mutate: deletes": (lambda c: c.mutate_priorities("fifo", {}, 5), TypeError, "deletes.*5"),
    "mutate: delete": (lambda c: c.mutate_priorities("fifo", {}, [-3]), TypeError, "deletes.*-3"),
    "reset": (lambda c: c.reset("nope"), RuntimeError, "nope was not found"),
    "reset: long": (lambda c: c.reset("x" * 100_000), RuntimeError, "xxx"),
    "server_info": (lambda c: c.server_info(1.5), TypeError, "float"),
    "insert: timeout": (lambda c: c.insert([1], {"fifo": 1}, timeout=_NAN), ValueError, "nan"),
    "insert: no timeout": (lambda c: c.insert([1], {"fifo": 1}, timeout="1"), TypeError, "'1'"),
    "writer: table": (lambda c: _write(c, [[1]], "nope"), ValueError, "'nope'"),
    "writer: nan": (lambda c: _write(c, [[1]], priority=_NAN), ValueError, "NaN.*'fifo'"),
    "writer: inf": (
        lambda c: _write(c, [[1]], "prioritized", priority=_INF),
        ValueError,
        "'prioritized'.*inf",
    ),
    "writer: negative": (
        lambda c: _write(c, [[1]], "prioritized", priority=-1),
        ValueError,
        "'prioritized'.*-1",
    ),
    "writer: too long": (lambda c: _write(c, [[1]], num_timesteps=2), ValueError, "'fifo'.* 2 "),
    "writer: no steps": (lambda c: _write(c, [], num_timesteps=1), ValueError, "0 buffered"),
    "writer: empty": (lambda c: _write(c, [[1]], num_timesteps=0), ValueError, "'fifo'.* 0 "),
    "writer: dtypes": (
        lambda c: _write(c, [{"a": 1}, {"a": 1.5}], num_timesteps=2),
        ValueError,
        "int64.*float64",
    ),
    "writer: shapes": (
        lambda c: _write(c, [[np.zeros(2)], [np.zeros(3)]], num_timesteps=2),
        ValueError,
        r"\(2,\).*\(3,\)",
    ),
    "writer: leaves": (lambda c: _write(c, [[1], [1, 2]]), ValueError, "2 columns.* 1"),
    "writer: signature": (lambda c: _write(c, [{**_STEP, "x": 1}], "signed"), ValueError, "'x'"),
}


@pytest.mark.parametrize("call", _CALLS.values(), ids=_CALLS.keys())
def test_call(client, call):
    function, error, text = call
    with pytest.raises(error, match=text):
        function(client)


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((0, 3)),
        [np.zeros((3, 0), np.int8), np.array([], "S")],
        np.arange(6).reshape(2, 3).T,
        np.arange(6)[::-2],
        np.broadcast_to(np.int32(3), (2, 2)),
        np.arange(3, dtype=">i4"),
        np.array(["a", "bc"], ">U2"),
    ],
    ids=str,
)
def test_unusual_arrays_are_good(client, data):
    client.reset("fifo")
    client.insert(data, {"fifo": 1.0})
    sample = next(client.sample("fifo", emit_timesteps=False))
    for got, given in zip(sample.data, data if isinstance(data, list) else [data], strict=True):
        expected = given if given.dtype.kind not in "SU" else np.char.encode(given.astype("U"))
        np.testing.assert_array_equal(got[0], expected.astype(got.dtype))


def test_names_of_tables_may_be_any_text():
    name = "täble 中 \0 \N{PILE OF POO}"
    with reverb.Server([reverb.Table.queue(name, 1)]) as server:
        client = server.localhost_client()
        client.insert([1], {name: 1.0})
        assert next(client.sample(name))[0].info.table_size == 1
        assert list(client.server_info()) == [name]


def _random_bytes(rng):
    kind = rng.random()
    if kind < 0.2:
        return b"\x0a" * rng.randrange(3000)  # deep
    if kind < 0.4:
        return rng.randbytes(rng.choice([1, 3, 20, 300]))
    # Something like messages: fields with small numbers and any wire type.
    message = bytearray()
    for _ in range(rng.randrange(1, 6)):
        payload = rng.randbytes(rng.randrange(12))
        message += bytes([rng.randrange(1, 9) << 3 | rng.choice([0, 1, 2, 2, 2, 5])])
        message += bytes([len(payload)]) + payload
    return bytes(message)


@pytest.mark.parametrize(
    "method",
    [
        "Checkpoint",
        "InitializeConnection",
        "InsertStream",
        "MutatePriorities",
        "Nonsense",
        "Reset",
        "SampleStream",
        "ServerInfo",
    ],
)
def test_malformed_bytes(server, method):
    rng = random.Random(method)
    with grpc.insecure_channel(server.address) as channel:
        call = channel.stream_stream(f"/deepmind.reverb.ReverbService/{method}")
        codes = set()
        for _ in range(100):
            messages = [_random_bytes(rng) for _ in range(rng.randrange(1, 4))]
            try:
                list(call(iter(messages), timeout=30))
            except grpc.RpcError as error:
                codes.add(error.code())
    assert grpc.StatusCode.DEADLINE_EXCEEDED not in codes
    assert grpc.StatusCode.UNAVAILABLE not in codes
    client = reverb.Client(server.address)
    client.insert([1], {"fifo": 1.0})
    assert next(client.sample("fifo"))[0].data == [1]


def test_nothing_listening_is_named_after_five_seconds():
    result = run_python(
        """
import reverb
client = reverb.Client("localhost:1", connect_timeout=5.3)
try:
    client.reset("t")
except reverb.UnavailableError as error:
    print(error)
"""
    )
    assert "localhost:1" in result.stdout
    assert "no server has answered at 'localhost:1' for 5 seconds" in result.stderr


@pytest.mark.parametrize("address", ["", "nonsense", "localhost:x", "localhost:99999", "unix:/no"])
def test_an_address_that_is_none_is_named(address):
    client = reverb.Client(address, connect_timeout=0.2)
    with pytest.raises(RuntimeError, match=f"'{address}'"):
        client.reset("t")
    with pytest.raises(RuntimeError, match=f"'{address}'"):
        client.insert([1], {"t": 1.0})
    with pytest.raises(RuntimeError, match=f"'{address}'"):
        client.checkpoint()
    if not address:
        return  # no channel, and so no waiting
    with pytest.raises(TimeoutError, match=f"'{address}'"):
        client.insert([1], {"t": 1.0}, timeout=0.1)
    with pytest.raises(TimeoutError, match=f"'{address}'"):
        next(client.sample("t", timeout=0.1))
