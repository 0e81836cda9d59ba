# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Dtype, shape and name of one leaf: `TensorSpec` and `BoundedTensorSpec`.

Wherever reverb takes a spec it takes ours, TensorFlow's and dm_env's; `as_spec`
turns each into ours. Nothing here imports TensorFlow, and ml_dtypes only when a
dtype of its own is named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from reverb import errors

__all__ = ["BoundedTensorSpec", "TensorSpec"]

Shape = tuple[int | None, ...] | None

# tensorflow.DataType by name of the NumPy dtype. Strings are object arrays of
# bytes. The quantized types are, as in TensorFlow, structs of one field.
_NATIVE = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "object": 7,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_ML_DTYPES = {"bfloat16": 14, "float8_e5m2": 24, "float8_e4m3fn": 25, "int4": 29, "uint4": 30}
_QUANTIZED = {
    "qint8": (11, np.int8),
    "quint8": (12, np.uint8),
    "qint32": (13, np.int32),
    "qint16": (15, np.int16),
    "quint16": (16, np.uint16),
}
_NAMES = {number: name for name, number in (_NATIVE | _ML_DTYPES).items()}
_QUANTIZED_NAMES = {number: name for name, (number, _) in _QUANTIZED.items()}


def normalize_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype in which reverb hands out values of `dtype`.

    Args:
      dtype: Anything NumPy understands, a TensorFlow dtype, or the name of one of ml_dtypes' types.
        Text and bytes of any length become `object`; the byte order becomes the machine's.

    Raises:
      TypeError: Tables can't hold values of this dtype.
    """
    if dtype is None:  # NumPy would take it for float64.
        raise _dtype_error(dtype)
    if hasattr(type(dtype), "as_numpy_dtype"):  # TensorFlow's DType
        try:
            dtype = dtype.as_numpy_dtype
        except KeyError:  # resource and variant
            raise _dtype_error(dtype) from None
    if isinstance(dtype, str) and dtype in _ML_DTYPES:
        return _ml_dtype(dtype)
    if isinstance(dtype, str) and dtype == "string":
        return np.dtype(object)
    try:
        result: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise _dtype_error(dtype) from None
    if result.kind in "US":
        return np.dtype(object)
    # Native byte order, except for foreign dtypes, which may not have one.
    if result.kind in "biufc" and not result.isnative:
        result = result.newbyteorder("=")
    if dtype_number(result) is None:
        raise _dtype_error(result)
    return result


def dtype_number(dtype: np.dtype[Any]) -> int | None:
    """The number of a normalized dtype in `tensorflow.DataType`; None if it has none."""
    if dtype.names is not None:
        name = dtype.names[0] if len(dtype.names) == 1 else ""
        number, base = _QUANTIZED.get(name, (None, None))
        return number if number is not None and dtype[0] == np.dtype(base) else None
    number = _NATIVE.get(dtype.name)
    if number is not None:
        return number if dtype.subdtype is None and dtype.type.__module__ == "numpy" else None
    return _ML_DTYPES.get(dtype.name)


def dtype_from_number(number: int) -> np.dtype[Any]:
    """The dtype with this number in `tensorflow.DataType`.

    Raises:
      TypeError: NumPy has no such dtype.
    """
    name = _NAMES.get(number)
    if name is not None:
        return _ml_dtype(name) if name in _ML_DTYPES else np.dtype(name)
    name = _QUANTIZED_NAMES.get(number)
    if name is not None:
        return np.dtype([(name, _QUANTIZED[name][1])])
    raise TypeError(f"TensorFlow's dtype number {number} has no NumPy dtype")


def _ml_dtype(name: str) -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            f"dtype {name} needs the package ml_dtypes: pip install ml_dtypes"
        ) from None
    result: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return result


def _dtype_error(dtype: Any) -> TypeError:
    return TypeError(
        f"dtype {dtype!r} is not supported: tables hold bool, int8 to int64, uint8 to uint64, "
        "float16 to float64, complex64, complex128, strings (object), and bfloat16, float8_e5m2, "
        "float8_e4m3fn, int4, uint4 of ml_dtypes"
    )


def normalize_shape(shape: Any) -> Shape:
    """A shape as a tuple in which None is an unknown dimension; None for an unknown rank."""
    if shape is None:
        return None
    as_list = getattr(shape, "as_list", None)  # TensorFlow's TensorShape
    if as_list is not None:
        if getattr(shape, "rank", 0) is None:
            return None
        shape = as_list()
    elif isinstance(shape, (str, bytes)):
        raise TypeError(f"a shape is a sequence of dimensions, not {shape!r}")
    elif not isinstance(shape, Iterable):
        shape = (shape,)
    return tuple(_normalize_dimension(dimension, shape) for dimension in shape)


def _normalize_dimension(dimension: Any, shape: Any) -> int | None:
    if dimension is None:
        return None
    try:
        size = int(dimension.__index__())
    except (AttributeError, TypeError):
        raise TypeError(
            f"dimension {dimension!r} of shape {shape!r} is neither an int nor None"
        ) from None
    if size < 0:
        raise errors.InvalidArgumentError(
            f"shape {shape!r} has a negative dimension; unknown dimensions are None"
        )
    return size


def shapes_compatible(a: Shape, b: Shape) -> bool:
    """Whether an array could have both shapes."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


