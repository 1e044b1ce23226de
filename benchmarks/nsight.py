"""Holds the emulator's counters against Nsight Compute's, kernel by kernel, on a machine with a GPU and `ncu`.

    python benchmarks/nsight.py [TOPIC | FILE.cu …] [--json FILE]

Runs every rung of the topics at their `count` sizes once under ncu and once on the emulator, and prints a line
a kernel with each metric that differs, then a line a metric. A FILE.cu holds probes, that is kernels
`PROBE name(float* out, const float* in, int n)` without a launch block, launched with 8 blocks of 256 threads on
n = 65536 floats. Without arguments: all topics of kernels and
benchmarks/probes.cu.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader import cuda
from grader.analysis.devices import capability
from grader.analysis.occupancy import occupancy
from grader.emulator.metrics import TENSOR_INSTRUCTIONS
from grader.emulator.nvrtc import compilation
from grader.findings.kernels import message
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Launch, Load, Pointer, Release, Run, Scalar
from grader.judge.kernels.compiled import prepare
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

PROBES = Path(__file__).with_name("probes.cu")
PROBE_GRID, PROBE_BLOCK, PROBE_SIZE = (8, 1, 1), (256, 1, 1), 65536

EXACT = re.compile(r"l1tex__t_(requests|sectors)_pipe_lsu_mem_global_op_(ld|st)|_op_[fd]fma_pred_on")
"""Metrics in which a difference is an error: what the kernel asks of global memory, and its multiply-adds."""
LIMITS = cuda.select("emulator").ext.device_limits()
TENSOR_MOVES = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
"""ptxas loads constants with HFMA2, which runs on the same pipe: no Tensor Core product."""
OCCUPANCY_LIMITS = [
    f"launch__occupancy_limit_{what}" for what in ("blocks", "registers", "shared_mem", "warps")
]


@dataclass(frozen=True)
class Job:
    """A kernel file ready for a device: what to load, what to launch, and the arrays it is given by name."""

    name: str
    build: compilation.Build
    launches: tuple[Launch, ...]
    arrays: dict[str, Any]


def jobs(what: str, arch: str) -> Iterator[Job]:
    """A job for each rung of a topic, or for each probe of a file."""
    yield from _probes(Path(what), arch) if what.endswith(".cu") else _rungs(what, arch)


def _rungs(name: str, arch: str) -> Iterator[Job]:
    topic = topics.load(name)
    assert isinstance(topic, KernelTopic)
    problem = topic.sizes_count
    data = topic.reference.make_inputs(problem, np.random.default_rng(1), "real")
    outputs = topic.reference.reference(data, problem)
    for rung in topic.ladder.rungs:
        kernel = prepare(rung.file, arch)
        planned = kernel.plan(problem, LIMITS)
        arrays = dict(data) | {k: np.zeros(v.shape, topic.signature[k].dtype) for k, v in outputs.items()}
        arrays |= {s.name: np.zeros(s.shape, s.dtype) for s in planned.scratch}
        yield Job(f"{name}/{rung.id}", kernel.build, planned.launches, arrays)


def _probes(path: Path, arch: str) -> Iterator[Job]:
    source = path.read_text()
    build = compilation.build(source, name=path.name, arch=arch)
    values = np.random.default_rng(1).uniform(1, 2, PROBE_SIZE).astype(np.float32)
    arguments = (Pointer("out"), Pointer("in"), Scalar("int32", PROBE_SIZE))
    for symbol in re.findall(r"^PROBE (\w+)\(", source, re.M):
        launch = Launch(symbol, PROBE_GRID, PROBE_BLOCK, 0, arguments)
        yield Job(f"probes/{symbol}", build, (launch,), {"out": np.zeros_like(values), "in": values})


def launch_all(device: str, whats: list[str]) -> list[tuple[str, Launch, Any]]:
    """Launches everything once: the name, the launch, and on the emulator its record."""
    found = cuda.select(device)
    results: list[tuple[str, Launch, Any]] = []
    for job in [job for what in whats for job in jobs(what, found.arch)]:
        executor = Executor(found, Memory(os.memfd_create("unused")))
        for name, array in job.arrays.items():
            executor.allocate(Allocate(name, array.nbytes))
            found.driver.memcpy_htod(executor.buffers[name].pointer, np.ascontiguousarray(array))
        executor.load(Load(job.name, job.build.image("emulator" if found.kind == "emulator" else "pycuda")))
        records = executor.run(Run(job.name, job.launches)) or [None] * len(job.launches)
        many = len(job.launches) > 1
        for launch, record in zip(job.launches, records, strict=True):
            results.append((f"{job.name} {launch.symbol}" if many else job.name, launch, record))
        executor.release(Release())
    return results


def under_ncu(whats: list[str], metrics: list[str]) -> list[dict[str, str]]:
    """One row a launch, as ncu prints it."""
    command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(metrics),
               sys.executable, __file__, "--launch", *whats]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ncu failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    return rows[1:]  # the first row holds the units


def compare(name: str, launch: Launch, record: Any, row: dict[str, str], arch: str) -> dict[str, Any]:
    """One kernel's figures side by side."""
    ours = {k: v for k, v in record.counters.items() if k in row and row[k] not in ("", "n/a")}
    theirs = {k: float(row[k].replace(",", "")) for k in ours}
    if TENSOR_INSTRUCTIONS in theirs:
        theirs[TENSOR_INSTRUCTIONS] -= float(row[TENSOR_MOVES].replace(",", ""))
    threads = math.prod(launch.block)
    full = occupancy(capability(arch), threads, record.registers, record.shared_bytes)
    limit = min(int(float(row[name])) for name in OCCUPANCY_LIMITS)
    return {
        "kernel": name,
        "grid": launch.grid,
        "block": launch.block,
        "metrics": {k: [ours[k], theirs[k]] for k in ours if ours[k] or theirs[k]},
        "registers": [record.registers, int(float(row["launch__registers_per_thread"]))],
        "blocks_per_sm": [full.blocks_per_sm, limit],
        "findings": [message(f) for f in record.findings],
    }  # fmt: skip


