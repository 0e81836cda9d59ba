# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Specs: what they accept, what they equal, and how they travel."""

import copy
import pickle
import subprocess
import sys
import types

import ml_dtypes
import numpy as np
import pytest

from reverb import errors, specs
from reverb.specs import BoundedTensorSpec, TensorSpec
from tests.python import _fake_tensorflow

_NUMERIC = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
_FOREIGN = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"]


@pytest.fixture
def tensorflow(monkeypatch):
    fake = _fake_tensorflow.module()
    monkeypatch.setitem(sys.modules, "tensorflow", fake)
    return fake


def _dm_env(shape, dtype, name=None, **bounds):
    return types.SimpleNamespace(shape=shape, dtype=np.dtype(dtype), name=name, **bounds)


def test_parts():
    spec = TensorSpec([None, 2], np.int32, "a")
    assert spec.shape == (None, 2)
    assert spec.dtype == np.dtype(np.int32) and isinstance(spec.dtype, np.dtype)
    assert spec.name == "a"
    assert TensorSpec(()).dtype == np.float32
    assert TensorSpec(None).shape is None
    assert TensorSpec(3).shape == (3,)
    assert TensorSpec(np.array([2, 3])).shape == (2, 3)


@pytest.mark.parametrize("name", _NUMERIC)
def test_numeric_dtypes(name):
    spec = TensorSpec((), name)
    assert spec.dtype == np.dtype(name)
    assert (
        spec.dtype
        == TensorSpec((), np.dtype(name)).dtype
        == TensorSpec((), np.dtype(name).type).dtype
    )
    number = specs.dtype_number(spec.dtype)
    assert specs.dtype_from_number(number) == spec.dtype


@pytest.mark.parametrize("name", _FOREIGN)
def test_dtypes_of_ml_dtypes(name):
    expected = np.dtype(getattr(ml_dtypes, name))
    for given in (name, expected, getattr(ml_dtypes, name)):
        assert TensorSpec((), given).dtype == expected
    assert specs.dtype_from_number(specs.dtype_number(expected)) == expected


@pytest.mark.parametrize(
    "dtype", [str, bytes, object, np.str_, np.bytes_, "S5", "<U7", ">U7", "string"]
)
def test_all_strings_are_one_dtype(dtype):
    assert TensorSpec((), dtype).dtype == np.dtype(object)
    assert TensorSpec((), dtype) == TensorSpec((), str)


def test_python_types():
    assert TensorSpec((), bool).dtype == np.bool_
    assert TensorSpec((), int).dtype == np.int64
    assert TensorSpec((), float).dtype == np.float64
    assert TensorSpec((), complex).dtype == np.complex128


def test_byte_order_is_the_machines():
    assert TensorSpec((), ">i4").dtype == np.dtype("=i4")
    assert TensorSpec((), ">i4") == TensorSpec((), "<i4")


@pytest.mark.parametrize(
    "dtype",
    [
        None,
        "datetime64[s]",
        "timedelta64[s]",
        np.longdouble,
        np.clongdouble,
        np.dtype([("a", "i4")]),
        np.dtype([("qint8", "i4")]),
        np.dtype([("qint8", "i1"), ("b", "i1")]),
        np.dtype(("i4", (2,))),
        np.void,
        "nonsense",
        object(),
        ml_dtypes.float8_e4m3b11fnuz,
    ],
)
def test_other_dtypes_are_type_errors(dtype):
    with pytest.raises(TypeError, match="not supported"):
        TensorSpec((), dtype)


def test_missing_ml_dtypes_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match="pip install ml_dtypes"):
        TensorSpec((), "bfloat16")


