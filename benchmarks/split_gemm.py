"""FP32 from Tensor Cores beside FFMAs and cuBLAS: how fast, and how far from the exact product.

    python benchmarks/split_gemm.py [N ...] [--device pycuda|emulator] [--rounds N]

The rungs of gemm from 09 on. On a GPU with CuPy, at N × N × N, 4096 and 8192 if none is given: each round times every
rung and cuBLAS once, in turn, behind a fill that empties the L2 cache, and rests. A floor is the least time; a ratio is
the median over the rounds of cuBLAS's time over the other's, with its 95 % interval. On the emulator, at
128 × 128 × 4096 or N × N × N: errors alone, and no cuBLAS.

An error is the largest difference from the product in FP64, in units of 2^-24 Σ|ab|, over some rows of C. Five kinds of
data: normally distributed; the same over 24 powers of two; positive, from 0 to 1; as the judge draws them, normal with
zeros and elements a hundred times larger; and normal with every other column of A 2^30 times larger, where B has zeros.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from grader import cuda
from grader.cuda import Cuda
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Fill, Library, LibraryArray, Release, Run, Timed
from grader.judge.kernels.compiled import prepare
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

FIRST = "09"  # the rung that is the last one of FFMAs
CUBLAS, TF32 = "cupy.matmul", "cuBLAS, TF32"
ROWS = 64  # of C, whose errors are looked at
WARM_UP, REST_S = 2, 0.05
FLUSH_BYTES = 256 << 20  # several times the L2 cache of any GPU there is
NAN = 0xFFFFFFFF
UNIT = 2.0**-24
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


def shapes_of(problem: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The three matrices."""
    m, n, k = (problem[side] for side in "MNK")
    return {"A": (m, k), "B": (k, n), "C": (m, n)}


def measure(
    device: Cuda, problem: Mapping[str, int], rounds: int
) -> tuple[dict[str, list[float]], dict[str, dict[str, float]]]:
    """Seconds, a sample a round, and largest errors by kind of data, each by kernel."""
    topic = topics.load("gemm")
    assert isinstance(topic, KernelTopic)
    executor = WithTf32(device, Memory(os.memfd_create("unused")))
    shapes = shapes_of(problem)
    for name, shape in shapes.items():
        executor.allocate(Allocate(name, 4 * math.prod(shape)))
    executor.allocate(Allocate("flush", FLUSH_BYTES if device.kind == "gpu" else 4))
    actions = prepared(executor, topic, problem)
    sample = np.linspace(0, problem["M"] - 1, min(ROWS, problem["M"])).astype(int)
    errors: dict[str, dict[str, float]] = {name: {} for name in actions}
    for kind in reversed(KINDS):  # normal ones last: they are what is timed
        a, b = drawn(kind, topic, problem)
        executor.driver.memcpy_htod(executor.buffers["A"].pointer, a)
        executor.driver.memcpy_htod(executor.buffers["B"].pointer, b)
        rows = a[sample].astype(np.float64)
        exact, mass = rows @ b.astype(np.float64), np.abs(rows) @ np.abs(b).astype(np.float64)
        for name, action in actions.items():
            executor.fill(Fill("C", NAN))
            executor.do(action)
            executor.driver.Context.synchronize()
            errors[name][kind] = largest(rows_of_c(executor, sample, problem["N"]), exact, mass)
    times = timed(executor, actions, rounds) if device.kind == "gpu" else {}
    executor.release(Release())
    return times, errors


def prepared(executor: Executor, topic: KernelTopic, problem: Mapping[str, int]) -> dict[str, Run | Library]:
    """What computes C, by name; rungs are loaded, and what they need beside the arrays is allocated."""
    device = executor.device
    limits = device.ext.device_limits()
    actions: dict[str, Run | Library] = {}
    if device.kind == "gpu":
        shapes = shapes_of(problem)
        arrays = {name: LibraryArray(name, "float32", shape) for name, shape in shapes.items()}
        actions = {name: Library(name, arrays, dict(problem)) for name in (CUBLAS, TF32)}
    for rung in topic.ladder.rungs:
        if rung.id < FIRST:
            continue
        kernel = prepare(rung.file, device.arch)
        plan = kernel.plan(problem, limits)
        executor.load(kernel.load(device.kind, device.cubins))
        for array in plan.scratch:
            nbytes = array.dtype.itemsize * math.prod(array.shape)
            if array.name not in executor.buffers or executor.buffers[array.name].nbytes < nbytes:
                executor.allocate(Allocate(array.name, nbytes))
        actions[rung.id] = Run(kernel.module, plan.launches)
    return actions


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


def rows_of_c(executor: Executor, rows: Iterable[int], columns: int) -> Floats:
    """These rows of C."""
    found = []
    for row in rows:
        found.append(np.empty(columns, np.float32))
        executor.driver.memcpy_dtoh(found[-1], executor.buffers["C"].pointer + 4 * columns * int(row))
    return np.stack(found)


def largest(found: Floats, exact: Doubles, mass: Doubles) -> float:
    """The largest error in units of 2^-24 Σ|ab|; NaN where one is."""
    return float(np.max(np.abs(found - exact) / (UNIT * mass)))


def timed(executor: Executor, actions: Mapping[str, Run | Library], rounds: int) -> dict[str, list[float]]:
    """Seconds of each action, a sample a round."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(WARM_UP + rounds):
        for name, action in actions.items():
            time.sleep(REST_S)
            took = executor.timed(Timed(action, flush="flush"))
            if number >= WARM_UP:
                times[name].append(took)
    return times


def show(
    problem: Mapping[str, int],
    times: Mapping[str, Sequence[float]],
    errors: Mapping[str, Mapping[str, float]],
) -> None:
    """Two tables: times, where there are any, and errors."""
    flop = 2 * problem["M"] * problem["N"] * problem["K"]
    if times:
        print(f"{'':14} {'floor':>9} {'median':>9}     TFLOP/s   % of cuBLAS: floors, medians")
    for name, samples in times.items():
        ratio = median([theirs / own for theirs, own in zip(times[CUBLAS], samples, strict=True)])
        least, took = min(samples), median(samples).value
        print(
            f"{name:14} {1e3 * least:6.3f} ms {1e3 * took:6.3f} ms {1e-12 * flop / least:7.1f}     "
            f"{100 * min(times[CUBLAS]) / least:7.1f} {100 * ratio.value:7.1f} "
            f"({100 * ratio.low:.1f} to {100 * ratio.high:.1f})"
        )
    print("largest error, in units of 2^-24 Σ|ab|")
    print(f"{'':14} " + " ".join(f"{kind:>9}" for kind in KINDS))
    for name, found in errors.items():
        print(f"{name:14} " + " ".join(f"{found[kind]:9.2f}" for kind in KINDS), flush=True)


if __name__ == "__main__":
    main()
