"""CUDA C++ to PTX, cubin and resources: NVRTC in a process of its own, its answers cached."""
