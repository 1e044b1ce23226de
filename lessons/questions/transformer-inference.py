"""Sums about transformers. Sources: Pope et al., 2022 (costs); Leviathan et al., 2022 (speculative decoding)."""


def parameters(layers: int, d: int, kv: int, times: int) -> dict[str, float]:
    """Millions of weights in the layers."""
    kv_part, mlp = 2 * kv / 32, 2 * times
    each = 2 + kv_part + mlp
    return {"answer": layers * each * d * d / 1e6, "kv_part": kv_part, "mlp": mlp, "each": each}


def tokens_a_second(billions: int, bits: int, bandwidth: float) -> dict[str, float]:
    """Bandwidth over the bytes of all weights."""
    gb = billions * bits / 8
    ms = gb / bandwidth
    return {"answer": 1e3 / ms, "gb": gb, "ms": ms}


def first_token_ms(billions: int, prompt: int, tflops: int) -> dict[str, float]:
    """The longer of 2 FLOP a parameter and token, and of reading 2 bytes a parameter."""
    arithmetic, memory = 2 * billions * prompt / tflops, 2 * billions / 4
    return {"answer": max(arithmetic, memory), "arithmetic": arithmetic, "memory": memory}


def cache_kib(layers: int, kv: int, bytes: int) -> float:
    """KiB of keys and values of a token."""
    return 2 * layers * kv * 128 * bytes / 1024


def sequences(memory: int, kb: int, length: int) -> dict[str, float]:
    """Whole sequences that fit."""
    exact = memory * 1e6 / (kb * length)
    return {"answer": int(exact), "exact": exact}


def step_ms(gb: int, kv: float, batch: int) -> dict[str, float]:
    """Throughput at a batch over that at batch 1."""
    one, many = (gb + kv) / 4, (gb + kv * batch) / 4
    return {"answer": batch * one / many, "one": one, "many": many}


def tokens_a_pass(k: int, alpha: float) -> float:
    """(1 − α^(k+1)) / (1 − α) (Leviathan et al., 2022)."""
    return sum(alpha**i for i in range(k + 1))
