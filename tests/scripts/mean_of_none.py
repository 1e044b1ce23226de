"""Divides the sum of the elements above 5 by their number; where there are none, that is 0 / 0."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void mean(const double* x, double* y, int n)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < n; ++i) {
        if (x[i] > 5.0) {
            sum += x[i];
            ++count;
        }
    }
    y[threadIdx.x] = sum / count;
}
"""

mean = SourceModule(SOURCE).get_function("mean")
for value in (9.0, 1.0, 1.0):
    y = np.zeros(32)
    mean(drv.In(np.full(32, value)), drv.Out(y), np.int32(32), block=(32, 1, 1), grid=(1, 1))
    print(y[0])
