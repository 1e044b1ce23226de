"""A class marked by dask's workers: as by threads, whatever becomes of a worker, and each GPU by one at a time."""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cloudpickle
import distributed
import msgspec
import pytest
from terminals import may_be_interrupted

from grader.course.engines import cluster, opening
from grader.course.engines.cluster import Local, Remote
from grader.course.engines.threads import Threads
from grader.course.hidden import Hidden
from grader.course.marking import Marker, mark_all
from grader.course.orders import Answer, Marked, Order, as_order
from grader.errors import WarpladderError
from grader.sandbox.scratch import PREFIX
from grader.workbook import topics

pytestmark = [pytest.mark.verify, pytest.mark.xdist_group("dask")]

TRANSPOSE = topics.load("transpose")


@pytest.fixture(autouse=True)
def _carried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What stands here is sent to workers, who cannot import it; their notes lie in the test's folder."""
    monkeypatch.setenv("NOTES", str(tmp_path))
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


# ---- marks -------------------------------------------------------------------------------------------------


def test_marks_are_those_of_threads(tmp_path: Path) -> None:
    sources = [*(rung.source for rung in TRANSPOSE.rungs[:3]), "this is no kernel", '#include "/etc/passwd"']
    items = [(TRANSPOSE, source) for source in sources]
    hidden = Hidden(7, {"transpose": [{"M": 5, "N": 9}]})
    with opening.opened("dask", 2) as dask:
        here = Marker(tmp_path / "dask", hidden)
        by_dask = mark_all(here, items, dask)
    by_threads = mark_all(Marker(tmp_path / "threads", hidden), items, Threads(2))
    assert [without_date(mark) for mark in by_dask] == [without_date(mark) for mark in by_threads]
    assert [here.known(*item) for item in items] == by_dask, "kept by who gave the orders"


def without_date(mark: Marked | str) -> Marked:
    """A mark without what says when and by what it was made."""
    assert isinstance(mark, Marked), mark
    hidden = None if mark.hidden is None else replace(mark.hidden, provenance=None)
    return Marked(replace(mark.public, provenance=None), hidden)


# ---- workers that die --------------------------------------------------------------------------------------


def orders(*sources: str, device: str = "emulator") -> list[Order]:
    return [Order("transpose", source, device, None, 7, ()) for source in sources]


def noted(name: str) -> int:
    """Note that something has happened; how often it has before."""
    path = Path(os.environ["NOTES"]) / name
    before = path.read_text().count("\n") if path.exists() else 0
    with path.open("a") as file:
        file.write("it has\n")
    return before


def dies(order: bytes, seconds: float) -> bytes:
    """In place of `answer`: "once" ends its worker the first time, "always" each time."""
    source = as_order(order).source
    before = noted(source)
    if source == "always" or (source == "once" and not before):
        os.kill(os.getpid(), signal.SIGKILL)
    return msgspec.json.encode(Answer(complaint=f"asked {before + 1}"))


def test_a_worker_that_is_killed_costs_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", dies)
    with opening.opened("dask", 2) as dask:
        found = dict(dask.answers(orders("a", "once", "b", "c"), 60.0))
    assert {place: answer.complaint for place, answer in found.items() if place != 1} == dict.fromkeys(
        (0, 2, 3), "asked 1"
    )
    assert found[1].complaint == "asked 2"


def test_what_ends_every_worker_is_not_marked_and_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", dies)
    with opening.opened("dask", 2) as dask:
        found = dict(dask.answers(orders("a", "always", "b", "c"), 60.0))
    assert "KilledWorker" in str(found.pop(1).complaint)
    assert all(str(answer.complaint).startswith("asked") for answer in found.values())


def killed_while_marking(order: bytes, seconds: float) -> bytes:
    """In place of `answer`: its worker dies once the marking process has its folder."""
    threading.Thread(target=cluster.answer, args=(order, seconds)).start()
    while not list(Path(os.environ[cluster.FOLDER]).iterdir()):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")


