"""The rungs of `histogram` beside CUB on random bytes, bytes as in a picture, and bytes that are all equal.

    python benchmarks/histogram.py [N]

On a machine with a GPU and CuPy. CUB itself, with counts of 32 bits as the rungs have them, is compiled by nvcc from
cub_histogram.cu; the climbs' library, CUB by way of CuPy with counts of 64 bits, stands beside it. Each round times
every rung and both of these once, in turn, behind a fill that empties the L2 cache; a ratio is the median over the
rounds of CUB's time over the other's, with its 95 % interval. Counts of 32 bits are compared with NumPy's before and
after. All times include the clearing of the counts.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader import cuda
from grader.emulator.cudart import toolchain
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, LibraryArray, Load, Run, Timed
from grader.judge.kernels.compiled import prepare
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

ROUNDS, WARM_UP = 40, 5
FLUSH_BYTES = 256 << 20  # several times the L2 cache of any GPU there is
BINS = 256
CUB, BY_CUPY = "CUB", "cub.histogram"
"""CUB itself, and the library that baselines.py knows."""

SOURCE = Path(__file__).with_name("cub_histogram.cu")


class WithCub(Executor):
    """Knows one more library, CUB as `compiled` makes it."""

    cub: Callable[[], None]

    def prepared_library(self, op: Library) -> Callable[[], None]:
        return self.cub if op.name == CUB else super().prepared_library(op)

    def prepare_cub(self, size: int) -> None:
        """Compile CUB's histogram for the buffers of the rungs. Raises CompilerNotFound, CalledProcessError."""
        function, needed = compiled(self.device.arch), ctypes.c_size_t()

        def call(work: int | None) -> None:
            places = (ctypes.c_void_p(self.buffers[name].pointer) for name in ("in", "bins"))
            status = function(ctypes.c_void_p(work), ctypes.byref(needed), *places, size)
            if status != 0:
                raise RuntimeError(f"CUB ends with cudaError_t {status}")

        call(None)
        self.allocate(Allocate("work", needed.value))
        self.cub = partial(call, self.buffers["work"].pointer)


def compiled(arch: str) -> Callable[..., int]:
    """cub_histogram of SOURCE. It launches on the default stream of the context that is current."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "cub_histogram.so")
        options = [f"-arch={arch}", "-O3", "-std=c++17", "-cudart=static", "-shared", "-Xcompiler=-fPIC"]
        subprocess.run([*toolchain.native_nvcc(), *options, str(SOURCE), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library)).cub_histogram


def inputs(topic: KernelTopic, size: int) -> dict[str, NDArray[Any]]:
    """The bytes that are counted, by what they are."""
    rng = np.random.default_rng(1)
    random = topic.reference.make_inputs({"N": size}, rng, "exact")["in"]
    picture = topic.reference.make_inputs({"N": size}, rng, "real")["in"]
    return {"random": random, "picture": picture, "equal": np.full(size, 7, np.uint8)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("size", metavar="N", type=int, nargs="?", default=1 << 28)
    size = parser.parse_args().size
    topic = topics.load("histogram")
    assert isinstance(topic, KernelTopic)
    device = cuda.select("pycuda")
    limits = device.ext.device_limits()
    executor = WithCub(device, Memory(os.memfd_create("unused")))
    for name, nbytes in (("in", size), ("bins", 4 * BINS), ("flush", FLUSH_BYTES)):
        executor.allocate(Allocate(name, nbytes))
    arrays = {"in": LibraryArray("in", "uint8", (size,)), "bins": LibraryArray("bins", "uint32", (BINS,))}
    executor.prepare_cub(size)
    actions: dict[str, Run | Library] = {name: Library(name, arrays, {"N": size}) for name in (CUB, BY_CUPY)}
    for rung in topic.ladder.rungs:
        kernel = prepare(rung.file, device.arch)
        executor.load(Load(rung.id, kernel.build.image("pycuda")))
        actions[rung.id] = Run(rung.id, kernel.plan({"N": size}, limits).launches)
    print(f"{device.name}, {size:,} bytes, {ROUNDS} rounds")
    for what, data in inputs(topic, size).items():
        device.driver.memcpy_htod(executor.buffers["in"].pointer, data)
        expected = np.bincount(data, minlength=BINS)
        times = measure(executor, actions, expected)
        for name, samples in times.items():
            ratio = median([theirs / own for theirs, own in zip(times[CUB], samples, strict=True)])
            took = median(samples).value
            print(
                f"{what:8} {name:16} {1e6 * took:10.1f} µs {1e-9 * size / took:8.1f} GB/s   "
                f"{100 * ratio.value:7.1f} % of CUB ({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
                flush=True,
            )


def measure(
    executor: Executor, actions: dict[str, Run | Library], expected: NDArray[np.int64]
) -> dict[str, list[float]]:
    """Seconds of each action, a sample a round; raises AssertionError where one counts wrong."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(WARM_UP + ROUNDS):
        for name, action in actions.items():
            took = executor.timed(Timed(action, flush="flush"))
            if number >= WARM_UP:
                times[name].append(took)
            if name != BY_CUPY and number in (0, WARM_UP + ROUNDS - 1):
                found = np.empty(BINS, np.uint32)
                executor.driver.memcpy_dtoh(found, executor.buffers["bins"].pointer)
                assert np.array_equal(found, expected), f"{name} counts wrong"
    return times


if __name__ == "__main__":
    main()
