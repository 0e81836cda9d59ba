# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Values on their way into a table and back: dtypes, layouts, nesting."""

import collections
import enum

import attrs
import ml_dtypes
import numpy as np
import pytest
import tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reverb
from reverb import _core


@pytest.fixture(scope="module")
def server():
    table = reverb.Table(
        "t", reverb.selectors.Lifo(), reverb.selectors.Fifo(), 10, reverb.rate_limiters.MinSize(1)
    )
    with reverb.Server([table]) as server:
        yield server


@pytest.fixture(scope="module", params=[True, False], ids=["in-process", "grpc"])
def client(server, request):
    return _core.Client(f"localhost:{server.port}", 10, 10, request.param)


def _round_trip(client, data):
    """The flat columns that come back for one step."""
    client.insert(data, {"t": 1.0})
    sampler = client.new_sampler("t", 1)
    _, steps = sampler.next_timesteps()
    assert sampler.next_timesteps() is None
    sampler.close()
    return steps[0]


_NUMERIC = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
    *(ml_dtypes.int4, ml_dtypes.uint4),
]


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0, 3), (1000,), (3, 4, 5)])
@pytest.mark.parametrize("dtype", _NUMERIC, ids=str)
def test_arrays(client, dtype, shape):
    value = (np.arange(np.prod(shape)).reshape(shape) % 5).astype(dtype)
    (result,) = _round_trip(client, value)
    assert result.dtype == np.dtype(dtype)
    assert result.shape == shape
    np.testing.assert_array_equal(result, value)
    assert result.flags.writeable and result.flags.c_contiguous


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">u2", ">c16", "<i4"])
def test_byte_orders_mean_what_they_say(client, dtype):
    value = np.arange(6).reshape(2, 3).astype(dtype)
    (result,) = _round_trip(client, value)
    np.testing.assert_array_equal(result, value)
    assert result.dtype.isnative


def test_layouts(client):
    base = np.arange(24).reshape(4, 6)
    for value in (base.T, base[::2], base[:, ::-1], np.asfortranarray(base), base[1:1]):
        (result,) = _round_trip(client, value)
        np.testing.assert_array_equal(result, value)
    bfloat = base.astype(ml_dtypes.bfloat16).T
    np.testing.assert_array_equal(_round_trip(client, bfloat)[0], bfloat)


class _Color(enum.IntEnum):
    RED = 3


class _HasArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5], np.float32)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, np.array(True)),
        (3, np.array(3, np.int64)),
        (-(2**63), np.array(-(2**63), np.int64)),
        (2**63, np.array(2**63, np.uint64)),
        (2**64 - 1, np.array(2**64 - 1, np.uint64)),
        (1.5, np.array(1.5)),
        (1 + 2j, np.array(1 + 2j)),
        (np.float32(1.5), np.array(1.5, np.float32)),
        (np.bool_(False), np.array(False)),
        (np.uint8(7), np.array(7, np.uint8)),
        (ml_dtypes.bfloat16(1.5), np.array(1.5, ml_dtypes.bfloat16)),
        (_Color.RED, np.array(3, np.int64)),
        (bytearray(b"ab"), np.array([97, 98], np.uint8)),
        (_HasArray(), np.array([1.5, 2.5], np.float32)),
        (np.ma.masked_array([1, 2], [True, False]), np.array([1, 2])),
        (np.matrix([[1, 2]]), np.array([[1, 2]])),
    ],
    ids=repr,
)
def test_scalars_and_things_like_arrays(client, value, expected):
    (result,) = _round_trip(client, value)
    assert type(result) is np.ndarray
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("täxt", "täxt".encode()),
        (b"a\0b\0", b"a\0b\0"),
        ("", b""),
        (np.str_("x"), b"x"),
        (np.bytes_(b"x"), b"x"),
        (np.array("x"), b"x"),
        (np.array(["a", "bcé"]), [b"a", "bcé".encode()]),
        (np.array([b"a", b"bc"]), [b"a", b"bc"]),
        (np.array(["a", b"b\0"], object), [b"a", b"b\0"]),
        (np.array([["a", "b"], ["c", "d"]])[:, ::-1], [[b"b", b"a"], [b"d", b"c"]]),
        (np.array([], "U3"), []),
    ],
    ids=repr,
)
def test_strings(client, value, expected):
    (result,) = _round_trip(client, value)
    assert result.dtype == object
    assert result.tolist() == expected


