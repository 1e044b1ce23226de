"""The topics: found by folder name, declared once in `lessons/<topic>/topic.toml`, and nowhere else."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from grader.errors import WarpladderError
from grader.workbook.content import content_root
from grader.workbook.expressions import Expression, ExpressionError, nearest
from grader.workbook.kernel_file import Rung, parse_kernel_file
from grader.workbook.schedule_file import parse_schedule
from grader.workbook.signature import Parameter, Signature, parse_signature
from grader.workbook.strict_toml import Table, read

__all__ = ["ClaimSpec", "Parameter", "Reference", "Signature", "Tolerance", "Topic", "discover", "load"]

Problem = Mapping[str, int]
Arrays = dict[str, NDArray[np.generic]]

_KEYS = ("title", "order", "signature", "kernel", "smallest_arch", "library", "sizes", "tolerance", "claim")
_RUNG_FILE = re.compile(r"\d\d_\w+")
_REFERENCE_FUNCTIONS = ("make_inputs", "reference", "magnitude", "min_flop", "min_bytes")


class Reference(Protocol):
    """What a topic's reference.py defines."""

    def make_inputs(
        self, problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
    ) -> Arrays:
        """Inputs by parameter name, in the parameter's dtype. "exact": small integers, all sums exact."""

    def reference(self, inputs: Arrays, problem: Problem) -> dict[str, NDArray[np.float64]]:
        """Outputs by parameter name, in float64 and the output's shape."""

    def magnitude(self, inputs: Arrays, problem: Problem) -> dict[str, NDArray[np.float64]]:
        """Σ|a·b| for each output element, in float64: what rounding errors are relative to."""

    def min_flop(self, problem: Problem) -> int:
        """Floating-point operations that no algorithm can do without."""

    def min_bytes(self, problem: Problem) -> int:
        """Bytes that have to cross DRAM whatever the algorithm."""


class Accurate(Protocol):
    """What reference.py defines as well where topic.toml names a yardstick of accuracy."""

    def yardstick(self, inputs: Arrays, problem: Problem) -> Arrays:
        """Outputs as a careful method computes them in the precision that kernels have."""


class ReadsMore(Protocol):
    """What reference.py defines as well where fewer bytes are written than read."""

    def written_bytes(self, problem: Problem) -> int:
        """How many of min_bytes are written."""


class Transforms(Protocol):
    """What reference.py defines as well where algorithms that compute with transforms of the inputs are honest."""

    def transformed_bounds(
        self, inputs: Arrays, problem: Problem
    ) -> Iterable[tuple[str, float, dict[str, NDArray[np.float64]]]]:
        """Of each such algorithm its name, and terms and magnitude of its error bound, see Tolerance."""


class OnCpu(Protocol):
    """What reference.py defines as well where the CPU is worth comparing with."""

    def on_cpu(self, inputs: Arrays, problem: Problem) -> Arrays:
        """Outputs as NumPy computes them, in the precision that kernels have."""


@dataclass(frozen=True)
class Tolerance:
    """|error| <= lambda_ · √terms · u(unit) · magnitude; lambda_ = 0 asks for equality."""

    lambda_: float
    terms: Mapping[str, Expression]  # by output, of the problem's sizes: how many roundings follow each other
    unit: str  # the type whose rounding counts, such as "float32"
    yardstick: str | None = (
        None  # the careful method that reference.yardstick() is, such as "pairwise summation"
    )


@dataclass(frozen=True)
class ClaimSpec:
    """What a rung has to show at the `count` sizes, and the points it is worth."""

    rung: str
    text: str
    expect: Expression  # over sizes, counters and the facts that counting.facts lists
    points: int
    line: int  # of topic.toml


@dataclass(frozen=True)
class ScheduledKernel:
    """What the schedules of a topic launch: it is the topic's, not the learner's."""

    file: Rung  # kernels/naive/<topic>.cu; its launch block launches it once over the whole problem
    elements: Mapping[str, Expression]  # by pointer of the topic's signature: how many the host array has
    check_sizes: tuple[dict[str, int], ...]  # sizes at which schedules are checked and not replayed
    launches: Expression  # how many launches over the whole problem make the job, of the job's sizes
    reach: Mapping[str, Expression]  # by the kernel's pointers: how many elements a launch touches
    in_place: bool = False  # a thread reads no more than the element it writes, so input may be output


