"""What runs a case again, as it is typed: in a terminal, or in a notebook."""

from __future__ import annotations

import shlex

from grader.results import Reproduce


def again(case: Reproduce) -> str:
    """What to type where the kernel is worked on: a call in a notebook, a command elsewhere."""
    return command(case) if case.cell is None else call(case, case.cell)


def command(case: Reproduce) -> str:
    """The command of a terminal."""
    sizes = " ".join(f"--set {name}={value}" for name, value in case.problem.items())
    return f"ladder grade {case.topic} {shlex.quote(case.file)} {sizes} --seed {case.seed}"


def call(case: Reproduce, cell: str) -> str:
    """The call of a notebook in which the kernel is called `cell`."""
    sizes = "".join(f", {name}={value}" for name, value in case.problem.items())
    return f'lab.grade("{cell}"{sizes}, seed={case.seed})'
