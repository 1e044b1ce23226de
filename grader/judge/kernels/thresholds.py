"""Sizes at which a kernel goes another way than in all cases of its topic: whole cases of such sizes are run.

Ways part at conditions: the launch block's `when`, and comparisons in PTX, of what follows from sizes and the launch
alone; and at limits there, a minimum with a number, of what follows for the first thread. Where a condition comes out
alike in all cases of the topic, one size is made larger until it does not, and the problem just beyond is tried, of a
size that leaves a rest behind vectors. Where several come out together as in no case of the topic, or in those of round
sizes alone, such a problem is looked for (ways.py). Where a way is taken for one filter alone, it is tried with other
filters that the condition lets through: `R * S == 9` is true of 1 × 9 as well. And where integers become floats and
integers again, or a quotient is the upper half of a product by a reciprocal, sizes are tried at random: few show what
is rounded. Counts in floats are tried with more than a float counts. Blocks, tiles and numbers of shares are tried with
whole ones, and with a few elements more or less, where the topic's own cases have none such; and once more on each way
that few of the cases take (rests.py).
"""

from __future__ import annotations

import math
import operator
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations, islice, product
from typing import Any

from grader.emulator.machine.records import WORD
from grader.errors import WarpladderError
from grader.judge.correctness.cases import Case, make
from grader.judge.kernels import rests, ways
from grader.judge.kernels.case_runner import work
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.limits import Limits
from grader.workbook import comparisons, cuda_source, units
from grader.workbook.comparisons import MOST_CONDITIONS, Comparison, Given
from grader.workbook.expressions import Compared, ExpressionError
from grader.workbook.launches.plan import LaunchPlan, PlannedLaunch, plan
from grader.workbook.launches.spec import SM_COUNT, LaunchSpec
from grader.workbook.reference import Problem
from grader.workbook.signature import impossible
from grader.workbook.suspects import integers
from grader.workbook.topic import Topic

_Key = tuple[tuple[str, float], ...]

MOST = 1 << 25
"""Of a problem that is tried, bytes, and operations of which FLOP take as long as one: less than a second's."""

FLOP = 8

LONGEST = 1 / 2
"""Of MOST, the longest case of all."""

MOST_CASES = 8
"""Of a kernel that has more, those of the launch block, then the first ones, are tried."""

EACH = 3
"""Every third case of the topic, by work, is made larger: conditions are the same for all."""

REST = 15
"""What is left behind vectors of 16, and so behind all that are narrower."""

MULTIPLES = tuple(1 << power for power in range(6, 13))
"""What paths for whole tiles ask sizes to be multiples of."""

TO_FLOAT, TO_INTEGER = r"cvt\.rn\.f32\.[su]32", r"cvt\.r[zmpn]i\.[su]32\.f32"
"""Instructions with which an integer becomes a float, and a float an integer."""

TRIES, THIN, WIDE = 48, 1 / 8, (65, 130)
"""Of a kernel that has both: cases, what share of MOST each may be, and how large the smaller one of two sizes is: more
than a tile."""

HIGH_HALF = r"mul\.hi\.[su](?:32|64)\s+%\w+, %\w+, %\w+;"
"""An upper half of a product of two registers; by a constant it is the compiler's own division by that constant."""

SQUARES, BROAD = 8, (1500, 2900)
"""Of a kernel that has one: cases, and how large the smaller one of two sizes is. With a reciprocal of 32 bits that is
rounded up, a quotient by d is wrong from about 2^32 / d on at the latest, in the worst case of its rounding (Granlund
and Montgomery, Division by Invariant Integers, 1994): elements that thin cases do not have."""

COUNTED = 1 << 24
"""What a float counts to, one by one."""

AROUND = ((1, 0), (1, 1), (2, 0), (2, 1), (3, -1), (3, -16), (4, 1), (8, 1), (16, 1))
"""Multiples of a tile that sizes are, and how many more: whole tiles, one element more, also where a thread takes 2,
4, 8 or 16 at a time, and a tile that is nearly full, also of whole vectors."""

