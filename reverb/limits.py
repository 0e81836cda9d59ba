# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What one client may ask of a server."""

from __future__ import annotations

import dataclasses
import operator

from reverb import errors

__all__ = ["Limits"]

# A protobuf message, and so anything in it, is smaller.
_MAX_MESSAGE_BYTES = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bounds that a server puts on its clients' messages; beyond them it refuses.

    A refused call raises `ResourceExhaustedError` with the limit and what was met.

    Attributes:
      max_message_bytes: Size of one message; at most 2**31 - 1.
      max_items_per_message: Items that one message inserts.
      max_columns: Columns of an item.
      max_slices_per_item: Pieces of chunks that an item is put together from.
      max_unreferenced_bytes: Bytes that a stream has sent and no item refers to yet.
    """

    max_message_bytes: int = _MAX_MESSAGE_BYTES
    max_items_per_message: int = 100_000
    max_columns: int = 10_000
    max_slices_per_item: int = 1_000_000
    max_unreferenced_bytes: int = 4 << 30

    def __post_init__(self) -> None:
        """Checks the numbers."""
        for name, value in dataclasses.asdict(self).items():
            largest = _MAX_MESSAGE_BYTES if name == "max_message_bytes" else 2**63 - 1
            if not 1 <= operator.index(value) <= largest:
                raise errors.InvalidArgumentError(
                    f"{name} must be from 1 to {largest}, not {value}",
                    limit=largest,
                    actual=value,
                )
