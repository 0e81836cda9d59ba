# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The stand-alone server and its configuration."""

from reverb import _lazy

__getattr__, __dir__ = _lazy.attributes(
    __name__, modules=("reverb_config_pb2", "server_from_proto", "server_main")
)
