"""Warpladder: a CUDA workbook with graded kernels."""

__version__ = "0.2.0"
