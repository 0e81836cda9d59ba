# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""What the three writers do, in lists of Python: which items they make, of which values.

Models know nothing of chunks, streams or servers. An operation that a writer has to refuse raises
`Refused` and leaves the model as it was.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np


class Refused(Exception):
    """The writer has to raise `error` and to change nothing."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__(error)
        self.error = error


@dataclasses.dataclass
class Item:
    table: str
    priority: float
    columns: list[np.ndarray]


def stored(value: Any) -> np.ndarray:
    """A value as it comes back from a table."""
    array = np.asarray(value)
    if array.dtype.kind not in "USO":
        return array
    texts = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        text = array[index]
        if not isinstance(text, str | bytes):
            raise Refused(TypeError)
        texts[index] = text.encode() if isinstance(text, str) else bytes(text)
    return texts


def spec_of(value: np.ndarray) -> tuple[Any, tuple[int, ...]]:
    return value.dtype, value.shape


def assert_same(actual: np.ndarray, wanted: np.ndarray) -> None:
    assert spec_of(actual) == spec_of(wanted)
    np.testing.assert_array_equal(actual, wanted)


@dataclasses.dataclass(eq=False)
class Cell:
    column: Column
    number: int
    value: np.ndarray

    @property
    def expired(self) -> bool:
        return self.number < self.column.first_alive


@dataclasses.dataclass(eq=False)
class Column:
    """A column of a trajectory writer; the cells of `keep` values are alive."""

    keep: int
    window: int  # steps that the history retains
    steps: list[Cell | None]
    retained: int = 0
    spec: Any = None
    num_cells: int = 0
    first_alive: int = 0

    def begin_step(self) -> None:
        self.steps.append(None)
        self.retained = min(self.retained + 1, self.window)

    def set(self, value: np.ndarray) -> None:
        self.spec = spec_of(value)
        self.steps[-1] = Cell(self, self.num_cells, value)
        self.num_cells += 1
        self.expire()

    def configure(self, keep: int, window: int) -> None:
        self.keep, self.window = keep, window
        self.expire()

    def expire(self) -> None:
        self.first_alive = max(self.first_alive, self.num_cells - self.keep)

    def clear(self) -> None:
        self.steps.clear()
        self.retained = 0
        self.first_alive = self.num_cells

    @property
    def oldest(self) -> int:
        return len(self.steps) - self.retained

    def select(self, key: int | slice | list[int]) -> tuple[list[Cell], bool]:
        """Cells, and whether they lose their time dimension. A slice has a start."""
        length = len(self.steps)
        if isinstance(key, slice):
            if (key.start if key.start >= 0 else key.start + length) < self.oldest:
                raise Refused(ValueError)
            positions = list(range(length))[key]
        else:
            keys = key if isinstance(key, list) else [key]
            if any(k >= length for k in keys):
                raise Refused((IndexError, ValueError) if len(keys) > 1 else IndexError)
            positions = [k if k >= 0 else k + length for k in keys]
        if any(position < self.oldest for position in positions):
            raise Refused(ValueError)
        cells = [self.steps[position] for position in positions]
        if any(cell is None for cell in cells):
            raise Refused(ValueError)
        return cells, isinstance(key, int)


class TrajectoryModel:
    """One environment. A step is a dict of values by path; None where a leaf has no value."""

    def __init__(self, keep: int) -> None:
        self.columns: dict[tuple, Column] = {}
        self.episode_steps = 0
        self._length = 0
        self._keep = self._widest = keep
        self._configured: dict[tuple, int] = {}
        self._step_is_open = False
        self.given: set[tuple] = set()  # columns with a value in the open step

    def check(self, step: dict[tuple, Any]) -> dict[tuple, np.ndarray]:
        if any(isinstance(value, dict) for value in step.values()):
            raise Refused(ValueError)  # a leaf has become a container
        values = {path: stored(value) for path, value in step.items() if value is not None}
        for path, value in values.items():
            column = self.columns.get(path)
            mismatch = column is not None and column.spec not in (None, spec_of(value))
            if mismatch or path in self.given:
                raise Refused(ValueError)
        return values

    def append(self, step: dict[tuple, Any], partial_step: bool = False) -> None:
        values = self.check(step)
        for path in step:
            if path not in self.columns:
                self._add(path)
        if not self._step_is_open:
            self._length += 1
            for column in self.columns.values():
                column.begin_step()
        for path, value in values.items():
            self.columns[path].set(value)
            self.given.add(path)
        self._step_is_open = partial_step
        if not partial_step:
            self.given.clear()
            self.episode_steps += 1

    def _add(self, path: tuple) -> None:
        keep = self._configured.get(path, self._keep)
        self._widest = max(self._widest, keep)
        column = Column(keep, self._widest, [None] * self._length)
        column.retained = min(self._length, column.window)
        self.columns[path] = column

    def end_episode(self, clear: bool) -> None:
        self._step_is_open = False
        self.given.clear()
        self.episode_steps = 0
        if clear:
            self._length = 0
            for column in self.columns.values():
                column.clear()

    def configure(self, path: tuple, keep: int) -> None:
        self._widest = max(self._widest, keep)
        self._configured[path] = keep
        if path in self.columns:
            self.columns[path].configure(keep, self._widest)


def values_of(cells: list[Cell], squeeze: bool = False) -> np.ndarray:
    """What an item's column holds."""
    if not cells or any(cell.expired for cell in cells):
        raise Refused(ValueError)
    if any(spec_of(cell.value) != spec_of(cells[0].value) for cell in cells):
        raise Refused(ValueError)
    return cells[0].value if squeeze else np.stack([cell.value for cell in cells])


