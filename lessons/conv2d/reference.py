"""The convolution y = x ∗ w: inputs, the answer in float64, its error bounds, and what no algorithm can do
without.

Winograd's algorithms are here as well, since the judge has to know how they err: `winograd_matrices` makes
their transforms, by Toom and Cook's construction, and `transformed_bounds` the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]
Matrix = list[list[Fraction]]
Problem = Mapping[str, int]


def make_inputs(
    problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """x (N × C × H × W) and w (K × C × R × S), float32.

    "exact": integers from -4 to 4 without 0. Sums of products stay below 2^24 up to C·R·S = 1,048,575, those of
    Winograd's F(2×2, 3×3), whose filters are multiples of 1/4, up to C = 3236; all are exact in any order. As
    no product is zero, each dropped or doubled one shows.
    "real": normally distributed, one in 16 a zero, one in 64 a hundred times larger.
    """
    draw = _integers if kind == "exact" else _normal
    n, c, h, w = (problem[name] for name in "NCHW")
    return {
        "x": draw((n, c, h, w), rng),
        "w": draw((problem["K"], c, problem["R"], problem["S"]), rng),
    }


def special_inputs(problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """As "real", with a NaN or an infinity at one pixel of x in fifty: it passes into every output that sees it.

    Algorithms with transforms compute with whole tiles: they may spread it over the tile, and make NaN of an infinity.
    Weights stay finite, because padding may be multiplied with them or left out. A third of the filters, the last ones,
    are zero, and one at least where there are others: times what is not finite, that is NaN.
    """
    inputs = make_inputs(problem, rng, "real")
    n, c, h, w = inputs["x"].shape
    for pixel in rng.permutation(n * h * w)[: max(1, n * h * w // 50)]:
        image, place = divmod(int(pixel), h * w)
        inputs["x"][image, rng.integers(c), place // w, place % w] = rng.choice([np.nan, np.inf, -np.inf])
    inputs["w"][1:][-max(1, len(inputs["w"]) // 3) :] = 0.0
    return inputs


def reference(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """y (N × K × P × Q), float64."""
    return {"y": _convolve(inputs["x"].astype(np.float64), inputs["w"].astype(np.float64), problem)}


def magnitude(inputs: Mapping[str, Array], problem: Problem) -> dict[str, Exact]:
    """|x| ∗ |w| (N × K × P × Q), float64: rounding errors of a sum of products are proportional to it."""
    x, w = (np.abs(inputs[name]).astype(np.float64) for name in ("x", "w"))
    return {"y": _convolve(x, w, problem)}


def transformed_bounds(
    inputs: Mapping[str, Array], problem: Problem
) -> Iterator[tuple[str, float, dict[str, Exact]]]:
    """The error bounds of algorithms that compute with transforms of x and w: name, terms, magnitude.

    Winograd's F(m×m, 3×3) computes Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A from a tile d of x and a filter g, and sums over
    channels before the last transform. Its errors are proportional to the same expression with absolute
    values everywhere, |Aᵀ|[(|G||g||Gᵀ|) ⊙ (|Bᵀ||d||B|)]|A|, which sees elements of x that the output's own
    sum does not: a large one disturbs its whole tile. The terms are the roundings on the way from x to y,
    see the lesson: C of the sum and 10 of the transforms. A larger tile has no bound of its own, and spreads what is
    not finite further.
    """
    if problem["R"] == problem["S"] == 3 and problem["stride"] == 1:
        terms, sums = problem["C"] + 10, _winograd_magnitude(inputs, problem, 2)
        yield "Winograd F(2×2, 3×3)", terms, {"y": sums}
        if not np.isfinite(inputs["x"]).all():
            finite = np.isfinite(_winograd_magnitude(inputs, problem, 4))
            yield "Winograd F(4×4, 3×3)", terms, {"y": np.where(finite, sums, np.inf)}


def shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    n, c, h, w, k, r, s = (problem[name] for name in "NCHWKRS")
    return {"x": (n, c, h, w), "w": (k, c, r, s), "y": (n, k, *_output_sides(problem))}


def elements(read: Read, problem: Problem, name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    shape = shapes(problem)
    n, k, p, q = (index[:, None] for index in np.unravel_index(places, shape["y"]))
    c, r, s = (index.ravel() for index in np.indices(shape["w"][1:]))
    row, column = (problem["stride"] * start + tap - problem["pad"] for start, tap in ((p, r), (q, s)))
    inside = (row >= 0) & (row < problem["H"]) & (column >= 0) & (column < problem["W"])
    seen = (n, c, np.where(inside, row, 0), np.where(inside, column, 0))
    x = np.where(inside, read("x", np.ravel_multi_index(np.broadcast_arrays(*seen), shape["x"])), 0.0)
    products = x * read("w", np.ravel_multi_index(np.broadcast_arrays(k, c, r, s), shape["w"]))
    return products.sum(axis=1), np.abs(products).sum(axis=1)


def min_flop(problem: Problem) -> int:
    """One multiplication for each output and channel of x, and the additions over the channels.

    The sum over R·S taps takes R·S times as many when it is computed as written. Winograd showed that m
    outputs of a filter of r taps need no more than m + r - 1 multiplications, and no fewer (S. Winograd,
    "Arithmetic complexity of computations", 1980); for a whole image that goes towards one each. Sums over
    channels are those of a matrix product, of which `lessons/gemm/reference.py` says why they stand.
    """
    n, c, k = (problem[name] for name in "NCK")
    p, q = _output_sides(problem)
    return n * k * p * q * (2 * c - 1)


def min_bytes(problem: Problem) -> int:
    """w read once, y written once, and x read once as far as any tap touches it; 4 bytes an element."""
    n, c, k, r, s = (problem[name] for name in "NCKRS")
    p, q = _output_sides(problem)
    rows = _touched(problem["H"], p, r, problem)
    columns = _touched(problem["W"], q, s, problem)
    return 4 * (n * c * rows * columns + k * c * r * s + n * k * p * q)


def winograd_matrices(m: int, r: int) -> tuple[Matrix, Matrix, Matrix]:
    """Aᵀ (m × t), G (t × r) and Bᵀ (t × t), t = m + r - 1, such that Aᵀ[(G g) ⊙ (Bᵀ d)] are m neighbouring
    outputs of the filter g (r) over the inputs d (t).

    Toom and Cook multiply polynomials by evaluating both at t points, multiplying the values and
    interpolating; the transpose of that is a filter. The points are 0, 1, -1, 2, -2, 1/2, … and infinity.
    """
    points = _points(m + r - 2)
    scale = [_product(a - b for b in points if b != a) for a in points]
    a_t = [[a**i for a in points] + [Fraction(i == m - 1)] for i in range(m)]
    g = [[a**j / n for j in range(r)] for a, n in zip(points, scale, strict=True)]
    g.append([Fraction(j == r - 1) for j in range(r)])
    b_t = [[*_polynomial([b for b in points if b != a]), Fraction(0)] for a in points]
    b_t.append(_polynomial(points))
    for i, n in enumerate(scale):  # a sign may stand in either matrix: let the filter's start positive
        if n < 0:
            g[i] = [-value for value in g[i]]
            b_t[i] = [-value for value in b_t[i]]
    return a_t, g, b_t


def _points(count: int) -> list[Fraction]:
    """0, 1, -1, 2, -2, 1/2, -1/2, 4, -4, …: small numerators and denominators, since their powers multiply
    rounding errors."""
    found = [Fraction(0)]
    power = 0
    while len(found) < count:
        size = Fraction(2**power)
        found += [size, -size] if power == 0 else [size, -size, 1 / size, -1 / size]
        power += 1
    return found[:count]


def _product(factors: Iterator[Fraction]) -> Fraction:
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result


def _polynomial(roots: list[Fraction]) -> list[Fraction]:
    """The coefficients of ∏ (z - root), from the constant one up."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *coefficients]
        coefficients = [s - root * c for s, c in zip(shifted, [*coefficients, Fraction(0)], strict=True)]
    return coefficients


