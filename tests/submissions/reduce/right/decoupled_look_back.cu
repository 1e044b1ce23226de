// As a scan with decoupled look-back does it (Merrill and Garland): a block publishes its own sum,
// walks back over what its predecessors have published, and stops at the first that knows its
// whole prefix. Sum and state travel in one 64-bit word, written and read whole.
//
// /// launch
// [[scratch]]
// name = "states"
// dtype = "int64"
// shape = ["cdiv(N, 512)"]
//
// [[scratch]]
// name = "next"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "out", "states", "next", "N"]
// grid = ["cdiv(N, 512)"]
// block = [128]
// zero = ["states", "next"]
// ///

using Word = unsigned long long;
enum { UNKNOWN, OWN, PREFIX };

__device__ Word pack(float sum, unsigned state) { return Word(state) << 32 | __float_as_uint(sum); }

extern "C" __global__ void reduce(const float* in, float* out, Word* states, unsigned* next, int N)
{
    __shared__ float sums[4];
    __shared__ unsigned number;
    const int t = threadIdx.x;
    if (t == 0) number = atomicAdd(next, 1u);
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) {
        const size_t place = size_t(number) * 512 + 128 * i + t;
        if (place < N) sum += in[place];
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();
    if (t != 0) return;
    float total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    atomicExch(&states[number], pack(total, number == 0 ? PREFIX : OWN));
    for (int before = int(number) - 1; before >= 0;) {
        const Word word = atomicAdd(&states[before], 0ull);
        const unsigned state = unsigned(word >> 32);
        if (state == UNKNOWN) continue;
        total += __uint_as_float(unsigned(word));
        if (state == PREFIX) break;
        --before;
    }
    atomicExch(&states[number], pack(total, PREFIX));
    if (number == gridDim.x - 1) *out = total;
}
