# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Selectors as Python objects."""

import functools
import pickle

import pytest

import reverb
from reverb import item_selectors


def test_selectors_is_the_same_module():
    assert reverb.selectors is item_selectors


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: item_selectors.Fifo(), "FifoSelector"),
        (lambda: item_selectors.Lifo(), "LifoSelector"),
        (lambda: item_selectors.Uniform(), "UniformSelector"),
        (lambda: item_selectors.Prioritized(0.5), "PrioritizedSelector(priority_exponent=0.5)"),
        (
            lambda: item_selectors.Prioritized(priority_exponent=0.5),
            "PrioritizedSelector(priority_exponent=0.5)",
        ),
        (lambda: item_selectors.MinHeap(), "HeapSelector(sign=1)"),
        (lambda: item_selectors.MaxHeap(), "HeapSelector(sign=-1)"),
    ],
)
def test_repr(make, text):
    assert repr(make()) == text


def test_heaps_are_partials_and_the_others_classes():
    for name in ("MinHeap", "MaxHeap"):
        assert isinstance(getattr(item_selectors, name), functools.partial)
    for name in ("Fifo", "Lifo", "Uniform", "Prioritized"):
        assert isinstance(getattr(item_selectors, name), type)
    assert isinstance(item_selectors.MinHeap(), reverb.pybind.HeapSelector)


def test_seed_is_a_keyword():
    item_selectors.Uniform(seed=1)
    item_selectors.Prioritized(0.5, seed=1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: item_selectors.Fifo(1),
        lambda: item_selectors.Prioritized(),
        lambda: item_selectors.Prioritized("x"),
        lambda: item_selectors.MinHeap(1),
        lambda: item_selectors.MaxHeap(True),
    ],
)
def test_wrong_arguments(make):
    with pytest.raises((TypeError, ValueError)):
        make()


@pytest.mark.parametrize("name", ["Fifo", "Lifo", "Uniform"])
def test_selectors_cannot_be_pickled(name):
    with pytest.raises(TypeError):
        pickle.dumps(getattr(item_selectors, name)())
