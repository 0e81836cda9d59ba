# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""`TableInfo` and the types of samples."""

import copy
import pickle
import sys
import typing

import numpy as np
import pytest

from reverb import errors, pybind, reverb_types, signature
from reverb.cc import schema_pb2
from reverb.replay_sample import ReplaySample, SampleInfo
from reverb.specs import TensorSpec
from tests.python import _fake_tensorflow

_SIGNATURE = {"a": TensorSpec((2,), np.float32), "b": [TensorSpec((), np.int64)]}


def _proto():
    proto = schema_pb2.TableInfo(
        name="t",
        max_size=10,
        max_times_sampled=-1,
        current_size=3,
        num_episodes=4,
        num_deleted_episodes=5,
        num_unique_samples=6,
        signature=signature.encode_message(_SIGNATURE),
    )
    proto.sampler_options.prioritized.priority_exponent = 0.5
    proto.remover_options.fifo = True
    proto.remover_options.is_deterministic = True
    proto.rate_limiter_info.samples_per_insert = 2.0
    proto.rate_limiter_info.sample_stats.completed = 7
    proto.table_worker_time.sleeping_ms = 8
    return proto


def test_table_info_of_bytes():
    info = reverb_types.TableInfo.from_serialized_proto(_proto().SerializeToString())
    assert (info.name, info.max_size, info.max_times_sampled) == ("t", 10, -1)
    assert (info.current_size, info.num_episodes) == (3, 4)
    assert (info.num_deleted_episodes, info.num_unique_samples) == (5, 6)
    assert info.sampler_options.WhichOneof("distribution") == "prioritized"
    assert info.sampler_options.prioritized.priority_exponent == 0.5
    assert not info.sampler_options.is_deterministic
    assert info.remover_options.HasField("fifo")
    assert info.remover_options.is_deterministic
    assert info.rate_limiter_info.samples_per_insert == 2.0
    assert info.rate_limiter_info.sample_stats.completed == 7
    assert info.rate_limiter_info.insert_stats.completed == 0
    assert info.table_worker_time.sleeping_ms == 8
    assert info.signature == _SIGNATURE


def test_table_info_without_signature():
    proto = _proto()
    proto.ClearField("signature")
    assert reverb_types.TableInfo.from_serialized_proto(proto.SerializeToString()).signature is None


def test_table_info_is_comparable_mutable_and_can_be_copied():
    data = _proto().SerializeToString()
    info = reverb_types.TableInfo.from_serialized_proto(data)
    assert info == reverb_types.TableInfo.from_serialized_proto(data)
    assert pickle.loads(pickle.dumps(info)) == info == copy.deepcopy(info)
    info.max_size = 11
    assert info != reverb_types.TableInfo.from_serialized_proto(data)
    assert list(vars(info)) == [
        "name",
        "sampler_options",
        "remover_options",
        "max_size",
        "max_times_sampled",
        "rate_limiter_info",
        "signature",
        "current_size",
        "num_episodes",
        "num_deleted_episodes",
        "num_unique_samples",
        "table_worker_time",
    ]
    assert reverb_types.TableInfo(*vars(info).values()) == info


def test_bytes_that_are_no_table_info():
    with pytest.raises(errors.InvalidArgumentError):
        reverb_types.TableInfo.from_serialized_proto(b"\xff")


def test_aliases_can_stand_in_annotations():
    assert set(typing.get_args(reverb_types.SelectorType)) == {
        reverb_types.Fifo,
        reverb_types.Heap,
        reverb_types.Lifo,
        reverb_types.Prioritized,
        reverb_types.Uniform,
    }
    assert reverb_types.Heap is pybind.HeapSelector
    assert typing.get_args(reverb_types.SpecNest)[0] is TensorSpec
    assert typing.Optional[reverb_types.SpecNest]  # noqa: UP007
    assert typing.Optional[reverb_types.SelectorType]  # noqa: UP007


class TestSampleInfo:
    def test_fields(self):
        assert SampleInfo._fields == (
            "key",
            "probability",
            "table_size",
            "priority",
            "times_sampled",
        )
        assert ReplaySample._fields == ("info", "data")
        assert (
            SampleInfo(
                key=None, probability=None, table_size=None, priority=None, times_sampled=None
            )
            == (None,) * 5
        )

    def test_zeros(self):
        assert SampleInfo.zeros() == (0, 0.0, 0, 0.0, 0)
        assert isinstance(SampleInfo.zeros(), SampleInfo)
        assert [type(value) for value in SampleInfo.zeros()] == [int, float, int, float, int]

    def test_numpy_dtypes_and_shapes(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
        assert SampleInfo.tf_dtypes() == SampleInfo(
            *(np.dtype(n) for n in ("uint64", "float64", "int64", "float64", "int32"))
        )
        assert SampleInfo.tf_shapes() == ((),) * 5

    def test_tensorflow_dtypes_and_shapes(self, monkeypatch):
        fake = _fake_tensorflow.module()
        monkeypatch.setitem(sys.modules, "tensorflow", fake)
        assert [dtype.name for dtype in SampleInfo.tf_dtypes()] == [
            "uint64",
            "float64",
            "int64",
            "float64",
            "int32",
        ]
        assert all(shape.rank == 0 for shape in SampleInfo.tf_shapes())

    def test_samples_can_be_pickled(self):
        sample = ReplaySample(SampleInfo.zeros(), [1, 2])
        assert pickle.loads(pickle.dumps(sample)) == sample
