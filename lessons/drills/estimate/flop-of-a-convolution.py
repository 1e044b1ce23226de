"""A convolution as a matrix product."""


def gigaflop(n: int, size: int, c: int, k: int) -> float:
    """2·N·P·Q·K·C·R·S (Convolutional Layers User's Guide)."""
    return 2 * n * size**2 * k * c * 9 / 1e9


def inner(c: int, **_: object) -> float:
    """C·R·S: the K dimension of the implicit GEMM (Convolutional Layers User's Guide)."""
    return 9 * c


def columns(n: int, size: int, c: int, **_: object) -> float:
    """The unrolled matrix of N·P·Q × C·R·S halves, in MB."""
    return 2 * 9 * c * n * size**2 / 1e6
