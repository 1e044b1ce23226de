"""A topic, of one of two kinds.

Learners write kernels (KernelTopic), or host code that copies data and launches a kernel of the topic's own
(ScheduleTopic). What differs between the kinds in what lies on disk stands here; how they are judged, in
`grader.judge.kinds`.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np

from grader.errors import WarpladderError
from grader.workbook import reference
from grader.workbook.elements import is_float
from grader.workbook.expressions import Expression, Number
from grader.workbook.kernel_file import KernelFile, parse_kernel_file
from grader.workbook.ladder import ClaimSpec, Ladder, Rung
from grader.workbook.reference import (
    Arrays,
    Bounds,
    Inputs,
    Problem,
    Reference,
    Sampled,
    Tolerance,
    load_reference,
)
from grader.workbook.schedule_file import ScheduleFile, parse_schedule
from grader.workbook.signature import Signature, impossible
from grader.workbook.source_file import SourceFile

COUNTED_FACTS = (
    "registers",
    "shared_bytes",
    "shared_used_bytes",
    "shared_overlap",
    "copies_overlapped",
    "boxes_overlapped",
    "occupancy",
    "grid_blocks",
    "longest_warp",
    "longest_block",
    "block_load_sectors",
    "busiest_multiprocessor",
    "multiprocessors",
    "block_threads",
    "launches",
)
"""What claims on kernels may name besides sizes and Nsight Compute's metrics."""

SIMULATED_FACTS = (
    "htod_bytes",
    "dtoh_bytes",
    "pageable_bytes",
    "device_bytes",
    "calls",
    "waits",
    "launches",
    "streams",
    "enqueued_first",
    "largest_piece",
    "engines_busy",
)
"""What claims on schedules may name besides sizes: see `grader.judge.schedules.facts`."""


def own_name(topic: str, suffix: str) -> str:
    """A learner's own file, where no other name is given."""
    return f"{topic}{suffix}"


@dataclass(frozen=True)
class FirstStep:
    """What a topic's starter asks for, as hints tell it."""

    concept: str  # in a sentence or two
    section: str  # of lesson.md, that tells it
    mend: tuple[tuple[str, str], ...]  # pieces of the starter's text, and what makes them right


@dataclass(frozen=True)
class Parts:
    """How a large problem is cut: into problems with less of one size. Outputs without that size are sums over it."""

    size: str
    overlap: int = 0  # how many elements on either side of a part its outputs are made of as well


