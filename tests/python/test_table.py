# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0

import collections
import pickle

import pytest

import reverb
from reverb import server as server_lib

_S = reverb.selectors


def _table(**kwargs):
    arguments = {
        "name": "t",
        "sampler": _S.Uniform(),
        "remover": _S.Fifo(),
        "max_size": 10,
        "rate_limiter": reverb.rate_limiters.MinSize(2),
    }
    return reverb.Table(**{**arguments, **kwargs})


def test_info():
    table = _table(max_times_sampled=-1, sampler=_S.Prioritized(0.5), remover=_S.MinHeap())
    info = table.info
    assert isinstance(info, reverb.reverb_types.TableInfo)
    assert (info.name, info.max_size, info.max_times_sampled) == ("t", 10, -1)
    assert info.sampler_options.WhichOneof("distribution") == "prioritized"
    assert info.sampler_options.prioritized.priority_exponent == 0.5
    assert not info.sampler_options.is_deterministic
    assert info.remover_options.heap.min_heap
    assert info.remover_options.is_deterministic
    assert info.rate_limiter_info.min_size_to_sample == 2
    assert info.rate_limiter_info.samples_per_insert == 1.0
    assert info.signature is None
    assert info.current_size == info.num_episodes == info.num_deleted_episodes == 0


def test_positional_arguments():
    table = reverb.Table("t", _S.Fifo(), _S.Lifo(), 3, reverb.rate_limiters.MinSize(1), 2, (), None)
    assert (table.name, table.info.max_size, table.info.max_times_sampled) == ("t", 3, 2)


def test_repr():
    table = _table(sampler=_S.Prioritized(0.8), remover=_S.MaxHeap(), max_times_sampled=3)
    text = repr(table)
    assert text.startswith(
        "Table(sampler=PrioritizedSelector(priority_exponent=0.8), remover=HeapSelector(sign=-1), "
        "max_size=10, max_times_sampled=3, name=t, rate_limiter=RateLimiter(samples_per_insert=1"
    )
    assert "signature=nullptr" in text


Pair = collections.namedtuple("Pair", ["x", "y"])


def test_signature_round_trip():
    spec = reverb.TensorSpec((None, 3), "float32", "image")
    table = _table(signature={"b": [spec], "a": Pair(spec, (spec, spec))})
    signature = table.info.signature
    assert signature["b"] == [spec]
    assert signature["a"].x == spec
    assert signature["a"]._fields == ("x", "y")
    assert signature["a"].y == (spec, spec)


@pytest.mark.parametrize("signature", [None, {}, (), []])
def test_falsy_signatures_are_none(signature):
    assert _table(signature=signature).info.signature is None


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"name": ""}, "name"),
        ({"max_size": 0}, "0"),
        ({"max_size": -7}, "-7"),
        ({"sampler": None}, "sampler.*None"),
        ({"remover": None}, "remover.*None"),
        ({"sampler": "fifo"}, "sampler.*'fifo'"),
        ({"sampler": reverb.selectors.Fifo}, "sampler"),
        ({"rate_limiter": None}, "rate_limiter.*None"),
        ({"signature": {"a": 1}}, "a"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(ValueError, match=match):
        _table(**arguments)


def test_a_table_as_a_limiter():
    with pytest.raises(ValueError, match="rate_limiter"):
        _table(rate_limiter=_table())


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": 1},
        {"max_size": 1.5},
        {"max_size": 10.0},
        {"max_size": "10"},
        {"max_size": 2**31},
        {"max_times_sampled": 2**31},
        {"max_times_sampled": 1.0},
        {"signature": {1: reverb.TensorSpec((), "int32")}},
    ],
)
def test_arguments_of_wrong_type(arguments):
    with pytest.raises(TypeError):
        _table(**arguments)


def test_one_selector_in_two_roles():
    selector = _S.Fifo()
    with pytest.raises(ValueError, match="same object"):
        _table(sampler=selector, remover=selector)
    _table(sampler=selector)  # the failure took nothing
    for role in ("sampler", "remover"):
        with pytest.raises(ValueError, match="in use already"):
            _table(**{role: selector})


def test_one_limiter_in_two_tables():
    limiter = reverb.rate_limiters.MinSize(1)
    _table(rate_limiter=limiter)
    with pytest.raises(ValueError, match="in use already"):
        _table(rate_limiter=limiter)


@pytest.mark.parametrize("method", ["can_sample", "can_insert"])
def test_predicates_want_positive_ints(method):
    table = _table()
    for bad in (0, -1):
        with pytest.raises(ValueError):
            getattr(table, method)(bad)
    with pytest.raises(TypeError):
        getattr(table, method)(1.0)


def test_predicates():
    table = _table()
    assert not table.can_sample(1)
    assert table.can_insert(1)
    assert table.can_insert(2)


@pytest.mark.parametrize(
    ("make", "kind"), [(reverb.Table.queue, "fifo"), (reverb.Table.stack, "lifo")]
)
def test_queue_and_stack(make, kind):
    info = make("q", 3).info
    assert info.sampler_options.WhichOneof("distribution") == kind
    assert info.remover_options.WhichOneof("distribution") == kind
    assert info.max_times_sampled == 1
    assert info.rate_limiter_info.max_diff == 3
    assert info.rate_limiter_info.min_diff == 0


def test_replace_keeps_what_is_not_given():
    spec = reverb.TensorSpec((), "int32")
    table = _table(sampler=_S.Prioritized(0.7), max_times_sampled=4, signature=spec)
    copy = table.replace(name="u", max_size=5)
    info = copy.info
    assert (info.name, info.max_size, info.max_times_sampled) == ("u", 5, 4)
    assert info.sampler_options.prioritized.priority_exponent == 0.7
    assert info.rate_limiter_info.min_size_to_sample == 2
    assert info.signature == spec
    assert table.name == "t"
    assert table.replace(signature=()).info.signature is None
    limiter = reverb.rate_limiters.MinSize(1)
    assert table.replace(rate_limiter=limiter).info.rate_limiter_info.min_size_to_sample == 1


@pytest.mark.parametrize("arguments", [{"max_size": 0}, {"name": ""}])
def test_replace_checks(arguments):
    with pytest.raises(ValueError):
        _table().replace(**arguments)


def test_extensions():
    asked = []

    class Extension(server_lib.TableExtensionBase):
        def build_internal_extensions(self, table_name):
            asked.append(table_name)
            return []

    table = _table(extensions=[Extension()])
    table.replace(name="u")
    assert asked == ["t", "u"]
    with pytest.raises(TypeError):
        server_lib.TableExtensionBase()
    with pytest.raises(TypeError):
        reverb.pybind.TableExtension()


def test_tables_are_compared_by_identity_and_not_pickled():
    table = _table()
    assert table == table and table != _table()
    assert len({table, _table()}) == 2
    with pytest.raises(TypeError):
        pickle.dumps(table)
