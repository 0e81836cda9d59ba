# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The nesting of data, stored with items and read back."""

import collections

import attrs
import numpy as np
import pytest
import tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reverb
from reverb import _core, _protos, signature

Point = collections.namedtuple("Point", ["y", "x"])


@attrs.define
class Pair:
    a: float
    b: float


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


def _sample(client):
    sampler = client.new_sampler("t", 1)
    _, columns, structure = sampler.next_with_structure()
    sampler.close()
    return [column[0] for column in columns], structure


def _round_trip(client, data):
    client.insert(data, {"t": 1.0})
    return _sample(client)


def _packed(columns, structure):
    """By the extension, after a comparison with what Python's protobuf reads."""
    by_message = signature.decode_structure(
        _protos.StructuredValue.FromString(structure), list(columns)
    )
    packer = _core.Packer(structure)
    assert packer.num_leaves == len(columns)
    packed = packer.pack(list(columns))
    assert packed == by_message
    assert repr(packed) == repr(by_message)  # the types, too
    return packed


@pytest.mark.parametrize(
    "data",
    [
        1.0,
        (1.0, 2.0),
        [1.0, [2.0]],
        [[], 1.0],
        {"b": 1.0, "a": {"c": [2.0, (3.0,)], "": 4.0}, "é": {}},
        Point(1.0, (2.0, {"z": 3.0})),
        collections.OrderedDict([("b", 1.0), ("a", 2.0)]),
    ],
    ids=str,
)
def test_comes_back(client, data):
    columns, structure = _round_trip(client, data)
    expected = dict(data) if isinstance(data, dict) else data
    assert _protos.StructuredValue.FromString(structure) == signature.encode_structure(expected)
    packed = _packed(columns, structure)
    assert packed == data
    tree.assert_same_structure(packed, expected, check_types=not isinstance(data, Point))
    if isinstance(data, Point):
        assert packed._fields == Point._fields and type(packed).__name__ == "Point"


@pytest.mark.parametrize(
    "data",
    [
        [1.0, 2.0],
        {1: 1.0, 2: 2.0},
        {"a": {3: 1.0}},
        {"\ud800": 1.0},
        Pair(1.0, 2.0),
        [Pair(1.0, 2.0), 3.0],
    ],
    ids=ascii,
)
def test_flat_lists_and_what_cant_be_expressed_have_none(client, data):
    columns, structure = _round_trip(client, data)
    assert structure == b""
    assert columns == tree.flatten(data)


def test_too_deep(client):
    deep = 1.0
    for _ in range(44):
        deep = (deep,)
    assert _round_trip(client, deep)[1] != b""
    assert _round_trip(client, (deep,))[1] == b""


def test_follows_the_writers_steps(client):
    writer = client.new_writer(1, 1)
    steps = [
        ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0}),
        ((1.0, 2.0), (1.0, 2.0)),
        ([1.0, 2.0], None),
        ({"b": 1.0, "c": 2.0}, {"b": 1.0, "c": 2.0}),
        (Point(1.0, 2.0), (1.0, 2.0)),
        ([(1.0,), 2.0], [(1.0,), 2.0]),
        ([1.0, (2.0,)], [1.0, (2.0,)]),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0]}),
        ({"a": (1.0, 2.0)}, {"a": (1.0, 2.0)}),
        ({"a": {"b": 1.0, "c": 2.0}}, {"a": {"b": 1.0, "c": 2.0}}),
    ]
    for data, expected in steps:
        writer.append(data)
        writer.create_item("t", 1, 1.0)
        writer.flush()
        columns, structure = _sample(client)
        packed = None if not structure else _packed(columns, structure)
        assert packed == expected
        assert expected is None or tree.flatten(packed) == tree.flatten(expected)
        assert isinstance(packed, type(expected))
    writer.append_sequence({"x": np.arange(2.0), "y": np.arange(2.0)})
    writer.create_item("t", 1, 1.0)
    writer.flush()
    assert _packed(*_sample(client)) == {"x": 1.0, "y": 1.0}
    writer.close()


def test_a_step_that_failed_changes_nothing(client):
    writer = client.new_writer(5, 5)
    writer.append({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError):
        writer.append({"x": "text", "y": 2.0})
    writer.create_item("t", 1, 1.0)
    writer.flush()
    assert _packed(*_sample(client)) == {"a": 1.0, "b": 2.0}
    writer.close()


_NESTS = st.recursive(
    st.just(0.0),
    lambda children: st.lists(children, max_size=3)
    | st.lists(children, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=3), children, max_size=3)
    | st.tuples(children, children).map(lambda pair: Point(*pair)),
    max_leaves=8,
)


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(nest=_NESTS)
def test_any_nest(client, nest):
    leaves = len(tree.flatten(nest))
    if leaves == 0:
        return
    data = tree.unflatten_as(nest, [float(i) for i in range(leaves)])
    columns, structure = _round_trip(client, data)
    if structure:
        assert _protos.StructuredValue.FromString(structure) == signature.encode_structure(data)
        assert _packed(columns, structure) == data
    else:
        assert columns == data


def test_packer_errors():
    with pytest.raises(reverb.InvalidArgumentError):
        _core.Packer(b"\xff")
    packer = _core.Packer(signature.encode_structure({"a": 1, "b": 2}).SerializeToString())
    with pytest.raises(reverb.InvalidArgumentError, match="2 leaves, 3 were given"):
        packer.pack([1, 2, 3])
    with pytest.raises(TypeError):
        packer.pack((1, 2))


def test_packer_replaces_names_that_python_lacks():
    message = _protos.StructuredValue()
    message.named_tuple_value.name = "class"
    message.named_tuple_value.values.add(key="def").value.none_value.SetInParent()
    packed = _core.Packer(message.SerializeToString()).pack([1])
    assert packed == (1,)
    assert packed == signature.decode_structure(message, [1])
