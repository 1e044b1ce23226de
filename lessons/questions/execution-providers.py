"""Probes of execution-providers: who runs what, and what the borders cost. MB are powers of ten."""

from itertools import pairwise

SUPPORTS = {
    "TensorRT": {"Conv", "Relu"},
    "CUDA": {"Conv", "Relu", "Gather"},
    "CPU": {"Conv", "Relu", "Gather", "NonMaxSuppression"},
}
HOST_ONLY = {"NMS", "Unique"}


def unit_of_work(nodes: int, holes: int, sort: str) -> dict[str, int | str]:
    """Subgraphs between holes of a chain, or single nodes."""
    if sort.startswith("compiles"):
        return {
            "answer": holes + 1,
            "why": f"Each unsupported node divides the chain once more, so the number of subgraphs is {holes} + 1",
        }
    return {"answer": nodes - holes, "why": f"There is one kernel for each supported node, {nodes} − {holes}"}


def who_runs(providers: str, node: str) -> str:
    """The first provider of the list that supports the node (ONNX Runtime, Execution Providers)."""
    listed = [*providers.removesuffix(" alone").split(", "), "CPU"]
    return next(name for name in listed if node in SUPPORTS[name])


def copies(chain: str) -> dict[str, int | str]:
    """Changes of side along a chain that begins and ends in host memory."""
    sides = ["CPU" if node in HOST_ONLY else "GPU" for node in chain.split(", ")]
    changes = sum(a != b for a, b in pairwise(["CPU", *sides, "CPU"]))
    return {"answer": changes, "placed": ", ".join(sides)}


def run_ms(gpu: int, cpu: int, hole: int, megabytes: int) -> dict[str, float]:
    """Time of the CPU over that of a model with a hole and two copies at 10 GB/s."""
    total = gpu + hole + 2 * megabytes / 10
    return {"answer": cpu / total, "total": total}


def cache_ms(megabytes: int, rate: int, kernels: int) -> dict[str, float]:
    """A step with copies in and out over one without."""
    copied = 2 * megabytes / rate
    return {"answer": (copied + kernels) / kernels, "copied": copied}


def engine_builds(batches: str) -> dict[str, int | str]:
    """Requests outside the range seen before them (ONNX Runtime, TensorRT Execution Provider)."""
    seen: list[int] = []
    at = []
    for batch in map(int, batches.split(", ")):
        if not seen or not min(seen) <= batch <= max(seen):
            at.append(str(batch))
        seen.append(batch)
    return {"answer": len(at), "at": ", ".join(at)}
