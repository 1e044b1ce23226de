"""The line that wastes most of a kernel's time, by what was counted for it, and what mends that.

Waste is what a line takes beyond what the same accesses need at best, in cycles of a multiprocessor. Lanes that are
idle take part of an instruction's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from grader.analysis.cycles import ISSUE_CYCLES, SECTOR_CYCLES, Counters, cycles
from grader.analysis.cycles import total as _sum
from grader.emulator import metrics
from grader.results import MUCH_WASTE, LineCost
from grader.workbook import units
from grader.workbook.cuda_source import (
    SharedArray,
    Space,
    adds_to,
    arrays_in,
    beside_one_another,
    indexed_by_data,
    int_sizes,
    lines_that_print,
    numbers,
    of_first_thread,
    plain,
    pointee,
    shared_arrays,
    statement,
    turned_against,
    updated_in,
    without_other_kernels,
)
from grader.workbook.own_memory import with_unknown_index
from grader.workbook.shared_rows import BANKS_BYTES, WORD, copies_by_lane, lane_first, row_of_thread, widest


@dataclass(frozen=True)
class _Waste:
    """One way to waste cycles: how many in a line, in words, and the remedy."""

    cycles: Callable[[Counters], float]
    says: Callable[[Counters, str], str]  # with the arrays that it is about, "" where that is not known
    remedy: str  # {array}: these, or "the array"
    space: Space | None = None
    stored: Callable[[Counters], bool] = lambda counters: False  # whether stores waste more than loads
    atomic: bool = False  # it is about what atomics update
    measured: frozenset[str] = frozenset()  # by what of claims

    def arrays(self, source: str, line: int, counters: Counters) -> tuple[str, ...]:
        """The arrays of a line that it is about."""
        if self.space is None:
            return ()
        if self.atomic:
            return updated_in(source, line)
        found = arrays_in(source, line, self.space, self.stored(counters))
        if self.space == "local" and (unknown := with_unknown_index(source, line)):
            of_line = [*found, *arrays_in(source, line, self.space, not self.stored(counters))]
            return tuple(name for name in of_line if name in unknown) or tuple(unknown)
        row = None if found or self.space != "shared" else row_of_thread(source, line)  # by a pointer
        return (row.array,) if row else found


def costliest(
    lines: Mapping[int, Counters],
    source: str = "",
    later: Collection[str] = (),
    threads: int = 32,
    wanted: Collection[str] = (),
) -> LineCost | None:
    """The line with the most waste of one kind. Where none wastes a tenth of all cycles, that with the most of what is
    `wanted`, the measures of claims that do not hold, else None. `source` is the file's text, for the names of arrays;
    a block has so many `threads`. Waste that `later` claims measure is left to them."""
    all_cycles = sum(map(cycles, lines.values()))
    found = [
        (waste.cycles(counters), line, waste)
        for line, counters in lines.items()
        if line
        for waste in _WASTES
        if not waste.measured.intersection(later)
    ]
    worth = [item for item in found if item[0] >= MUCH_WASTE * all_cycles]
    asked = [item for item in found if item[0] > 0 and item[2].measured.intersection(wanted)]
    wasted, line, waste = max(worth or asked, key=lambda item: item[:2], default=(0.0, 0, None))
    if waste is None:
        return None
    counters, source = lines[line], without_other_kernels(source, line)
    named = waste.arrays(source, line, counters)
    arrays = " and ".join(f"`{name}`" for name in named)
    remedy = (
        _prints(source, line)
        or _turned(waste, source, line, counters)
        or _side_by_side(waste, source, line, named)
        or _remedy(waste, source, line, named, threads, counters).format(
            array=arrays or "the array", threads=units.number_of(threads, "thread")
        )
    )
    return LineCost(line, waste.says(counters, arrays), remedy, wasted / all_cycles)


def _conflicts(counters: Counters) -> float:
    return float(_sum(counters, metrics.SHARED_CONFLICTS))


def _stores_conflict(counters: Counters) -> bool:
    return counters.get(metrics.SHARED_CONFLICTS["st"], 0) > counters.get(metrics.SHARED_CONFLICTS["ld"], 0)


def _says_conflicts(counters: Counters, arrays: str) -> str:
    requests = _sum(counters, metrics.SHARED_WAVEFRONTS) - _sum(counters, metrics.SHARED_CONFLICTS)
    wavefronts = units.digits(_sum(counters, metrics.SHARED_WAVEFRONTS) / max(requests, 1))
    conflicts = units.count(_sum(counters, metrics.SHARED_CONFLICTS))
    where = f" in {arrays}" if arrays else ""
    return f"{conflicts} bank conflicts{where}: {wavefronts} wavefronts where 1 would do"


def _excess(counters: Counters) -> float:
    return float(_sum(counters, metrics.PEER_EXCESS))


def _says_excess(counters: Counters, arrays: str) -> str:
    requests, sectors = _sum(counters, metrics.PEER_REQUESTS), _sum(counters, metrics.PEER_SECTORS)
    each, least = (units.digits(found / max(requests, 1)) for found in (sectors, sectors - _excess(counters)))
    return f"{each} sectors a request of another block's shared memory, where neighbouring words take {least}"


def _plain(counters: Counters) -> int:
    """Sectors of loads and stores."""
    return sum(counters.get(metrics.GLOBAL_SECTORS[kind], 0) for kind in metrics.LOAD_STORE)


def _scattered(counters: Counters) -> float:
    return SECTOR_CYCLES * max(_plain(counters) - counters.get(metrics.IDEAL_SECTORS, 0), 0)


def _scattered_atomics(counters: Counters) -> float:
    """The ideal is counted of all accesses of a line together: what loads and stores leave of it is the atomics'."""
    beyond = _sum(counters, metrics.GLOBAL_SECTORS) - counters.get(metrics.IDEAL_SECTORS, 0)
    return SECTOR_CYCLES * beyond - _scattered(counters)


