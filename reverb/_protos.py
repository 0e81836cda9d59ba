# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Protobuf classes of the schema, in a descriptor pool of our own.

The default pool may already hold TensorFlow's or dm-reverb's messages of the
same names; a private pool keeps both in one process. Nothing of protobuf is
imported before the first class is asked for.

    _protos.TableInfo                         # deepmind.reverb.TableInfo
    _protos.TensorProto                       # tensorflow.TensorProto
    _protos.message("tensorflow.DictValue.FieldsEntry")
    _protos.enum("tensorflow.DataType").Name(1)

Threads: thread-safe.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import Any

# The module under which each file's classes are public, also for pickling.
# `Timestamp` and TensorFlow's messages are reached through this module.
_PUBLIC_MODULES = {
    "data.proto": "reverb.cc.schema_pb2",
    "service.proto": "reverb.cc.reverb_service_pb2",
    "patterns.proto": "reverb.cc.patterns_pb2",
    "checkpoint.proto": "reverb.cc.checkpointing.checkpoint_pb2",
    "config.proto": "reverb.server_executable.reverb_config_pb2",
}
_PACKAGES = ("deepmind.reverb", "tensorflow", "google.protobuf")


class _Schema:
    """The private pool and the classes made from it."""

    def __init__(self) -> None:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

        from reverb import _descriptors

        files = descriptor_pb2.FileDescriptorSet.FromString(
            base64.b64decode(_descriptors.FILE_DESCRIPTOR_SET)
        )
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.AddSerializedFile(file.SerializeToString())
        self.pool = pool
        # protobuf 4.22 replaced the factory object by a function.
        if hasattr(message_factory, "GetMessageClass"):
            self._get_class: Callable[[Any], Any] = message_factory.GetMessageClass
        else:
            factory: Any = message_factory.MessageFactory(pool)
            self._get_class = factory.GetPrototype
        # Classes by full name, and those at the top level of each file by name.
        self.messages: dict[str, Any] = {}
        self.files: dict[str, dict[str, Any]] = {}
        for file in files.file:
            module = _PUBLIC_MODULES.get(file.name, __name__)
            self.files[file.name] = {
                message.name: self._add(
                    pool.FindMessageTypeByName(f"{file.package}.{message.name}"),
                    module,
                    message.name,
                )
                for message in file.message_type
            }
        _refuse_truth_value(self.messages["deepmind.reverb.Condition"])

    def _add(self, descriptor: Any, module: str, qualname: str) -> Any:
        cls = self._get_class(descriptor)
        cls.__module__ = module
        cls.__qualname__ = qualname
        # protobuf's own way to pickle nested messages looks in the default pool.
        cls.__reduce__ = _reduce
        self.messages[descriptor.full_name] = cls
        for nested in descriptor.nested_types:
            nested_cls = self._add(nested, module, f"{qualname}.{nested.name}")
            setattr(cls, nested.name, nested_cls)  # protobuf's pure-Python classes lack this
        return cls


def _reduce(self: Any) -> tuple[Any, ...]:
    return _restore, (self.DESCRIPTOR.full_name, self.SerializePartialToString())


def _restore(full_name: str, serialized: bytes) -> Any:
    return message(full_name).FromString(serialized)


def _refuse_truth_value(condition: Any) -> None:
    """Makes `a and b` and `low <= a <= high` between conditions an error.

    Python gives those expressions the value of one operand, so the other
    condition would be lost without a word.
    """

    def __bool__(self: object) -> bool:  # noqa: N807 (becomes the class's method)
        from reverb import errors

        raise errors.with_builtin(errors.InvalidArgumentError, TypeError)(
            "a condition has no truth value: `and`, `or`, `not` and chained comparisons keep one "
            "condition and lose the other; pass a list of conditions, all of which must hold"
        )

    condition.__bool__ = __bool__


_schema: _Schema | None = None
_lock = threading.Lock()


def _load() -> _Schema:
    global _schema
    schema = _schema
    if schema is None:
        with _lock:
            schema = _schema
            if schema is None:
                schema = _schema = _Schema()
    return schema


def pool() -> Any:
    """The private `DescriptorPool`, for `text_format`, `json_format` and reflection."""
    return _load().pool


def message(full_name: str) -> Any:
    """The class of a message, e.g. `deepmind.reverb.ChunkData.Data`.

    Raises:
      KeyError: The schema has no such message.
    """
    return _load().messages[full_name]


def enum(full_name: str) -> Any:
    """Names and values of an enum, e.g. `tensorflow.DataType`.

    Raises:
      KeyError: The schema has no such enum.
    """
    from google.protobuf.internal import enum_type_wrapper

    return enum_type_wrapper.EnumTypeWrapper(_load().pool.FindEnumTypeByName(full_name))


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        messages = _load().messages
        for package in _PACKAGES:
            found = messages.get(f"{package}.{name}")
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def exports(file_name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module that offers one file's messages."""
    module = _PUBLIC_MODULES[file_name]

    def names() -> list[str]:
        return sorted(_load().files[file_name])

    def module_getattr(name: str) -> Any:
        if name == "__all__":
            return names()
        if name == "DESCRIPTOR":
            return pool().FindFileByName(file_name)
        if not name.startswith("_"):
            found = _load().files[file_name].get(name)
            if found is not None:
                return found
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return module_getattr, names
