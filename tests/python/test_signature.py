# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Signatures as bytes: nesting, order, bad input, and bytes of others."""

import collections
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverb import _protos, errors, nest, signature, specs
from reverb.specs import BoundedTensorSpec, TensorSpec
from tests.python import _fake_tensorflow

One = collections.namedtuple("One", ["value"])
Point = collections.namedtuple("Point", ["y", "x"])
_A = TensorSpec((2,), np.float32, "a")
_B = TensorSpec((None, 3), np.int64)
_C = TensorSpec(None, str, "c")


@pytest.fixture
def tensorflow(monkeypatch):
    fake = _fake_tensorflow.module()
    monkeypatch.setitem(sys.modules, "tensorflow", fake)
    return fake


def _dtypes():
    names = [*specs._NATIVE, *specs._ML_DTYPES]
    return st.sampled_from(names).map(specs.normalize_dtype)


def _specs():
    shapes = st.none() | st.lists(st.none() | st.integers(0, 2**40), max_size=4)
    names = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
    return st.builds(TensorSpec, shapes, _dtypes(), names)


_KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


def _nests(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.dictionaries(_KEYS, inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
            st.builds(Point, inner, inner),
        ),
        max_leaves=8,
    )


@given(_nests(_specs()))
@settings(deadline=None)
def test_round_trip(value):
    encoded = signature.encode(value)
    decoded = signature.decode(encoded)
    assert decoded == value
    assert signature.encode(decoded) == encoded
    assert signature.decode(_protos.StructuredValue.FromString(encoded)) == value
    assert signature.flat_specs(decoded) == nest.flatten(value)


@given(_nests(st.just(None)))
@settings(deadline=None)
def test_structure_round_trip(value):
    leaves = list(range(len(nest.flatten(value))))
    message = signature.encode_structure(value)
    assert signature.decode_structure(message, leaves) == nest.unflatten_as(value, leaves)


def test_containers_come_back_as_the_contract_says():
    value = {
        "d": collections.OrderedDict(z=_A, a=_B),
        "l": [_A],
        "t": (_A,),
        "n": Point(x=_B, y=_A),
        "m": types.MappingProxyType({"k": _C}),
    }
    decoded = signature.decode(signature.encode(value))
    assert list(decoded) == sorted(decoded)
    assert type(decoded["d"]) is dict and list(decoded["d"]) == ["a", "z"]
    assert type(decoded["l"]) is list
    assert type(decoded["t"]) is tuple
    assert type(decoded["m"]) is dict
    assert type(decoded["n"]) is not Point
    assert type(decoded["n"]).__name__ == "Point"
    assert decoded["n"]._fields == ("y", "x")
    assert decoded["n"].x == _B


@pytest.mark.parametrize("nothing", [None, {}, [], (), 0, ""])
def test_falsy_is_no_signature(nothing):
    assert signature.encode(nothing) is None
    assert signature.encode_message(nothing) is None


def test_nothing_decodes_to_nothing():
    assert signature.decode(None) is None
    assert signature.decode(b"") is None
    assert signature.decode(_protos.StructuredValue()) is None


def test_bare_leaf():
    assert signature.decode(signature.encode(_A)) == _A


def test_flat_order_and_names():
    value = {"b": [_A, _B], "a": Point(x=_C, y=TensorSpec((), bool, "a/y")), "": _A}
    columns = signature.flatten(value)
    assert [name for name, _ in columns] == ["/a", "a/y", "a/x/c", "b/0/a", "b/1"]
    assert [spec for _, spec in columns] == nest.flatten(value)
    assert signature.flatten(None) == []
    assert signature.flatten(_B) == [("", _B)]


def test_unknown_rank_scalar_and_unknown_dims_are_distinct():
    shapes = [None, (), (None,), (0,), (None, 2)]
    assert [signature.decode(signature.encode(TensorSpec(s))).shape for s in shapes] == shapes


def test_equal_signatures_have_equal_bytes():
    a = {str(i): _A for i in range(50)}
    b = {str(i): _A for i in reversed(range(50))}
    assert signature.encode(a) == signature.encode(b)


def test_bounds_survive():
    for spec in (
        BoundedTensorSpec((2,), np.float32, 0, [1.5, 2], "x"),
        BoundedTensorSpec((), np.int8, -1, 1),
        BoundedTensorSpec((2,), "bfloat16", 0, 1),
        BoundedTensorSpec((2,), np.complex64, 0, 1j),
        BoundedTensorSpec((2,), bool, False, True),
        BoundedTensorSpec((0, 3), np.int64, np.zeros((0, 3)), np.zeros((0, 3))),
    ):
        decoded = signature.decode(signature.encode({"a": spec}))["a"]
        assert decoded == spec
        assert isinstance(decoded, BoundedTensorSpec)


@pytest.mark.parametrize(
    ("dtype", "field", "values", "expected"),
    [
        (1, "float_val", [1.5], np.float32(1.5)),
        (3, "int_val", [-3], np.int32(-3)),
        (6, "int_val", [-3], np.int8(-3)),
        (9, "int64_val", [2**40], np.int64(2**40)),
        (10, "bool_val", [True], np.bool_(True)),
        (8, "scomplex_val", [1.0, 2.0], np.complex64(1 + 2j)),
        (19, "half_val", [0x3C00], np.float16(1)),
        (14, "half_val", [0x3F80], ml_dtypes.bfloat16(1)),
    ],
)
def test_bounds_in_the_typed_fields_that_tensorflow_writes(dtype, field, values, expected):
    message = _protos.StructuredValue()
    spec = message.bounded_tensor_spec_value
    spec.dtype = dtype
    spec.shape.dim.add(size=2)
    for bound in (spec.minimum, spec.maximum):
        bound.dtype = dtype
        bound.tensor_shape.dim.add(size=2)
        getattr(bound, field).extend(values)  # one value for two elements
    decoded = signature.decode(message)
    assert decoded.minimum.tolist() == decoded.maximum.tolist() == [expected, expected]


