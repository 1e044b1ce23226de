"""NVRTC in its own process: results, determinism, cache, headers, and errors that a learner can act on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader.emulator.cache import kept
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.workbook import compiler
from grader.workbook.compiler import CompileFailed

HEADERS = sorted(
    path.name for path in Path(compilation.__file__).with_name("include").iterdir() if path.suffix != ".md"
)

SOURCE = """\
constexpr int TILE = 8 * 4;
template <int N> __device__ float power(float x) { return x * power<N - 1>(x); }
template <> __device__ float power<0>(float) { return 1.0f; }
template <int N> __global__ void many(float* out)
{
    __shared__ float tile[TILE][TILE];
    tile[threadIdx.y][threadIdx.x] = power<N>(out[threadIdx.x]) / sinf(out[threadIdx.y]);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("WARPLADDER_CACHE", str(folder))
    return folder


def test_build_has_ptx_cubin_names_and_resources() -> None:
    built = compilation.build(SOURCE, name_expressions=["many<3>", "many<5>"])
    assert ".target sm_90a" in built.ptx
    assert built.cubin.startswith(b"\x7fELF")
    assert set(built.lowered) == {"many<3>", "many<5>"}
    used = built.resources[built.lowered["many<5>"]]
    assert used.shared_bytes == 32 * 32 * 4
    assert 8 <= used.registers <= 64
    assert (used.spill_store_bytes, used.spill_load_bytes) == (0, 0)


def test_spills_and_stack_are_read_from_ptxas() -> None:
    source = """extern "C" __global__ void __launch_bounds__(1024, 2) greedy(float* a) {
        float x[64];
        for (int i = 0; i < 64; ++i) x[i] = a[i * 1024 + threadIdx.x];
        for (int r = 0; r < 9; ++r)
            for (int i = 0; i < 64; ++i) x[i] += x[(i * 7 + r) % 64] * x[(i * 5) % 64];
        for (int i = 0; i < 64; ++i) a[i * 1024 + threadIdx.x] = x[i];
    }"""
    used = compilation.build(source).resources["greedy"]
    assert used.registers <= 32
    assert used.spill_store_bytes > 0
    assert used.spill_load_bytes > 0
    assert used.local_bytes > 0


def test_images() -> None:
    built = compilation.build(SOURCE, name_expressions=["many<3>"])
    assert built.image("pycuda") == built.cubin
    text = built.image("emulator").decode()
    assert text.startswith(built.ptx.rstrip("\n"))
    assert "// ptxas info    : Used" in text
    with pytest.raises(ValueError, match="image kind"):
        built.image("cubin")


def test_ptx_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever the caller's working directory, environment and hash seed."""
    script = f"""if True:
        import hashlib, sys
        sys.path.insert(0, {str(Path(compilation.__file__).parents[3])!r})
        from grader.emulator.nvrtc import compilation
        built = compilation.build({SOURCE!r}, name_expressions=["many<3>"])
        print(hashlib.sha256(built.image("emulator")).hexdigest())
    """
    digests = set()
    for run in range(3):
        folder = tmp_path / f"folder{run}"
        folder.mkdir()
        noise = {f"NOISE_{n}": "x" * 997 * run for n in range(run)}
        environment = {**os.environ, **noise, "WARPLADDER_CACHE": str(folder), "PYTHONHASHSEED": str(run)}
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The wheels in four entries of sys.path, each with a folder `nvidia`, as pip leaves them over an older
    installation or beside a user's own."""
    _, include, *_ = compilation.find_toolkit().includes
    for entry in ("nvrtc", "runtime", "crt", "cccl"):
        (tmp_path / entry / "nvidia/cu13/include").mkdir(parents=True)
    (tmp_path / "nvrtc/nvidia/cu13/lib").symlink_to(compilation.find_toolkit().library.parent)
    others = shutil.ignore_patterns("crt", "cccl")
    shutil.copytree(include, tmp_path / "runtime/nvidia/cu13/include", ignore=others, dirs_exist_ok=True)
    shutil.copytree(include / "crt", tmp_path / "crt/nvidia/cu13/include/crt")
    (tmp_path / "cccl/nvidia/cu13/include/cccl").symlink_to(include / "cccl")
    bare = [entry for entry in sys.path if not Path(entry, "nvidia").is_dir()]
    monkeypatch.setattr(
        sys, "path", [*(str(tmp_path / entry) for entry in ("crt", "cccl", "runtime", "nvrtc")), *bare]
    )
    compilation.find_toolkit.cache_clear()
    yield tmp_path
    compilation.find_toolkit.cache_clear()


EVERY_WHEEL = """
#include <cuda/std/array>
#include <mma.h>
extern "C" __global__ void nothing(nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>*) {}
"""


def test_headers_are_found_wherever_the_wheels_lie(spread: Path) -> None:
    assert compilation.missing_headers() == []
    assert spread in compilation.find_toolkit().library.parents
    assert "nothing" in compilation.build(EVERY_WHEEL).ptx


def test_a_header_that_is_nowhere_is_named_with_its_wheel(spread: Path) -> None:
    shutil.rmtree(spread / "crt")
    (spread / "cccl/nvidia/cu13/include/cccl").unlink()
    compilation.find_toolkit.cache_clear()
    expected = [("crt/mma.h", "nvidia-cuda-crt"), ("cuda/std/climits", "nvidia-cuda-cccl")]
    assert compilation.missing_headers() == expected
    with pytest.raises(CompileFailed) as failed:
        compiler.compile_source("#include <mma.h>", file=Path("mine.cu"), kernels=())
    assert "crt/" in failed.value.message
    assert "ladder doctor" in (failed.value.remedy or "")


def test_cache_answers_without_compiling(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compilation.build(SOURCE, name_expressions=["many<3>"])
    assert len(list(own_cache.iterdir())) == 1
    monkeypatch.setattr(compilation, "_ask_child", lambda *request: pytest.fail("it compiled again"))
    assert compilation.build(SOURCE, name_expressions=["many<3>"]) == first


@pytest.mark.parametrize("damage", [b"", b"not json\n", b"{}\n", b'{"ptx_bytes": 5, "cubin_bytes": 5}\nabc'])
def test_damaged_cache_entries_are_replaced(own_cache: Path, damage: bytes) -> None:
    first = compilation.build("")
    (entry,) = own_cache.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(damage)
    assert compilation.build("") == first
    assert entry.read_bytes() == whole


def test_concurrent_writers_leave_one_whole_entry(own_cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        builds = list(pool.map(lambda _: compilation.build("__device__ int x;"), range(4)))
    assert all(built == builds[0] for built in builds)
    assert [path.suffix for path in own_cache.iterdir()] == [".build"]


def test_an_unwritable_cache_costs_time_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path / "file" / "below"))
    assert compilation.build("").ptx


def test_a_users_folders_come_before_our_headers(tmp_path: Path) -> None:
    (tmp_path / "assert.h").write_text("#define WHOSE 7\n")
    source = '#include <assert.h>\nextern "C" __constant__ int whose = WHOSE;'
    assert "whose = 7;" in compilation.build(source, options=[f"-I{tmp_path}"]).ptx


class Counted:
    """Counts what is compiled in place of the cache's having it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        compile_ = compilation._compile

        def counted(*arguments: Any) -> compilation.Build:
            self.count += 1
            return compile_(*arguments)

        monkeypatch.setattr(compilation, "_compile", counted)


def test_a_build_with_headers_of_ones_own_is_cached_by_their_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a header that another one includes, and of one that appears later."""
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path / "cache"))
    counted = Counted(monkeypatch)
    headers = tmp_path / "headers"
    (headers / "deep").mkdir(parents=True)
    (headers / "outer.h").write_text(
        '#include "deep/inner.h"\n#if __has_include("late.h")\n#include "late.h"\n#endif\n'
    )
    (headers / "deep" / "inner.h").write_text("#define SIZE 3\n")
    (headers / "unused.h").write_text("")
    source = '#include "outer.h"\nextern "C" __constant__ int size = SIZE;'

    def built() -> str:
        return compilation.build(source, options=[f"-I{headers}"]).ptx

    assert "size = 3;" in built()
    (headers / "unused.h").write_text("// changed")
    assert "size = 3;" in built()
    assert counted.count == 1
    (headers / "deep" / "inner.h").write_text("#define SIZE 4\n")
    assert "size = 4;" in built()
    (headers / "late.h").write_text("#undef SIZE\n#define SIZE 5\n")
    assert "size = 5;" in built()
    assert "size = 5;" in built()
    assert counted.count == 3


