"""Kernels in notebooks: CUDA C++ in a cell, its counters, its grade, and predictions that are checked.

    %load_ext grader.lab
    import grader.lab as lab

The cell magic keeps a cell as a kernel under a name and compiles it:

    %%kernel NAME [--topic TOPIC]
    CUDA C++ …

- The magic is the cell's first line. NAME is a word of letters, digits and underscores. A later cell with the same
  NAME takes the place of the earlier one.
- With `--topic`, the cell is a submission as `ladder grade TOPIC` takes it: a launch block, then the kernel; for the
  topics `streams` and `transfer`, a schedule in Python. `grade`, `profile` and `counters` take its NAME.
- Without it, the cell holds kernels of one's own: `function` gives one to launch through PyCUDA's API, on a GPU or
  on the emulator, and `count` launches one on the emulator and says what it did.
- The text that is compiled is the cell's with an empty first line in place of the magic's, so that a message's line
  number is that of the cell. `parse_cell` makes (NAME, TOPIC, text) of a cell's source without running anything.
- What the compiler refuses is shown, and the next cell runs; a magic line that cannot be read is an error.

`"TOPIC/RUNG"`, such as "transpose/02_shared_tile", names a rung of the workbook wherever a kernel's name is asked for.
"""

from __future__ import annotations

from typing import Any

from grader.analysis.devices import named as board
from grader.lab.cells import Cell, cell, parse_cell, variant
from grader.lab.comparison import Comparison, compare
from grader.lab.counts import Counts
from grader.lab.launching import build, count, device, function
from grader.lab.machine_code import MachineCode, machine_code
from grader.lab.predictions import Prediction, Score, item, score
from grader.lab.questions import hint, hints, predict, question
from grader.lab.runs import accesses, counters, grade, profile, record, source
from grader.lab.schedules import Facts, schedule
from grader.lab.sliders import (
    Picture,
    banks,
    banks_slider,
    batch_slider,
    decode_slider,
    occupancy_slider,
    ratio_slider,
    sectors,
    warps,
)
from grader.lab.tasks import Task, reveal, task

__all__ = [
    "Cell",
    "Comparison",
    "Counts",
    "Facts",
    "MachineCode",
    "Picture",
    "Prediction",
    "Score",
    "Task",
    "accesses",
    "banks",
    "banks_slider",
    "batch_slider",
    "board",
    "build",
    "cell",
    "compare",
    "count",
    "counters",
    "decode_slider",
    "device",
    "function",
    "grade",
    "hint",
    "hints",
    "item",
    "load_ipython_extension",
    "machine_code",
    "occupancy_slider",
    "parse_cell",
    "predict",
    "profile",
    "question",
    "ratio_slider",
    "record",
    "reveal",
    "schedule",
    "score",
    "sectors",
    "source",
    "task",
    "variant",
    "warps",
]


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext grader.lab`: registers `%%kernel`."""
    from grader.lab import magic

    magic.register(shell)
