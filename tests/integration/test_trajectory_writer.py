# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory writers against a server, in its own process and in this one."""

import collections
import threading

import attrs
import numpy as np
import pytest

import reverb
from reverb import errors


@pytest.fixture(scope="module")
def _local_server():
    tables = [
        reverb.Table.queue("queue", 1000),
        reverb.Table.queue("other", 1000),
        reverb.Table.queue("tiny", 2),
        reverb.Table.queue(
            "signed",
            1000,
            signature={
                "obs": reverb.TensorSpec((None, 2), "float32"),
                "last": reverb.TensorSpec((), "int64"),
            },
        ),
    ]
    server = reverb.Server(tables)
    yield server
    server.stop()


@pytest.fixture(params=["remote", "in-process"])
def client(_local_server, request):
    address = f"localhost:{_local_server.port}"
    client = reverb.Client(address)
    if request.param == "remote":
        client._client = reverb._core.Client(address, allow_in_process=False)
    for table in ("queue", "other", "tiny", "signed"):
        client.reset(table)
    return client


def _sample(client, table="queue", count=1):
    return [s.data for s in client.sample(table, count, emit_timesteps=False, timeout=10)]


class TestStructures:
    def test_nested_data(self, client):
        Point = collections.namedtuple("Point", "x y")
        writer = client.trajectory_writer(3)
        for i in range(3):
            writer.append({"b": [i, (i + 10,)], "a": Point(float(i), np.full((2,), i, np.uint8))})
        history = writer.history
        assert list(history) == ["a", "b"] and type(history["a"]) is Point
        assert isinstance(history["b"], list) and isinstance(history["b"][1], tuple)
        assert history["a"].y.path() == ("a", "y")
        writer.create_item("queue", 1.0, {"p": history["a"].y[:], "q": history["b"][1][0][-1]})
        writer.flush()
        ((p, q),) = _sample(client)
        assert p.tolist() == [[0, 0], [1, 1], [2, 2]] and p.dtype == np.uint8
        assert q.shape == () and q == 12

    def test_a_bare_leaf(self, client):
        writer = client.trajectory_writer(3)
        for i in range(3):
            writer.append(i)
        assert writer.history[-3:].numpy().tolist() == [0, 1, 2]
        writer.create_item("queue", 1.0, writer.history[1:])
        writer.flush()
        assert _sample(client)[0][0].tolist() == [1, 2]

    def test_attrs(self, client):
        @attrs.define
        class Step:
            obs: object
            reward: object

        writer = client.trajectory_writer(2)
        writer.append(Step(obs={"x": 1}, reward=2.0))
        writer.append(Step(obs={"x": 3}, reward=4.0))
        history = writer.history
        assert isinstance(history, Step)
        assert history.obs["x"].path() == ("obs", "x")
        assert history.obs["x"][:].numpy().tolist() == [1, 3]
        assert history.reward[-1].numpy() == 4.0

    def test_keys_come_and_go(self, client):
        writer = client.trajectory_writer(5)
        writer.append({"a": 1})
        writer.append({"b": 2})
        writer.append({"a": 3, "c": {"d": 4}})
        writer.append({"c": None, "a": 5})
        history = writer.history
        assert sorted(history) == ["a", "b", "c"]
        assert [r is None for r in history["a"]] == [False, True, False, False]
        assert [r is None for r in history["b"]] == [True, False, True, True]
        assert [r is None for r in history["c"]["d"]] == [True, True, False, True]
        with pytest.raises(ValueError, match="None"):
            history["a"][:]
        writer.create_item("queue", 1.0, [history["a"][2:], history["c"]["d"][2]])
        writer.flush()
        a, d = _sample(client)[0]
        assert a.tolist() == [3, 5] and d == 4

    def test_sequences_grow(self, client):
        writer = client.trajectory_writer(5)
        writer.append([1])
        writer.append([2, 3.0])
        writer.append([4])
        assert [c[-2].numpy().tolist() for c in writer.history] == [2, 3.0]
        assert list(writer.history[1])[2] is None

    def test_history_is_live_and_its_nest_is_new(self, client):
        writer = client.trajectory_writer(5)
        writer.append({"a": {"b": 1}})
        history = writer.history
        column = history["a"]["b"]
        history["a"].clear()
        writer.append({"a": {"b": 2}})
        assert len(column) == 2
        assert writer.history["a"]["b"][:].numpy().tolist() == [1, 2]

    def test_no_history_before_the_first_step(self, client):
        with pytest.raises(RuntimeError, match="first append"):
            _ = client.trajectory_writer(1).history

    @pytest.mark.parametrize(
        ("first", "second", "also", "path"),
        [
            ({"a": 1}, {"a": {"b": 1}}, KeyError, "a"),
            ({"a": {"b": 1}}, {"a": 1}, KeyError, "a"),
            ({"a": 1}, 1, AttributeError, None),
            ({"x": {"a": 1}}, {"x": [1]}, TypeError, "x"),
        ],
    )
    def test_structures_that_contradict(self, client, first, second, also, path):
        writer = client.trajectory_writer(2)
        writer.append(first)
        with pytest.raises(errors.InvalidArgumentError, match="earlier steps") as caught:
            writer.append(second)
        assert isinstance(caught.value, also)
        assert caught.value.column == path
        writer.append(first)
        assert writer.episode_steps == 2

    def test_a_named_tuple_gets_no_new_field(self, client):
        writer = client.trajectory_writer(2)
        writer.append(collections.namedtuple("P", "x")(1))
        with pytest.raises(TypeError, match="x"):
            writer.append(collections.namedtuple("P", "x y")(1, 2))
        writer.append({"x": 5})
        assert writer.history.x[-1].numpy() == 5


