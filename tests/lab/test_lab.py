"""Cells, counts, predictions, tasks and sliders of notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grader.lab as lab
from grader.analysis.intensity import RegisterTile, instruction_ratio
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.lab import cells, sliders
from grader.report.reproducing import again

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TRANSPOSE = lab.cell("transpose/00_naive").text
SIZE = {"M": 64, "N": 64}
SCALE = """
__global__ void scale(const float* in, float* out, int stride)
{
    out[threadIdx.x] = 2 * in[stride * threadIdx.x];
}
"""


@pytest.fixture
def shell() -> Iterator[Any]:
    """An IPython shell with the extension, in which nothing was run yet."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "grader.lab")
    yield shell
    InteractiveShell.clear_instance()


# ---- cells -------------------------------------------------------------------------------------------------


def test_a_cell_is_a_name_a_topic_and_its_text() -> None:
    assert lab.parse_cell("%%kernel mine --topic gemm\nint x;\n") == ("mine", "gemm", "\nint x;\n")
    assert lab.parse_cell("%%kernel mine --topic=gemm\n") == ("mine", "gemm", "\n\n")
    assert lab.parse_cell("%%kernel own\nint x;") == ("own", None, "\nint x;\n")
    assert lab.parse_cell("%%kernels own\nint x;") is None
    assert lab.parse_cell("print(1)") is None


@pytest.mark.parametrize("line", ["", "two words", "a --topics gemm", "a --topic", "../a", "a/b"])
def test_a_magic_line_that_cannot_be_read_says_how_it_is_written(line: str) -> None:
    with pytest.raises(WarpladderError, match="%%kernel NAME --topic TOPIC"):
        lab.parse_cell(f"%%kernel {line}\n")


def test_a_rung_has_a_name_and_unknown_kernels_do_not() -> None:
    assert lab.cell("transpose/00_naive").topic == "transpose"
    cells.keep("scale", None, SCALE)
    with pytest.raises(WarpladderError, match="did you mean `scale`"):
        lab.cell("scal")
    with pytest.raises(WarpladderError, match="belongs to no topic"):
        lab.counters("scale")


