"""Which threads do something: how far each goes on, one of a block, and one block of all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from grader.workbook.cuda_source import (
    constant,
    lacks_thread,
    line_at,
    numbers_in_grid,
    plain,
    shared_arrays,
    shared_extents,
)
from grader.workbook.edit import LONGEST, MOST, SEVERAL, Edit, Line, in_front, in_place, in_text

WARP = 32

_BELOW = 10  # lines that may be for one thread
_NAMED = 2  # by how many names a thread's number is followed

_BY_BLOCK = re.compile(r"\+=\s*(blockDim\.x|[A-Z][A-Z_0-9]*)\s*\)|=\s*(blockDim\.x)\s*;")
_BY_BLOCKS = re.compile(r"\+=\s*(gridDim\.x)\s*\)")
_ALL_OF_THEM = re.compile(
    r"\bfor\s*\(\s*(?:int|size_t|unsigned)\s+(?P<index>\w+)\s*=\s*(?P<start>0|threadIdx\.x)\s*;\s*(?P=index)\s*<\s*\w+\s*;"
    r"\s*(?P<step>\+\+(?P=index)|(?P=index)\+\+|(?P=index)\s*\+=\s*(?:blockDim\.x|[A-Z][A-Z_0-9]*))\s*\)"
)
_STEP = re.compile(
    r"\bfor\s*\([^;=]{0,20}?\b(?P<name>\w+)\s*=\s*(?P<start>[^;=]{1,60});[^;]{1,60};"
    r"\s*(?P<step>\+\+(?P=name)|(?P=name)\+\+|(?P=name)\s*\+=\s*"
    r"(?:\d+|[-+*.()\w ]{0,60}(?:Idx|Dim)[-+*.()\w ]{0,60}))\s*\)"
)
_OF_THREADS = re.compile(r"\b(\w+)\s*=(?!=)[^;=]{0,100}\bthreadIdx\.[xyz]")
_ONE_THREAD = re.compile(
    r"\bif\s*\(\s*(?:threadIdx\.x|\w+)\s*==\s*0\s*\)|\bif\s*\(\s*!\s*(?:threadIdx\.x|\w+)\s*\)"
)
_STORED_AT = re.compile(r"(?:^|[;{)])\s*(?P<array>\w+)\[(?P<index>[^\[\]]{1,60})\]\s*=(?!=)")
_ADDS_ALL = re.compile(
    r"^[ \t]*(?P<add>)atomicAdd\(\s*(?:\w+|&\s*\w+\[(?:0|blockIdx\.[xyz])\])\s*,\s*[A-Za-z_]\w*(?:\[0\])?\s*\)\s*;"
)
_STORES_ONE = re.compile(
    r"^[ \t]*(?P<all>(?P<to>(?P<array>\w+)\[[^\[\]]{1,60}\])\s*=(?!=)\s*(?P<value>[^;=]{1,100}))\s*;"
)
_ONE_FOR_ALL = re.compile(
    r"^[ \t]*(?P<all>__shared__[ \t]+(?P<own>(?:volatile[ \t]+)?(?:float4?|double|int|unsigned(?:[ \t]+int)?)[ \t]+"
    r"(?P<name>\w+)))[ \t]*;"
)
_LANES = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*(?:%\s*(?:32|warpSize)|&\s*(?:31|0x1[fF]))\s*;")
_MEMBERS = re.compile(r"\b__popc\(\s*(?P<mask>\w+)\s*\)|\b(?P<group>\w+)\.(?:size|num_threads)\(\)")
_ADDED = re.compile(
    r"^[ \t]*(?:if\s*\((?:[^()]|\([^()]*\)){1,100}\)\s*)?"
    r"(?P<add>)(?:atomicAdd\([^;]*,\s*(?P<value>[^;,]{1,60})\)|[^;=]{1,60}\+=\s*(?P<term>[^;]{1,60}))\s*;"
)
_FIRST_LANE = re.compile(r"(?:\blane\w*|\bthreadIdx\.x\s*(?:%\s*32|&\s*31)\s*\)?)\s*==\s*(?P<first>0)\b")
_ONE_ADDS = (
    r"\bif\s*\(\s*(?P<first>(?:{0})\s*(?:==\s*0|<\s*1)|!\s*(?:{0}))\s*(?:&&[^;{{}}]{{1,60}})?\)\s*\{{?\s*atomicAdd\(\s*[^;]{{1,100}},"
    r"\s*[A-Za-z_]\w*\s*\)\s*;"
)
_FIRST = re.compile(r"(?:\(|&&|\|\|)\s*(?P<name>\w+)\s*==\s*0\b")
_ONE_ROW = re.compile(
    r"(?:\(|&&|\|\|)\s*threadIdx\.[xyz]\s*==\s*(?P<which>(?!0\b)[\w.]+(?:\s*-\s*1)?)\s*(?=\)|&&|\|\|)"
)
_REST = (
    r"\bif\s*\(\s*(?P<one>)(?:(?:[^;{{}}()<>=&|]{{1,60}}\+\s*)?(?:{own})(?:\s*\+[^;{{}}()<>=&|]{{1,60}})?\s*<"
    r"(?:[^;{{}}()<>=&|]|&(?!&)|\([^;{{}}()]*\)){{1,60}}\)|(?:{own})\s*==\s*0\s*\)\s*(?:\{{\s*)?for\b)"
)
_REST_LOOP = (
    r"\bfor\s*\([^;=]{{0,20}}?\b(?P<name>\w+)\s*=\s*(?:[^;=]{{1,60}}?\+\s*(?:{own})|(?:{own})\s*\+[^;=]{{1,60}}?)\s*;"
    r"\s*(?P<one>)(?P<condition>(?P=name)\s*<\s*\w+)\s*;"
)
_BY_OWN = (
    r"\b(\w+)\s*=(?!=)(?![^;,]*\bblockIdx\b)\s*(?:[^;,=]{{0,60}}\+\s*)?(?:{own})\s*(?:\+[^;,=]{{1,60}})?[,;]"
)
_IN_BLOCK = re.compile(r"\b(\w+)\s*=(?!=)(?![^;]{0,100}\bblockIdx\b)[^;=]{0,100}\bthreadIdx\.[xyz]")
_OF_SOME = (
    r"(?P<all>\b(?P<condition>if\s*\((?:\s*(?:&&\s*)?(?:!\s*(?:{0})|(?:{0})\s*(?:==|<=?)\s*[\w.]+)\s*){{1,3}}\))\s*)"
    r"(?:\{{(?P<body>(?:[^{{}}]|\{{[^{{}}]{{0,300}}\}}){{1,500}})\}}|(?P<one>[^;{{}}]{{1,200}};))(?!\s*else\b)"
)
"""A condition on a thread's number in its block, with what is done where it holds."""
_HANDED_ON = re.compile(
    r"\b(?P<condition>if\s*\(\s*(?:!\s*(?P<not>[A-Za-z_][\w.]*)|(?P<own>[A-Za-z_][\w.]*)\s*(?:==\s*0|<\s*1))\s*\))"
    r"\s*(?P<open>\{)?\s*(?P<all>(?:atomicAdd\s*\(\s*(?:&\s*\w+\[\s*(?P<at>[\w.]+)\s*\]|\w+\s*\+\s*(?P<on>[\w.]+))\s*,"
    r"|\w+\[\s*(?P<place>[\w.]+)\s*\]\s*\+?=(?!=))\s*(?P<array>\w+)\[\s*(?P<index>[\w.]+)\s*\]\s*\)?)\s*;"
    r"(?(open)\s*\})(?!\s*else\b)"
)
"""What one thread, on a condition, adds or stores of an array."""
_SETS = re.compile(r"(?:^|(?<=[;{})]))\s*(?P<name>[A-Za-z_]\w*)\s*(?P<sign>[-+*]?=)(?!=)")
_VARIABLES = re.compile(
    r"^[ \t]*(?P<kind>(?:float|double|(?:__)?half|int|unsigned(?:[ \t]+int)?|size_t|bool|(?:long[ \t]+)?long)[ \t]+)"
    r"(?P<each>\w+(?:[ \t]*=[^,;=()]{1,40})?(?:,[ \t]*\w+(?:[ \t]*=[^,;=()]{1,40})?)*)[ \t]*;",
    re.MULTILINE,
)


