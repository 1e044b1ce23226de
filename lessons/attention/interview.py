"""Answers to the probes of this interview: bytes of scores, tiles and lanes, what fits, what is skipped."""

from heapq import heapreplace
from math import ceil

from grader.analysis.access import LANES, global_access, shared_access

HALF, FLOAT = 2, 4  # bytes
CHUNK = 16  # bytes of a lane's load
MMA = 16 * 8 * 16  # multiply-adds of an mma.sync
SUMS = 8  # rows and columns of which a lane of an mma.sync has two neighbours
EXPONENTIALS = 16  # a clock of a multiprocessor (CUDA C++ Programming Guide, arithmetic instructions)
REGISTERS, RESIDENT, SHARED_KIB = 65536, 2048, 228  # of a multiprocessor (CUDA C++ Programming Guide)
LAUNCHED = 8 * (REGISTERS // 384 // 8)  # registers a thread of 384, in multiples of 8
SMS = 132  # multiprocessors of an H200
GROUP, GROUP_QUERIES = 128, 64  # threads of a warpgroup, and rows that wgmma multiplies for it (PTX ISA)
HOPPER, BLACKWELL = 4096, 8192  # operations a clock of a multiprocessor's Tensor Cores (Zadouri et al.)
PARTS = {"a quarter": 4, "an eighth": 8, "a sixteenth": 16}


def _teraflop(heads: int, S: int, D: int, mask: str) -> float:
    """10^12 operations of both products; half of them under a causal mask (Dao, 2023)."""
    return 4 * heads * S**2 * D * (0.5 if "causal" in mask else 1) / 1e12


def shortest_time(B: int, S: int, peak: int, mask: str) -> dict[str, object]:
    """Milliseconds of both products at the peak, for 32 heads of 128 numbers."""
    answer = 1e3 * _teraflop(32 * B, S, 128, mask) / peak
    return {"answer": answer, "half": "of which half count" if "causal" in mask else "and all of them count"}


def time_of_scores(heads: int, S: int, D: int, rate: int) -> dict[str, float]:
    """Milliseconds of moving S² floats of each head four times."""
    gigabytes = FLOAT * heads * S**2 / 1e9
    return {"answer": 4 * gigabytes / rate, "gigabytes": gigabytes}


def tokens_at_ridge(peak: int, rate: int, mask: str) -> dict[str, float]:
    """S at which the operations of a head take as long as its 8·S·D bytes (Williams et al., 2009)."""
    operations = 2 if "causal" in mask else 4
    return {"answer": 8 / operations * peak / rate, "operations": operations, "ridge": peak / rate}


def intensity_of_decoding(heads: int, kv: int, batch: int, bits: int) -> dict[str, float]:
    """Operations for each byte of keys and values, which serve a group of heads; every sequence has its own."""
    group = heads // kv
    return {"answer": 4 * group / (2 * bits / 8), "group": group}


def time_of_caches(layers: int, kv: int, batch: int, S: int, rate: int) -> dict[str, float]:
    """Milliseconds of reading the keys and values of all tokens."""
    each = 2 * layers * kv * 128 * HALF
    gigabytes = batch * S * each / 1e9
    return {"answer": gigabytes / rate, "each": each / 1e3, "gigabytes": gigabytes}


def factor_of_scores(reads: int, S: int, D: int) -> dict[str, float]:
    """Bytes of scores, written, read so often, written and read again, over those of Q, K, V and O."""
    moves = reads + 3
    return {"answer": moves * FLOAT * S / (4 * HALF * D), "moves": moves}


def sectors_of_loads(D: int) -> dict[str, int]:
    """Sectors of the first numbers of 32 keys, and of one of the query (grader.analysis.access)."""
    rows = global_access([HALF * D * lane for lane in range(LANES)], HALF).sectors
    return {"answer": rows + 1, "rows": rows, "step": HALF * D}


def intensity_of_tile(T: int, bits: int) -> float:
    """Operations for each byte of a key and a value, which T queries use."""
    return 4 * T / (2 * bits / 8)


def output_after_tile(old: int, total: int, o: int, new: int, v: int) -> dict[str, float]:
    """Both sums, scaled to the larger maximum, with one more term (Milakov and Gimelshein, 2018)."""
    top = max(old, new)
    numerator, denominator = (o * old + v * new) / top, (total * old + new) / top
    return {
        "answer": numerator / denominator,
        "top": top,
        "numerator": numerator,
        "denominator": denominator,
    }


def wavefronts_of_keys(D: int, pad: int) -> dict[str, int]:
    """Wavefronts of reading 32 padded rows, 16 bytes a lane at a time (grader.analysis.access)."""
    step, loads = HALF * D + pad, HALF * D // CHUNK
    each = len(shared_access([step * lane for lane in range(LANES)], CHUNK).wavefronts)
    return {"answer": loads * each, "step": step, "turns": each // 4, "loads": loads}


def share_of_multiply_adds(n: int) -> float:
    """Per cent of 128 multiply-adds a clock, where a wavefront takes one."""
    return 100 * n / 128


def shuffles_of_warp(queries: int, S: int) -> dict[str, int]:
    """Five steps of a tree, and one for each of 32 weights, for each query and tile."""
    tiles = S // LANES
    return {"answer": queries * tiles * (5 + LANES), "tiles": tiles}


def reads_of_square(a: int, b: int, D: int) -> float:
    """Numbers read for 100 multiply-adds of a square of scores."""
    return 100 * (a + b) / (a * b)


def registers_of_tile(a: int, b: int, D: int, share: str) -> dict[str, int]:
    """Scores, columns of outputs, and a maximum and a sum for each query."""
    columns = D // PARTS[share]
    return {"answer": a * b + a * columns + 2 * a, "columns": columns}


def clocks_of_tile(BM: int, BN: int, D: int) -> float:
    """Multiply-adds of both products, 128 a clock."""
    return 2 * BM * BN * D / 128


def share_of_threads(threads: int, registers: int) -> dict[str, float]:
    """Per cent of the threads that a multiprocessor holds, where registers limit its blocks."""
    each = threads * registers
    blocks = min(REGISTERS // each, RESIDENT // threads)
    return {
        "answer": 100 * blocks * threads / RESIDENT,
        "blocks": blocks,
        "each": each,
        "resident": blocks * threads,
    }


def instructions_of_tile(WM: int, BN: int, D: int) -> int:
    """Both products, 2048 multiply-adds an instruction (PTX ISA, mma.m16n8k16)."""
    return 2 * WM * BN * D // MMA


def lane_of_score(query: int, key: int) -> dict[str, int]:
    """The lane that holds a sum (PTX ISA, fragments of mma.m16n8k16)."""
    row, column = query % SUMS, key % SUMS
    return {"answer": 4 * row + column // 2, "row": row, "column": column, "pair": column // 2}


def wavefronts_of_matrix(where: str, chunk: int) -> int:
    """Wavefronts of eight lanes that read a chunk of eight rows each (grader.analysis.access)."""
    modulus = int(where.split("% ")[1][0]) if "%" in where else 1
    step = 128 * HALF + (CHUNK if "padding behind" in where else 0)
    addresses = [step * row + CHUNK * (chunk ^ row % modulus) for row in range(8)]
    return len(shared_access(addresses, CHUNK).wavefronts)


def share_of_waiting(copy: int, work: int, tiles: int) -> float:
    """Per cent of a block's time before and between its products."""
    waits = 1000 + tiles * copy
    return 100 * waits / (waits + tiles * work)


def clocks_in_turn(flop: int, BN: int, D: int) -> dict[str, float]:
    """Products and exponentials of a tile, one after the other (Shah et al., 2024)."""
    products, exponentials = 4 * 128 * BN * D / flop, 128 * BN / EXPONENTIALS
    return {"answer": products + exponentials, "products": products, "exponentials": exponentials}


def clocks_with_stages(copy: int, work: int, tiles: int) -> dict[str, int]:
    """Each copy but the first goes on beside the work of the tile before."""
    longer, between = max(copy, work), tiles - 1
    return {"answer": copy + between * longer + work, "longer": longer, "between": between}


def blocks_that_fit(registers: int, stages: int, BN: int) -> dict[str, float]:
    """Blocks of 128 threads by registers and by shared memory, of which each takes 1 KiB more than it uses."""
    kib = (128 + 2 * stages * BN) * 128 * HALF / 1024
    by_shared, by_registers = int(SHARED_KIB // (kib + 1)), REGISTERS // (128 * registers)
    return {
        "answer": min(by_shared, by_registers),
        "kib": kib,
        "by_shared": by_shared,
        "by_registers": by_registers,
    }


def rate_that_counts(heads: int, time: int) -> float:
    """TFLOP/s of the half of all operations that a causal mask leaves."""
    return _teraflop(heads, 4096, 128, "causal") / time * 1e3


def share_of_tensor_core(clocks: int, others: int) -> dict[str, float]:
    """Per cent of the time, limited by starting one instruction a clock or by the Tensor Core itself."""
    issue = 1 + others
    return {"answer": 100 * clocks / max(clocks, issue), "issue": issue}


def tiles_left(S: int, BM: int, BN: int) -> dict[str, float]:
    """Per cent of the tiles of a head, of which a block has those up to its last query."""
    blocks = S // BM
    left, every = sum(ceil((block + 1) * BM / BN) for block in range(blocks)), blocks * (S // BN)
    return {"answer": 100 * left / every, "left": left, "all": every}


def time_of_order(blocks: int, places: int, order: str) -> dict[str, float]:
    """When the last of so many blocks ends, each of which begins where a multiprocessor is free first."""
    lengths = [10 * (block + 1) for block in range(blocks)]
    free = [0] * places
    for length in lengths if order.startswith("from the shortest") else reversed(lengths):
        heapreplace(free, free[0] + length)
    return {"answer": max(free), "total": sum(lengths), "even": sum(lengths) / places}


def share_of_peak(time: int, mask: str, peak: int) -> dict[str, float]:
    """Per cent of the peak that the operations of 128 heads make."""
    operations = _teraflop(128, 4096, 128, mask)
    rate = 1e3 * operations / time
    return {"answer": 100 * rate / peak, "operations": operations, "rate": rate}


def share_masked(S: int, BM: int) -> dict[str, float]:
    """Per cent of the scores up to the last query of each block that lie behind the diagonal."""
    blocks = S // BM
    computed = BM**2 * blocks * (blocks + 1) // 2
    return {"answer": 100 * (1 - S * (S + 1) / 2 / computed), "computed": computed}


def busy_in_turn(products: int, softmax: int, groups: int) -> dict[str, float]:
    """Per cent of the time, where warpgroups take turns (Shah et al., 2024)."""
    alone, needed = products + softmax, groups * products
    period = max(alone, needed)
    return {"answer": 100 * needed / period, "alone": alone, "needed": needed, "period": period}


def share_of_merging(S: int, D: int, parts: int) -> dict[str, float]:
    """Bytes of parts, written and read, for every 1,000 of keys and values."""
    moved = 2 * FLOAT * parts * (D + 2)
    return {"answer": 1000 * moved / (2 * HALF * S * D), "moved": moved}


def gain_of_overlap(flop: int, D: int) -> dict[str, float]:
    """The sum of products and exponentials of a tile, over the longer of them (Shah et al., 2024)."""
    products, exponentials = _clocks(flop, D)
    return {
        "answer": (products + exponentials) / max(products, exponentials),
        "products": round(products),
        "exponentials": round(exponentials),
    }


def busy_in_lockstep(product: int, softmax: int) -> dict[str, float]:
    """Per cent of a step in which two warpgroups begin together; the Tensor Cores serve one at a time."""
    first = max(2 * product, product + softmax) + product
    end = max(first, 2 * product + softmax) + product
    return {"answer": 100 * 4 * product / end, "end": end}


def left_for_producer(BN: int, D: int, others: int) -> dict[str, int]:
    """Registers of a thread, by what consumers hold (PTX ISA, setmaxnreg: multiples of 8, of the block's own)."""
    scores, outputs = GROUP_QUERIES * BN // GROUP, GROUP_QUERIES * D // GROUP
    weights = scores // 2
    needed = scores + outputs + weights + others
    given = 8 * ceil(needed / 8)
    return {
        "answer": 3 * LAUNCHED - 2 * given,
        "scores": scores,
        "outputs": outputs,
        "weights": weights,
        "needed": needed,
        "given": given,
    }


def stages_that_fit(BM: int, BN: int, D: int) -> dict[str, int]:
    """Tiles beside the queries, in what a block may have (CUDA C++ Programming Guide)."""
    queries, tile = BM * D * HALF // 1024, BN * D * HALF // 1024
    return {"answer": (SHARED_KIB - 1 - queries) // tile, "queries": queries, "tile": tile}


def keys_in_use(heads: int, S: int, order: str) -> dict[str, float]:
    """Bytes of K and V of the heads that as many blocks as multiprocessors have."""
    used = min(heads, SMS if order == "different heads" else ceil(SMS / (S // 128)))
    return {"answer": used * 2 * HALF * S * 128 / 1e6, "used": used}


def time_of_misses(BM: int, heads: int, S: int, rate: int) -> dict[str, float]:
    """Milliseconds of loading K and V of its head for each block."""
    tasks = heads * S // BM
    gigabytes = tasks * 2 * HALF * S * 128 / 1e9
    return {"answer": gigabytes / rate, "gigabytes": gigabytes, "tasks": tasks}


def used_by_rounds(heads: int, S: int, BM: int) -> dict[str, float]:
    """Per cent of whole rounds that blocks fill (NVIDIA, wave quantization)."""
    tasks = heads * S // BM
    rounds = ceil(tasks / SMS)
    return {"answer": 100 * tasks / (rounds * SMS), "tasks": tasks, "rounds": rounds}


def share_of_bytes(S: int, D: int, BM: int) -> dict[str, float]:
    """Per cent of reads of Q, K and V, where those of K and V are made once and not by every block."""
    blocks = S // BM
    return {"answer": 100 * 3 / (1 + 2 * blocks), "blocks": blocks}


def heads_of_section(room: int, S: int, D: int) -> dict[str, float]:
    """Heads whose K and V fit into a part of the L2 cache."""
    mib = 2 * HALF * S * D / 2**20
    return {"answer": max(1, int(room / mib)), "mib": mib}


def longest_share(tasks: int, blocks: int, order: str) -> dict[str, object]:
    """Tiles of the block that has most, of tasks that are dealt in one direction or to and fro."""
    shares = [0] * blocks
    for place in range(tasks):
        turn, at = divmod(place, blocks)
        back = turn % 2 == 1 and not order.startswith("always")
        shares[blocks - 1 - at if back else at] += tasks - place
    total = sum(shares)
    return {
        "answer": max(shares),
        "shares": ", ".join(map(str, shares)),
        "total": total,
        "even": total / blocks,
    }


def rate_at_clock(busy: int, clock: float) -> dict[str, float]:
    """10^12 operations a second of Tensor Cores that are busy for a part of the clocks."""
    most = SMS * HOPPER * clock / 1e3
    return {"answer": most * busy / 100, "most": most, "unlimited": SMS * HOPPER * 1.98 / 1e3 * busy / 100}


def least_time(heads: int, S: int, D: int) -> dict[str, float]:
    """Milliseconds of the longer of products and exponentials, at 1.6 GHz (Zadouri et al., 2026)."""
    scores, clocks = heads * S**2, SMS * 1.6e6  # of all multiprocessors in a millisecond
    products, exponentials = 4 * scores * D / HOPPER / clocks, scores / EXPONENTIALS / clocks
    return {"answer": max(products, exponentials), "products": products, "exponentials": exponentials}


def clocks_with_polynomials(D: int, share: int) -> dict[str, float]:
    """Products of a tile, or the exponentials that polynomials leave (Zadouri et al., 2026)."""
    products, exponentials = _clocks(BLACKWELL, D)
    left = exponentials * (100 - share) / 100
    return {"answer": round(max(products, left), 1), "products": round(products), "left": round(left, 1)}


def tiles_of_pair(S: int, D: int, how: str) -> dict[str, object]:
    """KiB of K and V of a block, of which one of a pair has half (PTX ISA, tcgen05.mma with cta_group::2)."""
    every, alone = 2 * HALF * S * D // 1024, how.startswith("alone")
    return {"answer": every if alone else every // 2, "all": every, "part": "all" if alone else "half"}


def _clocks(flop: int, D: int) -> tuple[float, float]:
    """Those of both products of a tile of 128 queries and 128 keys, and of its exponentials."""
    return 4 * 128 * 128 * D / flop, 128 * 128 / EXPONENTIALS
