"""The rungs of `softmax`, or other files, beside PyTorch: square, long rows, many short ones, few long ones.

    python benchmarks/softmax.py [FILE …] [--rounds N]

On a machine with a GPU, PyTorch and CuPy. Without files all rungs but the naive one are timed. PyTorch stands there
twice, as it is (eager) and compiled (torch.compile), and a copy of the matrix on the device is the bound. Each round
times everything once, in turn, behind a fill that empties the L2 cache; a ratio is the median over the rounds of the
better PyTorch's time over the other's, with its 95 % interval. Outputs are compared with PyTorch's in double precision,
before and after.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from grader import cuda
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, Load, Run, Timed
from grader.judge.kernels.compiled import Planned, prepare
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

SHAPES = ((16384, 16384), (32768, 65536), (1 << 20, 128), (128, 1 << 20), (8, 65536))
WARM_UP = 5
FLUSH_BYTES = 1 << 30  # takes a GPU longer than the host needs to enqueue what is timed
EAGER, COMPILED, COPY = "PyTorch, eager", "PyTorch, compiled", "copy"


class WithTorch(Executor):
    """Knows PyTorch's two ways, and a copy, as libraries; they work on tensors over its own buffers."""

    peers: dict[str, Callable[[], Any]]

    def prepared_library(self, op: Library) -> Callable[[], Any]:
        return self.peers[op.name]

    def tensor(self, name: str, shape: tuple[int, int]) -> Any:
        """A buffer as PyTorch sees it."""
        import cupy
        import torch

        memory = cupy.cuda.UnownedMemory(self.buffers[name].pointer, 4 * shape[0] * shape[1], owner=None)
        return torch.from_dlpack(cupy.ndarray(shape, "float32", cupy.cuda.MemoryPointer(memory, 0)))

    def prepare_peers(self, shape: tuple[int, int]) -> None:
        """Draw the input, and compile PyTorch's softmax for this shape."""
        import torch

        source, target = self.tensor("in", shape), self.tensor("out", shape)
        source.normal_(generator=torch.Generator("cuda").manual_seed(1))
        source.mul_(3.0)
        compiled = torch.compile(lambda x: torch.softmax(x, 1), dynamic=False)
        self.peers = {
            EAGER: lambda: torch.softmax(source, 1, out=target),
            COMPILED: lambda: compiled(source),
            COPY: lambda: target.copy_(source),
        }

    def error(self, shape: tuple[int, int]) -> float:
        """The largest error of the output, as a share of the right result."""
        import torch

        source, target = self.tensor("in", shape), self.tensor("out", shape)
        worst = 0.0
        for first in range(0, shape[0], max(1, (1 << 24) // shape[1])):
            rows = slice(first, first + max(1, (1 << 24) // shape[1]))
            right = torch.softmax(source[rows].double(), 1)
            worst = max(worst, float(((target[rows] - right).abs() / right).max()))
        return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=40)
    chosen = parser.parse_args()
    topic = topics.load("softmax")
    assert isinstance(topic, KernelTopic)
    files = {path.name: topic.parse(path) for path in chosen.files}
    files = files or {rung.id: rung.file for rung in topic.ladder.rungs[1:]}
    device = cuda.select("pycuda")
    executor = WithTorch(device, Memory(os.memfd_create("unused")))
    largest = max(rows * columns for rows, columns in SHAPES)
    for name, nbytes in (("in", 4 * largest), ("out", 4 * largest), ("flush", FLUSH_BYTES)):
        executor.allocate(Allocate(name, nbytes))
    kernels = {name: prepare(file, device.arch) for name, file in files.items()}
    for name, kernel in kernels.items():
        executor.load(Load(name, kernel.build.image("pycuda"), kernel.file.extended))
    print(f"{device.name}, {chosen.rounds} rounds")
    for shape in SHAPES:
        executor.prepare_peers(shape)
        problem = dict(zip(("M", "N"), shape, strict=True))
        actions: dict[str, Run | Library] = {
            name: Library(name, {}, problem) for name in (COPY, EAGER, COMPILED)
        }
        planned = {name: kernel.plan(problem, device.ext.device_limits()) for name, kernel in kernels.items()}
        for name, nbytes in scratch(planned.values()).items():
            executor.allocate(Allocate(name, nbytes))
        actions |= {name: Run(name, item.launches) for name, item in planned.items()}
        report(shape, measure(executor, actions, shape, chosen.rounds))


def scratch(planned: Iterable[Planned]) -> dict[str, int]:
    """Bytes of each scratch array; kernels that have one of the same name share it."""
    found: dict[str, int] = {}
    for item in planned:
        for array in item.scratch:
            nbytes = math.prod(array.shape) * array.dtype.itemsize
            found[array.name] = max(found.get(array.name, 0), nbytes)
    return found


def measure(
    executor: WithTorch, actions: dict[str, Run | Library], shape: tuple[int, int], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each action, a sample a round; raises AssertionError where one is wrong."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(WARM_UP + rounds):
        for name, action in actions.items():
            took = executor.timed(Timed(action, flush="flush"))
            if number >= WARM_UP:
                times[name].append(took)
            if isinstance(action, Run) and number in (0, WARM_UP + rounds - 1):
                error = executor.error(shape)
                assert error < 1e-5, f"{name} errs by {error:.2g} at {shape}"
    return times


def report(shape: tuple[int, int], times: dict[str, list[float]]) -> None:
    """A line for each action."""
    peer = min(EAGER, COMPILED, key=lambda name: median(times[name]).value)
    for name, samples in times.items():
        ratio = median([theirs / own for theirs, own in zip(times[peer], samples, strict=True)])
        took = median(samples).value
        rate = 8e-9 * shape[0] * shape[1] / took
        print(
            f"{shape[0]:8} × {shape[1]:<8} {name:18} {1e6 * took:9.1f} µs {rate:8.1f} GB/s   "
            f"{100 * ratio.value:6.1f} % of {peer} ({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