class TensorSpec:
    """What the values of one leaf have in common: shape, dtype and name.

    Immutable. Equal to a spec of TensorFlow or dm_env that says the same, if
    ours is on the left of `==`.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = np.float32, name: str | None = None) -> None:
        """Makes a spec.

        Args:
          shape: Dimensions, None for an unknown one; or None for an unknown rank.
          dtype: A NumPy dtype or anything that names one; `str`, `bytes` and `object` all mean
            strings, which read back as object arrays of `bytes`.
          name: Any text.

        Raises:
          TypeError: Tables can't hold values of this dtype.
          InvalidArgumentError: A dimension is negative.
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a spec is a str, not {name!r}")
        self._shape = normalize_shape(shape)
        self._dtype = normalize_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> Shape:
        """Dimensions, None for an unknown one; None for an unknown rank."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; `object` for strings."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, if one was given."""
        return self._name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The shape, dtype and name of any spec; `name` replaces its name."""
        return TensorSpec(spec.shape, spec.dtype, name or spec.name or None)

    @classmethod
    def from_array(cls, array: Any, name: str | None = None) -> TensorSpec:
        """The spec of exactly this array."""
        array = np.asarray(array)
        return TensorSpec(array.shape, array.dtype, name)

    def is_compatible_with(self, spec_or_array: Any) -> bool:
        """Whether something may be a value of this spec: equal dtype, shapes that can agree."""
        other = spec_or_array
        if not (hasattr(other, "shape") and hasattr(other, "dtype")):
            other = np.asarray(other)
        try:
            return self._dtype == normalize_dtype(other.dtype) and shapes_compatible(
                self._shape, normalize_shape(other.shape)
            )
        except TypeError:
            return False

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if not is_spec(other):
            # An array would compare each of its elements with the spec.
            return False if hasattr(other, "__array__") else NotImplemented
        try:
            converted = as_spec(other)
        except (TypeError, ValueError):
            return False
        return type(self) is type(converted) and self._key() == converted._key()

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype, self._name))

    def _key(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype_name()}, name={self._name!r})"

    def _dtype_name(self) -> str:
        return self._dtype.names[0] if self._dtype.names else self._dtype.name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._shape, self._dtype, self._name)


class BoundedTensorSpec(TensorSpec):
    """A `TensorSpec` with bounds, which are stored and returned but never checked."""

    __slots__ = ("_maximum", "_minimum")

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        """Makes a spec.

        Args:
          shape: See `TensorSpec`.
          dtype: See `TensorSpec`.
          minimum: Smallest value, inclusive; a number or an array that broadcasts to `shape`.
          maximum: Largest value, inclusive; likewise.
          name: See `TensorSpec`.

        Raises:
          TypeError: Tables can't hold values of this dtype, or the bounds are None.
          InvalidArgumentError: A dimension is negative.
        """
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise TypeError("a bounded spec needs both bounds; use TensorSpec without bounds")
        self._minimum = _frozen_array(minimum, self._dtype)
        self._maximum = _frozen_array(maximum, self._dtype)

    @property
    def minimum(self) -> np.ndarray[Any, Any]:
        """Smallest value, inclusive (read-only)."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray[Any, Any]:
        """Largest value, inclusive (read-only)."""
        return self._maximum

    def _key(self) -> tuple[Any, ...]:
        bounds = ((b.shape, b.tolist()) for b in (self._minimum, self._maximum))
        return (*super()._key(), *bounds)

    __hash__ = TensorSpec.__hash__

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype_name()}, "
            f"name={self._name!r}, minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._shape, self._dtype, self._minimum, self._maximum, self._name)


def _frozen_array(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    array = np.array(value, dtype)
    array.flags.writeable = False
    return array


def is_spec(value: Any) -> bool:
    """Whether `value` is a spec: ours, TensorFlow's tensor specs, dm_env's.

    Anything else with shape, dtype and name passes too; arrays and tensors,
    which have data, don't.
    """
    if isinstance(value, TensorSpec):
        return True
    tensorflow = imported_tensorflow()
    if tensorflow is not None and isinstance(value, tensorflow.TypeSpec):
        return isinstance(value, tensorflow.TensorSpec)
    return (
        not isinstance(value, type)
        and not hasattr(value, "__array__")
        and hasattr(value, "shape")
        and hasattr(value, "dtype")
        and hasattr(value, "name")
    )


def as_spec(spec: Any) -> TensorSpec:
    """Our spec that says what `spec` says; `spec` itself if it is ours.

    Raises:
      InvalidArgumentError: `spec` is no spec.
      TypeError: Tables can't hold values of its dtype.
    """
    if isinstance(spec, TensorSpec):
        return spec
    if not is_spec(spec):
        raise errors.InvalidArgumentError(f"not a spec: {spec!r}")
    name = spec.name or None
    minimum, maximum = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
    if minimum is not None and maximum is not None:
        return BoundedTensorSpec(spec.shape, spec.dtype, minimum, maximum, name)
    return TensorSpec(spec.shape, spec.dtype, name)


def imported_tensorflow() -> Any:
    """TensorFlow's module if the program has imported it (completely), else None."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "TensorSpec"):
        return tensorflow
    return None


def is_tensorflow_spec(spec: Any) -> bool:
    """Whether `spec` is one of TensorFlow's."""
    tensorflow = imported_tensorflow()
    return tensorflow is not None and isinstance(spec, tensorflow.TensorSpec)


def to_tensorflow(spec: TensorSpec) -> Any:
    """TensorFlow's spec that says what `spec` says. TensorFlow must be imported."""
    tensorflow = imported_tensorflow()
    dtype = tensorflow.as_dtype(dtype_number(spec.dtype))
    if isinstance(spec, BoundedTensorSpec):
        from tensorflow.python.framework import tensor_spec  # not exported elsewhere

        return tensor_spec.BoundedTensorSpec(
            spec.shape, dtype, spec.minimum, spec.maximum, spec.name
        )
    return tensorflow.TensorSpec(spec.shape, dtype, spec.name)
