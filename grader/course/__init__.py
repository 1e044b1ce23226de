"""Assignments for nbgrader: made from the lessons, and marked from the source that a learner hands in.

An assignment is a notebook with one `%%kernel` cell for the learner's CUDA C++ (or schedule) and a graded cell for
each rung, of one line:

    course.points("mine", "03_padded_tile")

In the learner's hands that cell grades the kernel and says what is missing. Its number is advice. The mark is made
when the class is autograded: `MarkKernels`, a preprocessor, takes the kernel's source from the notebook's file,
grades it in a process of its own on the public cases and on hidden ones, and puts points and feedback into the graded
cells, whatever stood there. The notebook's own Python takes no part in it, and is not even run unless asked for.

- `assignment` makes notebooks from topics, `folder` a course folder of them.
- `restore` puts a submission's cells back in place: missing, copied and changed ones.
- `marking` has sources marked and keeps the marks, `feedback` says what became of them, `hidden` has the cases nobody
  is shown. `orders` is what the process that marks, `worker`, is asked and answers; `engines` spread orders over many.
- `preprocessors` ties these to nbgrader; `config` is what nbgrader_config.py calls. `batch` marks a whole class.
- `gradebook` brings marks into nbgrader's gradebook and on to a learning platform; `roster` says who takes the course.

This module is what learners import; it and what it needs do without nbgrader.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.results import Grade

__all__ = ["points"]

_graded: dict[tuple[str, str], Grade] = {}
"""Grades of this session, by topic and text: the graded cells of a notebook ask for the same one."""


def points(name: str, rung: str) -> float | None:
    """Grade the kernel kept by `%%kernel NAME --topic TOPIC`, show what a rung asks for, and give its points.

    The number is what the workbook's own cases are worth; hidden cases are tried when the assignment is marked.
    While nbgrader autogrades, nothing is graded here and the result is None. Raises WarpladderError where there is no
    such kernel or rung.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return None
    from grader import lab
    from grader.course import feedback
    from grader.lab import cells, show

    kept = cells.cell(name)
    topic = kept.load_topic()
    topic.rung(rung)
    key = (topic.name, kept.text)
    if key not in _graded:
        _graded[key] = lab.grade(name)
    show.display(feedback.of_rung(topic, _graded[key], rung, kept.text.splitlines()))
    return float(feedback.earned(topic, _graded[key], rung))
