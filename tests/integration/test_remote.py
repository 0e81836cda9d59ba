# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The client against a server in another process."""

import collections
import pickle
import threading
import time

import numpy as np
import pytest

import reverb


def test_insert_and_sample(client):
    client.insert({"b": np.arange(3), "a": 1.5}, {"uniform": 2.0})
    (steps,) = client.sample("uniform")
    (step,) = steps
    assert isinstance(step, reverb.ReplaySample)
    assert step.info.priority == 2.0
    assert step.info.probability == 1.0
    assert step.info.table_size == 1
    assert step.info.times_sampled == 1
    assert isinstance(step.info.key, int)
    assert step.data[0].shape == () and step.data[0] == 1.5
    np.testing.assert_array_equal(step.data[1], [0, 1, 2])


def test_whole_items_have_a_leading_dimension(client):
    client.insert([np.arange(3)], {"uniform": 1.0})
    (item,) = client.sample("uniform", emit_timesteps=False)
    assert item.data[0].shape == (1, 3)


def test_one_insert_into_several_tables(client):
    client.insert([1], {"uniform": 1.0, "fifo": 2.0})
    info = client.server_info()
    assert info["uniform"].current_size == 1
    assert info["fifo"].current_size == 1
    assert next(client.sample("fifo"))[0].info.priority == 2.0


def test_fifo_gives_items_in_order(client):
    for i in range(5):
        client.insert([i], {"queue" if i < 0 else "fifo": 1.0})
    assert [int(s[0].data[0]) for s in client.sample("fifo", 3)] == [0, 0, 0]


def test_queue_hands_each_item_out_once(client):
    for i in range(3):
        client.insert([i], {"queue": 1.0})
    assert [int(s[0].data[0]) for s in client.sample("queue", 3)] == [0, 1, 2]
    assert client.server_info()["queue"].current_size == 0


def test_sampling_one_takes_one(client):
    for i in range(3):
        client.insert([i], {"queue": 1.0})
    next(client.sample("queue", 1))
    assert client.server_info()["queue"].current_size == 2


@pytest.mark.parametrize(("method", "builtin"), [("insert", ValueError), ("sample", RuntimeError)])
def test_unknown_table(client, method, builtin):
    with pytest.raises(builtin, match="nope") as caught:
        if method == "insert":
            client.insert([1], {"nope": 1.0})
        else:
            next(client.sample("nope"))
    assert isinstance(caught.value, reverb.ReverbError)
    assert caught.value.table in ("nope", None)
    client.insert([1], {"uniform": 1.0})


def test_unknown_table_of_mutate_and_reset(client):
    for call in (lambda: client.mutate_priorities("nope"), lambda: client.reset("nope")):
        with pytest.raises(RuntimeError, match="Priority table nope was not found"):
            call()


def test_mutate_priorities(client):
    for i in range(3):
        client.insert([i], {"prioritized": 1.0})
    keys = {int(s[0].data[0]): s[0].info.key for s in client.sample("prioritized", 100)}
    client.mutate_priorities(
        "prioritized",
        updates={np.uint64(keys[0]): 0, keys[1]: np.float32(3.0), 12345: 1.0},
        deletes=np.array([keys[2]], np.uint64),
    )
    seen = {int(s[0].data[0]): s[0].info.priority for s in client.sample("prioritized", 20)}
    assert seen == {1: 3.0}
    assert client.server_info()["prioritized"].current_size == 2


@pytest.mark.parametrize(
    ("updates", "deletes"),
    [({1.0: 1.0}, None), ({-1: 1.0}, None), ({2**64: 1.0}, None), ({1: "x"}, None)]
    + [(None, [1.0]), (None, [-1]), (None, "abc"), (None, 1), ([1], None)],
)
def test_mutate_priorities_wants_ints_and_floats(client, updates, deletes):
    with pytest.raises(TypeError):
        client.mutate_priorities("uniform", updates, deletes)


@pytest.mark.parametrize("priority", [float("nan"), -1.0, float("inf")])
def test_priorities_that_a_selector_cannot_hold(client, priority):
    with pytest.raises(ValueError):
        client.insert([1], {"prioritized": priority})
    client.insert([1], {"prioritized": 1.0})
    key = next(client.sample("prioritized"))[0].info.key
    with pytest.raises(ValueError):
        client.mutate_priorities("prioritized", {key: priority})
    assert next(client.sample("prioritized"))[0].info.priority == 1.0


