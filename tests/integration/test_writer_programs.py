# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs for the legacy writer and for structured writers."""

import numpy as np
import pytest

from reverb.structured_writer import (
    Condition,
    ConditionProto,
    constant_priority_fn,
    create_config,
    create_reference_step,
    td_error,
)
from tests.integration.writer_model import (
    LegacyModel,
    Node,
    Pattern,
    Refused,
    StructuredModel,
    When,
)
from tests.integration.writer_programs import Program, run


class _LegacyProgram(Program):
    operations = {"append": 12, "append_sequence": 3, "create_item": 12, "flush": 1, "change": 1}

    # Leaves of a step: shapes and dtypes. Integers are what delta encoding works on.
    _LAYOUTS = (
        (((4, 3), np.uint8), ((), np.int64), ((2,), np.float32), ((), np.str_)),
        (((4, 3), np.uint8), ((), np.int64), ((3,), np.float32), ((), np.str_)),
        (((2,), np.bool_), ((0, 2), np.int16), ((5,), np.uint64), ((2,), np.str_)),
        (((3,), np.int32),),
    )

    def begin(self):
        self.max_steps = self.rng.randint(1, 12)
        self.chunk_length = self.rng.randint(1, self.max_steps)
        self.layout = self.rng.choice(self._LAYOUTS)
        self.writer = self.client.writer(
            self.max_steps,
            delta_encoded=self.chance(0.5),
            chunk_length=self.chunk_length,
            max_in_flight_items=self.rng.choice([1, 3, 25, None]),
        )
        self.model = LegacyModel(self.max_steps, self.chunk_length)

    def values(self, shape, dtype):
        numbers = np.random.default_rng(self.number())
        if dtype == np.str_:
            texts = [f"{n:x}" for n in numbers.integers(0, 999, int(np.prod(shape)))]
            return np.array(texts).reshape(shape)
        if dtype == np.float32:
            return numbers.normal(size=shape).astype(dtype)
        return (
            np.frombuffer(numbers.bytes(int(np.prod(shape)) * 8), np.uint64)
            .astype(dtype)
            .reshape(shape)
        )

    def step(self, *rows):
        """The leaves of a step, or of a sequence of steps."""
        return [self.values((*rows, *shape), dtype) for shape, dtype in self.layout]

    def append(self):
        step = self.step()
        nest = {"a": step[0], "b": step[1:]} if self.chance(0.5) else step
        self.both(lambda: self.writer.append(nest), lambda: self.model.append(step), nest)

    def append_sequence(self):
        length = self.rng.randint(0, 2 * self.chunk_length)
        steps = self.step(length)

        def append():
            for t in range(length):
                self.model.append([leaf[t] for leaf in steps])

        self.both(lambda: self.writer.append_sequence(steps), append, steps)

    def change(self):
        """Following steps look otherwise, which has to wait for the next chunk."""
        self.layout = self.rng.choice(self._LAYOUTS)

    def create_item(self):
        table = self.rng.choice(["queue", "other"])
        count = self.rng.choice([1, self.max_steps, self.rng.randint(0, self.max_steps + 1)])
        made = self.both(
            lambda: self.writer.create_item(table, count, float(count)),
            lambda: self.model.create_item(table, count, float(count)),
            *(table, count),
        )
        if made is not None:
            self.wanted.append((None, made[1]))

    def flush(self):
        self.writer.flush()
        self.model.flush()

    def finish(self):
        self.writer.close()

    def sample(self, table, count):
        """The items of one table are sampled step by step, and put together again."""
        if table == "queue":
            return super().sample(table, count)
        items = self.client.sample(table, count, emit_timesteps=True, timeout=10)
        return [self.join(steps) for steps in items]

    @staticmethod
    def join(steps):
        (info,) = {step.info for step in steps}
        return info, [np.stack(cells) for cells in zip(*(s.data for s in steps), strict=True)]


# Cells of number k, by column.
_CELLS = (
    lambda k: np.int64(k * 7 % 23 - 11 + 2**32 * (k % 3 - 1)),  # conditions see 32 bits
    lambda k: np.full(2, k, np.float32),
    lambda k: np.bool_(k % 3),
    lambda k: f"text {k}",
    lambda k: np.float64(k * 37 % 11 - 5),
)


