"""Which slips are looked for in what a kernel computes with, and what is tried in their place."""

from __future__ import annotations

import pytest

from grader.workbook.edit import lines_of
from grader.workbook.slips import edits, guards, numbers, threads

OF_A_TILE_OF_TWO = "__shared__ float tile[BLOCK + 2 * R];\n"
OF_SIZES = f"constexpr int BLOCK = 256;\nconstexpr int R = 8;\n{OF_A_TILE_OF_TWO}"
OF_A_TILE = "__shared__ float part[32], tile[BLOCK + R];\nconst int t = threadIdx.x + R;\n"

OF_BYTES = "__global__ void k(const unsigned char* in, unsigned* bins, int N) {\n"
KERNEL = "__global__ void k(const float* in, float* out, int N) {\n"
OF_C = 'extern "C" __global__ void k(const float* in, float* out, int M, int N) {\n'


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("float b = 0;\nif (threadIdx.y == 0)\n    b = bias[x];\nout[i] = b;",
         "float b = 0;\nb = bias[x];\nout[i] = b;"),
        ("int top = blockIdx.y * blockDim.y + threadIdx.y;\nfor (int j = 0; j < TILE; j += ROWS) { out[top + j] = 1; }",
         "int top = blockIdx.y * TILE + threadIdx.y;\nfor (int j = 0; j < TILE; j += ROWS) { out[top + j] = 1; }"),
        ("float b = 0, c;\nif (threadIdx.x < 1 && !threadIdx.y) { b = s[0]; c = s[1]; }\nout[i] = b + c;",
         "__shared__ float b, c;\nif (threadIdx.x < 1 && !threadIdx.y) { b = s[0]; c = s[1]; } __syncthreads();\n"
         "out[i] = b + c;"),
        ("int t = threadIdx.x;\nint n;\nif (t == 0) n = s[0];\n__syncthreads();\nout[i] = n;",
         "int t = threadIdx.x;\n__shared__ int n;\nif (t == 0) n = s[0];\n__syncthreads();\nout[i] = n;"),
        ("float b = 0;\nif (threadIdx.x == 0) { for (int k = 0; k < 8; ++k) b += s[k]; }\nout[i] = b;",
         "float b = 0;\n{ for (int k = 0; k < 8; ++k) b += s[k]; }\nout[i] = b;"),
        ("#define AT(r, c, n) (r * n + c)\nv = in[AT(y + t, x + t, N)];",
         "#define AT(r, c, n) ((r) * (n) + (c))\nv = in[AT(y + t, x + t, N)];"),
        ("#define LESS(a, b) a - b\nv = LESS(x, y - 1);", "#define LESS(a, b) ((a) - (b))\nv = LESS(x, y - 1);"),
        ("#define IN(r, c) in[r * N + c]\nv = IN(y + t, x);", "#define IN(r, c) in[(r) * N + (c)]\nv = IN(y + t, x);"),
        ("#define ROW(r) r * N\n#define AT(r, c) (ROW(r) + c)\nv = in[AT(y + t, x)];",
         "#define ROW(r) ((r) * N)\n#define AT(r, c) (ROW(r) + c)\nv = in[AT(y + t, x)];"),
        ("#define AT(r, c) (r + c)\nv = in[AT(y + t, x + t)];", None),
        (f"{KERNEL}int i = blockIdx.x * 256 + threadIdx.x;\nif (i < N) {{ *out = *(in + i); }}",
         f"{KERNEL}int i = blockIdx.x * 256 + threadIdx.x;\nif (i < N) {{ out[i] = *(in + i); }}"),
        (f"{KERNEL}int i = threadIdx.x;\nif (i < N) out[i] += 2.0f;",
         f"{KERNEL}int i = threadIdx.x;\nif (i < N) out[i] = in[i] + 2.0f;"),
        ("int to = i + R;\nif (to > N)\n    to = N;\nfor (int j = i; j <= to; ++j) s += in[j];",
         "int to = i + R;\nif (to >= N) to = N - 1;\nfor (int j = i; j <= to; ++j) s += in[j];"),
        ("int to = i + R > N ? N : i + R;\nfor (int j = i; j <= to; ++j) s += in[j];",
         "int to = i + R >= N ? N - 1 : i + R;\nfor (int j = i; j <= to; ++j) s += in[j];"),
        (f"{KERNEL}int i, s;\ni = threadIdx.x;\ns = in[i];\nout[i] = s;",
         f"{KERNEL}int i; float s;\ni = threadIdx.x;\ns = in[i];\nout[i] = s;"),
        ("float s = 0.0f;\nfor (int o = 0; o < 4; ++o) {\n    s += w[o];\n    out[o] = s;\n}",
         "float s = 0.0f;\nfor (int o = 0; o < 4; ++o) { s = 0.0f;\n    s += w[o];\n    out[o] = s;\n}"),
        ("__shared__ float w[32];\nint lane = threadIdx.x % 32;\nv = w[lane];",
         "__shared__ float w[32];\nint lane = threadIdx.x % 32;\nv = lane < blockDim.x / 32 ? w[lane] : 0;"),
        ("int t = threadIdx.x;\nint i = blockIdx.x * B + t;\nif (i < N) {\n    atomicAdd(&bins[t], mine[t]);\n}",
         "int t = threadIdx.x;\nint i = blockIdx.x * B + t;\n{\n    atomicAdd(&bins[t], mine[t]);\n}"),
        ("int i = blockIdx.x * B + threadIdx.x;\nif (i < N) out[i] = s;", None),
        ("out[i] = tile[x ^ (y + k)][y + k];", "out[i] = tile[x][(y + k) ^ x];"),
        ("out[i] = in[i];\nout[i] =+ b;", "out[i] = in[i];\nout[i] += b;"),
        ("out[i] = +b;", None),
        (f"#define AT(r, c) ((r) * M + (c))\n{OF_C}v = in[AT(y, x)];",
         f"#define AT(r, c) ((r) * N + (c))\n{OF_C}v = in[AT(y, x)];"),
        ("#define AT(r, c) (r * N + c)\nv = in[AT(y, (x + t))];", None),
        ("#define AT(r, c) ((r) * N + (c))\nv = in[AT(y + t, x + t)];", None),
        ("#define AT(r, c) at(r, c)\nv = in[AT(y + t, x + t)];", None),
        ("v += __shfl_down_sync(FULL, v, 1);\nif (threadIdx.x == 0)\n    atomicAdd(out, v);",
         "v += __shfl_down_sync(FULL, v, 1);\nif (threadIdx.x % 32 == 0)\n    atomicAdd(out, v);"),
        ("const int t = threadIdx.x;\nv += __shfl_xor_sync(FULL, v, 1);\nif (!t && v != 0) { atomicAdd(&out[0], v); }",
         "const int t = threadIdx.x;\nv += __shfl_xor_sync(FULL, v, 1);\n"
         "if (threadIdx.x % 32 == 0 && v != 0) { atomicAdd(&out[0], v); }"),
        ("v += __shfl_down_sync(FULL, v, 1);\nout[row] = v;", "v += __shfl_xor_sync(FULL, v, 1);\nout[row] = v;"),
        ("int i = threadIdx.x * BLOCK + threadIdx.x;", "int i = blockIdx.x * BLOCK + threadIdx.x;"),
        ("int y = blockIdx.y * TILE + blockIdx.y;", "int y = blockIdx.y * TILE + threadIdx.y;"),
        ("int left = blockIdx.y * T;\nint top = blockIdx.y * T;\nint t = threadIdx.x + threadIdx.y;",
         "int left = blockIdx.x * T;\nint top = blockIdx.y * T;\nint t = threadIdx.x + threadIdx.y;"),
        ("int i = blockIdx.x * B + threadIdx.y;", "int i = blockIdx.x * B + threadIdx.x;"),
        ("int x = threadIdx.y * B + threadIdx.x;", "int x = blockIdx.y * B + threadIdx.x;"),
        ("int step = gridDim.y * B;", "int step = gridDim.x * B;"),
        ("__shared__ float s[8], t[8][8];\nt[threadIdx.y][blockIdx.x] = s[0];",
         "__shared__ float s[8], t[8][8];\nt[threadIdx.y][threadIdx.x] = s[0];"),
        ("for (int j = 1; j < TILE; j += ROWS) s += in[j];", "for (int j = 0; j < TILE; j += ROWS) s += in[j];"),
        ("for (int j = i - R; j <= i; j++) s += in[j];", "for (int j = i - R; j <= i + R; j++) s += in[j];"),
        ("atomicAdd(&bins[in[i]], in[i]);", "atomicAdd(&bins[in[i]], 1);"),
        ("mine[32 * b + lane] += b;", "mine[32 * b + lane] += 1;"),
        ("atomicAdd(&bins[b], mine[b]);", None),
        ("const unsigned short i = blockIdx.x;", "const int i = blockIdx.x;"),
        ("int i = (int8_t)blockIdx.x;", "int i = (int)blockIdx.x;"),
        ("using place = char;", "using place = int;"),
        ("uint16_t at() { return 0; }\nuint16_t i = at();", "int at() { return 0; }\nint i = at();"),
        ("const short* in;\nn = sizeof(char) + sizeof(short*);", None),
        ("for (int o = 32; o > 0; o /= 2) {}", "for (int o = 16; o > 0; o /= 2) {}"),
        ("for (int o = 8; o > 0; o >>= 1) {}", "for (int o = 16; o > 0; o >>= 1) {}"),
        ("for (int h = BLOCK; h > 0; h /= 2) {}", "for (int h = BLOCK / 2; h > 0; h /= 2) {}"),
        ("for (int h = BLOCK / 4; h > 0; h /= 2) {}", "for (int h = BLOCK / 2; h > 0; h /= 2) {}"),
        ("now = 1 - now;\ns[1 - now][t] = 0;", "now = 1 - now;\ns[now][t] = 0;"),
        ("s[now ^ 1][t] = 0;", "s[now][t] = 0;"),
        ("__shared__ float s[WARPS];\nv = s[lane];", "__shared__ float s[WARPS];\nv = lane < WARPS ? s[lane] : 0;"),
        ("__shared__ float s[B / 32];\nv = sum(s[lane]);",
         "__shared__ float s[B / 32];\nv = sum(lane < B / 32 ? s[lane] : 0);"),
        ("__shared__ float s[8];\nv += 2 * s[threadIdx.x % 32];",
         "__shared__ float s[8];\nv += 2 * (threadIdx.x % 32 < 8 ? s[threadIdx.x % 32] : 0);"),
        ("__shared__ float s[W];\ns[lane] = v;\ns[lane] += v;\natomicAdd(&s[lane], v);\n"
         "v = lane < W ? s[lane] : 1;", None),
        ("c[w & 0xff]++;\nc[(w >> 8) & 0xff]++;\nc[w >> 16]++;\nc[w >> 24]++;",
         "c[w & 0xff]++;\nc[(w >> 8) & 0xff]++;\nc[(w >> 16) & 0xff]++;\nc[w >> 24]++;"),
        ("__shared__ int c[256];\nc[w.x]++;\nadd(c, w.x >> 8);\nint t = w.x >> 24;",
         "__shared__ int c[256];\nc[w.x & 255]++;\nadd(c, (w.x >> 8) & 255);\nint t = w.x >> 24;"),
        ("c[w & 0xf]++;\nc[(w & 0xf00)]++;\nc[w >> s]++;",
         "c[w & 0xf]++;\nc[((w & 0xf00) >> 8)]++;\nc[(w >> s) & 0xf]++;"),
        ("c[w % 256]++;\nc[w & 0xff]++;\nc[w / 256]++;", "c[w % 256]++;\nc[w & 0xff]++;\nc[(w / 256) & 0xff]++;"),
        ("c[w & 0xff]++;\nc[(w >> 8) & 0xff]++;\nc[(w >> 16) % 256]++;\nc[w >> 24]++;", None),
        ("__shared__ int c[W];\nif (t == 0) {\n    atomicAdd(&bins[t], c[t]);\n}",
         "__shared__ int c[W];\n {\n    atomicAdd(&bins[t], c[t]);\n}"),
        ("__shared__ int c[W];\nif (!threadIdx.x)\n    atomicAdd(bins + 0, c[0]);",
         "__shared__ int c[W];\n\n    atomicAdd(bins + threadIdx.x, c[threadIdx.x]);"),
        ("__shared__ int c[W];\nif (lane < 1) out[0] = c[0];",
         "__shared__ int c[W];\nfor (int k = threadIdx.x; k < W; k += blockDim.x) out[k] = c[k];"),
        ("__shared__ int c[W];\nif (t == 0) atomicAdd(out, c[0]);\nif (t == 0) out[blockIdx.x] = c[0];", None),
        ("constexpr int BINS = 255;\n__shared__ int s[BINS];", "constexpr int BINS = 256;\n__shared__ int s[BINS];"),
        ("// block = [BINS]\nconstexpr int BINS = 255;\n__shared__ int s[BINS];", None),
        ("__shared__ float s[SIDE * SIDE];\ns[y * PITCH + x] = v;",
         "__shared__ float s[SIDE * PITCH];\ns[y * PITCH + x] = v;"),
        ("__shared__ float s[SIDE * SIDE];\ns[threadIdx.y * (SIDE + 1) + x] = v;",
         "__shared__ float s[SIDE * (SIDE + 1)];\ns[threadIdx.y * (SIDE + 1) + x] = v;"),
        ("__shared__ float s[16 * 16];\ns[x + 17 * y] = v;", "__shared__ float s[16 * 17];\ns[x + 17 * y] = v;"),
        ("__shared__ float s[256];\ns[x + y * 17] = v;", "__shared__ float s[16 * 17];\ns[x + y * 17] = v;"),
        ("constexpr int ALL = 32 * 32;\n__shared__ float s[ALL];\ns[y * (32 + 1) + x] = v;",
         "constexpr int ALL = 32 * 32;\n__shared__ float s[32 * (32 + 1)];\ns[y * (32 + 1) + x] = v;"),
        ("int lane = threadIdx.x / 32;\nint warp = threadIdx.x % 32;",
         "int lane = threadIdx.x % 32;\nint warp = threadIdx.x / 32;"),
        ("__shared__ float tile[BLOCK + R];", "__shared__ float tile[BLOCK + 2 * R];"),
        (f"{OF_SIZES}for (int p = t; p < BLOCK + R; ++p)", f"{OF_SIZES}for (int p = t; p < BLOCK + 2 * R; ++p)"),
        (f"{OF_SIZES}if (p <= R + BLOCK - 1)", f"{OF_SIZES}if (p <= 2 * R + BLOCK - 1)"),
        (f"{OF_SIZES}constexpr int ALL = BLOCK + R;", f"{OF_SIZES}constexpr int ALL = BLOCK + 2 * R;"),
        (f"{OF_SIZES}__shared__ float u[BLOCK + R];\nif (p < BLOCK + R)",
         f"{OF_SIZES}__shared__ float u[BLOCK + 2 * R];\nif (p < BLOCK + 2 * R)"),
        (f"{OF_SIZES}for (int p = t; p < BLOCK + n; ++p)", None),
        (f"{OF_A_TILE}tile[threadIdx.x + 8] = v;", f"{OF_A_TILE}tile[t + 8] = v;"),
        ("if (threadIdx.x == 0) {\n    part[threadIdx.x] = v;", "if (threadIdx.y == 0) {\n    part[threadIdx.x] = v;"),
        ("const int mine = part[t];  // float", None),
        ("float* a;\nconst int mine = a[t];", "float* a;\nconst float mine = a[t];"),
        ("float* a;\n    int sum = 0;\nsum += a[i];", "float* a;\n    float sum = 0;\nsum += a[i];"),
        ("float* a;\nint mine = 0;\nif (in) mine = a[i];", "float* a;\nfloat mine = 0;\nif (in) mine = a[i];"),
        ("float* a;\nint n, mine;\nmine += *(a + i);", "float* a;\nfloat n, mine;\nmine += *(a + i);"),
        ("float* a;\nint x = a[i];\nint y = a[j];", "float* a;\nfloat x = a[i];\nfloat y = a[j];"),
        ("float v = a[i];\nsum += (int)v;", "float v = a[i];\nsum += (float)v;"),
        ("float* a;\nint mine = 0;\nmine += a_i;", None),
        (f"{OF_BYTES}atomicAdd(&bins[i], 1);", f"{OF_BYTES}atomicAdd(&bins[in[i]], 1);"),
        (f"{OF_BYTES}int i = blockIdx.x * 32 + threadIdx.x;\natomicAdd(bins + threadIdx.x, 1u);",
         f"{OF_BYTES}int i = blockIdx.x * 32 + threadIdx.x;\natomicAdd(bins + in[i], 1u);"),
        (f"{OF_BYTES}int v = in[i];\nown[i]++;", f"{OF_BYTES}int v = in[i];\nown[v]++;"),
        (f"{OF_BYTES}int v = in[i];\natomicAdd(&bins[v], 1);", None),
        ("__global__ void k(const float* in, unsigned* bins, int N) {\natomicAdd(&bins[i], 1);", None),
        ("float* a;\n__shared__ int part[32];", "float* a;\n__shared__ float part[32];"),
        ("at = i + k > 0 ? i + k : 0;", "at = i + k;"),
        ("int d = -R;\nif (i + d < N) s += p[d];", "int d = -R;\nif (i + d >= 0 && i + d < N) s += p[d];"),
        ("int d = 0;\nif (i + d < N) s += p[d];", None),
        ("while (i - d < N && i - d < M) i += s;", None),
        ("int j = i - R;\nv = j < N ? in[j] : 0;", "int j = i - R;\nv = j >= 0 && j < N ? in[j] : 0;"),
        ("if (i - R >= N) continue;", "if (i - R < 0 || i - R >= N) continue;"),
        ("at = max(i + k, 0);", "at = i + k;"),
        ("v = i < N ? in[i] : in[N - 1];", "v = i < N ? in[i] : 0;"),
        ("q = N / 4;\nrest = q + i;", "q = N / 4;\nrest = 4 * q + i;"),
        ("q = N / 4;\nrest = 4 * q + i;", None),
        ("q = (N + 3) / 4;", "q = N / 4;"),
        ("q = (N + 2) / 4;", None),
        ("if (i == 0 && N % 4 != 0)", "if (i < N % 4)"),
        ("unsigned char* in;\nw = *reinterpret_cast<const unsigned*>(in + i);",
         "unsigned char* in;\nw = *reinterpret_cast<const unsigned*>(in + 4 * i);"),
        ("float* in;\nw = *reinterpret_cast<const unsigned*>(in + i);", None),
        ("float* a; float* b;\nx = *(float4*)(a + i);\n*(float4*)&b[i] = x;",
         "float* a; float* b;\nx = *(float4*)(a + 4 * i);\n*(float4*)&b[4 * i] = x;"),
        ("float* a;\nx = *((float4*)a + i);", None),
        ("for (k = 0; k < R; k++) {\n    if (k < 0 || k >= N) {\n        break;",
         "for (k = 0; k < R; k++) {\n    if (k < 0 || k >= N) {\n        continue;"),
        ("for (;;) {\n    while (k < N) {\n        if (k > 3) break;", None),
        ("__global__ void k(int N) {\n    int last = N - t;", "__global__ void k(int N) {\n    int last = N - 1 - t;"),
        ("__global__ void k(int N) {\n    c[N - t] = a[N - t];",
         "__global__ void k(int N) {\n    c[N - 1 - t] = a[N - 1 - t];"),
        ("__global__ void k(int N) {\n    int last = N - 1 - t;", None),
        ("const int stride = blockDim.x;", "const int stride = gridDim.x * blockDim.x;"),
        ("for (i = first; i < N; i += BLOCK)", "for (i = first; i < N; i += gridDim.x * BLOCK)"),
        ("for (i = t; i < N; i += gridDim.x)", "for (i = t; i < N; i += gridDim.x * blockDim.x)"),
        ("int across = N / TILE;", "int across = (N + TILE - 1) / TILE;"),
        ("for (int j = 0; j < 4; j++) {\n    for (int k = 0; k < R; k++)\n        sum += w[4 * t + k];\n}",
         "for (int j = 0; j < 4; j++) {\n    for (int k = 0; k < R; k++)\n        sum += w[4 * t + k + j];\n}"),
        ("int i = (blockIdx.x * B + threadIdx.x) * 4;\nsum += w[threadIdx.x + k];",
         "int i = (blockIdx.x * B + threadIdx.x) * 4;\nsum += w[threadIdx.x * 4 + k];"),
        ("int i = (blockIdx.x * B + threadIdx.x) * 4;\nw[threadIdx.x] = v;", None),
        ("int half = 64 / 2;", None),
        ("int i = blockIdx.x * B + threadIdx.x * 4;", "int i = (blockIdx.x * B + threadIdx.x) * 4;"),
        ("int i = (blockIdx.x * B + threadIdx.x) * 4;", None),
        ("for (int y = top + threadIdx.y; y < ROWS && y < M; y += 8)",
         "for (int y = top + threadIdx.y; y < top + ROWS && y < M; y += 8)"),
        ("for (int y = 2 * row; y < ROWS; y += 8)", None),
        ("for (unsigned j = i - R; j <= i + R; ++j)", "for (unsigned j = i < R ? 0 : i - R; j <= i + R; ++j)"),
        ("for (int j = i - R; j <= i + R; ++j)", None),
        ("int column = i / N;", "int column = i % N;"),
        ("int warp = threadIdx.x % 32;", "int warp = threadIdx.x / 32;"),
        ("int column = i % 8;", None),
        (f"{OF_A_TILE_OF_TWO}tile[t + BLOCK] = v;", f"{OF_A_TILE_OF_TWO}tile[t + BLOCK + R] = v;"),
        (f"{OF_A_TILE_OF_TWO}tile[R + t] = v;", None),
        ("s[y + j][x] = v;\nfor (;;) v = s[x][y];", "s[y + j][x] = v;\nfor (;;) v = s[x][y + j];"),
        ("s[y + j][x] = v;\nv = s[x][y + j];", None),
        ("int h = BLOCK;\nwhile (h >= 1) {\nh = h / 2;\n}", "int h = BLOCK / 2;\nwhile (h >= 1) {\nh = h / 2;\n}"),
        ("int h = BLOCK;\nwhile (h >= 1) {\nh = h - 2;\n}", None),
        (f"{OF_A_TILE_OF_TWO}q = p + R;\ntile[l] = in[q];", f"{OF_A_TILE_OF_TWO}q = p + BLOCK;\ntile[l] = in[q];"),
        ("constexpr int T = R + B + R;\n__shared__ float s[T];\ns[l] = p + R < N ? in[p + R] : 0;",
         "constexpr int T = R + B + R;\n__shared__ float s[T];\ns[l] = p + B < N ? in[p + B] : 0;"),
        (f"{OF_A_TILE_OF_TWO}v += tile[t + R + k];", f"{OF_A_TILE_OF_TWO}v += tile[t + k];"),
        (f"{OF_A_TILE_OF_TWO}v += tile[t + k];", f"{OF_A_TILE_OF_TWO}v += tile[t + k + R];"),
        (f"{OF_A_TILE_OF_TWO}v += tile[t + k];", f"{OF_A_TILE_OF_TWO}v += tile[t + k - R];"),
        ("i = threadIdx.x * blockDim.x + blockIdx.x;", "i = blockIdx.x * blockDim.x + threadIdx.x;"),
        ("x = threadIdx.x + blockIdx.x;\ni = blockIdx.y + B * threadIdx.y;", None),
        ("i = blockIdx.y + threadIdx.y * B;", "i = threadIdx.y + blockIdx.y * B;"),
        ("x = threadIdx.x;\ni = B * threadIdx.y + blockIdx.x;", None),
        ("t = threadIdx.x;\nfor (int k = t; k < N; k++)",
         "t = threadIdx.x;\nfor (int k = t; k < N; k += gridDim.x * blockDim.x)"),
        ("t = 2 * first;\nfor (int k = 2 * t; k < N; k++)", None),
        ("first = t;\nlast = min(first + PER, N);", "first = t * PER;\nlast = min(first + PER, N);"),
        ("p = blockIdx.x * B + threadIdx.x;\nfor (int k = 0; k < 4; k++) c[p + k] = 0;",
         "p = (blockIdx.x * B + threadIdx.x) * 4;\nfor (int k = 0; k < 4; k++) c[p + k] = 0;"),
        ("p = t;\nc[p + other] = 0;", None),
        ("if (t == 0) {\n    sums[i] = s;\n}", "if (t == 0) {\n    sums[blockIdx.x] = s;\n}"),
        ("__shared__ float sums[8];\nif (t == 0) sums[i] = s;", None),
        ("float sum = in[i];\nfor (;;) sum += in[k];", "float sum = 0;\nfor (;;) sum += in[k];"),
        ("float sum = in[i];\nfor (;;) sum += other[k];", None),
        ("__device__ inline int add(float x)", "__device__ inline float add(float x)"),
        ("__device__ int at(int x, float* a)", None),
        ("__global__ void k()\nconst int j = min(max(i + k, 0), N - 1);",
         "__global__ void k()\nconst int j = i + k; if (j < 0 || j >= N) continue;"),
        ("__device__ float f()\nj = max(min(N - 1, i), 0);",
         "__device__ float f()\nj = i; if (j < 0 || j >= N) return 0;"),
        ("j = min(max(i, 1), N - 1);", None),
        ("__device__ void f(float* p, int a, int b) {\n}\nf(out, 1, g(2, 3));",
         "__device__ void f(float* p, int a, int b) {\n}\nf(out, g(2, 3), 1);"),
        ("__device__ void f(float* p, float a) {\n}\nf(out, x);", None),
        ("__device__ float f()\nif (i < 0) i = 0;\nif (i >= n) { i = n - 1; }",
         "__device__ float f()\nif (i < 0) return 0;\nif (i >= n) { return 0; }"),
        ("__global__ void k()\nif (i < 0) i = 0;", "__global__ void k()\nif (i < 0) continue;"),
        ("s += in[max(0, min(N - 1, i + k))];", "s += (i + k >= 0 && i + k < N ? in[i + k] : 0);"),
        ("s += in[min(max(j, 0), N - 1)];", "s += (j >= 0 && j < N ? in[j] : 0);"),
        ("    atomicAdd(out, sums[0]);", "    if (threadIdx.x == 0) atomicAdd(out, sums[0]);"),
        ("if (t == 0) atomicAdd(out, sums[0]);\natomicAdd(&bins[v], 1);", None),
        (f"{KERNEL}    out[0] = sum;", f"{KERNEL}    atomicAdd(&out[0], sum);"),
        (f"{KERNEL}    out[blockIdx.x] = sum;", f"{KERNEL}    if (threadIdx.x == 0) out[blockIdx.x] = sum;"),
        (f"{KERNEL}    out[threadIdx.x] = sum;", None),
        ("float b = bias[x];\nfor (int k = 0; k < 4; ++k) {\n    int at = x + k * T;\n    c[at] = a[at] + b;\n}",
         "float b = bias[x];\nfor (int k = 0; k < 4; ++k) {\n    int at = x + k * T;\n    c[at] = a[at] + bias[at];\n"
         "}"),
        ("float b = bias[x];\nfor (int at = x; at < N; at += T) c[at] += b;",
         "float b = bias[x];\nfor (int at = x; at < N; at += T) c[at] += bias[at];"),
        ("float b = bias[x];\nfor (int y = 3; y < M; ++y) c[y * N + x] += b;", None),
        ("int last = min(i + R, N);\nfor (int k = i; k <= last; ++k)",
         "int last = min(i + R, N - 1);\nfor (int k = i; k <= last; ++k)"),
        ("int last = min(N - 1, i + R);\nfor (int k = i; k < last; ++k)",
         "int last = min(N - 1, i + R + 1);\nfor (int k = i; k < last; ++k)"),
        ("for (int k = i; k <= min(i + R, N); ++k)", "for (int k = i; k <= min(i + R, N - 1); ++k)"),
        ("int last = min(i + R, N - 1);\nfor (int k = 2 * i; k <= last; ++k)", None),
        ("    __shared__ float sum;", "    float sum;"),
        ("do {\n    c[k] = 1;\n    if (k) { k += 2; }\n} while (k < N);",
         "while (k < N) {\n    c[k] = 1;\n    if (k) { k += 2; }\n} "),
        ("if (first + RUN > N) { return; }\nfor (int i = first; i < first + RUN; i++) c[i] = 0;",
         "\nfor (int i = first; i < first + RUN && i < N; i++) c[i] = 0;"),
        ("if (p + 4 > N) return;\nfor (int j = 0; j < 4; j++) c[p + j] = 0;",
         "\nfor (int j = 0; j < 4 && p + j < N; j++) c[p + j] = 0;"),
        ("for (int k = 0; k < 4; k += 2) {\n    c[at] = x;\n    x = y;\n}",
         "for (int k = 0; k < 4; k += 2) {\n    c[at] = x;\n    x = y;\n} c[at] = x;"),
        ("for (int k = 0; k < 4; k += 2) {\n    x = y;\n    c[at] = x;\n}", None),
        ("if (column >= N) {\n    column -= N;\n}", "while (column >= N) {\n    column -= N;\n}"),
        ("__global__ void k(const float* a, float* c) {\n    a += i;\n    *c = *a;\n}",
         "__global__ void k(const float* a, float* c) {\n    a += i; c += i;\n    *c = *a;\n}"),
        ("int y = blockIdx.y * 8 + threadIdx.y;\nif (y == 0 && x < N) {",
         "int y = blockIdx.y * 8 + threadIdx.y;\nif (threadIdx.y == 0 && x < N) {"),
        ("if (threadIdx.y == ROWS - 1) {", "if (threadIdx.y == 0) {"),
        ("if (x < N && y + ROWS <= M) {\nfor (int r = 0; r < ROWS; ++r) c[y + r] = 0;",
         "if (x < N && y < M) {\nfor (int r = 0; r < ROWS && y + r < M; ++r) c[y + r] = 0;"),
        ("value += in[i];\n    out[i] = value;", "out[i] = value + in[i];"),
        ("for (int p = 3; p < n; p += 2) {\n    if (v == (w & 3)) {\n        c[v] = 4;\n    }\n    d[p] = 0;\n}",
         "for (int p = 3; p < n; p += 2) {\n    if (v == (w & 3)) {\n        c[v] = 4;\n    continue; }\n"
         "    d[p] = 0;\n}"),
        ("__global__ void k(int N) {\n    int last = N - int(t);",
         "__global__ void k(int N) {\n    int last = N - 1 - t;"),
        ("int row = i / N;\nint column = i % N;", "int row = i % N;\nint column = i / N;"),
        ("v += __shfl_up_sync(~0u, v, d);\nif (lane == 0) {", "v += __shfl_up_sync(~0u, v, d);\nif (lane == 31) {"),
        ("atomicAdd(&s[lane * 256 + in[i]], 1);\nsum += s[bin * 32 + (k + t) % 32];",
         "atomicAdd(&s[in[i] * 32 + lane], 1);\nsum += s[bin * 32 + (k + t) % 32];"),
        ("int share = N / T;\nint end = begin + share;",
         "int share = (N + T - 1) / T;\nint end = min(begin + share, N);"),
        ("{\n    s[x] = bias[x];\n}\nfor (int c = x; c < N; c += 32) {\n    out[c] = s[x];\n}",
         "{\n    s[x] = bias[x];\n}\nfor (int c = x; c < N; c += 32) {\n    out[c] = bias[c];\n}"),
        ("for (int k = 3; k < 9; ++k) {\n    s[k] = in[k];\n    __syncthreads();\n    out[k] = s[8 - k];\n}",
         "for (int k = 3; k < 9; ++k) {\n    s[k] = in[k];\n    } __syncthreads(); for (int k = 3; k < 9; ++k) {\n"
         "    out[k] = s[8 - k];\n}"),
        ("peers = __match_any_sync(m, v);\n    if (i < N) atomicAdd(&bins[v], __popc(peers));",
         "peers = __match_any_sync(m, v);\n    if (i < N) if (threadIdx.x % 32 == __ffs(peers) - 1) "
         "atomicAdd(&bins[v], __popc(peers));"),
        ("int n = float(__popc(m));\nbins[v] += n;",
         "int n = float(__popc(m));\nif (threadIdx.x % 32 == __ffs(m) - 1) bins[v] += n;"),
        ("atomicAdd(&bins[v], same.size());", "if (same.thread_rank() == 0) atomicAdd(&bins[v], same.size());"),
        ("int n = many(m);\nbins[v] += n;", None),
        ("if (threadIdx.x < N % 4) {", "if (blockIdx.x == 0 && threadIdx.x < N % 4) {"),
        ("for (int i = 4 * q + threadIdx.x; i < N; i += 256)",
         "for (int i = 4 * q + threadIdx.x; blockIdx.x == 0 && i < N; i += 256)"),
        ("for (size_t i = packs * 16 + threadIdx.x; i < N; i += BLOCK)",
         "for (size_t i = packs * 16 + threadIdx.x; blockIdx.x == 0 && i < N; i += BLOCK)"),
        ("const int t = threadIdx.x;\nfor (int i = t + end; i < N; i += 64)",
         "const int t = threadIdx.x;\nfor (int i = t + end; blockIdx.x == 0 && i < N; i += 64)"),
        ("for (int i = N / 4 * 4 + threadIdx.x; i < N; ++i)",
         "for (int i = N / 4 * 4 + threadIdx.x; blockIdx.x == 0 && i < N; ++i)"),
        ("const int t = threadIdx.x;\nif (t < N % 16) {",
         "const int t = threadIdx.x;\nif (blockIdx.x == 0 && t < N % 16) {"),
        ("if (threadIdx.x < (N & 15)) {", "if (blockIdx.x == 0 && threadIdx.x < (N & 15)) {"),
        ("if (threadIdx.x < N - 16 * packs) {", "if (blockIdx.x == 0 && threadIdx.x < N - 16 * packs) {"),
        ("const int t = threadIdx.x;\nconst int i = 4 * q + t;\nif (i < N) {",
         "const int t = threadIdx.x;\nconst int i = 4 * q + t;\nif (blockIdx.x == 0 && i < N) {"),
        ("if (threadIdx.x == 0) {\n    for (int i = 4 * q; i < N; ++i) {",
         "if (blockIdx.x == 0 && threadIdx.x == 0) {\n    for (int i = 4 * q; i < N; ++i) {"),
        ("for (int i = 0; i < N; ++i)",
         "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)"),
    ],
)  # fmt: skip
def test_a_slip_is_changed(text: str, becomes: str | None) -> None:
    made = [edit.applied(text) for edit in edits(text)]
    assert becomes in made if becomes is not None else not made


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (f"{OF_C}out[i] = in[i];", f"{OF_C}if (i < N) out[i] = in[i];"),
        (f"{OF_C}out[size_t(x) * M + y] = in[i];", f"{OF_C}if (x < N && y < M) out[size_t(x) * M + y] = in[i];"),
        (f"{OF_C}for (int k = 0; k < 8; ++k) {{\n    out[size_t(row + k * B) * N + x] = 1;\n}}",
         f"{OF_C}for (int k = 0; k < 8 && row + k * B < M; ++k) {{\n    out[size_t(row + k * B) * N + x] = 1;\n}}"),
        ("int q = p + B;\nif (p < N) {\n    c[q] = 1;", "int q = p + B;\nif (p < N) {\n    if (q < N) c[q] = 1;"),
        ("int q = p + B;\nif (p < N) {\n    if (q < N) c[q] = 1;", None),
        ("int q = p + B;\nif (p >= N) return;\nc[q] = 1;", "int q = p + B;\nif (p >= N) return;\nif (q < N) c[q] = 1;"),
        ("for (int s = B / 2; s > 0; s /= 2) {\n    v[t] += v[t + s];\n}",
         "for (int s = B / 2; s > 0; s /= 2) {\n    if (t < s) v[t] += v[t + s];\n}"),
        ("for (int s = B / 2; s > 0; s /= 2)\n    if (t < s)\n        v[t] += v[t + s];", None),
        ("if (p < N) {\n    c[p] = 1;\n    c[p + 1] = 1;\n    c[p + B] = 1;",
         "if (p < N) {\n    c[p] = 1;\n    if (p + 1 < N) c[p + 1] = 1;\n    if (p + B < N) c[p + B] = 1;"),
        ("if (p < N) {\n    c[p] = 1;\n    if (p + 1 < N) c[p + 1] = 1;", None),
        ("int q = p + B;\nif (p < N) {\nsum += in[q];", "int q = p + B;\nif (p < N) {\nif (q < N) sum += in[q];"),
        ("__shared__ unsigned h[BINS];\n    atomicAdd(&bins[t], h[t]);",
         "__shared__ unsigned h[BINS];\n    if (t < BINS) atomicAdd(&bins[t], h[t]);"),
        ("__shared__ unsigned h[BINS];\n    atomicAdd(&bins[t], h[s]);", None),
    ],
)  # fmt: skip
def test_what_has_no_condition_gets_one(text: str, becomes: str | None) -> None:
    made = [edit.applied(text) for edit in guards(text)]
    assert becomes in made if becomes is not None else not made


