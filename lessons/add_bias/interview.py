"""Answers to the probes of this interview: places in a matrix, sectors, requests and memory traffic."""

from grader.analysis.access import LANES, global_access
from grader.interview.counted import counted

TOPIC = "add_bias"
FLOAT = 4  # bytes
SECTOR = 32  # bytes
SIZES = {"FP32": 4, "FP16": 2, "BF16": 2, "FP8": 1}  # bytes
SMS, THREADS = 132, 2048  # multiprocessors of an H200, and the threads that each holds
INSTRUCTIONS = ("smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum")


def place_of_element(M: int, N: int, row: int, column: int) -> int:
    """The place of an element of a row-major M × N matrix."""
    return row * N + column


def sectors_by_shape(x: int, y: int) -> dict[str, float]:
    """Sectors of the first warp of an x × y block, x along rows of 4,096 bytes (grader.analysis.access)."""
    access = global_access([4096 * (lane // x) + FLOAT * (lane % x) for lane in range(LANES)])
    return {"answer": access.sectors, "rows": LANES // x}


def shortest_time(side: int, rate: float) -> float:
    """Microseconds for 8 bytes an element at `rate` TB/s."""
    return 2 * FLOAT * side**2 / rate / 1e6


def lanes_apart(M: int, N: int, lane: int) -> int:
    """Bytes between elements of one column, `lane` rows apart."""
    return FLOAT * N * lane


def sectors_of_narrow(N: int) -> dict[str, float]:
    """Sectors of 32 rows' first elements, in rows of N floats."""
    return {
        "answer": global_access([FLOAT * N * lane for lane in range(LANES)]).sectors,
        "step": FLOAT * N,
    }


def grid_after(M: int, N: int, direction: str) -> int:
    """Blocks of 32 × 8 threads along the columns (x) or the rows (y)."""
    return -(-N // 32) if direction == "x" else -(-M // 8)


def loaded_sectors() -> float:
    """Sectors of all loads for 32 elements, counted."""
    counts = counted(TOPIC, "01_x_along_rows")
    return counts["load_sectors"] / (counts["M"] * counts["N"] / LANES)


def sectors_of_a_row(N: int, row: int) -> dict[str, float]:
    """Sectors of the first 32 floats of a row of N floats."""
    start = FLOAT * N * row
    access = global_access([start + FLOAT * lane for lane in range(LANES)])
    return {"answer": access.sectors, "offset": start % SECTOR}


def requests_for_biases(requests: int) -> int:
    """Half: an element and its bias for each lane."""
    return requests // 2


def rate_by_latency(latency: int) -> float:
    """TB/s by Little's law, with one float under way for each thread."""
    return SMS * THREADS * FLOAT / latency / 1000


def requests_with_rows(rows: int, elements: int) -> dict[str, float]:
    """Load requests of elements, and of biases that serve `rows` each."""
    own = elements // LANES
    return {"answer": own + own // rows, "own": own, "biases": own // rows}


def reached_rate(time: float, copy: float) -> dict[str, float]:
    """Per cent of a copy's rate that 16,384² elements in `time` microseconds reach."""
    reached = 2 * FLOAT * 16384**2 / time / 1e6
    return {"answer": 100 * reached / copy, "reached": reached}


def memory_instructions(elements: int) -> float:
    """Loads and stores of warps for so many elements, counted in the version with eight rows a thread."""
    counts = counted(TOPIC, "02_several_rows")
    return sum(counts[name] for name in INSTRUCTIONS) / (counts["M"] * counts["N"]) * elements


def sectors_of_float4s(offset: int) -> int:
    """Sectors of 32 float4s in a row."""
    return global_access([offset + 16 * lane for lane in range(LANES)], 16).sectors


def columns_of_block(x: int) -> int:
    """Four columns a thread."""
    return 4 * x


def aligned_rows(N: int) -> int:
    """Of 100 rows of N floats those that begin at a multiple of 16 bytes."""
    return sum(FLOAT * N * row % 16 == 0 for row in range(100))


def room_left(time: float, read: float) -> dict[str, float]:
    """Per cent of a time by which it exceeds that of reading and writing."""
    least = 2 * read
    return {"answer": 100 * (time - least) / time, "least": least}


def saved_by_fusing(side: int) -> float:
    """Megabytes of one reading and one writing of the result."""
    return 2 * FLOAT * side**2 / 1e6


def bytes_of_epilogue(rows: int, columns: int) -> int:
    """A float for each column of the tile."""
    return FLOAT * columns


def loads_at_once(rows: int, are: str) -> int:
    """Loads that may come before the first store: only `__restrict__` lets later ones pass it."""
    return rows if are == "are" else 1


def time_with_types(time: float, input: str, output: str) -> dict[str, float]:
    """A time that scales with the bytes of an element."""
    moved = SIZES[input] + SIZES[output]
    return {"answer": time * moved / (2 * FLOAT), "bytes": moved}
