"""Sums about convolution as GEMM, by Winograd and by FFT.

Sources: Chetlur et al., 2014 (im2col, implicit GEMM); Lavin and Gray, 2015 (Winograd); Mathieu et al., 2013 (FFT).
"""


def im2col_mb(n: int, c: int, side: int, r: int) -> dict[str, float]:
    """MB of the matrix of patches in FP16."""
    depth, columns = c * r * r, n * side * side
    return {"answer": 2 * depth * columns / 1e6, "depth": depth, "columns": columns, "times": r * r}


def gemm_side(k: int, r: int, c: int, n: int, side: int) -> float:
    """Length of the dot products: C·R·S."""
    return c * r * r


def saved_traffic(mb: int, r: int) -> dict[str, float]:
    """MB of im2col's matrix, written and read."""
    return {"answer": 2 * r * r * mb, "square": r * r}


def winograd_saving(m: int, r: int) -> dict[str, float]:
    """m²·r² / (m + r − 1)² (Lavin and Gray, 2015)."""
    direct, fast = m * m * r * r, (m + r - 1) ** 2
    return {"answer": direct / fast, "direct": direct, "fast": fast}


def winograd_weights(m: int, mb: int) -> dict[str, float]:
    """MB of transformed 3 × 3 filters."""
    values = (m + 2) ** 2
    return {"answer": mb * values / 9, "values": values}


def fft_saving(r: int) -> dict[str, float]:
    """r² over the real multiplications an output by FFT on tiles of 32 × 32."""
    each = 4 * 32 * 17 / (33 - r) ** 2
    return {"answer": r * r / each, "each": each, "direct": r * r}


def with_tensor_cores(tensor: int, plain: int, m: int) -> dict[str, float]:
    """Time of Winograd on ordinary units over that of implicit GEMM on Tensor Cores."""
    saving, slower = 9 * m * m / (m + 2) ** 2, tensor / plain
    return {"answer": slower / saving, "saving": saving, "slower": slower}
