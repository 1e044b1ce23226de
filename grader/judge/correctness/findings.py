"""From the findings in launch records to those that results show, with the elements that they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from grader.emulator import metrics
from grader.emulator.machine.records import Finding, PhaseFault, Text
from grader.emulator.places import Place
from grader.findings import kernels
from grader.findings.bounds import shifts_alone
from grader.findings.remedies import SAME_ARRAY, SAME_CHANGE
from grader.judge.child.protocol import Record
from grader.results import FindingResult
from grader.workbook import own_memory, variables
from grader.workbook.begins import stored_elsewhere
from grader.workbook.cuda_source import (
    Axis,
    SharedArray,
    accumulates,
    arrays_in,
    barrier_since,
    bound_of,
    cast_to,
    clears,
    compared,
    compares_bytes,
    counted_from_start,
    declared_in_shared,
    early_return,
    exchanged,
    exchanges,
    factors,
    filling_loop,
    goes_on,
    guard,
    guard_behind,
    in_global_memory,
    in_turn,
    index_in_words,
    index_of,
    indexed_alike,
    indexed_otherwise,
    lacks_block,
    lacks_thread,
    lines_of_kernel,
    moved,
    of_no_thread,
    one_a_thread,
    one_row_a_thread,
    one_suffices,
    only_if,
    place_between,
    plain,
    pointee,
    reads,
    shared_arrays,
    signed_char,
    statement,
    steps,
    uneven_loop,
    updated_in,
)
from grader.workbook.reference import Problem

AXES: Sequence[Axis] = ("x", "y", "z")

MOST_OF_AN_INT = 2**31 - 1

FAR_MORE = 8
"""Threads for each element of the largest array that are too many to be meant."""

MOST_SUBTRACTED = 2**28
"""Elements below 0, as an index without a sign has them: what is larger is taken as it is, as a word of data may be."""


@dataclass(frozen=True)
class ArrayType:
    """What an array holds."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return math.prod(self.shape) * self.dtype.itemsize


