// Rung 04, but only x comes ahead, in cp.async of 8 bytes, twice as many of them; dy is loaded when it is needed,
// and waited for.
//
// deserves: 03_one_pass
//
// /// launch
// smallest_arch = "sm_80"
//
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["max(2 * EACH * WARP * MOST * SMS, 2 * N * cdiv(M, BAND))"]
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["M", 2]
//
// [[launch]]
// kernel = "rows_ahead"
// when = "N % 8 == 0 and N <= LONG"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "parts", "M", "N"]
// grid = ["min(SMS * (MOST // cdiv(N, WARP * EACH)), cdiv(M, LEAST))"]
// block = ["WARP", "cdiv(N, WARP * EACH)"]
// shared = "STAGES * 2 * 2 * 8 * WARP * cdiv(N, WARP * EACH)"
//
// [[launch]]
// kernel = "one_pass<1, 4>"
// when = "N % 8 != 0 and N <= LONG_BY_ONE"
// args = ["x", "dy", "gamma", "mean", "rstd", "dx", "parts", "M", "N"]
// grid = ["min(SMS * (MOST // cdiv(N, WARP * EACH_BY_ONE)), cdiv(M, LEAST))"]
// block = ["WARP", "cdiv(N, WARP * EACH_BY_ONE)"]
//
// [[launch]]
// kernel = "row_sums<8>"
// when = "N % 8 == 0 and N > LONG"
// args = ["x", "dy", "gamma", "mean", "rstd", "sums", "N"]
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "row_sums<1>"
// when = "N % 8 != 0 and N > LONG_BY_ONE"
// args = ["x", "dy", "gamma", "mean", "rstd", "sums", "N"]
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "bands<8>"
// when = "N % 8 == 0 and N > LONG"
// args = ["x", "dy", "gamma", "mean", "rstd", "sums", "dx", "parts", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, WARP * 8)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "bands<1>"
// when = "N % 8 != 0 and N > LONG_BY_ONE"
// args = ["x", "dy", "gamma", "mean", "rstd", "sums", "dx", "parts", "M", "N"]
// grid = ["cdiv(M, BAND)", "cdiv(N, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "add_parts"
// when = "N % 8 == 0 and N <= LONG"
// args = ["parts", "dgamma", "dbeta", "min(SMS * (MOST // cdiv(N, WARP * EACH)), cdiv(M, LEAST))", "N"]
// grid = ["cdiv(2 * N, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "add_parts"
// when = "N % 8 != 0 and N <= LONG_BY_ONE"
// args = ["parts", "dgamma", "dbeta", "min(SMS * (MOST // cdiv(N, WARP * EACH_BY_ONE)), cdiv(M, LEAST))", "N"]
// grid = ["cdiv(2 * N, WARP)"]
// block = ["WARP", "DOWN"]
//
// [[launch]]
// kernel = "add_parts"
// when = "N > LONG or N % 8 != 0 and N > LONG_BY_ONE"
// args = ["parts", "dgamma", "dbeta", "cdiv(M, BAND)", "N"]
// grid = ["cdiv(2 * N, WARP)"]
// block = ["WARP", "DOWN"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int MOST = 32;           // warps of a multiprocessor: with up to 64 registers a thread it holds
                                   // so many, in one block or in several
constexpr int EACH = 8;            // columns that a thread keeps: 16 bytes of x, of dy and of gamma, and 16 sums
constexpr int EACH_BY_ONE = 4;     // the same where N is no multiple of 8: each element takes a register
constexpr int LONG = 8192;         // the longest row that a block of MOST warps keeps
constexpr int LONG_BY_ONE = 4096;  // the same where N is no multiple of 8
constexpr int STAGES = 3;          // rows that a block has in shared memory: one that it is at, two on their way
constexpr int LEAST = 16;          // rows of a block: with fewer, sums would be a large part of what is moved
constexpr int BAND = 64;           // rows of a block that takes a few columns of long rows
constexpr int DOWN = 8;            // warps that share out the rows of a band, or parts
constexpr int WARPS = 16;          // of a block that adds up a long row

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every thread of the warp gets the sums of all 32 `value`s, x by x and y by y.
__device__ float2 warp_sum(float2 value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value.x += __shfl_xor_sync(ALL, value.x, distance);
        value.y += __shfl_xor_sync(ALL, value.y, distance);
    }
    return value;
}

// The same of a block, with one barrier. `values` has room for a float2 of each warp.
__device__ float2 block_sum(float2 value, float2* values)
{
    value = warp_sum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the sums of all warps are there
    return warp_sum(threadIdx.x < blockDim.y ? values[threadIdx.x] : float2{0.0f, 0.0f});
}

