"""The inputs a submission is tried on.

Every size of the topic comes as an *exact* case (small integers whose every partial sum is exact, compared
for equality) and as a *real* one (random data with outliers, compared within the error bound). The largest sizes, or
those that the topic names, come as a *special* one as well (NaN, infinities, −0 and subnormals among real data; where
nothing is computed, every bit has to be kept). Their seed is public. A grade adds real cases from a secret seed, and
exact ones of sizes that it draws, so that nothing can be right by knowing the data, or which sizes are tried.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from grader.emulator.machine.cores import usable
from grader.errors import WarpladderError
from grader.judge.correctness import explaining
from grader.judge.correctness.comparison import (
    SMALL,
    UNIT_ROUNDOFF,
    Bounds,
    Comparison,
    compare,
    compare_bits,
    compare_within,
    error_bound,
)
from grader.judge.correctness.pieces import blas_threads
from grader.judge.correctness.verdict import (
    EVERY_BIT,
    EXACT_IN_SINGLE,
    INEXACT_CONSTANTS,
    LONG_ROWS,
    MORE_THAN_ROUNDING,
    NO_ROUNDING,
    NO_ZERO,
    NOTHING_IS_COMPUTED,
    RANGE,
    SPECIAL_VALUES,
    SUMS_ARE_EXACT,
)
from grader.results import CaseKind, Reproduce
from grader.sandbox.memory import memory_bytes
from grader.workbook import units
from grader.workbook.elements import is_float
from grader.workbook.expressions import Number
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

PUBLIC_SEED = 1
"""The seed of the public cases, so that anybody can make the same inputs."""

KINDS: tuple[CaseKind, ...] = ("exact", "real")
SPECIAL: CaseKind = "special"

SPECIAL_SIZES = 4
"""So many sizes of a topic are tried with special values, the largest, unless it says which."""


GROSS = 4.0
"""A case from another seed than the public one allows so many times the error: whether rounding is honest is decided on
data where a right kernel fails always or never, and not by the luck of a draw."""

COARSEST = 2.0**-5
"""Share of the magnitude of a sum that is more than a type rounds away: bfloat16 has 8 significant bits."""

NEXT_TO_NOTHING = 2.0**-40
"""What no rounding leaves of sums of whole numbers that are 0."""

COPIES = 4
"""How many times the bytes of a problem are held at the least: input and reference in double precision, the memory
shared with the child, the child's own."""


@dataclass(frozen=True)
class Case:
    """One input: sizes, seed and kind."""

    sizes: tuple[tuple[str, Number], ...]
    seed: int
    kind: CaseKind
    secret: bool = False

    @property
    def problem(self) -> dict[str, Number]:
        """Sizes by name."""
        return dict(self.sizes)

    def reproduce(self, topic: str, file: str) -> Reproduce:
        """What runs this case again."""
        return Reproduce(topic, file, self.problem, self.seed)


def _unknown(outputs: dict[str, Array]) -> None:
    """What is behind wrong outputs where no topic says it."""


