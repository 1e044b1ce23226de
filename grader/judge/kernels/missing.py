"""What elements have in common that a kernel has not written, in terms of its launch: the grid ends before them, blocks
begin too near to each other, a loop over a tile ends early, a vector's component or the rest behind vectors is left
out."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from grader.findings import remedies
from grader.judge.child.protocol import Launch
from grader.judge.correctness import findings
from grader.judge.correctness.places import Span, common
from grader.workbook import begins, cuda_source

Mask = np.ndarray[Any, np.dtype[np.bool_]]

VECTOR = 4
COMPONENTS = "xyzw"

TILES = (8, 128)
"""Rows or columns of a tile, the fewest and the most."""

AXES: Mapping[str, tuple[int, ...]] = {"row": (1, 0), "column": (0, 1), "element": (0,)}
"""The sides of a grid that go along rows, columns, or all elements of an array, the likelier first."""

ONE_BY_ONE = (
    "Let threads take these one by one, each its own: in a loop right behind the one that takes several, or on a "
    "condition."
)
LEFT = f"too few where a thread takes several at a time. {ONE_BY_ONE}"
_CONDITION = re.compile(r"\bif\b|\?|&&|\|\||\b(?:max|min|clamp)\s*\(")
_NEIGHBOUR = re.compile(r"(?<![\w.*])(?!(?:thread|block)Idx)[A-Za-z_]\w*\s*[-+]\s*\w+\s*(?:\]|;|[<>)]|&&)")
"""A thread's index and an offset."""

ALL_ONE = (
    "All threads write the same element: the index, `{index}`, is the same in every thread. A thread is told from the "
    "others by {told}: form the index of that."
)
GO_ON = (
    "Make the grid larger, with cdiv(a, b), which rounds up, or let each thread go on by all threads at a time, in a "
    "loop with a size_t `i` and `i += gridDim.{axis} * blockDim.{axis}`."
)
_IF_NOT = f"If not: {GO_ON[0].lower()}{GO_ON[1:]}"
TURNED = (
    "Along the other side it has enough: where rows become columns, do blockIdx.x and blockIdx.y change places in the "
    f"index of what is stored? {_IF_NOT}"
)
EXCHANGED = (
    f"Along the other side it has enough: are x and y exchanged, in `grid` or in the kernel? {_IF_NOT}"
)


def told(
    missing: Mask,
    launch: Launch,
    by_thread: bool = False,
    tiles: Collection[tuple[int, ...]] = (),
    source: str = "",
) -> str:
    """What has all missing elements of an array in common, and no other; "" where nothing is known to. `by_thread`: a
    thread adds to the element of its number in the block, whatever the block. `tiles` are the shapes of arrays in
    shared memory; the kernel's `source` may say by what it multiplies blockIdx."""
    flat = missing.reshape(-1)
    span = common(flat)
    block = math.prod(launch.block)
    if by_thread and span is not None and span.first == block and _to_the_end(span):
        return (
            f"They are all elements from {block} on, and a block has {block} threads, each of which adds to the "
            f"element of its own number. Let it go on until the end, with {remedies.GO_ON.format(elements=flat.size)}."
        )
    threads = math.prod(launch.grid) * block
    if span is not None and span.first == threads and _to_the_end(span):
        counted = ", counted row by row" if missing.ndim > 1 else ""
        return f"They are all elements from {span.first} on{counted}, and {_threads(launch)}. {GO_ON.format(axis='x')}"
    if _leaves_out_ends(source) and (ends := _both_ends(flat)):
        return ends
    for unit, line in _lines(missing):
        whole = len(line) // VECTOR * VECTOR
        span = common(line)
        if span is None and not line[whole:].any():
            span = common(line[:whole])  # of whole vectors, and not of the rest
        if span is not None:
            return (
                _turned(span, unit, launch, tiles)
                or _one_each(span, unit, launch, tiles, source)
                or _said(span, unit, launch, source)
            )
    return ""


def _axes(unit: str, source: str) -> tuple[int, ...]:
    """The sides of a grid that go along rows, columns, or all elements: of a kernel in whose text it is plain, one."""
    if (side := begins.side_of_rows(source)) and unit != "element":
        return ("xy".index(side) if unit == "row" else "yx".index(side),)
    asks = [axis for axis in AXES[unit] if re.search(rf"\b(?:thread|block)Idx\.{'xyz'[axis]}\b", source)]
    return tuple(asks) if "Idx." in source else AXES[unit]


