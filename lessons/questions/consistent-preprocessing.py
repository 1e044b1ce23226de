"""Probes of consistent pre-processing: positions, filters, channels, padding, golden tests."""

MEAN, DEVIATION = 0.485, 0.229  # of the first channel, as the question says
BLACK, WHITE = 16, 235  # luma of limited-range video (ITU-R BT.601)
ROUNDING = 4  # levels: what decoders and roundings may differ by


def source_position(size: int, out: int, i: int, how: str) -> dict[str, float | str]:
    """Position in the input (ONNX, Resize, coordinate_transformation_mode)."""
    if how.startswith("half"):
        return {"answer": (i + 0.5) * size / out - 0.5, "formula": f"({i} + ½) · {size}/{out} − ½"}
    if how.startswith("aligned"):
        return {"answer": i * (size - 1) / (out - 1), "formula": f"{i} · {size - 1}/{out - 1}"}
    return {"answer": i * size / out, "formula": f"{i} · {size}/{out}"}


def box_shift(factor: int) -> float:
    """(i + ½)·s − ½ less i·s."""
    return (factor - 1) / 2


def looked_at(width: int, out: int, how: str) -> dict[str, float | str]:
    """Input pixels with a weight: two an axis, or all within a triangle as wide as two output pixels (Pillow)."""
    factor = width // out
    axis = 2 * factor if "Pillow" in how else 2
    why = (
        f"The filter is a triangle that reaches {factor} pixels to each side"
        if "Pillow" in how
        else "It uses the two nearest pixels, whatever the factor is"
    )
    return {"answer": axis**2, "axis": axis, "why": why}


def shrunk_value(row: str, how: str) -> dict[str, float | str]:
    """The first of two pixels from eight: position 1.5, or the mean of four."""
    pixels = [int(pixel) for pixel in row.split(",")]
    linear, area = sum(pixels[1:3]) / 2, sum(pixels[:4]) / 4
    if "linear" in how:
        return {
            "answer": linear,
            "other": area,
            "why": "The position is ½ · 4 − ½ = 1.5, halfway between pixels 1 and 2",
        }
    return {"answer": area, "other": linear, "why": "It is the mean of the first four pixels"}


def swapped(red: int, blue: int, reading: str) -> dict[str, float]:
    """The first channel after normalising it as red; OpenCV's imread gives BGR."""
    value = blue if "OpenCV" in reading or "reverses" in reading else red
    return {"answer": (value / 255 - MEAN) / DEVIATION, "value": value}


def limited_range(luma: int) -> dict[str, float]:
    """Levels by which a dark pixel of limited range is too bright if it is taken for full range."""
    true = 255 * (luma - BLACK) / (WHITE - BLACK)
    return {"answer": luma - true, "true": true}


def padded(grey: int, mean: float, deviation: float) -> dict[str, float]:
    """Padding with 0 after normalising, less padding before it."""
    trained = (grey / 255 - mean) / deviation
    return {"answer": -trained, "trained": trained}


def top_padding(width: int, height: int, side: int, y: float) -> dict[str, float]:
    """A letterboxed y in the original; the pictures are wider than high."""
    factor = side / width
    new = height * factor
    pad = (side - new) / 2
    return {"answer": (y - pad) / factor, "factor": factor, "new": new, "pad": pad}


def levels_normalised(levels: str, deviation: float) -> dict[str, float]:
    """Levels of 255 after normalising."""
    count = int(levels.split()[0])
    return {"answer": count / 255 / deviation, "count": count}


def first_departure(differences: str) -> str:
    """The first stage whose output differs by more than rounding."""
    stages = [stage.rsplit(" ", 1) for stage in differences.split(", ")]
    return next(name for name, difference in stages if int(difference) > ROUNDING)


def caught(percent: int, pictures: int) -> dict[str, float]:
    """Per cent: at least one of the pictures is changed."""
    share = percent / 100
    return {"answer": 100 * (1 - (1 - share) ** pictures), "share": share}
