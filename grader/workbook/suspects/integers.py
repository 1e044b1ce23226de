"""Integers: indices in types that are too small, quotients by a rounded reciprocal, and bytes with a sign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from grader.workbook.cuda_source import int_sizes, line_at
from grader.workbook.edit import Edit, Line, all_instead, in_place
from grader.workbook.suspects.text import Said, looked_at

_WIDE = r"(?:size_t|u?int64_t|(?:unsigned )?long long)"
_LATE = re.compile(
    rf"(?:\(\s*{_WIDE}\s*\)|\b{_WIDE}|static_cast<\s*{_WIDE}\s*>)\s*"
    r"\((?P<inner>[^();.]{0,60}\b[A-Za-z_]\w*\s*\*\s*[A-Za-z_]\w*[^();.]{0,60})\)"
)
_CAST_LATER = (
    rf"\+\s*(?:{_WIDE}\s*\(\s*\w+\s*\)|\(\s*{_WIDE}\s*\)\s*\w+|static_cast<\s*{_WIDE}\s*>\s*\(\s*\w+\s*\))"
)
"""What is cast behind a product that is not: that has been formed by then."""
_SHORT = r"(?:(?:un)?signed\s+)?(?:short|char)(?:\s+int)?|(?:std::)?u?int(?:8|16)_t|ushort|uchar"
_KEPT_SHORT = re.compile(rf"(?<!sizeof\()\b(?:{_SHORT})\b(?!\s*(?:const\s*)?[*&])")
"""Where whole numbers come to be of a type of 8 or 16 bits: of a variable, of what a function returns, of a cast."""
_NARROW = re.compile(
    rf"\b(?P<kind>float|half|{_SHORT})\s+(?P<name>\w+)\s*=(?=[^;]{{0,100}}\b(?:block|thread)Idx\b)"
    rf"(?:\s|[*+-]|\b(?:block|thread|grid)(?:Idx|Dim)\.[xyz]\b|\b\w+\b(?!\s*[.(])|\b(?:float|short|int)\s*(?=\()|[()]){{1,100}};"
)
_TURNS = "`{kind}` ends at {most}, and goes on at {on}."
_WHOLE = {"float": "16,777,216", "half": "2,048"}
_OF_GRID = r"[^;){}]{0,60}\bgridDim\.\w\s*\*[^;){}]{1,60}|[^;){}]{1,60}\*\s*gridDim\.\w"
_STRIDE = re.compile(rf"\b(\w+)\s*=(?!=)\s*(?:{_OF_GRID})\s*;")
_OVER_GRID = (
    r"\bint\s+(?P<name>\w+)\s*=[^;=]{{0,80}}\bblockIdx\b[^;{{}}]{{0,40}};(?=[^~]{{0,1000}}?\b(?P=name)\s*\+=\s*"
    r"(?P<step>{step}))"
)
_INVERSE = r"1\.0?[fF]?\s*/(?!/)|\b__f?d?rcp_r[nzud]\s*\(|\b__fdividef\s*\("
_DIVISOR = re.compile(r"\b1\.0?[fF]?\s*/\s*\(?\s*\w+")
_INVERSES = re.compile(rf"\b(\w+)\s*=\s*(?:{_INVERSE})")
_TO_INT = re.compile(
    r"(?:\(\s*(?:int|unsigned(?:\s+int)?)\s*\)|<\s*(?:int|unsigned(?:\s+int)?)\s*>\s*\(|\b(?:int|unsigned|size_t)\s*\("
    r"|\b__float2u?int_r[nzud]\s*\(|\b(?:int|unsigned|size_t|u?int(?:32|64)_t|long long)\s+\w+\s*=(?!=))"
    r"(?P<value>(?:[^();{}\[\]]|\((?:[^();]|\([^();]*\)){0,100}\)){1,150})"
)
_OF_INT = re.compile(r"\b(?:int|unsigned|size_t|u?int(?:32|64)_t|long long)\s+(\w+)")
_HIGH = re.compile(r"\b(__u?mul(?:64)?hi)\s*\(")
_TOP_BYTE = re.compile(
    r"(?:\[\s*|\b(?P<kept>\w+)\s*=\s*)(?P<all>(?P<word>[A-Za-z_]\w*)(?P<part>\.[xyzw]|\[[^\[\]]{1,60}\])?\s*>>\s*24)\s*[\];]"
)
_EXACTLY = (
    "Divide integers, which is cheap where the divisor is a constexpr, or check that {what} is right for the whole "
    "range."
)

_MOST_TOLD = 8
"""Indices of a file that are told."""


def rounded(source: str) -> str:
    """The first quotient of integers, by the line, that is made of a rounded reciprocal, in a sentence that says what
    mends it; "" for none."""
    text = looked_at(source)
    return min(chain(_by_floats(text), _by_high_halves(text)), default=(0, ""))[1]


def too_small(source: str) -> str:
    """The indices, by the line, that are formed in types that large sizes go beyond, in sentences that say what mends
    them; "" for none."""
    text = looked_at(source)
    found = chain(_narrow(text), _late(text), _products(text), _kept(text), _over_grid(text))
    return " ".join(sentence for _, sentence in sorted({*found})[:_MOST_TOLD])


def too_far(source: str) -> str:
    """The first index that goes on beyond what an int counts where an int counts all elements, likewise."""
    return min(_over_grid(looked_at(source)), default=(0, ""))[1]


def top_bytes(text: str) -> Iterator[Said]:
    """The top byte of an int as an index: it has the int's sign."""
    for found in _TOP_BYTE.finditer(text):
        word, part, kept = found.group("word", "part", "kept")
        kind = r"int[234]" if part and part[0] == "." else r"int"
        declared = re.search(rf"(?<!unsigned )\b{kind}\s*\*?\s*(?:const\s|__restrict__\s)?\s*{word}\b", text)
        if declared and (kept is None or re.search(rf"\[\s*{kept}\s*\]", text[found.end() :])):
            line, top = line_at(text, found.start("all")), found["all"]
            mend = f"`({top}) & 0xff`, or unsigned in place of int"
            yield line, f"Line {line}: `{top}` keeps the sign, so that a byte from 128 on is below 0: {mend}."