@pytest.mark.parametrize("leaf", [None, 3, "x", np.zeros(2), object(), {1, 2}])
def test_leaf_that_is_no_spec_names_its_path(leaf):
    with pytest.raises(ValueError, match="obs/camera") as caught:
        signature.encode({"obs": {"camera": leaf}})
    assert isinstance(caught.value, errors.InvalidArgumentError)
    assert caught.value.column == "obs/camera"


def test_dtype_that_cannot_be_stored_names_its_path():
    bad = types.SimpleNamespace(shape=(), dtype=np.dtype("datetime64[s]"), name=None)
    with pytest.raises(TypeError, match="obs/camera"):
        signature.encode({"obs": {"camera": bad}})


@pytest.mark.parametrize("key", [1, b"x", None, ("a",)])
def test_dict_keys_must_be_text(key):
    with pytest.raises(TypeError, match="keys"):
        signature.encode({"a": {key: _A}})
    with pytest.raises(TypeError, match="keys"):
        signature.encode_structure({key: None})


def test_attrs_classes_are_refused():
    attr = pytest.importorskip("attr")
    step = attr.make_class("Step", ["obs"])(obs=_A)
    with pytest.raises(errors.InvalidArgumentError, match="Step"):
        signature.encode({"a": step})
    with pytest.raises(errors.InvalidArgumentError, match="Step"):
        signature.encode_structure(step)


def test_too_deep():
    value = _A
    for _ in range(60):
        value = [value]
    with pytest.raises(errors.InvalidArgumentError, match="deep"):
        signature.encode(value)
    loop = []
    loop.append(loop)
    with pytest.raises(errors.InvalidArgumentError, match="deep"):
        signature.encode(loop)


@pytest.mark.parametrize(
    "wrap", [lambda v: [v], lambda v: {"k": v}, lambda v: (v,), lambda v: One(v)]
)
def test_what_is_accepted_can_be_read_inside_server_info(wrap):
    value = BoundedTensorSpec((2,), np.float32, 0, 1)
    depth = 0
    while True:
        try:
            encoded = signature.encode(wrap(value))
        except errors.InvalidArgumentError:
            break
        value, depth = (wrap(value), depth + 1)
    response = _protos.ServerInfoResponse()
    response.table_info.add(signature=_protos.StructuredValue.FromString(encoded))
    again = _protos.ServerInfoResponse.FromString(response.SerializeToString())
    assert signature.decode(again.table_info[0].signature) == value
    assert depth > 10


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x05", b"garbage"])
def test_bytes_that_are_no_message(data):
    with pytest.raises(errors.InvalidArgumentError):
        signature.decode(data)


def test_leaves_of_another_kind():
    message = _protos.StructuredValue()
    message.list_value.values.add(int64_value=3)
    with pytest.raises(errors.InvalidArgumentError, match="int64_value"):
        signature.decode(message)
    message = _protos.StructuredValue()
    message.tensor_spec_value.dtype = 99
    with pytest.raises(errors.InvalidArgumentError, match="99"):
        signature.decode(message)


def test_named_tuples_that_python_could_not_have():
    message = _protos.StructuredValue()
    message.named_tuple_value.name = "not a name"
    for key in ("class", "x", "x"):
        pair = message.named_tuple_value.values.add(key=key)
        pair.value.CopyFrom(signature.encode_message(_A))
    decoded = signature.decode(message)
    assert list(decoded) == [_A, _A, _A]
    assert decoded.x == _A


def test_number_of_leaves_must_fit():
    message = signature.encode_structure([None, {"a": None}])
    assert signature.decode_structure(message, [1, 2]) == [1, {"a": 2}]
    for leaves in ([1], [1, 2, 3], []):
        with pytest.raises(errors.InvalidArgumentError, match="leaves"):
            signature.decode_structure(message, leaves)


def test_tensorflows_specs_come_back_if_the_program_uses_tensorflow(tensorflow):
    theirs = tensorflow.TensorSpec([None], tensorflow.as_dtype("int64"), "x")
    decoded = signature.decode(signature.encode({"a": theirs, "b": _A}))
    assert all(isinstance(leaf, tensorflow.TensorSpec) for leaf in decoded.values())
    assert _A == decoded["b"]  # noqa: SIM300 (ours must be on the left)
    assert decoded["a"].dtype == tensorflow.as_dtype("int64")


def test_ours_come_back_otherwise():
    theirs = types.SimpleNamespace(shape=(2,), dtype=np.dtype("f4"), name="a")
    assert type(signature.decode(signature.encode([theirs]))[0]) is TensorSpec


def test_recorded_signature_of_dm_reverb_decodes():
    """{obs: float32 [?, 2], reward: float32 [?]}, as a 0.14 server describes its table."""
    message = _protos.StructuredValue()
    for key, dims in (("reward", [-1]), ("obs", [-1, 2])):
        spec = message.dict_value.fields[key].tensor_spec_value
        spec.dtype = 1
        for dim in dims:
            spec.shape.dim.add(size=dim)
    assert signature.decode(message.SerializeToString()) == {
        "obs": TensorSpec((None, 2), np.float32),
        "reward": TensorSpec((None,), np.float32),
    }
