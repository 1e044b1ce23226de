"""Numbers as candidates type them: read with their units, and compared with the answer."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from grader.workbook import units
from grader.workbook.expressions import ExpressionError, parse

_POWER = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\^|\*\*)\s*\(?\s*([-+]?\d+)\s*\)?")
_RAISED = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
_THOUSANDS = re.compile(r"(?<=\d)[,_' \u00a0\u202f](?=\d{3}(?!\d))")
_TRAILING_UNIT = re.compile(r"(?<=[\d).])\s*(?![eE][-+]?\d)([%$¢]|[A-Za-zµμ²][\w/ %²·.-]*)$")
_DOLLARS = re.compile(r"^\$\s*(.*\d)$")
_RANGE = re.compile(r"(?:to|or|and|up to|till)\b", re.IGNORECASE)
_ABOUT = re.compile(
    r"^(?:[~≈=]|about|around|roughly|some|circa|ca\.|approx(?:imately|\.)?)\s*", re.IGNORECASE
)
_TIMES = re.compile(r"(?<=\d)\s*[x×·⋅]\s*(?=\d)")
_SIGNS = str.maketrans("×·⋅−–⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "***--+-0123456789")
_COUNTS = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18, "z": 1e21}
_LONG_PREFIXES = {"kilo": "k", "mega": "m", "giga": "g", "tera": "t", "peta": "p", "exa": "e", "zetta": "z"}
_SI_PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
_SCALES = {
    "%": ("%", 1.0),
    **{word: ("count", factor) for word, factor in _COUNTS.items()},
    **dict.fromkeys(("min", "minute"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hour"), ("time", 3600.0)),
    **{f"{prefix}second": ("time", factor) for prefix, factor in
       {"nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "": 1.0}.items()},
    "sec": ("time", 1.0), "day": ("time", 86400.0), "week": ("time", 604800.0),
    **dict.fromkeys(("$", "dollar", "usd"), ("money", 1.0)),
    **dict.fromkeys(("¢", "c", "ct", "cent"), ("money", 0.01)),
}  # fmt: skip
"""What scales a number, and by how much: 70 ms are not 70 s. Words of one kind are converted into each other."""

_DATA = re.compile(
    rf"({'|'.join(_LONG_PREFIXES)}|[kmgtpez]?)(i?)(b|bytes?|bits?|flops?|ops?|operations?)", re.IGNORECASE
)
_BITS = re.compile(r"[KMGTP]b|\w*bits?")
_SI = re.compile(r"([numkMG]?)(s|J|W|Wh|Hz)")
_PREFIX = re.compile(r"[kmgt]i?", re.IGNORECASE)
_SHARES = ("share", "fraction")

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


LONGEST = 200
"""Characters that are read as a number. The patterns take time by the square of them."""


COSTS = "A wrong answer costs what a guess would earn; `skip` costs nothing, and passes only this question."

_SAID_OTHERWISE = (
    (re.compile(r"\b[KMGT]iB"), "KiB, MiB, GiB and TiB are powers of 1,024 bytes."),
    (re.compile(r"\b[kKMGTP]B\b"), "kB, MB, GB and TB are powers of 1,000 bytes."),
    (re.compile(r"\bfloats?\b"), "A float has 4 bytes."),
)
"""What is explained of a question that speaks of it."""


def wanted(unit: str) -> str:
    """What is to be typed, in a few words."""
    return f"A number{f', in {unit}' if unit else ''} (128, 64/16, 2^-14, 1.5e3)"


def clarified(text: str, unit: str, tolerance: float) -> str:
    """The same at more length, for a question of that text."""
    asks = f"One number, in {unit}" if unit else "One number, without a unit"
    within = f"right within {100 * tolerance:.2g} %" if tolerance else "to be given exactly"
    may = "; a sum such as 64/16 is worked out" + (", another unit of its kind converted" if unit else "")
    said = [words for found, words in _SAID_OTHERWISE if found.search(f"{text} {unit}")]
    return " ".join([f"{asks}, {within}{may}.", *said, COSTS])


class Doubtful(ValueError):
    """A number that may be meant in two ways; typed again, it is `meant`."""

    def __init__(self, message: str, meant: str) -> None:
        super().__init__(message)
        self.meant = meant


def right(given: float, answer: float, tolerance: float) -> bool:
    """Whether a number is the answer, within the relative tolerance; 0 leaves room for binary fractions alone."""
    return math.isclose(given, answer, rel_tol=max(tolerance, 1e-9), abs_tol=1e-12)


def chance(answer: float, tolerance: float) -> float:
    """How probable it is that somebody is right who knows the order of magnitude, and guesses in its decade: any of the
    whole numbers in it where a whole number is asked for exactly, else evenly by the logarithm."""
    if answer == 0:
        return 0.0
    low, high = abs(answer) / math.sqrt(10), abs(answer) * math.sqrt(10)
    if tolerance == 0 and float(answer).is_integer():
        return 1 / (math.floor(high) - math.ceil(low) + 1)
    within = min(tolerance, 0.5)
    return math.log10((1 + within) / (1 - within))


def read_number(text: str, unit: str | None = None) -> float:
    """What a candidate typed: 65504, 1,048,576, 64/16, 2^-24, 1.5e3, 6.0 · 10⁻⁸, 12 %, 4 blocks, about 7.

    Where it is known in which `unit` the answer is asked, a number in another of its kind is converted: 0.07 s are
    70 ms, 3.2 GB are 3200 MB. Raises ValueError, in words for the candidate, for anything else: for a number in a unit
    of another kind, or of more than LONGEST characters. Doubtful is raised for a bare number that may be meant in two
    ways, 0.4 where per cent are asked, 134217728 where millions are, and for MB where MiB are, as many write.
    """
    typed = text.strip()
    if len(typed) > LONGEST:
        raise ValueError(f"A number has at most {LONGEST} characters, and this has {len(typed)}")
    bare = _THOUSANDS.sub("", _in_digits(_ABOUT.sub("", typed)))
    bare = _DOLLARS.sub(r"\1 $", bare)
    if re.fullmatch(r"0[xX][\dA-Fa-f]+", bare):
        return float(int(bare, 16))
    bare = _TIMES.sub("*", bare)
    trailing, scale = _TRAILING_UNIT.search(bare), 1.0
    if trailing is not None:
        bare = bare[: trailing.start()]
        said = trailing[1].strip(" .")
        scale = 1.0 if unit is None else _scale(said, unit, typed)
    bare = _RAISED.sub(lambda found: f"^{found[0]}", bare).translate(_SIGNS)
    try:
        bare = _POWER.sub(lambda found: f"({float(found[1]) ** int(found[2])!r})", bare)
        value = float(parse(bare).evaluate({}))
    except (ExpressionError, ArithmeticError):
        comma = ", with a point and not a comma" if re.search(r"\d,\d", bare) else ""
        raise ValueError(
            f"“{typed}” is not a number: write it as 128, 64/16, 2^-14 or 1.5e3{comma}"
        ) from None
    if not math.isfinite(value):
        raise ValueError(f"“{typed}” is not finite")
    if unit is not None and trailing is None:
        _ask_what_is_meant(value, unit, typed)
    elif unit is not None and _is_loose(said, unit):
        meant, one = f"{value * scale:.4g} {unit}", units.compact(_unit(said).what.factor)
        message = (
            f"1 {said.split('/')[0]} is {one} bytes, so that is {meant}. Type it again, or {value:.4g} {unit}"
        )
        raise Doubtful(message, f"{value * scale!r} {unit}")
    return value * scale


def _ask_what_is_meant(value: float, unit: str, typed: str) -> None:
    """Raises Doubtful for a bare number that may be in the unit asked or not: 0.4 in %, 134217728 in million."""
    if unit == "%" and 0 < abs(value) < 1:
        raise Doubtful(f"In per cent? Write {value:.4g} % or {100 * value:.4g} %", f"{typed} %")
    word = unit.split("/")[0].split(" ")[0]
    many = _COUNTS.get(word, math.inf)
    if abs(value) >= max(many, 1e6):  # 1616 thousand is a number that people write
        raise Doubtful(f"In {word}? Write {value:.4g} {word} or {value / many:.4g} {word}", f"{typed} {unit}")


def _is_loose(said: str, asked: str) -> bool:
    """Whether a unit such as MB, where MiB are asked, may be meant for them; kB is 1,000 bytes to everybody."""
    given, wanted = _unit(said).what, _unit(asked).what
    return (given.kind, wanted.kind) == ("decimal byte", "binary byte") and not said.startswith("kB")


def _scale(said: str, asked: str, typed: str) -> float:
    """What turns a number in the one unit into the other. Raises ValueError where that cannot be said."""
    if said == asked:
        return 1.0
    given, wanted = _unit(said), _unit(asked)
    if _PER.match(f" {said}"):  # 2 per clock, of what is asked
        given = _Unit(wanted.what, given.per)
    if _PREFIX.fullmatch(said) and not wanted.what.kind:
        raise ValueError(
            f"Type the number{f' of {asked}' if asked else ''} in full: {typed} is not understood"
        )
    if given.what == _PER_CENT and asked in _SHARES:
        return 0.01
    scale = _converted(given.what, wanted.what)
    if given.per != _NOTHING and wanted.per != _NOTHING:
        per = _converted(given.per, wanted.per)
        scale = None if scale is None or per is None else scale / per
    elif given.per.kind in ("time", "byte") and wanted.per == _NOTHING:
        scale = None  # bytes are no rate, but TFLOP may be
    if scale is not None and not _RANGE.match(said):
        return scale
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
class _Word:
    """What a number counts: something that scales it, or a noun; neither, of what is not said or not known."""

    kind: str = ""  # time, byte, flop, %: how many of what `factor` is in
    factor: float = 1.0
    noun: str = ""  # block


_NOTHING = _Word()
_PER_CENT = _Word("%")


@dataclass(frozen=True)
class _Unit:
    """What a number counts, and for each of what."""

    what: _Word
    per: _Word


def _converted(given: _Word, wanted: _Word) -> float | None:
    """What turns a number of the one into one of the other; None where they are of different kinds. A word that is not
    known may be any noun, but nothing that scales a number."""
    if given.kind or wanted.kind:
        kinds = {given.kind, wanted.kind}
        if len(kinds) == 1 or kinds <= {"byte", "decimal byte", "binary byte"}:
            return given.factor / wanted.factor
        return None
    return 1.0 if given.noun == wanted.noun or not (given.noun and wanted.noun) else None


def _unit(text: str) -> _Unit:
    """FLOP/byte, 4 blocks per SM, GB/s, GBps, FLOP for each byte; of other words, nothing."""
    plain = re.sub(r"^per ?cent\b", "%", text.strip(), flags=re.IGNORECASE)
    plain = re.sub(r"^(\w*b)ps\b", r"\1/s", plain, flags=re.IGNORECASE)
    what, *rest = _PER.split(f" {plain}", maxsplit=1)
    words = _ASIDE.split(what + " ", maxsplit=1)[0].split() or [""]
    per = rest[0].split()[0] if rest and rest[0].split() else ""
    if (measure := _measure(words[0])) != _NOTHING:
        return _Unit(measure, _word(per))
    nouns = [noun for word in words if (noun := _noun(word))]
    return _Unit(_Word(noun=nouns[-1] if nouns else ""), _word(per))


def _word(word: str) -> _Word:
    measure = _measure(word)
    return _Word(noun=_noun(word)) if measure == _NOTHING else measure


def _noun(word: str) -> str:
    """What is counted, by the first of its names; "" for other words."""
    plain = word.strip(".,").lower()
    return next((_NOUNS[name] for name in (plain, plain[:-1], plain[:-2]) if name in _NOUNS), "")


def _measure(word: str) -> _Word:
    """A measure in one of its spellings: TFLOPS is TFLOP, 5 seconds are 5 s, and Mbit is Mb, but not MB."""
    plain = word.strip(".,").replace("µ", "u").replace("μ", "u")
    for spelling in (plain.lower(), plain.lower().removesuffix("s")):
        if spelling in _SCALES:
            return _Word(*_SCALES[spelling])
    if found := _SI.fullmatch(plain):
        return _si(found[1], found[2])
    if found := _DATA.fullmatch(plain):
        return _data(found, bits=bool(_BITS.fullmatch(plain)))
    return _NOTHING


def _si(prefix: str, unit: str) -> _Word:
    kinds = {"s": ("time", 1.0), "J": ("energy", 1.0), "Wh": ("energy", 3600.0), "W": ("power", 1.0)}
    kind, factor = kinds.get(unit, ("frequency", 1.0))
    return _Word(kind, factor * _SI_PREFIXES[prefix])


def _data(found: re.Match[str], bits: bool) -> _Word:
    """Bytes with decimal and with binary prefixes are told apart, as the one are often said for the other."""
    prefix = found[1].lower()
    letter = _LONG_PREFIXES.get(prefix, prefix)
    unit = "bit" if bits else "byte" if found[3].lower().startswith("b") else "flop"
    if found[2]:
        return _Word(f"binary {unit}", float(1024 ** (list(_PREFIXES).index(letter))))
    return _Word(f"decimal {unit}" if letter and unit == "byte" else unit, _PREFIXES[letter])
