"""What a climb, a grade or a profile found: one set of frozen dataclasses that every view reads.

The console table, the HTML report, the notebooks, nbgrader's score, the committed records and `--json` all
show these objects. Their field names are a public contract. `None` (JSON null) stands where nothing was
measured. A time is never given without `time_source` ("measured" on a GPU, "modelled" without one), counters
never without `counter_source` ("measured" by a profiler, "emulated" by the emulator).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

CLIMB_SCHEMA = "warpladder/climb/1"
GRADE_SCHEMA = "warpladder/grade/3"
PROFILE_SCHEMA = "warpladder/profile/2"

Verdict = Literal["pass", "fail", "error", "timeout", "skip"]
"""pass: a complete result that is right; fail: it ran, and is wrong; error: it could not be run;
timeout: it did not end; skip: it was not tried, and the reason says why."""

TimeSource = Literal["measured", "modelled"]
CounterSource = Literal["measured", "emulated"]
Code = Literal["ptx", "sass"]
CaseKind = Literal["exact", "real", "special"]
Scope = Literal["warp", "block", "cluster", "grid"]

Number = float | str
"""A JSON number, or one of the strings "nan", "inf", "-inf", which JSON has no number for; of an output "unwritten",
where nobody has written."""


@dataclass(frozen=True)
class Device:
    """The device the kernels ran on."""

    kind: Literal["gpu", "emulator"]  # a real GPU through PyCUDA, or the emulator
    name: str  # as the driver names it, such as "NVIDIA H200"
    arch: str  # what NVRTC compiled for, such as "sm_90a"


@dataclass(frozen=True)
class Provenance:
    """What somebody needs to know to trust a number, or to get it again. No machine paths, no host names."""

    warpladder: str  # version of this package
    python: str  # version of the interpreter
    numpy: str  # version of NumPy, which computes the references
    nvrtc: str | None = None  # version of the compiler, and of the one for cubins where that is another
    driver: str | None = None  # CUDA version of the GPU's driver; null on the emulator
    git_commit: str | None = None  # of the clone it ran from; null for an installed package
    date: str | None = None  # UTC, ISO 8601, to the second
    rounds: int | None = None  # timed rounds behind each median; null where times are modelled
    l2_flush_bytes: int | None = None  # bytes written before each timed launch to empty the L2 cache
    power_w: float | None = None  # highest board power seen between rounds, in watts
    sm_clock_mhz: int | None = None  # lowest SM clock seen between rounds
    throttle_reasons: list[str] | None = None  # NVML's names of what slowed the clock; null: no NVML


@dataclass(frozen=True)
class ClaimResult:
    """One claim of a topic, checked on one kernel's counters at the `count` sizes, and at the `main` ones."""

    text: str  # what the rung must show, in words
    held: bool | None  # null: not known, because nothing was counted, or at sizes that it is not for
    value: float | None  # the left side of the comparison, as found
    rung: str = ""  # the rung that makes this claim; later rungs must satisfy it too
    points: int = 0  # what it is worth in a grade
    expect: str = ""  # the expression that was evaluated
    limit: float | None = None  # the right side of the comparison, as found
    at_main: bool = False  # it fails at the `main` sizes alone; value and limit are from there
    at: dict[str, int | float] | None = None  # it fails at these sizes alone, beside the `count` ones
    per: float | None = (
        None  # both sides are divided by it, such as the warps' multiply-adds; null: by nothing
    )
    unit: str = ""  # what the sides are then: "sectors a warp's multiply-add"

    @property
    def bound(self) -> str:
        """What stands before the limit where it is said: "at most ", and nothing where equality is required."""
        words = {
            "<=": "at most ",
            ">=": "at least ",
            "<": "less than ",
            ">": "more than ",
            "!=": "other than ",
        }
        return next((said for sign, said in words.items() if sign in self.expect), "")


@dataclass(frozen=True)
class SourceLine:
    line: int
    file: str | None = None  # null for the learner's own


@dataclass(frozen=True)
class OtherAccess:
    """The other one of two threads that a finding is about, such as two that race; or the other command."""

    action: Literal["read", "write", "atomic"] | None  # null where it touches no memory
    line: int | None = None  # null where it is not known
    block: list[int] | None = None  # block index (x, y, z); null where it is not known
    thread: list[int] | None = (
        None  # thread index (x, y, z); null where it is not known, or where they are many
    )
    any_of_warp: bool = False  # it is some thread of the warp that begins with `thread`
    file: str | None = None  # that `line` is in; null for the learner's own
    callers: list[SourceLine] = field(default_factory=list)  # as a finding's