@dataclass(frozen=True, kw_only=True)
class Topic(ABC):
    """One topic with its ladder."""

    name: str
    title: str
    order: int  # of the topic among the others
    signature: Signature
    smallest_arch: str  # such as "sm_70"
    library: str | None  # the baseline that users would call, such as "cupy.matmul"
    sizes_main: dict[str, Number]
    sizes_count: dict[str, Number]
    judge_cases: tuple[dict[str, Number], ...]
    sampled_cases: tuple[
        dict[str, Number], ...
    ]  # so large that some blocks are run in place of all, as of main
    from_zero: tuple[str, ...]  # sizes that may be 0; all others start at 1
    drawn_cases: tuple[dict[str, tuple[int, int]], ...]  # between which sizes each grade draws a case
    parts: Parts | None  # None: results are found for the whole problem at once
    tolerance: Tolerance
    ladder: Ladder[SourceFile]
    folder: Path  # lessons/<name>
    special_cases: tuple[dict[str, Number], ...] = ()  # tried with special inputs; none: the largest
    first_step: FirstStep | None = None
    readable: Mapping[str, Number] | None = (
        None  # sizes at which a wrong kernel is shown; None: usual small ones
    )
    hints: tuple[str, ...] = ()  # told one after the other; without them, hints follow from the ladder

    # -- what differs by kind -----------------------------------------------------------------------------------
    writes: ClassVar[Literal["kernel", "schedule"]]  # what a learner writes
    language: ClassVar[Literal["CUDA C++", "Python"]]
    suffix: ClassVar[Literal[".cu", ".py"]]
    claim_facts: ClassVar[tuple[str, ...]]  # what claims may name besides sizes (and metrics)
    claims_name_metrics: ClassVar[bool]
    has_timeline: ClassVar[bool]  # whether a profile shows engines over time

    @abstractmethod
    def parse(self, file: Path) -> SourceFile:
        """Read a submission; raises WarpladderError naming file and line."""

    @property
    @abstractmethod
    def kernel_files(self) -> tuple[KernelFile, ...]:
        """The workbook's own CUDA C++: every rung, or the kernel that schedules launch."""

    @abstractmethod
    def kernel_file(self, name: str) -> KernelFile:
        """The kernel file meant by a path, or by the name of a rung, such as "05_float4".

        Raises WarpladderError for a file that is neither.
        """

    @property
    @abstractmethod
    def claim_sizes(self) -> dict[str, Number]:
        """The sizes that claims are for."""

    # -- what all have --------------------------------------------------------------------------------------------
    @property
    def rungs(self) -> tuple[Rung[SourceFile], ...]:
        """From rung 0 upwards."""
        return self.ladder.rungs

    @property
    def claims(self) -> tuple[ClaimSpec, ...]:
        """The claims of all rungs."""
        return self.ladder.claims

    def rung(self, rung: str) -> Rung[SourceFile]:
        """The rung with that id; raises WarpladderError."""
        return self.ladder[rung]

    @property
    def file(self) -> Path:
        """topic.toml."""
        return self.folder / "topic.toml"

    @property
    def deciding_files(self) -> tuple[Path, ...]:
        """The files that decide what a submission is worth."""
        return self.file, self.folder / "reference.py"

    @property
    def graded_by(self) -> tuple[Path, ...]:
        """The files that decide what a submission earns: besides those, the ladder that it is compared with."""
        return *self.deciding_files, *(rung.path for rung in self.rungs)

    @property
    def starter(self) -> Path:
        """What a learner starts from."""
        return self.folder / f"starter{self.suffix}"

    @property
    def starter_text(self) -> str:
        """Its text; empty where there is none."""
        return self.starter.read_text(encoding="utf-8") if self.starter.is_file() else ""

    def section(self, rung: str) -> str | None:
        """The title under which lesson.md tells of a rung, such as "01: read columns, write rows"; None where it has no
        such section."""
        lesson = self.folder / "lesson.md"
        lines = lesson.read_text(encoding="utf-8").splitlines() if lesson.is_file() else []
        start = f"## {rung.partition('_')[0]}:"
        return next((line.removeprefix("## ") for line in lines if line.startswith(start)), None)

    def mended(self, step: FirstStep) -> str:
        """The starter's text, made right. Raises WarpladderError for a piece that is not there, or not once."""
        text = self.starter_text
        for old, new in step.mend:
            if text.count(old) != 1:
                message = f"`mend`: {old!r} stands in the starter {text.count(old)} times, not once"
                raise WarpladderError(message, file=self.file)
            text = text.replace(old, new)
        return text

    @property
    def max_points(self) -> int:
        """The points of all claims."""
        return self.ladder.max_points

    @cached_property
    def reference(self) -> Reference:
        """The module reference.py; raises WarpladderError where a function is missing."""
        needs_yardstick = self.tolerance.yardstick is not None
        return load_reference(self.folder / "reference.py", self.name, needs_yardstick)

    @cached_property
    def rounds(self) -> bool:
        """Whether some output may be off by roundings: whole numbers are equal or not."""
        return self.tolerance.lambda_ > 0 and any(is_float(item.dtype) for item in self.signature.outputs)

    def yardstick(self, inputs: Inputs, problem: Problem) -> Arrays:
        """Outputs as the topic's yardstick of accuracy computes them; {} for a topic without one."""
        if self.tolerance.yardstick is None:
            return {}
        return reference.yardstick(self.reference, inputs, problem)

    @property
    def on_cpu(self) -> Callable[[Inputs, Problem], Arrays] | None:
        """NumPy's way of doing the job on the CPU; None where reference.py has none."""
        return reference.on_cpu(self.reference)

    @property
    def sampled(self) -> Sampled | None:
        """What says single elements of outputs; None where reference.py does not."""
        return reference.sampled(self.reference)

    def tables(self, problem: Problem, rng: np.random.Generator, even: bool = False) -> Arrays:
        """Inputs by name whose elements belong together, such as the numbers of pages: always drawn as a whole.
        `even`: they give all blocks about as much to do."""
        return reference.tables(self.reference, problem, rng, even)

    @cached_property
    def table_names(self) -> frozenset[str]:
        """The names of these inputs."""
        smallest = min(self.judge_cases, key=self.reference.min_bytes)
        return frozenset(self.tables(smallest, np.random.default_rng(0)))

    @property
    def special_inputs(self) -> Callable[[Problem, np.random.Generator], Arrays] | None:
        """What makes inputs with NaN, infinities, −0 and subnormals; None where reference.py has none."""
        return reference.special_inputs(self.reference)

    def mistake(self, inputs: Inputs, outputs: Arrays, problem: Problem) -> str | None:
        """What is behind wrong outputs, in words; None where the topic does not know."""
        return reference.mistake(self.reference, inputs, outputs, problem)

    def written_bytes(self, problem: Problem) -> int:
        """How many of the bytes that have to cross DRAM are written."""
        return reference.written_bytes(self.reference, problem)

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        """Of all inputs and outputs, by name; where reference.py does not say them, arrays are made."""
        if self.sampled is not None:
            return self.sampled.shapes(problem)
        inputs = self.reference.make_inputs(problem, np.random.default_rng(0), "real")
        arrays = {**inputs, **self.reference.reference(inputs, problem)}
        return {name: array.shape for name, array in arrays.items()}

    def input_elements(self, problem: Problem) -> int:
        """How many elements the inputs have together, of a topic that is `sampled`."""
        assert self.sampled is not None, "reference.py says shapes"
        shapes = self.sampled.shapes(problem)
        return sum(math.prod(shapes[item.name]) for item in self.signature.inputs)

    def only_adds(self, problem: Problem, times: int) -> bool:
        """Whether outputs are sums of inputs as they are, each element added at most so many times. False where
        reference.py does not say shapes."""
        if self.sampled is None or self.tolerance.lambda_ == 0 or self.table_names:
            return False
        return self._adds and self.reference.min_flop(problem) <= times * self.input_elements(problem)

    @cached_property
    def _adds(self) -> bool:
        """Whether inputs that are twice as large double outputs, which products make four times as large."""
        problem = min(self.judge_cases, key=self.reference.min_bytes)
        inputs = self.reference.make_inputs(problem, np.random.default_rng(1), "exact")
        twice = {name: np.add(array, array) for name, array in inputs.items()}
        once, doubled = (self.reference.reference(given, problem) for given in (inputs, twice))
        return all(np.array_equal(doubled[name], 2 * array) for name, array in once.items())

    def transformed_bounds(self, inputs: Inputs, problem: Problem) -> Bounds:
        """Error bounds beside the tolerance's own; none where reference.py does not define any."""
        return reference.transformed_bounds(self.reference, inputs, problem)

    def with_row(self, file: Path) -> Self:
        """The topic with a submission as one more row above its ladder, by its file's name: to be climbed and modelled
        beside the rungs. Raises WarpladderError for a file that is no submission."""
        row = Rung(file.name, self.parse(file), own=True)
        return replace(self, ladder=replace(self.ladder, rungs=(*self.ladder.rungs, row)))

    def problem(self, sizes: Literal["main", "count"], overrides: Problem | None = None) -> dict[str, Number]:
        """The `main` or `count` sizes with some replaced; raises WarpladderError for what is not a size."""
        problem = dict(self.sizes_main if sizes == "main" else self.sizes_count)
        for name, value in (overrides or {}).items():
            if name not in problem:
                known = ", ".join(problem)
                raise WarpladderError(f"{self.name} has no size `{name}`", remedy=f"its sizes are {known}")
            if complaint := self.signature[name].refuses(value, 0 if name in self.from_zero else 1):
                raise WarpladderError(complaint)
            problem[name] = value
        if complaint := impossible(problem, self.signature):
            raise WarpladderError(complaint, remedy="choose other sizes with --set")
        return problem

    def drawn(self, source: random.Random) -> tuple[dict[str, Number], ...]:
        """A problem for each of `drawn_cases`."""
        drawn = [{name: source.randint(*ends) for name, ends in case.items()} for case in self.drawn_cases]
        return tuple(self.problem("count", sizes) for sizes in drawn)