class TestAppend:
    @pytest.mark.parametrize("bad", [np.float64(1), np.array([1.0], np.float32), "text"])
    def test_a_failed_append_stores_nothing(self, client, bad):
        writer = client.trajectory_writer(4)
        writer.configure(("a",), num_keep_alive_refs=4, max_chunk_length=4)
        writer.append({"a": np.int64(1), "z": {"b": np.float32(1)}})
        with pytest.raises(ValueError, match="z/b") as caught:
            writer.append({"a": np.int64(2), "z": {"b": bad}, "new": 3})
        assert "('z', 'b')" in str(caught.value)
        assert caught.value.column == "z/b"
        assert writer.episode_steps == 1
        assert len(writer.history["a"]) == 1
        assert "new" not in writer.history
        writer.append({"a": np.int64(3), "z": {"b": np.float32(3)}, "new": 4})
        assert writer.history["a"][:].numpy().tolist() == [1, 3]
        assert [r is None for r in writer.history["new"]] == [True, False]

    def test_values_that_tables_cannot_hold(self, client):
        writer = client.trajectory_writer(4)
        with pytest.raises(TypeError, match="leaf 'a/0'"):
            writer.append({"a": [np.datetime64("2020-01-01")], "b": 1})
        writer.append({"a": [1], "b": 1})
        assert writer.history["a"][0][:].numpy().tolist() == [1]

    def test_partial_steps(self, client):
        writer = client.trajectory_writer(4)
        writer.append({"a": 1}, partial_step=True)
        assert writer.episode_steps == 0 and len(writer.history["a"]) == 1
        writer.append({"b": 2}, partial_step=True)
        with pytest.raises(ValueError, match="'a'.*already"):
            writer.append({"a": 9}, partial_step=True)
        writer.append({"c": 3, "a": None})
        assert writer.episode_steps == 1
        writer.append({"a": 4, "b": 5, "c": 6})
        history = writer.history
        assert [history[k][:].numpy().tolist() for k in "abc"] == [[1, 4], [2, 5], [3, 6]]

    def test_items_of_an_open_step(self, client):
        writer = client.trajectory_writer(4)
        writer.append({"a": 1}, partial_step=True)
        writer.create_item("queue", 1.0, {"a": writer.history["a"][-1:]})
        writer.flush()
        assert _sample(client)[0][0].tolist() == [1]
        writer.append({"b": 1})
        assert writer.episode_steps == 1

    @pytest.mark.parametrize("clear", [True, False])
    def test_an_episode_ends_with_its_open_step(self, client, clear):
        writer = client.trajectory_writer(4)
        writer.append({"a": 1}, partial_step=True)
        writer.end_episode(clear_buffers=clear)
        assert writer.episode_steps == 0
        writer.append({"a": 2})
        assert writer.episode_steps == 1
        assert len(writer.history["a"]) == (1 if clear else 2)

    def test_steps_without_values_count(self, client):
        writer = client.trajectory_writer(4)
        writer.append({})
        writer.append({"a": None})
        assert writer.episode_steps == 2
        assert list(writer.history["a"]) == [None, None]

    def test_big_steps_make_chunks_of_their_own(self, client):
        writer = client.trajectory_writer(8)
        writer.configure((), num_keep_alive_refs=8, max_chunk_length=8)
        steps = [np.full((1 << 19,), i, np.uint8) for i in range(5)]
        for step in steps:
            writer.append(step)
        writer.create_item("queue", 1.0, writer.history[:])
        writer.flush()
        (sample,) = client.sample("queue", 1, emit_timesteps=False)
        np.testing.assert_array_equal(sample.data[0], np.stack(steps))