@pytest.mark.parametrize(("header", "source"), [
    ("size.h", '#define FILE "size.h"\n#include FILE\n'),  # a macro's name says nothing
    ("cuda_pipeline.h", '#include <cuda_pipeline.h>\n'),  # headers of CUDA's may include it as well
])  # fmt: skip
def test_a_build_whose_headers_are_not_known_is_done_each_time(
    header: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    (tmp_path / header).write_text("#define SIZE 3\n")
    for _ in range(2):
        compilation.build(source + "__constant__ int size = SIZE;", options=[f"-I{tmp_path}"])
    assert counted.count == 2


def test_files_behind_an_include_path_are_read_each_time(tmp_path: Path) -> None:
    header = tmp_path / "size.h"
    source = '#include "size.h"\nextern "C" __constant__ int size = SIZE;'
    for size in (3, 4):
        header.write_text(f"#define SIZE {size}\n")
        assert f"size = {size};" in compilation.build(source, options=[f"-I{tmp_path}"]).ptx


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header: str) -> None:
    assert compilation.build(f"#include <{header}>\n#include <{header}>\n").ptx


def test_headers_together_serve_ordinary_code() -> None:
    source = "".join(
        f"#include <{header}>\n" for header in (*HEADERS, "cuda_runtime.h", "cuda_fp16.h", "mma.h")
    )
    source += """
    constexpr int LARGEST = std::max(3, 5);
    constexpr float START = -INFINITY;
    static_assert(std::is_same_v<std::conditional_t<LARGEST == 5, int, float>, int>);
    static_assert(sizeof(std::size_t) == 8 && sizeof(uint) == 4 && sizeof(int64_t) == 8);
    extern "C" __global__ void k(float* a, double* d, int n, int32_t* q, std::uint64_t* r) {
        a[0] = std::sqrt(a[0]) + std::abs(a[1]) + fmaxf(START, NAN) + float(M_PI) + FLT_MAX;
        d[0] = std::sin(d[0]) + std::numeric_limits<double>::infinity() + DBL_MAX;
        q[0] = std::numeric_limits<int>::max() + INT_MIN + UINT8_MAX;
        r[0] = UINT64_MAX + offsetof(float4, y);
        std::swap(a[5], a[6]);
        std::printf("%d", LARGEST);
        std::memcpy(a, d, 8);
        if (std::isnan(a[7])) assert(n);
    }
    """
    assert compilation.build(source).resources["k"].registers > 8


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("constexpr int X = 8 * 16;", 128),
        ("const unsigned X = 7;", 7),
        ("enum { W = 31, X };", 32),
        ("#define X (-3)", -3),
        ("#define X 0", 0),
        ("constexpr bool X = true;", 1),
        ("constexpr long long X = 1ll << 40;", 1 << 40),
        ("template <int N> struct Two { enum { value = 2 * N }; };\nconstexpr auto X = Two<21>::value;", 42),
    ],
)
def test_constants(expression: str, value: int) -> None:
    source = f"constexpr int FIRST = 1;\n{expression}\n"
    assert compiler.constants(source, ["FIRST", "X"], file=Path("k.cu")) == {"FIRST": 1, "X": value}


