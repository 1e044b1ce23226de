// The halves of a warp take two ways of a branch, and in each the lanes that are there wait for
// each other with a mask of their own.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 16) * cdiv(N, 32)"]
// block = [32]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tiles[2][16][17];
    const int lane = threadIdx.x, half = lane / 16, own = lane % 16, across = (N + 31) / 32;
    const int top = blockIdx.x / across * 16, left = blockIdx.x % across * 32 + half * 16;
    float (*tile)[17] = tiles[half];
    for (int i = 0; i < 16; ++i)
        if (top + i < M && left + own < N) tile[i][own] = in[size_t(top + i) * N + left + own];
    if (half == 0) {
        __syncwarp(0x0000ffffu);
        for (int i = 0; i < 16; ++i)
            if (left + i < N && top + own < M) out[size_t(left + i) * M + top + own] = tile[own][i];
    } else {
        __syncwarp(0xffff0000u);
        for (int i = 15; i >= 0; --i)
            if (left + i < N && top + own < M) out[size_t(left + i) * M + top + own] = tile[own][i];
    }
}
