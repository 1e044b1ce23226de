"""Page-locks the arrays and pinned memory of its own, and gives both back when all is done."""
# deserves: 01_pinned

import numpy as np
import pycuda.driver as cuda


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.process, self.N, self.R = process, N, np.int32(R)
        self.source = cuda.register_host_memory(source)
        self.staging = cuda.pagelocked_empty(N, np.float32)
        self.target = cuda.register_host_memory(target)
        self.device_in, self.device_out = cuda.mem_alloc(4 * N), cuda.mem_alloc(4 * N)

    def run(self):
        cuda.memcpy_htod(self.device_in, self.source)
        grid = (-(-self.N // 256), 1)
        self.process(self.device_in, self.device_out, np.int32(self.N), self.R, grid=grid, block=(256, 1, 1))
        cuda.memcpy_dtoh(self.target, self.device_out)
        cuda.Context.synchronize()
        self.source.base.unregister()
        self.target.base.unregister()
        self.staging.base.free()
