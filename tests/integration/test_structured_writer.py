# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Structured writers against a server, in its own process and in this one."""

import collections

import numpy as np
import pytest

import reverb
from reverb import errors
from reverb.structured_writer import (
    Condition,
    ConditionProto,
    Config,
    constant_priority_fn,
    create_config,
    pattern_from_transform,
    td_error,
)

_STEP = {"a": None, "b": {"c": None}}


@pytest.fixture(scope="module")
def _local_server():
    server = reverb.Server([reverb.Table.queue(name, 1000) for name in ("queue", "other")])
    yield server
    server.stop()


@pytest.fixture(params=["remote", "in-process"])
def client(_local_server, request):
    address = f"localhost:{_local_server.port}"
    client = reverb.Client(address)
    if request.param == "remote":
        client._client = reverb._core.Client(address, allow_in_process=False)
    for table in ("queue", "other"):
        client.reset(table)
    return client


def _config(transform, *, table="queue", conditions=(), priority=None, step=_STEP):
    return create_config(pattern_from_transform(step, transform), table, conditions, priority)


def _items(client, table="queue"):
    """All items of a queue as (priority, columns)."""
    count = client.server_info()[table].current_size
    if count == 0:
        return []
    samples = client.sample(table, count, emit_timesteps=False, timeout=10)
    return [(s.info.priority, [c.tolist() for c in s.data]) for s in samples]


def _values(client, table="queue"):
    return [columns for _, columns in _items(client, table)]


def _step(i):
    return {"a": np.int64(i), "b": {"c": np.float32(i)}}


def _write(client, configs, steps=6, **kwargs):
    writer = client.structured_writer(configs)
    for i in range(steps):
        writer.append(_step(i), **kwargs)
    writer.flush()
    return writer


class TestPatterns:
    @pytest.mark.parametrize(
        ("key", "wanted"),
        [
            (-1, [[0], [1], [2], [3]]),
            (-2, [[0], [1], [2]]),
            (slice(-2, None), [[[0, 1]], [[1, 2]], [[2, 3]]]),
            (slice(-3, -1), [[[0, 1]], [[1, 2]]]),
            (slice(-3, None, 2), [[[0, 2]], [[1, 3]]]),
            (slice(-4, None, 2), [[[0, 2]]]),
            (slice(-4, 0, 3), [[[0, 3]]]),
        ],
    )
    def test_windows(self, client, key, wanted):
        _write(client, [_config(lambda ref: {"x": ref["a"][key]})], steps=4)
        assert _values(client) == wanted

    def test_columns_of_several_shapes(self, client):
        _write(
            client,
            [
                _config(
                    lambda ref: {"n": ref["b"]["c"][-2], "all": ref["a"][-3:], "l": ref["a"][-1]}
                )
            ],
            steps=4,
        )
        assert _values(client) == [[[0, 1, 2], 2, 1.0], [[1, 2, 3], 3, 2.0]]

    def test_several_configs_and_tables(self, client):
        _write(
            client,
            [
                _config(lambda ref: ref["a"][-1:]),
                _config(
                    lambda ref: [ref["a"][-2:]], table="other", priority=constant_priority_fn(3)
                ),
                _config(lambda ref: ref["b"]["c"][-1]),
            ],
            steps=3,
        )
        assert _values(client) == [[[0]], [0.0], [[1]], [1.0], [[2]], [2.0]]
        assert _items(client, "other") == [(3.0, [[0, 1]]), (3.0, [[1, 2]])]

    def test_structures_are_stored(self, client):
        pattern = {"y": {"z": None}, "x": (None,)}
        config = _config(lambda ref: {"y": {"z": ref["a"][-1]}, "x": (ref["a"][-2:],)})
        _write(client, [config], steps=2)
        _, columns, structure = client._client.new_sampler(
            "queue", 1, None, 10
        ).next_with_structure()
        packed = reverb._core.Packer(structure).pack(columns)
        assert sorted(packed) == sorted(pattern) and isinstance(packed["x"], tuple)
        assert packed["y"]["z"] == 1 and packed["x"][0].tolist() == [0, 1]

    def test_unused_columns_are_not_looked_at(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1:])])
        writer.append({"a": 1, "b": {"c": 2.0}})
        writer.append({"a": 2, "b": {"c": np.datetime64("2020-01-01")}})
        writer.flush()
        assert _values(client) == [[[1]], [[2]]]

    def test_a_missing_value_makes_no_item(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-2:])])
        for value in (0, 1, None, 3, 4):
            writer.append({"a": value, "b": {"c": 0.0}})
        writer.flush()
        assert _values(client) == [[[0, 1]], [[3, 4]]]

    def test_a_pattern_beyond_the_step_never_applies(self, client):
        configs = [_config(lambda ref: ref["b"]["c"][-1:]), _config(lambda ref: ref["a"][-1:])]
        writer = client.structured_writer(configs)
        writer.append([7])
        writer.flush()
        assert _values(client) == [[[7]]]


