"""Address patterns: how many sectors or bank wavefronts a warp's addresses take, looked up or worked out.

Lanes of a warp mostly access memory in the same shape again and again, only elsewhere. A shape (lane offsets from
the first active lane, mask, width, phase) is therefore worked out once and kept in a table.

Sectors: distinct 32-byte pieces of memory, whatever the lanes' order. Lines: distinct 128-byte pieces, of which L1
looks up four a clock (benchmarks/l1.cu). Wavefronts of its data: the most distinct words in one of the 32 banks,
whatever the lines they lie in.

Wavefronts of shared memory, as an H200 counts them: accesses up to 4 bytes a lane take as many wavefronts as the most
distinct words in one of the 32 banks; 8-byte accesses serve each half-warp by itself and 16-byte ones each
quarter-warp. Neighbouring groups of a load are served together where every lane i has the address of lane i^1, or every
lane that of i^2.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint8

from grader.emulator.runtime.layout import (  # fmt: skip
    ALONE,
    FULL,
    LANES,
    P_ALIGNED,
    P_GROUPS,
    P_HIGHEST,
    P_ITEM_LANES,
    P_ITEM_OFFSETS,
    P_ITEM_SHARES,
    P_ITEM_WORDS,
    P_ITEMS,
    P_LINES,
    P_LOWEST,
    P_MASK,
    P_OFFSETS,
    P_PHASE,
    P_RUN,
    P_SECTORS,
    P_TOGETHER,
    P_WIDTH,
    PATTERN_ENTRY,
    PATTERN_TABLE,
    SEVERAL,
    STORE_PHASE,
)
from grader.emulator.runtime.native import pointer, trailing_zeros
from grader.emulator.runtime.options import native

NOWHERE = -1 << 62  # no sector of any shape


@native
def fill_inactive(addresses: int, mask: int) -> int:
    """Gives lanes outside the mask the first active lane's address, so that they never matter."""
    a = pointer(addresses, int64)
    first = a[trailing_zeros(mask)]
    if mask != FULL:
        for lane in range(LANES):
            if not (mask >> lane) & 1:
                a[lane] = first
    return first


@native
def find_pattern(
    table: int, addresses: int, first: int, mask: int, width: int, phase: int
) -> tuple[int, bool]:
    """The table's entry for this shape, and whether it already holds it."""
    a = pointer(addresses, int64)
    key = (a[1] - first) * 0x9E3779B1 + (a[16] - first) * 0x85EBCA6B + (a[31] - first) * 0xC2B2AE35
    key = (key ^ (mask * 0x27D4EB2F)) + phase * 0x165667B1 + width
    slot = (key ^ (key >> 15) ^ (key >> 31)) & (PATTERN_TABLE - 1)
    entry = table + slot * PATTERN_ENTRY * 8
    e = pointer(entry, int64)
    different = (e[P_MASK] ^ mask) | (e[P_WIDTH] ^ width) | (e[P_PHASE] ^ phase)
    for lane in range(LANES):
        different |= (a[lane] - first) ^ e[P_OFFSETS + lane]
    return entry, different == 0


@native
def _describe(entry: int, addresses: int, first: int, mask: int, width: int, phase: int) -> None:
    """What sectors and wavefronts have in common: the key, the extent, the alignment."""
    a = pointer(addresses, int64)
    e = pointer(entry, int64)
    e[P_MASK] = mask
    e[P_WIDTH] = width
    e[P_PHASE] = phase
    lowest = int64(0)
    highest = int64(0)
    ragged = int64(0)
    for lane in range(LANES):
        offset = a[lane] - first
        e[P_OFFSETS + lane] = offset
        lowest = min(lowest, offset)
        highest = max(highest, offset)
        ragged |= offset
    e[P_LOWEST] = lowest
    e[P_HIGHEST] = highest
    e[P_ALIGNED] = 1 if (ragged & (width - 1)) == 0 else 0


@native
def sector_words(address: int, width: int) -> int:
    """The words of its sector that an access of `width` bytes touches, a bit each."""
    return (((int64(1) << (max(width, 4) >> 2)) - 1) << ((address & 31) >> 2)) & 255


