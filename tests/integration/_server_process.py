# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""A server in a process of its own, on a port that the system chose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

TABLES = """
import reverb
tables = [
    reverb.Table("uniform", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(1)),
    reverb.Table("fifo", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(1)),
    reverb.Table("prioritized", reverb.selectors.Prioritized(1.0), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(1)),
    reverb.Table.queue("queue", 3),
    reverb.Table("signed", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 100,
                 reverb.rate_limiters.MinSize(1),
                 signature={"obs": {"camera": reverb.TensorSpec((2, 3), "uint8")},
                            "reward": reverb.TensorSpec((), "float32")}),
]
"""

_SERVE = """
import sys
server = reverb.Server(tables, port=PORT)
print(server.port, flush=True)
sys.stdin.read()
server.stop()
"""


class ServerProcess:
    """Serves the tables that `setup` defines until it is stopped or killed."""

    def __init__(self, setup: str = TABLES, port: int | None = None) -> None:
        program = textwrap.dedent(setup) + _SERVE.replace("PORT", repr(port))
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server process did not start"
        self.port = int(line)

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def stop(self) -> None:
        """Asks for a graceful stop and waits for it."""
        if self.process.poll() is None:
            self.process.communicate(timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)

    def freeze(self) -> None:
        """Stops its threads where they are; returns when they have stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=30)


def run_python(
    program: str, *arguments: str, timeout: float = 60, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=env,
    )
