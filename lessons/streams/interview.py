"""Answers to the probes of this interview: sums on a timeline of two copy engines and the multiprocessors."""

from collections.abc import Sequence

LINK = 50.0  # GB/s, as the texts say
WHOLE = 20.0  # ms that an engine takes for the array, as the texts say

Interval = tuple[float, float]


def _timeline(chunks: int, streams: int, steps: Sequence[float]) -> list[list[Interval]]:
    """When each engine works: chunk i goes to stream i mod `streams`, and each step to an engine of its own.

    A step begins when the one before it in its stream has ended and its engine is free, in the order in which
    chunks were enqueued.
    """
    stream_free = [0.0] * streams
    engine_free = [0.0] * len(steps)
    busy: list[list[Interval]] = [[] for _ in steps]
    for chunk in range(chunks):
        stream = chunk % streams
        for engine, length in enumerate(steps):
            start = max(stream_free[stream], engine_free[engine])
            stream_free[stream] = engine_free[engine] = start + length
            busy[engine].append((start, start + length))
    return busy


def _end(busy: list[list[Interval]]) -> float:
    return max(intervals[-1][1] for intervals in busy)


def least_time(a: float, b: float, c: float) -> dict[str, float]:
    """The slowest of three engines, and their sum."""
    return {"answer": max(a, b, c), "total": a + b + c}


def end_of_streams(a: float, b: float, c: float) -> float:
    """Two streams that have no engine in common."""
    return max(a + b, c)


def through_a_buffer(gb: float, host: float) -> dict[str, float]:
    """Milliseconds of two copies one after the other."""
    first, second = 1000 * gb / host, 1000 * gb / LINK
    return {"answer": first + second, "first": first, "second": second}


def rest_of_first_engine(a: float, b: float, c: float) -> dict[str, float]:
    """Per cent of a + b + c that is not a."""
    return {"answer": 100 * (b + c) / (a + b + c), "total": a + b + c}


def gain_of_pinning(slow: float, gb: float) -> dict[str, float]:
    """Milliseconds that copies both ways become shorter."""
    before, after = 2000 * gb / slow, 2000 * gb / LINK
    return {"answer": before - after, "before": before, "after": after}


def gain_of_a_program(once: float, saved: float, rounds: int) -> float:
    """Milliseconds saved in all rounds, less what was spent once."""
    return rounds * saved - once


def with_faster_link(a: float, b: float, c: float) -> float:
    """A sum whose copies are halved."""
    return a / 2 + b + c / 2


def first_byte_out(a: float, b: float) -> float:
    """A copy and a kernel of the whole array."""
    return a + b


def first_kernel(a: float, chunks: int) -> float:
    """The copy of the first part."""
    return a / chunks


def time_in_one_stream(a: float, b: float, chunks: int) -> float:
    """One stream: a sum, whatever the chunks."""
    return _end(_timeline(chunks, 1, [a / chunks, b / chunks, a / chunks]))


def start_of_chunk(a: float, b: float, c: float, chunk: int) -> dict[str, float]:
    """When a chunk's copy in begins in one stream."""
    busy = _timeline(chunk + 1, 1, [a, b, c])
    return {"answer": busy[0][chunk][0], "each": a + b + c}


def time_with_calls(fixed: float, chunks: int) -> float:
    """Milliseconds of three steps one after the other, with `fixed` microseconds for each command."""
    return 3 * WHOLE + 3 * chunks * fixed / 1000


def time_of_two_streams(chunks: int, t: float) -> dict[str, float]:
    """The end of a schedule of two streams and equal steps."""
    return {"answer": _end(_timeline(chunks, 2, [t] * 3)), "each": 3 * t, "before": 3 * t * chunks}


def work_of_kernel_engine(a: float, b: float, c: float) -> dict[str, float]:
    """Per cent of the time that the second engine works, in the middle of a long schedule of two streams."""
    kernels = _timeline(100, 2, [a, b, c])[1]
    period = kernels[52][0] - kernels[50][0]
    return {"answer": 100 * 2 * b / period, "period": period}


