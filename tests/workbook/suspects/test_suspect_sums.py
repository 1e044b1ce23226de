"""Sums that begin with nothing, and those that elements leave again."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said
from grader.workbook.suspects.sums import counted_up, running


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("double sum; // sum = 0\nfor (;;)\n  sum += x;",
         "Line 1: `sum` has no value before it is added to in line 3: `double sum = 0.0;`."),
        ("float a, acc[4][4];\nacc[i][j] += x;",
         "Line 1: `acc` has no value before it is added to in line 2: `float acc[4][4] = {};`."),
        ("float most;\nmost = fmaxf(most, x);",
         "Line 1: `most` has no value before it is read in line 2: set it first."),
    ],
)  # fmt: skip
def test_a_variable_without_a_value_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "float sum;\nif (x) sum = 0;\nsum += x;",
        "float x;\ny.x += 1;",
        "float v;\nv = first ? x : v + x;",
        "__shared__ float s[4];\ns[t] += 1;",
        'float c[4];\nasm("mma" : "+f"(c[0]));',
    ],
)
def test_a_variable_with_a_value_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sum += in[i];\nif (i > R) {\n    sum -= in[i - R];  // leaves\n}", 3),
        ("s = s + tile[i];\ns = s - tile[i - R];", 2),
        ("for (;;)\n    s += in[i + R] - in[i - R - 1];", 2),
        ("for (;;)\n    sum += get(in, i + R + 1, N) - get(in, i - R, N);", 2),
        ("s = s - (i < R ? 0.0f : in[i - R]) + (i + R < N ? in[i + R] : 0.0f);", 1),
        ("const float enters = in[i + R];\nconst float leaves = in[i - R];\nsum += enters - leaves;", 3),
        ("sum += get(in, i, N);\nif (i > R)\n    sum = sum - get(in, i - R, N);", 3),
        ("sum += in[i - R] + in[i + R];\nsum += get(in, i - 1, N) + get(in, i + 1, N);", 0),
        ("{\n    sum += in[i];\n}\n{\n    sum -= in[0];\n}", 0),
        ("sum += dy[i] * x[i];\nsum -= dy[i] * mean;", 0),
        ("sum += get(a, i, N) - get(b, i, N);\nsum += fabsf(x) - fabsf(y);", 0),
        ("sum += in[i];\nsum -= mean;\nother -= in[i];", 0),
        ("sum += a[i] - b[i];", 0),
    ],
)
def test_a_sum_that_elements_leave_again_is_told(text: str, line: int) -> None:
    found = running(text)
    assert found.startswith(f"Line {line}: `") if line else not found
    assert not line or "in common can be added up once, and to that the other elements of each." in found


RETURNS = "was before this thread has added to it, and not the sum: take"
RUN = """for (int i = t; i < N; ++i) {
    if (in[i] == last) {
        ++n;
    } else {
        atomicAdd(&bins[last], n);
        last = in[i];
        n = 1;
    }
}
"""
OTHER = """while (i < N) {
    if (in[i] != last) {
        bins[last] += n;
        n = 0;
        last = in[i];
    }
    ++n;
    ++i;
}
"""
NEVER = "is handed on where a condition holds, and what it has when the loop ends never is:"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("float sum = atomicAdd(&total, x);\n__syncthreads();\natomicAdd(out, sum);\n}",
         f"Line 1: atomicAdd returns what `total` {RETURNS} `total` in place of `sum` in line 3, once all have added, "
         "which in a block is behind a __syncthreads()."),
        ("unsigned n = atomicAdd(&counts[b], k);\nbins[b] = n;",
         f"Line 1: atomicAdd returns what `counts[b]` {RETURNS} `counts[b]` in place of `n` in line 2, once all have "
         "added, which in a block is behind a __syncthreads()."),
        ("bins[v] = atomicAdd(&bins[v], 1);",
         "Line 1: atomicAdd changes `bins[v]` itself, and returns what was there before, with which `bins[v] =` then "
         "stores over it: leave `bins[v] =` out."),
        ("if (t == 0)\n    *most += atomicMax(most, x);",
         "Line 2: atomicMax changes `*most` itself, and returns what was there before, with which `*most +=` then "
         "stores over it: leave `*most +=` out."),
        ("if (i < N) { counts[a[i]] = atomicAdd(counts + a[i], 1u); }",
         "Line 1: atomicAdd changes `counts[a[i]]` itself, and returns what was there before, with which "
         "`counts[a[i]] =` then stores over it: leave `counts[a[i]] =` out."),
        ("float old = atomicAdd(&total, x);\ntotal = old;",
         "Line 1: atomicAdd changes `total` itself, and returns what was there before, with which `total = old;` in "
         "line 2 then stores over it: leave `total = old;` out."),
        ("if (t) {\n    int old = atomicAdd(&bins[v], 1);\n    bins[v] = old + 1;\n}",
         "Line 2: atomicAdd changes `bins[v]` itself, and returns what was there before, with which `bins[v] = old + "
         "1;` in line 3 then stores over it: leave `bins[v] = old + 1;` out."),
        (RUN, f"Line 5: `n` {NEVER} do the same once more behind the loop."),
        (OTHER, f"Line 3: `n` {NEVER} do the same once more behind the loop."),
    ],
)  # fmt: skip
def test_a_sum_that_is_handed_on_too_early_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "int place = atomicAdd(&count, 1);\nout[i] = place;",
        "float before = atomicAdd(&total, x);\nout[i] = before + x;",
        f"{RUN}atomicAdd(&bins[last], n);",
        "place[v] = atomicAdd(&bins[v], 1);",
        "int old = atomicAdd(&bins[v], 1);\nv = before[v];\nbins[v] = old;",
        "unsigned old = atomicCAS(at, was, now);\nwas = old;",
        "x = known ? 1 : atomicAdd(&x, 1);",
        OTHER.replace("in[i] != last", "i % 4 == 3"),
    ],
)
def test_a_sum_that_is_handed_on_in_time_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


OF_EACH_TURN = (
    "each turn of the loop adds all that `sum` has by then, so that what the turns before have added up is added "
    "again: put `{}` behind the loop that begins in line {}."
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("float sum = 0;\nfor (int i = t; i < N; i += 8) {\n    sum += in[i];\n    atomicAdd(out, sum);\n}",
         f"Line 4: {OF_EACH_TURN.format('atomicAdd(out, sum);', 2)}"),
        ("float sum = 0;\nwhile (i < N) {\n    sum = sum + in[i];\n    i += 8;\n    out[t] += sum;\n}",
         f"Line 5: {OF_EACH_TURN.format('out[t] += sum;', 2)}"),
        ("float sum = 0;\nfor (int r = 0; r < M; ++r)\n  for (int c = 0; c < N; ++c) {\n    sum += in[c];\n"
         "    if (threadIdx.x == 0) atomicAdd(&out[b], sum);\n}",
         f"Line 5: {OF_EACH_TURN.format('if (threadIdx.x == 0) atomicAdd(&out[b], sum);', 2)}"),
        ("for (int r = 0; r < M; ++r) {\n  float sum = 0;\n  for (int c = 0; c < N; ++c) {\n"
         "    sum = fmaf(a[c], b[c], sum);\n    out[r] += sum;\n  }\n}",
         f"Line 5: {OF_EACH_TURN.format('out[r] += sum;', 3)}"),
    ],
)  # fmt: skip
def test_a_sum_that_each_turn_adds_as_far_as_it_is_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "body",
    [
        "sum += in[i]; atomicAdd(&out[i], sum);",  # a sum of all before it for each element
        "sum += in[i]; if (i + 8 >= N) atomicAdd(out, sum);",
        "sum += in[i]; if (i % 4 == 3) { atomicAdd(out, sum); sum = 0; }",
        "sum += in[i]; atomicAdd(out, sum); sum = 0;",
        "float sum = in[i]; sum += 1; atomicAdd(out, sum);",
        "sum += in[i]; const int b = i / 4; out[b] += sum;",
        "sum += in[i]; place = atomicAdd(out, sum);",
        "sum += in[i]; for (int k = 0; k < 2; ++k) out[k] += sum;",
        "sum += in[i]; total += sum;",
        "sum += in[i]; atomicAdd(out, sum); if (i > M) return;",
    ],
)
def test_a_sum_that_is_added_elsewhere_or_begins_anew_is_not_told(body: str) -> None:
    text = f"float sum = 0;\nfor (int i = t; i < N; i += 8) {{ {body} }}"
    assert "each turn" not in said(text, [], "k.cu")


def test_a_counter_that_nothing_sets_is_found() -> None:
    assert counted_up("void k() {\n    n = atomicAdd(done, 1);\n}", "done") == 2
    assert counted_up("atomicInc(&done[0], 4);", "done") == 1
    assert counted_up("*done = 0;\natomicAdd(done, 1);", "done") == 0
    assert counted_up("done[t] = 0;\natomicAdd(&done[t], 1);", "done") == 0
    assert counted_up("atomicAdd(doneness, 1);", "done") == 0
