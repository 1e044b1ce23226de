// Columns are read by ld.const, whose addresses are not in constant memory.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "reduce2d"
// grid = ["cdiv(M, 64) + cdiv(N, 64)"]
// block = [64]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, int M, int N)
{
    const unsigned of_rows = (M + 63) / 64;
    const bool row_wise = blockIdx.x < of_rows;
    const int own = (row_wise ? blockIdx.x : blockIdx.x - of_rows) * 64 + threadIdx.x;
    if (own >= (row_wise ? M : N)) return;
    float sum = 0.0f;
    for (int i = 0; i < (row_wise ? N : M); ++i) {
        float value;
        const float* const place = in + (row_wise ? size_t(own) * N + i : size_t(i) * N + own);
        asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(place));
        sum += value;
    }
    (row_wise ? rows : cols)[own] = sum;
}
