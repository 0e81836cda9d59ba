# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a server writes checkpoints and loads the newest one from."""

from __future__ import annotations

import abc
import tempfile

from reverb import pybind

__all__ = ["CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer"]


class CheckpointerBase(metaclass=abc.ABCMeta):
    """What `Server(checkpointer=)` takes."""

    @abc.abstractmethod
    def internal_checkpointer(self) -> pybind.Checkpointer:
        """The description that the server core works with."""


class DefaultCheckpointer(CheckpointerBase):
    """Checkpoints in folders below one folder."""

    def __init__(
        self, path: str, group: str = "", fallback_checkpoint_path: str | None = None
    ) -> None:
        """Makes a checkpointer; nothing is read or written yet.

        Args:
          path: Folder that holds the checkpoints; made when the first one is written.
          group: Not supported; must be empty when a checkpoint is written.
          fallback_checkpoint_path: A single checkpoint, loaded if `path` has none.
        """
        self.path = path
        self.group = group
        self.fallback_checkpoint_path = fallback_checkpoint_path

    def internal_checkpointer(self) -> pybind.Checkpointer:
        """The description that the server core works with."""
        return pybind.create_default_checkpointer(
            self.path, self.group, self.fallback_checkpoint_path
        )


class TempDirCheckpointer(DefaultCheckpointer):
    """Checkpoints below a new temporary folder, which is never removed."""

    def __init__(self) -> None:
        """Makes the folder."""
        super().__init__(tempfile.mkdtemp(prefix="reverb-"))
