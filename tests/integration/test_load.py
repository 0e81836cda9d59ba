# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""`Client.load` against a server, remote and in this process."""

import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reverb
from reverb import errors

SIGNATURE = {
    "obs": reverb.TensorSpec((None, 2), "float32"),
    "reward": reverb.TensorSpec((None,), "float64"),
}


@pytest.fixture(scope="module")
def local_server():
    tables = [
        reverb.Table.queue("queue", 100_000),
        reverb.Table.queue("tiny", 5),
        reverb.Table.queue("signed", 1000, signature=SIGNATURE),
        reverb.Table(
            "prioritized",
            reverb.selectors.Prioritized(1.0),
            reverb.selectors.Fifo(),
            1000,
            reverb.rate_limiters.MinSize(1),
        ),
    ]
    with reverb.Server(tables) as server:
        yield server


def _client(server, way):
    address = f"localhost:{server.port}"
    client = reverb.Client(address)
    if way == "remote":
        client._client = reverb._core.Client(address, allow_in_process=False)
    return client


@pytest.fixture(params=["remote", "in-process"])
def client(local_server, request):
    client = _client(local_server, request.param)
    for table in ("queue", "tiny", "signed", "prioritized"):
        client.reset(table)
    return client


def _take(client, count, table="queue"):
    if count == 0:
        return []
    return list(client.sample(table, count, emit_timesteps=False, timeout=10))


def _data(rows, width=2):
    return {
        "obs": np.arange(rows * width, dtype=np.float32).reshape(rows, width),
        "reward": np.arange(rows, dtype=np.float64),
    }


def _windows(rows, episode_ends, length, stride):
    """The model: first rows of the windows."""
    begin, windows = 0, []
    for row in range(rows):
        if row + 1 == rows or (episode_ends is not None and episode_ends[row]):
            windows += range(begin, row + 2 - length, stride)
            begin = row + 1
    return windows


class TestItems:
    def test_of_rows(self, client):
        data = _data(20)
        assert client.load("queue", data) == 20
        for i, sample in enumerate(_take(client, 20)):
            assert sample.info.priority == 1.0
            obs, reward = sample.data
            assert obs.dtype == np.float32 and obs.tolist() == [data["obs"][i].tolist()]
            assert reward.tolist() == [i]

    @pytest.mark.parametrize("way", ["remote", "in-process"])
    @given(
        rows=st.integers(0, 60),
        ends=st.one_of(st.none(), st.sets(st.integers(0, 59))),
        length=st.integers(1, 12),
        stride=st.integers(1, 15),
        width=st.sampled_from([0, 1, 40, 1000]),
    )
    def test_of_windows(self, local_server, way, rows, ends, length, stride, width):
        client = _client(local_server, way)
        client.reset("queue")
        data = {
            "x": np.random.default_rng(rows).random((rows, width)),
            "text": np.array([b"t" * (i % 7) for i in range(rows)], dtype=object),
            "i": np.arange(rows, dtype=np.int32),
        }
        episode_ends = None if ends is None else np.isin(np.arange(rows), list(ends))
        windows = _windows(rows, episode_ends, length, stride)
        priorities = np.arange(len(windows)) + 0.5
        count = client.load(
            "queue",
            data,
            priorities=priorities,
            episode_ends=episode_ends,
            length=length,
            stride=stride,
        )
        assert count == len(windows)
        for number, (begin, sample) in enumerate(zip(windows, _take(client, count), strict=True)):
            i, text, x = sample.data
            rows_of_it = slice(begin, begin + length)
            np.testing.assert_array_equal(i, data["i"][rows_of_it])
            np.testing.assert_array_equal(text, data["text"][rows_of_it])
            np.testing.assert_array_equal(x, data["x"][rows_of_it])
            assert sample.info.priority == priorities[number]

    def test_big_rows(self, client):
        data = np.random.default_rng(0).integers(0, 255, (6, 3 << 20), dtype=np.uint8)
        assert client.load("queue", data, length=3, stride=2) == 2
        for begin, sample in zip((0, 2), _take(client, 2), strict=True):
            np.testing.assert_array_equal(sample.data[0], data[begin : begin + 3])

    def test_nests_come_back(self, client):
        client.load("queue", {"a": [np.arange(4), (np.arange(4) * 2.0,)]}, length=2)
        with client.sampler("queue", max_samples=3, unpack=True) as sampler:
            data = [sample.data for sample in sampler][-1]
        assert data["a"][0].tolist() == [2, 3] and data["a"][1][0].tolist() == [4, 6]

    def test_nothing(self, client):
        assert client.load("queue", _data(0)) == 0
        assert client.load("queue", _data(3), length=4) == 0
        assert client.server_info()["queue"].current_size == 0

    def test_views_are_read_as_they_are(self, client):
        base = np.arange(24).reshape(4, 6)
        client.load("queue", base[::2, ::-1])
        assert [s.data[0][0].tolist() for s in _take(client, 2)] == [
            [5, 4, 3, 2, 1, 0],
            [17, 16, 15, 14, 13, 12],
        ]

    def test_more_than_can_be_unconfirmed(self, client):
        assert client.load("queue", np.arange(30_000)) == 30_000
        assert [s.data[0].item() for s in _take(client, 30_000)] == list(range(30_000))


