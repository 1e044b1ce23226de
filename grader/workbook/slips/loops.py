"""Loops: where a step that halves begins, where a loop ends, and where it is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from grader.workbook.cuda_source import line_at
from grader.workbook.edit import SEVERAL, Edit, Line, in_place, in_text
from grader.workbook.suspects.loops import loops_of

_HALVING = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?P<start>[^;=\n]{1,40}?)\s*;\s*(?:while\s*\(\s*)?(?P=name)\s*(?:>\s*0|>=\s*1|!=\s*0)\s*[;)]"
    r"(?=[^~]{0,400}?\b(?P=name)\s*(?:/=\s*2|>>=\s*1|=\s*(?P=name)\s*(?:/\s*2|>>\s*1))\s*[;)])"
)
_LEFT_AT = re.compile(
    r"\bif\s*\((?:[^();{}]|\([^()]{0,100}\)){0,100}[<>](?:[^();{}]|\([^()]{0,100}\)){0,100}\)\s*\{?\s*(?P<leave>break)\s*;"
)
_FROM = re.compile(
    r"\bfor\s*\([^;=]{0,40}?\b(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_]\w*|blockIdx\.[xyz]\s*\*\s*\w+)(?:\s*\+[^;]{1,40})?;"
    r"\s*(?P=name)\s*<=?\s*(?P<end>\w+)\s*(?:;|&&)"
)
_COUNTER = re.compile(r"\w[\w ]*?\b(\w+)\s*=")
_INDEX = re.compile(r"\b\w+\[(?P<index>[^\[\];]{1,80})\](?!\s*=(?!=))")
_LOOP = re.compile(r"\b(for|while|do|switch)\b")
_DO = re.compile(
    r"\b(?P<head>do)\s*\{(?P<body>[^{}]{1,600}(?:\{[^{}]{0,300}\}[^{}]{0,300}){0,4})\}\s*(?P<until>while\s*\((?P<condition>[^;{}]{1,200})\)\s*;)"
)
_WHOLE_RUN = re.compile(
    r"(?P<returns>\bif\s*\(\s*(?P<of>\w+)\s*\+\s*\w+\s*>=?\s*(?P<end>\w+)\s*\)\s*(?:return\s*;|\{\s*return\s*;\s*\}))"
    r"|(?:\(|&&)\s*(?P<all>(?P<first>\w+)\s*\+\s*\w+\s*<=\s*(?P<size>\w+))\s*(?=&&|\))"
)
_RUN = (
    r"\bfor\s*\([^;=]{{0,30}}?\b(?P<name>\w+)\s*=\s*(?P<start>{}|0)\s*;"
    r"\s*(?P<condition>(?P=name)\s*<[^;]{{1,60}}?)\s*;"
)
"""A loop over the elements of a run, from the first one or from 0 on."""
_STORES = re.compile(
    r"(?<=[;{}])\s*(?P<all>(?:\w+\[[^\[\]]{1,80}\]\s*=(?!=)\s*(?P<value>[^;{}]{1,100})|atomicAdd\([^;{}]{1,100}\));)"
)
_STORED_SUM = re.compile(r"\w\[[^\[\];]{1,80}\]\s*=\s*(?P<sum>[A-Za-z_]\w*)\s*;")
_ONE_OFF = re.compile(
    r"\b(?P<if>if)\s*\(\s*(?P<name>\w+)\s*>=\s*(?P<by>\w+)\s*\)\s*\{?\s*(?P=name)\s*-=\s*(?P=by)\s*;"
)
_BARRIER = re.compile(r"\b__syncthreads\(\s*\)\s*;")
_BRANCH = re.compile(r"\bif\s*\((?:[^(){};]|\([^(){};]*\)){1,200}\)\s*\{[^{}]{1,300};\s*\}")
_FROM_1 = re.compile(
    r"\bfor\s*\([^;=]{0,30}?\b(?P<name>\w+)\s*=\s*(?P<one>1)\s*;\s*(?P=name)\s*<=?[^;]{1,60};\s*(?P=name)\s*\+=\s*(?P<by>\w+)\s*\)"
)
_TO_ITS_PLACE = re.compile(
    r"\bfor\s*\([^;]{1,80}?\b(?P<place>[A-Za-z_]\w*)\s*-\s*(?P<by>\w+)\s*;\s*\w+\s*<=?\s*(?P<end>(?P=place))\s*;"
)
HALF_A_WARP = 16
"""Lanes, by which the first of a warp's shuffles goes."""