def located(
    records: Sequence[Record],
    arrays: Mapping[str, ArrayType],
    source: str = "",
    sizes: Problem | None = None,
    own: Collection[str] = (),
) -> tuple[Record, ...]:
    """Records whose findings name elements, where they are about one of these arrays, or about one that `source`
    declares in shared memory; the condition that an access out of bounds stands behind; the `return` that threads have
    left by which are missing; whether threads that race add to an element; and which of the problem's `sizes` was taken
    for the length of a row, where rows have another. `own` are the lines of the source that the task gives."""
    if not any(record.findings for record in records):
        return tuple(records)
    declared = shared_arrays(source)
    elements = max((math.prod(array.shape) for array in arrays.values()), default=0)

    def located(record: Record, finding: Finding) -> Finding:
        line = finding.place.line
        if finding.kind in ("uninitialised_shared", "barrier") and _some_are_missing(record, finding.place):
            unset = finding.kind == "uninitialised_shared"
            returned = (early_return(source, at.line, before_barrier=unset) for at in finding.place.stack())
            finding = replace(finding, returned=next(filter(None, returned), None))
        if finding.kind == "uninitialised_shared":
            array = finding.array or ""
            finding = replace(
                finding,
                exchanged=exchanged(source, line, array),
                elsewhere=stored_elsewhere(source, line),
                filling=filling_loop(source, line, array),
                columns_of_rows=_columns_of_rows(arrays),
                synchronised=barrier_since(source, line, array),
            )
        if finding.kind == "barrier":
            finding = replace(finding, uneven_loop=uneven_loop(source, line), only_if=only_if(source, line))
        if finding.kind == "trap" and finding.instruction is None:
            atomic = next(own_memory.with_atomics(source), None)
            told = (atomic.name, atomic.declared, atomic.function, atomic.line) if atomic else None
            finding = replace(finding, own_atomic=told)
        if finding.kind == "race":
            finding = _of_race(finding, source)
        if finding.kind == "out_of_bounds":
            blocks, threads = math.prod(record.grid), math.prod(record.block)
            many = (blocks, threads) if blocks * threads > max(MOST_OF_AN_INT, FAR_MORE * elements) else None
            index, formed = index_of(source, line, finding.array or "")
            guards = (guard(source, at.line, index) for at in finding.place.stack())
            condition = next(filter(None, guards), None)
            lenient = condition is not None and one_suffices(source, condition)
            counted = counted_from_start(source, line, finding.array or "")
            comparison, bound = compared(source, condition or 0, f"{counted} {formed}", sizes or {})
            seen = Text(
                statement(source, line),
                index,
                formed,
                condition=statement(source, condition or 0),
                one_of_several=indexed_otherwise(source, line, finding.array or "", condition or 0),
                compared=comparison,
                bound=bound,
                limit=bound_of(source, condition or 0, comparison),
                signed_char=signed_char(source, line, index) or signed_char(source, line, formed),
                pointee=pointee(source, line, finding.array or ""),
                cast=cast_to(source, line, finding.array or ""),
                dynamic="extern __shared__" in source,
                declared=declared_in_shared(source, finding.array or ""),
                threads=math.prod(record.block),
                moved=moved(source, line, finding.array),
                counted=None if counted == index else counted,
                goes_on=goes_on(source, line, finding.array or ""),
                fills=next(iter(arrays_in(source, line, "shared", stored=True)), ""),
                in_bytes=compares_bytes(source, line, finding.array),
                of_no_thread=of_no_thread(source, line, finding.array or "") if blocks * threads > 1 else "",
                given=condition is not None and source.splitlines()[condition - 1].strip() in own,
                most=elements,
            )
            text = seen if source else None
            later = guard_behind(source, line, index) if condition is None else None
            finding = replace(
                finding,
                guarded=condition,
                guarded_later=later,
                one_suffices=lenient,
                launched=many,
                text=text,
            )
            finding = _below_0(finding)
        if finding.space == "shared":
            finding = _with_end(_located_in_shared(finding, declared), source, sizes or {})
            if record.block[0] not in (sizes or {}).values():  # else the array is as large as they may become
                finding = _with_few_threads(finding, record, source)
        else:
            finding = _with_longer(_located(finding, arrays), source, arrays)
            finding = _with_lacking_thread(finding, record, source)
            finding = _with_extent(_with_rows(finding, source, sizes or {}), sizes or {})
            finding = _with_uneven_rows(finding, source, sizes or {})
        return _with_variables(finding, record, source, sizes or {})

    return tuple(
        msgspec.structs.replace(record, findings=tuple(located(record, item) for item in record.findings))
        for record in records
    )


def _of_race(finding: Finding, source: str) -> Finding:
    """A race, with what the lines of both accesses tell of it."""
    line, other = finding.place.line, finding.other.place.line if finding.other else 0
    there = lines_of_kernel(source, line) if finding.action == "atomic" and not other else (line, other)
    cleared = next((each for each in there if clears(source, each, finding.array)), None)
    called = finding.place.caller or (finding.other and finding.other.place.caller)
    apart = line != other != 0 and not called and in_turn(source, line, other)
    few = only_if(source, line)
    if finding.scope != "warp" or called or few != only_if(source, other):
        few = None  # a barrier may stand in front of the condition
    between = place_between(source, *sorted((line, other))) if apart else None
    finding = replace(finding, clears=cleared, in_turn=apart, only_if=few, barrier_between=between)
    finding = _with_lacking(finding, source)
    finding = replace(finding, declared=_meant_for_block(finding, source))
    if few is not None and other == line:
        finding = replace(finding, steps=steps(source, line))
    if other not in (0, line):
        return finding
    by_blocks = finding.scope == "grid"
    adds = accumulates(source, line, finding.array, by_blocks)
    # What another line of the same block has stored is to be there before anybody adds to it.
    stored = not by_blocks and finding.space == "global" and _stores_values(source, finding.array or "")
    return replace(finding, accumulates=adds and not stored)


