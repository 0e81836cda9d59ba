# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes tables of their descriptions in a `ReverbServerConfig`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from reverb import errors, item_selectors, rate_limiters

if TYPE_CHECKING:
    from reverb.server import Table

__all__ = ["rate_limiter_from_proto", "selector_from_proto", "tables_from_proto"]


def selector_from_proto(s: Any) -> Any:
    """The selector that a `KeyDistributionOptions` describes.

    Raises:
      InvalidArgumentError: A flag that names the kind is false.
      UnimplementedError: No kind is named.
    """
    kind = s.WhichOneof("distribution")
    if kind in ("fifo", "lifo", "uniform"):
        if not getattr(s, kind):
            raise errors.InvalidArgumentError(f"selector: `{kind}: false` names no selector")
        return {
            "fifo": item_selectors.Fifo,
            "lifo": item_selectors.Lifo,
            "uniform": item_selectors.Uniform,
        }[kind]()
    if kind == "prioritized":
        return item_selectors.Prioritized(s.prioritized.priority_exponent)
    if kind == "heap":
        return item_selectors.MinHeap() if s.heap.min_heap else item_selectors.MaxHeap()
    raise errors.UnimplementedError(
        "selector: none of fifo, lifo, uniform, prioritized and heap is given"
    )


def rate_limiter_from_proto(proto: Any) -> rate_limiters.RateLimiter:
    """The rate limiter that a `RateLimiterCheckpoint` describes; counters are ignored.

    Raises:
      InvalidArgumentError: A number is out of its range.
    """
    return rate_limiters.RateLimiter(
        samples_per_insert=proto.samples_per_insert,
        min_size_to_sample=proto.min_size_to_sample,
        min_diff=proto.min_diff,
        max_diff=proto.max_diff,
    )


def tables_from_proto(configs: Iterable[Any]) -> list[Table]:
    """The tables that `PriorityTableCheckpoint` messages describe.

    Signatures, items and counters in them are ignored.

    Raises:
      InvalidArgumentError: A table's description is incomplete or out of range.
      UnimplementedError: A selector is missing.
    """
    from reverb import server

    tables = []
    for config in configs:
        if not config.HasField("rate_limiter"):
            raise errors.InvalidArgumentError(
                f"table {config.table_name!r} has no rate_limiter; at any time after n items is "
                "samples_per_insert: 1, min_size_to_sample: n, min_diff: -1.7e308, "
                "max_diff: 1.7e308",
                table=config.table_name,
            )
        tables.append(
            server.Table(
                name=config.table_name,
                sampler=selector_from_proto(config.sampler),
                remover=selector_from_proto(config.remover),
                max_size=config.max_size,
                max_times_sampled=config.max_times_sampled,
                rate_limiter=rate_limiter_from_proto(config.rate_limiter),
            )
        )
    return tables
