"""What copies cost a product of two N × N matrices of floats: 2·N³ FLOP on 12·N² bytes."""

FLOAT = 4  # bytes


def kilobytes(n: int) -> dict[str, float]:
    """Two operands in, one result out."""
    moved, flop = 3 * FLOAT * n**2, 2 * n**3
    return {"answer": moved / 1e3, "mflop": flop / 1e6, "intensity": flop / moved}


def products(cpu_us: int, kernel_us: int, copies_us: int) -> int:
    """The smallest T with copies + T · kernel < T · cpu; the CPU's product has to take longer than the kernel's."""
    return copies_us // (cpu_us - kernel_us) + 1


def size(gflop: int, bandwidth_gb: int) -> float:
    """N at which 2·N³ FLOP take the CPU as long as 12·N² bytes take the link; GFLOP/s over GB/s is FLOP a byte."""
    return 6 * gflop / bandwidth_gb
