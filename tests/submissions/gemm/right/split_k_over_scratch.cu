// Two launches: parts of the products by quarters of K into scratch memory, then their sum.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = [4, "M", "N"]
//
// [[launch]]
// kernel = "quarters"
// args = ["A", "B", "parts", "M", "N", "K"]
// grid = ["cdiv(M, 8) * cdiv(N, 32)", 1, 4]
// block = [32, 8]
//
// [[launch]]
// kernel = "add_up"
// args = ["parts", "C", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void quarters(const float* A, const float* B, float* parts, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const int quarter = (K + 3) / 4, begin = blockIdx.z * quarter, end = min(K, begin + quarter);
    float sum = 0.0f;
    for (int k = begin; k < end; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + column];
    parts[(size_t(blockIdx.z) * M + row) * N + column] = sum;
}

extern "C" __global__ void add_up(const float* parts, float* C, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x, count = size_t(M) * N;
    if (i < count) C[i] = (parts[i] + parts[count + i]) + (parts[2 * count + i] + parts[3 * count + i]);
}
