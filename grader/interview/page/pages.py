"""The room's pages, from the templates beside this module and the report's."""

from __future__ import annotations

from functools import cache

import jinja2

from grader.errors import WarpladderError
from grader.history.schedule import GOOD
from grader.interview.loops import loop, plan
from grader.interview.loops.library import Library
from grader.interview.page import sittings
from grader.interview.page.room import Room
from grader.interview.page.view import View
from grader.interview.reading import LEVELS
from grader.interview.reports import interviews, sheets
from grader.interview.reports import loop as loops
from grader.interview.reports.history import words
from grader.report import pages
from grader.report.rendering import environment


def whole(room: Room) -> str:
    """The page as a browser opens it."""
    return _render("room.html.j2", room)


def stage(room: Room) -> str:
    """What changes of it."""
    return _render("stage.html.j2", room)


@cache
def style() -> str:
    """The style sheet."""
    return _environment().get_template("room.css.j2").render()


def _render(template: str, room: Room) -> str:
    values: dict[str, object] = {"room": room, "ended": room.ended, "view": View.of(room)}
    if room.sat is not None:
        values |= {"screen": "sitting", "title": room.sat.title}
    elif room.ended is not None:
        values |= {"screen": "ended", "title": room.ended.title}
    else:
        values |= {"screen": "door", "title": "Ladder room", **_door(room)}
    return _environment().get_template(template).render(**values)


def _door(room: Room) -> dict[str, object]:
    """What there is to choose from."""
    library, complaint = room.library, room.refused
    try:
        due = sittings.due(library)
    except WarpladderError as error:
        due, complaint = 0, complaint or error
    return {
        "left": sittings.left(library, room.folder),
        "due": due,
        "complaint": complaint,
        "interviews": list(library.interviews.values()),
        "topics": _asked_of(library),
        "formats": [(name, form.asks, len(library.drills[name])) for name, form in library.formats.items()],
        "questions": len(library.questions),
        "styles": list(plan.discover().values()),
        "levels": LEVELS,
    }


def _asked_of(library: Library) -> list[str]:
    """Topics that there are questions of."""
    asked = {topic for question in library.questions.values() for topic in question.topics}
    return [name for name in library.topics if name in asked]


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {
            **sheets.filters(),
            "kind": lambda entry: type(entry).__name__.lower(),
            "value": interviews.settled,
            "percent": words.percent,
            "day": words.day,
            "clock": _clock,
        },
        {
            "part_of_grade": sheets.graded,
            "part_of_counters": pages.counters,
            "part_of_seen": pages.what_was_seen,
            "not_yet": interviews.not_yet,
            "part_of_card": sheets.card_part,
            "state": loops.state,
            "share_of": loop.share,
            "verdict_of": loop.verdict_of,
            "GOOD": GOOD,
            "rules": interviews.rules,
        },
        ("grader.interview.page", "grader.web"),
    )


def _clock(left_s: float) -> str:
    """Time that is left: 24:35, 1:02:03."""
    minutes, seconds = divmod(max(0, round(left_s)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
