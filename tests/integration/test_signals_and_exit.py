# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, lost servers, the interpreter's exit and forks."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import reverb
from tests.integration._server_process import TABLES, run_python

# Calls that wait as long as nobody does anything about it.
_BLOCKED = {
    "insert": "client.insert([1], {'queue': 1.0})",
    "insert with a timeout": "client.insert([1], {'queue': 1.0}, timeout=100)",
    "sample": "next(client.sample('fifo'))",
    "sample with a timeout": "next(client.sample('fifo', timeout=100))",
    "many samples": "list(client.sample('fifo', 100))",
    "flush": "flush()",
    "leaving a writer": "leave()",
    "trajectory_writer.flush": "trajectory_writer().flush()",
    "trajectory_writer.flush with a timeout": "trajectory_writer().flush(timeout_ms=100_000)",
    "trajectory_writer.end_episode": "trajectory_writer().end_episode()",
    "leaving a trajectory_writer": "trajectory_writer().__exit__(None, None, None)",
    "structured_writer.flush": "structured_writer().flush()",
    "structured_writer.end_episode": "structured_writer().end_episode()",
    "new trajectory_writer": "nowhere.trajectory_writer(1)",
    "load": "client.load('queue', np.arange(9))",
    "sampler": "next(client.sampler('fifo'))",
    "sampler of two workers": "next(client.sampler('fifo', num_workers=2))",
    "sampler of batches": "next(client.sampler('fifo', batch_size=2, timeout=100))",
    "server_info": "nowhere.server_info()",
    "server_info with a timeout": "nowhere.server_info(100)",
    "reset": "nowhere.reset('t')",
    "mutate_priorities": "nowhere.mutate_priorities('t', {1: 1.0})",
    "new writer": "nowhere.writer(1)",
    "insert nowhere": "nowhere.insert([1], {'t': 1.0})",
    "sample nowhere": "next(nowhere.sample('t'))",
}

_CLIENT = """
import sys
import numpy as np
import reverb

client = reverb.Client(sys.argv[1])
nowhere = reverb.Client("localhost:1")
for _ in range(3):
    client.insert([1], {"queue": 1.0})

def writer():
    result = client.writer(1)
    result.append([1])
    result.create_item("queue", 1, 1.0)
    return result

def trajectory_writer():
    result = client.trajectory_writer(1)
    result.append([1])
    result.create_item("queue", 1.0, [result.history[0][:]])
    return result

def structured_writer():
    pattern = reverb.structured_writer.pattern_from_transform([1], lambda ref: {"x": ref[0][-1]})
    result = client.structured_writer(
        [reverb.structured_writer.create_config(pattern, "queue", conditions=())])
    result.append([1])
    return result

def flush():
    writer().flush()

def leave():
    with writer():
        pass
"""