class TestWaiting:
    def test_the_rate_limiter_applies(self, client):
        loaded = []
        thread = threading.Thread(target=lambda: loaded.append(client.load("tiny", np.arange(50))))
        thread.start()
        values = [sample.data[0].item() for sample in _take(client, 50, "tiny")]
        thread.join(20)
        assert values == list(range(50)) and loaded == [50]

    @pytest.mark.parametrize("timeout", [0, 0.2])
    def test_timeout(self, client, timeout):
        with pytest.raises(errors.DeadlineExceededError, match="has taken 5 of 50") as info:
            client.load("tiny", np.arange(50), timeout=timeout)
        assert (info.value.inserted, info.value.table) == (5, "tiny")
        # Nothing comes later.
        assert [s.data[0].item() for s in _take(client, 5, "tiny")] == list(range(5))
        with pytest.raises(errors.DeadlineExceededError):
            next(client.sample("tiny", timeout=0))

    def test_progress(self, client):
        calls = []
        client.load("queue", np.arange(100), progress=lambda *args: calls.append(args))
        assert calls[-1] == (100, 100)
        assert all(0 <= done <= total == 100 for done, total in calls)

    def test_an_error_of_progress_ends_it(self, client):
        def progress(done, total):
            raise KeyError((done, total))

        with pytest.raises(KeyError):
            client.load("queue", np.arange(100), progress=progress)

    @pytest.mark.parametrize("way", ["remote", "in-process"])
    def test_interrupt(self, way):
        # What an interrupted load had sent may come late: a server of its own.
        server = reverb.Server([reverb.Table.queue("tiny", 5)])
        client = _client(server, way)
        previous = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main = threading.main_thread()

        def interrupt():
            while client.server_info()["tiny"].current_size < 5:
                pass
            signal.pthread_kill(main.ident, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                client.load("tiny", np.arange(50))
        finally:
            thread.join()
            signal.signal(signal.SIGINT, previous)
            server.stop()

    def test_a_server_that_goes(self, own_server):
        client = reverb.Client(own_server.address, reconnect_timeout=0.2)
        calls = []

        def progress(done, total):
            if not calls:
                own_server.kill()
            calls.append(done)

        rows = np.zeros((10_000_000, 16), np.uint8)
        with pytest.raises(errors.UnavailableError) as info:
            client.load("uniform", rows, progress=progress)
        assert 0 <= info.value.inserted < len(rows)


class TestBadInput:
    @pytest.mark.parametrize(
        ("keywords", "text"),
        [
            ({"length": 0}, "length must be >= 1, not 0"),
            ({"stride": -2}, "stride must be >= 1, not -2"),
            ({"priorities": [1.0, 2.0]}, "2 priorities .* 'queue', there must be 10"),
            ({"priorities": float("nan")}, "queue"),
            ({"priorities": [[1.0]]}, "priorities"),
            ({"episode_ends": [True]}, "1 episode_ends for the rows .* 10"),
            ({"episode_ends": [[True]]}, "episode_ends"),
            ({"timeout": -1}, "timeout"),
        ],
    )
    def test_arguments(self, client, keywords, text):
        with pytest.raises(errors.InvalidArgumentError, match=text):
            client.load("queue", _data(10), **keywords)
        assert client.server_info()["queue"].current_size == 0

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ({}, "no leaves"),
            (3.0, "needs rows"),
            ({"a": np.zeros(3), "b": np.zeros(4)}, r"column 1 .*has 4 rows.*'b'"),
        ],
    )
    def test_data(self, client, data, text):
        with pytest.raises(errors.InvalidArgumentError, match=text):
            client.load("queue", data)

    def test_types(self, client):
        with pytest.raises(TypeError):
            client.load("queue", _data(2), length=1.5)
        with pytest.raises(TypeError, match="episode_ends"):
            client.load("queue", _data(2), episode_ends=[0, 1])
        with pytest.raises(TypeError):
            client.load("queue", {"a": np.array([object()] * 2)})

    def test_the_signature(self, client):
        assert client.load("signed", _data(4), length=2) == 3
        data = _data(4)
        data["obs"] = data["obs"].astype(np.float64)
        with pytest.raises(errors.InvalidArgumentError, match="obs") as info:
            client.load("signed", data, length=2)
        assert (info.value.table, info.value.column) == ("signed", "obs")

    def test_an_unknown_table(self, client):
        with pytest.raises(errors.InvalidArgumentError, match="nope"):
            client.load("nope", _data(2))

    def test_a_priority_that_the_selector_refuses(self, client):
        with pytest.raises(errors.InvalidArgumentError, match="-1"):
            client.load("prioritized", _data(2), priorities=[1.0, -1.0])
        assert client.load("prioritized", _data(2)) == 2
