# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""dm-reverb 0.14 in a process of its own, in its own environment.

REVERB_PEER_PYTHON names the Python of an environment with `dm-reverb[tensorflow]==0.14.0`.
The two packages never meet in one process.
"""

import json
import os
import pathlib
import subprocess

import numpy as np

PYTHON = os.environ.get("REVERB_PEER_PYTHON", "")


class Peer:
    """Calls the functions of peer_main.py."""

    def __init__(self):
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        }
        self._process = subprocess.Popen(
            [PYTHON, str(pathlib.Path(__file__).with_name("peer_main.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def call(self, name, *arguments):
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the peer has died"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def sample(self, address, table, count):
        """The columns of `count` items as arrays."""
        return [
            [_decode(column) for column in item]
            for item in self.call("sample", address, table, count)
        ]

    def close(self):
        self._process.kill()
        self._process.communicate()


def _decode(array):
    if array["dtype"] == "string":
        values = [value.encode("latin-1") for value in array["values"]]
        return np.array(values, dtype=object).reshape(array["shape"])
    return np.array(array["values"], dtype=array["dtype"]).reshape(array["shape"])
