"""A few lines of source that take the compiler all time or all memory."""

from __future__ import annotations

import resource
import time

import pytest

from grader.emulator.nvrtc import compilation

KERNEL = 'extern "C" __global__ void k(int* out) {{ {} }}'
TEN = " ".join(["{0}"] * 10)

MACROS = "#define a0 1,\n" + "".join(
    f"#define a{level} {TEN.format(f'a{level - 1}')}\n" for level in range(1, 12)
)
CONSTANTS = """
__device__ constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += f(n - 1); return s; }
"""
TEMPLATES = """
template <long N, long M> struct T { static const long v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };
template <long M> struct T<0, M> { static const long v = M; };
"""
BOMBS = {
    "macros": MACROS + KERNEL.format("int all[] = {{ a11 }}; *out = all[0];"),
    "constant expressions": CONSTANTS + KERNEL.format("constexpr long all = f(60); *out = all;"),
    "templates": TEMPLATES + KERNEL.format("*out = T<40, 0>::v;"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_it_ends_within_its_limits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_COMPILE_SECONDS", 8.0)
    monkeypatch.setattr(compilation, "_COMPILE_BYTES", 1 << 30)
    start = time.monotonic()
    with pytest.raises(compilation.CompileError) as failure:
        compilation.build(BOMBS[name])
    assert time.monotonic() - start < 20
    assert failure.value.diagnostics[0].message


@pytest.mark.verify
@pytest.mark.parametrize("name", BOMBS)
def test_it_ends_within_the_limits_of_all_files(name: str) -> None:
    start = time.monotonic()
    with pytest.raises(compilation.CompileError):
        compilation.build(BOMBS[name])
    assert time.monotonic() - start < 75
    assert (
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4 << 20
    )  # KiB, of the largest child so far