@pytest.mark.parametrize(
    "expression",
    ["", "constexpr float X = 2.5f;", "__device__ int X;", "namespace inner { constexpr int X = 3; }"],
)
def test_not_a_constant(expression: str) -> None:
    source = f'// /// launch\n// grid = ["cdiv(N, X)"]\n// ///\nconstexpr int FIRST = 1;\n{expression}'
    with pytest.raises(WarpladderError, match="uses `X`") as caught:
        compiler.constants(source, ["FIRST", "X"], file=Path("k.cu"))
    assert (caught.value.file, caught.value.line) == ("k.cu", 2)
    assert "constexpr int X" in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "or_a_size"), [("", True), ("namespace inner { constexpr int X = 2; }", False)]
)
def test_a_name_that_the_file_does_not_have_may_stand_for_a_size(expression: str, or_a_size: bool) -> None:
    with pytest.raises(WarpladderError) as caught:
        compiler.constants(expression, ["X"], file=Path("k.cu"), sizes=["M", "N"])
    assert ("name a size, `M` or `N`, or write" in str(caught.value)) is or_a_size


@pytest.mark.parametrize(
    ("declared", "types"),
    [
        ("void k(const float* __restrict__ in, float* out, int N)", ("const float*", "float*", "int")),
        ("void k(double* out, unsigned long long N, float x)", ("double*", "unsigned long long", "float")),
        ("void k(const float4* in, void* out, const Pair* pairs)", (None, None, None)),
        (
            "void k(const half* A, half2* B, const __nv_bfloat16* C)",
            ("const half*", None, "const nv_bfloat16*"),
        ),
        ("void k()", (None,)),
    ],
)
@pytest.mark.parametrize("linkage", ["", 'extern "C" '])
def test_types_of_parameters(linkage: str, declared: str, types: tuple[str | None, ...]) -> None:
    head = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nstruct Pair { int a, b; };\n"
    source = f"{head}{linkage}__global__ __launch_bounds__(64) {declared} {{}}"
    assert compiler.parameter_types(source, "k", len(types), file=Path("k.cu")) == types


