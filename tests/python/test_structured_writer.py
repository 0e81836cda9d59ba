# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The pure functions of structured writing: patterns, conditions, priorities, signatures."""

import collections
import copy
import math
import pickle
import sys
import types

import numpy as np
import pytest
import tree
from google.protobuf import json_format, text_format
from hypothesis import given
from hypothesis import strategies as st

from reverb import errors, structured_writer
from reverb.cc import patterns_pb2
from reverb.specs import TensorSpec
from reverb.structured_writer import Condition, ConditionProto
from tests.python import _fake_tensorflow

_STEP = {"b": None, "a": [None, {"x": None}]}  # flat: a/0, a/1/x, b
Pair = collections.namedtuple("Pair", ["second", "first"])


@pytest.fixture
def tensorflow(monkeypatch):
    fake = _fake_tensorflow.module()
    monkeypatch.setitem(sys.modules, "tensorflow", fake)
    return fake


def _config(transform, structure=None, **kwargs):
    pattern = structured_writer.pattern_from_transform(
        _STEP if structure is None else structure, transform
    )
    return structured_writer.create_config(pattern, **({"table": "t"} | kwargs))


class TestReferences:
    def test_leaves_become_references_in_flat_order(self):
        step = structured_writer.create_reference_step(_STEP)
        tree.assert_same_structure(step, _STEP)
        nodes = [ref[-1] for ref in tree.flatten(step)]
        assert [node.flat_source_index for node in nodes] == [0, 1, 2]

    def test_bare_leaf(self):
        assert structured_writer.create_reference_step(None)[-1] == patterns_pb2.PatternNode(
            stop=-1
        )

    @pytest.mark.parametrize("index", [-1, -3, 0, 5, True])
    def test_int_sets_stop_alone(self, index):
        node = structured_writer.create_reference_step([None, None])[1][index]
        assert node == patterns_pb2.PatternNode(flat_source_index=1, stop=int(index))
        assert node.HasField("stop") and not node.HasField("start")

    @pytest.mark.parametrize(
        ("key", "fields"),
        [
            (slice(-3, None), {"start": -3}),
            (slice(-3, -1), {"start": -3, "stop": -1}),
            (slice(-3, 0), {"start": -3, "stop": 0}),
            (slice(-5, None, 2), {"start": -5, "step": 2}),
            (slice(-5, -1, 2), {"start": -5, "stop": -1, "step": 2}),
            # Checked when a writer is made, not here.
            (slice(None), {}),
            (slice(None, None, 2), {"step": 2}),
            (slice(1, None), {"start": 1}),
            (slice(-1, -2), {"start": -1, "stop": -2}),
        ],
    )
    def test_slice_sets_what_is_given(self, key, fields):
        node = structured_writer.create_reference_step(None)[key]
        assert node == patterns_pb2.PatternNode(**fields)
        assert {f for f in ("start", "stop", "step") if node.HasField(f)} == set(fields)

    @pytest.mark.parametrize("key", [slice(None, -2), slice(None, -2, 2), slice(None, 0)])
    def test_slice_without_start_is_refused(self, key):
        with pytest.raises(errors.InvalidArgumentError, match="needs a start"):
            structured_writer.create_reference_step(None)[key]

    @pytest.mark.parametrize("key", ["a", [1], np.int64(-1), None, 1.5, (1, 2)])
    def test_other_keys_are_refused(self, key):
        with pytest.raises(ValueError):
            structured_writer.create_reference_step(None)[key]

    def test_iterating_a_reference_ends(self):
        with pytest.raises(TypeError):
            list(structured_writer.create_reference_step(None))


_BUILDERS = [
    (Condition.step_index, {"step_index": True}),
    (Condition.steps_since_applied, {"steps_since_applied": True}),
    (lambda: Condition.data(_STEP)["b"], {"flat_source_index": 2}),
]


@pytest.mark.parametrize(("build", "left"), _BUILDERS)
class TestConditions:
    def test_operators(self, build, left):
        mod_eq = ConditionProto.ModuloEq(mod=3, eq=2)
        for condition, expected in [
            (build() == 5, {"eq": 5}),
            (build() != 5, {"eq": 5, "inverse": True}),
            (build() >= 5, {"ge": 5}),
            (build() > 5, {"ge": 6}),
            (build() <= 5, {"ge": 6, "inverse": True}),
            (build() < 5, {"ge": 5, "inverse": True}),
            (build() % 3 == 2, {"mod_eq": mod_eq}),
            (build() % 3 != 2, {"mod_eq": mod_eq, "inverse": True}),
            (5 == build(), {"eq": 5}),  # noqa: SIM300
            (build() >= 5, {"ge": 5}),
            (build() < 5, {"ge": 5, "inverse": True}),
            (build() % 0 == 2, {"eq": 2}),
            (build() == np.int64(5), {"eq": 5}),
        ]:
            assert condition == ConditionProto(**left, **expected)

    def test_zero_is_written(self, build, left):
        assert (build() == 0).WhichOneof("cmp") == "eq"
        assert (build() >= 0).WhichOneof("cmp") == "ge"

    @pytest.mark.parametrize("value", [1.0, "1", None, [1]])
    def test_right_side_is_an_int(self, build, left, value):
        for compare in ("__eq__", "__ne__", "__ge__", "__gt__", "__le__", "__lt__", "__mod__"):
            with pytest.raises(TypeError, match="int"):
                getattr(build(), compare)(value)

    def test_modulus_is_never_dropped(self, build, left):
        for compare in ("__ge__", "__gt__", "__le__", "__lt__"):
            with pytest.raises(errors.InvalidArgumentError, match="== and != only"):
                getattr(build() % 2, compare)(1)
        with pytest.raises(errors.InvalidArgumentError, match="one %"):
            build() % 2 % 2

    def test_conditions_are_not_combined_by_python(self, build, left):
        for combine in (
            lambda: build() >= 2 and build() <= 5,
            lambda: build() == 2 or build() == 5,
            lambda: not build() == 2,  # noqa: SIM201
            lambda: 2 <= build() <= 5,
            lambda: build() and True,
        ):
            with pytest.raises(errors.InvalidArgumentError, match="list"):
                combine()