def _says_scattered_atomics(counters: Counters, arrays: str) -> str:
    requests, sectors = (
        sum(counters.get(names[kind], 0) for kind in metrics.ATOMICS)
        for names in (metrics.GLOBAL_REQUESTS, metrics.GLOBAL_SECTORS)
    )
    each = units.digits(sectors / max(requests, 1))
    # A sector counts as often as it is accessed: lanes that update one word do so one after the other.
    where = arrays or "global memory"
    return f"{units.count(requests)} atomic requests to {where} take {each} accesses of a sector each"


def _each(counters: Counters, kind: str) -> float:
    """Sectors a request, of loads or of stores."""
    requests = counters.get(metrics.GLOBAL_REQUESTS[kind], 0)
    return counters.get(metrics.GLOBAL_SECTORS[kind], 0) / requests if requests else 0.0


def stores_scatter(counters: Counters) -> bool:
    """Whether stores of a line touch more sectors a request than its loads."""
    return _each(counters, "st") > _each(counters, "ld")


def strided(counters: Counters) -> bool:
    """Whether loads and stores of a line touch more than twice the sectors that neighbouring elements take, as strided
    ones do and those that begin within a sector do not."""
    return _plain(counters) > 2 * counters.get(metrics.IDEAL_SECTORS, 0)


def _says_scattered(counters: Counters, arrays: str) -> str:
    kind, other = ("st", "ld") if stores_scatter(counters) else ("ld", "st")
    ideal = counters.get(metrics.IDEAL_SECTORS, 0) - counters.get(metrics.GLOBAL_SECTORS[other], 0)
    least = units.digits(ideal / counters.get(metrics.GLOBAL_REQUESTS[kind], 1))
    # The ideal is that of loads and stores together: what it leaves is known only where the others are near theirs.
    beyond = (
        f"where neighbouring elements take {least}"
        if ideal > 0
        else "far more than neighbouring elements take"
    )
    return f"{units.digits(_each(counters, kind))} sectors a request of {arrays or 'global memory'}, {beyond}"


