"""Tasks: change a kernel until its counters show what was asked for.

    lab.task("coalesced", yours, lambda counts: counts.store_sectors <= 8192, solution)

`yours` and `solution` are counts of two kernels, the reader's and one that does it; the solution's text and what it
changes are shown on request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rich.text import Text

from grader.errors import WarpladderError
from grader.lab.cells import cell
from grader.lab.comparison import Run, compare
from grader.lab.predictions import Item, Prediction, State, Value, box, item, plain, remember
from grader.lab.questions import hint_of
from grader.lab.show import Shown

Counted = TypeVar("Counted", bound=Run)


@dataclass(frozen=True)
class Task:
    """One task, checked on the reader's kernel."""

    id: str
    yours: Run
    solution: Run
    reached: bool  # by yours
    hint: str  # opens on a click; may be empty

    @property
    def fault(self) -> str:
        """What is wrong with the reader's kernel, apart from its counters; may be empty."""
        return self.yours.faults[0] if self.yours.faults else ""

    @property
    def state(self) -> State:
        """right: the counters show it, and the kernel computes what it should; wrong: it does not compute that."""
        if self.fault:
            return "wrong"
        return "right" if self.reached else "open"

    @property
    def says(self) -> str:
        """What became of it."""
        if self.fault:
            return f"`{self.yours.name}` does something wrong: {self.fault}"
        if self.reached:
            return "done: the counters show it."
        return f"still open: change the cell of `{self.yours.name}`, then run it and this one again."

    @property
    def written(self) -> str:
        """Whose kernel it was."""
        return self.yours.name

    def revealed(self) -> Shown:
        """The solution's text, and its counters beside the reader's."""
        text = cell(self.solution.name).text.strip("\n")
        both = compare({"yours": self.yours, "solution": self.solution})
        return Shown(Text(text, no_wrap=True, overflow="ignore"), Text(""), both.view())

    def _repr_html_(self) -> str:
        return box(self, self.revealed()._repr_html_())

    def __repr__(self) -> str:
        return plain(self)


def task(task_id: str, yours: Counted, reached: Callable[[Counted], bool], solution: Counted) -> Task:
    """Check a task; the value of a cell, which shows what became of it.

    `reached` says of a kernel's counts whether they show what was asked for. Raises WarpladderError where those of the
    solution do not: then the notebook is wrong. A hint is kept by `lab.hints`.
    """
    if not reached(solution):
        message = f"the solution of `{task_id}`, `{solution.name}`, does not do what it should"
        raise WarpladderError(message, remedy="tell the authors, or mend the notebook")
    made = Task(task_id, yours, solution, reached(yours), hint_of(task_id))
    remember(made)
    return made


def reveal(question_id: str) -> Value | Shown:
    """The answer of a prediction, or the solution of a task; raises WarpladderError where nothing was asked yet."""
    found: Item = item(question_id)
    if isinstance(found, Task):
        return found.revealed()
    assert isinstance(found, Prediction)
    return found.answer
