"""Marking processes, and the engines that spread orders over them."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from faked_marking import answer_by
from msgspec import structs

from grader.course import worker
from grader.course.engines import opening
from grader.course.engines import threads as threads_engine
from grader.course.engines.process import Process
from grader.course.engines.threads import Threads
from grader.course.orders import Answer, Marked, Order, state
from grader.course.worker import Marking
from grader.emulator.machine.cores import usable
from grader.errors import WarpladderError
from grader.judge.grade import refused
from grader.sandbox.means import Means
from grader.workbook import topics

TRANSPOSE = topics.load("transpose")
NAIVE = TRANSPOSE.rung("00_naive").source
ORDER = Order("transpose", NAIVE, "emulator", None, 7, ())


# ---- one process -------------------------------------------------------------------------------------------


def test_a_marking_process_that_hangs_ends_with_all_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    starts = f"import subprocess; p = subprocess.Popen(['sleep', '60']); open({str(note)!r}, 'w').write(str(p.pid))"
    process = Process((sys.executable, "-c", f"{starts}; p.wait()"))
    assert process.ask(ORDER, 2.0) == Answer(complaint="it was not done after 2 s")
    pid = int(note.read_text(encoding="utf-8"))
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("raise SystemExit('out of luck')", "exit code 1: out of luck"),
        ("import os; os.kill(os.getpid(), 9)", "signal SIGKILL"),
    ],
)
def test_a_marking_process_that_dies_is_no_mark(does: str, says: str) -> None:
    process = Process((sys.executable, "-c", does))
    assert process.ask(ORDER, 20.0) == Answer(complaint=f"the marking process ended with {says}")


def test_a_marking_process_that_says_something_else_is_no_mark() -> None:
    process = Process((sys.executable, "-c", "print('hello', flush=True); import time; time.sleep(60)"))
    assert "answered with something else" in str(process.ask(ORDER, 20.0).complaint)


TELLS = """
import os, sys
for line in sys.stdin:
    if "die" in line:
        os._exit(3)
    print('{"complaint": "%d"}' % os.getpid(), flush=True)
"""


def test_a_process_is_asked_again_and_replaced_when_it_dies() -> None:
    process = Process((sys.executable, "-c", TELLS))
    first, again = process.ask(ORDER, 20.0), process.ask(ORDER, 20.0)
    assert first == again, "it is warm"
    assert "exit code 3" in str(process.ask(order("die"), 20.0).complaint)
    other = process.ask(ORDER, 20.0)
    assert other.complaint not in (None, first.complaint)
    process.close()
    assert not _alive(int(other.complaint or ""))


def test_a_process_outlives_the_thread_that_asked_it_first() -> None:
    process = Process((sys.executable, "-c", TELLS))
    first: list[Answer] = []
    thread = threading.Thread(target=lambda: first.append(process.ask(ORDER, 20.0)))
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert [process.ask(ORDER, 20.0)] == first
    process.close()


# ---- many --------------------------------------------------------------------------------------------------


def orders(count: int, device: str = "emulator") -> list[Order]:
    return [Order("transpose", str(place), device, None, 7, ()) for place in range(count)]


def seen(monkeypatch: pytest.MonkeyPatch, asked: list[Order], jobs: int) -> tuple[set[int | None], int]:
    """The emulator's threads that orders are given, and how many are at work at a time, as each is told."""
    threads, told, under_way, most = set(), set(), [0], [0]
    met = threading.Condition()

    def ask(order: Order, seconds: float) -> Answer:
        with met:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            threads.add(order.threads)
            told.add(order.jobs)
            met.notify_all()
            met.wait_for(
                lambda: most[0] >= (order.jobs or 0), timeout=20.0
            )  # the others may be slow to begin
            under_way[0] -= 1
        return Answer(complaint=order.source)

    answer_by(monkeypatch, ask)
    found = dict(Threads(jobs).answers(asked, 1.0))
    assert {place: answer.complaint for place, answer in found.items()} == {
        place: order.source for place, order in enumerate(asked)
    }
    assert told == {most[0]}
    return threads, most[0]


def test_jobs_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert usable() == 8
    assert seen(monkeypatch, orders(6), 2) == ({4}, 2)
    assert seen(monkeypatch, orders(6), 3) == ({2}, 3)
    assert seen(monkeypatch, orders(20), 16) == ({1}, 16)
    assert seen(monkeypatch, orders(1), 3) == ({8}, 1), "one by itself has them all"
    assert list(Threads(2).answers([], 1.0)) == []


def test_one_submission_at_a_time_is_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(monkeypatch, orders(4, "pycuda"), 4)[1] == 1


