"""Rungs of `attention`, or other files, beside the back ends of PyTorch's scaled_dot_product_attention.

    python benchmarks/attention.py [FILE …] [--rounds N] [--shape BxHxSxD …]

On a machine with a GPU and PyTorch. Without files the rungs are timed that keep no scores. Each round times everything
once, in turn, behind a rest and a fill that empties the L2 cache, full and causal. A rate counts 4·D operations for
each pair of a query and a key that it sees. A ratio is the median over the rounds of the flash back end's time over the
other's, with its 95 % interval. Outputs are compared with the product in FP64, for the first and the last head.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rows import FLUSH_BYTES, scratch

from grader import cuda
from grader.judge.child import baselines
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, Load, Release, Run, Timed
from grader.judge.kernels.compiled import prepare
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

SHAPES = ((4, 32, 4096, 128), (1, 32, 16384, 128), (4, 32, 4096, 64))
WARM_UP = 3
REST_S = 0.05  # before each timing: a GPU that computes all the time lowers its clock
FLASH = "flash"
BACK_ENDS = {FLASH: "FLASH_ATTENTION", "cuDNN": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
MOST = 2.0**-9  # that an output may be off


class WithBackEnds(Executor):
    """Knows PyTorch's back ends as libraries; they work on tensors over its own buffers."""

    peers: dict[str, Callable[[], Any]]
    tensors: dict[str, Any]

    def prepared_library(self, op: Library) -> Callable[[], Any]:
        return self.peers[op.name]

    def prepare_peers(self, shape: tuple[int, ...], scale: float, causal: bool) -> None:
        """Draw the inputs, and see which back ends there are."""
        import cupy
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        torch.manual_seed(1)
        self.tensors = {
            name: baselines.tensor(
                baselines.array(cupy, self.buffers[name].pointer, "float16", shape), "float16"
            )
            for name in "QKVO"
        }
        for name in "QKV":
            self.tensors[name].normal_()
        given = [self.tensors[name] for name in "QKV"]

        def way(back_end: str) -> Callable[[], Any]:
            def run() -> Any:
                with sdpa_kernel(getattr(SDPBackend, back_end)):
                    return scaled_dot_product_attention(*given, is_causal=causal, scale=scale)

            return run

        self.peers = {}
        for name, back_end in BACK_ENDS.items():
            with suppress(RuntimeError):
                way(back_end)()
                self.peers[name] = way(back_end)

    def error(self, scale: float, causal: bool) -> float:
        """The largest of O in the first and the last head."""
        import torch

        worst = 0.0
        for at in ((0, 0), (-1, -1)):
            q, k, v, o = (self.tensors[name][at] for name in "QKVO")
            for first in range(0, len(q), 1024):
                scores = q[first : first + 1024].double() @ k.double().T * scale
                if causal:
                    place = torch.arange(len(q), device=q.device)
                    scores.masked_fill_(place[None] > place[first : first + 1024, None], float("-inf"))
                right = torch.softmax(scores, 1) @ v.double()
                worst = max(worst, float((o[first : first + 1024] - right).abs().max()))
        return worst


def shape_of(text: str) -> tuple[int, ...]:
    """A shape, such as 4x32x4096x128. Raises ArgumentTypeError."""
    sizes = [int(size) if size.isdecimal() else 0 for size in text.split("x")]
    if len(sizes) != 4 or 0 in sizes or sizes[-1] not in (64, 128):
        raise argparse.ArgumentTypeError(f"{text}: four sizes, the last one 64 or 128, such as 4x32x4096x128")
    return tuple(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--shape", metavar="BxHxSxD", type=shape_of, nargs="+", default=SHAPES)
    chosen = parser.parse_args()
    topic = topics.load("attention")
    assert isinstance(topic, KernelTopic)
    files = {path.name: topic.parse(path) for path in chosen.files}
    files = files or {rung.id: rung.file for rung in topic.ladder.rungs[1:]}
    device = cuda.select("pycuda")
    executor = WithBackEnds(device, Memory(os.memfd_create("unused")))
    kernels = {name: prepare(file, device.arch) for name, file in files.items()}
    for name, kernel in kernels.items():
        executor.load(Load(name, kernel.build.image("pycuda"), kernel.file.extended))
    print(f"{device.name}, {chosen.rounds} rounds; rates in % of PyTorch's flash back end")
    for shape in chosen.shape:
        b, h, s, d = shape
        text = "x".join(map(str, shape))
        for causal in (False, True):
            scale = d**-0.5
            problem = {"B": b, "H": h, "S": s, "D": d, "scale": scale, "causal": int(causal)}
            planned = {n: k.plan(problem, device.ext.device_limits()) for n, k in kernels.items()}
            executor.release(Release())
            arrays = dict.fromkeys("QKVO", 2 * b * h * s * d)
            for name, nbytes in {**arrays, **scratch(planned.values()), "flush": FLUSH_BYTES}.items():
                executor.allocate(Allocate(name, nbytes))
            executor.prepare_peers(shape, scale, causal)
            actions: dict[str, Run | Library] = {name: Library(name, {}, problem) for name in executor.peers}
            actions |= {name: Run(name, item.launches) for name, item in planned.items()}
            times: dict[str, list[float]] = {name: [] for name in actions}
            for number in range(WARM_UP + chosen.rounds):
                for name, action in actions.items():
                    time.sleep(REST_S)
                    took = executor.timed(Timed(action, flush="flush"))
                    if number >= WARM_UP:
                        times[name].append(took)
                    elif number == 0 and name in kernels:
                        error = executor.error(scale, causal)
                        assert error < MOST, f"{name} errs by {error:.2g} at {text}"
            flop = 4 * b * h * d * (s * (s + 1) // 2 if causal else s * s)
            for name, samples in times.items():
                ratio = median([theirs / own for theirs, own in zip(times[FLASH], samples, strict=True)])
                took = median(samples).value
                print(
                    f"{text:15} {'causal' if causal else 'full':6} {name:20} {1e6 * took:8.1f} µs "
                    f"{1e-12 * flop / took:5.0f} TFLOP/s {100 * ratio.value:5.1f} % "
                    f"({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
