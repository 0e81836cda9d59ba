# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""A `tf.data.Dataset` of the items that patterns make of a stream of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reverb import _tf_layer

__all__ = ["PatternDataset", "pattern_dataset_with_info"]


class PatternDataset:
    """Applies configs to a dataset of steps; an element is the nest of the pattern."""

    def __init__(
        self,
        input_dataset: Any,
        configs: Sequence[Any],
        respect_episode_boundaries: bool,
        is_end_of_episode: Callable[[Any], Any],
    ) -> None:
        """Not available yet."""
        _tf_layer.unavailable("PatternDataset")


def pattern_dataset_with_info(
    input_dataset: Any,
    configs: Sequence[Any],
    respect_episode_boundaries: bool,
    is_end_of_episode: Callable[[Any], Any],
) -> Any:
    """As `PatternDataset`, with `ReplaySample`s of zero infos as elements. Not available yet."""
    _tf_layer.unavailable("pattern_dataset.pattern_dataset_with_info")
