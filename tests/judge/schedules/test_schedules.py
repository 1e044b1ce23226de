"""Topics whose rungs are schedules: reading them, writing them down, replaying, and what results show."""

import io
import itertools
import json
from pathlib import Path

import pytest
from marking import Marking
from rich.console import Console

from grader.errors import WarpladderError
from grader.judge.climb import climb
from grader.judge.profile import profile
from grader.report import console, pictures, profiles
from grader.results import Climb, from_json, to_json
from grader.workbook import topics
from grader.workbook.schedule_file import parse_schedule

SCHEDULES = ("streams", "transfer")
SUBMISSIONS = Path(__file__).parents[2] / "submissions"


def test_a_schedule_has_no_counters(marked: Marking) -> None:
    topic = topics.load("transfer")
    assert marked(topic, topic.rungs[0].path).counters is None


@pytest.fixture(scope="module")
def ladder() -> Climb:
    return climb(topics.load("streams"), "emulator")


@pytest.mark.verify
def test_every_rung_is_faster_than_the_one_before_it_unless_a_side_step(ladder: Climb) -> None:
    times = [rung.time_s for rung in ladder.rungs if not rung.side_step]
    assert all(rung.verdict == "pass" for rung in ladder.rungs)
    assert None not in times
    # Rungs that all reach the bound differ by less than the model is worth.
    assert all(b <= 1.01 * a for a, b in itertools.pairwise(times) if a and b)


def test_no_rung_beats_the_bound_and_the_best_comes_near(ladder: Climb) -> None:
    shares = [rung.vs_bound for rung in ladder.rungs if rung.vs_bound is not None]
    assert 0.93 < max(shares) <= 1.0


def test_an_engine_does_one_thing_at_a_time(ladder: Climb) -> None:
    for rung in ladder.rungs:
        for engine in ("in", "compute", "out"):
            spans = sorted((item.start_s, item.end_s) for item in rung.timeline if item.engine == engine)
            assert spans
            assert all(b[0] >= a[1] - 1e-12 for a, b in itertools.pairwise(spans))


def test_results_survive_json_and_are_shown(ladder: Climb) -> None:
    assert from_json(to_json(ladder), Climb) == ladder
    assert json.loads(to_json(ladder))["counted"] is None
    terminal = Console(width=80, file=io.StringIO(), record=True)
    terminal.print(console.climb(ladder, "Overlap"))
    shown = terminal.export_text()
    assert "copy out" in shown
    assert "kernel bound" in shown or "copies bound" in shown


def test_a_profile_draws_its_timeline() -> None:
    topic = topics.load("streams")
    result = profile(topic, topic.rung("03_two_streams").path, "auto", {"N": 1 << 26, "R": 100}, arch="sm_80")
    assert (result.verdict, result.timeline_source) == ("pass", "modelled")
    assert {item.stream for item in result.timeline if item.engine == "compute"} == {1, 2}
    assert "stream 1" in pictures.timeline(result)
    assert profiles.profile(result, [])


# The host copies every fourth chunk while the GPU works on the three before it, which keeps the rung's time limit.
STAGES_IN_RUN = """
import numpy as np
import pycuda.driver as cuda


class Schedule:
    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R, self.chunk = process, N, np.int32(R), -(-N // 32)
        self.source, self.target = (cuda.register_host_memory(array) for array in (source, target))
        self.pinned, self.device = cuda.pagelocked_empty(N, np.float32), cuda.mem_alloc(4 * N)
        self.stream = cuda.Stream()

    def staged(self, part):
        self.pinned[part] = self.source[part]
        return self.pinned[part]

    def run(self):
        for number, first in enumerate(range(0, self.N, self.chunk)):
            part = slice(first, min(first + self.chunk, self.N))
            count, place = part.stop - first, int(self.device) + 4 * first
            grid, block, address = (-(-count // 256), 1), (256, 1, 1), np.uintp(place)
            cuda.memcpy_htod_async(place, self.staged(part) if number % 4 == 3 else self.source[part], self.stream)
            self.process(address, address, np.int32(count), self.R, grid=grid, block=block, stream=self.stream)
            cuda.memcpy_dtoh_async((self.pinned if part.stop == self.N else self.target)[part], place, self.stream)
        self.stream.synchronize()
        self.target[part] = self.pinned[part]
"""