@pytest.mark.parametrize(
    ("text", "no"),
    [
        (f"{KERNEL}int i = threadIdx.x;\nif (i < N) out[i] += in[i];", "= in[i] +"),
        ("int to = i + R > N ? N : i + R;\nfor (int j = i; j < to; ++j) s += in[j];", "N - 1"),
    ],
)
def test_an_input_that_is_read_and_an_end_that_is_not_taken_stay(text: str, no: str) -> None:
    assert not [edit for edit in edits(text) if no in edit.applied(text)]


def test_a_store_whose_index_a_condition_knows_gets_no_other() -> None:
    made = edits(f"{OF_C}if (i < M)\n    out[i] = in[i];")
    assert not [edit for edit in made if "(i < N)" in edit.said]


@pytest.mark.parametrize(
    "text",
    [
        "int i = blockIdx.x * 8 + threadIdx.x;\nfloat b = 0;\nif (i < n) b = a[i];\nout[0] = b;",
        "float b = 0;\nif (lane == 0) b = s[0];\nout[i] = b;",
        "float b = 0;\nif (threadIdx.x == 0) b = s[0];\nb = __shfl_sync(~0u, b, 0);",
        "float b = 0;\nif (threadIdx.x == 0) b = s[0];\nelse b = 1;\nout[i] = b;",
        "float b = 0;\nif (threadIdx.x == 0) { b = s[0]; out[0] = b; }\nout[i] = c;",
        "__shared__ float b;\nif (threadIdx.x == 0) b = s[0];\nout[i] = b;",
    ],
)
def test_no_variable_is_changed_that_all_threads_set_or_share(text: str) -> None:
    assert not [*threads.of_some(text)]


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("i = blockIdx.x * threadIdx.x;", "i = blockIdx.x * blockDim.x + threadIdx.x;"),
        ("i = threadIdx.x + blockDim.x;", "i = blockIdx.x * blockDim.x + threadIdx.x;"),
        ("constexpr int B = 8;\ni = (blockIdx.x + 1) * B;", "constexpr int B = 8;\ni = threadIdx.x;"),
        ("i = row * blockDim.x + threadIdx.x;", None),
        ("const int i = 0;\ny[i] = 1;", "const int i = threadIdx.x;\ny[i] = 1;"),
        ("int i = 0;\ny[i++] = 1;", None),
        ("y[0] = x[0];", "y[threadIdx.x] = x[threadIdx.x];"),
        ("y[0] = x[threadIdx.x / 2];", None),
        ("int row = blockIdx.y * threadIdx.y;\nint col = blockIdx.x * threadIdx.x;",
         "int row = blockIdx.y * blockDim.y + threadIdx.y;\nint col = blockIdx.x * blockDim.x + threadIdx.x;"),
        ("__global__ void k(int M, int N) {\nint r = threadIdx.y;\nint c = threadIdx.x;\ny[r + c] = 1;",
         "__global__ void k(int M, int N) {\nint r = blockIdx.y * blockDim.y + threadIdx.y;\n"
         "int c = blockIdx.x * blockDim.x + threadIdx.x;\ny[r * N + c] = 1;"),
    ],
)  # fmt: skip
def test_an_index_becomes_the_number_of_a_thread(text: str, becomes: str | None) -> None:
    made = [edit.applied(text) for edit in numbers.edits(text, text, list(lines_of(text)))]
    assert becomes in made if becomes is not None else not made