def test_refused_truth_value_does_not_disturb_protobuf():
    config = _config(lambda ref: ref["b"][-1], conditions=[Condition.step_index() >= 2])
    assert text_format.Parse(str(config), structured_writer.Config()) == config
    as_dict = json_format.MessageToDict(config)
    assert json_format.ParseDict(as_dict, structured_writer.Config()) == config
    merged = copy.deepcopy(config)
    merged.MergeFrom(config)
    assert len(merged.conditions) == 2
    assert merged.conditions[0] in list(config.conditions)
    merged.conditions.remove(merged.conditions[0])
    merged.conditions.sort(key=str)
    assert list(merged.conditions) == list(pickle.loads(pickle.dumps(config)).conditions)


def test_condition_out_of_range():
    with pytest.raises(ValueError):
        _ = Condition.step_index() > 2**31 - 1


def test_is_end_episode_is_complete():
    assert Condition.is_end_episode() == ConditionProto(is_end_episode=True, eq=1)


def test_data_has_the_structure_of_the_step():
    tree.assert_same_structure(Condition.data(_STEP), _STEP)


class TestCreateConfig:
    def test_parts(self):
        config = _config(
            lambda ref: {"y": ref["b"][-2:], "x": ref["a"][0][-1]},
            conditions=[Condition.step_index() >= 2, Condition.is_end_episode()],
        )
        assert isinstance(config, structured_writer.Config)
        assert config.table == "t"
        assert list(config.flat) == [  # flat order: x before y
            patterns_pb2.PatternNode(flat_source_index=0, stop=-1),
            patterns_pb2.PatternNode(flat_source_index=2, start=-2),
        ]
        assert list(config.conditions) == [
            ConditionProto(step_index=True, ge=2),
            ConditionProto(is_end_episode=True, eq=1),
        ]
        assert config.priority == structured_writer.constant_priority_fn(1.0)

    def test_conditions_may_be_any_iterable(self):
        config = _config(lambda ref: ref["b"][-1], conditions=iter([Condition.is_end_episode()]))
        assert len(config.conditions) == 1

    @pytest.mark.parametrize(
        "transform", [lambda ref: {"x": ref["b"]}, lambda ref: {"x": 3}, lambda ref: {"x": None}]
    )
    def test_leaf_that_is_no_node(self, transform):
        with pytest.raises(TypeError, match="'x'"):
            _config(transform)

    @pytest.mark.parametrize("condition", [Condition.step_index(), True, None, 3])
    def test_incomplete_condition(self, condition):
        with pytest.raises(TypeError, match=r"conditions\[0\]"):
            _config(lambda ref: ref["b"][-1], conditions=[condition])

    @pytest.mark.parametrize(
        "transform",
        [
            lambda ref: ref["b"][-1],
            lambda ref: [ref["b"][-1], (ref["a"][0][-2:],)],
            lambda ref: {"z": ref["b"][-1], "a": {"q": ref["a"][1]["x"][-3:]}},
            lambda ref: Pair(ref["b"][-1], [ref["b"][-2]]),
        ],
    )
    def test_unpack_is_the_inverse(self, transform):
        pattern = structured_writer.pattern_from_transform(_STEP, transform)
        unpacked = structured_writer.unpack_pattern(_config(transform))
        assert unpacked == pattern
        assert tree.flatten(unpacked) == tree.flatten(pattern)

    def test_unpack_without_structure_is_the_flat_list(self):
        config = _config(lambda ref: {"x": ref["b"][-1]})
        config.ClearField("pattern_structure")
        assert structured_writer.unpack_pattern(config) == list(config.flat)


class TestPriorities:
    def test_constant(self):
        assert structured_writer.constant_priority_fn(2.5).constant_fn.value == 2.5

    def test_td_error(self):
        made = structured_writer.td_error(0.9, _STEP, lambda step: step["a"][1]["x"])
        assert made.td_error.max_priority_weight == 0.9
        assert made.td_error.flat_source_index == 1

    def test_td_error_needs_one_leaf(self):
        for choose in (lambda step: step["a"], lambda step: None):
            with pytest.raises(TypeError, match="one leaf"):
                structured_writer.td_error(0.9, _STEP, choose)


