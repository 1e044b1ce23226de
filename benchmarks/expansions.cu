// Clocks that a multiprocessor takes for a warp's PTX instruction which is many machine instructions, or waits: fences,
// divisions and roots, atomics of lanes on one word, copies of cp.async by the banks that they write.
//
//     nvcc -O3 -arch=sm_90 -std=c++17 -o expansions benchmarks/expansions.cu && ./expansions
//
// A block on each multiprocessor; of a warp each instruction waits for the one before. With few warps the clocks are
// its latency, with 64 the multiprocessor's throughput.
#include <cstdio>
#include <cstdlib>
constexpr int TIMES = 128;
template <class Step> __global__ void probe(long long *clocks, double *out, Step step)
{
    __syncthreads();
    const long long start = clock64();
    double value = threadIdx.x + 1.5;
    #pragma unroll 4
    for (int i = 0; i < TIMES; i++) value = step(value, i);
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *clocks = clock64() - start;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
// Of one kernel with blocks of 32 and of 1024 threads, two a multiprocessor: clocks a warp instruction.
template <class Step> void run(const char *name, Step step)
{
    static long long *clocks;
    static double *out;
    if (!clocks) cudaMallocManaged(&clocks, 8), cudaMalloc(&out, 8 << 20);
    printf("%-34s", name);
    const int threads[] = {32, 1024, 1024}, blocks[] = {1, 132, 264};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) probe<<<blocks[i], threads[i]>>>(clocks, out, step);
        if (cudaDeviceSynchronize() != cudaSuccess) printf(" %s", cudaGetErrorString(cudaGetLastError())), exit(1);
        const int warps = threads[i] / 32 * (blocks[i] == 264 ? 2 : 1);
        printf("  %8.1f latency %8.1f throughput;", double(*clocks) / TIMES, double(*clocks) / TIMES / warps);
    }
    printf("\n");
}
int main()
{
    float *words;
    cudaMalloc(&words, 256 << 20);
    cudaMemset(words, 0, 256 << 20);
    auto own = [=] __device__ { return words + (blockIdx.x * blockDim.x + threadIdx.x) * 8; };
    auto row = [=] __device__ { return words + (blockIdx.x * 32 + threadIdx.x / 32) * 64; };
    run("loop", [=] __device__ (double v, int) { asm volatile("" : "+d"(v)); return v; });
    run("membar.cta", [=] __device__ (double v, int) { __threadfence_block(); return v; });
    run("membar.gl", [=] __device__ (double v, int) { __threadfence(); return v; });
    run("membar.sys", [=] __device__ (double v, int) { __threadfence_system(); return v; });
    run("store, membar.gl", [=] __device__ (double v, int) { *(volatile float *)own() = 1; __threadfence(); return v; });
    run("store, membar.sys", [=] __device__ (double v, int) { *(volatile float *)own() = 1; __threadfence_system(); return v; });
    run("fence.acq_rel.gpu", [=] __device__ (double v, int) { asm volatile("fence.acq_rel.gpu;" ::: "memory"); return v; });
    run("add.f64", [=] __device__ (double v, int) { return v + 0.37; });
    run("fma.f64", [=] __device__ (double v, int) { return fma(v, 0.99, 0.37); });
    run("div.rn.f64", [=] __device__ (double v, int) { return 3.0 / v + 1.5; });
    run("rcp.rn.f64", [=] __device__ (double v, int) { return 1.0 / v + 1.5; });
    run("sqrt.rn.f64", [=] __device__ (double v, int) { return sqrt(v) + 1.5; });
    run("rsqrt.f64", [=] __device__ (double v, int) { return rsqrt(v) + 1.5; });
    run("div.rn.f32", [=] __device__ (double v, int) { return __int_as_float(__double2loint(v)) / 0.7f; });
    run("rem.u64", [=] __device__ (double v, int i) { return __longlong_as_double(0x7123456789abcdefull % (__double_as_longlong(v) + 77 + i)); });
    run("div.u64", [=] __device__ (double v, int i) { return __longlong_as_double(0x7123456789abcdefull / (unsigned long long)(__double_as_longlong(v) >> 40 | 1)); });
    run("div.s64", [=] __device__ (double v, int i) { return __longlong_as_double(0x7123456789abcdefll / (__double_as_longlong(v) >> 40 | 1)); });
    run("div.s64, narrow", [=] __device__ (double v, int i) { return __longlong_as_double((__double_as_longlong(v) & 0xffff) / (threadIdx.x + 1ll)); });
    run("rem.u32", [=] __device__ (double v, int i) { return __longlong_as_double(0x71234567u % (unsigned(__double2loint(v)) + 77 + i)); });
    run("rem.s32", [=] __device__ (double v, int i) { return __longlong_as_double(0x71234567 % (__double2loint(v) + 77 + i)); });
    run("red.f32, a word a lane", [=] __device__ (double v, int) { atomicAdd(own(), 1.5f); return v; });
    run("red.f32, a word a warp", [=] __device__ (double v, int) { atomicAdd(row(), float(threadIdx.x)); return v; });
    run("red.u32, a word a warp", [=] __device__ (double v, int) { atomicAdd((unsigned *)row(), threadIdx.x); return v; });
    run("red.u32 by 1, a word a warp", [=] __device__ (double v, int) { atomicAdd((unsigned *)row(), 1u); return v; });
    run("red.u64, a word a warp", [=] __device__ (double v, int) { atomicAdd((unsigned long long *)row(), threadIdx.x); return v; });
    run("red.max.s32, a word a warp", [=] __device__ (double v, int) { atomicMax((int *)row(), threadIdx.x); return v; });
    run("atom.u32, a word a warp", [=] __device__ (double v, int) { return v + atomicAdd((unsigned *)row(), threadIdx.x); });
    run("atom.cas, a word a warp", [=] __device__ (double v, int) { return v + atomicCAS((unsigned *)row(), 7u, threadIdx.x); });
    run("red.f32, one word in all", [=] __device__ (double v, int) { atomicAdd(words, float(threadIdx.x)); return v; });
#define COPY(name, kind, bytes, place) \
    run(name, [=] __device__ (double v, int) { \
        __shared__ __align__(16) char tile[32 << 10]; \
        const unsigned at = __cvta_generic_to_shared(tile) + (place); \
        asm volatile("cp.async." kind ".shared.global [%0], [%1], " bytes ";\n cp.async.wait_all;" ::"r"(at), "l"(words + threadIdx.x * 4) : "memory"); \
        return v; });
    COPY("cp.async 4, neighbours", "ca", "4", threadIdx.x % 32 * 4)
    COPY("cp.async 4, one bank", "ca", "4", threadIdx.x % 32 * 128)
    COPY("cp.async 4, two lanes a bank", "ca", "4", threadIdx.x % 32 * 8)
    COPY("cp.async 16, neighbours", "cg", "16", threadIdx.x % 32 * 16)
    COPY("cp.async 16, rows of 128 bytes", "cg", "16", threadIdx.x % 32 * 128)
    COPY("cp.async 16, rows of 32 bytes", "cg", "16", threadIdx.x % 32 * 32)
}
