# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs against a table and against a few lines of Python that say what it does."""

import random

import pytest

import reverb
from reverb import _core


class _Model:
    """A FIFO table with `max_size` and `max_times_sampled`; no limits on rates but MinSize(1)."""

    def __init__(self, max_size, max_times_sampled):
        self.max_size = max_size
        self.max_times_sampled = max_times_sampled
        self.items = {}  # value -> [priority, times_sampled], oldest first
        self.inserts = self.samples = 0

    def insert(self, value, priority):
        self.items[value] = [priority, 0]
        self.inserts += 1
        if len(self.items) > self.max_size:
            del self.items[next(iter(self.items))]

    def sample(self):
        value, item = next(iter(self.items.items()))
        item[1] += 1
        self.samples += 1
        result = value, item[0], item[1], len(self.items)
        if 0 < self.max_times_sampled <= item[1]:
            del self.items[value]
        return result

    def reset(self):
        self.items.clear()
        self.inserts = self.samples = 0


@pytest.mark.parametrize("in_process", [True, False], ids=["in-process", "grpc"])
@pytest.mark.parametrize("seed", range(6))
def test_random_programs(in_process, seed):
    rng = random.Random(seed)
    max_size, max_times_sampled = rng.choice([1, 3, 10]), rng.choice([0, 1, 2])
    table = reverb.Table(
        "t",
        reverb.selectors.Fifo(),
        reverb.selectors.Fifo(),
        max_size,
        reverb.rate_limiters.MinSize(1),
        max_times_sampled,
    )
    model = _Model(max_size, max_times_sampled)
    keys = {}
    with reverb.Server([table]) as server:
        client = _core.Client(f"localhost:{server.port}", 10, 10, in_process)
        for step in range(300):
            action = rng.choice(["insert", "insert", "sample", "sample", "mutate", "reset"])
            if action == "insert":
                priority = rng.random()
                client.insert([step], {"t": priority})
                model.insert(step, priority)
            elif action == "sample" and model.items:
                info, data = client.new_sampler("t", 1).next()
                key, probability, size, priority, times = info
                assert (int(data[0][0]), priority, times, size) == model.sample()
                assert probability == 1.0
                keys[int(data[0][0])] = key
            elif action == "mutate" and keys:
                known = rng.sample(sorted(keys), min(len(keys), 3))
                deletes, updates = known[:1], known[1:]
                priorities = {value: rng.random() for value in updates}
                client.mutate_priorities(
                    "t",
                    {keys[value]: priority for value, priority in priorities.items()},
                    [keys[value] for value in deletes],
                )
                for value in deletes:
                    model.items.pop(value, None)
                for value, priority in priorities.items():
                    if value in model.items:
                        model.items[value][0] = priority
            elif action == "reset" and rng.random() < 0.1:
                client.reset("t")
                model.reset()
            info = table.info
            assert info.current_size == len(model.items)
            assert info.rate_limiter_info.insert_stats.completed == model.inserts
            assert info.rate_limiter_info.sample_stats.completed == model.samples
        client.close()
