"""Device functions: parameters, results, calls within calls, guards, early returns, local variables; function pointers,
virtual functions and recursion (PTX ISA 7.1 and 9.7.12.5)."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.errors import UnsupportedPtx

FUNCTIONS = """
.func (.param .b32 result) square (.param .b32 x)
{
.reg .b32 %r<3>;
ld.param.u32 %r0, [x]; mul.lo.u32 %r1, %r0, %r0; st.param.b32 [result], %r1; ret;
}
.func (.param .align 8 .b8 result[16]) swap (.param .align 8 .b8 pair[16])
{
.reg .b64 %w<3>; .reg .b32 %r<4>;
ld.param.v2.b64 {%w0, %w1}, [pair]; st.param.v2.b64 [result], {%w1, %w0}; ret;
}
.func (.param .b32 result) limited (.param .b32 x, .param .b32 most)
{
.reg .b32 %r<6>; .reg .pred %p;
ld.param.u32 %r0, [x]; ld.param.u32 %r1, [most]; mov.u32 %r2, 1000;
setp.gt.u32 %p, %r0, %r1; @%p bra over;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), square, (a); ld.param.b32 %r2, [b]; }
st.param.b32 [result], %r2; ret;
over: st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) remembers (.param .b32 x)
{
.local .align 4 .b8 bag[16]; .reg .b64 %w<3>; .reg .b32 %r<4>;
ld.param.u32 %r0, [x]; and.b32 %r1, %r0, 3; mul.wide.u32 %w0, %r1, 4; mov.u64 %w1, bag; add.s64 %w0, %w0, %w1;
st.local.u32 [%w0], %r0; ld.local.u32 %r2, [%w0]; add.u32 %r2, %r2, 1; st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) narrow (.param .align 4 .b8 two[4])
{
.reg .b32 %r<3>; .reg .b16 %h<3>;
ld.param.u16 %h0, [two]; cvt.u32.u16 %r0, %h0; st.param.b32 [result], %r0; ret;
}
"""


def kernel(body: str) -> str:
    return f"""{FUNCTIONS}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<8>; .reg .b64 %w<6>, %at; .reg .pred %p<3>;
