"""The process that marks one source: an Order as JSON on stdin, an Answer as JSON on stdout.

Started by `marking` in an empty folder. Kernels, and schedules, run in child processes of the judge's; this one
compares and decides. What anybody else prints goes to stderr, so that stdout holds the answer alone.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from grader.sandbox.confine import end_with_parent, hide

if __name__ == "__main__":  # before the imports below, which would outlive a parent that dies meanwhile
    end_with_parent(int(sys.argv[1]))

import msgspec

from grader.course.marking import Answer, Marked, Order, file_name
from grader.errors import WarpladderError
from grader.judge.correctness.cases import PUBLIC_SEED
from grader.judge.grade import grade
from grader.judge.kernels.case_runner import work
from grader.results import Grade
from grader.workbook.topic import Topic
from grader.workbook.topics import load


def mark(order: Order) -> Marked:
    """Grade a source on the public cases and, if these pass, on the hidden ones."""
    topic = load(order.topic)
    file = Path(file_name(topic))
    file.write_text(order.source, encoding="utf-8")
    public = grade(topic, file, order.device, PUBLIC_SEED, arch=order.arch)
    if public.verdict != "pass":
        return Marked(public)
    return Marked(public, _hidden(topic, file, order))


def _hidden(topic: Topic, file: Path, order: Order) -> Grade:
    """The grade on hidden cases: the topic's sizes and further ones, with other data.

    Its claims are of no account, so it counts at the smallest size there is.
    """
    smallest = min(topic.judge_cases, key=lambda problem: work(topic, problem))
    tried = replace(topic, judge_cases=(*topic.judge_cases, *order.sizes), sizes_count=smallest)
    return grade(tried, file, order.device, order.seed, arch=order.arch)


def answered(order: Order) -> Answer:
    """The mark, or why there is none: where a process of the judge's was lost, the source may be right."""
    marked = mark(order)
    for found in (marked.public, marked.hidden):
        if found is not None and found.lost:
            return Answer(complaint=found.reason)
    return Answer(marked=marked)


def main() -> None:
    """Answer one order. It ends when the process does that is named on the command line."""
    hide()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    answers = os.dup(1)
    os.dup2(2, 1)
    try:
        answer = answered(order)
    except (WarpladderError, MemoryError) as error:
        answer = Answer(complaint=f"{type(error).__name__}: {error}")
    with open(answers, "wb") as output:
        output.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
