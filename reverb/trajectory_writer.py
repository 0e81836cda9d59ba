# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of a trajectory, the history they are cut from, and their writer.

A *reference* stands for one cell that was appended. It has `expired`, `shape`,
`dtype` and `numpy()`; where a step gave a column no value there is None instead.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from reverb import errors, nest

__all__ = ["TrajectoryColumn", "TrajectoryWriter"]

_LATER = "trajectory writers are not available in this version; they come in the next one"


class TrajectoryColumn:
    """Cells of one column that become a column of an item.

    Attributes:
      is_squeezed: Whether this is one cell without a time dimension.
    """

    def __init__(
        self,
        data_references: Sequence[Any],
        *,
        squeeze: bool = False,
        path: nest.Path | None = None,
    ) -> None:
        """Makes a column.

        Args:
          data_references: The cells' references, in the order that samplers shall see; they may
            come from several histories.
          squeeze: Whether to leave out the time dimension; needs exactly one reference.
          path: Where the column comes from, for messages.

        Raises:
          InvalidArgumentError: A reference is None, or there isn't exactly one to squeeze.
          TypeError: `data_references` is not a sequence.
        """
        references = tuple(data_references)
        where = f" of column {nest.format_path(path)!r}" if path else ""
        if squeeze and len(references) != 1:
            raise errors.InvalidArgumentError(
                f"only a single cell can be squeezed, {len(references)}{where} were given"
            )
        if any(reference is None for reference in references):
            raise errors.InvalidArgumentError(
                f"steps without a value (None){where}: path={path}, references={references}",
                column=nest.format_path(path) if path else None,
            )
        self._references = references
        self._path = path
        self.is_squeezed = squeeze

    def __len__(self) -> int:
        return len(self._references)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._references)

    def __getitem__(self, key: int | slice | list[int]) -> TrajectoryColumn:
        """The cells that `key` selects as from a tuple; an int selects one and squeezes it."""
        if isinstance(key, int):
            return TrajectoryColumn((self._references[key],), squeeze=True, path=self._path)
        if isinstance(key, slice):
            return TrajectoryColumn(self._references[key], path=self._path)
        if isinstance(key, list):
            return TrajectoryColumn([self._references[i] for i in key], path=self._path)
        raise TypeError(f"a column is indexed by int, slice or list of int, not {key!r}")

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Shape of the column: `[T, ...]`, or the cell's if squeezed.

        Raises:
          IndexError: The column is empty.
          FailedPreconditionError: The first cell has expired.
        """
        shape = tuple(self._first().shape)
        return shape if self.is_squeezed else (len(self._references), *shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype, `object` for strings.

        Raises:
          IndexError: The column is empty.
          FailedPreconditionError: The first cell has expired.
        """
        dtype: np.dtype[Any] = np.dtype(self._first().dtype)
        return dtype

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the values, `[T, ...]`, or the cell's value if squeezed.

        Raises:
          FailedPreconditionError: A cell has expired.
          InvalidArgumentError: The column is empty.
        """
        if not self._references:
            raise errors.InvalidArgumentError("an empty column has no values")
        for index, reference in enumerate(self._references):
            self._check_alive(index, reference)
        if self.is_squeezed:
            value: np.ndarray[Any, Any] = self._references[0].numpy()
            return value
        return np.stack([reference.numpy() for reference in self._references])

    def __repr__(self) -> str:
        return (
            f"TrajectoryColumn(path={self._path}, squeeze={self.is_squeezed}, "
            f"references={list(self._references)})"
        )

    def _first(self) -> Any:
        reference = self._references[0]
        self._check_alive(0, reference)
        return reference

    def _check_alive(self, index: int, reference: Any) -> None:
        if reference.expired:
            where = f" of column {nest.format_path(self._path)!r}" if self._path else ""
            raise errors.FailedPreconditionError(
                f"cell {index}{where} has expired: only the newest num_keep_alive_refs steps are kept",
                column=nest.format_path(self._path) if self._path else None,
            )


class _ColumnHistory:
    """What was appended to one column since the history was last cleared.

    Positions are those of the steps: L in all, of which the newest K are still
    held; the others have expired.
    """

    def __init__(self, path: nest.Path, buffer_size: int, history_padding: int = 0) -> None:
        """Makes the history of a new column.

        Args:
          path: Path of the column.
          buffer_size: How many references are held.
          history_padding: Number of earlier steps, in which the column had no value.
        """
        self._path = path
        self._retained: collections.deque[Any] = collections.deque(
            [None] * min(history_padding, buffer_size), maxlen=buffer_size
        )
        self._length = history_padding

    def append(self, reference: Any) -> None:
        """Adds a step: its reference, or None."""
        self._retained.append(reference)
        self._length += 1

    def reset(self) -> None:
        """Forgets all steps."""
        self._retained.clear()
        self._length = 0

    @property
    def can_set_last(self) -> bool:
        """Whether the newest step exists and has no value yet."""
        return bool(self._retained) and self._retained[-1] is None

    def set_last(self, reference: Any) -> None:
        """Gives the newest step a value.

        Raises:
          FailedPreconditionError: There is no step, or it has a value.
        """
        if not self.can_set_last:
            raise errors.FailedPreconditionError(
                f"column {nest.format_path(self._path)!r} already has a value in this step"
                if self._retained
                else f"column {nest.format_path(self._path)!r} has no step yet"
            )
        self._retained[-1] = reference

    def path(self) -> nest.Path:
        """Path of the column."""
        return self._path

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        yield from [None] * (self._length - len(self._retained))
        yield from list(self._retained)

    @overload
    def __getitem__(self, key: int) -> TrajectoryColumn: ...

    @overload
    def __getitem__(self, key: slice) -> TrajectoryColumn: ...

    @overload
    def __getitem__(self, key: list[int]) -> TrajectoryColumn: ...

    def __getitem__(self, key: int | slice | list[int]) -> TrajectoryColumn:
        """The cells that `key` selects, as from a list of all steps.

        An int selects one cell and squeezes it. A slice without a start
        (`history[:k]`) leaves out steps that have expired.

        Raises:
          IndexError: An int is not below the length.
          InvalidArgumentError: A step has expired, had no value, or is before the first.
          TypeError: `key` is of another kind, or all that it selects has expired.
        """
        if isinstance(key, int):
            return TrajectoryColumn((self._at(key),), squeeze=True, path=self._path)
        if isinstance(key, slice):
            return TrajectoryColumn(self._slice(key), path=self._path)
        if isinstance(key, list):
            return TrajectoryColumn([self._at(index) for index in key], path=self._path)
        raise TypeError(
            f"column {nest.format_path(self._path)!r}: a history is indexed by int, slice or list "
            f"of int, not {key!r}"
        )

    def __repr__(self) -> str:
        return f"_ColumnHistory(path={self._path}, references={list(self)})"

    def _at(self, index: int) -> Any:
        """The reference of a step, by its position."""
        if not isinstance(index, int):
            raise TypeError(
                f"column {nest.format_path(self._path)!r}: positions are ints, not {index!r}"
            )
        from_end = index - self._length if index >= 0 else index
        if from_end >= 0:
            raise IndexError(
                f"column {nest.format_path(self._path)!r} has {self._length} steps, there is no "
                f"step {index}"
            )
        if from_end < -len(self._retained):
            raise self._expired(f"step {index}")
        return self._retained[from_end]

    def _slice(self, key: slice) -> list[Any]:
        if key.start is None and key.stop is None:
            return list(self)[key]
        expired = self._length - len(self._retained)
        start, stop, step = key.indices(self._length)
        if key.start is not None:
            from_end = key.start - self._length if key.start >= 0 else key.start
            if from_end < -len(self._retained):
                raise self._expired(f"step {key.start}")
            return [self._at(index) for index in range(start, stop, step)]
        if -self._length < self._from_end(key.stop) < -len(self._retained):
            # dm-reverb raises TypeError here.
            raise self._expired(f"the slice {key}", TypeError)
        if step > 0:
            start = expired
        return [self._at(index) for index in range(start, stop, step) if index >= expired]

    def _from_end(self, stop: int) -> int:
        return stop - self._length if stop > 0 else stop

    def _expired(self, what: str, *also: type[Exception]) -> Exception:
        cls = errors.with_builtin(errors.InvalidArgumentError, *also)
        column = nest.format_path(self._path)
        return cls(
            f"column {column!r}: {what} has expired or is out of range: of {self._length} steps the "
            f"newest {len(self._retained)} are kept (num_keep_alive_refs)",
            column=column,
        )


class TrajectoryWriter:
    """Writes items whose columns are cut from a history of steps.

    Made by `Client.trajectory_writer`.
    """

    def __init__(self, internal_writer: Any) -> None:
        """Wraps the extension's writer (private)."""
        self._writer = internal_writer

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        del exc_info

    @property
    def history(self) -> Any:
        """Nest of the columns' histories."""
        raise errors.UnimplementedError(_LATER)

    @property
    def episode_steps(self) -> int:
        """Number of finished steps in this episode."""
        raise errors.UnimplementedError(_LATER)

    def append(self, data: Any, *, partial_step: bool = False) -> None:
        """Appends a step, or a part of one."""
        raise errors.UnimplementedError(_LATER)

    def create_item(self, table: str, priority: float, trajectory: Any) -> None:
        """Queues an item."""
        raise errors.UnimplementedError(_LATER)

    def flush(self, block_until_num_items: int = 0, timeout_ms: int | None = None) -> None:
        """Waits until the queued items are in their tables."""
        raise errors.UnimplementedError(_LATER)

    def end_episode(self, clear_buffers: bool = True, timeout_ms: int | None = None) -> None:
        """Flushes and begins a new episode."""
        raise errors.UnimplementedError(_LATER)

    def configure(
        self, path: nest.Path, *, num_keep_alive_refs: int, max_chunk_length: int | None
    ) -> None:
        """Sets how a column is kept and cut into chunks."""
        raise errors.UnimplementedError(_LATER)

    def close(self) -> None:
        """Drops what was not sent and ends the connection."""
        raise errors.UnimplementedError(_LATER)
