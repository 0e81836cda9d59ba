# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpointers under the module paths that dm-reverb programs import."""

from reverb import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, modules=("checkpointers_lib", "default"))
