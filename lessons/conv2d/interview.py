"""Probes of the convolution's interview: sums on paper, and counts of the ladder."""

from grader.analysis.occupancy import REGISTERS
from grader.interview.counted import counted

FLOAT = 4  # bytes
OPERATIONS = 2  # of a multiply-add
WARP = 32
FMA_RATE = 4  # multiply-adds of warps a clock and multiprocessor: 128 FP32 lanes
ELEMENTS = 16  # of a transformed tile of F(2×2, 3×3)
TILE_ADDITIONS = 32  # of the transform of a 4 × 4 tile (Lavin and Gray, 2015)
LAYERS = {
    "1 × 1 filters, 256 channels, stride 1": (
        "a matrix product on x as it is",
        "The pixels already are the columns of a matrix.",
    ),
    "a depthwise layer, 3 × 3, stride 2": (
        "a direct kernel",
        "A filter has one channel: there is nothing to sum over and nothing to reuse across filters.",
    ),
    "31 × 31 filters, 64 channels, stride 1": (
        "an FFT",
        "The FFT's work does not grow with the filter's size.",
    ),
    "3 × 3 filters, 512 channels, stride 1": (
        "Winograd's algorithm",
        "The transforms are shared by many channels and filters.",
    ),
}


def work(N: int, C: int, K: int, side: int, taps: int) -> float:
    """GFLOP: a product and a sum for each tap of each output."""
    return OPERATIONS * N * K * side**2 * C * taps**2 / 1e9


def columns_bytes(N: int, C: int, taps: int, out: int) -> float:
    """Megabytes of C·R·S rows and N·P·Q columns (Chellapilla, Puri and Simard, 2006)."""
    return FLOAT * C * taps**2 * N * out**2 / 1e6


def fewest_products(outputs: int, taps: int) -> dict[str, float]:
    """Winograd's minimum for an FIR filter: m + r - 1 (Lavin and Gray, 2015)."""
    return {"answer": outputs + taps - 1, "formula": outputs * taps}


def for_this_layer(layer: str) -> dict[str, str]:
    """What the lesson and cuDNN's documentation recommend."""
    answer, why = LAYERS[layer]
    return {"answer": answer, "why": why}


def issue_time(products: int, each: int) -> float:
    """Milliseconds of 125 multiprocessors that start four instructions of warps a clock, at 2 GHz."""
    return products * 1e9 / WARP * each / (125 * 4 * 2e9) * 1e3


def constant_weights() -> dict[str, float | str]:
    """Counters of rungs 00 and 01, counted on the emulator."""
    names = {
        "instructions executed": "smsp__inst_executed.sum",
        "requests to load from global memory": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "multiply-adds executed": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "sectors stored to global memory": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    }
    before, after = counted("conv2d", "00_naive"), counted("conv2d", "01_constant_filter")
    (answer,) = (option for option, name in names.items() if after[name] < 0.9 * before[name])
    executed, multiplied = names["instructions executed"], names["multiply-adds executed"]
    return {
        "answer": answer,
        "before": before[executed] / before[multiplied] * WARP,
        "after": after[executed] / after[multiplied] * WARP,
    }


def uses_of_an_element(K: int, taps: int) -> int:
    """At stride 1 each tap of each filter meets an element once."""
    return K * taps**2


def patch(width: int, height: int, taps: int, stride: int) -> dict[str, float]:
    """A tile and its halo."""
    across, down = (width - 1) * stride + taps, (height - 1) * stride + taps
    return {"answer": across * down, "across": across, "down": down}


def cap_of_reads(products: int, wavefronts: int) -> dict[str, float]:
    """Per cent of the FP32 peak where the slower of shared memory and FP32 units decides."""
    arithmetic = products / FMA_RATE
    return {"answer": 100 * arithmetic / max(arithmetic, wavefronts), "arithmetic": arithmetic}


