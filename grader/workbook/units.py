"""Numbers as people read them: a few significant digits, a unit, and a dash where nothing was measured."""

from __future__ import annotations

NOTHING = "–"

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_THOUSANDS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def digits(value: float, count: int = 3) -> str:
    """A number with `count` significant digits and no exponent: 0.0123, 1.23, 123, 12345."""
    if value == 0:
        return "0"
    text = f"{value:.{count}g}"
    if "e" in text:
        return f"{value:.0f}" if abs(value) >= 1 else f"{value:.{count - 1}e}"
    return text


def seconds(value: float | None, source: str | None = "measured") -> str:
    """A time with its unit; a modelled one begins with ≈."""
    if value is None:
        return NOTHING
    scale, unit = next(((s, u) for s, u in _TIMES if value >= s), _TIMES[-1])
    mark = "≈" if source == "modelled" else ""
    return f"{mark}{digits(value / scale)} {unit}"


def count(value: float | None) -> str:
    """A count, short: 31, 1.02M."""
    if value is None:
        return NOTHING
    for scale, unit in _THOUSANDS:
        if abs(value) >= scale:
            return f"{digits(value / scale)}{unit}"
    return digits(value)


def rate(value: float, what: str) -> str:
    """A rate with its unit: 4.54 TB/s, 64.9 TFLOP/s; `what` is B/s, FLOP/s and the like."""
    scale, prefix = next(((s, p) for s, p in _THOUSANDS if abs(value) >= s), (1.0, ""))
    return f"{digits(value / scale)} {prefix}{what}"


def kib(value: int | None) -> str:
    """Bytes of shared memory: 0, 512, 4.13K (of 1024 bytes)."""
    if value is None:
        return NOTHING
    return str(value) if value < 1024 else f"{digits(value / 1024)}K"


def percent(value: float | None) -> str:
    """A ratio in percent, without the sign: 0.5 → 50."""
    if value is None:
        return NOTHING
    return digits(100 * value, 2) if value < 0.0995 else f"{100 * value:.0f}"


def ratio(value: float | None) -> str:
    """A ratio: 1, 2.5, 12.3, 340."""
    return NOTHING if value is None else digits(value)


def number_of(count: int, thing: str) -> str:
    """How many things: 1 case, 2 cases."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def problem(sizes: dict[str, int]) -> str:
    """Sizes by name: M = 1024, N = 33."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