def test_types_of_an_instances_parameters() -> None:
    source = "namespace my { template <class T, int N> __global__ void k(T* out, int) {} }"
    found = compiler.parameter_types(source, "my::k<double, 3>", 2, file=Path("k.cu"))
    assert found == ("double*", "int")


def test_constants_that_hold_zeros() -> None:
    source = (
        "__constant__ float a[4]; __constant__ float b[2] = {1, 2}; __constant__ float unused[3]; __device__ int d;\n"
        'extern "C" __global__ void k(float* out, int i) { *out = a[i] + b[i] + d; }'
    )
    built = compiler.compile_source(source, file=Path("k.cu"), kernels=["k"])
    assert compiler.zero_constants(built.ptx) == ("a",)


STATE = """
{0}
extern "C" __global__ void k(float* out, int i) {{ {1} }}
"""


@pytest.mark.parametrize(
    ("declared", "body", "keeps"),
    [
        ("__device__ int d;", "out[i] = ++d;", True),
        ("", "static __shared__ int s; s = i; out[i] = s;", False),
        ("", "static int calls; out[i] = ++calls;", True),
        ("namespace { __device__ float table[4]; }", "table[i] = out[i];", True),
        ("__device__ int nobody_reads_it;", "out[i] = 1;", False),
        ("__constant__ float c[4];", "out[i] = c[i];", False),
        (
            "#include <cooperative_groups.h>",
            "cooperative_groups::this_thread_block().sync(); out[i] = 1;",
            False,
        ),
        ("#include <cstdio>", 'printf("%d\\n", i);', False),
        ("#include <cassert>", "assert(i > 0);", False),
    ],
)
def test_state_is_kept_in_device_variables_that_are_used(declared: str, body: str, keeps: bool) -> None:
    built = compiler.compile_source(STATE.format(declared, body), file=Path("k.cu"), kernels=["k"])
    assert compiler.keeps_state(built.ptx) == keeps
    assert compiler.uses_variables(built.ptx) or not keeps


@pytest.mark.parametrize(
    ("declared", "body", "uses"),
    [
        ("__constant__ float c[4];", "out[i] = c[i];", True),
        ("constexpr int N = 4;", "out[i] = N;", False),
    ],
)
def test_constants_of_the_language_are_no_variables(declared: str, body: str, uses: bool) -> None:
    built = compiler.compile_source(STATE.format(declared, body), file=Path("k.cu"), kernels=["k"])
    assert compiler.uses_variables(built.ptx) == uses


BULK_ADD = (
    "__shared__ float s[4]; "
    'asm volatile("cp.reduce.async.bulk.{} [%0], [%1], 16;" ::"l"(out), "r"((int)__cvta_generic_to_shared(s)));'
)


