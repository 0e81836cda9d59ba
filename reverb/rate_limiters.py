# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Rate limiters: when a table serves the next insert or sample.

With I inserts, S samples and D deletes so far, a table lets the next item

* be sampled if `I - D >= min_size_to_sample` and `I * samples_per_insert - S - 1 >= min_diff`;
* be inserted if `I + 1 - D <= min_size_to_sample` or
  `(I + 1) * samples_per_insert - S <= max_diff`.

A limiter belongs to one table.
"""

from __future__ import annotations

import abc
import math
import operator
import sys
from typing import Any

from reverb import _core, errors

__all__ = ["MinSize", "Queue", "RateLimiter", "SampleToInsertRatio", "Stack"]


class RateLimiter(metaclass=abc.ABCMeta):  # noqa: B024 (a base in annotations, and usable itself)
    """The general rate limiter, given by its four numbers."""

    def __init__(
        self,
        samples_per_insert: float,
        min_size_to_sample: int,
        min_diff: float,
        max_diff: float,
    ) -> None:
        """Makes a rate limiter.

        Args:
          samples_per_insert: Samples per insert aimed at; > 0.
          min_size_to_sample: Items that a table must hold before it is sampled; >= 1.
          min_diff: Sampling stops where `I * samples_per_insert - S` would fall below this.
          max_diff: Inserting stops where `I * samples_per_insert - S` would rise above this.

        Raises:
          InvalidArgumentError: A number is out of its range or not a number.
          TypeError: `min_size_to_sample` is not an int, or another argument is not a number.
        """
        samples_per_insert = _to_float("samples_per_insert", samples_per_insert)
        min_diff = _to_float("min_diff", min_diff)
        max_diff = _to_float("max_diff", max_diff)
        min_size_to_sample = _to_int("min_size_to_sample", min_size_to_sample)
        if not 0 < samples_per_insert < math.inf:
            raise errors.InvalidArgumentError(
                f"samples_per_insert must be finite and > 0, not {samples_per_insert}"
            )
        _check_min_size(min_size_to_sample)
        if min_size_to_sample >= 2**63:
            raise errors.InvalidArgumentError(
                f"min_size_to_sample must be below 2**63, not {min_size_to_sample}"
            )
        for name, value in (("min_diff", min_diff), ("max_diff", max_diff)):
            if math.isnan(value):
                raise errors.InvalidArgumentError(f"{name} must be a number, not NaN")
        self._samples_per_insert = samples_per_insert
        self._min_size_to_sample = min_size_to_sample
        self._min_diff = min_diff
        self._max_diff = max_diff
        self.internal_limiter: Any = _core.RateLimiter(
            samples_per_insert=samples_per_insert,
            min_size_to_sample=min_size_to_sample,
            min_diff=min_diff,
            max_diff=max_diff,
        )

    def __repr__(self) -> str:
        return (
            f"RateLimiter(samples_per_insert={self._samples_per_insert:g}, "
            f"min_diff_={self._min_diff:g}, max_diff={self._max_diff:g}, "
            f"min_size_to_sample={self._min_size_to_sample})"
        )


class MinSize(RateLimiter):
    """Lets samples wait until the table holds `min_size_to_sample` items; never lets inserts wait."""

    def __init__(self, min_size_to_sample: int) -> None:
        """Makes a rate limiter.

        Args:
          min_size_to_sample: Items that the table must hold before it is sampled; >= 1.

        Raises:
          InvalidArgumentError: `min_size_to_sample` is below 1.
          TypeError: `min_size_to_sample` is not an int.
        """
        super().__init__(
            samples_per_insert=1.0,
            min_size_to_sample=min_size_to_sample,
            min_diff=-sys.float_info.max,
            max_diff=sys.float_info.max,
        )


class SampleToInsertRatio(RateLimiter):
    """Keeps the average number of samples per insert near a target."""

    def __init__(
        self,
        samples_per_insert: float,
        min_size_to_sample: int,
        error_buffer: float | tuple[float, float],
    ) -> None:
        """Makes a rate limiter.

        Args:
          samples_per_insert: Samples per insert aimed at; > 0.
          min_size_to_sample: Items that the table must hold before it is sampled; >= 1.
          error_buffer: How far `I * samples_per_insert - S` may be from
            `samples_per_insert * min_size_to_sample`, at least `max(1, samples_per_insert)`; or its
            smallest and largest value.

        Raises:
          InvalidArgumentError: A number is out of its range, the buffer is too small, or sampling
            could never begin.
          TypeError: `error_buffer` is neither a Python number nor a pair.
        """
        samples_per_insert = _to_float("samples_per_insert", samples_per_insert)
        min_size_to_sample = _to_int("min_size_to_sample", min_size_to_sample)
        offset = samples_per_insert * min_size_to_sample
        if isinstance(error_buffer, (int, float)):
            error = _to_float("error_buffer", error_buffer)
            min_diff, max_diff = offset - error, offset + error
        else:
            min_diff, max_diff = _to_pair("error_buffer", error_buffer)
        if samples_per_insert <= 0:
            raise errors.InvalidArgumentError(
                f"samples_per_insert must be > 0, not {samples_per_insert}"
            )
        if not math.isfinite(offset):
            raise errors.InvalidArgumentError(
                f"samples_per_insert ({samples_per_insert}) * min_size_to_sample "
                f"({min_size_to_sample}) is too large for a float"
            )
        if max_diff - min_diff < 2 * max(1.0, samples_per_insert):
            raise errors.InvalidArgumentError(
                "error_buffer is too small: the distance between its ends must be at least "
                f"2 * max(1, samples_per_insert) = {2 * max(1.0, samples_per_insert)}, not "
                f"{max_diff - min_diff}"
            )
        if max_diff < offset:
            from absl import logging

            logging.warning(
                "error_buffer: max_diff (%s) is below samples_per_insert * min_size_to_sample (%s): "
                "the table may stop inserts before it may be sampled.",
                max_diff,
                offset,
            )
        if min_diff > offset:
            raise errors.InvalidArgumentError(
                f"error_buffer: min_diff ({min_diff}) is above samples_per_insert * "
                f"min_size_to_sample ({offset}): the table could never be sampled"
            )
        _check_min_size(min_size_to_sample)
        super().__init__(
            samples_per_insert=samples_per_insert,
            min_size_to_sample=min_size_to_sample,
            min_diff=min_diff,
            max_diff=max_diff,
        )


class Queue(RateLimiter):
    """For `Table.queue`: each item is sampled once; a full queue lets inserts wait."""

    def __init__(self, size: int) -> None:
        """Makes a rate limiter.

        Args:
          size: Items that the queue holds.
        """
        super().__init__(samples_per_insert=1.0, min_size_to_sample=1, min_diff=0.0, max_diff=size)


class Stack(RateLimiter):
    """For `Table.stack`: each item is sampled once; a full stack lets inserts wait."""

    def __init__(self, size: int) -> None:
        """Makes a rate limiter.

        Args:
          size: Items that the stack holds.
        """
        super().__init__(samples_per_insert=1.0, min_size_to_sample=1, min_diff=0.0, max_diff=size)


def _to_float(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    except OverflowError:
        raise errors.InvalidArgumentError(f"{name} must fit a float, not {value!r}") from None


def _to_int(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {value!r}") from None


def _to_pair(name: str, value: Any) -> tuple[float, float]:
    try:
        lower, upper = value
    except TypeError:
        raise TypeError(f"{name} must be a Python number or a pair, not {value!r}") from None
    except ValueError:
        raise errors.InvalidArgumentError(
            f"{name} must be a Python number or a pair, not {value!r}"
        ) from None
    return _to_float(name, lower), _to_float(name, upper)


def _check_min_size(min_size_to_sample: int) -> None:
    if min_size_to_sample < 1:
        raise errors.InvalidArgumentError(
            f"min_size_to_sample must be >= 1, not {min_size_to_sample}"
        )
