"""Probes of expert-parallel: bytes, copies, buffers and times of dispatch and combine.

Source: DeepEP's README and docs/legacy.md, low_latency_dispatch in deep_ep/buffers/legacy.py; DeepGEMM's README.
"""

import math
import re

EXPERTS_A_GPU, GPUS_A_NODE = 8, 8  # of the probe's cluster
SCALED = 128  # values to an FP32 scale
SMS, HELD = 132, 24


def kilobytes_a_token(hidden: int, copies: int, way: str) -> dict[str, float | str]:
    """h (1 + 4/128) bytes a copy in FP8, 2 h in BF16."""
    dispatch = way.startswith("dispatch")
    one = hidden * (1 + 4 / SCALED) if dispatch else 2 * hidden
    of_one = f"{hidden:,} · (1 + 4/{SCALED})" if dispatch else f"{hidden:,} · 2"
    return {"answer": one * copies / 1000, "one": one, "of_one": of_one}


def network_copies(home: int, chosen: str, scheme: str) -> dict[str, int | str]:
    """Experts, their GPUs or their nodes that are not on the token's own node."""
    experts = _numbers(chosen)
    gpus = sorted({expert // EXPERTS_A_GPU for expert in experts})
    nodes = sorted({gpu // GPUS_A_NODE for gpu in gpus})
    if "each expert" in scheme:
        answer = sum(expert // (EXPERTS_A_GPU * GPUS_A_NODE) != home for expert in experts)
    elif "each GPU" in scheme:
        answer = sum(gpu // GPUS_A_NODE != home for gpu in gpus)
    else:
        answer = sum(node != home for node in nodes)
    return {"answer": answer, "nodes": _listed(nodes), "gpus": _listed(gpus)}


def buffer_mb(experts: int, ranks: int, most: int, hidden: int) -> dict[str, float]:
    """Local experts · ranks · most tokens · hidden size, in MB."""
    local = experts // ranks
    return {"answer": local * ranks * most * hidden / 1e6, "local": local}


def percent_filled(experts: int, k: int, tokens: int) -> dict[str, float]:
    """Received rows over the buffer's rows, in per cent; the 32 GPUs cancel out."""
    local = experts // 32
    return {"answer": 100 * tokens * k / (local * 32 * 128), "local": local}


def rows_of_gemm(received: str, layout: str) -> dict[str, int | str]:
    """Segments padded to the alignment, or the fixed buffer."""
    counts = _numbers(received)
    numbers = _numbers(layout)
    if "masked" in layout:
        ranks, most = numbers
        return {
            "answer": len(counts) * ranks * most,
            "how": f"{len(counts)} experts · {ranks} ranks · {most} rows, however many tokens came",
        }
    padded = [math.ceil(count / numbers[0]) * numbers[0] for count in counts]
    return {"answer": sum(padded), "how": f"Each segment is rounded up: {' + '.join(map(str, padded))}"}


def layer_time(compute: int, network: int, how: str) -> dict[str, float | str]:
    """Two micro-batches: sums, or the longer of both resources' work."""
    if how.startswith("Nothing"):
        return {
            "answer": 2 * (compute + network),
            "why": f"One follows the other: 2 · ({compute} + {network})",
        }
    if "no SM" in how:
        return {
            "answer": 2 * max(compute, network),
            "why": f"The longer of 2 · {compute} and 2 · {network} µs counts",
        }
    slowed = compute * SMS / (SMS - HELD)
    computing = f"Computing takes {compute} · {SMS}/{SMS - HELD} = {slowed:.4g} µs"
    why = f"{computing}, and the longer of that and {network} µs counts twice"
    return {"answer": 2 * max(slowed, network), "why": why}


def with_a_copy(loads: str, share: int) -> dict[str, float]:
    """Half of the hot expert's tokens move from the largest load to the smallest."""
    each = [float(load) for load in _numbers(loads)]
    before, moved = max(each), max(each) * share / 200
    each[each.index(before)] -= moved
    each[each.index(min(each))] += moved
    return {"answer": before / max(each), "before": int(before), "moved": moved, "after": max(each)}


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _listed(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers)