class TestConditions:
    @pytest.mark.parametrize(
        ("condition", "wanted"),
        [
            (lambda: Condition.step_index() == 2, [2]),
            (lambda: Condition.step_index() != 2, [0, 1, 3, 4, 5]),
            (lambda: Condition.step_index() >= 4, [4, 5]),
            (lambda: Condition.step_index() > 4, [5]),
            (lambda: Condition.step_index() <= 1, [0, 1]),
            (lambda: Condition.step_index() < 1, [0]),
            (lambda: Condition.step_index() % 3 == 1, [1, 4]),
            (lambda: Condition.step_index() % 3 != 1, [0, 2, 3, 5]),
            (lambda: Condition.steps_since_applied() >= 3, [2, 5]),
            (lambda: Condition.data(_STEP)["a"] >= 4, [4, 5]),
            (lambda: Condition.data(_STEP)["b"]["c"] != 1, []),
            (lambda: ConditionProto(buffer_length=True, ge=1), [0, 1, 2, 3, 4, 5]),
            (lambda: ConditionProto(buffer_length=True, ge=2), []),
            (lambda: Condition.is_end_episode(), []),
        ],
    )
    def test_each(self, client, condition, wanted):
        _write(client, [_config(lambda ref: ref["a"][-1], conditions=[condition()])])
        assert _values(client) == [[value] for value in wanted]

    def test_all_must_hold(self, client):
        conditions = [Condition.step_index() >= 2, Condition.data(_STEP)["a"] % 2 == 0]
        _write(client, [_config(lambda ref: ref["a"][-1], conditions=conditions)])
        assert _values(client) == [[2], [4]]

    def test_conditions_cannot_be_joined(self, client):
        with pytest.raises(ValueError, match="and"):
            _ = Condition.step_index() >= 1 and Condition.step_index() <= 2
        with pytest.raises(ValueError, match="modulus"):
            _ = Condition.step_index() % 2 >= 1
        with pytest.raises(ValueError, match="start"):
            _config(lambda ref: ref["a"][:-2])

    def test_a_condition_s_column_need_not_be_in_the_pattern(self, client):
        config = _config(
            lambda ref: ref["b"]["c"][-1], conditions=[Condition.data(_STEP)["a"] == 3]
        )
        _write(client, [config])
        assert _values(client) == [[3.0]]


class TestEpisodes:
    def test_the_end_of_an_episode(self, client):
        config = _config(lambda ref: ref["a"][-2:], conditions=[Condition.is_end_episode()])
        writer = client.structured_writer([config])
        for episode in range(2):
            for i in range(3):
                writer.append(_step(10 * episode + i))
            writer.end_episode()
        writer.end_episode()
        assert _values(client) == [[[1, 2]], [[11, 12]]]

    def test_applied_once_per_step(self, client):
        config = _config(lambda ref: ref["a"][-1])
        writer = client.structured_writer([config])
        writer.append(_step(0))
        writer.end_episode()
        assert _values(client) == [[0]]

    @pytest.mark.parametrize("clear", [True, False])
    def test_windows_across_episodes(self, client, clear):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-2:])])
        for episode in range(2):
            for i in range(2):
                writer.append(_step(10 * episode + i))
            writer.end_episode(clear_buffers=clear)
        between = [] if clear else [[[1, 10]]]
        assert _values(client) == [[[0, 1]], *between, [[10, 11]]]

    def test_step_index_begins_anew(self, client):
        config = _config(lambda ref: ref["a"][-1], conditions=[Condition.step_index() == 1])
        writer = client.structured_writer([config])
        for i in range(6):
            writer.append(_step(i))
            if i % 3 == 2:
                writer.end_episode()
        assert _values(client) == [[1], [4]]


