// Clocks of a multiprocessor's L1 that a load of a warp takes, by how its lanes' addresses lie. All data is in L1.
//
//     nvcc -O3 -arch=sm_90 -std=c++17 -o l1 benchmarks/l1.cu && ./l1
//     ncu --metrics l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum,l1tex__data_pipe_lsu_wavefronts.sum ./l1
//
// On an H100 a load takes as long as the longer of two: its lines of 128 bytes (set accesses), of which four are looked
// up a clock, and the wavefronts of L1's data, which are the most distinct words in one of 32 banks, as in shared memory.
// Neighbours that are not aligned take no more than aligned ones; eight rows of four floats take 8 clocks where the rows
// begin in the same bank, and 2 where they begin four banks apart.
#include <cstdio>
#include <cstdlib>
template <class T> __global__ void probe(const T *in, const int *at, long long *clocks, T *out)
{
    const int lane = threadIdx.x % 32;
    int i = at[lane];
    T sum{};
    for (int k = 0; k < 2; k++) {
        __syncthreads();
        const long long start = clock64();
        #pragma unroll 1
        for (int r = 0; r < 256; r++) {
            #pragma unroll
            for (int u = 0; u < 16; u++) {
                const volatile float *p = reinterpret_cast<const volatile float *>(in + i + u * (128 / sizeof(T)));
                if constexpr (sizeof(T) == 4) {
                    float x;
                    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(p));
                    sum += x;
                } else {
                    float4 x;
                    asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(p));
                    sum.x += x.x + x.y + x.z + x.w;
                }
            }
            // The sums are 0, which the compiler does not know: it may move no load out of the loop.
            if constexpr (sizeof(T) == 4)
                i += int(sum);
            else
                i += int(sum.x);
        }
        __syncthreads();
        if (threadIdx.x == 0) *clocks = clock64() - start;
    }
    out[threadIdx.x] = sum;
}
int main()
{
    float *in, *out;
    int *at;
    long long *clocks;
    cudaMalloc(&in, 1 << 22);
    cudaMemset(in, 0, 1 << 22);
    cudaMalloc(&at, 128);
    cudaMalloc(&clocks, 8);
    cudaMalloc(&out, 1024 * sizeof(float4));
    auto run = [&](const char *name, bool wide, auto index) {
        int h[32];
        for (int l = 0; l < 32; l++)
            h[l] = index(l);
        cudaMemcpy(at, h, 128, cudaMemcpyHostToDevice);
        if (wide)
            probe<float4><<<1, 1024>>>((float4 *)in, at, clocks, (float4 *)out);
        else
            probe<float><<<1, 1024>>>(in, at, clocks, out);
        long long c;
        cudaMemcpy(&c, clocks, 8, cudaMemcpyDeviceToHost);
        printf("%-34s %6.2f clocks a request (%s)\n", name, double(c) / (32 * 256 * 16), cudaGetErrorString(cudaGetLastError()));
    };
    srand(1);
    run("aligned", false, [](int l) { return l; });
    run("unaligned by 1", false, [](int l) { return l + 1; });
    run("unaligned by 16", false, [](int l) { return l + 16; });
    run("stride 2 (2 lines)", false, [](int l) { return 2 * l; });
    run("stride 4 (4 lines)", false, [](int l) { return 4 * l; });
    run("stride 8 (8 lines)", false, [](int l) { return 8 * l; });
    run("stride 9 (9 lines, no conflict)", false, [](int l) { return 9 * l; });
    run("stride 32 (32 lines, one bank)", false, [](int l) { return 32 * l; });
    run("stride 33 (32 lines, no conflict)", false, [](int l) { return 33 * l; });
    run("8 rows of 4, stride 2048", false, [](int l) { return 2048 * (l / 4) + l % 4; });
    run("8 rows of 4, stride 2052 (4 banks on)", false, [](int l) { return 2052 * (l / 4) + l % 4; });
    run("2 rows of 16, stride 2048", false, [](int l) { return 2048 * (l / 16) + l % 16; });
    run("2 rows of 16, stride 2064", false, [](int l) { return 2064 * (l / 16) + l % 16; });
    run("4 rows of 8, stride 2048", false, [](int l) { return 2048 * (l / 8) + l % 8; });
    run("4 rows of 8, stride 2056", false, [](int l) { return 2056 * (l / 8) + l % 8; });
    run("random of 4096", false, [](int) { return rand() % 4096; });
    run("one address", false, [](int) { return 0; });
    run("float4 aligned", true, [](int l) { return l; });
    run("float4 unaligned by 1", true, [](int l) { return l + 1; });
    run("float4 stride 2", true, [](int l) { return 2 * l; });
    run("float4, 4 rows of 8, stride 512", true, [](int l) { return 512 * (l / 8) + l % 8; });
    run("float4, 8 rows of 4, stride 512", true, [](int l) { return 512 * (l / 4) + l % 4; });
    run("float4, 8 rows of 4, stride 516", true, [](int l) { return 516 * (l / 4) + l % 4; });
    run("float4 stride 8 (32 lines)", true, [](int l) { return 8 * l; });
}
