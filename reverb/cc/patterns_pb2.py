# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of proto/patterns.proto, made on first use."""

from reverb import _protos

__getattr__, __dir__ = _protos.exports("patterns.proto")