_SPEC = {
    "b": TensorSpec((2, 3), np.float32),
    "a": [TensorSpec((), np.int64), {"x": TensorSpec((None, 4), str)}],
}


class TestInferSignature:
    def test_shapes_dtypes_and_names(self):
        config = _config(
            lambda ref: {
                "all": ref["b"][-3:],
                "some": [ref["a"][0][-3:-1]],
                "one": ref["a"][1]["x"][-1],
            }
        )
        assert structured_writer.infer_signature([config], _SPEC) == {
            "all": TensorSpec((3, 2, 3), np.float32, "all"),
            "some": [TensorSpec((2,), np.int64, "some/0")],
            "one": TensorSpec((None, 4), str, "one"),
        }

    @given(st.integers(-20, -1), st.integers(-20, 0) | st.none(), st.integers(1, 7))
    def test_length_is_that_of_the_python_slice(self, start, stop, step):
        if stop is not None and stop <= start:
            return
        config = _config(lambda ref: ref[start:stop:step], structure=0)
        inferred = structured_writer.infer_signature([config], TensorSpec((), np.int32))
        newest = list(range(20))
        assert inferred.shape == (len(newest[start : stop or None : step]),)

    def test_arrays_describe_steps_too(self):
        config = _config(lambda ref: [ref[-2:]], structure=0)
        inferred = structured_writer.infer_signature([config], np.zeros((3,), np.int16))
        assert inferred == [TensorSpec((2, 3), np.int16, "0")]

    def test_first_dimension_of_differing_configs_is_unknown(self):
        configs = [_config(lambda ref, n=n: {"x": ref["b"][-n:]}) for n in (2, 3, 3)]
        inferred = structured_writer.infer_signature(configs, _SPEC)
        assert inferred == {"x": TensorSpec((None, 2, 3), np.float32, "x")}

    def test_unknown_rank_stays(self):
        config = _config(lambda ref: ref[-2:], structure=0)
        assert structured_writer.infer_signature([config], TensorSpec(None)).shape is None

    def test_no_configs(self):
        with pytest.raises(ValueError, match="at least one"):
            structured_writer.infer_signature([], _SPEC)

    def test_different_tables_are_listed_in_order(self):
        configs = [_config(lambda ref: ref["b"][-1], table=t) for t in ("z", "a", "z")]
        with pytest.raises(ValueError, match=r"\['a', 'z'\]"):
            structured_writer.infer_signature(configs, _SPEC)

    @pytest.mark.parametrize(
        ("one", "other", "text"),
        [
            (lambda r: {"x": r["b"][-1]}, lambda r: {"y": r["b"][-1]}, "structure"),
            (lambda r: {"x": r["b"][-1]}, lambda r: [r["b"][-1]], "structure"),
            (lambda r: {"x": r["b"][-1]}, lambda r: {"x": r["a"][0][-1]}, "dtype of column 'x'"),
            (lambda r: {"x": r["b"][-1]}, lambda r: {"x": r["b"][-1:]}, "shape of column 'x'"),
        ],
    )
    def test_conflicts(self, one, other, text):
        with pytest.raises(ValueError, match=text):
            structured_writer.infer_signature([_config(one), _config(other)], _SPEC)

    def test_dimensions_behind_the_first_must_agree(self):
        spec = [TensorSpec((2, 3)), TensorSpec((2, 4))]
        configs = [_config(lambda ref, i=i: {"x": ref[i][-1]}, structure=[0, 0]) for i in (0, 1)]
        with pytest.raises(ValueError, match="shape of column 'x'"):
            structured_writer.infer_signature(configs, spec)

    def test_column_that_the_step_lacks(self):
        config = _config(lambda ref: {"x": ref["b"][-1]})
        with pytest.raises(ValueError, match="'x'"):
            structured_writer.infer_signature([config], [TensorSpec(())])

    def test_leaf_without_shape(self):
        config = _config(lambda ref: {"x": ref["b"][-1]})
        with pytest.raises(TypeError, match="'b'"):
            structured_writer.infer_signature([config], {"b": 1, "a": [1, {"x": 2}]})

    def test_tensorflow_in_tensorflow_out(self, tensorflow):
        config = _config(lambda ref: {"x": ref["b"][-2:]})
        theirs = {
            "b": tensorflow.TensorSpec([], tensorflow.as_dtype("int32")),
            "a": [types.SimpleNamespace(shape=(), dtype=np.int32), {"x": np.zeros(())}],
        }
        inferred = structured_writer.infer_signature([config], theirs)
        assert isinstance(inferred["x"], tensorflow.TensorSpec)
        assert TensorSpec((2,), np.int32, "x") == inferred["x"]
        ours = structured_writer.infer_signature([config], _SPEC)
        assert type(ours["x"]) is TensorSpec


def test_length_formula():
    assert math.ceil(3 / 2) == 2
    config = _config(lambda ref: ref[-3::2], structure=0)
    assert structured_writer.infer_signature([config], TensorSpec(())).shape == (2,)
