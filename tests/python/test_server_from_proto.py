# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables out of configuration messages."""

import sys

import pytest
from google.protobuf import text_format

from reverb import errors, item_selectors, pybind
from reverb.cc import schema_pb2
from reverb.cc.checkpointing import checkpoint_pb2
from reverb.server_executable import reverb_config_pb2, server_from_proto

_CONFIG = """
port: 8000
tables {
  table_name: "replay"
  sampler { prioritized { priority_exponent: 0.5 } }
  remover { fifo: true }
  max_size: 10
  max_times_sampled: 3
  rate_limiter { samples_per_insert: 2 min_size_to_sample: 3 min_diff: -4 max_diff: 5 }
}
tables {
  table_name: "stack"
  sampler { lifo: true }
  remover { heap { min_heap: true } }
  max_size: 7
  rate_limiter { samples_per_insert: 1 min_size_to_sample: 1 min_diff: 0 max_diff: 7 }
}
"""


def _options(text):
    return text_format.Parse(text, schema_pb2.KeyDistributionOptions())


_SELECTORS = [
    ("fifo: true", "FifoSelector"),
    ("lifo: true", "LifoSelector"),
    ("uniform: true", "UniformSelector"),
    ("heap { min_heap: true }", "HeapSelector(sign=1)"),
    ("heap { min_heap: false }", "HeapSelector(sign=-1)"),
    ("heap {}", "HeapSelector(sign=-1)"),
    ("prioritized { priority_exponent: 0.5 }", "PrioritizedSelector(priority_exponent=0.5)"),
]


@pytest.mark.parametrize(("text", "expected"), _SELECTORS)
def test_selectors(text, expected):
    options = _options(text)
    assert repr(server_from_proto.selector_from_proto(options)) == expected
    assert repr(pybind.selector_from_proto(options.SerializeToString())) == expected


@pytest.mark.parametrize("text", ["fifo: false", "lifo: false", "uniform: false"])
def test_flag_that_is_false(text):
    with pytest.raises(ValueError, match="false"):
        server_from_proto.selector_from_proto(_options(text))


def test_missing_selector():
    with pytest.raises(NotImplementedError, match="fifo"):
        server_from_proto.selector_from_proto(_options("is_deterministic: true"))


def test_bytes_that_are_no_selector():
    with pytest.raises(errors.InvalidArgumentError):
        pybind.selector_from_proto(b"\xff")


def test_rate_limiter():
    proto = checkpoint_pb2.RateLimiterCheckpoint(
        samples_per_insert=2, min_size_to_sample=3, min_diff=-4, max_diff=5, insert_count=9
    )
    limiter = server_from_proto.rate_limiter_from_proto(proto)
    assert repr(limiter) == (
        "RateLimiter(samples_per_insert=2, min_diff_=-4, max_diff=5, min_size_to_sample=3)"
    )
    with pytest.raises(ValueError, match="samples_per_insert"):
        server_from_proto.rate_limiter_from_proto(checkpoint_pb2.RateLimiterCheckpoint())


def test_tables():
    config = text_format.Parse(_CONFIG, reverb_config_pb2.ReverbServerConfig())
    replay, stack = server_from_proto.tables_from_proto(config.tables)
    info = replay.info
    assert (info.name, info.max_size, info.max_times_sampled) == ("replay", 10, 3)
    assert info.sampler_options.prioritized.priority_exponent == 0.5
    assert info.remover_options.fifo
    limiter = info.rate_limiter_info
    assert (limiter.samples_per_insert, limiter.min_size_to_sample) == (2, 3)
    assert (limiter.min_diff, limiter.max_diff) == (-4, 5)
    assert info.signature is None
    assert stack.info.sampler_options.lifo
    assert stack.info.remover_options.heap.min_heap


def test_table_without_rate_limiter_is_named():
    config = text_format.Parse(_CONFIG, reverb_config_pb2.ReverbServerConfig())
    config.tables[1].ClearField("rate_limiter")
    with pytest.raises(ValueError, match="'stack'") as caught:
        server_from_proto.tables_from_proto(config.tables)
    assert caught.value.table == "stack"


def test_min_size_as_the_contract_writes_it():
    proto = checkpoint_pb2.RateLimiterCheckpoint(
        samples_per_insert=1,
        min_size_to_sample=4,
        min_diff=-sys.float_info.max,
        max_diff=sys.float_info.max,
    )
    assert server_from_proto.rate_limiter_from_proto(proto)._min_size_to_sample == 4


def test_heap_class():
    assert isinstance(item_selectors.MaxHeap(), pybind.HeapSelector)
