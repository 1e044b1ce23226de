// A warp shares the terms of an output, and adds them up by shuffles.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["cdiv(P * Q, 2)", "K", "N"]
// block = [64]
// ///

// The lanes of a warp share out the channels of an output, and add up by shuffles; taps are bounded, not tested.
extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                  int N, int C, int H, int W, int K, int R, int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const int pixel = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (pixel >= P * Q)
        return;
    const int top = pixel / Q * stride - pad, left = pixel % Q * stride - pad;
    const int r0 = max(0, -top), r1 = min(R, H - top), s0 = max(0, -left), s1 = min(S, W - left);
    const float* image = x + size_t(blockIdx.z) * C * H * W;
    const float* filter = w + size_t(blockIdx.y) * C * R * S;
    float sum = 0;
    for (int c = lane; c < C; c += 32)
        for (int r = r0; r < r1; ++r)
            for (int s = s0; s < s1; ++s)
                sum = fmaf(image[(size_t(c) * H + top + r) * W + left + s], filter[(c * R + r) * S + s], sum);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0)
        y[(size_t(blockIdx.z) * K + blockIdx.y) * P * Q + pixel] = sum;
}
