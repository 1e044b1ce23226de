"""Probes of mpi-openmp-cuda: memory, threads and messages of a program on many nodes. MB / (GB/s) is ms."""

LINE = 64  # bytes
DOUBLE = 8  # bytes


def false_sharing(threads: int, bytes: int) -> dict[str, float]:
    """Threads whose counters lie in the first cache line."""
    per_line = LINE // bytes
    return {"answer": min(threads, per_line), "per_line": per_line}


def copies_of_table(gib: int, ranks: int, threads: int) -> int:
    """GiB of a table that each process loads; its threads share it (MPI standard; OpenMP specification)."""
    return gib * ranks


def halo_kilobytes(n: int, ranks: int) -> float:
    """KB that a rank of a strip decomposition sends: a row to either neighbour."""
    return 2 * n * DOUBLE / 1e3


def threads_of_a_rank(gpus: int, sockets: int, cores: int) -> int:
    """Cores of a node for each of its ranks."""
    return sockets * cores // gpus


def staging_ms(megabytes: int, pcie: int, network: int) -> dict[str, float]:
    """Milliseconds of a copy to the host on one side and from it on the other (An Introduction to CUDA-Aware MPI)."""
    copies, on_wire = 2 * megabytes / pcie, megabytes / network
    return {"answer": copies, "percent": 100 * copies / on_wire, "on_wire": on_wire}


def step_ms(rim: int, inside: int, exchange: int) -> dict[str, float]:
    """Milliseconds of a step whose exchange runs beside the inside."""
    return {"answer": rim + max(inside, exchange), "serial": rim + inside + exchange}


def threads_of_kernels(threads: int, blocks: int, where: str) -> dict[str, float | str]:
    """Each launch starts a grid of its own."""
    launches = threads if where == "within" else 1
    why = (
        f"each of the {threads} host threads makes one" if launches > 1 else "one host thread makes it, once"
    )
    return {"answer": launches * blocks * 256, "why": why}
