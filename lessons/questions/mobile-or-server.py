"""Probes of phones against servers: weights read, batches, energy, percentiles over a fleet."""

WATT_HOURS = 15  # of a phone's battery, 4,000 mAh at 3.85 V


def tokens_a_second(bandwidth: float, billions: float, bits: int) -> dict[str, float]:
    """Bandwidth over the bytes of all weights, which each token reads once."""
    gigabytes = billions * bits / 8
    return {"answer": bandwidth / gigabytes, "gigabytes": gigabytes}


def gain_of_batch(weights: float, each: float, batch: int) -> dict[str, float]:
    """Tokens a second of a batch over those of one sequence."""
    one, every = weights + each, weights + batch * each
    return {"answer": batch * one / every, "one": one, "all": every, "slower": every / one}


def mean_fps(fast: int, burst: int, slow: int, minutes: int) -> dict[str, float]:
    """Frames a second over the whole time, of which the first `burst` seconds are fast."""
    first, rest = fast * burst, slow * (60 * minutes - burst)
    return {"answer": (first + rest) / (60 * minutes), "first": first, "rest": rest}


def per_battery(ms: float, watts: float) -> dict[str, float]:
    """Thousands of inferences from a tenth of the battery: power times time each."""
    millijoules = watts * ms
    return {"answer": WATT_HOURS * 3600 / 10 / millijoules, "millijoules": millijoules}


def with_scales(billions: float, bits: int, group: int) -> dict[str, float]:
    """GB of weights with an FP16 scale for each group."""
    effective = bits + 16 / group
    return {"answer": billions * effective / 8, "effective": effective}


def percentile(share: int, fast: int, slow: int, rank: int) -> dict[str, float]:
    """The percentile of a latency that has two values."""
    mean = (share * fast + (100 - share) * slow) / 100
    return {"answer": fast if rank <= share else slow, "rest": 100 - share, "mean": mean}


PHONE, SERVER = "the phone", "the server"
WISHES = {
    "It has to work in a tunnel.": (PHONE, "The phone needs no network"),
    "A wrong model has to be replaced for all users within the hour.": (
        SERVER,
        "A model on phones changes only with an update, which not all users install",
    ),
    "Ten times the requests must not cost the provider ten times as much.": (
        PHONE,
        "The users pay for the hardware and the energy of their phones",
    ),
    "No user may get a file with the model's weights.": (
        SERVER,
        "A file that is shipped to phones can be read there",
    ),
    "What users record must not leave their devices.": (PHONE, "The data stay where they are recorded"),
}


def speaks_for(wish: str) -> dict[str, object]:
    """The place that a wish decides for."""
    answer, why = WISHES[wish]
    options = (PHONE, SERVER, "both alike", "a model divided between both")
    return {"answer": answer, "options": options, "why": why}
