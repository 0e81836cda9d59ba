# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The unix socket: chosen by itself on one host, and left again when that is better."""

import os
import stat
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import reverb
from tests.integration._server_process import ServerProcess

_TABLES = """
import reverb
tables = [reverb.Table.queue("queue", 10_000)]
"""


@pytest.fixture
def folder(monkeypatch):
    """Where the servers of a test make the folders of their sockets."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("REVERB_UNIX_SOCKET", raising=False)
    # pytest's own folders may be too long for the address of a socket.
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        monkeypatch.setenv("TMPDIR", path)
        yield Path(path)


@pytest.fixture
def start(folder):
    servers = []

    def start(port=0):
        servers.append(ServerProcess(_TABLES, port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def _transport(client):
    return client._client.transport


def _sockets(folder):
    return sorted(folder.glob("reverb-socket-*/s"))


def _eventually(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def _use_all_calls(client, values):
    """Every kind of stream and call; takes what it has inserted."""
    writer = client.trajectory_writer(1)
    for value in values:
        writer.append([np.int64(value)])
        writer.create_item("queue", 1.0, [writer.history[0][-1:]])
    writer.flush()
    client.insert([np.int64(-1)], {"queue": 1.0})
    info = client.server_info()["queue"]
    assert info.current_size == len(values) + 1
    samples = list(client.sample("queue", len(values) + 1, emit_timesteps=False, timeout=20))
    assert [int(s.data[0][0]) for s in samples] == [*values, -1]
    client.mutate_priorities("queue", deletes=[samples[0].info.key])
    client.reset("queue")


def test_is_chosen_by_itself(start):
    client = reverb.Client(start().address)
    client.server_info()
    assert _transport(client) == "unix"
    _use_all_calls(client, range(100))
    assert _transport(client) == "unix"


def test_streams_that_came_first_move_over(start):
    client = reverb.Client(start().address)
    client.insert([np.int64(0)], {"queue": 1.0})
    _eventually(lambda: _transport(client) == "unix")
    client.reset("queue")
    _use_all_calls(client, range(10))
    assert _transport(client) == "unix"


def test_large_messages(start):
    client = reverb.Client(start().address)
    client.server_info()
    rng = np.random.default_rng(0)
    steps = [rng.integers(0, 255, 8_000_000, np.uint8) for _ in range(4)]
    with client.trajectory_writer(1) as writer:
        for step in steps:
            writer.append([step])
            writer.create_item("queue", 1.0, [writer.history[0][-1:]])
    for step, sample in zip(
        steps, client.sample("queue", 4, emit_timesteps=False, timeout=20), strict=True
    ):
        np.testing.assert_array_equal(sample.data[0][0], step)
    assert _transport(client) == "unix"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_server_that_comes_back(start, end):
    server = start()
    client = reverb.Client(server.address, reconnect_timeout=60)
    client.server_info()
    writer = client.trajectory_writer(1)
    writer.append([np.int64(0)])
    writer.create_item("queue", 1.0, [writer.history[0][-1:]])
    writer.flush()
    sampler = client.sampler("queue", timeout=60, max_in_flight_samples_per_worker=1)
    assert int(next(sampler).data[0][0]) == 0
    assert _transport(client) == "unix"
    getattr(server, end)()
    server = start(server.port)
    writer.append([np.int64(1)])
    writer.create_item("queue", 1.0, [writer.history[0][-1:]])
    writer.flush()
    assert int(next(sampler).data[0][0]) == 1
    sampler.close()
    client.server_info()
    assert _transport(client) == "unix"
    client.reset("queue")
    _use_all_calls(client, range(10))


def test_folder_is_private_and_goes_with_its_server(start, folder):
    server = start()
    (socket,) = _sockets(folder)
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    server.stop()
    assert list(folder.iterdir()) == []


def test_what_killed_servers_leave_is_taken_away(start, folder):
    server = start()
    server.kill()
    (left,) = _sockets(folder)
    start()
    assert len(_sockets(folder)) == 2  # it may be about to listen
    other = start()
    os.utime(left.parent, (0, 0))
    for socket in _sockets(folder):
        os.utime(socket.parent, (0, 0))
    start()
    assert not left.parent.exists()
    assert len(_sockets(folder)) == 3  # those that live stay
    assert reverb.Client(other.address).server_info()


@pytest.mark.parametrize("side", ["server", "client"])
def test_switched_off(start, monkeypatch, folder, side):
    if side == "server":
        monkeypatch.setenv("REVERB_UNIX_SOCKET", "0")
    server = start()
    monkeypatch.setenv("REVERB_UNIX_SOCKET", "0" if side == "client" else "1")
    assert len(_sockets(folder)) == (side == "client")
    client = reverb.Client(server.address)
    _use_all_calls(client, range(10))
    assert _transport(client) == "tcp"


def test_folder_that_others_can_enter_is_not_trusted(start, folder):
    server = start()
    (socket,) = _sockets(folder)
    socket.parent.chmod(0o755)
    client = reverb.Client(server.address)
    _use_all_calls(client, range(10))
    assert _transport(client) == "tcp"


def test_another_server_at_the_socket(start, folder):
    server = start()
    (socket,) = _sockets(folder)
    start()
    (other,) = set(_sockets(folder)) - {socket}
    socket.unlink()
    socket.symlink_to(other)
    client = reverb.Client(server.address)
    _use_all_calls(client, range(10))
    assert _transport(client) == "tcp"


def test_socket_is_gone(start, folder):
    server = start()
    (socket,) = _sockets(folder)
    socket.unlink()
    client = reverb.Client(server.address)
    _use_all_calls(client, range(10))
    assert _transport(client) == "tcp"


def test_place_that_does_not_do_for_a_socket(folder, monkeypatch, start):
    deep = folder / ("x" * 120)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))  # too long for an address
    server = start()
    client = reverb.Client(server.address)
    client.server_info()
    # The next place is taken.
    assert _transport(client) == "unix"
    assert list(deep.iterdir()) == []
    server.stop()


def test_in_process(folder):
    server = reverb.Server([reverb.Table.queue("queue", 100)])
    assert _transport(server.localhost_client()) == "in_process"
    server.stop()
