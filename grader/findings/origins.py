"""Where a NaN comes from, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.emulator.machine.records import Origin

EXPONENTIAL = (
    "An exponential is ∞ in {line}: exp(x) is more than a float holds from x = 88.73 on. Subtract the largest "
    "exponent from all of them first, in a softmax the row's maximum; then none is above 0."
)
LARGEST_OF_NOTHING = (
    "Where all that has been looked at is −∞, such as masked elements or none, nothing can be subtracted from it: "
    "begin a maximum with the lowest number, -FLT_MAX, or leave such elements out."
)
NOTHING_DIVIDED = "Is the divisor set before that, and is anything added to it?"
NEGATIVE_ROOT = (
    "A variance that is computed as a difference, E[x²] − E[x]², may be below 0 by rounding: compute the mean of the "
    "squared differences."
)
"""What mends the usual ones."""


class Watched(Protocol):
    """What is asked of a launch's record."""

    @property
    def first_infinity(self) -> Origin | None: ...

    @property
    def first_nan(self) -> Origin | None: ...


@dataclass(frozen=True)
class Told:
    """Which operation makes the first NaN, and of what; and what mends that, "" where it is not known."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".rstrip()


def told(records: Sequence[Watched]) -> Told | None:
    """What is known of the first NaN of these launches; None where none has been made, or nobody watched."""
    for number, record in enumerate(records):
        nan = record.first_nan
        if nan is not None:
            infinities = (one.first_infinity for one in records[: number + 1])
            return _told(nan, next((one for one in infinities if one is not None), None))
    return None


def _told(nan: Origin, infinity: Origin | None) -> Told:
    where = f"in {nan.place.words()}, " if nan.place.line else ""
    what = f"NaN is first made {where}by thread {nan.thread} of block {nan.block}: {_operation(nan)}."
    return Told(what, _remedy(nan, infinity))


def _remedy(nan: Origin, infinity: Origin | None) -> str:
    name = nan.opcode.split(".")[0]
    infinite = any("inf" in text for text in nan.operands)
    if infinite and infinity is not None:
        if infinity.of_exponential:
            return EXPONENTIAL.format(line=infinity.place.words())
        return f"The first ∞ is made in {infinity.place.words()}: {_operation(infinity)}."
    if name in ("add", "sub") and "-inf" in nan.operands:
        return LARGEST_OF_NOTHING
    if name == "div" and all(text in ("0", "-0") for text in nan.operands):
        return NOTHING_DIVIDED
    return NEGATIVE_ROOT if name in ("sqrt", "rsqrt") else ""


_FORMS = {
    "add": "{} + {}", "sub": "{} − {}", "mul": "{} · {}", "fma": "{} · {} + {}", "mad": "{} · {} + {}",
    "div": "{} / {}", "rcp": "1 / {}", "sqrt": "sqrt({})", "rsqrt": "1 / sqrt({})", "sin": "sin({})", "cos": "cos({})",
    "ex2": "exp2({})", "lg2": "log2({})",
}  # fmt: skip


def _operation(origin: Origin) -> str:
    """An operation with its operands."""
    first, *others = (re.sub("^-", "−", text).replace("inf", "∞") for text in origin.operands)
    terms = [first, *(f"({text})" if text.startswith("−") else text for text in others)]
    parts = origin.opcode.split(".")
    form = _FORMS.get(parts[0])
    return form.format(*terms) if form else f"{first} as {parts[-2]}"