def _stores_values(source: str, array: str) -> bool:
    """Whether a line stores to an array what is no 0."""
    return bool(re.search(rf"\b{re.escape(array)}\s*\[[^\[\]]*\]\s*=(?!=)(?!\s*0[.0f]*\s*;)", plain(source)))


def _meant_for_block(finding: Finding, source: str) -> tuple[str, bool, bool] | None:
    """How a variable in global memory is declared that a race is about, where it was to be a thread's or a block's own:
    `static` within a function, as C has it; or one of the file that each block sets anew for itself to read. One that
    blocks count in together is meant to be in global memory."""
    line, array = finding.place.line, finding.array or ""
    found = in_global_memory(source, array) if array and finding.space == "global" else None
    if found is None or found[1]:
        return found
    if found[2] and finding.clears:
        return found
    counted = accumulates(source, line, array, by_blocks=True) or any(
        array in updated_in(source, each) for each in lines_of_kernel(source, line)
    )
    sets = finding.action == "write" and (finding.lacks_block or not found[2])
    return found if sets and not counted and reads(source, line, array) else None


def _with_variables(finding: Finding, record: Record, source: str, sizes: Problem) -> Finding:
    """An access that may not be, with what its index is made of in that thread."""
    place, element, shape = finding.allocation, finding.element, finding.shape
    thread, block, line = finding.thread, finding.block, finding.place.line
    if finding.kind not in ("out_of_bounds", "misaligned", "uninitialised_shared") or finding.any_of_warp:
        return finding
    if place is None or element is None or not shape or thread is None or block is None:
        return finding
    itemsize = place.nbytes // math.prod(shape)
    many = max(pointee(source, line, finding.array or "") // itemsize, 1)
    accessed = variables.Accessed(finding.array or "", shape, element, many, finding.space == "shared")
    where = variables.Thread(thread, block, record.block, record.grid, sizes)
    return replace(finding, formed=variables.of_index(source, line, accessed, where))


def _with_lacking(finding: Finding, source: str) -> Finding:
    """A race between blocks, with what of blockIdx the index lacks by which they store to the same element."""
    one, other = finding.block, finding.other.block if finding.other else None
    if finding.scope != "grid" or finding.action != "write" or one is None or other is None:
        return finding
    axes = [axis for axis, mine, theirs in zip(AXES, one, other, strict=True) if mine != theirs]
    lacking = lacks_block(source, finding.place.line, finding.array or "", axes)
    return replace(finding, lacks_block=lacking)


def _with_lacking_thread(finding: Finding, record: Record, source: str) -> Finding:
    """A race between threads of a block that store, with what of threadIdx the index lacks. Where blocks have no more
    elements than the index has places, one of the threads may be to store what all have found together."""
    other = finding.other
    stores = other is not None and finding.action == other.action == "write"
    if finding.kind != "race" or finding.scope not in ("block", "warp") or not stores:
        return finding
    line, array = finding.place.line, finding.array or ""
    sides: dict[Axis, int] = {axis: side for axis, side in zip(AXES, record.block, strict=True) if side > 1}
    lacking = lacks_thread(source, line, array, sides)
    places = math.prod(record.grid) * math.prod(side for axis, side in sides.items() if axis not in lacking)
    if not lacking or math.prod(finding.shape or ()) <= places:
        return replace(finding, apart=not exchanges(source))
    index = index_in_words(source, line, array)
    return replace(finding, lacks_thread=(index, " and ".join(f"threadIdx.{axis}" for axis in lacking)))


def _columns_of_rows(arrays: Mapping[str, ArrayType]) -> bool | None:
    """Whether a matrix has as many rows as another one has columns, and the other way round; None where all are
    square."""
    shapes = {array.shape for array in arrays.values() if len(array.shape) == 2}
    if shapes and all(rows == columns for rows, columns in shapes):
        return None
    return any((columns, rows) in shapes for rows, columns in shapes if rows != columns)


def _below_0(finding: Finding) -> Finding:
    """An access far behind an array, by an index of 32 bits without a sign that was to be below 0."""
    place, size = finding.allocation, finding.size or 0
    if place is None or finding.address is None or place.nbytes >= 2**31 * size:
        return finding
    if finding.text is not None and any(map(shifts_alone, (finding.text.index, finding.text.formed))):
        return finding  # nothing is subtracted: its top bit was set
    if not (2**32 - MOST_SUBTRACTED) * size <= finding.address - place.base < 2**32 * size:
        return finding
    return replace(finding, address=finding.address - 2**32 * size, wrapped=True)


def _some_are_missing(record: Record, place: Place) -> bool:
    """Whether not all lanes of all warps of the blocks that were run have executed a line."""
    counters = next((item.counters for item in record.lines if item.place == place), {})
    lanes, warps = (
        counters.get(name, 0) for name in (metrics.THREAD_INSTRUCTIONS, metrics.WARP_INSTRUCTIONS)
    )
    threads = math.prod(record.block)
    return lanes * -(-threads // 32) < threads * warps


def _located_in_shared(finding: Finding, declared: Mapping[str, Sequence[SharedArray]]) -> Finding:
    place, address = finding.allocation, finding.address
    if place is None or address is None:
        return finding
    if finding.kind == "out_of_bounds" and len(declared) == 1 and finding.array in (None, *declared):
        finding = replace(finding, array=next(iter(declared)))  # all of the block's shared memory is its
    elif not 0 <= address - place.base < place.nbytes:
        return finding
    found = shape_in_shared(declared, finding.array or "", place.nbytes)
    if found is None:
        return finding
    itemsize, shape = found
    return replace(finding, element=(address - place.base) // itemsize, shape=shape)


def _with_end(finding: Finding, source: str, sizes: Problem) -> Finding:
    """An element that nobody has written, of an array whose elements are counted from the end, behind the last."""
    if finding.kind != "uninitialised_shared" or finding.element is None:
        return finding
    index, formed = index_of(source, finding.place.line, finding.array or "")
    counted = re.fullmatch(r"(\w+)\s*-\s*([A-Za-z_][\w.]*)", formed or index)
    if counted is None or sizes.get(counted[1]) != finding.element:
        return finding
    return replace(finding, from_end=(counted[1], counted[2]))


def _with_few_threads(finding: Finding, record: Record, source: str) -> Finding:
    """A read of an array of one dimension, of which each thread of the block has written the element of its number, or
    of its number behind a halo; or of a tile, of which each thread has written one in the row of its number along y."""
    place, shape, (along_x, along_y, _) = finding.allocation, finding.shape or (), record.block
    if finding.stored is None or place is None or not shape:
        return finding
    (before, behind), width = finding.stored, place.nbytes // math.prod(shape)
    line, array = finding.place.line, finding.array or ""
    if len(shape) == 1 and along_y == 1 and (before, behind) == (place.base + (along_x - 1) * width, None):
        return replace(finding, one_each=along_x, likewise=one_a_thread(source, line, array)[1:])
    halo, odd = divmod(shape[0] - along_x, 2)
    if len(shape) == 1 and along_y == 1 and 0 < halo <= along_x and not odd:
        first, last = (place.base + at * width for at in (halo, halo + along_x - 1))
        return replace(finding, halo=halo) if (before, behind) in ((None, first), (last, None)) else finding
    if len(shape) == 2 and before is not None and behind is None and shape[0] > along_y > 1:
        last = (before - place.base) // (width * shape[1])
        if last == along_y - 1 and shape[0] % along_y == 0 and one_row_a_thread(source, line, array):
            return replace(finding, one_each=along_y)
    return finding


def shape_in_shared(
    declared: Mapping[str, Sequence[SharedArray]], name: str, nbytes: int
) -> tuple[int, tuple[int, ...]] | None:
    """Bytes of an element, and the shape, of an array in shared memory of so many bytes; None where the declarations
    of its name leave that open."""
    known = [(item, item.shape(nbytes)) for item in declared.get(name, ())]
    fitting = {(item.itemsize, shape) for item, shape in known if shape is not None}
    return next(iter(fitting)) if len(fitting) == 1 else None


def _located(finding: Finding, arrays: Mapping[str, ArrayType]) -> Finding:
    array, allocation = arrays.get(finding.array or ""), finding.allocation
    # A variable of the kernel's file may have the name of an array that it is not.
    if array is None or allocation is None or finding.address is None or allocation.nbytes != array.nbytes:
        return finding
    element = (finding.address - allocation.base) // array.dtype.itemsize
    return replace(finding, element=element, shape=array.shape, dtype=array.dtype.name)


def _with_longer(finding: Finding, source: str, arrays: Mapping[str, ArrayType]) -> Finding:
    """An access out of bounds, with an array that has the same index in that line and more elements."""
    if finding.kind != "out_of_bounds" or finding.shape is None:
        return finding
    alike = indexed_alike(source, finding.place.line, finding.array or "") & arrays.keys()
    longer = [name for name in sorted(alike) if math.prod(arrays[name].shape) > math.prod(finding.shape)]
    return replace(finding, indexed_as=longer[0]) if longer else finding


def _with_rows(finding: Finding, source: str, sizes: Problem) -> Finding:
    """An access to a matrix out of bounds, with the size by which its index multiplies in place of a row's length."""
    if finding.kind != "out_of_bounds" or finding.shape is None or len(finding.shape) != 2:
        return finding
    named = factors(source, finding.place.line, finding.array or "") & sizes.keys()
    others = [name for name in named if sizes[name] != finding.shape[-1]]
    return replace(finding, rows_of=others[0]) if len(named) == len(others) == 1 else finding


def _with_uneven_rows(finding: Finding, source: str, sizes: Problem) -> Finding:
    """An access of several elements of a row at once, with that row's length where whole ones do not fill it: the
    elements end behind the last of the array, or do not begin where such an access may."""
    place, elements, line = finding.allocation, math.prod(finding.shape or (0,)), finding.place.line
    if finding.kind not in ("out_of_bounds", "misaligned") or not (place and elements and finding.size):
        return finding
    itemsize, array = place.nbytes // elements, finding.array or ""
    if finding.size <= itemsize or pointee(source, line, array) != itemsize:
        return finding
    if not 0 <= (finding.element or 0) < elements:
        return finding  # the first of them is outside already
    named = factors(source, line, array) & sizes.keys()
    rows = [
        name for name in named if len(finding.shape or ()) == 1 or sizes[name] == (finding.shape or ())[-1]
    ]
    uneven = len(rows) == 1 and sizes[rows[0]] % (finding.size // itemsize) != 0
    return replace(finding, uneven_rows=rows[0]) if uneven else finding


def _with_extent(finding: Finding, sizes: Problem) -> Finding:
    """An access to an array of one dimension out of bounds, with the size that its index is to be less than."""
    if finding.kind != "out_of_bounds" or finding.shape is None or len(finding.shape) != 1:
        return finding
    as_large = [name for name, size in sizes.items() if size == finding.shape[0]]
    return replace(finding, extent=as_large[0]) if len(as_large) == 1 else finding


_CAUSES: Sequence[PhaseFault] = ("absent", "parity", "bytes", "refilled")


def results(records: Sequence[Record]) -> list[FindingResult]:
    """All findings of some launches, in the order of the launches. What a line of an inlined function does in several
    calls is one finding, of the first call. A race where threads come that have no element, and a value of what lies
    behind the end, are of that fault, and not to be mended by themselves."""
    found: dict[Hashable, FindingResult] = {}
    beyond: set[tuple[str | None, int | None]] = set()
    first: Finding | None = None
    for number, record in enumerate(records):
        for item in _causes_first(record.findings):
            first, of_first = first or item, first is not None and number == 0 and _of_barrier(first, item)
            shown = kernels.result(replace(item, written_later=of_first), record.kernel)
            if of_first or (number == 0 and first is not item and _of_rows(first, item)):
                shown = replace(shown, remedy=SAME_CHANGE)
            elif first is not item and _of_filling(first, item):
                shown = replace(shown, remedy=SAME_ARRAY)
            if shown.kind == "out_of_bounds":
                beyond.add((shown.file, shown.line))
            elif shown.kind in ("race", "uninitialised") and (shown.file, shown.line) in beyond:
                there = first.kind == "out_of_bounds" and first.place == item.place
                shown = replace(shown, remedy=SAME_CHANGE if there else None)
            with_whom = (shown.other.action, shown.other.line, shown.other.file) if shown.other else None
            what = (shown.kind, shown.file, shown.line, shown.array, shown.action, shown.scope, with_whom)
            key = (number, what, shown.remedy) if shown.callers else (number, len(found))
            same = found.setdefault(key, shown)
            if same is not shown:
                found[key] = replace(same, count=same.count + shown.count)
    return list(found.values())


def _of_barrier(race: Finding, item: Finding) -> bool:
    """Whether the barrier that a race lacks between two lines mends another finding as well: a race of lanes there, or
    a read of what the other thread has not written yet."""
    other = race.other
    if other is None or race.space != "shared" or race.scope != "block" or not race.in_turn:
        return False
    sides = {(race.action, race.place), (other.action, other.place)}
    if item.array != race.array or {action for action, _ in sides} != {"read", "write"}:
        return False
    if item.kind == "race" and item.other is not None:
        return {(item.action, item.place), (item.other.action, item.other.place)} == sides
    return (
        item.kind == "uninitialised_shared" and ("read", item.place) in sides and item.address == race.address
    )


def _of_filling(first: Finding, item: Finding) -> bool:
    """Whether both are about how an array in shared memory is filled."""
    kinds = ("race", "uninitialised_shared")
    return first.array == item.array is not None and first.kind in kinds and item.kind in kinds


def _of_rows(first: Finding, item: Finding) -> bool:
    """Whether what is said of rows that several elements at once do not fill is said of another access as well."""
    limit = item.text.compared.split()[-1:] if item.text else []
    rows = item.uneven_rows or "".join(limit)
    return first.uneven_rows == rows != "" and first.size == item.size


def _causes_first(findings: Sequence[Finding]) -> list[Finding]:
    """What is wrong with phases of mbarriers before what follows from it, a wait that passes too early before bytes
    other than expected. A barrier that some threads do not reach before races, which it leaves behind; and in front of
    it, where those threads wait at mbarriers, phases that never complete, first those that something has arrived at:
    the others wait for those who wait. And races between warps before those of lanes of one warp: a __syncthreads()
    mends both."""
    held = any(item.arrivals is not None and item.arrivals.others_held for item in findings)

    def rank(item: Finding) -> int:
        if item.phase is not None:
            if item.phase.fault in _CAUSES:
                return _CAUSES.index(item.phase.fault) - len(_CAUSES) - 3
            begun = item.phase.fault == "skipped" or bool(item.phase.arrived)
            return (-3 if begun else -2) if held and item.phase.fault in ("skipped", "arrivals") else 0
        if item.uneven_rows:
            return -1
        return {"barrier": -1, "race": int(item.scope == "warp")}.get(item.kind, 0)

    return sorted(findings, key=rank)
