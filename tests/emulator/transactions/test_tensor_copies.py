"""TMA's tensor copies: boxes of one to five dimensions, swizzles, what lies outside, stores and reductions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
import pytest
from emulated import Array, Bench, Ran, _loaded, cuda_image

from grader.emulator.machine.tensor_maps import TensorMap
from grader.emulator.metrics import PREFETCHED
from grader.emulator.pycuda_api import driver_ext
from grader.emulator.pycuda_api.driver.errors import LogicError
from grader.findings.kernels import message
from grader.findings.remedies import remedy

ASM = r"""
#define U64 unsigned long long
struct alignas(64) Map { char bytes[128]; };
struct At { int x[5]; };
__device__ unsigned place(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void init(U64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(place(b)), "r"(n)); }
__device__ void expect(U64* b, int n)
{ asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(place(b)), "r"(n) : "memory"); }
__device__ void wait(U64* b, unsigned parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }"
                 :: "r"(place(b)), "r"(parity) : "memory");
}
"""

LOAD = (
    ASM
    + r"""
extern "C" __global__ void load(const __grid_constant__ Map map, unsigned char* out, At at, int bytes)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ U64 full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("prefetch.tensormap [%0];" :: "l"(&map));
        asm volatile("cp.async.bulk.prefetch.tensor.RANKd.L2.global.tile [%1, {WHERE}];"
                     :: "r"(0), "l"(&map), "l"(0ll), COORDINATES);
        expect(&full, bytes);
        asm volatile("cp.async.bulk.tensor.RANKd.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {WHERE}], [%2];"
                     :: "r"(place(tile)), "l"(&map), "r"(place(&full)), COORDINATES : "memory");
    }
    __syncthreads();
    wait(&full, 0);
    for (int i = threadIdx.x; i < bytes; i += 32) out[i] = tile[i];
}
"""
)
STORE = (
    ASM
    + r"""