def test_ml_dtypes_is_not_imported_without_need():
    program = (
        "import sys\nfrom reverb import specs\nspecs.TensorSpec((2,), 'float16')\n"
        "assert 'ml_dtypes' not in sys.modules\nspecs.TensorSpec((2,), 'int4')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("shape", [("a",), (1.5,), "23", (object(),)])
def test_bad_dimensions_are_type_errors(shape):
    with pytest.raises(TypeError):
        TensorSpec(shape)


def test_negative_dimension():
    with pytest.raises(errors.InvalidArgumentError, match="negative"):
        TensorSpec((2, -1))


def test_name_is_text():
    with pytest.raises(TypeError):
        TensorSpec((), name=3)


def test_equality_and_hash():
    a = TensorSpec((None, 2), np.float32, "x")
    assert a == TensorSpec([None, 2], "float32", "x")
    assert hash(a) == hash(TensorSpec([None, 2], "float32", "x"))
    assert a != TensorSpec((None, 2), np.float32, "y")
    assert a != TensorSpec((None, 3), np.float32, "x")
    assert a != TensorSpec((None, 2), np.float64, "x")
    assert a != TensorSpec(None, np.float32, "x")
    assert a != "x"
    assert a != np.zeros((1, 2), np.float32)


def test_bounds():
    a = BoundedTensorSpec((2,), np.float32, 0, [1, 2], "x")
    assert a.minimum.dtype == np.float32
    assert a.maximum.tolist() == [1, 2]
    assert not a.minimum.flags.writeable
    assert a == BoundedTensorSpec((2,), np.float32, 0.0, (1, 2), "x")
    assert hash(a) == hash(BoundedTensorSpec((2,), np.float32, 0.0, (1, 2), "x"))
    assert a != BoundedTensorSpec((2,), np.float32, 0, 1, "x")
    assert a != TensorSpec((2,), np.float32, "x")
    assert TensorSpec((2,), np.float32, "x") != a
    with pytest.raises(TypeError, match="both bounds"):
        BoundedTensorSpec((2,), np.float32, 0, None)


@pytest.mark.parametrize(
    "spec", [TensorSpec((None, 2), str, "x"), BoundedTensorSpec((2,), np.int8, 0, [1, 2], "x")]
)
def test_copies_are_equal(spec):
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert copy.copy(spec) == copy.deepcopy(spec) == spec


def test_repr():
    assert repr(TensorSpec((None, 2), np.int32, "x")) == (
        "TensorSpec(shape=(None, 2), dtype=int32, name='x')"
    )
    assert "minimum=array(0" in repr(BoundedTensorSpec((), np.int32, 0, 1))


def test_immutable():
    with pytest.raises(AttributeError):
        TensorSpec(()).shape = (1,)


def test_compatibility():
    spec = TensorSpec((None, 2), np.float32)
    assert spec.is_compatible_with(np.zeros((5, 2), np.float32))
    assert spec.is_compatible_with(TensorSpec(None, np.float32, "other"))
    assert spec.is_compatible_with(TensorSpec((3, None), np.float32))
    assert not spec.is_compatible_with(np.zeros((5, 3), np.float32))
    assert not spec.is_compatible_with(np.zeros((5, 2), np.float64))
    assert not spec.is_compatible_with(np.zeros(2, np.float32))
    assert not spec.is_compatible_with(np.zeros(2, "datetime64[s]"))
    assert TensorSpec((), np.int64).is_compatible_with(3)
    assert TensorSpec((), str).is_compatible_with(np.array("text"))


def test_from_spec_and_from_array():
    assert TensorSpec.from_spec(BoundedTensorSpec((2,), "int8", 0, 1, "a")) == TensorSpec(
        (2,), "int8", "a"
    )
    assert TensorSpec.from_spec(TensorSpec((2,), "int8", "a"), "b").name == "b"
    assert TensorSpec.from_array(np.zeros((2, 3), "i2"), "c") == TensorSpec((2, 3), "i2", "c")


def test_specs_of_environments():
    plain = _dm_env((2,), "float32", "obs")
    bounded = _dm_env((2,), "float32", None, minimum=0.0, maximum=1.0)
    assert specs.is_spec(plain) and specs.is_spec(bounded)
    assert TensorSpec((2,), np.float32, "obs") == plain
    assert BoundedTensorSpec((2,), np.float32, 0, 1) == bounded
    assert TensorSpec((2,), np.float32) != bounded
    assert specs.as_spec(plain) == TensorSpec((2,), np.float32, "obs")


@pytest.mark.parametrize(
    "value", [np.zeros(3), np.float32(1), 3, None, "x", [1], TensorSpec, object()]
)
def test_data_is_no_spec(value):
    assert not specs.is_spec(value)
    with pytest.raises(errors.InvalidArgumentError, match="not a spec"):
        specs.as_spec(value)


def test_specs_of_tensorflow(tensorflow):
    theirs = tensorflow.TensorSpec([None, 2], tensorflow.as_dtype("float32"), "x")
    assert specs.is_spec(theirs)
    assert TensorSpec((None, 2), np.float32, "x") == theirs
    assert TensorSpec((None, 2), np.float32, "y") != theirs
    assert TensorSpec(None, str) == tensorflow.TensorSpec(None, tensorflow.as_dtype("string"))
    assert TensorSpec((), "bfloat16") == tensorflow.TensorSpec([], tensorflow.as_dtype("bfloat16"))
    assert specs.to_tensorflow(TensorSpec((2,), str, "x")).dtype == tensorflow.as_dtype("string")
    assert specs.dtype_number(specs.normalize_dtype(tensorflow.as_dtype("qint8"))) == 11


def test_other_type_specs_of_tensorflow_are_none(tensorflow):
    assert not specs.is_spec(tensorflow.VariableSpec())


def test_resources_cannot_be_stored(tensorflow):
    with pytest.raises(TypeError, match="resource"):
        specs.as_spec(tensorflow.TensorSpec([], tensorflow.as_dtype("resource")))