@dataclass(frozen=True)
class FindingResult:
    """One fault that the emulator saw while a kernel ran, such as an access out of bounds."""

    # of kernels: a Kind of emulator/machine/records.py; of schedules: launch, order or unwritten; of programs: those of
    # `ladder run`, or error, status, launch, output, time or unnoticed
    kind: str
    line: int | None  # line of the learner's file; null where the compiler gave none
    message: str  # what happened, in words
    count: int = 1  # how often it happened in that launch
    kernel: str | None = None  # the kernel it happened in
    block: list[int] | None = None  # block index (x, y, z) of the first occurrence; null where not known
    thread: list[int] | None = None  # thread index (x, y, z) of the first occurrence; null where not known
    any_of_warp: bool = False  # it is some thread of the warp that begins with `thread`
    tool: Literal["memcheck", "racecheck", "initcheck", "synccheck"] | None = (
        None  # compute-sanitizer's, by kind
    )
    remedy: str | None = None  # what would mend it, in words
    action: Literal["read", "write", "atomic"] | None = None  # null where it is about no access to memory
    space: str | None = None  # PTX's state space: global, const, shared, local or param; or generic
    address: int | None = None  # of the access; in shared and local memory, bytes from the start
    size: int | None = None  # bytes of the access
    offset: int | None = (
        None  # bytes from the start of what the address lies in, or nearest to; may lie outside
    )
    allocation_bytes: int | None = None  # bytes of what the address lies in, or nearest to
    array: str | None = None  # its name: a parameter, a scratch array, or a variable of the kernel's file
    element: int | None = None  # index into the flat array; may lie outside
    shape: list[int] | None = None  # of the array
    scope: Scope | None = None  # of a race: the smallest group that both threads are in
    other: OtherAccess | None = None  # whom the race is with, or the copy that has not arrived
    owner: list[int] | None = None  # of another block's shared memory, in a cluster: the index of that block
    absence: str | None = None  # what is wrong with that block then: not_begun, ended or no_such_block
    file: str | None = None  # that `line` is in, such as a header; null for the learner's own
    callers: list[SourceLine] = field(
        default_factory=list
    )  # by which `line` came to be run, the innermost first, where its function was inlined


@dataclass(frozen=True)
class Corner:
    """A few elements of an output around a wrong one: rows and columns of its last two dimensions."""

    first: list[int]  # the index of the first of them, one number a dimension
    expected: list[list[Number]]
    actual: list[list[Number]]


@dataclass(frozen=True)
class Mismatch:
    """The first wrong element of an output, in memory order."""

    array: str  # the output's parameter name
    index: list[int]  # one number a dimension
    expected: Number  # the reference's value
    actual: Number  # what the kernel left there
    allowed: float  # largest absolute error that would have passed; 0 means equality
    wrong: int  # how many elements of this output are wrong
    elements: int  # how many elements it has
    corner: Corner | None = None  # around it; null for an output of one element


@dataclass(frozen=True)
class SmallCase:
    """A case of a few small numbers that a kernel gets wrong, whole: rows of numbers, one row for one dimension."""

    problem: dict[str, int | float]  # sizes by name
    inputs: dict[str, list[list[Number]]]
    output: str  # the parameter's name
    expected: list[list[Number]]
    actual: list[list[Number]]


@dataclass(frozen=True)
class Reproduce:
    """What it takes to run one case again."""

    topic: str
    file: str  # as the user gave it
    problem: dict[str, int | float]  # sizes by name
    seed: int  # what the inputs are drawn from
    cell: str | None = None  # the name of a notebook's kernel, where it is run again there


@dataclass(frozen=True)
class CaseResult:
    """One input the judge tried."""

    problem: dict[str, int | float]  # sizes by name
    seed: int | None  # what the inputs were drawn from; null for a secret seed that was right
    verdict: Verdict
    error: float | None  # largest error over what is allowed; null where infinite or unknown
    first_mismatch: Mismatch | None
    kind: CaseKind = "real"  # small integers and equality; random data and a bound; NaN, infinities, −0
    reason: str | None = None  # what is wrong, and what to do about it; null for a pass
    reproduce: Reproduce | None = None  # what runs this one case again; null for a pass
    yardstick_error: float | None = None  # `error` of the topic's yardstick on the same data
    error_bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not


