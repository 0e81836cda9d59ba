# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and the server that serves them."""

from __future__ import annotations

import abc
import dataclasses
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reverb import _core, errors, item_selectors, rate_limiters, reverb_types
from reverb.limits import Limits

if TYPE_CHECKING:
    from reverb.client import Client
    from reverb.platform.checkpointers_lib import CheckpointerBase

__all__ = ["Server", "Table", "TableExtensionBase"]


class TableExtensionBase(metaclass=abc.ABCMeta):
    """A hook into what happens to a table's items."""

    @abc.abstractmethod
    def build_internal_extensions(self, table_name: str) -> Sequence[_core.TableExtension]:
        """The extension's native objects for one table; called once, when the table is made."""


class Table:
    """Items with a sampler, a remover and a rate limiter: one replay buffer.

    It works by itself and stays usable here after a server took it. Stopping a
    server closes its tables for good: they only answer questions then.
    """

    def __init__(
        self,
        name: str,
        sampler: reverb_types.SelectorType,
        remover: reverb_types.SelectorType,
        max_size: int,
        rate_limiter: rate_limiters.RateLimiter,
        max_times_sampled: int = 0,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
    ) -> None:
        """Makes an empty table.

        Args:
          name: How clients call the table; not empty.
          sampler: Chooses the item to sample. Selectors and limiters belong to one table and one
            role.
          remover: Chooses the item that goes when the table is full.
          max_size: Items that the table holds before the remover makes room; >= 1.
          rate_limiter: Decides when the next item may be inserted or sampled.
          max_times_sampled: Samples after which an item goes; below 1 there is no limit.
          extensions: Hooks.
          signature: Nest of specs that clients check the data against; None or empty for none.

        Raises:
          InvalidArgumentError: An argument is out of its range, is no selector or limiter, or is in
            use in another role already.
          TypeError: An argument is of the wrong type, or `max_size` or `max_times_sampled` don't fit
            32 bits.
        """
        _check_name(name)
        _check_int32(name, "max_size", max_size)
        _check_int32(name, "max_times_sampled", max_times_sampled)
        _check_selector(name, "sampler", sampler)
        _check_selector(name, "remover", remover)
        _check_rate_limiter(name, rate_limiter)
        from reverb import signature as signature_lib  # the parameter has the name

        self._sampler = sampler
        self._remover = remover
        self._rate_limiter = rate_limiter
        self._extensions = extensions
        self._signature = signature
        self._max_size = max_size
        self._max_times_sampled = max_times_sampled
        internal_extensions: list[_core.TableExtension] = []
        for extension in extensions:
            internal_extensions += extension.build_internal_extensions(name)
        self.internal_table = _core.Table(
            name=name,
            sampler=sampler,
            remover=remover,
            max_size=max_size,
            max_times_sampled=max_times_sampled,
            rate_limiter=rate_limiter.internal_limiter,
            extensions=internal_extensions,
            signature=signature_lib.encode(signature),
        )

    @classmethod
    def queue(
        cls,
        name: str,
        max_size: int,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
    ) -> Table:
        """A table that hands each item out once, the oldest first; inserts wait while it is full.

        Args:
          name: See `Table`, as for the others.
          max_size: Items that the queue holds.
          extensions: Hooks.
          signature: Nest of specs.
        """
        return cls(
            name=name,
            sampler=item_selectors.Fifo(),
            remover=item_selectors.Fifo(),
            max_size=max_size,
            max_times_sampled=1,
            rate_limiter=rate_limiters.Queue(max_size),
            extensions=extensions,
            signature=signature,
        )

    @classmethod
    def stack(
        cls,
        name: str,
        max_size: int,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
    ) -> Table:
        """As `queue`, but the newest item first."""
        return cls(
            name=name,
            sampler=item_selectors.Lifo(),
            remover=item_selectors.Lifo(),
            max_size=max_size,
            max_times_sampled=1,
            rate_limiter=rate_limiters.Stack(max_size),
            extensions=extensions,
            signature=signature,
        )

    @property
    def name(self) -> str:
        """How clients call the table."""
        return self.internal_table.name

    @property
    def info(self) -> reverb_types.TableInfo:
        """What the table says about itself now."""
        return reverb_types.TableInfo.from_serialized_proto(self.internal_table.info())

    def can_sample(self, num_samples: int) -> bool:
        """Whether the rate limiter would let `num_samples` (>= 1) samples go at this moment."""
        return self.internal_table.can_sample(num_samples)

    def can_insert(self, num_inserts: int) -> bool:
        """Whether the rate limiter would let `num_inserts` (>= 1) inserts go at this moment."""
        return self.internal_table.can_insert(num_inserts)

    def replace(
        self,
        name: str | None = None,
        sampler: reverb_types.SelectorType | None = None,
        remover: reverb_types.SelectorType | None = None,
        max_size: int | None = None,
        rate_limiter: rate_limiters.RateLimiter | None = None,
        max_times_sampled: int | None = None,
        extensions: Sequence[TableExtensionBase] | None = None,
        signature: reverb_types.SpecNest | None = None,
    ) -> Table:
        """A new, empty table like this one, except for what is given.

        Args:
          name: See `Table`, as for the others. None keeps what this table has; selectors and the
            limiter are made anew, with the same parameters.
          sampler: Chooses the item to sample.
          remover: Chooses the item to remove.
          max_size: Items that the table holds.
          rate_limiter: Decides when the next item may be inserted or sampled.
          max_times_sampled: Samples after which an item goes.
          extensions: Hooks; `()` for none.
          signature: Nest of specs; `()` for none.
        """
        limiter = self._rate_limiter
        return type(self)(
            name=self.name if name is None else name,
            sampler=sampler or self._sampler.fresh(),
            remover=remover or self._remover.fresh(),
            max_size=self._max_size if max_size is None else max_size,
            rate_limiter=rate_limiter
            or rate_limiters.RateLimiter(
                samples_per_insert=limiter._samples_per_insert,
                min_size_to_sample=limiter._min_size_to_sample,
                min_diff=limiter._min_diff,
                max_diff=limiter._max_diff,
            ),
            max_times_sampled=(
                self._max_times_sampled if max_times_sampled is None else max_times_sampled
            ),
            extensions=self._extensions if extensions is None else extensions,
            signature=self._signature if signature is None else signature,
        )

    def __repr__(self) -> str:
        return repr(self.internal_table)


