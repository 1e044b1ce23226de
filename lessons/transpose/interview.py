"""Probes of the transpose's interview: by grader.analysis.access, and by counts and times of its ladder."""

from collections.abc import Callable

from grader.analysis.access import BANKS, LANES, SECTOR, WORD, GlobalAccess, global_access, shared_access
from grader.interview.counted import counted, recorded

TOPIC = "transpose"
TILE = 32  # side of the square that a block of rungs 00 to 04 turns
FLOAT = 4  # bytes
FLOAT4 = 16
BOTH_WAYS = 2  # every byte is read and written


def least_time(side: int, rate: int) -> dict[str, float]:
    """Microseconds: bytes read once and written once over the rate of a copy."""
    nbytes = BOTH_WAYS * FLOAT * side**2
    return {"answer": nbytes / (rate * 1e9) * 1e6, "megabytes": nbytes / 1e6}


def _load(byte_of: Callable[[int], int], size: int = FLOAT) -> GlobalAccess:
    """An access of a full warp to global memory, from the address of each lane."""
    return global_access([byte_of(lane) for lane in range(LANES)], size)


def both_sides(size: int) -> dict[str, float]:
    """CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": as many sectors as serve all lanes."""
    load, store = _load(lambda lane: lane * size, size), _load(lambda lane: lane * 4096 * size, size)
    return {
        "answer": load.sectors + store.sectors,
        "load": load.sectors,
        "store": store.sectors,
        "used": load.bytes_used,
    }


