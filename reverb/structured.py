# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Another name of the module `reverb.structured_writer`."""

import sys

from reverb import structured_writer
from reverb.structured_writer import *  # noqa: F403 (for type checkers)

sys.modules[__name__] = structured_writer
