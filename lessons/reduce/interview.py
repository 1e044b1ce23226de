"""Answers to the probes of this interview: trees, banks, shuffles, bytes in flight and traffic."""

import numpy as np

from grader.analysis.access import BANKS, LANES, WORD, shared_access
from grader.interview.counted import counted, recorded

TOPIC = "reduce"
FLOAT = 4  # bytes
BLOCK = 256
SHARED_LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"
SMS = 132  # multiprocessors of an H200
PEAK = 4.8  # TB/s, an H200's datasheet


def against_a_copy(time: float) -> float:
    """Half the bytes of a copy, so half its time."""
    return time / 2


def launches_of_trees(block: int, exponent: int) -> dict[str, float]:
    """Launches until one of 2^exponent numbers is left, `block` (a power of two) to one at a time."""
    bits = block.bit_length() - 1
    return {"answer": -(-exponent // bits), "bits": bits}


def float4s_a_thread(latency: int, threads: int) -> dict[str, float]:
    """Float4s that each thread has under way by Little's law, at an H200's peak."""
    needed = latency * PEAK / SMS  # kB: ns · TB/s
    each = 1000 * needed / threads
    return {"answer": int(np.ceil(each / 16)), "needed": needed, "each": each}


def _warps(threads: list[int]) -> int:
    """Warps that have one of these threads."""
    return len({thread // LANES for thread in threads})


def warps_in_step(distance: int) -> dict[str, float]:
    """Warps with a thread t of 256 for which t % (2 · distance) is 0."""
    working = [thread for thread in range(BLOCK) if thread % (2 * distance) == 0]
    return {"answer": _warps(working), "every": 2 * distance, "threads": len(working)}


def lanes_in_step(distance: int) -> dict[str, float]:
    """Lanes of warp 0 for which lane % (2 · distance) is 0."""
    return {"answer": sum(lane % (2 * distance) == 0 for lane in range(LANES)), "every": 2 * distance}


def barriers_of_tree(block: int) -> dict[str, float]:
    """A barrier after the loads and one after each step of a tree over `block` numbers."""
    steps = block.bit_length() - 1
    return {"answer": steps + 1, "steps": steps}


def warps_when_packed(distance: int) -> dict[str, float]:
    """Warps that the first 256 / (2 · distance) threads fill."""
    threads = BLOCK // (2 * distance)
    return {"answer": _warps(list(range(threads))), "threads": threads}


def turns_when_packed(block: int) -> dict[str, object]:
    """Warp-wide additions of a tree of `block` numbers whose first threads add."""
    halves = [block >> step for step in range(1, block.bit_length())]  # block / 2, …, 1
    turns = [_warps(list(range(threads))) for threads in halves]
    return {"answer": sum(turns), "turns": " + ".join(map(str, turns))}


def wavefronts_in_step(distance: int) -> dict[str, float]:
    """Wavefronts of warp 0's load of sums[2 · distance · t + distance] (grader.analysis.access)."""
    lanes = min(LANES, BLOCK // (2 * distance))
    access = shared_access([WORD * (2 * distance * lane + distance) for lane in range(lanes)])
    return {"answer": len(access.wavefronts), "lanes": lanes, "stride": 2 * distance}


def bank_of_thread(distance: int, thread: int) -> dict[str, float]:
    """The bank of word 2 · distance · thread."""
    place = 2 * distance * thread
    return {"answer": place % BANKS, "place": place}


def partner_of_thread(thread: int, step: int) -> dict[str, float]:
    """The place that a thread adds to its own, in a tree of 256 whose distances fall from 128."""
    distance = BLOCK >> step
    return {"answer": thread + distance, "distance": distance}


def conflicts_left(threads: int) -> dict[str, float]:
    """Banks of words t + threads, for the threads t of warp 0 that work."""
    lanes = min(threads, LANES)
    return {"answer": len({(threads + lane) % BANKS for lane in range(lanes)}), "lanes": lanes}


def threads_needed(kib: int) -> int:
    """Threads with one float each that make so many KiB."""
    return kib * 1024 // FLOAT


def never_add(block: int, times: int) -> int:
    """Threads of a block that add at most so often; thread t adds where the distance is above t."""
    distances = [block >> step for step in range(1, block.bit_length())]
    return sum(sum(thread < distance for distance in distances) <= times for thread in range(block))


def second_number(thread: int, number: int) -> int:
    """The second element of a thread whose block takes 512."""
    return number * 2 * BLOCK + thread + BLOCK


def shared_loads_fall() -> dict[str, float]:
    """Shared-memory loads without and with an addition during the load, counted."""
    before, after = counted(TOPIC, "02_sequential"), counted(TOPIC, "03_first_add")
    return {
        "answer": before[SHARED_LOADS] / after[SHARED_LOADS],
        "before": before[SHARED_LOADS],
        "after": after[SHARED_LOADS],
        "N": before["N"],
    }


def warps_without_work(distance: int) -> dict[str, float]:
    """Of eight warps those that the first `distance` threads are not in."""
    working = _warps(list(range(distance)))
    return {"answer": BLOCK // LANES - working, "working": working}


def accesses_of_steps(distance: int) -> dict[str, float]:
    """Two loads and a store in each step from `distance` down to 1."""
    steps = distance.bit_length()
    return {"answer": 3 * steps, "steps": steps}


def lane_after_shuffles(distances: str, lane: int) -> dict[str, object]:
    """What a lane holds when lane numbers are added by `__shfl_down_sync`, the distances as written."""
    added = [lane]
    for distance in map(int, distances.replace(",", "").replace("and", "").split()):
        added += [other + distance for other in added]
    return {"answer": sum(added), "lanes": ", ".join(map(str, sorted(added)))}


def shuffles_of_block(block: int) -> dict[str, float]:
    """Five shuffles a warp, and five for the sums of the warps."""
    warps = block // LANES
    return {"answer": 5 * (warps + 1), "warps": warps}


def blocks_started(exponent: int) -> int:
    """Blocks of 512 numbers."""
    return int(2**exponent // (2 * BLOCK))


def shuffles_a_number() -> dict[str, float]:
    """Numbers for each shuffle, counted."""
    counts = counted(TOPIC, "05_warp_shuffles")
    return {"answer": counts["N"] / counts["shuffles"], "N": counts["N"], "shuffles": counts["shuffles"]}


def kib_in_flight(threads: int) -> float:
    """KiB of two floats a thread."""
    return threads * 2 * FLOAT / 1024


def numbers_of_long_threads(blocks: int) -> float:
    """Of 2^28 numbers those of one thread, in a grid of `blocks` of 256 for each multiprocessor."""
    return 2**28 / (SMS * blocks * BLOCK)


def wide_in_flight(threads: int, fours: int) -> float:
    """KiB of `fours` float4s a thread."""
    return threads * fours * 16 / 1024


def left_to_gain(copy: float, time: float) -> dict[str, float]:
    """A time over half of a copy's."""
    return {"answer": time / (copy / 2), "least": copy / 2}


def saved_by_one_launch(launch: float, mb: float) -> dict[str, float]:
    """Per cent that one of two launches takes beside the reading of `mb` megabytes at 4 TB/s."""
    reading = mb / 4
    return {"answer": 100 * launch / (reading + 2 * launch), "reading": reading}


def number_of_last(blocks: int, start: int) -> int:
    """What the last of `blocks` atomicAdds of 1 returns: the value before it."""
    return start + blocks - 1


def order_of_atomics(exponent: int, when: str) -> float:
    """An FP32 sum of 2^exponent, 1 and 1 in the order in which they come."""
    large, one = np.float32(2**exponent), np.float32(1)
    order = [large, one, one] if when == "first" else [one, one, large]
    total = np.float32(0)
    for value in order:
        total = np.float32(total + value)
    return float(total)


def half_the_instructions(time: float) -> float:
    """What is bound by memory does not gain from fewer instructions."""
    return time


def fused_share(arrays: int) -> dict[str, float]:
    """Per cent of traffic that a separate kernel for the sum makes."""
    before, after = arrays + 2, arrays + 1
    return {"answer": 100 / before, "before": before, "after": after}


def _nearest(ratio: float, options: tuple[str, ...]) -> dict[str, object]:
    """The option that names a ratio best, and the ratio."""
    return {"answer": min(options, key=lambda option: abs(float(option.split()[0]) - ratio)), "ratio": ratio}


def packed_on_an_h200() -> dict[str, object]:
    """The time with packed threads over that before, as measured."""
    ratio = recorded(TOPIC, "01_packed_threads") / recorded(TOPIC, "00_naive")
    return _nearest(ratio, ("0.3 times", "1.2 times", "4.0 times", "8.0 times"))


def gain_on_an_h200() -> dict[str, object]:
    """What the addition during the load gained, as measured."""
    ratio = recorded(TOPIC, "02_sequential") / recorded(TOPIC, "03_first_add")
    return _nearest(ratio, ("1.0 times", "1.9 times", "3.8 times", "7.6 times"))
