"""A few lines of source that take the compiler all time or all memory."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from tiers import sample

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


@pytest.mark.parametrize("name", sample(BOMBS, ["templates"], "judge"))
def test_it_ends_within_its_limits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_COMPILE_SECONDS", 8.0)
    monkeypatch.setattr(compilation, "_COMPILE_BYTES", 1 << 30)
    start = time.monotonic()
    with pytest.raises(compilation.CompileError) as failure:
        compilation.build(BOMBS[name])
    assert time.monotonic() - start < 20
    assert failure.value.diagnostics[0].message


BUILD = """
import resource, sys
from grader.emulator.nvrtc import compilation

try:
    compilation.build(sys.argv[1])
except compilation.CompileError:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("name", BOMBS)
def test_it_ends_within_the_limits_of_all_files(name: str) -> None:
    """In a process that has no other children, whose memory would count."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, BOMBS[name]], capture_output=True, text=True, check=True
    )
    assert time.monotonic() - start < 75
    assert int(done.stdout) < 4 << 20, "KiB, of the largest child"
