"""Probes of the matrix product's interview: sums on paper, and counts of the ladder."""

from grader.analysis.access import LANES, SECTOR, global_access, shared_access
from grader.analysis.devices import board
from grader.analysis.occupancy import occupancy
from grader.interview.counted import counted, recorded

FLOAT = 4  # bytes
FLOAT4 = 16
OPERATIONS = 2  # of a multiply-add
SCHEDULERS = 4  # of a multiprocessor
BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 16  # the tiles of rung 09
THREADS = 256
H200 = board("NVIDIA H200", "sm_90a")
SIGNIFICANT_BITS = {"TF32": 11, "FP16": 11, "BF16": 8}  # with the leading one


def least_time(n: int, peak: int) -> dict[str, float]:
    """Milliseconds: 2n³ operations over the peak; `memory` is what the bytes take at 4 TB/s."""
    return {"answer": OPERATIONS * n**3 / (peak * 1e12) * 1e3, "memory": 3 * FLOAT * n**2 / 4e12 * 1e3}


def intensity(n: int, k: int) -> float:
    """Operations over the bytes of A, B and C (Williams, Waterman and Patterson, Roofline, 2009)."""
    return OPERATIONS * n * n * k / (FLOAT * (2 * n * k + n * n))


def uses(M: int, N: int, K: int, matrix: str) -> int:
    """Outputs that one element contributes to."""
    return N if matrix == "A" else M


def block_reuse(rows: int, columns: int) -> float:
    """Multiply-adds for each float of a block's rows of A and columns of B."""
    return rows * columns / (rows + columns)


def a_sectors(K: int) -> dict[str, float]:
    """Sectors of 32 floats that lie a row of A apart."""
    access = global_access([lane * K * FLOAT for lane in range(LANES)], FLOAT)
    return {"answer": access.sectors, "bytes": K * FLOAT}


def asked_for(n: int) -> dict[str, float]:
    """Gigabytes of two floats for each multiply-add, and of the three matrices."""
    return {"answer": 2 * FLOAT * n**3 / 1e9, "least": 3 * FLOAT * n**2 / 1e9}


def computed_where(N: int, x: int, y: int) -> int:
    """The index of C[y][x], of rung 01."""
    return y * N + x


def both_loads(size: int) -> dict[str, float]:
    """Sectors of one address, and of 32 neighbours."""
    a = global_access([0] * LANES, size).sectors
    b = global_access([lane * size for lane in range(LANES)], size).sectors
    return {"answer": a + b, "b": b}


def requests(n: int) -> float:
    """Millions of load requests of rung 01, counted on the emulator and carried over to n³ products."""
    values = counted("gemm", "01_coalesced")
    a_product = values["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] / (
        values["M"] * values["N"] * values["K"]
    )
    return a_product * n**3 / 1e6


def warps_that_load(M: int, N: int, matrix: str) -> float:
    """Warps of 32 columns of a row: those of a row of C want an element of A, those of a column one of B."""
    return N / LANES if matrix == "A" else M


def brought_in(threads: int, side: int, depth: int) -> dict[str, float]:
    """Floats of a tile of A and one of B, for each thread."""
    both = 2 * side * depth
    return {"answer": both / threads, "both": both}


def served(rows: int, columns: int, matrix: str) -> int:
    """Outputs of the block that one element of a tile contributes to."""
    return columns if matrix == "A" else rows


def cap(wavefronts: int, products: int) -> dict[str, float]:
    """Per cent of the FP32 peak where shared memory serves one wavefront a clock and the slower of the two decides.

    128 bytes a clock: NVIDIA H100 whitepaper; FP32 lanes of a multiprocessor in devices.toml.
    """
    rate = H200.capability.fma_lanes / LANES
    arithmetic = products / rate
    return {
        "answer": 100 * arithmetic / max(arithmetic, wavefronts),
        "rate": rate,
        "arithmetic": arithmetic,
    }


def registers_of_outputs(rows: int, columns: int) -> int:
    """Sums, and a column of A and a row of B."""
    return rows * columns + rows + columns


def one_side(rows: int) -> float:
    """Multiply-adds for each float where only B's is reused."""
    return rows / (rows + 1)


def clocks_of_slots(loads: int, others: int, warps: int) -> dict[str, float]:
    """Clocks of four schedulers that start one instruction each."""
    return {"answer": warps * (64 + loads + others) / SCHEDULERS, "least": warps * 64 / SCHEDULERS}


