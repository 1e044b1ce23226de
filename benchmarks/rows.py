"""The rungs of a topic that works row by row, or other files, beside PyTorch, at square and other shapes.

    python benchmarks/rows.py gemv|gemv_int4|softmax|layernorm|layernorm_backward|rmsnorm [FILE …] [--rounds N]

On a machine with a GPU, PyTorch and CuPy. Without files all rungs but the naive one are timed. PyTorch stands there
twice, as it is (eager) and compiled (torch.compile), and a copy of the matrix on the device is the bound, or a read of
it where little is written. Each round times everything once, in turn, behind a fill that empties the L2 cache; a ratio
is the median over the rounds of the better PyTorch's time over the other's, with its 95 % interval. Outputs are
compared with PyTorch's in double precision, before and after.
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
from grader.judge.child import baselines
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, Load, Release, Run, Timed
from grader.judge.kernels.compiled import Planned, prepare
from grader.judge.kernels.track import READ_KERNEL, READ_SIGNATURE, reading
from grader.judge.timing.bounds import only_reads
from grader.judge.timing.statistics import median
from grader.workbook import topics, units
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic

WARM_UP = 5
FLUSH_BYTES = 1 << 30  # takes a GPU longer than the host needs to enqueue what is timed
EAGER, COMPILED, COPY, READ = "PyTorch, eager", "PyTorch, compiled", "copy", "read"

Shape = tuple[int, int]
Tensors = Mapping[str, Any]


class Rows(ABC):
    """What PyTorch does for a topic whose outputs are matrices, or vectors with an element for each row, or sums over
    rows."""

    sizes: ClassVar[tuple[str, str]] = ("M", "N")  # rows, and what a row has
    shapes: ClassVar[tuple[Shape, ...]]
    most: ClassVar[float]  # that a result may be off, as a share of its size or of `floor`
    floor: ClassVar[float]

    @abstractmethod
    def draw(self, given: Tensors) -> None:
        """Fill what is read."""

    @abstractmethod
    def results(self, given: Tensors) -> tuple[Any, ...]:
        """The outputs, in the order of the signature."""

    def eager(self, given: Tensors) -> Callable[[], Any]:
        """What is timed as PyTorch's way as it is."""
        return lambda: self.results(given)


class Softmax(Rows):
    shapes = ((16384, 16384), (32768, 65536), (1 << 20, 128), (128, 1 << 20), (8, 65536))
    most, floor = 1e-5, 0.0

    def draw(self, given: Tensors) -> None:
        given["in"].normal_(std=3.0)

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        return (torch.softmax(given["in"], 1),)


class LayerNorm(Rows):
    shapes = ((8192, 8192), (32768, 4096), (1 << 20, 256), (256, 1 << 20), (8, 65536))
    most, floor = 2.0**-9, 1.0

    def draw(self, given: Tensors) -> None:
        given["x"].normal_(mean=1.0, std=2.0)
        given["gamma"].normal_(mean=1.0, std=0.25)
        given["beta"].normal_(std=0.5)

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        gamma, beta = given["gamma"], given["beta"]
        return (torch.nn.functional.layer_norm(given["x"], gamma.shape, gamma, beta, 1e-5),)


class LayerNormBackward(Rows):
    """PyTorch leaves dgamma and dbeta as halves."""

    shapes = ((8192, 8192), (32768, 4096), (1 << 20, 256))
    most, floor = 2.0**-9, 1.0

    def draw(self, given: Tensors) -> None:
        given["x"].normal_(mean=1.0, std=2.0)
        given["dy"].normal_(mean=0.25)
        given["gamma"].normal_(mean=1.0, std=0.25)
        rows = given["x"].float()
        given["mean"].copy_(rows.mean(1))
        given["rstd"].copy_((rows.var(1, correction=0) + 1e-5).rsqrt())

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        x, dy, gamma, mean, rstd = (given[name] for name in ("x", "dy", "gamma", "mean", "rstd"))
        backward = torch.ops.aten.native_layer_norm_backward
        found: tuple[Any, ...] = backward(
            dy, x, gamma.shape, mean[:, None], rstd[:, None], gamma, gamma, [True, True, True]
        )
        return found


class Gemv(Rows):
    """mv of halves is cuBLAS's; elements of y are about 1."""

    sizes = ("N", "K")
    shapes = ((16384, 16384), (8192, 8192), (28672, 8192), (8192, 28672), (64, 16384), (8, 65536))
    most, floor = 2.0**-9, 1.0

    def draw(self, given: Tensors) -> None:
        given["W"].normal_(std=given["x"].numel() ** -0.5)
        given["x"].normal_()

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        return (torch.mv(given["W"], given["x"]),)


