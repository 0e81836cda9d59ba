# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""A `tf.data.Dataset` of sampled trajectories."""

from __future__ import annotations

from typing import Any

from reverb import _tf_layer

__all__ = ["TrajectoryDataset"]


class TrajectoryDataset:
    """Samples a table; an element is a `ReplaySample` of trajectories."""

    def __init__(
        self,
        server_address: Any,
        table: Any,
        dtypes: Any,
        shapes: Any,
        max_in_flight_samples_per_worker: int,
        num_workers_per_iterator: int = -1,
        max_samples_per_stream: int = -1,
        rate_limiter_timeout_ms: int = -1,
        max_samples: int = -1,
    ) -> None:
        """Not available yet."""
        _tf_layer.unavailable("TrajectoryDataset")

    @classmethod
    def from_table_signature(
        cls,
        server_address: str,
        table: str,
        max_in_flight_samples_per_worker: int,
        num_workers_per_iterator: int = -1,
        max_samples_per_stream: int = -1,
        rate_limiter_timeout_ms: int = -1,
        get_signature_timeout_secs: int | None = None,
        max_samples: int = -1,
    ) -> TrajectoryDataset:
        """Not available yet."""
        _tf_layer.unavailable("TrajectoryDataset.from_table_signature")