class _StructuredProgram(Program):
    operations = {"append": 30, "bad_append": 3, "end_episode": 3, "flush": 2}
    num_envs = 1

    def begin(self):
        self.patterns = [self.pattern() for _ in range(self.rng.randint(1, 5))]
        self.writer = self.client.structured_writer([self.config(p) for p in self.patterns])
        self.models = [StructuredModel(self.patterns, len(_CELLS)) for _ in range(self.num_envs)]
        self.started = False

    def pattern(self):
        nodes = tuple(self.node() for _ in range(self.rng.randint(1, 3)))
        tests = tuple(self.test() for _ in range(self.rng.choice([0, 0, 1, 1, 2])))
        return Pattern(
            self.rng.choice(["queue", "queue", "other"]),
            nodes,
            tests,
            priority=self.rng.uniform(0, 1),
            td_column=self.rng.choice([None, None, 0, 4]),
        )

    def node(self):
        column = self.rng.randrange(len(_CELLS))
        start = -self.rng.choice([1, 1, 2, 3, 4, 7])
        if self.chance(0.4):
            return Node(column, start)
        stop = self.rng.choice([None, 0, self.rng.randint(start + 1, 0)])
        return Node(column, slice(start, stop, self.rng.choice([None, 1, 2, 3])))

    def test(self):
        left = self.rng.choice(
            ["step_index", "steps_since_applied", "buffer_length", "is_end_episode", 0, 0, 1, 2, 4]
        )
        if left == "is_end_episode":
            return When(left, "==", 1)
        if left != "buffer_length" and self.chance(0.4):
            mod = self.rng.randint(1, 4)
            return When(left, self.rng.choice(["==", "!="]), self.rng.randint(0, mod - 1), mod)
        right = self.rng.randint(-9, 9) if left == 0 else self.rng.randint(0, 5)
        return When(left, self.rng.choice(["==", "!=", ">=", ">", "<=", "<"]), right)

    @staticmethod
    def config(pattern):
        reference = create_reference_step(list(range(len(_CELLS))))
        nodes = [reference[node.column][node.key] for node in pattern.nodes]
        priority = constant_priority_fn(pattern.priority)
        if pattern.td_column is not None:
            priority = td_error(
                pattern.priority, list(_CELLS), lambda step: step[pattern.td_column]
            )
        return create_config(
            nodes, pattern.table, [_condition(test) for test in pattern.tests], priority
        )

    def values(self, value):
        step = [value(cell) for cell in _CELLS]
        for column in self.models[0].given() if self.chance(0.9) else ():
            step[column] = None
        if self.chance(0.5):
            return step
        missing = self.rng.choice([0.1, 0.5, 0.9])
        return [None if self.chance(missing) else value for value in step]

    @staticmethod
    def nest(step):
        """Nested, if it is of the right number of leaves."""
        if len(step) != len(_CELLS):
            return step
        return {"a": step[0], "b": step[1], "c": dict(zip("def", step[2:], strict=True))}

    def spoil(self, step, fits_no_column, object_):
        if self.started and self.chance(0.3):
            return step[:-1] if self.chance(0.5) else [*step, None]
        column = self.rng.randrange(len(step))
        # What a column is like is known after its first value.
        bad = fits_no_column if column in self.models[0].specs else object_
        return [*step[:column], bad, *step[column + 1 :]]

    def append(self):
        self.append_step(self.values(lambda cell: cell(self.number())))

    def bad_append(self):
        step = self.values(lambda cell: cell(self.number()))
        self.append_step(self.spoil(step, np.float16(1), object()))

    def append_step(self, step):
        partial = self.chance(0.3)
        (model,) = self.models
        made = self.both(
            lambda: self.writer.append(self.nest(step), partial_step=partial),
            lambda: model.append(step, partial),
            *(step, partial),
        )
        self.started |= made is not None
        self.want(made[1] if made else [])
        assert self.writer.step_is_open == model.step_is_open

    def want(self, items):
        self.wanted += [(None, item) for item in items]

    def end_episode(self):
        clear = self.chance(0.6)
        self.want([item for model in self.models for item in model.end_episode(clear)])
        self.writer.end_episode(clear_buffers=clear)

    def flush(self):
        self.writer.flush(self.rng.randint(0, 3))


def _condition(test):
    if test.left == "is_end_episode":
        return Condition.is_end_episode()
    if test.left == "buffer_length":
        inverse = test.op in ("!=", "<", "<=")
        right = {"ge": test.right + (test.op in (">", "<="))}
        if test.op in ("==", "!="):
            right = {"eq": test.right}
        return ConditionProto(buffer_length=True, inverse=inverse, **right)
    if isinstance(test.left, int):
        left = Condition.data(list(range(len(_CELLS))))[test.left]
    else:
        left = getattr(Condition, test.left)()
    if test.mod is not None:
        left = left % test.mod
    return {
        "==": lambda: left == test.right,
        "!=": lambda: left != test.right,
        ">=": lambda: left >= test.right,
        ">": lambda: left > test.right,
        "<=": lambda: left <= test.right,
        "<": lambda: left < test.right,
    }[test.op]()


class _StructuredBatchProgram(_StructuredProgram):
    operations = _StructuredProgram.operations | {"end_episode_of_one": 3}
    num_envs = 3

    def rows(self, cell):
        return np.stack([np.asarray(cell(self.number())) for _ in range(self.num_envs)])

    def append(self):
        self.append_step(self.values(self.rows))

    def bad_append(self):
        count = self.num_envs
        objects = np.array([object()] * count)
        step = self.spoil(self.values(self.rows), np.zeros(count, np.float16), objects)
        self.append_step(step)

    def append_step(self, step):
        ends = self.rng.choices([True, False, False], k=self.num_envs)
        ends = None if self.chance(0.3) else ends
        steps = [[None if leaf is None else leaf[i] for leaf in step] for i in range(self.num_envs)]

        def append():
            values = [model.check(row) for model, row in zip(self.models, steps, strict=True)]
            if not self.started and not values[0] and ends is None:
                raise Refused(ValueError)  # how many environments are there?
            items = []
            for i, (model, row) in enumerate(zip(self.models, steps, strict=True)):
                items += model.append(row)
                items += model.end_episode(True) if ends and ends[i] else []
            self.started = True
            return items

        made = self.both(
            lambda: self.writer.append_batch(self.nest(step), episode_ends=ends),
            append,
            *(step, ends),
        )
        self.want(made[1] if made else [])

    def end_episode_of_one(self):
        if not self.started:
            return
        index, clear = self.rng.randrange(self.num_envs), self.chance(0.6)
        self.want(self.models[index].end_episode(clear))
        self.writer.envs[index].end_episode(clear_buffers=clear)


@pytest.mark.parametrize("seed", range(30))
def test_legacy_writer(programs_client, seed):
    run(_LegacyProgram, programs_client, seed, 150)


@pytest.mark.parametrize("seed", range(60))
def test_structured_writer(programs_client, seed):
    run(_StructuredProgram, programs_client, seed, 100)


@pytest.mark.parametrize("seed", range(30))
def test_structured_writer_of_batches(programs_client, seed):
    run(_StructuredBatchProgram, programs_client, seed, 100)