class Server:
    """Serves tables on a port of this machine, until it is stopped or dropped.

    A reference must be kept: a server that nobody refers to stops.
    """

    # For __del__ after a constructor that raised.
    _server: _core.Server | None = None

    def __init__(
        self,
        tables: Iterable[Table] | None = None,
        port: int | None = None,
        checkpointer: CheckpointerBase | None = None,
        *,
        limits: Limits | None = None,
    ) -> None:
        """Starts the server; clients may connect when this returns.

        Listens on all interfaces, IPv4 and IPv6, without encryption or authentication.

        Args:
          tables: At least one, with different names.
          port: Where to listen; None or 0 for any free port.
          checkpointer: Where checkpoints are kept.
          limits: What one client may ask for; None for the defaults of `reverb.Limits`.

        Raises:
          InvalidArgumentError: There are no tables, two have the same name, or the port is out of
            range or taken.
          FailedPreconditionError: The process was forked from one that used reverb.
          TypeError: An argument is of the wrong type.
        """
        if isinstance(tables, Table):
            raise TypeError(f"tables must be a sequence of tables, not the table {tables.name!r}")
        tables = [] if tables is None else list(tables)
        if not tables:
            raise errors.InvalidArgumentError("a server needs at least one table")
        for table in tables:
            if not isinstance(table, Table):
                raise TypeError(f"tables must be reverb.Table objects, not {table!r}")
        self._tables = tables
        self._checkpointer = None if checkpointer is None else checkpointer.internal_checkpointer()
        self._server = _core.Server(
            [table.internal_table for table in tables],
            0 if port is None else _check_port(port),
            _core.Limits(**dataclasses.asdict(Limits() if limits is None else limits)),
        )
        self._port = self._server.port

    @property
    def port(self) -> int:
        """Where the server listens (or listened)."""
        return self._port

    def localhost_client(self) -> Client:
        """A new client of this server, which goes straight to the tables."""
        from reverb.client import Client

        return Client(f"localhost:{self._port}")

    def stop(self) -> None:
        """Stops serving: ends all calls and streams and closes the tables for good.

        Returns when all is shut down; may be called again.
        """
        if self._server is not None:
            self._server.stop()

    def wait(self, timeout: float | None = None) -> bool | None:
        """Waits until the server is stopped.

        Args:
          timeout: Seconds after which to return anyway.

        Returns:
          None if there is no timeout, else whether the server was stopped.

        Raises:
          KeyboardInterrupt: Ctrl-C was pressed. The server goes on until it is stopped.
        """
        if self._server is None:
            return None
        stopped = self._server.wait(timeout)
        return None if timeout is None else stopped

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def __del__(self, in_forked_child: Callable[[], bool] = _core.in_forked_child) -> None:
        # In a forked child the server is the parent's. (Bound above, since the
        # module's names may be gone by now.)
        if self._server is not None and not in_forked_child():
            self._server.stop()

    def __repr__(self) -> str:
        tables = ", ".join(repr(table) for table in self._tables)
        return (
            f"Server(port={self._port}, reverb_service=ReverbServiceAsync(tables=[{tables}], "
            f"checkpointer={self._checkpointer!r}))"
        )


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        # dm-reverb: ValueError for what is false, TypeError for the rest.
        cls = errors.with_builtin(errors.InvalidArgumentError, TypeError)
        raise cls(f"the name of a table must be a str, not {name!r}")
    if not name:
        raise errors.InvalidArgumentError("the name of a table must not be empty")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise TypeError(f"the name of a table must be valid Unicode, not {name!r}") from None


def _check_int32(table: str, what: str, value: Any) -> None:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"table {table!r}: {what} must be an int, not {value!r}") from None
    if not -(2**31) <= number < 2**31:
        raise TypeError(f"table {table!r}: {what} must fit 32 bits, not {value!r}")


def _check_port(port: Any) -> int:
    try:
        number = operator.index(port)
    except TypeError:
        raise TypeError(f"port must be an int, not {port!r}") from None
    if not 0 <= number <= 65535:
        raise errors.InvalidArgumentError(f"port {number} is out of range: 0 to 65535 are valid")
    return number


def _check_selector(table: str, role: str, selector: Any) -> None:
    if not isinstance(selector, _core.ItemSelector):
        cls = errors.with_builtin(errors.InvalidArgumentError, TypeError)
        raise cls(
            f"table {table!r}: {role} must be a selector object such as "
            f"reverb.selectors.Fifo(), not {selector!r}",
            table=table,
        )


def _check_rate_limiter(table: str, rate_limiter: Any) -> None:
    if not isinstance(rate_limiter, rate_limiters.RateLimiter):
        cls = errors.with_builtin(errors.InvalidArgumentError, TypeError)
        raise cls(
            f"table {table!r}: rate_limiter must be a limiter such as "
            f"reverb.rate_limiters.MinSize(1), not {rate_limiter!r}",
            table=table,
        )
