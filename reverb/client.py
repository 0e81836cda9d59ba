# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The client: inserts, samples, updates and questions to a server."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from reverb import (
    _core,
    errors,
    replay_sample,
    reverb_types,
    structured_writer,
    trajectory_writer,
)
from reverb import sampler as sampler_lib

__all__ = ["Client", "Writer"]

# Stands for "not given": the environment decides, then our default.
_DEFAULT: Any = object()

_MAX_COUNT = 2**31 - 1

# Seconds between reports of a load.
_PROGRESS_PERIOD = 1.0

# Seconds for which nests of signatures are believed without asking again.
_SIGNATURE_AGE = 5.0


class Writer:
    """Steps in, items over the last steps out; made by `Client.writer`.

    For one thread at a time.
    """

    def __init__(self, internal_writer: _core.Writer) -> None:
        """Wraps the extension's writer (private)."""
        self._writer = internal_writer

    def append(self, data: Any) -> None:
        """Appends one step.

        May wait while `max_in_flight_items` items are not yet confirmed.

        Args:
          data: Nest of values, as many as in the other steps.

        Raises:
          InvalidArgumentError: The step doesn't fit the steps before.
          TypeError: Tables can't hold one of the values, which is named.
          FailedPreconditionError: The writer is closed.
        """
        self._writer.append(data)

    def append_sequence(self, sequence: Any) -> None:
        """Appends T steps at once.

        Args:
          sequence: Nest of arrays `[T, ...]`.

        Raises:
          InvalidArgumentError: There are no leaves, or not all have the same leading dimension.
          TypeError: See `append`.
          FailedPreconditionError: The writer is closed.
        """
        self._writer.append_sequence(sequence)

    def create_item(self, table: str, num_timesteps: int, priority: float) -> None:
        """Makes an item of the last steps; it is sent when their chunk is complete.

        Args:
          table: Name of the table.
          num_timesteps: Steps that the item has; at least 1, at most `max_sequence_length` and the
            number of steps there are.
          priority: Of the item.

        Raises:
          InvalidArgumentError: A number is out of its range, there is no such table, or the steps
            don't fit its signature.
          FailedPreconditionError: The writer is closed.
        """
        self._writer.create_item(table, num_timesteps, priority)

    def flush(self) -> None:
        """Sends what is pending and waits until the server has confirmed it.

        Raises:
          UnavailableError: The server stayed away too long; the items stay pending.
          FailedPreconditionError: The writer is closed.
        """
        self._writer.flush()

    def close(self, retry_on_unavailable: bool = True) -> None:
        """Flushes and ends the stream.

        Args:
          retry_on_unavailable: Whether to wait for a server that is away; else pending items are
            given up.

        Raises:
          ValueError: The writer is closed already.
          UnavailableError: The server stayed away too long; the writer is still open.
        """
        self._writer.close(retry_on_unavailable)

    def __enter__(self) -> Writer:
        if self._writer.closed:
            cls = errors.with_builtin(errors.FailedPreconditionError, ValueError)
            raise cls("the writer is closed")
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if isinstance(exc, errors.WAIT_ERRORS):
                self._give_up()  # waiting again would fail again
            else:
                self.flush()
                self.close()
        except errors.ReverbError:
            self._give_up()
            if exc is None:
                raise

    def _give_up(self) -> None:
        with contextlib.suppress(errors.ReverbError):
            self._writer.close(False)

    def __del__(self) -> None:
        writer = getattr(self, "_writer", None)  # None if half made
        if writer is not None and not writer.closed:
            # Without `source=self`: that would keep the writer alive.
            warnings.warn(
                f"{self!r} was dropped without close(): pending items are sent in the background",
                ResourceWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return f"{self._writer!r}, closed: {self._writer.closed}"


class Client:
    """A client of one server.

    Safe to be used by several threads; what it makes (writers, generators) is for
    one thread at a time. It can be pickled.
    """

    def __init__(
        self,
        server_address: str,
        *,
        connect_timeout: float | None = _DEFAULT,
        reconnect_timeout: float | None = _DEFAULT,
    ) -> None:
        """Makes a client. No connection is made yet.

        Args:
          server_address: `host:port`, or any other target that gRPC knows.
          connect_timeout: Seconds that calls wait for a server that was never reached, before they
            raise `UnavailableError`; None for ever. By default REVERB_CONNECT_TIMEOUT (a number or
            `none`), else 300.
          reconnect_timeout: The same for a server to which the connection was lost; by default
            REVERB_RECONNECT_TIMEOUT, else 15.

        Raises:
          TypeError: `server_address` is not a str or a timeout not a number.
          InvalidArgumentError: A timeout is negative or not a number.
        """
        if not isinstance(server_address, str):
            raise TypeError(f"server_address must be a str, not {server_address!r}")
        self._server_address = server_address
        # What was given, for pickling: the rest is decided where the copy is made.
        self._keywords = {
            name: value
            for name, value in (
                ("connect_timeout", connect_timeout),
                ("reconnect_timeout", reconnect_timeout),
            )
            if value is not _DEFAULT
        }
        self._client = _core.Client(
            server_address,
            _timeout_option("connect_timeout", connect_timeout, 300.0),
            _timeout_option("reconnect_timeout", reconnect_timeout, 15.0),
        )
        self._signatures: dict[str, Any] = {}
        self._signatures_until = -math.inf

    @property
    def server_address(self) -> str:
        """The address given to the constructor."""
        return self._server_address

    def insert(
        self, data: Any, priorities: Mapping[str, float], *, timeout: float | None = None
    ) -> None:
        """Inserts one step into one or several tables and waits until it is there.

        Not atomic: tables are served in the order of `priorities`.

        Args:
          data: Nest of values. Sampled items have a leading dimension of 1.
          priorities: Per table the priority of its item.
          timeout: Seconds for the call; None for as long as the rate limiters take, 0 to try once.

        Raises:
          InvalidArgumentError: A table is unknown, the data doesn't fit its signature, a priority
            is out of range, or there is nothing to insert.
          DeadlineExceededError: `timeout` has passed; its attributes say which tables have it.
          UnavailableError: The server stayed away too long.
          TypeError: Tables can't hold one of the values, which is named.
        """
        self._client.insert(data, priorities, timeout)

    def writer(
        self,
        max_sequence_length: int,
        delta_encoded: bool = False,
        chunk_length: int | None = None,
        max_in_flight_items: int | None = 25,
    ) -> Writer:
        """A writer whose items are the last steps of one sequence.

        Args:
          max_sequence_length: Steps that an item may have.
          delta_encoded: Whether integers are stored as differences along time, which compress
            better if they change slowly.
          chunk_length: Steps that are compressed and sent together; by default up to 10.
          max_in_flight_items: Items that may be sent and unconfirmed before calls wait; None for a
            million.

        Raises:
          InvalidArgumentError: A number is out of its range.
          UnavailableError: The server stayed away too long.
        """
        max_sequence_length = operator.index(max_sequence_length)
        if max_sequence_length < 1:
            raise errors.InvalidArgumentError(
                f"max_sequence_length must be >= 1, not {max_sequence_length}"
            )
        if chunk_length is None:
            chunk_length = min(10, max_sequence_length)
        chunk_length = operator.index(chunk_length)
        if not 1 <= chunk_length <= max_sequence_length:
            raise errors.InvalidArgumentError(
                f"chunk_length must be from 1 to max_sequence_length ({max_sequence_length}), not "
                f"{chunk_length}"
            )
        if max_in_flight_items is None:
            max_in_flight_items = 1_000_000
        max_in_flight_items = operator.index(max_in_flight_items)
        if max_in_flight_items < 1:
            raise errors.InvalidArgumentError(
                f"max_in_flight_items must be >= 1 or None, not {max_in_flight_items}"
            )
        return Writer(
            self._client.new_writer(
                chunk_length, max_sequence_length, delta_encoded, max_in_flight_items
            )
        )

    def trajectory_writer(
        self,
        num_keep_alive_refs: int,
        *,
        validate_items: bool = True,
        max_pending_bytes: int | None = None,
    ) -> trajectory_writer.TrajectoryWriter:
        """A writer whose items are cut freely from a history of steps.

        Args:
          num_keep_alive_refs: Newest values of each column that items can be made of; >= 1.
          validate_items: Whether items are checked against the signatures of their tables.
          max_pending_bytes: Bytes of items that may be unconfirmed before `append` raises; None for
            no limit, with a warning at 1 GiB.

        Raises:
          InvalidArgumentError: A number is out of its range.
          TypeError: A number is not an int.
          UnavailableError: The server stayed away too long (only with `validate_items`).
        """
        num_keep_alive_refs = operator.index(num_keep_alive_refs)
        if num_keep_alive_refs < 1:
            raise errors.InvalidArgumentError(
                f"num_keep_alive_refs must be >= 1, not {num_keep_alive_refs}"
            )
        if max_pending_bytes is not None:
            max_pending_bytes = operator.index(max_pending_bytes)
        return trajectory_writer.TrajectoryWriter(
            self._client.new_trajectory_writer(
                num_keep_alive_refs, bool(validate_items), max_pending_bytes
            )
        )

    def structured_writer(self, configs: Sequence[Any]) -> structured_writer.StructuredWriter:
        """A writer that makes the items its configs describe. Never waits.

        Args:
          configs: See `reverb.structured_writer.create_config`; not empty.

        Raises:
          InvalidArgumentError: `configs` is empty, or one of them makes no sense; names its position.
          AttributeError: A config is none.
        """
        if not configs:
            raise errors.InvalidArgumentError("structured_writer needs at least one config")
        return structured_writer.StructuredWriter(
            self._client.new_structured_writer([config.SerializeToString() for config in configs])
        )

    def load(
        self,
        table: str,
        data: Any,
        *,
        priorities: Any = 1.0,
        episode_ends: Any = None,
        length: int | None = None,
        stride: int = 1,
        timeout: float | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> int:
        """Inserts data that is there already, such as an offline dataset, in bulk.

        Makes an item of every row, as `insert` would, or of windows of `length` rows. Windows that
        overlap share their data. Returns when the table has all items.

        Args:
          table: Name of the table.
          data: Nest of arrays `[rows, ...]`; must not change meanwhile.
          priorities: Of all items, or one each: `[items]`.
          episode_ends: Bools `[rows]`: whether an episode is over after the row. No window crosses
            that. By default all rows are one episode.
          length: Rows per item; None for 1. Episodes that are shorter make no item.
          stride: Rows from the begin of one window to that of the next, in each episode anew.
          timeout: Seconds for the call; None for as long as the rate limiter takes, 0 to stop at the
            first item that doesn't go in at once.
          progress: Called about once a second, and at the end, with the number of items inserted
            and that of all items.

        Returns:
          The number of items.

        Raises:
          InvalidArgumentError: The table is unknown, the data doesn't fit its signature, leaves have
            no rows or different numbers of them, or an argument is of another length or out of
            range.
          DeadlineExceededError: `timeout` has passed. This and later errors have an attribute
            `inserted`: how many of the first items the table has.
          UnavailableError: The server stayed away too long.
          TypeError: Tables can't hold one of the values, which is named.
        """
        numbers = np.ascontiguousarray(priorities, dtype=np.float64)
        if numbers.ndim > 1:
            raise errors.InvalidArgumentError(
                f"priorities must be a number or an array [items], not of shape {numbers.shape}"
            )
        ends = None
        if episode_ends is not None:
            ends = np.ascontiguousarray(episode_ends)
            if ends.dtype != np.bool_:
                raise TypeError(f"episode_ends must be bools, not {ends.dtype}")
            if ends.ndim != 1:
                raise errors.InvalidArgumentError(
                    f"episode_ends must be an array [rows], not of shape {ends.shape}"
                )
        load = self._client.new_bulk_load(
            table,
            data,
            numbers.reshape(-1),
            ends,
            1 if length is None else operator.index(length),
            operator.index(stride),
            timeout,
        )
        try:
            done = False
            while not done:
                done = load.advance(_PROGRESS_PERIOD)
                if progress is not None:
                    progress(load.num_inserted, load.num_items)
        except errors.ReverbError as error:
            error.inserted = load.num_inserted  # type: ignore[attr-defined]
            raise
        finally:
            load.close()
        count: int = load.num_items
        return count

    def sample(
        self,
        table: str,
        num_samples: int = 1,
        *,
        emit_timesteps: bool = True,
        unpack_as_table_signature: bool = False,
        timeout: float | None = None,
    ) -> Generator[Any, None, None]:
        """Samples items, one after the other.

        A generator: nothing happens before the first `next`.

        Args:
          table: Name of the table.
          num_samples: How many to sample.
          emit_timesteps: Whether to yield a list of `ReplaySample`s, one per timestep, instead of
            one with arrays `[T, ...]`.
          unpack_as_table_signature: Whether `data` is nested as the table's signature; else it is
            a flat list.
          timeout: Seconds to wait for each item; None for as long as it takes, 0 to try once.

        Yields:
          A `ReplaySample`, or a list of them.

        Raises:
          NotFoundError: There is no such table.
          InvalidArgumentError: `num_samples` is 0 or below -1, the columns differ in length though
            timesteps were asked for, or the data doesn't fit the signature.
          TypeError: A column has no time dimension though timesteps were asked for.
          DeadlineExceededError: `timeout` has passed without an item.
          UnavailableError: The server stayed away too long.
        """
        num_samples = operator.index(num_samples)
        if num_samples == 0 or num_samples < -1:
            raise errors.InvalidArgumentError(f"num_samples must be >= 1, not {num_samples}")
        if num_samples == -1:
            return
        unpack = self._unpacker(table, timeout) if unpack_as_table_signature else None
        sampler = self._client.new_sampler(table, num_samples, None, timeout)
        try:
            next_sample = sampler.next_timesteps if emit_timesteps else sampler.next
            while (sample := next_sample()) is not None:
                info, data = sample
                if not emit_timesteps:
                    yield sample if unpack is None else sample._replace(data=unpack(data))
                elif unpack is None:
                    yield [replay_sample.ReplaySample(info, step) for step in data]
                else:
                    yield [replay_sample.ReplaySample(info, unpack(step)) for step in data]
        finally:
            sampler.close()

    def sampler(
        self,
        table: str,
        *,
        max_samples: int | None = None,
        batch_size: int | None = None,
        drop_remainder: bool = False,
        max_in_flight_samples_per_worker: int = 100,
        num_workers: int = 1,
        timeout: float | None = None,
        unpack: bool = False,
    ) -> sampler_lib.Sampler:
        """An iterator over samples of a table, or over batches of them. Never waits by itself.

        Without `batch_size` each sample is a `ReplaySample` whose `info` has Python's numbers and
        whose `data` has arrays `[T, ...]`. With it, the fields of `info` are arrays `[B]` and `data`
        has arrays `[B, T, ...]`.

        Args:
          table: Name of the table.
          max_samples: Samples (not batches) after which the iterator ends; None for no end.
          batch_size: Samples per batch. All must be of one shape. The last batch may be shorter.
          drop_remainder: Whether a last batch that isn't full is left out; needs `batch_size`.
          max_in_flight_samples_per_worker: Samples that each worker may have taken from the table
            ahead of those that were returned.
          num_workers: Streams that samples are fetched by, each with a thread if there are several.
            Their samples are mixed.
          timeout: Seconds to wait for a sample; None for as long as it takes, 0 to try once. When it
            passes, what there is of a batch is returned, then `DeadlineExceededError` is raised.
          unpack: Whether `data` is nested: by the table's signature, else as the trajectory was
            written, if our writers wrote it. Else, and otherwise, it is a flat list of columns.

        Returns:
          The sampler; close it, or use it in a `with` statement.

        Raises:
          InvalidArgumentError: A number is out of its range.
          TypeError: A number is not an int, or `table` not a str.
        """
        if drop_remainder and batch_size is None:
            raise errors.InvalidArgumentError("drop_remainder needs a batch_size")
        options: dict[str, Any] = {
            "max_samples": -1 if max_samples is None else _count("max_samples", max_samples),
            "max_in_flight": _count(
                "max_in_flight_samples_per_worker", max_in_flight_samples_per_worker
            ),
            "timeout": timeout,
            "num_workers": _count("num_workers", num_workers),
        }
        internal: Any
        if batch_size is None:
            internal = self._client.new_sampler(table, **options)
        else:
            internal = self._client.new_batch_sampler(
                table, _count("batch_size", batch_size), bool(drop_remainder), **options
            )
        return sampler_lib.Sampler(internal, self._packer(table, timeout) if unpack else None)

    def mutate_priorities(
        self,
        table: str,
        updates: Mapping[int, float] | None = None,
        deletes: Iterable[int] | None = None,
    ) -> None:
        """Deletes items and changes the priorities of others, in this order and at once.

        Args:
          table: Name of the table.
          updates: New priorities by key; keys that the table doesn't have are ignored.
          deletes: Keys of the items to delete; likewise.

        Raises:
          NotFoundError: There is no such table.
          InvalidArgumentError: A selector can't hold one of the priorities; nothing was changed.
          TypeError: A key is not an int from 0 to 2**64 - 1.
          UnavailableError: The server stayed away too long.
        """
        self._client.mutate_priorities(table, updates, deletes)

    def reset(self, table: str) -> None:
        """Removes all items of a table and zeroes its counters.

        Args:
          table: Name of the table.

        Raises:
          NotFoundError: There is no such table.
          UnavailableError: The server stayed away too long.
        """
        self._client.reset(table)

    def server_info(self, timeout: int | None = None) -> dict[str, reverb_types.TableInfo]:
        """What the server's tables say about themselves.

        Args:
          timeout: Whole seconds to wait for the answer; None, 0 and negative numbers for no limit.

        Returns:
          Table infos by name.

        Raises:
          DeadlineExceededError: `timeout` has passed.
          UnavailableError: The server stayed away too long.
          TypeError: `timeout` is not an int.
        """
        seconds = None
        if timeout is not None and (seconds := operator.index(timeout)) <= 0:
            seconds = None
        try:
            _, tables = self._client.server_info(seconds)
        except errors.DeadlineExceededError as error:
            raise errors.DeadlineExceededError(
                f"Deadline Exceeded: {self._server_address} did not answer within the timeout of "
                f"{timeout} seconds"
            ) from error
        infos = {name: reverb_types.TableInfo.from_serialized_proto(info) for name, info in tables}
        self._signatures = {name: info.signature for name, info in infos.items()}
        self._signatures_until = time.monotonic() + _SIGNATURE_AGE
        return infos

    def checkpoint(self) -> str:
        """Has the server write a checkpoint.

        Returns:
          The path of the checkpoint's folder, as the server sees it.

        Raises:
          UnimplementedError: Not available in this version.
          UnavailableError: There is no server.
        """
        return self._client.checkpoint()

    def close(self) -> None:
        """Ends the calls that wait and refuses later ones."""
        self._client.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        keywords: dict[str, Any] = self._keywords
        return functools.partial(type(self), **keywords), (self._server_address,)

    def __repr__(self) -> str:
        return f"Client, server_address={self._server_address}"

    def _packer(self, table: str, timeout: float | None) -> Callable[[list[Any], bytes], Any]:
        """Nests columns by the table's signature, else by the structure that came with them."""
        by_structure = sampler_lib.StructurePacker()
        by_signature: Callable[[list[Any]], Any] | None = None
        known = False

        def pack(columns: list[Any], structure: bytes) -> Any:
            nonlocal by_signature, known
            if not known:  # asked for only now: making a sampler doesn't wait
                by_signature = self._unpacker(table, timeout)
                known = True
            if by_signature is None:
                return by_structure(columns, structure)
            return by_signature(columns)

        return pack

    def _unpacker(self, table: str, timeout: float | None) -> Callable[[list[Any]], Any] | None:
        """Nests flat data as the table's signature; None if it has none."""
        if table not in self._signatures or time.monotonic() > self._signatures_until:
            self._fetch_signatures(timeout)
        if table not in self._signatures:
            names = ", ".join(repr(name) for name in sorted(self._signatures))
            raise errors.InvalidArgumentError(
                f"Unable to find signatures for table {table!r}: the server has the tables [{names}]",
                table=table if isinstance(table, str) else None,
            )
        if self._signatures[table] is None:
            return None
        from reverb import nest

        def unpack(flat: list[Any]) -> Any:
            signature = self._signatures.get(table)
            try:
                return nest.unflatten_as(signature, flat)
            except ValueError:
                pass
            # The server may be another by now.
            self._fetch_signatures(timeout)
            signature = self._signatures.get(table)
            try:
                return nest.unflatten_as(signature, flat)
            except ValueError:
                raise errors.InvalidArgumentError(
                    f"an item of table {table!r} has {len(flat)} columns, its signature has "
                    f"{len(nest.flatten(signature))}",
                    table=table,
                ) from None

        return unpack

    def _fetch_signatures(self, timeout: float | None) -> None:
        # An item may be there at once, but not the answer: a second at least.
        limited = timeout is not None and math.isfinite(timeout)
        seconds = max(1, math.ceil(timeout)) if timeout is not None and limited else None
        self.server_info(seconds)


def _count(name: str, value: Any) -> int:
    """`value` as a number of things."""
    count = operator.index(value)
    if not 1 <= count <= _MAX_COUNT:
        raise errors.InvalidArgumentError(f"{name} must be from 1 to {_MAX_COUNT}, not {count}")
    return count


def _timeout_option(name: str, value: Any, default: float) -> float | None:
    """The timeout in force: as given, as the environment says, or `default`."""
    source = name
    if value is _DEFAULT:
        source = f"REVERB_{name.upper()}"
        text = os.environ.get(source, "").strip()
        if not text:
            return default
        value = text
        if text.lower() == "none":
            return None
        with contextlib.suppress(ValueError):
            value = float(text)
        if isinstance(value, str):
            raise errors.InvalidArgumentError(
                f"{source} must be a number of seconds or `none`, not {text!r}"
            )
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{source} must be a number of seconds or None, not {value!r}")
    seconds = float(value)
    if not seconds >= 0:
        raise errors.InvalidArgumentError(
            f"{source} must be None or a number of seconds >= 0, not {value}"
        )
    return seconds
