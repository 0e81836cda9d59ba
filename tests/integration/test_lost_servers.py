# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Every blocking call of writers and samplers, and a server that stops, dies, or comes back.

A call that waits when the server goes raises UnavailableError once the server has been away for
`reconnect_timeout`; if it comes back in time, the call goes on as if nothing had happened.
"""

import contextlib
import gc
import threading
import time

import numpy as np
import pytest

import reverb
from tests.integration._server_process import TABLES

_AWAY = 0.3  # seconds


def _trajectory_writer(client):
    """A writer with an item that a full queue doesn't take."""
    writer = client.trajectory_writer(1)
    writer.append([1])
    writer.create_item("queue", 1.0, [writer.history[0][:]])
    return writer


def _structured_writer(client):
    pattern = reverb.structured_writer.pattern_from_transform([1], lambda ref: {"x": ref[0][-1]})
    writer = client.structured_writer(
        [reverb.structured_writer.create_config(pattern, "queue", conditions=())]
    )
    writer.append([1])
    return writer


def _legacy_writer(client):
    writer = client.writer(1)
    writer.append([1])
    writer.create_item("queue", 1, 1.0)
    return writer


def _leave(writer):
    with writer:
        pass


def _bounded_append(client):
    """Appends, flushing when there is no room: what a program with a bound on memory does."""
    writer = client.trajectory_writer(1, max_pending_bytes=1)
    while True:
        try:
            writer.append([1])
            writer.create_item("queue", 1.0, [writer.history[0][:]])
        except reverb.ResourceExhaustedError:
            writer.flush()


def _legacy_append(client):
    """A legacy writer's append waits for its window."""
    writer = client.writer(1, max_in_flight_items=1)
    for _ in range(10):
        writer.append([1])
        writer.create_item("queue", 1, 1.0)


# What waits for the full table "queue" to take an item.
_INSERTING = {
    "insert": lambda client: client.insert([1], {"queue": 1.0}),
    "writer.flush": lambda client: _legacy_writer(client).flush(),
    "writer.close": lambda client: _legacy_writer(client).close(),
    "writer.append": _legacy_append,
    "leaving a writer": lambda client: _leave(_legacy_writer(client)),
    "trajectory_writer.flush": lambda client: _trajectory_writer(client).flush(),
    "trajectory_writer.flush(timeout_ms)": lambda client: _trajectory_writer(client).flush(
        timeout_ms=60_000
    ),
    "trajectory_writer.end_episode": lambda client: _trajectory_writer(client).end_episode(),
    "trajectory_writer.append with a bound": _bounded_append,
    "leaving a trajectory_writer": lambda client: _leave(_trajectory_writer(client)),
    "structured_writer.flush": lambda client: _structured_writer(client).flush(),
    "structured_writer.end_episode": lambda client: _structured_writer(client).end_episode(),
    "load": lambda client: client.load("queue", np.arange(50)),
}
# What waits for an item of the empty table "fifo".
_SAMPLING = {
    "sample": lambda client: next(client.sample("fifo")),
    "sampler": lambda client: next(client.sampler("fifo")),
    "sampler of two workers": lambda client: next(client.sampler("fifo", num_workers=2)),
    "sampler of batches": lambda client: next(client.sampler("fifo", batch_size=2)),
    "sampler with a timeout": lambda client: next(client.sampler("fifo", timeout=60)),
}
_BLOCKING = {**_INSERTING, **_SAMPLING}


class _Call:
    """A call in a thread of its own."""

    def __init__(self, call, client):
        self.error = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(call, client), daemon=True)
        self._thread.start()

    def _run(self, call, client):
        try:
            call(client)
        except Exception as error:
            self.error = error
        self._done.set()

    def wait(self, seconds=20):
        assert self._done.wait(seconds), "the call still waits"
        return self.error

    @property
    def done(self) -> bool:
        return self._done.is_set()


def _fill(address):
    with reverb.Client(address) as client:
        for _ in range(3):
            client.insert([1], {"queue": 1.0}, timeout=10)


def _wait_until_blocked(address):
    """Until inserts and samples wait at the server."""
    client = reverb.Client(address)
    waiting = 0
    while waiting < 2:
        tables = client.server_info()
        waiting = (tables["queue"].table_worker_time.waiting_for_sampling_ms > 0) + (
            tables["fifo"].table_worker_time.waiting_for_inserts_ms > 0
        )
        time.sleep(0.005)


def _wrong(calls, expected):
    """Those that didn't end as expected."""
    errors = {name: call.wait() for name, call in calls.items()}
    return {name: error for name, error in errors.items() if not isinstance(error, expected)}


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_server_that_goes_ends_all_calls(own_server, end):
    _fill(own_server.address)
    clients = {
        name: reverb.Client(own_server.address, reconnect_timeout=_AWAY) for name in _BLOCKING
    }
    for client in clients.values():
        client.server_info()  # it was reached
    calls = {name: _Call(_BLOCKING[name], client) for name, client in clients.items()}
    _wait_until_blocked(own_server.address)
    assert [name for name, call in calls.items() if call.done] == []
    getattr(own_server, end)()
    assert _wrong(calls, reverb.UnavailableError) == {}
    assert all(own_server.address in str(call.error) for call in calls.values())
    # So do the next ones, soon.
    again = {name: _Call(_BLOCKING[name], client) for name, client in clients.items()}
    assert _wrong(again, reverb.UnavailableError) == {}