class TestItems:
    def _filled(self, client, chunk_length, count=8):
        writer = client.trajectory_writer(count)
        writer.configure(("a",), num_keep_alive_refs=count, max_chunk_length=chunk_length)
        for i in range(count):
            writer.append({"a": i, "s": f"text{i}"})
        return writer

    @pytest.mark.parametrize("chunk_length", [1, 3, 4, 8, None])
    def test_gaps_strides_repeats_and_reversed(self, client, chunk_length):
        writer = self._filled(client, chunk_length)
        keys = [
            [0, 2],
            [3, 1],
            [5, 5, 5],
            [7, 0, 7],
            slice(None, None, 2),
            slice(None, None, -1),
            slice(-5, None, 3),
            slice(2, 6),
        ]
        for key in keys:
            column, text = writer.history["a"][key], writer.history["s"][key]
            writer.create_item("queue", 1.0, [column, text])
        writer.flush()
        everything = list(range(8))
        for key, (a, s) in zip(keys, _sample(client, count=len(keys)), strict=True):
            wanted = [everything[i] for i in key] if isinstance(key, list) else everything[key]
            assert a.tolist() == wanted
            assert [t.decode() for t in s] == [f"text{i}" for i in wanted]

    def test_unequal_columns_and_squeezed_ones(self, client):
        writer = self._filled(client, 3)
        a = writer.history["a"]
        writer.create_item("queue", 1.0, {"x": a[-2], "y": a[:5], "z": a[[0]]})
        writer.flush()
        x, y, z = _sample(client)[0]
        assert x == 6 and x.shape == ()
        assert y.tolist() == [0, 1, 2, 3, 4] and z.tolist() == [0]

    def test_columns_of_several_writers(self, client):
        one, two = client.trajectory_writer(2), client.trajectory_writer(2)
        one.append(1)
        two.append(2)
        column = reverb.TrajectoryColumn([*one.history, *two.history, *one.history])
        one.create_item("queue", 1.0, column)
        one.flush()
        assert _sample(client)[0][0].tolist() == [1, 2, 1]

    def test_keys_are_those_of_the_samples(self, client):
        writer = client.trajectory_writer(1)
        writer.append(1)
        keys = [writer.create_item("queue", float(p), writer.history[:]) for p in range(3)]
        writer.flush()
        infos = [s.info for s in client.sample("queue", 3, emit_timesteps=False)]
        assert [i.key for i in infos] == keys
        assert [i.priority for i in infos] == [0.0, 1.0, 2.0]

    def test_order_is_that_of_creation(self, client):
        writer = client.trajectory_writer(10)
        writer.configure((), num_keep_alive_refs=10, max_chunk_length=10)
        for i in range(25):
            writer.append(i)
            writer.create_item("queue", 1.0, writer.history[-1:])
        writer.flush()
        assert [d[0].tolist() for d in _sample(client, count=25)] == [[i] for i in range(25)]

    def test_episodes_do_not_mix_in_chunks(self, client):
        writer = client.trajectory_writer(4)
        writer.configure((), num_keep_alive_refs=4, max_chunk_length=4)
        writer.append(1)
        writer.end_episode(clear_buffers=False)
        writer.append(2)
        writer.create_item("queue", 1.0, writer.history[:])
        writer.flush()
        assert _sample(client)[0][0].tolist() == [1, 2]

    def test_data_outlives_its_history_while_an_item_waits(self, client):
        writer = client.trajectory_writer(2)
        writer.configure((), num_keep_alive_refs=2, max_chunk_length=2)
        writer.append(0)
        writer.create_item("queue", 1.0, writer.history[-1])
        for i in range(1, 7):
            writer.append(i)
        writer.flush()
        assert _sample(client)[0][0] == 0

    @pytest.mark.parametrize(
        ("trajectory", "error", "match"),
        [
            (lambda h: {"x": h["a"][-1:], "y": None}, TypeError, "'y'"),
            (lambda h: {"x": {"y": np.zeros(2)}}, TypeError, "'x/y'"),
            (lambda h: {}, ValueError, "no columns"),
            (lambda h: [h["a"][:0], h["a"][8:]], ValueError, "empty"),
            (lambda h: {"x": h["a"][:], "y": h["a"][:0]}, ValueError, "'y'"),
            (
                lambda h: {"x": reverb.TrajectoryColumn([*h["a"], *h["s"]])},
                ValueError,
                "column 0.*mixes.*int64.*string",
            ),
        ],
    )
    def test_bad_trajectories(self, client, trajectory, error, match):
        writer = self._filled(client, 3)
        with pytest.raises(error, match=match):
            writer.create_item("queue", 1.0, trajectory(writer.history))
        writer.create_item("queue", 1.0, writer.history["a"][:])
        writer.flush()
        assert client.server_info()["queue"].current_size == 1

    @pytest.mark.parametrize("priority", [float("nan"), np.nan])
    def test_priority_must_be_a_number(self, client, priority):
        writer = self._filled(client, 3)
        with pytest.raises(ValueError, match="queue"):
            writer.create_item("queue", priority, writer.history["a"][:])
        with pytest.raises(TypeError):
            writer.create_item("queue", "high", writer.history["a"][:])

    def test_expired_references(self, client):
        writer = client.trajectory_writer(2)
        writer.append(0)
        column = writer.history[:]
        for i in range(1, 4):
            writer.append(i)
        with pytest.raises(ValueError, match="expired") as caught:
            writer.create_item("queue", 1.0, {"x": column})
        assert caught.value.table == "queue" and caught.value.column == "x"
        with pytest.raises(ValueError, match="kept"):
            writer.history[0]

    def test_signature(self, client):
        writer = client.trajectory_writer(3)
        for i in range(3):
            writer.append({"o": np.float32([i, i]), "n": i, "f": 1.0})
        history = writer.history
        bad = [
            ({"a": history["n"][-1], "b": history["n"][:]}, "obs"),
            ({"a": history["n"][-1:], "b": history["o"][:]}, "last"),
            ({"a": history["f"][-1], "b": history["o"][:]}, "last"),
            ({"a": history["n"][-1], "b": history["o"][-1]}, "obs"),
        ]
        for trajectory, column in bad:
            with pytest.raises(ValueError, match="signed") as caught:
                writer.create_item("signed", 1.0, trajectory)
            assert caught.value.table == "signed" and caught.value.column == column
            assert "obs: float32 (?, 2)" in str(caught.value)
        with pytest.raises(ValueError, match="columns"):
            writer.create_item("signed", 1.0, [history["n"][-1]])
        writer.create_item("signed", 1.0, {"a": history["n"][-1], "b": history["o"][:]})
        writer.flush()
        assert client.server_info()["signed"].current_size == 1

    def test_unknown_table(self, client):
        writer = client.trajectory_writer(1)
        writer.append(1)
        with pytest.raises(ValueError, match="nowhere") as caught:
            writer.create_item("nowhere", 1.0, writer.history[:])
        assert caught.value.table == "nowhere"
        unchecked = client.trajectory_writer(1, validate_items=False)
        unchecked.append(1)
        unchecked.create_item("nowhere", 1.0, unchecked.history[:])
        with pytest.raises(RuntimeError, match="nowhere"):
            unchecked.flush()
        for use in (lambda: unchecked.append(1), unchecked.flush, unchecked.end_episode):
            with pytest.raises(RuntimeError, match="nowhere"):
                use()


