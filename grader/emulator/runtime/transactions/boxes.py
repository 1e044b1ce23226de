"""How bulk copies move data: a run of bytes, or the box of a tensor map, piece by piece.

A box lies densely in shared memory, its innermost dimension first, but for the swizzle: the 16-byte unit that an
address falls into is exchanged by the row of 128 bytes it lies in (PTX ISA 5.5.7), and a row takes the swizzle's whole
span. What lies outside the tensor is filled when it is loaded, and left out when it is stored.
"""

from __future__ import annotations

from numba import float32, int64, uint8, uint16, uint32, uint64

from grader.emulator.runtime.atomics import make_combine
from grader.emulator.runtime.layout import (  # fmt: skip
    ATOM_ADD,
    ATOM_ADD_F,
    ATOM_ADD_FTZ,
    ATOM_AND,
    ATOM_DEC,
    ATOM_INC,
    ATOM_MAX_U,
    ATOM_MIN_S,
    ATOM_MIN_U,
    ATOM_OR,
    ATOM_XOR,
    BF16_REDUCED,
    DOUBTFUL,
    F16_REDUCED,
    FULL,
    HOST_DELTA,
    LANES,
    LOAD,
    MAP_ADDRESS,
    MAP_BOX,
    MAP_DIMS,
    MAP_ELEMENT,
    MAP_FILL,
    MAP_RANK,
    MAP_STEPS,
    MAP_STRIDES,
    MAP_SWIZZLE,
    MAP_TYPE,
    REDUCTION,
    REQUESTS,
    SECTORS,
    SHARED_HOST,
    STORE,
    TENSOR_BF16,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F32_FTZ,
    TENSOR_F64,
    TENSOR_S32,
    TENSOR_S64,
    TO_SHARED,
    TRANSACTIONS,
    U_BYTES,
    U_GLOBAL,
    U_KIND,
    U_MAP,
    U_OPERATION,
    U_PLACE,
    U_REFUSED,
    U_SHARED,
    U_SITE,
    U_TENSOR,
    U_TYPE,
    X_LANE_COUNT,
    X_LANE_WIDTH,
    X_LANES,
    X_OFFSETS,
    X_VALUES,
)
from grader.emulator.runtime.native import (
    bits_to_float,
    float_to_bits,
    float_to_half,
    half_to_float,
    outlined,
    pointer,
)
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.paths import access_aside

UNIT = 16
LINE = 128
track_stores = outlined("track_stores")
piece, flush, reduce = outlined("piece"), outlined("flush"), outlined("reduce")
_combine32, _combine64 = make_combine(uint32), make_combine(uint64)


@native
def map_of(u: int) -> int:
    """The address of an entry's tensor map."""
    return u + U_TENSOR * 8


@native
def swizzled(offset: int, swizzle: int) -> int:
    """Where an offset in shared memory lies; `swizzle` is 0, or 1, 3, 7 for spans of 32, 64, 128 bytes."""
    return offset ^ ((offset >> 7 & swizzle) << 4)


# -- reductions -----------------------------------------------------------------------------------------------------


@native
def _to_float(kind: int, bits: int) -> float:
    return half_to_float(uint16(bits)) if kind == F16_REDUCED else bits_to_float(uint32(bits << 16))


@native
def _to_bits(kind: int, value: float) -> int:
    """Rounded to the nearest half or bfloat16, ties to even."""
    if kind == F16_REDUCED:
        return int64(float_to_half(float32(value)))
    bits = int64(float_to_bits(float32(value)))
    if value != value:
        return int64(0x7FFF)
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


@native
def _combine16(kind: int, operation: int, old: int, value: int) -> int:
    a, b = _to_float(kind, old), _to_float(kind, value)
    if operation == ATOM_ADD:
        return _to_bits(kind, a + b)
    if operation in (ATOM_MIN_U, ATOM_MIN_S):
        return value if b < a or a != a else old
    return value if b > a or a != a else old


