# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The writer whose items are cut freely from a history of steps.

    writer = client.trajectory_writer(num_keep_alive_refs=3)
    for step in episode:
        writer.append(step)
        if writer.episode_steps >= 3:
            last_three = {"obs": writer.history["obs"][-3:], "reward": writer.history["reward"][-1]}
            writer.create_item("replay", priority=1.0, trajectory=last_three)
    writer.end_episode()

A *reference* stands for one cell that was appended. It has `expired`, `shape`,
`dtype` and `numpy()`; where a step gave a column no value there is None instead.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from reverb import _core, errors, nest, timeouts

__all__ = ["TrajectoryColumn", "TrajectoryWriter"]

TrajectoryColumn = _core.TrajectoryColumn
_ColumnHistory = _core.ColumnHistory


class TrajectoryWriter:
    """Writes items whose columns are cut from a history of steps.

    Made by `Client.trajectory_writer`. For one thread, but for `close`, which ends a `flush` or
    `end_episode` of another.
    """

    def __init__(self, internal_writer: Any) -> None:
        """Wraps the extension's writer (private)."""
        self._writer = internal_writer
        self._envs: tuple[Environment, ...] = ()

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *exc_info: object) -> None:
        """Flushes, unless a wait has failed; the writer stays usable."""
        del exc_info
        if exc_type is None or not issubclass(exc_type, errors.WAIT_ERRORS):
            self.flush()

    def __del__(self) -> None:
        """Drops what was not sent."""
        # Unset in an object whose creation failed.
        if (writer := self.__dict__.get("_writer")) is not None and hasattr(writer, "close"):
            writer.close()

    @property
    def history(self) -> Any:
        """A new nest of the columns' histories, in the structure of all steps together.

        A column is cut by `history["obs"][-3:]`, `[-1]` (one step, without a time dimension), or
        `[[0, 4, 2]]`. Positions are those of a list of the steps since the last `end_episode`.

        Raises:
          FailedPreconditionError: Nothing has been appended yet, or the writer has `envs`.
        """
        self._check_single("history")
        return self._writer.history(0)

    @property
    def episode_steps(self) -> int:
        """Number of finished steps in this episode."""
        self._check_single("episode_steps")
        steps: int = self._writer.episode_steps(0)
        return steps

    @property
    def envs(self) -> Sequence[Environment]:
        """The environments of `append_batch`, by their row; none before its first call."""
        count = self._writer.num_envs
        if len(self._envs) != count:
            self._envs = tuple(Environment(self._writer, index) for index in range(count))
        return self._envs

    def append(self, data: Any, *, partial_step: bool = False) -> None:
        """Appends a step, or a part of one. All or nothing; never waits.

        Args:
          data: Nest of values; None where a column has no value. Steps may leave out keys and
            bring new ones. A column's dtype and shape are those of its first value.
          partial_step: Whether the step stays open: the next call adds to it.

        Raises:
          InvalidArgumentError: A value has another dtype or shape than its column, or the column
            has a value in this step already. Names the path.
          TypeError: Tables can't hold one of the values, which is named.
          ResourceExhaustedError: A cell is over 2 GiB, or items of `max_pending_bytes` are pending.
          FailedPreconditionError: The writer is closed, or was given batches.
        """
        self._writer.append(data, partial_step)

    def append_batch(self, data: Any, *, episode_ends: Any = None) -> None:
        """Appends a step to each of N environments. All or nothing; never waits.

        The first call fixes N. Items are then made per environment: `writer.envs[i]`.

        Args:
          data: Nest of arrays `[N, ...]`; row i is the step of environment i. Else as in `append`.
          episode_ends: Bools `[N]`: whose episode is over with this step. Its history can be read,
            and items made of it, until the next call, which begins a new episode.

        Raises:
          InvalidArgumentError: As in `append`, or a leaf doesn't have N rows.
          FailedPreconditionError: The writer is closed, or was given single steps.
        """
        self._writer.append_batch(data, episode_ends)

    def create_item(self, table: str, priority: float, trajectory: Any) -> int:
        """Queues an item; it is sent when all the chunks that it needs are complete.

        Never waits; `flush` keeps a writer from running ahead.

        Args:
          table: Name of the table.
          priority: The item's priority.
          trajectory: Nest of `TrajectoryColumn`s, in any structure. Their lengths may differ.

        Returns:
          The item's key.

        Raises:
          TypeError: A leaf is no `TrajectoryColumn`.
          InvalidArgumentError: A column is empty, has expired steps, or mixes dtypes or shapes; the
            priority is NaN; with `validate_items`, the table is unknown or its signature doesn't
            fit. Names table and column.
          FailedPreconditionError: The writer is closed.
        """
        key: int = self._writer.create_item(table, priority, trajectory)
        return key

    def flush(self, block_until_num_items: int = 0, timeout_ms: int | None = None) -> None:
        """Sends what is queued and waits until the tables have it.

        Args:
          block_until_num_items: How many of the newest items may be left unconfirmed; >= 0.
          timeout_ms: Milliseconds; None, 0 and negative numbers for no limit.

        Raises:
          DeadlineExceededError: `timeout_ms` has passed; the items stay pending.
          UnavailableError: The server stayed away too long; likewise.
          InvalidArgumentError: `block_until_num_items` is negative.
          TypeError: `timeout_ms` is not an int.
          FailedPreconditionError: The writer is closed.
        """
        block_until_num_items = operator.index(block_until_num_items)
        if block_until_num_items < 0:
            raise errors.InvalidArgumentError(
                f"block_until_num_items must be >= 0, not {block_until_num_items}"
            )
        if timeout_ms is not None and operator.index(timeout_ms) <= 0:
            timeout_ms = None
        timeouts.wait(self._writer.flush, block_until_num_items, timeout_ms=timeout_ms)

    def end_episode(self, clear_buffers: bool = True, timeout_ms: int | None = None) -> None:
        """Flushes and begins a new episode, of all environments if there are several.

        An open step is ended.

        Args:
          clear_buffers: Whether the history is emptied; else items may span episodes.
          timeout_ms: Milliseconds; None for no limit, 0 or less to fail at once if items are pending.

        Raises:
          DeadlineExceededError: `timeout_ms` has passed; nothing has changed.
          UnavailableError: The server stayed away too long; nothing has changed.
          TypeError: `timeout_ms` is not an int.
          FailedPreconditionError: The writer is closed.
        """
        timeouts.wait(self._writer.end_episode, -1, bool(clear_buffers), timeout_ms=timeout_ms)

    def configure(
        self, path: nest.Path, *, num_keep_alive_refs: int, max_chunk_length: int | None
    ) -> None:
        """Sets how a column is kept and cut into chunks, now or when it first appears.

        Args:
          path: Tuple path of the column, such as `("obs", "camera")`; `()` for data without nesting.
          num_keep_alive_refs: Newest values that items can be made of; >= 1.
          max_chunk_length: Values that are compressed and sent together, up to
            `num_keep_alive_refs`; None to have it tuned.

        Raises:
          InvalidArgumentError: A number is out of its range.
          FailedPreconditionError: A chunk of the column is being filled: flush first.
          TypeError: `path` can't be a path.
        """
        num_keep_alive_refs = operator.index(num_keep_alive_refs)
        if num_keep_alive_refs < 1:
            raise errors.InvalidArgumentError(
                f"num_keep_alive_refs must be >= 1, not {num_keep_alive_refs}"
            )
        if max_chunk_length is not None:
            max_chunk_length = operator.index(max_chunk_length)
            if not 1 <= max_chunk_length <= num_keep_alive_refs:
                raise errors.InvalidArgumentError(
                    "max_chunk_length must be None or from 1 to num_keep_alive_refs "
                    f"({num_keep_alive_refs}), not {max_chunk_length}"
                )
        self._writer.configure(path, num_keep_alive_refs, max_chunk_length)

    def close(self) -> None:
        """Ends the connection and drops what was not sent; `flush` first to keep it.

        `history` and `episode_steps` can still be read. May be called twice, and by any thread.
        """
        self._writer.close()

    def _check_single(self, what: str) -> None:
        if self._writer.num_envs > 0:
            raise errors.FailedPreconditionError(
                f"a writer of batches has no {what} of its own: use writer.envs[i].{what}"
            )


class Environment:
    """One environment of a writer that is given batches; see `TrajectoryWriter.append_batch`."""

    def __init__(self, internal_writer: Any, index: int) -> None:
        """Environment number `index` of the extension's writer (private)."""
        self._writer = internal_writer
        self._index = index

    @property
    def history(self) -> Any:
        """As `TrajectoryWriter.history`."""
        return self._writer.history(self._index)

    @property
    def episode_steps(self) -> int:
        """Number of steps in this episode."""
        steps: int = self._writer.episode_steps(self._index)
        return steps

    def create_item(self, table: str, priority: float, trajectory: Any) -> int:
        """As `TrajectoryWriter.create_item`."""
        key: int = self._writer.create_item(table, priority, trajectory)
        return key

    def end_episode(self, clear_buffers: bool = True, timeout_ms: int | None = None) -> None:
        """As `TrajectoryWriter.end_episode`, of this environment alone."""
        timeouts.wait(
            self._writer.end_episode, self._index, bool(clear_buffers), timeout_ms=timeout_ms
        )

    def __repr__(self) -> str:
        return f"Environment({self._index})"