SHARES = ((4, 1), (64, 1), (260, 1))
"""Multiples of a number of shares, and one more: where shares are rounded up, so many leave the last one empty."""

LARGE_TILE, MOST_LARGE = 512, 2
"""Powers of two from which on sizes around their multiples are tried, and of how many of a kernel."""

IN_A_ROW, FIRST = 8, 9_000
"""Every rest of a division by it is tried, from one size on, where a problem has but one and its cases leave it out."""

MOST_TILES, OTHERS, WARP = 4, 131, 32
"""Numbers of a kernel that are tried so, the other sizes beside them, and what is less than a tile."""

SIDES = range(1, 12)
"""Of filters that are tried."""

MOST_TOGETHER, TOGETHER, SHARE = 12, 4, 1 / 6
"""Conditions whose ways are looked at, and how many of them together; which share of MOST a case of a way may be."""

MOST_OF_LAUNCH, MOST_OF_ALL = 6, 10
"""Cases of ways, by the launch block's conditions and by all."""

STEP = 3
"""What a stride or a padding is at most."""

FAR = (17, 9)
"""What it is in one case more: the first of them for which a kernel can be launched."""

FARTHER = 64
"""How many times as large as in the main problem a size is at most, to come beyond a limit."""

MOST_FILTERS = 4
"""Cases with other filters that are tried."""

DIMENSION = 16
"""A size that is as large in the topic's main problem is one of its dimensions; a filter's side is not."""


@dataclass(frozen=True)
class Threshold:
    """A problem in which a kernel goes another way."""

    problem: Problem
    said: str  # where
    thorough: bool = True  # whether it matters what its inputs are, and in which order blocks run

    def cases(self, seed: int) -> list[Case]:
        """The problem with small integers, and with data from a secret seed."""
        real = [make(self.problem, "real", seed, secret=True)] if self.thorough else []
        return [make(self.problem, "exact"), *real]


@dataclass(frozen=True)
class _Parting:
    """A comparison, by the problem: its sides where they are known."""

    sides: Callable[[Problem], tuple[float, float] | None]
    holds: Callable[[Any, Any], bool]
    place: str
    of_launch: bool = False
    equality: bool = False  # whether it asks for two numbers that are equal, or are not
    of_limit: bool = False

    @property
    def of_one_size(self) -> bool:
        """Whether it compares two numbers, to see whether they are equal."""
        return not self.of_launch and (self.equality or self.holds in (operator.eq, operator.ne))

    def way(self, problem: Problem) -> bool | None:
        """Which way is taken."""
        sides = self.sides(problem)
        return None if sides is None else self.holds(*sides)

    def told(self, problem: Problem, words: str) -> Threshold:
        """A problem in which it comes out so."""
        return Threshold(problem, f"There {self.place} comes out {words}.")

    def beyond(self, problem: Problem) -> bool | None:
        """Whether the left side is not below the right one."""
        sides = self.sides(problem)
        return None if sides is None else sides[0] >= sides[1]


