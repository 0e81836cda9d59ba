# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The millisecond timeouts of the writers' calls."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable
from typing import Any

from reverb import errors


def wait(call: Callable[..., None], *args: Any, timeout_ms: int | None) -> None:
    """Calls `call(*args, seconds)`.

    Args:
      call: Waits for the server.
      *args: Its other arguments.
      timeout_ms: Milliseconds; None for no limit, 0 or less to look once.

    Raises:
      TypeError: `timeout_ms` is not an int.
      DeadlineExceededError: With the timeout in its text.
    """
    seconds = None if timeout_ms is None else max(0, operator.index(timeout_ms)) / 1000
    try:
        call(*args, seconds)
    except errors.DeadlineExceededError as error:
        delta = datetime.timedelta(seconds=seconds or 0)
        raise errors.DeadlineExceededError(f"{error} (timeout: {delta})") from error
