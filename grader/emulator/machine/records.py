"""What a launch leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader.emulator.places import GIVEN, UNKNOWN, Place

Shape = tuple[int, int, int]

Kind = Literal[
    "out_of_bounds",
    "misaligned",
    "uninitialised_shared",
    "uninitialised_global",
    "uninitialised",
    "undefined_shuffle",
    "race",
    "unfinished_copy",
    "unfinished_product",
    "unfenced_product",
    "absent_lanes",
    "stored_read_only",
    "barrier",
    "mbarrier",
    "proxy_fence",
    "absent_block",
    "tensor_map",
    "descriptor",
    "registers",
    "trap",
    "assert",
]
Tool = Literal["memcheck", "racecheck", "initcheck", "synccheck"]

TOOLS: Mapping[Kind, Tool] = {
    "out_of_bounds": "memcheck",
    "misaligned": "memcheck",
    "uninitialised_shared": "initcheck",
    "uninitialised_global": "initcheck",
    "uninitialised": "initcheck",
    "undefined_shuffle": "synccheck",
    "race": "racecheck",
    "unfinished_copy": "racecheck",
    "unfinished_product": "racecheck",
    "unfenced_product": "racecheck",
    "absent_lanes": "synccheck",
    "stored_read_only": "racecheck",
    "barrier": "synccheck",
    "mbarrier": "synccheck",
    "proxy_fence": "racecheck",
    "absent_block": "racecheck",
    "tensor_map": "memcheck",
    "descriptor": "memcheck",
    "registers": "synccheck",
    "trap": "memcheck",
    "assert": "memcheck",
}
"""The tool of NVIDIA's compute-sanitizer that each kind of finding belongs to."""

Space = Literal["global", "const", "shared", "local", "param", "generic"]
"""PTX's state spaces; "generic" for an address that lies in none of them."""

TracedSpace = Literal["global", "shared", "const"]
"""Those whose accesses are traced."""

Action = Literal["read", "write", "atomic"]
Scope = Literal["warp", "block", "cluster", "grid"]
Absence = Literal["not_begun", "ended", "no_such_block"]


@dataclass(frozen=True)
class Allocation:
    """A range of addresses: an allocation of global memory, a block's shared memory, a thread's local memory, the
    parameters of a kernel."""

    base: int
    nbytes: int


@dataclass(frozen=True)
class Access:
    """The other one of two threads that a finding is about, such as two that race, and what it did."""

    action: Action | None = None
    """None where it touches no memory."""
    place: Place = UNKNOWN
    block: Shape | None = None
    """None where it is another block, and not known which."""
    thread: Shape | None = None
    """None where it is not known, or where they are several warps."""
    any_of_warp: bool = False
    """It is some thread of the warp that begins with `thread`."""
    by_copy: bool = False
    """It is no thread, but a copy that a phase of an mbarrier waits for."""

    @property
    def line(self) -> int:
        return self.place.line


@dataclass(frozen=True)
class Arrivals:
    """A barrier of a block: its number, and how many threads have arrived of those it is for."""

    number: int
    arrived: int | None
    """None where the numbers themselves are what is wrong."""
    expected: int
    others_held: bool = False
    """As many as are missing wait for phases of mbarriers that never complete."""


PhaseFault = Literal["absent", "overrun", "refilled", "in_use", "arrivals", "skipped", "bytes", "parity"]


@dataclass(frozen=True)
class Phase:
    """What is wrong with a phase of an mbarrier."""

    fault: PhaseFault
    """There is no initialised mbarrier; more arrivals than it expects; an arrival while copies of the phase are still
    under way; it is initialised again in the middle of a phase; it never completes, for want of arrivals,
    also after phases that nobody waited for; other bytes than expected have arrived; the wait is for the parity of
    another phase."""
    arrived: int | None = None
    """Arrivals or bytes; None where none are counted."""
    expected: int | None = None
    number: int | None = None
    """Of the phase under way; the first is 0, and its parity is the number's lowest bit."""
    waited: int | None = None
    """Of the phase whose parity is waited for; -1: the one before the first."""
    initialised: Place = UNKNOWN
    """What has initialised the mbarrier, where it is known."""


DescriptorField = Literal["start address", "leading byte offset", "stride byte offset"]


@dataclass(frozen=True)
class Descriptor:
    """The descriptor of an operand of wgmma that leads out of shared memory; all numbers are bytes."""

    operand: Literal["A", "B"]
    field: DescriptorField
    """What leads there: the field that contributes most to the operand's last byte."""
    start: int
    leading: int
    stride: int
    swizzle: int
    """0 for none."""
    offset: int
    """The first place outside."""
    shared_bytes: int


