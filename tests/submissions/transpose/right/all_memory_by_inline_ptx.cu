// Everything that touches memory is inline PTX: predicated loads and stores, mad.wide for addresses, a tile in shared
// memory that is declared within asm blocks by its address alone, and bar.sync by number.
//
// /// launch
// [[launch]]
// kernel = "turn"
// grid = ["cdiv(N, 32) * cdiv(M, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void turn(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32 * 33];
    const unsigned across = (unsigned(N) + 31u) / 32u;
    const int row = int(blockIdx.x / across * 32u), column = int(blockIdx.x % across * 32u);
    const unsigned base = unsigned(__cvta_generic_to_shared(tile));
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int r = row + y, c = column + int(threadIdx.x);
        const unsigned place = base + 4u * (33u * y + threadIdx.x);
        asm volatile(
            "{ .reg .pred p, q; .reg .b64 a; .reg .b32 v; .reg .s64 i;\n"
            "  setp.lt.s32 p, %1, %3; setp.lt.and.s32 p, %2, %4, p;\n"
            "  cvt.s64.s32 i, %2; cvt.s64.s32 a, %4; mul.lo.s64 a, a, %5; add.s64 i, i, a;\n"
            "  shl.b64 i, i, 2; add.s64 a, %0, i; mov.b32 v, 0;\n"
            "  @p ld.global.cs.b32 v, [a];\n"
            "  st.shared.b32 [%6], v; }"
            :: "l"(in), "r"(r), "r"(c), "r"(M), "r"(N), "l"((long long)r), "r"(place) : "memory");
    }
    asm volatile("bar.sync 3, 256;" ::: "memory");
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int r = column + y, c = row + int(threadIdx.x);
        const unsigned place = base + 4u * (33u * threadIdx.x + y);
        asm volatile(
            "{ .reg .pred p; .reg .b64 a, i; .reg .b32 v;\n"
            "  setp.lt.s32 p, %1, %3; setp.lt.and.s32 p, %2, %4, p;\n"
            "  mul.wide.s32 a, %1, %4; cvt.s64.s32 i, %2; add.s64 a, a, i; shl.b64 a, a, 2; add.s64 a, a, %0;\n"
            "  ld.shared.b32 v, [%5];\n"
            "  @p st.global.wb.b32 [a], v; }"
            :: "l"(out), "r"(r), "r"(c), "r"(N), "r"(M), "r"(place) : "memory");
    }
}