def test_who_has_enough_ends_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or Ctrl-C: the rest of the class is not waited for."""
    made: list[Process] = []

    def process() -> Process:
        made.append(Process((sys.executable, "-c", FIRST_ALONE)))
        return made[-1]

    monkeypatch.setattr(threads_engine, "Process", process)
    running = []
    for _, answer in Threads(2).answers([order(name) for name in ("first", "b", "c", "d")], 60.0):
        assert answer.complaint == "first"
        deadline = time.monotonic() + 30
        while not (len(made) == 2 and all(item._running for item in made)) and time.monotonic() < deadline:
            time.sleep(0.01)  # the second one starts beside it
        running = [item._running._process.pid for item in made if item._running is not None]
        break
    assert len(running) == 2
    assert not any(map(_alive, running))


FIRST_ALONE = """
import sys, time
for line in sys.stdin:
    if "first" not in line:
        time.sleep(60)
    print('{"complaint": "first"}', flush=True)
"""


def order(source: str) -> Order:
    """An order for a source."""
    return Order("transpose", source, "emulator", None, 7, ())


def test_threads_have_no_scheduler() -> None:
    with pytest.raises(WarpladderError, match="--engine dask"), opening.opened("threads", 2, "tcp://x:1"):
        pass


# ---- what the process does ---------------------------------------------------------------------------------


LOST = replace(refused(TRANSPOSE, "mine.cu", "error", "It ended with signal SIGKILL."), lost=True)
RIGHT = replace(LOST, verdict="pass", lost=False)


@pytest.mark.parametrize("found", [Marked(LOST), Marked(RIGHT, LOST)])
def test_a_grade_that_says_nothing_is_no_mark(found: Marked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "mark", lambda order, topic, store: found)
    assert Marking().answer(ORDER) == Answer(complaint="It ended with signal SIGKILL.")


def test_a_process_with_another_judge_marks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a cluster it may have been started before the workbook was changed: its mark would be kept as one of now."""
    monkeypatch.setattr(worker, "mark", lambda order, topic, store: Marked(RIGHT))
    assert Marking().answer(Order("transpose", NAIVE, "emulator", None, 7, (), state(TRANSPOSE))).marked
    other = Marking().answer(Order("transpose", NAIVE, "emulator", None, 7, (), "another"))
    assert other.marked is None
    assert "another version" in str(other.complaint)


def test_schedules_are_refused_where_nothing_confines_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the course allows it by the topic's name; kernels are no code of the machine's."""
    monkeypatch.setattr(worker, "means", lambda: Means("", 0, seccomp=True, other_user=False))
    monkeypatch.setattr(worker, "mark", lambda order, topic, store: Marked(RIGHT))
    schedule = Order("streams", "class Schedule: ...", "emulator", None, 7, ())
    refusal = Marking().answer(schedule)
    assert refusal.marked is None
    assert 'c.MarkKernels.unconfined = ["streams"]' in str(refusal.complaint)
    assert Marking().answer(structs.replace(schedule, unconfined=True)).marked
    assert Marking().answer(ORDER).marked


@pytest.mark.soak(area="course")
def test_what_is_kept_between_submissions_is_the_same_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    marking = Marking()
    marking.answer(ORDER)
    assert marking._known is not None
    kept = {case.seed: data for case, data in marking._known.store._known.items()}
    assert set(kept) == {1, 7}, "public and hidden cases, and none that was drawn for the submission"
    marking.answer(ORDER)
    again = {case.seed: data for case, data in marking._known.store._known.items()}
    assert all(again[seed] is data for seed, data in kept.items()), "computed once"


TEN_TIMES = "".join(
    f"#define {name} {' '.join([before] * 10)}\n" for before, name in itertools.pairwise("xABCDEFGH")
)
BOMB = f"{TEN_TIMES}int y = H;"
HANGS = NAIVE.replace("{\n", "{\n    while (true) { }\n", 1)
CRASHES = NAIVE.replace("{\n", "{\n    *(int*)8 = 1;\n", 1)


@pytest.mark.soak(area="course")
@pytest.mark.slow
def test_a_mark_is_the_same_whatever_was_marked_before() -> None:
    """By a warm process after a bomb, a hang and a crash, and one whose process was killed, as by a fresh one."""
    asked = Order(
        "transpose", TRANSPOSE.rung("02_shared_tile").source, "emulator", None, 7, ({"M": 5, "N": 9},)
    )
    fresh, warm = Process(), Process()
    first = fresh.ask(asked, 240.0)
    fresh.close()
    assert first.marked is not None
    assert first.marked.verdict == "pass"
    for before in (BOMB, HANGS, CRASHES):
        answer = warm.ask(order(before), 240.0)
        assert answer.marked is None or answer.marked.verdict != "pass"
        assert without_date(warm.ask(asked, 240.0)) == without_date(first)
    assert warm._running is not None
    os.kill(warm._running._process.pid, signal.SIGKILL)
    assert warm.ask(asked, 240.0).marked is None
    assert without_date(warm.ask(asked, 240.0)) == without_date(first)
    warm.close()


def without_date(answer: Answer) -> Marked:
    """A mark without what says when and by what it was made."""
    assert answer.marked is not None, answer.complaint
    public, hidden = answer.marked.public, answer.marked.hidden
    assert hidden is not None
    return Marked(replace(public, provenance=None), replace(hidden, provenance=None))