def _local(counters: Counters) -> float:
    return SECTOR_CYCLES * _sum(counters, metrics.LOCAL_SECTORS)


def _stores_to_local(counters: Counters) -> bool:
    return counters.get(metrics.LOCAL_REQUESTS["st"], 0) > counters.get(metrics.LOCAL_REQUESTS["ld"], 0)


def _says_local(counters: Counters, arrays: str) -> str:
    requests = units.count(_sum(counters, metrics.LOCAL_REQUESTS))
    of = f", for {arrays}" if arrays else ""
    return f"{requests} requests to local memory, a thread's own part of global memory{of}"


def _idle(counters: Counters) -> float:
    instructions = counters.get(metrics.WARP_INSTRUCTIONS, 0)
    return ISSUE_CYCLES * (instructions - counters.get(metrics.THREAD_INSTRUCTIONS, 0) / 32)


def _says_idle(counters: Counters, arrays: str) -> str:
    lanes = counters.get(metrics.THREAD_INSTRUCTIONS, 0) / max(counters.get(metrics.WARP_INSTRUCTIONS, 0), 1)
    return f"on average {units.digits(lanes)} of a warp's 32 lanes are at work"


def _remedy(
    waste: _Waste, source: str, line: int, arrays: tuple[str, ...], threads: int, counters: Counters
) -> str:
    """What mends it; in a block that ends within a warp lanes are idle without any branch, and what data is the index
    of stays in no register."""
    if waste.cycles is _idle and of_first_thread(source, line):
        return _ALONE
    if waste.cycles is _idle and threads % 32:
        return _WHOLE_WARPS
    if waste.cycles is _local and (by_data := next(filter(None, map(partial(_by_data, source), arrays)), "")):
        return by_data
    if waste.cycles is _local and (unknown := with_unknown_index(source, line)):
        at, name = unknown[arrays[0]]
        counts = re.search(rf"\bfor\s*\([^;]*\b{name}\s*=", source)
        return _UNKNOWN_INDEX.format(array=arrays[0], line=at, name=name) + (
            _COUNTED_UP if counts else _CHOSEN
        )
    return _of_banks(source, line, arrays, counters) if waste.cycles is _conflicts else waste.remedy


