// B is transposed into scratch memory, and then each warp computes an element as a dot product of
// two rows.
//
// /// launch
// [[scratch]]
// name = "turned"
// dtype = "float32"
// shape = ["N", "K"]
//
// [[launch]]
// kernel = "turn"
// args = ["B", "turned", "K", "N"]
// grid = ["cdiv(N, 32) * cdiv(K, 32)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "gemm"
// args = ["A", "turned", "C", "M", "N", "K"]
// grid = ["cdiv(M * N, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void turn(const float* B, float* turned, int K, int N)
{
    __shared__ float tile[32][33];
    const int across = (N + 31) / 32, top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < K && left + threadIdx.x < N)
            tile[y][threadIdx.x] = B[size_t(top + y) * N + left + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < N && top + threadIdx.x < K)
            turned[size_t(left + y) * K + top + threadIdx.x] = tile[threadIdx.x][y];
}

extern "C" __global__ void gemm(const float* A, const float* turned, float* C, int M, int N, int K)
{
    const size_t element = size_t(blockIdx.x) * 8 + threadIdx.y;
    if (element >= size_t(M) * N) return;
    const float* const a = A + element / N * K;
    const float* const b = turned + element % N * K;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += 32) sum += a[k] * b[k];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x == 0) C[element] = sum;
}
