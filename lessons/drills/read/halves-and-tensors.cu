extern "C" __global__ void product(const uint4* __restrict__ in, float* c)
{
    __shared__ __align__(16) uint4 tile[64];
    const int t = threadIdx.x;
    tile[t] = in[t];
    tile[t + 32] = in[t + 32];
    __syncthreads();
    const unsigned place = __cvta_generic_to_shared(&tile[t]);
    unsigned a[4], b[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(place));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(place + 512));
    float d[8] = {};
    for (int j = 0; j < 2; ++j) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[4 * j]), "+f"(d[4 * j + 1]), "+f"(d[4 * j + 2]), "+f"(d[4 * j + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
    }
    for (int j = 0; j < 8; ++j) {
        c[j * 32 + t] = d[j];
    }
}
