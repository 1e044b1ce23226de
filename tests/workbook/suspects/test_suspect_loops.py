"""Loops that lead nowhere, do not end, or do the same each time."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said
from grader.workbook.suspects.loops import all_by_each, idle, without_rest, without_turns

NO_STEP = (
    "so the loop does the same again and never ends: `break` where nothing is left to do, else a `for` loop, whose "
    "step `continue` does as well."
)

OTHER_OLD = (
    "once another thread has changed what is there, it never is `old` again, and the loop does not end. Compare with "
    "what the last try has found: `while ((seen = atomicCAS(bin, old, old + 1)) != old) old = seen;`."
)

OF_N = (
    "__global__ void k(const float* in, float* out, int N) {\nconst int i = blockIdx.x * B + threadIdx.x;\n"
)
OF_BYTES = (
    "__global__ void k(const unsigned char* in, unsigned* bins, int N) {\nconst int n4 = N / 4;\n"
    "const int t = blockIdx.x * B + threadIdx.x;\n"
)
BY_EACH = (
    "what this loop adds does not depend on the thread, so that each thread of the grid adds all of it. Put `if "
    "(blockIdx.x == 0 && threadIdx.x == 0)` in front, or begin at the thread's own, `{start}blockIdx.x * "
    "blockDim.x + threadIdx.x`, and step by all threads, `j += gridDim.x * blockDim.x`, with `j` a size_t."
)
EVERY = (
    "each thread stores every `{by}`-th that is behind it, and so those of other threads as well: step by all threads "
    "of the grid, `j += gridDim.x * blockDim.x`, with `j` a size_t."
)
IN_EVERY = "as it does in every block: begin at `blockIdx.x * blockDim.x + threadIdx.x`."
BEHIND = (
    "each thread stores all that are behind it, and so those of other threads as well: step by all threads of the "
    "grid, `j += gridDim.x * blockDim.x`, with `j` a size_t."
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{OF_N}for (int j = i; j < N; j++) out[j] = in[j];", f"Line 3: from its own, `i`, {BEHIND}"),
        (f"{OF_N}int j = i;\nwhile (j < N) {{\n    out[j] = in[j];\n    j += 1;\n}}",
         f"Line 4: from its own, `i`, {BEHIND}"),
        (f"constexpr int B = 32;\n{OF_N}for (int j = i; j < N; j += B) out[j] = in[j];",
         f"Line 4: from its own, `i`, {EVERY.format(by='B')}"),
        (f"{OF_N}for (int j = i; j < N; j += gridDim.x) out[j] = in[j];",
         f"Line 3: from its own, `i`, {EVERY.format(by='gridDim.x')}"),
        (f"{OF_N}for (int j = threadIdx.x + blockIdx.x * B; j < N; ++j) {{\n    size_t k = j;\n    out[k] = 0;\n}}",
         f"Line 3: from its own, `threadIdx.x + blockIdx.x * B`, {BEHIND}"),
        (f"{OF_N}for (int j = i; j < N; j++) atomicAdd(out, in[j]);",
         f"Line 3: from its own, `i`, {BEHIND.replace('stores', 'adds')}"),
        (f"{OF_BYTES}for (int j = n4 * 4; j < N; ++j) atomicAdd(&bins[in[j]], 1u);\n}}",
         f"Line 4: {BY_EACH.format(start='j = n4 * 4 + ')}"),
        (f"{OF_BYTES}for (int j = 0; j < N; ++j) {{\n    int b = in[j];\n    atomicAdd(&bins[b], 1u);\n}}\n}}",
         f"Line 4: {BY_EACH.format(start='j = ')}"),
        (f"{OF_BYTES}int sum = 0;\nsum += f(t);\nfor (int j = n4 * 4; j < N; ++j) sum += in[j];\n"
         "atomicAdd(bins, sum);\n}",
         f"Line 6: {BY_EACH.format(start='j = n4 * 4 + ')}"),
        (f"{OF_BYTES}for (int j = n4 * 4 + t; j < N; ++j) atomicAdd(&bins[in[j]], 1u);\n}}",
         f"Line 4: from its own, `n4 * 4 + t`, {BEHIND.replace('stores', 'adds')}"),
        (f"{OF_N}const int t = threadIdx.x;\nfor (int j = t; j < N; j += gridDim.x * B) out[j] = in[j];",
         f"Line 4: the loop goes on by all threads of the grid, and begins at `threadIdx.x`, {IN_EVERY}"),
        ("for (int i = t; i < N; i += f(2)) {\n    mine = in[i];\n}",
         "Line 2: each step of the loop sets `mine` anew, and the last one stays: `mine += …`."),
        ("int step = 8;\nfor (int i = 0; i < N; i = step) {}",
         "Line 2: the step `i = step` sets `i` to the same each time: `i += step`."),
        ("size_t p = t;\nwhile (p < N) {\n    s += in[p];\n    p = size_t(gridDim.x) * B;\n}",
         "Line 4: the step `p = size_t(gridDim.x) * B` sets `p` to the same each time: `p += size_t(gridDim.x) * B`."),
        ("\nfor (int i = t; i < N; i += gridDim.x * 0) {\n    sum += x[i];\n}",
         "Line 2: the step `i += gridDim.x * 0` adds 0, so `i` stays where it is, and the loop never ends."),
        ("for (int i = f(t); i < N;) {\n    sum += x[i];\n}",
         "Line 1: nothing in the loop changes `i`, so `i < N` stays true: `i += …`."),
        ("int i = t;\nwhile (i < N) {\n    if (i == j) {\n        c[i] = f(i);\n    }\n}\ni = 0;",
         "Line 2: nothing in the loop changes `i`, so `i < N` stays true: `i += …`."),
        ("for (int i = t; i < blockDim.x; k++) sum += x[i];",
         "Line 1: nothing in the loop changes `i`, so `i < blockDim.x` stays true: `i += …`."),
        ("do {\n    for (int k = 0; k < 4; ++k) c[k] = i;\n} while (i + 1 < N);",
         "Line 3: nothing in the loop changes `i`, so `i + 1 < N` stays true: `i += …`."),
        ("for (int h = 4; h >= 0; h = h / 2) {\n    __syncthreads();\n}",
         "Line 1: `h = h / 2` ends at 0 and stays there, where `h >= 0` is still true: `h > 0`."),
        ("while (h >= 0) {\n    v += v[t + h];\n    h >>= 1;\n}",
         "Line 1: `h >>= 1` ends at 0 and stays there, where `h >= 0` is still true: `h > 0`."),
        ("for (int half = 4; half >= 0; half /= 2) {\n    __syncthreads();\n}",
         "Line 1: `half /= 2` ends at 0 and stays there, where `half >= 0` is still true: `half > 0`."),
        ("for (int s = 0; s < 8; s <<= 1) {\n    __syncthreads();\n}",
         "Line 1: `s` begins with 0, which `s <<= 1` leaves 0, so the loop never ends: begin with 1."),
        ("for (int i = index; i < N; i += stride) {\n    c[index] = a[index];\n}",
         "Line 1: the loop goes on by `i`, and its body does the same each time: `i` in place of `index` in line 2."),
        ("\nwhile (f(i) < N);\n{",
         "Line 2: the `;` behind `while (…)` ends the loop in front of its body: delete it."),
        ("for (;;) sum[0] += 1;\nfor (unsigned char b = 0; b < 2 * 128; b++) {}",
         "Line 2: `b`, of type unsigned char, holds no more than 255, so `b < 2 * 128` is always true: make it "
         "an int."),
        ("constexpr int B = 128;\nfor (char b = 0; b < B; ++b) {}",
         "Line 2: `b`, of type char, holds no more than 127, so `b < B` is always true: make it an int."),
        ("while (k < 4) {\n    int row = f + k;\n    if (row >= M)\n        continue;\n    c[row] = 0;\n    ++k;\n}",
         f"Line 4: `continue` goes past `++k`, {NO_STEP}"),
        ("do {\n    if (in[i] < 0) continue;\n    sum += in[i];\n    i += stride;\n} while (i < N);",
         f"Line 2: `continue` goes past `i += stride`, {NO_STEP}"),
        ("unsigned old = *bin;\nwhile (atomicCAS(bin, old, old + 1) != old) {}", f"Line 2: {OTHER_OLD}"),
        ("do {\n    n++;\n} while (atomicCAS(bin, old, old + 1) != old);", f"Line 3: {OTHER_OLD}"),
        ("size_t step = size_t(blockIdx.x) * blockDim.x;\nfor (size_t i = t; i < N; i += step) {}",
         "Line 2: the step `i += step` is 0 in block 0, as `step` is `size_t(blockIdx.x) * blockDim.x`, and the loop "
         "never ends: blockIdx.x is the number of one block, and gridDim.x is how many there are."),
        ("for (int i = b; i < N; i += threadIdx.x) {}",
         "Line 1: the step `i += threadIdx.x` is 0 in thread 0, and the loop never ends: threadIdx.x is the number of "
         "one thread, and blockDim.x is how many there are."),
        ("for (int e = t; e < N; e += step) {\n    c[e] = a[e];\n    return;\n}",
         "Line 3: `return;` ends the loop in its first turn: delete it, or put it behind the loop."),
        ("int c = b + t;\nfor (; r < M; r += s) {\n    for (; c < N; c += s) {\n        out[c] = 0;\n    }\n}",
         "Line 3: nothing sets `c` back when the loop in line 2 goes on: `for (int c = b + t; …`."),
    ],
)  # fmt: skip
def test_a_loop_is_told_with_what_mends_it(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    ("before", "index", "of"),
    [
        ("", "r * N + c", "thread"),
        ("", "i + c", None),
        ("", "c * blockIdx.x", None),
        ("int row = threadIdx.x;", "row + c", "block"),
        ("int row = threadIdx.x;", "r * row + c", "block"),
        ("int row = 2;\nrow += threadIdx.x;\nint first = row * 4;", "first + c", "block"),
        ("int row = max(0, i);\nint first = row * 4;", "first + c", None),
        ("int row = own_row();", "row * 4 + c", None),
        ("out += blockIdx.x * 4;", "c", None),
        ("if (i < N)", "c", "thread"),
        ("if (i == 0)", "c", None),
        ("if (i < N && threadIdx.x == 0)", "r * N + c", None),
        ("if (threadIdx.x > 0) return;", "r * N + c", None),
        ("if (threadIdx.x == 0)", "r * N + c", None),
    ],
)
def test_a_loop_whose_stores_hang_on_no_thread_or_no_block_is_told(
    before: str, index: str, of: str | None
) -> None:
    loop = f"for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) out[{index}] = in[c];"
    told = all_by_each(f"{OF_N}{before}\n{loop}")
    assert (told is not None) == (of is not None)
    if told is not None:
        assert f"does not depend on the {of}, so that" in told[1]


BY_ALL = (
    "no thread has any element to take. Let each thread of the grid, by its number `blockIdx.x * blockDim.x + "
    "threadIdx.x`, take `(N - 1) / all + 1` elements, where `all` is `gridDim.x * blockDim.x`, and none from `N` on."
)
UP = "Round up, `(N + 256 - 1) / 256`, and let no thread take an element from `N` on."


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("int s = (blockIdx.x * 256 + threadIdx.x) * (N / 256);\nfor (int i = s; i < s + N / 256; i++) o[i] = 0;",
         BY_ALL),
        ("int n = N / 256;\nint t = threadIdx.x;\nfor (int i = t * n; i < (t + 1) * n; i++) o[i] = 0;", BY_ALL),
        ("int n = N / 256;\nint t = threadIdx.x;\nfor (int i = 0; i < n; i++) o[blockIdx.x * N + n * t + i] = 0;",
         f"no thread has any element to take. {UP}"),
        ("for (int k = 0; k < N / 256; k++) o[k * 256 + threadIdx.x] = 0;",
         f"the loop that ends by it makes no turn. {UP}"),
        ("if (threadIdx.x < N / 256) o[threadIdx.x] = 0;", ""),
        ("float4* v = (float4*)o;\nfor (int i = threadIdx.x; i < N / 256; i += 256) v[i] = zero;", ""),
        ("for (int i = N / 256; i < N; i++) o[i] = 0;", ""),
    ],
)  # fmt: skip
def test_a_loop_that_ends_by_a_quotient_of_0_has_nothing_to_do(body: str, told: str) -> None:
    found = without_turns(f"__global__ void k(float* o, int N) {{\n{body}\n}}", 2, "N", "256")
    assert found == (told and f"Line 2: `N / 256` rounds down, to 0 there, so that {told}")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("int i = start; i < start + per; i++", True),
        ("int i = 0; i < start; i++", True),
        ("int i = first; i < N; i += per", False),
    ],
)
def test_a_share_of_a_thread_in_its_block_is_the_same_in_every_block(head: str, told: bool) -> None:
    text = (
        "__global__ void k(float* out, int N) {\nint per = (N + 255) / 256;\nint start = threadIdx.x * per;\n"
    )
    found = all_by_each(f"{text}int first = blockIdx.x + start;\nfor ({head}) if (i < N) out[i] = 0;")
    assert (found is not None) == told
    if found is not None:
        assert "so that every block stores the same ones" in found[1]
        assert "`blockIdx.x * blockDim.x + threadIdx.x` in place of `threadIdx.x`" in found[1]


@pytest.mark.parametrize(
    "text",
    [
        "while (atomicAdd(flag, 0) == 0);\n__syncthreads();",
        "for (int i = first; i < N; i += step) c[i] = a[first];",
        "for (int k = first; k < N; k += step) c[first++] = 0;",
        "for (int k = first; k < N; k += step) sum += 1;",
        "for (int i = 0; i < N; ++i) { most = a[most]; }",
        "for (int i = 0; i < N; ++i) {\n    x = a[i];\n    sum += x;\n}",
        "do {\n    i++;\n} while (i < N);\n{",
        "for (int i = 0; i < N; i = 2 * i + 1) {}",
        "for (p = head; p < N; p = next) { next = p + 1; next++; }",
        "for (unsigned char b = 0; b < 255; b++) {}",
        "for (char b = 0; b < N; b++) {}",
        "for (uint8_t b = 0; b < 256; b++) {\n    if (b == 255) break;\n}",
        f"{OF_N}for (int j = i; j < N; j += gridDim.x * B) out[j] = in[j];",
        f"{OF_N}for (int j = i; j < N; ++j) sum += in[j];",
        f"{OF_N}int first = (blockIdx.x * B + threadIdx.x) * 4;\nfor (int j = first; j < N; ++j) out[j] = in[j];",
        "while (atomicCAS(bin, old, old + 1) != old) old = *bin;",
        "do {\n    old = *bin;\n} while (atomicCAS(bin, old, old + 1) != old);",
        "const int free = 0;\nwhile (atomicCAS(lock, free, 1) != free) {}",
    ],
)
def test_a_loop_that_may_be_right_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = t; i < N; i += 10) {}",
        "for (int e = t; e < N; e += step) {\n    if (a[e]) {\n        return;\n    }\n    ++n;\n}",
        "while (true) {\n    if (a[e]) {\n        ++e;\n        continue;\n    }\n    break;\n}",
        "for (; r < M; r += s) {\n    int c = t;\n    for (; c < N; c += s) {\n        out[c] = 0;\n    }\n}",
        "for (int i = t; i < N; i += threadIdx.x + 1) {}",
        "for (int i = t; i < N;) {\n    i += stride;\n}",
        "for (int half = 4; half >= 0; half /= 2) {\n    if (half == 0) break;\n}",
        "for (int half = 4; half > 0; half /= 2) {}",
        "while (half >= 0) {\n    half = half / 2 - 1;\n}",
        "while (i < N) {\n    if (x) {\n        y = 0;\n    }\n    ++i;\n}",
        "while (i < N) {\n    if (c[i]) break;\n}",
        "while (i < N)\n    for (int k = 0; k < 4; ++k) i += k;",
        "while (i++ < N) {\n    sum += x[i];\n}",
        "do {\n    i += 4;\n} while (i < N);",
        "int* p = &i;\nwhile (i < N) {\n    ++*p;\n}",
        "__device__ void go(int& i) { ++i; }\nvoid k() {\n    while (i < N) {\n        go(i);\n    }\n}",
        "#define GO ++i\nvoid k() {\n    while (i < N) {\n        GO;\n    }\n}",
        "__shared__ volatile int done;\nwhile (done < 4) {\n    sum += 1;\n}",
        "while (p->next < N || x[3] < *q) {\n    sum += 1;\n}",
        "while (true) {\n    sum += 1;\n}",
        "for (int s = 1; s < 8; s <<= 1) {}",
        "for (int i = t; i < N; ++i) {\n    if (in[i] < 0) continue;\n    sum += in[i];\n}",
        "while (i < N) {\n    if (in[i] < 0) {\n        ++i;\n        continue;\n    }\n    ++i;\n}",
        "while (n < N) {\n    const float x = drawn(&state);\n    if (x > 1) continue;\n    ++n;\n}",
        "while (n < N) {\n    p = next[p];\n    if (p < 0) continue;\n    ++n;\n}",
        "while (i < N) {\n    for (int k = 0; k < 4; ++k) {\n        if (k) continue;\n    }\n    i++;\n}",
        "int p = t;\nwhile (p < N) {\n    p = next[p];\n}",
        "int p = t;\nwhile (p < N) {\n    p = at(s);\n}",
        "int p = t;\nwhile (p < N) {\n    if (a) p = 4;\n    else p = p + 1;\n}",
    ],
)
def test_a_loop_that_ends_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


KERNEL = "constexpr int U = 4;\n__global__ void k(const float* in, float* out, int N)\n{{\n    {}\n}}\n"


@pytest.mark.parametrize(
    ("loop", "sentence"),
    [
        ("for (; i + 3 * stride < N; i += U * stride) {}",
         "takes 4 at a time where all 4 are there, `i + 3 * stride < N`, and nothing takes what is left, which at "
         "small sizes is all: go on in a second loop behind it, `for (; i < N; i += stride)`."),
        ("for (int k = 0; k + 8 <= N; k += 8) {}",
         "in a second loop behind it, `for (; k < N; k += 1)`, with `k` declared in front of both."),
        ("while (i + 3 < N) {\n    i += 4 * gridDim.x * blockDim.x;\n}", "go on with what is left one by one."),
    ],
)  # fmt: skip
def test_a_loop_by_groups_that_leaves_the_rest_is_told(loop: str, sentence: str) -> None:
    found = without_rest(KERNEL.format(loop))
    assert found.startswith("Line 4: the loop takes ")
    assert found.endswith(sentence)


@pytest.mark.parametrize(
    "loop",
    [
        "for (; i + 3 * stride < N; i += 4 * stride) {}\nfor (; i < N; i += stride) {}",
        "for (int k = 0; k + 4 <= N; k += 4) {}\n    if (threadIdx.x < N % 4) out[0] = 0;",
        "for (int i = t; i + 1 < N; i += stride) {}",
        "for (int i = 4 * t; i + 3 < N; i += 4) {}\n    const int rest = min(4, N);",
        "for (int i = t; i < N; i += 4) {}",
    ],
)
def test_a_loop_behind_which_the_rest_is_taken_is_not_told(loop: str) -> None:
    assert without_rest(KERNEL.format(loop)) == ""


GROUPS = "for (; i + (U - 1) * stride < N; i += U * stride) { out[i] = 0; }\n    "
BEHIND = (
    "Line 5: the loop in line 4 takes 4 at a time where all of them are there. Up to 3 are left behind it, of which "
    "this `if` takes one: "
)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        (f"{GROUPS}if (i < N) out[i] = in[i];", "`for (; i < N; i += stride)`"),
        (f"{GROUPS}if (i < N) {{\n        out[i] = in[i];\n        i += stride;\n    }}", "`while (i < N)`"),
        ("for (i = U * t; i + 3 < N; i += 4 * stride) sum += in[i];\n    if (i < N) sum += in[i];\n"
         "    for (int s = 16; s > 0; s /= 2) sum += f(sum, s);", "`for (; i < N; i += 1)`"),
        ("while (k + 4 <= N) { k += 4; }\n    if (k < N) out[row * N + k] = 0;", "`for (; k < N; k += 1)`"),
    ],
)  # fmt: skip
def test_an_if_that_takes_one_of_a_rest_is_told(text: str, mend: str) -> None:
    found = said(KERNEL.format(text), [], "k.cu")
    assert found.startswith(f"{BEHIND}{mend} in place of `if (")


@pytest.mark.parametrize(
    "text",
    [
        f"{GROUPS}for (; i < N; i += stride) out[i] = 0;",
        f"{GROUPS}if (i < N) {{ for (int k = 0; k < 3; ++k) f(k); }}",
        f"{GROUPS}if (i < N) out[i] = 0;\n    i += stride;\n    if (i < N) out[i] = 0;",
        f"{GROUPS}if (i < N) {{ out[i] = 0; if (i + stride < N) out[i + stride] = 0; }}",
        f"{GROUPS}i = 4 * rest + threadIdx.x;\n    if (i < N) out[i] = 0;",
        f"{GROUPS}for (int k = 0; k < 3; ++k) {{ if (i < N) out[i] = 0; i += stride; }}",
        f"{GROUPS}if (i < N) out[i] = 0; else return;",
        "for (; i + stride < N; i += 2 * stride) { out[i] = 0; }\n    if (i < N) out[i] = 0;",
        "for (int k = 0; k + 3 < N; k += 4) { out[k] = 0; }\n    if (k < N) out[k] = 0;",
        f"while (N > 0) {{ {GROUPS}if (i < N) {{ out[i] = 0; i += stride; }} }}",
    ],
)
def test_a_rest_that_may_be_taken_whole_is_not_told(text: str) -> None:
    assert said(KERNEL.format(text), [], "k.cu") == ""


def test_a_rest_that_a_function_takes_is_not_told() -> None:
    text = KERNEL.format(f"{GROUPS}if (i < N) rest(out, i, N);")
    assert (
        said(f"__device__ void rest(float* out, int i, int N)\n{{\n    out[i] = 0;\n}}\n{text}", [], "k.cu")
        == ""
    )


def test_a_loop_that_does_the_same_each_time_is_idle() -> None:
    assert idle(
        "for (int r = 0; r < 8; ++r) out[row] = 0;\nfor (int r = 0; r < 8; ++r) out[row + r] = 0;"
    ) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "if (t == 0) {\nfor (int j = n4 * 4; j < N; ++j) atomicAdd(&bins[in[j]], 1u);\n}\n}",
        "if (t == 0)\nfor (int j = n4 * 4; j < N; ++j) atomicAdd(&bins[in[j]], 1u);\n}",
        "if (t > 0) return;\nfor (int j = n4 * 4; j < N; ++j) atomicAdd(&bins[in[j]], 1u);\n}",
        "for (int j = n4 * 4 + t; j < N; j += gridDim.x * B) atomicAdd(&bins[in[j]], 1u);\n}",
        "const int last = t + 4;\nfor (int j = n4; j < last; ++j) atomicAdd(&bins[in[j]], 1u);\n}",
        "unsigned own[4];\nfor (int j = 0; j < 4; ++j) atomicAdd(&bins[j], own[j]);\n}",
        "for (int j = 0; j < N; ++j) sum += in[j];\natomicAdd(bins, sum / t);\n}",
        "for (int j = t + 1; j < N; ++j) atomicAdd(&bins[in[t]], in[j]);\n}",
    ],
)
def test_a_loop_that_some_threads_go_through_or_each_for_its_own_is_not_doubted(text: str) -> None:
    assert said(f"{OF_BYTES}{text}", [], "k.cu") == ""