def test_nothing_is_left_of_a_worker_that_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "answer", killed_while_marking)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opening.opened("dask", 1) as dask:
        ((_, found),) = dask.answers(orders("a"), 60.0)
        assert "KilledWorker" in str(found.complaint)
        assert list(tmp_path.glob(f"{PREFIX}*/{PREFIX}*")), "it was there"
    assert not list(tmp_path.glob(f"{PREFIX}*"))


INTERRUPTED = """
from grader.course.engines import opening
from grader.course.orders import Order
from grader.workbook import topics

if __name__ == "__main__":
    order = Order("transpose", topics.load("transpose").rungs[0].source, "emulator", None, 7, ())
    try:
        with opening.opened("dask", 2) as dask:
            for _ in dask.answers([order] * 100, 240.0):
                print("answered", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c_ends_marking_without_a_traceback(tmp_path: Path) -> None:
    script = tmp_path / "marks.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=may_be_interrupted,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "answered\n"
        os.killpg(process.pid, signal.SIGINT)
        shown, said = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert shown.splitlines()[-1] == "interrupted"
    assert said == ""


def raises(order: bytes, seconds: float) -> bytes:
    raise OSError("no space left on device")


def test_what_goes_wrong_on_a_worker_is_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", raises)
    with opening.opened("dask", 1) as dask:
        assert list(dask.answers(orders("a"), 60.0)) == [
            (0, Answer(complaint="OSError: no space left on device"))
        ]


# ---- GPUs --------------------------------------------------------------------------------------------------


def on_gpu(order: bytes, seconds: float) -> bytes:
    """In place of `answer`: which GPU it was given, and from when to when it had it."""
    begun = time.monotonic()
    time.sleep(0.2)
    found = f"{os.environ['CUDA_VISIBLE_DEVICES']} {begun} {time.monotonic()}"
    return msgspec.json.encode(Answer(complaint=found))


def spans(answers: Iterator[tuple[int, Answer]]) -> dict[str, list[tuple[float, float]]]:
    """By GPU, when it was in use."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _, answer in answers:
        gpu, begun, ended = str(answer.complaint).split()
        found.setdefault(gpu, []).append((float(begun), float(ended)))
    return {gpu: sorted(times) for gpu, times in found.items()}


def test_a_gpu_is_one_submissions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", on_gpu)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    with opening.opened("dask", 8) as dask:
        found = spans(dask.answers(orders(*"abcdefgh", device="pycuda"), 60.0))
        assert isinstance(dask, Local)
        assert dask._client is not None
        workers = dask._client.scheduler_info(n_workers=-1)["workers"].values()
        assert [worker["resources"] for worker in workers] == [{"GPU": 1}] * 2
    assert sorted(found) == ["4", "7"]
    for times in found.values():
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(times))


# ---- a scheduler of somebody else's ------------------------------------------------------------------------


@pytest.fixture
def scheduler() -> Iterator[str]:
    """One with a worker that has two threads and no GPU."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, dashboard_address=None, memory_limit=None
    ) as made:
        yield made.scheduler_address


def test_workers_of_a_scheduler_mark(scheduler: str) -> None:
    source = TRANSPOSE.rungs[0].source
    with opening.opened("dask", 1, scheduler) as dask:
        assert isinstance(dask, Remote)
        found = dict(dask.answers(orders(source, source), 240.0))
    assert [found[place].marked is not None for place in (0, 1)] == [True, True]


def test_workers_without_a_gpu_are_not_waited_for(scheduler: str) -> None:
    with (
        opening.opened("dask", 1, scheduler) as dask,
        pytest.raises(WarpladderError, match="--resources GPU=1"),
    ):
        list(dask.answers(orders("a", device="pycuda"), 60.0))


def test_a_scheduler_that_is_not_there_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_SECONDS", 1.0)
    with (
        pytest.raises(WarpladderError, match="no scheduler of dask's answers"),
        opening.opened("dask", 1, "tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *of: None)
    with pytest.raises(WarpladderError, match="distributed is not installed"), opening.opened("dask", 1):
        pass
