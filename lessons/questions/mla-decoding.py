"""Probes of MLA decoding: cache, absorbed products, intensity and registers.

Source: FlashMLA, "A Deep-Dive Into the New Flash MLA Kernel" (FLOP and bytes of a cached token) and README (FP8 with
scales, 656 bytes); vLLM, "MLA Common Components" (both ways of computing).
"""

LATENT, ROPE = 512, 64
KEY, OUTPUT = LATENT + ROPE, LATENT
HEAD = 128  # values of a head's key without its rotary part, and of its value
BF16 = 2  # bytes
BYTES_OF_FP8 = LATENT + 4 * 4 + BF16 * ROPE
GROUP = 128  # threads of a warpgroup
TFLOPS = 800  # as the probe says


def kib_a_token(layers: int, heads: int, rope: int, latent: int) -> float:
    """KiB of a token's latents and rotary keys; the heads do not count."""
    return layers * (latent + rope) * BF16 / 1024


def times_the_bytes(kv: int, size: int, format: str) -> dict[str, float]:
    """Bytes of grouped-query attention over those of a latent."""
    grouped, latent = 2 * kv * size * BF16, KEY * BF16 if format == "BF16" else BYTES_OF_FP8
    return {"answer": grouped / latent, "grouped": grouped, "latent": latent}


def up_projection_mflop(context: int, heads: int, how: str) -> dict[str, float | str]:
    """MFLOP of both up-projections: for each cached token, or for the new one alone."""
    expanded = "expand" in how
    rows = f"each of {context:,} tokens" if expanded else "only the new token"
    answer = 2 * LATENT * heads * 2 * HEAD * (context if expanded else 1) / 1e6
    return {"answer": answer, "rows": rows}


def stages_kib(stages: int, tokens: int) -> float:
    """KiB of key blocks; the values are a part of them."""
    return stages * tokens * KEY * BF16 / 1024


def intensity(heads: int, queries: int, bytes: int) -> float:
    """FLOP of both products for each byte of the cache."""
    return _flop(heads * queries) / bytes


def kernel_us(batch: int, context: int, bandwidth: float, heads: int) -> dict[str, float]:
    """Microseconds by arithmetic and by memory."""
    tokens = batch * context
    compute = tokens * _flop(heads) / (TFLOPS * 1e12) * 1e6
    memory = tokens * KEY * BF16 / (bandwidth * 1e12) * 1e6
    return {"answer": max(compute, memory), "compute": compute, "memory": memory}


def cached_tokens(gpus: int, gb: int, kb: int, how: str) -> dict[str, float | str]:
    """Thousands of tokens: the same on each GPU, or other ones on each."""
    one = gb * 1e9 / (kb * 1e3) / 1e3
    if how.startswith("tensor"):
        return {"answer": one, "one": one, "why": "All GPUs keep the same tokens"}
    return {"answer": gpus * one, "one": one, "why": f"{gpus} GPUs keep different tokens"}


def registers_a_thread(heads: int, columns: int, groups: int) -> float:
    """FP32 values of the output tile over the threads that hold it."""
    return heads * columns / (groups * GROUP)


def _flop(heads: int) -> int:
    """FLOP of a cached token's scores and its part of the output."""
    return 2 * heads * (KEY + OUTPUT)
