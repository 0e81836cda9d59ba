# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Rate limiters in Python: their four numbers and what they refuse, in which order."""

import decimal
import math
import sys

import numpy as np
import pytest
from absl import logging
from hypothesis import example, given
from hypothesis import strategies as st

from reverb import errors, rate_limiters

_MAX = sys.float_info.max
_NAN = math.nan


def _numbers(limiter):
    return (
        limiter._samples_per_insert,
        limiter._min_size_to_sample,
        limiter._min_diff,
        limiter._max_diff,
    )


@pytest.mark.parametrize(
    ("limiter", "numbers"),
    [
        (lambda: rate_limiters.RateLimiter(2.0, 3, -1.0, 4.0), (2.0, 3, -1.0, 4.0)),
        (
            lambda: rate_limiters.RateLimiter(
                samples_per_insert=2, min_size_to_sample=3, min_diff=-1, max_diff=4
            ),
            (2.0, 3, -1.0, 4.0),
        ),
        (lambda: rate_limiters.RateLimiter(1, 1, -math.inf, math.inf), (1, 1, -math.inf, math.inf)),
        (lambda: rate_limiters.MinSize(7), (1.0, 7, -_MAX, _MAX)),
        (lambda: rate_limiters.MinSize(min_size_to_sample=np.int64(7)), (1.0, 7, -_MAX, _MAX)),
        (lambda: rate_limiters.Queue(10), (1.0, 1, 0.0, 10.0)),
        (lambda: rate_limiters.Queue(size=10), (1.0, 1, 0.0, 10.0)),
        (lambda: rate_limiters.Stack(10), (1.0, 1, 0.0, 10.0)),
        (lambda: rate_limiters.Queue(0), (1.0, 1, 0.0, 0.0)),
        (lambda: rate_limiters.Queue(2.5), (1.0, 1, 0.0, 2.5)),
        (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, 4.0), (2.0, 3, 2.0, 10.0)),
        (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, 4), (2.0, 3, 2.0, 10.0)),
        (lambda: rate_limiters.SampleToInsertRatio(0.5, 4, np.float64(1)), (0.5, 4, 1.0, 3.0)),
        (lambda: rate_limiters.SampleToInsertRatio(1.0, 1, True), (1.0, 1, 0.0, 2.0)),
        (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, (0.0, 20.0)), (2.0, 3, 0.0, 20.0)),
        (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, [6, 20]), (2.0, 3, 6.0, 20.0)),
        (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, iter((6, 20))), (2.0, 3, 6.0, 20.0)),
    ],
)
def test_numbers(limiter, numbers):
    made = limiter()
    assert isinstance(made, rate_limiters.RateLimiter)
    assert _numbers(made) == numbers
    assert made.internal_limiter is not None


def test_repr():
    assert repr(rate_limiters.RateLimiter(1.5, 3, -1.0, 4.0)) == (
        "RateLimiter(samples_per_insert=1.5, min_diff_=-1, max_diff=4, min_size_to_sample=3)"
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0, 1, 0, 1), "samples_per_insert"),
        ((-1, 1, 0, 1), "samples_per_insert"),
        ((_NAN, 1, 0, 1), "samples_per_insert"),
        ((math.inf, 1, 0, 1), "samples_per_insert"),
        ((1, 0, 0, 1), "min_size_to_sample"),
        ((1, -5, 0, 1), "min_size_to_sample"),
        ((1, 2**63, 0, 1), "min_size_to_sample"),
        ((1, 1, _NAN, 1), "min_diff"),
        ((1, 1, 0, _NAN), "max_diff"),
        ((1, 1, 0, 10**400), "max_diff"),
    ],
)
def test_numbers_out_of_range(arguments, named):
    with pytest.raises(ValueError, match=named) as caught:
        rate_limiters.RateLimiter(*arguments)
    assert isinstance(caught.value, errors.InvalidArgumentError)


@pytest.mark.parametrize(
    "arguments",
    [
        ("1", 1, 0, 1),
        (1, 1.0, 0, 1),
        (1, "1", 0, 1),
        (1, None, 0, 1),
        (1, 1, None, 1),
        (1, 1, 0, "x"),
    ],
)
def test_numbers_of_other_types(arguments):
    with pytest.raises(TypeError):
        rate_limiters.RateLimiter(*arguments)


@pytest.mark.parametrize("size", [0, -1])
def test_min_size_below_one(size):
    with pytest.raises(ValueError, match=str(size)):
        rate_limiters.MinSize(size)


@pytest.mark.parametrize("size", [1.0, "1", None, [1]])
def test_min_size_of_another_type(size):
    with pytest.raises(TypeError):
        rate_limiters.MinSize(size)


@pytest.mark.parametrize("size", ["x", None])
def test_queue_size_of_another_type(size):
    with pytest.raises(TypeError):
        rate_limiters.Queue(size)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        # Several faults at once: the first of the documented order is reported.
        ((0, 0, 0.0), "samples_per_insert"),
        ((-1, 1, (10.0, 0.0)), "samples_per_insert"),
        ((2.0, 0, 1.0), "too small"),
        ((2.0, 3, 1.9), "too small"),
        ((0.1, 3, 0.9), "too small"),
        ((2.0, 3, (0.0, 3.9)), "too small"),
        ((2.0, 3, (6.1, 20.0)), "never be sampled"),
        ((2.0, -1, (0.0, 9.0)), "never be sampled"),
        ((2.0, 0, 4.0), "min_size_to_sample"),
        ((_NAN, 3, 4.0), "samples_per_insert"),
        ((2.0, 3, _NAN), "min_diff"),
    ],
)
def test_ratio_refuses(arguments, text):
    with pytest.raises(ValueError, match=text):
        rate_limiters.SampleToInsertRatio(*arguments)


@pytest.mark.parametrize("buffer", [np.float32(9), np.int64(9), None, decimal.Decimal(9)])
def test_ratio_takes_python_numbers_or_pairs(buffer):
    with pytest.raises(TypeError):
        rate_limiters.SampleToInsertRatio(2.0, 3, buffer)


def test_ratio_warns_where_inserts_may_stop_too_early(monkeypatch):
    warnings = []
    monkeypatch.setattr(logging, "warning", lambda *args: warnings.append(args[0] % args[1:]))
    rate_limiters.SampleToInsertRatio(2.0, 3, (0.0, 5.0))
    assert len(warnings) == 1 and "5.0" in warnings[0]
    rate_limiters.SampleToInsertRatio(2.0, 3, (0.0, 6.0))
    assert len(warnings) == 1


def test_a_program_may_derive_its_own():
    class Mine(rate_limiters.RateLimiter):
        def __init__(self):
            super().__init__(1.0, 1, 0.0, 5.0)

    assert _numbers(Mine()) == (1.0, 1, 0.0, 5.0)


_FLOATS = st.floats(allow_nan=True, allow_infinity=True)


@given(_FLOATS, st.integers(-3, 10), st.tuples(_FLOATS, _FLOATS) | _FLOATS)
@example(8.98846567431158e307, 2, 0.0)
def test_ratio_is_refused_or_can_start(spi, min_size, buffer):
    try:
        limiter = rate_limiters.SampleToInsertRatio(spi, min_size, buffer)
    except ValueError:
        return
    spi, min_size, min_diff, max_diff = _numbers(limiter)
    assert min_size >= 1 and 0 < spi < math.inf
    assert min_diff <= spi * min_size
    assert max_diff - min_diff >= 2 * max(1.0, spi)
