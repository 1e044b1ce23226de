"""What a wrong output is instead of the right one: a mistake that explains every wrong element, found by trying.

A sentence is said only where it fits all wrong elements of an output, exactly, and is no coincidence: one number alone
fits many formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MOST = 1 << 16
"""Elements of an output, or of an input, with which mistakes are tried; the cases that fail first are smaller."""

REACH = 16
"""How far a place is looked for whose value stands in an element's place, or is missing in its sum."""

NARROW = (16, 8)
"""Bits of counters that are told by what they do not hold, the widest first."""

FEW_OF = 4
"""Of so many numbers one is wrong at the most where narrow counters are behind it: those that count most."""

NEAR_EDGE = 16
"""Elements at either side of a block that its neighbours load."""

AT_EDGES = "All wrong elements lie within"
"""What is said of wrong elements near the ends of blocks begins so."""

ROUNDED = 2.0**-22
"""What a quotient of floats may be off by, over itself, with room for a second rounding."""

LARGEST_FACTOR = 1 << 12

LARGEST_GROUP = 1024
"""Threads of a block side by side."""

TELLING = 32.0
"""A single number says something where it is at least as large: of small ones many are sums of others by chance."""

VARIOUS = 4
"""Different small numbers that stand in the wrong places by no chance."""

OTHER_SIGN = (
    "Every wrong element has the right value with the other sign: look at what is subtracted from what."
)
WHOLE = (
    "Every wrong element is a whole number, and the right ones have fractions: is an int, or a division of ints, "
    "between the inputs and the result?"
)
WHOLE_AS_GIVEN = (
    "Every wrong element is a whole number, as the inputs are, and the right ones have fractions: is a division or a "
    "root left out, or is an int, or a division of ints, between the inputs and the result?"
)
BITS = (
    "Every wrong element has the bits of the integer that it has to be: `(int)x` converts a number, "
    "`__float_as_int(x)` keeps its bits, and `__int_as_float` takes them back."
)
WRAPPED = "What is missing is a multiple of {turn:,}, in few elements: a counter of {bits} has run over."
THAN = "than it has to be."
"""How ends what is said of wrong elements that are all off by one number: not why."""
OF_ALL_THREADS = "as many as a block has threads"
"""What is said where all wrong elements are off by that factor."""
WHAT_IS_DONE = ": what has to be done with it?"
NOTHING = "Every wrong element is 0, which is what memory holds that was cleared: where should it be added, or stored?"


@dataclass(frozen=True)
class Wrong:
    """An output that is wrong in some places, in float64."""

    actual: Array
    expected: Array
    places: Array  # of the wrong elements, flat
    inputs: Mapping[str, Array]
    block: int  # threads of a block; 0 where it has no part in it

    @property
    def came(self) -> Array:
        return self.actual.reshape(-1)[self.places]

    @property
    def due(self) -> Array:
        return self.expected.reshape(-1)[self.places]

    @property
    def nothing(self) -> bool:
        """Whether all wrong elements are 0, and none has to be."""
        return not self.came.any() and bool(self.due.all())

    @property
    def various(self) -> bool:
        """Whether values are so many, or so large, that a place with the same one is no chance."""
        return len(np.unique(self.due)) >= VARIOUS or bool(np.abs(self.due).max() >= TELLING)

    @property
    def telling(self) -> bool:
        """Whether there is enough that differs for a formula to fit by no chance."""
        return len(np.unique(self.due)) > 1 or max(np.abs(self.due).max(), np.abs(self.came).max()) >= TELLING