@dataclass(frozen=True)
class Accuracy:
    """The largest error of a kernel's real cases, beside that of a careful method on the same data."""

    problem: dict[str, int | float]  # sizes of that case by name
    error: float  # over what is allowed
    yardstick: str  # the careful method, of the same precision, such as "pairwise summation"
    yardstick_error: float  # over what is allowed


@dataclass(frozen=True)
class Interval:
    """What one engine of the device, or the host, did for a while; of topics whose rungs are schedules."""

    # in, out: the copy engine of that direction; host: it waits; host_copy: it copies, or reads, its own memory
    engine: Literal["host", "host_copy", "in", "compute", "out"]
    stream: int  # 0 is the default stream; of no meaning for the host
    start_s: float  # from the start of the run
    end_s: float
    line: int | None  # of the schedule's file that asked for it


@dataclass(frozen=True)
class RungResult:
    """One rung of a climb."""

    id: str  # such as "01_coalesced"
    file: str  # path below the content root, or as the user gave it
    verdict: Verdict
    reason: str | None = None  # why it did not pass; null for a pass
    time_s: float | None = None  # seconds at the climb's `problem`: the median where measured
    time_source: TimeSource | None = None  # null exactly where time_s is
    time_low_s: float | None = None  # lower end of the median's 95 % interval; null if modelled
    time_high_s: float | None = None  # upper end of it
    time_limited_by: str | None = None  # the time model's largest term; null for measured times
    samples_s: list[float] | None = None  # every measured time, by round; null if modelled
    vs_naive: float | None = None  # rung 0's time over this one's: above 1, this rung is faster
    vs_library: float | None = None  # the library's time over this one's
    vs_bound: float | None = None  # the bound's time over this one's: 1 is as fast as can be
    registers: int | None = None  # registers a thread, of the hungriest kernel
    shared_bytes: int | None = None  # static and dynamic shared memory a block, of the hungriest kernel
    spill_bytes: int | None = None  # bytes a thread spilled to local memory, stores and loads
    occupancy: float | None = None  # resident warps over the most an SM holds; lowest of its kernels
    occupancy_limited_by: str | None = None  # registers, shared memory, threads or blocks
    flop: int | None = None  # operations at the `counted` sizes; a fused multiply-add is two
    dram_bytes: int | None = None  # bytes its launches move to and from DRAM, at `counted` sizes
    intensity: float | None = None  # flop over dram_bytes
    counters: dict[str, int] | None = None  # Nsight Compute's metrics, all launches, `counted` sizes
    counter_source: CounterSource | None = None  # null exactly where counters is
    claims: list[ClaimResult] = field(default_factory=list)  # its own and every earlier rung's
    findings: list[FindingResult] = field(default_factory=list)  # empty where the emulator saw no fault
    side_step: bool = False  # an idea worth knowing that need not be faster than the rung before
    accuracy: Accuracy | None = None  # at `problem` where that was measured; null: the topic has no yardstick
    timeline: list[Interval] = field(default_factory=list)  # one run of a schedule; of kernels, empty
    error_bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not
    l2_bytes: int | None = None  # bytes between its SMs and the L2 cache, at `counted` sizes
    other_kernel: bool = False  # at `counted` sizes other kernels are launched than at `problem`


@dataclass(frozen=True)
class Baseline:
    """A library routine that does the same work, timed in the same rounds."""

    name: str  # such as "cupy.matmul (cuBLAS)"
    time_s: float  # median, in seconds; always measured
    time_low_s: float | None = None  # lower end of the median's 95 % confidence interval
    time_high_s: float | None = None  # upper end of it
    samples_s: list[float] | None = None  # every measured time in the order of the rounds


@dataclass(frozen=True)
class Bound:
    """The time under which no version of this topic can run on this device, or none on the units it is of."""

    time_s: float  # at the climb's `problem`: work over peak rate, or bytes over bandwidth
    by: str  # what sets it: "arithmetic", "memory", or, measured, "copy" or "read" of the same bytes
    min_flop: int = 0  # operations any algorithm needs; over a rung's time_s: its useful rate
    min_bytes: int = 0  # bytes that any algorithm moves at `problem`
    source: TimeSource = "modelled"  # measured: in the same rounds; modelled: from the device's table
    units: str = ""  # whose rate it is, where arithmetic sets it: "FP32 units" or "Tensor Cores"


