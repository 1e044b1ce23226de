"""Numbers in prose, computed when the book is built: {value}`sms * warps * 32`, {value}`dram_read | B/s`.

An expression, in the language of launch blocks and claims, and how it is to be written. Names are

    sms, clock_hz, dram_read, …         what devices.toml knows of the H200 and of its compute capability
    A100.sms, RTX4090.l2_bytes, …       the same of another board, by its name without blanks
    registers, max_registers, …         limits that all GPUs have in common, `COMMON`
    roof.dram, roof.fma, …              roofs
    paths2.instructions, …              counts of a kernel of the chapters, `RUNS`
    transpose.r03.vs_bound, …           a field of a rung, measured on the H200; where it was not, in the first record
    H100.softmax.r02.time_s, …          the same on another board
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import experiments
import measured
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from grader.analysis import occupancy
from grader.analysis.access import BANKS, LINE, SECTOR
from grader.analysis.devices import DeviceSpec, named
from grader.analysis.roofline import roofs
from grader.errors import WarpladderError
from grader.workbook import expressions, topics, units

ROOT = Path(__file__).resolve().parents[2]
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

RUNS = {
    "paths1": functools.partial(experiments.paths, 1),
    "paths2": functools.partial(experiments.paths, 2),
    "paths32": functools.partial(experiments.paths, 32),
    "neighbours": experiments.neighbours,
    "shared_tile": experiments.shared_tile,
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


def written(text: str) -> str:
    """The value of `EXPRESSION | FORMAT` in words; raises WarpladderError or ExpressionError."""
    expression, _, form = (part.strip() for part in text.partition("|"))
    if form not in FORMATS:
        raise WarpladderError(
            f"`{form}` is no way to write a number", remedy=f"known are {', '.join(FORMATS)}"
        )
    parsed = expressions.parse(expression)
    return FORMATS[form](parsed.evaluate({name: value_of(name) for name in parsed.names}))


def value_of(name: str) -> float:
    """What a name of an expression stands for; raises WarpladderError for one that is not known."""
    first, *rest = name.split(".")
    if not rest:
        found = {**COMMON, **_of_board(named(BOARD))}.get(name)
    elif first == "roof":
        found = getattr(roofs(named(BOARD)), rest[0], None)
    elif first in RUNS:
        found = getattr(RUNS[first](), rest[0])
    elif first in _topics() and len(rest) == 2:
        found = _recorded(_record(first, BOARD) or measured.records(ROOT, first)[0], *rest)
    elif len(rest) == 3 and (record := _record(rest[0], first)):
        found = _recorded(record, *rest[1:])
    else:
        found = _of_board(named(first)).get(rest[0])
    if found is None:
        raise WarpladderError(f"`{name}` stands for no number", remedy="see book/_ext/values.py")
    return found


@functools.cache
def _topics() -> frozenset[str]:
    """The names of all topics, which are read once: hundreds of numbers are asked for."""
    return frozenset(topics.discover(ROOT))


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
    return next(
        (path for path in measured.records(ROOT, topic) if path.parent.name.startswith(board.lower())), None
    )


def _recorded(record: Path, rung: str, field: str) -> Any:
    """A field of a rung in a record, None where there is none."""
    climb = measured.read(record)
    if rung == "bound":
        return getattr(climb.bound, field, None)
    return next((getattr(r, field, None) for r in climb.rungs if f"r{r.id[:2]}" == rung), None)


class Value(SphinxRole):
    """{value}`EXPRESSION | FORMAT`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        for record in sorted((ROOT / "measurements").glob("*/*.json")):
            self.env.note_dependency(str(record))
        try:
            return [nodes.Text(written(self.text))], []
        except (WarpladderError, expressions.ExpressionError, AttributeError) as error:
            said = self.inliner.reporter.error(f"{self.text}: {error}", line=self.lineno)
            return [], [said]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("value", Value())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