@dataclass(frozen=True, kw_only=True)
class KernelTopic(Topic):
    """Learners write kernels."""

    writes = "kernel"
    language = "CUDA C++"
    suffix = ".cu"
    claim_facts = COUNTED_FACTS
    claims_name_metrics = True
    has_timeline = False

    ladder: Ladder[KernelFile]

    def parse(self, file: Path) -> KernelFile:
        return parse_kernel_file(file, self.signature, self.starter)

    @property
    def kernel_files(self) -> tuple[KernelFile, ...]:
        return tuple(rung.file for rung in self.ladder.rungs)

    def kernel_file(self, name: str) -> KernelFile:
        if name in self.ladder.ids:
            return self.ladder[name].file
        path = Path(name)
        if not path.exists():
            rungs = ", ".join(self.ladder.ids)
            raise WarpladderError("there is no such file", file=path, remedy=f"or name a rung: {rungs}")
        return self.parse(path)

    @property
    def claim_sizes(self) -> dict[str, Number]:
        return self.sizes_count


@dataclass(frozen=True, kw_only=True)
class ScheduledKernel:
    """What the schedules of a topic launch: it is the topic's, not the learner's."""

    file: KernelFile  # kernels/naive/<topic>.cu; its launch block launches it once over the whole problem
    shapes: Mapping[str, tuple[Expression, ...]]  # by pointer of the topic's signature: the host array's
    check_sizes: tuple[dict[str, Number], ...]  # at which schedules are checked and not replayed
    launches: Expression  # how many launches over the whole problem make the job, of the job's sizes
    reach: Mapping[str, Expression]  # by the kernel's pointers: how many elements a launch touches
    in_place: bool  # a thread reads no more than the element it writes, so input may be output
    alone: Mapping[str, int]  # sizes with which the job is a single launch

    def shape(self, name: str, problem: Problem) -> tuple[int, ...]:
        """The shape of a host array."""
        return tuple(side.whole(problem) for side in self.shapes[name])


@dataclass(frozen=True, kw_only=True)
class ScheduleTopic(Topic):
    """Learners write schedules: host code around a kernel that is given."""

    writes = "schedule"
    language = "Python"
    suffix = ".py"
    claim_facts = SIMULATED_FACTS
    claims_name_metrics = False
    has_timeline = True

    ladder: Ladder[ScheduleFile]
    kernel: ScheduledKernel

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        return {name: self.kernel.shape(name, problem) for name in self.kernel.shapes}

    def parse(self, file: Path) -> ScheduleFile:
        return parse_schedule(file, self.signature)

    @property
    def kernel_files(self) -> tuple[KernelFile, ...]:
        return (self.kernel.file,)

    def kernel_file(self, name: str) -> KernelFile:
        return self.kernel.file

    @property
    def deciding_files(self) -> tuple[Path, ...]:
        return *super().deciding_files, self.kernel.file.path

    @property
    def claim_sizes(self) -> dict[str, Number]:
        return self.sizes_main
