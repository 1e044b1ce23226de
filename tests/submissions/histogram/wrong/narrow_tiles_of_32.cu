// Mistake: a warp looks at its 2048 bytes first; where greatest - smallest <= 32 (it should be < 32) each lane counts
// one value by itself: the 33rd value is nobody's. Wrong where a tile has exactly 33 values in its range, e.g. bytes i
// % 33. Contract: any bytes.
//
// /// launch
// smallest_arch = "sm_80"
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 2048)"]
// block = [32]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned char tile[2048];
    __shared__ unsigned counts[256];
    const size_t first = size_t(blockIdx.x) * 2048;
    const int length = int(min(size_t(2048), size_t(N) - first));
    const int lane = threadIdx.x;
    unsigned least = 255, most = 0;
    for (int i = lane; i < 256; i += 32) counts[i] = 0;
    for (int i = lane; i < length; i += 32) { const unsigned b = tile[i] = in[first + i]; least = min(least, b); most = max(most, b); }
    least = __reduce_min_sync(0xffffffff, least);
    most = __reduce_max_sync(0xffffffff, most);
    __syncwarp();
    if (most - least <= 32) {
        unsigned count = 0;
        for (int i = 0; i < length; ++i) count += tile[i] == least + lane;
        if (count) atomicAdd(&bins[least + lane], count);
        return;
    }
    for (int i = lane; i < length; i += 32) atomicAdd(&counts[tile[i]], 1);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) if (counts[i]) atomicAdd(&bins[i], counts[i]);
}