def show(results: list[dict[str, Any]]) -> int:
    """Prints the differences and a line a kernel; how many exact metrics differ."""
    wrong = 0
    for result in results:
        differing = {k: v for k, v in result["metrics"].items() if v[0] != v[1]}
        errors = [k for k in differing if EXACT.search(k)]
        same_blocks = result["blocks_per_sm"][0] == result["blocks_per_sm"][1]
        wrong += len(errors) + (not same_blocks)
        mark = "ok " if not errors and same_blocks else "BAD"
        print(f"{mark} {result['kernel']:42} {len(result['metrics']) - len(differing):3} metrics equal, "
              f"{len(differing):2} differ; blocks per SM {result['blocks_per_sm']}")  # fmt: skip
        for name, (ours, theirs) in differing.items():
            print(f"      {name:72} {ours:>12} {theirs:>12.0f}")
    equal = Counter(k for r in results for k, v in r["metrics"].items() if v[0] == v[1])
    total = Counter(k for r in results for k in r["metrics"])
    for name in sorted(total):
        print(f"{name:76} {equal[name]:3} of {total[name]:3} kernels equal")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--launch", action="store_true", help="launch on the GPU and do nothing else (for ncu)"
    )
    options = parser.parse_args()
    kernels = [name for name, topic in topics.discover().items() if isinstance(topic, KernelTopic)]
    whats = options.what or [*kernels, str(PROBES)]
    if options.launch:
        launch_all("pycuda", whats)
        return
    emulated = launch_all("emulator", whats)
    metrics = sorted({name for *_, record in emulated for name in record.counters})
    extra = [*OCCUPANCY_LIMITS, "launch__registers_per_thread", TENSOR_MOVES]
    rows = under_ncu(whats, [*metrics, *extra])
    arch = cuda.select("emulator").arch
    results = [compare(*one, row, arch) for one, row in zip(emulated, rows, strict=True)]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    sys.exit(1 if show(results) else 0)


if __name__ == "__main__":
    main()
