// Mistake: rows of whole float4s with 1041 to 4096 elements are kept in registers, four packs for each of 256 threads; only the
// fourth has a guard: wrong for N = 2000, whose third pack is behind the row. Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["THREADS"]
// ///
constexpr int THREADS = 256;
__device__ float of_block(float v, float* parts, bool largest)
{
    for (int d = 16; d > 0; d /= 2) {
        const float o = __shfl_xor_sync(0xffffffffu, v, d);
        v = largest ? fmaxf(v, o) : v + o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int w = 1; w < THREADS / 32; ++w) v = largest ? fmaxf(v, parts[w]) : v + parts[w];
    return v;
}
extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float parts[THREADS / 32];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    if (N % 4 == 0 && N > 1040 && N <= 4096) {
        float4 v[4];
        float maximum = -INFINITY, sum = 0.0f;
        for (int p = 0; p < 4; ++p) {
            const int at = 4 * (p * THREADS + threadIdx.x);
            v[p] = p < 3 || at < N ? *reinterpret_cast<const float4*>(x + at)
                                   : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            maximum = fmaxf(maximum, fmaxf(fmaxf(v[p].x, v[p].y), fmaxf(v[p].z, v[p].w)));
        }
        maximum = of_block(maximum, parts, true);
        for (int p = 0; p < 4; ++p) {
            v[p] = make_float4(expf(v[p].x - maximum), expf(v[p].y - maximum), expf(v[p].z - maximum),
                               expf(v[p].w - maximum));
            sum += (v[p].x + v[p].y) + (v[p].z + v[p].w);
        }
        sum = of_block(sum, parts, false);
        for (int p = 0; p < 4; ++p) {
            const int at = 4 * (p * THREADS + threadIdx.x);
            if (at < N)
                *reinterpret_cast<float4*>(y + at) =
                    make_float4(v[p].x / sum, v[p].y / sum, v[p].z / sum, v[p].w / sum);
        }
        return;
    }
    float maximum = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += THREADS) maximum = fmaxf(maximum, x[c]);
    maximum = of_block(maximum, parts, true);
    for (int c = threadIdx.x; c < N; c += THREADS) sum += expf(x[c] - maximum);
    sum = of_block(sum, parts, false);
    for (int c = threadIdx.x; c < N; c += THREADS) y[c] = expf(x[c] - maximum) / sum;
}
