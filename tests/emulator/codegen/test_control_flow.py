"""Control flow as CUDA C++ writes it: ifs, loops, returns, switches, functions, locks between lanes and warps.

Each kernel's meaning for one thread is written beside it in Python.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from emulated import Bench

PLAIN = """
typedef unsigned int uint;

extern "C" __global__ void nested(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], r = 1;
    if (x > 10) {
        r = 2;
        if (x % 2) { r += x; if (x > 50) r *= 3; else r -= 1; }
        else if (threadIdx.x < 7) r = -r;
    } else if (x < -10 && (i & 1)) r = x * x;
    out[i] = r + x;
}

extern "C" __global__ void collatz(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (uint x = abs(in[i]) + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
    out[i] = steps;
}

extern "C" __global__ void leave(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], sum = 0;
    if (x == 7) return;
    for (int k = 0; k < 40; ++k) {
        if ((x + k) % 5 == 0) continue;
        if (k > x) break;
        sum += k;
        if (sum > 200) { out[i] = -sum; return; }
        for (int j = k; j < x; j += 7) { if (j % 11 == 3) break; sum += j & 1; }
    }
    out[i] = sum;
}

extern "C" __global__ void cases(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], r = 0;
    for (int k = 0; k < 3; ++k) {
        switch ((x + k) & 15) {
        case 0: r += 1; break;
        case 1: r *= 7;
        case 2: r ^= 5; break;
        case 3: continue;
        case 4: out[i] = r; return;
        case 5: r -= x; break;
        case 9: r = r << 2; break;
        case 10: r += 100; break;
        case 11: case 12: r += k; break;
        default: r -= 1;
        }
        r += 2;
    }
    out[i] = r;
}

__device__ __noinline__ int power(int base, int exponent)
{
    int r = 1;
    while (exponent-- > 0) { if (r > 100000) return -r; r *= base; }
    return r;
}

struct Pair { int a; long long b; float c[2]; };

__device__ __noinline__ Pair twist(Pair p, int k)
{
    if (k & 1) { Pair q = {k, p.b + p.a, {p.c[1], p.c[0]}}; return q; }
    p.a += k;
    return p;
}

extern "C" __global__ void functions(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    Pair p = {x, (long long)x << 32, {1.0f, 2.0f}};
    p = twist(twist(p, i), x);
    int r = power(x % 5, i % 20);
    if (x > 0) r += power(3, x % 6);
    out[i] = r + p.a + (int)(p.b >> 30) + (int)(p.c[0] * 10);
}
"""


def wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def c_rem(a: int, b: int) -> int:
    return a - b * int(a / b)


def nested(i: int, x: int, thread: int) -> int:
    r = 1
    if x > 10:
        r = 2
        if x % 2:
            r += x
            r = r * 3 if x > 50 else r - 1
        elif thread < 7:
            r = -r
    elif x < -10 and i & 1:
        r = x * x
    return r + x


def collatz(i: int, x: int, thread: int) -> int:
    x, steps = abs(x) + 1, 0
    while x != 1:
        x, steps = (3 * x + 1 if x % 2 else x // 2), steps + 1
    return steps


def leave(i: int, x: int, thread: int) -> int:
    total = 0
    if x == 7:
        return 0
    for k in range(40):
        if c_rem(x + k, 5) == 0:
            continue
        if k > x:
            break
        total += k
        if total > 200:
            return -total
        for j in range(k, x, 7):
            if j % 11 == 3:
                break
            total += j & 1
    return total


def cases(i: int, x: int, thread: int) -> int:
    r = 0
    for k in range(3):
        case = x + k & 15
        if case == 3:
            continue
        if case == 4:
            return r
        actions: dict[int, Callable[[int], int]] = {
            0: lambda r: r + 1, 1: lambda r: r * 7 ^ 5, 2: lambda r: r ^ 5, 5: lambda r: r - x, 9: lambda r: r << 2,
            10: lambda r: r + 100, 11: lambda r, k=k: r + k, 12: lambda r, k=k: r + k,
        }  # fmt: skip
        r = wrap(actions.get(case, lambda r: r - 1)(r)) + 2
    return r


def power(base: int, exponent: int) -> int:
    r = 1
    for _ in range(exponent):
        if r > 100000:
            return -r
        r *= base
    return r


def functions(i: int, x: int, thread: int) -> int:
    def twist(p: tuple[int, int, float, float], k: int) -> tuple[int, int, float, float]:
        return (k, p[1] + p[0], p[3], p[2]) if k & 1 else (p[0] + k, *p[1:])

    p = twist(twist((x, x << 32, 1.0, 2.0), i), x)
    r = power(c_rem(x, 5), i % 20) + (power(3, x % 6) if x > 0 else 0)
    return wrap(r + p[0] + wrap(p[1] >> 30) + int(p[2] * 10))


@pytest.mark.parametrize("meaning", [nested, collatz, leave, cases, functions])
def test_each_thread_goes_its_own_way(bench: Bench, meaning: Callable[[int, int, int], int]) -> None:
    values = np.random.default_rng(4).integers(-120, 120, 150).astype(np.int32)
    values[::17] = 7
    out = bench.clean(PLAIN, meaning.__name__, 3, 50, values, np.zeros(150, np.int32))[1]
    assert out.tolist() == [meaning(i, int(x), i % 50) for i, x in enumerate(values)]


LOCKS = """
// Every lane takes the lock in turn: the winner must be able to go on while the others spin.
extern "C" __global__ void spin(int* lock, int* shared_sum)
{
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int*)shared_sum += threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The form that hangs where lanes of a warp run in lockstep.
extern "C" __global__ void naive_spin(int* lock, int* shared_sum)
{
    while (atomicCAS(lock, 0, 1) != 0) { }
    *(volatile int*)shared_sum += threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}

