# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The client for TensorFlow graphs."""

from __future__ import annotations

from reverb import _tf_layer

__all__ = ["TFClient"]


class TFClient:
    """Samples, inserts and updates by TensorFlow operations."""

    def __init__(self, server_address: str, shared_name: str = "reverb") -> None:
        """Not available yet."""
        _tf_layer.unavailable("TFClient")
