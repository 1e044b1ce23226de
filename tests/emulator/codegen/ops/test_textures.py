"""Fetches of textures against the formulas of the CUDA C++ Programming Guide, "Texture Fetching", written anew here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench

from grader.emulator.machine.textures import objects
from grader.emulator.machine.textures.arrays import CudaArray, Extent, Format, NumberKind
from grader.emulator.machine.textures.objects import Resource, Texture
from grader.emulator.runtime.layout import GLOBAL_BASE

KINDS: dict[str, NumberKind] = {"u": "unsigned", "i": "signed", "f": "float"}
C_TYPES = {"u": "unsigned", "i": "int", "f": "float"}
VECTORS = C_TYPES | {"u": "uint"}
FETCHES = {
    "1": "tex1D<T>(t, x[i])",
    "2": "tex2D<T>(t, x[i], x[n + i])",
    "3": "tex3D<T>(t, x[i], x[n + i], x[2 * n + i])",
    "1 layered": "tex1DLayered<T>(t, x[i], (int)x[2 * n + i])",
    "2 layered": "tex2DLayered<T>(t, x[i], x[n + i], (int)x[2 * n + i])",
    "linear": "tex1Dfetch<T>(t, (int)x[i])",
}
GROUP = 64


def format_of(texels: Array) -> Format:
    """Of an array of shape (…, channels)."""
    return Format(KINDS[texels.dtype.kind], texels.dtype.itemsize * 8, texels.shape[-1])


def source(fetch: str, letter: str, channels: int) -> str:
    """A kernel that fetches where `x` (a row for each dimension) says, and stores the channels."""
    name = C_TYPES[letter] if channels == 1 else f"{VECTORS[letter]}{channels}"
    return f"""
    typedef {name} T;
    extern "C" __global__ void fetch(cudaTextureObject_t t, const float* x, T* out, int n)
    {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = {FETCHES[fetch]};
    }}
    """


@contextmanager
def bound(bench: Bench, texels: Array, *, linear: bool = False, **how: Any) -> Iterator[int]:
    """The handle of a texture of texels of shape ([depth,] [height,] width, channels)."""
    memory = bench.machine.memory
    address = memory.alloc(texels.nbytes)
    memory.write(address, np.ascontiguousarray(texels))
    depth, height, width = (0, 0, *texels.shape[:-1])[-3:]
    array = CudaArray(address, format_of(texels), Extent(width, height, depth))
    resource = objects.of_linear(address, array.format, texels.nbytes) if linear else objects.of_array(array)
    texture = Texture(resource, **how)
    assert texture.fault() is None
    handle = objects.create(memory, texture)
    try:
        yield handle
    finally:
        objects.destroy(memory, handle)
        memory.free(address)


def fetched(bench: Bench, fetch: str, texels: Array, places: Array, **how: Any) -> Array:
    """What a kernel fetches at places of shape (dimensions, n): (n, channels) of 32-bit values."""
    floats = texels.dtype.kind == "f" or how.get("normalised_read", False)
    letter = "f" if floats else texels.dtype.kind
    count, channels = places.shape[1], texels.shape[-1]
    rows = np.zeros((3, count), np.float32)
    rows[: len(places)] = places
    out = np.zeros((count, channels), f"{letter}4")
    with bound(bench, texels, linear=fetch == "linear", **how) as handle:
        ran = bench.cuda(source(fetch, letter, channels), "fetch", -(-count // GROUP), GROUP, handle, rows, out,
                         np.int32(count))  # fmt: skip
    assert ran.record.status == "completed"
    assert ran.record.findings == ()
    return ran.arrays[1]


# -- the guide's formulas ---------------------------------------------------------------------------------------------


@dataclass
class Guide:
    """A texture of texels (depth, height, width, channels), as floats or integers that fetches give."""

    texels: Array
    modes: Sequence[str]
    filtered: bool = False
    normalised: bool = False
    border: Sequence[float] = field(default=(0.0, 0.0, 0.0, 0.0))

    def texel(self, place: Sequence[int]) -> Array:
        """T[i, j, k], where an index may lie outside; `place` is innermost first."""
        inside = []
        for index, size, mode in zip(place, self.texels.shape[-2::-1], self.modes, strict=False):
            if mode == "border" and not 0 <= index < size:
                return np.array(self.border[: self.texels.shape[-1]])
            if mode == "wrap":
                index = index % size
            elif mode == "mirror":
                index = size - 1 - index % size if index // size % 2 else index % size
            inside.append(min(max(index, 0), size - 1))
        return np.asarray(self.texels[tuple(inside[::-1])], np.float64)

    def at(self, place: Sequence[float]) -> Array:
        sizes = self.texels.shape[-2::-1]
        scaled = [float(x) * n if self.normalised else float(x) for x, n in zip(place, sizes, strict=False)]
        if not self.filtered:
            return self.texel([math.floor(x) for x in scaled])
        firsts, weights = [], []
        for x in scaled:
            steps = math.floor((x - 0.5) * 256 + 0.5)  # 8 bits of fraction
            firsts.append(steps // 256)
            weights.append(steps % 256 / 256)
        total = np.zeros(self.texels.shape[-1])
        for corner in itertools.product((0, 1), repeat=len(scaled)):
            weight = math.prod(w if c else 1 - w for w, c in zip(weights, corner, strict=True))
            if weight:
                total = total + weight * self.texel([f + c for f, c in zip(firsts, corner, strict=True)])
        return total


def places(dimensions: int, sizes: Sequence[int], *, normalised: bool, seed: int = 1) -> Array:
    """Coordinates inside, outside, at texels' centres and between them."""
    random = np.random.default_rng(seed)
    inside = random.uniform(-1.5, 2.5, (dimensions, 96)) * np.array(sizes)[:dimensions, None]
    whole = np.floor(inside[:, :32]) + random.choice([0.0, 0.25, 0.5, 0.75], (dimensions, 32))
    found = np.concatenate([inside, whole], axis=1)
    if normalised:
        found = found / np.array(sizes)[:dimensions, None]
    return found.astype(np.float32)


