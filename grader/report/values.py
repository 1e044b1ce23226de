"""Numbers in prose, computed when a page is made: {value}`sms * warps * 32`, {value}`dram_read | B/s`.

An expression, in the language of launch blocks and claims, and how it is to be written. Names are

    sms, clock_hz, dram_read, …         what devices.toml knows of the H200 and of its compute capability
    A100.sms, RTX4090.l2_bytes, …       the same of another board, by its name without blanks
    registers, max_registers, …         limits that all GPUs have in common, `COMMON`
    roof.dram, roof.fma, …              roofs
    transpose.r03.vs_bound, …           a field of a rung, measured on the H200; where it was not, in the first record
    H100.softmax.r02.time_s, …          the same on another board

The book has further ones, of kernels in its chapters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from grader.analysis import occupancy
from grader.analysis.access import BANKS, LINE, SECTOR
from grader.analysis.devices import DeviceSpec, named
from grader.analysis.roofline import roofs
from grader.errors import WarpladderError
from grader.results import Climb, load
from grader.workbook import expressions, topics, units
from grader.workbook.content import content_root, record_file

BOARD = "H200"

COMMON = {
    "warp": occupancy.WARP,
    "registers": occupancy.REGISTERS,
    "max_registers": occupancy.MAX_REGISTERS,
    "max_threads": occupancy.MAX_BLOCK_THREADS,
    "schedulers": occupancy.QUARTERS,
    "banks": BANKS,
    "sector": SECTOR,
    "line": LINE,
}

FORMATS: dict[str, Callable[[float], str]] = {
    "": lambda value: units.number(value, 3),
    "2": lambda value: units.digits(value, 2),
    "%": lambda value: f"{units.percent(value)} %",
    "s": units.seconds,
    "KiB": lambda value: f"{units.digits(value / 2**10)} KiB",
    "MiB": lambda value: f"{units.digits(value / 2**20)} MiB",
    "MB": lambda value: f"{units.digits(value / 1e6)} MB",
    "GHz": lambda value: f"{units.digits(value / 1e9)} GHz",
    "B/s": lambda value: units.rate(value, "B/s"),
    "FLOP/s": lambda value: units.rate(value, "FLOP/s"),
}


Further = Mapping[str, Callable[[], object]]
"""What else names may begin with, and what has the field that they end with."""


def written(text: str, further: Further | None = None) -> str:
    """The value of `EXPRESSION | FORMAT` in words; raises WarpladderError or ExpressionError."""
    expression, _, form = (part.strip() for part in text.partition("|"))
    if form not in FORMATS:
        raise WarpladderError(
            f"`{form}` is no way to write a number", remedy=f"known are {', '.join(FORMATS)}"
        )
    parsed = expressions.parse(expression)
    return FORMATS[form](parsed.evaluate({name: value_of(name, further or {}) for name in parsed.names}))


def value_of(name: str, further: Further) -> float:
    """What a name of an expression stands for; raises WarpladderError for one that is not known."""
    first, *rest = name.split(".")
    if not rest:
        found = {**COMMON, **_of_board(named(BOARD))}.get(name)
    elif first == "roof":
        found = getattr(roofs(named(BOARD)), rest[0], None)
    elif first in further:
        found = getattr(further[first](), rest[0])
    elif first in _topics() and len(rest) == 2:
        found = _recorded(_record(first, BOARD) or record_file(first), *rest)
    elif len(rest) == 3 and (record := _record(rest[0], first)):
        found = _recorded(record, *rest[1:])
    else:
        found = _of_board(named(first)).get(rest[0])
    if found is None:
        raise WarpladderError(f"`{name}` stands for no number", remedy="see grader/report/values.py")
    return found


@functools.cache
def _topics() -> frozenset[str]:
    """The names of all topics, which are read once: hundreds of numbers are asked for."""
    return frozenset(topics.names())


def _of_board(board: DeviceSpec) -> dict[str, float]:
    """The numbers of a board, of its compute capability and of its link to the host."""
    found = {}
    for part in (board.link, board.capability, board):
        for field in fields(part):
            if isinstance(number := getattr(part, field.name), int | float):
                found[field.name] = number
    return found


def _record(topic: str, board: str) -> Path | None:
    """A topic's record on a board: its folder has the GPU's name."""
    found = sorted((content_root() / "measurements").glob(f"{board.lower()}*/{topic}.json"))
    return found[0] if found else None


@functools.cache
def _read(record: Path) -> Climb:
    return load(record, Climb)


def _recorded(record: Path, rung: str, field: str) -> Any:
    """A field of a rung in a record, None where there is none."""
    climb = _read(record)
    if rung == "bound":
        return getattr(climb.bound, field, None)
    return next((getattr(r, field, None) for r in climb.rungs if f"r{r.id[:2]}" == rung), None)
