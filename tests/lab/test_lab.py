"""Cells, counts, predictions, tasks and sliders of notebooks, and that each .ipynb is what its text says."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import grader.lab as lab
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
    result = shell.run_cell("%%kernel mine --topic gem\nint x;")
    said = capsys.readouterr().out
    assert isinstance(result.error_in_exec, WarpladderError)
    assert "did you mean `gemm`" in said
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


# ---- predictions and tasks ---------------------------------------------------------------------------------


def test_a_prediction_is_open_right_or_wrong() -> None:
    assert lab.predict("a", None, lambda: 32).state == "open"
    assert lab.predict("a", 32, lambda: 32).state == "right"
    assert lab.predict("a", 31.9, 32, tolerance=0.01).state == "right"
    wrong = lab.predict("a", 8, 32, hint="Look at `row`.", unit="sectors")
    assert wrong.state == "wrong"
    assert "4 times too small" in repr(wrong)
    assert "32" not in repr(wrong)
    assert "Look at <code>row</code>." in wrong._repr_html_()
    assert lab.reveal("a") == 32


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (33, "a little too large"),
        (0, "too small"),
        (-5, "too small"),
        ("x", "not it"),
        (64, "2 times too large"),
    ],
)
def test_a_wrong_prediction_says_which_way(value: float | str, said: str) -> None:
    assert lab.predict("b", value, 32).says.endswith(f"{said}.")


@pytest.mark.parametrize("value", [[1, 2], float("nan"), float("inf"), 10**400, True, np.zeros(2), 1j])
def test_what_is_no_answer_is_refused_and_not_kept(value: Any) -> None:
    lab.predict("kept", 3, 32)
    with pytest.raises(WarpladderError, match=r"`kept` takes a number or a word, and .{1,40} is neither"):
        lab.predict("kept", value, 32)
    assert lab.item("kept").written == "3"
    assert lab.score()


def test_numbers_of_any_kind_and_size_are_answers() -> None:
    assert lab.predict("b", np.float32(0.25), 0.25).state == "right"
    assert lab.predict("b", np.int64(32), 32).state == "right"
    assert lab.predict("b", 1e99, 32).says == "1e+99 is more than a million times too large."
    assert lab.predict("b", 1, 1, unit="sectors a request").says == "right: 1 sector a request."


def test_words_agree_whatever_their_case() -> None:
    assert lab.predict("c", "Shared memory ", "shared memory").state == "right"
    assert lab.predict("c", "shared/L1", "shared").state == "right"
    assert lab.predict("c", "dram/l2/shared/fma", "shared").state == "wrong"
    assert lab.predict("c", "registers", "shared memory").state == "wrong"


def test_an_open_prediction_hides_its_answer_behind_a_click() -> None:
    page = lab.predict("d", None, 12345, unit="sectors")._repr_html_()
    assert page.index("<details>") < page.index("12,345 sectors") < page.index("</details>")
    assert "<details>" not in lab.predict("d", 12345, 12345)._repr_html_()


def test_a_task_is_done_when_the_counters_show_it() -> None:
    naive, tile = (lab.counters(f"transpose/{rung}", **SIZE) for rung in ("00_naive", "02_shared_tile"))

    def few(counts: lab.Counts) -> bool:
        return counts.store_sectors <= 512

    assert lab.task("e", naive, few, tile, hint="Turn it.").state == "open"
    assert "__syncthreads" in repr(lab.reveal("e"))
    assert lab.task("e", tile, few, tile).state == "right"
    assert lab.task("e", tile.verified(False), few, tile).state == "wrong"
    with pytest.raises(WarpladderError, match="does not do what it should"):
        lab.task("e", tile, few, naive)


def test_the_score_has_every_item() -> None:
    lab.predict("f", 1, 1)
    lab.predict("g", None, 1)
    score = lab.score()
    assert {"f": "right", "g": "open"}.items() <= {item.id: item.state for item in score.items}.items()
    assert f"{score.right} of {len(score.items)} right" in repr(score)
    assert "of what was asked so far" in repr(score)
    with pytest.raises(WarpladderError, match="nothing was asked under `h`"):
        lab.reveal("h")


def test_the_score_says_what_was_not_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.predict("f", 1, 1)
    source = ["lab.predict(\n", '    "f", 1, 1)\n', "lab.task('later', yours, reached, solution)"]
    notebook = tmp_path / "own.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": source}]}))
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    score = lab.score()
    assert score.missing == ("later",)
    assert f"{score.right} of {len(score.items) + 1} right" in repr(score)
    assert "not reached" in repr(score)


# ---- pictures and sliders ----------------------------------------------------------------------------------


def test_pictures_describe_themselves() -> None:
    assert "31 bank conflicts" in repr(lab.banks(lambda lane: 128 * lane))
    assert "8 sectors" in repr(lab.sectors([8 * lane for lane in range(32)]))


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


def test_without_widgets_the_picture_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliders.importlib.util, "find_spec", lambda name: None)
    slider = lab.banks_slider(stride=32)
    assert slider.controls == {}
    assert "31 bank conflicts" in repr(slider)


# ---- notebooks ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sync() -> ModuleType:
    pytest.importorskip("jupytext")
    spec = importlib.util.spec_from_file_location("notebooks_sync", NOTEBOOKS / "sync.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_ipynb_is_what_its_text_says(sync: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    stale = sync.main(check=True)
    assert not stale, capsys.readouterr().out
    assert {path.stem for path in sync.sources()} == {path.stem for path in NOTEBOOKS.glob("*.ipynb")}


def test_notebooks_are_kept_without_outputs() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            assert not cell.get("outputs"), path.name
