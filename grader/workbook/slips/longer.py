"""Arrays in shared memory that are too small for the index that is meant: what the constants of a text come to, the
fewest elements first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, islice
from math import prod

from grader.workbook.cuda_source import constant, numbers, plain, shared_arrays
from grader.workbook.edit import Edit, in_text

_MOST = 64  # changes of an array: bounds a stranger's work, as does what follows
_MOST_TERMS = 12
_TIMES = 64
"""So many times as long as it is, an array is longer than an index is meant to go."""

_WARP = 32
_DECLARED = re.compile(r"__shared__[^;]{1,300};")
_SHARED = re.compile(
    r'^// *shared *= *"?(?:(?P<bytes>[1248]) \* )?(?P<extent>[^"\n]{1,80}?)"? *$', re.MULTILINE
)
_IN_BYTES = "`shared` counts bytes, and not elements."
_PAIR = re.compile(r"(?<![\w.])(?=(\w+\s*[-+*/]\s*\w+)\b(?!\s*[\w.(\[*/%]))")
_LITERAL = re.compile(r"(?<![\w.])\d+(?![\w.])")
_LAST = re.compile(r"(?P<one>.+)(?P<sign> \* | \+ )(?P<other>\w+|\([^()]*\))")
_ROW = "A row of `{array}` is shorter than its index: what is beyond the end lies in the next row."

_Form = tuple[int, str]
"""A number of elements, and how it is written."""


def edits(source: str, array: str) -> Iterator[Edit]:
    """The array with more elements: in a row, in rows, at either end, or those that the launch block gives it."""
    text = plain(source)
    declared = [
        (whole.start() + found.start(), found[0].rstrip())
        for whole in _DECLARED.finditer(text)
        for found in re.finditer(rf"\b{re.escape(array)}\s*(?:\[[^\[\]]{{0,80}}\]\s*)+", whole[0])
    ]
    if len(declared) != 1:
        return
    ((start, written),) = declared
    extents = [each.strip() for each in re.findall(r"\[([^\[\]]*)\]", written)]
    if extents == [""]:
        yield from _of_launch(source, max(each.itemsize or 0 for each in shared_arrays(source)[array]))
        return
    terms = _terms(text, start, array)
    there = [_written_out(text, each, terms) for each in extents]
    some: dict[tuple[int, ...], str] = {}
    for place in range(len(extents)):
        for value, new in _larger(text, there[place], terms):
            of_all = [*there]
            of_all[place] = value, new
            some.setdefault(*_array(array, of_all))
    for term, value in {**terms, "1": 1}.items() if len(extents) > 1 else ():
        for times, more in ((1, term), (2, f"2 * {term}")):
            of_all = [(each + times * value, f"{own} + {more}") for each, own in there]
            some.setdefault(*_array(array, of_all))
    for values, new in islice(sorted(some.items(), key=lambda each: prod(each[0])), _MOST):
        in_row = prod(values[1:]) > prod(value for value, _ in there[1:])
        yield in_text(text, start, start + len(written), new, _ROW.format(array=array) if in_row else "")


def _array(array: str, extents: Sequence[_Form]) -> tuple[tuple[int, ...], str]:
    return tuple(value for value, _ in extents), array + "".join(f"[{text}]" for _, text in extents)


def _of_launch(source: str, itemsize: int) -> Iterator[Edit]:
    """More bytes in the only launch block that gives any, by the constants that it names; where it counts elements, as
    many times their bytes."""
    blocks = [*_SHARED.finditer(source)]
    names = set(re.findall(r"[A-Za-z_]\w*", blocks[0]["extent"])) if len(blocks) == 1 else set()
    terms = {name: value for name, value in numbers(source).items() if name in names}
    for found in blocks if terms else ():
        own = re.sub(r"^\(([^()]*)\)$", r"\1", found["extent"])
        if itemsize > 1 and found["bytes"] != str(itemsize) and not own.endswith(f"* {itemsize}"):
            first = found.start("bytes") if found["bytes"] else found.start("extent")
            elements = _factor(source[first : found.end("extent")])
            yield in_text(source, first, found.end("extent"), f"{itemsize} * {elements}", _IN_BYTES)
            continue
        value = constant(source, own) or 0
        for _, new in islice(_larger(source, (value, own), terms), _MOST):
            new = _factor(new) if found["bytes"] else new
            yield in_text(source, *found.span("extent"), new.replace(" / ", " // "))


def _terms(text: str, start: int, array: str) -> dict[str, int]:
    """What an array's length may be made of, by how it is written: the constants in front of it, what the text makes of
    two of them, the warps of so many threads, and the numbers of its indices."""
    known = {
        name: value
        for name, value in numbers(text).items()
        if value > 1 and re.search(rf"\b{name}\s*=|#\s*define\s+{name}\b", text[:start])
    }
    indices = " ".join(re.findall(rf"\b{re.escape(array)}\[([^\[\]]{{1,100}})\]", text[start:]))
    sets = (
        rf"\b{name}\s*=(?!=)([^;,]{{1,100}})[;,]" for name in set(re.findall(r"\b[A-Za-z_]\w*\b", indices))
    )
    of_indices = " ".join([indices, *(each for pattern in sets for each in re.findall(pattern, text))])
    literals = [each for each in _LITERAL.findall(of_indices) if 1 < int(each) <= 1024]
    pairs = [" ".join(re.split(r"\s*([-+*/])\s*", each)) for each in _PAIR.findall(text)]
    own = [each for each in pairs if all(part in known or part.isdecimal() for part in each.split()[::2])]
    warps = [f"{name} / {_WARP}" for name, value in known.items() if value % _WARP == 0]
    some = dict.fromkeys([*known, *literals, *own, *warps])
    values = {each: constant(text, each) for each in some}
    return dict(islice(((each, value) for each, value in values.items() if value and value > 1), _MOST_TERMS))


def _written_out(text: str, extent: str, terms: Mapping[str, int]) -> _Form:
    """An extent by what a constant is set to that it is, or by those that are the same number."""
    value = constant(text, extent) or 0
    defined = re.search(rf"\b{extent}\s*=\s*([^;,]+[*+][^;,]+);", text) if extent.isidentifier() else None
    if defined:
        return value, " ".join(defined[1].split())
    names = (
        {name: number for name, number in terms.items() if name.isidentifier()} if extent.isdecimal() else {}
    )
    of_two = combinations_with_replacement(names, 2)
    alike = [name for name, number in names.items() if number == value]
    alike += [f"{one} * {other}" for one, other in of_two if names[one] * names[other] == value]
    return value, alike[0] if alike else extent


def _larger(text: str, extent: _Form, terms: Mapping[str, int]) -> Iterator[_Form]:
    """Larger ones, the smallest first, and of what comes to the same the likeliest."""
    value, own = extent
    found: dict[int, str] = {}
    for more, new in _forms(text, extent, terms) if value else ():
        if value < more <= _TIMES * value and new != own:
            found.setdefault(more, new)
    yield from sorted(found.items())


def _forms(text: str, extent: _Form, terms: Mapping[str, int]) -> Iterator[_Form]:
    value, own = extent
    last = _LAST.fullmatch(own)
    if last and last["sign"] == " * " and re.search("[-+]", re.sub(r"\([^()]*\)", "", last["one"])):
        last = None
    one, other = (constant(text, last[part]) or 0 for part in ("one", "other")) if last else (0, 0)
    with_1 = {**terms, "1": 1}
    yield from ((number, term) for term, number in terms.items())
    for term, number in with_1.items() if last else ():
        if last and last["sign"] == " * ":
            yield one * (other + number), f"{last['one']} * ({last['other'].strip('()')} + {term})"
            yield one * number, f"{last['one']} * {_factor(term)}"
            yield number * other, f"{_factor(term)} * {last['other']}"
        elif last:
            yield one + number, f"{last['one']} + {term}"
            yield one + 2 * number, f"{last['one']} + 2 * {_factor(term)}"
    yield 2 * value, f"2 * {_factor(own)}"
    for term, number in with_1.items():
        yield value + number, f"{own} + {term}"
        yield value + 2 * number, f"{own} + 2 * {_factor(term)}"
        yield value * number, f"{_factor(own)} * {_factor(term)}"
    for (term, number), (factor, times) in combinations_with_replacement(terms.items(), 2):
        yield number * times, f"{_factor(term)} * {_factor(factor)}"


def _factor(text: str) -> str:
    """A text as a factor of a product: in parentheses, where it is more than one itself."""
    return f"({text})" if re.search("[-+/]", re.sub(r"\([^()]*\)", "", text)) else text
