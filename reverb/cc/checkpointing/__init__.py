# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of dm-reverb's checkpoints."""

from reverb import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, modules=("checkpoint_pb2",))