class TestConfigure:
    @pytest.mark.parametrize(("keep", "length"), [(0, None), (-1, 1), (3, 0), (3, 4)])
    def test_out_of_range(self, client, keep, length):
        with pytest.raises(ValueError):
            client.trajectory_writer(3).configure(
                ("a",), num_keep_alive_refs=keep, max_chunk_length=length
            )

    def test_a_path_must_be_one(self, client):
        with pytest.raises(TypeError):
            client.trajectory_writer(3).configure(
                ["a"], num_keep_alive_refs=1, max_chunk_length=None
            )

    def test_before_the_column_is_seen(self, client):
        writer = client.trajectory_writer(1)
        writer.configure(("b", 0), num_keep_alive_refs=4, max_chunk_length=2)
        for i in range(6):
            writer.append({"a": i, "b": [i]})
        assert writer.history["b"][0][-4:].numpy().tolist() == [2, 3, 4, 5]
        with pytest.raises((ValueError, RuntimeError)):
            writer.history["a"][-2:].numpy()

    def test_an_existing_column(self, client):
        writer = client.trajectory_writer(4)
        writer.configure((), num_keep_alive_refs=4, max_chunk_length=3)
        writer.append(0)
        with pytest.raises(RuntimeError, match="flush"):
            writer.configure((), num_keep_alive_refs=2, max_chunk_length=None)
        writer.append(1)
        writer.append(2)
        column = writer.history[:]
        writer.configure((), num_keep_alive_refs=1, max_chunk_length=1)
        with pytest.raises(RuntimeError, match="expired"):
            column.numpy()
        assert writer.history[-1].numpy() == 2
        writer.configure((), num_keep_alive_refs=9, max_chunk_length=None)
        for i in range(9):
            writer.append(i)
        assert writer.history[-9:].numpy().tolist() == list(range(9))

    def test_what_is_refused_changes_nothing(self, client):
        writer = client.trajectory_writer(2)
        writer.configure(("a",), num_keep_alive_refs=2, max_chunk_length=2)
        writer.append({"a": 0})
        with pytest.raises(RuntimeError, match="flush"):
            writer.configure(("a",), num_keep_alive_refs=5, max_chunk_length=None)
        for i in range(1, 6):
            writer.append({"a": i, "b": i})
        assert [r is None for r in writer.history["b"]] == [True] * 4 + [False] * 2

    def test_all_environments_or_none(self, client):
        writer = client.trajectory_writer(2)
        writer.configure((), num_keep_alive_refs=2, max_chunk_length=2)
        writer.append_batch(np.arange(2), episode_ends=[True, False])
        with pytest.raises(RuntimeError, match="flush"):
            writer.configure((), num_keep_alive_refs=5, max_chunk_length=5)
        for i in range(4):
            writer.append_batch(np.arange(2) + 10 * i)
        for env in writer.envs:
            assert [r is None or r.expired for r in env.history][-3:] == [True, False, False]


