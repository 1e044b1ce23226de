"""Probes of the FP16 product's interview: by grader.analysis.access, by occupancy, and by NumPy's halves."""

import numpy as np

from grader.analysis.access import LANES, SECTOR, SharedAccess, global_access, shared_access
from grader.analysis.devices import board
from grader.analysis.occupancy import REGISTERS, occupancy
from grader.interview.counted import counted

HALF, FLOAT = 2, 4  # bytes
KIB = 1024
PAIR = 1024  # clocks of a multiprocessor's Tensor Cores for 128 × 256 outputs and 64 steps of k
BLOCK_ROWS, BLOCK_COLUMNS = 128, 256  # outputs of a block, in the rungs from 08 on
SCHEDULERS = 4  # of a multiprocessor, with a Tensor Core each
TILE = 16  # side of a WMMA fragment, and a step of k
MATRIX, PIECE = 8, 16  # rows of one matrix of ldmatrix, and bytes of each
OPERATIONS = 2  # of a multiply-add
SHARED_RATE = 128  # bytes a clock: NVIDIA H100 whitepaper
TENSOR_RATE = 2048  # multiply-adds of halves a clock and multiprocessor of an H200, by the data sheet
SHAPES = {"m16n8k8": 16 * 8 * 8, "m16n8k16": 16 * 8 * 16, "m8n8k32": 8 * 8 * 32, "m16n8k32": 16 * 8 * 32}


def worth_in_ffma(shape: str) -> dict[str, float]:
    """Multiply-adds of a shape (PTX ISA, mma) over the 32 of a warp's FFMA."""
    return {"answer": SHAPES[shape] / LANES, "products": SHAPES[shape]}


def least_time(n: int, fp32: int, tensor: int) -> float:
    """Milliseconds on Tensor Cores; those of FP32 play no part."""
    return OPERATIONS * n**3 / (tensor * 1e12) * 1e3


def needed_reuse(rate: int, size: int) -> dict[str, float]:
    """Multiply-adds a clock over the elements that shared memory delivers in a clock."""
    elements = SHARED_RATE // size
    return {"answer": rate / elements, "elements": elements}


def half_sum(sum: int, addend: int) -> dict[str, float]:
    """IEEE 754 binary16: 11 significant bits, to nearest."""
    held = np.float16(sum)
    return {
        "answer": float(held + np.float16(addend)),
        "spacing": float(np.spacing(held)),
        "exact": sum + addend,
    }


def share_of_ffma(others: int) -> dict[str, float]:
    """Per cent of the issue slots; `own` is counted on the emulator, of rung 00."""
    values = counted("hgemm", "00_naive")
    products = values["M"] * values["N"] * values["K"] / LANES
    own = values["smsp__inst_executed.sum"] / products
    return {"answer": 100 / (1 + others), "all": 1 + others, "own": own}


def ffma_time(n: int, fp32: int, tensor: int) -> float:
    """Milliseconds at the FP32 rate; that of Tensor Cores plays no part."""
    return OPERATIONS * n**3 / (fp32 * 1e12) * 1e3


def accumulator_registers(rows: int, columns: int) -> float:
    """A float a register, spread over the lanes (CUDA C++ Programming Guide, "Warp Matrix Functions")."""
    return rows * columns / LANES


def ones_in_half(K: int) -> float:
    """IEEE 754 binary16: each sum is rounded."""
    total = np.float16(0)
    for _ in range(K):
        total = total + np.float16(1)
    return float(total)


def products_a_byte(rows: int, columns: int, depth: int) -> float:
    """Multiply-adds of a product of fragments over the bytes of both."""
    return rows * columns * depth / (HALF * depth * (rows + columns))


