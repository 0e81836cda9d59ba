# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Signatures as bytes and back: nests of specs as `tensorflow.StructuredValue`.

The same encoding, with empty leaves, keeps the nesting of a pattern.
"""

from __future__ import annotations

import collections
import functools
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from reverb import errors, nest, specs

__all__ = ["decode", "decode_structure", "encode", "encode_structure", "flat_specs", "flatten"]

# protobuf refuses to read messages nested deeper than 100; ServerInfoResponse
# and TableInfo take two levels, a leaf up to four.
_MAX_DEPTH = 90


def encode(signature: Any) -> bytes | None:
    """A signature as the bytes of a `StructuredValue`.

    Args:
      signature: A nest (dict, list, tuple, named tuple) of specs. Nothing and empty containers mean
        "no signature".

    Returns:
      The bytes, equal for equal signatures; None for no signature.

    Raises:
      InvalidArgumentError: A leaf is not a spec, a container is of another kind, or the nesting is
        too deep.
      TypeError: A dict has keys that are not str, or a dtype can't be stored.
    """
    message = encode_message(signature)
    return None if message is None else message.SerializeToString(deterministic=True)


def encode_message(signature: Any) -> Any:
    """As `encode`, but returns the message (or None)."""
    if not hasattr(signature, "__array__") and not signature:
        return None
    message = _structured_value()
    _encode(signature, message, (), 0, _encode_spec)
    return message


def decode(signature: Any) -> Any:
    """The nest of specs that `encode` made bytes of.

    Args:
      signature: A `StructuredValue` message, its bytes, or None.

    Returns:
      Dicts (keys sorted), lists, tuples and new named tuple classes with specs: TensorFlow's if the
      program has imported tensorflow, else ours. None for no signature.

    Raises:
      InvalidArgumentError: The message is not a signature.
    """
    if signature is None:
        return None
    if isinstance(signature, (bytes, bytearray, memoryview)):
        signature = _parse(bytes(signature))
    if signature.WhichOneof("kind") is None:
        return None
    return _decode(signature, (), _decode_spec)


def to_text(serialized: bytes) -> str:
    """A serialized signature for people, in protobuf's text format."""
    return str(_parse(serialized))


def flatten(signature: Any) -> list[tuple[str, specs.TensorSpec]]:
    """The columns of a signature (a nest of specs) in flat order: names and our specs.

    The name is the path, followed by the spec's own name if that adds something.
    """
    columns = []
    for path, leaf in _walk(signature, ()):
        spec = specs.as_spec(leaf)
        parts = [*path]
        if spec.name and nest.format_path(path) != spec.name:
            parts.append(spec.name)
        columns.append((nest.format_path(parts), spec))
    return columns


def flat_specs(signature: Any) -> list[specs.TensorSpec]:
    """The specs of a signature (a nest of specs) in flat order."""
    return [specs.as_spec(leaf) for _, leaf in _walk(signature, ())]


def encode_structure(structure: Any) -> Any:
    """The nesting of `structure` alone: a `StructuredValue` with `none_value` leaves.

    Raises:
      InvalidArgumentError: A container is of an unknown kind, or the nesting is too deep.
      TypeError: A dict has keys that are not str.
    """
    message = _structured_value()
    _encode(structure, message, (), 0, _encode_none)
    return message


def decode_structure(message: Any, leaves: Sequence[Any]) -> Any:
    """`leaves`, which are in flat order, in the nesting that `encode_structure` kept.

    Raises:
      InvalidArgumentError: The number of leaves is another.
    """
    iterator = iter(leaves)
    try:
        result = _decode(message, (), lambda *_: next(iterator))
    except StopIteration:
        raise errors.InvalidArgumentError(
            f"the structure has more leaves than the {len(leaves)} given"
        ) from None
    if (rest := sum(1 for _ in iterator)) > 0:
        raise errors.InvalidArgumentError(
            f"the structure has {len(leaves) - rest} leaves, {len(leaves)} were given"
        )
    return result


def _structured_value() -> Any:
    from reverb import _protos

    return _protos.StructuredValue()


def _parse(serialized: bytes) -> Any:
    from google.protobuf import message

    result = _structured_value()
    try:
        result.ParseFromString(serialized)
    except message.DecodeError as error:
        raise errors.InvalidArgumentError(f"not a serialized signature: {error}") from None
    return result


