# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""`Client.sampler` against a server, in its own process and in this one."""

import collections
import threading

import numpy as np
import pytest

import reverb
from reverb import errors

SIGNATURE = {
    "obs": reverb.TensorSpec((None, 2), "float32"),
    "reward": reverb.TensorSpec((None,), "float64"),
}


@pytest.fixture
def _local_server():
    tables = [
        reverb.Table.queue("queue", 10_000),
        reverb.Table.queue("signed", 10_000, signature=SIGNATURE),
        reverb.Table(
            "uniform",
            reverb.selectors.Uniform(),
            reverb.selectors.Fifo(),
            1000,
            reverb.rate_limiters.MinSize(1),
        ),
    ]
    with reverb.Server(tables) as server:
        yield server


@pytest.fixture(params=["remote", "in-process"])
def client(_local_server, request):
    address = f"localhost:{_local_server.port}"
    client = reverb.Client(address)
    if request.param == "remote":
        client._client = reverb._core.Client(address, allow_in_process=False)
    return client


def _fill(client, count, table="queue"):
    writer = client.writer(1)
    for i in range(count):
        writer.append({"obs": np.full(2, i, np.float32), "reward": float(i)})
        writer.create_item(table, 1, i + 1.0)
    writer.close()


class TestSamples:
    def test_one_by_one(self, client):
        _fill(client, 10)
        with client.sampler("queue", max_samples=10) as sampler:
            samples = list(sampler)
        assert len(samples) == 10
        for i, sample in enumerate(samples):
            assert isinstance(sample, reverb.ReplaySample)
            assert type(sample.info.key) is int and type(sample.info.probability) is float
            assert (sample.info.table_size, sample.info.times_sampled) == (10 - i, 1)
            obs, reward = sample.data
            assert obs.dtype == np.float32 and obs.tolist() == [[i, i]]
            assert reward.tolist() == [i]

    def test_is_an_iterator(self, client):
        _fill(client, 2)
        sampler = client.sampler("queue", max_samples=2)
        assert iter(sampler) is sampler
        next(sampler), next(sampler)
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(sampler)

    @pytest.mark.parametrize("num_workers", [2, 5])
    def test_workers_give_each_item_of_a_queue_once(self, client, num_workers):
        _fill(client, 300)
        with client.sampler(
            "queue",
            max_samples=300,
            num_workers=num_workers,
            max_in_flight_samples_per_worker=7,
        ) as sampler:
            values = [sample.data[1].item() for sample in sampler]
        assert sorted(values) == list(range(300))

    def test_what_is_in_flight_is_bounded(self, client):
        _fill(client, 50)
        with client.sampler("queue", max_in_flight_samples_per_worker=4) as sampler:
            for _ in range(3):
                next(sampler)
            size = client.server_info()["queue"].current_size
        assert 50 - 3 - 4 <= size <= 50 - 3


class TestBatches:
    def test_batches(self, client):
        _fill(client, 10)
        with client.sampler("queue", batch_size=4, max_samples=10) as sampler:
            batches = list(sampler)
        assert [len(batch.info.key) for batch in batches] == [4, 4, 2]
        first = batches[0]
        dtypes = [np.asarray(field).dtype.name for field in first.info]
        assert dtypes == ["uint64", "float64", "int64", "float64", "int32"]
        assert first.info.priority.tolist() == [1, 2, 3, 4]
        obs, reward = first.data
        assert obs.shape == (4, 1, 2) and obs.dtype == np.float32
        assert reward.tolist() == [[0], [1], [2], [3]]
        assert batches[2].data[1].tolist() == [[8], [9]]
        assert batches[2].data[0].shape == (2, 1, 2)

    def test_drop_remainder(self, client):
        _fill(client, 10)
        with client.sampler("queue", batch_size=4, max_samples=10, drop_remainder=True) as sampler:
            assert [batch.data[1].shape for batch in sampler] == [(4, 1), (4, 1)]

    def test_batches_own_their_memory(self, client):
        _fill(client, 8)
        with client.sampler("queue", batch_size=2, max_samples=8) as sampler:
            batches = [batch.data[1] for batch in sampler]
        assert np.concatenate(batches).ravel().tolist() == list(range(8))
        batches[0][:] = -1
        assert batches[1].ravel().tolist() == [2, 3]

    def test_strings_and_scalars(self, client):
        with client.trajectory_writer(1) as writer:
            for text in ("a", "bc", ""):
                writer.append({"text": text, "flag": text == ""})
                history = writer.history
                writer.create_item(
                    "queue", 1, {"text": history["text"][-1], "flag": history["flag"][-1:]}
                )
        with client.sampler("queue", batch_size=3, unpack=True) as sampler:
            data = next(sampler).data
        assert data["text"].tolist() == [b"a", b"bc", b""]
        assert data["flag"].tolist() == [[False], [False], [True]]

    def test_unequal_lengths_are_an_error(self, client):
        with client.trajectory_writer(3) as writer:
            for i in range(3):
                writer.append({"obs": np.full(2, i, np.float32), "reward": float(i)})
            for length in (2, 3):
                writer.create_item(
                    "signed",
                    1,
                    {
                        "obs": writer.history["obs"][-2:],
                        "reward": writer.history["reward"][-length:],
                    },
                )
        with (
            client.sampler("signed", batch_size=2) as sampler,
            pytest.raises(
                errors.InvalidArgumentError, match=r"column 1 .*signed.*'reward'"
            ) as info,
        ):
            next(sampler)
        assert (info.value.table, info.value.column) == ("signed", "reward")

    def test_a_batch_larger_than_what_is_in_flight(self, client):
        _fill(client, 50)
        with client.sampler("queue", batch_size=50, max_in_flight_samples_per_worker=3) as sampler:
            assert next(sampler).data[1].ravel().tolist() == list(range(50))