def _start(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _interrupt(process, seconds=3.0):
    """Sends SIGINT once the process says that it is ready; what it says next, and its errors.

    The answer has to come within `seconds`; the process may take longer to end,
    since writers that were dropped get some time to send their items.
    """
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(0.3)  # into the call; earlier would be interrupted just as well
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    line = process.stdout.readline()
    assert time.monotonic() - begin < seconds
    _, errors = process.communicate(timeout=30)
    return line, errors


@pytest.mark.parametrize("call", _BLOCKED.values(), ids=_BLOCKED.keys())
def test_ctrl_c_ends_a_blocked_call(own_server, call):
    program = (
        _CLIENT
        + f"""
import time
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    )
    output, errors = _interrupt(_start(program, own_server.address))
    assert output == "interrupted\n"
    # A writer's item that the full queue never took is lost, which is said.
    lost = "writer" in call or "flush" in call or "leave" in call
    assert errors == "" or (lost and "1 items of a writer" in errors)


def test_ctrl_c_in_process():
    program = (
        TABLES
        + """
server = reverb.Server(tables)
client = server.localhost_client()
print("ready", flush=True)
try:
    next(client.sample("fifo"))
except KeyboardInterrupt:
    client.insert([1], {"fifo": 1.0})
    next(client.sample("fifo"))
    print("usable", flush=True)
"""
    )
    output, errors = _interrupt(_start(program))
    assert (output, errors) == ("usable\n", "")


def test_ctrl_c_in_wait_leaves_a_usable_server():
    program = (
        TABLES
        + """
import signal
server = reverb.Server(tables)
handler = signal.getsignal(signal.SIGINT)
print("ready", flush=True)
try:
    server.wait()
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is handler
    server.localhost_client().insert([1], {"fifo": 1.0})
    print(tables[1].info.current_size, flush=True)
    server.stop()
    assert server.wait() is None
"""
    )
    output, errors = _interrupt(_start(program))
    assert (output, errors) == ("1\n", "")


_SAMPLING = "next(client.sample('fifo'))"
_INSERTING = "client.insert([1], {'queue': 1.0})"


@pytest.mark.parametrize("call", [_SAMPLING, _INSERTING])
@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_blocked_call_ends_with_the_server(own_server, call, end):
    client = reverb.Client(own_server.address, reconnect_timeout=0.5)
    for _ in range(3):
        client.insert([1], {"queue": 1.0})
    failures = []
    running = threading.Event()

    def work():
        running.set()
        try:
            eval(call)
        except RuntimeError as error:
            failures.append(error)

    namespace_thread = threading.Thread(target=work)
    globals()["client"] = client  # for eval
    namespace_thread.start()
    running.wait()
    client.server_info()
    getattr(own_server, end)()
    namespace_thread.join(20)
    assert not namespace_thread.is_alive()
    assert isinstance(failures[0], reverb.UnavailableError)


def test_a_client_outlives_its_server(own_server, start_server):
    client = reverb.Client(own_server.address)
    client.insert([1], {"fifo": 1.0})
    own_server.kill()
    begin = time.monotonic()
    start_server(TABLES, own_server.port)
    client.insert([2], {"fifo": 1.0})
    assert int(next(client.sample("fifo"))[0].data[0]) == 2
    assert time.monotonic() - begin < 15


_EXITS = {
    "nothing used": "",
    "objects in globals": """
        server = reverb.Server(tables)
        client = server.localhost_client()
        client.insert([1], {"fifo": 1.0})
        samples = client.sample("fifo", 100)
        next(samples)
        writer = client.writer(3)
        writer.append([1])
        writer.create_item("fifo", 1, 1.0)
        """,
    "remote objects in globals": """
        client = reverb.Client(address)
        client.insert([1], {"fifo": 1.0})
        samples = client.sample("fifo", 100)
        next(samples)
        writer = client.writer(3)
        writer.append([1])
        """,
    "daemon threads in blocked calls": """
        server = reverb.Server(tables)
        local = server.localhost_client()
        remote = reverb.Client(address)
        nowhere = reverb.Client("localhost:1")
        for client in (local, remote):
            for _ in range(3):
                client.insert([1], {"queue": 1.0})
        local.reset("fifo")
        remote.reset("fifo")
        for call in (
            server.wait,
            lambda: next(local.sample("fifo")),
            lambda: next(remote.sample("fifo")),
            lambda: local.insert([1], {"queue": 1.0}),
            lambda: remote.insert([1], {"queue": 1.0}),
            lambda: nowhere.reset("fifo"),
        ):
            def run(call=call):
                try:
                    call()
                except Exception:
                    pass
            threading.Thread(target=run, daemon=True).start()
        time.sleep(0.5)
        """,
    "busy daemon threads": """
        server = reverb.Server(tables)
        for client in (server.localhost_client(), reverb.Client(address)):
            client.insert([1], {"fifo": 1.0})
            def run(client=client):
                try:
                    while True:
                        next(client.sample("fifo"))
                        client.insert([1], {"fifo": 1.0})
                except Exception:
                    pass
            for _ in range(2):
                threading.Thread(target=run, daemon=True).start()
        time.sleep(0.3)
        """,
    "sys.exit in a with block": """
        server = reverb.Server(tables)
        with server.localhost_client().writer(1) as writer:
            writer.append([1])
            writer.create_item("fifo", 1, 1.0)
            sys.exit(0)
        """,
    "use in an atexit handler": """
        import atexit
        server = reverb.Server(tables)
        client = server.localhost_client()
        atexit.register(lambda: client.insert([1], {"fifo": 1.0}))
        """,
    "server dropped while served": """
        server = reverb.Server(tables)
        client = server.localhost_client()
        samples = client.sample("fifo")
        del server
        """,
    "reference cycle": """
        class Holder: pass
        holder = Holder()
        holder.self = holder
        holder.server = reverb.Server(tables)
        holder.client = holder.server.localhost_client()
        del holder
        """,
}


@pytest.mark.parametrize("program", _EXITS.values(), ids=_EXITS.keys())
def test_exit_in_any_state_is_quick_and_quiet(server, program):
    program = (
        TABLES
        + "import sys, threading, time\naddress = sys.argv[1]\n"
        + textwrap.dedent(program)
        + "\nprint('end', flush=True)\n"
    )
    begin = time.monotonic()
    result = run_python(program, server.address, timeout=30)
    assert (result.returncode, result.stderr) == (0, "")
    assert time.monotonic() - begin < 20


def test_a_child_forked_from_a_user_is_refused(server):
    result = run_python(
        TABLES
        + """
import os, sys
server = reverb.Server(tables)
clients = [server.localhost_client(), reverb.Client(sys.argv[1])]
for client in clients:
    client.insert([1], {"fifo": 1.0})
writer = clients[1].writer(1)
samples = clients[1].sample("fifo", 100)
next(samples)
if (pid := os.fork()) == 0:
    refused = 0
    for call in (
        lambda: clients[0].insert([1], {"fifo": 1.0}),
        lambda: clients[1].insert([1], {"fifo": 1.0}),
        lambda: next(clients[1].sample("fifo")),
        lambda: next(samples),
        lambda: writer.append([1]),
        lambda: clients[0].server_info(),
        server.stop,
        server.wait,
        lambda: reverb.Client(sys.argv[1]).insert([1], {"fifo": 1.0}),
        lambda: reverb.Server([reverb.Table.queue("q", 1)]),
    ):
        try:
            call()
        except reverb.FailedPreconditionError as error:
            assert "spawn" in str(error)
            refused += 1
    print(refused, flush=True)
    sys.exit(0)  # runs destructors and exit handlers
_, status = os.waitpid(pid, 0)
assert status == 0, status
for client in clients:
    client.insert([1], {"fifo": 1.0})
writer.append([1])
next(samples)
print("parent works", flush=True)
""",
        server.address,
        timeout=40,
    )
    assert result.stdout == "10\nparent works\n", result.stderr
    assert (result.returncode, result.stderr) == (0, "")


def test_a_child_of_a_parent_that_only_imported_works(server):
    result = run_python(
        """
import os, sys
import reverb
for _ in range(2):
    if (pid := os.fork()) == 0:
        client = reverb.Client(sys.argv[1])
        client.insert([1], {"fifo": 1.0})
        server = reverb.Server([reverb.Table.queue("q", 1)])
        server.localhost_client().insert([1], {"q": 1.0})
        print(next(client.sample("fifo"))[0].info.key, flush=True)
        client.reset("fifo")
        sys.exit(0)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status
""",
        server.address,
        timeout=40,
    )
    assert (result.returncode, result.stderr) == (0, "")
    keys = result.stdout.split()
    assert len(set(keys)) == 2


@pytest.mark.parametrize(
    "imports",
    [
        "import reverb, grpc",
        "import grpc, reverb",
        "import google.protobuf.descriptor_pb2, grpc, reverb",
        "import reverb, google.protobuf.struct_pb2, google.protobuf.timestamp_pb2, grpc",
    ],
)
def test_grpcio_and_protobuf_share_the_process(server, imports):
    result = run_python(
        f"""
{imports}
import sys
server = reverb.Server([reverb.Table.queue("q", 10)])
client = reverb.Client(sys.argv[1])
for _ in range(3):
    client.insert([1], {{"fifo": 1.0}})
    next(client.sample("fifo"))
    channel = grpc.insecure_channel(f"localhost:{{server.port}}")
    call = channel.unary_unary("/deepmind.reverb.ReverbService/ServerInfo")
    info = call(b"", wait_for_ready=True)
    assert b"q" in info
    channel.close()
from google.protobuf import timestamp_pb2
assert timestamp_pb2.Timestamp(seconds=1).SerializeToString() == b"\\x08\\x01"
client.server_info()["fifo"].sampler_options.HasField("fifo")
""",
        server.address,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
