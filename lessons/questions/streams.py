"""Probes of streams: when work in streams is done."""

from math import ceil


def streams_done(copy_in: int, kernel: int, copy_out: int, third: int) -> dict[str, float]:
    """Milliseconds of two streams whose work is done by three engines that do not disturb each other.

    CUDA C++ Programming Guide, "Streams": a stream's commands run in order, different streams' with no order.
    """
    one = copy_in + kernel + (copy_out if third == 1 else 0)
    two = copy_out if third == 2 else 0
    return {"answer": max(one, two), "one": one, "two": two}


def host_goes_on(calls: int, kernel: int, call: int) -> dict[str, float]:
    """Microseconds until a host has enqueued so many launches (Programming Guide, "Asynchronous Execution")."""
    return {"answer": calls * call, "done": calls * kernel}


def event_done(a: int, b: int, c: int, d: int) -> dict[str, float]:
    """Milliseconds of two streams, the second of which waits for the first one's first kernel (cudaStreamWaitEvent)."""
    first, start = a + b, max(a, c)
    return {"answer": max(first, start + d), "first": first, "start": start, "second": start + d}


def default_done(a: int, b: int, c: int, made: str, option: str) -> dict[str, float | str]:
    """Milliseconds of three kernels, the second in the default stream.

    CUDA Driver API, "Stream synchronization behavior": the legacy default stream waits for all blocking streams, and
    they for it; the per-thread default stream is like any other blocking stream.
    """
    if "per-thread" in option:
        return {"answer": max(a, b, c), "why": "The per-thread default stream is like any other stream"}
    if "NonBlocking" in made:
        return {
            "answer": max(a, b, c),
            "why": "Non-blocking streams do not wait for the legacy default stream",
        }
    return {
        "answer": a + b + c,
        "why": "The kernel in the legacy default stream waits for s1, and s2 waits for that kernel",
    }


def overlapped_ms(copy_in: int, kernel: int, copy_out: int, chunks: int) -> dict[str, float]:
    """Milliseconds of a pipeline of three stages whose work comes in equal chunks.

    The first chunk passes all stages; then the slowest stage completes one chunk after the other. This is the
    ladder streams' bound for rungs 04 to 07, t + 2t/c where the three steps take t each.
    """
    serial = copy_in + kernel + copy_out
    slowest = max(copy_in, kernel, copy_out)
    first, beat, rest = serial / chunks, slowest / chunks, chunks - 1
    return {
        "answer": first + rest * beat,
        "first": first,
        "beat": beat,
        "rest": rest,
        "slowest": slowest,
        "serial": serial,
    }


def most_saved(copy_in: int, kernel: int, copy_out: int) -> dict[str, float]:
    """Per cent of a job that perfect overlap hides: all but its longest step."""
    total, longest = copy_in + kernel + copy_out, max(copy_in, kernel, copy_out)
    return {"answer": 100 * (total - longest) / total, "longest": longest, "total": total}


def two_full_kernels(places: int, blocks: int, ms: int) -> dict[str, float]:
    """Milliseconds of two equal kernels whose blocks take the places of a GPU as these become free."""
    waves = ceil(2 * blocks / places)
    return {
        "answer": waves * ms,
        "all_blocks": 2 * blocks,
        "waves": waves,
        "serial": 2 * ceil(blocks / places) * ms,
    }
