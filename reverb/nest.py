# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Nested data: dm-tree, imported when it is first needed, and paths as text.

The flat order is dm-tree's everywhere: dict keys sorted, tuples and lists by
position, named tuples by field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Path = tuple[Any, ...]


def flatten(structure: Any) -> list[Any]:
    """The leaves of `structure` in flat order."""
    import tree

    leaves: list[Any] = tree.flatten(structure)
    return leaves


def is_nested(value: Any) -> bool:
    """Whether `value` is a container for dm-tree."""
    import tree

    return bool(tree.is_nested(value))


def flatten_with_path(structure: Any) -> list[tuple[Path, Any]]:
    """Paths and leaves of `structure` in flat order."""
    import tree

    leaves: list[tuple[Path, Any]] = tree.flatten_with_path(structure)
    return leaves


def unflatten_as(structure: Any, flat: Sequence[Any]) -> Any:
    """`flat` in the nesting of `structure`."""
    import tree

    return tree.unflatten_as(structure, flat)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """`function` of corresponding leaves, in the nesting of the first structure."""
    import tree

    return tree.map_structure(function, *structures)


def map_structure_with_path(function: Callable[..., Any], *structures: Any) -> Any:
    """As `map_structure`, with the path as the function's first argument."""
    import tree

    return tree.map_structure_with_path(function, *structures)


def format_path(path: Iterable[Any]) -> str:
    """A path as one reads it in messages: `("obs", "camera", 0)` is `obs/camera/0`."""
    return "/".join(str(part) for part in path)


def describe_leaf(path: Iterable[Any]) -> str:
    """`leaf 'obs/camera'`, or `the value` for data without nesting."""
    text = format_path(path)
    return f"leaf {text!r}" if text else "the value"


def is_namedtuple(value: Any) -> bool:
    """Whether `value` is an instance of a named tuple class."""
    return isinstance(value, tuple) and hasattr(value, "_fields") and hasattr(value, "_asdict")
