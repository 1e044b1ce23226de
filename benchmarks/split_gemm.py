"""FP32 by FFMAs and from Tensor Cores, beside cuBLAS: how fast, and how far from the exact product.

    python benchmarks/split_gemm.py [N ...] [--device pycuda|emulator] [--rounds N]

The rungs of gemm from 09 on. On a GPU with CuPy, at N × N × N, 4096 and 8192 if none is given: each round times every
rung and cuBLAS once, in turn, behind a fill that empties the L2 cache, and rests. A floor is the least time; a ratio is
the median over the rounds of cuBLAS's time over the other's, with its 95 % interval. At 2048 and below, launches back
to back give other ratios: behind a rest and a fill all take longer, and cuBLAS most. On the emulator, at
128 × 128 × 4096 or N × N × N: errors alone, and no cuBLAS.

An error is the largest difference from the product in FP64, in units of 2^-24 Σ|ab|, over some rows of C. Five kinds of
data: normally distributed; the same over 24 powers of two; positive, from 0 to 1; as the judge draws them, normal with
zeros and elements a hundred times larger; and normal with every other column of A 2^30 times larger, where B has zeros.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from gemm_rounds import CUBLAS, Floats, errors, prepared, shapes_of, show_times, timed, with_matrices

from grader import cuda
from grader.cuda import Cuda
from grader.judge.child.executor import Executor
from grader.judge.child.protocol import Library, Release
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

FIRST = "09"  # the first rung that comes near cuBLAS
TF32 = "cuBLAS, TF32"
KINDS = ("normal", "wide", "positive", "judge", "apart")


class WithTf32(Executor):
    """Knows one more library: cuBLAS where it may round factors to TF32."""

    def prepared_library(self, op: Library) -> Callable[[], None]:
        if op.name != TF32:
            return super().prepared_library(op)
        call = super().prepared_library(Library(CUBLAS, op.arrays, op.sizes))
        from cupy._core import _routines_linalg as linalg  # CUPY_TF32 in the environment is read once only

        def rounded() -> None:
            linalg.set_compute_type(np.float32, linalg.COMPUTE_TYPE_TF32)
            call()
            linalg.set_compute_type(np.float32, linalg.COMPUTE_TYPE_DEFAULT)

        return rounded


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sizes", metavar="N", type=int, nargs="*")
    parser.add_argument("--device", default="auto", choices=("auto", "pycuda", "emulator"))
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args(arguments)
    device = cuda.select(given.device)
    shapes = [(n, n, n) for n in given.sizes]
    if device.kind == "gpu":
        shapes = shapes or [(4096, 4096, 4096), (8192, 8192, 8192)]
    else:
        shapes = shapes or [(128, 128, 4096)]
        print("No GPU is used: errors alone, of the emulator, without times and without cuBLAS.")
    for shape in shapes:
        problem = dict(zip("MNK", shape, strict=True))
        print(f"\n{device.name}, {' × '.join(map(str, shape))}", flush=True)
        show(problem, *measure(device, problem, given.rounds))


def measure(
    device: Cuda, problem: Mapping[str, int], rounds: int
) -> tuple[dict[str, list[float]], dict[str, dict[str, float]]]:
    """Seconds, a sample a round, and largest errors by kind of data, each by kernel."""
    topic = topics.load("gemm")
    assert isinstance(topic, KernelTopic)
    executor = with_matrices(device, problem, WithTf32)
    files = {rung.id: rung.file for rung in topic.ladder.rungs if rung.id >= FIRST}
    actions = prepared(executor, (CUBLAS, TF32), files, problem)
    found: dict[str, dict[str, float]] = {name: {} for name in actions}
    for kind in reversed(KINDS):  # normal ones last: they are what is timed
        for name, error in errors(executor, actions, *drawn(kind, topic, problem)).items():
            found[name][kind] = error
    times = timed(executor, actions, rounds) if device.kind == "gpu" else {}
    executor.release(Release())
    return times, found


def drawn(kind: str, topic: KernelTopic, problem: Mapping[str, int]) -> tuple[Floats, Floats]:
    """A and B, the same ones each time."""
    rng = np.random.default_rng(KINDS.index(kind))
    if kind == "judge":
        inputs = topic.reference.make_inputs(problem, rng, "real")
        return inputs["A"].astype(np.float32), inputs["B"].astype(np.float32)
    shapes = shapes_of(problem)
    a, b = (_numbers(kind, rng, shapes[name]) for name in "AB")
    if kind == "apart":
        a[:, ::2] *= np.float32(2.0**30)
        b[::2] = 0
    return a, b


def _numbers(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    if kind == "positive":
        return rng.random(shape, dtype=np.float32)
    values = rng.standard_normal(shape, dtype=np.float32)
    if kind == "wide":
        values *= (2.0 ** np.arange(-12, 12)).astype(np.float32)[rng.integers(0, 24, shape, dtype=np.int8)]
    return values


def show(
    problem: Mapping[str, int],
    times: Mapping[str, Sequence[float]],
    largest: Mapping[str, Mapping[str, float]],
) -> None:
    """Two tables: times, where there are any, and errors."""
    if times:
        show_times(problem, times)
    print("largest error, in units of 2^-24 Σ|ab|")
    print(f"{'':16} " + " ".join(f"{kind:>9}" for kind in KINDS))
    for name, found in largest.items():
        print(f"{name:16} " + " ".join(f"{found[kind]:9.2f}" for kind in KINDS), flush=True)


if __name__ == "__main__":
    main()