@dataclass(frozen=True)
class Text:
    """What the source says of an access: plain text, without comments."""

    line: str
    index: str = ""
    """What the array is indexed by there; empty where that is not to be seen."""
    formed: str = ""
    """What that was last set to, of a variable."""
    condition: str = ""
    """The line of the condition that it stands behind."""
    compared: str = ""
    """How that compares a variable of the index, as `i < N`; empty where that is not to be seen."""
    bound: int | None = None
    """What it is compared with there, where that is known."""
    limit: str = ""
    """The same as the source has it; of a variable, what that was last set to."""
    one_of_several: bool = False
    """The braces of that condition have another line in which the array has another index."""
    signed_char: tuple[str, str, int] | None = None
    """The index is of signed bytes: their type, that type without sign, and the line in which it stands."""
    pointee: int = 0
    """Bytes of what the pointer points to that is indexed, or added to, there; 0 where that is not to be seen."""
    cast: str = ""
    """The type that the array's pointer is cast to; empty where it is not."""
    fills: str = ""
    """The array in shared memory that the line stores to; empty where it stores to none."""
    dynamic: bool = True
    """There may be arrays in shared memory whose size the launch gives."""
    declared: str = ""
    """Where and how an array in shared memory is declared, in words; empty of any other."""
    threads: int = 0
    """Threads of a block."""
    moved: str = ""
    """By what a line above has moved the pointer; empty where none has."""
    counted: str | None = None
    """The index as it counts from the array's beginning, with what has moved the pointer; empty where that is not to be
    seen, and None where nothing has."""
    goes_on: tuple[str, str, int] = ("", "", 0)
    """The pointer that is read or written through, how a line moves it on, and which; empty where none does."""
    in_bytes: bool = False
    """Something in the kernel is compared with the bytes of the array."""
    of_no_thread: str = ""
    """The index, `i = N`, where it is the same in all threads, which are several; empty where it is another."""
    given: bool = False
    """That condition is the task's own, and right."""
    most: int = 0
    """Elements of the largest array that the kernel is given."""


