"""What `pycuda.gpuarray` consists of: the array class, and functions that make, choose from and reduce arrays."""
