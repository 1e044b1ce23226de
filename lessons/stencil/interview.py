"""Answers to the probes of this interview: reuse, tiles and halos, requests and wavefronts."""

from grader.analysis.access import LANES
from grader.interview.counted import counted

TOPIC = "stencil"
FLOAT = 4  # bytes
RADIUS = 8
READS = 2 * RADIUS + 1  # elements of a sum
BLOCK = 256
SMS = 132  # multiprocessors of an H200
SHARED_LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"


def additions_a_byte(radius: int) -> float:
    """Additions of a sum over the 8 bytes of an element read and written once."""
    return 2 * radius / (2 * FLOAT)


def readers_of_element(radius: int, place: int) -> dict[str, float]:
    """Outputs whose sums have element `place`, near the beginning of an array."""
    first, last = max(0, place - radius), place + radius
    return {"answer": last - first + 1, "first": first, "last": last}


def floats_of_tile(outputs: int, radius: int) -> int:
    """Outputs and a halo on either side."""
    return outputs + 2 * radius


def requests_of_radius(radius: int, outputs: int) -> dict[str, float]:
    """Load requests of a warp, one for each element of its sums."""
    each = 2 * radius + 1
    return {"answer": each * outputs // LANES, "each": each}


def bytes_from_dram(millions: int) -> int:
    """Megabytes of an array that is read once."""
    return FLOAT * millions


def requests_of_tile(block: int) -> int:
    """Requests of 32 floats that fill a tile of `block` outputs."""
    return -(-(block + 2 * RADIUS) // LANES)


def written_by_others(thread: int) -> dict[str, object]:
    """Of the places that a thread adds those that threads of other warps wrote, in a block of 256."""
    places = range(thread, thread + READS)
    own = [place for place in places if place % BLOCK // LANES == thread // LANES]
    return {"answer": READS - len(own), "own": f"{own[0]} to {own[-1]}" if len(own) > 1 else str(own[0])}


def shared_loads(outputs: int) -> float:
    """Loads of warps from shared memory for so many outputs, counted."""
    counts = counted(TOPIC, "01_shared_tile")
    return counts[SHARED_LOADS] / counts["N"] * outputs


def time_of_wavefronts(clock: float) -> float:
    """Microseconds of 17 wavefronts for 32 of 2^28 outputs, one a clock and multiprocessor."""
    return READS * 2**28 / LANES / SMS / clock / 1000


def elements_of_window(outputs: int, radius: int) -> dict[str, float]:
    """Elements of neighbouring outputs together, and apart."""
    return {"answer": outputs + 2 * radius, "apart": outputs * (2 * radius + 1)}


def common_elements(radius: int, outputs: int) -> dict[str, float]:
    """Elements that the first and the last of neighbouring sums share."""
    each, fewer = 2 * radius + 1, outputs - 1
    return {"answer": each - fewer, "all": each, "fewer": fewer}


def stores_of_tile(block: int) -> int:
    """Stores of 32 floats that fill a tile of 4 · `block` outputs."""
    return -(-(4 * block + 2 * RADIUS) // LANES)


def float4s_of_tile(block: int, radius: int) -> dict[str, float]:
    """Float4s of a tile of 4 · `block` outputs beyond one for each thread; the radius is a multiple of 4."""
    floats = 4 * block + 2 * radius
    return {"answer": floats // 4 - block, "floats": floats, "fours": floats // 4}


def earlier_start(radius: int) -> int:
    """From the first element of the halo back to a multiple of four."""
    return -radius % 4


def share_of_halo(outputs: int) -> float:
    """Per cent of halo on top of a block's own elements."""
    return 100 * 2 * RADIUS / outputs


def bytes_of_two_tiles(outputs: int) -> int:
    """Shared memory of two tiles."""
    return 2 * FLOAT * (outputs + 2 * RADIUS)


def halo_of_steps(radius: int, steps: int) -> int:
    """How far `steps` applications reach."""
    return radius * steps


def blocks_that_load(wait: float, add: float, blocks: int) -> dict[str, float]:
    """Blocks that are in the first part of their lives, on average."""
    return {"answer": blocks * wait / (wait + add), "life": wait + add}


def additions_for_free(rate: float, bandwidth: float) -> float:
    """Additions while memory moves the 8 bytes of an output."""
    return 2 * FLOAT * rate / bandwidth
