"""Machine code to read: `lessons/drills/read/NAME.toml`, a listing NAME.ptx or NAME.sass, and the NAME.cu that it was
made from by `benchmarks/listings.py`.

`excerpt` says with which lines what is shown begins and ends, where that is not the whole kernel. A step that asks for
a line has `marks`, a pattern of the right ones, in the place of `code`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview.drills import listing
from grader.interview.drills.drill import HEAD, Drill, Format, look_back, read_head, read_table
from grader.interview.points import check_weights
from grader.interview.probes.kinds import MARK, Parameters
from grader.workbook.strict_toml import Table

MOST_LINES = 40
"""Of what is shown."""


@dataclass(frozen=True, kw_only=True)
class Reading(Drill):
    """A listing, and what it says."""

    lines: tuple[str, ...]  # shown
    source: Path  # that it was made from

    def given(self, parameters: Parameters) -> str:
        """The text, and the listing with numbers."""
        numbered = [f"{number:>3}  {line}" for number, line in enumerate(self.lines, 1)]
        return "\n".join([super().given(parameters), "", "```text", *numbered, "```"])


def read_reading(path: Path) -> Reading:
    """A drill of this format; raises WarpladderError."""
    table = read_table(path)
    table.allow(*HEAD, "excerpt")
    lines, source = listing.lines(path), path.with_suffix(".cu")
    if not source.is_file():
        raise table.error(f"{source.name} is missing", remedy="a listing comes from a source beside it")
    if len(lines) > MOST_LINES:
        message = f"{len(lines)} lines are shown, and {MOST_LINES} are the most"
        raise table.error(message, remedy='excerpt = ["the first", "the last"]')
    for step in table.tables("step"):
        if step.values.get("kind") == "line":
            _give_code(step, lines)
    head = read_head(table)
    check_weights(table, "step", [step.weight for step in head["steps"]])
    return Reading(**head, lines=lines, source=source)


def _give_code(step: Table, lines: tuple[str, ...]) -> None:
    """A step that asks for a line shows the listing, with those marked that are right."""
    pattern = step.get("marks", str)
    del step.values["marks"]
    if not any(re.search(pattern, line) for line in lines):
        raise step.error(f"`marks` is in no line: {pattern}", "marks")
    step.values["code"] = "\n".join(f"{line} {MARK}" if re.search(pattern, line) else line for line in lines)


def prove(drill: Reading) -> Iterator[WarpladderError]:
    """The listing is what the compiler gives. SASS takes nvdisasm: `benchmarks/listings.py --check`."""
    file = listing.of(drill.file)
    if file.suffix == listing.PTX:
        made = listing.from_ptx(listing.compiled(drill.source).ptx)
        if made != file.read_text(encoding="utf-8"):
            remedy = f"python benchmarks/listings.py {drill.name}, then look at its steps"
            yield WarpladderError("the compiler gives another listing", file=file, remedy=remedy)


FORMAT = Format(
    "read",
    "a listing of PTX or SASS",
    3,
    read_reading,
    prove,
    look_back,
    (".toml", ".py", ".cu", listing.PTX, listing.SASS),
)