class TestPartialSteps:
    def test_items_as_soon_as_their_columns_are_there(self, client):
        configs = [_config(lambda ref: ref["a"][-1]), _config(lambda ref: ref["b"]["c"][-1])]
        writer = client.structured_writer(configs)
        assert not writer.step_is_open
        writer.append({"a": 1, "b": {"c": None}}, partial_step=True)
        assert writer.step_is_open
        writer.flush()
        assert _values(client) == [[1]]
        writer.append({"a": None, "b": {"c": 2.0}})
        assert not writer.step_is_open
        writer.flush()
        assert _values(client) == [[2.0]]

    def test_a_column_has_one_value(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-2:])])
        writer.append({"a": 1, "b": {"c": None}}, partial_step=True)
        with pytest.raises(RuntimeError, match="'a'") as caught:
            writer.append({"a": 2, "b": {"c": None}})
        assert caught.value.column == "a"
        writer.append({"a": None, "b": {"c": None}})
        writer.append({"a": 3, "b": {"c": None}})
        writer.flush()
        assert _values(client) == [[[1, 3]]]

    def test_an_episode_ends_with_its_open_step(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        writer.append(_step(1), partial_step=True)
        writer.end_episode()
        assert not writer.step_is_open
        writer.append(_step(2))
        writer.flush()
        assert _values(client) == [[1], [2]]


class TestPriorities:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
    def test_td_error(self, client, dtype):
        priority = td_error(0.75, _STEP, lambda step: step["a"])
        config = _config(lambda ref: [ref["a"][-1], ref["a"][-3:]], priority=priority)
        writer = client.structured_writer([config])
        for value in (-4, 1, 1, 1):
            writer.append({"a": dtype(value), "b": {"c": 0.0}})
        writer.flush()
        assert [p for p, _ in _items(client)] == [0.75 * 4 + 0.25 * 2, 1.0]

    def test_td_error_of_a_column_that_is_not_there(self, client):
        priority = td_error(0.75, _STEP, lambda step: step["b"]["c"])
        _write(client, [_config(lambda ref: ref["a"][-1], priority=priority)], steps=1)
        assert _items(client) == [(0.0, [0])]

    @pytest.mark.parametrize("value", [np.zeros(2), np.int8(1), np.float64("nan")])
    def test_td_error_of_other_values(self, client, value):
        priority = td_error(0.5, _STEP, lambda step: step["a"])
        configs = [
            _config(lambda ref: ref["a"][-1:], priority=priority),
            _config(lambda ref: ref["b"]["c"][-1], table="other"),
        ]
        writer = client.structured_writer(configs)
        with pytest.raises(ValueError, match="queue"):
            writer.append({"a": value, "b": {"c": 5.0}})
        writer.flush()
        assert _values(client, "other") == [[5.0]]
        assert _values(client) == []

    def test_a_config_needs_a_priority(self, client):
        config = Config()
        config.CopyFrom(_config(lambda ref: ref["a"][-1]))
        config.ClearField("priority")
        writer = client.structured_writer([config])
        with pytest.raises(ValueError, match="priority"):
            writer.append(_step(0))


class TestErrors:
    def test_number_of_leaves(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        writer.append([1, 2])
        with pytest.raises(ValueError, match="3 leaves.*2"):
            writer.append([1, 2, 3])
        writer.append((3, 4))
        writer.flush()
        assert _values(client) == [[1], [3]]

    def test_a_refused_step_does_not_set_the_number_of_leaves(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        with pytest.raises(TypeError):
            writer.append([object(), 2, 3])
        writer.append([1, 2])
        with pytest.raises(ValueError, match="3 leaves.*2"):
            writer.append([1, 2, 3])
        batched = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        with pytest.raises(ValueError, match="episode_ends"):
            batched.append_batch([np.arange(2), None, None], episode_ends=[True])
        batched.append_batch([np.arange(2), None])

    @pytest.mark.parametrize("bad", [1.0, [1], "text"])
    def test_another_dtype_or_shape(self, client, bad):
        step = {"a": None, "b": {"c": None}}
        config = _config(lambda ref: {"x": ref["a"][-2:], "y": ref["b"]["c"][-2:]}, step=step)
        writer = client.structured_writer([config])
        writer.append(_step(0))
        with pytest.raises(ValueError, match="column 1.*'b/c'") as caught:
            writer.append({"a": 1, "b": {"c": np.asarray(bad)}})
        assert caught.value.column == "b/c"
        writer.append(_step(2))
        writer.flush()
        assert _values(client) == [[[0, 2], [0.0, 2.0]]]

    @pytest.mark.parametrize(
        ("node", "match"),
        [
            ({"stop": 0}, "< 0"),
            ({}, "start or a stop"),
            ({"start": 1}, "start"),
            ({"start": -2, "stop": 1}, "stop"),
            ({"start": -1, "stop": -2}, "before"),
            ({"start": -2, "step": 0}, "step"),
            ({"stop": -2, "step": 2}, "step"),
            ({"flat_source_index": -1, "stop": -1}, "flat_source_index"),
        ],
    )
    def test_bad_patterns(self, client, node, match):
        good = _config(lambda ref: ref["a"][-1])
        bad = Config()
        bad.CopyFrom(good)
        del bad.flat[:]
        bad.flat.add(**node)
        with pytest.raises(ValueError, match=rf"configs\[1\].*{match}"):
            client.structured_writer([good, bad])

    def test_unknown_table(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1], table="nowhere")])
        writer.append(_step(0))
        with pytest.raises(RuntimeError, match="nowhere"):
            writer.flush()
        with pytest.raises(RuntimeError, match="nowhere"):
            writer.append(_step(1))

    def test_timeouts(self, client, own_server):
        client = reverb.Client(own_server.address)
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        for i in range(5):
            writer.append(_step(i))
        for use in (writer.flush, writer.end_episode):
            with pytest.raises(errors.DeadlineExceededError):
                use(timeout_ms=0)
            with pytest.raises(errors.DeadlineExceededError, match="0:00:00.03"):
                use(timeout_ms=30)
            with pytest.raises(TypeError):
                use(timeout_ms=1.5)
        with pytest.raises(ValueError):
            writer.flush(-1)


