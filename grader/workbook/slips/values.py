"""What a kernel computes with: what a sum begins with, integers in place of floats, and vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice, pairwise

from grader.workbook.cuda_source import FUNCTION, bytes_of, constant, line_at, shared_extents
from grader.workbook.edit import Edit, Line, in_place, in_places, in_text, where

_BEGUN = re.compile(
    r"\b(?:float|double|int|unsigned)\s+(?P<sum>\w+)\s*=\s*(?P<first>(?P<array>\w+)\[[^\[\]]{1,60}\])\s*;"
)
_ADDED_TO = re.compile(
    r"(?P<all>\b(?P<name>\w+)\s*\+=\s*(?P<term>[^;{}]{1,80});\s*(?P<to>\w+\[[^\[\]]{1,80}\])\s*=\s*(?P=name)\s*;)"
)
_INPUT = re.compile(r"\bconst\s+[\w ]+\*\s*(?:__restrict__\s*)?(?:const\s+)?(\w+)\s*[,)]")
_ADDED_ONTO = re.compile(
    r"(?P<all>\b(?P<to>\w+)\[(?P<index>[^\[\]]{1,80})\]\s*(?P<adds>(?P<sign>[-+*])=)(?!=)\s*(?P<term>[^;]{1,100}));"
)
_CUT = re.compile(r"(?<!unsigned )\b(int|unsigned|short|long)\s+\w+\s*=(?!\s*reinterpret_cast)[^;=]{0,100}\[")
_CUT_LATER = re.compile(
    r"(?<!unsigned )(?<!\()\b(int|unsigned|short|long)\s+((?:const\s+)?\w+\s*(?:[=,][^;(){}]*)?);"
)
_DECLARATOR = re.compile(r"(\w+)\s*(?:=[^,]*)?(?:,|$)")
_OF_FRACTIONS = re.compile(
    r"\b(?:float|double|(?:__)?half|(?:__)?nv_bfloat16)[24]?\b[\s*&]*(?:(?:const|__restrict__)\s+)*(\w+)"
)
_CUT_SHARED = re.compile(r"__shared__\s+(int|unsigned)\s+\w+\s*\[")
_CUT_RESULT = re.compile(
    r"__device__\s+(?:(?:inline|static|constexpr|__forceinline__|__noinline__)\s+)*(int|unsigned|long)\s+\w+\s*\([^()]*\bfloat\s+\w"
)
_VECTORS = re.compile(r"\b(\w+)\s*=\s*\w+\s*/\s*(2|4|8|16)\s*;")
_ROUNDED_UP = re.compile(r"=\s*(\(\s*(\w+)\s*\+\s*(\d+)\s*\)\s*/\s*(\d+))\s*;")
_ONE_OF_REST = re.compile(r"\b(\w+)\s*==\s*0\s*&&\s*(\w+\s*%\s*\w+)(?:\s*(?:!=|>)\s*0)?")
_CAST = re.compile(
    r"(?:\breinterpret_cast\s*<|\()\s*(?:const\s+)?(?P<wide>[A-Za-z_][\w ]*?)\s*(?:const\s*)?\*\s*[>)]\s*"
    r"(?:\(\s*|\(?\s*&\s*)(?P<place>(?P<array>\w+)\s*[+[]\s*(?P<index>[A-Za-z_]\w*)\s*(?:\]|(?=\))))"
)
_TURNED = re.compile(r"(?<![-+*/%&|^=!<>])(=[-+])(?=\s)")
_COUNTED = re.compile(
    r"(?:\batomicAdd\w*\s*\(\s*&\s*\w+\[(?P<index>(?:[^\[\];]|\[[^\[\];]{0,60}\]){1,100})\]\s*,"
    r"|\b\w+\[(?P<own>(?:[^\[\];]|\[[^\[\];]{0,60}\]){1,100})\]\s*\+=)"
    r"\s*(?P<value>[A-Za-z_]\w*(?:\[[^\[\];]{1,60}\])?)\s*[;)]"
)
_WORD = r"(?P<word>[A-Za-z_]\w*(?:\.[xyzw]|\[[^\[\]]{1,40}\])?)"
_DOWN = r"(?:>>\s*(?P<by>[1-9]\d?|[a-z]\w*|\([^()\[\]]{1,40}\))|/\s*(?:256|65536|16777216))"
_SHIFTED = re.compile(
    rf"(?<![\w.]){_WORD}\s*(?:>>|&\s*0[xX][fF]{{1,2}}0|(?:%\s*256|&\s*(?:255|0[xX][fF]{{2}}))\b)"
)
_BITS = re.compile(
    rf"(?:[\[(,]|(?<![=!<>])=)\s*(?P<all>{_WORD}(?:\s*{_DOWN}|\s*&\s*0[xX][fF]{{1,2}}(?P<zeros>0{{1,15}})[uU]?)?)"
    r"\s*(?=[\]),;])(?!\s*\)\s*[&%])"
)
_LOW_BITS = re.compile(r"(?:>>[^;&]{1,40}&|\b\w+\s*&)\s*(0[xX][fF]+|(?:1|3|7|15|255))\b")
_OF_WORD = 16  # parts that are looked at: bounds a stranger's work
ARGUMENTS = r"(?:[^();]|\((?:[^()]|\([^()]*\))*\)){1,300}"
ARGUMENT = re.compile(r"\s*((?:[^(),\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+?)\s*(?:,|$)")
_INTEGERS_CUT = "An integer keeps no fractions."


def begun_with(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A sum that begins with an element which a loop adds as well."""
    for line in lines:
        for found in _BEGUN.finditer(line.text):
            if re.search(rf"\b{found['sum']}\s*\+=[^;]{{0,100}}\b{found['array']}\[", text[line.start :]):
                why = f"The loop adds `{found['first']}` too."
                yield in_place(line, found, "first", "0", why)


