# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What the TensorFlow names say until the TensorFlow layer is there."""

from __future__ import annotations

import importlib.util
import sys
from typing import NoReturn

from reverb import errors


def unavailable(name: str) -> NoReturn:
    """Raises what the use of `reverb.<name>` leads to.

    Raises:
      ImportError: TensorFlow is not installed.
      UnimplementedError: It is, and our side is missing.
    """
    if "tensorflow" not in sys.modules and importlib.util.find_spec("tensorflow") is None:
        raise ImportError(f"reverb.{name} needs TensorFlow: pip install tensorflow")
    raise errors.UnimplementedError(
        f"reverb.{name} is not available in this version: the TensorFlow layer comes in a later one"
    )
