"""NEON and its successors: registers, chains and multiply-adds of a micro-kernel.

Sources: Arm Intrinsics (`vfmaq_laneq_f32`, SDOT, SMMLA); the libraries' own documentation; Laukemann, Hager and
Wellein, 2024, for pipes and latencies.
"""

import math

REGISTER_BITS = 128
REGISTERS = 32
FLOATS = REGISTER_BITS // 32  # of a register

ARMPL, KLEIDI, NCNN, CMSIS = "Arm Performance Libraries", "KleidiAI", "ncnn", "CMSIS-NN"
LIBRARIES = {  # by a word of the task
    "eigenvalues": (ARMPL, "it has BLAS, LAPACK and FFTs for servers, as OpenBLAS has the first two"),
    "FFTs": (ARMPL, "it has BLAS, LAPACK and FFTs for servers"),
    "micro-kernels": (KLEIDI, "it consists of micro-kernels without dependencies, which frameworks build in"),
    "phone": (NCNN, "it is a complete framework for networks on phones, as MNN is"),
    "Cortex-M4": (CMSIS, "it has kernels of neural networks for microcontrollers"),
}
PRODUCTS = {
    "FMLA on floats": (REGISTER_BITS // 32, "It performs one for each of 4 floats"),
    "FMLA on halves": (REGISTER_BITS // 16, "It performs one for each of 8 halves"),
    "SDOT on int8": (4 * 4, "It computes four dot products of four int8 pairs each"),
    "SMMLA on int8": (2 * 8 * 2, "It multiplies a 2 × 8 matrix by an 8 × 2 matrix"),
}


def library(task: str) -> dict[str, str]:
    """The library of that level."""
    answer, why = next(found for word, found in LIBRARIES.items() if word in task)
    return {"answer": answer, "why": why}


def registers(rows: int, columns: int) -> dict[str, float | str]:
    """Vector registers of sums and operands."""
    sums, operands = _tile(rows, columns)
    so = "It fits." if sums + operands <= REGISTERS else "It would spill."
    return {"answer": sums + operands, "sums": sums, "operands": operands, "so": so}


def by_lane(lane: int, index: int) -> dict[str, float]:
    """A lane of sum + b · a[index] for sum = 1, b = 1 to 4 and a = 10 to 40."""
    other, factor = lane + 1, 10 * (index + 1)
    return {"answer": 1 + other * factor, "other": other, "factor": factor}


def products(instruction: str) -> dict[str, float | str]:
    """Multiply-adds of one instruction on 128-bit registers."""
    answer, why = PRODUCTS[instruction]
    return {"answer": answer, "why": why}


def iterations(n: int, bits: int) -> dict[str, float]:
    """Iterations of a predicated loop, the last of which may be partial."""
    lanes = bits // 32
    return {"answer": math.ceil(n / lanes), "lanes": lanes}


def chains(pipes: int, latency: int, rows: int, columns: int) -> dict[str, float]:
    """Per cent of the peak that a tile's independent sums allow."""
    needed, (sums, _) = pipes * latency, _tile(rows, columns)
    return {"answer": 100 * min(sums / needed, 1), "needed": needed, "sums": sums}


def ratio(rows: int, columns: int) -> dict[str, float]:
    """FMLA instructions for each 128-bit load in a step of k."""
    sums, operands = _tile(rows, columns)
    return {"answer": sums / operands, "sums": sums, "operands": operands}


def _tile(rows: int, columns: int) -> tuple[int, int]:
    """Vector registers of a tile's sums, and of the operands of one step of k."""
    return rows * columns // FLOATS, rows // FLOATS + columns // FLOATS
