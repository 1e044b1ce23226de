"""TMA: boxes of one to five dimensions, swizzles, steps, what lies outside; stores and reductions; bulk copies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from numerics.case import Array, Case, Group, Map

BYTES = 8192
"""Of shared memory."""
UNIT = 16
"""Bytes of which a multiple lies in front of a box in its row: TMA ends the kernel with "illegal instruction"
otherwise."""
PRELUDE = """#include <cuda.h>
using u32 = unsigned; using u64 = unsigned long long;
__device__ __forceinline__ u32 place(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void begin(u64* full, int bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(place(full)));
  asm volatile("fence.mbarrier_init.release.cluster;");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(place(full)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(u64* full) {  // not for ever: bytes may come in other numbers than are expected
  u32 complete = 0;
  for (int i = 0; i < 10000 && !complete; i++)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(complete) : "r"(place(full)) : "memory");
}
__device__ __forceinline__ void stored() {
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
"""
_NAMES = {
    "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "int32": "INT32", "uint64": "UINT64", "int64": "INT64",
    "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64",
}  # fmt: skip


def _coordinates(rank: int, first: int) -> tuple[str, str]:
    """Of a tensor operand: its numbers in the assembly, and what they stand for."""
    return (
        ", ".join(f"%{first + i}" for i in range(rank)),
        ", ".join(f'"r"(x{i})' for i in range(rank)),
    )


_AT = "int x0, int x1, int x2, int x3, int x4"


def _load(rank: int) -> tuple[str, str]:
    where, given = _coordinates(rank, 3)
    kernel = f"load{rank}"
    return (
        kernel,
        f"""extern "C" __global__ void {kernel}(const __grid_constant__ CUtensorMap map, u32* out, int bytes, {_AT}) {{
  __shared__ __align__(1024) u32 tile[{BYTES // 4}]; __shared__ u64 full;
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) tile[i] = 0xabababab;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {{
    begin(&full, bytes);
    asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {{{where}}}], [%2];"
                 :: "r"(place(tile)), "l"(&map), "r"(place(&full)), {given} : "memory");
  }}
  __syncthreads();
  wait(&full);
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) out[i] = tile[i];
}}""",
    )


def _store(rank: int, how: str) -> tuple[str, str]:
    where, given = _coordinates(rank, 2)
    kernel = f"store{rank}_{how}"
    copy = "cp.async" if how == "tile" else "cp.reduce.async"
    end = ".tile" if how == "tile" else f".{how}.tile"
    return (
        kernel,
        f"""extern "C" __global__ void {kernel}(const __grid_constant__ CUtensorMap map, const u32* in, {_AT}) {{
  __shared__ __align__(1024) u32 tile[{BYTES // 4}];
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) tile[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {{
    asm volatile("{copy}.bulk.tensor.{rank}d.global.shared::cta{end}.bulk_group [%1, {{{where}}}], [%0];"
                 :: "r"(place(tile)), "l"(&map), {given} : "memory");
    stored();
  }}
}}""",
    )


def _tensor(dtype: str, shape: Sequence[int], padding: int = 0) -> tuple[Array, list[int]]:
    """A tensor with rows of some further elements, and its strides in bytes, innermost but one first."""
    rng = np.random.default_rng(2)
    whole = (*shape[:-1], shape[-1] + padding)
    values = rng.integers(1, 100, whole).astype(dtype)
    return values.reshape(-1), list(values.strides[:-1][::-1])


def _case(
    name: str, kernel: str, source: str, dtype: str, shape: Sequence[int], box: Sequence[int], at: Sequence[int],
    *, stores: bool = False, padding: int = 0, **options: object,
) -> Case:  # fmt: skip
    """`shape`: outermost dimension first; `box` and `at`: innermost first."""
    tensor, strides = _tensor(dtype, shape, padding)
    steps = [1, *(options.get("element_strides") or [1] * len(box))[1:]]  # type: ignore[index]
    extents = [-(-size // step) for size, step in zip(box, steps, strict=True)]
    nbytes = int(np.prod(extents)) * tensor.itemsize
    assert nbytes <= BYTES
    where = [np.int32(x) for x in (*at, *[0] * (5 - len(at)))]
    as_seen = Map("tensor", _NAMES[dtype], tuple(shape[::-1]), strides, tuple(box), options)
    if stores:
        values = np.random.default_rng(6).integers(1, 100, BYTES // tensor.itemsize).astype(dtype)
        return Case(
            name, kernel, source, (as_seen, "in", *where), {"tensor": tensor, "in": values}, 128, "tensor"
        )
    arrays = {"tensor": tensor, "out": np.zeros(BYTES // 4, np.uint32)}
    return Case(name, kernel, source, (as_seen, "out", np.int32(nbytes), *where), arrays, 128)


_RANKS: dict[int, tuple[Sequence[int], Sequence[int], list[Sequence[int]]]] = {
    1: ((1000,), (256,), [(0,), (4,), (-8,), (900,), (1000,), (-300,)]),
    2: ((60, 40), (16, 24), [(0, 0), (4, 7), (-4, -3), (28, 50), (40, 0), (0, 60)]),
    3: ((9, 20, 40), (16, 6, 5), [(0, 0, 0), (32, 17, 7), (-4, -2, -1), (0, 0, 9)]),
    4: ((4, 5, 6, 24), (8, 4, 3, 3), [(0, 0, 0, 0), (20, 4, 3, 2), (-4, -1, -1, -1)]),
    5: ((3, 4, 3, 4, 16), (8, 2, 2, 3, 2), [(0, 0, 0, 0, 0), (12, 3, 2, 2, 2), (-4, -1, -1, -2, -1)]),
}
"""Rank → shape, box, where it is taken; along a row it begins at a multiple of 16 bytes (see UNIT). A store in front of
a row ends the kernel on an H200, and is left out."""


def _loads() -> Iterator[Case]:
    for rank, (shape, box, places) in _RANKS.items():
        for at in places:
            yield _case(f"load {rank}d at {at}", *_load(rank), "float32", shape, box, at)
    for dtype, swizzle, start in itertools.product(_NAMES, (0, 32, 64, 128), (0, -1)):
        width = np.dtype(dtype).itemsize
        row, at = (swizzle or 64) // width, (start * UNIT // width, -5 * start)
        name = f"load {dtype} swizzle {swizzle} at {at}"
        yield _case(name, *_load(2), dtype, (50, 128), (row, 40), at, swizzle=swizzle)
    for dtype, swizzle in itertools.product(("float32", "float16", "float64"), (0, 128)):
        options = {"swizzle": swizzle, "nan_fill": True}
        name, width = f"load {dtype} NaN outside swizzle {swizzle}", np.dtype(dtype).itemsize
        yield _case(name, *_load(2), dtype, (30, 128), (64 // width, 20), (-UNIT // width, 20), **options)
    for steps in ((1, 2), (2, 1), (1, 3), (4, 4)):
        name = f"load every {steps}"
        yield _case(name, *_load(2), "float32", (60, 64), (16, 21), (4, 2), element_strides=steps)
        yield _case(
            f"{name} at the edge", *_load(2), "float32", (60, 64), (16, 21), (56, 50), element_strides=steps
        )
    yield _case("load narrow swizzle", *_load(2), "float32", (60, 64), (4, 40), (4, 2), swizzle=128)
    yield _case("load padded rows", *_load(2), "float32", (60, 61), (16, 20), (52, 50), padding=3)
    for promotion in (64, 128, 256):
        yield _case(
            f"load promoted to {promotion}",
            *_load(2),
            "float32",
            (60, 64),
            (16, 20),
            (4, 2),
            l2_promotion=promotion,
        )


def _stores() -> Iterator[Case]:
    for rank, (shape, box, places) in _RANKS.items():
        for at in (at for at in places if min(at) >= 0):  # only a load may begin at negative coordinates
            yield _case(
                f"store {rank}d at {at}", *_store(rank, "tile"), "float32", shape, box, at, stores=True
            )
    for swizzle in (32, 64, 128):
        name = f"store swizzle {swizzle}"
        yield _case(
            name,
            *_store(2, "tile"),
            "float16",
            (50, 128),
            (swizzle // 2, 40),
            (8, 16),
            stores=True,
            swizzle=swizzle,
        )
    for how, dtypes in {
        "add": ("uint32", "int32", "uint64", "float16", "float32", "float64"),
        "min": ("uint32", "int32", "uint64", "int64", "float16"),
        "max": ("uint32", "int32", "uint64", "int64", "float16"),
        "and": ("uint32", "uint64"), "or": ("uint32", "uint64"), "xor": ("uint32", "uint64"),
        "inc": ("uint32",), "dec": ("uint32",),
    }.items():  # fmt: skip
        for dtype in dtypes:
            row, start = (nbytes // np.dtype(dtype).itemsize for nbytes in (64, 2 * UNIT))
            yield _case(
                f"reduce {how} {dtype}", *_store(2, how), dtype, (50, 64), (row, 20), (start, 40), stores=True
            )


def _bulk() -> Iterator[Case]:
    rng = np.random.default_rng(8)
    words = rng.integers(0, 2**32, BYTES // 4, dtype=np.uint32)
    source = f"""extern "C" __global__ void bulk(u32* out, const u32* in, int bytes, int from, int to) {{
  __shared__ __align__(1024) u32 tile[{BYTES // 4}]; __shared__ u64 full;
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) tile[i] = 0xabababab;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {{
    begin(&full, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(place(tile) + to), "l"(in + from / 4), "r"(bytes), "r"(place(&full)) : "memory");
  }}
  __syncthreads();
  wait(&full);
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) out[i] = tile[i];
}}"""
    for nbytes, at, to in ((16, 0, 0), (48, 16, 32), (4096, 1024, 2048), (8192, 0, 0), (1008, 4000, 16)):
        numbers = (np.int32(nbytes), np.int32(at), np.int32(to))
        arrays = {"in": words, "out": np.zeros(BYTES // 4, np.uint32)}
        yield Case(
            f"bulk load {nbytes} from {at} to {to}", "bulk", source, ("out", "in", *numbers), arrays, 128
        )
    kinds = {"u32": "uint32", "s32": "int32", "u64": "uint64", "s64": "int64", "b32": "uint32", "b64": "uint64",
             "f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64"}  # fmt: skip
    reductions = {
        "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"), "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
        "max": ("u32", "s32", "u64", "s64", "f16", "bf16"), "and": ("b32", "b64"), "or": ("b32", "b64"),
        "xor": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",), "": ("b32",),
    }  # fmt: skip
    for how, kind in ((how, kind) for how, of in reductions.items() for kind in of):
        kernel = f"bulk_{how}_{kind}"
        end = f".{how}{'.noftz' if kind in ('f16', 'bf16') and how == 'add' else ''}.{kind}" if how else ""
        copy = "cp.reduce.async" if how else "cp.async"
        text = f"""extern "C" __global__ void {kernel}(u32* out, const u32* in, int bytes) {{
  __shared__ __align__(1024) u32 tile[{BYTES // 4}];
  for (int i = threadIdx.x; i < {BYTES // 4}; i += 128) tile[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {{
    asm volatile("{copy}.bulk.global.shared::cta.bulk_group{end} [%0], [%1], %2;"
                 :: "l"(out), "r"(place(tile)), "r"(bytes) : "memory");
    stored();
  }}
}}"""
        if kind in ("f16", "f32", "f64"):
            made = [
                rng.standard_normal(BYTES // np.dtype(kinds[kind]).itemsize).astype(kinds[kind])
                for _ in range(2)
            ]
        else:
            made = [rng.integers(0, 2**32, BYTES // 4, dtype=np.uint32).view(kinds[kind]) for _ in range(2)]
        if kind == "bf16":
            made = [x & np.uint16(0xBFFF) for x in made]  # no NaN, and no infinity
        arrays = {"in": made[0], "out": made[1]}
        yield Case(f"bulk store {how} {kind}", kernel, text, ("out", "in", np.int32(4096)), arrays, 128)


def group() -> Group:
    """All of them."""
    return Group("copies", PRELUDE, (*_loads(), *_stores(), *_bulk()), a_module=20)