def added_to(text: str) -> Iterator[Edit]:
    """What each turn of a loop adds to a value that all of them begin with."""
    for found in _ADDED_TO.finditer(text):
        new = f"{found['to']} = {found['name']} + {found['term']};"
        why = f"Else `{found['name']}` has what earlier turns have added."
        yield in_text(text, *found.span("all"), new, why)


def assigned(lines: Sequence[Line]) -> Iterator[Edit]:
    """An output that something is added to, in place of being set."""
    for line in lines:
        for found in _ADDED_ONTO.finditer(line.text):
            yield in_place(line, found, "adds", "=", f"`{found['to']}` holds nothing at the start.")


def without_input(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An output that something is added to, in place of the only input that no line reads."""
    unread = [name for name in _INPUT.findall(text) if len(re.findall(rf"\b{name}\b", text)) == 1]
    for line in lines if len(unread) == 1 else ():
        for found in _ADDED_ONTO.finditer(line.text):
            to, index, sign, term = found["to"], found["index"], found["sign"], found["term"]
            new = f"{to}[{index}] = {unread[0]}[{index}] {sign} {term}"
            why = f"No line reads `{unread[0]}`, and `{to}` holds nothing at the start."
            yield in_place(line, found, "all", new, why)


def signs_turned(lines: Sequence[Line]) -> Iterator[Edit]:
    """`=+` for `+=`, and the like."""
    for line in lines:
        for found in _TURNED.finditer(line.text):
            why = f"`{found[1]}` assigns what stands behind it, with a sign."
            yield in_place(line, found, 1, f"{found[1][1]}=", why)


def counted(lines: Sequence[Line]) -> Iterator[Edit]:
    """The value that a count is of, added to it."""
    for line in lines:
        for found in _COUNTED.finditer(line.text):
            index, value = found["index"] or found["own"], found["value"]
            if re.search(rf"(?<![\w.\[]){re.escape(value)}(?!\w)", index):
                yield in_place(line, found, "value", "1", f"A count goes up by 1, and not by `{value}`.")


def cut(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Numbers on their way through an integer, and through several of them."""
    names = "|".join(dict.fromkeys(_OF_FRACTIONS.findall(text)))
    holds = _holding(text, names)
    cast = re.compile(rf"(?<![\w.])(int|unsigned|long)(?=\s*[)>]?\s*\(?\s*(?:{names})\s*[\[);])")
    alike: dict[str, dict[int, tuple[Line, re.Match[str]]]] = {}
    for line in lines if names else ():
        for pattern in (_CUT, _CUT_SHARED, _CUT_RESULT, cast, _CUT_LATER):
            found = pattern.search(line.text)
            if found and (pattern is not _CUT_LATER or holds & {*_DECLARATOR.findall(found[2])}):
                alike.setdefault(found[1], {}).setdefault(line.start + found.start(1), (line, found))
    for places in map(list, map(dict.values, alike.values())):
        for some in (*([place] for place in places), *([places] if len(places) > 1 else ())):
            yield in_places(some, 1, "float", _INTEGERS_CUT)
    for line in lines if names else ():
        for found in _CUT_LATER.finditer(line.text):
            each = [one.strip() for one in found[2].split(",")]
            cut_ones = [one for one in each if re.match(r"\w+", one)[0] in holds]  # type: ignore[index]
            others = [one for one in each if one not in cut_ones]
            if cut_ones and others:
                new = f"{found[1]} {', '.join(others)}; float {', '.join(cut_ones)};"
                yield in_place(line, found, 0, new, _INTEGERS_CUT)


def _holding(text: str, names: str) -> set[str]:
    """The variables that are set to what is made of numbers with fractions."""
    of_these = rf"(?=[^;]{{0,200}}(?<![\w.])(?:{names})\b)"
    return {*re.findall(rf"(?<![\w.])([A-Za-z_]\w*)\s*[-+*/]?=(?!=){of_these}", text)}


def low_bits(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Parts of a word that were shifted and not masked, or masked and not shifted: each of them, and all."""
    text = "\n".join(line.text for line in lines)
    words = {found["word"] for found in _SHIFTED.finditer(text)}
    every = ((line, part) for line in lines for part in _BITS.finditer(line.text) if part["word"] in words)
    places = list(islice(every, _OF_WORD))
    lengths = (constant(source, extent) or 0 for extent in shared_extents(source).values())
    masks = [*_LOW_BITS.findall(text), *(str(length - 1) for length in lengths if length.bit_count() == 1)]
    for mask in {int(each, 0): each for each in reversed(masks)}.values() if places else ():
        made: list[Edit] = []
        for line, part in places:
            own, by = part.group("all", "by")
            if part["zeros"]:
                why = "The bits keep their place in the word: shift them down."
                made.append(in_place(line, part, "all", f"({own}) >> {4 * len(part['zeros'])}", why))
            elif by != "56" and not (by == "24" and f"{part['word']} >> 32" not in text):  # has the topmost
                whole = f"({own})" if own != part["word"] else own
                why = "The word has other bits above these: keep the low bits alone."
                made.append(in_place(line, part, "all", f"{whole} & {mask}", why))
        yield from made
        if made[1:]:
            yield reduce(Edit.with_also, made)


def vectors(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Vectors counted as elements, one too many of them, or one element of several that are left behind them."""
    counts = dict(_VECTORS.findall(text))
    for line in lines:
        for name, width in counts.items():
            for found in re.finditer(rf"(?<![*\w] )(?<!\w)\b{name}\b(?=\s*\+)", line.text):
                why = f"`{name}` counts vectors of {width} elements."
                yield in_place(line, found, 0, f"{width} * {name}", why)
        for found in _ROUNDED_UP.finditer(line.text):
            if int(found[3]) == int(found[4]) - 1:
                why = "The last one would go beyond the end: take what is left one by one."
                yield in_place(line, found, 1, f"{found[2]} / {found[4]}", why)
        for found in _ONE_OF_REST.finditer(line.text):
            why = "Several elements may be left, and a thread takes one."
            yield in_place(line, found, 0, f"{found[1]} < {found[2]}", why)


def casts(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Pointers that go on by an element where an access takes several, all of those by the same index."""
    taken: dict[tuple[str, int], list[tuple[Line, re.Match[str]]]] = {}
    for line in lines:
        for found in _CAST.finditer(line.text):
            array = re.search(rf"\b([\w]+)\s*\*\s*(?:__restrict__\s+)?{found['array']}\b", text)
            each, wide = bytes_of(array[1] if array else ""), bytes_of(found["wide"])
            if each and wide > each:
                taken.setdefault((found["index"], wide // each), []).append((line, found))
    for (index, many), places in taken.items():
        first, arrays = places[0][1], dict.fromkeys(found["array"] for _, found in places)
        old = first["place"]
        new = re.sub(rf"\b{index}\b", f"{many} * {index}", old)
        others = " and ".join(f"`{each}`" for each in arrays if each != first["array"])
        edit = in_places(places, "index", f"{many} * {index}", f"Each access takes {many} elements.")
        numbers = where([*dict.fromkeys(line.number for line, _ in places)])
        said = f"`{new}` in place of `{old}`{others and f', and so for {others},'} in {numbers}"
        yield replace(edit, said=said)


def exchanged(text: str) -> Iterator[Edit]:
    """Two arguments that follow each other, of a call of a function of the file that takes the same types for both."""
    for function in FUNCTION.finditer(text):
        kinds = [re.sub(r"\w+\s*$", "", each).strip() for each in function["taken"].split(",")]
        same = [at for at, (one, other) in enumerate(pairwise(kinds)) if one == other]
        for call in re.finditer(rf"\b{function[1]}\s*\(({ARGUMENTS})\)", text[function.end() :]):
            start = function.end() + call.start(1)
            places = [(start + found.start(1), start + found.end(1)) for found in ARGUMENT.finditer(call[1])]
            for at in same if len(places) == len(kinds) else ():
                (one, one_end), (other, other_end) = places[at], places[at + 1]
                first, second = text[one:one_end], text[other:other_end]
                number = line_at(text, one)
                said = f"`{first}` and `{second}` exchanged in the call of `{function[1]}` in line {number}"
                taken = " ".join(function["taken"].split())
                why = f"It is `{function[1]}({taken})`."
                if first != second:
                    yield Edit(said, number, ((one, one_end, second), (other, other_end, first)), why)