def found(kernel: Kernel, topic: Topic, limits: Limits) -> list[Threshold]:
    """Those of a kernel on a device of these limits."""
    judged = sorted(topic.judge_cases, key=lambda problem: work(topic, problem), reverse=True)
    problems: dict[_Key, Threshold] = {}
    filters: dict[_Key, Threshold] = {}
    launches = Launches(kernel, limits["multiprocessor_count"])
    partings = launches.distinct(judged)
    for parting in partings:
        if len(problems) < MOST_CASES:
            for problem in () if parting.of_launch else _beyond_all(topic, parting, judged):
                said = "otherwise than in every smaller case"
                problems.setdefault(_key(problem), parting.told(problem, said))
            others = _with_other_sides(topic, parting, judged) if parting.equality else ()
            for problem, words in islice(others, MOST_FILTERS - len(filters)):
                filters.setdefault(_key(problem), parting.told(problem, words))
    beyond = [each.problem for each in problems.values()]
    problems |= {_key(each.problem): each for each in _untried(launches, partings, topic, judged, beyond)}
    problems |= {_key(each.problem): each for each in _rests(launches, partings, topic, judged, beyond)}
    problems |= {_key(each.problem): each for each in _gaps(launches, topic, judged)}
    problems |= {_key(each.problem): each for each in _far_steps(kernel, limits, topic, judged)}
    if kernel.file.scratch:
        problems |= {_key(each.problem): each for each in _longer(topic, judged)}
    rounded = (
        *_through_floats(kernel, topic),
        *_by_high_halves(kernel, topic),
        *_counted_in_floats(kernel, topic),
    )
    return [*(problems | filters).values(), *launches.around_tiles(topic), *_in_a_row(topic), *rounded]


