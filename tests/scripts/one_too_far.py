"""A kernel that writes one element behind its array, and a script that fails afterwards."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

fill = SourceModule("""
__global__ void fill(int *a, int n)
{
    int i = threadIdx.x;
    if (i <= n)
        a[i] = i;
}
""").get_function("fill")


def check(array):
    """The second frame of the traceback."""
    raise ValueError(f"stopped after {array.sum()}")


a = np.zeros(10, np.int32)
fill(drv.InOut(a), np.int32(10), block=(32, 1, 1))
fill(drv.InOut(a), np.int32(9), block=(32, 1, 1))
check(a)
