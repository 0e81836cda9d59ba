# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of reverb: one class per status code.

Each class is a `ReverbError` and also the builtin that a Python program would
expect, e.g. `except ValueError` catches `InvalidArgumentError`. `str(error)` is
the message alone; what code may want to read are attributes.
"""

from __future__ import annotations

import functools
from typing import Any

__all__ = [
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "ResourceExhaustedError",
    "ReverbError",
    "StatusError",
    "UnavailableError",
    "UnimplementedError",
]


class ReverbError(Exception):
    """Base of all errors that reverb raises.

    Attributes:
      code: The status code (gRPC's numbers).
      table: The table that it is about, if known.
      column: Path of the column that it is about, such as `obs/camera`, if known.
      limit: What was allowed, if that is what it is about: an int, or text such as a dtype.
      actual: What was met instead of `limit`; likewise.
    """

    code: int = 2
    table: str | None = None
    column: str | None = None
    limit: int | str | None = None
    actual: int | str | None = None

    def __init__(
        self,
        *args: object,
        table: str | None = None,
        column: str | None = None,
        limit: int | str | None = None,
        actual: int | str | None = None,
    ) -> None:
        super().__init__(*args)
        for name, value in (
            ("table", table),
            ("column", column),
            ("limit", limit),
            ("actual", actual),
        ):
            if value is not None:
                setattr(self, name, value)

    def __str__(self) -> str:
        # KeyError's would quote the text where a subclass is one too.
        return Exception.__str__(self)


class InvalidArgumentError(ReverbError, ValueError):
    """The call was wrong whatever the state."""

    code = 3


class NotFoundError(ReverbError, ValueError, RuntimeError, LookupError):
    """There is no such table, item, chunk or checkpoint."""

    code = 5


class FailedPreconditionError(ReverbError, RuntimeError):
    """The call was right and the state wrong, e.g. after `close`."""

    code = 9


class DeadlineExceededError(ReverbError, TimeoutError):
    """The time given for the call passed.

    Attributes:
      inserted: Tables that took the item before the deadline.
      withdrawn: Tables that will not get the item.
      unknown: Tables that may get it yet (servers of dm-reverb can't withdraw it).
    """

    code = 4
    inserted: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class UnavailableError(ReverbError, RuntimeError, ConnectionError):
    """The other side is gone; whether the call had an effect is unknown."""

    code = 14


class ResourceExhaustedError(ReverbError, IndexError):
    """A limit was hit; `limit` and `actual` say by how much."""

    code = 8


class UnimplementedError(ReverbError, NotImplementedError):
    """Not offered."""

    code = 12


class CancelledError(ReverbError, RuntimeError):
    """The object was closed while the call waited."""

    code = 1


class DataLossError(ReverbError, RuntimeError):
    """Bytes are damaged."""

    code = 15


class InternalError(ReverbError, RuntimeError):
    """A bug in reverb."""

    code = 13


class StatusError(ReverbError, RuntimeError):
    """A status that has no class of its own; `code` tells which."""


# What leaving a writer's `with` block does not flush after: the wait that failed
# would only be repeated.
WAIT_ERRORS = (DeadlineExceededError, UnavailableError, CancelledError)

_CLASSES: dict[int, type[ReverbError]] = {
    cls.code: cls
    for cls in (
        CancelledError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        ResourceExhaustedError,
        FailedPreconditionError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
    )
}


def with_builtin(cls: type[ReverbError], *builtins: type[Exception]) -> type[ReverbError]:
    """A private subclass of `cls` that is also each of `builtins`.

    For calls in which dm-reverb raises another builtin than the class has, so
    that both `except` clauses hold.
    """
    extra = tuple(builtin for builtin in builtins if not issubclass(cls, builtin))
    return _subclass((cls, *extra)) if extra else cls


@functools.cache
def _subclass(bases: Any) -> Any:
    cls = bases[0]

    def reduce(self: ReverbError) -> tuple[Any, ...]:
        return _rebuild, (bases, self.args), dict(vars(self))

    namespace = {"__reduce__": reduce, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls.__name__, bases, namespace)


def _rebuild(bases: Any, args: tuple[object, ...]) -> Any:
    return _subclass(bases)(*args)


def error_from_status(
    code: int,
    message: str,
    *,
    table: str | None = None,
    column: str | None = None,
    limit: int | str | None = None,
    actual: int | str | None = None,
    also: tuple[type[Exception], ...] = (),
) -> ReverbError:
    """The exception for a status.

    Args:
      code: A gRPC (= Abseil) status code; not OK.
      message: Becomes `str(error)`.
      table: See `ReverbError`; empty is None, here and below.
      column: See `ReverbError`.
      limit: See `ReverbError`; digits become an int.
      actual: See `ReverbError`; digits become an int.
      also: Builtins that the exception shall be an instance of as well.

    Returns:
      The exception, to be raised by the caller.
    """
    cls = _CLASSES.get(code, StatusError)
    if also:
        cls = with_builtin(cls, *also)
    error = cls(
        message,
        table=table or None,
        column=column or None,
        limit=_number(limit),
        actual=_number(actual),
    )
    if code != cls.code:
        error.code = code
    return error


def _number(value: int | str | None) -> int | str | None:
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        return value or None