def starts(text: str) -> Iterator[Edit]:
    """A loop that halves its step begins with another than half of a warp, or of what there is."""
    for found in _HALVING.finditer(text):
        start = found["start"]
        of_block = re.sub(r"\s*/\s*\d+$", "", start) + " / 2"
        new = str(HALF_A_WARP) if start.isdecimal() else of_block
        if new != start:
            far = int(start) > HALF_A_WARP if start.isdecimal() else "/" not in start
            why = (
                "The first step reaches too far."
                if far
                else "The first step leaves out what lies further on."
            )
            begins = f"{found['name']} = {new}"
            yield in_text(text, found.start(), found.end("start"), begins, why)


def asked_first(text: str) -> Iterator[Edit]:
    """A loop that asks before its first turn too."""
    for found in filter(lambda each: "[" in each["body"], _DO.finditer(text)):
        head = f"while ({found['condition'].strip()})"
        changes = ((*found.span("head"), head), (*found.span("until"), ""))
        line = line_at(text, found.start())
        said = f"`{head} {{ … }}` in place of `do {{ … }} {head};` from line {line} on"
        why = "`do` has one turn before it asks, which a thread without an element has too."
        yield Edit(said, line, changes, why)


def whole_runs(text: str) -> Iterator[Edit]:
    """What is left of a run of elements, of a thread that returns where it has not all of them, or goes on only where
    it has."""
    for found in _WHOLE_RUN.finditer(text):
        first, size = found["of"] or found["first"], found["end"] or found["size"]
        loop = re.compile(_RUN.format(first)).search(text, found.end())
        if loop is None:
            continue
        index = loop["name"] if loop["start"] == first else f"{first} + {loop['name']}"
        condition = f"{loop['condition']} && {index} < {size}"
        line, at = line_at(text, found.start()), line_at(text, loop.start("condition"))
        one = "" if found["returns"] else f"{first} < {size}"
        changes = (
            (*found.span("returns" if found["returns"] else "all"), one),
            (*loop.span("condition"), condition),
        )
        before = f"`{one}` in place of `{found['all']}` in line {line}" if one else f"line {line} left out"
        said = f"{before} and `{condition}` in place of `{loop['condition']}` in line {at}"
        why = "Else a thread that has not all of its elements takes none of them."
        yield Edit(said, line, changes, why)


def once_more(text: str) -> Iterator[Edit]:
    """What a loop stores before it sets the values anew, behind it for the last of them."""
    for loop in islice(loops_of(text), SEVERAL):
        for found in islice(_STORES.finditer(loop.body), SEVERAL):
            value = re.findall(r"[A-Za-z_]\w*", found["value"] or found["all"])
            behind = loop.body[found.end() :]
            if any(re.search(rf"\b{name}\s*=(?!=)", behind) for name in value):
                at = loop.inside + len(loop.body)
                line, said = line_at(text, loop.inside + found.start("all")), found["all"].strip()
                why = "What the last turn sets is never stored."
                change = (at, at, f" {said}")
                yield Edit(f"`{said}` of line {line} once more behind the loop", line, (change,), why)


def split(text: str) -> Iterator[Edit]:
    """A loop that ends in front of its barrier, and begins again behind it."""
    for loop in islice(loops_of(text), SEVERAL):
        barrier = _BARRIER.search(loop.body)
        if barrier and loop.body.lstrip().startswith("{"):
            head, at = " ".join(text[loop.at : loop.inside].split()), loop.inside + barrier.start()
            first, line = line_at(text, loop.at), line_at(text, at)
            said = f"the loop of line {first} ended in front of the barrier in line {line}, and begun again behind it,"
            why = "Else threads read in each turn what only later turns store."
            yield Edit(said, line, ((at, at + len(barrier[0]), f"}} {barrier[0]} {head} {{"),), why)


