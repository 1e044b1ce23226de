"""Over which link."""


def nvlink_ms(gb: int, **_: object) -> float:
    """Fourth-generation NVLink: 900 GB/s both ways (NVIDIA H100 Tensor Core GPU)."""
    return 1e3 * gb / 450


def network_ms(gb: int, gbit: int) -> dict[str, float]:
    """Eight bits a byte."""
    return {"answer": 1e3 * gb / (gbit / 8), "gbs": gbit / 8}


def ratio(gbit: int, **_: object) -> dict[str, float]:
    """PCIe 5.0: 32 GT/s and 16 lanes, 128b/130b coded, 63 GB/s."""
    return {"answer": 63 / (gbit / 8), "gbs": gbit / 8}
