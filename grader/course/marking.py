"""Marks: a source graded in a process of its own, on public cases and then on hidden ones, and kept by content.

The two are graded apart. A source that a public case refuses is told all about it, and has never met a hidden one;
of hidden cases only whether they passed is ever told, so nothing of theirs can be in a message.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec

import grader
from grader import cuda
from grader.course import sources
from grader.course.assignment import NAME
from grader.course.hidden import Hidden
from grader.emulator.cache import write_whole
from grader.emulator.fingerprint import fingerprint
from grader.emulator.nvrtc.compilation import find_toolkit
from grader.errors import WarpladderError
from grader.judge.grade import refused
from grader.results import CaseResult, Grade, Verdict
from grader.workbook.topic import Topic

SECONDS = 900.0
"""A submission that takes longer altogether is taken for one that does not end: honest ones take seconds."""

LIBRARIES = ("numpy", "llvmlite", "numba", "msgspec")
"""What computes numbers besides our own code and the compiler."""

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


class UnwritableError(WarpladderError):
    """No mark can be kept, such as on a full disk: the others of the class could not be, either."""


class Order(msgspec.Struct, frozen=True):
    """What the marking process is asked."""

    topic: str
    source: str
    device: str
    arch: str | None
    seed: int  # of hidden cases
    sizes: tuple[dict[str, int], ...]  # of hidden cases, beside the topic's own


class Answer(msgspec.Struct, frozen=True):
    """What it answers; `complaint` where nothing could be graded, and that was not the source's fault."""

    marked: Marked | None = None
    complaint: str | None = None


# Made here, before there are threads: msgspec takes a type apart when it is first needed, and where two threads do so
# at the same time, the process ends with a segmentation fault.
_MARKED = msgspec.json.Decoder(Marked)
_ANSWER = msgspec.json.Decoder(Answer)


@dataclass(frozen=True)
class Marker:
    """Marks sources, each text once for each topic, set of hidden cases, device and state of the judge."""

    cache: Path  # a folder of files <key>.json; the instructor's alone: they hold hidden cases
    hidden: Hidden
    device: str = "emulator"
    arch: str | None = None
    seconds: float = SECONDS

    def known(self, topic: Topic, source: str) -> Marked | None:
        """The mark of a source that was marked before; None for another, or where the file cannot be read."""
        try:
            return _MARKED.decode(self._entry(topic, source).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def mark(self, topic: Topic, source: str, again: bool = False) -> Marked:
        """Mark a source, or take what is known of it unless `again`.

        Raises WarpladderError where it could not be marked at all, which is for the instructor to mend.
        """
        found = None if again else self.known(topic, source)
        if found is None:
            try:
                found = self._graded(topic, source)
                self.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_whole(self._entry(topic, source), msgspec.json.encode(found))
            except OSError as error:
                remedy = "make room on the disk and run this again: the marks that were kept stay"
                file = error.filename or self.cache
                raise UnwritableError(
                    f"marks cannot be written: {error.strerror}", file=file, remedy=remedy
                ) from None
        return found

    def _entry(self, topic: Topic, source: str) -> Path:
        decides = [
            _state_of_judge(),
            _device(self.device, self.arch),
            _state(topic),
            self._order(topic, source),
        ]
        return self.cache / f"{hashlib.sha256(msgspec.json.encode(decides)).hexdigest()}.json"

    def _order(self, topic: Topic, source: str) -> Order:
        return Order(topic.name, source, self.device, self.arch, self.hidden.seed, self.hidden.of(topic))

    def _graded(self, topic: Topic, source: str) -> Marked:
        if topic.language == "CUDA C++" and (found := sources.foreign_include(source)):
            reason = (
                f"Line {found[0]} includes `{found[1]}`. A submission is graded by itself: it may include CUDA's "
                "headers, such as <cuda_fp16.h>, and nothing else."
            )
            return Marked(refused(topic, file_name(topic), "error", reason))
        answer = ask(self._order(topic, source), self.seconds)
        if answer is None:
            reason = (
                f"The submission had not been graded after {self.seconds:g} s: look for what does not end."
            )
            return Marked(refused(topic, file_name(topic), "timeout", reason))
        if answer.marked is None:
            remedy = "this is not the learner's fault; mend it and autograde again"
            raise WarpladderError(f"it could not be marked: {answer.complaint}", remedy=remedy)
        return answer.marked


def mark_all(
    marker: Marker,
    items: Sequence[tuple[Topic, str]],
    jobs: int,
    again: bool = False,
    done: Callable[[int], None] = lambda place: None,
) -> list[Marked | str]:
    """Mark sources, `jobs` at a time, and those that could not be marked once more, each alone: what they lacked may
    have been time or memory. Returns marks, in the sources' order, or why there is none. Raises UnwritableError.

    `done` is called, from any thread, with the place of each source that is through.
    """

    def one(place: int) -> Marked | str:
        topic, source = items[place]
        try:
            return marker.mark(topic, source, again)
        except UnwritableError:
            raise
        except WarpladderError as error:
            return str(error)

    def beside_others(place: int) -> Marked | str:
        found = one(place)
        if isinstance(found, Marked):
            done(place)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(beside_others, range(len(items))))
    for place in [place for place, mark in enumerate(found) if isinstance(mark, str)]:
        found[place] = one(place)
        done(place)
    return found


def file_name(topic: Topic) -> str:
    """What messages call a submission's source."""
    return f"{NAME}{topic.suffix}"


def ask(
    order: Order, seconds: float, command: Sequence[str] = ("-m", "grader.course.worker")
) -> Answer | None:
    """Have a process of its own grade a source; None where it did not end within `seconds`.

    It starts in an empty folder, is told which process started it, and everything that it started ends with it. An
    answer of one that did not come to its own end counts for nothing.
    """
    with tempfile.TemporaryDirectory(prefix="warpladder-mark-") as folder:
        process = subprocess.Popen(
            [sys.executable, *command, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": _search_path()},
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(msgspec.json.encode(order), timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
    try:
        if process.returncode == 0:
            return _ANSWER.decode(output)
    except msgspec.DecodeError:
        pass
    last = errors.decode(errors="replace").strip().splitlines()[-1:] or ["without a word"]
    return Answer(complaint=f"the marking process ended with status {process.returncode}: {last[0]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started: they are a session of their own."""
    with contextlib.suppress(ProcessLookupError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _search_path() -> str:
    """Where this package was imported from comes first, whatever folder the process starts in."""
    here = str(Path(grader.__file__).resolve().parent.parent)
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


@cache
def _state_of_judge() -> str:
    """Changes with all that decides marks and is not the topic's: our code, the compiler, the libraries."""
    code = fingerprint("grader.course.worker", "grader.emulator.nvrtc.child")
    versions = [importlib.metadata.version(name) for name in LIBRARIES]
    return "|".join([code, find_toolkit().fingerprint, *versions])


@cache
def _device(device: str, arch: str | None) -> str:
    """What marks are made on: their times, of a GPU, are measured."""
    return cuda.describe(device, arch)


def _state(topic: Topic) -> str:
    """Changes with what the topic asks for, and with the ladder that a submission is compared with."""
    digest = hashlib.sha256()
    for path in (*topic.deciding_files, *(rung.path for rung in topic.rungs)):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
