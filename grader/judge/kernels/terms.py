"""What a wrong element is made of, where elements are sums of inputs, or of their products: which terms it has, and
which it is to have.

Elements of one input are given weights, the other inputs are all zeros, or ones where they are multiplied with it. Of
what comes out, the reference says how much is due: halves of the input in which the two differ are halved again, until
single elements are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, prod
from operator import itemgetter
from typing import Any

import numpy as np

from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.kernels.case_run import CaseRun
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counted_terms import Kept, affordable, in_words
from grader.workbook import units

Array = np.ndarray[Any, np.dtype[Any]]

FEWEST, MOST = 64, 5000
"""Elements of the inputs of a case that is looked at: so few that a run takes no time, and more than a warp's where
there is such a case, since near the ends of an array many mistakes look alike."""

MOST_RUNS = 200
"""Of the kernel, as far as they are affordable."""

MOST_TERMS = 40
"""That one element has too much or too little; where there are more, naming them tells nothing."""

WEIGHT = 64
"""Weights are whole numbers below: a sum of a thousand is exact in a float, and each of them in a half."""

SHOWN = 3
"""Elements that are named, or rows of them."""

WARP = 32

_FROM_ONE = re.compile(r"\b__shfl_sync\s*\([^;]*,\s*0\s*\)")

VALUES = 256
"""Of a byte."""

OF_BLOCKS = (
    " That is the place among those of its own block: add those of the blocks before, "
    "`blockIdx.{axis} * {block}`."
)
ENDS = " What lies outside of the array is left out, and not taken from its end."
RING = " What lies outside of the array is left out: behind an end nothing begins again at the other one."
LANES = " What it lacks lies with another warp, and a shuffle reads lanes of its own warp alone."
FIRST_LANE = (
    " That is what the first lane of its warp has: a shuffle from one lane gives all the same, and here each needs "
    "an element of its own."
)
TURNED = " Rows and columns of `{name}` have changed places."
ALIKE = (
    "A byte that is there once is counted right, and {count} bytes that are alike are counted as 1: a thread stores "
    "over what others have stored there. Each has to add 1 to what is in `{output}`, in one step: atomicAdd."
)
FILLED = (
    "Of bytes that are all above 0, {count} are counted as 0: what stands for bytes behind the end is counted too. "
    "Leave it out, by a condition on the index."
)
ELSEWHERE = (
    "An array of one byte, {byte}, is counted in bin {bin}: is what is stored by one index read by another?"
)
BY_VALUE = "To the count of a byte its own value is added, {value} for a byte that is {value}: add 1."
LOST_BINS = (
    "{bins} {are} never added to `{output}`, wherever the bytes are: which condition keeps {them} away?"
)
KEPT = " That is what the element before is the sum of: let each have a sum of its own, which begins with 0."


class _UnknownError(Exception):
    """It is no such sum, or takes too long."""


@dataclass(frozen=True)
class _Term:
    """An element of an input, and how often it is due in a sum, and is there."""

    input: str
    place: int
    due: int
    got: int


class _Element:
    """An element of an output that came out wrong."""

    def __init__(self, runner: CaseRunner, run: CaseRun, output: str, place: int, runs: int) -> None:
        self.run, self.output, self.place = run, output, place
        self._runner, self._left = runner, runs
        self._others: dict[str, int] = {}  # what the other inputs hold where one is added up: zeros, or ones
        self._rng = np.random.default_rng(0)

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        return self.run.data.inputs

    def terms(self) -> list[_Term]:
        """Those that it has too much or too little; raises _UnknownError."""
        return [term for name in self.inputs for term in self._of(name)]

    def _of(self, name: str) -> Iterator[_Term]:
        size = self.inputs[name].size
        others = self._others[name] = self._zeros_or_ones(name)
        weights = self._rng.integers(1, WEIGHT, size)
        differing, parts = [], [np.arange(size)]
        while parts:
            part = parts.pop()
            chosen = np.zeros(size, int)
            chosen[part] = weights[part]
            if self._got(name, chosen, others) == self.due(name, chosen, others):
                continue
            if len(part) == 1:
                differing.append(int(part[0]))
            else:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
            if len(differing) > MOST_TERMS:
                raise _UnknownError
        for place in differing:
            one = (np.arange(size) == place).astype(int)
            yield _Term(name, place, self.due(name, one, others), self._got(name, one, others))

    def _zeros_or_ones(self, name: str) -> int:
        """What the other inputs have to hold for this one to be added up."""
        size = self.inputs[name].size
        none, first, second = (self._rng.integers(0, WEIGHT if several else 1, size) for several in (0, 1, 1))
        for others in (0, 1):
            sums = [self.due(name, weights, others) for weights in (first, second, first + second)]
            if self.due(name, none, others) == 0 and any(sums) and sums[0] + sums[1] == sums[2]:
                return others
        raise _UnknownError

    def _given(self, name: str, weights: Array, others: int) -> dict[str, Array]:
        given = {each: np.full_like(array, others) for each, array in self.inputs.items()}
        return {**given, name: weights.astype(given[name].dtype).reshape(given[name].shape)}

    def due(self, name: str, weights: Array, others: int, before: int = 0) -> int:
        """What is to come out, or what is of so many elements `before`."""
        found, _ = cases.results(
            self._runner.topic, self._given(name, weights, others), self.run.case.problem, bounded=False
        )
        return _whole(found[self.output].reshape(-1)[self.place - before])

    def _got(self, name: str, weights: Array, others: int) -> int:
        self._left -= 1
        kept = Kept(self._given(name, weights, others), self.run.data.expected, self.run.data.allowed, "")
        if self._left < 0 or self._runner.once(replace(self.run, data=kept)).refusal is not None:
            raise _UnknownError
        return _whole(kept.outputs[self.output].reshape(-1)[self.place])

    def are_those_before(self, terms: Sequence[_Term]) -> bool:
        """Whether what it has too much is what the element before it is to have."""
        if not self.place or any(term.got < term.due for term in terms):
            return False
        for name in dict.fromkeys(term.input for term in terms):
            more = np.zeros(self.inputs[name].size, int)
            for term in terms:
                if term.input == name:
                    more[term.place] = term.got - term.due
            weights = self._rng.integers(1, WEIGHT, more.size)
            if self.due(name, weights, self._others[name], before=1) != int(weights @ more):
                return False
        return True


def _whole(value: Any) -> int:
    if not isfinite(value) or value != int(value):
        raise _UnknownError
    return int(value)


def told(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """What a wrong element of a case, or of a larger one, has too much and too little; "" where that is not known."""
    if runner.topic.signature.values:
        return ""
    if _counts_bytes(runner, case):
        return next(filter(None, (_of_bytes(runner, kernel, each) for each in _tried(runner, case))), "")
    if case.kind != "exact":
        return ""
    try:
        found = next(filter(None, (_wrong(runner, kernel, each) for each in _tried(runner, case))), None)
        terms = found.terms() if found else []
    except _UnknownError:
        return ""
    return _said(found, terms, kernel.file.source) if found and terms else ""


def _counts_bytes(runner: CaseRunner, case: Case) -> bool:
    """Whether an output counts how often each number is among the bytes of the one input."""
    inputs = runner.store.get(case).inputs
    if [array.dtype for array in inputs.values()] != [np.uint8]:
        return False
    ones = {name: np.ones_like(array) for name, array in inputs.items()}
    found, _ = cases.results(runner.topic, ones, case.problem, bounded=False)
    return all(counts.size == VALUES and counts[1] == counts.sum() > 0 for counts in found.values())


def _of_bytes(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """Which bytes are never counted, or more than once: each has a number of its own, in parts where there are more."""
    planned = kernel.plan(case.problem, runner.child.hello().limits)
    run = CaseRun(kernel, planned, case, runner.store.get(case))
    counts = _counted(runner, run)
    if isinstance(counts, str):
        return counts
    if counts.size > 2 and (counts == 1 + np.arange(counts.size) % (VALUES - 1)).all():
        return BY_VALUE.format(value=2)
    if (counts == 1).all():
        return _of_alike(runner, run)
    again = _counted(runner, run, backwards=True)
    if isinstance(again, str):
        return ""
    if not (again == counts).all():  # it goes by values, and not by places
        lost = sorted({int(1 + at % (VALUES - 1)) for at in np.flatnonzero(counts == 0)})
        output = next(iter(run.data.expected))
        one = len(lost) == 1
        bins = f"bin {lost[0]}" if one else f"{len(lost)} bins, the first of them {lost[0]},"
        said = LOST_BINS.format(
            bins=bins, output=output, are="is" if one else "are", them="it" if one else "them"
        )
        return f"Counted at {units.case(case.problem)}: {said}" if lost else ""
    return f"Counted at {units.case(case.problem)}: {in_words(counts, planned.launches[0])}"


def _counted(runner: CaseRunner, run: CaseRun, backwards: bool = False) -> Array | str:
    """How often each byte is counted: each has a number of its own, in parts where there are more, `backwards` the
    higher ones first. What else is the matter, where that is not known."""
    data = run.data
    ((name, array),) = data.inputs.items()
    counts = np.zeros(array.size, int)
    for start in range(0, array.size, VALUES - 1):
        part = np.arange(start, min(start + VALUES - 1, array.size))
        numbers = np.zeros(array.size, np.uint8)
        numbers[part] = (1 + part - start)[:: -1 if backwards else 1]
        kept = Kept({name: numbers.reshape(array.shape)}, data.expected, data.allowed, "")
        outcome = runner.once(replace(run, data=kept))
        if outcome.refusal is not None or affordable(outcome) < -(-array.size // (VALUES - 1)):
            return ""
        (bins,) = (bins.reshape(-1) for bins in kept.outputs.values())
        if np.delete(bins, numbers).any():  # they hold what is no count
            more = (np.delete(bins, 0) == np.bincount(numbers, minlength=VALUES)[1:]).all()
            return (
                FILLED.format(count=bins[0])
                if more and not (numbers == 0).any()
                else _elsewhere(bins, numbers)
            )
        counts[part] = bins[numbers[part]]
    return counts


def _elsewhere(bins: Array, numbers: Array) -> str:
    """In which bin a byte is counted that is there alone; "" where it is not in one."""
    if numbers.size == 1 and bins.sum() == 1:
        return ELSEWHERE.format(byte=numbers[0], bin=int(np.argmax(bins)))
    return ""


def _of_alike(runner: CaseRunner, run: CaseRun) -> str:
    """Whether bytes that are alike are counted as one, where those that differ are counted right."""
    ((name, array),) = run.data.inputs.items()
    kept = Kept({name: np.ones_like(array)}, run.data.expected, run.data.allowed, "")
    if array.size < 2 or runner.once(replace(run, data=kept)).refusal is not None:
        return ""
    ((output, bins),) = kept.outputs.items()
    return ALIKE.format(count=array.size, output=output) if bins.reshape(-1)[1] == 1 else ""


def _tried(runner: CaseRunner, case: Case) -> Iterator[Case]:
    """The case, where it has more than a few elements, or else larger ones before it."""
    if _elements(runner, case) < FEWEST:
        larger = (cases.make(problem, "exact") for problem in runner.topic.judge_cases)
        sized = sorted(((_elements(runner, each), each) for each in larger), key=itemgetter(0))
        yield from (each for elements, each in sized if FEWEST <= elements <= MOST)
    if _elements(runner, case) <= MOST:
        yield case


def _elements(runner: CaseRunner, case: Case) -> int:
    """Of all inputs."""
    if runner.topic.sampled is not None:
        return runner.topic.input_elements(case.problem)
    return sum(array.size for array in runner.store.get(case).inputs.values())


def _wrong(runner: CaseRunner, kernel: Kernel, case: Case) -> _Element | None:
    """Of the wrong elements of a case, or those of them behind a right one, the one that lies farthest from the ends;
    None where there is none."""
    planned = kernel.plan(case.problem, runner.child.hello().limits)
    data = runner.store.get(case)
    run = CaseRun(kernel, planned, case, data)
    kept = Kept(data.inputs, data.expected, data.allowed, "")
    outcome = runner.once(replace(run, data=kept))
    if outcome.refusal is not None:
        return None
    for name, output in kept.outputs.items():
        wrong = np.flatnonzero(output.reshape(-1) != data.expected[name].reshape(-1))
        if len(wrong):
            first = wrong[~np.isin(wrong - 1, wrong)]
            first = first[first > 0] if first.any() else wrong
            middle = first[np.argmin(np.abs(first - (output.size - 1) / 2))]
            return _Element(runner, run, name, int(middle), min(MOST_RUNS, affordable(outcome)))
    return None


def _said(element: _Element, terms: Sequence[_Term], source: str) -> str:
    lost = [term for term in terms if term.got == 0]
    extra = [term for term in terms if term.due == 0]
    others = [term for term in terms if term.got and term.due]
    shapes = {name: array.shape for name, array in element.inputs.items()}
    swapped = len(lost) == len(extra) == 1 and not others and lost[0].input == extra[0].input
    if swapped:
        what = f"has {_named(extra, shapes)} in place of {_named(lost, shapes)}"
    else:
        by_count: dict[tuple[int, int], list[_Term]] = {}
        for term in others:
            by_count.setdefault((term.got, term.due), []).append(term)
        found = [
            f"has {_named(some, shapes)} {_times(got)} in place of {_times(due)}"
            for (got, due), some in by_count.items()
        ]
        found += [f"has {_named(extra, shapes)}, which does not belong there"] if extra else []
        found += [f"lacks {_named(lost, shapes)}"] if lost else []
        what = ", and ".join(found)
    expected = element.run.data.expected[element.output]
    where = ", ".join(map(str, np.unravel_index(element.place, expected.shape)))
    why = (
        _in_place(lost[0], extra[0], shapes, element.run, source) if swapped else _why(element, terms, source)
    )
    return f"Where {units.case(element.run.case.problem)}, `{element.output}`[{where}] {what}.{why}"


def _why(element: _Element, terms: Sequence[_Term], source: str) -> str:
    """What terms have in common that are too many or too few."""
    more, lost = [term for term in terms if term.got > 1], [term for term in terms if not term.got]
    if element.are_those_before(terms):
        return KEPT
    if name := _turned(element, terms):
        return TURNED.format(name=name)
    if "__shfl_" in source and lost and _of_other_warps(element, lost):
        return LANES
    ends = all(term.place in (0, element.inputs[term.input].size - 1) for term in more)
    if more and len(more) == len(terms) and ends:
        return ENDS
    return RING if _from_other_end(element, terms) else ""


def _from_other_end(element: _Element, terms: Sequence[_Term]) -> bool:
    """Whether what an element near an end has too much is at the other end of an array of as many."""
    size = element.run.data.expected[element.output].size
    sizes = [element.inputs[term.input].size for term in terms]
    far = all(abs(term.place - element.place) > size // 2 for term in terms)
    return far and not any(term.due for term in terms) and all(each == size for each in sizes)


def _of_other_warps(element: _Element, terms: Sequence[_Term]) -> bool:
    """Whether each thread has an element of a line, and that of these terms belongs to another warp."""
    launch, data = element.run.planned.launches[0], element.run.data
    lines = all(array.ndim == 1 for array in (*data.inputs.values(), *data.expected.values()))
    enough = prod(launch.grid) * prod(launch.block) >= data.expected[element.output].size
    return lines and enough and all(term.place // WARP != element.place // WARP for term in terms)


def _turned(element: _Element, terms: Sequence[_Term]) -> str:
    """The input whose terms are those of the other column, or row; "" where there is none."""
    places: dict[bool, list[tuple[int, ...]]] = {True: [], False: []}
    for term in terms:
        places[term.got > 0].append(
            tuple(map(int, np.unravel_index(term.place, element.inputs[term.input].shape)))
        )
    of_one = {term.input for term in terms if 0 in (term.got, term.due)}
    turned = places[True] and sorted(each[::-1] for each in places[True]) == sorted(places[False])
    return of_one.pop() if turned and len(of_one) == 1 and len(places[True][0]) > 1 else ""


def _in_place(
    lost: _Term, extra: _Term, shapes: Mapping[str, tuple[int, ...]], run: CaseRun, source: str
) -> str:
    """Why one element stands in place of another of the same input."""
    first = extra.place % WARP == 0 and extra.place // WARP == lost.place // WARP
    if first and len(shapes[lost.input]) == 1 and _FROM_ONE.search(source):
        return FIRST_LANE
    return _of_block(lost, extra, shapes, run)


def _of_block(lost: _Term, extra: _Term, shapes: Mapping[str, tuple[int, ...]], run: CaseRun) -> str:
    """Of an index that leaves out the blocks before its own, where each thread has one element along that side."""
    shape, launch = shapes[lost.input], run.planned.launches[0]
    block, source = launch.block, run.kernel.file.source
    due, got = (np.unravel_index(term.place, shape) for term in (lost, extra))
    for axis, (right, wrong) in enumerate(zip(reversed(due), reversed(got), strict=True)):
        own = axis < 2 and launch.grid[axis] == -(-shape[-1 - axis] // block[axis])
        own = own and not re.search(
            rf"\bblockIdx\.{'xyz'[axis]}\s*[/%]", source
        )  # blocks with a numbering of their own
        if own and right != wrong and block[axis] > 1 and wrong == right % block[axis]:
            return OF_BLOCKS.format(axis="xyz"[axis], block=block[axis])
    return ""


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _named(terms: Iterable[_Term], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Elements of inputs, those that lie side by side by the first and the last."""
    runs: list[list[_Term]] = []
    for term in terms:
        beside = runs and runs[-1][-1].input == term.input and runs[-1][-1].place + 1 == term.place
        runs[-1].append(term) if beside else runs.append([term])
    names = []
    for run in runs:
        ends = [run[0]] if len(run) == 1 else [run[0], run[-1]]
        places = [", ".join(map(str, np.unravel_index(term.place, shapes[term.input]))) for term in ends]
        names.append(" to ".join(f"`{run[0].input}`[{place}]" for place in places))
    if len(names) > SHOWN + 1:
        names[SHOWN:] = [f"{len(names) - SHOWN} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
