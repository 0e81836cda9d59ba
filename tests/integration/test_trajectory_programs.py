# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs for trajectory writers, of one environment and of several."""

import collections

import ml_dtypes
import numpy as np
import pytest

import reverb
from tests.integration.writer_model import (
    Item,
    Refused,
    TrajectoryModel,
    assert_same,
    values_of,
)
from tests.integration.writer_programs import Program, run

# Cells of number k, by kind.
_CELLS = {
    "int": lambda k: k,
    "f32": lambda k: np.full(2, k, np.float32),
    "text": lambda k: f"täxt {k}" * (k % 3),
    "bits": lambda k: np.array([k & 1, k & 2, k & 4], bool),
    "bf16": lambda k: np.full((2, 2), k % 256, ml_dtypes.bfloat16),
    "c64": lambda k: np.complex64(complex(k, -k)),
    "words": lambda k: np.array([f"w{k}", "", "é"]),
    "nothing": lambda k: np.zeros((0, 3), np.uint8),
    "wide": lambda k: np.arange(k, k + 200, dtype=np.int16).reshape(2, 100),
}

_Pair = collections.namedtuple("_Pair", "x y")

# Nests of kinds.
_LAYOUTS = (
    {"n": "int", "v": "f32", "deep": {"s": "text", "two": ("bits", "bf16")}, "m": "int"},
    _Pair("int", {"w": "wide", "c": "c64"}),
    "int",
    ["words", "nothing", "int", "int", "bits"],
)


def _paths(layout, path=()):
    """The leaves' kinds by their paths."""
    if isinstance(layout, str):
        return {path: layout}
    return {
        leaf: kind
        for key, child in _children(layout)
        for leaf, kind in _paths(child, (*path, key)).items()
    }


def _children(layout):
    if isinstance(layout, dict):
        return list(layout.items())
    return list(layout._asdict().items() if isinstance(layout, _Pair) else enumerate(layout))


def _build(layout, values, step, path=()):
    """A nest of `values` (by path) that leaves out what it can; in `step` all leaves it has."""
    if isinstance(layout, str):
        step[path] = values.get(path)
        return step[path]
    children = _children(layout)
    held = [any(leaf[: len(path) + 1] == (*path, key) for leaf in values) for key, _ in children]
    if not isinstance(layout, dict):  # up to the last that is needed
        held = [isinstance(layout, _Pair) or any(held[i:]) for i in range(len(held))]
    nest = {
        key: _build(child, values, step, (*path, key))
        for (key, child), needed in zip(children, held, strict=True)
        if needed
    }
    if isinstance(layout, dict):
        return nest
    return _Pair(**nest) if isinstance(layout, _Pair) else type(layout)(nest.values())


def _at(nest, path):
    for part in path:
        nest = getattr(nest, part) if isinstance(nest, _Pair) else nest[part]
    return nest


_Picked = collections.namedtuple("_Picked", "column cells squeeze")


