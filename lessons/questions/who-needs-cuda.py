"""When a kernel of one's own pays. Source of the sums: Amdahl, 1967; Williams et al., Roofline, 2009."""


def most_gain(share: int, reached: int) -> dict[str, float]:
    """Amdahl's law, with the bound as the best case."""
    rest = 100 - reached
    return {"answer": 1 / (1 - share * rest / 1e4), "rest": rest}


def cheapest_cure(case: str) -> dict[str, str]:
    """By what the time goes to."""
    if "gaps" in case:
        return {
            "answer": "CUDA Graphs",
            "why": "Launch overhead is the limit, and the same launches are repeated",
        }
    if "loader" in case:
        return {"answer": "More loader workers", "why": "No kernel is slow, but the data arrive late"}
    if "Eleven" in case:
        return {
            "answer": "torch.compile to fuse them",
            "why": "A compiler can fuse a plain chain of element-wise operations",
        }
    return {
        "answer": "A kernel in Triton or CUDA",
        "why": "It is a large share of the time, and neither a compiler nor a library helps",
    }


def fused_ms(k: int, mb: int) -> dict[str, float]:
    """MB at 4 TB/s, in ms."""
    saved = 2 * (k - 1) * mb
    return {"answer": saved / 4e3, "saved": saved}


def worth_it(hours: int, price: int, factor: float, weeks: int, months: int) -> dict[str, float]:
    """Savings less work."""
    saved, work = hours * price * (1 - 1 / factor), weeks * 4000
    return {"answer": months * saved - work, "saved": saved, "work": work}