@dataclass(frozen=True)
class Topic:
    """One topic with its ladder. Its rungs are kernels, or schedules where it has a kernel itself."""

    name: str
    title: str
    order: int  # of the topic among the others
    signature: Signature
    smallest_arch: str  # such as "sm_70"
    library: str | None  # the baseline that users would call, such as "cupy.matmul"
    sizes_main: dict[str, int]
    sizes_count: dict[str, int]
    judge_cases: tuple[dict[str, int], ...]
    from_zero: tuple[str, ...]  # sizes that may be 0; all others start at 1
    tolerance: Tolerance
    claims: tuple[ClaimSpec, ...]
    rungs: tuple[Rung, ...]  # from rung 0 upwards
    folder: Path  # lessons/<name>
    kernel: ScheduledKernel | None = None  # what schedules launch; None: the rungs are kernels

    @property
    def suffix(self) -> str:
        """The kind of file that rungs and submissions are."""
        return ".cu" if self.kernel is None else ".py"

    @property
    def starter(self) -> Path:
        """What a learner starts from."""
        return self.folder / f"starter{self.suffix}"

    def parse(self, file: Path) -> Rung:
        """Read a submission; raises WarpladderError naming file and line."""
        return (parse_kernel_file if self.kernel is None else parse_schedule)(file, self.signature)

    @property
    def max_points(self) -> int:
        """The points of all claims."""
        return sum(claim.points for claim in self.claims)

    @cached_property
    def reference(self) -> Reference:
        """The module reference.py; raises WarpladderError where a function is missing."""
        needed = (*_REFERENCE_FUNCTIONS, *(["yardstick"] if self.tolerance.yardstick else []))
        return _load_reference(self.folder / "reference.py", self.name, needed)

    def yardstick(self, inputs: Arrays, problem: Problem) -> Arrays:
        """Outputs as the topic's yardstick of accuracy computes them; {} for a topic without one."""
        if self.tolerance.yardstick is None:
            return {}
        return cast(Accurate, self.reference).yardstick(inputs, problem)

    @property
    def on_cpu(self) -> Callable[[Arrays, Problem], Arrays] | None:
        """NumPy's way of doing the job on the CPU; None where reference.py has none."""
        return cast(OnCpu, self.reference).on_cpu if hasattr(self.reference, "on_cpu") else None

    def written_bytes(self, problem: Problem) -> int:
        """How many of the bytes that have to cross DRAM are written: half, if reference.py does not say."""
        if hasattr(self.reference, "written_bytes"):
            return cast(ReadsMore, self.reference).written_bytes(problem)
        return self.reference.min_bytes(problem) // 2

    def transformed_bounds(
        self, inputs: Arrays, problem: Problem
    ) -> Iterable[tuple[str, float, dict[str, NDArray[np.float64]]]]:
        """Error bounds beside the tolerance's own; none where reference.py does not define any."""
        if not hasattr(self.reference, "transformed_bounds"):
            return ()
        return cast(Transforms, self.reference).transformed_bounds(inputs, problem)

    def rung(self, rung_id: str) -> Rung:
        """The rung with that id; raises WarpladderError."""
        for rung in self.rungs:
            if rung.id == rung_id:
                return rung
        ids = [rung.id for rung in self.rungs]
        message = f"{self.name} has no rung `{rung_id}`{nearest(rung_id, ids)}"
        raise WarpladderError(message, remedy=f"its rungs are {', '.join(ids)}")

    def problem(self, sizes: Literal["main", "count"], overrides: Problem | None = None) -> dict[str, int]:
        """The `main` or `count` sizes with some replaced; raises WarpladderError for what is not a size."""
        problem = dict(self.sizes_main if sizes == "main" else self.sizes_count)
        for name, value in (overrides or {}).items():
            if name not in problem:
                known = ", ".join(problem)
                raise WarpladderError(f"{self.name} has no size `{name}`", remedy=f"its sizes are {known}")
            least = 0 if name in self.from_zero else 1
            if value < least:
                raise WarpladderError(f"{name}={value}: sizes start at {least}")
            problem[name] = value
        if complaint := _impossible(problem, self.signature):
            raise WarpladderError(complaint, remedy="choose other sizes with --set")
        return problem