class TestFlush:
    def test_leaves_the_newest_items_pending(self, client):
        writer = client.trajectory_writer(10)
        writer.configure((), num_keep_alive_refs=10, max_chunk_length=10)
        for i in range(3):
            writer.append(i)
            writer.create_item("queue", 1.0, writer.history[-1:])
        writer.flush(3)
        assert client.server_info()["queue"].current_size == 0
        writer.flush(1)
        assert client.server_info()["queue"].current_size >= 2
        writer.flush()
        assert client.server_info()["queue"].current_size == 3

    @pytest.mark.parametrize("count", [-1, -100])
    def test_negative_count(self, client, count):
        with pytest.raises(ValueError, match="block_until_num_items"):
            client.trajectory_writer(1).flush(count)

    def test_timeouts(self, client):
        writer = client.trajectory_writer(1)
        for i in range(3):
            writer.append(i)
            writer.create_item("tiny", 1.0, writer.history[-1:])
        with pytest.raises(TypeError):
            writer.flush(timeout_ms=1.0)
        with pytest.raises(errors.DeadlineExceededError, match=r"0:00:00.05"):
            writer.flush(timeout_ms=50)
        with pytest.raises(errors.DeadlineExceededError):
            writer.end_episode(timeout_ms=0)
        assert writer.episode_steps == 3 and len(writer.history) == 3
        with pytest.raises(errors.DeadlineExceededError):
            writer.end_episode(timeout_ms=20)
        assert _sample(client, "tiny")[0][0].tolist() == [0]
        writer.end_episode(timeout_ms=10_000)
        assert writer.episode_steps == 0 and len(writer.history) == 0
        writer.flush(timeout_ms=0)
        writer.flush(timeout_ms=-5)

    def test_bodies_that_fail_flush(self, client):
        writer = client.trajectory_writer(1)
        with pytest.raises(ZeroDivisionError):
            with writer:
                writer.append(1)
                writer.create_item("queue", 1.0, writer.history[-1:])
                _ = 1 / 0
        assert client.server_info()["queue"].current_size == 1
        with writer as entered:
            assert entered is writer
            writer.append(2)
            writer.create_item("queue", 1.0, writer.history[-1:])
        assert client.server_info()["queue"].current_size == 2
        with pytest.raises(errors.DeadlineExceededError):
            with writer:
                for _ in range(3):
                    writer.create_item("tiny", 1.0, writer.history[-1:])
                writer.flush(timeout_ms=20)

    def test_close(self, client):
        writer = client.trajectory_writer(1)
        writer.append(1)
        for _ in range(3):
            writer.create_item("tiny", 1.0, writer.history[-1:])
        waiting = threading.Timer(0.1, writer.close)
        waiting.start()
        with pytest.raises(RuntimeError):
            writer.flush()
        waiting.join()
        writer.close()
        uses = (
            lambda: writer.append(1),
            lambda: writer.create_item("queue", 1.0, writer.history[:]),
            writer.flush,
            writer.end_episode,
        )
        for use in uses:
            with pytest.raises(RuntimeError, match="closed"):
                use()
        assert writer.episode_steps == 1
        assert writer.history[-1].numpy() == 1

    def test_max_pending_bytes(self, client):
        writer = client.trajectory_writer(1, max_pending_bytes=10_000)
        step = np.zeros(4000, np.uint8)
        with pytest.raises(errors.ResourceExhaustedError, match="max_pending_bytes") as caught:
            for _ in range(10):
                writer.append(step)
                writer.create_item("tiny", 1.0, writer.history[-1:])
        assert caught.value.limit == 10_000 and caught.value.actual >= 10_000
        for _ in range(3):
            _sample(client, "tiny")
        writer.flush()
        writer.append(step)
        with pytest.raises(ValueError):
            client.trajectory_writer(1, max_pending_bytes=0)


