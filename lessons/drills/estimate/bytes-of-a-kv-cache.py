"""The KV cache of a token."""


def mha_kib(layers: int, heads: int, **_: object) -> float:
    """Keys and values of every layer and head (Pope et al., 2022), two bytes each."""
    return 2 * 2 * layers * heads * 128 / 1024


def gqa_kib(layers: int, kv: int, **_: object) -> float:
    """The same of the shared heads only (Ainslie et al., 2023)."""
    return 2 * 2 * layers * kv * 128 / 1024


def sequence_gib(layers: int, kv: int, tokens: int, **_: object) -> dict[str, float]:
    """Tokens times bytes of a token."""
    kib = gqa_kib(layers, kv)
    return {"answer": tokens * kib / 2**20, "kib": kib}
