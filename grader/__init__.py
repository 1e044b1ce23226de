"""Warpladder: a CUDA workbook with graded kernels."""