@dataclass(frozen=True)
class Finding:
    """Something a kernel did that it must not do: what is known of it, as data. Words are put to it elsewhere."""

    kind: Kind
    place: Place
    count: int
    """How often it happened, once a lane."""
    block: Shape | None = None
    """blockIdx and threadIdx of the first occurrence, in the order of the blocks; None where not known."""
    thread: Shape | None = None
    any_of_warp: bool = False
    """It is some thread of the warp that begins with `thread`."""
    action: Action | None = None
    """What the thread did to memory; None where the finding is about no access."""
    space: Space | None = None
    address: int | None = None
    """In shared and local memory and among parameters, the offset from their start."""
    size: int | None = None
    """Bytes of the access, where they are known."""
    allocation: Allocation | None = None
    """What the address lies in, in shared memory a variable; of an access out of bounds, the nearest, or all of the
    block's shared memory; None where there is nothing near."""
    array: str | None = None
    """The name of what is allocated there, where somebody knows it."""
    element: int | None = None
    """The address as an index into the flat array, which may lie outside; None without its type."""
    shape: tuple[int, ...] | None = None
    """Of the array, where it is known."""
    formed: tuple[str, ...] = ()
    """What its index is made of, and what that is in that thread, where somebody knows the source: `row = 32`."""
    dtype: str | None = None
    """Of the array's elements, as NumPy names it, where it is known."""
    stored: tuple[int | None, int | None] | None = None
    """Of an element of shared memory that nobody has written: the addresses of the nearest that somebody has, in the
    same array, before it and behind it."""
    one_each: int | None = None
    """Of such an element: the threads of the block, where each of them has written one and the array has more; or, of
    an array of two dimensions, those along y, where each has written in one row and there are more."""
    halo: int | None = None
    """Of such an element of an array of one dimension: how many there are on each side of those of the block's threads,
    one each, where it is one of them."""
    likewise: tuple[int, ...] = ()
    """And the other lines in which each thread takes the one of its number, where somebody knows the source."""
    written_later: bool = False
    """And whether another thread writes it, which nothing keeps from doing so only then, as a race has it."""
    exchanged: bool = False
    """Of such an element: it is read by the indices that the array is stored by, exchanged, where somebody knows the
    source."""
    elsewhere: bool = False
    """And what is read there is stored in global memory on a condition about another element than that."""
    filling: int | None = None
    """And the line of the loop around it each step of which fills a part of the array alone."""
    columns_of_rows: bool | None = None
    """Of such an element: whether there are two matrices of which one has as many rows as the other has columns, as
    where one is to be the other's transpose; None where they are square."""
    from_end: tuple[str, str] | None = None
    """Of such an element: its index is the number of elements less another number, `N` and `i`, which is 0 there, where
    somebody knows the source."""
    synchronised: bool = False
    """Of such an element: a barrier stands between this read and the line that stores to the array."""
    allocated: tuple[str, Place] | None = None
    """The call that made the allocation, and where, where somebody knows it."""
    hollow: tuple[str, Place] | None = None
    """The copy to it of what nobody had written on the host, either, and where."""
    own_atomic: tuple[str, int, str, int] | None = None
    """Of a trap: an array or a variable of each thread's own, `counts[]` or `count`, where it is declared, an atomic
    function that is called for it, and where, as far as somebody knows the source."""
    returned: int | None = None
    """The line of a `return` by which threads of the block have left that are missing here, where somebody knows it."""
    only_if: int | None = None
    """Of a barrier: the line of the condition whose body it stands in, where somebody knows the source."""
    steps: tuple[tuple[str, int], ...] = ()
    """Of a race within a line that adds another element to one, in no loop: that line without its end and its number,
    and those that do likewise beside it, where somebody knows the source."""
    uneven_loop: int | None = None
    """Of a barrier: the line of a loop around it whose head depends on the thread, where somebody knows the source."""
    accumulates: bool = False
    """Of a race: by its line threads add to what lies there (`+=`, `++`), as far as somebody knows the source."""
    in_turn: bool = False
    """Of a race: no loop has both of its lines, so that a barrier between them is all that it lacks, where somebody
    knows the source."""
    barrier_between: tuple[int, int] | None = None
    """Of such a race: the lines between which a barrier is in no body of a condition around one of both alone."""
    clears: int | None = None
    """Of a race: which of its lines sets the element to 0, or, where one is not known, of the kernel's, where somebody
    knows the source."""
    declared: tuple[str, bool, bool] | None = None
    """Of a race for a variable of the file's own, in global memory, that was to be a thread's or a block's: the words
    that put it there, `static`; whether that is inside a function; and whether it is an array. None of any other, or
    where that is not to be seen."""
    lacks_block: str = ""
    """Of a race between blocks: the component of blockIdx in which they differ, `blockIdx.x`, where the index of what
    is stored is seen to have nothing of it; empty where that is not to be seen."""
    lacks_thread: tuple[str, str] | None = None
    """Of a race within a block to an array of which its threads are to store more elements than that index has places
    for: the index, `i = col`, and the component of threadIdx that it is seen to have nothing of; None where that is not
    to be seen."""
    apart: bool = False
    """Of such a race: there is nothing by which threads of its kernel know what others have found, where somebody knows
    the source."""
    rows_of: str | None = None
    """Of an access out of bounds: the size that its index takes for the length of a row, where somebody knows the
    source, and that rows have another."""
    uneven_rows: str = ""
    """Of an access of several elements at once: the size, `N`, of the rows that its index counts, where it is no
    multiple of as many, and somebody knows the source."""
    guarded: int | None = None
    """Of an access out of bounds: the line of a condition that it stands behind, where somebody knows the source."""
    guarded_later: int | None = None
    """Of one that stands behind none: the line of a condition behind it that looks at its index."""
    wrapped: bool = False
    """Of such an access: its index, of 32 bits without a sign, was to be below 0; the address is as if it were."""
    text: Text | None = None
    """Of such an access, where somebody knows the source."""
    indexed_as: str | None = None
    """Of such an access: a longer array that has the same index in that line, where somebody knows the source."""
    extent: str = ""
    """Of an access out of bounds to an array of one dimension: the only size of the problem that is as large, where
    somebody knows it."""
    one_suffices: bool = False
    """That condition lets a thread through of whose indices but one is inside."""
    launched: tuple[int, int] | None = None
    """Of such an access: blocks, and threads of each, where they are more than an int counts."""
    before: tuple[int, int] | None = None
    """Of a box that is stored: a dimension in which it begins in front of its tensor, 0 the innermost, and where."""
    in_heap: bool = False
    """Of an access out of bounds: it lies in the heap of malloc() and new, outside of all that they have given."""
    no_texture: bool = False
    """Of an access out of bounds: the address is taken for a texture object's handle, and there is none."""
    scope: Scope | None = None
    """Of a race: the smallest group of threads that both accesses belong to."""
    of_block: bool = False
    """Of such a race: one of the two accesses is atomic for threads of its own block alone."""
    blocks_wait: bool = False
    """Of a race: the kernel has means by which one block can wait for another."""
    fences: Scope | None = None
    """Of such a race: and means to make known what a block has stored, to its own threads or to the grid's."""
    spins: bool = False
    """Of such a race: and a loop in which it waits."""
    other: Access | None = None
    """Of a race, the access it is with; of an unfinished copy, the copy. Of a barrier, whoever waits at another one."""
    arrivals: Arrivals | None = None
    """Of a barrier that never opens, or whose number of threads is not one."""
    phase: Phase | None = None
    """Of an mbarrier."""
    registers: tuple[int, int] | None = None
    """Of setmaxnreg: how many the block's warps have in the end, and how many the block began with."""
    descriptor: Descriptor | None = None
    block_ends: bool = False
    """Of an unfinished copy from shared memory: its block ends, and nothing has waited until it has read its source."""
    instruction: str | None = None
    """Of absent lanes, what they are missing from, such as "shfl.sync"; of a value that nobody has defined, what it
    shows in; of a register of an unfinished product, what touches it; of an access by the host, "printf" or "free"; of
    a texture, such as "tex.2d"; of a missing proxy fence what reads, "cp" or "wgmma"; of a box that begins at a
    misaligned place, TENSOR_COPY; of a race in shared memory, BULK_COPY where one writes there."""
    assertion: str | None = None
    """The text of the assertion that failed, and the function it stands in."""
    function: str | None = None
    owner: Shape | None = None
    """Of an access to shared memory by way of its cluster: the block whose shared memory it is."""
    absence: Absence | None = None
    """What is wrong with that block at that time: it may not have begun, may have ended, or its rank is none."""

    @property
    def line(self) -> int:
        """Of its place; 0 where that is not known."""
        return self.place.line


