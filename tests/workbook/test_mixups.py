"""Which mix-ups are looked for in a kernel's text, and what is tried in their place."""

from __future__ import annotations

import pytest

from grader.workbook.mixups import edits

SHARED = "__shared__ float part[N];\n"
CALLED = "__device__ int at(int y, int x, int w) { return y; }\n__global__ void k(int M, int N) {\n"
ALL = "__global__ void k(const float* in, int M, int N) {\n"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("w.z = u.y + v.z;", "w.z = u.z + v.z;"),
        ("w.x = u.x * threadIdx.y;", None),
        ("w = make_float3(u.x, u.y, u.y + v.z);", "w = make_float3(u.x, u.y, u.z + v.z);"),
        ("f(a, b, make_float2(u.x, u.y));", None),
        ("atomicInc(&bins[v], 1u);", "atomicAdd(&bins[v], 1u);"),
        ("atomicAdd(&out[blockIdx.x], v);", "atomicAdd(&out[0], v);"),
        ("v = (word >> k) & 0xff;", "v = (word >> (8 * k)) & 0xff;"),
        ("v = word >> 4 * k & 255;", "v = word >> (8 * k) & 255;"),
        ("v = word >> k;", None),
        ("sum = sum + inside ? in[k] : 0.0f;", "sum = sum + (inside ? in[k] : 0.0f);"),
        ("sum = sum + (inside ? in[k] : 0.0f);", None),
        ("const float4* p = q;\nv = p[row * N + c];", "const float4* p = q;\nv = p[row * (N / 4) + c];"),
        ("v = reinterpret_cast<const float2*>(in)[row * N];",
         "v = reinterpret_cast<const float2*>(in)[row * (N / 2)];"),
        ("v = ((const float4*)in)[row * N + c];", "v = ((const float4*)in)[row * (N / 4) + c];"),
        ("const float4* p = q;\ni = row * N + c;\nv = p[i];",
         "const float4* p = q;\ni = row * (N / 4) + c;\nv = p[i];"),
        ("const float* p = q;\ni = row * N + c;\nv = p[i];", None),
        ("const float* p = q;\nv = p[row * N + c];", None),
        ("float s = 0;\nif (a) {\n    float s = b;\n}", "float s = 0;\nif (a) {\n    s = b;\n}"),
        ("if (a) {\nfloat s = 0;\n}\nif (b) {\nfloat s = 1;\n}", None),
        ("auto i = threadIdx.x;\nfor (auto j = i - R; j < N; ++j)",
         "int i = threadIdx.x;\nfor (auto j = i - R; j < N; ++j)"),
        ("const size_t i = size_t(blockIdx.x) * B;\nfor (auto j = i - R; j < N; ++j)",
         "const long long i = size_t(blockIdx.x) * B;\nfor (auto j = i - R; j < N; ++j)"),
        ("auto i = threadIdx.x;\nfor (auto j = i + R; j < N; ++j)", None),
        ("if (i < N) {\n    n += in[i];\n    i += stride;\n}", "while (i < N) {\n    n += in[i];\n    i += stride;\n}"),
        ("if (i < N) {\n    n += in[i];\n}", None),
        ("for (int j = 0; j < T; j += T / 8)\n  f(threadIdx.y + j);",
         "for (int j = 0; j < T; j += blockDim.y)\n  f(threadIdx.y + j);"),
        ("for (int j = 0; j < T; j += 8)\n  f(j);", None),
        (f"{SHARED}w = threadIdx.x >> 5;\npart[w] = v;",
         f"{SHARED}w = threadIdx.x >> 5;\nif (threadIdx.x % 32 == 0) part[w] = v;"),
        (f"{SHARED}part[threadIdx.x] = 0.0f;",
         f"{SHARED}for (int k = threadIdx.x; k < N; k += blockDim.x) part[k] = 0.0f;"),
        (f"{SHARED}atomicAdd(&bins[t], part[t]);",
         f"{SHARED}for (int k = threadIdx.x; k < N; k += blockDim.x) atomicAdd(&bins[k], part[k]);"),
        (f"{SHARED}atomicAdd(&bins[t], part[s]);", None),
        (f"{SHARED}part[y * P + x] = v;\nv = part[x * T + y];", f"{SHARED}part[y * P + x] = v;\nv = part[x * P + y];"),
        (f"{SHARED}part[y * P + x] = v;\nv = part[x * P + y];", None),
        (f"{ALL}r = i / M;\nc = i % M;", f"{ALL}r = i / N;\nc = i % N;"),
        (f"{ALL}p += M;", f"{ALL}p += N;"),
        (f"{ALL}if (M % 4 == 0)", f"{ALL}if (N % 4 == 0)"),
        (f"{ALL}for (int c = 0; c < M; ++c)", f"{ALL}for (int c = 0; c < N; ++c)"),
        (f"{ALL}if (c >= M) return;", f"{ALL}if (c >= N) return;"),
        (f"{ALL}x = 1 << N;", None),
        (f"{CALLED}i = at(y, x, M);", f"{CALLED}i = at(y, x, N);"),
        (f"{CALLED}i = at2(y, x, M);", None),
        (f"{CALLED}i = at(y, x, W);", None),
        ("__global__ void k(float* in, int N) {\np += N;", None),
    ],
)  # fmt: skip
def test_a_mixup_is_changed(text: str, becomes: str | None) -> None:
    made = [edit.applied(text) for edit in edits(text)]
    assert becomes in made if becomes is not None else not made


def test_what_is_said_names_both_texts_the_lines_and_why() -> None:
    text = "for (int j = 0; j < T; j += S) a[threadIdx.y + j] = 0;\nfor (int j = 0; j < T; j += S) f();"
    (edit,) = edits(text)
    assert (edit.said, edit.line) == ("`blockDim.y` in place of `S` in lines 1 and 2", 1)
    (edit,) = edits(f"{ALL}q = r * M;")
    assert edit.said == "`* N` in place of `* M` in line 2"
    (edit,) = edits("int s = 0;\n{\n    int s = 1;")
    assert edit.why == "That is a variable of its own, and the one of line 1 stays what it was."