def _convolve(x: Exact, w: Exact, problem: Problem) -> Exact:
    """The convolution, tap by tap: a matrix product over the channels each."""
    stride, pad = problem["stride"], problem["pad"]
    p, q = _output_sides(problem)
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    y = np.zeros((len(x), len(w), p * q))
    for r in range(problem["R"]):
        for s in range(problem["S"]):
            seen = x[:, :, r : r + stride * (p - 1) + 1 : stride, s : s + stride * (q - 1) + 1 : stride]
            y += w[:, :, r, s] @ seen.reshape(*seen.shape[:2], p * q)
    return y.reshape(len(x), len(w), p, q)


def _winograd_magnitude(inputs: Mapping[str, Array], problem: Problem, m: int) -> Exact:
    """|Aᵀ|[(|G||g||Gᵀ|) ⊙ (|Bᵀ||d||B|)]|A|, summed over channels; tiles begin at multiples of m."""
    a_t, g, b_t = (np.abs(np.array(matrix, dtype=np.float64)) for matrix in winograd_matrices(m, 3))
    p, q = _output_sides(problem)
    down, across, side = -(-p // m), -(-q // m), m + 2
    before = problem["pad"]
    after = [m * tiles + 2 - size - before for tiles, size in ((down, problem["H"]), (across, problem["W"]))]
    filters = np.einsum("ia,kcab,jb->ijkc", g, np.abs(inputs["w"]).astype(np.float64), g, optimize=True)
    y = np.empty((problem["N"], problem["K"], m * down, m * across))
    for image, target in zip(inputs["x"], y, strict=True):
        padded = np.pad(np.abs(image).astype(np.float64), ((0, 0), (before, after[0]), (before, after[1])))
        tiles = np.lib.stride_tricks.sliding_window_view(padded, (side, side), (1, 2))[:, ::m, ::m]
        seen = np.einsum("ia,ctuab,jb->ijctu", b_t, tiles, b_t, optimize=True)
        products = filters @ seen.reshape(side, side, problem["C"], down * across)
        outputs = np.einsum("pi,ijkt,qj->ktpq", a_t, products, a_t, optimize=True)
        target[:] = outputs.reshape(-1, down, across, m, m).swapaxes(2, 3).reshape(target.shape)
    return np.ascontiguousarray(y[:, :, :p, :q])


def _output_sides(problem: Problem) -> tuple[int, int]:
    """P and Q."""
    stride, pad = problem["stride"], problem["pad"]
    return (
        (problem["H"] + 2 * pad - problem["R"]) // stride + 1,
        (problem["W"] + 2 * pad - problem["S"]) // stride + 1,
    )


def _touched(size: int, outputs: int, taps: int, problem: Problem) -> int:
    """How many of the `size` rows (or columns) of an image are under a tap for some output."""
    stride, pad = problem["stride"], problem["pad"]
    first = stride * np.arange(outputs) - pad
    behind = first + min(taps, stride)  # from there on the next output's taps are there as well
    behind[-1:] = first[-1:] + taps
    return int(np.maximum(np.minimum(behind, size) - np.maximum(first, 0), 0).sum())


def _integers(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    sizes = rng.integers(1, 5, shape, dtype=np.int8)
    signs = 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
    return (sizes * signs).astype(np.float32)


def _normal(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    values = rng.standard_normal(shape, dtype=np.float32)
    fate = rng.integers(0, 64, shape, dtype=np.int8)
    values[fate < 4] = 0.0
    values[fate == 63] *= 100.0
    return values