def _narrow(text: str) -> Iterator[Said]:
    """Indices in types that do not hold every whole number up to an int's."""
    for found in _NARROW.finditer(text):
        line, kind, name = line_at(text, found.start()), found["kind"], found["name"]
        most = f"holds all whole numbers up to {_WHOLE.get(kind) or _ends(kind)[0]} only"
        one = "an" if re.match("int|unsigned", kind) else "a"
        yield line, f"Line {line}: `{name}` is {one} {kind}, which {most}: make it an int."


def _ends(kind: str) -> tuple[str, str]:
    """The largest number of a type of 8 or 16 bits, and the one that it goes on at."""
    bits = 8 if re.search("char|8", kind) else 16
    if re.search("^(?:std::)?u", kind):
        return f"{(1 << bits) - 1:,}", "0"
    return f"{(1 << bits - 1) - 1:,}", f"-{1 << bits - 1:,}"


def wider(lines: Sequence[Line]) -> Iterator[Edit]:
    """An int in place of a type of 8 or 16 bits, of a variable, of what a function returns, or in a cast: in each place
    and in all of them. What is computed of such a number is an int in any case."""
    places = [(line, found) for line in lines for found in _KEPT_SHORT.finditer(line.text)][:_MOST_TOLD]
    whys = [
        _TURNS.format(kind=found[0], most=_ends(found[0])[0], on=_ends(found[0])[1]) for _, found in places
    ]
    for (line, found), why in zip(places, whys, strict=True):
        yield in_place(line, found, 0, "int", why)
    if len(places) > 1:
        said = all_instead([(line, *found.span()) for line, found in places], "int")
        changes = tuple(
            (line.start + found.start(), line.start + found.end(), "int") for line, found in places
        )
        yield Edit(said, places[0][0].number, changes, " ".join(dict.fromkeys(whys)))


def _late(text: str) -> Iterator[Said]:
    """Products that are cast when they have been formed."""
    for found in _LATE.finditer(text):
        line, inner = line_at(text, found.start()), found["inner"].strip()
        yield (
            line,
            f"Line {line}: the cast comes too late, `{inner}` has been formed in int: `{_in_size_t(inner)}`.",
        )


