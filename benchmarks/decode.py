"""Rungs of `decode`, or other files, beside a read of the cache and PyTorch's attention over a cache without pages.

    python benchmarks/decode.py [FILE …] [--rounds N] [--shape BxHxKVxT …]

On a machine with a GPU and PyTorch. Without files the rungs are timed that store no scores. Each round times everything
once, in turn, behind a fill that empties the L2 cache: with sequences that all have T tokens, and with the topic's own
lengths from 0 to T. A rate counts the keys and values of these tokens. A ratio is the median over the rounds of the
time of a plain read of as many bytes over the other's, with its 95 % interval. PyTorch's scaled_dot_product_attention
has keys and values of each sequence in one piece, and runs where all are equally long, by each back end that can.
Outputs of the first and the last sequence are compared with the product in FP64.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from rows import FLUSH_BYTES, scratch

from grader import cuda
from grader.judge.child import baselines
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Library, Load, Release, Run, Timed
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.track import READ_KERNEL, READ_SIGNATURE, reading
from grader.judge.timing.statistics import median
from grader.workbook import topics
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.topic import KernelTopic

SHAPES = ((64, 64, 8, 8192), (1, 64, 8, 131072), (64, 32, 8, 2048), (16, 32, 32, 4096))
WARM_UP = 3
READ = "read"
BACK_ENDS = {"PyTorch, flash": "FLASH_ATTENTION", "PyTorch, cuDNN": "CUDNN_ATTENTION"}
D, PAGE = 128, 16
MOST = 2.0**-9  # that an output may be off

Lengths = np.ndarray[Any, np.dtype[np.int64]]


class WithPyTorch(Executor):
    """Knows PyTorch's attention as a library; it works on tensors over its own buffers."""

    tensors: dict[str, Any]
    peers: dict[str, Callable[[], Any]]

    def prepared_library(self, op: Library) -> Callable[[], Any]:
        return self.peers[op.name]

    def prepare(self, problem: dict[str, Any], lengths: Lengths) -> None:
        """Draw the inputs: pages of sequences in any order, behind page 0."""
        import cupy
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        torch.manual_seed(1)
        rng = np.random.default_rng(1)
        b, h, kv, width = problem["B"], problem["H"], problem["KV"], -(-problem["T"] // PAGE)
        count = -(-lengths // PAGE)
        shapes = {"Q": (b, h, D), "O": (b, h, D)}
        shapes |= dict.fromkeys("KV", (1 + int(count.sum()), kv, PAGE, D))
        self.tensors = {
            name: baselines.tensor(
                baselines.array(cupy, self.buffers[name].pointer, "float16", shape), "float16"
            )
            for name, shape in shapes.items()
        }
        for name in "QKV":
            self.tensors[name].normal_()
        table = np.zeros((b, width), np.int32)
        table[np.arange(width) < count[:, None]] = rng.permutation(np.arange(1, 1 + count.sum()))
        for name, array in (("table", table), ("lengths", lengths.astype(np.int32))):
            there = baselines.array(cupy, self.buffers[name].pointer, "int32", array.shape)
            there[...] = cupy.asarray(array)
            self.tensors[name] = torch.from_numpy(array.astype(np.int64))
        scale = problem["scale"]
        self.peers = {}
        if (lengths == lengths[0]).all():
            q = self.tensors["Q"].view(b, h, 1, D)
            shape = (b, kv, problem["T"], D)
            k, v = (self.tensors[name][1:].reshape(-1)[: np.prod(shape)].view(shape) for name in "KV")

            def way(back_end: str) -> Callable[[], Any]:
                def attend() -> Any:
                    with sdpa_kernel(getattr(SDPBackend, back_end)):
                        return scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=h > kv)

                return attend

            for name, back_end in BACK_ENDS.items():
                with suppress(RuntimeError):
                    way(back_end)()
                    self.peers[name] = way(back_end)

    def error(self, scale: float) -> float:
        """The largest of O in the first and the last sequence."""
        import torch

        worst = 0.0
        for at in (0, -1):
            length = int(self.tensors["lengths"][at])
            pages = self.tensors["table"][at, : -(-length // PAGE)].cuda()
            q, o = (self.tensors[name][at].double() for name in "QO")
            k, v = (
                self.tensors[name][pages].transpose(0, 1).flatten(1, 2)[:, :length].double() for name in "KV"
            )
            shared = torch.arange(len(q), device=q.device) // (len(q) // len(k))
            scores = torch.einsum("hd,htd->ht", q, k[shared]) * scale
            right = torch.einsum("ht,htd->hd", torch.softmax(scores, 1), v[shared])
            worst = max(worst, float((o - right).abs().max())) if length else worst
        return worst


def shape_of(text: str) -> tuple[int, ...]:
    """A shape, such as 64x64x8x8192. Raises ArgumentTypeError."""
    sizes = [int(size) if size.isdecimal() else 0 for size in text.split("x")]
    if len(sizes) != 4 or 0 in sizes or sizes[1] % sizes[2]:
        message = f"{text}: four sizes, the second a multiple of the third, such as 64x64x8x8192"
        raise argparse.ArgumentTypeError(message)
    return tuple(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--shape", metavar="BxHxKVxT", type=shape_of, nargs="+", default=SHAPES)
    chosen = parser.parse_args()
    topic = topics.load("decode")
    assert isinstance(topic, KernelTopic)
    files = {path.name: topic.parse(path) for path in chosen.files}
    files = files or {rung.id: rung.file for rung in topic.ladder.rungs[1:]}
    device = cuda.select("pycuda")
    executor = WithPyTorch(device, Memory(os.memfd_create("unused")))
    kernels = {name: prepare(file, device.arch) for name, file in files.items()}
    reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), device.arch)
    for name, kernel in {**kernels, READ: reader}.items():
        executor.load(
            Load(kernel.module if name == READ else name, kernel.build.image("pycuda"), kernel.file.extended)
        )
    print(f"{device.name}, {chosen.rounds} rounds; rates in % of a read of the cache")
    limits = device.ext.device_limits()
    of_topic = cast(ModuleType, topic.reference)
    for shape in chosen.shape:
        sizes = dict(zip(("B", "H", "KV", "T"), shape, strict=True))
        problem = {**sizes, "scale": D**-0.5}
        planned = {n: k.plan(problem, limits) for n, k in kernels.items()}
        text = "x".join(map(str, shape))
        for kind, lengths in (
            ("equal", np.full(sizes["B"], sizes["T"])),
            ("mixed", np.random.default_rng(2).permutation(of_topic.lengths(problem))),
        ):
            if kind == "mixed" and sizes["B"] == 1:
                continue
            nbytes = 4 * D * sizes["KV"] * int(lengths.sum())
            cache = 2 * D * PAGE * sizes["KV"] * (1 + int((-(-lengths // PAGE)).sum()))
            rows = 2 * D * sizes["B"] * sizes["H"]
            executor.release(Release())
            arrays = {"Q": rows, "O": rows, "K": cache, "V": cache, "source": nbytes, "word": 4}
            arrays |= {"table": 4 * sizes["B"] * -(-sizes["T"] // PAGE), "lengths": 4 * sizes["B"]}
            for name, size in {**arrays, **scratch(planned.values()), "flush": FLUSH_BYTES}.items():
                executor.allocate(Allocate(name, size))
            executor.prepare(problem, lengths)
            actions: dict[str, Run | Library] = {READ: reading(reader, "source", nbytes, "word", limits)}
            actions |= {name: Library(name, {}, problem) for name in executor.peers}
            actions |= {name: Run(name, item.launches) for name, item in planned.items()}
            times: dict[str, list[float]] = {name: [] for name in actions}
            for number in range(WARM_UP + chosen.rounds):
                for name, action in actions.items():
                    took = executor.timed(Timed(action, flush="flush"))
                    if number >= WARM_UP:
                        times[name].append(took)
                    elif number == 0 and name in kernels:
                        error = executor.error(problem["scale"])
                        assert error < MOST, f"{name} errs by {error:.2g} at {text}, {kind}"
            for name, samples in times.items():
                ratio = median([read / own for read, own in zip(times[READ], samples, strict=True)])
                took = median(samples).value
                print(
                    f"{text:15} {kind:6} {name:20} {1e6 * took:8.1f} µs {1e-9 * nbytes / took:5.0f} GB/s "
                    f"{100 * ratio.value:5.1f} % ({100 * ratio.low:.1f} to {100 * ratio.high:.1f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