class GemvInt4(Rows):
    """PyTorch's eager way has its weights as halves, unpacked before, and is mv of halves; the compiled one unpacks."""

    sizes = ("N", "K")
    shapes = ((16384, 16384), (8192, 8192), (28672, 8192), (8192, 28672), (64, 16384), (8, 65536))
    most, floor = 2.0**-9, 1.0

    def draw(self, given: Tensors) -> None:
        import torch

        given["W"].view(torch.int32).random_(-(1 << 31), (1 << 31) - 1)
        given["scales"].uniform_(0.1, 0.3).mul_(given["x"].numel() ** -0.5)
        given["x"].normal_()

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        return (torch.mv(self._weights(given), given["x"]),)

    def eager(self, given: Tensors) -> Callable[[], Any]:
        import torch

        weights = self._weights(given)
        return lambda: (torch.mv(weights, given["x"]),)

    @staticmethod
    def _weights(given: Tensors) -> Any:
        """In the type of the scales. Bits of W are taken as those of a signed word: which of them are masked is the
        same."""
        import torch

        words, scales = given["W"], given["scales"]
        words = words.view(torch.int32) if words.dtype == torch.uint32 else words.long()
        shifts = torch.arange(0, 32, 4, device=words.device, dtype=words.dtype)
        weights = (words[:, :, None] >> shifts & 15) - 8
        groups = weights.reshape(*scales.shape, -1).to(scales.dtype)
        return (groups * scales[:, :, None]).reshape(len(words), -1)


class RmsNorm(Rows):
    """The sum is made first, and its norm then; y and the sum are returned."""

    shapes = ((8192, 8192), (32768, 4096), (1 << 20, 256), (256, 1 << 20))
    most, floor = 2.0**-6, 1.0

    def draw(self, given: Tensors) -> None:
        given["x"].normal_(std=2.0)
        given["residual"].normal_(std=2.0)
        given["gamma"].normal_(mean=1.0, std=0.25)

    def results(self, given: Tensors) -> tuple[Any, ...]:
        import torch

        added = given["x"] + given["residual"]
        gamma = given["gamma"]
        return torch.nn.functional.rms_norm(added, gamma.shape, gamma, 1e-5), added


TOPICS: dict[str, type[Rows]] = {
    "gemv": Gemv,
    "gemv_int4": GemvInt4,
    "layernorm": LayerNorm,
    "layernorm_backward": LayerNormBackward,
    "rmsnorm": RmsNorm,
    "softmax": Softmax,
}


