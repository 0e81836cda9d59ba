# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns: items described once, made whenever their conditions hold.

    def n_step(ref):
        return {"obs": ref["obs"][-3:], "action": ref["action"][-3]}

    config = create_config(
        pattern_from_transform(step_spec, n_step),
        table="replay",
        conditions=[Condition.step_index() >= 2],
    )

makes an item of three steps with every step from the third on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reverb import errors, nest, signature, specs, timeouts

if TYPE_CHECKING:
    Config = Any
    ConditionProto = Any

__all__ = [
    "Condition",
    "ConditionProto",
    "Config",
    "Pattern",
    "PatternTransform",
    "ReferenceStep",
    "StructuredWriter",
    "constant_priority_fn",
    "create_config",
    "create_reference_step",
    "infer_signature",
    "pattern_from_transform",
    "td_error",
    "unpack_pattern",
]

# A step's nest with reference objects in the place of the values.
ReferenceStep = Any

# A nest of PatternNode messages.
Pattern = Any

PatternTransform = Callable[[ReferenceStep], Pattern]

_MESSAGES = {"Config": "StructuredWriterConfig", "ConditionProto": "Condition"}


def __getattr__(name: str) -> Any:
    if name in _MESSAGES:
        return getattr(_protos(), _MESSAGES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _protos() -> Any:
    from reverb import _protos

    return _protos


class _Reference:
    """Stands for a column; indexing it makes the `PatternNode` of some of its newest cells."""

    __slots__ = ("_flat_source_index",)

    # `__getitem__` alone would make `list(reference)` loop for ever.
    __iter__ = None

    def __init__(self, flat_source_index: int) -> None:
        self._flat_source_index = flat_source_index

    def __getitem__(self, key: int | slice) -> Any:
        """The node for one cell (int, counted from the newest, -1) or a run of cells (slice)."""
        node = _protos().PatternNode
        if isinstance(key, int):
            return node(flat_source_index=self._flat_source_index, stop=int(key))
        if isinstance(key, slice):
            if key.start is None and key.stop is not None:
                # The message can't tell this from the single cell `[stop]`.
                raise errors.InvalidArgumentError(
                    f"a pattern's slice needs a start, e.g. [-n:{key.stop}] (dm-reverb takes "
                    f"[{_slice_text(key)}] for the single step [{key.stop}])"
                )
            return node(
                flat_source_index=self._flat_source_index,
                start=_optional_int(key.start),
                stop=_optional_int(key.stop),
                step=_optional_int(key.step),
            )
        raise errors.InvalidArgumentError(
            f"a reference is indexed by an int or a slice of ints, not {key!r}"
        )

    def __repr__(self) -> str:
        return f"Reference({self._flat_source_index})"


def _slice_text(key: slice) -> str:
    parts = [key.start, key.stop] + ([] if key.step is None else [key.step])
    return ":".join("" if part is None else str(part) for part in parts)


def _optional_int(value: Any) -> int | None:
    return None if value is None else int(operator.index(value))


def create_reference_step(step_structure: Any) -> ReferenceStep:
    """A step's nest with a reference object in the place of each leaf.

    Args:
      step_structure: Nest of a step; the leaves may be anything.
    """
    leaves = range(len(nest.flatten(step_structure)))
    return nest.unflatten_as(step_structure, [_Reference(index) for index in leaves])


def pattern_from_transform(step_structure: Any, transform: PatternTransform) -> Pattern:
    """The pattern that `transform` makes of a reference step.

    Args:
      step_structure: Nest of a step; the leaves may be anything.
      transform: Takes the reference step, returns a nest of indexed references.
    """
    return transform(create_reference_step(step_structure))


class _ConditionBuilder:
    """The left side of a condition; a comparison with an int completes it."""

    __slots__ = ("_left",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, **left: Any) -> None:
        self._left = left

    def _compare(self, *, inverse: bool = False, **comparison: Any) -> Any:
        return _protos().Condition(**self._left, **comparison, inverse=inverse)

    def __mod__(self, mod: int) -> _ConditionBuilder:
        mod = _int(mod)
        # A modulus of 0 means none, as in dm-reverb.
        return _ModuloBuilder(self._left, mod) if mod else self

    def __eq__(self, value: object) -> Any:
        return self._compare(eq=_int(value))

    def __ne__(self, value: object) -> Any:
        return self._compare(eq=_int(value), inverse=True)

    def __ge__(self, value: int) -> Any:
        return self._compare(ge=_int(value))

    def __gt__(self, value: int) -> Any:
        return self._compare(ge=_int(value) + 1)

    def __le__(self, value: int) -> Any:
        return self._compare(ge=_int(value) + 1, inverse=True)

    def __lt__(self, value: int) -> Any:
        return self._compare(ge=_int(value), inverse=True)

    def __bool__(self) -> bool:
        raise errors.with_builtin(errors.InvalidArgumentError, TypeError)(
            "an incomplete condition has no truth value: compare it with an int, and pass several "
            "conditions as a list instead of combining them by `and` or `or`"
        )

    def __repr__(self) -> str:
        return f"Condition({self._left})"


class _ModuloBuilder(_ConditionBuilder):
    """`left % mod`; can be compared by `==` and `!=` only."""

    __slots__ = ("_mod",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, left: dict[str, Any], mod: int) -> None:
        super().__init__(**left)
        self._mod = mod

    def _compare(self, *, inverse: bool = False, **comparison: Any) -> Any:
        if "ge" in comparison:
            raise errors.InvalidArgumentError(
                "a condition with % can be compared by == and != only; dm-reverb would drop the "
                "modulus here"
            )
        modulo = _protos().Condition.ModuloEq(mod=self._mod, eq=comparison["eq"])
        return super()._compare(mod_eq=modulo, inverse=inverse)

    def __mod__(self, mod: int) -> _ConditionBuilder:
        raise errors.InvalidArgumentError("a condition can have one % only")


def _int(value: Any) -> int:
    try:
        return int(operator.index(value))  # protobuf refuses bool
    except TypeError:
        raise TypeError(f"a condition compares with an int, not {value!r}") from None


class Condition:
    """Builds conditions: `Condition.step_index() % 2 == 0`, `Condition.is_end_episode()`."""

    @staticmethod
    def step_index() -> Any:
        """Index of the newest step in its episode, from 0."""
        return _ConditionBuilder(step_index=True)

    @staticmethod
    def steps_since_applied() -> Any:
        """Number of steps since the config last made an item; 1 for the very first step."""
        return _ConditionBuilder(steps_since_applied=True)

    @staticmethod
    def is_end_episode() -> Any:
        """A complete condition: the episode is being ended."""
        return _protos().Condition(is_end_episode=True, eq=1)

    @staticmethod
    def data(step_structure: Any) -> Any:
        """A nest of left sides: the value of each column in the newest step, as an int."""
        leaves = range(len(nest.flatten(step_structure)))
        return nest.unflatten_as(
            step_structure, [_ConditionBuilder(flat_source_index=index) for index in leaves]
        )


def create_config(
    pattern: Pattern, table: str, conditions: Iterable[Any] = (), priority: Any = None
) -> Any:
    """Describes the items of one pattern.

    Args:
      pattern: Nest of indexed references.
      table: The table that the items go to.
      conditions: All must hold for an item to be made.
      priority: What `constant_priority_fn` or `td_error` returned; None is priority 1.

    Returns:
      A `Config` message.

    Raises:
      TypeError: A leaf of the pattern is not an indexed reference, or a condition is incomplete.
    """
    protos = _protos()
    flat = []
    for path, node in nest.flatten_with_path(pattern):
        if not isinstance(node, protos.PatternNode):
            hint = " (index it)" if isinstance(node, _Reference) else ""
            raise TypeError(
                f"the pattern's {nest.describe_leaf(path)} is not an indexed reference but "
                f"{node!r}{hint}"
            )
        flat.append(node)
    complete = []
    for index, condition in enumerate(conditions):
        if not isinstance(condition, protos.Condition):
            hint = " (compare it with an int)" if isinstance(condition, _ConditionBuilder) else ""
            raise TypeError(f"conditions[{index}] is not a condition but {condition!r}{hint}")
        complete.append(condition)
    return protos.StructuredWriterConfig(
        flat=flat,
        pattern_structure=signature.encode_structure(pattern),
        table=table,
        priority=constant_priority_fn(1.0) if priority is None else priority,
        conditions=complete,
    )


def unpack_pattern(config: Any) -> Pattern:
    """The pattern of a config, in its nesting; a flat list if the config has none.

    Dicts come back as plain dicts, named tuples as new classes.
    """
    if not config.HasField("pattern_structure"):
        return list(config.flat)
    return signature.decode_structure(config.pattern_structure, list(config.flat))


def infer_signature(configs: Sequence[Any], step_spec: Any) -> Any:
    """The signature of a table that gets the items of `configs`.

    Args:
      configs: Configs of one table, with patterns of the same nesting.
      step_spec: Nest of the steps that will be appended; leaves have `shape` and `dtype`.

    Returns:
      The pattern's nest with specs: TensorFlow's if `step_spec` has such, else ours. A first
      dimension in which the configs differ is None.

    Raises:
      InvalidArgumentError: There are no configs, or they differ in more than that.
    """
    configs = list(configs)
    if not configs:
        raise errors.InvalidArgumentError("there must be at least one config")
    tables = sorted({config.table for config in configs})
    if len(tables) > 1:
        raise errors.InvalidArgumentError(f"the configs are for different tables: {tables}")
    first = configs[0]
    if any(
        config.HasField("pattern_structure") != first.HasField("pattern_structure")
        or config.pattern_structure != first.pattern_structure
        or len(config.flat) != len(first.flat)
        for config in configs
    ):
        raise errors.InvalidArgumentError("the configs have patterns of different structure")
    source = nest.flatten_with_path(step_spec)
    pattern = unpack_pattern(first)
    columns = []
    use_tensorflow = any(specs.is_tensorflow_spec(leaf) for _, leaf in source)
    for column, (path, _) in enumerate(nest.flatten_with_path(pattern)):
        name = nest.format_path(path)
        spec = _merge([_node_spec(config.flat[column], source, name) for config in configs])
        columns.append(specs.to_tensorflow(spec) if use_tensorflow else spec)
    return nest.unflatten_as(pattern, columns)


def _node_spec(node: Any, source: list[tuple[nest.Path, Any]], name: str) -> specs.TensorSpec:
    """The spec of what a node selects."""
    index = node.flat_source_index
    if not 0 <= index < len(source):
        raise errors.InvalidArgumentError(
            f"the pattern's column {name!r} refers to column {index} of the step, which has "
            f"{len(source)} columns",
            column=name,
        )
    path, leaf = source[index]
    if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
        raise TypeError(f"the step's {nest.describe_leaf(path)} has no shape and dtype: {leaf!r}")
    shape = specs.normalize_shape(leaf.shape)
    if node.HasField("start") and shape is not None:
        step = node.step if node.HasField("step") else 1
        if step < 1:
            raise errors.InvalidArgumentError(
                f"the pattern's column {name!r} has the step {step}; it must be > 0", column=name
            )
        # Rounded up: -(a // -b).
        shape = (max(0, -((node.stop - node.start) // -step)), *shape)
    return specs.TensorSpec(shape, leaf.dtype, name)


def _merge(candidates: list[specs.TensorSpec]) -> specs.TensorSpec:
    """The spec that all candidates fit, which have the same name."""
    first = candidates[0]
    shape = first.shape
    for other in candidates[1:]:
        if other.dtype != first.dtype:
            raise errors.InvalidArgumentError(
                f"the configs disagree on the dtype of column {first.name!r}: {first.dtype} and "
                f"{other.dtype}",
                column=first.name,
            )
        if other.shape == shape:
            continue
        if (
            shape is None
            or other.shape is None
            or len(other.shape) != len(shape)
            or other.shape[1:] != shape[1:]
        ):
            raise errors.InvalidArgumentError(
                f"the configs disagree on the shape of column {first.name!r}: {first.shape} and "
                f"{other.shape}",
                column=first.name,
            )
        shape = (None, *shape[1:])
    return specs.TensorSpec(shape, first.dtype, first.name)


def constant_priority_fn(value: float) -> Any:
    """Gives every item the priority `value`."""
    protos = _protos()
    return protos.Priority(constant_fn=protos.Priority.ConstantPriorityFn(value=value))


def td_error(
    max_priority_weight: float, step_structure: Any, get_field_from_step_fn: Callable[[Any], Any]
) -> Any:
    """Makes the priority of an item of its errors x: `w * max(abs(x)) + (1 - w) * mean(abs(x))`.

    Args:
      max_priority_weight: The weight w.
      step_structure: Nest of a step; the leaves may be anything.
      get_field_from_step_fn: Takes a step and returns the leaf with the error; that column must be
        part of the pattern.

    Raises:
      TypeError: The function returned something else than a leaf.
    """
    leaves = range(len(nest.flatten(step_structure)))
    index = get_field_from_step_fn(nest.unflatten_as(step_structure, list(leaves)))
    if not isinstance(index, int):
        raise TypeError(f"get_field_from_step_fn must return one leaf of the step, not {index!r}")
    protos = _protos()
    return protos.Priority(
        td_error=protos.Priority.TDError(
            max_priority_weight=max_priority_weight, flat_source_index=index
        )
    )


class StructuredWriter:
    """Writes the items that configs describe.

    Made by `Client.structured_writer`. For one thread. Items that are pending when the writer is
    dropped are sent in the background.
    """

    def __init__(self, internal_writer: Any) -> None:
        """Wraps the extension's writer (private)."""
        self._writer = internal_writer
        self._envs: tuple[StructuredEnvironment, ...] = ()

    @property
    def step_is_open(self) -> bool:
        """Whether the last append was a partial one."""
        is_open: bool = self._writer.step_is_open
        return is_open

    @property
    def envs(self) -> Sequence[StructuredEnvironment]:
        """The environments of `append_batch`, by their row; none before its first call."""
        count = self._writer.num_envs
        if len(self._envs) != count:
            self._envs = tuple(StructuredEnvironment(self._writer, i) for i in range(count))
        return self._envs

    def append(self, data: Any, *, partial_step: bool = False) -> None:
        """Appends a step, or a part of one, and makes the items that the configs want of it.

        Never waits. The step's values are stored all or none.

        Args:
          data: Nest of values; None where a column has no value. Every step has as many leaves as
            the first; leaves that no config asks about are not looked at.
          partial_step: Whether the step stays open: the next call adds to it.

        Raises:
          InvalidArgumentError: The number of leaves differs, a value has another dtype or shape
            than its column, or an item's priority can't be computed (the step is stored and other
            items are made).
          FailedPreconditionError: The column has a value in this step already, or the writer was
            given batches.
          TypeError: Tables can't hold one of the values, which is named.
        """
        self._writer.append(data, partial_step)

    def append_batch(self, data: Any, *, episode_ends: Any = None) -> None:
        """Appends a step to each of N environments; configs are evaluated for each by itself.

        The first call fixes N. Never waits.

        Args:
          data: Nest of arrays `[N, ...]`; row i is the step of environment i. Else as in `append`.
          episode_ends: Bools `[N]`: whose episode ends after this step.

        Raises:
          InvalidArgumentError: As in `append`, or a leaf doesn't have N rows.
          FailedPreconditionError: The writer was given single steps.
        """
        self._writer.append_batch(data, episode_ends)

    def flush(self, block_until_num_items: int = 0, timeout_ms: int | None = None) -> None:
        """Sends what is queued and waits until the tables have it.

        Args:
          block_until_num_items: How many of the newest items may be left unconfirmed; >= 0.
          timeout_ms: Milliseconds; None for no limit, 0 or less to fail at once if items are
            pending.

        Raises:
          DeadlineExceededError: `timeout_ms` has passed; the items stay pending.
          UnavailableError: The server stayed away too long; likewise.
          InvalidArgumentError: `block_until_num_items` is negative.
          TypeError: `timeout_ms` is not an int.
          NotFoundError: There is no such table; the writer can't be used any more.
        """
        block_until_num_items = operator.index(block_until_num_items)
        if block_until_num_items < 0:
            raise errors.InvalidArgumentError(
                f"block_until_num_items must be >= 0, not {block_until_num_items}"
            )
        timeouts.wait(self._writer.flush, block_until_num_items, timeout_ms=timeout_ms)

    def end_episode(self, clear_buffers: bool = True, timeout_ms: int | None = None) -> None:
        """Makes the items of the episode's end, flushes, and begins a new episode.

        An open step is ended.

        Args:
          clear_buffers: Whether steps are forgotten; else patterns may span episodes.
          timeout_ms: As in `flush`.

        Raises:
          DeadlineExceededError: `timeout_ms` has passed; the episode goes on.
          UnavailableError: The server stayed away too long; likewise.
          TypeError: `timeout_ms` is not an int.
        """
        timeouts.wait(self._writer.end_episode, -1, bool(clear_buffers), timeout_ms=timeout_ms)


class StructuredEnvironment:
    """One environment of a writer that is given batches; see `StructuredWriter.append_batch`."""

    def __init__(self, internal_writer: Any, index: int) -> None:
        """Environment number `index` of the extension's writer (private)."""
        self._writer = internal_writer
        self._index = index

    def end_episode(self, clear_buffers: bool = True, timeout_ms: int | None = None) -> None:
        """As `StructuredWriter.end_episode`, of this environment alone."""
        timeouts.wait(
            self._writer.end_episode, self._index, bool(clear_buffers), timeout_ms=timeout_ms
        )

    def __repr__(self) -> str:
        return f"StructuredEnvironment({self._index})"
