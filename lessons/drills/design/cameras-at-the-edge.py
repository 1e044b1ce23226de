"""Images of many cameras, at the edge."""


def frames(cameras: int, fps: int, **_: object) -> float:
    """Cameras times rate."""
    return cameras * fps


def uplink(cameras: int, mbit: int, **_: object) -> dict[str, float]:
    """Bits of all streams over those of the link."""
    return {"answer": 100 * cameras * mbit / 500, "all": cameras * mbit}


def decoded_gbs(cameras: int, fps: int, **_: object) -> dict[str, float]:
    """Three bytes a pixel."""
    return {"answer": cameras * fps * 1920 * 1080 * 3 / 1e9, "rate": cameras * fps}


def fp16_share(cameras: int, fps: int, tops: int, **_: object) -> dict[str, float]:
    """Work over what is reached (Williams et al., 2009, the flat part of the roofline)."""
    work, reach = cameras * fps * 8 / 1e3, tops / 2 * 0.3
    return {"answer": 100 * work / reach, "rate": cameras * fps, "work": work, "reach": reach}


def tightest_first(cameras: int, fps: int, tops: int, **_: object) -> dict[str, object]:
    """Demand over capacity, of each."""
    rate = cameras * fps
    used = {
        "the decoder": 100 * rate / 1200,
        "FP16 arithmetic": 100 * rate * 8 / 1e3 / (tops / 2 * 0.3),
        "the uplink, with only results": 100 * rate * 8e3 / 500e6,
    }
    decoder, arithmetic, results = used.values()
    order = sorted(used, key=lambda name: -used[name])
    return {"answer": order, "decoder": decoder, "arithmetic": arithmetic, "results": results}


def blow_up(mbit: int, fps: int) -> dict[str, float]:
    """Decoded over coded bytes."""
    raw, coded = fps * 1920 * 1080 * 3 / 1e6, mbit / 8
    return {"answer": raw / coded, "raw": raw, "coded": coded}


def full_after(cameras: int, fps: int, size: int) -> dict[str, float]:
    """Frames over their rate."""
    return {"answer": 1e3 * size / (cameras * fps), "rate": cameras * fps}


def calibrated(most: int, usual: int) -> float:
    """The scale is the largest value over 127 (Jacob et al., 2017)."""
    return most / usual


def late_after(rate: int, served: int, late: int) -> dict[str, float]:
    """The queue grows by the surplus; a new frame waits for all before it."""
    return {"answer": late * served / (rate - served), "surplus": rate - served}
