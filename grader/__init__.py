"""Warpladder: a CUDA workbook with graded kernels."""

__version__ = "0.1.0"