def one_engine_alone(chunks: int, t: float) -> dict[str, float]:
    """Milliseconds in which one of three engines works, with two streams and equal steps."""
    busy = _timeline(chunks, 2, [t] * 3)
    end = _end(busy)
    middles = [(step + 0.5) * t for step in range(round(end / t))]
    working = [sum(a < middle < b for engine in busy for a, b in engine) for middle in middles]
    return {"answer": t * working.count(1), "total": end}


def time_of_more_streams(streams: int, chunks: int, t: float) -> float:
    """The end of a schedule of equal steps."""
    return _end(_timeline(chunks, streams, [t] * 3))


def loss_of_chunks(fixed: float, chunks: int) -> dict[str, float]:
    """Milliseconds at both ends, and those that `fixed` microseconds a chunk add."""
    ends, calls = 2 * WHOLE / chunks, chunks * fixed / 1000
    return {"answer": ends + calls, "ends": ends, "calls": calls}


def both_ways(both: float, gb: float) -> float:
    """Milliseconds of copies in both directions at once."""
    return 1000 * gb / both


def share_of_ends(chunks: int) -> dict[str, float]:
    """Per cent of a schedule of full overlap and equal steps in which not all engines work."""
    return {"answer": 100 * 4 / (chunks + 2), "steps": chunks + 2}


def forward_waits(chunks: int) -> int:
    """Two edges for each chunk: copy in to kernel, kernel to copy out."""
    return 2 * chunks


def backward_waits(chunks: int, buffers: int) -> int:
    """Two edges for each chunk that finds a used pair of buffers."""
    return 2 * (chunks - buffers)


def share_of_link(both: float, time: float) -> dict[str, float]:
    """Per cent of the time of a GB that the link takes."""
    least = 1000 / both
    return {"answer": 100 * least / time, "least": least}


def time_of_a_chunk(calls: int, each: float, step: float) -> dict[str, float]:
    """The slower of an engine's step and the host's calls."""
    return {"answer": max(step, calls * each), "host": calls * each}


def calls_with_a_graph(chunks: int, rounds: int) -> dict[str, float]:
    """The calls of one captured round, and two for each round."""
    capture = 10 * chunks
    return {"answer": capture + 2 * rounds, "capture": capture, "before": (capture + 1) * rounds}


def shorter_by_a_graph(host: float, gpu: float) -> float:
    """Microseconds that a round gains when the host's part falls to 5."""
    return max(host, gpu) - max(5, gpu)


def bound_with_faster_link(copies: float, kernel: float) -> dict[str, float]:
    """The slower of halved copies and the kernel."""
    return {"answer": max(copies / 2, kernel), "half": copies / 2}


def kept_on_the_device(kernels: int, each: float) -> dict[str, float]:
    """Milliseconds of one pass of copies beside all kernels, and of as many passes as kernels."""
    work = kernels * each
    return {"answer": max(WHOLE, work), "work": work, "before": kernels * max(WHOLE, each)}


def left_in_schedule(out: float, kernel: float, time: float) -> dict[str, float]:
    """Per cent of a time by which it exceeds the slower of kernel and both copies at once."""
    bound = max(kernel, 21.2)
    return {"answer": 100 * (time - bound) / time, "bound": bound}


def rate_of_two_copies(host: float, link: float) -> float:
    """GB/s of two copies one after the other."""
    return 1 / (1 / host + 1 / link)


def last_in_buffer(streams: int, chunk: int) -> int:
    """The chunk before in the same stream."""
    return chunk - streams


def order_of_starts() -> list[str]:
    """Commands of four chunks in two streams that begin at different times, the first first."""
    copies, kernels, _ = _timeline(4, 2, [1, 1, 1])
    begin = {f"copy in of chunk {chunk}": start for chunk, (start, _) in enumerate(copies)}
    begin["kernel of chunk 1"] = kernels[1][0]
    return sorted(begin, key=begin.__getitem__)
