"""Probes of kernel-fusion-epilogues: bytes, clocks and places. µs are FLOP / (TFLOP/s) / 10⁶ and MB / (TB/s).

A kernel bound by memory takes bytes over bandwidth (Williams et al., Roofline, 2009).
"""

HALF = 2  # bytes

PASSES = {
    "one kernel for bias and GELU": 2,
    "a kernel for the bias and another for GELU": 4,
    "a kernel for the bias and another that adds a residual matrix": 4,
}

FACTORS = {
    "each token of X by 1/rms of that token": (
        "also after the product, on the rows of Y",
        "A token's factor is the same in all products of its row, so it can be taken out of the sum",
    ),
    "each feature of X (column of X) by a learned weight": (
        "only before the product",
        "A feature's weight is different in each term of the sum over K, but it can be folded into the rows of W",
    ),
    "each output column of W by its quantisation scale": (
        "also after the product, on the columns of Y",
        "A column's scale is the same in all terms of the sum for that column",
    ),
    "each row of W by a scale of that input feature": (
        "only before the product",
        "A row of W belongs to one term of the sum over K, so each term has another factor",
    ),
}  # fmt: skip


def megabytes_saved(rows: int, columns: int, kernels: str) -> dict[str, float | str]:
    """MB that separate kernels read and write beyond what the fused one must."""
    matrix, passes = rows * columns * HALF / 1e6, PASSES[kernels]
    besides = "; the residual is read in both cases" if "residual" in kernels else ""
    return {"answer": passes * matrix, "matrix": matrix, "passes": passes, "besides": besides}


def speed_of_fusion(n: int, k: int, tflops: int, bandwidth: int) -> dict[str, float]:
    """Product and bias kernel over the product alone, both in µs."""
    product = 2 * n * n * k / (tflops * 1e6)
    extra = 2 * n * n * HALF / (bandwidth * 1e6)
    return {"answer": (product + extra) / product, "product": product, "extra": extra}


def percent_of_tensor(step: int, epilogue: int, k: int, how: str) -> dict[str, float]:
    """The main loop's share of the time; in turns, a tile's main loop hides the other's epilogue."""
    main = k // 64 * step
    time = main + epilogue if "after" in how else max(main, (main + epilogue) / 2)
    return {"answer": 100 * main / time, "main": main}


def place_of_factor(factor: str) -> dict[str, str]:
    """Which factors can be taken out of the sum over K."""
    answer, why = FACTORS[factor]
    return {"answer": answer, "why": why}


def blocks_of_a_row(tile: int, columns: int, size: int) -> dict[str, float]:
    """Partial sums of a row that are left after clusters have added theirs."""
    tiles = columns // tile
    return {"answer": -(-tiles // size), "tiles": tiles}


def intermediate_kib(hidden: int, rows: int) -> float:
    """KiB of a block's rows of the hidden layer."""
    return rows * hidden * HALF / 1024


def gate_partner(group: int, unit_index: int) -> dict[str, float]:
    """The column of W₃'s element beside that of W₁."""
    block, place = divmod(unit_index, group)
    return {"answer": 2 * group * block + group + place, "block": block, "place": place}