class LegacyModel:
    """The legacy writer. A step is a list of values."""

    def __init__(self, max_steps: int, chunk_length: int) -> None:
        self._max_steps = max_steps
        self._chunk_length = chunk_length
        self._steps: list[list[np.ndarray]] = []
        self._open_rows = 0  # of the chunk that is being filled
        self._must_seal = False  # an item ends in that chunk

    def append(self, step: list[Any]) -> None:
        values = [stored(value) for value in step]
        if self._open_rows > 0 and self._specs(values) != self._specs(self._steps[-1]):
            raise Refused(ValueError)
        self._steps.append(values)
        self._open_rows += 1
        if self._open_rows == self._chunk_length:
            self._seal()

    def create_item(self, table: str, num_steps: int, priority: float) -> Item:
        newest = self._steps[len(self._steps) - num_steps :]
        if not 1 <= num_steps <= min(self._max_steps, len(self._steps)):
            raise Refused(ValueError)
        if any(self._specs(step) != self._specs(newest[0]) for step in newest):
            raise Refused(ValueError)
        self._must_seal = self._open_rows > 0
        columns = [np.stack(cells) for cells in zip(*newest, strict=True)]
        return Item(table, priority, columns)

    def flush(self) -> None:
        if self._must_seal:
            self._seal()

    def _seal(self) -> None:
        self._open_rows = 0
        self._must_seal = False

    @staticmethod
    def _specs(step: list[np.ndarray]) -> list[Any]:
        return [spec_of(value) for value in step]


@dataclasses.dataclass(frozen=True)
class Node:
    """A column of a pattern: `reference[column][key]`."""

    column: int
    key: int | slice

    @property
    def reach(self) -> int:
        return -(self.key.start if isinstance(self.key, slice) else self.key)

    def positions(self) -> range:
        """Positions from the end of the history."""
        if not isinstance(self.key, slice):
            return range(self.key, self.key + 1)
        return range(self.key.start, self.key.stop or 0, self.key.step or 1)


