"""TOML read strictly: bad syntax, unknown keys and wrong types name file, line and remedy."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from grader.errors import WarpladderError
from grader.workbook.expressions import Expression, ExpressionError, nearest, parse

T = TypeVar("T")

_WORDS = {
    str: "a string", int: "an integer", float: "a number", bool: "true or false", dict: "a table",
    datetime.date: "a date, such as 2026-11-01, without quotes",
}  # fmt: skip


class Table:
    """One table of a TOML text, knowing where it stands.

    `lines` is the whole text, whose first line is line `first_line` of `file`. `section` is its header and
    how often that came before, since the parent's own header: ("launch", 1) is the second [[launch]]; the top
    level is ("", 0), without a parent.
    """

    def __init__(
        self,
        values: dict[str, Any],
        file: Path,
        lines: list[str],
        first_line: int,
        section: tuple[str, int] = ("", 0),
        parent: Table | None = None,
    ) -> None:
        self.values = values
        self.file = file
        self._lines = lines
        self._first_line = first_line
        self._section = section
        self._parent = parent

    def error(self, message: str, key: str | None = None, remedy: str | None = None) -> WarpladderError:
        """An error at `key`, or at the table's own header."""
        return WarpladderError(message, file=self.file, line=self.line(key), remedy=remedy)

    def line(self, key: str | None = None) -> int:
        """The line of the file where `key`, or else the table, begins."""
        headings = self._headings
        start = self._start(headings)
        following = [
            number for number in headings if number > start or (number == 0 and self._parent is None)
        ]
        if key:
            own = range(start, min(following, default=len(self._lines)))
            for number in own:
                if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", self._lines[number]):
                    return self._first_line + number
        return self._first_line + start

    def _start(self, headings: Mapping[int, str]) -> int:
        """The index of the table's header, or of its key where it stands in braces, among the lines; 0 for the top
        level."""
        if self._parent is None:
            return 0
        name, index = self._section
        above = self._parent._start(headings)
        own = [number for number, heading in headings.items() if heading == name and number >= above]
        return (
            own[index] if index < len(own) else self._parent.line(name.rpartition(".")[2]) - self._first_line
        )

    @cached_property
    def _headings(self) -> dict[int, str]:
        """The table names in [brackets] by index of their line; lines of multi-line strings are none."""
        if self._parent is not None:
            return self._parent._headings
        found: dict[int, str] = {}
        inside = False
        for number, text in enumerate(self._lines):
            if not inside and (heading := re.match(r"\s*\[{1,2}([^\]]*)\]", text)):
                found[number] = heading[1].strip()
            inside ^= text.count('"""') % 2 == 1
        return found

    def allow(self, *keys: str) -> None:
        """Raise for any key that is not among `keys`."""
        for key in self.values:
            if key not in keys:
                remedy = f"the keys here are {', '.join(keys)}"
                raise self.error(f"unknown key `{key}`{nearest(key, keys)}", key, remedy)

    def get(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of `key`; raises where it is of another type, or absent and without default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(f"`{key}` is missing", remedy=f"add {key} = …, {_WORDS[kind]}")
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self.error(f"`{key}` is {value!r}, not {_WORDS[kind]}", key)
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """A list of strings, () where absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"`{key}` is {value!r}, not a list of names", key, f'write {key} = ["A", "B"]')
        return tuple(value)

    def expression(self, key: str, default: str | int | None = None) -> Expression:
        """An expression: a string, or an integer without quotes."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(f"`{key}` is missing", remedy=f'add {key} = "…", an expression')
        return self._parse(key, value)

    def expressions(self, key: str, default: list[str | int] | None = None) -> tuple[Expression, ...]:
        """A list of expressions, such as grid = ["cdiv(N, 32)", 1]."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(f"`{key}` is missing", remedy=f'add {key} = ["…", "…"], a list of expressions')
        if not isinstance(value, list) or not value:
            raise self.error(f"`{key}` is {value!r}, not a list", key, remedy=f"write {key} = [{value!r}]")
        return tuple(self._parse(key, item) for item in value)

    def tables(self, name: str) -> tuple[Table, ...]:
        """The tables under `[[name]]`, () where there are none."""
        value = self.values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(f"`{name}` is not a list of tables", name, f"write [[{name}]] above its keys")
        return tuple(self._below(item, name, index) for index, item in enumerate(value))

    def table(self, name: str) -> Table:
        """The table under `[name]`, or `[this.name]` below the top level."""
        return self._below(self.get(name, dict), name)

    def below(self, name: str) -> Table:
        """The same, empty where absent."""
        return self._below(self.get(name, dict, {}), name)

    def _below(self, values: dict[str, Any], name: str, index: int = 0) -> Table:
        full = f"{self._section[0]}.{name}" if self._section[0] else name
        return Table(values, self.file, self._lines, self._first_line, (full, index), self)

    def _parse(self, key: str, value: object) -> Expression:
        if type(value) not in (str, int):
            raise self.error(f"`{key}`: {value!r} is neither a string nor an integer", key)
        try:
            return parse(value)
        except ExpressionError as error:
            raise self.error(f"`{key}`: {error}", key) from None


def read(lines: Iterable[str], file: Path, first_line: int = 1) -> Table:
    """Parse TOML whose first line is line `first_line` of `file`; raises WarpladderError."""
    kept = list(lines)
    remedy = 'one `key = value` a line, names and expressions in quotes: grid = ["cdiv(N, 256)"]'
    try:
        return Table(tomllib.loads("\n".join(kept)), file, kept, first_line)
    except tomllib.TOMLDecodeError as error:
        text, place = str(error), re.search(r" \(at line (\d+), column \d+\)", str(error))
        line = first_line + (int(place[1]) if place else len(kept)) - 1
        message = f"this is not TOML: {text[: place.start()] if place else text}"
    except RecursionError:
        line, message = first_line, "lists or tables lie too deep in each other"
    except ValueError as error:  # a number too long to read, a date that there is not
        line, message = _first_bad(kept, first_line), f"this is not TOML: {error}"
    raise WarpladderError(message, file=file, line=line, remedy=remedy)


def _first_bad(lines: list[str], first_line: int) -> int:
    """The line with whose addition the text has a value that Python cannot hold."""
    for number in range(len(lines)):
        try:
            tomllib.loads("\n".join(lines[: number + 1]))
        except tomllib.TOMLDecodeError:
            continue  # it goes on in the next line
        except ValueError:
            return first_line + number
    return first_line
