# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Who may use whom: every include in reverb/cc and every import in reverb/."""

import ast
import pathlib
import re

import pytest

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_CC = _ROOT / "reverb" / "cc"

# Folder of reverb/cc -> folders it uses directly. Uses flow down this list only.
_USES: dict[str, set[str]] = {
    "support": set(),
    "tensor": {"support"},
    "codec": {"tensor", "support"},
    "data": {"codec", "tensor", "support"},
    "selectors": {"support"},
    "table": {"data", "selectors", "support"},
    "wire": {"table", "data", "codec", "tensor", "support"},
    "checkpoint": {"table", "data", "codec", "tensor", "support"},
    "engine": {"table", "wire", "checkpoint"},
    # gRPC's byte buffers become the ropes that wire reads.
    "rpc": {"wire", "data", "support"},
    "service": {"engine", "wire", "rpc"},
    "client": {"engine", "wire", "rpc"},
    "python": {"service", "client"},
}

# Pattern of a system include -> folders that may have it; nobody else.
_THIRD_PARTY: list[tuple[str, set[str]]] = [
    (r"grpc(pp)?/", {"rpc", "service", "client"}),
    (r"protozero/", {"wire", "checkpoint"}),
    (r"snappy", {"codec"}),
    (r"(Python\.h|pybind11/|numpy/)", {"python"}),
    (r"google/protobuf/", set()),
    (r"tensorflow/", set()),
    (r"(openssl|re2|zlib|ares)\b", set()),
]

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# Python package -> files (relative to reverb/) that may import it.
_FRAMEWORKS: dict[str, str] = {
    # specs.py makes TensorFlow's specs in a program that has imported TensorFlow.
    "tensorflow": r"(datasets/tensorflow.*|(specs|tf_client|timestep_dataset|trajectory_dataset)\.py)",
    "torch": r"datasets/torch.*",
    "jax": r"datasets/jax.*",
    "grpc": r"$^",  # our own gRPC is inside the extension
    "pybind11": r"$^",
}

# Threads and processes belong to C++, or to the command line.
_CONCURRENCY = {"asyncio", "concurrent", "multiprocessing", "socket", "subprocess"}


def _closure(folder: str) -> set[str]:
    reached = {folder}
    todo = [folder]
    while todo:
        for used in _USES[todo.pop()] - reached:
            reached.add(used)
            todo.append(used)
    return reached


def _cc_sources() -> list[pathlib.Path]:
    return sorted(p for p in _CC.rglob("*") if p.suffix in (".h", ".cc"))


def _python_sources() -> list[pathlib.Path]:
    return sorted((_ROOT / "reverb").rglob("*.py"))


def _imports(tree: ast.Module) -> list[tuple[int, str]]:
    """Returns line and dotted name of every import, nested ones too."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append((node.lineno, node.module))
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def test_every_folder_of_cc_has_its_place():
    folders = {p.relative_to(_CC).parts[0] for p in _cc_sources()}
    assert folders <= set(_USES)


def test_the_table_has_no_cycle():
    for folder, uses in _USES.items():
        for used in uses:
            assert folder not in _closure(used), f"{folder} <-> {used}"


def test_service_and_client_do_not_know_each_other():
    assert "client" not in _closure("service")
    assert "service" not in _closure("client")


def test_cmake_declares_the_same_table():
    text = (_ROOT / "CMakeLists.txt").read_text()
    declared = {}
    for name, arguments in re.findall(r"^reverb_library\((\w+)\s+DEPENDS([^)]*)\)", text, re.M):
        declared[name] = set(arguments.split("LINK")[0].split())
    assert declared == {name: uses for name, uses in _USES.items() if name != "python"}


def test_includes_point_down():
    faults = []
    for path in _cc_sources():
        folder = path.relative_to(_CC).parts[0]
        allowed = _closure(folder)
        for quote, name in _INCLUDE.findall(path.read_text()):
            if name.startswith("reverb/cc/"):
                used = name.split("/")[2]
                if used not in allowed:
                    faults.append(f"{path.relative_to(_ROOT)}: {folder} must not use {name}")
                elif not (_ROOT / name).is_file():
                    faults.append(f"{path.relative_to(_ROOT)}: no such file: {name}")
            elif name.startswith("tests/"):
                faults.append(f"{path.relative_to(_ROOT)}: product code includes {name}")
            elif quote == '"' and "/" not in name:
                faults.append(f"{path.relative_to(_ROOT)}: {name} isn't named from the root")
    assert not faults, "\n".join(faults)


def test_third_party_headers_stay_where_they_belong():
    faults = []
    for path in _cc_sources():
        folder = path.relative_to(_CC).parts[0]
        for _, name in _INCLUDE.findall(path.read_text()):
            for pattern, folders in _THIRD_PARTY:
                if re.match(pattern, name) and folder not in folders:
                    faults.append(f"{path.relative_to(_ROOT)}: {folder} must not use <{name}>")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("package", _FRAMEWORKS)
def test_frameworks_are_imported_by_their_leaves_alone(package):
    faults = []
    for path in _python_sources():
        relative = path.relative_to(_ROOT / "reverb").as_posix()
        if re.fullmatch(_FRAMEWORKS[package], relative):
            continue
        for line, name in _imports(ast.parse(path.read_text())):
            if name.split(".")[0] == package:
                faults.append(f"reverb/{relative}:{line}: imports {name}")
    assert not faults, "\n".join(faults)


def test_python_modules_start_no_threads():
    faults = []
    for path in _python_sources():
        relative = path.relative_to(_ROOT / "reverb").as_posix()
        if relative.startswith("cli/"):
            continue
        tree = ast.parse(path.read_text())
        for line, name in _imports(tree):
            if name.split(".")[0] in _CONCURRENCY or name == "threading.Thread":
                faults.append(f"reverb/{relative}:{line}: imports {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "threading.Thread":
                faults.append(f"reverb/{relative}:{node.lineno}: starts a thread")
    assert not faults, "\n".join(faults)


def test_the_package_does_not_use_what_stands_on_it():
    above = re.compile(r"reverb\.(cli|datasets)(\.|$)")
    leaves = re.compile(r"(cli|datasets)/.*|timestep_dataset\.py|trajectory_dataset\.py")
    faults = []
    for path in _python_sources():
        relative = path.relative_to(_ROOT / "reverb").as_posix()
        if leaves.fullmatch(relative):
            continue
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for line, name in _imports(ast.Module([node], [])):
                if above.match(name):
                    faults.append(f"reverb/{relative}:{line}: imports {name}")
    assert not faults, "\n".join(faults)


def test_python_beside_the_cc_folders_only_re_exports():
    for path in sorted(_CC.rglob("*.py")):
        for line, name in _imports(ast.parse(path.read_text())):
            where = f"{path.relative_to(_ROOT)}:{line}"
            assert name.split(".")[0] in ("reverb", "typing", "__future__"), f"{where}: {name}"


def test_the_core_is_used_from_python_by_name():
    """Only the extension itself is private C++: no ctypes or cffi beside it."""
    for path in _python_sources():
        names = {name.split(".")[0] for _, name in _imports(ast.parse(path.read_text()))}
        assert not names & {"ctypes", "cffi"}, path