def test_a_server_that_comes_back_continues_all_calls(own_server, start_server):
    _fill(own_server.address)
    calls = {
        name: _Call(call, reverb.Client(own_server.address, reconnect_timeout=60))
        for name, call in _BLOCKING.items()
        if "bound" not in name  # which never ends
    }
    _wait_until_blocked(own_server.address)
    own_server.kill()
    # Its tables are empty now, and there is room for all.
    roomy = TABLES.replace('queue("queue", 3)', 'queue("queue", 1000)')
    server = start_server(roomy, own_server.port)
    other = reverb.Client(server.address)
    for _ in range(2):
        other.insert([7], {"fifo": 1.0}, timeout=20)
    assert _wrong(calls, type(None)) == {}
    # No item is lost, and none is there twice. The last ones of a writer that wasn't flushed come
    # when they come.
    inserted = [
        name for name in calls if name in _INSERTING and name not in ("load", "writer.append")
    ]
    expected = len(inserted) + 50 + 10
    while (size := other.server_info()["queue"].current_size) < expected:
        time.sleep(0.005)
    assert size == expected


def _flush_when_it_is_back(writer):
    """Each try ends after `_AWAY`, which a new connection on a slow machine may exceed."""
    for _ in range(100):
        with contextlib.suppress(reverb.UnavailableError):
            return writer.flush()
    raise AssertionError("the server is back, but the writer doesn't find it")


@pytest.mark.parametrize("name", ["trajectory_writer", "structured_writer", "writer"])
def test_what_is_pending_survives_the_wait(own_server, start_server, name):
    make = {
        "trajectory_writer": _trajectory_writer,
        "structured_writer": _structured_writer,
        "writer": _legacy_writer,
    }[name]
    _fill(own_server.address)
    client = reverb.Client(own_server.address, reconnect_timeout=_AWAY)
    client.server_info()  # it was reached
    writer = make(client)
    own_server.kill()
    with pytest.raises(reverb.UnavailableError):
        writer.flush()
    server = start_server(TABLES, own_server.port)
    _flush_when_it_is_back(writer)
    assert reverb.Client(server.address).server_info()["queue"].current_size == 1
    writer.append([2])


@pytest.mark.parametrize("end", ["stop", "kill", "freeze"])
@pytest.mark.parametrize("make", [_trajectory_writer, _structured_writer, _legacy_writer])
def test_dropping_a_writer_never_waits(own_server, make, end):
    _fill(own_server.address)
    client = reverb.Client(own_server.address, reconnect_timeout=_AWAY)
    writer = make(client)
    getattr(own_server, end)()
    begin = time.monotonic()
    with contextlib.suppress(ResourceWarning):
        del writer
    gc.collect()
    assert time.monotonic() - begin < 5
    if end == "freeze":
        own_server.thaw()


@pytest.mark.parametrize(
    "call",
    [
        lambda client: _trajectory_writer(client).flush(timeout_ms=300),
        lambda client: _trajectory_writer(client).end_episode(timeout_ms=300),
        lambda client: _structured_writer(client).flush(timeout_ms=300),
        lambda client: next(client.sampler("fifo", timeout=0.3)),
        lambda client: client.load("queue", np.arange(50), timeout=0.3),
    ],
    ids=["flush", "end_episode", "structured flush", "sampler", "load"],
)
def test_a_frozen_server_lets_timeouts_pass(own_server, call):
    _fill(own_server.address)
    client = reverb.Client(own_server.address)
    client.server_info()  # the signatures are known
    client.trajectory_writer(1)
    own_server.freeze()
    try:
        assert isinstance(_Call(call, client).wait(), reverb.DeadlineExceededError)
    finally:
        own_server.thaw()


def test_appending_and_creating_items_never_raises_for_a_lost_server(own_server):
    client = reverb.Client(own_server.address, reconnect_timeout=_AWAY)
    writer = client.trajectory_writer(5)  # asks for the signatures: the server was reached
    structured = _structured_writer(client)
    own_server.kill()
    with pytest.raises(reverb.UnavailableError):
        _trajectory_writer(client).flush()
    for i in range(100):
        writer.append([i])
        writer.create_item("queue", 1.0, [writer.history[0][-1:]])
        structured.append([i])
    assert writer.episode_steps == 100


def test_a_writer_whose_server_was_never_there():
    client = reverb.Client("localhost:1", connect_timeout=_AWAY)
    with pytest.raises(reverb.UnavailableError, match="localhost:1"):
        client.trajectory_writer(1)
    writer = client.trajectory_writer(1, validate_items=False)
    writer.append([1])
    writer.create_item("queue", 1.0, [writer.history[0][:]])
    with pytest.raises(reverb.UnavailableError, match="localhost:1"):
        writer.flush()
    with pytest.raises(reverb.UnavailableError, match="localhost:1"):
        next(client.sampler("t"))
    with pytest.raises(reverb.UnavailableError, match="localhost:1"):
        client.load("t", [[1]])