def all_one(source: str, array: str, launch: Launch) -> str:
    """Of an array that a kernel stores to by an index that is the same in all threads; "" of another."""
    indices = [cuda_source.of_no_thread(source, line, array) for line in cuda_source.stores_to(source, array)]
    sides = (("blockIdx", launch.grid), ("threadIdx", launch.block))
    told = [
        f"{name}.{axis}" for name, side in sides for axis, many in zip("xyz", side, strict=True) if many > 1
    ]
    if not indices or not all(indices) or not told:
        return ""
    return ALL_ONE.format(index=indices[0], told=" and ".join(told))


def _leaves_out_ends(source: str) -> bool:
    """Whether a kernel has a condition, and loads neighbours, as far as it is known."""
    text = cuda_source.plain(source)
    return not source or bool(_CONDITION.search(text) and _NEIGHBOUR.search(text))


def _both_ends(flat: Mask) -> str:
    """Of elements at the beginning and at the end, as of those that have not all of their neighbours."""
    there = np.flatnonzero(~flat)
    if not len(there) or len(there) != there[-1] - there[0] + 1 or there[0] == 0 or flat[-1] == 0:
        return ""
    return (
        f"They are the first {there[0]} and the last {len(flat) - 1 - there[-1]}: does a condition leave out those "
        "that have not all of their neighbours? Every element is to be stored: ask of each neighbour, before it is "
        "read, whether its index lies inside of the array."
    )


def _lines(missing: Mask) -> Iterator[tuple[str, Mask]]:
    """Whole rows, whole columns, or all elements in the order of memory: a unit, and which are missing."""
    if missing.ndim == 2:
        if missing.shape[0] > 1 and (missing == missing[:, :1]).all():
            yield "row", missing[:, 0]
        if missing.shape[1] > 1 and (missing == missing[:1]).all():
            yield "column", missing[0]
    yield "element", missing.reshape(-1)


def _turned(span: Span, unit: str, launch: Launch, tiles: Collection[tuple[int, ...]]) -> str:
    """Of a tile that is no square, as the block is none, and is read with its indices exchanged; "" without one."""
    short, long = span.first, span.period
    sides = {(short, long), (short, long + 1), (long, short), (long, short + 1)}
    tile = next((shape for shape in tiles if shape in sides), None)
    if span.once or span.end != long or tile is None or {*launch.block[:2]} != {short, long}:
        return ""
    return (
        f"They are the {unit}s i with {span.condition('i')}: the tile, {tile[0]} × {tile[1]}, is no square, and with "
        f"threadIdx.x and threadIdx.y exchanged only {short} × {short} of it are read. Make it {long} × {long}, with a "
        f"loop by which the threads go on by {short}; or form both indices anew, of t = threadIdx.y * "
        f"{launch.block[0]} + threadIdx.x: t / {short} and t % {short}."
    )


