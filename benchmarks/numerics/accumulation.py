"""How many bits of a sum Tensor Cores keep.

A row of A is (1, 2^-i, -1), the column of B (1, 2^-j, 1): their product is 2^-(i+j) where its bits are kept beside
those of 1. In the second place c is 1 and the row (0, 2^-i, -1). In the third, c is 1, and half of 2^-(i+j) is added as
well: where 2^-(i+j) is half of the last bit, the sum says whether it is rounded.
"""

from __future__ import annotations

import numpy as np

from grader.emulator.runtime.tensor.forms import FACTORS, product_of
from numerics.case import Array, Case, Group
from numerics.elements import encoded
from numerics.products import DTYPES, PRELUDE, _mma_source, _registers, identifier
from numerics.warpgroups import A_BYTES, B_BYTES, PLAIN, Form, _source

MMA = (
    "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.bf16.bf16.f32",
    "m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k4.row.col.f32.tf32.tf32.f32", "m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "m16n8k32.row.col.f32.e5m2.e5m2.f32", "m16n8k16.row.col.f16.f16.f16.f16",
)  # fmt: skip
WGMMA = (
    ("f32", "f16"),
    ("f32", "bf16"),
    ("f32", "tf32"),
    ("f32", "e4m3"),
    ("f32", "e5m2"),
    ("f16", "f16"),
    ("f16", "e4m3"),
)
LEAST = {"e4m3": 9, "e5m2": 16, "f16": 24}
"""The smallest number of a type is 2^-this."""
PLACES = ("products", "sum", "rounding")


def _operands(kind: str, exponent: int, place: str) -> tuple[Array, Array, float]:
    """The first four elements of A's row and of B's column, and c."""
    most = LEAST.get(kind, 30)
    one = min(exponent, most)
    left, right = 2.0**-one, 2.0 ** -(exponent - one)
    row = {
        "products": (1.0, left, -1.0, 0.0),
        "sum": (0.0, left, -1.0, 0.0),
        "rounding": (0.0, left, left / 2, 0.0),
    }
    column = (1.0, right, 1.0 if place != "rounding" else right, 1.0)
    return np.array(row[place]), np.array(column), 0.0 if place == "products" else 1.0


def _exponents(kind: str, place: str) -> range:
    return range(1, 2 * LEAST.get(kind, 15) - (place == "rounding"))


def _fragment(values: Array, kind: str) -> Array:
    """A fragment of mma whose row 0 (of B: column 0) begins with these values."""
    factor = FACTORS[kind]
    words = np.zeros(16 * 32, np.uint32)
    raw = encoded(values, kind).view({8: np.uint8, 16: np.uint16, 32: np.uint32}[factor.bits])
    for k, code in enumerate(raw):
        words[k // factor.packed] |= np.uint32(int(code) << k % factor.packed * factor.bits)
    return words.view(np.uint8)


def _start(kind: str, value: float, count: int) -> Array:
    start = np.zeros(count, np.float16 if kind == "f16" else np.float32)
    start[0] = value
    return start.view(np.uint8)


def group() -> Group:
    """All of them; the results are for `report`, and equal nowhere."""
    cases = []
    for form in MMA:
        opcode = f"mma.sync.aligned.{form}"
        product = product_of(opcode.split("."))
        assert product is not None
        source, count = _mma_source(opcode, product), _registers(product)[0] * 32
        for place in PLACES:
            for exponent in _exponents(product.a, place):
                row, column, c = _operands(product.a, exponent, place)
                arrays = {
                    "x": _fragment(row, product.a),
                    "y": _fragment(column, product.b),
                    "z": _start(product.d, c, 2 * count),
                    "out": np.zeros(2 * count, DTYPES[product.d]),
                }
                name = f"mma {form.replace('.row.col', '')} {place} {exponent}"
                cases.append(Case(name, identifier(opcode), source, ("out", "x", "y", "z"), arrays))
    for d, a in WGMMA:
        shape = Form(8, d, a, a)
        for place in PLACES:
            for exponent in _exponents(a, place):
                row, column, c = _operands(a, exponent, place)
                image = np.zeros(A_BYTES + B_BYTES, np.uint8)
                for at, values in ((0, row), (A_BYTES, column)):
                    image[at : at + encoded(values, a).size] = encoded(values, a)
                arrays = {
                    "image": image, "x": np.zeros(2048, np.uint8), "z": _start(d, c, 4 * 4 * 32 * 2),
                    "out": np.zeros(4 * 4 * 32 * 2, DTYPES[d]),
                }  # fmt: skip
                arguments = ("out", "image", "x", "z", *PLAIN, np.int32(1))
                name = f"wgmma {d} {a} {place} {exponent}"
                cases.append(Case(name, shape.kernel, _source(shape), arguments, arrays, 128))
    return Group("accumulation", PRELUDE, tuple(cases))


def report(results: dict[str, Array]) -> list[str]:
    """A line a form: up to which exponent the small term is there, and what becomes of half a last bit."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for name, values in results.items():
        form, place, exponent = name.rsplit(" ", 2)
        found.setdefault(form, {}).setdefault(place, {})[int(exponent)] = float(values[0])
    lines = []
    for form, places in found.items():
        kept = {
            p: max((e for e, v in places[p].items() if v == 2.0**-e), default=0) for p in ("products", "sum")
        }
        kept["sum"] = max((e for e, v in places["sum"].items() if v == 2.0**-e), default=0)
        above = [e for e, v in places["rounding"].items() if v > 1]
        up = max(above, default=0)
        lines.append(
            f"{form:36} beside a product 2^-{kept['products']}, beside c 2^-{kept['sum']}; "
            f"1 + 1.5 · 2^-e exceeds 1 up to e = {up}"
        )
    return lines