def fitting(
    actual: Array, expected: Array, inputs: Mapping[str, Array], wrong: Array, block: int = 0
) -> tuple[str, ...]:
    """The mistakes that explain every wrong element, in sentences, the likeliest first. `wrong` marks the elements;
    arrays are of one shape, inputs of any."""
    places = np.flatnonzero(wrong)
    if not 0 < len(places) <= actual.size <= MOST:
        return ()
    with np.errstate(all="ignore"):
        known = {name: array.astype(np.float64) for name, array in inputs.items() if 0 < array.size <= MOST}
        found = Wrong(actual.astype(np.float64), expected.astype(np.float64), places, known, block)
        if not (np.isfinite(found.came).all() and np.isfinite(found.due).all()):
            return ()
        if actual.dtype == np.float32 and np.array_equal(
            actual.reshape(-1)[places].view(np.int32), found.due
        ):
            return (BITS,)
        # Zeros come of much else.
        whole = np.array_equal(found.came, np.rint(found.came)) and found.came.any()
        if whole and not (found.due == np.rint(found.due)).any():
            given_whole = known and all(np.array_equal(array, np.rint(array)) for array in known.values())
            return (WHOLE_AS_GIVEN if given_whole else WHOLE,)
        wrapped = _wrapped(found) if actual.dtype.kind in "iu" else ""
        if wrapped:
            return (wrapped,)
        if not found.telling:
            return (NOTHING,) if found.nothing else ()
        return tuple(dict.fromkeys(_sentences(found)))


def _wrapped(wrong: Wrong) -> str:
    """Whether a few whole numbers are off by what a narrow counter does not hold. What leaves elements out counts less
    of many."""
    if len(wrong.places) > wrong.actual.size // FEW_OF:
        return ""
    off = np.zeros(wrong.actual.size)
    off[wrong.places] = wrong.came - wrong.due
    for bits in NARROW:
        turns = np.rint(off / (1 << bits))
        rest = off - turns * (1 << bits)
        carried = np.append(0.0, -turns[:-1])  # into the counter beside it in a word
        if turns.any() and ((rest == 0.0) | (rest == carried)).all():
            # Counters of 8 bits that run over in all of many threads are off by as much as wider ones.
            return WRAPPED.format(
                turn=1 << bits, bits="8 bits" if bits == 8 else "16 bits, or of 8 in many threads,"
            )
    return ""


def _sentences(wrong: Wrong) -> Iterator[str]:
    if np.array_equal(wrong.came, -wrong.due):
        yield OTHER_SIGN
    yield from _other_index(wrong)
    yield from _of_inputs(wrong)
    yield from _product(wrong)
    if wrong.nothing:
        yield NOTHING
    yield from _factor(wrong)
    if wrong.various:
        yield from _term(wrong)  # before what follows from it at the ends of an array
        yield from _moved(wrong)
        yield from _repeated(wrong)
        yield from _end_of_rows(wrong)
    yield from _offset(wrong)
    yield from _edges(wrong)


def _of_inputs(wrong: Wrong) -> Iterator[str]:
    """An element is an input's as it stands, or two inputs' taken together in another way."""
    alike = {
        name: array.reshape(-1)[wrong.places]
        for name, array in wrong.inputs.items()
        if array.shape == wrong.actual.shape
    }
    for name, values in alike.items():
        if np.array_equal(wrong.came, values):
            yield f"Every wrong element is the element of `{name}` at its place, as it is{WHAT_IS_DONE}"
        if len(alike) > 1 and np.array_equal(wrong.came, values + values):
            yield f"Every wrong element is twice that of `{name}`: is `{name}` read in place of another input?"
    for name, array in wrong.inputs.items():
        other = array.size == wrong.actual.size and array.shape != wrong.actual.shape
        if other and np.array_equal(wrong.came, array.reshape(-1)[wrong.places]):
            yield f"`{name}` is copied in the order in which it lies in memory: which index belongs where?"
        filled = np.zeros(wrong.actual.size)
        filled[: array.size] = array.reshape(-1)[: filled.size]
        if (
            array.size < filled.size
            and filled[wrong.places].any()
            and np.array_equal(wrong.came, filled[wrong.places])
        ):
            yield f"The wrong elements are those of `{name}` in its order: which is the index, and which the value?"
    for (first, one), (second, other) in combinations(alike.items(), 2):
        for said, values in (
            (f"`{first}` - `{second}`", one - other),
            (f"`{second}` - `{first}`", other - one),
            (f"`{first}` + `{second}`", one + other),
            (f"`{first}` · `{second}`", one * other),
        ):
            if np.array_equal(wrong.came, values):
                yield f"Every wrong element is {said}."