def of_some(source: str) -> Iterator[Edit]:
    """Variables, of which each thread has its own, that some threads of a block alone set, and all use: set by all of
    them, or kept in shared memory."""
    text = plain(source)[:MOST]
    if max(map(len, text.split("\n"))) > LONGEST:
        return
    threads = "|".join([r"threadIdx\.[xyz]", *dict.fromkeys(_IN_BLOCK.findall(text))])
    for found in islice(re.finditer(_OF_SOME.format(threads), text), SEVERAL):
        begin, end = text.rfind("\n}", 0, found.start()) + 1, text.find("\n}", found.end())
        behind = text[found.end() : end if end >= 0 else len(text)]
        body = found["body"] or found["one"]
        sets = {each["name"]: each["sign"] for each in _SETS.finditer(body)}
        for declared in _VARIABLES.finditer(text, begin, found.start()):
            names = re.findall(r"(?:^|,)\s*(\w+)", declared["each"])
            own = [name for name in names if name in sets and re.search(rf"\b{name}\b", behind)]
            if not own or any(re.search(rf"\b__shfl\w*\([^;]*\b{name}\b", behind) for name in own):
                continue
            line, named = line_at(text, found.start()), " and ".join(f"`{name}`" for name in own)
            variables = "variables" if own[1:] else "a variable"
            why = f"Each thread has {variables} {named} of its own, which only some threads of a block set there."
            change = (*found.span("all"), "")
            condition = " ".join(found["condition"].split())
            yield Edit(f"`{condition}` in line {line} left out", line, (change,), why)
            if set(names) == set(own) and all(sets[name] == "=" for name in own):
                shared = f"__shared__ {declared['kind']}{', '.join(names)};"
                said = f"`{shared}` in line {line_at(text, declared.start('kind'))}"
                changes = [(declared.start("kind"), declared.end(), shared)]
                if not behind.lstrip().startswith("__syncthreads()"):
                    said += f" and a __syncthreads() behind line {line_at(text, found.end() - 1)}"
                    changes.append((found.end(), found.end(), " __syncthreads();"))
                yield Edit(said, line, tuple(changes), why)


