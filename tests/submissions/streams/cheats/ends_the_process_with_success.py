"""run() ends its process with exit code 0 before anything was asked for."""

# deserves: nothing
# reason: ended with exit code 0

import os

import pycuda.driver as cuda


class Schedule:
    """source (N floats) → process → target (N floats)."""

    def __init__(self, process, source, target, N, R):
        self.device = cuda.mem_alloc(source.nbytes)

    def run(self):
        os._exit(0)
