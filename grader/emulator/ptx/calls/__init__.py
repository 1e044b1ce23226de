"""Calls of device functions, which kernels that are run no longer have."""