TENSOR_COPY = "cp.async.bulk.tensor"
"""What copies a box."""
BULK_COPY = "cp.async.bulk"
"""What copies, by itself, what may be a box."""
WORD, SECTOR = 4, 32
"""Bytes of a word, and of a sector."""
WORDS = SECTOR // WORD
"""Of a sector."""


@dataclass(frozen=True)
class Counted:
    """What a place in the source has caused, by Nsight Compute's metric name."""

    place: Place
    counters: dict[str, int]


def by_line(counted: Iterable[Counted]) -> dict[int, dict[str, int]]:
    """What the lines of the file that was given to the compiler have caused, in their order; 0 is all that is in no
    such line."""
    found: dict[int, dict[str, int]] = {}
    for item in counted:
        into = found.setdefault(item.place.line if item.place.file == GIVEN else 0, {})
        for name, value in item.counters.items():
            into[name] = into.get(name, 0) + value
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Touched:
    """What sampled blocks of a launch have loaded and stored of one allocation, in bytes of distinct words."""

    base: int
    read_bytes: int
    written_bytes: int
    most_read_bytes: int
    """The most that one block has added to that."""
    most_written_bytes: int
    only_read_bytes: int
    """Loaded, and not stored by any of these blocks."""
    words: tuple[int, ...]
    """Some of the words that were stored, by their place in the allocation."""
    array: str | None = None
    """The name of what is allocated there, where somebody knows it."""
    read_elsewhere: int = 0
    """Blocks that added something to what was read of other allocations, and nothing to what was read of this one."""
    written_elsewhere: int = 0


@dataclass(frozen=True)
class Accessed:
    """What a traced block has accessed of one array, in one way. Bytes are pairs (first, last + 1) from the array's
    beginning, ascending and apart."""

    space: TracedSpace
    action: Action
    base: int
    """The address of the array; in shared memory its offset."""
    nbytes: int
    """Of the array."""
    block: tuple[int, ...]
    """By all threads of the block."""
    warp: tuple[int, ...]
    """By one instruction of warp 0: the first of those in which the most lanes take part."""
    thread: tuple[int, ...]
    """By thread (0, 0, 0), over its life."""
    array: str | None = None
    """Its name, where somebody knows it."""


