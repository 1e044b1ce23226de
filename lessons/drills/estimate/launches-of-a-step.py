"""Launch overhead of a training step."""


def step_ms(kernels: int, launch: int, run: int) -> dict[str, float]:
    """Launches are asynchronous: host and GPU overlap (Gray, 2019)."""
    slower = max(launch, run)
    return {"answer": kernels * slower / 1e3, "slower": slower}


def idle(kernels: int, launch: int, run: int) -> dict[str, float]:
    """What the GPU waits for the host."""
    work, whole = kernels * run / 1e3, kernels * max(launch, run) / 1e3
    return {"answer": 100 * (1 - work / whole), "work": work, "whole": whole}
