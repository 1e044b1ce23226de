// For each float4 a lane prefetches four lines to L2, far away and of no use to anybody: many times the traffic of DRAM.
//
// deserves: 01_one_element
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, WIDTH * BLOCK))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;        // threads of a block
constexpr int BLOCKS_PER_SM = 8;  // 2048 threads, as many as a multiprocessor holds
constexpr int UNROLL = 2;         // steps whose reads a thread has under way at a time
constexpr int WIDTH = 4;          // floats in a float4

__device__ float4 add(float4 x, float4 y)
{
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// a, b and c have N elements each; c[i] = a[i] + b[i].
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int N)
{
    // The same arrays, seen as arrays of float4s.
    const float4* const a4 = reinterpret_cast<const float4*>(a);
    const float4* const b4 = reinterpret_cast<const float4*>(b);
    float4* const c4 = reinterpret_cast<float4*>(c);

    const int fours = N / WIDTH;               // whole float4s
    const int stride = gridDim.x * BLOCK;      // threads of the grid
    const int first = blockIdx.x * BLOCK + threadIdx.x;

    int i = first;  // an int is enough: there are at most 2^29 float4s, and a step is small
    for (; i + (UNROLL - 1) * stride < fours; i += UNROLL * stride) {
        float4 sum[UNROLL];
        #pragma unroll
        for (int step = 0; step < UNROLL; ++step) {
            #pragma unroll
            for (int far = 0; far < 4; ++far) {
                const unsigned at = (unsigned(i + step * stride) * 2654435761u + far * 40503u * 4096u) % unsigned(fours);
                asm volatile("prefetch.global.L2 [%0];" :: "l"(a4 + at));
            }
            sum[step] = add(a4[i + step * stride], b4[i + step * stride]);
        }
        #pragma unroll
        for (int step = 0; step < UNROLL; ++step) {
            c4[i + step * stride] = sum[step];
        }
    }
    for (; i < fours; i += stride) {  // fewer than UNROLL steps are left
        c4[i] = add(a4[i], b4[i]);
    }

    // What no float4 holds: at most three elements, for the first threads of the grid.
    if (first < N % WIDTH) {
        const int last = WIDTH * fours + first;
        c[last] = a[last] + b[last];
    }
}
