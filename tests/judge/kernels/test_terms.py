"""What a wrong element is made of is found, and said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from marking import Marking

from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.correctness.verdict import SUMS_ARE_EXACT
from grader.judge.kernels import counted_terms, explained
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.terms import told
from grader.judge.runners.runner import Runner
from grader.workbook import topics

ROWS = "const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;"
GRID = 'grid = ["cdiv(N, 32)", "cdiv(M, 8)"]\n// block = [32, 8]'
LINE = 'grid = ["cdiv(N, 64)"]\n// block = [64]'
PLACE = "const int i = blockIdx.x * 64 + threadIdx.x;"

KERNELS = {
    "the block left out": (
        "add_bias", GRID, f"{ROWS} if (x < N && y < M) out[y * N + x] = in[y * N + x] + bias[threadIdx.x];",
        {"M": 1, "N": 131},
        "has `bias`[0] in place of `bias`[32]. That is the place among those of its own block: add those of the blocks "
        "before, `blockIdx.x * 32`.",
    ),
    "four columns a thread, and the first one's": (
        "add_bias", 'grid = ["cdiv(N, 256)", "M"]\n// block = [64]',
        "const int x = blockIdx.x * 256 + threadIdx.x; for (int k = 0; k < 256; k += 64) if (x + k < N) "
        "out[blockIdx.y * N + x + k] = in[blockIdx.y * N + x + k] + bias[x];",
        {"M": 1, "N": 131}, "has `bias`[0] in place of `bias`[64].",
    ),
    "another row": (
        "transpose", GRID, f"{ROWS} if (x < N && y < M) out[x * M + y] = in[(y ^ (M > 8)) % M * N + x];",
        {"M": 31, "N": 33}, "`out`[16, 15] has `in`[14, 16] in place of `in`[15, 16].",
    ),
    "ends taken for what is outside": (
        "stencil", LINE,
        f"{PLACE} float s = 0; for (int k = i - 8; k <= i + 8; ++k) s += in[min(max(k, 0), N - 1)]; "
        "if (i < N) out[i] = s;",
        {"N": 1}, "twice in place of once. What lies outside of the array is left out",
    ),
    "one sum for several": (
        "stencil", 'grid = ["cdiv(N, 256)"]\n// block = [64]',
        "float s = 0; for (int j = 0; j < 4; ++j) { const int i = (blockIdx.x * 64 + threadIdx.x) * 4 + j; "
        "for (int k = max(i - 8, 0); k <= min(i + 8, N - 1); ++k) s += in[k]; if (i < N) out[i] = s; }",
        {"N": 2}, "That is what the element before is the sum of",
    ),
    "a warp of its own": (
        "stencil", LINE,
        f"{PLACE} const float x = i < N ? in[i] : 0; float s = x; for (int k = 1; k <= 8; ++k) s += "
        "__shfl_up_sync(0xffffffff, x, k) + __shfl_down_sync(0xffffffff, x, k); if (i < N) out[i] = s;",
        {"N": 1}, "lacks `in`[128]. What it lacks lies with another warp",
    ),
    "a term of a product": (
        "gemm", 'grid = ["cdiv(N, 32)", "cdiv(M, 8)"]\n// block = [32, 8]',
        f"{ROWS} float s = 0; if (x >= N || y >= M) return; "
        "for (int k = 0; k < K / 2 * 2; ++k) s += A[y * K + k] * B[k * N + x]; C[y * N + x] = s;",
        {"M": 31, "N": 33, "K": 17}, "lacks `A`[15, 16] and `B`[16, 16].",
    ),
    "the other way round": (
        "gemm", 'grid = ["cdiv(N, 32)", "cdiv(M, 8)"]\n// block = [32, 8]',
        f"{ROWS} float s = 0; if (x >= N || y >= M) return; for (int k = 0; k < K; ++k) "
        "s += A[y * K + k] * (N == K ? B[x * N + k] : B[k * N + x]); C[y * N + x] = s;",
        {"M": 9, "N": 9, "K": 9}, " more. Rows and columns of `B` have changed places.",
    ),
    "bytes": (
        "histogram", f'{LINE}\n// zero = ["bins"]', f"{PLACE} if (i < N) atomicAdd(&bins[in[i - (i == 70)]], 1);",
        {"N": 255}, "Counted at N=255: element 69 is added 2 times, and element 70 is never added (1 of 255).",
    ),
    "bins that nobody hands on": (
        "histogram", f'{LINE}\n// zero = ["bins"]',
        f"{PLACE} if (i < N && in[i] < 200) atomicAdd(&bins[in[i]], 1);", {"N": 255},
        "56 bins, the first of them 200, are never added to `bins`, wherever the bytes are",
    ),
    "the byte's value": (
        "histogram", f'{LINE}\n// zero = ["bins"]', f"{PLACE} if (i < N) atomicAdd(&bins[in[i]], in[i]);", {"N": 15},
        "To the count of a byte its own value is added, 2 for a byte that is 2: add 1.",
    ),
    "a ring": (
        "stencil", LINE, f"{PLACE} float s = 0; for (int k = i - 8; k <= i + 8; ++k) s += in[(k + 8 * N) % N]; "
        "if (i < N) out[i] = s;", {"N": 255}, "behind an end nothing begins again at the other one.",
    ),
    "what is behind the end": (
        "histogram", 'grid = ["cdiv(N, 256)"]\n// block = [256]\n// zero = ["bins"]',
        "const int i = blockIdx.x * 256 + threadIdx.x; atomicAdd(&bins[i < N ? in[i] : 0], 1);", {"N": 15},
        "Of bytes that are all above 0, 1 are counted as 0: what stands for bytes behind the end is counted too.",
    ),
    "another bin": (
        "histogram", f'{LINE}\n// zero = ["bins"]', f"{PLACE} if (i < N) atomicAdd(&bins[in[i] ^ 4], 1);", {"N": 1},
        "An array of one byte, 1, is counted in bin 5",
    ),
    "one lane's for all": (
        "add_bias", 'grid = ["cdiv(N, 32)", "M"]\n// block = [32]',
        "const int x = blockIdx.x * 32 + threadIdx.x; float b = 0; if (threadIdx.x == 0) b = bias[x]; "
        "b = __shfl_sync(~0u, b, 0); if (x < N) out[blockIdx.y * N + x] = in[blockIdx.y * N + x] + b;",
        {"M": 1, "N": 131}, "That is what the first lane of its warp has",
    ),
    "bytes that are alike": (
        "histogram", f'{LINE}\n// zero = ["bins"]', f"{PLACE} if (i < N) bins[in[i]] = 1;", {"N": 15},
        "and 255 bytes that are alike are counted as 1: a thread stores over what others have stored there.",
    ),
    "bytes, in bins that hold something": (
        "histogram", f'{LINE}\n// zero = ["bins"]',
        f"{PLACE} if (i < N) atomicAdd(&bins[in[i]], 1); if (i < 256) atomicAdd(&bins[i], 5);", {"N": 255}, "",
    ),
    "the weights are right": (
        "stencil", LINE,
        f"{PLACE} float s = 0; for (int k = max(i - 8, 0); k <= min(i + 8, N - 1); ++k) s += min(in[k], 9e4f); "
        "if (i < N) out[i] = s;",
        {"N": 255}, "",
    ),
    "no sum": (
        "softmax", GRID, f"{ROWS} if (x < N && y < M) y_[y * N + x] = 0;".replace("y_", "out"), {"M": 1, "N": 31}, "",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def child() -> Iterator[Runner]:
    child = Runner("emulator", threads=1)
    yield child
    child.close()


def terms_of(mistake: str, child: Runner, folder: Path, comment: str = "") -> str:
    name, launch, body, problem, _ = KERNELS[mistake]
    topic = topics.load(name)
    parameters = ", ".join(f"{item.ctype} {item.name}" for item in topic.signature.params)
    file = folder / "mine.cu"
    head = f'// /// launch\n// [[launch]]\n// kernel = "{name}"\n// {launch}\n// ///\n{comment}'
    file.write_text(f'{head}extern "C" __global__ void {name}({parameters}) {{ {body} }}\n')
    runner = CaseRunner(topic, CaseStore(topic), child)
    return told(runner, prepare(topic.parse(file), child.hello().arch), cases.make(problem, "exact"))


@pytest.mark.parametrize("mistake", KERNELS)
def test_the_terms_of_a_wrong_element_are_told(mistake: str, child: Runner, tmp_path: Path) -> None:
    found, said = terms_of(mistake, child, tmp_path), KERNELS[mistake][-1]
    assert bool(found) == bool(said)
    assert said in found


def test_of_matrices_no_warp_is_told(child: Runner, tmp_path: Path) -> None:
    found = terms_of("a term of a product", child, tmp_path, "// no __shfl_sync here\n")
    assert found.endswith("lacks `A`[15, 16] and `B`[16, 16].")


@pytest.mark.parametrize("mistake", ["bytes", "one sum for several"])
def test_a_kernel_whose_runs_take_long_is_run_no_more(
    mistake: str, child: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted_terms, "MOST_INSTRUCTIONS", 1)
    assert terms_of(mistake, child, tmp_path) == ""


VECTORS = """// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 4096)"]
// block = [256]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N / 16) return;
    const uint4 all = ((const uint4*)in)[i];
    const unsigned words[] = {all.x, all.y, all.z, all.w};
    for (unsigned word : words)
        for (int k = 0; k < 32; k += 8) atomicAdd(&bins[word >> k & 255], 1);
}
"""


def test_the_rest_behind_vectors_of_bytes_is_told_and_not_by_how_much_counts_are_off(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(VECTORS, "utf-8")
    reason = marked(topics.load("histogram"), file, problem_overrides={"N": 1}).reason or ""
    assert "the elements from 240 on are never added (15 of 255). They are the last N % 16: too few" in reason
    assert "less than it has to be" not in reason


STORES = """// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) bins[in[i]] = 1;  // for each byte
}
"""


def test_bytes_that_are_alike_are_told_of_real_data_as_well(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(STORES, "utf-8")
    reason = marked(topics.load("histogram"), file, problem_overrides={"N": 15}).reason or ""
    assert "255 bytes that are alike are counted as 1" in reason


def test_no_loop_and_no_tile_is_named_that_a_file_has_not(tmp_path: Path) -> None:
    topic = topics.load("histogram")
    file = tmp_path / "mine.cu"
    loop = STORES.replace("if (i", "while (i")
    tile = STORES.replace("{\n", "{\n    __shared__ unsigned tile[8];\n")
    for text, where in (
        (STORES, "counted twice."),
        (loop, "tail of a loop."),
        (tile, "twice, at the edge of a tile."),
    ):
        file.write_text(text, "utf-8")
        assert explained.of_text(SUMS_ARE_EXACT, topic.parse(file)).endswith(where)
