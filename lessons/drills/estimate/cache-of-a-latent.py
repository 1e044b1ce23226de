"""Caching a latent."""


def mla_kib(latent: int, rope: int, layers: int) -> float:
    """(d_c + d_R) numbers for each token and layer (DeepSeek-V2, section 2.1)."""
    return 2 * layers * (latent + rope) / 1024


def times(latent: int, rope: int, **_: object) -> float:
    """2·n_h·d_h numbers of MHA over those of MLA (DeepSeek-V2, table 1)."""
    return 2 * 128 * 128 / (latent + rope)


def groups(latent: int, rope: int, **_: object) -> float:
    """2·n_g·d_h numbers of GQA (DeepSeek-V2, table 1)."""
    return (latent + rope) / (2 * 128)