@pytest.mark.parametrize(
    ("update", "read", "first"),
    [
        ("atomicAdd(&s[in[i] * 32 + lane], 1);", "n += s[c * 256 + t];", "n += s[t * 32 + c];"),
        ("s[v * 32 + t]++;", "n += s[c * 256 + b];", "n += s[b * 32 + c];"),
        ("atomicAdd(&s[lane * 256 + in[t]], 1);", "n += s[t * 32 + c];", "atomicAdd(&s[in[t] * 32 + lane], 1);"),
    ],
)  # fmt: skip
def test_of_two_layouts_that_stays_by_which_lanes_update_elements_side_by_side(
    update: str, read: str, first: str
) -> None:
    named = "int t = threadIdx.x;\nint lane = threadIdx.x % 32;\nint v = in[blockIdx.x * 8 + threadIdx.x];\n"
    text = f"{named}{update}\n{read}"
    made = [edit.applied(text) for edit in edits(text) if "Elsewhere" in edit.why]
    assert first in made[0]


def test_what_is_said_names_both_texts_and_the_line() -> None:
    (edit,) = edits("\nv = i < N ? in[i] : in[N - 1];")
    assert (edit.said, edit.line) == ("`0` in place of `in[N - 1]` in line 2", 2)


def test_who_fills_a_tile_is_about_the_line_of_the_store() -> None:
    (edit,) = edits("__shared__ float part[8]; if (threadIdx.x == 0) {\n    part[threadIdx.x] = v;\n}")
    assert edit.line == 2


def test_a_long_text_takes_no_time() -> None:
    assert not list(
        edits("for (int i = " + "a " * 20_000 + "\nv = " + "i + k > " * 20_000 + "\n" + "s[1 - " * 20_000)
    )


def test_calls_of_a_long_text_take_no_time() -> None:
    text = "__device__ void f(int a, ...) { f(1, 2); }\n" * 5000
    assert not list(edits(text))
    assert len(list(edits(text.replace("...", "int b")))) == 20


def test_a_text_with_a_long_line_is_not_looked_at() -> None:
    assert not list(edits(f"int i = {' ' * 30_000}threadIdx.x;\nfor (int o = 32; o > 0; o /= 2) {{}}"))