class TestBatches:
    def test_environments(self, client):
        writer = client.trajectory_writer(4)
        assert len(writer.envs) == 0
        for t in range(3):
            writer.append_batch({"o": np.arange(6).reshape(3, 2) + 10 * t, "r": np.full(3, t)})
        assert len(writer.envs) == 3
        for i, env in enumerate(writer.envs):
            assert env.episode_steps == 3
            assert env.history["o"][-1].numpy().tolist() == [2 * i + 20, 2 * i + 21]
            env.create_item("queue", 1.0, {"o": env.history["o"][-2:], "r": env.history["r"][:]})
        writer.flush()
        for i, (o, r) in enumerate(_sample(client, count=3)):
            assert o.tolist() == [[2 * i + 10, 2 * i + 11], [2 * i + 20, 2 * i + 21]]
            assert r.tolist() == [0, 1, 2]

    def test_episodes_end_by_themselves(self, client):
        writer = client.trajectory_writer(4)
        writer.append_batch({"x": np.arange(2)})
        writer.append_batch({"x": np.arange(2) + 10}, episode_ends=[False, True])
        ended = writer.envs[1]
        assert ended.episode_steps == 2
        ended.create_item("queue", 1.0, ended.history["x"][:])
        writer.append_batch({"x": np.arange(2) + 20})
        assert [env.episode_steps for env in writer.envs] == [3, 1]
        assert ended.history["x"][:].numpy().tolist() == [21]
        writer.flush()
        assert _sample(client)[0][0].tolist() == [1, 11]

    def test_ends_of_one_and_of_all(self, client):
        writer = client.trajectory_writer(4)
        writer.append_batch(np.arange(3))
        writer.envs[2].end_episode()
        assert [env.episode_steps for env in writer.envs] == [1, 1, 0]
        writer.end_episode()
        assert [env.episode_steps for env in writer.envs] == [0, 0, 0]

    @pytest.mark.parametrize(
        ("data", "ends", "match"),
        [
            ({"x": np.arange(3)}, None, "'x'.*first dimension must be 2"),
            ({"x": 1}, None, "'x'.*first dimension must be 2"),
            ({"x": np.arange(2)}, [True], "episode_ends"),
            ({"x": np.arange(2)}, [1, 0], "bools"),
            ({"x": np.arange(2.0)}, None, "'x'.*int64"),
        ],
    )
    def test_bad_batches_store_nothing(self, client, data, ends, match):
        writer = client.trajectory_writer(4)
        writer.append_batch({"x": np.arange(2)})
        with pytest.raises((ValueError, TypeError), match=match):
            writer.append_batch(data, episode_ends=ends)
        assert [len(env.history["x"]) for env in writer.envs] == [1, 1]

    def test_steps_and_batches_do_not_mix(self, client):
        single = client.trajectory_writer(2)
        single.append(1)
        with pytest.raises(errors.FailedPreconditionError, match="append_batch"):
            single.append_batch(np.arange(2))
        batched = client.trajectory_writer(2)
        batched.append_batch(np.arange(2))
        with pytest.raises(errors.FailedPreconditionError, match="append"):
            batched.append(1)
        for read in (lambda: batched.history, lambda: batched.episode_steps):
            with pytest.raises(errors.FailedPreconditionError, match="envs"):
                read()


class TestStructureOnTheWay:
    def test_samples_have_the_trajectory_s_structure(self, client):
        writer = client.trajectory_writer(1)
        writer.append(1)
        writer.create_item("queue", 1.0, {"b": (writer.history[:],), "a": writer.history[-1]})
        writer.flush()
        sampler = client._client.new_sampler("queue", 1, None, 10)
        _, columns, structure = sampler.next_with_structure()
        a, b = columns
        assert reverb._core.Packer(structure).pack(columns) == {"a": a, "b": (b,)}
        assert a == 1 and b.tolist() == [1]


@pytest.mark.parametrize("kwargs", [{"num_keep_alive_refs": 0}, {"num_keep_alive_refs": -3}])
def test_constructor_values(client, kwargs):
    with pytest.raises(ValueError):
        client.trajectory_writer(**kwargs)


def test_constructor_types(client):
    with pytest.raises(TypeError):
        client.trajectory_writer(1.0)
    with pytest.raises(TypeError):
        client.trajectory_writer(1, True)
