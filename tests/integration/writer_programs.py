# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs for writers, played against a server and a model of `writer_model` alike.

At the end of a program all items are sampled, in order, and compared cell by cell. A program that
fails is made as short as possible, and printed.
"""

import random

import pytest

from tests.integration.writer_model import Refused, assert_same

TABLES = ("queue", "other", "signed")


class Program:
    """What the programs of all writers have in common."""

    # Operations (methods) and how often they are chosen.
    operations: dict[str, int]

    def __init__(self, client, seed, trace):
        self.client = client
        self.seed = seed
        self.rng = random.Random(str(seed))
        self.trace = trace
        self.wanted = []  # (key or None, item)
        self.counter = 0
        for table in TABLES:
            client.reset(table)
        self.begin()

    def play(self, steps):
        for step in steps:
            # The same, whatever has been left out before it.
            self.rng.seed(f"{self.seed}/{step}")
            (name,) = self.rng.choices(list(self.operations), self.operations.values())
            if self.trace:
                print(f"{step}: {name}")
            getattr(self, name)()
            self.compare()
        self.finish()
        self.compare_items()

    def begin(self):
        raise NotImplementedError

    def compare(self):
        """Looks at the writer after an operation."""

    def finish(self):
        self.writer.flush()

    def both(self, real, model, *shown):
        """Does an operation; where the model refuses it, the writer has to."""
        try:
            wanted, refused = model(), None
        except Refused as error:
            wanted, refused = None, error
        if self.trace:
            print("   ", *shown, f"refused: {refused.error}" if refused else "")
        if refused is None:
            return real(), wanted
        with pytest.raises(refused.error):
            real()
        return None

    def chance(self, probability):
        return self.rng.random() < probability

    def number(self):
        """Another one each time, so that no two cells look alike."""
        self.counter += 1
        return self.counter

    def compare_items(self):
        for table in TABLES:
            wanted = [(key, item) for key, item in self.wanted if item.table == table]
            assert self.client.server_info()[table].current_size == len(wanted)
            samples = self.sample(table, len(wanted)) if wanted else []
            for (info, data), (key, item) in zip(samples, wanted, strict=True):
                assert key in (None, info.key)
                assert info.priority == pytest.approx(item.priority, rel=1e-12)
                for column, values in zip(data, item.columns, strict=True):
                    assert_same(column, values)

    def sample(self, table, count):
        return self.client.sample(table, count, emit_timesteps=False, timeout=10)


def run(program, client, seed, length):
    def fails(steps):
        try:
            program(client, seed, False).play(steps)
        except (Exception, pytest.fail.Exception):
            return True
        return False

    steps = list(range(length))
    if not fails(steps):
        return
    size = length // 2
    while size > 0:
        at = 0
        while at < len(steps):
            shorter = steps[:at] + steps[at + size :]
            if fails(shorter):
                steps = shorter
            else:
                at += size
        size //= 2
    program(client, seed, True).play(steps)
    pytest.fail(f"the steps {steps} of seed {seed} fail sometimes")
