"""The server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import queue
import secrets
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import uvicorn

from grader.errors import WarpladderError
from grader.room.app import application
from grader.room.room import Aside, Room

ADDRESS = "127.0.0.1"
STOPS_WITHIN_S = 3.0

T = TypeVar("T")


class MainThread:
    """What takes time is done here, one after the other: the judge and the compiler see the main thread."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()

    async def do(self, call: Callable[[], T]) -> T:
        """Have something done, and wait for what it returns, or raises."""
        result: Future[T] = Future()
        self._waiting.put((result, call))
        return await asyncio.wrap_future(result)

    def work(self) -> None:
        """Do what is asked for, until KeyboardInterrupt."""
        while True:
            result, call = self._waiting.get()
            try:
                result.set_result(call())
            except Exception as error:
                result.set_exception(error)


def serve(open_room: Callable[[Aside], Room], port: int, opened: Callable[[str], None]) -> None:
    """Serve a room until Ctrl-C; `opened` is called with its address. A port of 0 is any that is free.

    Requests are answered on a thread of their own. Raises WarpladderError where the port is taken.
    """
    listening, main = _listen(port), MainThread()
    room = open_room(main.do)
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
        main.work()
    except KeyboardInterrupt:
        pass
    finally:
        server.should_exit = True
        thread.join(STOPS_WITHIN_S)
        room.close()


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