@native
def lane_share(lane: int) -> int:
    """The share of a lane that has a sector to itself, whatever it accesses there."""
    return int64(ALONE + lane)


@native
def _run_share(e: Any, lane: int) -> int:
    """The share of lanes that follow each other as what they access does: its width, and which lane is the first, or
    would be if the others began in the sector before."""
    width = trailing_zeros(e[P_WIDTH])
    return width << 6 | (LANES + lane - (((e[P_PHASE] + e[P_OFFSETS + lane]) & 31) >> width))


@native
def _joined(e: Any, share: int, lane: int) -> int:
    """The share that others have in a sector together with a lane: -1 where they do not follow each other."""
    joining = _run_share(e, lane)
    present = _run_share(e, share - ALONE) if share >= ALONE else share
    return joining if joining == present else int64(-1)


@native
def describe_global(entry: int, addresses: int, first: int, mask: int, width: int, phase: int) -> None:
    """Works out the distinct sectors of a shape; sector 0 is the one the first active lane begins in."""
    _describe(entry, addresses, first, mask, width, phase)
    e = pointer(entry, int64)
    count = int64(0)
    for i in range(LANES):
        e[P_ITEM_OFFSETS + i] = NOWHERE
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        sector = (phase + e[P_OFFSETS + lane]) >> 5
        words = sector_words(phase + e[P_OFFSETS + lane], width)
        known = int64(0)  # its place in the list, plus 1; loops over a whole list become vectors
        for i in range(LANES):
            known += int64(e[P_ITEM_OFFSETS + i] == sector) * (i + 1)
        if known:
            e[P_ITEM_WORDS + known - 1] |= words
            e[P_ITEM_SHARES + known - 1] = _joined(e, e[P_ITEM_SHARES + known - 1], lane)
        else:
            e[P_ITEM_OFFSETS + count] = sector
            e[P_ITEM_WORDS + count] = words
            e[P_ITEM_SHARES + count] = lane_share(lane)
            count += 1
    e[P_ITEMS] = count
    e[P_SECTORS] = count
    e[P_GROUPS] = _most_words_of_a_bank(entry)
    e[P_LINES] = 0
    e[P_TOGETHER] = 1 if _is_shared(e, mask) else 0


@native
def _most_words_of_a_bank(entry: int) -> int:
    """The most distinct words of a shape that lie in one of L1's 32 banks, wherever it begins."""
    e = pointer(entry, int64)
    most = int64(0)
    for group in range(4):  # of banks, which sectors four apart share
        words = int64(0)  # a byte a bank
        for i in range(e[P_ITEMS]):
            words += _by_bytes(e[P_ITEM_WORDS + i]) * int64(e[P_ITEM_OFFSETS + i] & 3 == group)
        for word in range(8):
            most = max(most, (words >> 8 * word) & 255)
    return most


@native
def _by_bytes(words: int) -> int:
    """Eight bits, each in a byte of its own."""
    low = ((words & 127) * 0x0002040810204081) & 0x0001010101010101
    return low | (words & 128) << 49


@native
def lines_of(entry: int, place: int) -> int:
    """The distinct lines of a shape's sectors, where the first active lane's is at `place` (0 to 3) in its line."""
    e = pointer(entry, int64)
    known = (e[P_LINES] >> (8 * place)) & 255
    if known:
        return known
    lines = int64(0)
    for i in range(e[P_ITEMS]):
        line = (e[P_ITEM_OFFSETS + i] + place) >> 2
        lines += 1
        for j in range(i - 1, -1, -1):  # mostly the one before
            if (e[P_ITEM_OFFSETS + j] + place) >> 2 == line:
                lines -= 1
                break
    e[P_LINES] |= lines << (8 * place)
    return lines


@native
def _is_shared(e: Any, mask: int) -> bool:
    """Whether two lanes of the mask have one address."""
    shared = int64(0)
    for lane in range(LANES):
        together = int64(0)
        for other in range(LANES):
            together |= (
                int64(e[P_OFFSETS + lane] == e[P_OFFSETS + other]) & int64(other < lane) & (mask >> other)
            )
        shared |= together & (mask >> lane)
    return shared & 1 != 0