def _other_index(wrong: Wrong) -> Iterator[str]:
    """An input of one dimension is looked up along the wrong side of an output of two, or by an index that mixes them.

    If a term v[row] stands in the place of v[column], the output is off by v[row] - v[column].
    """
    if wrong.actual.ndim != 2:
        return
    off = (wrong.actual - wrong.expected).reshape(-1)
    (rows, columns), place = wrong.actual.shape, np.arange(off.size)
    indices = {
        "row": place // columns,
        "column": place % columns,
        "i % rows": place % rows,
        "i / rows": place // rows,
    }
    for right, side in (("column", columns), ("row", rows)):
        for name, vector in wrong.inputs.items():
            for found, index in indices.items():
                if vector.shape != (side,) or found == right or index.max() >= side:
                    continue
                if np.array_equal(off, vector[index] - vector[indices[right]]):
                    counts = ", where i counts all elements" if found.startswith("i ") else ""
                    yield (
                        f"Every element is what `{name}[{found}]` in place of `{name}[{right}]` gives{counts}: the "
                        f"values of `{name}` have to follow the {right}."
                    )


def _product(wrong: Wrong) -> Iterator[str]:
    """Of a product of two matrices, the first or the last product of each sum is missing, or it is there twice."""
    off = wrong.came - wrong.due
    matrices = [(name, array) for name, array in wrong.inputs.items() if array.ndim == 2]
    for (first, one), (second, other) in combinations(matrices, 2):
        if one.shape[1] != other.shape[0] or (one.shape[0], other.shape[1]) != wrong.actual.shape:
            continue
        for which, k in (("last", -1), ("first", 0)):
            term = np.outer(one[:, k], other[k]).reshape(-1)[wrong.places]
            for many, sign in (("missing", -1), ("there twice", 1)):
                if np.array_equal(off, sign * term):
                    yield f"The {which} product of each sum of `{first}` · `{second}` is {many}."


def _factor(wrong: Wrong) -> Iterator[str]:
    """All elements are off by one factor, a whole number or one over it."""
    if not wrong.due.all() or not wrong.came.all():
        return
    single = len(wrong.places) == 1
    for up, ratios in ((True, wrong.came / wrong.due), (False, wrong.due / wrong.came)):
        factor = round(float(ratios[0]))
        if not 2 <= factor <= LARGEST_FACTOR or not np.allclose(ratios, factor, rtol=ROUNDED, atol=0):
            continue
        if factor == wrong.block:
            does = f"does each of them {'add' if up else 'divide'} what one should"
            threads = f", {OF_ALL_THREADS}: {does}? If so, put `if (threadIdx.x == 0)` in front."
        elif single and factor & (factor - 1):
            continue  # of one number, only a power of two is a sign
        else:
            threads = f": what {'is added' if up else 'divides'} so many times?"
        yield f"Every wrong element is {'exactly' if up else 'one over'} {factor} times what it has to be{threads}"


def _moved(wrong: Wrong) -> Iterator[str]:
    """Every element is what belongs at another place, as far away."""
    shape = wrong.actual.shape
    row = shape[-1] if len(shape) == 2 else 0
    steps = {step: f"{_places(step)}" for distance in range(1, REACH + 1) for step in (distance, -distance)}
    if row > 1:
        steps |= {row: "in the next row", -row: "in the row before"}
    expected = wrong.expected.reshape(-1)
    for step, where in steps.items():
        other = wrong.places + step
        there = (other >= 0) & (other < expected.size)
        if there.sum() >= 2 and np.array_equal(wrong.came[there], expected[other[there]]):
            yield f"Every wrong element has the value that belongs {where}: is the index off by that?"
    square = len(shape) == 2 and shape[0] == shape[1] > 1
    if square and np.array_equal(wrong.came, wrong.expected.T.reshape(-1)[wrong.places]):
        yield "Every wrong element has the value that belongs at [column, row]: the two indices are exchanged."


