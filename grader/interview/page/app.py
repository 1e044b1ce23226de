"""The room's requests: what a browser asks for, and what its forms send."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.interview.page import pages, sittings
from grader.interview.page.room import Room
from grader.interview.page.sittings import Wanted
from grader.web.forms import form, whole
from grader.web.serving import Site

PATIENCE_S = 20.0
"""A request for news waits so long."""

FRAGMENT = "x-room"
"""The header by which the page's script asks for the part that changes."""


def site(room: Room) -> Site:
    """What a room serves."""
    requests = Requests(room)
    routes = [
        Route("/", requests.page),
        Route("/news", requests.news),
        Route("/begin", requests.begin, methods=["POST"]),
        Route("/resume", requests.resume, methods=["POST"]),
        Route("/answer", requests.answer, methods=["POST"]),
        Route("/draft", requests.draft, methods=["POST"]),
        Route("/leave", requests.leave, methods=["POST"]),
        Route("/door", requests.door, methods=["POST"]),
        Route("/style.css", requests.style),
    ]
    return Site(routes, Path(__file__).parent / "static", room.ending, room.close)


class Requests:
    """What each address does."""

    def __init__(self, room: Room) -> None:
        self.room = room

    async def page(self, request: Request) -> Response:
        """The whole page."""
        return HTMLResponse(pages.whole(self.room))

    async def style(self, request: Request) -> Response:
        """The style sheet."""
        return Response(pages.style(), media_type="text/css")

    async def news(self, request: Request) -> Response:
        """What changes of the page, once it differs from what the browser has; 204 where it does not."""
        seen = whole(request.query_params.get("seen", ""), 17)
        if seen is not None and not await self.room.changed(seen, PATIENCE_S):
            return Response(status_code=204)
        return HTMLResponse(pages.stage(self.room))

    async def begin(self, request: Request) -> Response:
        """A new sitting."""
        sent = await form(request)
        wanted = Wanted(
            what=sent.get("what", ""),
            topic=sent.get("topic", ""),
            level=sent.get("level", ""),
            style=sent.get("style", ""),
            count=whole(sent.get("count", ""), 3) or 0,
        )
        room = self.room
        await room.begin(lambda: sittings.begin(wanted, room.library, room.folder, room.judge))
        return self._following(request)

    async def resume(self, request: Request) -> Response:
        """A sitting that was broken off."""
        name, room = (await form(request)).get("name", ""), self.room
        await room.begin(lambda: sittings.resume(name, room.library, room.folder, room.judge))
        return self._following(request)

    async def answer(self, request: Request) -> Response:
        """An answer; one to a question that is not open any more changes nothing."""
        sent = await form(request)
        await self.room.answer(_number(sent), sent.get("do", ""), sent.get("typed", ""))
        return self._following(request)

    async def draft(self, request: Request) -> Response:
        """What is typed so far: 204 once it is written, 200 where it was for a question that is not open any more."""
        sent = await form(request)
        written = await self.room.draft(_number(sent), sent.get("typed", ""))
        return Response(status_code=204 if written else 200)

    async def leave(self, request: Request) -> Response:
        """The sitting is broken off, and kept."""
        await self.room.leave()
        return self._following(request)

    async def door(self, request: Request) -> Response:
        """From a card back to the first page."""
        self.room.to_the_door()
        return self._following(request)

    def _following(self, request: Request) -> Response:
        """What comes next: for the page's script what changes, for a browser without it the page."""
        if FRAGMENT in request.headers:
            return HTMLResponse(pages.stage(self.room))
        return RedirectResponse("/", 303)


def _number(sent: dict[str, str]) -> int:
    return whole(sent.get("number", ""), 9) or 0
