// A stand-in for any kernel that reads an array and writes another: R rounds of two multiply-adds an
// element. R sets how long it takes and nothing else, so that copies and kernel can be made equally
// long: that is where overlapping them buys most.
//
// A round is y = 2x + 1, x = y/2 + 1/2. Both are exact for small whole numbers, and add 1: after R
// rounds an element that was in[i] is in[i] + R. An element that was never copied, or copied too
// late, shows.
//
// /// launch
// [[launch]]
// kernel = "process"
// grid = ["cdiv(N, THREADS)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 256;  // in a block; a thread takes one element

// in and out are N elements on the device, which may be a part of a larger array.
extern "C" __global__ void process(const float* __restrict__ in, float* __restrict__ out, int N, int R)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= N) return;
    float x = in[i];
#pragma unroll 8
    for (int round = 0; round < R; ++round) {
        const float y = fmaf(x, 2.0f, 1.0f);
        x = fmaf(y, 0.5f, 0.5f);
    }
    out[i] = x;
}