def _repeated(wrong: Wrong) -> Iterator[str]:
    """Of so many rows, columns or elements that a block, or a warp, has side by side, all are as the first."""
    shape, groups = wrong.actual.shape, (1 << power for power in range(1, LARGEST_GROUP.bit_length()))
    places = np.unravel_index(wrong.places, shape)
    for group in groups:
        for axis, unit in enumerate(_UNITS.get(len(shape), ())):
            first = list(places)
            first[axis] = places[axis] // group * group
            several = len(np.unique(places[axis])) > 1
            if several and np.array_equal(wrong.came, wrong.expected[tuple(first)]):
                yield f"Of each {group} {unit} all are as the first: which index has to go on from thread to thread?"


_UNITS = {1: ("elements",), 2: ("rows", "columns")}


def _places(step: int) -> str:
    many = "a place" if abs(step) == 1 else f"{abs(step)} places"
    return f"{many} {'further on' if step > 0 else 'before'}"


def _term(wrong: Wrong) -> Iterator[str]:
    """Of every sum one term is missing or twice there: the input's element at a fixed distance, or at one end."""
    off = wrong.came - wrong.due
    for name, array in wrong.inputs.items():
        flat = array.reshape(-1)
        for many, sign in (("missing in", -1), ("twice in", 1)):
            for which, value in (("first", flat[0]), ("last", flat[-1])):
                if value and np.array_equal(off, np.full_like(off, sign * value)) and flat.size > 1:
                    yield f"The {which} element of `{name}` is {many} every wrong sum."
            if array.shape != wrong.actual.shape or len(wrong.places) < 3:
                continue
            for step in range(-REACH, REACH + 1):
                other = wrong.places + step
                there = (other >= 0) & (other < flat.size)
                term = np.where(there, flat[np.clip(other, 0, flat.size - 1)], 0.0)
                if there.sum() >= 2 and np.array_equal(off, sign * term):
                    at = "i" if step == 0 else f"i {'+' if step > 0 else '-'} {abs(step)}"
                    yield f"`{name}`[{at}] is {many} every wrong element, of which i is the place."


def _end_of_rows(wrong: Wrong) -> Iterator[str]:
    """Of the sums along one side of an input of two dimensions, the first or the last term is missing."""
    off = wrong.due - wrong.came
    for name, array in wrong.inputs.items():
        if array.ndim != 2 or wrong.actual.ndim != 1 or min(array.shape) < 2:
            continue
        for side, along in ((1, "row"), (0, "column")):
            if array.shape[1 - side] != wrong.actual.size:
                continue
            for which, at in (("first", 0), ("last", -1)):
                if np.array_equal(off, np.take(array, at, side)[wrong.places]):
                    yield f"The {which} element of each {along} of `{name}` is missing in its sum."


def _edges(wrong: Wrong) -> Iterator[str]:
    """All wrong elements are those near the first and the last threads of blocks, and there are others."""
    if wrong.actual.ndim != 1 or wrong.block < 2 * NEAR_EDGE or wrong.actual.size <= wrong.block:
        return
    place = wrong.places % wrong.block
    far = int(np.minimum(place, wrong.block - 1 - place).max()) + 1
    if far <= NEAR_EDGE and len(wrong.places) < wrong.actual.size / 2:
        yield (
            f"{AT_EDGES} {far} of a block's edge: what is read there of the elements of the blocks beside it is "
            f"missing or wrong. A tile in shared memory has to hold, with the {wrong.block} elements of the block, "
            f"the {far} before and the {far} behind them, as far as they are read."
        )


def _offset(wrong: Wrong) -> Iterator[str]:
    off = wrong.came - wrong.due
    if len(off) > 1 and np.array_equal(off, np.full_like(off, off[0])):
        yield f"Every wrong element is {abs(off[0]):g} {'more' if off[0] > 0 else 'less'} {THAN}"
