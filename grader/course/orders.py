"""What a marking process is asked, and what it answers: all that travels between it and who keeps the marks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec

from grader.areas import COURSE
from grader.judge.provenance import made_with
from grader.results import CaseResult, Grade, Verdict
from grader.workbook.content import digest
from grader.workbook.topic import Topic

NAME = "mine"
"""What an assignment calls the submission."""

HIDDEN_REASON = (
    "All public cases are right, and a hidden case is not. Which one is not told; it is of no special kind. Try "
    "sizes that are no multiples of anything and differ from each other: lab.grade with sizes runs one case."
)
UNEXPLAINED_SCHEDULE = (
    "The schedule stops with an error. Its message is not shown here, because the schedule wrote it on the "
    "machine that marks: `ladder grade`, or the graded cells of the notebook, show it."
)
UNEXPLAINED = {"schedule": UNEXPLAINED_SCHEDULE}
"""What is said in place of an error's message, by what learners write."""


class Order(msgspec.Struct, frozen=True):
    """A source to mark."""

    topic: str
    source: str
    device: str
    arch: str | None
    seed: int  # of hidden cases
    sizes: tuple[dict[str, int | float], ...]  # of hidden cases, beside the topic's own
    state: str = ""  # of the judge and of the topic, see `state`; "" asks for any
    # How it is marked, which is no part of the mark's key.
    threads: int | None = None  # of the emulator; null: as many as there are cores
    jobs: int | None = None  # orders at work on the machine at a time; null: as many as it has cores
    unconfined: bool = False  # a stranger's Python may run where there are only limits for it


def on_gpu(orders: Iterable[Order]) -> bool:
    """Whether some are marked on a GPU, which measures times and is one order's alone."""
    return any(order.device != "emulator" for order in orders)


@dataclass(frozen=True)
class Marked:
    """What became of one source."""

    public: Grade  # on the topic's own cases
    hidden: Grade | None = None  # on the course's; null where a public case did not pass

    @property
    def verdict(self) -> Verdict:
        """pass, where both are."""
        return self.public.verdict if self.hidden is None else self.hidden.verdict

    def shown(self, topic: Topic) -> Grade:
        """The grade as a learner may see it, and as it counts: that of the public cases, and none where a hidden case
        did not pass."""
        if self.hidden is not None and self.hidden.verdict != "pass":
            return replace(
                self.public, verdict="fail", reason=HIDDEN_REASON, rung_reached=None, points=0, hints=[]
            )
        unexplained = UNEXPLAINED.get(topic.writes)
        if unexplained is not None and self.public.verdict == "error" and not self.public.cases:
            return replace(self.public, reason=unexplained)
        return replace(self.public, cases=[_in_notebook(case) for case in self.public.cases])


def _in_notebook(case: CaseResult) -> CaseResult:
    """A case that is run again where the learner works, in the notebook."""
    if case.reproduce is None:
        return case
    return replace(case, reproduce=replace(case.reproduce, cell=NAME))


class Answer(msgspec.Struct, frozen=True):
    """What became of an order; `complaint` where nothing could be graded, and that was not the source's fault."""

    marked: Marked | None = None
    complaint: str | None = None


# Made here, before there are threads: msgspec takes a type apart when it is first needed, and where two threads do so
# at the same time, the process ends with a segmentation fault.
as_marked = msgspec.json.Decoder(Marked).decode
as_order = msgspec.json.Decoder(Order).decode
as_answer = msgspec.json.Decoder(Answer).decode


def file_name(topic: Topic) -> str:
    """What messages call a submission's source."""
    return f"{NAME}{topic.suffix}"


def state(topic: Topic) -> str:
    """Changes with all that decides marks besides the source, the hidden cases and the device."""
    return f"{made_with(COURSE)}|{digest(topic.graded_by)}"
