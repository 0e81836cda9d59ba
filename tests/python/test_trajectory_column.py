# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory columns and the histories they are cut from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reverb
from reverb import errors
from reverb.trajectory_writer import TrajectoryColumn, _ColumnHistory


def _writer(kept):
    # Nothing is sent to anybody.
    client = reverb.Client("localhost:1")
    return client.trajectory_writer(kept, validate_items=False)


def _refs(values, kept=1000):
    """References to cells that hold `values`, of which the newest `kept` are alive."""
    writer = _writer(kept)
    writer.append(values[0])
    refs = list(writer.history)
    for value in values[1:]:
        writer.append(value)
        refs.append(list(writer.history)[-1])
    _KEEP.append(writer)
    return refs


# Cells live as long as their writer.
_KEEP: list[object] = []


@pytest.fixture(autouse=True)
def _forget_writers():
    yield
    _KEEP.clear()


def _column(count, **kwargs):
    refs = _refs([np.array([i, i]) for i in range(max(count, 1))])
    return TrajectoryColumn(refs[:count], **kwargs)


class TestTrajectoryColumn:
    def test_length_iteration_and_order(self):
        refs = _refs([0, 1])
        column = TrajectoryColumn(refs)
        assert len(column) == 2
        assert list(column) == refs
        assert column.is_squeezed is False
        assert column.numpy().tolist() == [0, 1]

    def test_from_several_columns(self):
        column = TrajectoryColumn(list(_column(2)) + list(_column(1)))
        assert column.shape == (3, 2)

    def test_shape_dtype_and_values(self):
        column = _column(3)
        assert column.shape == (3, 2)
        assert column.dtype == np.int64
        assert column.numpy().tolist() == [[0, 0], [1, 1], [2, 2]]

    def test_values_are_a_copy(self):
        column = _column(2)
        column.numpy()[:] = 7
        assert column.numpy().tolist() == [[0, 0], [1, 1]]

    def test_squeezed(self):
        column = _column(1, squeeze=True)
        assert column.is_squeezed is True
        assert column.shape == (2,)
        assert column.numpy().tolist() == [0, 0]

    @pytest.mark.parametrize("count", [0, 2])
    def test_only_one_cell_can_be_squeezed(self, count):
        with pytest.raises(ValueError, match="squeezed"):
            _column(count, squeeze=True)

    def test_missing_values_are_refused_with_the_path(self):
        with pytest.raises(ValueError, match="obs/camera") as caught:
            TrajectoryColumn([*_refs([0]), None], path=("obs", "camera"))
        assert caught.value.column == "obs/camera"

    def test_none_is_no_sequence(self):
        with pytest.raises(TypeError):
            TrajectoryColumn(None)

    def test_empty(self):
        column = TrajectoryColumn([])
        assert len(column) == 0
        with pytest.raises(IndexError):
            _ = column.shape
        with pytest.raises(IndexError):
            _ = column.dtype
        with pytest.raises(ValueError):
            column.numpy()

    def test_expired(self):
        first = TrajectoryColumn(_refs([0, 1], kept=1), path=("a",))
        for read in (lambda: first.shape, lambda: first.dtype, first.numpy):
            with pytest.raises(RuntimeError, match="expired"):
                read()
        expired, alive = _refs([0, 1], kept=1)
        assert expired.expired and not alive.expired
        second = TrajectoryColumn([alive, expired])
        assert second.shape == (2,)
        with pytest.raises(RuntimeError, match="expired"):
            second.numpy()
        for read in (lambda: expired.shape, lambda: expired.dtype, expired.numpy):
            with pytest.raises(RuntimeError, match="expired"):
                read()

    def test_cells_end_with_their_writer(self):
        writer = _writer(3)
        writer.append(1)
        (reference,) = writer.history
        del writer
        assert reference.expired

    def test_references_compare_by_what_they_stand_for(self):
        a, b = _refs([0, 1])
        assert a != b and a != 0
        assert {a, b, *TrajectoryColumn([a, b])} == {a, b}

    def test_only_references_are_taken(self):
        with pytest.raises(TypeError, match="references"):
            TrajectoryColumn([1])

    def test_cells_that_differ_are_no_array(self):
        column = TrajectoryColumn([*_refs([0]), *_refs([0.5])])
        with pytest.raises(ValueError, match="differ"):
            column.numpy()

    def test_indexing_is_that_of_a_tuple(self):
        column = _column(4)
        for index in (0, -1, 3, True):
            assert column[index].is_squeezed
            assert list(column[index]) == [list(column)[index]]
        for key in (slice(1, 3), slice(None, None, -1), slice(9, None), slice(-3, -1)):
            assert list(column[key]) == list(column)[key]
            assert not column[key].is_squeezed
        assert list(column[[2, 0, 2]]) == [list(column)[i] for i in (2, 0, 2)]

    @pytest.mark.parametrize("index", [4, -5, [0, 9]])
    def test_index_out_of_range(self, index):
        with pytest.raises(IndexError):
            _column(4)[index]

    @pytest.mark.parametrize("key", ["a", None, 1.5, (0, 1), np.array([0]), ["a"]])
    def test_other_keys(self, key):
        with pytest.raises(TypeError):
            _column(4)[key]

    def test_numpy_ints(self):
        column = _column(4)
        assert list(column[np.int64(1)]) == list(column)[1:2]
        assert list(column[[np.int32(-1), 0]]) == [list(column)[i] for i in (-1, 0)]


