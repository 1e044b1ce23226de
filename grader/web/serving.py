"""The server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import queue
import secrets
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from grader.errors import WarpladderError
from grader.web.guard import Guard

ADDRESS = "127.0.0.1"
STOPS_WITHIN_S = 3.0
STATIC = Path(__file__).parent / "static"

T = TypeVar("T")


class Aside(Protocol):
    """Has something done without keeping the event loop from its requests."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True)
class Site:
    """What a product serves."""

    routes: Sequence[Route]
    static: Path  # a folder of its own, at /own
    ending: Callable[[], None]  # called when the server is to end: no request is to wait any more
    close: Callable[[], None] = lambda: None  # called once none comes any more

    def application(self, hosts: Collection[str], token: str) -> Starlette:
        """For browsers that name one of `hosts` and know the token."""
        folders = {"/static": STATIC, "/own": self.static}
        mounts = [Mount(path, StaticFiles(directory=folder)) for path, folder in folders.items()]
        guard = Middleware(Guard, hosts=hosts, token=token)
        return Starlette(routes=[*self.routes, *mounts], middleware=[guard])


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


def serve(opens: Callable[[Aside], Site], port: int, opened: Callable[[str], None]) -> None:
    """Serve a site until Ctrl-C; `opened` is called with its address. A port of 0 is any that is free.

    Requests are answered on a thread of their own. Raises WarpladderError where the port is taken.
    """
    listening, main = _listen(port), MainThread()
    site = opens(main.do)
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
    config = uvicorn.Config(
        site.application(hosts, token), log_config=None, access_log=False, server_header=False, ws="none"
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
        site.ending()
        server.should_exit = True
        thread.join(STOPS_WITHIN_S)
        site.close()


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