@native
def combine(target: int, source: int, nbytes: int, kind: int, operation: int) -> None:
    """Combines what lies at the host address `target` with what lies at `source`; `kind` is the bytes of an element, or
    one of the 16-bit types."""
    if kind in (F16_REDUCED, BF16_REDUCED):
        a, b = pointer(target, uint16), pointer(source, uint16)
        for i in range(nbytes // 2):
            a[i] = uint16(_combine16(kind, operation, int64(a[i]), int64(b[i])))
    elif kind == 4:
        c, d = pointer(target, uint32), pointer(source, uint32)
        for i in range(nbytes // 4):
            c[i] = _combine32(operation, c[i], d[i], d[i])
    else:
        e, f = pointer(target, uint64), pointer(source, uint64)
        for i in range(nbytes // 8):
            e[i] = _combine64(operation, e[i], f[i], f[i])


_OPERATIONS = (ATOM_ADD, ATOM_MIN_U, ATOM_MAX_U, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_INC, ATOM_DEC)
"""In the order in which tensor reductions name them."""


@native
def reduction_of(tensor_map: int, index: int) -> tuple[int, int]:
    """Operation and type of a reduction into a tensor, whose type is one of CUtensorMapDataType."""
    kind = int64(pointer(tensor_map + MAP_TYPE, uint8)[0])
    operation = int64(_OPERATIONS[index])
    if operation in (ATOM_MIN_U, ATOM_MAX_U) and kind in (TENSOR_S32, TENSOR_S64):
        operation += ATOM_MIN_S - ATOM_MIN_U
    if operation == ATOM_ADD and kind == TENSOR_F64:
        operation = int64(ATOM_ADD_F)
    elif operation == ATOM_ADD and kind in (TENSOR_F32, TENSOR_F32_FTZ):
        operation = int64(ATOM_ADD_FTZ)
    if kind == TENSOR_F16:
        return operation, int64(F16_REDUCED)
    if kind == TENSOR_BF16:
        return operation, int64(BF16_REDUCED)
    return operation, int64(pointer(tensor_map + MAP_ELEMENT, uint8)[0])


# -- pieces ---------------------------------------------------------------------------------------------------------


@native
def _move(context: int, u: int, offset: int, address: int, nbytes: int) -> None:
    """Moves up to a unit of data."""
    c, e = pointer(context, int64), pointer(u, int64)
    shared, host = c[SHARED_HOST] + offset, address + c[HOST_DELTA]
    if e[U_KIND] != TO_SHARED and e[U_OPERATION] >= 0:
        reduce(host, shared, nbytes, e[U_TYPE], e[U_OPERATION])
        return
    to, of = (shared, host) if e[U_KIND] == TO_SHARED else (host, shared)
    if nbytes == UNIT:
        for word in range(2):
            pointer(to, int64)[word] = pointer(of, int64)[word]
    else:
        for byte in range(nbytes):
            pointer(to, uint8)[byte] = pointer(of, uint8)[byte]


@native
def _fill(context: int, u: int, offset: int, nbytes: int) -> None:
    """What a load writes for elements outside the tensor: zeros, or NaN, which is 0x7ff7 every 16 bits of any type."""
    pointer(u, int64)
    target = pointer(pointer(context, int64)[SHARED_HOST] + offset, uint8)
    nan = pointer(map_of(u) + MAP_FILL, uint8)[0] != 0
    for byte in range(nbytes):
        target[byte] = (uint8(0x7F) if byte & 1 else uint8(0xF7)) if nan else uint8(0)


@native
def count_request(context: int, u: int) -> None:
    """Counts and checks the request to global memory that has been gathered."""
    c, e = pointer(context, int64), pointer(u, int64)
    base = c[TRANSACTIONS]
    x = pointer(base, int64)
    count, width = x[X_LANE_COUNT], x[X_LANE_WIDTH]
    if count == 0:
        return
    x[X_LANE_COUNT] = 0
    mask = FULL if count == LANES else (int64(1) << count) - 1
    loads = e[U_KIND] == TO_SHARED
    kind = LOAD if loads else (STORE if e[U_OPERATION] < 0 else REDUCTION)
    allowed = access_aside(context, e[U_SITE], base + X_LANES * 8, mask, width, kind)
    if allowed != mask:
        e[U_REFUSED] = 1
    if kind == STORE and c[DOUBTFUL]:
        half = min(width, int64(8))
        for lane in range(count):
            for part in range(width // half):
                of = pointer(c[SHARED_HOST] + x[X_OFFSETS + lane] + part * half, uint8)
                to = pointer(base + X_VALUES * 8 + (part * LANES + lane) * half, uint8)
                for byte in range(half):
                    to[byte] = of[byte]
        track_stores(
            context, e[U_SITE], base + X_LANES * 8, base + X_VALUES * 8, allowed, half, width // half
        )


@native
def _gather(context: int, u: int, offset: int, address: int, nbytes: int, width: int) -> None:
    """Adds a piece to the request to global memory, `width` bytes a lane."""
    x = pointer(pointer(context, int64)[TRANSACTIONS], int64)
    for byte in range(0, nbytes, width):
        if x[X_LANE_COUNT] == LANES or x[X_LANE_WIDTH] != width:
            flush(context, u)
        x[X_LANE_WIDTH] = width
        x[X_LANES + x[X_LANE_COUNT]] = address + byte
        x[X_OFFSETS + x[X_LANE_COUNT]] = offset + byte
        x[X_LANE_COUNT] += 1


@native
def move_piece(
    context: int, u: int, linear: int, address: int, nbytes: int, swizzle: int, moves: int
) -> None:
    """A run of bytes in global memory, at `linear` bytes of the box; `address` is -1 outside the tensor."""
    e = pointer(u, int64)
    done = int64(0)
    while done < nbytes:
        offset = swizzled(e[U_SHARED] + linear + done, swizzle)
        step = min(nbytes - done, UNIT - (offset & UNIT - 1))
        if address < 0:
            if moves and e[U_KIND] == TO_SHARED:
                _fill(context, u, offset, step)
        elif moves:
            _move(context, u, offset, address + done, step)
        else:
            width = int64(UNIT)
            while (address + done | step | offset) & (width - 1):
                width >>= 1
            _gather(context, u, offset, address + done, step, width)
        done += step


@native
def _sectors(start: int, nbytes: int, address: int) -> int:
    """Sectors that TMA counts for a run of bytes from `start` bytes of a row: each piece of 128 bytes of the row by
    itself. What a load fills (`address` -1) counts as if it were read."""
    sectors, done = int64(0), int64(0)
    while done < nbytes:
        step = min(nbytes - done, LINE - (start + done) % LINE)
        first = (start if address < 0 else address) + done
        sectors += (first + step - 1 >> 5) - (first >> 5) + 1
        done += step
    return sectors


@native
def _row_sectors(u: int, address: int, first: int, count: int) -> int:
    """Those of a row of a box; its arguments are those of `_row`."""
    e = pointer(u, int64)
    width = int64(pointer(map_of(u) + MAP_ELEMENT, uint8)[0])
    low, high = _inside(u, address, first, count)
    inside = _sectors(low * width, (high - low) * width, address + (first + low) * width)
    if e[U_KIND] != TO_SHARED:
        return inside
    before = _sectors(int64(0), low * width, int64(-1))
    return before + inside + _sectors(high * width, (count - high) * width, int64(-1))


@native
def _inside(u: int, address: int, first: int, count: int) -> tuple[int, int]:
    """The part of a row that lies in the tensor: its first element, and the one behind its last."""
    if address < 0:
        return int64(0), int64(0)
    size = int64(pointer(map_of(u) + MAP_DIMS, uint32)[0]) + 1
    low = min(max(-first, int64(0)), count)
    return low, max(low, min(size - first, count))


@native
def _row(context: int, u: int, linear: int, address: int, first: int, count: int, moves: int) -> None:
    """The innermost dimension of a box, from coordinate `first`; `address` is that of coordinate 0, or -1."""
    pointer(u, int64)
    width = int64(pointer(map_of(u) + MAP_ELEMENT, uint8)[0])
    swizzle = int64(pointer(map_of(u) + MAP_SWIZZLE, uint8)[0])
    low, high = _inside(u, address, first, count)
    piece(context, u, linear, int64(-1), low * width, swizzle, moves)
    start, where = linear + low * width, address + (first + low) * width
    piece(context, u, start, where, (high - low) * width, swizzle, moves)
    piece(context, u, linear + high * width, int64(-1), (count - high) * width, swizzle, moves)


@native
def extent(tensor_map: int, dimension: int) -> int:
    """Elements of a box in one dimension; 1 beyond the tensor's rank."""
    if dimension >= int64(pointer(tensor_map + MAP_RANK, uint8)[0]):
        return int64(1)
    step = int64(pointer(tensor_map + MAP_STEPS, uint8)[dimension])
    return (int64(pointer(tensor_map + MAP_BOX, uint16)[dimension]) + step - 1) // step


@native
def row_bytes(tensor_map: int) -> int:
    """Of a box's innermost dimension."""
    return extent(tensor_map, int64(0)) * int64(pointer(tensor_map + MAP_ELEMENT, uint8)[0])


@native
def pitch(tensor_map: int) -> int:
    """Bytes of shared memory from one row of a box to the next: the swizzle's span, where there is one."""
    swizzle = int64(pointer(tensor_map + MAP_SWIZZLE, uint8)[0])
    return (swizzle + 1) * UNIT if swizzle else row_bytes(tensor_map)


@native
def rows(tensor_map: int) -> int:
    """Of a box."""
    total = int64(1)
    for dimension in range(1, 5):
        total *= extent(tensor_map, int64(dimension))
    return total


@native
def _coordinate(u: int, dimension: int, index: int) -> int:
    """A tensor coordinate of a box's element; -1 where it lies outside."""
    e = pointer(u, int64)
    step = int64(pointer(map_of(u) + MAP_STEPS, uint8)[dimension])
    at = e[U_PLACE + dimension] + index * step
    return at if 0 <= at <= int64(pointer(map_of(u) + MAP_DIMS, uint32)[dimension]) else int64(-1)


@native
def sweep(context: int, u: int, moves: int) -> None:
    """Goes over all data of a copy, to move it, or to count it and check its requests to global memory."""
    e = pointer(u, int64)
    s = pointer(e[U_SITE], int64)
    copies, sectors = s[REQUESTS] + 1, s[SECTORS]
    if e[U_MAP] == 0:
        piece(context, u, int64(0), e[U_GLOBAL], e[U_BYTES], int64(0), moves)
        sectors += _sectors(int64(0), e[U_BYTES], e[U_GLOBAL])
    else:
        rank = int64(pointer(map_of(u) + MAP_RANK, uint8)[0])
        count = extent(map_of(u), int64(0))
        apart = pitch(map_of(u))
        for number in range(rows(map_of(u))):
            address = pointer(map_of(u) + MAP_ADDRESS, int64)[0]
            rest = int64(number)
            for dimension in range(1, rank):
                size = extent(map_of(u), int64(dimension))
                at = _coordinate(u, int64(dimension), rest % size)
                rest //= size
                stride = pointer(map_of(u) + MAP_STRIDES, int64)[dimension - 1]
                address = address + at * stride if at >= 0 and address >= 0 else int64(-1)
            _row(context, u, number * apart, address, e[U_PLACE], count, moves)
            sectors += _row_sectors(u, address, e[U_PLACE], count)
    if not moves:
        flush(context, u)
        s[REQUESTS], s[SECTORS] = copies, sectors