// WIDTH neighbours of a row, read and written as one: 16 bytes if there are 8.
template <int WIDTH>
struct alignas(WIDTH * sizeof(half)) Pack {
    half lane[WIDTH];

    __device__ float operator[](int i) const
    {
        return __half2float(lane[i]);
    }
};

// The same of sums: 32 bytes if there are 8, written as two times 16.
template <int WIDTH>
struct alignas(WIDTH < 4 ? WIDTH * sizeof(float) : 16) Sums {
    float lane[WIDTH];
};

// What the forward pass has saved of a row.
struct Saved {
    float mean;
    float rstd;

    __device__ float normal(float x) const
    {
        return (x - mean) * rstd;
    }
};

// dx of a pack, where `means` are those of g and of g · n over the row.
template <int WIDTH>
__device__ Pack<WIDTH> gradient(Pack<WIDTH> x, Pack<WIDTH> dy, Pack<WIDTH> gamma, Saved saved, float2 means)
{
    Pack<WIDTH> found;
    #pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
        const float n = saved.normal(x[i]);
        found.lane[i] = __float2half((dy[i] * gamma[i] - means.x - n * means.y) * saved.rstd);
    }
    return found;
}

// What a thread has of a row: PACKS packs of x and of dy.
template <int WIDTH, int PACKS>
struct Kept {
    Pack<WIDTH> x[PACKS];
    Pack<WIDTH> dy[PACKS];
    Saved saved;
};

// The matrices as a kernel is given them. A thread's packs lie side by side with those of the block's
// other threads, and are the same in each row.
template <int WIDTH, int PACKS>
struct Rows {
    const half* x;
    const half* dy;
    const float* mean;
    const float* rstd;
    half* dx;
    int N;

    static __device__ int pack(int i)
    {
        return threadIdx.y * WARP + threadIdx.x + i * blockDim.y * WARP;
    }

    __device__ bool has(int i) const
    {
        return pack(i) < N / WIDTH;
    }

    // Zeros where the thread has no pack: they add nothing to any sum.
    __device__ Pack<WIDTH> load(const half* start, int i) const
    {
        return has(i) ? reinterpret_cast<const Pack<WIDTH>*>(start)[pack(i)] : Pack<WIDTH>{};
    }

    __device__ Kept<WIDTH, PACKS> load(int row) const
    {
        Kept<WIDTH, PACKS> kept;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            kept.x[i] = load(x + size_t(row) * N, i);
            kept.dy[i] = load(dy + size_t(row) * N, i);
        }
        kept.saved = {mean[row], rstd[row]};
        return kept;
    }

    __device__ void store(int row, const Kept<WIDTH, PACKS>& kept, const Pack<WIDTH>* gamma, float2 means) const
    {
        const auto row_dx = reinterpret_cast<Pack<WIDTH>*>(dx + size_t(row) * N);
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                row_dx[pack(i)] = gradient(kept.x[i], kept.dy[i], gamma[i], kept.saved, means);
            }
        }
    }
};

// What a thread adds up of its columns, over all rows that the block takes.
template <int WIDTH, int PACKS>
struct Columns {
    Sums<WIDTH> dyn[PACKS] = {};
    Sums<WIDTH> dy[PACKS] = {};

    // Adds a row, and gives the sums of g and of g · n over the thread's part of it.
    __device__ float2 add(const Kept<WIDTH, PACKS>& kept, const Pack<WIDTH>* gamma)
    {
        float2 sums = {0.0f, 0.0f};
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                const float n = kept.saved.normal(kept.x[i][j]);
                const float d = kept.dy[i][j];
                const float g = d * gamma[i][j];
                sums.x += g;
                sums.y += g * n;
                dyn[i].lane[j] += d * n;
                dy[i].lane[j] += d;
            }
        }
        return sums;
    }

    // The block's part of `parts`.
    __device__ void store(float* parts, const Rows<WIDTH, PACKS>& rows) const
    {
        float* const part = parts + size_t(blockIdx.x) * 2 * rows.N;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (rows.has(i)) {
                reinterpret_cast<Sums<WIDTH>*>(part)[rows.pack(i)] = dyn[i];
                reinterpret_cast<Sums<WIDTH>*>(part + rows.N)[rows.pack(i)] = dy[i];
            }
        }
    }
};

