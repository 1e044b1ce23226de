// Rows are kept in registers, and reduced by trees in shared memory that have eight places for each warp, which
// its 32 threads fill in turn; one shuffle a thread hands round nothing.
//
// deserves: 02_online
//
// /// launch
// [[launch]]
// kernel = "kept"
// when = "N % 4 == 0 and N <= 16384"
// grid = ["M"]
// block = [512]
//
// [[launch]]
// kernel = "read_twice"
// when = "N % 4 != 0 or N > 16384"
// grid = ["M"]
// block = [512]
// ///
constexpr float LOWEST = -3.402823466e38f;

__device__ float both(bool sum, float a, float b) { return sum ? a + b : fmaxf(a, b); }

// A tree of each warp in its eight places, then of the block's 16 warps in the first 16 places.
__device__ float all_of(float value, bool sum, volatile float* places)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    volatile float* const own = places + 8 * warp;
    for (int turn = 3; turn > 0; --turn) {
        if (lane / 8 == turn) own[lane % 8] = value;
        __syncwarp();
        if (lane < 8) value = both(sum, value, own[lane]);
        __syncwarp();
    }
    for (int half = 4; half > 0; half /= 2) {
        if (lane >= half && lane < 2 * half) own[lane - half] = value;
        __syncwarp();
        if (lane < half) value = both(sum, value, own[lane]);
        __syncwarp();
    }
    __syncthreads();
    if (lane == 0) places[warp] = value;
    __syncthreads();
    value = places[0];
    for (int w = 1; w < 16; ++w) value = both(sum, value, places[w]);
    __syncthreads();
    return value;
}

extern "C" __global__ void __launch_bounds__(512) kept(const float* in, float* out, int M, int N)
{
    __shared__ float places[128];
    const float4* const x = reinterpret_cast<const float4*>(in + size_t(blockIdx.x) * N);
    float4* const y = reinterpret_cast<float4*>(out + size_t(blockIdx.x) * N);
    float4 row[8];
    float maximum = LOWEST, sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int place = i * 512 + threadIdx.x;
        row[i] = place < N / 4 ? x[place] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        maximum = fmaxf(maximum, fmaxf(fmaxf(row[i].x, row[i].y), fmaxf(row[i].z, row[i].w)));
    }
    maximum = __shfl_sync(~0u, maximum, threadIdx.x % 32);
    maximum = all_of(maximum, false, places);
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        row[i] = make_float4(expf(row[i].x - maximum), expf(row[i].y - maximum), expf(row[i].z - maximum), expf(row[i].w - maximum));
        sum += (row[i].x + row[i].y) + (row[i].z + row[i].w);
    }
    sum = 1.0f / all_of(sum, true, places);
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int place = i * 512 + threadIdx.x;
        if (place < N / 4) y[place] = make_float4(row[i].x * sum, row[i].y * sum, row[i].z * sum, row[i].w * sum);
    }
}

extern "C" __global__ void read_twice(const float* in, float* out, int M, int N)
{
    __shared__ float places[128];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = LOWEST, sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 512) maximum = fmaxf(maximum, x[i]);
    maximum = all_of(maximum, false, places);
    for (int i = threadIdx.x; i < N; i += 512) sum += expf(x[i] - maximum);
    sum = all_of(sum, true, places);
    for (int i = threadIdx.x; i < N; i += 512) y[i] = expf(x[i] - maximum) / sum;
}