@dataclasses.dataclass(frozen=True)
class When:
    """A condition: `left % mod op right`; `left` is a name, or the column with the value."""

    left: str | int
    op: str
    right: int
    mod: int | None = None

    def holds(self, left: int | None) -> bool:
        if left is None:
            return False
        if self.mod is not None:
            left = int(math.fmod(left, self.mod))
        return {
            "==": left == self.right,
            "!=": left != self.right,
            ">=": left >= self.right,
            ">": left > self.right,
            "<=": left <= self.right,
            "<": left < self.right,
        }[self.op]


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A config of a structured writer; with `td_column` the priority is the weight."""

    table: str
    nodes: tuple[Node, ...]
    tests: tuple[When, ...]
    priority: float
    td_column: int | None = None

    @property
    def reach(self) -> int:
        return max(node.reach for node in self.nodes)

    def columns(self) -> set[int]:
        asked = {test.left for test in self.tests if isinstance(test.left, int)}
        return asked | {node.column for node in self.nodes}


class StructuredModel:
    """One environment of a structured writer. A step is a list of values or None."""

    def __init__(self, patterns: list[Pattern], num_leaves: int) -> None:
        self._patterns = patterns
        self.used = set().union(*(pattern.columns() for pattern in patterns))
        self.specs: dict[int, Any] = {}
        self._steps: list[list[np.ndarray | None]] = []  # since the last clear
        self._num_leaves = num_leaves
        self._episode_steps = 0
        self.step_is_open = False
        self._applied = [False] * len(patterns)  # to the newest step
        self._since_applied = [0] * len(patterns)

    def check(self, step: list[Any]) -> dict[int, np.ndarray]:
        if len(step) != self._num_leaves:
            raise Refused(ValueError)
        values = {i: stored(step[i]) for i in self.used if step[i] is not None}
        for column, value in values.items():
            if column in self.given():
                raise Refused(RuntimeError)
            if self.specs.get(column, spec_of(value)) != spec_of(value):
                raise Refused(ValueError)
        return values

    def given(self) -> set[int]:
        """Columns that have a value in the open step."""
        step = self._steps[-1] if self.step_is_open else []
        return {column for column, value in enumerate(step) if value is not None}

    def append(self, step: list[Any], partial_step: bool = False) -> list[Item]:
        values = self.check(step)
        if not self.step_is_open:
            self._steps.append([None] * self._num_leaves)
            self._episode_steps += 1
            self._applied = [False] * len(self._patterns)
            self._since_applied = [steps + 1 for steps in self._since_applied]
        for column, value in values.items():
            self.specs[column] = spec_of(value)
            self._steps[-1][column] = value
        self.step_is_open = partial_step
        return self._apply(ends_episode=False) if values else []

    def end_episode(self, clear: bool) -> list[Item]:
        items = self._apply(ends_episode=True)
        self.step_is_open = False
        self._episode_steps = 0
        if clear:
            self._steps.clear()
        return items

    def _apply(self, ends_episode: bool) -> list[Item]:
        items = []
        for i, pattern in enumerate(self._patterns):
            if self._applied[i] or self._episode_steps == 0:
                continue
            if not all(test.holds(self._left(test, i, ends_episode)) for test in pattern.tests):
                continue
            if (item := self._item(pattern)) is not None:
                items.append(item)
                self._applied[i] = True
                self._since_applied[i] = 0
        return items

    def _left(self, test: When, pattern: int, ends_episode: bool) -> int | None:
        if isinstance(test.left, int):
            value = self._steps[-1][test.left]
            if value is None or value.size != 1 or value.dtype.kind not in "biu":
                return None
            return (int(value.reshape(())) + 2**31) % 2**32 - 2**31
        return {
            "step_index": self._episode_steps - 1,
            "steps_since_applied": self._since_applied[pattern],
            "is_end_episode": int(ends_episode),
            "buffer_length": min(len(self._steps), max(p.reach for p in self._patterns)),
        }[test.left]

    def _item(self, pattern: Pattern) -> Item | None:
        if len(self._steps) < pattern.reach:
            return None
        columns, errors = [], np.zeros(1)
        for node in pattern.nodes:
            cells = [self._steps[position][node.column] for position in node.positions()]
            if any(cell is None for cell in cells):
                return None
            columns.append(np.stack(cells) if isinstance(node.key, slice) else cells[0])
            if node.column == pattern.td_column:
                errors = np.abs(np.stack(cells).astype(np.float64))
        priority = pattern.priority
        if pattern.td_column is not None:
            priority = priority * errors.max() + (1 - priority) * errors.mean()
        return Item(pattern.table, priority, columns)