def discover(root: Path | None = None) -> dict[str, Topic]:
    """Every topic under `root` (default: this installation's content), by name, in the order of study.

    Raises WarpladderError for a broken topic, naming file and line.
    """
    root = root or content_root()
    folders = [path.parent for path in sorted((root / "lessons").glob("*/topic.toml"))]
    topics = [_read_topic(folder, root) for folder in folders]
    return {topic.name: topic for topic in sorted(topics, key=lambda topic: (topic.order, topic.name))}


def load(name: str, root: Path | None = None) -> Topic:
    """The topic called `name`; raises WarpladderError."""
    root = root or content_root()
    folder = root / "lessons" / name
    if (folder / "topic.toml").is_file():
        return _read_topic(folder, root)
    names = sorted(path.parent.name for path in (root / "lessons").glob("*/topic.toml"))
    message = f"there is no topic `{name}`{nearest(name, names)}"
    raise WarpladderError(message, remedy=f"the topics are {', '.join(names)}")


def _read_topic(folder: Path, root: Path) -> Topic:
    path = folder / "topic.toml"
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*_KEYS)
    try:
        signature = parse_signature(table.get("signature", str))
    except ValueError as error:
        raise table.error(str(error), "signature") from None
    sizes = table.table("sizes")
    sizes.allow("main", "count", "judge", "from_zero", "derived")
    derived = sizes.below("derived")
    signature = dataclasses.replace(
        signature, derived=tuple((name, derived.expression(name)) for name in derived.values)
    )
    if not sizes.get("judge", list):
        raise sizes.error(
            "`judge` has no cases", "judge", "list at least the sizes 1 and some around the tile"
        )
    kernel = None
    if "kernel" in table.values:
        kernel = _kernel(table.table("kernel"), signature, root, folder.name)
    suffix, parse = (".cu", parse_kernel_file) if kernel is None else (".py", parse_schedule)
    rungs = tuple(parse(file, signature) for file in _rung_files(root / "kernels", folder.name, suffix))
    return Topic(
        name=folder.name,
        title=table.get("title", str),
        order=table.get("order", int),
        signature=signature,
        smallest_arch=table.get("smallest_arch", str),
        library=table.get("library", str, "") or None,
        sizes_main=_sizes(sizes, "main", sizes.get("main", dict), signature),
        sizes_count=_sizes(sizes, "count", sizes.get("count", dict), signature),
        judge_cases=tuple(_sizes(sizes, "judge", case, signature) for case in sizes.get("judge", list)),
        from_zero=sizes.names("from_zero"),
        tolerance=_tolerance(table.table("tolerance"), signature),
        claims=tuple(_claim(claim, [rung.id for rung in rungs]) for claim in table.tables("claim")),
        rungs=rungs,
        folder=folder,
        kernel=kernel,
    )


def _kernel(table: Table, job: Signature, root: Path, topic: str) -> ScheduledKernel:
    """What schedules launch, from the table `[kernel]`."""
    table.allow("signature", "launches", "elements", "reach", "check_sizes", "in_place")
    try:
        signature = parse_signature(table.get("signature", str))
    except ValueError as error:
        raise table.error(str(error), "signature") from None
    file = parse_kernel_file(root / "kernels" / "naive" / f"{topic}.cu", signature)
    elements = _by_pointer(table.table("elements"), job)
    return ScheduledKernel(
        file=file,
        elements=elements,
        check_sizes=tuple(
            _sizes(table, "check_sizes", case, job) for case in table.get("check_sizes", list, [])
        ),
        launches=table.expression("launches", 1),
        reach=_by_pointer(table.table("reach"), signature),
        in_place=table.get("in_place", bool, False),
    )


