"""Holds the emulator's counters against Nsight Compute's, kernel by kernel, on a machine with a GPU and `ncu`.

    python benchmarks/nsight.py [TOPIC | FILE.cu | GROUP …] [--json FILE] [--emulated FILE] [--ncu FILE]

Runs every rung of the topics at their `count` sizes once under ncu and once on the emulator, and prints a line
a kernel with each metric that differs, then a line a metric. A FILE.cu holds probes, that is either kernels
`PROBE name(float* out, const float* in, int n)`, launched with 8 blocks of 256 threads on n = 65536 floats, or kernels
with a launch block, which may take arrays of as many floats `in` and `out`. A GROUP is one of gpu_results.py, of which
the cases count that are marked for it. Without arguments: all topics of kernels and the probes here.

The two halves need not run on one machine: --emulated keeps what the emulator counted and --ncu what ncu printed, each
in a file that is read instead where it is there.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from gpu_results import COMPILERS, GROUPS
from numerics.case import Map

from grader import cuda
from grader.analysis.devices import capability
from grader.analysis.occupancy import occupancy
from grader.emulator import metrics
from grader.emulator.metrics import TENSOR_INSTRUCTIONS
from grader.emulator.nvrtc import compilation
from grader.findings.kernels import message
from grader.judge.child.executor import Executor, Memory
from grader.judge.child.protocol import Allocate, Launch, Load, Pointer, Release, Run, Scalar
from grader.judge.kernels.compiled import Planned, prepare
from grader.workbook import topics
from grader.workbook.kernel_file import KernelFile, parse_kernel_file
from grader.workbook.signature import parse_signature
from grader.workbook.topic import KernelTopic

PROBES = [
    str(Path(__file__).with_name(name)) for name in ("probes.cu", "hopper_probes.cu", "cluster_probes.cu")
]
PROBE_GRID, PROBE_BLOCK, PROBE_SIZE = (8, 1, 1), (256, 1, 1), 65536
PROBE_SIGNATURE = parse_signature("probe(const float* in, float* out)")

EXACT = re.compile(
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_global_op_(ld|st)|_op_[fd]fma_pred_on|_op_tma_|gmma|op_shared_stsm|dshared"
)
"""Metrics in which a difference is an error: what the kernel asks of global memory, its multiply-adds, and what it asks
of TMA, of the Tensor Cores of a warpgroup, and of other blocks of its cluster."""
LIMITS = cuda.select("emulator").ext.device_limits()
TENSOR_MOVES = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
"""ptxas loads constants with HFMA2, which runs on the same pipe: no Tensor Core product."""
PROBED = ("mma", "wmma", "wgmma", "layouts")
"""Groups with marked cases."""
UNCOUNTED = (
    "smsp__sass_data_bytes_mem_shared_op_gmma.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum",
    "smsp__inst_executed_pipe_tma.sum",
)
"""What the emulator does not count, shown in the JSON."""
OCCUPANCY_LIMITS = [
    f"launch__occupancy_limit_{what}" for what in ("blocks", "registers", "shared_mem", "warps")
]


@dataclass(frozen=True)
class Job:
    """A kernel file ready for a device: what to load, what to launch, and the arrays it is given by name."""

    names: tuple[str, ...]
    """Of each launch."""
    build: compilation.Build
    launches: tuple[Launch, ...]
    arrays: dict[str, Any]
    extended: bool = False
    """See Load."""


@dataclass(frozen=True)
class Counted:
    """What the emulator counted in a launch."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    shared_bytes: int
    counters: dict[str, int]
    findings: list[str]


def jobs(what: str, arch: str) -> Iterator[Job]:
    """A job for each rung of a topic, for each probe of a file, or for each marked case of a group."""
    if what in GROUPS:
        return _cases(what, arch)
    if not what.endswith(".cu"):
        return _rungs(what, arch)
    path = Path(what)
    return _launched_probes(path, arch) if "/// launch" in path.read_text() else _probes(path, arch)


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
        names = [f"{name}/{rung.id}"]
        if len(planned.launches) > 1:
            names = [f"{name}/{rung.id} {launch.symbol}" for launch in planned.launches]
        yield _job(names, rung.file, kernel.build, planned, arrays)


def _job(
    names: Sequence[str], file: KernelFile, build: compilation.Build, planned: Planned, arrays: dict[str, Any]
) -> Job:
    scratch = {s.name: np.zeros(s.shape, s.dtype) for s in planned.scratch}
    return Job(tuple(names), build, planned.launches, arrays | scratch, file.extended)


def _launched_probes(path: Path, arch: str) -> Iterator[Job]:
    """All probes of a file with a launch block."""
    file = parse_kernel_file(path, PROBE_SIGNATURE)
    kernel = prepare(file, arch)
    planned = kernel.plan({}, LIMITS)
    names = [
        f"probes/{launch.kernel} {' '.join(x if isinstance(x, str) else x.text for x in launch.args)}"
        for launch in file.launches
    ]
    yield _job(
        names, file, kernel.build, planned, {"in": _probe_values(), "out": np.zeros_like(_probe_values())}
    )


def _cases(what: str, arch: str) -> Iterator[Job]:
    group = GROUPS[what]()
    for source, cases in group.modules():
        probed = [case for case in cases if case.probed]
        build = compilation.build(source, arch=arch) if probed else None
        for case in probed:
            assert build is not None
            arguments = tuple(
                Pointer(item) if isinstance(item, str) else Scalar(item.dtype.name, item.item())
                for item in case.arguments
                if not isinstance(item, Map)
            )
            launch = Launch(case.kernel, (1, 1, 1), (case.threads, 1, 1), 0, arguments)
            yield Job((f"{what}/{case.name}",), build, (launch,), dict(case.arrays))


