"""A topic of two rungs in a folder of its own, for tests that break it."""

from pathlib import Path

TOPIC = """\
title = "Copy"
order = 3
signature = "copy(const float* in, float* out, int N)"
smallest_arch = "sm_80"
library = "cupy.copy"

[sizes]
main = { N = 1048576 }
count = { N = 4096 }
judge = [{ N = 1 }, { N = 33 }]

[tolerance]
lambda = 6
terms = "N"
unit = "float32"
exact = 4

[[claim]]
rung = "01_wide"
points = 10
text = "one request for 128 floats"
expect = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum <= cdiv(N, 128)"

[starter]
concept = "An element for each thread."
section = "Copying"
mend = [["{}", "{ int i = blockIdx.x * THREADS + threadIdx.x; if (i < N) out[i] = in[i]; }"]]
"""

HEAD = """\
// Copies.
// /// launch
// [[launch]]
// kernel = "copy"
// grid = ["cdiv(N, THREADS)"]
// block = ["THREADS"]
// ///
constexpr int THREADS = 256;
"""

NAIVE = (
    HEAD
    + """\
extern "C" __global__ void copy(const float* in, float* out, int N)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) out[i] = in[i];
}
"""
)

WIDE = (
    HEAD.replace("cdiv(N, THREADS)", "cdiv(N, 4 * THREADS)")
    + """\
extern "C" __global__ void copy(const float* in, float* out, int N)
{
    int i = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (i + 4 <= N) *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(in + i);
    else for (; i < N; ++i) out[i] = in[i];
}
"""
)

STARTER = HEAD + 'extern "C" __global__ void copy(const float* in, float* out, int N) {}\n'

REFERENCE = """\
import numpy as np


def make_inputs(problem, rng, kind):
    return {"in": rng.integers(-8, 8, problem["N"]).astype(np.float32)}


def reference(inputs, problem):
    return {"out": inputs["in"].astype(np.float64)}


def magnitude(inputs, problem):
    return {"out": np.abs(inputs["in"].astype(np.float64))}


def min_flop(problem):
    return 0


def min_bytes(problem):
    return 8 * problem["N"]
"""


def write(root: Path) -> Path:
    """Lay the topic out below `root`."""
    files = {
        "lessons/copy/topic.toml": TOPIC,
        "lessons/copy/reference.py": REFERENCE,
        "lessons/copy/starter.cu": STARTER,
        "kernels/naive/copy.cu": NAIVE,
        "kernels/optimized/copy/01_wide.cu": WIDE,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def edit(path: Path, old: str, new: str) -> None:
    """Replace `old`, which has to be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
