# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Types for annotations, and `TableInfo`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Union

from reverb import _core, specs

__all__ = [
    "Fifo",
    "Heap",
    "Lifo",
    "Prioritized",
    "SelectorType",
    "SpecNest",
    "TableInfo",
    "Uniform",
]

Fifo = _core.FifoSelector
Heap = _core.HeapSelector
Lifo = _core.LifoSelector
Prioritized = _core.PrioritizedSelector
Uniform = _core.UniformSelector

# A selector in the role of a sampler or remover.
SelectorType = Union[Fifo, Heap, Lifo, Prioritized, Uniform]  # noqa: UP007 (0.14's form)

# A spec (ours, TensorFlow's or dm_env's), or a nest of them.
SpecNest = Union[specs.TensorSpec, Iterable["SpecNest"], Mapping[str, "SpecNest"]]  # noqa: UP007


@dataclasses.dataclass
class TableInfo:
    """What a table says about itself.

    Attributes:
      name: Name of the table.
      sampler_options: Kind and parameters of the sampler, a `KeyDistributionOptions` message.
      remover_options: The same of the remover.
      max_size: Items that the table holds before the remover makes room.
      max_times_sampled: Samples after which an item goes; below 1 there is no limit.
      rate_limiter_info: Numbers and counters of the rate limiter, a `RateLimiterInfo` message.
      signature: Nest of specs, or None.
      current_size: Items in the table.
      num_episodes: Episodes that the items come from.
      num_deleted_episodes: Episodes of which no item is left.
      num_unique_samples: Items that have been sampled at least once.
      table_worker_time: What the table spent its time on, a `TableWorkerTime` message.
    """

    name: str
    sampler_options: Any
    remover_options: Any
    max_size: int
    max_times_sampled: int
    rate_limiter_info: Any
    signature: Any
    current_size: int
    num_episodes: int
    num_deleted_episodes: int
    num_unique_samples: int
    table_worker_time: Any

    @classmethod
    def from_serialized_proto(cls, proto_string: bytes) -> TableInfo:
        """Makes a `TableInfo` of the bytes of the message of that name.

        Raises:
          InvalidArgumentError: The bytes are no such message, or its signature is none.
        """
        from google.protobuf import message

        from reverb import _protos, errors, signature

        try:
            proto = _protos.TableInfo.FromString(proto_string)
        except message.DecodeError as error:
            raise errors.InvalidArgumentError(f"not a serialized TableInfo: {error}") from None
        return cls(
            name=proto.name,
            sampler_options=proto.sampler_options,
            remover_options=proto.remover_options,
            max_size=proto.max_size,
            max_times_sampled=proto.max_times_sampled,
            rate_limiter_info=proto.rate_limiter_info,
            signature=signature.decode(proto.signature) if proto.HasField("signature") else None,
            current_size=proto.current_size,
            num_episodes=proto.num_episodes,
            num_deleted_episodes=proto.num_deleted_episodes,
            num_unique_samples=proto.num_unique_samples,
            table_worker_time=proto.table_worker_time,
        )