def strides(lines: Sequence[Line]) -> Iterator[Edit]:
    """Threads that go on by a block, where other blocks have taken what comes next, or by as many as there are
    blocks."""
    for line in lines:
        for found in _BY_BLOCK.finditer(line.text):
            side = 1 if found[1] else 2
            new = f"gridDim.x * {found[side]}"
            yield in_place(line, found, side, new, "Other blocks have what lies in between.")
        for found in _BY_BLOCKS.finditer(line.text):
            new = "gridDim.x * blockDim.x"
            yield in_place(line, found, 1, new, "A grid has as many threads; gridDim.x is its blocks.")
        for found in _ALL_OF_THEM.finditer(line.text):
            start = "blockIdx.x * blockDim.x + threadIdx.x"
            step = f"{found['index']} += gridDim.x * blockDim.x"
            changes = tuple(
                (line.start + found.start(group), line.start + found.end(group), new)
                for group, new in (("start", start), ("step", step))
            )
            said = f"`{found['index']} = {start}` and `{step}` in line {line.number}"
            whose = "thread" if found["start"] == "0" else "block"
            yield Edit(said, line.number, changes, f"Else each {whose} does what all of them were to share.")
    names = {name for line in lines for name in _OF_THREADS.findall(line.text)}
    for line in lines:
        for found in _STEP.finditer(line.text):
            if "threadIdx" in found["start"] or found["start"].strip() in names:
                for many, whose in (("gridDim.x * blockDim.x", "grid"), ("blockDim.x", "block")):
                    why = f"What lies in between is taken by the other threads of the {whose}."
                    new = f"{found['name']} += {many}"
                    yield replace(in_place(line, found, "step", new, why), any=True)


