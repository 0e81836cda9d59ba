# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives dm-reverb in its own environment: a request per line of stdin, an answer per line of stdout.

Run by tests/interop/peer.py with the other environment's Python; must not import anything of ours.
Arrays travel as `{"dtype": ..., "shape": [...], "values": [...]}`.
"""

import json
import sys

import numpy as np

import reverb

_objects = {}


def _encode(value):
    value = np.asarray(value)
    values = value.ravel().tolist()
    if value.dtype.kind in "OSU":
        values = [v.decode("latin-1") if isinstance(v, bytes) else v for v in values]
        return {"dtype": "string", "shape": list(value.shape), "values": values}
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": values}


def serve(tables):
    """Starts a server of queues; {name: size}."""
    server = reverb.Server([reverb.Table.queue(name, size) for name, size in tables.items()])
    _objects["server"] = server
    return server.port


def sample(address, table, count):
    """The flat columns of `count` items."""
    client = reverb.Client(address)
    samples = client.sample(table, count, emit_timesteps=False)
    return [[_encode(column) for column in next(samples).data] for _ in range(count)]


def insert(address, table, values):
    """An item of one step per value."""
    client = reverb.Client(address)
    for value in values:
        client.insert([np.float32(value)], {table: 1.0})


def stop():
    """Ends the server."""
    _objects.pop("server").stop()


def main():
    out, sys.stdout = sys.stdout, sys.stderr  # others print too
    calls = {f.__name__: f for f in (serve, sample, insert, stop)}
    for line in sys.stdin:
        name, arguments = json.loads(line)
        try:
            answer = {"result": calls[name](*arguments)}
        except Exception as error:  # whatever it is, the test shall see it
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
