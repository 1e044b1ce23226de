"""How fast the emulator is: `python benchmarks/emulator.py`.

Prints the time of a counted 512³ matrix product (naive and with 2-D register tiles), of a cold process from
source to verdict, and peak memory; beside them, Numba's CUDA simulator on a naive product of 64³, as thread
instructions a second. Every product is compared with NumPy's.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from grader.emulator import metrics
from grader.emulator.machine.machine import Machine
from grader.emulator.machine.records import LaunchRecord
from grader.workbook import compiler, topics
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung
from grader.workbook.launches.plan import plan

RUNS = 7
WARM_UP = 12  # launches that are not timed: enough for the emulator to have compiled a large kernel with care


def main() -> None:
    gemm = topics.load("gemm")
    naive, tiled = gemm.rungs[0], gemm.rung("04_register_tile_2d")
    machine = Machine()
    print(f"{platform.machine()}, {machine.threads} threads, Python {platform.python_version()}")
    for rung in (naive, tiled):
        first, median, record = launch(machine, rung, 512)
        times = f"{median:.3f} s (median of {RUNS}; the first, with generating code, {first:.2f} s)"
        print(f"counted 512³ product, {rung.id}: {times}, {rate(record, median)}")
    for rung in (naive, tiled):
        print(f"cold process, source to verdict, 256³, {rung.id}: {cold_process(rung):.2f} s")
    own, child = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"peak memory: {own:.0f} MiB in this process, {child:.0f} MiB in a child of the cold process")
    _, seconds, record = launch(machine, naive, 64)
    print(f"counted 64³ product, naive, this emulator: {seconds:.5f} s, {rate(record, seconds)}")
    simulated = numba_simulator(64)
    print(f"64³ product, naive, Numba's CUDA simulator: {simulated:.2f} s, {rate(record, simulated)}")


def rate(record: LaunchRecord, seconds: float) -> str:
    return f"{record.counters[metrics.THREAD_INSTRUCTIONS] / seconds:.3g} thread instructions a second"


def launch(machine: Machine, rung: Rung[KernelFile], n: int) -> tuple[float, float, LaunchRecord]:
    """Seconds of the first launch and of the median of the next ones, and what one counted."""
    built = compiler.compile_source(rung.source, file=rung.path, kernels=rung.file.kernels)
    constants = compiler.constants(rung.source, rung.file.constant_names, file=rung.path)
    (planned,) = plan(
        rung.file, {"M": n, "N": n, "K": n}, constants, machine.limits["multiprocessor_count"]
    ).launches
    kernel = machine.load(built.image("emulator")).kernels[built.lowered[planned.kernel]]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (n, n)).astype(np.float32) for _ in range(2))
    addresses = [machine.memory.alloc(4 * n * n) for _ in range(3)]
    for address, array in zip(addresses, (a, b), strict=False):
        machine.memory.write(address, array)
    params = struct.pack("QQQiii", *addresses, n, n, n)
    times = []
    for _ in range(WARM_UP + RUNS):
        start = time.perf_counter()
        record = machine.launch(kernel, planned.grid, planned.block, params, planned.shared_bytes)
        times.append(time.perf_counter() - start)
    product = machine.memory.read(addresses[2], 4 * n * n).view(np.float32).reshape(n, n)
    if record.status != "completed" or record.findings or not np.array_equal(product, a @ b):
        sys.exit(f"{rung.id} is wrong at {n}³: {record.status}, {record.findings}")
    for address in addresses:
        machine.memory.free(address)
    return times[0], statistics.median(times[WARM_UP:]), record


def cold_process(rung: Rung[KernelFile]) -> float:
    """Seconds of `ladder grade` on one size, for a source that no cache has seen."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "submission.cu"
        file.write_text(f"{rung.source}\n// {os.urandom(16).hex()}\n")
        sizes = [word for name in "MNK" for word in ("--set", f"{name}=256")]
        command = [sys.executable, "-m", "grader", "grade", "gemm", str(file), "--device", "emulator", *sizes]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def numba_simulator(n: int) -> float:
    script = Path(__file__).with_name("numba_simulator.py")
    done = subprocess.run([sys.executable, str(script), str(n)], check=True, capture_output=True, text=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