def _probe_values() -> Any:
    return np.random.default_rng(1).uniform(1, 2, PROBE_SIZE).astype(np.float32)


def _probes(path: Path, arch: str) -> Iterator[Job]:
    source = path.read_text()
    build = compilation.build(source, name=path.name, arch=arch)
    values = _probe_values()
    arguments = (Pointer("out"), Pointer("in"), Scalar("int32", PROBE_SIZE))
    for symbol in re.findall(r"^PROBE (\w+)\(", source, re.M):
        launch = Launch(symbol, PROBE_GRID, PROBE_BLOCK, 0, arguments)
        yield Job((f"probes/{symbol}",), build, (launch,), {"out": np.zeros_like(values), "in": values})


def launch_all(device: str, whats: Sequence[str]) -> list[Counted]:
    """Launches everything once. On the emulator: what it counted."""
    found = cuda.select(device)
    results: list[Counted] = []
    with ThreadPoolExecutor(COMPILERS) as pool:
        of_all = [pool.submit(lambda what=what: list(jobs(what, found.arch))) for what in whats]
    for job in (job for of_one in of_all for job in of_one.result()):
        executor = Executor(found, Memory(os.memfd_create("unused")))
        for name, array in job.arrays.items():
            executor.allocate(Allocate(name, array.nbytes))
            found.driver.memcpy_htod(executor.buffers[name].pointer, np.ascontiguousarray(array))
        image = job.build.image("emulator" if found.kind == "emulator" else "pycuda")
        executor.load(Load(job.names[0], image, job.extended))
        records = executor.run(Run(job.names[0], job.launches))
        for name, launch, record in zip(job.names, job.launches, records, strict=False):
            findings = [message(finding) for finding in record.findings]
            counts = (record.registers, record.shared_bytes, dict(record.counters), findings)
            results.append(Counted(name, launch.grid, launch.block, *counts))
        executor.release(Release())
    return results


def under_ncu(whats: Sequence[str], csv_file: Path | None) -> list[dict[str, str]]:
    """One row a launch, as ncu prints it."""
    if csv_file is None or not csv_file.exists():
        asked = sorted(
            {*metrics.NAMES, *OCCUPANCY_LIMITS, *UNCOUNTED, "launch__registers_per_thread", TENSOR_MOVES}
        )
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(asked),
                   sys.executable, __file__, "--launch", *whats]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"ncu failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        printed = done.stdout
        if csv_file is not None:
            csv_file.write_text(printed)
    else:
        printed = csv_file.read_text()
    lines = [line for line in printed.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    return rows[1:]  # the first row holds the units


def emulated(whats: Sequence[str], file: Path | None) -> list[Counted]:
    """What the emulator counts."""
    if file is not None and file.exists():
        return msgspec.json.decode(file.read_bytes(), type=list[Counted])
    found = launch_all("emulator", whats)
    if file is not None:
        file.write_bytes(msgspec.json.encode(found))
    return found


def compare(counted: Counted, row: dict[str, str], arch: str) -> dict[str, Any]:
    """One kernel's figures side by side."""
    ours = {k: v for k, v in counted.counters.items() if k in row and row[k] not in ("", "n/a")}
    theirs = {k: float(row[k].replace(",", "")) for k in ours}
    if TENSOR_INSTRUCTIONS in theirs:
        theirs[TENSOR_INSTRUCTIONS] -= float(row[TENSOR_MOVES].replace(",", ""))
    full = occupancy(capability(arch), math.prod(counted.block), counted.registers, counted.shared_bytes)
    limit = min(int(float(row[name])) for name in OCCUPANCY_LIMITS)
    return {
        "kernel": counted.name,
        "symbol": row["Kernel Name"],
        "grid": counted.grid,
        "block": counted.block,
        "metrics": {k: [ours[k], theirs[k]] for k in ours if ours[k] or theirs[k]},
        "uncounted": {k: row[k] for k in UNCOUNTED if row.get(k, "0") not in ("0", "", "n/a")},
        "registers": [counted.registers, int(float(row["launch__registers_per_thread"]))],
        "blocks_per_sm": [full.blocks_per_sm, limit],
        "findings": counted.findings,
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
    parser.add_argument("--emulated", type=Path)
    parser.add_argument("--ncu", type=Path)
    parser.add_argument("--only-emulated", action="store_true", help="for a machine without a GPU")
    parser.add_argument(
        "--only-ncu", action="store_true", help="for one with a GPU, when the emulator ran elsewhere"
    )
    parser.add_argument(
        "--launch", action="store_true", help="launch on the GPU and do nothing else (for ncu)"
    )
    options = parser.parse_args()
    kernels = [name for name, topic in topics.discover().items() if isinstance(topic, KernelTopic)]
    whats = options.what or [*kernels, *PROBES, *PROBED]
    if options.launch:
        launch_all("pycuda", whats)
        return
    if options.only_ncu:
        under_ncu(whats, options.ncu)
        return
    counted = emulated(whats, options.emulated)
    if options.only_emulated:
        return
    rows = under_ncu(whats, options.ncu)
    arch = cuda.select("emulator").arch
    results = [compare(one, row, arch) for one, row in zip(counted, rows, strict=True)]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    sys.exit(1 if show(results) else 0)


if __name__ == "__main__":
    main()
