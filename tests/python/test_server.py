# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0

import gc
import pickle
import socket
import threading
import weakref

import pytest

import reverb


def _queue(name="q", size=10):
    return reverb.Table.queue(name, size)


@pytest.fixture
def server():
    with reverb.Server([_queue()]) as server:
        yield server


def test_a_port_is_chosen(server):
    assert isinstance(server.port, int)
    assert 0 < server.port < 65536
    with reverb.Server([_queue()], port=0) as other:
        assert other.port not in (0, server.port)
        other.localhost_client().insert([1], {"q": 1.0})


def test_a_given_port_is_used_again_after_stop(server):
    server.stop()
    with reverb.Server([_queue()], port=server.port) as other:
        assert other.port == server.port


def test_a_taken_port(server):
    with pytest.raises(ValueError, match=str(server.port)):
        reverb.Server([_queue()], port=server.port)
    with socket.create_server(("", 0)) as listener:
        with pytest.raises(ValueError):
            reverb.Server([_queue()], port=listener.getsockname()[1])


@pytest.mark.parametrize("port", [-1, 65536, 2**31 - 1])
def test_ports_out_of_range(port):
    with pytest.raises(ValueError):
        reverb.Server([_queue()], port=port)


@pytest.mark.parametrize("port", ["8000", 1.0])
def test_ports_of_wrong_type(port):
    with pytest.raises(TypeError):
        reverb.Server([_queue()], port=port)


@pytest.mark.parametrize("tables", [None, [], ()])
def test_no_tables(tables):
    with pytest.raises(ValueError):
        reverb.Server(tables)


def test_tables_of_wrong_type():
    with pytest.raises(TypeError):
        reverb.Server(["q"])
    with pytest.raises(TypeError):
        reverb.Server([None])


def test_duplicate_names_are_all_listed():
    with pytest.raises(ValueError) as caught:
        reverb.Server([_queue(name) for name in ("a", "b", "c", "a", "b")])
    assert "a" in str(caught.value) and "b" in str(caught.value)


def test_a_generator_of_tables():
    with reverb.Server(_queue(name) for name in ("a", "b")) as server:
        assert set(server.localhost_client().server_info()) == {"a", "b"}


def test_checkpointers():
    with reverb.Server([_queue()], checkpointer=reverb.checkpointers.default_checkpointer()) as s:
        with pytest.raises(NotImplementedError):
            s.localhost_client().checkpoint()
    with pytest.raises(AttributeError):
        reverb.Server([_queue()], checkpointer="/tmp")


def test_repr(server):
    assert repr(server).startswith(
        f"Server(port={server.port}, reverb_service=ReverbServiceAsync(tables=[Table(sampler="
    )


def test_stop_may_be_repeated_and_wait_returns():
    server = reverb.Server([_queue()])
    assert server.wait(timeout=0) is False
    waiter = threading.Thread(target=server.wait)
    waiter.start()
    server.stop()
    server.stop()
    waiter.join(20)
    assert not waiter.is_alive()
    assert server.wait() is None
    assert server.wait(timeout=1) is True
    assert server.port > 0


def test_tables_answer_after_stop():
    table = _queue()
    server = reverb.Server([table])
    server.localhost_client().insert([1], {"q": 1.0})
    server.stop()
    assert table.info.current_size == 1
    assert table.can_sample(1)
    with reverb.Server([table]) as other:
        client = reverb.Client(f"localhost:{other.port}", reconnect_timeout=0.2)
        with pytest.raises(RuntimeError):
            client.insert([2], {"q": 1.0})


def test_one_table_in_two_servers():
    table = _queue()
    with reverb.Server([table]) as a, reverb.Server([table]) as b:
        a.localhost_client().insert([1], {"q": 1.0})
        assert int(next(b.localhost_client().sample("q"))[0].data[0]) == 1


def test_a_dropped_server_stops():
    server = reverb.Server([_queue()])
    client = reverb.Client(f"localhost:{server.port}", connect_timeout=0.2, reconnect_timeout=0.2)
    client.insert([1], {"q": 1.0})
    gone = weakref.ref(server)
    del server
    gc.collect()
    assert gone() is None
    with pytest.raises(reverb.UnavailableError):
        client.reset("q")


def test_stop_ends_blocked_calls(server):
    client = reverb.Client(f"localhost:{server.port}", connect_timeout=0.2, reconnect_timeout=0.2)
    failures = []

    def sample():
        try:
            next(client.sample("q"))
        except RuntimeError as error:
            failures.append(error)

    threads = [threading.Thread(target=sample) for _ in range(3)]
    for thread in threads:
        thread.start()
    client.server_info()
    server.stop()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert len(failures) == 3


def test_servers_cannot_be_pickled(server):
    with pytest.raises(TypeError):
        pickle.dumps(server)


def test_in_process_clients_need_no_network(server):
    client = server.localhost_client()
    assert client.server_address == f"localhost:{server.port}"
    for i in range(3):
        client.insert([i], {"q": 1.0})
    assert [int(s[0].data[0]) for s in client.sample("q", 3)] == [0, 1, 2]
    with pytest.raises(reverb.DeadlineExceededError):
        next(client.sample("q", timeout=0))


def test_limits_bound_what_a_client_may_send():
    limits = reverb.Limits(max_columns=2)
    with reverb.Server([_queue("t")], limits=limits) as server:
        client = server.localhost_client()
        client.insert([1, 2], {"t": 1.0})
        with pytest.raises(reverb.ResourceExhaustedError, match="columns") as raised:
            client.insert([1, 2, 3], {"t": 1.0})
        assert (raised.value.limit, raised.value.actual) == (2, 3)
        client.insert([1, 2], {"t": 1.0})
        assert client.server_info()["t"].current_size == 2


@pytest.mark.parametrize("value", [0, -1, 2**63])
def test_limits_out_of_range(value):
    with pytest.raises(ValueError, match=str(value)):
        reverb.Limits(max_columns=value)
    with pytest.raises(TypeError):
        reverb.Limits(max_columns=1.5)
