# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Reverb: an experience replay server for reinforcement learning.

    import reverb

    server = reverb.Server(
        tables=[
            reverb.Table(
                name="replay",
                sampler=reverb.selectors.Uniform(),
                remover=reverb.selectors.Fifo(),
                max_size=1000,
                rate_limiter=reverb.rate_limiters.MinSize(1),
            )
        ],
        port=8000,
    )
    client = reverb.Client("localhost:8000")
    client.insert([0.0, 1.0], priorities={"replay": 1.0})
    sample = next(iter(client.sample("replay")))

Importing this package loads NumPy and the extension alone; everything else is
imported when it is first used.
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING, Any

from reverb import _lazy

if TYPE_CHECKING:
    from reverb import (
        cc as cc,
    )
    from reverb import (
        checkpointers as checkpointers,
    )
    from reverb import (
        client as client,
    )
    from reverb import (
        errors as errors,
    )
    from reverb import (
        item_selectors as item_selectors,
    )
    from reverb import (
        limits as limits,
    )
    from reverb import (
        nest as nest,
    )
    from reverb import (
        pattern_dataset as pattern_dataset,
    )
    from reverb import (
        platform as platform,
    )
    from reverb import (
        pybind as pybind,
    )
    from reverb import (
        rate_limiters as rate_limiters,
    )
    from reverb import (
        replay_sample as replay_sample,
    )
    from reverb import (
        reverb_types as reverb_types,
    )
    from reverb import (
        sampler as sampler,
    )
    from reverb import (
        selectors as selectors,
    )
    from reverb import (
        server as server,
    )
    from reverb import (
        server_executable as server_executable,
    )
    from reverb import (
        signature as signature,
    )
    from reverb import (
        specs as specs,
    )
    from reverb import (
        structured as structured,
    )
    from reverb import (
        structured_writer as structured_writer,
    )
    from reverb import (
        tf_client as tf_client,
    )
    from reverb import (
        timestep_dataset as timestep_dataset,
    )
    from reverb import (
        trajectory_dataset as trajectory_dataset,
    )
    from reverb import (
        trajectory_writer as trajectory_writer,
    )
    from reverb.client import Client, Writer
    from reverb.errors import (
        CancelledError,
        DataLossError,
        DeadlineExceededError,
        FailedPreconditionError,
        InternalError,
        InvalidArgumentError,
        NotFoundError,
        ResourceExhaustedError,
        ReverbError,
        StatusError,
        UnavailableError,
        UnimplementedError,
    )
    from reverb.limits import Limits
    from reverb.pattern_dataset import PatternDataset
    from reverb.replay_sample import ReplaySample, SampleInfo
    from reverb.sampler import Sampler
    from reverb.server import Server, Table
    from reverb.specs import BoundedTensorSpec, TensorSpec
    from reverb.tf_client import TFClient
    from reverb.timestep_dataset import TimestepDataset
    from reverb.trajectory_dataset import TrajectoryDataset
    from reverb.trajectory_writer import TrajectoryColumn, TrajectoryWriter

    __version__: str

__all__ = [
    "BoundedTensorSpec",
    "CancelledError",
    "Client",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "Limits",
    "NotFoundError",
    "PatternDataset",
    "ReplaySample",
    "ResourceExhaustedError",
    "ReverbError",
    "SampleInfo",
    "Sampler",
    "Server",
    "StatusError",
    "TFClient",
    "Table",
    "TensorSpec",
    "TimestepDataset",
    "TrajectoryColumn",
    "TrajectoryDataset",
    "TrajectoryWriter",
    "UnavailableError",
    "UnimplementedError",
    "Writer",
    "checkpointers",
    "errors",
    "rate_limiters",
    "selectors",
    "structured",
]

_SUBMODULES = (
    "cc",
    "checkpointers",
    "client",
    "errors",
    "item_selectors",
    "limits",
    "nest",
    "pattern_dataset",
    "platform",
    "pybind",
    "rate_limiters",
    "replay_sample",
    "reverb_types",
    "sampler",
    "selectors",
    "server",
    "server_executable",
    "signature",
    "specs",
    "structured",
    "structured_writer",
    "tf_client",
    "timestep_dataset",
    "trajectory_dataset",
    "trajectory_writer",
)

_MEMBERS = {
    "client": ("Client", "Writer"),
    "errors": (
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
    ),
    "limits": ("Limits",),
    "pattern_dataset": ("PatternDataset",),
    "replay_sample": ("ReplaySample", "SampleInfo"),
    "sampler": ("Sampler",),
    "server": ("Server", "Table"),
    "specs": ("BoundedTensorSpec", "TensorSpec"),
    "tf_client": ("TFClient",),
    "timestep_dataset": ("TimestepDataset",),
    "trajectory_dataset": ("TrajectoryDataset",),
    "trajectory_writer": ("TrajectoryColumn", "TrajectoryWriter"),
}


def _dm_reverb_is_here() -> bool:
    """Whether dm-reverb was installed into this very folder: its native module lies here."""
    return _os.path.exists(_os.path.join(_os.path.dirname(__file__), "libpybind.so"))


_BOTH = (
    "the distributions dm-reverb and reverb-replay are installed in the same folder, where their "
    "files overwrite each other. Run: pip uninstall dm-reverb reverb-replay, then: pip install "
    "reverb-replay"
)

try:
    from reverb import _core as _core
except ImportError as error:
    if _dm_reverb_is_here():
        raise ImportError(f"reverb can't be imported: {_BOTH}") from error
    raise

if _dm_reverb_is_here():
    import warnings as _warnings

    _warnings.warn(f"reverb: {_BOTH}", RuntimeWarning, stacklevel=2)

_lazy_getattr, __dir__ = _lazy.attributes(
    __name__,
    modules=_SUBMODULES,
    names={name: f"{__name__}.{module}" for module, names in _MEMBERS.items() for name in names},
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib import metadata

        try:
            return metadata.version("reverb-replay")
        except metadata.PackageNotFoundError:  # run from a source tree
            return "0+unknown"
    return _lazy_getattr(name)