class WithTorch(Executor):
    """Knows PyTorch's two ways, and a copy, as libraries; they work on tensors over its own buffers."""

    topic: KernelTopic
    rows: Rows
    tensors: dict[str, Any]
    peers: dict[str, Callable[[], Any]]

    def prepared_library(self, op: Library) -> Callable[[], Any]:
        return self.peers[op.name]

    def prepare_peers(self, problem: Problem) -> None:
        """Draw the inputs, and compile PyTorch's way for this shape."""
        import cupy
        import torch

        def tensor(name: str, shape: tuple[int, ...]) -> Any:
            dtype = self.topic.signature[name].dtype
            return baselines.tensor(
                baselines.array(cupy, self.buffers[name].pointer, dtype.name, shape), dtype.name
            )

        torch.manual_seed(1)
        self.tensors = {name: tensor(name, shape) for name, shape in shapes(self.topic, problem).items()}
        self.rows.draw(self.tensors)
        torch._dynamo.reset()
        given = self.tensors
        compiled = torch.compile(self.rows.results, dynamic=False)
        source, target = (
            items[0].name for items in (self.topic.signature.inputs, self.topic.signature.outputs)
        )
        self.peers = {
            EAGER: self.rows.eager(given),
            COMPILED: lambda: compiled(given),
            COPY: lambda: self.tensors[target].copy_(self.tensors[source]),
        }

    def error(self, problem: Problem) -> float:
        """The largest error of the outputs, as a share of the right results. One without rows is a sum over them."""
        (height, rows), (_, width) = ((name, int(problem[name])) for name in self.rows.sizes)
        known, taller = (shapes(self.topic, {**problem, height: rows + more}) for more in (0, 1))
        of_rows = {name for name in known if known[name] != taller[name]}
        step, worst, sums = max(1, (1 << 24) // width), 0.0, dict[str, Any]()
        for first in range(0, rows, step):
            given = {
                name: tensor[first : first + step] if name in of_rows else tensor
                for name, tensor in self.tensors.items()
            }
            right = self.rows.results({name: tensor.double() for name, tensor in given.items()})
            for item, part in zip(self.topic.signature.outputs, right, strict=True):
                if item.name in of_rows:
                    worst = max(worst, self._off(given[item.name], part))
                else:
                    sums[item.name] = sums.get(item.name, 0.0) + part
        size = math.sqrt(rows)  # of a sum of as many terms that are about 1 and have any sign
        return max([worst, *(self._off(self.tensors[name], right, size) for name, right in sums.items())])

    def _off(self, found: Any, right: Any, size: float = 1.0) -> float:
        return float(((found - right).abs() / right.abs().clamp(min=self.rows.floor * size)).max())


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
    executor.topic, executor.rows = topic, TOPICS[chosen.topic]()
    kernels = {name: prepare(file, device.arch) for name, file in files.items()}
    for name, kernel in kernels.items():
        executor.load(Load(name, kernel.build.image("pycuda"), kernel.file.extended))
    reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), device.arch)
    executor.load(Load(reader.module, reader.build.image("pycuda"), reader.file.extended))
    print(f"{device.name}, {chosen.rounds} rounds; rates in % of the faster of PyTorch's two")
    for shape in executor.rows.shapes:
        problem = {**topic.sizes_main, **dict(zip(executor.rows.sizes, shape, strict=True))}
        planned = {name: kernel.plan(problem, device.ext.device_limits()) for name, kernel in kernels.items()}
        arrays = {
            name: topic.signature[name].dtype.itemsize * math.prod(shape)
            for name, shape in shapes(topic, problem).items()
        }
        executor.release(Release())
        for name, nbytes in {**arrays, **scratch(planned.values()), "flush": FLUSH_BYTES}.items():
            executor.allocate(Allocate(name, nbytes))
        executor.prepare_peers(problem)
        matrix = topic.signature.inputs[0].name
        if only_reads(topic, problem):
            read = reading(reader, matrix, arrays[matrix], "flush", device.ext.device_limits())
            bound: dict[str, Run | Library] = {READ: read}
        else:
            bound = {COPY: Library(COPY, {}, problem)}
        actions = bound | {name: Library(name, {}, problem) for name in (EAGER, COMPILED)}
        actions |= {name: Run(name, item.launches) for name, item in planned.items()}
        times = measured(executor, actions, problem, chosen.rounds)
        bytes_of = {COPY: 2 * arrays[topic.signature.outputs[0].name], READ: arrays[matrix]}
        report(shape, bytes_of, topic.reference.min_bytes(problem), times)


def shapes(topic: KernelTopic, problem: Problem) -> dict[str, tuple[int, ...]]:
    """Of inputs and outputs, by name."""
    assert topic.sampled is not None, "reference.py says shapes"
    return topic.sampled.shapes(problem)


def scratch(planned: Iterable[Planned]) -> dict[str, int]:
    """Bytes of each scratch array; kernels that have one of the same name share it."""
    found: dict[str, int] = {}
    for item in planned:
        for array in item.scratch:
            nbytes = math.prod(array.shape) * array.dtype.itemsize
            found[array.name] = max(found.get(array.name, 0), nbytes)
    return found


def measured(
    executor: WithTorch, actions: dict[str, Run | Library], problem: Problem, rounds: int
) -> dict[str, list[float]]:
    """Seconds of each action, a sample a round; raises AssertionError where one is wrong."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for number in range(WARM_UP + rounds):
        for name, action in actions.items():
            took = executor.timed(Timed(action, flush="flush"))
            if number >= WARM_UP:
                times[name].append(took)
            if name not in (READ, *executor.peers) and number in (0, WARM_UP + rounds - 1):
                error = executor.error(problem)
                assert error < executor.rows.most, f"{name} errs by {error:.2g} at {units.problem(problem)}"
    return times


def report(shape: Shape, bytes_of: Mapping[str, int], moved: int, times: dict[str, list[float]]) -> None:
    """A line for each action; `bytes_of` are those of the bound, `moved` those that all others have to read and
    write."""
    peer = min(EAGER, COMPILED, key=lambda name: median(times[name]).value)
    for name, samples in times.items():
        ratio = median([theirs / own for theirs, own in zip(times[peer], samples, strict=True)])
        took = median(samples).value
        speed = 1e-9 * bytes_of.get(name, moved) / took
        print(
            f"{shape[0]:7} × {shape[1]:<7} {name:17} {1e6 * took:6.1f} µs {speed:4.0f} GB/s "
            f"{100 * ratio.value:5.1f} % ({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