@native
def describe_shared(
    entry: int, addresses: int, first: int, mask: int, width: int, phase: int, scratch: int
) -> None:
    """Works out the distinct offsets and the wavefronts of a shape. `scratch`: 32 bytes.

    `phase` is the first address modulo 4, plus STORE_PHASE for stores.
    """
    _describe(entry, addresses, first, mask, width, phase)
    is_load = phase & STORE_PHASE == 0
    phase &= 3
    e = pointer(entry, int64)
    count = int64(0)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        offset = e[P_OFFSETS + lane]
        known = False
        for i in range(count):
            if e[P_ITEM_OFFSETS + i] == offset:
                e[P_ITEM_LANES + i] = SEVERAL
                known = True
                break
        if not known:
            e[P_ITEM_OFFSETS + count] = offset
            e[P_ITEM_LANES + count] = lane
            count += 1
    e[P_ITEMS] = count
    e[P_RUN] = 1 if _is_run(e, count, width) else 0
    lanes_a_group = LANES if width <= 4 else LANES * 4 // width
    if width > 4 and is_load and (_paired(e, mask, 1) or _paired(e, mask, 2)):
        lanes_a_group *= 2
    wavefronts = int64(0)
    groups = int64(0)
    for start in range(0, LANES, lanes_a_group):
        taken = _group_wavefronts(e, mask, width, phase, start, start + lanes_a_group, scratch)
        wavefronts += taken
        groups += 1 if taken else 0
    e[P_SECTORS] = wavefronts
    e[P_GROUPS] = groups


@native
def _is_run(e: Any, count: int, width: int) -> bool:
    run = True
    for i in range(count):
        run = run and e[P_ITEM_OFFSETS + i] == i * width and e[P_ITEM_LANES + i] == i
    return run


@native
def _paired(e: Any, mask: int, distance: int) -> bool:
    """Whether every active lane i has the address of lane i ^ distance."""
    for lane in range(LANES):
        other = lane ^ distance
        if (mask >> lane) & 1 and (mask >> other) & 1 and e[P_OFFSETS + lane] != e[P_OFFSETS + other]:
            return False
    return True


@native
def _group_wavefronts(e: Any, mask: int, width: int, phase: int, start: int, stop: int, scratch: int) -> int:
    """The most distinct words in one bank, over the lanes start … stop - 1."""
    banks = pointer(scratch, uint8)
    for bank in range(32):
        banks[bank] = 0
    most = int64(0)
    for lane in range(start, stop):
        if not (mask >> lane) & 1:
            continue
        offset = e[P_OFFSETS + lane]
        if _seen_before(e, mask, phase, start, lane, width):
            continue
        for byte in range(0, width, 4):
            bank = ((phase + offset + byte) >> 2) & 31
            banks[bank] += 1
            most = max(most, int64(banks[bank]))
    return most


@native
def _seen_before(e: Any, mask: int, phase: int, start: int, lane: int, width: int) -> bool:
    """Whether an earlier lane of the group accesses the same word (up to 4 bytes) or the same vector."""
    shift = 2 if width <= 4 else 0
    word = (phase + e[P_OFFSETS + lane]) >> shift
    seen = False
    for other in range(start, lane):
        seen = seen or bool((mask >> other) & 1 and (phase + e[P_OFFSETS + other]) >> shift == word)
    return seen


@native
def turns_of_atomics(addresses: int, mask: int, width: int, scratch: int) -> int:
    """The most lanes that one bank has: its atomics follow each other, whether they update one word or several. Words
    of 8 bytes lie in banks of 8. `scratch`: 32 bytes."""
    banks = pointer(scratch, uint8)
    for bank in range(32):
        banks[bank] = 0
    a = pointer(addresses, int64)
    shift = 3 if width == 8 else 2
    most = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            bank = (a[lane] >> shift) & 31
            banks[bank] += 1
            most = max(most, int64(banks[bank]))
    return most
