"""What the benchmarks of gemm share: kernels and cuBLAS made ready, errors of some rows of C, and times by turns."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from grader.cuda import Cuda
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Fill, Library, LibraryArray, Run, Timed
from grader.judge.kernels.compiled import prepare
from grader.judge.timing.statistics import median
from grader.workbook.kernel_file import KernelFile

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Actions = Mapping[str, Run | Library]
"""What computes C, by name."""

CUBLAS = "cupy.matmul"
ROWS = 64  # of C, whose errors are looked at
WARM_UP, REST_S = 2, 0.05
FLUSH_BYTES = 256 << 20  # several times the L2 cache of any GPU there is
NAN = 0xFFFFFFFF
UNIT = 2.0**-24


def shapes_of(problem: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The three matrices."""
    m, n, k = (problem[side] for side in "MNK")
    return {"A": (m, k), "B": (k, n), "C": (m, n)}


def with_matrices(device: Cuda, problem: Mapping[str, int], kind: type[Executor] = Executor) -> Executor:
    """An executor that has the three matrices, and what is written to empty the L2 cache."""
    executor = kind(device, Memory(os.memfd_create("unused")))
    for name, shape in shapes_of(problem).items():
        executor.allocate(Allocate(name, 4 * math.prod(shape)))
    executor.allocate(Allocate("flush", FLUSH_BYTES if device.kind == "gpu" else 4))
    return executor


def prepared(
    executor: Executor, libraries: Iterable[str], files: Mapping[str, KernelFile], problem: Mapping[str, int]
) -> dict[str, Run | Library]:
    """What computes C, by name: libraries, on a GPU alone, and kernels, loaded and with the scratch that they need."""
    device = executor.device
    limits = device.ext.device_limits()
    actions: dict[str, Run | Library] = {}
    if device.kind == "gpu":
        arrays = {name: LibraryArray(name, "float32", shape) for name, shape in shapes_of(problem).items()}
        actions = {name: Library(name, arrays, dict(problem)) for name in libraries}
    for name, file in files.items():
        kernel = prepare(file, device.arch)
        plan = kernel.plan(problem, limits)
        executor.load(kernel.load(device.kind, device.cubins))
        for array in plan.scratch:
            nbytes = array.dtype.itemsize * math.prod(array.shape)
            if array.name not in executor.buffers or executor.buffers[array.name].nbytes < nbytes:
                executor.allocate(Allocate(array.name, nbytes))
        actions[name] = Run(kernel.module, plan.launches)
    return actions


def errors(executor: Executor, actions: Actions, a: Floats, b: Floats) -> dict[str, float]:
    """The largest error of each action's A · B in some rows, in units of 2^-24 Σ|ab|."""
    executor.driver.memcpy_htod(executor.buffers["A"].pointer, a)
    executor.driver.memcpy_htod(executor.buffers["B"].pointer, b)
    sample = np.linspace(0, len(a) - 1, min(ROWS, len(a))).astype(int)
    rows = a[sample].astype(np.float64)
    exact, mass = rows @ b.astype(np.float64), np.abs(rows) @ np.abs(b).astype(np.float64)
    found = {}
    for name, action in actions.items():
        executor.fill(Fill("C", NAN))
        executor.do(action)
        executor.driver.Context.synchronize()
        found[name] = largest(_rows_of_c(executor, sample, b.shape[1]), exact, mass)
    return found


def _rows_of_c(executor: Executor, rows: Iterable[int], columns: int) -> Floats:
    found = []
    for row in rows:
        found.append(np.empty(columns, np.float32))
        executor.driver.memcpy_dtoh(found[-1], executor.buffers["C"].pointer + 4 * columns * int(row))
    return np.stack(found)


def largest(found: Floats, exact: Doubles, mass: Doubles) -> float:
    """The largest error in units of 2^-24 Σ|ab|; NaN where one is."""
    return float(np.max(np.abs(found - exact) / (UNIT * mass)))


def timed(executor: Executor, actions: Actions, rounds: int) -> dict[str, list[float]]:
    """Seconds of each action, a sample a round."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(WARM_UP + rounds):
        for name, action in actions.items():
            time.sleep(REST_S)
            took = executor.timed(Timed(action, flush="flush"))
            if number >= WARM_UP:
                times[name].append(took)
    return times


def show_times(problem: Mapping[str, int], times: Mapping[str, Sequence[float]]) -> None:
    """A table: floors and medians, beside cuBLAS's."""
    flop = 2 * problem["M"] * problem["N"] * problem["K"]
    print(f"{'':16} {'floor':>9} {'median':>9}     TFLOP/s   % of cuBLAS: floors, medians")
    for name, samples in times.items():
        ratio = median([theirs / own for theirs, own in zip(times[CUBLAS], samples, strict=True)])
        least, took = min(samples), median(samples).value
        print(
            f"{name:16} {1e3 * least:6.3f} ms {1e3 * took:6.3f} ms {1e-12 * flop / least:7.1f}     "
            f"{100 * min(times[CUBLAS]) / least:7.1f} {100 * ratio.value:7.1f} "
            f"({100 * ratio.low:.1f} to {100 * ratio.high:.1f})"
        )
