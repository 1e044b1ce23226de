"""What a browser asks of the page to learn on, and what its forms send."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.errors import WarpladderError
from grader.learn import pages
from grader.learn.desk import Desk
from grader.learn.way import here
from grader.web.forms import form, whole
from grader.web.serving import Site

PATIENCE_S = 20.0
"""A request for changes of a file waits so long."""

FRAGMENT = "x-learn"
"""The header by which the page's script asks for the parts that change."""


def site(desk: Desk) -> Site:
    """What a desk serves."""
    requests = Requests(desk)
    routes = [
        Route("/", requests.door),
        Route("/at/{name}", requests.page),
        Route("/picture/{name}.svg", requests.picture),
        Route("/changed/{name}", requests.changed),
        Route("/grade/{name}", requests.grade, methods=["POST"]),
        Route("/keep/{name}", requests.keep, methods=["POST"]),
        Route("/hint/{name}", requests.hint, methods=["POST"]),
        Route("/style.css", requests.style),
    ]
    return Site(routes, Path(__file__).parent / "static", desk.ending)


class Requests:
    """What each address does."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def door(self, request: Request) -> Response:
        """To where the learner goes on."""
        return RedirectResponse(f"/at/{here(self.desk.way()).name}", 303)

    async def page(self, request: Request) -> Response:
        """A stop of the way, at a section of its lesson."""
        return self._whole(request, self._name(request))

    async def style(self, request: Request) -> Response:
        """The style sheet."""
        return Response(pages.style(), media_type="text/css")

    async def picture(self, request: Request) -> Response:
        """What the kernel accesses that was judged last; an exercise's solution, where that is asked for."""
        name, asked = self._name(request), request.query_params
        found = await self.desk.solved(name) if "solved" in asked else self.desk.accessed(name)
        if found is None:
            raise HTTPException(404, "There is no picture yet.")
        drawn = pages.picture(found, self.desk.file(name).name, "narrow" in asked)
        policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return Response(drawn, media_type="image/svg+xml", headers=policy)

    async def changed(self, request: Request) -> Response:
        """What is in the file, once it is another than the browser has; 204 where it is not."""
        name, seen = self._name(request), request.query_params.get("seen", "")
        if not await self.desk.changed(name, seen, PATIENCE_S):
            return Response(status_code=204)
        try:
            return JSONResponse({"stamp": self.desk.stamp(name), "source": self.desk.source(name)})
        except WarpladderError:  # which is told where it is to be judged
            return Response(status_code=204)

    async def keep(self, request: Request) -> Response:
        """What is typed so far: the file's new stamp, or 409 where it has been changed elsewhere."""
        name, sent = self._name(request), await form(request)
        try:
            self.desk.write(name, sent.get("typed", ""), sent.get("seen", ""))
        except WarpladderError as error:
            return JSONResponse({"complaint": str(error)}, 409)
        return JSONResponse({"stamp": self.desk.stamp(name)})

    async def grade(self, request: Request) -> Response:
        """A verdict on what was typed."""
        name, sent = self._name(request), await form(request)
        complaint = ""
        try:
            await self.desk.grade(name, sent.get("typed", ""), sent.get("seen", ""))
        except WarpladderError as error:
            complaint = str(error)
        return self._following(request, name, complaint)

    async def hint(self, request: Request) -> Response:
        """One more hint."""
        name = self._name(request)
        await form(request)
        self.desk.tell_hint(name)
        return self._following(request, name)

    def _following(self, request: Request, name: str, complaint: str = "") -> Response:
        """For the page's script the parts that change, for a browser without it the page."""
        if FRAGMENT in request.headers:
            return HTMLResponse(pages.parts(self.desk, name, complaint))
        if complaint:
            return self._whole(request, name, complaint)
        return RedirectResponse(f"/at/{name}", 303)

    def _whole(self, request: Request, name: str, complaint: str = "") -> Response:
        """The whole page; where the file cannot be shown, why."""
        try:
            return HTMLResponse(pages.whole(self.desk, name, _section(request), complaint))
        except WarpladderError as error:
            return PlainTextResponse(f"{error}\n", 422)

    def _name(self, request: Request) -> str:
        name = request.path_params["name"]
        if name not in self.desk.exercises and name not in self.desk.ladders:
            raise HTTPException(404, "There is no exercise and no ladder of that name.")
        return str(name)


def _section(request: Request) -> int:
    return whole(request.query_params.get("section", ""), 3) or 0