class TestBatches:
    def test_configs_are_evaluated_per_environment(self, client):
        configs = [
            _config(lambda ref: ref["a"][-2:]),
            _config(
                lambda ref: ref["a"][-1], table="other", conditions=[Condition.is_end_episode()]
            ),
        ]
        writer = client.structured_writer(configs)
        for t in range(3):
            data = {"a": np.arange(2) + 10 * t, "b": {"c": np.zeros(2)}}
            writer.append_batch(data, episode_ends=[t == 1, False])
        writer.flush()
        assert _values(client) == [[[0, 10]], [[1, 11]], [[11, 21]]]
        assert _values(client, "other") == [[10]]
        assert len(writer.envs) == 2
        writer.envs[1].end_episode()
        assert _values(client, "other") == [[21]]
        writer.end_episode()
        assert _values(client, "other") == [[20]]

    def test_batches_and_steps_do_not_mix(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        writer.append(_step(0))
        with pytest.raises(errors.FailedPreconditionError):
            writer.append_batch({"a": np.arange(2), "b": {"c": np.zeros(2)}})
        batched = client.structured_writer([_config(lambda ref: ref["a"][-1])])
        batched.append_batch({"a": np.arange(2), "b": {"c": np.zeros(2)}})
        with pytest.raises(errors.FailedPreconditionError):
            batched.append(_step(0))
        with pytest.raises(ValueError, match="'a'"):
            batched.append_batch({"a": np.arange(3), "b": {"c": np.zeros(2)}})


class TestDropped:
    def test_pending_items_are_sent(self, client):
        writer = client.structured_writer([_config(lambda ref: ref["a"][-3:])])
        for i in range(4):
            writer.append(_step(i))
        del writer
        samples = client.sample("queue", 2, emit_timesteps=False, timeout=20)
        assert [s.data[0].tolist() for s in samples] == [[0, 1, 2], [1, 2, 3]]


def test_named_tuples(client):
    Step = collections.namedtuple("Step", "obs reward")
    config = _config(lambda ref: {"o": ref.obs[-1], "r": ref.reward[-2:]}, step=Step(None, None))
    writer = client.structured_writer([config])
    for i in range(3):
        writer.append(Step(np.int32([i, i]), float(i)))
    writer.flush()
    assert _values(client) == [[[1, 1], [0.0, 1.0]], [[2, 2], [1.0, 2.0]]]


def test_no_configs(client):
    with pytest.raises(ValueError, match="config"):
        client.structured_writer([])
    with pytest.raises(AttributeError):
        client.structured_writer([1])