@pytest.mark.parametrize(
    "value",
    [
        None,
        object(),
        {1, 2},
        frozenset(),
        2**64,
        -(2**63) - 1,
        np.datetime64("2020-01-01"),
        np.array([1], "timedelta64[s]"),
        np.longdouble(1),
        np.zeros(2, [("a", "i4"), ("b", "f4")]),
        np.array([1, "a"], object),
        np.array([None]),
        "\ud800",
    ],
    ids=repr,
)
def test_what_tables_cannot_hold_names_its_leaf(client, value):
    with pytest.raises(TypeError, match="obs/0/camera"):
        client.insert({"a": 1, "obs": [{"camera": value}]}, {"t": 1.0})
    with pytest.raises(TypeError, match="the value"):
        client.insert(value, {"t": 1.0})
    _round_trip(client, 1)


def test_an_array_that_refuses(client):
    class Refuses:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("not now")

    with pytest.raises(TypeError, match="x.*not now") as caught:
        client.insert({"x": Refuses()}, {"t": 1.0})
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_arrays_are_shared_with_nothing(client):
    value = np.zeros(1000)
    client.insert(value, {"t": 1.0})
    value[:] = 1
    first, second = (client.new_sampler("t", 1).next()[1][0] for _ in range(2))
    first[:] = 2
    assert second.sum() == 0


_Point = collections.namedtuple("_Point", ["y", "x"])


@attrs.define
class _Attrs:
    b: int
    a: int


@pytest.mark.parametrize(
    ("data", "flat"),
    [
        ({"b": 1, "a": 2}, [2, 1]),
        (collections.OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (collections.defaultdict(int, b=1, a=2), [2, 1]),
        (_Point(1, 2), [1, 2]),
        ([1, (2, [3]), {}], [1, 2, 3]),
        (_Attrs(1, 2), [1, 2]),
        ({"x": _Attrs({"b": 1, "a": 2}, 3)}, [2, 1, 3]),
        (collections.deque([1, 2]), [1, 2]),
        ({2: 1, 1: 2}, [2, 1]),
    ],
    ids=repr,
)
def test_flat_order_is_that_of_dm_tree(client, data, flat):
    assert [int(x) for x in _round_trip(client, data)] == flat == tree.flatten(data)


def test_keys_that_cannot_be_sorted(client):
    with pytest.raises(TypeError):
        client.insert({1: 1, "a": 2}, {"t": 1.0})


def test_a_structure_within_itself(client):
    data = []
    data.append(data)
    with pytest.raises(RecursionError):
        client.insert(data, {"t": 1.0})


_leaves = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.binary(max_size=20),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
_nests = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
        st.tuples(inner, inner).map(lambda pair: _Point(*pair)),
    ),
    max_leaves=12,
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.lists(_nests, min_size=1, max_size=3))
def test_nests_round_trip(client, data):
    # Through one writer, which remembers the structure that it met before.
    for nest in data:
        flat = tree.flatten(nest)
        if not flat:
            continue
        writer = client.new_writer(1, 1)
        for _ in range(2):
            writer.append(nest)
        writer.create_item("t", 1, 1.0)
        writer.close()
        _, steps = client.new_sampler("t", 1).next_timesteps()
        expected = [x.encode() if isinstance(x, str) else x for x in flat]
        assert [x.item() for x in steps[0]] == expected
        tree.assert_same_structure(tree.unflatten_as(nest, steps[0]), nest)


def test_structures_that_change_under_one_writer(client):
    writer = client.new_writer(1, 1)
    for data, flat in (
        ({"b": 1, "a": 2}, [2, 1]),
        ({"c": 1, "a": 2}, [2, 1]),
        (_Point(1, 2), [1, 2]),
        ({"y": 1, "x": 2}, [2, 1]),
        ([1, 2], [1, 2]),
        ({"b": {"d": 1, "c": 2}}, [2, 1]),
    ):
        writer.append(data)
        writer.create_item("t", 1, 1.0)
        writer.flush()
        _, steps = client.new_sampler("t", 1).next_timesteps()
        assert [int(x) for x in steps[0]] == flat
    writer.close()