class _TrajectoryProgram(Program):
    """What there is to do with all of them; `append` differs."""

    num_envs = 1
    operations = {
        "append": 30,
        "create_item": 20,
        "create_checked_item": 6,
        "keep_for_later": 4,
        "flush": 4,
        "end_episode": 2,
        "configure": 3,
    }

    def begin(self):
        self.layout = self.rng.choice(_LAYOUTS)
        self.kinds = _paths(self.layout)
        keep = self.rng.choice([1, 3, 6, 12])
        self.writer = self.client.trajectory_writer(keep)
        self.models = [TrajectoryModel(keep) for _ in range(self.num_envs)]
        self.started = False
        self.saved = []

    @property
    def envs(self):
        return [self.writer]

    def some_values(self, value, fits_no_column):
        """Values by path, None among them; now and then one that must be refused."""
        paths = list(self.kinds)
        if self.chance(0.9):  # most of the time such that no column gets a second value
            paths = [path for path in paths if path not in self.models[0].given]
        if self.chance(0.4):
            paths = self.rng.sample(paths, self.rng.randint(0, len(paths)))
        values = {path: value(self.kinds[path]) for path in paths}
        for path in self.kinds:
            if path not in values and self.chance(0.3):
                values[path] = None
        if not values or self.chance(0.85):
            return values
        path = self.rng.choice(list(values))
        column = self.models[0].columns.get(path)
        if self.chance(0.3):
            values[path] = object()
        elif column is not None and self.chance(0.3):
            values[path] = {"x": 1}
        elif column is not None and column.spec is not None:
            values[path] = fits_no_column
        return values

    def compare(self):
        if not self.started:
            return
        for env, model in zip(self.envs, self.models, strict=True):
            assert env.episode_steps == model.episode_steps
            history = env.history
            for path in self.kinds.keys() - model.columns.keys():
                with pytest.raises((KeyError, IndexError)):
                    _at(history, path)
            for path, column in model.columns.items():
                self.compare_column(_at(history, path), path, column)

    def compare_column(self, history, path, column):
        assert len(history) == len(column.steps) and history.path() == path
        for i, reference in enumerate(history):
            cell = column.steps[i] if i >= column.oldest else None
            assert (reference is None) == (cell is None)
            if cell is not None:
                assert reference.expired == cell.expired
                if not cell.expired:
                    assert_same(reference.numpy(), cell.value)

    def key(self, column):
        """An index for a history, most of the time one that its steps have."""
        length = len(column.steps)
        live = [
            position
            for position, cell in enumerate(column.steps)
            if position >= column.oldest and cell is not None and not cell.expired
        ]
        if not live or self.chance(0.05):
            live = range(-1, length + 1)
        way = self.rng.choice(["int", "list", "list", "slice", "slice", "slice", "wild slice"])
        if way == "int":
            return self.from_either_end(self.rng.choice(live), length)
        if way == "list":
            positions = self.rng.choices(live, k=self.rng.randint(1, 6))
            return [self.from_either_end(position, length) for position in positions]
        first, last = self.rng.choices(live, k=2)
        if way == "wild slice":
            return slice(first, self.rng.randint(-length - 1, length + 1), self.rng.randint(1, 3))
        step = self.rng.choice([1, 1, 2, 3]) * (1 if first <= last else -1)
        stop = last + (1 if first <= last else -1)
        stop = None if stop < 0 else self.from_either_end(stop, length)
        return slice(self.from_either_end(first, length), stop, step)

    def from_either_end(self, position, length):
        return position - length if position < length and self.chance(0.5) else position

    def pick(self, kind):
        """A column for an item, of one kind if one is given; None if there is no such thing."""
        if self.saved and self.chance(0.1):
            return self.rng.choice(self.saved)
        index = self.rng.randrange(self.num_envs)
        columns = [
            (path, column)
            for path, column in self.models[index].columns.items()
            if kind in (None, self.kinds[path])
        ]
        if not columns:
            return None
        path, column = self.rng.choice(columns)
        key = self.key(column)
        selected = self.both(
            lambda: _at(self.envs[index].history, path)[key],
            lambda: column.select(key),
            f"history of {index}, {path}: [{key}]",
        )
        if selected is None:
            return None
        actual, (cells, squeeze) = selected
        assert len(actual) == len(cells) and actual.is_squeezed == squeeze
        if cells and not any(cell.expired for cell in cells):
            assert_same(actual.numpy(), values_of(cells, squeeze))
        return _Picked(actual, cells, squeeze)

    def picks(self, count, kind=None):
        return [pick for pick in (self.pick(kind) for _ in range(count)) if pick is not None]

    def keep_for_later(self):
        """References that may have expired when they are used, also of several columns."""
        kind = self.rng.choice(list(self.kinds.values())) if self.chance(0.8) else None
        picks = self.picks(2, kind) if self.started else []
        if not any(pick.cells for pick in picks):
            return
        joined = reverb.TrajectoryColumn([ref for pick in picks for ref in pick.column])
        cells = [cell for pick in picks for cell in pick.cells]
        self.saved = [*picks[:1], _Picked(joined, cells, False), *self.saved[:4]]

    def create(self, table, priority, count):
        if not self.started:
            return
        picks = self.picks(count, "int" if table == "signed" and self.chance(0.8) else None)
        columns = [pick.column for pick in picks]
        trajectory = columns
        if self.chance(0.5):  # in flat order all the same
            trajectory = {f"c{i}": [columns[i]] for i in reversed(range(len(columns)))}
        env = self.rng.choice(self.envs)

        def item():
            values = [values_of(pick.cells, pick.squeeze) for pick in picks]
            fits = len(values) == 1 and values[0].dtype == np.int64 and values[0].ndim == 1
            if not values or table == "nowhere" or (table == "signed" and not fits):
                raise Refused(ValueError)
            if np.isnan(priority):
                raise Refused(ValueError)
            return Item(table, priority, values)

        made = self.both(
            lambda: env.create_item(table, priority, trajectory), item, table, priority, columns
        )
        if made is not None:
            self.wanted.append(made)

    def create_item(self):
        table = self.rng.choice(["queue", "queue", "other"])
        self.create(table, self.rng.uniform(-9, 9), self.rng.randint(1, 4))

    def create_checked_item(self):
        table = self.rng.choice(["signed"] * 6 + ["nowhere", "queue"])
        priority = float("nan") if table == "queue" else 1.0
        self.create(table, priority, 2 if self.chance(0.1) else 1)

    def flush(self):
        self.writer.flush(self.rng.randint(0, 3))

    def end_episode(self):
        clear = self.chance(0.5)
        self.writer.end_episode(clear_buffers=clear)
        for model in self.models:
            model.end_episode(clear)

    def configure(self):
        path = self.rng.choice(list(self.kinds))
        keep = self.rng.randint(1, 14)
        length = self.rng.choice([None, 1, self.rng.randint(1, keep), keep])
        if self.trace:
            print(f"    {path}: keep {keep}, chunks of {length}")
        try:
            self.writer.configure(path, num_keep_alive_refs=keep, max_chunk_length=length)
        except reverb.FailedPreconditionError:
            return  # a chunk is being filled, which models know nothing of
        for model in self.models:
            model.configure(path, keep)