// dx from x and dy, which are all M × N, row-major, and of each block's rows the sums of dy · n and of dy in
// each column: parts is blocks × 2 × N. gamma has N elements, mean and rstd have M. N is a multiple of
// WIDTH, and the block's threads have PACKS packs of a row each, or fewer.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * MOST)
one_pass(const half* __restrict__ x, const half* __restrict__ dy, const half* __restrict__ gamma,
         const float* __restrict__ mean, const float* __restrict__ rstd, half* __restrict__ dx,
         float* __restrict__ parts, int M, int N)
{
    __shared__ float2 values[2][MOST];  // two, so that a row's sums are not where the last one's are read
    const Rows<WIDTH, PACKS> rows = {x, dy, mean, rstd, dx, N};
    Pack<WIDTH> of_gamma[PACKS];
    #pragma unroll
    for (int i = 0; i < PACKS; ++i) {
        of_gamma[i] = rows.load(gamma, i);
    }

    const float share = 1.0f / N;  // once: a division is a dozen instructions
    Columns<WIDTH, PACKS> columns;
    int turn = 0;
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        const Kept<WIDTH, PACKS> kept = rows.load(row);
        const float2 sums = block_sum(columns.add(kept, of_gamma), values[turn]);
        turn ^= 1;
        rows.store(row, kept, of_gamma, {sums.x * share, sums.y * share});
    }
    columns.store(parts, rows);
}

// Starts to copy 16 bytes to shared memory.
__device__ void start_copy(void* target, const void* source)
{
    const unsigned address = __cvta_generic_to_shared(target);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(source) : "memory");
}

// Closes a group of copies.
__device__ void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last PENDING groups of this thread have arrived.
template <int PENDING>
__device__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// The same for rows of packs of 8, of which the next STAGES - 1 are on their way to shared memory.
extern "C" __global__ void __launch_bounds__(WARP * MOST)
rows_ahead(const half* __restrict__ x, const half* __restrict__ dy, const half* __restrict__ gamma,
           const float* __restrict__ mean, const float* __restrict__ rstd, half* __restrict__ dx,
           float* __restrict__ parts, int M, int N)
{
    extern __shared__ Pack<8> ring[];  // STAGES × 2 × threads: of each row a pack of x and one of dy a thread
    __shared__ float2 values[2][MOST];
    const Rows<8, 1> rows = {x, dy, mean, rstd, dx, N};
    const bool has = rows.has(0);
    const Pack<8> of_gamma = rows.load(gamma, 0);
    const int threads = blockDim.y * WARP;
    Pack<8>* const first = ring + rows.pack(0);
    Pack<8>* const end = first + STAGES * 2 * threads;

    // What is to be copied next. A group a row, of no copies beyond the last row, so that the number of
    // groups tells which have come.
    int ahead = blockIdx.x;
    const auto start = [&](Pack<8>* place) {
        for (int piece = threadIdx.x; piece < 2 * WARP && ahead < M; piece += WARP) {
            const int column = threadIdx.y * WARP * 8 + piece * 4;
            if (column < N) {
                start_copy(reinterpret_cast<half*>(place - threadIdx.x) + piece * 4, x + size_t(ahead) * N + column);
            }
        }
        close_group();
        ahead += gridDim.x;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        start(first + stage * 2 * threads);
    }

    const float share = 1.0f / N;
    Columns<8, 1> columns;
    int turn = 0;
    Pack<8>* last = end - 2 * threads;  // where the row before this one was, which the thread has read
    Pack<8>* place = first;
    Saved saved = {mean[blockIdx.x], rstd[blockIdx.x]};
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        start(last);
        wait_for_groups<STAGES - 1>();  // this row is there
        __syncwarp();
        Kept<8, 1> kept = {};
        if (has) {
            kept.x[0] = place[0];
            kept.dy[0] = rows.load(dy + size_t(row) * N, 0);
        }
        kept.saved = saved;
        // Those of the next row, which begins with them. After the last row they are loaded once more: a
        // load on a condition may be waited for at once.
        const int next = min(row + int(gridDim.x), M - 1);
        saved = {mean[next], rstd[next]};
        last = place;
        place = place + 2 * threads == end ? first : place + 2 * threads;

        const float2 sums = block_sum(columns.add(kept, &of_gamma), values[turn]);
        turn ^= 1;
        rows.store(row, kept, &of_gamma, {sums.x * share, sums.y * share});
    }
    columns.store(parts, rows);
}