@dataclass(frozen=True)
class CaseData:
    """What a case's kernel is given, and what must come out; all by parameter name."""

    inputs: Mapping[str, Array]  # read-only
    expected: dict[str, Array]  # in float64; in the output's own type where equality is asked for
    allowed: dict[str, Array | None]  # absolute error an element, None for equality; missing: every bit
    advice: str  # what to look at when an output is wrong
    wider: Callable[[], Bounds] = dict  # what algorithms with transforms are allowed; slow when first called

    slack: float = 1.0  # how many times the error passes as well
    kind: CaseKind = "real"
    tables: frozenset[str] = frozenset()  # inputs whose elements belong together
    rounding: float = math.inf  # a larger error, over what is allowed, no rounding of any type explains
    mistake: Callable[[dict[str, Array]], str | None] = _unknown  # what is behind wrong outputs, in words

    def compare(self, name: str, actual: Array, block: int = 0) -> Comparison:
        """How an output differs from what must come out, and what to look at; `block` is the threads of a block."""
        found = self._compare(name, actual)
        advice = self.advice
        if self.kind == "exact" and found.below_half:
            advice = NO_ZERO if self._next_to_nothing(name, actual) else INEXACT_CONSTANTS
        elif advice == SPECIAL_VALUES and found.mismatch is not None and self._finite(name, actual):
            advice = RANGE
        elif self._beyond_rounding(found):
            advice = NO_ROUNDING
        mistake = self._mistake(name, actual, found)
        return replace(found, advice=advice, mistake=mistake, fits=self._fitting(name, actual, found, block))

    def _beyond_rounding(self, found: Comparison) -> bool:
        """Whether no type in which sums of this case may be kept explains how far elements are off."""
        if self.kind == "real":
            return found.error is not None and found.error > self.rounding
        return self.advice == EXACT_IN_SINGLE and found.beyond_all

    def _rounded(self, name: str, found: Comparison) -> bool:
        """Whether rounding may be all that is wrong, and so no index and no element that is left out."""
        return self.kind == "real" and self.allowed.get(name) is not None and not self._beyond_rounding(found)

    def _next_to_nothing(self, name: str, actual: Array) -> bool:
        """Whether of all that is wrong nothing is due, and comes out almost."""
        wrong = actual != self.expected[name]
        came, due = actual[wrong].astype(np.float64), self.expected[name][wrong]
        return not due.any() and bool((np.abs(came) < NEXT_TO_NOTHING).all())

    def _finite(self, name: str, actual: Array) -> bool:
        """Whether NaN and infinities stand where they are due, and nowhere else."""
        came, due = (np.where(np.isfinite(array), 0, array) for array in (actual, self.expected[name]))
        with np.errstate(invalid="ignore"):  # a NaN that signals
            return np.array_equal(came, due, equal_nan=True)

    def _fitting(self, name: str, actual: Array, found: Comparison, block: int) -> tuple[str, ...]:
        """Mistakes that explain what was written."""
        first = found.first_unwritten
        if first is not None and len(first) == 2 and first[1] == block > 0:
            return (LONG_ROWS,)
        known = (
            found.unwritten or found.added_to or found.unset or found.flushed or self._rounded(name, found)
        )
        if found.right or known or actual.size > explaining.MOST:
            return ()
        expected, limit = self.expected[name], self.allowed.get(name)
        with np.errstate(invalid="ignore", over="ignore"):
            wrong = actual != expected if limit is None else ~(np.abs(actual - expected) <= limit)
        return explaining.fitting(actual, expected, self.inputs, wrong, block)

    def _mistake(self, name: str, actual: Array, found: Comparison) -> str | None:
        """What the topic knows to be behind a wrong output that was written, unless it is so large that it costs."""
        if found.right or found.unwritten or found.added_to or found.unset or actual.size > SMALL:
            return None
        return self.mistake({name: actual})

    def _compare(self, name: str, actual: Array) -> Comparison:
        if name not in self.allowed:
            return compare_bits(name, actual, self.expected[name])
        expected, allowed = self.expected[name], self.allowed[name]
        found = compare_within(name, actual, expected, allowed, self.wider)
        if found.right or allowed is None or self.slack == 1.0:
            return found
        loose = compare_within(name, actual, expected, self.slack * allowed, self._loose)
        return loose if loose.error is None else replace(loose, error=self.slack * loose.error)

    def _loose(self) -> Bounds:
        return {
            algorithm: {name: self.slack * limit for name, limit in limits.items()}
            for algorithm, limits in self.wider().items()
        }


def make(problem: Problem, kind: CaseKind, seed: int = PUBLIC_SEED, secret: bool = False) -> Case:
    """A case of these sizes."""
    return Case(tuple(problem.items()), seed, kind, secret)


def public(topic: Topic, seed: int = PUBLIC_SEED) -> tuple[Case, ...]:
    """Both kinds of every size the topic is judged at, smallest sizes first as the topic lists them."""
    usual = tuple(make(problem, kind, seed) for problem in topic.judge_cases for kind in KINDS)
    if topic.special_inputs is None:
        return usual
    largest = sorted(topic.judge_cases, key=topic.reference.min_bytes)[-SPECIAL_SIZES:]
    return (*usual, *(make(problem, SPECIAL, seed) for problem in topic.special_cases or largest))


def at(topic: Topic, problem: Problem, seed: int) -> tuple[Case, ...]:
    """Every kind at chosen sizes."""
    kinds = KINDS if topic.special_inputs is None else (*KINDS, SPECIAL)
    return tuple(make(problem, kind, seed) for kind in kinds)


def hidden(topic: Topic, sizes: Iterable[Problem], seed: int) -> tuple[Case, ...]:
    """What a course tries besides: other inputs of each size that the topic is judged at, and every kind at `sizes`."""
    others = [make(problem, "exact", seed) for problem in topic.judge_cases]
    return (*others, *(case for problem in sizes for case in at(topic, problem, seed)))


def secret(topic: Topic, seed: int) -> tuple[Case, ...]:
    """A real case of every size, and an exact one of each that is drawn, from a seed drawn for this grade."""
    drawn = topic.drawn(random.Random(seed))
    usual = tuple(make(problem, "real", seed, secret=True) for problem in topic.judge_cases)
    return (*usual, *(make(problem, "exact", seed, secret=True) for problem in drawn))