def _products(text: str) -> Iterator[Said]:
    """Rows times their length in ints."""
    for size in int_sizes(text)[0]:
        of_sum = r"[^;()\[\]=<>&|?:]{0,60}"
        product = rf"{of_sum}\b(?P<row>[A-Za-z_]\w*)\s*\*\s*{size}\b{of_sum}"
        begins = rf"(?:\b(?:int|(?P<kept>{_WIDE}))\s+\w+\s*=|\[|[<>]=?|\bif\s*\(|&&|\|\|)"
        ends = r"(?=[;\])<>?]|[=!]=|&&|\|\|)"
        for found in re.finditer(rf"{begins}\s*(?P<all>{product})\s*(?:{_CAST_LATER}\s*)?{ends}", text):
            names = "|".join(re.findall(r"\w+", found["all"]))
            if not re.search(rf"\b{_WIDE}\s+(?:{names})\b", text) and "size_t" not in found["all"]:
                line, formed = line_at(text, found.start("all")), found["all"].strip()
                keep = "" if found["kept"] else ", and keep it in a size_t"
                yield line, f"Line {line}: `{formed}` is formed in int. Write `{_in_size_t(formed)}`{keep}."


def _kept(text: str) -> Iterator[Said]:
    """Rows times their length, formed in a size_t and kept in an int."""
    for size in int_sizes(text)[0]:
        product = rf"(?=[^;]{{0,100}}\bsize_t\b)[^;=]{{0,60}}\*\s*{size}\b[^;=]{{0,60}};"
        for found in re.finditer(rf"\bint\s+(?P<name>\w+)\s*=(?!=){product}", text):
            line = line_at(text, found.start("name"))
            yield (
                line,
                f"Line {line}: `{found['name']}` is an int, and is set to a size_t: make it a size_t as well.",
            )


def _over_grid(text: str) -> Iterator[Said]:
    """Ints that go on by the threads of a grid: behind the last element, they may be more than an int counts."""
    for found in _counters(text):
        line, name = line_at(text, found.start("name")), found["name"]
        step = f"`{name} += {found['step'].strip()}`"
        yield (
            line,
            f"Line {line}: `{name}` is an int, and {step} goes beyond what an int counts: make it a size_t.",
        )


def _counters(text: str) -> list[re.Match[str]]:
    """Where ints are declared that go on by the threads of a grid."""
    strides = [rf"{name}\b" for name in _STRIDE.findall(text)[:_MOST_TOLD]]
    return [*re.finditer(_OVER_GRID.format(step="|".join([_OF_GRID, *strides])), text)]


def far_enough(source: str, edit: Edit, kind: str) -> Edit | None:
    """A change of a text together with one of the ints that go on by the threads of a grid then, to a type that counts
    further; None where none do."""
    changed = edit.applied(source)
    counters = _counters(looked_at(changed))
    if not counters:
        return None
    said, wide = edit.said, changed
    for found in reversed(counters):
        name, line = found["name"], line_at(changed, found.start())
        wide = wide[: found.start()] + kind + wide[found.start() + len("int") :]
        if f"`{name} = " in said:
            said = said.replace(f"`{name} = ", f"`{kind} {name} = ", 1)
        else:
            said = f"{said} and `{kind} {name}` in place of `int {name}` in line {line}"
    return replace(edit, said=said, changes=((0, len(source), wide),))


def _in_size_t(product: str) -> str:
    return re.sub(r"\b([A-Za-z_]\w*)\s*\*", r"size_t(\1) *", product, count=1)


def _by_floats(text: str) -> Iterator[Said]:
    """Integers that are made of an index, times a float's reciprocal."""
    inverse = "|".join([_INVERSE, *(rf"\b{name}\b" for name in _INVERSES.findall(text))])
    index = "|".join([r"\b(?:block|thread)Idx\.", *(rf"\b{name}\b" for name in {*_OF_INT.findall(text)})])
    for found in _TO_INT.finditer(text):
        if re.search(inverse, found["value"]) and re.search(index, _DIVISOR.sub("", found["value"])):
            line = line_at(text, found.start("value"))
            yield (
                line,
                f"Line {line}: a quotient of integers is made of floats, and rounded: where it is a whole number, or "
                "nearly one, it may come out 1 too small or too large, and from 16,777,216 on it is off by more. "
                f"{_EXACTLY.format(what='the quotient')}",
            )


def _by_high_halves(text: str) -> Iterator[Said]:
    """Quotients as the upper half of a product, by a reciprocal of so many bits."""
    for found in _HIGH.finditer(text):
        line = line_at(text, found.start())
        yield (
            line,
            f"Line {line}: `{found[1]}` divides by means of a reciprocal that is rounded, and the index multiplies "
            "what that is off: beyond some index the quotient is 1 too large, or too small. "
            f"{_EXACTLY.format(what='the magic number')}",
        )
