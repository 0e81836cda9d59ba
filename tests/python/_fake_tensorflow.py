# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the few parts of TensorFlow that specs touch."""

import types

import ml_dtypes
import numpy as np

from reverb import specs

_NAMES = {1: "float32", 2: "float64", 3: "int32", 7: "string", 9: "int64", 14: "bfloat16"}
_NAMES |= {11: "qint8", 17: "uint16", 20: "resource", 23: "uint64"}


class DType:
    def __init__(self, number):
        self.number = number
        self.name = _NAMES[number]

    @property
    def as_numpy_dtype(self):
        if self.name == "resource":
            raise KeyError(self.number)
        if self.name == "string":
            return np.object_
        if self.name == "qint8":
            return np.dtype([("qint8", np.int8)])
        return ml_dtypes.bfloat16 if self.name == "bfloat16" else getattr(np, self.name)

    def __eq__(self, other):
        return isinstance(other, DType) and other.number == self.number

    def __hash__(self):
        return self.number

    def __repr__(self):
        return f"tf.{self.name}"


class TensorShape:
    def __init__(self, dims):
        self._dims = None if dims is None else list(dims)

    @property
    def rank(self):
        return None if self._dims is None else len(self._dims)

    def as_list(self):
        return self._dims

    def __iter__(self):
        return iter(self._dims)


class TypeSpec:
    pass


class TensorSpec(TypeSpec):
    def __init__(self, shape, dtype=None, name=None):
        self.shape = shape if isinstance(shape, TensorShape) else TensorShape(shape)
        self.dtype = as_dtype(dtype if dtype is not None else 1)
        self.name = name

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


class VariableSpec(TypeSpec):
    shape, dtype, name = (), np.float32, "v"


def as_dtype(value):
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return DType(next(number for number, name in _NAMES.items() if name == value))
    if not isinstance(value, int):
        value = specs.dtype_number(specs.normalize_dtype(value))
    if value not in _NAMES:
        raise TypeError(f"no dtype {value}")
    return DType(value)


def module():
    """The module to put in sys.modules."""
    fake = types.ModuleType("tensorflow")
    for item in (DType, TensorShape, TypeSpec, TensorSpec, VariableSpec, as_dtype):
        setattr(fake, item.__name__, item)
    return fake