def unlike(topic: Topic, case: Case) -> str:
    """What sets a case whose sizes were drawn apart from the topic's own, which came before it and are right."""
    if not case.secret or case.kind != "exact" or case.problem in (*topic.judge_cases, topic.sizes_count):
        return ""
    most = {name: max(problem[name] for problem in topic.judge_cases) for name in case.problem}
    larger = [f"`{name}`" for name, size in case.problem.items() if size > most[name]]
    if not larger:
        return " Cases before it are right, with other sizes: does the code take one of these for granted?"
    return f" Cases before it are right, with smaller {' and '.join(larger)}: is a loop, an array or a type too short?"


def at_count_sizes(topic: Topic, seed: int) -> tuple[Case, ...]:
    """What a grade counts: both kinds, from its own seed, so that neither a table of answers nor arithmetic that
    is right for small integers alone has the counters of a rung."""
    return tuple(make(topic.sizes_count, kind, seed, secret=True) for kind in KINDS)


def compute(topic: Topic, case: Case) -> CaseData:
    """Inputs and reference of a case: the same for the same case, whatever was computed before.

    Raises WarpladderError for one that this machine's memory does not hold: the system would end some process.
    """
    problem = case.problem
    check_room(topic, problem)
    inputs = _inputs(topic, case)
    for array in inputs.values():
        array.flags.writeable = False
    tolerance = topic.tolerance
    if case.kind == SPECIAL and tolerance.lambda_ == 0:
        return CaseData(inputs, _moved(topic, inputs, problem), {}, EVERY_BIT)
    bounded = case.kind != "exact" and topic.rounds
    return of_results(topic, case, inputs, *results(topic, inputs, problem, bounded))


def check_room(topic: Topic, problem: Problem) -> None:
    """Raises WarpladderError for a problem that this machine's memory does not hold."""
    needed = COPIES * topic.reference.min_bytes(problem)
    if needed > memory_bytes():
        room = f"{needed / 2**30:,.0f} GiB of memory, this machine has {memory_bytes() / 2**30:,.0f}"
        message = f"{units.case(problem)} needs some {room}"
        raise WarpladderError(message, remedy="choose smaller sizes with --set")


