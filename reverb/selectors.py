# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Another name of the module `reverb.item_selectors`."""

import sys

from reverb import item_selectors
from reverb.item_selectors import *  # noqa: F403 (for type checkers)

sys.modules[__name__] = item_selectors