def independent_sums(latency: int, warps: int) -> float:
    """Little's law for a scheduler that starts one instruction a clock."""
    return latency / warps


def fewer_warps() -> dict[str, float | str]:
    """Times of rungs 03 and 04 on an H200."""
    first = recorded("gemm", "03_register_tile_1d")
    second = recorded("gemm", "04_register_tile_2d")
    shares = {"about half as long": 0.5, "about as long": 1.0, "about twice as long": 2.0}
    answer = min(shares, key=lambda name: abs(shares[name] - second / first))
    return {"answer": answer, "first": 1e3 * first, "second": 1e3 * second}


def resident(registers: int) -> dict[str, float]:
    """Occupancy of an H200, by CUDA's own rules (cuda_occupancy.h)."""
    found = occupancy(H200, THREADS, registers, 0)
    return {"answer": 100 * found.fraction, "blocks": found.blocks_per_sm}


def unchanged() -> dict[str, float | str]:
    """Counters of rungs 04 and 05, counted on the emulator."""
    names = {
        "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "loads": "smsp__sass_inst_executed_op_shared_ld.sum",
        "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    }
    options = {
        "sectors": "sectors loaded from global memory",
        "requests": "requests to load from global memory",
        "loads": "instructions that load from shared memory",
        "wavefronts": "wavefronts of loads from shared memory",
    }
    before = {key: counted("gemm", "04_register_tile_2d")[name] for key, name in names.items()}
    after = {key: counted("gemm", "05_float4")[name] for key, name in names.items()}
    (same,) = (key for key in names if before[key] == after[key])
    return {
        "answer": options[same],
        **{f"{key}_before": value for key, value in before.items()},
        **{f"{key}_after": value for key, value in after.items()},
    }


def aligned_rows(K: int) -> dict[str, float]:
    """Rows of 120 whose first float may begin a float4."""
    aligned = [row for row in range(120) if row * K * FLOAT % FLOAT4 == 0]
    return {"answer": len(aligned), "bytes": K * FLOAT}


def _work(steps: int) -> float:
    """Clocks of so many steps of k of a block with 8 × 8 outputs a thread, one multiply-add a scheduler and clock."""
    return steps * 64 * THREADS / LANES / SCHEDULERS


def nobody_multiplies(latency: int, steps: int) -> dict[str, float]:
    """Per cent of the time in which tiles are brought in."""
    work = _work(steps)
    return {"answer": 100 * latency / (latency + work), "work": work}


def wide_wavefronts(size: int, reads: int) -> dict[str, float]:
    """Wavefronts of neighbouring elements, without conflicts."""
    each = len(shared_access([lane * size for lane in range(LANES)], size).wavefronts)
    return {"answer": reads * each, "each": each}


def overlapped(latency: int, steps: int) -> dict[str, float]:
    """The sum of two times over the longer one."""
    work = _work(steps)
    return {"answer": (latency + work) / max(latency, work), "longer": max(latency, work), "work": work}


def warp_needs(rows: int) -> dict[str, float]:
    """Floats of A and of B for 8 × 8 outputs of each lane, the lanes in so many rows."""
    columns = LANES // rows
    return {"answer": 8 * rows + 8 * columns, "columns": columns}


def on_the_way(rows: int, columns: int, depth: int) -> float:
    """Floats of a pair of tiles for each thread."""
    return depth * (rows + columns) / THREADS


def stores_a_tile(rows: int, columns: int) -> dict[str, float]:
    """A float of A is a store of its own; four of B are one."""
    a, b = rows * BLOCK_K / THREADS, columns * BLOCK_K / THREADS
    return {"answer": a + b / 4, "a": a, "b": b}


def asked_of_l2(rows: int, columns: int, rate: int) -> float:
    """TB/s: a block's bytes over its operations, times their rate."""
    return rate * FLOAT * (rows + columns) / (OPERATIONS * rows * columns)


def peak_rate(sms: int, clock: float) -> float:
    """TFLOP/s of multiply-adds of warps, one a scheduler and clock."""
    return sms * SCHEDULERS * LANES * OPERATIONS * clock * 1e9 / 1e12


def idle_in_waves(M: int, N: int, sms: int) -> dict[str, float]:
    """Per cent of the places in all waves that have no block."""
    blocks = -(-M // BLOCK_M) * -(-N // BLOCK_N)
    waves = -(-blocks // sms)
    idle = waves * sms - blocks
    return {"answer": 100 * idle / (waves * sms), "blocks": blocks, "waves": waves, "idle": idle}


def rounding_of(format: str) -> dict[str, float]:
    """Half a unit in the last place (NVIDIA, PTX ISA, "Alternate Floating-Point Data Formats")."""
    bits = SIGNIFICANT_BITS[format]
    return {"answer": 2.0**-bits, "bits": bits}


def parts_of_k(M: int, N: int, sms: int) -> dict[str, float]:
    """Parts with which there are at least as many blocks as multiprocessors."""
    tiles = -(-M // BLOCK_M) * -(-N // BLOCK_N)
    return {"answer": -(-sms // tiles), "tiles": tiles}


def share_of_ffmas(instructions: int, ffmas: int, even: int, odd: int) -> dict[str, float]:
    """Per cent of the clocks: as many as instructions, or as registers of a bank (benchmarks/register_banks.py)."""
    clocks = max(instructions, even, odd)
    return {"answer": 100 * ffmas / clocks, "clocks": clocks}


def longer_by_waves(tiles: int, sms: int) -> dict[str, float]:
    """Per cent that whole waves take longer than equal shares."""
    waves, shares = -(-tiles // sms), tiles / sms
    return {"answer": 100 * (waves / shares - 1), "waves": waves, "shares": shares}


def steps_of_a_share(left: int, steps: int, sms: int) -> dict[str, float]:
    """Steps of k of the largest of equal shares of the tiles that are left."""
    return {"answer": -(-left * steps // sms), "all": left * steps}


def barriers_on_the_way(K: int, before: int, after: int) -> float:
    """A barrier for each tile of k."""
    return K // before - K // after


def rate_of_a_loop(peak: int, ffmas: int, instructions: int) -> float:
    """TFLOP/s: a scheduler starts one instruction a clock."""
    return peak * ffmas / instructions


def bytes_of_shares(sms: int, rows: int, columns: int) -> float:
    """MB of a tile of sums for each share."""
    return FLOAT * sms * rows * columns / 1e6


def times_by_parts(fp32: int, tensor: int, products: int) -> float:
    """The rate of Tensor Cores over several products of parts, and over that of CUDA cores."""
    return tensor / products / fp32


def floats_of_a_wave(down: int, across: int) -> int:
    """Rows of A and columns of B of so many tiles."""
    return down * BLOCK_M + across * BLOCK_N


def rate_of_parts(rate: int, products: int) -> float:
    """TFLOP/s of products, each of which takes several of parts."""
    return rate / products


def bytes_of_splitting(n: int, parts: int, width: int) -> dict[str, float]:
    """MB read and written: both matrices once, and all their parts."""
    elements = 2 * n * n / 1e6
    return {"answer": elements * (FLOAT + parts * width), "elements": elements}


def bits_of_parts(format: str, parts: int) -> dict[str, float]:
    """What is left over is rounded to nearest, so its sign is worth a bit."""
    bits = SIGNIFICANT_BITS[format]
    return {"answer": parts * bits + parts - 1, "bits": bits, "between": parts - 1}


def rate_of_halves(rate: int) -> float:
    """TFLOP/s of three products each, at twice the rate of TF32 (NVIDIA H100 whitepaper)."""
    return 2 * rate / 3


def share_of_splitting(split: float, products: int) -> float:
    """Per cent of the time, once the products take half of theirs."""
    return 100 * split / (split + products / 2)


def range_of_halves(top: int) -> int:
    """Powers of two down to the least high part whose low part may be 2^-14, FP16's smallest normal number."""
    return top - (-14 + SIGNIFICANT_BITS["FP16"])


def split_once(products: int, split: float, times: int) -> float:
    """Passes over one factor that are left out."""
    return (times - 1) * split


def additions_of_promotion(K: int, steps: int) -> float:
    """One for each group of steps."""
    return K // steps


def loads_in_sass(steps: int) -> float:
    """A word of B for each step, and four of A at a time."""
    return steps + steps // 4


def counted_when_wide(floats: int, what: str) -> dict[str, float]:
    """Bytes are the same; instructions bring four times as many."""
    if what == "sectors":
        return {"answer": FLOAT * floats / SECTOR, "before": FLOAT * floats / SECTOR}
    return {"answer": floats / (4 * LANES), "before": floats / LANES}
