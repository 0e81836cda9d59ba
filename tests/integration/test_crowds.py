# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Many writers at once: every item arrives once, as it was written."""

import collections
import concurrent.futures
import subprocess
import sys

import numpy as np
import pytest

import reverb
from tests.integration._server_process import ServerProcess

_ITEMS = 40  # of each writer
_SETUP = """
import reverb
tables = [reverb.Table.queue("queue", 100_000)]
"""

# What each kind of writer writes: items of the last up to 3 steps, `[writer, step]` each.
_PROGRAM = """
import sys
import numpy as np
import reverb

def write(client, number, kind, items):
    steps = [np.array([number, i], np.int32) for i in range(items)]
    if kind == "trajectory":
        with client.trajectory_writer(3) as writer:
            for i, step in enumerate(steps):
                writer.append({"x": step})
                last = writer.history["x"][-min(3, i + 1):]
                writer.create_item("queue", 1.0, {"x": last})
    elif kind == "structured":
        pattern = reverb.structured_writer.pattern_from_transform(
            {"x": None}, lambda ref: {"x": ref["x"][-1:]})
        writer = client.structured_writer(
            [reverb.structured_writer.create_config(pattern, "queue", conditions=())])
        for step in steps:
            writer.append({"x": step})
        writer.flush()
    elif kind == "legacy":
        with client.writer(3) as writer:
            for i, step in enumerate(steps):
                writer.append([step])
                writer.create_item("queue", min(3, i + 1), 1.0)
    elif kind == "insert":
        for step in steps:
            client.insert([step], {"queue": 1.0})
    elif kind == "load":
        assert client.load("queue", np.stack(steps)) == items
"""
_KINDS = {"trajectory": 3, "structured": 1, "legacy": 3, "insert": 1, "load": 1}

exec(_PROGRAM)


def _kind(number):
    return list(_KINDS)[number % len(_KINDS)]


@pytest.fixture
def server():
    server = ServerProcess(_SETUP)
    yield server
    server.close()


def _check(address, num_writers):
    count = num_writers * _ITEMS
    client = reverb.Client(address)
    assert client.server_info()["queue"].current_size == count
    keys = set()
    seen = collections.defaultdict(list)
    for sample in client.sample("queue", count, emit_timesteps=False, timeout=30):
        keys.add(sample.info.key)
        (steps,) = sample.data
        number, last = steps[-1].tolist()
        length = min(_KINDS[_kind(number)], last + 1)
        expected = [[number, i] for i in range(last + 1 - length, last + 1)]
        assert steps.tolist() == expected
        seen[number].append(last)
    assert len(keys) == count
    # In the order in which each writer made them.
    assert seen == {number: list(range(_ITEMS)) for number in range(num_writers)}


def test_64_writers_in_threads_of_one_client(server):
    client = reverb.Client(server.address)
    with concurrent.futures.ThreadPoolExecutor(64) as threads:
        done = [
            threads.submit(write, client, number, _kind(number), _ITEMS)  # noqa: F821 (above)
            for number in range(64)
        ]
        for each in done:
            each.result(60)
    _check(server.address, 64)


def test_8_processes(server):
    program = (
        _PROGRAM
        + "write(reverb.Client(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))"
    )
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                program,
                server.address,
                str(number),
                _kind(number),
                str(_ITEMS),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    _check(server.address, 8)


def test_writers_and_samplers_of_one_queue(server):
    """Writers fill a queue while samplers of several workers empty it."""
    count = 8 * 200
    clients = [reverb.Client(server.address) for _ in range(3)]

    def take(client):
        with client.sampler(
            "queue",
            num_workers=2,
            max_in_flight_samples_per_worker=5,
            max_samples=count // 2,
            timeout=30,
        ) as sampler:
            return [tuple(sample.data[0][-1].tolist()) for sample in sampler]

    with concurrent.futures.ThreadPoolExecutor(10) as threads:
        taken = [threads.submit(take, client) for client in clients[:2]]
        written = [
            threads.submit(write, clients[2], number, _kind(number), 200)  # noqa: F821 (above)
            for number in range(8)
        ]
        for each in written:
            each.result(60)
        values = [value for each in taken for value in each.result(60)]
    assert sorted(values) == [(number, i) for number in range(8) for i in range(200)]
    assert np.array(values).shape == (count, 2)