def test_insert_wants_priorities(client):
    with pytest.raises(ValueError):
        client.insert([1], {})
    with pytest.raises(TypeError):
        client.insert([1], [1.0])
    with pytest.raises(TypeError):
        client.insert([1], {1: 1.0})
    with pytest.raises(TypeError):
        client.insert([1], {"uniform": "high"})
    with pytest.raises(TypeError):
        client.insert([1], {"uniform": None})


@pytest.mark.parametrize("data", [{}, [], (), {"a": []}])
def test_insert_without_leaves(client, data):
    with pytest.raises((ValueError, RuntimeError)) as caught:
        client.insert(data, {"uniform": 1.0})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, RuntimeError)


def test_insert_timeout_leaves_nothing_inserted(client):
    for i in range(3):
        client.insert([i], {"queue": 1.0})
    begin = time.monotonic()
    with pytest.raises(TimeoutError) as caught:
        client.insert([3], {"queue": 1.0}, timeout=0.2)
    assert time.monotonic() - begin < 5
    assert isinstance(caught.value, reverb.DeadlineExceededError)
    assert caught.value.withdrawn == ("queue",)
    assert caught.value.inserted == ()
    assert caught.value.unknown == ()
    assert [int(s[0].data[0]) for s in client.sample("queue", 3)] == [0, 1, 2]
    with pytest.raises(TimeoutError):
        next(client.sample("queue", timeout=0))


def test_insert_once(client):
    client.insert([1], {"queue": 1.0}, timeout=0)
    client.insert([1], {"queue": 1.0}, timeout=0)
    client.insert([1], {"queue": 1.0}, timeout=0)
    with pytest.raises(reverb.DeadlineExceededError):
        client.insert([1], {"queue": 1.0}, timeout=0)


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_timeouts_out_of_range(client, timeout):
    with pytest.raises(ValueError):
        client.insert([1], {"uniform": 1.0}, timeout=timeout)
    with pytest.raises(ValueError):
        next(client.sample("uniform", timeout=timeout))


def test_sample_timeout_ends_the_generator(client):
    client.insert([1], {"queue": 1.0})
    samples = client.sample("queue", 2, timeout=0.2)
    next(samples)
    with pytest.raises(reverb.DeadlineExceededError):
        next(samples)
    with pytest.raises(StopIteration):
        next(samples)


@pytest.mark.parametrize("num_samples", [0, -2])
def test_number_of_samples_out_of_range(client, num_samples):
    samples = client.sample("uniform", num_samples)
    with pytest.raises(ValueError):
        next(samples)


def test_minus_one_sample_is_none(client):
    client.insert([1], {"uniform": 1.0})
    assert list(client.sample("uniform", -1)) == []


def test_sample_arguments(client):
    with pytest.raises(TypeError):
        client.sample("uniform", 1, True)
    with pytest.raises(TypeError):
        next(client.sample("uniform", 1.0))
    with pytest.raises(TypeError):
        next(client.sample(None))


Camera = collections.namedtuple("Camera", ["camera"])


def _step(camera=None, reward=None):
    return {
        "obs": {"camera": np.zeros((2, 3), np.uint8) if camera is None else camera},
        "reward": np.float32(1) if reward is None else reward,
    }


def test_signature(client):
    client.insert(_step(), {"signed": 1.0})
    info = client.server_info()["signed"]
    assert info.signature["obs"]["camera"] == reverb.TensorSpec((2, 3), "uint8")
    ((step,),) = client.sample("signed", unpack_as_table_signature=True)
    assert step.data["obs"]["camera"].shape == (2, 3)
    assert step.data["reward"].dtype == np.float32
    (item,) = client.sample("signed", emit_timesteps=False, unpack_as_table_signature=True)
    assert item.data["obs"]["camera"].shape == (1, 2, 3)


def test_unpacking_without_a_signature_gives_a_list(client):
    client.insert({"a": 1, "b": 2}, {"uniform": 1.0})
    ((step,),) = client.sample("uniform", unpack_as_table_signature=True)
    assert step.data == [1, 2]


def test_unpacking_an_unknown_table(client):
    with pytest.raises(ValueError, match="uniform"):
        next(client.sample("nope", unpack_as_table_signature=True))


