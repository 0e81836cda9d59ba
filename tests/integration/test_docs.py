# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python code in the documentation runs: each page's blocks one after the other."""

import functools
import inspect
import pathlib
import re

import pytest

import reverb

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _pages():
    pages = [_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))]
    return {str(page.relative_to(_ROOT)): page for page in pages if _BLOCK.search(page.read_text())}


def test_there_are_pages_with_code():
    assert {"README.md", "docs/writers.md"} <= _pages().keys()


@pytest.mark.parametrize("page", _pages().values(), ids=_pages().keys())
def test_the_blocks_of_a_page_run(page):
    text = page.read_text()
    namespace = {"__name__": page.stem}
    for block in _BLOCK.finditer(text):
        # Empty lines in front, so that a traceback shows the page's line numbers.
        lines = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines + block[1], page, "exec"), namespace)


_TIMEOUT = re.compile(r"^\| `([\w.]+)` \| `(\w+)` \|.*\| (\w+) \|$", re.MULTILINE)


def _timeouts():
    return _TIMEOUT.findall((_ROOT / "docs" / "timeouts.md").read_text())


@pytest.mark.parametrize(("call", "parameter", "default"), _timeouts())
def test_the_timeouts_are_those_of_the_calls(call, parameter, default, monkeypatch):
    function = functools.reduce(getattr, call.split("."), reverb)
    actual = inspect.signature(function).parameters[parameter].default
    if call == "Client":  # the environment has a say there
        monkeypatch.delenv(f"REVERB_{parameter.upper()}", raising=False)
        monkeypatch.setattr(reverb.client._core, "Client", lambda _, *timeouts: timeouts)
        used = reverb.Client("localhost:1")._client
        actual = f"{used[('connect_timeout', 'reconnect_timeout').index(parameter)]:g}"
    assert str(actual) == default