def results(
    topic: Topic, inputs: Mapping[str, Array], problem: Problem, bounded: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The outputs in float64, and how far their elements may be off, if that is asked for."""
    with np.errstate(invalid="ignore"):
        expected = topic.reference.reference(inputs, problem)
        magnitudes = topic.reference.magnitude(inputs, problem) if bounded else {}
    return dict(expected), {name: bound(topic, problem, name, sums) for name, sums in magnitudes.items()}


def bound(topic: Topic, problem: Problem, name: str, magnitude: Array) -> Array:
    """How far elements of an output may be off, by their magnitudes."""
    tolerance = topic.tolerance
    terms = float(tolerance.terms[name].evaluate(problem))
    return error_bound(tolerance.lambda_, terms, tolerance.unit[name], magnitude)


def of_results(
    topic: Topic,
    case: Case,
    inputs: Mapping[str, Array],
    results: Mapping[str, Array],
    bounds: Mapping[str, Array],
) -> CaseData:
    """A case whose results are known; `bounds` is empty where equality is asked for."""
    problem, tolerance = case.problem, topic.tolerance
    expected = dict(results)
    allowed: dict[str, Array | None] = dict.fromkeys(expected)
    if bounds:  # whole numbers are equal or not
        allowed |= {name: limit for name, limit in bounds.items() if is_float(topic.signature[name].dtype)}
    else:
        for name, units in tolerance.exact.items():
            if units > 0:
                expected[name] = _rounded(expected[name], topic.signature[name].dtype)
                size = np.abs(expected[name], dtype=np.float64)
                allowed[name] = units * UNIT_ROUNDOFF[tolerance.unit[name]] * size
    for name, limit in allowed.items():
        if limit is None:
            expected[name] = _rounded(expected[name], topic.signature[name].dtype)
    wider = cache(partial(_wider_bounds, topic, case, inputs))
    slack = 1.0 if case.seed == PUBLIC_SEED else GROSS
    shares = [
        tolerance.lambda_ * math.sqrt(float(item.evaluate(problem))) * UNIT_ROUNDOFF[tolerance.unit[name]]
        for name, item in tolerance.terms.items()
    ]
    share = max(shares, default=0.0)
    rounding = COARSEST / share if share else math.inf
    equal = all(limit is None for limit in allowed.values())
    narrow = any(is_float(item.dtype) and item.dtype.itemsize < 4 for item in topic.signature.inputs)
    advice = _advice(tolerance.lambda_, "exact" if equal else case.kind, narrow)
    mistake = partial(topic.mistake, inputs, problem=problem)
    return CaseData(
        inputs, expected, allowed, advice, wider, slack, case.kind, topic.table_names, rounding, mistake
    )


def _rounded(expected: Array, dtype: np.dtype[Any]) -> Array:
    """Expected numbers in an output's type: what that does not hold is infinite."""
    with np.errstate(over="ignore"):
        return expected.astype(dtype, copy=False)


def _inputs(topic: Topic, case: Case) -> dict[str, Array]:
    sizes = (value for value in case.problem.values() if isinstance(value, int))
    rng = np.random.default_rng([case.seed, (*KINDS, SPECIAL).index(case.kind), *sizes])
    if case.kind == "exact" or case.kind == "real":
        return dict(topic.reference.make_inputs(case.problem, rng, case.kind))
    if topic.special_inputs is None:
        raise WarpladderError(f"{topic.name} has no special values")
    return dict(topic.special_inputs(case.problem, rng))


def _moved(topic: Topic, inputs: Mapping[str, Array], problem: Problem) -> dict[str, Array]:
    """What comes out where elements are only moved, bit for bit: the reference moves the bits as integers."""
    bits: dict[str, Any] = {name: array.view(f"u{array.itemsize}") for name, array in inputs.items()}
    found = topic.reference.reference(bits, problem)
    types = {name: topic.signature[name].dtype for name in found}
    return {name: array.astype(f"u{types[name].itemsize}").view(types[name]) for name, array in found.items()}


def _wider_bounds(topic: Topic, case: Case, inputs: Mapping[str, Array]) -> Bounds:
    """The topic's bounds for algorithms that compute with transforms, by algorithm and output."""
    tolerance = topic.tolerance
    with np.errstate(invalid="ignore"):
        return {
            name: {
                output: error_bound(tolerance.lambda_, terms, tolerance.unit[output], sums)
                for output, sums in magnitude.items()
            }
            for name, terms, magnitude in topic.transformed_bounds(inputs, case.problem)
        }


def _advice(lambda_: float, kind: CaseKind, narrow: bool) -> str:
    if kind == SPECIAL:
        return SPECIAL_VALUES
    if lambda_ == 0:
        return NOTHING_IS_COMPUTED
    if kind != "exact":
        return MORE_THAN_ROUNDING
    return EXACT_IN_SINGLE if narrow else SUMS_ARE_EXACT


def yardstick_error(topic: Topic, problem: Problem, data: CaseData) -> float | None:
    """The largest error of the topic's yardstick over what is allowed; None where nothing is measured by it."""
    with np.errstate(invalid="ignore"):
        outputs = topic.yardstick(data.inputs, problem)
    errors = [
        compare(name, outputs[name], data.expected[name], limit).error
        for name, limit in data.allowed.items()
        if name in outputs and limit is not None
    ]
    return max((error for error in errors if error is not None), default=None)


BLAS_SHARE = 4
"""A case is computed while emulators run others: its matrix products take one core of so many."""


class CaseStore:
    """Case data computed once and shared by the rungs of a climb, or the submissions of a class, from any thread."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self._known: dict[Case, CaseData] = {}
        self._yardsticks: dict[Case, float | None] = {}
        self._lock = threading.Lock()
        self._computing: dict[Case, threading.Lock] = {}

    def get(self, case: Case) -> CaseData:
        """The data of a case."""
        with self._lock:
            computing = self._computing.setdefault(case, threading.Lock())
        with computing:
            if case not in self._known:
                with blas_threads.at_most(max(2, usable() // BLAS_SHARE)):
                    self._known[case] = compute(self.topic, case)
            return self._known[case]

    def keep(self, seeds: Collection[int]) -> None:
        """Forget all cases but those of some seeds. For when no thread asks for one."""
        self._known = {case: data for case, data in self._known.items() if case.seed in seeds}
        self._yardsticks = {case: error for case, error in self._yardsticks.items() if case.seed in seeds}
        self._computing = {case: lock for case, lock in self._computing.items() if case.seed in seeds}

    @contextmanager
    def ahead(self, cases: Sequence[Case]) -> Iterator[None]:
        """While the context lasts, cases are computed in their order: they are there when a child is ready for them."""
        ended = threading.Event()

        def compute_all() -> None:
            for case in cases:
                if ended.is_set():
                    return
                with suppress(Exception):  # whoever asks for the case is told
                    self.get(case)

        thread = threading.Thread(target=compute_all)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def yardstick_error(self, case: Case) -> float | None:
        """The error of the topic's yardstick on a case, see `yardstick_error`."""
        data = self.get(case)
        with self._lock:
            if case not in self._yardsticks:
                self._yardsticks[case] = yardstick_error(self.topic, case.problem, data)
            return self._yardsticks[case]