def taken_off(text: str) -> Iterator[Edit]:
    """A remainder that is made by one subtraction, where there may be several in it."""
    for found in _ONE_OFF.finditer(text):
        why = f"There may be more than one `{found['by']}` in it."
        yield in_text(text, *found.span("if"), "while", why)


def anew(text: str) -> Iterator[Edit]:
    """A sum that each turn of a loop stores, and that begins in front of the loop."""
    for loop in islice(loops_of(text), SEVERAL):
        for found in islice(_STORED_SUM.finditer(loop.body), SEVERAL):
            name = found["sum"]
            begun = re.compile(rf"\b{name}\s*=\s*(?P<first>[-\w.]+)\s*;").search(text, 0, loop.at)
            if begun and loop.body.lstrip().startswith("{") and re.search(rf"\b{name}\s*\+=", loop.body):
                line, sets = line_at(text, loop.at), f"{name} = {begun['first']};"
                why = f"Else `{name}` has what earlier turns have added."
                at = loop.inside + loop.body.index("{") + 1
                yield Edit(
                    f"`{sets}` at the beginning of the loop of line {line}",
                    line,
                    ((at, at, f" {sets}"),),
                    why,
                )


def goes_on(text: str) -> Iterator[Edit]:
    """What is done in a loop where a condition does not hold, and was done where it holds too."""
    for loop in islice(loops_of(text), SEVERAL):
        for found in islice(_BRANCH.finditer(loop.body), SEVERAL):
            behind = loop.body[found.end() :]
            if not re.match(r"\s*(?:else\b|\}\s*$)", behind):
                at = loop.inside + found.end() - 1
                line = line_at(text, loop.inside + found.start())
                why = "Else what stands behind the `if` is done as well."
                said = f"`continue;` at the end of the `if` in line {line}"
                yield Edit(said, line, ((at, at, "continue; "),), why)


def left(text: str) -> Iterator[Edit]:
    """A loop that is left where it comes upon what is outside, and behind which there is more inside."""
    for found in _LEFT_AT.finditer(text):
        loop = list(_LOOP.finditer(text, 0, found.start()))
        if loop and loop[-1][1] == "for":
            why = "`break` ends the loop, and the steps behind this one are left out too."
            yield in_text(text, *found.span("leave"), "continue", why)


def without_counter(text: str) -> Iterator[Edit]:
    """An element that a loop within another one loads, by an index that lacks the outer one's counter."""
    for loop in islice(loops_of(text), SEVERAL):
        counter = _COUNTER.match(loop.start)
        inner = next(loops_of(loop.body), None)
        if counter is None or inner is None:
            continue
        name, begins = counter[1], loop.inside + inner.inside
        for found in _INDEX.finditer(text, begins, begins + len(inner.body)):
            if not re.search(rf"\b{name}\b", found["index"]):
                why = f"Else each turn of the loop that counts `{name}` takes the same elements."
                yield in_text(text, *found.span("index"), f"{found['index']} + {name}", why)


def ends(lines: Sequence[Line]) -> Iterator[Edit]:
    """A loop that begins where the block does, and ends where the first block does."""
    for line in lines:
        for found in _FROM.finditer(line.text):
            if found["start"] != "threadIdx" and found["start"] != found["end"]:
                new = f"{found['start']} + {found['end']}"
                yield in_place(
                    line, found, "end", new, f"The loop begins at `{found['start']}`, and not at 0."
                )


def from_the_first(lines: Sequence[Line]) -> Iterator[Edit]:
    """A loop that goes on by several, from the second one on."""
    for line in lines:
        for found in _FROM_1.finditer(line.text):
            if found["by"] != "1":
                why = f"The first step takes from 0 on, and the next from `{found['by']}` on."
                yield in_place(line, found, "one", "0", why)


def to_both_sides(lines: Sequence[Line]) -> Iterator[Edit]:
    """A loop that begins some places before one, and ends at it."""
    for line in lines:
        for found in _TO_ITS_PLACE.finditer(line.text):
            why = f"It begins {found['by']} places before `{found['place']}`, and ends as many behind."
            yield in_place(line, found, "end", f"{found['place']} + {found['by']}", why)