@pytest.mark.parametrize(
    ("body", "updates"),
    [
        ("atomicAdd(out, 1.0f);", True),
        ("if (i > 3) out[i] = atomicExch(out + 1, 1.0f);", True),
        (BULK_ADD.format("global.shared::cta.bulk_group.add.f32"), True),
        ("__shared__ float s; atomicAdd(&s, 1.0f); out[i] = s;", False),
        ("out[i] = 1.0f;", False),
    ],
)
def test_updates_of_global_memory(body: str, updates: bool) -> None:
    built = compiler.compile_source(STATE.format("", body), file=Path("k.cu"), kernels=["k"])
    assert compiler.updates_global_memory(built.ptx) == updates


@pytest.mark.parametrize(
    ("body", "adds"),
    [
        ("atomicAdd(out, 1.0f);", True),
        ("out[i] = atomicAdd(out + 1, 1.0f);", True),
        ("if (i > 3) atomicAdd_block(out, 1.0f);", True),
        ("__shared__ float s; float* at = i > 3 ? &s : out; out[1] = atomicAdd(at, 1.0f);", True),
        ("__shared__ float s; atomicAdd(&s, 1.0f); out[i] = s;", False),
        ("atomicAdd((int*)out, 1);", False),
        ("atomicAdd((double*)out, 1.0);", False),
        ("atomicExch(out, 1.0f);", False),
        (BULK_ADD.format("global.shared::cta.bulk_group.add.f32"), True),
        (BULK_ADD.format("global.shared::cta.bulk_group.add.u32"), False),
    ],
)
def test_sums_of_floats_in_global_memory(body: str, adds: bool) -> None:
    built = compiler.compile_source(STATE.format("", body), file=Path("k.cu"), kernels=["k"])
    assert compiler.adds_floats_in_global_memory(built.ptx) == adds


@pytest.mark.parametrize(
    ("ptx", "in_part"),
    [
        ("bar.sync 0;", False),
        ("bar.sync \t1, 64;", True),
        ("bar.arrive 2, %r1;", True),
        ("barrier.cta.sync.aligned 1, 64;", True),
        ("barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", False),
        ("bar.red.and.pred %p1, 1, 64, %p2;", True),
        ("bar.warp.sync -1;\nadd.s32 %r1, %r2, %r3;", False),
        ("barrier.cluster.arrive.release;", False),
        ("mbarrier.arrive.shared.b64 _, [%r1], 1;", False),
    ],
)
def test_barriers_for_a_number_of_threads(ptx: str, in_part: bool) -> None:
    assert compiler.meets_in_part(ptx) == in_part