// sums[i] = the sums of g and of g · n over row i: sums is M × 2. A block takes a row, of any length.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
row_sums(const half* __restrict__ x, const half* __restrict__ dy, const half* __restrict__ gamma,
         const float* __restrict__ mean, const float* __restrict__ rstd, float* __restrict__ sums, int N)
{
    using Packs = Pack<WIDTH>;
    __shared__ float2 values[WARPS];
    const Packs* const row_x = reinterpret_cast<const Packs*>(x + size_t(blockIdx.x) * N);
    const Packs* const row_dy = reinterpret_cast<const Packs*>(dy + size_t(blockIdx.x) * N);
    const Saved saved = {mean[blockIdx.x], rstd[blockIdx.x]};

    float2 own = {0.0f, 0.0f};
    for (int pack = threadIdx.y * WARP + threadIdx.x; pack < N / WIDTH; pack += WARP * WARPS) {
        const Packs of_x = row_x[pack];
        const Packs of_dy = row_dy[pack];
        const Packs of_gamma = reinterpret_cast<const Packs*>(gamma)[pack];
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            const float g = of_dy[i] * of_gamma[i];
            own.x += g;
            own.y += g * saved.normal(of_x[i]);
        }
    }
    const float2 all = block_sum(own, values);
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        reinterpret_cast<float2*>(sums)[blockIdx.x] = all;
    }
}

// The same as one_pass, where the sums of rows are known: a block takes WARP packs of columns of a band
// of rows, and its warps share out the rows.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * DOWN)
bands(const half* __restrict__ x, const half* __restrict__ dy, const half* __restrict__ gamma,
         const float* __restrict__ mean, const float* __restrict__ rstd, const float* __restrict__ sums,
         half* __restrict__ dx, float* __restrict__ parts, int M, int N)
{
    using Packs = Pack<WIDTH>;
    __shared__ Sums<WIDTH> of_warps[2][DOWN][WARP];
    const int pack = blockIdx.y * WARP + threadIdx.x;
    const bool has = pack < N / WIDTH;
    const int end = min(int(blockIdx.x + 1) * BAND, M);

    Sums<WIDTH> sums_dyn = {};
    Sums<WIDTH> sums_dy = {};
    if (has) {
        const Packs of_gamma = reinterpret_cast<const Packs*>(gamma)[pack];
        #pragma unroll 2
        for (int row = blockIdx.x * BAND + threadIdx.y; row < end; row += DOWN) {
            const Packs of_x = reinterpret_cast<const Packs*>(x + size_t(row) * N)[pack];
            const Packs of_dy = reinterpret_cast<const Packs*>(dy + size_t(row) * N)[pack];
            const Saved saved = {mean[row], rstd[row]};
            const float2 of_row = reinterpret_cast<const float2*>(sums)[row];
            #pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                sums_dyn.lane[i] += of_dy[i] * saved.normal(of_x[i]);
                sums_dy.lane[i] += of_dy[i];
            }
            reinterpret_cast<Packs*>(dx + size_t(row) * N)[pack] =
                gradient(of_x, of_dy, of_gamma, saved, float2{of_row.x / N, of_row.y / N});
        }
    }
    of_warps[0][threadIdx.y][threadIdx.x] = sums_dyn;
    of_warps[1][threadIdx.y][threadIdx.x] = sums_dy;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y < 2 && has) {  // the first warp adds up those of dy · n, the second those of dy
        Sums<WIDTH> all = {};
        for (int warp = 0; warp < DOWN; ++warp) {
            #pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                all.lane[i] += of_warps[threadIdx.y][warp][threadIdx.x].lane[i];
            }
        }
        float* const part = parts + (size_t(blockIdx.x) * 2 + threadIdx.y) * N;
        reinterpret_cast<Sums<WIDTH>*>(part)[pack] = all;
    }
}

// dgamma and dbeta = the sums of `count` parts. To this kernel, a part is a row of 2 · N columns. A
// block takes WARP of them; each of its DOWN warps adds every DOWN-th part.
extern "C" __global__ void __launch_bounds__(WARP * DOWN)
add_parts(const float* __restrict__ parts, float* __restrict__ dgamma, float* __restrict__ dbeta,
          int count, int N)
{
    __shared__ float sums[DOWN][WARP];
    const int column = blockIdx.x * WARP + threadIdx.x;
    float sum = 0.0f;
    if (column < 2 * N) {
        #pragma unroll 4
        for (int part = threadIdx.y; part < count; part += DOWN) {
            sum += parts[size_t(part) * 2 * N + column];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();  // the sums of all warps are there

    if (threadIdx.y == 0 && column < 2 * N) {
        for (int y = 1; y < DOWN; ++y) {
            sum += sums[y][threadIdx.x];
        }
        (column < N ? dgamma[column] : dbeta[column - N]) = sum;
    }
}
