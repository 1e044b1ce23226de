"""wgmma: products of a warpgroup, whose operand B, and mostly A, lies in shared memory (PTX ISA 9.7.15).

Each of the four warps computes 16 of the 64 rows, by itself: it needs nothing of the other three. A product is carried
out when it is issued. Until the wait that covers its group, the shadow of shared memory says that its operands are
being read, so that a store which comes too early shows; codegen/unfinished.py does the same for registers.

Sums of FP8 are formed as those of halves are (products.py). An H200 keeps fewer bits of them: 13 behind the
leading one of the largest term, measured by benchmarks/gpu_results.py; so does DeepSeek-V3's report (arXiv 2412.19437,
section 3.5.2) say, with about 14 bits in all.
"""

from __future__ import annotations

from numba import float64, int64, uint32

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ANY_WARP,
    BAD_DESCRIPTOR,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    CLOCK,
    CLUSTER_SIZE,
    G_COLUMN,
    G_COUNT,
    G_DESCRIPTOR,
    G_FIRST,
    G_GROUP,
    G_SLOTS,
    LOAD,
    NEVER,
    PRODUCT_QUEUE,
    RANK,
    RANK_SHIFT,
    RUNNING,
    SEVERAL,
    SHADOW_READERS,
    SHADOW_READS,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_HOST,
    UNFENCED,
    W_HELD,
    W_PRODUCT_DONE,
    W_PRODUCT_FIRST,
    W_PRODUCT_GROUPS,
    W_PRODUCT_NEXT,
    W_STATUS,
    WAITING,
    WARP,
    WARP_BYTES,
    WARP_SHIFT,
    WARP_STATES,
    WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import accessor, other_access
from grader.emulator.runtime.races.knowledge import known
from grader.emulator.runtime.races.ordering import sync_clock
from grader.emulator.runtime.sharedmem import _shadow_load, is_known
from grader.emulator.runtime.spaces.shared_use import note_use
from grader.emulator.runtime.tensor.forms import BF16, F16, TF32
from grader.emulator.runtime.tensor.operands import accumulator_bytes, dense_a, element, packed_in
from grader.emulator.runtime.tensor.products import multiply
from grader.emulator.runtime.tensor.vectors import COLUMNS, make_widen
from grader.emulator.runtime.transactions.proxies import lacks_fence
from grader.emulator.runtime.transactions.waits import resume

_halves_in_row, _halves_in_column = make_widen(F16, 1), make_widen(F16, COLUMNS)
_bf16_in_row, _bf16_in_column = make_widen(BF16, 1), make_widen(BF16, COLUMNS)
_tf32_in_row, _tf32_in_column = make_widen(TF32, 1), make_widen(TF32, COLUMNS)

CHUNK = 16
"""Bytes that stay together whatever the swizzle."""


@native
def chunk_offset(descriptor: int, along: int, across: int, column: int) -> int:
    """Where 16 bytes of an operand lie in shared memory: those from byte `along` of its contiguous dimension, at index
    `across` of the other. `column`: contiguous are rows of A or columns of B, not k.

    Eight rows of 16, 32, 64 or 128 bytes, as the swizzle is wide, make a block. Blocks follow each other by the leading
    dimension's offset where a row goes on, by the stride dimension's below each other; without a swizzle, and k not
    contiguous, the two change roles (CUTLASS, make_gmma_desc). A swizzle of 2^B chunks exchanges chunks of a row: the B
    bits of the address from bit 4 are combined by exclusive or with those from bit 7.
    """
    start = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    mode = descriptor >> 62 & 3
    bits = int64(4) if mode == 0 else 8 - mode  # of a place in a row
    row = int64(1) << bits
    if column and mode == 0:
        leading, stride = stride, leading
    offset = (
        start + (along & row - 1) + (along >> bits) * leading + (across & 7) * row + (across >> 3) * stride
    )
    phase = (offset >> 7) - (descriptor >> 49 & 7)
    return offset ^ (phase & (row >> 4) - 1) << 4