def _by_pointer(table: Table, signature: Signature) -> dict[str, Expression]:
    """An expression for each pointer of a signature, of its sizes."""
    pointers = [item.name for item in (*signature.inputs, *signature.outputs)]
    table.allow(*pointers)
    found = {name: table.expression(name) for name in pointers}
    sizes = {size.name for size in signature.sizes}
    for name, expression in found.items():
        if unknown := expression.names - sizes:
            raise table.error(f"`{name}` names {', '.join(sorted(unknown))}, not a size", name)
    return found


def _rung_files(kernels: Path, topic: str, suffix: str) -> list[Path]:
    naive = kernels / "naive" / f"{topic}{suffix}"
    further = sorted((kernels / "optimized" / topic).glob(f"*{suffix}"))
    for path in further:
        if not _RUNG_FILE.fullmatch(path.stem):
            raise WarpladderError(
                "this is not the name of a rung",
                file=path,
                remedy=f"two digits and a word: 01_coalesced{suffix}",
            )
    return [naive, *further]


def _sizes(table: Table, key: str, given: object, signature: Signature) -> dict[str, int]:
    names = [size.name for size in signature.sizes]
    remedy = "write { " + ", ".join(f"{name} = 32" for name in names) + " }"
    if not isinstance(given, dict) or sorted(given) != sorted(names):
        raise table.error(f"`{key}`: {given!r} does not give the sizes {', '.join(names)}", key, remedy)
    least = {name: 0 if name in table.names("from_zero") else 1 for name in names}
    if not all(type(value) is int and value >= least[name] for name, value in given.items()):
        raise table.error(f"`{key}`: {given!r} holds something else than integers from 1", key, remedy)
    if complaint := _impossible(given, signature):
        raise table.error(f"`{key}`: {given!r}: {complaint}", key)
    return {name: given[name] for name in names}


def _impossible(problem: Problem, signature: Signature) -> str | None:
    """What is wrong where a size that follows from the others is below 1; None: nothing."""
    try:
        values = signature.with_derived(problem)
    except ExpressionError as error:
        return str(error)
    for name, expression in signature.derived:
        if values[name] < 1:
            return f"{name} = {expression.text} is {values[name]}: these sizes make no problem"
    return None


def _tolerance(table: Table, signature: Signature) -> Tolerance:
    table.allow("lambda", "terms", "unit", "yardstick")
    terms = _terms(table, [item.name for item in signature.outputs])
    unknown = {name for item in terms.values() for name in item.names} - {
        size.name for size in signature.sizes
    }
    if unknown:
        raise table.error(f"`terms` names {', '.join(sorted(unknown))}, not a size", "terms")
    return Tolerance(
        table.get("lambda", float),
        terms,
        table.get("unit", str, "float32"),
        table.get("yardstick", str, "") or None,
    )


def _terms(table: Table, outputs: list[str]) -> dict[str, Expression]:
    """`terms` by output: one expression for all of them, or a table of an expression each."""
    if not isinstance(table.values.get("terms"), dict):
        return dict.fromkeys(outputs, table.expression("terms", 1))
    each = table.table("terms")
    each.allow(*outputs)
    return {name: each.expression(name) for name in outputs}


def _claim(table: Table, rungs: list[str]) -> ClaimSpec:
    table.allow("rung", "text", "expect", "points")
    rung = table.get("rung", str)
    if rung not in rungs:
        message = f"there is no rung `{rung}`{nearest(rung, rungs)}"
        raise table.error(message, "rung", f"the rungs are {', '.join(rungs)}")
    expect = table.expression("expect")
    if not expect.is_condition:
        raise table.error(f"`expect`: `{expect.text}` is a number", "expect", "compare it: … <= …")
    return ClaimSpec(rung, table.get("text", str), expect, table.get("points", int), table.line())


def _load_reference(path: Path, topic: str, needed: Iterable[str]) -> Reference:
    spec = importlib.util.spec_from_file_location(f"reference_of_{topic}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise WarpladderError("the topic has no reference.py", file=path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise WarpladderError(f"it does not load: {type(error).__name__}: {error}", file=path) from error
    for function in needed:
        if not callable(getattr(module, function, None)):
            raise WarpladderError(f"`{function}` is missing", file=path, remedy=f"define {function}(…)")
    return cast(Reference, module)
