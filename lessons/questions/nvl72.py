"""Probes of NVL72: bytes over NVLink, switches, cards and C2C. MB / (GB/s) is ms, kB / (GB/s) is µs.

Source: TensorRT LLM, "Optimizing MoE Communication with One-Sided AlltoAll Over NVLink": 900 GB/s each way, traffic of
dispatch and combine; nccl-tests, doc/PERFORMANCE.md, for rings.
"""

from fractions import Fraction

GPUS, NODE, RACK = 64, 8, 72
NVLINK5, NVLINK4 = 900, 450  # GB/s each way
CARD = 400 / 8  # GB/s
HBM = 8000  # GB/s


def exchange_us(gpus: int, mb: int) -> float:
    """Microseconds of pieces for all other GPUs, by one direction of NVLink."""
    return (gpus - 1) * mb * 1e3 / NVLINK5


def dispatch_us(tokens: int, hidden: int, k: int, system: str) -> dict[str, float | str]:
    """Microseconds of the slower of NVLink and network; what is for the GPU itself crosses neither."""
    whole = tokens * k * hidden / 1e3  # kB
    domain, rate = (GPUS, NVLINK5) if "one NVLink" in system else (NODE, NVLINK4)
    inside, outside = Fraction(domain - 1, GPUS), Fraction(GPUS - domain, GPUS)
    nvlink, network = whole * inside / rate, whole * outside / CARD
    return {
        "answer": float(max(nvlink, network)), "inside": str(inside), "outside": str(outside),
        "nvlink": float(nvlink), "network": float(network),
    }  # fmt: skip


def step_ms(gb: int, gpus: int, layers: int, us: int) -> dict[str, float]:
    """Milliseconds to read a GPU's share of the weights, and those of the all-reduces."""
    read, reduce = gb / (gpus * HBM) * 1e3, 2 * layers * us / 1e3
    return {"answer": read + reduce, "read": read, "reduce": reduce}


def all_reduce_us(gpus: int, kb: int, us: int, how: str) -> dict[str, float]:
    """Microseconds by latency and by what leaves a GPU."""
    ring = how == "in a ring"
    steps = 2 * (gpus - 1) if ring else 2
    sent = kb * (2 * (gpus - 1) / gpus if ring else 1 + 1 / gpus)
    return {"answer": steps * us + sent / NVLINK5, "steps": steps, "sent": sent}


def fetch_ms(gb: int, memory: int, link: int) -> dict[str, float]:
    """Milliseconds of both GPUs' loads by the slower of the CPU's memory and one direction of the link."""
    way = link / 2
    return {"answer": 2 * gb / min(memory, way) * 1e3, "way": way}


def gradients_ms(racks: int, billions: int, gbit: int) -> dict[str, float]:
    """Milliseconds of a ring over the racks with one GPU's part, two bytes a parameter."""
    part, rate = 2 * billions / RACK, gbit / 8
    return {"answer": 2 * (racks - 1) / racks * part / rate * 1e3, "part": part, "rate": rate}
