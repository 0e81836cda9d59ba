# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The legacy writer against a server in another process."""

import gc
import threading
import warnings

import numpy as np
import pytest

import reverb


def _columns(client, table):
    return next(client.sample(table, 1, emit_timesteps=False)).data


def test_items_over_the_last_steps(client):
    with client.writer(3, chunk_length=2) as writer:
        for i in range(5):
            writer.append({"a": i, "b": np.full(2, i, np.float32)})
        writer.create_item("fifo", 3, 1.0)
    a, b = _columns(client, "fifo")
    np.testing.assert_array_equal(a, [2, 3, 4])
    np.testing.assert_array_equal(b, [[2, 2], [3, 3], [4, 4]])
    (steps,) = client.sample("fifo")
    assert [int(step.data[0]) for step in steps] == [2, 3, 4]
    assert all(step.data[0].shape == () for step in steps)
    assert len({step.info for step in steps}) == 1


@pytest.mark.parametrize("delta", [False, True])
def test_append_sequence(client, delta):
    frames = np.arange(6 * 4, dtype=np.uint8).reshape(6, 4)
    with client.writer(6, delta_encoded=delta, chunk_length=4) as writer:
        writer.append_sequence([frames, np.array([b"x"] * 6)])
        writer.append_sequence([frames[:0], np.array([], "S1")])
        writer.create_item("fifo", 6, 1.0)
    data = _columns(client, "fifo")
    np.testing.assert_array_equal(data[0], frames)
    assert data[1].tolist() == [b"x"] * 6


@pytest.mark.parametrize("sequence", [[], [1.0], [np.zeros(2), np.zeros(3)]])
def test_bad_sequences(client, sequence):
    with client.writer(3) as writer:
        with pytest.raises(ValueError):
            writer.append_sequence(sequence)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"max_sequence_length": 0},
        {"max_sequence_length": 2, "chunk_length": 0},
        {"max_sequence_length": 2, "chunk_length": 3},
        {"max_sequence_length": 2, "max_in_flight_items": 0},
    ],
)
def test_writer_arguments_out_of_range(kwargs):
    with pytest.raises(ValueError):  # before anything is sent anywhere
        reverb.Client("localhost:1").writer(**kwargs)


def test_writer_arguments(client):
    with pytest.raises(TypeError):
        client.writer(1.0)
    with pytest.raises(TypeError):
        client.writer()
    client.writer(20, max_in_flight_items=None).close()
    writer = client.writer(20)
    assert repr(writer).startswith("Writer(chunk_length=10, max_timesteps=20, delta_encoded=0,")
    assert repr(writer).endswith(", closed: False")
    writer.close()
    assert repr(writer).endswith(", closed: True")


def test_bad_items(client):
    with client.writer(2) as writer:
        with pytest.raises(ValueError):
            writer.create_item("fifo", 1, 1.0)
        for i in range(3):
            writer.append([i])
        for arguments in (("fifo", 0, 1.0), ("fifo", 3, 1.0), ("fifo", 1, float("nan"))):
            with pytest.raises(ValueError):
                writer.create_item(*arguments)
        with pytest.raises(ValueError, match=r"Unable to find signatures for table 'nope'"):
            writer.create_item("nope", 1, 1.0)
        for arguments in (("fifo", 1.0, 1.0), (None, 1, 1.0), ("fifo", 1, "x")):
            with pytest.raises(TypeError):
                writer.create_item(*arguments)
        writer.create_item("fifo", 2, 1)
    np.testing.assert_array_equal(_columns(client, "fifo")[0], [1, 2])


def test_another_number_of_leaves(client):
    with client.writer(3) as writer:
        writer.append([1, 2])
        with pytest.raises(ValueError):
            writer.append([1])


def test_values_that_cannot_be_stored_name_their_leaf(client):
    with client.writer(3) as writer:
        with pytest.raises(TypeError, match="obs/1/camera"):
            writer.append({"obs": [1, {"camera": object()}]})
        writer.append({"obs": [1, {"camera": 2}]})
        writer.create_item("fifo", 1, 1.0)
    assert len(_columns(client, "fifo")) == 2


def test_use_after_close(client):
    writer = client.writer(2)
    writer.append([1])
    writer.create_item("fifo", 1, 1.0)
    writer.close()
    assert client.server_info()["fifo"].current_size == 1
    for call in (
        lambda: writer.append([1]),
        lambda: writer.append_sequence([np.zeros(1)]),
        lambda: writer.create_item("fifo", 1, 1.0),
        writer.flush,
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        writer.close()
    with pytest.raises(ValueError):
        with writer:
            pass


def test_close_within_the_body(client):
    with pytest.raises(RuntimeError):
        with client.writer(2) as writer:
            writer.close()


def test_the_error_of_the_body_passes_and_items_are_sent(client):
    with pytest.raises(ZeroDivisionError):
        with client.writer(2) as writer:
            writer.append([1])
            writer.create_item("fifo", 1, 1.0)
            1 / 0  # noqa: B018
    assert client.server_info()["fifo"].current_size == 1
    assert repr(writer).endswith("closed: True")


def test_dropped_writers_warn_and_send_in_the_background(client):
    writer = client.writer(2)
    writer.append([1])
    writer.create_item("fifo", 1, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del writer
        gc.collect()
    assert [w.category for w in caught] == [ResourceWarning]
    assert int(next(client.sample("fifo", timeout=30))[0].data[0]) == 1


def test_two_threads_at_one_writer(client):
    for i in range(3):
        client.insert([i], {"queue": 1.0})
    writer = client.writer(1)
    writer.append([1])
    writer.create_item("queue", 1, 1.0)
    errors = []

    def flush():
        try:
            writer.flush()
        except reverb.FailedPreconditionError as error:
            errors.append(error)

    # One of the two waits for the queue, whoever comes second is told.
    threads = [threading.Thread(target=flush) for _ in range(2)]
    for thread in threads:
        thread.start()
    while not errors and any(t.is_alive() for t in threads):
        threads[0].join(0.01)
    list(client.sample("queue", 4))
    for thread in threads:
        thread.join()
    assert len(errors) == 1
    writer.close()


def test_flush_waits_for_a_full_queue_and_ends_with_the_server(own_server):
    client = reverb.Client(own_server.address, reconnect_timeout=1)
    writer = client.writer(1)
    for i in range(5):
        writer.append([i])
        writer.create_item("queue", 1, 1.0)
    failures = []

    def flush():
        try:
            writer.flush()
        except RuntimeError as error:
            failures.append(error)

    thread = threading.Thread(target=flush)
    thread.start()
    client.server_info()
    own_server.kill()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(failures[0], reverb.UnavailableError)
    writer.close(retry_on_unavailable=False)
