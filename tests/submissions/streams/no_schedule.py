"""There is no class Schedule, only a script."""

import pycuda.driver as cuda

print(cuda)