SHAPES = {"1": (13,), "2": (5, 8), "3": (3, 4, 7)}


@pytest.mark.parametrize("fetch", SHAPES)
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize(
    ("mode", "normalised"),
    [
        ("clamp", False),
        ("border", False),
        ("clamp", True),
        ("border", True),
        ("wrap", True),
        ("mirror", True),
    ],
)
def test_floats_in_every_address_mode(
    bench: Bench, fetch: str, filtered: bool, mode: str, normalised: bool
) -> None:
    shape = SHAPES[fetch]
    texels = np.random.default_rng(0).normal(size=(*shape, 1)).astype(np.float32)
    border = np.array([2.5, 0, 0, 0], np.float32)
    where = places(len(shape), shape[::-1], normalised=normalised)
    found = fetched(
        bench, fetch, texels, where, address_modes=(mode,) * 3, filtered=filtered, normalised_coordinates=normalised,
        border=tuple(border.view(np.int32).tolist()),
    )  # fmt: skip
    guide = Guide(texels, [mode] * 3, filtered, normalised, border.tolist())
    wanted = np.array([guide.at(place) for place in where.T.tolist()], np.float32)
    np.testing.assert_array_equal(found, wanted)


def test_a_mode_for_each_dimension(bench: Bench) -> None:
    texels = np.arange(40, dtype=np.float32).reshape(5, 8, 1)
    where = places(2, (8, 5), normalised=True)
    modes = ("wrap", "mirror", "clamp")
    found = fetched(bench, "2", texels, where, address_modes=modes, normalised_coordinates=True)
    guide = Guide(texels, modes, normalised=True)
    np.testing.assert_array_equal(found, np.array([guide.at(p) for p in where.T.tolist()], np.float32))


def test_wrapping_needs_normalised_coordinates(bench: Bench) -> None:
    """The guide: otherwise the texture is clamped."""
    texels = np.arange(40, dtype=np.float32).reshape(5, 8, 1)
    where = places(2, (8, 5), normalised=False)
    wrapped, clamped = (
        fetched(bench, "2", texels, where, address_modes=(mode,) * 3) for mode in ("wrap", "clamp")
    )
    np.testing.assert_array_equal(wrapped, clamped)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"])
def test_formats(bench: Bench, dtype: str, channels: int) -> None:
    """Integers are widened with their sign, halves become floats; every channel has its own."""
    random = np.random.default_rng(3)
    texels = random.integers(0, 256, (5, 8, channels * np.dtype(dtype).itemsize), np.uint8).view(dtype)
    if dtype[0] == "f":
        texels = random.normal(size=texels.shape).astype(dtype)
    where = places(2, (8, 5), normalised=False)
    found = fetched(bench, "2", texels, where)
    columns, rows = (np.clip(np.floor(w), 0, n - 1).astype(int) for w, n in zip(where, (8, 5), strict=True))
    np.testing.assert_array_equal(found, texels[rows, columns].astype(found.dtype))


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
def test_integers_read_as_floats_from_0_or_minus_1_to_1(bench: Bench, dtype: str, filtered: bool) -> None:
    limits = np.iinfo(dtype)
    texels = np.linspace(limits.min, limits.max, 40).astype(dtype).reshape(5, 8, 1)
    where = places(2, (8, 5), normalised=False)
    found = fetched(bench, "2", texels, where, normalised_read=True, filtered=filtered)
    read = np.maximum(texels.astype(np.float64) / limits.max, -1.0).astype(np.float32)
    guide = Guide(read, ["clamp"] * 2, filtered)
    np.testing.assert_array_equal(found, np.array([guide.at(p) for p in where.T.tolist()], np.float32))
    if not filtered:
        assert (found.min(), found.max()) == (-1.0 if dtype[0] == "i" else 0.0, 1.0)