def beside(kernel: Kernel, topic: Topic, limits: Limits) -> Problem | None:
    """The counted sizes with half as much again of every dimension, where a kernel asks whether sizes are just those:
    it may have the idea at these alone. None where it does not."""
    names, counted = dimensions(topic), topic.sizes_count
    more = {name: int(counted[name]) + int(counted[name]) // 2 for name in names if name in counted}
    problem: Problem = {**counted, **more}
    if impossible(problem, topic.signature):
        return None
    partings = Launches(kernel, limits["multiprocessor_count"]).distinct([counted, problem])
    asks = (each for each in partings if each.of_one_size)
    return problem if any(each.way(counted) != each.way(problem) for each in asks) else None


def longest(topic: Topic) -> Problem:
    """The largest of the topic's cases with so much more of what its main problem has most of that it is half of what
    is not too much."""
    base = max(topic.judge_cases, key=partial(work, topic))
    most = max(_names(topic), key=lambda name: topic.sizes_main[name])
    problem: Problem = base
    while _affordable(topic, larger := _with(problem, most, 2 * int(problem[most])), LONGEST):
        problem = larger
    return problem


def _untried(
    launches: Launches,
    partings: Sequence[_Parting],
    topic: Topic,
    judged: Sequence[Problem],
    beyond: Sequence[Problem],
) -> Iterator[Threshold]:
    """Cases of ways that are taken in none that is `judged`, nor, by one condition, is `beyond`: by all conditions of
    the launch block together, of which there are few, in problems as large as possible; then by a few of all."""
    some, of_launch = partings[:MOST_TOGETHER], [*launches.conditions()][:MOST_TOGETHER]
    if not some:
        return

    def affordable(share: float, problem: Problem) -> bool:
        elements = sum(map(math.prod, topic.shapes(problem).values()))
        return elements <= MOST // WORD and _affordable(topic, problem, share)

    names, known = dimensions(topic), judged if len(some) > 2 else [*beyond, *judged]
    drawn = [*ways.drawn(topic, names, launches.numbers(), partial(affordable, SHARE))]
    for tried, together, most, share in (
        (of_launch, len(of_launch), MOST_OF_LAUNCH, 1),
        (some, TOGETHER, MOST_OF_ALL, SHARE),
    ):
        taken, fits = [parting.way for parting in tried], partial(affordable, share)
        for problem, few in islice(ways.untried(taken, together, known, drawn, names, fits), most):
            larger = problem
            if tried is of_launch:
                sizes = {name: topic.sizes_main[name] for name in names}  # more, not every grid can launch
                larger = ways.grown(problem, sizes, partial(ways.way, taken), partial(affordable, LONGEST))
            *others, last = sorted({tried[place].place for place in few})[:TOGETHER]
            places = f"{', '.join(others)} and {last} come out together" if others else f"{last} comes out"
            said = f"There {places} as in no other case of such sizes."
            yield Threshold(larger, said, thorough=False)
            known = [larger, *known]


def _rests(
    launches: Launches,
    partings: Sequence[_Parting],
    topic: Topic,
    judged: Sequence[Problem],
    beyond: Sequence[Problem],
) -> Iterator[Threshold]:
    """Cases around multiples of a kernel's numbers, on ways that few of those that are `judged` take."""
    search = rests.Search(
        [parting.way for parting in partings],
        dimensions(topic),
        _steps(topic),
        launches.tiles,
        lambda problem: _cost(topic, problem) / MOST,
    )
    for problem, said in search.found(judged, beyond):
        yield Threshold(problem, f"There {said}, on a way that few sizes take.", thorough=False)


def _steps(topic: Topic) -> dict[str, list[int]]:
    """Sizes that are no dimensions and stay small in all cases, as a stride and a padding do, with what they may be."""
    found = {}
    for name in sorted({*_names(topic)} - {*dimensions(topic)}):
        sizes = {int(case[name]) for case in topic.judge_cases}
        if max(sizes) <= STEP:
            found[name] = [*range(min(sizes), max(sizes) + 1)]
    return found


def _far_steps(
    kernel: Kernel, limits: Limits, topic: Topic, judged: Sequence[Problem]
) -> Iterator[Threshold]:
    """A case each with a larger one of such sizes than in any: arrays in shared memory may have room for few."""
    for name, known in _steps(topic).items():
        if max(known) > 1:  # else it says yes or no
            larger = (_with(base, name, far) for far in FAR for base in judged)
            fits = (each for each in larger if _affordable(topic, each, SHARE))
            for problem in islice((each for each in fits if kernel.fits(each, limits)), 1):
                yield Threshold(
                    problem, f"There `{name}` is larger than in every other case.", thorough=False
                )


def _through_floats(kernel: Kernel, topic: Topic) -> Iterator[Threshold]:
    """Thin cases of many lengths for a kernel that computes integers by way of floats."""
    if _has(kernel, TO_FLOAT) and _has(kernel, TO_INTEGER) and len(dimensions(topic)) > 1:
        said = "Integers are made of floats here: does one of them count, and is it rounded the wrong way?"
        yield from _rounding(kernel, said, islice(_oblong(topic, WIDE, THIN), TRIES))


def _by_high_halves(kernel: Kernel, topic: Topic) -> Iterator[Threshold]:
    """Cases of many sides for a kernel that may divide by a product's upper half."""
    if _has(kernel, HIGH_HALF) and len(dimensions(topic)) > 1:
        said = (
            "The upper half of a product is taken here: is it a quotient, and 1 too large for large indices?"
        )
        yield from _rounding(kernel, said, islice(_oblong(topic, BROAD, 1), SQUARES))


def _counted_in_floats(kernel: Kernel, topic: Topic) -> Iterator[Threshold]:
    """A case with more of one number than a float counts, where integers that come out are made of floats. Half of the
    numbers of "real" data are one, as of a histogram's."""
    of_integers = all(item.dtype.kind in "iu" for item in topic.signature.outputs)
    if of_integers and _has(kernel, TO_INTEGER):
        most = max(_names(topic), key=lambda name: topic.sizes_main[name])
        problem = _with(_smallest(topic), most, 2 * COUNTED | REST)
        if _affordable(topic, problem, 2):
            yield Threshold(
                problem, "A float counts to 16,777,216, one by one, and no further: count in integers."
            )


def _has(kernel: Kernel, instruction: str) -> bool:
    return re.search(instruction, kernel.build.ptx) is not None


def _rounding(kernel: Kernel, said: str, problems: Iterable[Problem]) -> Iterator[Threshold]:
    """Those problems, of a kernel that rounds; where its text shows it, every case names the line."""
    said = "" if integers.rounded(kernel.file.source) else said
    yield from (Threshold(problem, said, thorough=False) for problem in problems)


def _oblong(topic: Topic, sides: tuple[int, int], share: float) -> Iterator[Problem]:
    """Cases with two sizes of an output, one of them within `sides`, the other one from there to about the main size,
    as far as `share` of what is not too much allows it; all others are those of the smallest case."""
    rng, base = random.Random(topic.name), _smallest(topic)
    for _ in range(MOST_CONDITIONS):
        long, wide = rng.sample(dimensions(topic), 2)
        most = 2 * int(topic.sizes_main[long])
        problem = {**base, long: rng.randint(most // 8, most), wide: rng.randint(*sides)}
        while problem[long] > problem[wide] and not _affordable(topic, problem, share):
            problem[long] //= 2
        shapes = topic.shapes(problem)
        taken = {problem[long], problem[wide]}
        of_output = any(taken <= {*shapes[item.name]} for item in topic.signature.outputs)
        if of_output and _affordable(topic, problem, share):
            yield problem


def _gaps(launches: Launches, topic: Topic, judged: Sequence[Problem]) -> Iterator[Threshold]:
    """Cases with a size at which a `when` changes, and no launch applies there, but on both sides."""
    for parting, base, name in product(launches.conditions(), judged[::EACH], _names(topic)):
        at = partial(_with, base, name)
        before, low, high = parting.way(base), int(base[name]), int(topic.sizes_main[name])
        if high <= low or parting.way(at(high)) == before:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if parting.way(at(middle)) == before else (low, middle)
        if launches.any(at(low)) and not launches.any(at(high)) and launches.any(at(high + 1)):
            yield Threshold(at(high), f"There {parting.place} and the others leave a gap.")


def _around_large(tile: int, alone: bool) -> list[tuple[int, int]]:
    """As AROUND, of a large tile: one element more or less, and three quarters of a tile; and others where a size is
    `alone` in its problem, and cases are cheap."""
    few = [(1, -1), (2, 1), (1, 3 * tile // 4 + 1)]
    others = [(1, 3), (2, 7), (1, 15), (2, -3), (1, -7), (2, -15), (1, tile // 4 + 1), (1, tile // 2 + 1)]
    return [*few, *others] if alone else few


def _in_a_row(topic: Topic) -> Iterator[Threshold]:
    """Neighbouring sizes, where a case has but one."""
    names = dimensions(topic)
    if len(names) == 1:
        known = {
            int(case[names[0]]) % IN_A_ROW for case in topic.judge_cases if case[names[0]] > FIRST // IN_A_ROW
        }
        for size in range(FIRST, FIRST + IN_A_ROW):
            problem = _with(_smallest(topic), names[0], size)
            if size % IN_A_ROW not in known and _affordable(topic, problem, THIN):
                yield Threshold(
                    problem, f"There `{names[0]} % {IN_A_ROW}` is {size % IN_A_ROW}.", thorough=False
                )


def _smallest(topic: Topic) -> Problem:
    return min(topic.judge_cases, key=partial(work, topic))


def _with(base: Problem, name: str, value: int) -> Problem:
    return {**base, name: value}


def _longer(topic: Topic, judged: Sequence[Problem]) -> Iterator[Threshold]:
    """Cases of one long side, beyond the main size or as long as is not too much: what blocks leave in scratch arrays
    is looked at nowhere else at such sizes."""
    thin = [problem for problem in judged if min(problem[name] for name in dimensions(topic)) > 1]
    for name in dimensions(topic) if thin else ():
        size = int(topic.sizes_main[name]) | REST
        while size > REST and not _affordable(topic, {**thin[-1], name: size}):
            size = size // 2 | REST
        if size > max(problem[name] for problem in judged):
            said = "There more is left in scratch arrays than in smaller cases."
            yield Threshold({**thin[-1], name: size}, said)


def _beyond_all(topic: Topic, parting: _Parting, judged: Sequence[Problem]) -> Iterator[Problem]:
    """One of the cases with a larger size, the one with most work for which that is not too much, where a condition
    comes out as in none of them."""
    ways = {way for problem in judged if (way := parting.way(problem)) is not None}
    if len(ways) == 1:
        (usual,) = ways
        bases = [(base, name) for base in judged[::EACH] for name in _names(topic)]
        if parting.of_limit:  # which may be far, for one long row
            few = _smallest(topic)
            bases += [
                (_with(few, name, int(base[name])), name) for base in judged for name in dimensions(topic)
            ]
        larger = (
            _enlarged(topic, parting, base, name, usual)
            for base, name in bases
            if parting.sides({**base, name: 2 * base[name] + 1}) != parting.sides(base)
        )
        yield from islice(filter(None, larger), 1)


def _with_other_sides(
    topic: Topic, parting: _Parting, judged: Sequence[Problem]
) -> Iterator[tuple[Problem, str]]:
    """Cases in which numbers are equal, or not, as in those of the topic of one pair of small sizes alone, such as a
    filter's sides, with other pairs: one whose first size is smaller, and one whose first size is larger."""
    few = [name for name in _names(topic) if name not in dimensions(topic)]
    for pair, way in product(combinations(few, 2), (True, False)):
        taken = [problem for problem in judged if parting.way(problem) is way]
        usual = {tuple(problem[name] for name in pair) for problem in taken}
        if len(usual) != 1 or not _depends(parting, taken[0], pair):
            continue
        words = f"as elsewhere for {units.problem({name: taken[0][name] for name in pair})} alone"
        for test in (operator.lt, operator.gt):
            others = (
                {**base, **dict(zip(pair, sides, strict=True))}
                for sides in product(SIDES, SIDES)
                if test(*sides) and sides not in usual
                for base in taken[::EACH]
            )
            tried = (each for each in others if _affordable(topic, each) and parting.way(each) is way)
            yield from ((each, words) for each in islice(tried, 1))


def _depends(parting: _Parting, problem: Problem, names: Iterable[str]) -> bool:
    return any(
        parting.sides({**problem, name: problem[name] + 1}) != parting.sides(problem) for name in names
    )


def _key(problem: Problem) -> _Key:
    return tuple(problem.items())


def _names(topic: Topic) -> list[str]:
    return [item.name for item in topic.signature.sizes]


def dimensions(topic: Topic) -> list[str]:
    """The sizes that may be of any number: not a filter's side, nor a stride."""
    return [name for name in _names(topic) if topic.sizes_main[name] >= DIMENSION]


def _affordable(topic: Topic, problem: Problem, times: float = 1) -> bool:
    """Whether it is a problem, and not too much work."""
    return _cost(topic, problem) <= times * MOST


def _cost(topic: Topic, problem: Problem) -> float:
    """What MOST is the most of; of no problem of the topic, infinite."""
    if impossible(problem, topic.signature):
        return math.inf
    return topic.reference.min_flop(problem) // FLOP + topic.reference.min_bytes(problem)


def _enlarged(topic: Topic, parting: _Parting, base: Problem, size: str, usual: bool) -> Problem | None:
    """`base` with a larger `size`, where another way is taken than the `usual` one."""

    at = partial(_with, base, size)
    for seen in (parting.way, parting.beyond):  # where a size is to be a number, ways part there alone
        low = high = int(base[size])
        before = seen(base)
        most = (FARTHER if parting.of_limit else ways.LARGER) * topic.sizes_main[size]
        while seen(at(high)) == before and high <= most and _affordable(topic, at(high), 2):
            low, high = high, 2 * high or 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if seen(at(middle)) == before else (low, middle)
        multiples = (-(-high // unit) * unit for unit in MULTIPLES)  # where sizes have to be such
        for value in (high | REST, high + 1 | 1, high, *multiples):
            if parting.way(at(value)) is (not usual) and _affordable(topic, at(value)):
                return at(value)
    return None


class Launches:
    """A kernel's launches, by the problem."""

    def __init__(self, kernel: Kernel, sms: int) -> None:
        self._kernel, self._sms = kernel, sms
        self._plans: dict[_Key, LaunchPlan | None] = {}
        self._known: dict[_Key, dict[str, float]] = {}

    def partings(self) -> Iterator[_Parting]:
        """Of the launch block, then of the code that it launches."""
        yield from self.conditions()
        for launch in self._kernel.file.launches:
            if launch.when:
                place = f"`{launch.when.text}` in line {launch.line_of('when')}"
                yield _Parting(partial(self.taken, launch), operator.eq, place, of_launch=True, equality=True)
        build = self._kernel.build
        for launch in self._kernel.file.launches:
            for comparison in comparisons.of(build.ptx, build.lowered[launch.kernel]):
                if not (comparison.of_launch or comparison.of_limit):
                    continue
                what = "a limit" if comparison.of_limit else "a comparison"
                place = f"{what} in line {comparison.line}" if comparison.line else what
                sides = partial(self.sides_in_code, launch, comparison)
                equality = comparison.test in ("eq", "ne")
                yield _Parting(
                    sides, comparison.holds, place, equality=equality, of_limit=comparison.of_limit
                )

    def distinct(self, judged: Sequence[Problem]) -> list[_Parting]:
        """Those that do not all compare the same in these problems: code has many that do."""
        found: dict[object, _Parting] = {}
        for parting in islice(self.partings(), MOST_CONDITIONS):
            found.setdefault((parting.of_launch, *map(parting.sides, judged)), parting)
        return [*found.values()]

    def conditions(self) -> Iterator[_Parting]:
        """What the launch block compares."""
        for launch in self._kernel.file.launches:
            for key, each in launch.compared():
                place = f"`{each.text}` in line {launch.line_of(key)}"
                yield _Parting(partial(self.sides, each), each.holds, place)

    def tiles(self, problem: Problem) -> list[int]:
        """What a kernel may go by in a problem: threads and blocks, its constants, arrays in shared memory, and what it
        divides by; the largest first."""
        planned = self._plan(problem)
        launches = planned.launches if planned else ()
        found = {math.prod(sides) for each in launches for sides in (each.block, each.grid)}
        tiles = (number for number in found | self._of_text if number >= rests.LEAST)
        return sorted(tiles, reverse=True)

    @cached_property
    def _of_text(self) -> set[int]:
        """What the file goes by, whatever the problem."""
        file = self._kernel.file
        texts = [each.text for launch in file.launches for each in launch.expressions()]
        arrays = chain.from_iterable(cuda_source.shared_arrays(file.source).values())
        extents = {extent for array in arrays for extent in array.extents if extent}
        known = {*self._kernel.constants.values(), rests.LARGE_UNIT}
        return cuda_source.divisors(file.source, texts) | extents | known

    def around_tiles(self, topic: Topic) -> Iterator[Threshold]:
        """Cases around multiples of what a kernel makes blocks, tiles or shares of, where sizes around them are not
        among the topic's own: of numbers that are no powers of two, and of large ones."""
        file, constants, launches = self._kernel.file, self._kernel.constants, self._at_main(topic)
        sides = [side for launch in file.launches for side in launch.grid]
        tiles = {math.prod(launch.block) for launch in launches}
        tiles |= cuda_source.divisors(file.source, (side.text for side in sides))
        odd = [tile for tile in sorted(tiles) if tile > WARP and tile & (tile - 1)]
        large = [tile for tile in sorted(tiles) if tile >= LARGE_TILE and not tile & (tile - 1)]
        one = len(dimensions(topic)) == 1
        for tile in odd[:MOST_TILES]:
            yield from self._sized(topic, tile, AROUND)
        for tile in large[:MOST_LARGE]:
            yield from self._sized(topic, tile, _around_large(tile, one))
        known = {*constants, SM_COUNT}
        shares = {constants[name] for side in sides for name in side.names & constants.keys()} | {
            math.prod(each.grid) for each in launches if all(side.names <= known for side in each.spec.grid)
        }
        many = [number for number in sorted(shares) if number > WARP]
        for number in many[-MOST_TILES:] if one else ():
            yield from self._sized(topic, number, SHARES)

    def _at_main(self, topic: Topic) -> Sequence[PlannedLaunch]:
        planned = self._plan(topic.sizes_main)
        return planned.launches if planned else ()

    def _sized(self, topic: Topic, tile: int, around: Iterable[tuple[int, int]]) -> Iterator[Threshold]:
        for (times, more), name in product(around, dimensions(topic)):
            problem = self._around(topic, name, times * tile + more)
            if problem is not None:
                tiles = f"{times} · {tile}" if times > 1 else f"{tile}"
                rest = f" {'+' if more > 0 else '−'} {abs(more)}" if more else ""
                yield Threshold(problem, f"There {name} is {tiles}{rest}.", thorough=tile & (tile - 1) != 0)

    @staticmethod
    def _around(topic: Topic, name: str, size: int) -> Problem | None:
        """A case with one size, and others of several tiles where they may be of any number; None where that is too
        much."""
        few = _smallest(topic)
        several = {**few, **dict.fromkeys(dimensions(topic), OTHERS)}
        problems = (_with(base, name, size) for base in (several, few))
        return next((problem for problem in problems if _affordable(topic, problem, THIN)), None)

    def numbers(self) -> list[int]:
        """Those that conditions name."""
        whens = [launch.when.text for launch in self._kernel.file.launches if launch.when]
        compared = [
            side
            for launch in self._kernel.file.launches
            for each in comparisons.of(self._kernel.build.ptx, self._kernel.build.lowered[launch.kernel])
            for side in (each.left.operand, each.right.operand)
        ]
        found = {
            int(number) for text in (*whens, *compared) for number in re.findall(r"(?<![\w%.])\d+\b", text)
        }
        return sorted(found | {*self._kernel.constants.values()} - {0})

    def any(self, problem: Problem) -> bool:
        """Whether a launch takes place."""
        return self._plan(problem) is not None

    def sides(self, compared: Compared, problem: Problem) -> tuple[float, float] | None:
        """What the launch block compares."""
        values = self._values(problem)
        try:
            return compared.left.evaluate(values), compared.right.evaluate(values)
        except ExpressionError:
            return None

    def taken(self, launch: LaunchSpec, problem: Problem) -> tuple[float, float] | None:
        """Whether a launch takes place, beside True."""
        values = self._values(problem)
        try:
            return launch.when is None or bool(launch.when.evaluate(values)), True
        except ExpressionError:
            return None

    def sides_in_code(
        self, launch: LaunchSpec, comparison: Comparison, problem: Problem
    ) -> tuple[float, float] | None:
        """What a kernel compares where it is launched for the problem."""
        planned = self._plan(problem)
        given = next((each for each in planned.launches if each.spec is launch), None) if planned else None
        if given is None:
            return None
        sizes = self._sizes(problem)
        arguments = [sizes.get(each) if isinstance(each, str) else each for each in given.args]
        whole = [each if isinstance(each, int) else None for each in arguments]
        first = (0, 0, 0) if comparison.of_limit else None  # block and thread, which have most to do
        return comparison.sides(Given(whole, given.grid, given.block, first, first))

    def _values(self, problem: Problem) -> dict[str, float]:
        """What an expression of the launch block may name."""
        return {**self._kernel.constants, **self._sizes(problem), SM_COUNT: self._sms}

    def _sizes(self, problem: Problem) -> dict[str, float]:
        key = _key(problem)
        if key not in self._known:
            self._known[key] = self._kernel.file.signature.with_derived(problem)
        return self._known[key]

    def _plan(self, problem: Problem) -> LaunchPlan | None:
        key = _key(problem)
        if key not in self._plans:
            try:
                self._plans[key] = plan(self._kernel.file, problem, self._kernel.constants, self._sms)
            except WarpladderError:
                self._plans[key] = None
        return self._plans[key]