def tile_sectors(side: int) -> dict[str, float]:
    """Whole sectors for each row of the square, on both sides."""
    each = -(-side * FLOAT // SECTOR)
    return {"answer": BOTH_WAYS * side * each, "each": each, "bytes": side * FLOAT}


def naive_store(M: int) -> dict[str, float]:
    """Lane i writes element i · M of `out`."""
    return {"answer": _load(lambda lane: lane * M * FLOAT).sectors, "pitch": M * FLOAT}


def naive_load(lanes: int) -> dict[str, float]:
    """Sectors of so many neighbouring floats."""
    access = global_access([lane * FLOAT for lane in range(lanes)], FLOAT)
    return {"answer": access.sectors, "bytes": access.bytes_used}


def stored_where(M: int, x: int, y: int) -> int:
    """The index of out[y][x], of rung 01."""
    return y * M + x


def found_in_l1(warps: int) -> dict[str, float]:
    """Sectors that a block asks for more than once, of those it asks for; the rows are far apart."""
    pitch = 4096 * FLOAT
    sectors = [
        set(_load(lambda lane, column=column: lane * pitch + column * FLOAT).lanes) for column in range(warps)
    ]
    asked, distinct = sum(map(len, sectors)), len(set().union(*sectors))
    return {"answer": 100 * (asked - distinct) / asked, "asked": asked, "distinct": distinct}


def faster_side() -> dict[str, float | str]:
    """Times of rungs 00 and 01 on an H200."""
    stores, loads = recorded(TOPIC, "00_naive"), recorded(TOPIC, "01_coalesced_writes")
    if max(stores, loads) <= 1.1 * min(stores, loads):
        answer = "both within 10 %: they touch equally many sectors"
    elif loads < stores:
        answer = "strided loads: L1 has the sectors for the next warps"
    else:
        answer = "strided stores: no thread waits for a store to end"
    return {"answer": answer, "loads": 1e3 * loads, "stores": 1e3 * stores}


def excess(size: int) -> dict[str, float]:
    """Sectors of a strided request over those of its bytes side by side."""
    access = _load(lambda lane: lane * 4096 * size, size)
    least = access.bytes_used / SECTOR
    return {
        "answer": access.sectors / least,
        "touched": access.sectors,
        "used": access.bytes_used,
        "least": least,
    }


def kept_in_l1(blocks: int, rows: int) -> int:
    """A sector for each row of each block's square."""
    return blocks * rows * SECTOR


def who_writes(warp: int, lane: int) -> int:
    """Of the element that lane `lane` of warp `warp` has loaded: rows and columns change places."""
    return lane


def own_elements(side: int) -> dict[str, float]:
    """Elements with row = column."""
    return {"answer": side, "all": side**2}


def column_of_tile(size: int) -> dict[str, float]:
    """CUDA C++ Programming Guide, "Shared Memory": successive 32-bit words lie in successive banks."""
    pitch = TILE * size
    access = shared_access([lane * pitch for lane in range(LANES)], size)
    banks = {bank for turn in access.wavefronts for bank in turn.words}
    return {"answer": len(access.wavefronts), "pitch": pitch, "banks": len(banks)}


def column_of_rows(pitch: int) -> dict[str, float]:
    """The same rule for rows of `pitch` floats."""
    access = shared_access([lane * pitch * WORD for lane in range(LANES)], WORD)
    banks = {bank for turn in access.wavefronts for bank in turn.words}
    return {"answer": len(access.wavefronts), "banks": len(banks)}


def weak_swizzle(modulus: int) -> int:
    """Wavefronts of a column of which element x of row y lies at place x ^ (y % modulus)."""
    column = 5  # any
    places = [lane * TILE + (column ^ lane % modulus) for lane in range(LANES)]
    return len(shared_access([place * WORD for place in places], WORD).wavefronts)


def padded_bank(row: int, column: int) -> dict[str, float]:
    """The bank of rung 03's tile[row][column]."""
    word = (TILE + 1) * row + column
    return {"answer": word % BANKS, "word": word}


def in_flight(sms: int, rate: int, latency: int) -> dict[str, float]:
    """Little's law: what is in flight is throughput times latency. In kilobytes of a multiprocessor."""
    whole = rate * 1e12 * latency * 1e-9 / 1e3
    return {"answer": whole / sms, "whole": whole}


def memory_instructions(elements: int) -> dict[str, float]:
    """Counted on the emulator, of rung 03."""
    values = counted(TOPIC, "03_padded_tile")
    of_shared = (
        values["smsp__sass_inst_executed_op_shared_ld.sum"]
        + values["smsp__sass_inst_executed_op_shared_st.sum"]
    )
    of_global = (
        values["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
        + values["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
    )
    each = (of_shared + of_global) / (values["M"] * values["N"] / LANES)
    return {"answer": each * elements / LANES, "each": each}


def wide_sectors(size: int) -> dict[str, float]:
    """Sectors of 32 neighbouring elements."""
    access = _load(lambda lane: lane * size, size)
    return {"answer": access.sectors, "used": access.bytes_used}


def aligned_rows(rows: int, pitch: int) -> dict[str, float]:
    """Rows that a float4 may begin with."""
    aligned = [row for row in range(rows) if row * pitch * FLOAT % FLOAT4 == 0]
    return {"answer": len(aligned), "bytes": pitch * FLOAT}


def share_of_copy(rate: int, time: int) -> dict[str, float]:
    """The time of a copy over the time it took, in per cent."""
    nbytes = BOTH_WAYS * FLOAT * 8000**2
    best = nbytes / (rate * 1e9) * 1e6
    return {"answer": 100 * best / time, "megabytes": nbytes / 1e6, "best": best}


def wide_wavefronts(size: int) -> dict[str, float]:
    """Wavefronts of 32 neighbouring elements of shared memory."""
    access = shared_access([lane * size for lane in range(LANES)], size)
    return {"answer": len(access.wavefronts), "used": LANES * size}


def fused_traffic(side: int, size: int) -> float:
    """Megabytes that a transpose of its own reads and writes."""
    return BOTH_WAYS * size * side**2 / 1e6


def stays_in_l2(megabytes: int) -> dict[str, float]:
    """The largest power of two whose square, as floats and twice, fits."""
    n = 1
    while BOTH_WAYS * FLOAT * (2 * n) ** 2 <= megabytes * 1e6:
        n *= 2
    return {"answer": n, "needed": BOTH_WAYS * FLOAT * n**2 / 1e6}


TILE_WORDS: dict[str, Callable[[int], int]] = {
    "tile[y][x]": lambda x: x,
    "tile[x][y]": lambda x: 32 * x,
    "tile[x][x]": lambda x: 33 * x,
    "tile[x / 2][y]": lambda x: 32 * (x // 2),
}


def wavefronts_of_tile(access: str) -> dict[str, float]:
    """By the words that the lanes read, with y = 0."""
    words = {TILE_WORDS[access](x) for x in range(LANES)}
    found = shared_access([FLOAT * TILE_WORDS[access](x) for x in range(LANES)], FLOAT)
    return {"answer": len(found.wavefronts), "words": len(words), "banks": len({word % 32 for word in words})}