HEAD = '// /// launch\n// [[launch]]\n// kernel = "gemm"\n// ///\n'


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        (
            "__global__ void gemm(float* C) {\n  *C = b;\n}",
            6,
            ['identifier "b" is undefined', "*C = b;", "^"],
        ),
        ("__global__ void gem(float*) {}", 3, ["the kernel `gemm`", "its kernels: gem"]),
        (
            "__global__ void gem(float*) {}",
            3,
            ['its kernels: gem. Write `kernel = "gem"` in line 3, or name the kernel `gemm` in line 5'],
        ),
        ("__global__ void gem() {}\n__global__ void geem() {}", 3, ["its kernels: gem, geem"]),
        ("template <int N> __global__ void gemm(float*) {}", 3, ["is a template", "gemm<…>"]),
        ("__device__ void gemm(float*) {}", 3, ["is not a kernel", "__global__"]),
        ("__global__ void gemm(float*) {}\nint main() { return 0; }", 6, ["host function", "main()"]),
        ("#include <vector>\n__global__ void gemm() {}", 5, ["vector", "<cmath>"]),
        (
            "__global__ void gemm(int* C) { *C = threadidx.x; }",
            5,
            ['"threadidx" is', "did you mean `threadIdx`?"],
        ),
        ("__global__ void gemm(const half* A) {}", 5, ['"half" is undefined', "#include <cuda_fp16.h>"]),
        (
            "__global__ void gemm() { cudaMalloc(0, 4); }",
            5,
            ['"cudaMalloc" is undefined', "that is host code"],
        ),
        (
            "#include <cub/cub.cuh>\n__global__ void gemm() {}",
            None,
            ["line ", ".cuh, line ", "block_reduce.cuh> in place of <cub/cub.cuh>"],
        ),
        (
            "__global__ void gemm(float* C, int i) { __shared__ float x[99999]; x[i] = i; *C = x[*C > 0]; }",
            None,
            ["399,996 bytes of static shared memory", "232,448"],
        ),
        ('__global__ void gemm() { asm("foo.bar;"); }', None, ["Unknown modifier '.bar'"]),
        ("__global__ void gemm() {}\n\u200bint x;", 6, ["U+200B, zero width space, which C++ does not know"]),
        ("__global__ void gemm() {}\nint\u00a0x;", 6, ["U+00A0, no-break space"]),
        ("__global__ void gemm(float* restrict C) {}", 5, ["for which CUDA C++ has __restrict__"]),
        (
            "__global__ void gemm(float4* C) { *C = C[1] + C[2]; }",
            5,
            ["make_float4(a.x + b.x, a.y + b.y, a.z "],
        ),
        ("__global__ void gemm(int3* C) { C[0] = C[1] * 2; }", 5, ["make_int3(a.x * b, a.y * b, a.z * b)"]),
        ("__global__ void gemm(int2* C) { C[0] = -C[1]; }", 5, ["make_int2(-a.x, -a.y)"]),
        ("__global__ void gemm(int2* C) { C->x = C[0] == C[1]; }", 5, ["a.x == b.x && a.y == b.y"]),
        (
            "__global__ void gemm(int2* C) { C[0] += C[1]; }",
            5,
            ["int2 has no operators", "a.x += b.x; a.y += b.y"],
        ),
        (
            "__global__ void gemm(float* C, int r) { C[r][r + 1] = 0; }",
            5,
            ["`C[size_t(r) * length + r + 1]`, where `length` stands for how many elements a row of `C` has"],
        ),
        ("__global__ void gemm(int i) { int x[2][2]; x[i, 1] = 0; }", 5, ["`x[1]`: write `x[i][1]`"]),
        (
            "__global__ void gemm(const int* C) { C[0] = 0; }",
            5,
            ["modifiable lvalue", "`C` is declared const in line 5: what is stored to has no const"],
        ),
        ("__global__ void gemm(int N) { float x[N]; }", 5, ["known at run time only: make the size a cons"]),
        (
            "__global__ void gemm(int N) { __shared__ int x[N]; }",
            5,
            ["make the size a constexpr. If only the launch knows it, declare extern __shared__ float x[]"],
        ),
        (
            "__global__ void gemm(int* C, int N) { auto x = (int (*)[N])C; }",
            5,
            ["x[size_t(row) * N + column]"],
        ),
    ],
)
def test_compile_error(source: str, line: int | None, said: list[str]) -> None:
    with pytest.raises(CompileFailed) as caught:
        compiler.compile_source(HEAD + source, file=Path("mine/gemm.cu"), kernels=["gemm"])
    assert (caught.value.file, caught.value.line) == ("mine/gemm.cu", line)
    for words in said:
        assert words in str(caught.value)


def test_what_is_only_read_is_not_said_to_be_declared_const() -> None:
    source = "__global__ void gemm(const float* A, float* C) { C[0] + A[0] = 1; }"
    with pytest.raises(CompileFailed, match="modifiable lvalue") as caught:
        compiler.compile_source(source, file=Path("k.cu"), kernels=[])
    assert "declared const" not in str(caught.value)


def test_many_errors_are_counted_and_kept_in_the_log() -> None:
    source = "".join(f"__device__ int f{n}() {{ return missing{n}; }}\n" for n in range(6))
    with pytest.raises(CompileFailed, match="6 errors in all") as caught:
        compiler.compile_source(source, file=Path("k.cu"), kernels=[])
    assert "missing5" not in str(caught.value)
    assert "missing5" in caught.value.log


def test_file_names_may_hold_parentheses() -> None:
    with pytest.raises(CompileFailed, match=r"mine \(2\)\.cu:2: identifier") as caught:
        compiler.compile_source("\n__device__ int x = y;", file=Path("mine (2).cu"), kernels=[])
    assert caught.value.line == 2


