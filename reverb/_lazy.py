# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of a package that import what they name when they are first read."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def attributes(
    package: str,
    *,
    modules: Mapping[str, str] | Iterable[str] = (),
    names: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Args:
      package: Name of the package.
      modules: Its submodules; a mapping gives the full name of the module that stands behind an
        attribute.
      names: Attributes that are members of a module, with the module's full name.
    """
    if not isinstance(modules, Mapping):
        modules = {module: f"{package}.{module}" for module in modules}
    behind = dict(modules)
    members = dict(names or {})

    def package_getattr(name: str) -> Any:
        if name in members:
            value = getattr(importlib.import_module(members[name]), name)
        elif name in behind:
            value = importlib.import_module(behind[name])
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def package_dir() -> list[str]:
        return sorted({*vars(sys.modules[package]), *members, *behind})

    return package_getattr, package_dir