class TestTimeout:
    def test_zero_tries_once(self, client):
        with pytest.raises(errors.DeadlineExceededError, match="queue"):
            next(client.sampler("queue", timeout=0))
        _fill(client, 1)
        assert next(client.sampler("queue", timeout=0)).data[1].item() == 0

    @pytest.mark.parametrize("num_workers", [1, 2])
    def test_gives_the_partial_batch_first(self, client, num_workers):
        _fill(client, 3)
        sampler = client.sampler("queue", batch_size=5, timeout=0.1, num_workers=num_workers)
        assert sorted(next(sampler).data[1].ravel().tolist()) == [0, 1, 2]
        for _ in range(2):
            with pytest.raises(errors.DeadlineExceededError):
                next(sampler)

    def test_is_no_end_of_the_sequence(self, client):
        with pytest.raises(TimeoutError):
            list(client.sampler("queue", timeout=0.05, max_samples=3))


class TestUnpack:
    def test_by_the_signature(self, client):
        _fill(client, 2, table="signed")
        with client.sampler("signed", unpack=True) as sampler:
            data = next(sampler).data
        assert list(data) == ["obs", "reward"] and data["obs"].shape == (1, 2)

    def test_by_what_the_writer_stored(self, client):
        Pair = collections.namedtuple("Pair", "x y")
        with client.trajectory_writer(2) as writer:
            for i in range(2):
                writer.append({"a": i, "b": [float(i)]})
            h = writer.history
            for _ in range(3):
                writer.create_item("queue", 1, {"p": Pair(h["a"][-1], (h["b"][0][:],))})
        with client.sampler("queue", unpack=True, max_samples=1) as sampler:
            data = next(sampler).data
            assert data["p"].x == 1 and data["p"].y[0].tolist() == [0, 1]
        with client.sampler("queue", unpack=True, batch_size=2) as sampler:
            data = next(sampler).data
            assert data["p"].x.tolist() == [1, 1]
            assert data["p"].y[0].tolist() == [[0, 1], [0, 1]]

    def test_without_either_it_is_flat(self, client):
        _fill(client, 1)
        client.insert([1, 2], {"uniform": 1})
        with client.sampler("queue", unpack=True) as sampler:
            assert isinstance(next(sampler).data, (list, dict))
        with client.sampler("uniform") as sampler:
            assert [c.tolist() for c in next(sampler).data] == [[1], [2]]

    def test_of_a_table_that_is_not_there(self, client):
        for unpack in (False, True):
            with pytest.raises(reverb.ReverbError, match="nope"):
                next(client.sampler("nope", unpack=unpack))


class TestClosing:
    @pytest.mark.parametrize("num_workers", [1, 3])
    @pytest.mark.parametrize("batch_size", [None, 2])
    def test_ends_a_waiting_next(self, client, num_workers, batch_size):
        sampler = client.sampler("queue", num_workers=num_workers, batch_size=batch_size)
        waiting = threading.Event()
        raised = []

        def wait():
            waiting.set()
            try:
                next(sampler)
            except reverb.CancelledError as error:
                raised.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        waiting.wait()
        sampler.close()
        sampler.close()
        thread.join(10)
        assert not thread.is_alive() and len(raised) == 1
        with pytest.raises(reverb.CancelledError, match="closed"):
            next(sampler)

    def test_with_its_client(self, client):
        with client:
            sampler = client.sampler("queue")
        with pytest.raises(reverb.CancelledError):
            next(sampler)

    def test_leaving_a_loop_early(self, client):
        _fill(client, 10, table="uniform")
        with client.sampler("uniform", num_workers=2) as sampler:
            for _ in sampler:
                break
        with pytest.raises(reverb.CancelledError):
            next(sampler)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"max_samples": 0}, "max_samples must be from 1 to 2147483647, not 0"),
        ({"batch_size": 0}, "batch_size"),
        ({"num_workers": 0}, "num_workers"),
        ({"num_workers": 10**30}, "num_workers"),
        ({"max_in_flight_samples_per_worker": 0}, "max_in_flight_samples_per_worker"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"drop_remainder": True}, "drop_remainder needs a batch_size"),
    ],
)
def test_bad_arguments(client, keywords, text):
    with pytest.raises(errors.InvalidArgumentError, match=text):
        client.sampler("queue", **keywords)


@pytest.mark.parametrize(
    "keywords", [{"batch_size": 1.5}, {"max_samples": "3"}, {"timeout": "soon"}]
)
def test_bad_types(client, keywords):
    with pytest.raises(TypeError):
        client.sampler("queue", **keywords)
    with pytest.raises(TypeError, match="table"):
        client.sampler(3)