def _walk(structure: Any, path: nest.Path) -> Iterator[tuple[nest.Path, Any]]:
    """Paths and leaves in flat order, without dm-tree."""
    if structure is None or (isinstance(structure, Mapping) and not structure):
        return
    if isinstance(structure, Mapping):
        for key in sorted(structure):
            yield from _walk(structure[key], (*path, key))
    elif nest.is_namedtuple(structure):
        for field, value in zip(structure._fields, structure, strict=True):
            yield from _walk(value, (*path, field))
    elif isinstance(structure, (list, tuple)):
        for index, value in enumerate(structure):
            yield from _walk(value, (*path, index))
    else:
        yield path, structure


def _encode(
    value: Any, message: Any, path: nest.Path, depth: int, encode_leaf: Callable[..., None]
) -> None:
    if depth > _MAX_DEPTH:
        raise errors.InvalidArgumentError(
            f"nested too deeply at {nest.format_path(path)!r}", column=nest.format_path(path)
        )
    if isinstance(value, Mapping):
        message.dict_value.SetInParent()
        for key in value:
            if not isinstance(key, str):
                raise TypeError(
                    f"dict keys must be str, {nest.describe_leaf(path)} has the key {key!r}"
                )
        for key in sorted(value):
            _encode(
                value[key], message.dict_value.fields[key], (*path, key), depth + 3, encode_leaf
            )
    elif nest.is_namedtuple(value):
        message.named_tuple_value.name = type(value).__name__
        for field, item in zip(value._fields, value, strict=True):
            pair = message.named_tuple_value.values.add(key=field)
            pair.value.SetInParent()
            _encode(item, pair.value, (*path, field), depth + 3, encode_leaf)
    elif isinstance(value, (list, tuple)):
        sequence = message.list_value if isinstance(value, list) else message.tuple_value
        sequence.SetInParent()
        for index, item in enumerate(value):
            _encode(item, sequence.values.add(), (*path, index), depth + 2, encode_leaf)
    elif hasattr(type(value), "__attrs_attrs__"):
        raise errors.InvalidArgumentError(
            f"{nest.describe_leaf(path)} is an attrs class ({type(value).__name__}), which can't be "
            "stored: use a dict, list, tuple or named tuple",
            column=nest.format_path(path),
        )
    else:
        encode_leaf(value, message, path)


def _encode_none(value: Any, message: Any, path: nest.Path) -> None:
    import tree

    if tree.is_nested(value):
        raise errors.InvalidArgumentError(
            f"{nest.describe_leaf(path)} is a {type(value).__name__}, whose structure can't be "
            "stored: use a dict, list, tuple or named tuple",
            column=nest.format_path(path),
        )
    message.none_value.SetInParent()


