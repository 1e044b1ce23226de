"""Answers to the probes of this interview: elements, sectors, bytes in flight and memory traffic."""

from grader.analysis.access import LANES, global_access
from grader.interview.counted import counted

TOPIC = "vector_add"
FLOAT = 4  # bytes
BYTES = 3 * FLOAT  # of an element: two read, one written
BLOCK = 256
SIZES = {"FP32": 4, "FP16": 2, "BF16": 2, "FP8": 1}  # bytes
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
INSTRUCTIONS = ("smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum")


def shortest_time(millions: int, bandwidth: int) -> dict[str, float]:
    """Microseconds: bytes over bandwidth, millions of bytes over TB/s."""
    return {"answer": BYTES * millions / bandwidth, "bytes": BYTES}


def strided_sectors(stride: int) -> dict[str, float]:
    """Sectors of a request of one float a lane, elements `stride` apart (grader.analysis.access)."""
    addresses = [FLOAT * stride * lane for lane in range(LANES)]
    return {"answer": global_access(addresses).sectors, "span": addresses[-1] + FLOAT}


def threads_beyond(N: int, block: int) -> dict[str, float]:
    """Threads of a grid of whole blocks that have no element."""
    blocks = -(-N // block)
    return {"answer": blocks * block - N, "blocks": blocks, "threads": blocks * block}


def distance_of_lanes(run: int, lane: int) -> dict[str, float]:
    """Bytes between lane 0's element and another lane's, in runs of `run` floats a thread."""
    return {"answer": FLOAT * run * lane, "step": FLOAT * run}


def sectors_of_runs(run: int) -> dict[str, float]:
    """Sectors of a request whose lanes are at the same place of runs of `run` floats."""
    access = global_access([FLOAT * run * lane for lane in range(LANES)])
    return {"answer": access.sectors, "step": FLOAT * run}


def element_of_thread(block: int, thread: int, number: int) -> int:
    """The element of a thread, one a thread."""
    return number * block + thread


def sectors_fall() -> dict[str, float]:
    """Sectors of stores of the naive version over those of the next, counted."""
    before, after = counted(TOPIC, "00_naive"), counted(TOPIC, "01_one_element")
    return {
        "answer": before[STORED] / after[STORED],
        "before": before[STORED],
        "after": after[STORED],
        "N": before["N"],
    }


def sectors_of_offset(offset: int) -> int:
    """Sectors of 32 floats in a row that begin `offset` bytes behind a multiple of 128."""
    return global_access([offset + FLOAT * lane for lane in range(LANES)]).sectors


def bytes_in_flight(latency: int, bandwidth: int) -> int:
    """Kilobytes under way by Little's law: nanoseconds times TB/s."""
    return latency * bandwidth


def waves_of_blocks(exponent: int, sms: int) -> dict[str, float]:
    """Blocks over the blocks that a GPU holds at a time, 8 of 256 threads on each multiprocessor."""
    blocks = 2**exponent // BLOCK
    return {"answer": blocks / (8 * sms), "blocks": blocks}


def element_of_turn(blocks: int, thread: int, turns: int) -> dict[str, float]:
    """The element of a thread in a grid-stride loop."""
    stride = blocks * BLOCK
    return {"answer": thread + turns * stride, "stride": stride}


def loads_before_store(unroll: int, are: str) -> int:
    """Loads that may come before the first store: only `__restrict__` lets later ones pass it.

    CUDA C++ Programming Guide, __restrict__.
    """
    return 2 * unroll if are == "are" else 2


def share_of_copy(time: int, copy: float) -> dict[str, float]:
    """Per cent of a copy's rate that 2^28 elements in `time` microseconds reach."""
    reached = BYTES * 2**28 / time / 1e6  # TB/s
    return {"answer": 100 * reached / copy, "reached": reached}


def memory_instructions(elements: int) -> float:
    """Load and store instructions of the grid-stride version, counted, for so many elements."""
    counts = counted(TOPIC, "02_grid_stride")
    return sum(counts[name] for name in INSTRUCTIONS) / counts["N"] * elements


def sectors_of_wide_loads(bytes: int) -> int:
    """Sectors of a request of `bytes` a lane, neighbours side by side."""
    return global_access([bytes * lane for lane in range(LANES)], bytes).sectors


def left_over(start: int, count: int) -> dict[str, float]:
    """Elements of a slice before its first and behind its last aligned float4."""
    before = -start % 4
    behind = (start + count) % 4
    return {"answer": before + behind, "before": before, "behind": behind}


def room_left(time: float, copy: float) -> dict[str, float]:
    """Per cent of a time by which it exceeds that of moving three arrays at a copy's rate."""
    least = copy * 3 / 2
    return {"answer": 100 * (time - least) / time, "least": least}


def fused_bytes(more: int) -> dict[str, float]:
    """Bytes of a sum and `more` kernels that read and write its result, over those of one kernel."""
    before = BYTES + more * 2 * FLOAT
    return {"answer": before / BYTES, "before": before}


def smaller_types(inputs: str, output: str) -> dict[str, float]:
    """12 bytes an element over what smaller types take."""
    moved = 2 * SIZES[inputs] + SIZES[output]
    return {"answer": BYTES / moved, "wide": SIZES[inputs], "out": SIZES[output], "bytes": moved}


def time_elsewhere(time: float, rate: float, more: int) -> float:
    """The time scales with the memory's rate alone."""
    return time * 4 / rate