@native
def _chunk(descriptor: int, first: int, number: int, column: int) -> int:
    """The place of chunk `number` of the rows (of B: columns) from `first` on: two for each of them."""
    if column:
        return chunk_offset(descriptor, 2 * (first + number // 16 * 8), number % 16, int64(1))
    return chunk_offset(descriptor, number % 2 * CHUNK, first + number // 2, int64(0))


@native
def _inside(context: int, offset: int) -> bool:
    """Whether a chunk lies in shared memory."""
    return offset >= 0 and offset + CHUNK <= pointer(context, int64)[SHARED_BYTES]


@native
def _look(context: int, site: int, index: int, known_write: int, offset: int) -> int:
    """A granule that is read may have been written by others. Returns the record of a write that the warp knows."""
    c = pointer(context, int64)
    write = pointer(c[SHADOW_WRITES], int64)[index]
    if lacks_fence(context, write):
        note(context, site, UNFENCED, int64(SEVERAL), offset, other_access(write))
    if c[BLOCK_CLOCK] << ACCESSOR_BITS <= write < c[BARRIER_CLOCK] << ACCESSOR_BITS and c[CLUSTER_SIZE] == 1:
        return known_write
    if is_known(context, write):
        return write
    _shadow_load(context, site, index, int64(SEVERAL), sync_clock(context), offset)
    return known_write


@native
def _widen_row(source: int, kind: int, target: int) -> None:
    """The elements of a chunk of halves, BF16 or TF32 as doubles, one behind the other."""
    if kind == F16:
        _halves_in_row(source, target)
    elif kind == BF16:
        _bf16_in_row(source, target)
    else:
        _tf32_in_row(source, target)


@native
def _widen_column(source: int, kind: int, target: int) -> None:
    """The same, in a column of rows of 8."""
    if kind == F16:
        _halves_in_column(source, target)
    elif kind == BF16:
        _bf16_in_column(source, target)
    else:
        _tf32_in_column(source, target)


@native
def _element_by_element(source: int, kind: int, target: int, apart: int) -> None:
    """The elements of a chunk as doubles, `apart` from each other."""
    words, to = pointer(source, uint32), pointer(target, float64)
    packed = packed_in(kind)
    for index in range(4 * packed):
        to[index * apart] = element(int64(words[index // packed]), kind, index % packed)


@native
def _dense(
    context: int, site: int, descriptor: int, kind: int, column: int, first: int, count: int, target: int, is_b: bool,
    known_write: int,
) -> int:  # fmt: skip
    """`count` rows of A, one behind the other, or columns of B, side by side, from `first` on as doubles; zeros for
    what lies outside of shared memory. Each chunk is checked, and marked as being read. `known_write` is the record of
    a write that the warp knows, which most have that one copy has written; returned is such a record.
    """
    c = pointer(context, int64)
    writes, reads = pointer(c[SHADOW_WRITES], int64), pointer(c[SHADOW_READS], int64)
    readers, warps, shift = c[SHADOW_READERS] + c[WARP] * 8, c[WARPS] * 8, c[SHADOW_SHIFT]
    in_part, host = c[SHADOW_READERS] != 0, c[SHARED_HOST]
    under_way = NEVER + c[BLOCK_CLOCK]
    me = (under_way << ACCESSOR_BITS) | accessor(context, site) & ((1 << ACCESSOR_BITS) - 1) | SEVERAL
    any_warp = int64(ANY_WARP << WARP_SHIFT)
    packed = packed_in(kind)
    step, step_k = (int64(1), int64(COLUMNS)) if is_b else (8 * packed, int64(1))
    for number in range(2 * count):
        offset = _chunk(descriptor, first, number, column)
        at = target + (number // 2 * step + number % 2 * 4 * packed * step_k) * 8
        apart = step_k
        if column:
            at = target + (number // 16 * 8 * step + number % 16 * step_k) * 8
            apart = step
        if not _inside(context, offset):
            place = (
                offset | int64(is_b) << 32 | column << 33 | int64(1) << 34
            )  # the last: no block of a cluster
            note(context, site, BAD_DESCRIPTOR, int64(SEVERAL), place, descriptor)
            for index in range(4 * packed):
                pointer(at, float64)[index * apart] = 0.0
            continue
        for index in range(offset >> shift, (offset + CHUNK - 1 >> shift) + 1):
            if writes[index] != known_write:
                known_write = _look(context, site, index, known_write, offset)
            read = reads[index]
            others = read >> ACCESSOR_BITS == under_way and (read ^ me) & any_warp
            reads[index] = me | any_warp if others else me
            if in_part:
                pointer(readers + index * warps, int64)[0] = under_way
        if column or packed > 2:
            _element_by_element(host + offset, kind, at, apart)
        elif is_b:
            _widen_column(host + offset, kind, at)
        else:
            _widen_row(host + offset, kind, at)
    return known_write


# -- what is under way ------------------------------------------------------------------------------------------------


@native
def _enqueue(
    context: int, warp: int, queue: int, descriptor: int, column: int, first: int, count: int
) -> None:
    """Notes an operand in shared memory that is being read; of too many, the oldest counts as read."""
    w = pointer(warp, int64)
    if w[W_PRODUCT_NEXT] - w[W_PRODUCT_FIRST] == PRODUCT_QUEUE:
        w[W_PRODUCT_FIRST] += 1
    u = pointer(warp + queue + w[W_PRODUCT_NEXT] % PRODUCT_QUEUE * G_SLOTS * 8, int64)
    w[W_PRODUCT_NEXT] += 1
    u[G_GROUP] = w[W_PRODUCT_GROUPS] + 1
    u[G_DESCRIPTOR] = descriptor
    u[G_COLUMN] = column
    u[G_FIRST] = first
    u[G_COUNT] = count


@native
def _is_reading(warp: int, queue: int, descriptor: int, first: int) -> bool:
    """Whether a warp has an operand under way."""
    w = pointer(warp, int64)
    for entry in range(w[W_PRODUCT_FIRST], w[W_PRODUCT_NEXT]):
        u = pointer(warp + queue + entry % PRODUCT_QUEUE * G_SLOTS * 8, int64)
        if u[G_DESCRIPTOR] == descriptor and u[G_FIRST] == first:
            return True
    return False


@native
def _others_read(context: int, warp: int, queue: int, descriptor: int, first: int) -> bool:
    """Whether another warp of the block has the same operand under way."""
    c = pointer(context, int64)
    for number in range(c[WARPS]):
        other = c[WARP_STATES] + number * c[WARP_BYTES]
        if other != warp and _is_reading(other, queue, descriptor, first):
            return True
    return False


@native
def _finish(context: int, number: int, queue: int, done: int) -> None:
    """What a warp's products up to group `done` read has been read."""
    c = pointer(context, int64)
    warp = c[WARP_STATES] + number * c[WARP_BYTES]
    w = pointer(warp, int64)
    while w[W_PRODUCT_FIRST] < w[W_PRODUCT_NEXT]:
        u = pointer(warp + queue + w[W_PRODUCT_FIRST] % PRODUCT_QUEUE * G_SLOTS * 8, int64)
        if u[G_GROUP] > done:
            return
        w[W_PRODUCT_FIRST] += 1
        if not _is_reading(warp, queue, u[G_DESCRIPTOR], u[G_FIRST]):
            others = _others_read(context, warp, queue, u[G_DESCRIPTOR], u[G_FIRST])
            _read(context, number, u[G_DESCRIPTOR], u[G_COLUMN], u[G_FIRST], u[G_COUNT], others)


@native
def _read(
    context: int, warp: int, descriptor: int, column: int, first: int, count: int, by_others: bool
) -> None:
    """Rows were read by a warp: now, as far as a later store is concerned; `by_others`: others still read them."""
    c = pointer(context, int64)
    reads, clock, shift = pointer(c[SHADOW_READS], int64), c[CLOCK], c[SHADOW_SHIFT]
    readers, warps, in_part = c[SHADOW_READERS] + warp * 8, c[WARPS] * 8, c[SHADOW_READERS] != 0
    under_way = NEVER + c[BLOCK_CLOCK]
    fields = (1 << ACCESSOR_BITS) - 1
    for chunk in range(2 * count):
        offset = _chunk(descriptor, first, int64(chunk), column)
        if not _inside(context, offset):
            continue
        for index in range(offset >> shift, (offset + CHUNK - 1 >> shift) + 1):
            if not by_others and reads[index] >> ACCESSOR_BITS == under_way:
                reads[index] = (clock << ACCESSOR_BITS) | reads[index] & fields
            if in_part:
                pointer(readers + index * warps, int64)[0] = clock


@native
def wgmma_ready(context: int, warp: int, pending: int) -> int:
    """In front of a wait for all groups but the last `pending`: 0 while another warp of the warpgroup can still issue
    its part of them. A product is the four warps' together, and so is its group."""
    c = pointer(context, int64)
    wanted = pointer(warp, int64)[W_PRODUCT_GROUPS] - pending
    first = c[WARP] // 4 * 4
    for number in range(first, min(first + 4, c[WARPS])):
        other = pointer(c[WARP_STATES] + number * c[WARP_BYTES], int64)
        if other[W_PRODUCT_GROUPS] < wanted:
            if other[W_STATUS] == WAITING and other[W_HELD]:
                resume(context, int64(number), False)
            if other[W_STATUS] == RUNNING:
                return int64(0)
    return int64(1)


@native
def wgmma_wait(context: int, warp: int, queue: int, pending: int) -> None:
    """Finishes all groups but the last `pending`, of the whole warpgroup."""
    c, w = pointer(context, int64), pointer(warp, int64)
    knows, block = known(context, c[WARP]), c[RANK] << RANK_SHIFT
    w[W_PRODUCT_DONE] = max(w[W_PRODUCT_DONE], w[W_PRODUCT_GROUPS] - pending)
    first = c[WARP] // 4 * 4
    for number in range(first, min(first + 4, c[WARPS])):
        _finish(context, int64(number), queue, w[W_PRODUCT_DONE])
        if number != c[WARP]:  # and this warp knows it
            knows[block + number] = max(knows[block + number], c[CLOCK] + 1)
    c[CLOCK] += 1


@native
def wgmma(
    context: int, site: int, warp: int, queue: int, a: int, a_descriptor: int, b_descriptor: int, d: int,
    a_kind: int, b_kind: int, d_kind: int, n: int, adds: int, negates: int, a_column: int, b_column: int,
    scratch: int,
) -> None:  # fmt: skip
    """The running warp's 16 rows of d = ±a · b + d, or of ±a · b where `adds` is 0.

    `a` points to registers, or is 0 where A has a descriptor; `a_column`, `b_column`: not k is contiguous in shared
    memory. Fragments lie as those of mma.m16n8, those of d one for each 8 columns. `scratch` has room for 24 · k + 8
    doubles.
    """
    c = pointer(context, int64)
    depth = 8 * packed_in(a_kind)
    left = pointer(scratch, float64)
    right = scratch + 16 * depth * 8
    known_write = int64(1)  # no record, whose clock is never 0
    note_use(context, int64(LOAD))
    if a:
        dense_a(a, a_kind, int64(16), depth, left)
    else:
        first = c[WARP] % 4 * 16
        known_write = _dense(
            context, site, a_descriptor, a_kind, a_column, first, int64(16), scratch, False, known_write
        )
        _enqueue(context, warp, queue, a_descriptor, a_column, first, int64(16))
    if negates:
        for index in range(16 * depth):
            left[index] = -left[index]
    columns = accumulator_bytes(d_kind, int64(16))
    if not adds:
        sums = pointer(d, uint32)
        for index in range(n // 8 * columns // 4):
            sums[index] = 0
    for block in range(n // 8):
        known_write = _dense(
            context,
            site,
            b_descriptor,
            b_kind,
            b_column,
            int64(8 * block),
            int64(8),
            right,
            True,
            known_write,
        )
        target = d + block * columns
        multiply(scratch, right, int64(16), depth, target, d_kind, target, d_kind)
    _enqueue(context, warp, queue, b_descriptor, b_column, int64(0), n)
