"""The kernels of gpu_results.py: one module a kind of instruction."""
