# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpointers that a server can be given, and the one it takes by itself."""

from __future__ import annotations

from reverb.platform.checkpointers_lib import (
    CheckpointerBase,
    DefaultCheckpointer,
    TempDirCheckpointer,
)

__all__ = [
    "CheckpointerBase",
    "DefaultCheckpointer",
    "TempDirCheckpointer",
    "default_checkpointer",
]


def default_checkpointer(group: str | None = None) -> CheckpointerBase:
    """The checkpointer of a server that is given none: a new temporary folder.

    Args:
      group: Ignored.
    """
    del group
    return TempDirCheckpointer()
