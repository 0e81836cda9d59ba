# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0

import pytest

import reverb
from tests.integration._server_process import ServerProcess


@pytest.fixture(scope="session")
def _shared_server():
    server = ServerProcess()
    yield server
    server.close()


@pytest.fixture
def server(_shared_server):
    """A server in another process, its tables empty."""
    client = reverb.Client(_shared_server.address)
    for table in ("uniform", "fifo", "prioritized", "queue", "signed"):
        client.reset(table)
    return _shared_server


@pytest.fixture
def client(server):
    return reverb.Client(server.address)


@pytest.fixture
def own_server():
    """A server in another process that the test may stop or kill."""
    server = ServerProcess()
    yield server
    server.close()


@pytest.fixture
def start_server():
    """Starts more of them: `start_server(setup, port)`."""
    servers = []

    def start(*args, **kwargs):
        servers.append(ServerProcess(*args, **kwargs))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def _programs_server():
    tables = [
        reverb.Table.queue("queue", 10_000),
        reverb.Table.queue("other", 10_000),
        reverb.Table.queue("signed", 10_000, signature=reverb.TensorSpec((None,), "int64")),
    ]
    with reverb.Server(tables) as server:
        yield server


@pytest.fixture(scope="session", params=["remote", "in-process"])
def programs_client(_programs_server, request):
    """Of a server in this process with the tables of `writer_programs`."""
    client = _programs_server.localhost_client()
    if request.param == "remote":
        address = f"localhost:{_programs_server.port}"
        client._client = reverb._core.Client(address, allow_in_process=False)
    return client