@dataclass(frozen=True)
class Climb:
    """A whole ladder, run rung by rung on one device."""

    topic: str
    device: Device
    problem: dict[str, int | float]  # the sizes that times are for
    counted: dict[str, int | float] | None  # the sizes that counters, claims, flop and dram_bytes are for
    provenance: Provenance
    rungs: list[RungResult]
    baselines: list[Baseline]  # empty on the emulator
    bound: Bound | None  # null where the device's rate for the topic's types is not known
    schema: str = CLIMB_SCHEMA


@dataclass(frozen=True)
class Hint:
    """What keeps a submission from the next rung, and what to try."""

    rung: str  # the rung whose claim failed
    text: str  # one or two sentences for the learner
    claim: str | None = None  # the claim that failed
    value: float | None = None  # what was found
    limit: float | None = None  # what was asked for
    idea: bool = True  # whether the idea of `rung` is what to try; false: something else comes first


@dataclass(frozen=True)
class TimeLimit:
    """How long a submission may take that reaches a rung: a tenth more than the slower of that rung and the one before
    it, timed as the submission is."""

    rung: str
    limit_s: float  # seconds at the topic's `main` sizes
    held: bool


MUCH_WASTE = 0.1
"""The share of all cycles from which on waste is worth a word by itself."""


@dataclass(frozen=True)
class LineCost:
    """A source line that wastes much of a kernel's time, or some where the next rung allows none."""

    line: int
    says: str  # what was counted there, beside what the accesses need at best
    remedy: str
    share: float  # of all cycles that the counts stand for


@dataclass(frozen=True)
class Grade:
    """What a learner's kernel is worth."""

    topic: str
    file: str  # as the user gave it
    verdict: Verdict
    reason: str | None  # why it did not pass, and what to do; null for a pass
    # id of the last rung whose claims, those of all before it and whose time limit hold; null without a pass
    rung_reached: str | None
    points: int
    max_points: int
    cases: list[CaseResult]  # those tried, in order; judging ends at the first that does not pass
    findings: list[FindingResult]
    claims: list[ClaimResult]
    hints: list[Hint]
    device: Device | None = None
    counted: dict[str, int | float] | None = None  # the sizes that counters and claims are for
    counters: dict[str, int] | None = None  # Nsight Compute's metrics, summed over launches
    counter_source: CounterSource | None = None
    facts: dict[str, float] | None = None  # what claims name besides counters and sizes, such as registers
    provenance: Provenance | None = None
    accuracy: Accuracy | None = None  # null: nothing was compared, or the topic has no yardstick
    printed: str = ""  # by the kernel or the schedule: in the case that failed, or the first that printed
    time_s: float | None = (
        None  # seconds at the `main` sizes; null where the lowest rung was reached, or none
    )
    time_source: TimeSource | None = None  # null exactly where time_s is
    mended: str | None = None  # the change by which it comes out right, in words; null: none is known
    mended_line: int | None = None  # the line that it is about; null where no line of the kernel is
    # drew the blocks whose time was modelled: `--seed` runs the same; null: measured
    blocks_seed: int | None = None
    vs_naive: float | None = None  # rung 0's time over time_s; null where either is not known
    vs_bound: float | None = None  # the time that no version goes below over time_s; 1 is the bound itself
    costliest: LineCost | None = None  # null: not counted, or no line wastes much
    time_limits: list[TimeLimit] = field(default_factory=list)  # those looked at, from the highest rung down
    small: SmallCase | None = (
        None  # one that can be read; null where the kernel is right, or right where it is small
    )
    beyond: str | None = None  # why it is wrong where an array has more elements than an int counts
    lost: bool = (
        False  # a process of the judge's ended, or did not answer: the verdict says nothing about the file
    )
    schema: str = GRADE_SCHEMA


@dataclass(frozen=True)
class LineProfile:
    """What one source line cost in one launch; of a function that is inlined, by one of its calls."""

    line: int  # 0: code that the compiler gives no line
    source: str  # the line's text
    counters: dict[str, int]  # Nsight Compute's metrics for that line
    file: str | None = None  # that `line` is in, such as a header; null for the learner's own
    callers: list[SourceLine] = field(default_factory=list)  # as a finding's


