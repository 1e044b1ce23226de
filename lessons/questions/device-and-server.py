"""Probes of device and server: upload, round trip, where to cut, cascades, the radio.

KB are 1000 bytes, so kbit over Mbit/s are ms.
"""

BITS = 8
BYTES = {"FP32": 4, "FP16": 2, "INT8": 1}
INPUT, ROUND_TRIP, SPEEDUP = 150, 40, 10  # KB, ms, times: as the question says


def remote_ms(kilobytes: int, mbit: float, server: float, trip: float) -> dict[str, float]:
    """Milliseconds of upload, round trip and the server's work."""
    upload = BITS * kilobytes / mbit
    return {"answer": upload + trip + server, "bits": BITS * kilobytes, "upload": upload}


def least_uplink(device: float, server: float, trip: float, kilobytes: int) -> dict[str, float]:
    """Mbit/s with which upload, round trip and server take as long as the device."""
    left = device - server - trip
    return {"answer": BITS * kilobytes / left, "left": left, "bits": BITS * kilobytes}


def best_cut(device: str, sizes: str, mbit: float) -> dict[str, str]:
    """Where the sum of device time, upload, round trip and server time is least (Kang et al., 2017)."""
    times = [float(part) for part in device.split(",")]
    carried = [INPUT, *(float(size) for size in sizes.split(","))]
    totals = [
        sum(times[:cut]) + BITS * carried[cut] / mbit + ROUND_TRIP + sum(times[cut:]) / SPEEDUP
        for cut in range(len(times))
    ] + [sum(times)]
    names = ["before part 1", "after part 1", "after part 2", "after part 3", "nowhere: all on the device"]
    return {
        "answer": names[totals.index(min(totals))],
        "totals": ", ".join(f"{total:.0f}" for total in totals),
    }


def first_layer(side: int, channels: int, type: str) -> dict[str, float]:
    """Bytes of the output of a convolution with stride 2 over those of its input of 3 bytes a pixel."""
    size = BYTES[type]
    return {"answer": (side // 2) ** 2 * channels * size / (side**2 * 3), "bytes": size}


def cascade_ms(device: float, sure: float, remote: float) -> dict[str, float]:
    """Mean latency of a cascade in per cent of that of the server."""
    share = (100 - sure) / 100
    mean = device + share * remote
    return {"answer": 100 * mean / remote, "share": share, "mean": mean, "rest": 100 - sure}


def cascade_accuracy(sure: float, small: float, large: float) -> dict[str, float]:
    """Per cent of right answers of both models together."""
    return {"answer": (sure * small + (100 - sure) * large) / 100, "rest": 100 - sure}


def radio_millijoules(
    radio: float, mbit: float, tail: float, seconds: float, kilobytes: int, ms: float, watts: float
) -> dict[str, float]:
    """Energy to send, with the radio's tail, over that to compute (Huang et al., 2012, on tails)."""
    sending, after = radio * BITS * kilobytes / mbit / 1e3, tail * seconds
    computing = watts * ms / 1e3
    return {
        "answer": (sending + after) / computing,
        "sending": sending,
        "after": after,
        "computing": computing,
    }


def with_timeout(remote: float, lost: float, timeout: float, device: float) -> dict[str, float]:
    """Mean latency where lost requests wait for the timeout and then for the device."""
    rest = lost / 100
    return {"answer": (1 - rest) * remote + rest * (timeout + device), "share": 1 - rest, "rest": rest}
