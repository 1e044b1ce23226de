"""Numbers as people read them: a few significant digits, a unit, and a dash where nothing was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.workbook.expressions import Number

NOTHING = "–"

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
LARGE = 1e15
"""Larger whole numbers are not shown in full: beyond 2^53 a float does not hold them all."""

_SEVERAL = re.compile(r"[a-z]{2,}s|[A-Z]+s")
"""A noun in the plural: blocks, GPUs; not ms."""

_PLURALS = (
    (re.compile(r"(?<=..)ies$"), "y"),
    (re.compile(r"(?<=ss|sh)es$|(?<=[nt]ch)es$|(?<=x)es$"), ""),
    (re.compile(r"(?<=l)ves$"), "f"),
)
"""How plurals end that are more than the singular and an s, and what the singular has there."""

_THOUSANDS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

ORDINALS = {
    1: "first",
    2: "second",
    3: "third",
    4: "fourth",
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
}


def digits(value: float, count: int = 3) -> str:
    """A number with `count` significant digits and no exponent: 0.0123, 1.23, 123, 12345."""
    if value == 0:
        return "0"
    text = f"{value:.{count}g}"
    if "e" in text:
        return f"{value:.0f}" if abs(value) >= 1 else f"{value:.{count - 1}e}"
    return text


def number(value: float, count: int = 4) -> str:
    """Whole numbers in full, others with `count` significant digits, without an exponent: 1,048,576, 0.3333."""
    if abs(value) >= LARGE:
        return f"{float(value):.{count}g}"
    return f"{int(value):,}" if float(value).is_integer() else digits(value, count)


def compact(value: float) -> str:
    """Whole numbers, and what is a thousand or more, in full, others to four digits, the smallest with an exponent:
    1,048,576, 20,938, 0.3333, 5.96e-08."""
    if abs(value) < LARGE and (abs(value) >= 1000 or float(value).is_integer()):
        return f"{value:,.0f}"
    return in_full(f"{value:,.4g}")


def in_full(text: str) -> str:
    """A large number as %g writes it, without its exponent: 1.4e+03 is 1,400."""
    if "e+" not in text or abs(value := float(text.replace(",", ""))) >= LARGE:
        return text
    return f"{value:,.0f}"


def element(value: float | str) -> str:
    """An array's element with nine digits, which tell any two floats apart; a word such as nan as it is."""
    return value if isinstance(value, str) else f"{value:.9g}"


def points(value: float) -> str:
    """Points that were earned, to a tenth at most: 10, 7.5."""
    return digits(round(value, 1))


def quantity(value: float, unit: str) -> str:
    """A number and its unit: 4 blocks, 1 block, 0.5 FLOP/byte."""
    return f"{compact(value)} {unit_of(value, unit)}".strip()


def unit_of(value: float | str, unit: str) -> str:
    """A unit as it follows a number: blocks, but block after 1."""
    first, space, rest = unit.partition(" ")
    word = first.replace("-", "")
    if value == 1 and _SEVERAL.fullmatch(word):
        return f"{_singular(first)}{space}{rest}"
    return unit


def _singular(noun: str) -> str:
    """Of a plural: block of blocks, pass of passes, batch of batches, copy of copies, but cache of caches."""
    for plural, ending in _PLURALS:
        if plural.search(noun):
            return plural.sub(ending, noun)
    return noun[:-1]


def seconds(value: float | None, source: str | None = "measured") -> str:
    """A time with its unit; a modelled one begins with ≈."""
    if value is None:
        return NOTHING
    scale, unit = next(((s, u) for s, u in _TIMES if value >= s), _TIMES[-1])
    mark = "≈" if source == "modelled" else ""
    return f"{mark}{digits(value / scale)} {unit}"


def minutes(seconds: float) -> str:
    """Minutes and seconds: 12:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def time_left(left_s: float | None) -> str:
    """Time that is left, as people say it: 38 min left, 0:40 left, time is up; None: no limit."""
    if left_s is None:
        return "no limit"
    if left_s <= 0:
        return "time is up"
    return f"{left_s / 60:.0f} min left" if left_s >= 90 else f"{minutes(left_s)} left"


def count(value: float | None) -> str:
    """A count, short: 31, 1.02M."""
    if value is None:
        return NOTHING
    for scale, unit in _THOUSANDS:
        if abs(value) >= scale:
            return f"{digits(value / scale)}{unit}"
    return digits(value)


def rate(value: float, what: str) -> str:
    """A rate with its unit: 4.54 TB/s, 64.9 TFLOP/s; `what` is B/s, FLOP/s and the like."""
    scale, prefix = next(((s, p) for s, p in _THOUSANDS if abs(value) >= s), (1.0, ""))
    return f"{digits(value / scale)} {prefix}{what}"


def kib(value: int | None) -> str:
    """Bytes of shared memory: 0, 512, 4.13K (of 1024 bytes)."""
    if value is None:
        return NOTHING
    return str(value) if value < 1024 else f"{digits(value / 1024)}K"


def percent(value: float | None) -> str:
    """A ratio in percent, without the sign: 0.5 → 50."""
    if value is None:
        return NOTHING
    return digits(100 * value, 2) if value < 0.0995 else f"{100 * value:.0f}"


def ratio(value: float | None) -> str:
    """A ratio: 1, 2.5, 12.3, 340."""
    return NOTHING if value is None else digits(value)


def number_of(count: int, thing: str, things: str = "") -> str:
    """How many things: 1 case, 2 cases; `things` where the plural takes more than an s."""
    return f"{count} {thing}" if count == 1 else f"{count} {things or f'{thing}s'}"


def extents(sizes: Sequence[int]) -> str:
    """A grid or a block: 256 × 4 × 1."""
    return " × ".join(map(str, sizes))


def axes(sizes: Sequence[int]) -> str:
    """The same without the axes behind the last that is larger than 1: 256 × 4."""
    shown = list(sizes)
    while len(shown) > 1 and shown[-1] == 1:
        shown.pop()
    return extents(shown)


def sizes(problem: Mapping[str, Number]) -> str:
    """Sizes as they are said in passing: 512³ where two or three are alike, else M = 1024, N = 33."""
    values = set(problem.values())
    power = {2: "²", 3: "³"}.get(len(problem), "")
    if len(values) == 1 and power:
        return f"{values.pop()}{power}"
    return ", ".join(f"{name} = {size}" for name, size in problem.items())


def problem(sizes: Mapping[str, Number]) -> str:
    """Sizes by name: M = 1024, N = 33."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def case(sizes: Mapping[str, Number]) -> str:
    """Sizes as they tell one case from another: M=1024, N=33."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
