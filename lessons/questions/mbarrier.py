"""Probes of mbarrier: counts, bytes and parities, by the rules of the PTX ISA, "mbarrier"."""

ROUNDS = 1000
SIZES = {"FP16": 2, "FP8": 1, "TF32": 4}  # bytes; TF32 lies in memory as FP32

EVENTS = {  # arrivals, bytes announced, bytes that have landed
    "one `arrive.expect_tx` of 8,192 bytes, a TMA copy of 4,096 bytes completes": (1, 8192, 4096),
    "two plain `arrive`s, one `arrive.expect_tx` of 4,096 bytes, a TMA copy of 4,096 bytes completes": (3, 4096, 4096),
    "one `arrive.expect_tx` of 4,096 bytes, two plain `arrive`s, no copy completes": (3, 4096, 0),
    "one plain `arrive`, an `expect_tx` of 4,096 bytes, a TMA copy of 4,096 bytes completes, one plain `arrive`": (
        2, 4096, 4096,
    ),
}  # fmt: skip

ARRIVES = {"one lane of each warp": 4, "one thread of the group": 1, "every thread": 128}  # of a warpgroup


def state_of(count: int, events: str) -> dict[str, object]:
    """Where a barrier stands: a phase completes when pending arrivals and bytes are both zero (PTX ISA)."""
    arrivals, announced, landed = EVENTS[events]
    left_arrivals, left_bytes = count - arrivals, announced - landed
    if left_arrivals and left_bytes:
        answer = "in its first phase, waiting for both"
    elif left_arrivals:
        answer = "in its first phase, waiting only for arrivals"
    elif left_bytes:
        answer = "in its first phase, waiting only for bytes"
    else:
        answer = "in its second phase"
    return {"answer": answer, "left_arrivals": left_arrivals, "left_bytes": left_bytes}


def bytes_expected(m: int, n: int, k: int, type: str) -> dict[str, float]:
    """Bytes of the two tiles of a stage."""
    return {"answer": (m * k + k * n) * SIZES[type], "size": SIZES[type]}


def parity_of(stages: int, who: str, k: int) -> dict[str, float]:
    """Parity waited for in iteration k: of the phase k / stages on full, of the one before on empty."""
    stage, turn = k % stages, k // stages
    parity = turn % 2
    return {"answer": parity if "full" in who else 1 - parity, "stage": stage, "turn": turn}


def first_wait(stages: int, tiles: int, parity: int) -> dict[str, float]:
    """Tiles that a producer loads into stages which nobody empties."""
    return {"answer": min(stages, tiles) if parity else 0}


def empty_count(groups: int, arrives: str, cluster: int) -> dict[str, float]:
    """Arrivals that an empty barrier expects in a phase."""
    return {"answer": groups * ARRIVES[arrives], "each": ARRIVES[arrives]}


def clocks_of_a_round(first: int, second: int, own: int, barrier: str) -> dict[str, float]:
    """Clocks of a round, by letting two kinds of warps run through many of them."""
    times = [0, 0]  # at which each kind begins the round
    for turn in range(ROUNDS):
        needs = (first, second) if turn % 2 == 0 else (second, first)
        arrived = [time + need for time, need in zip(times, needs, strict=True)]
        if "syncthreads" in barrier:
            times = [max(arrived) + own] * 2
        else:
            times = [max(at + own, max(arrived)) for at in arrived]
        if turn == ROUNDS // 2 - 1:
            half = max(times)
    return {"answer": round((max(times) - half) / (ROUNDS // 2)), "slower": max(first, second)}
