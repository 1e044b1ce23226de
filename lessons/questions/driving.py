"""Probes of inference for driving: metres, tails, frames in flight, tracks, range, failure rates."""

KMH = 3.6  # km/h in a m/s
EXPONENT = {"10⁻³": 3, "10⁻⁴": 4, "10⁻⁵": 5}


def metres(speed: float, latency: float, braking: float) -> dict[str, float]:
    """Metres until the car stands: v·t + v²/2a."""
    v = speed / KMH
    before, after = v * latency / 1e3, v**2 / (2 * braking)
    return {"answer": before + after, "before": before, "after": after, "metres_a_second": v}


def budget(distance: float, speed: float, braking: float) -> dict[str, float]:
    """Milliseconds left before braking has to begin."""
    v = speed / KMH
    after = v**2 / (2 * braking)
    left = distance - after
    return {"answer": 1e3 * left / v, "after": after, "left": left, "metres_a_second": v}


def misses(hertz: int, probability: str, hours: int) -> dict[str, float]:
    """Expected missed deadlines."""
    frames = hertz * 3600 * hours
    return {"answer": frames / 10 ** EXPONENT[probability], "frames": frames}


def any_late(cameras: int, one_in: int) -> float:
    """Per cent of frames in which at least one of several networks is late."""
    return 100 * (1 - (1 - 1 / one_in) ** cameras)


def in_flight(hertz: float, latency: float) -> float:
    """Little's law: rate times time in the pipeline."""
    return hertz * latency / 1e3


def oldest(hertz: float, latency: float) -> dict[str, float]:
    """Age of the newest result just before the next one: latency plus a period."""
    period = 1e3 / hertz
    return {"answer": latency + period, "period": period}


def seen_at(frames: int, hertz: float, speed: float, distance: float) -> dict[str, float]:
    """Metres left when so many successive frames have had a detection."""
    v, period = speed / KMH, 1e3 / hertz
    lost = (frames - 1) * period / 1e3 * v
    return {
        "answer": distance - lost,
        "gaps": frames - 1,
        "period": period,
        "metres_a_second": v,
        "lost": lost,
    }


def all_missed(miss: float, again: float, frames: int) -> dict[str, float]:
    """Per cent: a Markov chain of misses."""
    more = frames - 1
    return {
        "answer": miss * (again / 100) ** more,
        "more": more,
        "independent": 100 * (miss / 100) ** frames,
    }


def range_lost(driving: float, speed: float, watts: float) -> dict[str, float]:
    """Per cent of range lost: W over km/h are Wh a km."""
    computing = watts / speed
    return {"answer": 100 * computing / (driving + computing), "computing": computing}


def fleet_failures(fit: int, cars: int, hours: int) -> dict[str, float]:
    """Expected failures a year of a fleet; a FIT is one in 10⁹ hours (ISO 26262-5)."""
    total = cars * hours / 1e6  # million hours
    return {"answer": total * 1e6 * fit / 1e9, "total": total}