@pytest.mark.parametrize("fetch", ["1 layered", "2 layered"])
def test_layers_are_chosen_by_number_and_never_mixed(bench: Bench, fetch: str) -> None:
    texels = np.random.default_rng(0).normal(size=(3, 5, 8, 1)).astype(np.float32)
    if fetch == "1 layered":
        texels = texels[:, :1]
    where = places(2, (8, 5), normalised=False)
    layers = np.arange(where.shape[1]) % 5 - 1  # outside ones are clamped
    found = fetched(bench, fetch, texels, np.stack([*where, layers.astype(np.float32)]), filtered=True)
    wanted = [
        Guide(texels[min(max(layer, 0), 2)], ["clamp"] * 2, filtered=True).at(
            [x, y if fetch[0] == "2" else 0.5]
        )
        for x, y, layer in zip(*where.tolist(), layers.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(found, np.array(wanted, np.float32))


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1"])
def test_linear_memory_has_zeros_around_it(bench: Bench, dtype: str) -> None:
    texels = np.arange(1, 101).astype(dtype).reshape(100, 1)
    where = np.arange(-10, 118, dtype=np.float32)[None]
    found = fetched(bench, "linear", texels, where, filtered=dtype == "f4", address_modes=("clamp",) * 3)
    wanted = [texels[int(i), 0] if 0 <= i < 100 else 0 for i in where[0]]
    np.testing.assert_array_equal(found[:, 0], np.array(wanted, found.dtype))


def test_rows_may_lie_apart(bench: Bench) -> None:
    """Linear memory with a pitch, as cudaMallocPitch gives it."""
    memory, texels = bench.machine.memory, np.arange(15, dtype=np.float32).reshape(3, 5)
    rows = np.full((3, 16), np.nan, np.float32)
    rows[:, :5] = texels
    address = memory.alloc(rows.nbytes)
    memory.write(address, rows)
    resource = Resource(address, Format("float", 32, 1), Extent(5, 3), rows.strides[0])
    handle = objects.create(memory, Texture(resource, filtered=True))
    where = places(2, (5, 3), normalised=False)
    x = np.zeros((3, where.shape[1]), np.float32)
    x[:2] = where
    out = np.zeros((where.shape[1], 1), np.float32)
    found = bench.clean(source("2", "f", 1), "fetch", 2, GROUP, handle, x, out, np.int32(len(out)))[1]
    guide = Guide(texels[..., None], ["clamp"] * 2, filtered=True)
    np.testing.assert_array_equal(found, np.array([guide.at(p) for p in where.T.tolist()], np.float32))
    objects.destroy(memory, handle)
    memory.free(address)


def test_coordinates_that_are_no_numbers_or_beyond_all_texels(bench: Bench) -> None:
    texels = np.arange(1, 9, dtype=np.float32).reshape(8, 1)
    where = np.array([[np.nan, np.inf, -np.inf, 1e30, -1e30]], np.float32)
    found = fetched(bench, "1", texels, where, address_modes=("clamp",) * 3, filtered=True)
    assert found[:, 0].tolist() == [1, 8, 1, 8, 1]
    assert not fetched(bench, "1", texels, where, address_modes=("border",) * 3, filtered=True).any()


def test_lanes_may_fetch_from_different_textures_and_under_a_condition(bench: Bench) -> None:
    kernel = """
    extern "C" __global__ void k(cudaTextureObject_t a, cudaTextureObject_t b, float* out)
    {
        int i = threadIdx.x;
        if (i % 3) out[i] = tex1D<float>(i % 2 ? a : b, i + 0.5f);
    }
    """
    one, two = (np.arange(32, dtype=np.float32).reshape(32, 1) * f for f in (1, 100))
    with bound(bench, one) as a, bound(bench, two) as b:
        out = bench.clean(kernel, "k", 1, 32, a, b, np.full(32, -1, np.float32))
    wanted = [(i if i % 2 else 100 * i) if i % 3 else -1 for i in range(32)]
    assert out.tolist() == wanted


def test_integer_coordinates_in_ptx(bench: Bench) -> None:
    """PTX has them for all shapes, CUDA C++ for linear memory alone: they name a texel, and nothing is filtered."""
    text = """
    .visible .entry k(.param .u64 t, .param .u64 out)
    {
    .reg .b32 %r<4>; .reg .b64 %w<4>; .reg .f32 %f<4>;
    ld.param.u64 %w0, [t]; ld.param.u64 %w1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, 1;
    tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%w0, {%r0, %r1}];
    mul.wide.u32 %w2, %r0, 4; add.u64 %w1, %w1, %w2; st.global.f32 [%w1], %f0;
    ret;
    }
    """
    texels = np.arange(64, dtype=np.float32).reshape(2, 32, 1)
    with bound(bench, texels, filtered=True) as handle:
        ran = bench.ptx(text, "k", 1, 32, handle, np.zeros(32, np.float32))
    assert ran.arrays[0].tolist() == list(range(32, 64))


def test_a_handle_of_no_texture_is_found(bench: Bench) -> None:
    texels = np.ones((8, 1), np.float32)
    with bound(bench, texels) as handle:
        pass
    for stale in (handle, 0, 7):
        out = np.ones(32, np.float32)
        ran = bench.cuda(
            source("1", "f", 1), "fetch", 1, 32, stale, np.zeros(96, np.float32), out, np.int32(32)
        )
        (found,) = ran.record.findings
        assert (found.kind, found.no_texture, found.address, found.line) == ("out_of_bounds", True, stale, 6)
        assert not ran.arrays[1].any()


def test_memory_that_was_freed_under_a_texture_is_found(bench: Bench) -> None:
    memory = bench.machine.memory
    address = memory.alloc(4096, above=GLOBAL_BASE + (64 << 30))  # where nothing else will lie
    handle = objects.create(memory, Texture(objects.of_linear(address, Format("float", 32, 1), 4096)))
    memory.free(address)
    ran = bench.cuda(source("linear", "f", 1), "fetch", 1, 32, handle, np.zeros(96, np.float32),
                     np.zeros(32, np.float32), np.int32(32))  # fmt: skip
    objects.destroy(memory, handle)
    (found,) = ran.record.findings
    assert (found.kind, found.no_texture, found.action) == ("out_of_bounds", False, "read")


def test_a_texture_of_what_the_launch_stores_is_found(bench: Bench) -> None:
    """The texture cache does not see the stores of the kernel that it serves."""
    kernel = """
    extern "C" __global__ void k(cudaTextureObject_t t, float* x, float* out)
    {
        int i = threadIdx.x;
        x[i] = i;
        __syncthreads();
        out[i] = tex1Dfetch<float>(t, 31 - i);
    }
    """
    memory = bench.machine.memory
    address = memory.alloc(128)
    handle = objects.create(memory, Texture(objects.of_linear(address, Format("float", 32, 1), 128)))
    ran = bench.cuda(kernel, "k", 1, 32, handle, address, np.zeros(32, np.float32))
    objects.destroy(memory, handle)
    memory.free(address)
    (found,) = ran.record.findings
    assert (found.kind, found.line, found.instruction) == ("stored_read_only", 7, "tex.1d")


def test_bytes_that_are_fetched_count_as_read(bench: Bench) -> None:
    texels = np.zeros((1024, 1), np.float32)
    out, x = np.zeros(1024, np.float32), np.zeros((3, 1024), np.float32)
    x[0] = np.arange(1024)
    with bound(bench, texels, linear=True) as handle:
        ran = bench.cuda(source("linear", "f", 1), "fetch", 16, GROUP, handle, x, out, np.int32(1024))
    assert ran.record.dram_read_bytes == 2 * 4096
    assert ran.counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 32


@pytest.mark.parametrize(
    ("texture", "words"),
    [
        (Texture(Resource(0, Format("float", 32, 3), Extent(4), 16)), "3 channels"),
        (Texture(Resource(0, Format("float", 8, 1), Extent(4), 32)), "8 bits of type float"),
        (Texture(objects.of_linear(0, Format("float", 32, 1), 0)), "0 texels"),
        (Texture(Resource(0, Format("float", 32, 1), Extent(4, 2), 24)), "multiple of 32"),
        (Texture(Resource(0, Format("float", 32, 1), Extent(16, 2), 32)), "rows of 64 bytes"),
        (Texture(Resource(0, Format("signed", 32, 1), Extent(8, 2), 32), normalised_read=True), "32-bit integers"),
        (Texture(Resource(0, Format("signed", 16, 1), Extent(8, 2), 32), filtered=True), "linear filter for integers"),
    ],
)  # fmt: skip
def test_textures_that_the_driver_does_not_take(texture: Texture, words: str) -> None:
    assert words in (texture.fault() or "")
