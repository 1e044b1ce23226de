"""The process that marks sources, one after the other: an Order on each line of stdin, an Answer on each of stdout.

Started by `grader.course.engines.process` in an empty folder. Kernels, and schedules, run in child processes of the
judge's, which end with their submission; this one compares and decides. Between submissions it keeps cases whose data
is the same for all. What anybody else prints goes to stderr, so that stdout holds answers alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.confine import end_with_parent, hide

if __name__ == "__main__":  # before the imports below, which would outlive a parent that dies meanwhile
    end_with_parent(int(sys.argv[1]))

import msgspec

from grader.course.includes import foreign_include
from grader.course.orders import Answer, Marked, Order, as_order, file_name, state
from grader.emulator.machine.cores import usable
from grader.errors import WarpladderError
from grader.judge.correctness.cases import PUBLIC_SEED, CaseStore, hidden, public, secret
from grader.judge.grade import refused
from grader.judge.graded import graded
from grader.judge.runners.pool import DevicePool
from grader.results import Verdict
from grader.sandbox.means import better, means
from grader.workbook.topic import Topic
from grader.workbook.topics import load

FOREIGN = (
    "Line {line} includes `{name}`. A submission is graded by itself: it may include CUDA's headers, such as "
    "<cuda_fp16.h>, and nothing else."
)


UNCONFINED = (
    "it is Python of a stranger's, which would run here with all that you may do: this machine has only limits for it. "
    "To confine it, {better}; to have it run all the same, name the topic in nbgrader_config.py: "
    'c.MarkKernels.unconfined = ["{topic}"]'
)


@dataclass(frozen=True)
class Known:
    """Cases of a topic that were computed for earlier submissions."""

    state: str  # of the topic they are of
    store: CaseStore


class Marking:
    """Marks one order after the other."""

    def __init__(self) -> None:
        self._known: Known | None = None  # of the topic of the last order

    def answer(self, order: Order) -> Answer:
        """The mark, or why there is none: where a process of the judge's was lost, the source may be right."""
        topic = load(order.topic)
        current = state(topic)
        if order.state not in ("", current):
            return Answer(
                complaint="the marking process has another version of the workbook, of a library or of a lesson"
            )
        if topic.language == "Python" and means().alone and not order.unconfined:
            return Answer(complaint=UNCONFINED.format(topic=topic.name, better=better()))
        store = self._store(topic, current)
        try:
            marked = mark(order, topic, store)
        finally:
            store.keep((PUBLIC_SEED, order.seed))  # all else is data that was drawn for this submission
        for found in (marked.public, marked.hidden):
            if found is not None and found.lost:
                return Answer(complaint=found.reason)
        return Answer(marked=marked)

    def _store(self, topic: Topic, current: str) -> CaseStore:
        if self._known is None or self._known.state != current:
            self._known = Known(current, CaseStore(topic))
        return self._known.store


def mark(order: Order, topic: Topic, store: CaseStore) -> Marked:
    """Grade a source on the public cases and, if these pass, on the hidden ones."""
    file = Path(file_name(topic))

    def no_case(verdict: Verdict, reason: str) -> Marked:
        return Marked(refused(topic, str(file), verdict, reason))

    if topic.language == "CUDA C++" and (found := foreign_include(order.source)):
        return no_case("error", FOREIGN.format(line=found[0], name=found[1]))
    file.write_text(order.source, encoding="utf-8")
    try:
        parsed = topic.parse(file)
    except WarpladderError as error:
        return no_case("error", str(error))
    # What is counted is data that nobody knows, that of the last case, and the same whoever marks: it also draws the
    # blocks whose time is modelled.
    drawn = secret(topic, _seed(order))[0]
    pools = order.jobs or usable()
    with DevicePool(order.device, order.arch, jobs=1, threads=order.threads, pools=pools) as pool:
        known = graded(pool, topic, parsed, file, (*public(topic), drawn), True, store=store)
        if known.verdict != "pass":
            return Marked(known)
        cases = hidden(topic, order.sizes, order.seed)
        return Marked(known, graded(pool, topic, parsed, file, cases, False, store=store))


def _seed(order: Order) -> int:
    """A source's own, which does not give the course's away."""
    digest = hashlib.sha256(f"{order.seed} {order.source}".encode("utf-8", "replace"))
    return int(digest.hexdigest()[:7], 16)


def main() -> None:
    """Answer orders, until there are no more or the process ends whose number is on the command line."""
    hide()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    marking, base = Marking(), Path.cwd()
    for line in sys.stdin.buffer:
        with tempfile.TemporaryDirectory(dir=base) as folder:
            os.chdir(folder)
            try:
                answer = marking.answer(as_order(line))
            except WarpladderError as error:
                answer = Answer(complaint=f"{type(error).__name__}: {error}")
            finally:
                os.chdir(base)
        answers.write(msgspec.json.encode(answer) + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
