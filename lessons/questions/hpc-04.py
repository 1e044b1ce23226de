"""Numbers of hpc-04: how long a pipeline of copies and kernels takes."""


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
