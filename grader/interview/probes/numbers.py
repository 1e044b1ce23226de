"""Numbers as candidates type them: read with their units, and compared with the answer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from grader.workbook.expressions import ExpressionError, parse

_POWER = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\^|\*\*)\s*\(?\s*([-+]?\d+)\s*\)?")
_RAISED = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
_THOUSANDS = re.compile(r"(?<=\d)[,_' \u00a0\u202f](?=\d{3}(?!\d))")
_TRAILING_UNIT = re.compile(r"(?<=[\d).])\s*(?![eE][-+]?\d)(%|[A-Za-zµμ²][\w/ %²·.-]*)$")
_ABOUT = re.compile(
    r"^(?:[~≈=]|about|around|roughly|some|circa|ca\.|approx(?:imately|\.)?)\s*", re.IGNORECASE
)
_TIMES = re.compile(r"(?<=\d)\s*[x×·⋅]\s*(?=\d)")
_SIGNS = str.maketrans("×·⋅−–⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "***--+-0123456789")
_MEASURE = re.compile(
    r"%|thousands?|millions?|billions?"
    r"|(?=.)[kmgtpunµμ]?i?(?:b|bytes?|bits?|flops?|ops?|operations?|s|sec|seconds?|min|minutes?|hours?)?",
    re.IGNORECASE,
)
"""What scales a number: 70 ms are not 70 s, and 12k is not 12."""

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hour": 3600.0}
_SHARES = ("share", "fraction")
_PREFIX = re.compile(r"[kmgt]i?", re.IGNORECASE)

_WORDS = {
    **{name: n for n, name in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )},
    **{name: n for n, name in enumerate("零一二三四五六七八九十")}, "〇": 0, "两": 2,
}  # fmt: skip
"""Numbers that people write as words."""

_SAME = (
    "block", "warp", "thread", "lane", "register", "sector", "bank", "conflict", "wave", "column",
    "row", "barrier", "launch", "stream", "engine", "kernel", "accumulator", "image", "shuffle",
    "sm multiprocessor", "board gpu card device", "load store request instruction access read write",
    "wavefront turn cycle clock", "multiply-add fma ffma mad product", "addition add",
    "element float half number output value outcome result",
)  # fmt: skip
_NOUNS = {word: names.split()[0] for names in _SAME for word in names.split()}
"""What is counted, by the first of its names: 1 warp is not 1 block. Words that are not here only name a number."""

_PER = re.compile(r"\s*/\s*|\s+(?:per|for each|for every|an?|each|every)\s+", re.IGNORECASE)
_ASIDE = re.compile(r"\s+(?:of|on|in|at|to|for|from|and|with|by|that)\s", re.IGNORECASE)


class Doubtful(ValueError):
    """A number that may be meant in two ways; typed again, it is `meant`."""

    def __init__(self, message: str, meant: str) -> None:
        super().__init__(message)
        self.meant = meant


def right(given: float, answer: float, tolerance: float) -> bool:
    """Whether a number is the answer, within the relative tolerance; 0 leaves room for binary fractions alone."""
    return math.isclose(given, answer, rel_tol=max(tolerance, 1e-9), abs_tol=1e-12)


def read_number(text: str, unit: str | None = None) -> float:
    """What a candidate typed: 65504, 1,048,576, 64/16, 2^-24, 1.5e3, 6.0 · 10⁻⁸, 12 %, 4 blocks, about 7.

    Where it is known in which `unit` the answer is asked, times and shares in another are converted to it: 0.07 s
    are 70 ms. Raises ValueError, in words for the candidate, for anything else: for a number in a unit of another
    kind. Doubtful is raised for a bare 0.4 where per cent are asked, which may be 0.4 % or 40 %.
    """
    typed = text.strip()
    bare = _THOUSANDS.sub("", _in_digits(_ABOUT.sub("", typed)))
    if re.fullmatch(r"0[xX][\dA-Fa-f]+", bare):
        return float(int(bare, 16))
    bare = _TIMES.sub("*", bare)
    trailing, scale = _TRAILING_UNIT.search(bare), 1.0
    if trailing is not None:
        bare = bare[: trailing.start()]
        scale = 1.0 if unit is None else _scale(trailing[1].strip(" ."), unit, typed)
    bare = _RAISED.sub(lambda found: f"^{found[0]}", bare).translate(_SIGNS)
    try:
        bare = _POWER.sub(lambda found: f"({float(found[1]) ** int(found[2])!r})", bare)
        value = float(parse(bare).evaluate({}))
    except (ExpressionError, ArithmeticError):
        comma = ", with a point and not a comma" if re.search(r"\d,\d", bare) else ""
        raise ValueError(f"“{typed}” is no number: write it as 128, 64/16, 2^-14 or 1.5e3{comma}") from None
    if not math.isfinite(value):
        raise ValueError(f"“{typed}” is not finite")
    if trailing is None and unit == "%" and 0 < abs(value) < 1:
        raise Doubtful(f"In per cent? Write {value:.4g} % or {100 * value:.4g} %", f"{typed} %")
    return value * scale


def _scale(said: str, asked: str, typed: str) -> float:
    """What turns a number in the one unit into the other. Raises ValueError where that cannot be said."""
    given, wanted = _unit(said), _unit(asked)
    if given.measure in _SECONDS and wanted.measure in _SECONDS and not (given.per or wanted.per):
        return _SECONDS[given.measure] / _SECONDS[wanted.measure]
    if given.measure == "%" and asked in _SHARES:
        return 0.01
    if _same_unit(said, asked):
        return 1.0
    if _PREFIX.fullmatch(said) and not wanted.measure:
        raise ValueError(
            f"Type the number{f' of {asked}' if asked else ''} in full: {typed} is not understood"
        )
    raise ValueError(
        f"“{typed}” is in {said}: {f'it is asked in {asked}' if asked else 'write the bare number'}"
    )


def _in_digits(text: str) -> str:
    """A number with its first word in digits, where that is one: two wavefronts, 两个."""
    word = re.match(
        r"[a-z]+|[〇零一二两三四五六七八九十](?![〇零一二两三四五六七八九十百千万])", text, re.IGNORECASE
    )
    found = _WORDS.get(word[0].lower()) if word else None
    return text if word is None or found is None else f"{found}{text[word.end() :]}"


@dataclass(frozen=True)
class _Unit:
    """What a number counts, and for each of what; "" for what is not said, or not known."""

    measure: str  # kflop, kib, %
    noun: str  # block
    per: str  # s, b, load


def _same_unit(said: str, asked: str) -> bool:
    """Whether a number in the one unit may be read as if it were in the other."""
    given, wanted = _unit(said), _unit(asked)
    if given.measure or (given.noun and wanted.measure):
        same = given.measure == wanted.measure
    else:
        same = given.noun == wanted.noun or not (given.noun and wanted.noun)
    if given.per and wanted.per:
        return same and given.per == wanted.per
    return same and not (given.per in ("s", "b") and not wanted.per)  # bytes are no rate, but TFLOP may be


def _unit(text: str) -> _Unit:
    """FLOP/byte, 4 blocks per SM, GB/s, GBps, FLOP for each byte; of other words, nothing."""
    plain = re.sub(r"^per ?cent\b", "%", text.strip(), flags=re.IGNORECASE)
    plain = re.sub(r"^(\w*b)ps\b", r"\1/s", plain, flags=re.IGNORECASE)
    what, *rest = _PER.split(plain, maxsplit=1)
    words = _ASIDE.split(what + " ", maxsplit=1)[0].split() or [""]
    per = rest[0].split()[0] if rest and rest[0].split() else ""
    if _MEASURE.fullmatch(words[0]):
        return _Unit(_measure(words[0]), "", _one(per))
    nouns = [noun for word in words if (noun := _noun(word))]
    return _Unit("", nouns[-1] if nouns else "", _one(per))


def _one(word: str) -> str:
    """What follows “per”, in one of its spellings."""
    return _measure(word) if _MEASURE.fullmatch(word) else _noun(word)


def _noun(word: str) -> str:
    """What is counted, by the first of its names; "" for other words."""
    plain = word.strip(".,").lower()
    return next((_NOUNS[name] for name in (plain, plain[:-1], plain[:-2]) if name in _NOUNS), "")


def _measure(unit: str) -> str:
    """A measure in one of its spellings: TFLOPS is TFLOP, 5 seconds are 5 s, and Mbit is Mb, but not MB."""
    bits = bool(re.fullmatch(r"[KMGTP]b|\w*bits?", unit))
    plain = unit.lower().replace("µ", "u").replace("μ", "u")
    plain = plain.removesuffix("s") if len(plain) > 2 else plain
    for long, short in (
        ("byte", "b"), ("bit", "b"), ("second", "s"), ("sec", "s"), ("minute", "min"), ("operation", "flop"),
    ):  # fmt: skip
        plain = plain.removesuffix(long) + short if plain.endswith(long) else plain
    if plain.endswith("op") and not plain.endswith("flop"):
        plain = plain.removesuffix("op") + "flop"
    return f"{plain}it" if bits else plain
