# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions: which builtins they are, their attributes, and what a status becomes."""

import copy
import pickle

import pytest

from reverb import errors

# The table of the contract: class, status code, builtins.
_CLASSES = [
    (errors.CancelledError, 1, (RuntimeError,)),
    (errors.InvalidArgumentError, 3, (ValueError,)),
    (errors.DeadlineExceededError, 4, (TimeoutError,)),
    (errors.NotFoundError, 5, (ValueError, RuntimeError, LookupError)),
    (errors.ResourceExhaustedError, 8, (IndexError,)),
    (errors.FailedPreconditionError, 9, (RuntimeError,)),
    (errors.UnimplementedError, 12, (NotImplementedError,)),
    (errors.InternalError, 13, (RuntimeError,)),
    (errors.UnavailableError, 14, (RuntimeError, ConnectionError)),
    (errors.DataLossError, 15, (RuntimeError,)),
]


@pytest.mark.parametrize(("cls", "code", "builtins"), _CLASSES)
def test_status_becomes_its_class(cls, code, builtins):
    error = errors.error_from_status(code, "went wrong", table="t", column="obs/x", limit="3")
    assert type(error) is cls
    assert isinstance(error, (errors.ReverbError, *builtins))
    assert all(isinstance(error, builtin) for builtin in builtins)
    assert str(error) == "went wrong"
    assert error.code == code
    assert (error.table, error.column, error.limit, error.actual) == ("t", "obs/x", 3, None)


@pytest.mark.parametrize("code", [2, 6, 7, 10, 11, 16])
def test_other_statuses_are_runtime_errors(code):
    error = errors.error_from_status(code, "went wrong")
    assert isinstance(error, (errors.ReverbError, RuntimeError))
    assert isinstance(error, RuntimeError)
    assert error.code == code


@pytest.mark.parametrize("cls", [row[0] for row in _CLASSES] + [errors.ReverbError])
def test_errors_can_be_made_by_hand_pickled_and_copied(cls):
    assert str(cls()) == ""
    error = cls("text", table="t", limit=5)
    for clone in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(clone) is cls
        assert str(clone) == "text"
        assert (clone.table, clone.limit, clone.column) == ("t", 5, None)


def test_attributes_that_are_not_numbers_stay_text():
    error = errors.error_from_status(3, "m", table="", limit="float32", actual="int64")
    assert (error.table, error.limit, error.actual) == (None, "float32", "int64")


def test_another_builtin_can_be_added():
    cls = errors.with_builtin(errors.NotFoundError, TypeError)
    assert cls is errors.with_builtin(errors.NotFoundError, TypeError)
    assert issubclass(cls, (errors.NotFoundError, TypeError))
    error = cls("text", column="a")
    clone = pickle.loads(pickle.dumps(error))
    assert type(clone) is cls
    assert (str(clone), clone.column) == ("text", "a")
    assert errors.with_builtin(errors.NotFoundError, ValueError) is errors.NotFoundError
    error = errors.error_from_status(14, "gone", also=(ValueError,))
    assert isinstance(error, errors.UnavailableError)
    assert isinstance(error, ValueError)


def test_deadline_has_what_was_left():
    error = errors.DeadlineExceededError("late")
    assert (error.inserted, error.withdrawn, error.unknown) == ((), (), ())
    error.inserted = ("a",)
    assert pickle.loads(pickle.dumps(error)).inserted == ("a",)


def test_deadline_is_an_os_timeout_without_errno():
    error = errors.DeadlineExceededError("late")
    assert error.errno is None
    assert str(error) == "late"
