"""The head of a kernel file: the launch block read, refused where it is wrong, and planned for a problem."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.workbook import topics
from grader.workbook.content import content_root
from grader.workbook.expressions import parse
from grader.workbook.kernel_file import KernelFile, parse_kernel_file, parse_source
from grader.workbook.launches.plan import plan
from grader.workbook.signature import parse_signature

GEMM = parse_signature("gemm(const float* A, const float* B, float* C, int M, int N, int K)")
COPY = parse_signature("copy(const float* in, float* out, int N)")

PIPELINE = """\
// Fewer, wider transfers.
// This line belongs to the first paragraph.
//
// What it buys: a quarter of the requests.
//
// /// launch
// [[scratch]]
// name = "columns"
// dtype = "float32"
// shape = ["K", "cdiv(M, BM) * BM"]
//
// [[launch]]
// kernel = "unfold"
// args = ["A", "columns", "M", "K"]
// grid = ["SMS"]
// block = [256]
//
// [[launch]]
// kernel = "gemm<true>"
// when = "N % 4 == 0"
// grid = ["cdiv(N, BN)", "cdiv(M, BM)"]
// block = ["BM", 8, 1]
// shared = "2 * BM * 8 * 4"
// zero = ["C", "columns"]
//
// [[launch]]
// kernel = "gemm<false>"
// when = "N % 4 != 0"
// grid = ["cdiv(N, BN)", "cdiv(M, BM)"]
// block = ["BM", 8]
// ///
constexpr int BM = 32;
"""
CONSTANTS = {"BM": 32, "BN": 64}


def head(*lines: str) -> str:
    """A file that opens with a launch block of these lines, which start at line 2."""
    return "".join(f"// {line}\n" for line in ("/// launch", *lines, "///"))


def read(source: str) -> KernelFile:
    return parse_source(source, GEMM, Path("mine.cu"))


def refused(source: str) -> WarpladderError:
    with pytest.raises(WarpladderError) as caught:
        read(source)
    assert caught.value.file == "mine.cu"
    return caught.value


def test_idea_is_prose_in_paragraphs() -> None:
    assert read(PIPELINE).idea == (
        "Fewer, wider transfers. This line belongs to the first paragraph.\n\n"
        "What it buys: a quarter of the requests."
    )


def test_a_drawing_in_the_prose_stays_as_it_is() -> None:
    drawn = "//     0  1\n//     1  0\n//\n// Rows are\n// exchanged.\n"
    assert read(f"// Swizzled.\n//\n{drawn}{PIPELINE}").idea.startswith(
        "Swizzled.\n\n    0  1\n    1  0\n\nRows are exchanged."
    )


def test_kernels_and_names_to_resolve() -> None:
    rung = read(PIPELINE)
    assert rung.kernels == ("unfold", "gemm<true>", "gemm<false>")
    assert rung.constant_names == ("BM", "BN")
    assert rung.launches[1].args == ("A", "B", "C", "M", "N", "K")


def test_plan_picks_by_when_and_fills_in_numbers() -> None:
    planned = plan(read(PIPELINE), {"M": 100, "N": 200, "K": 5}, CONSTANTS, sms=132)
    unfold, gemm = planned.launches
    assert (unfold.kernel, unfold.args, unfold.grid) == ("unfold", ("A", "columns", "M", "K"), (132, 1, 1))
    assert (gemm.kernel, gemm.grid, gemm.block) == ("gemm<true>", (4, 4, 1), (32, 8, 1))
    assert (gemm.shared_bytes, gemm.zero) == (2048, ("C", "columns"))
    (columns,) = planned.scratch
    assert (columns.name, columns.dtype, columns.shape) == ("columns", "float32", (5, 128))


def test_plan_of_another_size_picks_the_other_launch() -> None:
    planned = plan(read(PIPELINE), {"M": 100, "N": 201, "K": 5}, CONSTANTS, sms=132)
    assert [launch.kernel for launch in planned.launches] == ["unfold", "gemm<false>"]


def test_scratch_that_no_launch_takes_is_not_planned() -> None:
    conditional = PIPELINE.replace('kernel = "unfold"', 'kernel = "unfold"\n// when = "K > 1"')
    rung = read(conditional.replace('zero = ["C", "columns"]', 'zero = ["C"]'))
    for depth, names in ((5, ["columns"]), (1, [])):
        planned = plan(rung, {"M": 100, "N": 200, "K": depth}, CONSTANTS, sms=132)
        assert [item.name for item in planned.scratch] == names


@pytest.mark.parametrize(
    ("grid", "extra", "said", "line"),
    [
        ("N // 32", "", "`N // 32` is 0 where M=1, N=1, K=1", 4),
        ("N // 32", "", "cdiv(N, 32) rounds up, where `//` leaves", 4),
        ("(N - 1) // 32", "", "cdiv(a, b) rounds up, `//` down", 4),
        ("N / 2", "", "not an integer: `/` gives a fraction, cdiv(N, 2) rounds up", 4),
        ("1 + N / 2", "", "cdiv(a, b) rounds up", 4),
        ("(N + K - 1) / (K + 1)", "", "cdiv(N + K - 1, K + 1) rounds up", 4),
        ("(N + 33 - 1) / 33", "", "cdiv(N, 33) rounds up", 4),
        ("(M + 31) / 33", "", "cdiv(M + 31, 33) rounds up", 4),
        ("(M + 32) / 33 / 4", "", "cdiv(M, 33 * 4) rounds up", 4),
        ("N / 7 / (K + 1)", "", "cdiv(N, 7 * (K + 1)) rounds up", 4),
        ("(M - N + (7 - 1)) / 7", "", "cdiv(M - N, 7) rounds up", 4),
        ("N % (M - 1)", "", "divides by zero", 4),
        ("BN", "", "`BN` has no value", 4),
        ("N", 'when = "N > 1"', "no launch applies where M=1", 6),
        ("N", 'shared = "N - 2"', "shared = `N - 2` is -1", 6),
    ],
)
def test_plan_refuses(grid: str, extra: str, said: str, line: int) -> None:
    rung = read(head("[[launch]]", 'kernel = "gemm"', f'grid = ["{grid}"]', "block = [32]", extra))
    with pytest.raises(WarpladderError) as caught:
        plan(rung, {"M": 1, "N": 1, "K": 1}, {}, sms=132)
    assert said in f"{caught.value}\n{caught.value.remedy}"
    assert (caught.value.file, caught.value.line) == ("mine.cu", line)


KERNEL, GRID, BLOCK = 'kernel = "gemm"', "grid = [1]", "block = [1]"


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (["[[launch]]", KERNEL, GRID, "blok = [1]"], 5, "unknown key `blok`, did you mean `block`"),
        (
            [KERNEL, GRID],
            2,
            "`kernel` stands in no launch\n  → write // [[launch]] in a line of its own above it",
        ),
        (["[[lunch]]", KERNEL], 2, "unknown key `lunch`, did you mean `launch`"),
        (["[launch]", KERNEL], 2, "write [[launch]]"),
        ([], 2, "launches nothing"),
        (["[[launch]]", KERNEL, GRID], 2, "`block` is missing"),
        (["[[launch]]", GRID, BLOCK], 2, "`kernel` is missing"),
        (["[[launch]]", "kernel = 3", GRID, BLOCK], 3, "`kernel` is 3, not a string"),
        (["[[launch]]", "kernel = gemm", GRID, BLOCK], 3, "not TOML"),
        (["[[launch]]", KERNEL, "grid = [1", BLOCK], 5, "not TOML"),
        (["[[launch]]", KERNEL, "grid = 1", BLOCK], 4, "write grid = [1]"),
        (["[[launch]]", KERNEL, "grid = []", BLOCK], 4, "not a list"),
        (["[[launch]]", KERNEL, "grid = [1, 1, 1, 1]", BLOCK], 4, "4 dimensions"),
        (["[[launch]]", KERNEL, "grid = [1.5]", BLOCK], 4, "neither a string nor an integer"),
        (["[[launch]]", KERNEL, 'grid = ["ceil(N, 2)"]', BLOCK], 4, "no function `ceil`"),
        (["[[launch]]", KERNEL, GRID, BLOCK, 'args = ["A", "D"]'], 6, "`args` names `D`"),
        (["[[launch]]", KERNEL, GRID, BLOCK, 'args = "A"'], 6, "not a list of names"),
        (["[[launch]]", KERNEL, GRID, BLOCK, 'zero = ["A"]'], 6, "it can name C"),
        (["[[launch]]", KERNEL, GRID, BLOCK, "cooperative = 1"], 6, "not true or false"),
        (["[[launch]]", KERNEL, GRID, BLOCK, "cluster = [1, 1, 1, 2]"], 6, "`cluster` has 4 dimensions"),
        (['smallest_arch = "hopper"', "[[launch]]", KERNEL, GRID, BLOCK], 2, "`hopper` is no architecture"),
        (["[[scratch]]", 'name = "A"', 'dtype = "int32"', "shape = [1]"], 3, "is a parameter"),
        (["[[scratch]]", 'name = "x"', 'dtype = "object"', "shape = [1]"], 4, "`object` is no dtype"),
        (["[[scratch]]", 'name = "x"', 'dtype = "half"', "shape = [1]"], 4, "C++'s half is float16 here"),
        (["[[scratch]]", 'name = "x"', 'dtype = "nv_bfloat16"', "shape = [1]"], 4, "is bfloat16 here"),
        (
            ["[[launch]]", KERNEL, GRID, BLOCK, "[[launch]]", KERNEL, 'grid = ["+"]', BLOCK],
            8,
            "not an expression",
        ),
    ],
)
def test_wrong_block_names_line_and_remedy(lines: list[str], line: int, said: str) -> None:
    error = refused(head(*lines))
    assert said in str(error)
    assert error.line == line


def test_missing_block_shows_one_for_this_kernel() -> None:
    error = refused('extern "C" __global__ void __launch_bounds__(256)\nmy_gemm(const float* A) {}\n')
    assert "missing launch block" in error.message
    assert error.remedy is not None
    shown = "\n".join(line.strip() for line in error.remedy.splitlines()[1:])
    rung = read(shown)  # what the remedy shows can be read
    assert rung.kernels == ("my_gemm",)
    assert plan(rung, {"M": 33, "N": 17, "K": 5}, {}, sms=1).launches[0].grid == (2, 3, 1)


def test_missing_block_of_a_topic_with_one_size() -> None:
    with pytest.raises(WarpladderError, match=r'grid = \["cdiv\(N, 256\)"\]'):
        parse_source("", COPY, Path("mine.cu"))


def test_missing_block_is_that_of_the_starter(tmp_path: Path) -> None:
    starter = tmp_path / "starter.cu"
    starter.write_text(PIPELINE.replace("BM", "64"))  # several launches, of other kernels
    mine = 'extern "C" __global__ void mine(const float* in, float* out, int N) {}\n'
    with pytest.raises(WarpladderError, match=r'grid = \["cdiv\(N, 256\)"\]'):
        parse_source(mine, COPY, Path("mine.cu"), starter)
    one = '[[launch]]\n// kernel = "copy"\n// grid = ["cdiv(N, 4 * BLOCK)"]\n// block = ["BLOCK"]'
    starter.write_text(f"// Idea.\n//\n// /// launch\n// {one}\n// ///\nconstexpr int BLOCK = 128;\n")
    with pytest.raises(WarpladderError) as caught:
        parse_source(mine, COPY, Path("mine.cu"), starter)
    shown = "\n".join(line.strip() for line in (caught.value.remedy or "").splitlines()[1:])
    rung = parse_source(shown + "\n" + mine, COPY, Path("mine.cu"))
    assert rung.kernels == ("mine",)
    launch = plan(rung, {"N": 1025}, {}, sms=1).launches[0]
    assert (launch.grid[0], launch.block[0]) == (3, 128)


def test_two_blocks() -> None:
    error = refused(PIPELINE + PIPELINE)
    assert (error.line, error.message) == (6 + PIPELINE.count("\n"), "this is a second launch block")


@pytest.mark.parametrize(
    ("end", "line", "says"),
    [
        ("", 2, "the launch block is not closed"),
        ("int x;\n", 4, "the launch block is not closed, and this line is no comment"),
        ("\n// block = [32]\n// ///\n", 4, "the launch block is not closed, and this line is no comment"),
    ],
)
def test_unclosed_block(end: str, line: int, says: str) -> None:
    error = refused(f"// Idea.\n// /// launch\n// [[launch]]\n{end}")
    assert (error.line, error.message) == (line, says)


def test_a_schedule_where_a_kernel_is_asked_for() -> None:
    with pytest.raises(WarpladderError, match="this is a Python file"):
        parse_source("class Schedule: ...\n", COPY, Path("mine.py"))


def test_ids_come_from_the_place() -> None:
    for topic in topics.discover().values():
        places = [rung.path.relative_to(content_root() / "kernels") for rung in topic.rungs]
        assert topic.ladder.ids[0] == "00_naive"
        assert places[0] == Path(f"naive/{topic.name}{topic.suffix}")
        assert topic.ladder.ids[1:] == tuple(place.stem for place in places[1:])
        assert {place.parent for place in places[1:]} == {Path("optimized") / topic.name}


def test_a_byte_order_mark_is_no_part_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(PIPELINE, encoding="utf-8-sig")
    assert parse_kernel_file(path, GEMM).source == PIPELINE


def test_text_that_is_not_utf_8_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes("// one\n// für\n".encode("latin-1"))
    with pytest.raises(WarpladderError) as refused:
        parse_kernel_file(path, GEMM)
    assert refused.value.line == 2


@pytest.mark.parametrize(("content", "said"), [(None, "cannot read"), (b"\xff\xfe\x00", "not UTF-8")])
def test_unreadable_file(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "mine.cu"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WarpladderError, match=said):
        parse_kernel_file(path, GEMM)


def test_signature() -> None:
    assert str(GEMM) == "gemm(const float* A, const float* B, float* C, int M, int N, int K)"
    assert [item.name for item in GEMM.inputs] == ["A", "B"]
    assert [item.name for item in GEMM.outputs] == ["C"]
    assert [item.name for item in GEMM.sizes] == ["M", "N", "K"]
    assert [(GEMM[name].dtype, GEMM[name].nbytes) for name in ("A", "M")] == [("float32", 8), ("int32", 4)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gemm", "not a signature"),
        ("f(const float* a, int N)", "no parameter is an output"),
        ("f(float* a, int a)", "two parameters are called `a`"),
        ("f(floot* a)", "`floot\\* a` is not a parameter"),
        ("f(float* a, half b)", "integers"),
        ("f(float* a, __nv_bfloat16 b)", "integers"),
        ("f()", "is not a parameter"),
    ],
)
def test_wrong_signature(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_signature(text)


def test_arguments_may_be_numbers() -> None:
    source = head(
        "side_step = true",
        "[[scratch]]",
        'name = "sums"',
        'dtype = "float32"',
        'shape = ["cdiv(N, T)"]',
        "[[launch]]",
        'kernel = "add"',
        'args = ["sums", "out", "-cdiv(N, T)"]',
        "grid = [1]",
        "block = [32]",
    )
    rung = parse_source(source, COPY, Path("mine.cu"))
    assert rung.side_step
    assert rung.constant_names == ("T",)
    assert plan(rung, {"N": 65}, {"T": 32}, 132).launches[0].args == ("sums", "out", -3)
    with pytest.raises(WarpladderError, match="which an int does not hold"):
        plan(rung, {"N": 2**40}, {"T": 32}, 132)


@pytest.mark.parametrize("args", ['["A", "BB"]', '["cdiv(M,"]'])
def test_arguments_that_are_neither_known_nor_numbers(args: str) -> None:
    error = refused(head("[[launch]]", 'kernel = "k"', f"args = {args}", "grid = [1]", "block = [1]"))
    assert error.line == 4


def test_arrays_copied_to_constant_memory() -> None:
    lines = ("[[launch]]", 'kernel = "k"', 'constant = { weights = "A" }', "grid = [1]", "block = [1]")
    assert plan(read(head(*lines)), {}, {}, 132).launches[0].constant == (("weights", "A"),)
    error = refused(head(*lines).replace('"A"', '"C"'))
    assert error.line == 4
    assert "`constant` names `C`" in str(error)


def test_an_argument_can_be_the_number_of_multiprocessors() -> None:
    block = ("[[launch]]", 'kernel = "k"', 'args = ["A", "SMS"]', 'grid = ["SMS"]', "block = [1]")
    assert plan(read(head(*block)), {}, {}, 132).launches[0].args == ("A", 132)


def test_sizes_that_follow_from_others_can_be_named() -> None:
    signature = replace(COPY, derived=(("half", parse("N // 2")),))
    block = ("[[launch]]", 'kernel = "k"', 'args = ["in", "half"]', 'grid = ["half"]', "block = [1]")
    rung = parse_source(head(*block), signature, Path("mine.cu"))
    assert rung.constant_names == ()
    launch = plan(rung, {"N": 10}, {}, 132).launches[0]
    assert launch.grid == (5, 1, 1)
    assert launch.args == ("in", 5)