def _history(length, retained=None, padding=0):
    """The history of a column that has the values `padding`, `padding + 1`, ... `length - 1`."""
    writer = _writer(retained or max(length, 1))
    for _ in range(padding):
        writer.append({})
    for value in range(padding, length):
        writer.append({"obs": [value]})
    if length == 0:
        writer.append({"obs": [0]})
        # Nothing is pending: it needs no server.
        writer.end_episode()
    _KEEP.append(writer)
    return writer.history["obs"][0]


def _values(column):
    return [int(ref.numpy()) for ref in column]


class TestHistory:
    def test_length_counts_expired_steps(self):
        history = _history(5, retained=3)
        assert len(history) == 5
        assert [r if r is None else int(r.numpy()) for r in history] == [None, None, 2, 3, 4]
        assert history.path() == ("obs", 0)
        assert "obs" in str(history)

    def test_new_column_lacks_earlier_steps(self):
        history = _history(3, retained=5, padding=2)
        assert len(history) == 3
        assert list(history)[:2] == [None, None]
        assert _values(history[2:]) == [2]
        with pytest.raises(ValueError, match="obs/0"):
            history[0]

    def test_padding_beyond_what_is_kept(self):
        history = _history(10, retained=2, padding=9)
        assert len(history) == 10
        assert len(list(history)) == 10
        assert isinstance(history, _ColumnHistory)

    def test_int_is_squeezed(self):
        history = _history(5, retained=3)
        for index in (-1, -3, 2, 4):
            assert history[index].is_squeezed
            assert _values(history[index]) == [list(range(5))[index]]
        assert _values(_history(2)[True]) == [1]

    @pytest.mark.parametrize("index", [5, 6, 100])
    def test_int_from_the_length_on(self, index):
        with pytest.raises(IndexError, match="obs/0"):
            _history(5, retained=3)[index]

    @pytest.mark.parametrize("index", [0, 1, -4, -5, -6])
    def test_int_that_has_expired(self, index):
        with pytest.raises(ValueError, match="obs/0"):
            _history(5, retained=3)[index]

    def test_list(self):
        history = _history(5, retained=3)
        assert _values(history[[-1, 2, -1]]) == [4, 2, 4]
        assert not history[[2]].is_squeezed
        assert len(history[[]]) == 0
        with pytest.raises(IndexError):
            history[[5]]
        with pytest.raises(ValueError):
            history[[0]]

    @pytest.mark.parametrize("key", ["a", None, (1, 2), 1.5, np.array([1]), [1.0], ["a"]])
    def test_other_keys(self, key):
        with pytest.raises(TypeError):
            _history(5)[key]

    @pytest.mark.parametrize(
        "key",
        [
            slice(-3, None),
            slice(1, None),
            slice(1, 3),
            slice(-3, -1),
            slice(None, -1),
            slice(None, 3),
            slice(-1, -4, -1),
            slice(3, 1, -1),
            slice(-3, None, 2),
            slice(0, 4),
            slice(None, 4),
            slice(1, 4),
            slice(-4, 4),
            slice(0, 5),
            slice(None, 5),
            slice(4, None),
            slice(9, None),
            slice(None),
            slice(None, None, -1),
            slice(None, 0),
            slice(None, 0, -1),
            slice(None, -3, -1),
        ],
    )
    def test_slices_are_those_of_a_list(self, key):
        assert _values(_history(4)[key]) == list(range(4))[key]

    def test_numpy_ints(self):
        assert _values(_history(5)[np.int64(1)]) == [1]
        assert _values(_history(5)[[np.int8(-1), np.uint16(0)]]) == [4, 0]

    def test_slice_before_the_first_step(self):
        for key in (slice(-5, None), slice(-9, 2)):
            with pytest.raises(ValueError, match="obs/0"):
                _history(4)[key]

    def test_slice_of_everything_raises_once_a_step_has_expired(self):
        for key in (slice(None), slice(None, None, -1)):
            with pytest.raises(ValueError):
                _history(5, retained=4)[key]

    def test_slice_without_start_leaves_expired_steps_out(self):
        history = _history(5, retained=4)
        assert _values(history[:3]) == [1, 2]
        assert _values(history[:5]) == [1, 2, 3, 4]
        assert _values(history[:-1]) == [1, 2, 3]
        assert _values(history[:0]) == []
        assert _values(history[:-3:-1]) == [4, 3]
        assert _values(history[:3:2]) == [1]

    def test_slice_without_start_of_expired_steps_alone(self):
        with pytest.raises(TypeError):
            _history(6, retained=3)[:1]
        with pytest.raises(errors.InvalidArgumentError):
            _history(6, retained=3)[:-4]

    def test_slice_that_starts_at_an_expired_step(self):
        for key in (slice(0, None), slice(-5, -1), slice(0, 2)):
            with pytest.raises(ValueError, match="kept"):
                _history(5, retained=3)[key]

    def test_slice_that_runs_back_into_expired_steps(self):
        assert _values(_history(5, retained=3)[-1:1:-1]) == [4, 3, 2]
        with pytest.raises(ValueError):
            _history(5, retained=3)[-1:0:-1]

    def test_step_of_zero(self):
        with pytest.raises(ValueError):
            _history(3)[-1::0]

    def test_empty_history(self):
        history = _history(0)
        assert len(history[:]) == len(history[0:]) == len(history[:3]) == 0
        for index in (0, 1):
            with pytest.raises(IndexError):
                history[index]
        for key in (-1, slice(-1, None)):
            with pytest.raises(ValueError):
                history[key]

    @given(
        st.integers(0, 6),
        st.none() | st.integers(-8, 8),
        st.none() | st.integers(-8, 8),
        st.none() | st.integers(-3, 3).filter(bool),
    )
    def test_nothing_expired_agrees_with_a_list(self, length, start, stop, step):
        key = slice(start, stop, step)
        history = _history(length)
        if start is not None and start < -length:
            with pytest.raises(ValueError):
                history[key]
        else:
            assert _values(history[key]) == list(range(length))[key]

    @given(
        st.integers(0, 8),
        st.integers(1, 4),
        st.none() | st.integers(-9, 9),
        st.none() | st.integers(-9, 9),
        st.none() | st.integers(-3, 3).filter(bool),
    )
    def test_no_slice_returns_other_steps_than_asked_for(self, length, kept, start, stop, step):
        history = _history(length, retained=kept)
        try:
            values = _values(history[start:stop:step])
        except (ValueError, TypeError):
            return
        wanted = list(range(length))[start:stop:step]
        if start is None and (step or 1) > 1:
            # Counted from the oldest step that is kept.
            wanted = list(range(max(0, length - kept), length))
            stop = length if stop is None else stop if stop >= 0 else stop + length
            wanted = [value for value in wanted if value < stop][::step]
        assert values == [value for value in wanted if value >= length - kept]
        assert start is None or values == wanted
