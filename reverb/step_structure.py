# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The structure that all steps of a writer have together.

Steps may leave out keys and bring new ones. What a writer remembers is the union of
all structures so far: a nest whose leaves are the numbers of its columns, counted in the
order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reverb import errors, nest

__all__ = ["copy", "fill", "merge"]

# Column of a leaf that is None in the place of a container.
_NO_COLUMN = -1


class _Merge:
    """One step's structure on its way into the union."""

    def __init__(self, num_columns: int) -> None:
        self.columns: list[int] = []
        self.new_paths: list[nest.Path] = []
        self._num_columns = num_columns

    def add(self, data: Any, path: nest.Path) -> Any:
        """The structure of data that the union doesn't have yet."""
        children = _children(data)
        if children is None:
            self.columns.append(self._num_columns + len(self.new_paths))
            self.new_paths.append(path)
            return self.columns[-1]
        return _rebuild(data, {key: self.add(child, (*path, key)) for key, child in children})

    def merge(self, union: Any, data: Any, path: nest.Path) -> Any:
        """The union of both; adds the leaves of `data`, in flat order, to `columns`."""
        children = _children(data)
        known = _children(union)
        if known is None:
            if children is not None:
                raise _mismatch(path, "a leaf", "a container", KeyError)
            self.columns.append(union)
            return union
        if data is None:
            self.columns.append(_NO_COLUMN)
            return union
        if children is None:
            raise _mismatch(path, "a container", "a leaf", KeyError if path else AttributeError)
        merged = dict(known)
        for key, child in children:
            merged[key] = (
                self.merge(merged[key], child, (*path, key))
                if key in merged
                else self.add(child, (*path, key))
            )
        if len(merged) == len(known):
            return _rebuild(union, merged)
        if _has_fields(union):
            raise _mismatch(path, _type_name(union), f"the keys {list(merged)}", TypeError)
        if isinstance(union, Mapping) != isinstance(data, Mapping):
            raise _mismatch(path, _type_name(union), _type_name(data), TypeError)
        return _rebuild(union, merged)


def merge(union: Any, data: Any, num_columns: int) -> tuple[Any, list[int], list[nest.Path]]:
    """Adds the structure of one more step.

    Args:
      union: Nest of column numbers; None before the first step.
      data: The step.
      num_columns: How many columns the union has.

    Returns:
      The new union, the column of each leaf of `data` in flat order (-1 for a None in the place
      of a container), and the paths of the new columns, whose numbers follow `num_columns`.

    Raises:
      InvalidArgumentError: A leaf is a container in the union or the other way round, or a
        container with fixed fields lacks one of the keys. Also a KeyError, AttributeError or
        TypeError.
    """
    merging = _Merge(num_columns)
    new = merging.add(data, ()) if union is None else merging.merge(union, data, ())
    return new, merging.columns, merging.new_paths


def fill(union: Any, values: Sequence[Any]) -> Any:
    """The nest of `values`, by column number."""
    children = _children(union)
    if children is None:
        return values[union]
    return _rebuild(union, {key: fill(child, values) for key, child in children})


def copy(structure: Any, leaf_type: type) -> Any:
    """A new nest of the same leaves, all of `leaf_type`."""
    if type(structure) is leaf_type:
        return structure
    if type(structure) is dict:
        return {key: copy(child, leaf_type) for key, child in structure.items()}
    children = _children(structure)
    if children is None:
        return structure
    return _rebuild(structure, {key: copy(child, leaf_type) for key, child in children})


def _children(data: Any) -> list[tuple[Any, Any]] | None:
    """Keys and values of a container in dm-tree's flat order; None for a leaf."""
    if isinstance(data, dict):
        return [(key, data[key]) for key in sorted(data)]
    if nest.is_namedtuple(data):
        return [(field, getattr(data, field)) for field in data._fields]
    if isinstance(data, tuple | list):
        return list(enumerate(data))
    if (attributes := getattr(type(data), "__attrs_attrs__", None)) is not None:
        return [(attribute.name, getattr(data, attribute.name)) for attribute in attributes]
    if not nest.is_nested(data):
        return None
    if isinstance(data, Mapping):
        return [(key, data[key]) for key in sorted(data)]
    return list(enumerate(data))


def _has_fields(structure: Any) -> bool:
    return nest.is_namedtuple(structure) or hasattr(type(structure), "__attrs_attrs__")


def _rebuild(like: Any, children: Mapping[Any, Any]) -> Any:
    """A container of the type of `like`."""
    build: Callable[..., Any] = type(like)
    if _has_fields(like):
        return build(**children)
    if isinstance(like, Mapping):
        if type(like) is dict:
            return dict(children)
        if hasattr(like, "default_factory"):
            return build(like.default_factory, children)
        try:
            # In the order of the container, new keys last.
            return build([(key, children[key]) for key in dict.fromkeys([*like, *children])])
        except TypeError:
            return dict(children)
    values = [children[index] for index in range(len(children))]
    return build(values) if isinstance(like, tuple | list) else values


def _type_name(value: Any) -> str:
    return type(value).__name__


def _mismatch(path: nest.Path, expected: str, actual: str, also: type[Exception]) -> Exception:
    cls = errors.with_builtin(errors.InvalidArgumentError, also)
    return cls(
        f"{nest.describe_leaf(path)}, path {path}, was {expected} in earlier steps and is "
        f"{actual} now",
        column=nest.format_path(path) or None,
        limit=expected,
        actual=actual,
    )