@pytest.mark.verify
def test_the_hosts_own_copies_are_shown_and_named(tmp_path: Path, marked: Marking) -> None:
    topic = topics.load("streams")
    file = tmp_path / "mine.py"
    file.write_text(STAGES_IN_RUN)
    graded = marked(topic, file)
    assert graded.rung_reached == "02_chunks"
    assert "own copies (lines 14, 26) take ≈" in graded.hints[-1].text

    found = profile(topic, file, "emulator", {"N": 1 << 24, "R": 50})
    assert {item.line for item in found.timeline if item.engine == "host_copy"} == {14, 26}
    assert "host copies" in pictures.timeline(found)
    terminal = Console(width=80, file=io.StringIO(), record=True)
    terminal.print(profiles.profile(found, []))
    assert "host: its own copies" in terminal.export_text()


@pytest.mark.verify
def test_stopping_the_clock_changes_no_time(tmp_path: Path) -> None:
    topic = topics.load("streams")
    honest = topic.rung("01_pinned").path
    lines = honest.read_text().replace("def run(self):\n", f"def run(self):\n{8 * ' '}{FORGERY}\n")
    forged = tmp_path / "forged.py"
    forged.write_text(lines)
    sizes = {"N": 1 << 24, "R": 50}
    ends = [
        max(item.end_s for item in profile(topic, file, "emulator", sizes).timeline)
        for file in (honest, forged)
    ]
    assert ends[0] == ends[1]


def test_a_kernel_that_works_on_elements_alone_may_work_in_place(tmp_path: Path, marked: Marking) -> None:
    topic = topics.load("streams")
    file = tmp_path / "mine.py"
    source = topic.rung("00_naive").path.read_text(encoding="utf-8")
    assert "self.device_out" in source
    file.write_text(source.replace("self.device_out", "self.device_in"))
    result = marked(topic, file, problem_overrides={"N": 1000, "R": 3})
    assert result.verdict == "pass", result.reason


def test_a_schedule_that_looks_at_its_data_is_refused(marked: Marking) -> None:
    found = marked(
        topics.load("transfer"),
        SUBMISSIONS / "transfer/wrong/identity_is_not_multiplied.py",
        problem_overrides={"N": 9, "T": 3},
    )
    assert found.reason is not None
    assert (
        "with zeros in the host arrays it asks for 6 copies, fills and launches, with other numbers for 3"
        in (found.reason)
    )


def test_a_schedule_that_looks_at_what_was_computed_is_refused(marked: Marking) -> None:
    """It ends where a product was as the one before: each copy to the host brings the same, or other numbers."""
    found = marked(
        topics.load("transfer"),
        SUBMISSIONS / "transfer/wrong/stops_when_it_hardly_changes.py",
        problem_overrides={"N": 9, "T": 5},
    )
    assert found.reason is not None
    assert "it asks for" in found.reason


SMALLEST = "class Schedule:\n    def __init__(self, *given): ...\n    def run(self): ...\n"
FORGERY = "import time; time.perf_counter = time.time = time.monotonic = lambda: 0.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class Schedule:\n    def run(self): ...\n", "no method `__init__`"),
        ("def run(): ...\n", "there is no class Schedule"),
        ("class Schedule(:\n", "mine.py:1: this is not Python: [^(]*$"),
        (
            "class Schedule:\n    def __init__(self, N): ...\n    def run(self): ...\n",
            ":2: `__init__` has to take self and 5 more arguments",
        ),
        (SMALLEST.replace("run(self)", "run()"), ":3: `run` has to take self alone"),
        (SMALLEST.replace("run(self)", "run(self, N)"), ":3: `run` has to take self alone"),
        (f"# /// schedule\n# side_step = 1\n# ///\n{SMALLEST}", "not true or false"),
        (f"# /// schedule\n{SMALLEST}", "not closed"),
    ],
)
def test_a_file_that_is_no_schedule_says_what_is_missing(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(WarpladderError, match=message):
        parse_schedule(file, topics.load("streams").signature)


@pytest.mark.parametrize(
    "given",
    [
        "self, *given",
        "self, process, source, target, N, R, extra=1",
        "self, process, source, /, target, N, R",
    ],
)
def test_ways_to_take_the_job(tmp_path: Path, given: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SMALLEST.replace("self, *given", given))
    assert parse_schedule(file, topics.load("streams").signature).source == file.read_text()
