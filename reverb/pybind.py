# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of dm-reverb's native module, for the programs that mention them.

Each stands for our class of the same role. New code has no use for this module.
"""

from __future__ import annotations

import dataclasses
import operator
import os
from typing import TYPE_CHECKING, Any

from reverb import _core

__all__ = [
    "AutoTunedChunkerOptions",
    "Checkpointer",
    "ChunkerOptions",
    "Client",
    "ConstantChunkerOptions",
    "FifoSelector",
    "HeapSelector",
    "LifoSelector",
    "PrioritizedSelector",
    "RateLimiter",
    "Sampler",
    "Server",
    "Table",
    "TableExtension",
    "UniformSelector",
    "Writer",
    "create_default_checkpointer",
    "selector_from_proto",
]

# Classes of the extension that have the same name here.
_CORE_NAMES = frozenset(
    {
        "Client",
        "FifoSelector",
        "HeapSelector",
        "ItemSelector",
        "LifoSelector",
        "PrioritizedSelector",
        "RateLimiter",
        "Sampler",
        "Server",
        "StructuredWriter",
        "Table",
        "TableExtension",
        "TrajectoryWriter",
        "UniformSelector",
        "WeakCellRef",
        "Writer",
    }
)

if TYPE_CHECKING:
    from reverb._core import (
        Client,
        FifoSelector,
        HeapSelector,
        LifoSelector,
        PrioritizedSelector,
        RateLimiter,
        Sampler,
        Server,
        Table,
        TableExtension,
        UniformSelector,
        Writer,
    )


def __getattr__(name: str) -> Any:
    if name in _CORE_NAMES:
        try:
            value = getattr(_core, name)
            if name == "Sampler" and not hasattr(value, "NUM_INFO_TENSORS"):
                value.NUM_INFO_TENSORS = 5  # the fields of SampleInfo
            return value
        except AttributeError:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r} yet: it comes with the trajectory "
                "and structured writers"
            ) from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ChunkerOptions:
    """How many cells a column's chunks hold and how many references stay alive."""


class ConstantChunkerOptions(ChunkerOptions):
    """Chunks of a fixed number of cells."""

    def __init__(self, max_chunk_length: int, num_keep_alive_refs: int) -> None:
        """Makes the options."""
        self.max_chunk_length = operator.index(max_chunk_length)
        self.num_keep_alive_refs = operator.index(num_keep_alive_refs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantChunkerOptions):
            return NotImplemented
        return (self.max_chunk_length, self.num_keep_alive_refs) == (
            other.max_chunk_length,
            other.num_keep_alive_refs,
        )

    def __hash__(self) -> int:
        return hash((self.max_chunk_length, self.num_keep_alive_refs))

    def __repr__(self) -> str:
        return (
            f"ConstantChunkerOptions(max_chunk_length={self.max_chunk_length}, "
            f"num_keep_alive_refs={self.num_keep_alive_refs})"
        )


class AutoTunedChunkerOptions(ChunkerOptions):
    """Chunks whose number of cells follows the items that are made.

    Equal if `num_keep_alive_refs` is, as in dm-reverb.
    """

    def __init__(self, num_keep_alive_refs: int, throughput_weight: float = 1.0) -> None:
        """Makes the options."""
        self.num_keep_alive_refs = operator.index(num_keep_alive_refs)
        self.throughput_weight = float(throughput_weight)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AutoTunedChunkerOptions):
            return NotImplemented
        return self.num_keep_alive_refs == other.num_keep_alive_refs

    def __hash__(self) -> int:
        return hash(self.num_keep_alive_refs)

    def __repr__(self) -> str:
        return (
            f"AutoTunedChunkerOptions(num_keep_alive_refs={self.num_keep_alive_refs}, "
            f"throughput_weight={self.throughput_weight:g})"
        )


@dataclasses.dataclass(frozen=True)
class Checkpointer:
    """Where the server core writes and reads checkpoints.

    Attributes:
      path: Folder of the checkpoints.
      group: Must be empty when a checkpoint is written.
      fallback_checkpoint_path: A checkpoint that is loaded if `path` has none.
    """

    path: str
    group: str = ""
    fallback_checkpoint_path: str | None = None


def create_default_checkpointer(
    name: str, group: str, fallback_checkpoint_path: str | None = None
) -> Checkpointer:
    """A `Checkpointer` for the folder `name`.

    Raises:
      TypeError: An argument is not text (or a path).
    """
    fallback = None if fallback_checkpoint_path is None else os.fspath(fallback_checkpoint_path)
    path = os.fspath(name)
    for what, value in (("path", path), ("group", group), ("fallback_checkpoint_path", fallback)):
        if not isinstance(value, str) and (value is not None or what == "group"):
            raise TypeError(f"{what} must be a str, not {value!r}")
    return Checkpointer(path, group, fallback)


def selector_from_proto(serialized: bytes) -> Any:
    """The selector that the bytes of a `KeyDistributionOptions` describe.

    Raises:
      InvalidArgumentError: The bytes are no such message, or a flag in them is false.
      UnimplementedError: They name no kind of selector.
    """
    from google.protobuf import message

    from reverb import _protos, errors
    from reverb.server_executable import server_from_proto

    try:
        options = _protos.KeyDistributionOptions.FromString(serialized)
    except message.DecodeError as error:
        raise errors.InvalidArgumentError(f"not a KeyDistributionOptions: {error}") from None
    return server_from_proto.selector_from_proto(options)
