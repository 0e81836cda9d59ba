# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what `import reverb` costs on top of `import numpy`.

Each import is timed in a fresh interpreter, the two in turn, and medians are
printed: milliseconds of wall time around the import statement, and the resident
set of the process after it.

    python tests/bench/import_cost.py [--rounds 21]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

_PROGRAM = """
import json, resource, time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds * 1e3, rss / 1024]))
"""


def measure(module: str) -> tuple[float, float]:
    """Returns milliseconds and MiB of one import in a fresh interpreter."""
    program = [sys.executable, "-c", _PROGRAM.format(module=module)]
    result = subprocess.run(program, capture_output=True, text=True, check=True)
    milliseconds, mebibytes = json.loads(result.stdout)
    return milliseconds, mebibytes


def main() -> None:
    """Prints one line per module and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    results: dict[str, list[tuple[float, float]]] = {"numpy": [], "reverb": []}
    for module in results:
        measure(module)  # the files are in the page cache after this
    for _ in range(rounds):
        for module, measured in results.items():
            measured.append(measure(module))
    medians = {
        module: [statistics.median(column) for column in zip(*measured, strict=True)]
        for module, measured in results.items()
    }
    for module, (milliseconds, mebibytes) in medians.items():
        print(f"import {module:<8} {milliseconds:7.1f} ms  {mebibytes:6.1f} MiB")
    extra = [b - a for a, b in zip(*medians.values(), strict=True)]
    print(f"{'difference':<15} {extra[0]:7.1f} ms  {extra[1]:6.1f} MiB")


if __name__ == "__main__":
    main()
