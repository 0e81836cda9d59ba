# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
"""The command reverb_server: a server whose tables a text message describes.

The text is a `ReverbServerConfig`, for example `port: 8000 tables { table_name: "queue" ... }`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from absl import app, flags, logging

from reverb.server_executable import reverb_config_pb2, server_from_proto

_CONFIG = flags.DEFINE_string(
    "config", None, "The ReverbServerConfig in protobuf's text format (the text, not a file name)."
)


def main(argv: Sequence[str]) -> None:
    """Starts the server and waits until it is stopped."""
    from google.protobuf import text_format

    from reverb import errors, server

    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    config = text_format.Parse(_CONFIG.value or "", reverb_config_pb2.ReverbServerConfig())
    if not config.tables:
        raise errors.InvalidArgumentError("the configuration has no tables")
    running = server.Server(
        tables=server_from_proto.tables_from_proto(config.tables), port=config.port
    )
    print(
        f"reverb_server listens on port {running.port} on all interfaces, without credentials",
        file=sys.stderr,
        flush=True,
    )
    logging.info("Server started.")
    running.wait()


def app_run_main() -> None:
    """Entry point of the command."""
    # Parts of absl are typed in some of its versions only.
    untyped_flags: Any = flags
    untyped_app: Any = app
    untyped_flags.mark_flag_as_required("config")
    untyped_app.run(main)


if __name__ == "__main__":
    app_run_main()