def whole_lines(lines: Iterable[LineProfile]) -> list[LineProfile]:
    """Each line once, with what it cost in all launches and by all calls together; those of the learner's own file
    first."""
    found: dict[tuple[str, int], LineProfile] = {}
    for line in lines:
        key = line.file or "", line.line
        before = found[key].counters if key in found else {}
        total = {
            name: before.get(name, 0) + line.counters.get(name, 0) for name in {**before, **line.counters}
        }
        found[key] = LineProfile(line.line, line.source, total, line.file)
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True)
class CodeLine:
    """An instruction of a listing."""

    at: str  # its line in the compiler's PTX, or its address in SASS, in hexadecimal digits
    text: str
    line: int  # of the source; 0: none
    file: str | None  # that `line` is in; null for the learner's own
    counters: (
        dict[str, int] | None
    )  # Nsight Compute's metrics; null for SASS, which the emulator does not execute


@dataclass(frozen=True)
class LaunchProfile:
    """One launch of a submission; of a program, all that are alike, whose counters are added up."""

    kernel: str  # as the launch block names it
    grid: list[int]  # blocks in x, y, z
    block: list[int]  # threads in x, y, z
    shared_bytes: int  # static and dynamic, a block
    registers: int  # a thread
    local_bytes: int | None  # stack a thread, spills included; null for a program
    spill_bytes: int | None  # spilled bytes a thread, stores and loads; null for a program
    occupancy: float | None
    occupancy_limited_by: str | None
    dram_bytes: int | None  # bytes the launches must move to and from DRAM
    counters: dict[str, int] | None
    counter_source: CounterSource | None
    lines: list[LineProfile]  # by file, the learner's own first, and line; only lines that did something
    findings: list[FindingResult]
    times: int = 1  # how many launches these are
    launched: SourceLine | None = None  # the program's line that launches it; null where not known
    code: list[CodeLine] = field(
        default_factory=list
    )  # the kernel's PTX or SASS, in its order, where asked for


@dataclass(frozen=True)
class Profile:
    """Counters, resources and findings of one submission, launch by launch."""

    topic: str  # empty for a program of `ladder run`
    file: str
    device: Device
    problem: dict[str, int | float]
    verdict: Verdict  # of this one run, its outputs compared
    reason: str | None
    launches: list[LaunchProfile]  # empty for a schedule
    provenance: Provenance
    timeline: list[Interval] = field(default_factory=list)  # one run of a schedule; of kernels, empty
    timeline_source: TimeSource | None = None  # null exactly where there is no timeline
    printed: str = ""  # by the kernel or the schedule
    schema: str = PROFILE_SCHEMA


@dataclass(frozen=True)
class ArrayAccess:
    """What one block of a launch accesses of an array, in one way. Elements are pairs (first, last + 1) of the flat
    array, ascending and apart."""

    array: str  # a parameter, a scratch array or a variable of the kernel's file; empty where not known
    space: Literal["global", "shared", "const"]  # PTX's state space
    action: Literal["read", "write", "atomic"]
    shape: list[int]
    block: list[int]  # by all its threads
    warp: list[int]  # by one instruction of warp 0, the first of those in which the most lanes take part
    thread: list[int]  # by thread (0, 0, 0), over its life


@dataclass(frozen=True)
class LaunchAccesses:
    """One launch, and what one block of it accesses."""

    kernel: str  # as the launch block names it
    grid: list[int]  # blocks in x, y, z
    block: list[int]  # threads in x, y, z
    traced: list[int]  # blockIdx of the block
    arrays: list[ArrayAccess]  # in the order in which the block began to access them


@dataclass(frozen=True)
class Accesses:
    """What the launches of a kernel file access, at sizes at which a block's part can be seen."""

    topic: str
    file: str
    problem: dict[str, int | float]
    launches: list[LaunchAccesses]


Result = TypeVar("Result", Climb, Grade, Profile)


def to_json(result: Climb | Grade | Profile) -> bytes:
    """Indented UTF-8 JSON with every field present."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"


def from_json(data: bytes | str, kind: type[Result]) -> Result:
    """The inverse of `to_json`. Raises msgspec.ValidationError, naming the field, for other JSON."""
    return msgspec.json.decode(data, type=kind)


def load(path: Path, kind: type[Result]) -> Result:
    """A record from a file, such as `load(Path("measurements/h200/gemm.json"), Climb)`."""
    return from_json(path.read_bytes(), kind)
