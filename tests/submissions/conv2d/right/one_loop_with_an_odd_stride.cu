// One loop over all elements of y, as a single index of 64 bits, with blocks of 96 threads and an odd number of blocks,
// so that neither is a power of two; the filter is walked backwards, and edges are clipped before the loops.
//
// /// launch
// [[launch]]
// kernel = "conv2d"
// grid = ["min(cdiv(N * K * P * Q, 96), 2031151)"]
// block = [96]
// ///

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                  int S, int stride, int pad)
{
    const int P = (H + 2 * pad - R) / stride + 1, Q = (W + 2 * pad - S) / stride + 1;
    const long long all = (long long)N * K * P * Q;
    for (long long i = blockIdx.x * 96ll + threadIdx.x; i < all; i += gridDim.x * 96ll) {
        long long rest = i;
        const int q = rest % Q; rest /= Q;
        const int p = rest % P; rest /= P;
        const int k = rest % K;
        const long long n = rest / K;
        const int top = p * stride - pad, left = q * stride - pad;
        const int r0 = max(0, -top), r1 = min(R, H - top), s0 = max(0, -left), s1 = min(S, W - left);
        float sum = 0.0f;
        for (int c = C; c-- > 0;)
            for (int r = r1; r-- > r0;)
                for (int s = s1; s-- > s0;)
                    sum += x[((n * C + c) * H + top + r) * W + left + s] * w[(((long long)k * C + c) * R + r) * S + s];
        y[i] = sum;
    }
}