// A lane polls with an atomic that changes nothing.
extern "C" __global__ void poll(int* flag, int* out)
{
    if (threadIdx.x == 31) { out[0] = 42; __threadfence(); atomicAdd(flag, 1); }
    else { while (atomicAdd(flag, 0) == 0) { } out[threadIdx.x + 1] = ((volatile int*)out)[0]; }
}

// Lane 0 holds two locks; lanes 1 and 2 spin in front of one and behind the other, so that neither the lowest nor the
// highest place in the program is the one that must go on.
extern "C" __global__ void two_locks(int* first, int* second, int* out)
{
    int lane = threadIdx.x;
    if (lane == 1) while (atomicCAS(first, 0, 1) != 0) { }
    if (lane == 0) {
        for (int i = 0; i < 3000; ++i) out[1] += ((volatile int*)out)[2];
        atomicExch(first, 0);
        for (int i = 0; i < 3000; ++i) out[1] += ((volatile int*)out)[2];
        atomicExch(second, 0);
    }
    if (lane == 2) while (atomicCAS(second, 0, 1) != 0) { }
    atomicAdd(out, 1);
}

// A warp waits for a flag that another one sets, with no barrier.
extern "C" __global__ void warps(volatile int* flag, int* out)
{
    int warp = threadIdx.x / 32;
    if (warp + 1 < blockDim.x / 32) while (flag[warp + 1] == 0) { }
    if (threadIdx.x % 32 == 0) { out[warp] = flag[warp + 1] + 1; __threadfence(); flag[warp] = out[warp]; }
}

extern "C" __global__ void forever(volatile int* flag) { while (*flag == 0) { } }
"""


@pytest.mark.parametrize("kernel", ["spin", "naive_spin"])
def test_a_lock_between_lanes(bench: Bench, kernel: str) -> None:
    ran = bench.cuda(LOCKS, kernel, 2, 64, np.zeros(1, np.int32), np.zeros(1, np.int32), budget=10**6)
    assert ran.record.status == "completed"
    assert [a.tolist() for a in ran.arrays] == [[0], [2 * sum(range(64))]]


def test_polling_with_an_atomic(bench: Bench) -> None:
    ran = bench.cuda(LOCKS, "poll", 1, 32, np.zeros(1, np.int32), np.zeros(32, np.int32), budget=10**6)
    assert ran.record.status == "completed"
    assert ran.arrays[1].tolist() == [42] * 32


def test_who_holds_the_lock_gets_on_wherever_he_is(bench: Bench) -> None:
    one = np.ones(1, np.int32)
    ran = bench.cuda(LOCKS, "two_locks", 1, 32, one, one, np.zeros(3, np.int32), budget=10**7)
    assert ran.record.status == "completed"
    assert ran.arrays[2][0] == 32


def test_a_warp_waits_for_another(bench: Bench) -> None:
    flags = np.zeros(5, np.int32)
    flags[4] = 1
    ran = bench.cuda(LOCKS, "warps", 1, 128, flags, np.zeros(4, np.int32), budget=10**6)
    assert ran.record.status == "completed"
    assert ran.arrays[1].tolist() == [5, 4, 3, 2]


def test_an_endless_wait_ends_with_the_budget(bench: Bench) -> None:
    ran = bench.cuda(LOCKS, "forever", 1, 64, np.zeros(1, np.int32), budget=10**5)
    assert ran.record.status == "budget exhausted"


def test_a_lock_in_a_large_kernel(bench: Bench) -> None:
    """More basic blocks than a word has bits, between those who spin and the one who holds the lock."""
    middle = "\n".join(
        f"if ((x & {n}) == {n % 7}) x += ((volatile int*)out)[{n % 5}] + {n};" for n in range(1, 80)
    )
    source = f"""
    extern "C" __global__ void k(int* lock, int* out)
    {{
        while (atomicCAS(lock, 0, 1) != 0) {{ }}
        int x = threadIdx.x;
        {middle}
        out[8] += x > 0;
        __threadfence();
        atomicExch(lock, 0);
    }}
    """
    ran = bench.cuda(source, "k", 1, 32, np.zeros(1, np.int32), np.zeros(16, np.int32), budget=10**6)
    assert ran.record.status == "completed"
    assert ran.arrays[1][8] == 32
