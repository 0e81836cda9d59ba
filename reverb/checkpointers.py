# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Another name of the module `reverb.platform.default.checkpointers`."""

import sys

from reverb.platform.default import checkpointers
from reverb.platform.default.checkpointers import *  # noqa: F403 (for type checkers)

sys.modules[__name__] = checkpointers
