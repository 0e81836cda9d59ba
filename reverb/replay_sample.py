# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What sampling returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reverb import specs

__all__ = ["ReplaySample", "SampleInfo"]


class SampleInfo(NamedTuple):
    """What the table knew about an item when it was sampled.

    Attributes:
      key: Key of the item.
      probability: With which it was drawn.
      table_size: Items in the table then.
      priority: Of the item then.
      times_sampled: How often the item has been sampled, this time included.
    """

    key: Any
    probability: Any
    table_size: Any
    priority: Any
    times_sampled: Any

    @classmethod
    def tf_dtypes(cls) -> SampleInfo:
        """The dtypes of the fields: TensorFlow's if the program has imported it, else NumPy's."""
        tensorflow = specs.imported_tensorflow()
        if tensorflow is None:
            return cls(*(np.dtype(name) for name in _DTYPES))
        return cls(*(tensorflow.as_dtype(name) for name in _DTYPES))

    @classmethod
    def tf_shapes(cls) -> SampleInfo:
        """The shapes of the fields, all scalars: `tf.TensorShape` as above, else `()`."""
        tensorflow = specs.imported_tensorflow()
        if tensorflow is None:
            return cls((), (), (), (), ())
        return cls(*(tensorflow.TensorShape([]) for _ in _DTYPES))

    @classmethod
    def zeros(cls) -> SampleInfo:
        """A `SampleInfo` of zeros."""
        return cls(key=0, probability=0.0, table_size=0, priority=0.0, times_sampled=0)


_DTYPES = ("uint64", "float64", "int64", "float64", "int32")


class ReplaySample(NamedTuple):
    """An item's data and what the table knew about it.

    Attributes:
      info: See `SampleInfo`.
      data: A nest of arrays.
    """

    info: SampleInfo
    data: Any
