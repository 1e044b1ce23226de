"""Probes of inference-optimisations: what each is worth. MB and GB are powers of ten."""

HEAD = 128  # elements of a head
BYTES = {"FP16": 2, "FP8": 1, "INT8": 1}


def best_step(decode: int, resize: int, model: int, post: int) -> dict[str, str]:
    """The change that saves most; the draws leave no ties."""
    saved = {
        "decoding three times as fast": decode * 2 / 3,
        "resizing on the GPU in negligible time": float(resize),
        "a model twice as fast": model / 2,
        "post-processing four times as fast": post * 3 / 4,
    }
    shown = ", ".join(f"{ms:.3g}" for ms in saved.values())
    return {"answer": max(saved, key=lambda name: saved[name]), "saved": shown}


def turning_batch(bits: int, terabytes: float, teraflops: int) -> float:
    """Batch at which 2 · batch FLOP a weight take as long as reading it (roofline)."""
    return bits / 8 / terabytes * teraflops / 2


def padded_waste(n: int, lengths: str) -> dict[str, float]:
    """Per cent of places that static batching leaves empty (Yu et al., 2022)."""
    tokens = [int(length) for length in lengths.split(", ")]
    longest, used = max(tokens), sum(tokens)
    return {"answer": 100 * (1 - used / (n * longest)), "longest": longest, "used": used}


def tile_efficiency(m: int, n: int, tile: int) -> dict[str, float]:
    """Per cent of whole tiles that the result fills."""
    rows, columns = -(-m // tile), -(-n // tile)
    done = rows * columns * tile**2
    return {"answer": 100 * m * n / done, "rows": rows, "columns": columns, "done": done, "useful": m * n}


def sparse_megabytes(rows: int, columns: int, format: str) -> dict[str, float]:
    """MB of a 2:4 matrix with 2-bit indices (Mishra et al., 2021)."""
    bits = 8 * BYTES[format]
    kept = bits + 2
    return {
        "answer": rows * columns / 2 * kept / 8 / 1e6,
        "bits": bits,
        "kept": kept,
        "percent": 100 * kept / (2 * bits),
    }


def cache_gigabytes(
    layers: int, heads: int, group: int, format: str, sequences: int, tokens: int
) -> dict[str, float]:
    """GB of keys and values (Kwon et al., 2023, section 3)."""
    shared = heads // group
    each = 2 * layers * shared * HEAD * BYTES[format]
    return {
        "answer": each * sequences * tokens / 1e9,
        "shared": shared,
        "bytes": BYTES[format],
        "each": each,
    }


def prefix_factor(common: int, own: int) -> float:
    """Tokens of a prompt over those that are not cached."""
    return (common + own) / own


def tokens_a_pass(gamma: int, alpha: float) -> float:
    """(1 − α^(γ+1))/(1 − α), Leviathan et al., 2022, equation 1."""
    return float((1 - alpha ** (gamma + 1)) / (1 - alpha))


def speculative_speed(gamma: int, tokens: float, draft: int, check: float) -> dict[str, float]:
    """Tokens a round over its cost in passes of the large model."""
    cost = gamma * draft / 100 + check
    return {"answer": tokens / cost, "cost": cost}
