"""A naive matrix product on Numba's CUDA simulator: prints the seconds of a launch. emulator.py starts it."""

import os
import sys
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when Numba is imported

import numpy as np
from numba import cuda

SIDE = 16  # of a block


@cuda.jit
def gemm(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def main() -> None:
    n = int(sys.argv[1])
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (n, n)).astype(np.float32) for _ in range(2))
    c = cuda.to_device(np.zeros((n, n), np.float32))
    blocks = -(-n // SIDE)
    start = time.perf_counter()
    gemm[(blocks, blocks), (SIDE, SIDE)](cuda.to_device(a), cuda.to_device(b), c)
    seconds = time.perf_counter() - start
    if not np.array_equal(c.copy_to_host(), a @ b):
        sys.exit("the simulator's product is wrong")
    print(seconds)


if __name__ == "__main__":
    main()
