// A tile without padding whose columns are exchanged by the row's number, behind an operator of a
// struct.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, T) * cdiv(N, T)"]
// block = ["T", 8]
// ///

constexpr int T = 32;

struct Swizzled {
    float places[T * T];
    __device__ float& operator()(int row, int column) { return places[row * T + (column ^ row)]; }
};

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ Swizzled tile;
    const int across = (N + T - 1) / T, top = blockIdx.x / across * T, left = blockIdx.x % across * T;
    for (int y = threadIdx.y; y < T; y += 8)
        if (top + y < M && left + threadIdx.x < N)
            tile(y, threadIdx.x) = in[size_t(top + y) * N + left + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < T; y += 8)
        if (left + y < N && top + threadIdx.x < M)
            out[size_t(left + y) * M + top + threadIdx.x] = tile(threadIdx.x, y);
}
