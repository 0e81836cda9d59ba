# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpointers as descriptions of folders."""

import os
import pathlib

import pytest

import reverb
from reverb import checkpointers, pybind
from reverb.platform import checkpointers_lib


def test_names_are_those_of_one_class():
    assert checkpointers is reverb.checkpointers is reverb.platform.default.checkpointers
    for name in ("CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer"):
        assert getattr(checkpointers, name) is getattr(checkpointers_lib, name)


def test_attributes_and_description():
    made = checkpointers.DefaultCheckpointer("/a", "g", "/b")
    assert (made.path, made.group, made.fallback_checkpoint_path) == ("/a", "g", "/b")
    internal = made.internal_checkpointer()
    assert isinstance(internal, pybind.Checkpointer)
    assert internal == pybind.Checkpointer("/a", "g", "/b")


def test_defaults_touch_nothing(tmp_path):
    made = checkpointers.DefaultCheckpointer(path=str(tmp_path / "new"))
    assert (made.group, made.fallback_checkpoint_path) == ("", None)
    made.internal_checkpointer()
    assert not (tmp_path / "new").exists()


def test_paths_may_be_path_objects():
    made = checkpointers.DefaultCheckpointer(path=pathlib.Path("/a"))
    assert made.internal_checkpointer().path == "/a"


@pytest.mark.parametrize("arguments", [(3,), (None,), (b"/a",), ("/a", None), ("/a", "", 3)])
def test_other_types(arguments):
    with pytest.raises(TypeError):
        checkpointers.DefaultCheckpointer(*arguments).internal_checkpointer()


@pytest.mark.parametrize(
    "make",
    [
        checkpointers.TempDirCheckpointer,
        checkpointers.default_checkpointer,
        lambda: checkpointers.default_checkpointer("ignored"),
    ],
)
def test_temporary_folders_are_new(make, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    one, other = make(), make()
    assert one.path != other.path
    assert os.path.isdir(one.path)
    assert isinstance(one, checkpointers.DefaultCheckpointer)
    assert one.group == ""


def test_base_is_abstract():
    with pytest.raises(TypeError):
        checkpointers.CheckpointerBase()


def test_chunker_options_compare_as_in_dm_reverb():
    auto, constant = pybind.AutoTunedChunkerOptions, pybind.ConstantChunkerOptions
    assert auto(num_keep_alive_refs=3, throughput_weight=1.0) == auto(3, 0.5)
    assert auto(3, 1.0) != auto(4, 1.0)
    assert constant(num_keep_alive_refs=3, max_chunk_length=2) == constant(2, 3)
    assert constant(2, 3) != constant(1, 3)
    assert constant(2, 3) != constant(2, 4)
    assert constant(2, 3) != auto(3, 1.0)
    assert hash(auto(3, 1.0)) == hash(auto(3, 0.5))
    with pytest.raises(TypeError):
        constant(1.5, 3)


def test_table_extensions_cannot_be_made():
    with pytest.raises(TypeError):
        pybind.TableExtension()
