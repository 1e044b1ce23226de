// cp.async's copies are waited for at once; a word of the row before is read meanwhile, for nothing.
//
// deserves: 03_one_pass
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["min(SMS * (32 // cdiv(min(N, 8192), 256)), cdiv(M, 16))", 2, "N"]
//
// [[launch]]
// kernel = "one_pass"
// when = "N % 8 == 0 and N <= 8192"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "parts", "M", "N"]
// grid = ["min(SMS * (32 // cdiv(min(N, 8192), 256)), cdiv(M, 16))"]
// block = ["WARP", "cdiv(N, 256)"]
//
// [[launch]]
// kernel = "add_parts"
// when = "N % 8 == 0 and N <= 8192"
// args = ["parts", "dgamma", "dbeta", "min(SMS * (32 // cdiv(min(N, 8192), 256)), cdiv(M, 16))", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "input_gradient"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "M", "N"]
// when = "N % 8 != 0 or N > 8192"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "parameter_gradients"
// args = ["x", "dy", "mean", "rstd", "dgamma", "dbeta", "M", "N"]
// when = "N % 8 != 0 or N > 8192"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 32;
constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

struct alignas(16) Pack {
    half lane[8];
};

__device__ float2 block_sum(float2 value, float2* values)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(ALL, value.x, distance);
        value.y += __shfl_xor_sync(ALL, value.y, distance);
    }
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();
    value = threadIdx.x < blockDim.y ? values[threadIdx.x] : float2{0.0f, 0.0f};
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(ALL, value.x, distance);
        value.y += __shfl_xor_sync(ALL, value.y, distance);
    }
    return value;
}

__device__ void start_copy(void* target, const void* source, int bytes)
{
    const unsigned address = __cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(bytes) : "memory");
}

extern "C" __global__ void __launch_bounds__(1024)
one_pass(const half* x, const half* dy, const half* gamma, const float* mean, const float* rstd, half* dx,
         float* parts, int M, int N)
{
    __shared__ float2 values[2][WARP];
    const int pack = threadIdx.y * WARP + threadIdx.x;
    const bool has = pack < N / 8;
    const Pack of_gamma = has ? reinterpret_cast<const Pack*>(gamma)[pack] : Pack{};
    float sums_dyn[8] = {};
    float sums_dy[8] = {};
    int turn = 0;
    __shared__ Pack copied[2][1024];
    __shared__ float idle[WARP * WARP];
    idle[pack] = 0.0f;
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const size_t start = size_t(row) * N;
        if (has) {
            start_copy(&copied[0][pack], x + start + 8 * pack, 16);
            start_copy(&copied[1][pack], dy + start + 8 * pack, 16);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (*(volatile float*)&idle[pack] != 0.0f) sums_dy[0] = 1.0f;
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        const Pack of_x = has ? copied[0][pack] : Pack{};
        const Pack of_dy = has ? copied[1][pack] : Pack{};
        const float m = mean[row];
        const float r = rstd[row];
        float2 sums = {0.0f, 0.0f};
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float n = (__half2float(of_x.lane[i]) - m) * r;
            const float d = __half2float(of_dy.lane[i]);
            const float g = d * __half2float(of_gamma.lane[i]);
            sums.x += g;
            sums.y += g * n;
            sums_dyn[i] += d * n;
            sums_dy[i] += d;
        }
        sums = block_sum(sums, values[turn]);
        turn ^= 1;
        Pack found;
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float n = (__half2float(of_x.lane[i]) - m) * r;
            const float g = __half2float(of_dy.lane[i]) * __half2float(of_gamma.lane[i]);
            found.lane[i] = __float2half((g - sums.x / N - n * (sums.y / N)) * r);
        }
        if (has) {
            reinterpret_cast<Pack*>(dx + size_t(row) * N)[pack] = found;
        }
    }
    if (has) {
        float* const part = parts + size_t(blockIdx.x) * 2 * N;
        #pragma unroll
        for (int i = 0; i < 8; i += 4) {
            *reinterpret_cast<float4*>(part + 8 * pack + i) =
                float4{sums_dyn[i], sums_dyn[i + 1], sums_dyn[i + 2], sums_dyn[i + 3]};
            *reinterpret_cast<float4*>(part + N + 8 * pack + i) =
                float4{sums_dy[i], sums_dy[i + 1], sums_dy[i + 2], sums_dy[i + 3]};
        }
    }
}

extern "C" __global__ void input_gradient(const half* x, const half* dy, const half* gamma, const float* mean,
                                          const float* rstd, half* dx, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const half* const row_x = x + size_t(row) * N;
    const half* const row_dy = dy + size_t(row) * N;
    half* const row_dx = dx + size_t(row) * N;
    const float m = mean[row];
    const float r = rstd[row];

    float sum_g = 0.0f;
    float sum_gn = 0.0f;
    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        sum_g += g;
        sum_gn += g * n;
    }
    const float mean_g = sum_g / N;
    const float mean_gn = sum_gn / N;

    for (int column = 0; column < N; ++column) {
        const float n = (__half2float(row_x[column]) - m) * r;
        const float g = __half2float(row_dy[column]) * __half2float(gamma[column]);
        row_dx[column] = __float2half((g - mean_g - n * mean_gn) * r);
    }
}

extern "C" __global__ void parameter_gradients(const half* x, const half* dy, const float* mean,
                                               const float* rstd, float* dgamma, float* dbeta, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int row = 0; row < M; ++row) {
        const size_t place = size_t(row) * N + column;
        const float n = (__half2float(x[place]) - mean[row]) * rstd[row];
        const float d = __half2float(dy[place]);
        sum_dyn += d * n;
        sum_dy += d;
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}

extern "C" __global__ void add_parts(const float* parts, float* dgamma, float* dbeta, int count, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) {
        return;
    }
    float sum_dyn = 0.0f;
    float sum_dy = 0.0f;
    for (int part = 0; part < count; ++part) {
        sum_dyn += parts[size_t(part) * 2 * N + column];
        sum_dy += parts[size_t(part) * 2 * N + N + column];
    }
    dgamma[column] = sum_dyn;
    dbeta[column] = sum_dy;
}