@pytest.mark.parametrize(
    ("step", "column"),
    [
        (_step(camera=np.zeros((2, 3), np.float32)), "obs/camera"),
        (_step(camera=np.zeros((2, 4), np.uint8)), "obs/camera"),
        (_step(reward=1.0), "reward"),
        ({**_step(), "extra": 1}, "extra"),
        ({"obs": _step()["obs"]}, "reward"),
    ],
    ids=["dtype", "shape", "python float", "column too many", "column missing"],
)
def test_signature_mismatch_names_the_column(client, step, column):
    with pytest.raises(ValueError, match=column) as caught:
        client.insert(step, {"signed": 1.0})
    assert caught.value.column == column
    assert caught.value.table == "signed"
    assert client.server_info()["signed"].current_size == 0
    with client.writer(1) as writer:
        writer.append(step)
        with pytest.raises(ValueError, match=column):
            writer.create_item("signed", 1, 1.0)
    client.insert(_step(), {"signed": 1.0})


def test_server_info(client):
    info = client.server_info(5)
    assert set(info) == {"uniform", "fifo", "prioritized", "queue", "signed"}
    assert info["uniform"].max_size == 100
    for timeout in (None, 0, -1):
        client.server_info(timeout)
    with pytest.raises(TypeError):
        client.server_info(1.5)


def test_client_repr_and_address(client, server):
    assert repr(client) == str(client) == f"Client, server_address={server.address}"
    assert client.server_address == server.address


def test_clients_can_be_pickled(client):
    copy = pickle.loads(pickle.dumps(client))
    copy.insert([1], {"uniform": 1.0})
    assert copy._server_address == client.server_address
    options = reverb.Client("localhost:1", connect_timeout=0.1, reconnect_timeout=None)
    copy = pickle.loads(pickle.dumps(options))
    assert copy._keywords == {"connect_timeout": 0.1, "reconnect_timeout": None}
    with pytest.raises(reverb.UnavailableError):
        copy.reset("t")


def test_many_threads_share_a_client(client):
    def work(index):
        for i in range(20):
            client.insert([index, i], {"uniform": 1.0})
            next(client.sample("uniform"))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.server_info()["uniform"].rate_limiter_info.insert_stats.completed == 160


def test_unimplemented_calls_say_so(client):
    with pytest.raises(NotImplementedError):
        client.checkpoint()


def test_use_after_close(server):
    client = reverb.Client(server.address)
    client.insert([1], {"uniform": 1.0})
    samples = client.sample("uniform", 1000)
    next(samples)
    client.close()
    client.close()
    with pytest.raises(reverb.CancelledError):
        client.insert([1], {"uniform": 1.0})
    with pytest.raises(reverb.CancelledError):
        client.server_info()
    with pytest.raises(reverb.CancelledError):
        for _ in samples:
            pass


def test_nothing_listens(monkeypatch):
    client = reverb.Client("localhost:1", connect_timeout=0.3)
    begin = time.monotonic()
    for call in (
        lambda: client.insert([1], {"t": 1.0}),
        lambda: next(client.sample("t")),
        lambda: client.reset("t"),
        lambda: client.mutate_priorities("t", {1: 1.0}),
        lambda: client.server_info(),
        lambda: client.writer(1),
    ):
        with pytest.raises(reverb.UnavailableError):
            call()
    assert time.monotonic() - begin < 20
    with pytest.raises(reverb.DeadlineExceededError, match="Deadline Exceeded.* 1 "):
        reverb.Client("localhost:1").server_info(1)
    monkeypatch.setenv("REVERB_CONNECT_TIMEOUT", "0.2")
    with pytest.raises(reverb.UnavailableError):
        reverb.Client("localhost:1").reset("t")


@pytest.mark.parametrize("value", ["soon", "-1", "nan"])
def test_bad_timeouts_of_the_environment(monkeypatch, value):
    monkeypatch.setenv("REVERB_RECONNECT_TIMEOUT", value)
    with pytest.raises(ValueError, match="REVERB_RECONNECT_TIMEOUT"):
        reverb.Client("localhost:1")


def test_bad_arguments_of_the_client():
    with pytest.raises(TypeError):
        reverb.Client(1234)
    with pytest.raises(ValueError):
        reverb.Client("localhost:1", connect_timeout=-1)
    with pytest.raises(TypeError):
        reverb.Client("localhost:1", reconnect_timeout="1")