def _encode_spec(value: Any, message: Any, path: nest.Path) -> None:
    if not specs.is_spec(value):
        raise errors.InvalidArgumentError(
            f"the signature's {nest.describe_leaf(path)} is not a spec (reverb.TensorSpec, "
            f"tf.TensorSpec or dm_env.specs.Array): {value!r}",
            column=nest.format_path(path),
        )
    try:
        spec = specs.as_spec(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the signature's {nest.describe_leaf(path)}: {error}") from None
    bounded = isinstance(spec, specs.BoundedTensorSpec)
    proto = message.bounded_tensor_spec_value if bounded else message.tensor_spec_value
    proto.SetInParent()
    proto.name = spec.name or ""
    proto.dtype = specs.dtype_number(spec.dtype)
    proto.shape.SetInParent()
    if spec.shape is None:
        proto.shape.unknown_rank = True
    else:
        for dimension in spec.shape:
            proto.shape.dim.add(size=-1 if dimension is None else dimension)
    if isinstance(spec, specs.BoundedTensorSpec):
        _encode_array(spec.minimum, proto.minimum)
        _encode_array(spec.maximum, proto.maximum)


def _encode_array(array: np.ndarray[Any, Any], proto: Any) -> None:
    """Writes an array as TensorFlow does."""
    proto.dtype = specs.dtype_number(array.dtype)
    proto.tensor_shape.SetInParent()
    for dimension in array.shape:
        proto.tensor_shape.dim.add(size=dimension)
    if array.dtype.kind == "O":
        proto.string_val.extend(
            x.encode() if isinstance(x, str) else bytes(x) for x in array.reshape(-1)
        )
    else:
        proto.tensor_content = array.tobytes()


# Typed fields of TensorProto by dtype number.
_TYPED_FIELDS = {
    1: "float_val",
    2: "double_val",
    3: "int_val",
    4: "int_val",
    5: "int_val",
    6: "int_val",
    7: "string_val",
    8: "scomplex_val",
    9: "int64_val",
    10: "bool_val",
    11: "int_val",
    12: "int_val",
    13: "int_val",
    14: "half_val",
    15: "int_val",
    16: "int_val",
    17: "int_val",
    18: "dcomplex_val",
    19: "half_val",
    22: "uint32_val",
    23: "uint64_val",
    24: "float8_val",
    25: "float8_val",
    29: "int_val",
    30: "int_val",
}


def _decode_array(proto: Any) -> np.ndarray[Any, Any]:
    """Reads an array as TensorFlow writes it: packed bytes, or values of which the last repeats."""
    dtype = specs.dtype_from_number(proto.dtype)
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    is_string = dtype.kind == "O"
    if proto.tensor_content and not is_string:
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    field = getattr(proto, _TYPED_FIELDS[proto.dtype])
    if field and proto.dtype in (8, 18):  # pairs of real and imaginary parts
        values = np.array(field, np.float64).view(np.complex128).astype(dtype)
    elif field and proto.dtype in (14, 19):  # bit patterns
        values = np.array(field, np.uint16).view(dtype)
    elif field and proto.dtype in (24, 25):
        values = np.frombuffer(field, dtype)
    elif field:
        base = dtype[0] if dtype.names else dtype
        values = np.array(field, base).view(dtype) if dtype.names else np.array(field, base)
    else:
        values = np.array([b""], object) if is_string else np.zeros(1, dtype)
    size = int(np.prod(shape, dtype=np.int64))
    if not 0 <= size <= max(len(values), 1 << 20):
        raise ValueError(f"{len(values)} values for shape {shape}")
    padded = np.full(size, values[-1], dtype)
    padded[: min(size, len(values))] = values[:size]
    return padded.reshape(shape)


def _decode(message: Any, path: nest.Path, decode_leaf: Callable[..., Any]) -> Any:
    kind = message.WhichOneof("kind")
    if kind == "dict_value":
        fields = message.dict_value.fields
        return {key: _decode(fields[key], (*path, key), decode_leaf) for key in sorted(fields)}
    if kind == "named_tuple_value":
        pairs = message.named_tuple_value.values
        cls = named_tuple_class(message.named_tuple_value.name, tuple(pair.key for pair in pairs))
        return cls(*(_decode(pair.value, (*path, pair.key), decode_leaf) for pair in pairs))
    if kind in ("list_value", "tuple_value"):
        values = getattr(message, kind).values
        items = [_decode(value, (*path, i), decode_leaf) for i, value in enumerate(values)]
        return items if kind == "list_value" else tuple(items)
    return decode_leaf(message, kind, path)


def _decode_spec(message: Any, kind: str, path: nest.Path) -> Any:
    if kind not in ("tensor_spec_value", "bounded_tensor_spec_value"):
        raise errors.InvalidArgumentError(
            f"the signature's {nest.describe_leaf(path)} is not a spec but {kind}",
            column=nest.format_path(path),
        )
    proto = getattr(message, kind)
    shape = (
        None
        if proto.shape.unknown_rank
        else [None if dim.size < 0 else dim.size for dim in proto.shape.dim]
    )
    tensorflow = specs.imported_tensorflow()
    try:
        if tensorflow is not None and kind == "tensor_spec_value":
            # Not by way of our spec: TensorFlow has dtypes that NumPy lacks.
            return tensorflow.TensorSpec(
                shape, tensorflow.as_dtype(proto.dtype), proto.name or None
            )
        dtype = specs.dtype_from_number(proto.dtype)
        if kind == "tensor_spec_value":
            return specs.TensorSpec(shape, dtype, proto.name or None)
        spec = specs.BoundedTensorSpec(
            shape,
            dtype,
            _decode_array(proto.minimum),
            _decode_array(proto.maximum),
            proto.name or None,
        )
        return spec if tensorflow is None else specs.to_tensorflow(spec)
    except (KeyError, TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            f"the signature's {nest.describe_leaf(path)} can't be read: {error}",
            column=nest.format_path(path),
        ) from None


@functools.lru_cache(maxsize=1024)
def named_tuple_class(name: str, fields: tuple[str, ...]) -> Any:
    """A named tuple class; names that can't be Python's are replaced."""
    if not name.isidentifier() or keyword.iskeyword(name):
        name = "NamedTuple"
    return collections.namedtuple(name, fields, rename=True)
