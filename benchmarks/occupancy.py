"""Holds the theoretical occupancy against the driver's own answer, for every rung and for a sweep of configurations.

    python benchmarks/occupancy.py [--device pycuda|emulator] [--configurations N]

Three things are compared with what devices.toml and `grader.analysis.occupancy` say:
  * the limits of the device, which the driver reports as attributes;
  * every launch of every rung of every topic at its `main` and `count` sizes, compiled for this device;
  * N configurations (1,000 if not given): kernels of many register counts and sizes of static shared memory, with
    block sizes and dynamic shared memory drawn at random, always the same ones.
The driver's answer is cuOccupancyMaxActiveBlocksPerMultiprocessor; registers and static shared memory are those that
it reports of the loaded kernel. Every mismatch is printed in full. Exit code 1 if there is any, else 0.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import cuda
from grader.analysis.devices import DeviceSpec, board
from grader.analysis.occupancy import occupancy
from grader.cuda import Cuda
from grader.judge.kernels.compiled import prepare
from grader.workbook import compiler, topics

LIVE = (1, 8, 14, 20, 26, 34, 44, 60, 76, 96, 120, 152, 184, 224, 240)
"""Floats that a kernel of the sweep keeps alive: what decides how many registers it takes."""

STATIC = (0, 1000, 20_000, 49_152)  # bytes of static shared memory

SWEEP = """
template <int LIVE, int STATIC>
__global__ void kept(float* out, const float* in, int n) {
  float x[LIVE];
  #pragma unroll
  for (int i = 0; i < LIVE; i++) x[i] = in[threadIdx.x + i * blockDim.x];
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    #pragma unroll
    for (int i = 0; i < LIVE; i++) x[i] = x[i] * x[(i + 1) % LIVE] + in[k];
  }
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < LIVE; i++) sum += x[i];
  if constexpr (STATIC > 0) {
    __shared__ char tile[STATIC];
    tile[(threadIdx.x + n) % STATIC] = sum;
    __syncthreads();
    sum += tile[threadIdx.x % STATIC];
  }
  out[threadIdx.x] = sum;
}
"""


@dataclass(frozen=True)
class Compiled:
    """A kernel as the driver has loaded it."""

    name: str
    image: bytes
    symbol: str
    registers: int
    static: int  # bytes of shared memory


@dataclass(frozen=True)
class Question:
    """A kernel and how it is launched."""

    kernel: Compiled
    threads: int
    dynamic: int  # bytes of shared memory

    def __str__(self) -> str:
        return (
            f"{self.kernel.name}: {self.threads} threads, {self.kernel.registers} registers, "
            f"{self.kernel.static} + {self.dynamic} bytes of shared memory"
        )


def loaded(device: Cuda, build: compiler.Build, name: str, symbol: str) -> Compiled:
    """A kernel of a build, with the resources that the driver reports of it."""
    image = build.image("pycuda" if device.kind == "gpu" else "emulator")
    function = device.driver.module_from_buffer(image).get_function(symbol)
    return Compiled(name, image, symbol, int(function.num_regs), int(function.shared_size_bytes))


def rungs(device: Cuda) -> Iterator[Question]:
    """Every launch of every rung, at the sizes that are timed and at those that are counted."""
    limits = device.ext.device_limits()
    for topic in topics.discover().values():
        # The rungs of a topic of schedules all launch the topic's one kernel.
        for file in topic.kernel_files:
            kernel = prepare(file, device.arch)
            for sizes in ("main", "count"):
                planned = kernel.plan(topic.problem(sizes, None), limits)
                for name, launch in zip(planned.kernels, planned.launches, strict=True):
                    found = loaded(
                        device, kernel.build, f"{topic.name} {file.path.stem} {name}", launch.symbol
                    )
                    x, y, z = launch.block
                    yield Question(found, x * y * z, launch.shared_bytes)


def compiled_kernels(device: Cuda, live: int) -> Iterator[Compiled]:
    """The kernels of the sweep that keep so many floats alive, in a module of their own: loading it is quick."""
    names = [f"kept<{live}, {static}>" for static in STATIC]
    build = compiler.compile_source(SWEEP, file=Path("sweep.cu"), kernels=names, arch=device.arch)
    return (loaded(device, build, name, build.lowered[name]) for name in names)


def sweep(device: Cuda, spec: DeviceSpec, count: int) -> Iterator[Question]:
    """So many different configurations that can be launched, of kernels compiled for this."""
    kernels = [kernel for live in LIVE for kernel in compiled_kernels(device, live)]
    chance = random.Random(4)
    seen: set[tuple[int, int, int, int]] = set()
    while len(seen) < count:
        kernel = chance.choice(kernels)
        threads = chance.choice((32 * chance.randint(1, 32), chance.randint(1, 1024)))
        most = spec.capability.shared_block_bytes - kernel.static
        dynamic = chance.choice((0, chance.randint(0, most), chance.randint(0, most // 16), most))
        key = (kernel.registers, kernel.static, threads, dynamic)
        if key not in seen:
            seen.add(key)
            yield Question(kernel, threads, dynamic)


def wrong_answers(device: Cuda, spec: DeviceSpec, questions: Iterator[Question], what: str) -> int:
    """Ask the driver each question and print where the analysis says something else; how many those are."""
    asked, wrong, answers = 0, 0, set()
    for question in questions:
        kernel = question.kernel
        told = device.ext.max_active_blocks(kernel.image, kernel.symbol, question.threads, question.dynamic)
        ours = occupancy(spec, question.threads, kernel.registers, kernel.static + question.dynamic)
        asked += 1
        answers.add((told, ours.limited_by))
        if told != ours.blocks_per_sm:
            wrong += 1
            print(f"MISMATCH {question}: driver {told}, analysis {ours.blocks_per_sm} ({ours.limited_by})")
    limits = ", ".join(sorted({limit for _, limit in answers}))
    print(
        f"{what}: {asked} asked, {len({told for told, _ in answers})} different answers, {wrong} mismatches"
    )
    print(f"  limited by {limits}")
    return wrong


def wrong_limits(device: Cuda, spec: DeviceSpec) -> int:
    """Compare the device's attributes with devices.toml; how many differ."""
    has, sm = device.ext.device_limits(), spec.capability
    expected = {
        "multiprocessor_count": spec.sms,
        "max_threads_per_multiprocessor": 32 * sm.warps,
        "max_blocks_per_multiprocessor": sm.blocks,
        "max_shared_memory_per_multiprocessor": sm.shared_bytes,
        "max_shared_memory_per_block_optin": sm.shared_block_bytes,
        "reserved_shared_memory_per_block": sm.shared_reserved,
        "max_registers_per_multiprocessor": 65536,
        "l2_cache_size": spec.l2_bytes,
    }
    # PyCUDA may know fewer attributes than the driver has; what it does not know is said, and not compared.
    unknown = [name for name in expected if name not in has]
    wrong = [name for name in expected if name in has and has[name] != expected[name]]
    for name in wrong:
        print(f"MISMATCH {name}: driver {has[name]}, devices.toml {expected[name]}")
    print(f"limits: {len(expected) - len(unknown)} compared, {len(wrong)} mismatches")
    if unknown:
        print(f"  not known to the driver's bindings: {', '.join(unknown)}")
    return len(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="auto", choices=("auto", "pycuda", "emulator"))
    parser.add_argument("--configurations", type=int, default=1000, metavar="N")
    options = parser.parse_args()
    device = cuda.select(options.device)
    spec = board(device.name, device.arch)
    print(f"{device.name} ({device.kind}, {device.arch}), held against {spec.name} of devices.toml")
    wrong = wrong_limits(device, spec)
    wrong += wrong_answers(device, spec, rungs(device), "rungs")
    wrong += wrong_answers(device, spec, sweep(device, spec, options.configurations), "sweep")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