def of_one_thread(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What one thread of a block stores, at a place by its own number."""
    shared = shared_extents(source)
    for at, line in enumerate(lines):
        if _ONE_THREAD.search(line.text):
            for below in lines[at : at + _BELOW]:
                found = _STORED_AT.search(below.text)
                if found and found["array"] not in shared and "blockIdx" not in found["index"]:
                    why = "A block has one sum, and its place is the number of the block."
                    yield in_place(below, found, "index", "blockIdx.x", why)


def one_of_all(lines: Sequence[Line]) -> Iterator[Edit]:
    """What each thread of a block adds, or each block does, in place of one of them."""
    for line in lines:
        for found in _ADDS_ALL.finditer(line.text):
            why = "Else each thread of the block adds the sum of all of them."
            yield in_front(line, found.start("add"), "if (threadIdx.x == 0) ", "`atomicAdd`", why)
    yield from rests(lines)


def rests(lines: Sequence[Line]) -> Iterator[Edit]:
    """What is left behind whole packs taken by one block, where each takes it."""
    own = r"\bthreadIdx\.x\b"
    for _ in range(_NAMED):  # a number that has a name, and an index that is made of it
        by_own = re.compile(_BY_OWN.format(own=own))
        names = dict.fromkeys(name for line in lines for name in by_own.findall(line.text))
        own = "|".join([r"\bthreadIdx\.x\b", *(rf"\b{name}\b" for name in [*names][:SEVERAL])])
    patterns = [re.compile(pattern.format(own=own)) for pattern in (_REST, _REST_LOOP)]
    for line, below in zip_longest(lines, lines[1:]):
        text = f"{line.text} {below.text if below else ''}"
        for found in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
            if "blockIdx" in found[0] or found.start() > len(line.text):
                continue
            why = "Else each block takes what is left."
            what = (
                "the condition" if found.re is patterns[0] else f"the loop's condition `{found['condition']}`"
            )
            yield in_front(line, found.start("one"), "blockIdx.x == 0 && ", what, why)


def first_row(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What the first threads of each block are to do, and those of the first block alone do, or others."""
    in_grid = numbers_in_grid(text)
    for line in lines:
        for found in _FIRST.finditer(line.text):
            if axis := in_grid.get(found["name"]):
                why = f"`{found['name']}` is 0 in the first block alone."
                yield in_place(line, found, "name", f"threadIdx.{axis}", why)
        for found in _ONE_ROW.finditer(line.text):
            why = "The first threads of a block have an element wherever any has."
            yield in_place(line, found, "which", "0", why)


def last_lane(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The lane that has the sum of its warp."""
    for line in lines if "__shfl_up" in text else ():
        for found in _FIRST_LANE.finditer(line.text):
            why = "By shuffles up, the last lane has the sum of all."
            yield in_place(line, found, "first", "31", why)


def each_warp(text: str) -> Iterator[Edit]:
    """What one thread of a block adds, where a shuffle leaves a sum in the first lane of each warp."""
    threads = "|".join([r"threadIdx\.x", *dict.fromkeys(_IN_BLOCK.findall(text))])
    for found in re.finditer(_ONE_ADDS.format(threads), text) if "__shfl_" in text else ():
        why = "Each warp has a sum of its own, and a shuffle reads lanes of its own warp alone."
        yield in_text(text, *found.span("first"), "threadIdx.x % 32 == 0", why)


def one_for_all(lines: Sequence[Line]) -> Iterator[Edit]:
    """A variable that a block has one of, in which each thread was to have its own."""
    for line in lines:
        if found := _ONE_FOR_ALL.match(line.text):
            name = found["name"]
            why = f"In shared memory a block has one `{name}`, and each thread is to have its own."
            yield in_place(line, found, "all", found["own"], why)


def first_of_lanes(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What all lanes that have something in common add, which is how many they are, added by the first of them."""
    counts = {
        name: mask or group
        for name, mask, group in re.findall(
            rf"\b(\w+)\s*=\s*(?:\w+\(\s*)?(?:{_MEMBERS.pattern})\s*\)?\s*;", text
        )
    }
    for line in lines:
        if not (found := _ADDED.search(line.text)):
            continue
        value = found["value"] or found["term"]
        members = _MEMBERS.search(value)
        mask = members["mask"] or members["group"] if members else counts.get(value.strip())
        if mask:
            of_group = re.search(rf"\b{mask}\.(?:size|num_threads)\(", text)
            first = f"{mask}.thread_rank() == 0" if of_group else f"threadIdx.x % 32 == __ffs({mask}) - 1"
            why = f"Else each lane of `{mask}` adds how many they are all together."
            what = "`atomicAdd`" if found["value"] else "the sum"
            yield in_front(line, found.start("add"), f"if ({first}) ", what, why)


def written_ones(lines: Sequence[Line], source: str) -> Iterator[Edit]:
    """What each warp has left, of which lanes read more than a block has warps."""
    lanes = "|".join(name for line in lines for name in _LANES.findall(line.text)) or "(?!)"
    lane = rf"(?P<lane>(?:{lanes})|threadIdx\.x(?:\s*(?:%\s*32|&\s*31))?)"
    of_lane = re.compile(rf"=\s*(?P<all>(?P<array>\w+)\[\s*{lane}\s*\])\s*;")
    for line in lines:
        for found in of_lane.finditer(line.text):
            extent = shared_extents(source).get(found["array"], "")
            if constant(source, extent) == WARP:  # as many as a block may have warps
                new = f"{found['lane']} < blockDim.x / 32 ? {found['all']} : 0"
                why = f"A block has blockDim.x / 32 warps, each with an element of `{found['array']}`."
                yield in_place(line, found, "all", new, why)


def handed_on(source: str) -> Iterator[Edit]:
    """Elements of an array in shared memory, of which one thread alone hands its own on: each thread its own, or all of
    them in a loop."""
    text, extents = plain(source)[:MOST], shared_extents(source)
    for found in islice(_HANDED_ON.finditer(text), SEVERAL):
        own, array, condition = found["own"] or found["not"], found["array"], found["condition"]
        at = next(group for group in ("at", "on", "place") if found[group])
        if array not in extents or found[at] != found["index"]:
            continue
        number = found["index"] if found["index"] != "0" else own
        line, extent = line_at(text, found.start()), extents[array]
        places = [found.span(group) for group in (at, "index")]
        moved = [(*place, number) for place in places if number != found["index"]]
        said = f"`{condition}` in line {line} left out"
        if moved:
            said += f", and `{number}` as both indices in line {line_at(text, found.start('index'))},"
        why = f"`{array}` has {extent} elements, and each thread is to hand on its own."
        yield Edit(said, line, tuple(sorted([(*found.span("condition"), ""), *moved])), why)
        start, end = found.span("all")
        (to, to_end), (of, of_end) = places
        each = f"{text[start:to]}k{text[to_end:of]}k{text[of_end:end]}"
        loop = f"for (int k = threadIdx.x; k < {extent}; k += blockDim.x)"
        first = found.start("condition")
        said = f"`{loop}` in place of `{condition}` in line {line}, and `{each}` in it,"
        why = f"`{array}` has {extent} elements, and all of them are to be handed on."
        yield Edit(said, line, ((first, found.end("condition"), loop), (start, end, each)), why)


def parts(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What all threads along x store to one element: of each a part that is to be added, or what one of them has."""
    shared = shared_arrays(source)
    for line in lines:
        found = _STORES_ONE.search(line.text)
        if (
            found
            and found["array"] not in shared
            and lacks_thread(source, line.number, found["array"], ["x"])
        ):
            adds = f"atomicAdd(&{found['to']}, {found['value']})"
            yield in_place(
                line, found, "all", adds, "Each has a part of the sum, of which else the last one stays."
            )
            stores = f"`{found['to']} = …`"
            why = "Thread 0 has the sum of all of them."
            yield in_front(line, found.start("all"), "if (threadIdx.x == 0) ", stores, why)


def each_lane(lines: Sequence[Line]) -> Iterator[Edit]:
    """What lane 0 alone has in the end, which all lanes of a warp use."""
    for line in lines:
        for found in re.finditer(r"\+=\s*(?P<one>__shfl_down_sync)\b", line.text):
            why = (
                "Behind `__shfl_down_sync` lane 0 alone has the whole sum: else let that lane alone store it."
            )
            yield in_place(line, found, "one", "__shfl_xor_sync", why)