def _of_banks(source: str, line: int, arrays: tuple[str, ...], counters: Counters) -> str:
    """How lanes come to different banks. An array of one dimension has no rows to be padded, an atomic takes one
    element a lane, and where rows hold a copy for each lane, or are accessed 16 bytes at a time, a word more is no
    way."""
    row = row_of_thread(source, line)
    copies = [apart for array in arrays for apart in copies_by_lane(source, array)]
    declared = _declared(source, arrays)
    flat = bool(declared) and max(len(one.extents) for one in declared) == 1
    wide = _accessed_at_once(source, line, arrays) > WORD
    if row is not None and row.in_one_bank and (flat or copies or wide):
        return _ROUND.format(
            array=row.array, apart=row.apart // WORD, thread=row.thread, column=row.column, many=row.columns
        )
    if {*arrays} & {*updated_in(source, line)}:
        words = {one.itemsize for one in declared} <= {WORD}
        found = (lane_first(source, line, array) for array in arrays if words)
        if exchanged := next(filter(None, found), None):
            before, after = (text.replace("{", "{{").replace("}", "}}") for text in exchanged)
            return _LANE_LAST.format(line=line, before=before, after=after)
        beside = [apart for apart in copies if apart and apart % BANKS_BYTES]
        if beside:
            return _COPIES_APART.replace("{apart}", str(beside[0] // WORD))
        return f"{_ATOMICS}." if copies else f"{_COPY_FOR_LANES}{_LAYOUT_OF_COPIES * words}"
    by_words = row is None or row.nbytes == WORD
    all_words = {one.itemsize for one in declared} == {WORD}
    vectors = _VECTORS.get(WORD * _served_one_by_one(counters)) if flat and by_words and all_words else None
    if vectors:
        return f"{_BANKS}{_AS_VECTORS.replace('{vectors}', vectors)}."
    if wide and row is not None and not by_words and not copies and row.apart % (2 * row.nbytes) == 0:
        return _PADDING_OF_WIDE.replace("{words}", str(row.nbytes // WORD))
    if not flat and (lanes := _lanes_of_vectors(source, line, arrays)):
        return _PLACES.replace("{lanes}", str(lanes)).replace("{nbytes}", str(declared[0].itemsize))
    if wide and not flat and not _past_padding(declared):
        return f"{_BANKS}. {_NO_WORD_MORE}"
    return f"{_BANKS}." if flat or wide or _past_padding(declared) else PADDING


def _declared(source: str, arrays: Collection[str]) -> list[SharedArray]:
    return [one for array in arrays for one in shared_arrays(source).get(array, ())]


def _past_padding(declared: Collection[SharedArray]) -> bool:
    """Whether a word more in each row helps nothing: of rows of an odd number of words, and of wider elements."""
    return bool(declared) and all(
        len(one.extents) > 1
        and (one.itemsize > WORD or (one.itemsize == WORD and (one.extents[-1] or 0) % 2 == 1))
        for one in declared
    )


def padded_in_vain(source: str, line: int) -> bool:
    """Whether a line is about arrays in shared memory that a word more in each row helps nothing, or that are accessed
    several words at once, from places that would be no multiples of as many."""
    source = without_other_kernels(source, line)
    arrays = [name for stored in (True, False) for name in arrays_in(source, line, "shared", stored)]
    return _past_padding(_declared(source, arrays)) or any(widest(source, name) > WORD for name in arrays)


def pads(source: str) -> bool:
    """Whether an array in shared memory has rows of an odd number of words."""
    declared = (one for each in shared_arrays(source).values() for one in each)
    return any(one.itemsize == WORD and _past_padding([one]) for one in declared)


def _lanes_of_vectors(source: str, line: int, arrays: Collection[str]) -> int:
    """How many lanes are served at a time where elements are wider than a word, and a line takes them whole; else
    0."""
    sizes = {one.itemsize for one in _declared(source, arrays)}
    text = statement(source, line)
    of_part = any(re.search(rf"\b{array}\s*\[[^;=]*?\]\s*\.[xyzw]\b", text) for array in arrays)
    return BANKS_BYTES // sizes.pop() if len(sizes) == 1 and min(sizes) > WORD and not of_part else 0


def _accessed_at_once(source: str, line: int, arrays: tuple[str, ...]) -> int:
    """The most bytes that a thread accesses at once of arrays; where these are not known, of what a line indexes."""
    found = [widest(source, array) for array in arrays]
    pointers = () if arrays else arrays_in(source, line, "global", stored=False)
    return max((*found, *(pointee(source, line, name) for name in pointers)), default=0)


def _served_one_by_one(counters: Counters) -> int:
    """How many lanes of a load from shared memory want one bank; 0 where that is no whole number."""
    wavefronts, conflicts = (
        counters.get(counted["ld"], 0) for counted in (metrics.SHARED_WAVEFRONTS, metrics.SHARED_CONFLICTS)
    )
    lanes = wavefronts / max(wavefronts - conflicts, 1)
    return round(lanes) if abs(lanes - round(lanes)) < NEARLY else 0


def _turned(waste: _Waste, source: str, line: int, counters: Counters) -> str:
    """Of strided loads of an array whose indices another one has exchanged, that to exchange them again would have the
    other strided; "" of anything else. Strided stores cost more than strided loads, so that of those it is the way."""
    if waste.cycles is not _scattered or waste.stored(counters):
        return ""
    for array in waste.arrays(source, line, counters):
        if other := turned_against(source, line, array):
            return _THROUGH_TILE.format(array=array, other=other)
    return ""


def _side_by_side(waste: _Waste, source: str, line: int, arrays: tuple[str, ...]) -> str:
    """Of a thread whose elements lie side by side, that it takes them at once where they are a vector's, else so that
    those of a warp's lanes do; "" of any other."""
    found = ((array, beside_one_another(source, line, array)) for array in arrays)
    array, many = next((each for each in found if each[1] and waste.cycles is _scattered), ("", ""))
    if not many:
        return ""
    elements = int(many) if many.isdecimal() else numbers(source).get(many, 0)
    nbytes = elements * pointee(source, line, array)
    vectors = _VECTORS.get(nbytes) if elements > 1 else None
    rows = many in int_sizes(plain(source))[0]
    said = _AT_ONCE if vectors else _ALONG_ROWS if rows else _BY_ALL_THREADS
    return said.format(many=many, nbytes=nbytes, vectors=vectors)


def _prints(source: str, line: int) -> str:
    """Of a line that prints, that this is what costs; "" of any other."""
    return PRINTING.format(line=line) if line in lines_that_print(source) else ""


def _by_data(source: str, array: str) -> str:
    """Of an array that each thread has for itself and that data is an index of, how a block has one; "" of others."""
    if not (declared := indexed_by_data(source, array)):
        return ""
    return (_COUNTED_IN if adds_to(source, array) else _LOOKED_UP).format(array=array, declared=declared)


_UNKNOWN_INDEX = (
    "Keep `{array}` in registers: no register can be chosen by `{name}`, its index in line {line}, which is known only "
    "when the kernel runs. "
)
_COUNTED_UP = "Let the loop there go between constants and be unrolled, with its condition in an `if` inside."
_CHOSEN = "Index it with constants only, in loops that are unrolled."

PRINTING = (
    "Line {line} prints: printf stores its arguments to local memory, and all threads wait for one buffer, which is "
    "counted with the rest. Take it out before the grade."
)

_OWN_COPY = (
    "`{array}` is a copy that each thread has for itself, and as its index is read from memory, no compiler keeps it "
    "in registers. Let a block have one, `__shared__ {declared}`: "
)
_COUNTED_IN = (
    f"{_OWN_COPY}its threads set the elements to 0, meet at a __syncthreads(), and add with "
    "atomicAdd(&{array}[…], …)."
)
_LOOKED_UP = f"{_OWN_COPY}its threads fill it together, and meet at a __syncthreads() before they read it."

_THROUGH_TILE = (
    "`{other}` has rows where `{array}` has columns: with the indices exchanged it would be strided in place of "
    "`{array}`. Let a block load a square along rows of `{array}` into a tile in shared memory, and store it along "
    "rows of `{other}`, reading the tile by columns."
)

_VECTORS: Mapping[int, str] = {8: "a float2 or a uint2", 16: "a float4 or a uint4"}
"""What is accessed at once, by its bytes."""

_BESIDE = (
    "The {many} elements of a thread lie side by side, so that neighbouring lanes of a warp access elements that are "
    "{many} apart. "
)
_AT_ONCE = (
    f"{_BESIDE}Let a thread access them at once, {{nbytes}} bytes as {{vectors}}, where all of them are inside of the "
    "array, and one by one at its end. The address has to be a multiple of {nbytes}."
)
_BY_ALL_THREADS = (
    f"{_BESIDE}Let a thread begin at its own number and go on by all threads of the grid, `i += gridDim.x * "
    "blockDim.x` with a size_t `i`, or of its block, so that at each step the lanes access neighbours."
)
_ALONG_ROWS = (
    f"{_BESIDE}They are one row: let the threads of a warp take neighbouring columns of a row, with threadIdx.x along "
    "the columns in place of the rows."
)

_WHOLE_WARPS = "A block has {threads}, and a warp is 32: let it have a multiple of 32, such as 256."

_ALONE = (
    "Thread 0 does this by itself, and the others of its block wait: let all of them share it. A sum they add in a "
    "tree, in each step of which half as many threads as before add what another one has."
)

NEARLY = 0.05
"""So far from a whole number may be what is counted where warps are not all whole."""

_ATOMICS = (
    "Let the 32 lanes of a warp update 32 different banks: change which lane takes which element of {array}"
)
_COPY_FOR_LANES = (
    f"{_ATOMICS}, or, where data says that, have a copy of {{array}} for each lane of a warp, and add the 32 copies up "
    "at the end."
)
_LAYOUT_OF_COPIES = (
    " Let the copies of one element lie beside one another: an index like `[element][lane]`, in rows of 32 words, so "
    "that the copy of a lane is in a bank of its own."
)
_LANE_LAST = (
    "Each lane has a copy already, but as the elements of a copy lie beside one another, data says in which bank each "
    "is. Exchange the two, so that the 32 copies of one element lie beside one another, and the copy of a lane is in a "
    "bank of its own: in line {line} `{after}` in place of `{before}`, and so wherever the array is declared and "
    "accessed."
)
_COPIES_APART = (
    "Each lane has a copy of {array} already, but as rows are {apart} words apart, data says in which bank it is. With "
    "rows 32 words apart the copy of a lane is in a bank of its own; where threads then go along rows, let each lane "
    "begin at another column and go round."
)
_ROUND = (
    "Rows of `{array}` are {apart} words apart, a multiple of 32, so that column `{column}` of all rows is in the same "
    "bank. Let each lane begin at another column and go round, where their order does not matter: `({thread} + "
    "{column}) % {many}` in place of `{column}`."
)
_DIFFERENT = "Let the 32 lanes of a warp access 32 different banks, or one and the same word: "
_BANKS = f"{_DIFFERENT}change which lane takes which element of {{array}}"
_NO_WORD_MORE = (
    "A word more in each row would have accesses of several words begin at no multiple of as many. Move elements "
    "within their row instead: by an index like `y ^ x` for column `y`, counted in such accesses."
)
_AS_VECTORS = ", or let a lane that takes several beside one another read them as {vectors}, each once"
PADDING = (
    f"{_DIFFERENT}pad the rows of {{array}} by one word (a column more, not a row), or change which lane takes which "
    "element."
)
_PLACES = (
    "Elements of {array} have {nbytes} bytes, so that {lanes} neighbouring lanes are served at a time: let the columns "
    "that they access differ modulo {lanes}, in rows of a multiple of {lanes} elements. Where neighbouring lanes take "
    "different rows, that is an index like `y ^ x` in place of column `y`, with an `x` that differs by one from lane "
    "to lane; an element is read at the place where it was stored."
)
_PADDING_OF_WIDE = (
    f"{_DIFFERENT}pad the rows of {{array}} by {{words}} words, as wide accesses need, or change which lane takes "
    "which element."
)

_WASTES = (
    _Waste(
        _conflicts,
        _says_conflicts,
        PADDING,
        "shared",
        _stores_conflict,
        measured=frozenset({"shared_conflicts", "shared_load_conflicts"}),
    ),
    _Waste(
        _excess,
        _says_excess,
        "Let neighbouring threads access neighbouring words of the other block's shared memory, as of global memory.",
    ),
    _Waste(
        _scattered,
        _says_scattered,
        "Let neighbouring threads access neighbouring elements of {array}: the index that threadIdx.x is added to "
        "should run fastest in memory.",
        "global",
        stores_scatter,
    ),
    _Waste(
        _scattered_atomics,
        _says_scattered_atomics,
        "Let each block add in a copy of {array} that it has for itself, in shared memory, and add the copy to {array} "
        "once, at its end.",
        "global",
        atomic=True,
    ),
    _Waste(
        _local,
        _says_local,
        "Keep {array} in registers: index it with constants only, in loops that are unrolled; where registers are "
        "spilled, let a thread work on less.",
        "local",
        _stores_to_local,
    ),
    _Waste(
        _idle,
        _says_idle,
        "Let whole warps take the same branch: put the threads that work side by side.",
    ),
)
