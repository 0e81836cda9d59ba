# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The iterator over samples of one table.

with client.sampler("replay", batch_size=256, num_workers=2, unpack=True) as batches:
    for info, data in batches:
        train(data["observation"], weights=1 / info.probability)
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from reverb import _core, errors, replay_sample

__all__ = ["Sampler"]


class Sampler:
    """Samples, or batches of them, one after the other; made by `Client.sampler`.

    Keeps a stream open for each worker and the next samples on their way. For one thread, but
    for `close`, which any may call.
    """

    def __init__(
        self, internal_sampler: Any, pack: Callable[[list[Any], bytes], Any] | None
    ) -> None:
        """Wraps the extension's sampler (private).

        Args:
          internal_sampler: A `_core.Sampler` or `_core.BatchSampler`.
          pack: Nests the columns of a sample, given the structure stored with it; None for flat lists.
        """
        self._sampler = internal_sampler
        self._next = internal_sampler.next
        if pack is not None:
            self._next = self._next_packed
        self._pack = pack

    def __iter__(self) -> Sampler:
        return self

    def __next__(self) -> replay_sample.ReplaySample:
        """The next sample.

        Raises:
          StopIteration: `max_samples` have been returned.
          DeadlineExceededError: `timeout` has passed without a sample; the sampler has ended.
          NotFoundError: There is no such table.
          InvalidArgumentError: An item can't be in a batch with those before it, or doesn't fit the
            signature; names the column.
          UnavailableError: The server stayed away too long.
          CancelledError: The sampler was closed.
        """
        if (sample := self._next()) is None:
            raise StopIteration
        return sample  # type: ignore[no-any-return]

    def close(self) -> None:
        """Ends the streams and a `next` that waits. May be called twice."""
        self._sampler.close()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _next_packed(self) -> replay_sample.ReplaySample | None:
        if (sample := self._sampler.next_with_structure()) is None:
            return None
        info, columns, structure = sample
        assert self._pack is not None
        return replay_sample.ReplaySample(info, self._pack(columns, structure))


class StructurePacker:
    """Nests columns by the structures stored with items; packers are kept, structures repeat."""

    _MAX_KEPT = 64

    def __init__(self) -> None:
        self._packers: dict[bytes, _core.Packer] = {}

    def __call__(self, columns: list[Any], structure: bytes) -> Any:
        """The nest; the list itself if there is no structure, or not one of so many columns."""
        if not structure:
            return columns
        packer = self._packers.get(structure)
        if packer is None:
            try:
                packer = _core.Packer(structure)
            except errors.ReverbError:  # some client's own idea of a structure
                return columns
            if len(self._packers) >= self._MAX_KEPT:
                self._packers.clear()
            self._packers[structure] = packer
        return packer.pack(columns) if packer.num_leaves == len(columns) else columns
