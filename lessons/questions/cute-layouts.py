"""Probes of CuTe layouts: offsets of coordinates, compositions, tiles and swizzles.

Source: CUTLASS, "CuTe Layouts" and "CuTe Layout Algebra"; include/cute/swizzle.hpp: offset ^ ((offset & YYY) >> S).
"""

import math
import re
from ast import literal_eval
from typing import Any

ROW = 64  # elements of a swizzled row
SIZE = 24  # of the layout that is divided

Nested = int | tuple[Any, ...]


def offset_of_index(layout: str, i: int) -> dict[str, int | str]:
    """The inner product of the natural coordinate and the strides."""
    return _shown(layout, i)


def offset_of_pair(layout: str, m: int, n: int) -> dict[str, int | str]:
    """As of an index, with the index of each mode split by itself."""
    return _shown(layout, (m, n))


def allocated(layout: str) -> dict[str, int | str]:
    """The cosize: the last coordinate's offset, plus 1."""
    size = _size(_parse(layout)[0])
    last = _shown(layout, size - 1)
    return {"answer": _offset(layout, size - 1) + 1, "sum": f"{last['sum']} = {last['answer']}", "size": size}


def composed(a: str, b: str, c: int) -> dict[str, int]:
    """A(B(c))."""
    inner = _offset(b, c)
    return {"answer": _offset(a, inner), "inner": inner}


def element_of_tile(stride: int, tiler: str, e: int, t: int) -> dict[str, int | str]:
    """A ∘ (B, complement of B): of s:d in M it is (d, M / (s d)) : (1, s d)."""
    tile, gap = (int(number) for number in tiler.split(":"))
    again = SIZE // (tile * gap)
    inner = e * gap + t % gap + t // gap * tile * gap
    rest = (
        f"{again}:{tile}" if gap == 1 else f"{gap}:1" if again == 1 else f"({gap},{again}):(1,{tile * gap})"
    )
    return {"answer": inner * stride, "inner": inner, "rest": rest}


def zipped(layout: str, tiler: str, e: int, t: int) -> dict[str, int | str]:
    """The element's place in its tile plus the tile's, both split with the first mode fastest."""
    (high, _), _ = _parse(layout)
    rows, columns = literal_eval(tiler)
    inside = (e % rows, e // rows)
    down = high // rows
    outside = (t % down, t // down)
    row, column = outside[0] * rows + inside[0], outside[1] * columns + inside[1]
    answer = _offset(layout, (row, column))
    return {"answer": answer, "inside": str(inside), "outside": str(outside), "row": row, "column": column}


def swizzled(swizzle: str, r: int, c: int) -> dict[str, int | str]:
    """The offset with B bits from bit M + S on XORed into those from bit M on."""
    count, keep, shift = (int(number) for number in re.findall(r"\d+", swizzle))
    plain = r * ROW + c
    bits = plain >> (keep + shift) & ((1 << count) - 1)
    answer = plain ^ bits << keep
    return {
        "answer": answer,
        "plain": plain,
        "source": keep + shift,
        "bits": f"{bits:0{count}b}",
        "target": keep,
    }


def _parse(layout: str) -> tuple[Nested, Nested]:
    shape, stride = layout.split(":")
    return literal_eval(shape), literal_eval(stride)


def _offset(layout: str, coordinate: Nested) -> int:
    shape, stride = _parse(layout)
    return sum(
        math.prod(pair) for pair in zip(_flat(_natural(coordinate, shape)), _flat(stride), strict=True)
    )


def _shown(layout: str, coordinate: Nested) -> dict[str, int | str]:
    """An offset with the natural coordinate and the products that it is the sum of."""
    shape, stride = _parse(layout)
    natural = _natural(coordinate, shape)
    pairs = zip(_flat(natural), _flat(stride), strict=True)
    products = " + ".join(f"{place} · {step}" for place, step in pairs)
    return {"answer": _offset(layout, coordinate), "natural": str(natural), "sum": products}


def _natural(coordinate: Nested, shape: Nested) -> Nested:
    """The coordinate with the shape's nesting; an integer is split with the first mode fastest."""
    if isinstance(shape, int):
        return coordinate
    if isinstance(coordinate, tuple):
        return tuple(_natural(part, mode) for part, mode in zip(coordinate, shape, strict=True))
    parts = []
    for mode in shape:
        parts.append(_natural(coordinate % _size(mode), mode))
        coordinate //= _size(mode)
    return tuple(parts)


def _size(shape: Nested) -> int:
    return math.prod(_flat(shape))


def _flat(nested: Nested) -> list[int]:
    if isinstance(nested, int):
        return [nested]
    return [number for part in nested for number in _flat(part)]