def clocks_of_slots(each: int, products: int) -> dict[str, float]:
    """Clocks of four schedulers; `own` is counted on the emulator, of rung 02."""
    values = counted("conv2d", "02_shared_tile")
    multiply_adds = values["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / WARP
    return {"answer": each * products / FMA_RATE, "own": values["smsp__inst_executed.sum"] / multiply_adds}


def weights_apart(C: int, taps: int) -> int:
    """Elements of a filter."""
    return C * taps**2


def shared_against_fp32(filters: int) -> dict[str, float]:
    """Clocks of shared memory over clocks of FP32 units, for one tap of a warp."""
    wavefronts, arithmetic = 1 + 2 * filters / 4, filters / FMA_RATE
    return {"answer": wavefronts / arithmetic, "wavefronts": wavefronts, "arithmetic": arithmetic}


def one_side(filters: int) -> float:
    """Multiply-adds of a tap over the floats that it reads."""
    return filters / (filters + 1)


def matrix_of_columns(N: int, out: int, K: int, C: int, taps: int, what: str) -> dict[str, float]:
    """The shape of the columns, which does not depend on the number of filters."""
    rows, columns = C * taps**2, N * out**2
    return {"answer": rows if what == "rows" else columns, "rows": rows, "columns": columns}


def columns_time(megabytes: int, taps: int, rate: int) -> float:
    """Microseconds to write and to read R·S times x."""
    return 2 * taps**2 * megabytes / rate


def traffic_factor(taps: int) -> dict[str, float]:
    """x read, columns written and read, y written, over x and y; y is as large as x."""
    times = taps**2
    return {"answer": (2 + 2 * times) / 2, "times": times}


def largest_batch(C: int, taps: int, gigabytes: int) -> dict[str, float]:
    """Whole images whose columns fit, with 50 × 50 outputs."""
    each = FLOAT * C * taps**2 * 50**2
    return {"answer": gigabytes * 10**9 // each, "each": each / 1e6}


def row_of_x(stride: int, row: int, p: int) -> dict[str, float]:
    """The order c, r, s of rung 04, with 3 × 3 taps and padding 1."""
    c, tap = divmod(row, 9)
    r, s = divmod(tap, 3)
    return {"answer": p * stride + r - 1, "c": c, "r": r, "s": s}


def taps_in_a_tile(last: int, taps: int) -> dict[str, float]:
    """Different taps of the first rows in the order c, r, s."""
    rows, all_taps = last + 1, taps**2
    return {"answer": len({row % all_taps for row in range(rows)}), "rows": rows, "all": all_taps}


def share_of_formula(products: int, peak: int, time: int) -> dict[str, float]:
    """The formula's operations over the peak, in per cent of the time."""
    least = OPERATIONS * products / peak
    return {"answer": 100 * least / time, "least": least}


def loads_a_step(rows: int, columns: int, depth: int) -> dict[str, float]:
    """Float4s of both operands, for each of so many rows."""
    return {"answer": depth * (rows + columns) / 4, "products": depth * rows * columns}


def products_an_output(m: int, taps: int) -> dict[str, float]:
    """(m + r - 1)² products for m² outputs (Lavin and Gray, 2015)."""
    products = (m + taps - 1) ** 2
    return {"answer": products / m**2, "all": products, "outputs": m**2, "formula": taps**2}


def additions_a_product(K: int) -> float:
    """Additions of a tile's transform for each product it is used in."""
    return TILE_ADDITIONS / (ELEMENTS * K)


def transformed_tiles(N: int, C: int, side: int) -> float:
    """Megabytes of 16 floats for every 2 × 2 outputs, which are as many as there are inputs."""
    return FLOAT * ELEMENTS * N * C * (side / 2) ** 2 / 1e6


def more_channels(a: int, b: int) -> dict[str, float]:
    """Products go as C·K, transformed tiles and products as C + K; C = K before."""
    traffic = (a + b) / 2
    return {"answer": a * b / traffic, "both": a * b, "traffic": traffic}


def sums_a_thread(threads: int, filters: int, tiles: int) -> float:
    """Sums of all elements, filters and tiles, over the threads."""
    return ELEMENTS * filters * tiles / threads


def larger_tiles(m: int) -> dict[str, float]:
    """The formula's products over those of F(m×m, 3×3)."""
    formula, products = m**2 * 9, (m + 2) ** 2
    return {"answer": formula / products, "formula": formula, "all": products}


def share_of_file(filters: int, tiles: int) -> dict[str, float]:
    """Per cent of a multiprocessor's registers."""
    sums = ELEMENTS * filters * tiles
    return {"answer": 100 * sums / REGISTERS, "sums": sums}


def times_transformed(K: int, filters: int) -> float:
    """Blocks that need the same tile."""
    return K / filters


def tensor_factor(fp32: int, tensor: int) -> float:
    """Rates in products of the formula."""
    return tensor / (2.25 * fp32)