class _SingleProgram(_TrajectoryProgram):
    def append(self):
        values = self.some_values(lambda kind: _CELLS[kind](self.number()), np.float16(1))
        partial = self.chance(0.2)
        step = {}
        nest = _build(self.layout, values, step)
        (model,) = self.models
        done = self.both(
            lambda: self.writer.append(nest, partial_step=partial),
            lambda: model.append(step, partial),
            *(nest, partial),
        )
        self.started |= done is not None


class _BatchProgram(_TrajectoryProgram):
    num_envs = 3
    operations = _TrajectoryProgram.operations | {"end_episode_of_one": 3}

    def begin(self):
        super().begin()
        self.ended = [False] * self.num_envs

    @property
    def envs(self):
        return list(self.writer.envs)

    def append(self):
        values = self.some_values(self.rows, np.zeros(self.num_envs, np.float16))
        ends = self.rng.choices([True, False, False, False], k=self.num_envs)
        ends = None if self.chance(0.5) else ends
        given = [path for path, value in values.items() if isinstance(value, np.ndarray)]
        # How many environments are there?
        refused = not self.started and not given and ends is None
        if self.started and self.chance(0.05):
            refused = True
            if given and self.chance(0.5):
                values[given[-1]] = np.concatenate([values[given[-1]]] * 2)
            else:
                ends = [True] * (self.num_envs + 1)
        step = {}
        nest = _build(self.layout, values, step)
        done = self.both(
            lambda: self.writer.append_batch(nest, episode_ends=ends),
            lambda: self.append_to_models(step, ends, refused),
            *(nest, ends),
        )
        self.started |= done is not None

    def rows(self, kind):
        return np.stack([np.asarray(_CELLS[kind](self.number())) for _ in range(self.num_envs)])

    def append_to_models(self, step, ends, refused):
        rows = [
            {path: leaf[i] if isinstance(leaf, np.ndarray) else leaf for path, leaf in step.items()}
            for i in range(self.num_envs)
        ]
        for model, row in zip(self.models, rows, strict=True):
            model.check(row)
        if refused:
            raise Refused(ValueError)
        for model, row, ended in zip(self.models, rows, self.ended, strict=True):
            if ended:
                model.end_episode(True)
            model.append(row)
        self.ended = ends or [False] * self.num_envs

    def end_episode(self):
        super().end_episode()
        self.ended = [False] * self.num_envs

    def end_episode_of_one(self):
        if not self.started:
            return
        index, clear = self.rng.randrange(self.num_envs), self.chance(0.5)
        self.envs[index].end_episode(clear_buffers=clear)
        self.models[index].end_episode(clear)
        self.ended[index] = False


@pytest.mark.parametrize("seed", range(20))
def test_steps(programs_client, seed):
    run(_SingleProgram, programs_client, seed, 200)


@pytest.mark.parametrize("seed", range(12))
def test_batches(programs_client, seed):
    run(_BatchProgram, programs_client, seed, 150)