ld.param.u64 %at, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %w0, %r0, 8; add.s64 %at, %at, %w0; mov.u32 %r1, 7;
mov.u64 %w1, 0;
{body}
st.global.u32 [%at], %r1; st.global.u32 [%at+4], %r2; ret;
}}
"""


def call(function: str, argument: str, result: str) -> str:
    return (f"{{ .param .b32 a; .param .b32 b; st.param.b32 [a], {argument};"
            f" call.uni (b), {function}, (a); ld.param.b32 {result}, [b]; }}")  # fmt: skip


def run(bench: Bench, body: str) -> tuple[list[int], list[int]]:
    ran = bench.ptx(kernel(body), "k", 1, 32, np.zeros((32, 2), np.uint32))
    assert ran.findings == []
    return ran.arrays[0][:, 0].tolist(), ran.arrays[0][:, 1].tolist()


def test_a_call(bench: Bench) -> None:
    words, others = run(
        bench, f"mov.u32 %r3, 5; {call('square', '%r0', '%r1')} {call('square', '%r3', '%r2')}"
    )
    assert words == [lane * lane for lane in range(32)]
    assert others == [25] * 32


def test_a_function_twice_at_once(bench: Bench) -> None:
    """Lanes on two sides of a branch are in the same function, with parameters of their own."""
    words, _ = run(bench, f"""
        setp.lt.u32 %p0, %r0, 10; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.u32 %r2, 0;
        @%p0 bra low;
        {call("remembers", "%r3", "%r1")} bra done;
        low: {call("remembers", "%r4", "%r1")}
        done:""")  # fmt: skip
    assert words == [5] * 10 + [4] * 22


def test_early_returns_and_calls_within_calls(bench: Bench) -> None:
    words, others = run(bench, """
        { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; st.param.b32 [b], 20;
          call (c), limited, (a, b); ld.param.b32 %r1, [c]; }
        add.u32 %r2, %r1, 1;""")  # fmt: skip
    assert words == [lane * lane if lane <= 20 else 1000 for lane in range(32)]
    assert others == [w + 1 for w in words]


def test_structures(bench: Bench) -> None:
    words, others = run(bench, """
        cvt.u64.u32 %w2, %r0; mov.u64 %w3, 77;
        { .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
          st.param.b64 [a], %w2; st.param.b64 [a+8], %w3;
          call.uni (b), swap, (a); ld.param.b64 %w4, [b]; ld.param.b64 %w5, [b+8]; }
        cvt.u32.u64 %r1, %w4; cvt.u32.u64 %r2, %w5;""")  # fmt: skip
    assert words == [77] * 32
    assert others == list(range(32))


def test_local_variables_of_a_function(bench: Bench) -> None:
    words, others = run(
        bench, f"add.u32 %r3, %r0, 9; {call('remembers', '%r0', '%r1')} {call('remembers', '%r3', '%r2')}"
    )
    assert words == [lane + 1 for lane in range(32)]
    assert others == [lane + 10 for lane in range(32)]


def test_a_guarded_call(bench: Bench) -> None:
    words, _ = run(bench, """
        setp.lt.u32 %p0, %r0, 10; mov.u32 %r2, 0;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; st.param.b32 [b], 99;
          @%p0 call (b), square, (a); ld.param.b32 %r1, [b]; }""")  # fmt: skip
    assert words == [lane * lane for lane in range(10)] + [99] * 22


def test_parameters_in_pieces_of_another_size_are_refused(bench: Bench) -> None:
    with pytest.raises(UnsupportedPtx, match="pieces"):
        run(bench, """
            { .param .align 4 .b8 a[4]; .param .b32 b; st.param.b32 [a], %r0;
              call.uni (b), narrow, (a); ld.param.b32 %r1, [b]; }""")  # fmt: skip


POINTERS = """
__device__ int successor(int a) { return a + 1; }
__device__ int twice(int a) { return a * 2; }
__device__ float other_form(float a, float b) { return a * b; }
__device__ int (*table[3])(int) = {successor, twice, nullptr};
__device__ float (*pair)(float, float) = other_form;

extern "C" __global__ void k(int* x, const int* which)
{
    if (which[threadIdx.x] >= 0)
        x[threadIdx.x] = table[which[threadIdx.x]](x[threadIdx.x]);
}

extern "C" __global__ void compares(int* x)
{
    int (*f)(int) = x[threadIdx.x] ? successor : twice;
    x[threadIdx.x] = f == twice;
}
"""


def test_function_pointers(bench: Bench) -> None:
    """Lanes of a warp call two functions, or none."""
    x = np.arange(100, 132, dtype=np.int32)
    which = np.arange(32, dtype=np.int32) % 3 - 1
    got, _ = bench.clean(POINTERS, "k", 1, 32, x, which)
    np.testing.assert_array_equal(got, np.select([which == 0, which == 1], [x + 1, 2 * x], x))


def test_function_pointers_are_compared(bench: Bench) -> None:
    x = np.arange(32, dtype=np.int32) % 2
    np.testing.assert_array_equal(bench.clean(POINTERS, "compares", 1, 32, x), 1 - x)


def test_a_call_of_no_function_is_a_trap(bench: Bench) -> None:
    ran = bench.cuda(POINTERS, "k", 1, 32, np.zeros(32, np.int32), np.full(32, 2, np.int32))
    assert ran.record.status == "trap"


RECURSION = """
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1) ^ (n > 1000); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) ^ (n > 1000); }

__device__ void sort(int* a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[high], end = low;
    for (int i = low; i < high; ++i)
        if (a[i] < pivot) {
            int other = a[end];
            a[end++] = a[i];
            a[i] = other;
        }
    a[high] = a[end];
    a[end] = pivot;
    sort(a, low, end - 1);
    sort(a, end + 1, high);
}

