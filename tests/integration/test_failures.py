# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that freeze, die or are shared, and clients that come and go."""

import gc
import os
import threading

import numpy as np
import pytest

import reverb
from tests.integration._server_process import TABLES


def _table(name="t"):
    return reverb.Table(
        name,
        reverb.selectors.Uniform(),
        reverb.selectors.Fifo(),
        10,
        reverb.rate_limiters.MinSize(1),
    )


def _in_threads(calls):
    """Runs each call in a thread of its own; what they raised, by name, as it comes."""
    raised = {}

    def run(name, call):
        try:
            call()
        except Exception as error:
            raised[name] = error

    threads = [threading.Thread(target=run, args=each, daemon=True) for each in calls.items()]
    for thread in threads:
        thread.start()
    return threads, raised


def test_a_server_that_could_not_start_leaves_its_tables_usable():
    table = _table()
    with reverb.Server([_table()]) as other:
        with pytest.raises(ValueError, match=str(other.port)):
            reverb.Server([table], port=other.port)
    with reverb.Server([table]) as server:
        client = server.localhost_client()
        client.insert([1], {"t": 1.0}, timeout=10)
        assert next(client.sample("t", timeout=10))[0].data == [1]


def test_a_table_closed_by_its_other_server_is_an_error(client_of):
    table = _table()
    with reverb.Server([table]) as first, reverb.Server([table, _table("u")]) as second:
        client = client_of(second)
        client.insert([1], {"t": 1.0})
        first.stop()
        with pytest.raises(RuntimeError, match="'t' was closed"):
            client.insert([1], {"t": 1.0})
        with pytest.raises(RuntimeError, match="'t' was closed"):
            next(client.sample("t"))
        with pytest.raises(RuntimeError, match="'t' was closed"), client.writer(1) as writer:
            writer.append([1])
            writer.create_item("t", 1, 1.0)
        client.insert([1], {"u": 1.0})


@pytest.fixture(params=["in process", "over the network"])
def client_of(request):
    """Makes a client of a server in this process, of either kind."""

    def make(server):
        if request.param == "in process":
            return server.localhost_client()
        client = reverb.Client(f"localhost:{server.port}")
        client._client = reverb._core.Client(f"localhost:{server.port}", 10.0, 10.0, False)
        return client

    return make


def test_a_frozen_server_is_noticed(own_server):
    client = reverb.Client(own_server.address, reconnect_timeout=0.5)
    fresh = reverb.Client(own_server.address, connect_timeout=0.5)
    client.insert([1], {"uniform": 1.0})
    next(client.sample("uniform"))
    own_server.freeze()
    try:
        quick = {
            "insert": lambda: client.insert([1], {"uniform": 1.0}, timeout=0.5),
            "sample": lambda: next(client.sample("uniform", timeout=0.5)),
            "info": lambda: client.server_info(1),
            "fresh": lambda: fresh.insert([1], {"uniform": 1.0}, timeout=0.3),
        }
        threads, raised = _in_threads(quick)
        for thread in threads:
            thread.join(10)
        assert {type(error) for error in raised.values()} == {reverb.DeadlineExceededError}
        assert raised.keys() == quick.keys()
        for error in raised.values():
            assert own_server.address in str(error)
        # Without a timeout: by the pings, within 20 s and the timeout for coming back.
        patient = {
            "insert": lambda: client.insert([1], {"uniform": 1.0}),
            "sample": lambda: next(client.sample("uniform")),
            "info": client.server_info,
            "mutate": lambda: client.mutate_priorities("uniform", {1: 1.0}),
            "reset": lambda: client.reset("uniform"),
        }
        threads, raised = _in_threads(patient)
        for thread in threads:
            thread.join(40)
        assert {type(error) for error in raised.values()} == {reverb.UnavailableError}
        assert raised.keys() == patient.keys()
    finally:
        own_server.thaw()
    client.reset("fifo")
    client.insert([1], {"fifo": 1.0})
    assert next(client.sample("fifo"))[0].data == [1]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_threads_at_one_client_end_with_the_server(own_server, end):
    client = reverb.Client(own_server.address, reconnect_timeout=0.3)
    client.insert([1], {"uniform": 1.0})
    done = threading.Semaphore(0)

    def forever(call):
        while True:
            call()
            done.release()

    calls = {
        "insert": lambda: client.insert([1], {"uniform": 1.0}),
        "sample": lambda: next(client.sample("uniform")),
        "mutate": lambda: client.mutate_priorities("uniform", {1: 1.0}),
        "reset": lambda: client.reset("fifo"),
        "info": client.server_info,
    }
    threads, raised = _in_threads(
        {
            (name, i): lambda call=call: forever(call)
            for name, call in calls.items()
            for i in range(3)
        }
    )
    for _ in range(200):
        assert done.acquire(timeout=30)
    getattr(own_server, end)()
    for thread in threads:
        thread.join(20)
    assert len(raised) == len(threads)
    assert {type(error) for error in raised.values()} == {reverb.UnavailableError}


def _resources():
    gc.collect()
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def test_servers_leave_nothing_behind():
    def cycle():
        with reverb.Server([_table()]) as server:
            client = server.localhost_client()
            client.insert([1], {"t": 1.0})
            next(client.sample("t"))

    for _ in range(20):
        cycle()
    before = _resources()
    for _ in range(200):
        cycle()
    after = _resources()
    # The runtime may start a few threads more, once.
    assert after[0] <= before[0] + 5
    assert after[1] <= before[1] + 5


def test_many_clients_and_dropped_generators(server):
    clients = [reverb.Client(server.address) for _ in range(200)]
    for i, client in enumerate(clients):
        client.insert([i], {"uniform": 1.0})
        samples = client.sample("uniform", 50)
        next(samples)
        if i % 2:
            samples.close()
    assert clients[0].server_info()["uniform"].current_size == 100
    while clients:
        clients.pop().close()
    client = reverb.Client(server.address)
    client.insert([1], {"uniform": 1.0})


def _resident_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


@pytest.mark.skipif(
    "REVERB_SANITIZED" in os.environ, reason="AddressSanitizer holds on to what is freed"
)
def test_a_full_table_does_not_grow():
    with reverb.Server([_table()]) as server:
        client = server.localhost_client()
        step = [np.zeros(1000, np.float32), np.int64(1)]
        for _ in range(2000):
            client.insert(step, {"t": 1.0})
        before = _resident_mb("self")
        for _ in range(20_000):
            client.insert(step, {"t": 1.0})
        assert _resident_mb("self") < before + 20


def test_large_arrays_pass(own_server):
    client = reverb.Client(own_server.address)
    data = np.zeros(100_000_000, np.uint8)
    data[::4096] = np.random.default_rng(1).integers(0, 255, len(data[::4096]))
    client.insert([data], {"fifo": 1.0})
    sample = next(client.sample("fifo", emit_timesteps=False))
    np.testing.assert_array_equal(sample.data[0][0], data)


def test_the_server_comes_back_at_its_port(own_server, start_server):
    client = reverb.Client(own_server.address, reconnect_timeout=20)
    client.insert([1], {"uniform": 1.0})
    next(client.sample("uniform"))
    waiting, raised = _in_threads({"sample": lambda: next(client.sample("fifo"))})
    own_server.kill()
    start_server(TABLES, own_server.port)
    client.insert([2], {"fifo": 1.0})
    waiting[0].join(20)
    assert not waiting[0].is_alive()
    assert raised == {}
