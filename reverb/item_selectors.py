# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Selectors: which item a table samples, and which it removes when it is full.

A selector object belongs to one table and has one role there.
"""

import functools

from reverb import _core

__all__ = ["Fifo", "Lifo", "MaxHeap", "MinHeap", "Prioritized", "Uniform"]

# The oldest item.
Fifo = _core.FifoSelector

# The newest item.
Lifo = _core.LifoSelector

# Any item, each with the same probability. `Uniform(seed=None)`.
Uniform = _core.UniformSelector

# An item with a probability in proportion to `priority ** priority_exponent`.
# `Prioritized(priority_exponent, seed=None)`.
Prioritized = _core.PrioritizedSelector

# The item with the smallest, or the largest, priority; among equals the one whose
# priority was set first.
MinHeap = functools.partial(_core.HeapSelector, True)
MaxHeap = functools.partial(_core.HeapSelector, False)