def _one_each(span: Span, unit: str, launch: Launch, tiles: Collection[tuple[int, ...]], source: str) -> str:
    """Of a tile that has more rows than its block, of which a thread takes one, here or where it is stored; "" without
    such a tile."""
    threads, rows = span.first, span.end if span.once else span.period
    of_tile = any(rows in (shape[0], shape[0] - 1) for shape in tiles if len(shape) == 2)
    if not of_tile or span.end != rows:
        return ""
    axis = next((axis for axis in _axes(unit, source) if launch.block[axis] == threads), None)
    if axis is None or not threads or rows % threads:
        return ""
    which = span.named(unit) if span.once else f"the {unit}s i with {span.condition('i')}"
    side = "xyz"[axis]
    have = f"They are {which}: a block has {threads} threads along {side} for the {rows} {unit}s of a tile"
    several = remedies.TAKE_SEVERAL.format(times=rows // threads, axis=side, all=rows, threads=threads)
    if cuda_source.loops(source):  # in one of two places, or it ends early
        return f"{have}, and writes {threads} of them: {several}."
    return f"{have}, and each takes one: {several}."


WHOSE = "which thread writes them? The grid has one for each: look at its index, and the conditions before the store."


def _said(span: Span, unit: str, launch: Launch, source: str) -> str:
    if span.once and not _to_the_end(span):
        one = span.end - span.first == 1
        who = _of_block(span, unit, launch, source) or f"which thread writes {'it' if one else 'them'}?"
        return f"{'It is' if one else 'They are'} {span.named(unit)}: {who}"
    if span.once:
        return f"They are all {unit}s from {span.first} on{_why_from(span, unit, launch, source)}"
    condition = f"the {unit}s i with {span.condition('i')}"
    if why := _of_block(span, unit, launch, source):
        return f"They are {condition}: {why}"
    one = span.end - span.first == 1
    if one and span.period == VECTOR:
        return f"They are {condition}: is component {COMPONENTS[span.first]} of a vector never set?"
    of_tile = span.first in launch.block and span.period <= TILES[1]
    if not of_tile and (why := _too_far(span, span.period, unit, launch, source)):
        return f"They are {condition}: {why}"
    if span.first > 0 and span.end == span.period and TILES[0] <= span.period <= TILES[1]:
        tile = "tile" if not source or "__shared__" in source else "block"
        loop = f"does a loop over the {span.period} {unit}s of a {tile} end after the first {span.first}?"
        if source and not cuda_source.loops(source):
            loop = f"each thread has to go on by {span.first} until all {span.period} are done, in a loop."
        for axis in _axes(unit, source):
            if launch.block[axis] == span.first:
                side = "xyz"[axis]
                return (
                    f"They are {condition}: blocks have {span.first} threads along {side}, and begin {span.period} "
                    f"apart. Is blockIdx.{side} to be multiplied by {span.first}? If not: {loop}"
                )
        if tile == "tile":
            return f"They are {condition}: {loop}"
    return f"They are {condition}: which thread writes them?"


def _to_the_end(span: Span) -> bool:
    return span.once and span.end == span.size


def _why_from(span: Span, unit: str, launch: Launch, source: str) -> str:
    """What the condition, the launch, or the size, has to do with where the missing ones begin."""
    if condition := begins.of_another(source):
        return f": {condition}"
    for axis in _axes(unit, source):
        blocks, side = launch.grid[axis], launch.block[axis]
        if span.first == blocks * side:
            enough = unit != "element" and span.size <= launch.grid[1 - axis] * launch.block[1 - axis]
            turned = TURNED if begins.rows_become_columns(source) else EXCHANGED
            advice = (turned if enough and blocks > 1 else GO_ON).format(axis="xyz"[axis])
            return f", and {_threads(launch, axis)}. {advice}"
        # A grid that just covers them, one a thread, says how many are a block's; else they have equal shares.
        each = side if blocks == -(-span.size // side) else -(-span.size // blocks)
        for apart in (0, 1, blocks):
            near = blocks > 1 and apart < each and span.first == (blocks - 1) * apart + each
            if near and _may_begin(source, "xyz"[axis], apart, by_grid=apart == blocks):
                by = f"gridDim.{'xyz'[axis]}" if apart > 1 else ""
                return f": {too_near(apart, each, unit, axis, blocks, by)}"
        # Or a block begins behind the threads of the one before, where each of those takes several.
        each = span.first - (blocks - 1) * side
        several = each > side > 1 and each % side == 0 and blocks == -(-span.size // each) > 1
        if several and _may_begin(source, "xyz"[axis], side):
            return f": {too_near(side, each, unit, axis, blocks, str(side))}"
        if span.first == side:
            before = f"or begin behind the blocks before its own, at blockIdx.{'xyz'[axis]} * {side}"
            return f", and a block has {side} threads. Let each of them go on by as many until the end, {before}."
    for axis in _axes(unit, source):
        if launch.block[axis] > span.first and (
            why := _too_far(span, launch.block[axis], unit, launch, source)
        ):
            return f": {why}"
    rest = span.size - span.first
    if rest == span.size % VECTOR:
        tiles = "is a number of tiles rounded down? If not: " if rest == span.size % TILES[0] else ""
        return f", the last {rest} of {span.size}: {tiles}{LEFT}"
    if quotient := _rounded_down(rest, span.size, source):
        return f", the last {rest} of {span.size}: {quotient}"
    return f": {_near(span, unit, launch, source) or _which(span, unit, launch, source)}"


def _rounded_down(rest: int, size: int, source: str) -> str:
    """The quotient of a size that leaves out so many."""
    text, sizes = cuda_source.plain(source), cuda_source.int_sizes(cuda_source.plain(source))[0]
    for found in re.finditer(r"\b([A-Za-z_]\w*)\s*/\s*(\d+)\b", text):
        if found[1] in sizes and int(found[2]) > 1 and rest == size % int(found[2]):
            line = cuda_source.line_at(text, found.start())
            return f"`{found[0]}` in line {line} rounds down, and what is left over is nobody's."
    return ""


def _which(span: Span, unit: str, launch: Launch, source: str) -> str:
    """Whom to look for where nothing else is known: not for more threads, if the grid has one for each."""
    if any(launch.grid[axis] * launch.block[axis] >= span.size for axis in _axes(unit, source)):
        return WHOSE
    return "which thread writes them, and does the grid have it?"


def _of_block(span: Span, unit: str, launch: Launch, source: str) -> str:
    """What the condition of the store, or the threads of a block do of all that is theirs; "" where that is not
    known."""
    return (
        begins.of_another(source) or _near(span, unit, launch, source) or _early(span, unit, launch, source)
    )


def _early(span: Span, unit: str, launch: Launch, source: str) -> str:
    """Of threads that are to take several each, and end after the first of them."""
    covered = span.end if span.once else span.period  # what a block is to write
    for axis in _axes(unit, source):
        side, all_covered = launch.block[axis], launch.grid[axis] == -(-span.size // covered)
        if side > 1 and span.end == covered and all_covered and not (span.first % side or covered % side):
            loops = not source or cuda_source.loops(source)
            steps = f": its loop takes {span.first // side} of {covered // side} steps"
            threads = f", in a loop, or give a block {covered} along {'xyz'[axis]}"
            return (
                f"the grid has one block for {covered} {unit}s, of which its {side} threads along {'xyz'[axis]} write "
                f"the first {span.first} alone. Let each thread go on by {side} until all {covered} are done"
                f"{steps if loops else threads}."
            )
    return ""


def _near(span: Span, unit: str, launch: Launch, source: str) -> str:
    """Of threads that take several each and go on by one instead of by all threads along their side of the block: they
    write as many as these, and one more for each step."""
    for axis in _axes(unit, source):
        side = launch.block[axis]
        each = span.first - side + 1
        covered = side * each  # what a block is to write
        if each < 2 or each.bit_count() > 1 or launch.grid[axis] != -(-span.size // covered):
            continue
        if span.end == min(covered, span.size) and (span.once or span.period == covered):
            return (
                f"the {side} threads of a block along {'xyz'[axis]} take {each} {unit}s each and go on by 1, to those "
                f"that others take. Let them go on by {side}: multiply the step by {side}."
            )
    return ""


def _too_far(span: Span, apart: int, unit: str, launch: Launch, source: str) -> str:
    """Of blocks that write as many as lie before these, and begin further `apart`; "" where the grid has as many blocks
    as that takes."""
    for axis in _axes(unit, source):
        just_covered = launch.grid[axis] == -(-span.size // max(span.first, 1)) > 1
        if span.end in (apart, span.size) and just_covered and _may_begin(source, "xyz"[axis], apart):
            return (
                f"the grid has one block for {span.first} {unit}s, and blocks begin {apart} apart. "
                f"Multiply blockIdx.{'xyz'[axis]} by {span.first}."
            )
    return ""


def _may_begin(source: str, side: str, apart: int, by_grid: bool = False) -> bool:
    """Whether blocks may begin so far apart, as far as the source says by what it multiplies blockIdx, or that what it
    stores has none."""
    if apart == 0 and f"blockIdx.{side}" in (text := cuda_source.plain(source)):
        stores = (
            (line, array)
            for line in range(1, text.count("\n") + 2)
            for array in cuda_source.arrays_in(source, line, "global", stored=True)
        )
        own = [axis for axis in findings.AXES if axis == side]
        return any(cuda_source.lacks_block(source, line, array, own) for line, array in stores)
    if by_grid and source and "gridDim" not in source:
        return False
    pairs = re.findall(rf"\bblockIdx\.{side}\s*\)?\s*\*\s*(\w+)|\b(\w+)\s*\*\s*blockIdx\.{side}\b", source)
    factors = [one or other for one, other in pairs]
    return not factors or any(not factor.isdecimal() or int(factor) == apart for factor in factors)


def too_near(apart: int, each: int, unit: str, axis: int, blocks: int, by: str = "") -> str:
    """Of blocks that begin `apart`, and have more than that. `by` is what they seem to multiply blockIdx by; "" for
    nothing."""
    side = "xyz"[axis]
    many = f"{each} {unit}s each"
    if apart == 0:
        return (
            f"the {blocks} blocks along {side}, which have {many}, all write the first. The index has to count those "
            f"of the blocks before its own: add blockIdx.{side} * {each}."
        )
    units = f"{apart} {unit}{'s' if apart > 1 else ''}"
    instead = f" by {each}, and not by {by}" if by else f" by {each}"
    return (
        f"the {blocks} blocks along {side}, which have {many}, begin {units} apart. "
        f"Multiply blockIdx.{side}{instead}."
    )


def _threads(launch: Launch, axis: int | None = None) -> str:
    """How many threads a grid has, along one side or in all."""
    blocks = math.prod(launch.grid) if axis is None else launch.grid[axis]
    side = math.prod(launch.block) if axis is None else launch.block[axis]
    along = "" if axis is None or max(launch.grid[1:] + launch.block[1:]) == 1 else f" along {'xyz'[axis]}"
    return (
        f"the grid has {blocks * side} threads{along} ({blocks} block{'s' if blocks > 1 else ''} of {side})"
    )
