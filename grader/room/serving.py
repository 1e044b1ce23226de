"""The server on 127.0.0.1: requests on a thread of their own, sittings on the main one, as in a terminal."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
from collections.abc import Callable

import uvicorn

from grader.errors import WarpladderError
from grader.room.app import application
from grader.room.room import Room

ADDRESS = "127.0.0.1"
STOPS_WITHIN_S = 3.0


def serve(room: Room, port: int, opened: Callable[[str], None]) -> None:
    """Serve a room until Ctrl-C; `opened` is called with its address. A port of 0 is any that is free.

    The judge and the compiler see the main thread, and Ctrl-C reaches the interviewer as it does in a terminal: what
    was typed is kept. Raises WarpladderError where the port is taken.
    """
    listening = _listen(port)
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
    config = uvicorn.Config(
        application(room, hosts, token), log_config=None, access_log=False, server_header=False, ws="none"
    )
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    opened(f"http://{ADDRESS}:{port}/?token={token}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who ends it otherwise keeps as much
    try:
        room.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.should_exit = True
        room.candidate.touch()  # what waits for news has some
        thread.join(STOPS_WITHIN_S)


def _listen(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen()  # a browser that comes before the server has begun waits for it
    except OSError as error:
        remedy = "choose another with --port, or leave --port out"
        raise WarpladderError(f"port {port} cannot be used: {error.strerror}", remedy=remedy) from None
    return found
