"""Measures a GPU's roofs and latencies and holds them against devices.toml, on a machine with a GPU.

    python benchmarks/roofs.py [--device pycuda|emulator] [--scale N]

Each roof has a kernel that does nothing else: multiply-adds from registers; loads of float4s from shared memory
without conflicts; FP16 products by `mma.sync` from registers; loads that bypass L1 from an array that the L2 cache
holds, and atomics on it; atomics of floats on shared memory; a read and a copy of an array many times as large as the
L2 cache. A rate is the best of several launches: a roof is what the device can do. A latency is that of one thread
that follows a chain of addresses in random order, one in each 128 bytes. `--scale` divides the work; on the emulator
the times are the host's and mean nothing, but the kernels run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader import cuda
from grader.analysis.devices import DeviceSpec, board
from grader.analysis.roofline import roofs
from grader.cuda import Cuda
from grader.workbook import compiler, units

LAUNCHES = 15
THREADS = 256

KERNELS = """
extern "C" __global__ void fma_rate(float* out, int n) {
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
  #pragma unroll 16  // few other instructions than multiply-adds
  for (int k = 0; k < n; k++)
    #pragma unroll
    for (int i = 0; i < 8; i++) x[i] = x[i] * 0.999f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}
// Products of Tensor Cores whose operands stay in registers: 8 independent sums a warp.
extern "C" __global__ void mma_rate(float* out, int n) {
  unsigned a[4], b[2];  // halves between 1 and 2, of random bits: zeros would take less power
  for (int i = 0; i < 4; i++) a[i] = 0x3C003C00 | (2654435761u * (threadIdx.x + 256 * i) & 0x03FF03FF);
  for (int i = 0; i < 2; i++) b[i] = 0x3C003C00 | (2246822519u * (threadIdx.x + 256 * i) & 0x03FF03FF);
  float sums[8][4] = {};
  for (int k = 0; k < n; k++)
    #pragma unroll
    for (int i = 0; i < 8; i++) {
      float* d = sums[i];
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  float sum = 0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++) sum += sums[i][j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void shared_rate(float* out, int n) {
  __shared__ float4 tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = make_float4(i, 1, 2, 3);
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < n; k += 8) {
    const float4* from = tile + ((threadIdx.x + 4 * k) & 511);  // another place each time: no load can be left out
    #pragma unroll
    for (int i = 0; i < 8; i++) {
      float4 x = from[32 * i];
      sum.x += x.x; sum.y += x.y; sum.z += x.z; sum.w += x.w;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
extern "C" __global__ void read_rate(float* out, const float4* in, long long n, int times) {
  float sum = 0;
  long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (int k = 0; k < times; k++)
    #pragma unroll 8
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += step) {
      float4 x = __ldcg(in + i);
      sum += x.x + x.y + x.z + x.w;
    }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void copy_rate(float4* out, const float4* in, long long n) {
  long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i];
}
// Warps update words that lie side by side, or all one word.
extern "C" __global__ void update_rate(float* out, int words, int times) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < times; k++) atomicAdd(out + (i + k * gridDim.x * blockDim.x) % words, 1.0f);
}
// Each warp updates a word of its own in shared memory, with all lanes: ptxas makes a loop of compare-and-swaps of it.
extern "C" __global__ void swap_rate(float* out, int times) {
  __shared__ float words[32];
  if (threadIdx.x < 32) words[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < times; k++) atomicAdd(words + threadIdx.x / 32, 1.0f);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x / 32];
}
// One thread: each load gives the next one's place. The first `warm` loads are not timed.
template <bool L1>
__global__ void chase(const unsigned* next, int warm, int n, long long* clocks) {
  unsigned at = 0;
  for (int i = 0; i < warm; i++) at = L1 ? __ldca(next + at) : __ldcg(next + at);
  long long start = clock64();
  for (int i = 0; i < n; i++) at = L1 ? __ldca(next + at) : __ldcg(next + at);
  clocks[0] = clock64() - start;
  clocks[1] = at;  // else the loads would be left out
}
"""

LINE = 128  # bytes: no two loads of a chase share one


@dataclass(frozen=True)
class Bench:
    """A device with the kernels loaded and arrays to work on."""

    device: Cuda
    spec: DeviceSpec
    kernels: dict[str, Any]
    out: Any
    source: Any
    target: Any
    large: int  # bytes of the source and of the target
    scale: int

    def best(self, launch: Callable[[], None]) -> float:
        """Seconds of the quickest of several launches."""
        driver, times = self.device.driver, []
        for _ in range(LAUNCHES):
            start, end = driver.Event(), driver.Event()
            start.record()
            launch()
            end.record()
            end.synchronize()
            times.append(1e-3 * start.time_till(end))
        return max(min(times), 1e-9)

    def fma(self) -> float:
        """FLOP a second: 8 independent chains a thread, and as many threads as fit."""
        n, blocks = 100_000 // self.scale, 8 * self.spec.sms
        run = self.kernels["fma_rate"]
        seconds = self.best(lambda: run(self.out, np.int32(n), block=(THREADS, 1, 1), grid=(blocks, 1)))
        return 2.0 * 8 * n * THREADS * blocks / seconds

    def mma(self) -> float:
        """FLOP a second of `mma.sync`, FP16 factors and FP32 sums; on Hopper `wgmma` has more."""
        n, blocks = 20_000 // self.scale, 8 * self.spec.sms
        run = self.kernels["mma_rate"]
        seconds = self.best(lambda: run(self.out, np.int32(n), block=(THREADS, 1, 1), grid=(blocks, 1)))
        return 2.0 * 16 * 8 * 16 * 8 * n * (THREADS // 32) * blocks / seconds

    def shared(self) -> float:
        """Bytes a second."""
        n, blocks = 80_000 // self.scale // 8 * 8, 8 * self.spec.sms
        run = self.kernels["shared_rate"]
        seconds = self.best(lambda: run(self.out, np.int32(n), block=(THREADS, 1, 1), grid=(blocks, 1)))
        return 16.0 * n * THREADS * blocks / seconds

    def l2(self, megabytes: int) -> float:
        """Bytes a second of an array that stays in the L2 cache."""
        n, times = (megabytes << 20) // 16 // self.scale, max(400 // self.scale, 1)
        return 16.0 * n * times / self._read(n, times)

    def dram(self) -> float:
        """Bytes a second of an array that does not."""
        return self.large / self._read(self.large // 16, 1)

    def _read(self, n: int, times: int) -> float:
        blocks, run = 8 * self.spec.sms, self.kernels["read_rate"]
        return self.best(
            lambda: run(
                self.out, self.source, np.int64(n), np.int32(times), block=(THREADS, 1, 1), grid=(blocks, 1)
            )
        )

    def copy(self) -> float:
        """Bytes read plus bytes written, a second."""
        n, run = self.large // 16, self.kernels["copy_rate"]
        grid = (-(-n // THREADS), 1)
        seconds = self.best(
            lambda: run(self.target, self.source, np.int64(n), block=(THREADS, 1, 1), grid=grid)
        )
        return 2.0 * self.large / seconds

    def updates(self, words: int) -> float:
        """Atomics a second on so many words."""
        times, blocks, run = max(8 // self.scale, 1), 32 * self.spec.sms, self.kernels["update_rate"]
        seconds = self.best(
            lambda: run(
                self.target, np.int32(words), np.int32(times), block=(THREADS, 1, 1), grid=(blocks, 1)
            )
        )
        return float(times * THREADS * blocks / seconds)

    def swaps(self, blocks: int, threads: int) -> float:
        """Compare-and-swaps a second in shared memory: a warp's lanes add to one word, a turn for each."""
        times, run = max(1_000 // self.scale, 1), self.kernels["swap_rate"]
        seconds = self.best(lambda: run(self.out, np.int32(times), block=(threads, 1, 1), grid=(blocks, 1)))
        return float(times * threads * blocks / seconds)

    def latency(self, kernel: str, bytes_: int, warm: bool) -> float:
        """Clocks of a load, among lines of so many bytes; `warm`: each of them was loaded before."""
        driver, lines = self.device.driver, max(bytes_ // self.scale // LINE, 2)
        order = np.random.default_rng(1).permutation(lines).astype(np.uint32)
        words = LINE // order.itemsize
        following = np.zeros((lines, words), np.uint32)
        following[order, 0] = np.roll(order, -1) * words  # one cycle through all of them
        driver.memcpy_htod(self.source, following)
        driver.memset_d8(self.target, 0, self.large)  # takes the place of what the copy left in L2
        steps, clocks = min(lines, max(20_000 // self.scale, 1)), np.zeros(2, np.int64)
        before = lines if warm else steps // 10
        self.kernels[kernel](
            self.source, np.int32(before), np.int32(steps), self.out, block=(1, 1, 1), grid=(1, 1)
        )
        driver.memcpy_dtoh(clocks, self.out)
        return float(clocks[0] / steps)


def prepared(device: Cuda, scale: int) -> Bench:
    """The kernels compiled and loaded, the arrays allocated and zeroed."""
    names = (
        "fma_rate",
        "mma_rate",
        "shared_rate",
        "read_rate",
        "copy_rate",
        "update_rate",
        "swap_rate",
        "chase<true>",
        "chase<false>",
    )
    build = compiler.compile_source(KERNELS, file=Path("roofs.cu"), kernels=names, arch=device.arch)
    module = device.driver.module_from_buffer(build.image("pycuda" if device.kind == "gpu" else "emulator"))
    spec, large = board(device.name, device.arch), (4 << 30) // scale
    source, target = device.driver.mem_alloc(large), device.driver.mem_alloc(large)
    device.driver.memset_d8(source, 0, large)
    out = device.driver.mem_alloc(4 * THREADS * 8 * spec.sms)
    kernels = {name: module.get_function(build.lowered[name]) for name in names}
    return Bench(device, spec, kernels, out, source, target, large, scale)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="auto", choices=("auto", "pycuda", "emulator"))
    parser.add_argument("--scale", type=int, default=1, metavar="N")
    options = parser.parse_args()
    bench = prepared(cuda.select(options.device), options.scale)
    known = roofs(bench.spec)
    print(f"{bench.device.name} ({bench.device.kind}), held against {bench.spec.name} of devices.toml")
    for what, rate, assumed, unit in (
        ("multiply-adds from registers", bench.fma(), known.fma, "FLOP/s"),
        ("mma.sync from registers, FP16", bench.mma(), bench.spec.mma_flop, "FLOP/s"),
        ("shared memory, float4", bench.shared(), known.shared, "B/s"),
        *((f"L2, {size} MB read", bench.l2(size), known.l2, "B/s") for size in (4, 8, 16, 24, 32, 40)),
        ("DRAM, read", bench.dram(), known.dram, "B/s"),
        ("DRAM, copy", bench.copy(), bench.spec.dram_copy, "B/s"),
        ("L2, atomics in whole sectors", 4 * bench.updates(1 << 20), bench.spec.l2_atomics, "B/s"),
        (
            "L2, atomics on one word",
            4 * bench.updates(1),
            4 * bench.spec.clock_hz / bench.spec.atomic_clocks,
            "B/s",
        ),
        (
            "shared memory, float atomics",
            4 * bench.swaps(2 * bench.spec.sms, 1024),
            4 * bench.spec.sms * bench.spec.clock_hz / bench.spec.shared_cas_clocks,
            "B/s",
        ),
    ):
        print(
            f"{what:30} {units.rate(rate, unit):>14}   devices.toml {units.rate(assumed, unit):>14}   "
            f"× {rate / assumed:.3f}"
        )
    for what, clocks, assumed in (
        (
            "shared memory, swap latency",
            bench.spec.clock_hz / bench.swaps(1, 32),
            bench.spec.shared_cas_latency,
        ),
        ("L1, latency", bench.latency("chase<true>", 64 << 10, warm=True), bench.spec.l1_latency),
        ("L2, latency in 4 MB", bench.latency("chase<false>", 4 << 20, warm=True), bench.spec.l2_latency),
        (
            "DRAM, latency in 1 GB",
            bench.latency("chase<false>", 1 << 30, warm=False),
            bench.spec.dram_latency,
        ),
    ):
        print(
            f"{what:30} {clocks:>7.0f} clocks   devices.toml {assumed:>7.0f} clocks   × {clocks / assumed:.3f}"
        )


if __name__ == "__main__":
    main()
