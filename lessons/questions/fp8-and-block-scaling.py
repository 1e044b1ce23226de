"""Probes of fp8-and-block-scaling: values rounded to small formats, and bits of their scales.

Source: Micikevicius et al., FP8 Formats for Deep Learning, 2022, and OCP Microscaling Formats, 1.0.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Small:
    """A small format: its mantissa bits, the exponent of its smallest normal number, and its largest value."""

    mantissa: int
    least: int
    most: float

    def step(self, x: float) -> float:
        """The distance of neighbours around x."""
        exponent = max(math.frexp(abs(x))[1] - 1, self.least) if x else self.least
        return 2.0 ** (exponent - self.mantissa)

    def round(self, x: float) -> float:
        """The nearest value, ties to even, saturated."""
        return min(round(x / self.step(x)) * self.step(x), self.most)


FORMATS = {"E4M3": Small(3, -6, 448), "E5M2": Small(2, -14, 57344), "E2M1": Small(1, 0, 6)}

BITS = {
    "MXFP8": (8 + 8 / 32, "8 bits of scale for 32 values"),
    "MXFP4": (4 + 8 / 32, "8 bits of scale for 32 values"),
    "NVFP4": (4 + 8 / 16, "8 bits of scale for 16 values"),
}


def nearest(x: float, format: str) -> dict[str, float]:
    """x in a small format."""
    small = FORMATS[format]
    return {"answer": small.round(x), "step": small.step(min(x, small.most)), "most": small.most}


def beside_an_outlier(format: str, x: float, amax: float) -> dict[str, float]:
    """x quantised with the scale that an outlier sets, and multiplied back."""
    small = FORMATS[format]
    scale = amax / small.most
    rounded = small.round(x / scale)
    return {"answer": rounded * scale, "scale": scale, "divided": x / scale, "rounded": rounded}


def gigabytes_of_weights(billions: int, format: str) -> dict[str, float | str]:
    """GB of weights with the scales of their blocks."""
    bits, scale = BITS[format]
    return {"answer": billions * bits / 8, "bits": bits, "scale": scale}


def largest_of_block(amax: float, rule: str) -> dict[str, float]:
    """A block's largest value after MXFP8, with the scale rounded by a rule."""
    small = FORMATS["E4M3"]
    exponent = math.floor(math.log2(amax)) - 8 if "floor" in rule else math.ceil(math.log2(amax / small.most))
    scale = 2.0**exponent
    rounded = small.round(amax / scale)
    return {"answer": rounded * scale, "scale": scale, "divided": amax / scale, "rounded": rounded}


def promotion_percent(tensor: int, span: int) -> float:
    """Clocks of the FP32 multiply-adds over those of the products, in per cent."""
    return 100 * (1 / 128) / (span / tensor)
