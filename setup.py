# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs CMake for the extension reverb._core; all metadata is in pyproject.toml.

Environment:
  REVERB_BUILD_DIR: CMake's build folder; default build/<tag of this Python>.
  REVERB_SKIP_EXTENSION: if 1, leaves the extension alone (`make` builds it itself).
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

_ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """Builds the target _core and puts the module where setuptools wants it."""

    def build_extension(self, ext: Extension) -> None:
        default = f"build/cp{sys.version_info.major}{sys.version_info.minor}"
        build_dir = _ROOT / os.environ.get("REVERB_BUILD_DIR", default)
        jobs = os.environ.get("REVERB_JOBS", str(os.cpu_count() or 2))
        subprocess.run(
            [
                "cmake",
                "-S",
                str(_ROOT),
                "-B",
                str(build_dir),
                "-G",
                "Ninja",
                f"-DPython_EXECUTABLE={sys.executable}",
            ],
            check=True,
        )
        subprocess.run(
            ["cmake", "--build", str(build_dir), "-j", jobs, "--target", "_core"], check=True
        )
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        built = build_dir / "python" / "reverb" / target.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, target)
        target.chmod(0o755)
        if not self.inplace:
            # Line tables stay in the build folder; a wheel is for running.
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)
            checker = str(_ROOT / "scripts" / "check_symbols")
            subprocess.run([sys.executable, checker, str(target)], check=True)

    def get_source_files(self) -> list[str]:
        return []


subprocess.run(
    [sys.executable, str(_ROOT / "scripts" / "third_party_licenses"), "THIRD_PARTY_LICENSES"],
    check=True,
    cwd=_ROOT,
)
skip = os.environ.get("REVERB_SKIP_EXTENSION") == "1"
setup(
    ext_modules=[] if skip else [Extension("reverb._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
