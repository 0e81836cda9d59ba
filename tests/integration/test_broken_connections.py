# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Connections that break, stall and overlap: no item twice, none lost that was confirmed."""

import random
import threading
import time

import numpy as np
import pytest

import reverb
from tests.integration.tcp_proxy import TcpProxy

_TABLES = """
import reverb
tables = [reverb.Table.queue("queue", 100_000), reverb.Table.queue("tiny", 2)]
"""


@pytest.fixture(scope="module")
def _server():
    from tests.integration._server_process import ServerProcess

    server = ServerProcess(_TABLES)
    yield server
    server.close()


@pytest.fixture
def proxy(_server, monkeypatch):
    # The clients stay on the connections that are broken.
    monkeypatch.setenv("REVERB_UNIX_SOCKET", "0")
    direct = reverb.Client(_server.address)
    for table in ("queue", "tiny"):
        direct.reset(table)
    proxy = TcpProxy(_server.port)
    yield proxy
    proxy.close()


def _client(proxy):
    return reverb.Client(proxy.address, connect_timeout=30, reconnect_timeout=30)


def _direct(proxy):
    return reverb.Client(f"localhost:{proxy.target_port}")


def _taken(proxy, table="queue"):
    """Takes all items: the first value of each, in order."""
    client = _direct(proxy)
    count = client.server_info()[table].current_size
    if count == 0:
        return []
    samples = client.sample(table, count, emit_timesteps=False, timeout=10)
    return [int(np.ravel(sample.data[0])[0]) for sample in samples]


def _inserted(proxy, table="queue"):
    return _direct(proxy).server_info()[table].rate_limiter_info.insert_stats.completed


def _eventually(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.mark.parametrize("seed", range(4))
def test_random_cuts(proxy, seed):
    rng = random.Random(seed)
    writer = _client(proxy).trajectory_writer(3, validate_items=False)
    legacy = _client(proxy).writer(2)
    wanted = 0
    for i in range(300):
        writer.append(np.int64(2 * i))
        writer.create_item("queue", 1.0, writer.history[-1:])
        legacy.append(np.int64(2 * i + 1))
        legacy.create_item("queue", 1, 1.0)
        wanted += 2
        if rng.random() < 0.03:
            proxy.cut()
        if rng.random() < 0.05:
            writer.flush()
        if rng.random() < 0.05:
            legacy.flush()
    writer.flush()
    legacy.flush()
    taken = _taken(proxy)
    assert sorted(taken) == list(range(wanted))
    assert [v for v in taken if v % 2 == 0] == list(range(0, wanted, 2))
    assert _inserted(proxy) == wanted


@pytest.mark.parametrize("size", [300, 1000, 3000, 10_000])
def test_cuts_at_every_place_of_a_message(proxy, size):
    # The first connections end in the middle of what they send.
    proxy.cut_after_bytes = size
    writer = _client(proxy).trajectory_writer(1, validate_items=False)
    for i in range(200):
        writer.append(np.full(100, i))
        writer.create_item("queue", 1.0, writer.history[-1])
    _eventually(lambda: len(proxy.connections) >= 2)
    proxy.cut_after_bytes = None
    writer.flush()
    assert _taken(proxy) == list(range(200))
    assert _inserted(proxy) == 200


def test_confirmations_that_were_lost(proxy):
    writer = _client(proxy).trajectory_writer(1, validate_items=False)
    writer.append(np.int64(0))
    writer.create_item("queue", 1.0, writer.history[-1])
    writer.flush()
    proxy.to_client.clear()
    for i in range(1, 50):
        writer.append(np.int64(i))
        writer.create_item("queue", 1.0, writer.history[-1])
    with pytest.raises(reverb.errors.DeadlineExceededError):
        writer.flush(timeout_ms=100)
    _eventually(lambda: _inserted(proxy) == 50)
    # What the server holds is taken before the client sends it again.
    assert _taken(proxy) == list(range(50))
    proxy.cut()
    proxy.to_client.set()
    writer.flush()
    assert _taken(proxy) == []
    assert _inserted(proxy) == 50


def test_two_streams_of_one_session_overlap(proxy):
    writer = _client(proxy).trajectory_writer(1, validate_items=False)
    for i in range(5):
        writer.append(np.int64(i))
        writer.create_item("tiny", 1.0, writer.history[-1])
    with pytest.raises(reverb.errors.DeadlineExceededError):
        writer.flush(timeout_ms=100)
    _eventually(lambda: _inserted(proxy, "tiny") == 2)
    # The server sees the old stream go on, with three inserts that wait.
    proxy.cut_client_sides()
    taken = []
    for _ in range(5):
        (sample,) = _direct(proxy).sample("tiny", 1, emit_timesteps=False, timeout=20)
        taken.append(int(sample.data[0]))
    writer.flush()
    assert taken == [0, 1, 2, 3, 4]
    assert _inserted(proxy, "tiny") == 5
    assert _direct(proxy).server_info()["tiny"].current_size == 0


def test_single_inserts(proxy):
    client = _client(proxy)
    done = 0
    stop = threading.Event()

    def cut():
        # Once per insert at most: a slow machine gets through as well.
        rng = random.Random(0)
        cut_at = -1
        while not stop.wait(rng.uniform(0.001, 0.02)):
            if done != cut_at:
                cut_at = done
                proxy.cut()

    cutting = threading.Thread(target=cut)
    cutting.start()
    try:
        for i in range(50):
            client.insert(np.int64(i), {"queue": 1.0})
            done += 1
    finally:
        stop.set()
        cutting.join()
    assert _taken(proxy) == list(range(50))
    assert _inserted(proxy) == 50


def test_more_items_than_a_server_remembers(proxy):
    # Items beyond the window wait for confirmations, and all arrive.
    writer = _client(proxy).trajectory_writer(1, validate_items=False)
    writer.append(np.int64(7))
    for _ in range(10_000):
        writer.create_item("queue", 1.0, writer.history[-1])
    proxy.cut()
    writer.flush()
    assert _inserted(proxy) == 10_000