extern "C" __global__ void store(const __grid_constant__ Map map, const unsigned char* in, At at, int bytes)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    for (int i = threadIdx.x; i < bytes; i += 32) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("COPY [%1, {WHERE}], [%0];"
                     :: "r"(place(tile)), "l"(&map), "l"(0ll), COORDINATES : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
"""
)
NAMES = {"uint8": "UINT8", "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64", "int32": "INT32"}


def source(text: str, rank: int, copy: str = "") -> str:
    where = ", ".join(f"%{3 + i}" for i in range(rank))
    coordinates = ", ".join(f'"r"(at.x[{i}])' for i in range(rank))
    text = text.replace("COPY", copy).replace("RANK", str(rank))
    return text.replace("WHERE", where).replace("COORDINATES", coordinates)


def run(
    bench: Bench,
    text: str,
    tensor: Array,
    other: Array,
    box: Sequence[int],
    at: Sequence[int],
    **options: object,
) -> tuple[Ran, Array]:
    """Launches a kernel with a tensor map of `tensor` (outermost dimension first); what the tensor holds then."""
    memory = bench.machine.memory
    address = memory.alloc(tensor.nbytes)
    memory.write(address, tensor)
    dims = tensor.shape[::-1]
    encoded = driver_ext.tensor_map(
        address,
        NAMES[tensor.dtype.name],
        dims,
        tensor.strides[:-1][::-1],
        box,
        **options,  # type: ignore[arg-type]
    )
    coordinates = np.void(np.array([*at, *[0] * (5 - len(at))], np.int32).tobytes())
    name = re.search(r"__global__ void (\w+)", text)[1]  # type: ignore[index]
    kernel = _loaded(bench.machine, cuda_image(text)).kernels[name]
    try:
        ran = bench.run(
            kernel, 1, 32, encoded, other, coordinates, np.int32(other.nbytes), shared_bytes=16384
        )
        back = memory.read(address, tensor.nbytes).view(tensor.dtype).reshape(tensor.shape)
    finally:
        memory.free(address)
    return ran, back


def swizzled(offset: int, span: int) -> int:
    """By the table of the PTX ISA: in spans of 32, 64, 128 bytes, unit u of row r lies at u ^ r, every 256, 512, 1024
    bytes anew."""
    if not span:
        return offset
    rows = span // 16
    row, inside = offset // 128 % rows, offset % 128
    return offset - inside + (inside // 16 ^ row) * 16 + inside % 16


def expected(
    tensor: Array, box: Sequence[int], at: Sequence[int], steps: Sequence[int], fill: float
) -> Array:
    """The box as it lies in shared memory without a swizzle, outermost dimension first."""
    extents = [-(-size // step) for size, step in zip(box, steps, strict=True)]
    result = np.full(extents[::-1], fill, tensor.dtype)
    for index in itertools.product(*map(range, extents)):
        place = [x + i * step for x, i, step in zip(at, index, steps, strict=True)]
        if all(0 <= p < size for p, size in zip(place, tensor.shape[::-1], strict=True)):
            result[index[::-1]] = tensor[tuple(place[::-1])]
    return result


def loaded(
    bench: Bench, tensor: Array, box: Sequence[int], at: Sequence[int], *, swizzle: int = 0,
    steps: Sequence[int] | None = None, nan_fill: bool = False,
) -> Array:  # fmt: skip
    """What a load leaves in shared memory, after the swizzle has been undone."""
    steps = steps or [1] * len(box)
    want = expected(tensor, box, at, steps, np.nan if nan_fill else 0)
    ran, _ = run(bench, source(LOAD, len(box)), tensor, np.zeros(want.nbytes, np.uint8), box, at,
                 swizzle=swizzle, element_strides=steps, nan_fill=nan_fill)  # fmt: skip
    assert ran.findings == []
    assert ran.counters[PREFETCHED] == -(-want.nbytes // 32)
    lies = np.array([swizzled(offset, swizzle) for offset in range(want.nbytes)])
    got = ran.arrays[0][lies].view(tensor.dtype).reshape(want.shape)
    np.testing.assert_array_equal(got, want)
    return got


RNG = np.random.default_rng(3)
MATRIX = RNG.integers(-99, 99, (40, 72)).astype(np.float16)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_boxes_of_every_rank(bench: Bench, rank: int) -> None:
    shape = (3, 4, 3, 5, 12)[-rank:]
    tensor = RNG.integers(0, 99, shape).astype(np.float32)
    loaded(bench, tensor, [8, 3, 2, 3, 2][:rank], [4, 1, 0, 1, 0][:rank])


@pytest.mark.parametrize("at", [[-8, -3], [64, 36], [72, 0], [0, 40], [-104, 0], [8, 38]])
def test_outside_the_tensor_are_zeros(bench: Bench, at: list[int]) -> None:
    loaded(bench, MATRIX, [16, 8], at)


def test_outside_the_tensor_may_be_nan(bench: Bench) -> None:
    assert np.isnan(loaded(bench, MATRIX, [16, 8], [64, 36], nan_fill=True)).any()


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_swizzles(bench: Bench, swizzle: int) -> None:
    loaded(bench, MATRIX, [swizzle // 2, 32], [8, 2], swizzle=swizzle)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_types(bench: Bench, dtype: type) -> None:
    loaded(bench, RNG.integers(0, 99, (10, 48)).astype(dtype), [16, 8], [16, 4])


def test_element_strides(bench: Bench) -> None:
    loaded(bench, MATRIX, [16, 9], [8, 1], steps=[1, 2])


def test_bytes_that_differ_from_the_box_are_found(bench: Bench) -> None:
    """The bytes of a box count in full, also of what lies outside."""
    ran, _ = run(bench, source(LOAD, 2), MATRIX, np.zeros(128, np.uint8), [16, 8], [64, 36])
    (found,) = (f for f in ran.record.findings if f.kind == "mbarrier")
    assert found.phase is not None
    assert (found.phase.arrived, found.phase.expected) == (256, 128)


TMA_SECTORS = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"


def test_sectors_outside_the_tensor_are_counted_but_not_read(bench: Bench) -> None:
    tensor = np.zeros((16, 64), np.float32)
    ran, _ = run(bench, source(LOAD, 2), tensor, np.zeros(1024, np.uint8), [32, 8], [48, 12])
    assert ran.counters[TMA_SECTORS] == 8 * 4
    assert ran.record.dram_read_bytes == 4 * 2 * 32


@pytest.mark.parametrize(
    ("shape", "at", "sectors"),
    [
        ((16, 100), [4, 0], 4 * 5 + 4 * 4),
        ((4, 100), [4, 0], 2 * 5 + 2 * 4 + 4 * 4),
        ((16, 64), [-8, 0], 8 * (1 + 3)),
        ((16, 60), [48, 0], 8 * (2 + 3)),
    ],
    ids=["every other row between sectors", "four rows outside", "a sector outside", "the tensor ends in a sector"],
)  # fmt: skip
def test_sectors_of_rows_are_counted_by_themselves(
    bench: Bench, shape: tuple[int, int], at: list[int], sectors: int
) -> None:
    """What an H200 counts: a row's sectors in global memory, and those of what is filled, from the row's start on."""
    tensor = np.zeros(shape, np.float32)
    ran, _ = run(bench, source(LOAD, 2), tensor, np.zeros(1024, np.uint8), [32, 8], at)
    assert ran.counters[TMA_SECTORS] == sectors


def test_rows_narrower_than_the_swizzle_lie_its_span_apart(bench: Bench) -> None:
    """And bring their own bytes, no others."""
    tensor = RNG.integers(1, 99, (24, 16)).astype(np.float32)
    text = source(LOAD, 2).replace("expect(&full, bytes)", "expect(&full, 20 * 16)")
    text = text.replace("init(&full, 1);", "init(&full, 1); for (int i = 0; i < bytes; i++) tile[i] = 0;")
    text = text.replace(
        'asm volatile("fence.mbar', 'asm volatile("fence.proxy.async;"); asm volatile("fence.mbar', 1
    )
    ran, _ = run(bench, text, tensor, np.zeros(20 * 128, np.uint8), [4, 20], [4, 2], swizzle=128)
    assert ran.findings == []
    want = np.zeros(20 * 128, np.uint8)
    for row in range(20):
        start = swizzled(128 * row, 128)
        want[start : start + 16] = tensor[2 + row, 4:8].view(np.uint8)
    np.testing.assert_array_equal(ran.arrays[0], want)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_outside_the_tensor_has_the_bits_of_an_h200(bench: Bench, dtype: type) -> None:
    tensor, box = MATRIX.astype(dtype), [128 // np.dtype(dtype).itemsize, 2]
    ran, _ = run(bench, source(LOAD, 2), tensor, np.zeros(256, np.uint8), box, [72, 0], nan_fill=True)
    assert set(ran.arrays[0].view(np.uint16)) == {0x7FF7}


TENSOR_STORE = "cp.async.bulk.tensor.RANKd.global.shared::cta.tile.bulk_group"
TENSOR_REDUCE = "cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.OPERATION.tile.bulk_group"


@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize("at", [[8, 4], [0, 36], [64, 38]])
def test_stores_leave_out_what_lies_outside(bench: Bench, at: list[int], swizzle: int) -> None:
    box = RNG.integers(-99, 99, (8, 64)).astype(np.float16)
    lies = np.array([swizzled(offset, swizzle) for offset in range(box.nbytes)])
    tile = np.zeros(box.nbytes, np.uint8)
    tile[lies] = box.view(np.uint8).ravel()
    ran, back = run(bench, source(STORE, 2, TENSOR_STORE), MATRIX, tile, [64, 8], at, swizzle=swizzle)
    assert ran.findings == []
    want = MATRIX.copy()
    for y, x in itertools.product(range(8), range(64)):
        if 0 <= at[1] + y < 40 and 0 <= at[0] + x < 72:
            want[at[1] + y, at[0] + x] = box[y, x]
    np.testing.assert_array_equal(back, want)


@pytest.mark.parametrize("copy", [TENSOR_STORE, TENSOR_REDUCE.replace("OPERATION", "add")])
@pytest.mark.parametrize(("at", "before"), [([-8, 36], (0, -8)), ([64, -2], (1, -2))])
def test_a_store_that_begins_in_front_of_its_tensor_is_found(
    bench: Bench, at: list[int], before: tuple[int, int], copy: str
) -> None:
    """CUDA C++ Programming Guide, "Negative indices and out of bounds"; an H200 ends it with an illegal instruction."""
    ran, back = run(bench, source(STORE, 2, copy), MATRIX, np.zeros(256, np.uint8), [16, 8], at)
    (found,) = ran.record.findings
    assert (found.kind, found.before) == ("out_of_bounds", before)
    assert f"coordinate {before[0]} of the box (0 is the innermost) is {before[1]}" in message(found)
    assert "take no negative coordinate" in remedy(found)
    np.testing.assert_array_equal(back, MATRIX)


@pytest.mark.parametrize(
    ("operation", "dtype"), [("add", np.float16), ("add", np.float32), ("max", np.int32)]
)
def test_reductions_into_a_tensor(bench: Bench, operation: str, dtype: type) -> None:
    tensor, box = (RNG.integers(-99, 99, shape).astype(dtype) for shape in ((16, 24), (8, 16)))
    copy = TENSOR_REDUCE.replace("OPERATION", operation)
    ran, back = run(bench, source(STORE, 2, copy), tensor, box, [16, 8], [8, 4])
    assert ran.findings == []
    want = tensor.copy()
    part = want[4:12, 8:24]
    part[...] = {"add": np.add, "max": np.maximum}[operation](part, box)
    np.testing.assert_array_equal(back, want)


@pytest.mark.parametrize("text", [source(LOAD, 2), source(STORE, 2, TENSOR_STORE)])
@pytest.mark.parametrize("at", [[3, 2], [-4, 0]])
def test_a_box_that_begins_between_units_of_16_bytes_is_found(bench: Bench, at: list[int], text: str) -> None:
    """An H200 ends such a kernel with an illegal instruction, whatever the other coordinates are."""
    ran, _ = run(bench, text, MATRIX, np.zeros(256, np.uint8), [16, 8], at)
    (found,) = (f for f in ran.record.findings if f.kind == "misaligned")
    assert "copies a box that begins at" in message(found)
    assert "multiple of 16 bytes of a row" in remedy(found)


def test_what_is_no_tensor_map_is_found(bench: Bench) -> None:
    text = source(LOAD, 2).replace('"l"(&map), "r"', '"l"(out), "r"')
    ran, _ = run(bench, text, MATRIX, np.zeros(256, np.uint8), [16, 8], [0, 0])
    assert "out_of_bounds" in ran.findings


@pytest.mark.parametrize("address", ["(char*)&map + 64", "(char*)0x7fff00000000", "(char*)64"])
def test_a_wild_address_of_a_tensor_map_is_found(bench: Bench, address: str) -> None:
    text = source(LOAD, 2).replace('"l"(&map), "r"', f'"l"({address}), "r"')
    ran, _ = run(bench, text, MATRIX, np.zeros(256, np.uint8), [16, 8], [0, 0])
    assert "out_of_bounds" in ran.findings


VALID = TensorMap(0x7000_0000_0000, "FLOAT16", (72, 40), (144,), (16, 8), (1, 1))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"data_type": "FLOAT8"}, "FLOAT8"), ({"dims": (72, 0)}, "extent of the tensor"),
        ({"strides": (140,)}, "16 bytes"), ({"box": (16, 512)}, "1 to 256"), ({"box": (4, 8)}, "rows of 8 bytes"),
        ({"box": (128, 8), "swizzle": 128}, "swizzle of 128"), ({"swizzle": 16}, "swizzle of 16"),
        ({"address": 0x7000_0000_0008}, "multiple of 16"), ({"strides": ()}, "1 strides"),
        ({"data_type": "UINT16", "nan_fill": True}, "NaN"), ({"element_strides": (1, 9)}, "1 to 8"),
    ],
)  # fmt: skip
def test_what_the_driver_does_not_take(changes: dict[str, object], says: str) -> None:
    values = {name: getattr(VALID, name) for name in VALID.__dataclass_fields__} | changes
    order = ("address", "data_type", "dims", "strides", "box")
    with pytest.raises(LogicError, match=says):
        driver_ext.tensor_map(*[values.pop(name) for name in order], **values)  # type: ignore[arg-type]
