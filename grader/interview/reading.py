"""What every TOML file of the interviews is read with: texts that say something, lists that are long enough."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from grader.errors import WarpladderError
from grader.history.outcomes import LEVELS as LEVELS
from grader.history.outcomes import Level as Level
from grader.workbook.expressions import nearest
from grader.workbook.strict_toml import Table

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""What questions and drills are called: fast-math, all-reduce."""


@dataclass(frozen=True)
class Source:
    """Where a fact comes from."""

    title: str
    url: str  # http or https, or a path from the file's folder
    line: int  # of the file


def prose(table: Table, key: str) -> str:
    """A text that says something."""
    text = table.get(key, str).strip()
    if not text or "TODO" in text:
        raise table.error(f"`{key}` is not written yet", key)
    return text


def at_least(count: int, table: Table, name: str) -> tuple[Table, ...]:
    """The tables under `[[name]]`; raises WarpladderError where there are fewer than `count`."""
    found = table.tables(name)
    if len(found) < count:
        message = f"there are {len(found)} of `{name}`, and {count} are needed"
        raise table.error(message, remedy=f"write another [[{name}]]")
    return found


def known_level(text: str) -> Level:
    """A level by its name; raises WarpladderError for another."""
    for known in LEVELS:
        if text == known:
            return known
    raise WarpladderError(
        f"{text!r} is no level{nearest(text, LEVELS)}", remedy=f"one of {', '.join(LEVELS)}"
    )


def level(table: Table) -> Level:
    """For whom it is."""
    try:
        return known_level(table.get("level", str))
    except WarpladderError as error:
        raise table.error(error.message, "level", error.remedy) from None


def as_of(table: Table) -> datetime.date:
    """Until when its facts were looked up."""
    return table.get("as_of", datetime.date)


def builds_on(table: Table) -> tuple[str, ...]:
    """The names of questions that come before; that there are such is for checks to say."""
    found = table.names("builds_on")
    for name in found:
        if not NAME.fullmatch(name):
            raise table.error(
                f"`builds_on` names {name!r}", "builds_on", "a question's name: memory-hierarchy"
            )
    return found


def sources(table: Table) -> tuple[Source, ...]:
    """Where facts come from: one at least."""
    return tuple(_source(item) for item in at_least(1, table, "source"))


def _source(table: Table) -> Source:
    table.allow("title", "url")
    url = table.get("url", str)
    parts = urlsplit(url)
    on_the_web = parts.scheme in ("http", "https") and "." in parts.netloc and " " not in url
    if not on_the_web and (parts.scheme or not url.strip()):
        raise table.error(f"`url` is {url!r}", "url", "write https://…, or a path from this file's folder")
    return Source(prose(table, "title"), url, table.line("url"))
