"""Holds the cubins of CUDA 12's NVRTC against those of the pinned one, on a GPU whose driver loads both.

    python benchmarks/compilers.py [TOPIC ...] [--all]

Runs the top rung of each topic, or with --all every rung, at the topic's main sizes: both cubins on the same inputs,
and turn by turn for the times. Prints a line a kernel: registers a thread (the most of its kernels), how many elements
of the outputs are not the same bit for bit, whether the judge finds both right, and the times. Where rungs are
schedules it runs their kernel, and there is no judge. Ends with 1 where an output is wrong, or differs without a judge.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from grader import cuda
from grader.emulator.nvrtc.compilation import PINNED
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Fill, Release, Run, Timed
from grader.judge.correctness.cases import CaseData, CaseStore, make
from grader.judge.correctness.guards import POISON
from grader.judge.kernels.compiled import Kernel, prepare
from grader.workbook import compiler, topics
from grader.workbook.kernel_file import KernelFile
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic, Topic

VERSIONS = (PINNED, 12)
ROUNDS = 15
FLUSH, FLUSH_BYTES = "flush", 512 << 20


@dataclass(frozen=True)
class Job:
    """A kernel file, what it is given, and the names of what it writes. Without data nobody knows what is right."""

    topic: Topic
    file: KernelFile
    problem: Problem
    arrays: dict[str, Any]
    outputs: tuple[str, ...]
    data: CaseData | None


def jobs(topic: Topic, every_rung: bool) -> Iterator[Job]:
    """The top rung of a topic, all of them, or the kernel that its schedules launch."""
    problem = topic.sizes_main
    if isinstance(topic, ScheduleTopic):
        file, rng = topic.kernel.file, np.random.default_rng(1)
        arrays: dict[str, Any] = {
            name: rng.uniform(-1, 1, elements.whole(problem)).astype(file.signature[name].dtype)
            for name, elements in topic.kernel.reach.items()
        }
        outputs = tuple(item.name for item in file.signature.outputs)
        yield Job(topic, file, problem, arrays, outputs, None)
        return
    data = CaseStore(topic).get(make(problem, "real"))
    outputs = tuple(data.expected)
    empty = {name: np.empty(data.expected[name].shape, topic.signature[name].dtype) for name in outputs}
    for file in topic.kernel_files if every_rung else topic.kernel_files[-1:]:
        yield Job(topic, file, problem, {**data.inputs, **empty}, outputs, data)


@dataclass
class Bench:
    """The GPU, with a job's buffers and both of its modules."""

    device: cuda.Cuda
    executor: Executor

    def run(self, job: Job) -> bool:
        """Run a job with both compilers and print its line; whether the outputs are what they should be."""
        kernel = prepare(job.file, self.device.arch)
        planned = kernel.plan(job.problem, self.device.ext.device_limits())
        sizes = {name: array.nbytes for name, array in job.arrays.items()}
        sizes |= {item.name: int(np.prod(item.shape)) * item.dtype.itemsize for item in planned.scratch}
        for name, nbytes in {**sizes, FLUSH: FLUSH_BYTES}.items():
            self.executor.allocate(Allocate(name, nbytes))
        for name in job.arrays.keys() - set(job.outputs):
            values = np.ascontiguousarray(job.arrays[name])
            self.device.driver.memcpy_htod(self.executor.buffers[name].pointer, values)
        runs = {}
        for version in VERSIONS:
            load = kernel.load("gpu", version)
            module = f"{load.module} of CUDA {version}"
            self.executor.load(msgspec.structs.replace(load, module=module))
            runs[version] = Run(module, planned.launches)
        results = {version: self._outputs(job, runs[version]) for version in VERSIONS}
        times: dict[int, list[float]] = {version: [] for version in VERSIONS}
        for _ in range(ROUNDS):
            for version in VERSIONS:
                times[version].append(self.executor.timed(Timed(runs[version], FLUSH)))
        self.executor.release(Release())
        return _told(
            job, kernel, results, {version: statistics.median(times[version]) for version in VERSIONS}
        )

    def _outputs(self, job: Job, run: Run) -> dict[str, Any]:
        for name in job.outputs:
            self.executor.fill(Fill(name, POISON))
        self.executor.run(run)
        found = {name: np.empty_like(job.arrays[name]) for name in job.outputs}
        for name, array in found.items():
            self.device.driver.memcpy_dtoh(array, self.executor.buffers[name].pointer)
        return found


def _told(job: Job, kernel: Kernel, results: dict[int, dict[str, Any]], times: dict[int, float]) -> bool:
    pinned, older = (results[version] for version in VERSIONS)
    differ = sum(int(np.count_nonzero(_bits(pinned[name]) != _bits(older[name]))) for name in job.outputs)
    if job.data is None:
        right, judged = differ == 0, "–"
    else:
        right = all(
            job.data.compare(name, found[name]).right for found in (pinned, older) for name in job.outputs
        )
        judged = "right" if right else "WRONG"
    registers = "/".join(str(_registers(kernel, version)) for version in VERSIONS)
    ratio = times[12] / times[PINNED]
    print(
        f"{job.topic.name:12} {job.file.path.stem:24} {registers:>8} {differ:>10,} {judged:>6} "
        f"{1e6 * times[PINNED]:>10.1f} {1e6 * times[12]:>10.1f} {ratio:>6.3f}",
        flush=True,
    )
    return right


def _bits(array: Any) -> Any:
    return array.view(f"u{array.itemsize}")


def _registers(kernel: Kernel, version: int) -> int:
    file, arch = kernel.file, kernel.build.arch
    built = compiler.compile_source(
        file.source, file=file.path, kernels=file.kernels, arch=arch, cuda=version
    )
    return max(built.resources[symbol].registers for symbol in built.lowered.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC")
    parser.add_argument("--all", action="store_true", help="every rung, not the top one alone")
    given = parser.parse_args()
    device = cuda.select("pycuda")
    if device.cubins != PINNED:
        sys.exit("the driver knows CUDA 12 alone, and does not load what the pinned compiler makes")
    print(
        f"{device.name}, driver of CUDA {device.driver.get_driver_version() // 1000}: CUDA 13's NVRTC against 12's"
    )
    print(
        f"{'topic':12} {'rung':24} {'regs':>8} {'differ':>10} {'':>6} {'13, µs':>10} {'12, µs':>10} {'12/13':>6}"
    )
    bench = Bench(device, Executor(device, Memory(os.memfd_create("unused"))))
    found = topics.discover()
    wanted = [found[name] for name in given.topics or found]
    right = [bench.run(job) for topic in wanted for job in jobs(topic, given.all)]
    print(f"{sum(right)} of {len(right)} as they should be")
    sys.exit(0 if all(right) else 1)


if __name__ == "__main__":
    main()
