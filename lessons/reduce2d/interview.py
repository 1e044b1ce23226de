"""Answers to the probes of this interview: both directions of a matrix, shuffles, partial sums and traffic."""

from grader.analysis.access import LANES, global_access
from grader.interview.counted import counted, recorded

TOPIC = "reduce2d"
FLOAT = 4  # bytes
SMS, THREADS = 132, 2048  # multiprocessors of an H200, and the threads that each holds
BAND = 512  # rows


def shortest_time(M: int, N: int, rate: float) -> float:
    """Microseconds of one reading at `rate` TB/s."""
    return FLOAT * M * N / rate / 1e6


def column_lanes_apart(N: int, lane: int) -> int:
    """Bytes between neighbours of a row, `lane` columns apart."""
    return FLOAT * lane


def time_saved(side: int, rate: float) -> float:
    """Microseconds of one reading at `rate` TB/s."""
    return FLOAT * side**2 / rate / 1e6


def sectors_of_short_rows(N: int) -> dict[str, float]:
    """Sectors of the first elements of 32 rows of N floats (grader.analysis.access)."""
    return {
        "answer": global_access([FLOAT * N * lane for lane in range(LANES)]).sectors,
        "step": FLOAT * N,
    }


def share_of_threads(M: int, N: int) -> float:
    """Per cent of an H200's threads that a thread a row makes."""
    return 100 * M / (SMS * THREADS)


def column_of_turn(block: int, thread: int, turn: int) -> int:
    """The column of a thread of a block that walks along a row."""
    return thread + turn * block


def threads_for_columns(warps: int, N: int) -> int:
    """Threads of blocks of 32 columns and `warps` warps."""
    return N // LANES * warps * LANES


def megabytes_read(side: int) -> float:
    """Two readings."""
    return 2 * FLOAT * side**2 / 1e6


def threads_without_element(N: int) -> int:
    """Of 256 threads those beyond a row of N floats."""
    return 256 - N


def elements_of_lane(N: int, lane: int) -> int:
    """Elements of a row of N floats that one lane of a warp takes."""
    return len(range(lane, N, LANES))


def sums_of_element() -> int:
    """Eight elements of a sector, in three sums each."""
    return 8 * 3


def largest_in_cache(mb: int) -> dict[str, float]:
    """The largest power of two whose square of floats fits into `mb` megabytes."""
    side = max(2**power for power in range(20) if FLOAT * 4**power <= mb * 1e6)
    return {"answer": side, "size": FLOAT * side**2 / 1e6}


def shuffles_of_row(N: int) -> float:
    """Shuffles for 1,000 elements, five for a row of N."""
    return 5 * 1000 / N


def sums_that_stay(columns: int) -> int:
    """Columns of a lane."""
    return columns // LANES


def share_of_parts(rows: int, columns: int) -> float:
    """Per cent of a tile's elements that its sums of rows and columns are."""
    return 100 * (rows + columns) / (rows * columns)


def loads_and_shuffles(elements: int) -> float:
    """Loads and shuffles of warps for so many elements, counted."""
    counts = counted(TOPIC, "03_one_pass")
    return (counts["load_requests"] + counts["shuffles"]) / (counts["M"] * counts["N"]) * elements


def kib_in_flight(threads: int, rows: int) -> float:
    """KiB of four floats a row and thread."""
    return threads * rows * 4 * FLOAT / 1024


def column_of_lane(first: int, lane: int) -> int:
    """The first of a lane's four neighbouring columns."""
    return first + 4 * lane


def start_of_row(N: int, row: int) -> int:
    """Bytes by which a row begins behind a multiple of 16."""
    return FLOAT * N * row % 16


def shuffles_of_tile(rows: int) -> int:
    """Five shuffles for each row of 128 columns."""
    return 5 * rows


def needless_additions(lanes: int) -> dict[str, float]:
    """Additions of a butterfly over `lanes` beyond those of one sum."""
    steps = lanes.bit_length() - 1
    made, needed = lanes * steps, lanes - 1
    return {"answer": made - needed, "steps": steps, "all": made, "needed": needed}


def numbers_after_trades(rows: int, steps: int) -> dict[str, float]:
    """Lanes whose numbers have come together after so many trades."""
    return {"answer": 2**steps, "left": rows >> steps}


def shuffles_shared(rows: int) -> dict[str, float]:
    """Shuffles of a warp for `rows` sums: halves traded until one is left, then ordinary steps."""
    trades, steps = rows - 1, (LANES // rows).bit_length() - 1
    return {"answer": trades + steps, "trades": trades, "steps": steps, "before": 5 * rows}


def share_of_bound(calls: float, time: float) -> dict[str, float]:
    """Per cent of a time that one of two equal readings takes."""
    return {"answer": 100 * calls / 2 / time, "least": calls / 2}


def rows_side_by_side(N: int) -> int:
    """Rows of N floats in a warp of float4s."""
    return LANES * 4 // N


def parts_of_column(M: int, bands: int) -> int:
    """Blocks that share a column of M rows, `bands` bands each."""
    return -(-M // (bands * BAND))


def fused_bytes(kernels: int) -> dict[str, float]:
    """`kernels` readings and a writing, over one of each."""
    return {"answer": (kernels + 1) / 2, "before": kernels + 1}


def _nearest(ratio: float, options: tuple[str, ...]) -> dict[str, object]:
    """The option that names a ratio best, and the ratio."""
    return {"answer": min(options, key=lambda option: abs(float(option.split()[0]) - ratio)), "ratio": ratio}


def long_rows_on_an_h200() -> dict[str, object]:
    """The time with a warp a row over that with a block a row, as measured."""
    ratio = recorded(TOPIC, "02_warp_a_row") / recorded(TOPIC, "01_block_a_row")
    return _nearest(ratio, ("0.3 times", "1.0 times", "2.0 times", "4.0 times"))


def one_pass_on_an_h200() -> dict[str, object]:
    """What one reading gained, as measured."""
    ratio = recorded(TOPIC, "02_warp_a_row") / recorded(TOPIC, "03_one_pass")
    return _nearest(ratio, ("1.0 times", "1.7 times", "3.4 times", "5.0 times"))


def bytes_of_local_memory(count: int, threads: int) -> int:
    """An array of floats for each thread."""
    return threads * count * FLOAT