def test_a_nul_character_is_refused() -> None:
    with pytest.raises(CompileFailed, match="NUL character"):
        compiler.compile_source("__device__ int x;\0oops", file=Path("k.cu"), kernels=[])


def test_unknown_architecture() -> None:
    with pytest.raises(CompileFailed, match="sm_75 and later"):
        compiler.compile_source("", file=Path("k.cu"), kernels=[], arch="sm_11")


def test_a_crash_of_the_compiler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_CHILD", "grader.emulator.nvrtc.no_such_module")
    with pytest.raises(CompileFailed, match="ended with exit code 1: ModuleNotFoundError"):
        compiler.compile_source("", file=Path("k.cu"), kernels=[])


@pytest.fixture
def fresh_search() -> Iterator[None]:
    compilation.find_toolkit.cache_clear()
    yield
    compilation.find_toolkit.cache_clear()


@pytest.mark.usefixtures("fresh_search")
def test_missing_wheels_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation.sys, "path", [])
    with pytest.raises(WarpladderError, match="pip install"):
        compiler.compile_source("", file=Path("k.cu"), kernels=[])


@pytest.mark.usefixtures("fresh_search")
def test_wheels_may_lie_in_several_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one of them has made a regular package of `nvidia`."""
    installed = compilation.find_toolkit().library.parents[1]
    near, far = (tmp_path / folder / "nvidia" / "cu13" / "include" for folder in ("near", "far"))
    for folder in (near, far):
        folder.mkdir(parents=True)
    (near.parent / "lib").symlink_to(installed / "lib")
    (near.parents[1] / "__init__.py").touch()
    for header in (installed / "include").iterdir():
        (far if header.name == "crt" else near).joinpath(header.name).symlink_to(header)
    monkeypatch.setattr(compilation.sys, "path", [str(tmp_path / "near"), str(tmp_path / "far")])
    compilation.find_toolkit.cache_clear()
    assert compilation.build("#include <mma.h>").ptx


def test_parameter_sizes() -> None:
    source = """
    struct Map { alignas(64) char bytes[128]; };
    extern "C" __global__ void k(const __grid_constant__ Map m, float* a, double d, int n, short s, bool b) {}
    extern "C" __global__ void none() {}
    """
    ptx = compilation.build(source).ptx
    assert compiler.parameter_bytes(ptx, "k") == (128, 8, 8, 4, 2, 1)
    assert compiler.parameter_bytes(ptx, "none") == ()
    with pytest.raises(KeyError):
        compiler.parameter_bytes(ptx, "other")


@pytest.mark.parametrize(("of", "arch"), [((8, 0), "sm_80"), ((9, 0), "sm_90a"), ((12, 0), "sm_120a")])
def test_architecture(of: tuple[int, int], arch: str) -> None:
    assert compiler.architecture(of) == arch
    assert compiler.capability(arch) == of


def test_cache_entry_is_json_then_ptx_then_cubin(own_cache: Path) -> None:
    built = compilation.build(SOURCE, name_expressions=["many<3>"])
    (entry,) = own_cache.iterdir()
    held = kept(entry)
    assert held is not None
    head, _, body = held.partition(b"\n")
    assert json.loads(head)["arch"] == "sm_90a"
    assert body == built.ptx.encode() + built.cubin


def test_a_kernel_of_c_is_found_beside_a_function_of_its_name() -> None:
    both = """__device__ float k(float x) { return 2 * x; }
        extern "C" __global__ void k(float* out, int N) { out[N] = k(out[N]); }"""
    build = compiler.compile_source(both, file=Path("k.cu"), kernels=["k"])
    assert build.lowered == {"k": "k"}
    assert ".entry k(" in build.ptx
    not_there = f"#if 0\n{both}\n#endif\ntemplate <int> __global__ void k(float*) {{}}"
    with pytest.raises(compiler.CompileFailed, match="`k` is a template"):
        compiler.compile_source(not_there, file=Path("k.cu"), kernels=["k"])
    with pytest.raises(compiler.CompileFailed, match="several functions are called `k`"):
        compiler.compile_source(both.replace('extern "C" ', ""), file=Path("k.cu"), kernels=["k"])