@dataclass(frozen=True)
class Origin:
    """The first operation of a launch whose result is an infinity, or NaN, while no operand is."""

    place: Place
    opcode: str
    """PTX's, such as div.rn.f32."""
    operands: tuple[str, ...]
    """Six digits; among those of what made a NaN may be inf and -inf, which JSON has no number for."""
    of_exponential: bool
    """It is ex2, or as in expf a product of that and a power of two."""
    block: Shape
    thread: Shape


NOT_COMPLETED = {
    "trap": "the kernel trapped",
    "starved": "every block that the device holds at a time waits, and the others cannot begin: for one of those?",
    "waiting in vain": "every block waits for what no other does: a flag that nobody sets?",
    "budget exhausted": "the kernel used up its instruction budget: an endless loop?",
    "launch budget exhausted": (
        "the blocks used up their instruction budget together: a grid far too large, or all the work in each thread?"
    ),
    "calls exhausted": "the kernel called the host too often: printf, malloc or free in a loop?",
    "repeating": "threads stored again what others had stored, over and over: all the work in each block?",
    "deadlock": "the kernel deadlocked at a barrier",
}
"""What became of a launch that has not come to its end, by its record's status."""


@dataclass(frozen=True)
class LaunchRecord:
    """One launch: what ran, what it counted, what was wrong with it."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    """Static and dynamic, per block."""
    registers: int
    """Per thread, as ptxas allotted them."""
    status: str
    """"completed", "budget exhausted" by a block, "launch budget exhausted" by all together, "calls exhausted" by calls
    of the host that take as long as these, "repeating" of one
    that was stopped because it stored again and again what other threads had stored, "deadlock", "trap", or
    "starved": all blocks wait, and more cannot begin; "waiting in vain": all wait, and none is left to begin."""
    counters: dict[str, int]
    """By Nsight Compute's metric name."""
    lines: tuple[Counted, ...]
    """The same by place in the source; one is there only with what it caused."""
    findings: tuple[Finding, ...]
    blocks_run: int
    grid_blocks: int
    dram_read_bytes: int
    """Distinct 32-byte sectors loaded by the launch: what a cold, large enough L2 fetches."""
    dram_write_bytes: int
    l2_read_bytes: int
    """Sectors that a block loads for the first time, or again after others that fill its share of the L1 cache, summed
    over blocks."""
    l2_write_bytes: int
    """Sectors stored: L1 passes every store on."""
    l2_common_bytes: int
    """Of l2_read_bytes, what a block loads for the first time and one before it has loaded: the L1 cache of a
    multiprocessor that has run both may still have it."""
    longest_warp: int
    """Warp instructions of the warp that executed the most."""
    longest_block: int
    """Those of all warps of the block that executed the most."""
    most_loaded_bytes: int
    """Of global memory, by the block that loaded the most different sectors; bulk copies are not counted."""
    load_path: int
    """Sectors loaded one after the other, on the longest path of a block on which warps wait for each other, summed
    over blocks; asynchronous copies are not counted."""
    shared_used_bytes: int
    """Of its shared memory, what a block has read, or updated by atomics: the most that one did."""
    reads_beside_writes: int
    """Requests that have read shared memory between two barriers between which the block has written there as well, or
    had copies by cp.async under way."""
    copies_beside_reads: int
    """Requests by cp.async beside which the warp that issued them has read shared memory: of all, the share that its
    reads are while copies are under way; and those of warps that read nothing there, which copy for others."""
    bulk_beside_reads: int
    """Bulk copies to shared memory, of each block the share that its reads are while such copies are under way. The
    emulator runs what waits in turns, which ends most copies early: beside the first ones of a ring they go on."""
    communicates: bool
    """Its blocks may see in which order they run: threads have met in global memory, or atomics are used."""
    may_wait: bool
    """Its code may have a block wait until another has written something."""
    touched: tuple[Touched, ...] = ()
    """Where blocks were sampled."""
    local_bytes: int = 0
    """Local memory a thread, as ptxas allotted it, with registers that it has spilled."""
    atomics_a_word: float = 0.0
    """How many atomics of the whole grid update a word of global memory, on average over those that any updates."""
    accessed: tuple[Accessed, ...] = ()
    """By the traced block, in the order in which it began to."""
    first_infinity: Origin | None = None
    """Made by arithmetic of finite numbers, where that was watched."""
    first_nan: Origin | None = None
    """Made by arithmetic of numbers, where that was watched."""
    host_calls: dict[str, int] = field(default_factory=dict)
    """Of printf, malloc and free, once a thread, where there were any."""
