"""How figures of a history are written, in tables and on pages alike."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from grader.history.progress import Skill
from grader.history.remedies import Remedy
from grader.workbook import units

SHOWN_WEAK = 8
"""So many weak points are shown: more is no plan."""


def percent(share: float | None) -> str:
    """A share as points of a hundred; a dash where nothing was asked."""
    return units.NOTHING if share is None else f"{100 * share:.0f}"


def change(skill: Skill) -> str:
    """Against four weeks ago: +12, 0; "" where there is nothing to compare with."""
    if skill.change is None:
        return ""
    points = round(100 * skill.change)
    return f"{points:+}" if points else "0"


def place(remedy: Remedy) -> str:
    """A rung's file, or a notebook with its section."""
    return f"{remedy.file}: {remedy.section}" if remedy.section else remedy.file


def hours(seconds: float) -> str:
    """How long somebody practised: 40 min, 3.5 h."""
    return f"{max(1, seconds / 60):.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def day(moment: date) -> str:
    """A date as it is read: 2 Nov 2026."""
    return f"{moment.day} {moment:%b %Y}"


def ago(moment: datetime, now: datetime) -> str:
    """A day before today: today, yesterday, 5 days ago."""
    days = (now.date() - moment.astimezone(now.tzinfo).date()) // timedelta(days=1)
    return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")
