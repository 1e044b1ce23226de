"""What main.cu of SAXPY has to print."""

import numpy as np

BLOCK = 256


def runs(rng):
    """Sizes that nobody knows before, among them one that is no multiple of a block; 1; whole blocks; 0; and more than
    1024 blocks, which no block has in threads."""
    sizes = (
        BLOCK * rng.randint(4, 8) + rng.randint(1, BLOCK - 1),
        1,
        BLOCK * rng.randint(2, 6),
        BLOCK * rng.randint(1025, 1200) + rng.randint(1, BLOCK - 1),
        0,
    )
    return [{"N": size, "a": rng.randint(2, 9)} for size in sizes]


def printed(problem):
    """The checksum of y = a * x + y; every term is a whole number, so that no rounding is in it."""
    x, y = _inputs(problem)
    return {"checksum": _checksum(problem["a"] * x + y)}


def mistakes(problem):
    """Checksums that tell which array the kernel has never got: memory of the emulated GPU is zero at the start."""
    a, (x, y) = problem["a"], _inputs(problem)
    yield {"checksum": _checksum(y)}, "the kernel finds zeros where x should be", _copy("x")
    yield {"checksum": _checksum(a * x)}, "the kernel finds zeros where y should be", _copy("y")
    yield {"checksum": 0.0}, "the kernel finds zeros where x and y should be", _copy("x") + " So with y."


def _copy(name):
    return (
        f"Before the launch, copy {name} to d_{name}: "
        f"cudaMemcpy(d_{name}, {name}.data(), nbytes, cudaMemcpyHostToDevice)."
    )


def _inputs(problem):
    """x and y as main fills them."""
    i = np.arange(problem["N"], dtype=np.float64)
    return i % 1000, i % 7


def _checksum(y):
    weights = np.arange(y.size) % 31 + 1
    return float((weights * y).sum())
