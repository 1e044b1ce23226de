"""What copies cost a product of two N × N matrices of floats: 2·N³ FLOP on 12·N² bytes.

Source: the definition of the product; a copy's fixed cost and rate as in the lesson on transfers.
"""

FLOAT = 4  # bytes
MATRICES = 3  # two operands in, one result out


def kilobytes(n: int) -> dict[str, float]:
    """Two operands in, one result out."""
    moved, flop = MATRICES * FLOAT * n**2, 2 * n**3
    return {"answer": moved / 1e3, "mflop": flop / 1e6, "intensity": flop / moved}


def flop_a_byte(n: int) -> float:
    """FLOP for each byte that crosses the link."""
    return 2 * n**3 / (MATRICES * FLOAT * n**2)


def with_copies(n: int, fixed: float, bandwidth: float, kernel: float) -> dict[str, float]:
    """Microseconds of a product with its three copies; KB over GB/s are µs."""
    kb = FLOAT * n**2 / 1e3
    copy = fixed + kb / bandwidth
    return {"answer": MATRICES * copy + kernel, "kb": kb, "copy": copy}


def twice_the_link(kb: float, fixed: float, bandwidth: float) -> dict[str, float]:
    """How many times as fast a copy is over a link with twice the bandwidth."""
    before, after = fixed + kb / bandwidth, fixed + kb / (2 * bandwidth)
    return {"answer": before / after, "before": before, "after": after}


def resident(copies: float, kernel: float, cpu: float, products: int) -> dict[str, float]:
    """The CPU's time over the GPU's, with copies once."""
    gpu, all_cpu = copies + products * kernel, products * cpu
    return {"answer": all_cpu / gpu, "gpu": gpu, "all_cpu": all_cpu, "naive": cpu / (copies + kernel)}


def launched(work: float, products: int, call: float) -> float:
    """Microseconds a product in a long row: the slower of launching and computing sets the pace."""
    del products
    return max(work, call)


def products(cpu_us: int, kernel_us: int, copies_us: int) -> int:
    """The smallest T with copies + T · kernel < T · cpu; the CPU's product has to take longer than the kernel's."""
    return copies_us // (cpu_us - kernel_us) + 1


def size(gflop: int, bandwidth_gb: int) -> float:
    """N at which 2·N³ FLOP take the CPU as long as 12·N² bytes take the link; GFLOP/s over GB/s is FLOP a byte."""
    return 6 * gflop / bandwidth_gb