def test_line_numbers_are_those_of_the_cell(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("%%kernel broken\n__global__ void f(float* x)\n{\n    x[0] = y;\n}")
    assert "broken.cu:4" in capsys.readouterr().out


def test_the_magic_keeps_and_compiles(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("%%kernel two\ntemplate <int N>\n__global__ void g(float* x) { x[0] = N; }\n" + SCALE)
    said = capsys.readouterr().out
    assert "scale:" in said
    assert "g: a template" in said
    shell.run_cell(f"%%kernel mine --topic transpose\n{TRANSPOSE}")
    assert "for transpose" in capsys.readouterr().out
    assert lab.cell("mine").topic == "transpose"


def test_our_errors_are_shown_without_a_traceback(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = shell.run_cell("%%kernel mine --topic transpos\nint x;")
    said = capsys.readouterr().out
    assert isinstance(result.error_in_exec, WarpladderError)
    assert "did you mean `transpose`" in said
    assert "Traceback" not in said


def test_a_variant_changes_constants_and_text() -> None:
    lab.variant("tall", "transpose/00_naive", {"threadIdx.x": "threadIdx.y"}, ROWS=4)
    text = lab.cell("tall").text
    assert "constexpr int ROWS = 4;" in text
    assert "threadIdx.x" not in text
    with pytest.raises(WarpladderError, match="there is no `constexpr int COLUMNS"):
        lab.variant("wide", "transpose/00_naive", COLUMNS=4)
    with pytest.raises(WarpladderError, match="there is no `float5`"):
        lab.variant("wide", "transpose/00_naive", {"float5": "float4"})


# ---- counts ------------------------------------------------------------------------------------------------


def test_a_submission_is_counted_at_any_size() -> None:
    counts = lab.counters("transpose/00_naive", **SIZE)
    assert counts.load_sectors == 64 * 64 // 8
    assert counts.store_sectors == 64 * 64
    assert counts["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == counts.store_sectors
    assert counts.tensor_ops == 0
    assert counts.faults == []
    assert lab.counters("transpose/00_naive", **SIZE) is counts
    with pytest.raises(KeyError):
        counts["load_sectors"]
    with pytest.raises(AttributeError, match="short names are"):
        _ = counts.loads


def test_a_wrong_submission_is_counted_and_says_so() -> None:
    lab.variant("wrong", "transpose/00_naive", {"size_t(column) * M + row": "size_t(row) * N + column"})
    counts = lab.counters("wrong", **SIZE)
    assert counts.store_sectors == 64 * 64 // 8
    assert counts.faults
    assert "fail" in repr(counts)


def test_a_kernel_of_ones_own_is_launched_and_counted() -> None:
    cells.keep("scale", None, SCALE)
    numbers, doubled = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    counts = lab.count("scale", numbers, doubled, np.int32(2), grid=1, block=32)
    assert np.array_equal(doubled, 2 * numbers[::2])
    assert (counts.load_sectors, counts.load_requests) == (8, 1)
    assert counts.registers > 0
    assert counts.verified(True).faults == []
    assert counts.verified(False).faults

    driver = lab.device().driver
    launched = np.zeros(32, np.float32)
    lab.function("scale")(
        driver.In(numbers), driver.Out(launched), np.int32(2), grid=(1, 1), block=(32, 1, 1)
    )
    assert np.array_equal(launched, doubled)


def test_faults_name_the_line_of_the_cell() -> None:
    cells.keep("scale", None, SCALE)
    counts = lab.count(
        "scale", np.zeros(8, np.float32), np.zeros(32, np.float32), np.int32(1), grid=1, block=32
    )
    assert counts.faults[0].startswith("line 4: out of bounds")


def test_one_of_several_kernels_has_to_be_named() -> None:
    cells.keep("two", None, "template <int N>\n__global__ void g(int* x) { x[0] = N; }\n" + SCALE)
    out = np.zeros(1, np.int32)
    lab.count("two", out, grid=1, block=1, kernel="g<7>")
    assert out[0] == 7
    cells.keep("only", None, "template <int N>\n__global__ void g(int* x) { x[0] = N; }\n")
    with pytest.raises(WarpladderError, match="no single kernel"):
        lab.count("only", out, grid=1, block=1)
    cells.keep("none", None, "int x;")
    with pytest.raises(WarpladderError, match="the cell has no kernel"):
        lab.build("none")


def test_a_comparison_shows_what_differs() -> None:
    naive, tile = (lab.counters(f"transpose/{rung}", **SIZE) for rung in ("00_naive", "02_shared_tile"))
    both = lab.compare({"naive": naive, "tile": tile})
    assert "store_sectors" in both.rows
    assert "load_sectors" not in both.rows
    assert "0.125" in repr(both)
    assert lab.compare({"one": naive, "same": naive}).rows == []
    assert lab.compare({"one": naive, "same": naive}, "load_sectors").rows == ["load_sectors"]
    with pytest.raises(WarpladderError, match="`sectors` is not counted"):
        lab.compare({"naive": naive}, "sectors")


def test_a_grade_names_the_kernel_and_how_to_see_a_failure_again() -> None:
    lab.variant("no_barrier", "transpose/02_shared_tile", {"__syncthreads();": ""})
    result = lab.grade("no_barrier", M=33, N=31, seed=7)
    assert result.file == "no_barrier.cu"
    assert result.cases[-1].reproduce is not None
    assert again(result.cases[-1].reproduce) == 'lab.grade("no_barrier", M=33, N=31, seed=7)'
    assert lab.profile("transpose/00_naive", **SIZE).file == "kernels/naive/transpose.cu"


def test_a_schedule_has_facts() -> None:
    facts = lab.schedule("streams/00_naive", N=1 << 20, R=1)
    assert facts.htod_bytes == 4 << 20
    assert facts.engines_busy <= 1
    assert "copy in" in repr(facts)
    with pytest.raises(WarpladderError, match="is a kernel, no schedule"):
        lab.schedule("transpose/00_naive")
    with pytest.raises(WarpladderError, match="it is a schedule"):
        lab.counters("streams/00_naive", N=1 << 20, R=1)


def test_source_is_quoted_by_its_lines() -> None:
    shown = repr(lab.source("transpose/02_shared_tile", "out[size_t", "out[size_t"))
    assert shown.strip().endswith("= tile[x][y];")
    with pytest.raises(WarpladderError, match="no line with `nowhere`"):
        lab.source("transpose/02_shared_tile", "nowhere")


def test_machine_code_is_what_was_asked_for() -> None:
    source = """extern "C" __global__ void all(const float* a, float* b)
    {
        __shared__ float s[64];
        s[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        float x = s[63 - threadIdx.x];
        b[threadIdx.x] = __fmaf_rn(__fmul_rn(x, x), x, __fadd_rn(x, 1.5f));
    }"""
    for arch in ("sm_75", "sm_80", "sm_90a", "sm_100"):
        code = lab.machine_code(compilation.build(source, arch=arch).cubin)
        assert code.arch == arch.rstrip("a")
        found = code.kernels["all"]
        assert {
            name: found[name] for name in ("LDG", "STS", "BAR", "LDS", "FMUL", "FADD", "FFMA", "STG")
        } == (dict.fromkeys(("LDG", "STS", "BAR", "LDS", "FMUL", "FADD", "FFMA", "STG"), 1))
    with pytest.raises(ValueError, match="no cubin"):
        lab.machine_code(b"PTX")


# ---- pictures and sliders ----------------------------------------------------------------------------------


def test_pictures_describe_themselves() -> None:
    assert "31 bank conflicts" in repr(lab.banks(lambda lane: 128 * lane))
    assert "8 sectors" in repr(lab.sectors([8 * lane for lane in range(32)]))
    assert "4 warps" in repr(lab.warps(20, 6))
    assert "The last warp has 24 threads" in repr(lab.warps(20, 6))


def test_a_slider_redraws_its_picture() -> None:
    pytest.importorskip("ipywidgets")
    slider = lab.banks_slider(stride=1)
    assert "no bank conflict" in repr(slider)
    slider.controls["stride"].value = 2
    assert "1 bank conflict" in repr(slider)
    occupancy = lab.occupancy_slider("A100", registers=32)
    assert "100 %" in repr(occupancy)
    occupancy.controls["registers"].value = 128
    assert "25 %" in repr(occupancy)


def test_a_slider_shows_the_ratio_that_a_kernel_has() -> None:
    pytest.importorskip("ipywidgets")
    slider = lab.ratio_slider(rows=8, columns=8)
    assert "16 loads, 64 multiply-adds: a ratio of 4." in repr(slider)
    slider.controls["width"].value = 4
    assert "4 float4 loads, 64 multiply-adds: a ratio of 16." in repr(slider)
    counts = lab.counters("gemm/04_register_tile_2d", M=128, N=128, K=128)
    assert RegisterTile(8, 8).ratio == pytest.approx(instruction_ratio(counts), rel=0.05)
    assert counts.registers >= RegisterTile(8, 8).registers


def test_a_slider_shows_from_which_batch_on_arithmetic_is_the_limit() -> None:
    pytest.importorskip("ipywidgets")
    slider = lab.batch_slider()
    assert "Reading takes at least 160 µs, arithmetic 543 ns: memory is the limit." in repr(slider)
    assert "Both are equal at 295 vectors" in repr(slider)  # 989.4 TFLOP/s over 3.35 TB/s
    slider.controls["vectors"].value = 512
    assert "arithmetic 278 µs: arithmetic is the limit." in repr(slider)
    slider.controls["bits"].value = 4
    assert "Reading takes at least 40.1 µs" in repr(slider)


def test_a_slider_shows_that_no_cache_is_long_enough_for_arithmetic() -> None:
    pytest.importorskip("ipywidgets")
    slider = lab.decode_slider()
    before = "Reading 2.15 GB takes at least 641 µs, arithmetic 17.4 µs: memory is the limit."
    assert before in repr(slider)
    assert "Both would be equal at 295." in repr(slider)  # 989.4 TFLOP/s over 3.35 TB/s
    slider.controls["tokens"].value = 131072
    slider.controls["sequences"].value = 4
    assert before in repr(slider)
    slider.controls["group"].value = 1
    assert "Reading 17.2 GB takes at least 5.13 ms, arithmetic 17.4 µs: memory" in repr(slider)


def test_without_widgets_the_picture_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliders.importlib.util, "find_spec", lambda name: None)
    slider = lab.banks_slider(stride=32)
    assert slider.controls == {}
    assert "31 bank conflicts" in repr(slider)


# ---- accesses ----------------------------------------------------------------------------------------------


def test_the_accesses_of_a_rung_are_a_picture() -> None:
    picture = lab.accesses("transpose/00_naive")
    assert "transpose/00_naive: what one block accesses" in picture.svg
    assert "in (64 × 64), read from global memory: block 1,024 · warp 32 · thread 4" in repr(picture)
    with pytest.raises(WarpladderError, match="ladder profile"):
        lab.accesses("streams/00_naive")