def used_of_sectors(size: int) -> float:
    """Per cent of the bytes of the sectors that pieces in rows far apart touch, four bytes a lane."""
    lanes = size // FLOAT  # of a piece
    access = global_access(
        [lane // lanes * 64 * SECTOR + lane % lanes * FLOAT for lane in range(LANES)], FLOAT
    )
    return 100 * access.efficiency


def pair_of_tiles(rows: int, columns: int, depth: int) -> float:
    """KiB of rows × depth and depth × columns halves."""
    return HALF * depth * (rows + columns) / KIB


def ldmatrix_count(matrices: int, rows: int, columns: int) -> dict[str, float]:
    """PTX ISA, ldmatrix: .x1, .x2 or .x4 matrices of 8 × 8 elements of 16 bits."""
    halves = matrices * MATRIX * PIECE // HALF
    return {"answer": rows * columns / halves, "halves": halves}


def _matrix(pitch: int) -> SharedAccess:
    """What ldmatrix reads of one matrix whose rows lie `pitch` bytes apart."""
    return shared_access([row * pitch for row in range(MATRIX)], PIECE)


def _sets_of_banks(pitch: int) -> int:
    """Sets of four banks that the rows of a matrix begin with."""
    return len({row * pitch % SHARED_RATE for row in range(MATRIX)})


def ldmatrix_wavefronts(pitch: int) -> dict[str, float]:
    """Wavefronts of eight rows of 16 bytes."""
    return {"answer": len(_matrix(pitch).wavefronts), "groups": _sets_of_banks(pitch)}


def served_by_a_half(rows: int, columns: int) -> float:
    """Multiply-adds of a step of k over the halves that it reads."""
    return rows * columns / (rows + columns)


def largest_warp_tile(budget: int) -> dict[str, float]:
    """The side of the largest square of fragments whose sums fit so many registers a thread."""
    side = TILE
    while (side + TILE) ** 2 <= LANES * budget:
        side += TILE
    return {"answer": side, "floats": LANES * budget, "outputs": side**2}


def padded_rows(row: int, pad: int) -> dict[str, float]:
    """Wavefronts of eight rows of 16 bytes, and the sets of banks that they begin with."""
    pitch = row + pad
    return {
        "answer": len(_matrix(pitch).wavefronts),
        "pitch": pitch,
        "groups": _sets_of_banks(pitch),
    }


def share_in_turns(rows: int, depth: int, latency: int) -> dict[str, float]:
    """Per cent of the time in which the Tensor Cores work."""
    work = rows * 128 * depth / TENSOR_RATE
    return {"answer": 100 * work / (latency + work), "work": work}


def resident_warps(threads: int, registers: int, shared: int) -> dict[str, float]:
    """Occupancy of an H200, by CUDA's own rules (cuda_occupancy.h)."""
    found = occupancy(board("NVIDIA H200", "sm_90a"), threads, registers, shared * KIB)
    return {
        "answer": found.warps_per_sm,
        "by_registers": found.fits["registers"],
        "by_shared": found.fits["shared memory"],
    }


def latency_covered(stages: int, work: int) -> dict[str, float]:
    """Clocks between the start of a copy and the round that needs it."""
    return {"answer": (stages - 1) * work, "ahead": stages - 1}


def groups_in_flight(stages: int) -> dict[str, float]:
    """PTX ISA, cp.async.wait_group n: at most the n latest groups are still open."""
    return {"answer": stages - 2, "started": stages - 1}


def idle_at_steps(latency: int, rows: int, columns: int) -> dict[str, float]:
    """Per cent of a step in which fragments are waited for."""
    work = rows * columns * TILE / (TENSOR_RATE / SCHEDULERS)
    return {"answer": 100 * latency / (latency + work), "work": work}


def cost_of_padding(stages: int, rows: int) -> float:
    """KiB: 16 bytes for each row of both tiles."""
    return stages * (rows + 64) * PIECE / KIB


def weak_swizzle(modulus: int) -> int:
    """Wavefronts of piece 0 of eight rows, each of which lies at place r % modulus of its row."""
    rows = [row * SHARED_RATE + row % modulus * PIECE for row in range(MATRIX)]
    return len(shared_access(rows, PIECE).wavefronts)


def registers_ahead(rows: int, columns: int, sets: int) -> dict[str, float]:
    """A float or two halves a register, of a step of 16."""
    sums, fragments = rows * columns / LANES, TILE * (rows + columns) / LANES / 2
    return {"answer": sums + sets * fragments, "sums": sums, "fragments": fragments}


def shared_busy(kilobytes: int, rate: float) -> dict[str, float]:
    """Per cent of the clocks of 32 HMMA in which shared memory serves, a wavefront a clock."""
    clocks, wavefronts = 32 / rate, kilobytes * KIB / SHARED_RATE
    return {"answer": 100 * wavefronts / clocks, "clocks": clocks, "wavefronts": wavefronts}


def register_share(warps: int, registers: int) -> float:
    """Per cent of a multiprocessor's register file."""
    return 100 * warps * LANES * registers / REGISTERS


def reads_saved(columns: int) -> int:
    """Halves of B that three of four warps need not read."""
    return 3 * TILE * columns


def share_between_ends(first: int, pairs: int, last: int) -> dict[str, float]:
    """Per cent of the clocks of a block in which its multiprocessor multiplies."""
    work = pairs * PAIR
    everything = first + work + last
    return {"answer": 100 * work / everything, "work": work, "all": everything}


def cost_of_step(pairs: int, long: int, short: int) -> dict[str, float]:
    """The sum of the longer ones of each pair, less the longest sum of one warpgroup; pairs are even."""
    mean = (long + short) / 2
    return {"answer": pairs * (long - mean), "mean": mean}


def registers_of_consumers(kept: int, consumers: int) -> dict[str, float]:
    """PTX ISA, setmaxnreg: multiples of 8 up to 256; a warpgroup has 128 threads."""
    exact = (REGISTERS / (4 * LANES) - kept) / consumers
    return {"answer": exact // 8 * 8, "exact": exact}


def brought_ahead(stages: int, rows: int, columns: int) -> float:
    """KiB of all stages."""
    return stages * pair_of_tiles(rows, columns, 64)


def time_at_clock(time: float, zeros: float, random: float) -> dict[str, float]:
    """Milliseconds of as many clocks at another frequency."""
    return {"answer": time * zeros / random, "clocks": time * zeros}


def idle_blocks(tiles: int, blocks: int) -> dict[str, float]:
    """Per cent of the turns of all blocks in which there is no tile."""
    turns = -(-tiles // blocks)
    return {"answer": 100 * (1 - tiles / (turns * blocks)), "turns": turns}


def rows_and_columns(blocks: int, rows: int) -> dict[str, float]:
    """The rows of a group, and the columns of as many columns of tiles as the blocks begin."""
    across = -(-blocks // rows)
    return {"answer": rows * BLOCK_ROWS + across * BLOCK_COLUMNS, "across": across}


def blocks_needed(tiles: int, sms: int) -> dict[str, float]:
    """The fewest blocks that need no more turns."""
    turns = -(-tiles // sms)
    return {"answer": -(-tiles // turns), "turns": turns}


def share_of_clocks(rate: int, sms: int, clock: float) -> dict[str, float]:
    """Per cent of what the Tensor Cores would make at every clock."""
    most = OPERATIONS * TENSOR_RATE * sms * clock * 1e9 / 1e12
    return {"answer": 100 * rate / most, "most": most}


def share_of_ends(tiles: int, pairs: int, ends: int) -> dict[str, float]:
    """Per cent of the clocks of a persistent block before its first products and after its last."""
    everything = tiles * pairs * PAIR + ends
    return {"answer": 100 * ends / everything, "all": everything}


def multicast_saves(blocks: int, depth: int) -> dict[str, float]:
    """Per cent of the bytes: each block's part of A, and B once for all."""
    alone = blocks * pair_of_tiles(BLOCK_ROWS, BLOCK_COLUMNS, depth)
    kept = blocks * HALF * depth * BLOCK_ROWS / KIB + HALF * depth * BLOCK_COLUMNS / KIB
    return {"answer": 100 * (1 - kept / alone), "kept": kept, "alone": alone}


def parts_of_k(rows: int, columns: int, sms: int) -> dict[str, float]:
    """Multiprocessors over tiles of C, rounded up."""
    tiles = rows // BLOCK_ROWS * (columns // BLOCK_COLUMNS)
    return {"answer": -(-sms // tiles), "tiles": tiles}
