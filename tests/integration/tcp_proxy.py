# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that cuts, stalls and doubles connections."""

from __future__ import annotations

import contextlib
import socket
import threading


class _Connection:
    """One client's connection and ours to the server."""

    def __init__(self, proxy: TcpProxy, client: socket.socket) -> None:
        self._proxy = proxy
        self.client = client
        self.server = socket.create_connection(("127.0.0.1", proxy.target_port))
        # Bytes from the client that still pass before the connection is cut.
        self.bytes_left = proxy.cut_after_bytes
        self._directions = 2
        self._lock = threading.Lock()
        for source, sink, from_client in (
            (self.client, self.server, True),
            (self.server, self.client, False),
        ):
            threading.Thread(
                target=self._run, args=(source, sink, from_client), daemon=True
            ).start()

    def _run(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        self._forward(source, sink, from_client)
        # Closed by the last one that uses them: the system gives the number of a closed socket
        # to the next, whose bytes the other direction would take.
        with self._lock:
            self._directions -= 1
            last = self._directions == 0
        if last:
            self.client.close()
            self.server.close()

    def _forward(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        while True:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                if not self._proxy.keep_server_side:
                    self.close()
                return
            # A stalled direction holds what it has read.
            (self._proxy.to_server if from_client else self._proxy.to_client).wait()
            if from_client and self.bytes_left is not None:
                data, rest = data[: self.bytes_left], data[self.bytes_left :]
                self.bytes_left -= len(data)
            else:
                rest = b""
            try:
                sink.sendall(data)
            except OSError:
                return
            if rest or self.bytes_left == 0:
                self.close()
                return

    def close(self) -> None:
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close_client_side(self) -> None:
        """The client loses the connection; the server doesn't notice."""
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)


class TcpProxy:
    """Forwards connections from `port` to a server on this machine.

    Attributes:
      to_server: Cleared: what clients send is held back.
      to_client: Cleared: what the server sends is held back.
      cut_after_bytes: New connections are cut when that many bytes have come from the client; None
        for never.
      keep_server_side: Whether the server's side stays open when the client's has gone.
    """

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.to_server = threading.Event()
        self.to_client = threading.Event()
        self.to_server.set()
        self.to_client.set()
        self.cut_after_bytes: int | None = None
        self.keep_server_side = False
        self.connections: list[_Connection] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                self.connections.append(_Connection(self, client))
            except OSError:  # the server is away
                client.close()

    def cut(self) -> None:
        """Ends all connections on both sides."""
        for connection in self.connections:
            connection.close()
        self.connections.clear()

    def cut_client_sides(self) -> None:
        """Clients lose their connections, which stay open at the server."""
        self.keep_server_side = True
        for connection in self.connections:
            connection.close_client_side()

    def close(self) -> None:
        self._listener.close()
        self.to_server.set()
        self.to_client.set()
        self.keep_server_side = False
        self.cut()
