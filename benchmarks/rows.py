"""The rungs of a topic that works row by row, or other files, beside PyTorch, at square and other shapes.

    python benchmarks/rows.py softmax|layernorm [FILE …] [--rounds N]

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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from grader import cuda
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, Load, Run, Timed
from grader.judge.kernels.compiled import Planned, prepare
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

WARM_UP = 5
FLUSH_BYTES = 1 << 30  # takes a GPU longer than the host needs to enqueue what is timed
EAGER, COMPILED, COPY = "PyTorch, eager", "PyTorch, compiled", "copy"

Shape = tuple[int, int]
Tensors = Mapping[str, Any]


class Rows(ABC):
    """What PyTorch does for a topic. The first of `names` is the matrix that is read, the last that which is written;
    between them stand arrays with an element for each column."""

    names: ClassVar[tuple[str, ...]]
    dtype: ClassVar[str]
    shapes: ClassVar[tuple[Shape, ...]]
    most: ClassVar[float]  # that a result may be off, as a share of its size or of `floor`
    floor: ClassVar[float]

    @abstractmethod
    def draw(self, given: Tensors) -> None:
        """Fill what is read."""

    @abstractmethod
    def result(self, *given: Any) -> Any:
        """Of tensors in the order of `names`."""


class Softmax(Rows):
    names = ("in", "out")
    dtype = "float32"
    shapes = ((16384, 16384), (32768, 65536), (1 << 20, 128), (128, 1 << 20), (8, 65536))
    most, floor = 1e-5, 0.0

    def draw(self, given: Tensors) -> None:
        given["in"].normal_(std=3.0)

    def result(self, *given: Any) -> Any:
        import torch

        return torch.softmax(given[0], 1)


class LayerNorm(Rows):
    names = ("x", "gamma", "beta", "y")
    dtype = "float16"
    shapes = ((8192, 8192), (32768, 4096), (1 << 20, 256), (256, 1 << 20), (8, 65536))
    most, floor = 2.0**-9, 1.0

    def draw(self, given: Tensors) -> None:
        given["x"].normal_(mean=1.0, std=2.0)
        given["gamma"].normal_(mean=1.0, std=0.25)
        given["beta"].normal_(std=0.5)

    def result(self, *given: Any) -> Any:
        import torch

        return torch.nn.functional.layer_norm(given[0], given[1].shape, given[1], given[2], 1e-5)


TOPICS: dict[str, type[Rows]] = {"layernorm": LayerNorm, "softmax": Softmax}


class WithTorch(Executor):
    """Knows PyTorch's two ways, and a copy, as libraries; they work on tensors over its own buffers."""

    rows: Rows
    tensors: dict[str, Any]
    peers: dict[str, Callable[[], Any]]

    def prepared_library(self, op: Library) -> Callable[[], Any]:
        return self.peers[op.name]

    def prepare_peers(self, shape: Shape) -> None:
        """Draw the inputs, and compile PyTorch's way for this shape."""
        import cupy
        import torch

        def tensor(name: str, shape: tuple[int, ...]) -> Any:
            nbytes = cupy.dtype(self.rows.dtype).itemsize * math.prod(shape)
            owned = cupy.cuda.UnownedMemory(self.buffers[name].pointer, nbytes, owner=None)
            memory = cupy.cuda.MemoryPointer(owned, 0)
            return torch.from_dlpack(cupy.ndarray(shape, self.rows.dtype, memory))

        torch.manual_seed(1)
        source, *columns, target = self.rows.names
        self.tensors = {name: tensor(name, shape[1:]) for name in columns}
        self.tensors |= {name: tensor(name, shape) for name in (source, target)}
        self.rows.draw(self.tensors)
        given = [self.tensors[name] for name in (source, *columns)]
        torch._dynamo.reset()
        compiled = torch.compile(self.rows.result, dynamic=False)
        self.peers = {
            EAGER: lambda: self.rows.result(*given),
            COMPILED: lambda: compiled(*given),
            COPY: lambda: self.tensors[target].copy_(self.tensors[source]),
        }

    def error(self, shape: Shape) -> float:
        """The largest error of the output, as a share of the right result."""
        source, *columns, target = self.rows.names
        worst = 0.0
        for first in range(0, shape[0], max(1, (1 << 24) // shape[1])):
            rows = slice(first, first + max(1, (1 << 24) // shape[1]))
            given = [self.tensors[source][rows], *(self.tensors[name] for name in columns)]
            right = self.rows.result(*(tensor.double() for tensor in given))
            off = (self.tensors[target][rows] - right).abs() / right.abs().clamp(min=self.rows.floor)
            worst = max(worst, float(off.max()))
        return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("topic", choices=TOPICS)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=40)
    chosen = parser.parse_args()
    topic = topics.load(chosen.topic)
    assert isinstance(topic, KernelTopic)
    files = {path.name: topic.parse(path) for path in chosen.files}
    files = files or {rung.id: rung.file for rung in topic.ladder.rungs[1:]}
    device = cuda.select("pycuda")
    executor = WithTorch(device, Memory(os.memfd_create("unused")))
    executor.rows = rows = TOPICS[chosen.topic]()
    itemsize = topic.signature[rows.names[0]].dtype.itemsize
    most, widest = (max(map(measure, rows.shapes)) for measure in (math.prod, lambda shape: shape[1]))
    for name in rows.names:
        whole = name in (rows.names[0], rows.names[-1])
        executor.allocate(Allocate(name, itemsize * (most if whole else widest)))
    executor.allocate(Allocate("flush", FLUSH_BYTES))
    kernels = {name: prepare(file, device.arch) for name, file in files.items()}
    for name, kernel in kernels.items():
        executor.load(Load(name, kernel.build.image("pycuda"), kernel.file.extended))
    print(f"{device.name}, {chosen.rounds} rounds")
    for shape in rows.shapes:
        executor.prepare_peers(shape)
        problem = {**topic.sizes_main, "M": shape[0], "N": shape[1]}
        actions: dict[str, Run | Library] = {
            name: Library(name, {}, problem) for name in (COPY, EAGER, COMPILED)
        }
        planned = {name: kernel.plan(problem, device.ext.device_limits()) for name, kernel in kernels.items()}
        for name, nbytes in scratch(planned.values()).items():
            executor.allocate(Allocate(name, nbytes))
        actions |= {name: Run(name, item.launches) for name, item in planned.items()}
        moved = 2 * itemsize * math.prod(shape)
        report(shape, moved, measured(executor, actions, shape, chosen.rounds))


def scratch(planned: Iterable[Planned]) -> dict[str, int]:
    """Bytes of each scratch array; kernels that have one of the same name share it."""
    found: dict[str, int] = {}
    for item in planned:
        for array in item.scratch:
            nbytes = math.prod(array.shape) * array.dtype.itemsize
            found[array.name] = max(found.get(array.name, 0), nbytes)
    return found


def measured(
    executor: WithTorch, actions: dict[str, Run | Library], shape: Shape, rounds: int
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
                assert error < executor.rows.most, f"{name} errs by {error:.2g} at {shape}"
    return times


def report(shape: Shape, moved: int, times: dict[str, list[float]]) -> None:
    """A line for each action; `moved` are the bytes that have to be read and written."""
    peer = min(EAGER, COMPILED, key=lambda name: median(times[name]).value)
    for name, samples in times.items():
        ratio = median([theirs / own for theirs, own in zip(times[peer], samples, strict=True)])
        took = median(samples).value
        print(
            f"{shape[0]:8} × {shape[1]:<8} {name:18} {1e6 * took:9.1f} µs {1e-9 * moved / took:8.1f} GB/s   "
            f"{100 * ratio.value:6.1f} % of {peer} ({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
