"""Probes of rdma: who moves bytes, over what, and how far."""

SIGNS = {
    "UDP packets to port 4791": ("RoCE version 2", "it is the transport of InfiniBand in UDP"),
    "Ethernet frames of type 0x8915 and no IP header": (
        "RoCE version 1",
        "its packets are directly in Ethernet frames, and do not pass a router",
    ),
    "TCP connections that the cards keep": ("iWARP", "it puts RDMA over TCP"),
    "no Ethernet frames at all, and a subnet manager": (
        "InfiniBand",
        "it is a separate kind of network, and the subnet manager sets its paths",
    ),
    "IP packets that a router passes on, and no TCP": ("RoCE version 2", "version 1 has no IP header"),
}
"""InfiniBand Architecture Specification, annexes A16 and A17; RFC 5040."""

JOBS = {
    "a checkpoint is loaded from NVMe into a GPU": ("GPUDirect Storage", "The data go from a disk to a GPU"),
    "one GPU copies to another one in the same server": ("GPUDirect P2P", "Both GPUs are in one node"),
    "a network card sends a buffer of a GPU": (
        "GPUDirect RDMA",
        "The network card reads GPU memory directly",
    ),
    "an all-reduce crosses from node to node": (
        "GPUDirect RDMA",
        "Between nodes, network cards have to read GPU memory",
    ),
}

PATHS = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Shortest first, by the legend that `nvidia-smi topo -m` prints."""


def both_done(gigabytes: int, link: int, work: int) -> dict[str, float]:
    """Milliseconds of a copy by an engine and of the host's work beside it."""
    copy = 1e3 * gigabytes / link
    return {"answer": max(copy, work), "copy": copy}


def useful_packets(every: int, flight: int) -> float:
    """Per cent of the packets that are of use where one in `every` is lost and takes `flight` with it (go back N)."""
    return 100 * (every - flight) / every


def seen_on_the_wire(sign: str) -> dict[str, str]:
    """Which of the networks shows this."""
    network, reason = SIGNS[sign]
    return {"answer": network, "reason": reason}


def host_traffic(gigabytes: int) -> int:
    """GB to and from both hosts' memories: a write and a read on either side (NVIDIA: GPUDirect RDMA)."""
    return 4 * gigabytes


def which_direct(job: str) -> dict[str, str]:
    """Which form of GPUDirect is meant for the job."""
    form, reason = JOBS[job]
    return {"answer": form, "reason": reason}


def nearest_card(row: str) -> dict[str, str]:
    """The card with the shortest path to the GPU."""
    paths = row.split()
    best = min(paths, key=PATHS.index)
    return {"answer": f"mlx5_{paths.index(best)}", "best": best}