__device__ __noinline__ long long sum_of_digits(int n)
{
    int digits[4];
    for (int i = 0; i < 4; ++i)
        digits[i] = n % 10 * (i + 1);
    if (n < 10)
        return digits[n & 3];
    long long rest = sum_of_digits(n / 10);
    return rest * 100 + digits[n & 3];
}

extern "C" __global__ void fibonacci_of(int* x) { x[threadIdx.x] = fibonacci(x[threadIdx.x]); }
extern "C" __global__ void is_even(int* x) { x[threadIdx.x] = even(x[threadIdx.x]); }
extern "C" __global__ void digits_of(int* x, long long* y) { y[threadIdx.x] = sum_of_digits(x[threadIdx.x]); }

extern "C" __global__ void sorted(int* x)
{
    int a[16];
    for (int i = 0; i < 16; ++i)
        a[i] = x[threadIdx.x * 16 + i];
    sort(a, 0, 15);
    for (int i = 0; i < 16; ++i)
        x[threadIdx.x * 16 + i] = a[i];
}
"""


def test_recursion(bench: Bench) -> None:
    """Lanes go to different depths."""
    n = np.arange(64, dtype=np.int32) % 12
    numbers = [0, 1]
    while len(numbers) < 12:
        numbers.append(numbers[-1] + numbers[-2])
    np.testing.assert_array_equal(bench.clean(RECURSION, "fibonacci_of", 1, 64, n), np.array(numbers)[n])


def test_functions_that_call_each_other(bench: Bench) -> None:
    n = np.arange(32, dtype=np.int32)
    np.testing.assert_array_equal(bench.clean(RECURSION, "is_even", 1, 32, n), n % 2 == 0)


def test_an_array_of_the_caller_is_sorted_by_recursion(bench: Bench) -> None:
    a = np.random.default_rng(1).integers(0, 100, (64, 16)).astype(np.int32)
    np.testing.assert_array_equal(bench.clean(RECURSION, "sorted", 1, 32, a[:32]), np.sort(a[:32], 1))


def sum_of_digits(n: int) -> int:
    digit = n % 10 * ((n & 3) + 1)
    return digit if n < 10 else sum_of_digits(n // 10) * 100 + digit


def test_each_call_has_local_variables_of_its_own(bench: Bench) -> None:
    n = np.arange(32, dtype=np.int32) ** 3
    _, got = bench.clean(RECURSION, "digits_of", 1, 32, n, np.zeros(32, np.int64))
    assert got.tolist() == [sum_of_digits(int(x)) for x in n]


def test_a_stack_that_overflows_is_a_trap(bench: Bench) -> None:
    ran = bench.cuda(RECURSION, "is_even", 1, 32, np.full(32, 100_000, np.int32))
    assert ran.record.status == "trap"


VIRTUAL = """
struct Node {
    __device__ virtual int value(int x) const = 0;
};
struct Constant : Node {
    int number;
    __device__ Constant(int number) : number(number) {}
    __device__ int value(int) const override { return number; }
};
struct Variable : Node {
    __device__ int value(int x) const override { return x; }
};
struct Sum : Node {
    const Node *a, *b;
    __device__ Sum(const Node* a, const Node* b) : a(a), b(b) {}
    __device__ int value(int x) const override { return a->value(x) + b->value(x); }
};
struct Product : Node {
    const Node *a, *b;
    __device__ Product(const Node* a, const Node* b) : a(a), b(b) {}
    __device__ int value(int x) const override { return a->value(x) * b->value(x); }
};

extern "C" __global__ void k(int* x)
{
    Constant three(3);
    Variable variable;
    Product product(&variable, &three);
    Sum sum(&product, &variable);
    const Node* node = x[threadIdx.x] & 1 ? (const Node*)&sum : (const Node*)&product;
    x[threadIdx.x] = node->value(x[threadIdx.x]);
}
"""


def test_virtual_functions_that_call_virtual_functions(bench: Bench) -> None:
    x = np.arange(64, dtype=np.int32)
    expected = np.where(x & 1, 3 * x + x, 3 * x)
    np.testing.assert_array_equal(bench.clean(VIRTUAL, "k", 1, 64, x), expected)
