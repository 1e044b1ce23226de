// Reads an array and keeps nothing of it: as fast as memory can be read. It is timed beside ladders
// whose problem reads much and writes little, as a copy is timed beside the others.
//
// /// launch
// [[launch]]
// kernel = "read"
// grid = ["cdiv(N, TILE)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 512;  // threads of a block
constexpr int LOADS = 8;    // 16-byte packs that a thread has under way
constexpr int TILE = BLOCK * LOADS;  // packs that a block reads
constexpr unsigned NEVER = 0x9e3779b9;

// in: N packs of 16 bytes. out: one int, written where a thread's packs happen to give NEVER. The
// compiler cannot know that this hardly ever happens, and so keeps the loads.
extern "C" __global__ void __launch_bounds__(BLOCK)
read(const int* __restrict__ in, int* __restrict__ out, int N)
{
    const auto packs = reinterpret_cast<const int4*>(in);
    const size_t first = size_t(blockIdx.x) * TILE + threadIdx.x;

    int4 pack[LOADS];
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const size_t place = first + i * BLOCK;
        pack[i] = place < N ? packs[place] : make_int4(0, 0, 0, 0);
    }
    unsigned bits = 0;
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        bits ^= pack[i].x ^ pack[i].y ^ pack[i].z ^ pack[i].w;
    }
    if (bits == NEVER) {
        out[0] = bits;
    }
}
