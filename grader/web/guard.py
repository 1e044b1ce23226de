"""Who may talk to the server: a browser on this machine that was given the token, and its own pages alone."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE_AGE_S = 30 * 24 * 3600
LONGEST_BODY = 1 << 20
"""Bytes of a request: a kernel is some kB."""

HEADERS = {
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer, browsers send forms with the origin `null`.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

STRANGER = "Open the address that `ladder` has printed: it has a token in it.\n"


class Guard:
    """Refuses what does not come from the server's own pages, and adds headers to what does.

    A page elsewhere can send requests here; it cannot choose their Host (against DNS rebinding) nor their Origin
    (against forged forms), and does not know the token, which a SameSite cookie keeps.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str) -> None:
        """`hosts` as browsers send them: 127.0.0.1:8000."""
        self.app = app
        self.hosts = hosts
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None
        request = Request(scope)
        refused, entering = self._refused(request), False
        if refused is None:
            known, entering = self._known(request)
            refused = None if known or entering else PlainTextResponse(STRANGER, 403)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if entering:
                    headers.append("set-cookie", self._cookie(request))
            await send(message)

        return await (refused or self.app)(scope, receive, sent)

    def _refused(self, request: Request) -> PlainTextResponse | None:
        host = request.headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse("This server is on 127.0.0.1 alone.\n", 403)
        if request.method not in ("GET", "HEAD") and request.headers.get("origin") != f"http://{host}":
            return PlainTextResponse("This was not sent by a page of this server.\n", 403)
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            return PlainTextResponse("This is too long.\n", 413)
        return None

    def _known(self, request: Request) -> tuple[bool, bool]:
        """Whether the browser has the cookie, and whether it comes with the token instead."""
        kept = request.cookies.get(self._name(request), "")
        given = request.query_params.get("token", "") if request.url.path == "/" else ""
        return self._fits(kept), self._fits(given)

    def _fits(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())

    def _name(self, request: Request) -> str:
        """The cookie's: one browser may have several servers, and cookies do not know ports."""
        return f"ladder-{request.url.port}"

    def _cookie(self, request: Request) -> str:
        return (
            f"{self._name(request)}={self.token}; Max-Age={COOKIE_AGE_S}; Path=/; HttpOnly; SameSite=Strict"
        )
