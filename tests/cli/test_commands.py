"""The command line: its exit codes, its JSON, its errors, and that it fits 80 columns."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import little_interview
import pytest

import grader
from grader.cli import own_kernels
from grader.cli.options import activation
from grader.history.outcomes import Graded
from grader.history.store import Store
from grader.judge import clean
from grader.judge.runners import pool
from grader.judge.runners.first import First
from grader.ladder import main
from grader.results import Climb, Device, Grade, Provenance, RungResult
from grader.workbook import content, exercises, topics
from grader.workbook.content import content_root
from grader.workbook.topics import Topic

COMMANDS = (
    "topics", "climb", "grade", "hint", "editor", "profile", "emulate", "run", "new", "check", "doctor", "occupancy",
    "roofline", "model",
)  # fmt: skip
LD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
LD_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
ST_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


class Done(NamedTuple):
    code: int
    out: str
    err: str


Ladder = Callable[..., Done]


@pytest.fixture
def ladder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ladder:
    """Runs `ladder ARGUMENTS…` in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["ladder", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run


def fits(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


class Opened:
    """Stands for a grade's pool."""

    begun, closed = Event(), Event()

    def __init__(self, *_: object, first: First | None) -> None:
        assert first is not None, "begun before the imports"
        self.begun.set()

    def close(self) -> None:
        self.closed.set()


def test_children_start_while_a_topic_is_read_and_end_where_there_is_none(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = topics.load

    def slow(name: str, **more: bool) -> Topic:
        assert Opened.begun.wait(timeout=20)
        return load(name, **more)

    monkeypatch.setattr(pool, "DevicePool", Opened)
    monkeypatch.setattr(topics, "load", slow)
    assert "there is no topic `nosuch`" in ladder("grade", "nosuch", "mine.cu").err
    assert Opened.closed.is_set()


def test_the_version(ladder: Ladder) -> None:
    assert ladder("--version") == (0, f"warpladder {grader.__version__}\n", "")


@pytest.mark.parametrize(
    ("topic", "given", "right"), [("streams", "my.cu", "my.py"), ("gemm", "my.py", "my.cu")]
)
def test_a_starter_gets_the_name_of_what_it_is(ladder: Ladder, topic: str, given: str, right: str) -> None:
    code, _, err = ladder("new", topic, given)
    assert (code, Path(given).exists()) == (2, False)
    assert f"name it {right}" in err


def test_a_schedule_that_cannot_be_run_has_no_timeline_to_draw(ladder: Ladder) -> None:
    Path("mine.py").write_text(
        "class Schedule:\n    def __init__(self, process, source, target, N, R): ...\n    def run(self): 1 / 0\n"
    )
    code, out, _ = ladder("profile", "streams", "mine.py", "--plot", "timeline.svg")
    assert "timeline.svg is not written" in out
    assert (code, Path("timeline.svg").exists()) == (2, False)


def test_help_needs_none_of_the_machinery() -> None:
    heavy = {"numpy", "numba", "llvmlite", "jinja2", "grader.judge.climb", "grader.workbook.topics"}
    code = f"import sys, grader.ladder; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_an_example(ladder: Ladder, command: str) -> None:
    done = ladder(command, "--help")
    assert done.code == 0
    assert f"ladder {command}" in done.out.partition("Example")[2]
    assert fits(done.out)


def test_no_summary_is_cut(ladder: Ladder) -> None:
    done = ladder("--help")
    assert fits(done.out)
    assert "..." not in done.out.partition("Commands:")[2]
    assert "Begin with ladder next" in done.out


def test_topics_names_every_rung(ladder: Ladder) -> None:
    done = ladder("topics")
    assert done.code == 0
    assert fits(done.out)
    for topic in topics.discover().values():
        assert topic.name in done.out
        for rung in topic.rungs:
            assert rung.id in done.out


def test_topics_names_every_small_exercise(ladder: Ladder) -> None:
    done = ladder("topics", "--json", "topics.json")
    found = json.loads(Path("topics.json").read_text())
    listed = [each["name"] for topic in found for each in topic["exercises"]]
    assert sorted(listed) == exercises.names()
    assert set(listed) <= set(done.out.split())


@pytest.fixture(scope="module")
def climbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """A climb of the transpose in a process of its own, with its record."""
    folder = tmp_path_factory.mktemp("climb")
    command = [sys.executable, "-m", "grader", "climb", "transpose", "--device", "emulator"]
    command += [
        "--set",
        "M=1024",
        "--set",
        "N=1024",
        "--json",
        "-",
        "--record",
        "records",
        "--plot",
        "ladder.svg",
        "--html",
        "climb.html",
    ]
    env = {**os.environ, "WARPLADDER_HOME": str(folder / "home")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)
    return Done(done.returncode, done.stdout, done.stderr), folder


def test_climb_writes_nothing_but_json_to_standard_output(climbed: tuple[Done, Path]) -> None:
    done, folder = climbed
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["topic"] == "transpose"
    assert found["problem"] == {"M": 1024, "N": 1024}
    assert "03_padded_tile" in done.err
    (record,) = (folder / "records").rglob("*.json")
    assert record.relative_to(folder).as_posix() == "records/emulated-h200/transpose.json"
    assert json.loads(record.read_text()) == found
    assert "03_padded_tile" in (folder / "ladder.svg").read_text()
    assert (folder / "climb.html").read_text().count("<svg") == 2  # the ladder, and under the roofs


@pytest.mark.verify
def test_climb_labels_what_was_modelled_and_what_was_emulated(climbed: tuple[Done, Path]) -> None:
    done, _ = climbed
    for rung in json.loads(done.out)["rungs"]:
        assert (rung["verdict"], rung["time_source"], rung["counter_source"]) == (
            "pass",
            "modelled",
            "emulated",
        )
        assert rung["samples_s"] is None
        assert all(claim["held"] for claim in rung["claims"])
    assert "≈" in done.err


@pytest.mark.verify
def test_climb_ends_with_what_to_do_next(climbed: tuple[Done, Path]) -> None:
    done, _ = climbed
    shown = done.err.partition("Next:\n")[2].split("\n")
    assert shown[-3:-1] == ["  ladder new transpose", "  ladder grade transpose transpose.cu"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Climbs that run nothing."""

    def climb(topic: Topic, *_: object) -> Climb:
        rung = RungResult("00_naive", f"kernels/naive/{topic.name}.cu", "pass")
        board = Device("gpu", "NVIDIA H200", "sm_90a")
        return Climb(
            topic.name, board, {"N": 1}, None, Provenance("0.1.0", "3.12.1", "2.4.0"), [rung], [], None
        )

    monkeypatch.setattr("grader.judge.climb.climb", climb)


@pytest.mark.usefixtures("quick")
def test_several_ladders_end_with_ladder_next(ladder: Ladder) -> None:
    shown = ladder("climb", "vector_add", "transpose").out
    assert shown.index("Sum of two vectors") < shown.index("Matrix transpose") < shown.index("Next:")
    assert shown.count("Next:") == 1
    assert shown.endswith("\n  ladder next\n")


@pytest.mark.usefixtures("quick")
def test_a_climb_ends_with_the_file_that_there_is(ladder: Ladder) -> None:
    def ending() -> str:
        return ladder("climb", "transpose").out.partition("Next:\n")[2]

    assert "  ladder new transpose\n  ladder grade transpose transpose.cu\n" in ending()
    ladder("new", "transpose", "mine.cu")
    assert "ladder new" not in (found := ending())
    assert found.endswith("  ladder grade transpose mine.cu\n")
    Path("graded here.cu").write_text("none")
    ladder("grade", "transpose", "graded here.cu", "--device", "emulator")
    assert ending().endswith("  ladder grade transpose 'graded here.cu'\n")
    reached("transpose", "01_coalesced_writes")
    Path("best.cu").write_text("the one to go on with")
    assert ending().endswith("  ladder grade transpose best.cu\n")
    for file in ("mine.cu", "graded here.cu", "best.cu"):
        Path(file).unlink()
    assert "ladder new transpose\n" in ending()


def test_what_ends_a_climb_can_be_pasted_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert activation().endswith("/bin/activate")
    assert activation().startswith(". ")
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/ladder")
    assert activation() == ""


def test_climb_counts_what_nsight_compute_counts(climbed: tuple[Done, Path]) -> None:
    done, _ = climbed
    counters: dict[str, dict[str, Any]] = {
        rung["id"]: rung["counters"] for rung in json.loads(done.out)["rungs"]
    }
    naive, tile, padded = (counters[name] for name in ("00_naive", "02_shared_tile", "03_padded_tile"))
    assert (naive[LD_SECTORS], naive[LD_REQUESTS], naive[ST_SECTORS]) == (131_072, 32_768, 1_048_576)
    assert sorted(tile[CONFLICTS.format(kind)] for kind in ("ld", "st")) == [0, 1_015_808]
    assert [padded[CONFLICTS.format(kind)] for kind in ("ld", "st")] == [0, 0]


def reached(topic: str, rung: str) -> None:
    with Store() as store:
        store.note(Graded(topic, datetime(2026, 11, 2, 12, tzinfo=UTC), "best.cu", "ab", "pass", rung))


def test_grade_passes_a_rung_and_names_it_beside_a_better_one(ladder: Ladder) -> None:
    reached("transpose", "05_float4_tile")
    rung = content_root() / "kernels/optimized/transpose/03_padded_tile.cu"
    done = ladder("grade", "transpose", str(rung), "--device", "emulator", "--json", "grade.json")
    assert done.code == 0, done.out
    assert "RIGHT" in done.out
    assert "\nYour best stays 100 points, for 05_float4_tile.\n" in done.out
    found = json.loads(Path("grade.json").read_text())
    assert (found["verdict"], found["rung_reached"]) == ("pass", "03_padded_tile")


@pytest.mark.usefixtures("ladder")
def test_only_of_a_right_kernel_below_the_best_the_best_is_told() -> None:
    topic = topics.load("transpose")

    def told(rung: str | None) -> str:
        verdict = "fail" if rung is None else "pass"
        return own_kernels.best(
            topic, Grade("transpose", "a.cu", verdict, None, rung, 0, 100, [], [], [], [])
        )

    assert told("00_naive") == ""
    reached("transpose", "01_coalesced_writes")
    claimed = sum(claim.points for claim in topic.claims if claim.rung in topic.ladder.ids[:2])
    assert told("00_naive") == f"Your best stays {claimed} points, for 01_coalesced_writes."
    assert [told(rung) for rung in (None, "01_coalesced_writes", "02_shared_tile")] == ["", "", ""]


def test_grade_fails_the_starter(ladder: Ladder) -> None:
    assert ladder("new", "transpose", "mine.cu").code == 0
    done = ladder("grade", "transpose", "mine.cu", "--device", "emulator")
    assert done.code == 1, done.out
    assert "WRONG" in done.out
    assert "again: ladder grade transpose mine.cu --set M=" in done.out


def test_a_file_that_does_not_compile_is_unusable(ladder: Ladder) -> None:
    ladder("new", "transpose", "mine.cu")
    Path("mine.cu").write_text(Path("mine.cu").read_text() + "\nint x = y;\n")
    done = ladder("grade", "transpose", "mine.cu", "--device", "emulator")
    assert done.code == 2
    assert 'identifier "y" is undefined' in " ".join(done.out.split())


def test_profile_shows_lines(ladder: Ladder) -> None:
    rung = content_root() / "kernels/optimized/transpose/02_shared_tile.cu"
    sizes = ("--set", "M=64", "--set", "N=64")
    done = ladder("profile", "transpose", str(rung), "--device", "emulator", *sizes, "--json", "profile.json")
    assert done.code == 0, done.out
    assert fits(done.out.partition("\n")[2])  # the first line has the file's name
    assert "tile[y][x] = in[" in done.out
    (launch,) = json.loads(Path("profile.json").read_text())["launches"]
    assert launch["counters"][LD_SECTORS] == 64 * 64 // 8


def test_new_never_overwrites_unless_told(ladder: Ladder) -> None:
    starter = topics.load("gemm").starter.read_text()
    assert ladder("new", "gemm").code == 0
    assert Path("gemm.cu").read_text() == starter
    Path("gemm.cu").write_text("my work")
    done = ladder("new", "gemm")
    assert (done.code, Path("gemm.cu").read_text()) == (2, "my work")
    assert "go on with it: ladder grade gemm gemm.cu" in done.err
    done = ladder("new", "transpose", "gemm.cu")  # which is another topic's
    assert "give another name, as in: ladder new transpose NAME.cu" in " ".join(done.err.split())
    assert "--force" not in done.err
    assert ladder("new", "gemm", "--force").code == 0
    assert Path("gemm.cu").read_text() == starter


def test_a_whole_program_has_a_starter_and_no_ladder(ladder: Ladder) -> None:
    assert "saxpy" in ladder("topics").out
    assert ladder("new", "saxpy", "main.cu").code == 0
    assert "cudaMalloc" in Path("main.cu").read_text()
    climb = ladder("climb", "saxpy")
    assert (climb.code, "ladder grade saxpy FILE" in " ".join(climb.err.split())) == (2, True)
    for option in ("--watch", "--html=grade.html", "--device=pycuda"):
        done = ladder("grade", "saxpy", "main.cu", option)
        assert (done.code, "is judged on the emulator" in " ".join(done.err.split())) == (2, True)
    assert "has the arguments N, a" in ladder("grade", "saxpy", "main.cu", "--set", "N=5").err
    assert ladder("grade", "saxpy", "other.cu").code == 2


@pytest.mark.verify
def test_a_whole_program_is_graded(ladder: Ladder) -> None:
    ladder("new", "saxpy", "main.cu")
    starter = ladder("grade", "saxpy", "main.cu", "--problems")
    assert (starter.code, fits(starter.out.partition("again:")[0])) == (1, True)
    assert re.search(r"^main.cu:\d+: error: the kernel `saxpy` is never launched", starter.out, re.MULTILINE)
    answer = content_root() / "lessons" / "programs" / "saxpy" / "answer.cu"
    Path("main.cu").write_text(answer.read_text())
    done = ladder("grade", "saxpy", "main.cu", "--json", "grade.json")
    assert (done.code, done.out.splitlines()[0]) == (0, "RIGHT  main.cu")
    assert "every failure is reported" in done.out
    grade = json.loads(Path("grade.json").read_text())
    assert (grade["topic"], grade["verdict"], grade["points"], grade["max_points"]) == (
        "saxpy",
        "pass",
        10,
        10,
    )
    assert len(grade["cases"]) == 5


def test_emulate_hands_over_the_scripts_own_options(ladder: Ladder) -> None:
    Path("script.py").write_text(
        "import sys, pycuda.driver\nprint(sys.argv[1:])\nsys.exit(len(sys.argv) - 3)\n"
    )
    done = ladder("emulate", "script.py", "--json", "1")
    assert (done.code, done.out) == (0, "['--json', '1']\n")
    assert ladder("emulate", "script.py", "--json", "1", "2").code == 1


PROGRAM = """\
#include <cstdio>
__global__ void hello() { printf("hello\\n"); }
int main(int count, char **) {
    hello<<<1, 1>>>();
    cudaDeviceSynchronize();
    return count - 2;
}
"""


@pytest.mark.verify
def test_run_hands_over_the_programs_own_options_and_shows_its_launches(ladder: Ladder) -> None:
    Path("prog.cu").write_text(PROGRAM)
    done = ladder("run", "prog.cu", "--json")
    assert done.code == 0
    table, said = done.err.splitlines()[1:]
    assert table.split() == ["4", "hello", "1", "1", "0", "24", "1", "0"]
    assert said == "prog.cu: 1 launch emulated, 0 findings"


@pytest.mark.verify
def test_run_profiles_a_program_in_the_terminal_as_json_and_as_a_page(ladder: Ladder) -> None:
    Path("prog.cu").write_text(PROGRAM)
    done = ladder("run", "--profile", "--json", "p.json", "--html", "p.html", "prog.cu", "--json")
    assert done.code == 0
    assert fits(done.err)
    assert "hello   grid 1, block 1, launched in line 4" in done.err
    assert done.err.index("smsp__inst_executed.sum") < done.err.index("prog.cu: 1 launch emulated")
    (launch,) = json.loads(Path("p.json").read_text())["launches"]
    assert {line["line"] for line in launch["lines"]} == {2}
    assert "hello" in Path("p.html").read_text()


def test_a_program_on_a_gpu_is_not_profiled(ladder: Ladder) -> None:
    done = ladder("run", "--profile", "--device", "gpu", "prog.cu")
    assert done.code == 2
    assert "a GPU keeps no counters" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "absent.cu"), "no such program"),
        (("transpose",), "'transpose' is a topic, no command: `ladder new transpose` begins with it"),
        (("thread_index", "mine.cu"), "is a small exercise, no command"),
        (("saxpy",), "is a whole program, no command"),
        (("transposs",), "No such command 'transposs'"),
        (("climb", "transposs"), "did you mean `transpose`?"),
        (("climb", "transpose", "--set", "Q=3"), "no size `Q`"),
        (("climb", "transpose", "--set", "M=many"), "write it as --set N=1024"),
        (("climb", "layernorm", "--set", "eps=2^-4"), "write it as --set eps=1e-5"),
        (("climb", "layernorm", "--set", "eps=1E+39"), "eps=1e+39 is infinite as a float"),
        (("climb", "transpose", "--set", "M=-3"), "M=-3: sizes start at 1"),
        (("climb", "transpose", "--set", "M=1.5"), "M=1.5: sizes are integers"),
        (("climb", "transpose", "--set", "M=3", "--set", "M=4"), "gives M twice"),
        (("climb", "transpose", "gemm", "--json", "-"), "take one topic"),
        (("climb", "transpose", "--plot", "ladder.txt"), "end it in .svg"),
        (("climb", "transpose", "--html", "no/such/page.html"), "there is no such folder"),
        (("grade", "transpose", "mine.cu", "--json", "no/such/grade.json"), "there is no such folder"),
        (("occupancy",), "either a block's --threads, or a TOPIC and a FILE"),
        (("occupancy", "--threads", "256", "--shared", "much"), "write 8192 or 8K"),
        (("occupancy", "--threads", "256", "--on", "V100"), "choose of Tesla T4"),
        (("occupancy", "--threads", "256", "--plot", "x.svg"), "say which, as in --on H200"),
        (("occupancy", "gemm", "absent.cu"), "or name a rung: 00_naive"),
        (("roofline", "gemm", "--record", "h999"), "there are records of: h100-80gb-hbm3, h200"),
        (("roofline", "gemm", "--record", "absent.json"), "it cannot be read"),
        (("model", "gemm", "--record", "h999"), "there is no record of gemm"),
        (("grade", "transpose", "absent.cu", "--seed", "-3"), "--seed"),
        (("grade", "transpose", "absent.cu"), "`ladder new transpose` makes one"),
        (("grade", "transpose", "."), "this is a folder"),
        (("climb", "transpose", "--arch", "sm_1"), "give one of these to --arch"),
        (("emulate", "absent.py"), "no such script"),
        (("new", "transpose", "no/such/folder.cu"), "it cannot be written"),
    ],
)
def test_an_unusable_call_says_what_to_do(ladder: Ladder, arguments: tuple[str, ...], said: str) -> None:
    done = ladder(*arguments)
    assert done.code == 2
    assert said in done.err, "in a pipe, no line is broken"
    assert not done.out


def test_a_command_to_run_again_stays_in_one_line(ladder: Ladder) -> None:
    name = "a_long_name_for_a_kernel_that_needs_more_than_eighty_columns.cu"
    ladder("new", "transpose", name)
    done = ladder("grade", "transpose", name, "--device", "emulator", "--set", "M=33", "--set", "N=31")
    assert f"again: ladder grade transpose {name} --set M=33 --set N=31 --seed 1\n" in done.out


def test_occupancy_of_a_block_on_every_gpu_and_on_one(ladder: Ladder) -> None:
    done = ladder("occupancy", "--threads", "256", "--registers", "42", "--shared", "16K")
    assert done.code == 0
    assert fits(done.out)
    for name in ("T4", "A100", "L4", "RTX 4090", "H100", "H200", "B200"):
        assert name in done.out
    one = ladder("occupancy", "--threads", "256", "--registers", "42", "--on", "h200", "--plot", "one.svg")
    assert "At 40 registers a thread or less a sixth block would fit: 75 % occupancy." in one.out
    assert "limited by registers" in Path("one.svg").read_text()
    assert one.err == "Wrote one.svg\n"


def test_occupancy_of_a_kernel_file_is_that_of_each_gpu_s_own_code(ladder: Ladder) -> None:
    done = ladder("occupancy", "transpose", "02_shared_tile")
    assert done.code == 0
    assert fits(done.out)
    assert "transpose, blocks of 256 threads" in done.out
    assert re.search(r"H200 +\d+ +4K +8 64/64 +100 warps", done.out), done.out


def test_occupancy_of_a_kernel_file_is_drawn(ladder: Ladder) -> None:
    done = ladder("occupancy", "transpose", "02_shared_tile", "--on", "H200", "--plot", "tile.svg")
    assert (done.code, done.err) == (0, "Wrote tile.svg\n")
    assert "limited by warps" in Path("tile.svg").read_text()
    two = ladder("occupancy", "conv2d", "04_im2col_gemm", "--on", "H200", "--plot", "two.svg")
    assert (two.code, "--plot draws one block" in two.err) == (2, True)
    assert not Path("two.svg").exists()


def test_a_roofline_is_drawn_from_a_record(ladder: Ladder) -> None:
    done = ladder("roofline", "gemm", "--record", "h200", "--plot", "roofs.svg")
    assert done.code == 0
    assert fits(done.out)
    assert "Roofs: FMA 64.9 TFLOP/s" in done.out
    assert re.search(r"05_float4 .* 32 +16 +FMA", done.out)
    assert "05_float4" in Path("roofs.svg").read_text()
    nothing = ladder("roofline", "transpose", "--record", "h200")
    assert fits(nothing.out)
    assert "05_float4_tile" in nothing.out
    other = content_root() / "measurements" / "h200" / "gemm.json"
    wrong = ladder("roofline", "transpose", "--record", str(other))
    assert (wrong.code, "a record of gemm, not of transpose" in " ".join(wrong.err.split())) == (2, True)
    Path("grade.json").write_text('{"topic": "gemm"}')
    assert "no record of a climb" in ladder("roofline", "gemm", "--record", "grade.json").err


def test_too_large_a_problem_is_refused(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 37.3 GiB")

    monkeypatch.setattr("grader.workbook.topics.load", exhausted)
    done = ladder("climb", "transpose", "--set", "M=100000", "--set", "N=100000")
    assert done.code == 2
    assert "not enough memory (Unable to allocate 37.3 GiB)" in done.err
    assert "--set" in done.err


@pytest.mark.verify
def test_a_terminal_without_unicode_is_written_to(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grader", "doctor"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=environment)
    assert b"Traceback" not in done.stderr
    assert b"Kernels run on" in done.stdout


def test_doctor_finds_the_emulator_usable(ladder: Ladder) -> None:
    done = ladder("doctor")
    assert done.code == 0
    assert fits(done.out)
    assert "Kernels run on" in done.out


def test_check_says_what_it_leaves_out(
    ladder: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = little_interview.write(tmp_path)
    monkeypatch.setattr(content, "content_root", lambda: root)
    monkeypatch.setattr(clean, "cache_folder", lambda: tmp_path / "kept")
    assert ladder("check", "--questions").out == "No problems\n"
    said = "Unchanged since they were right: 1 question, 1 interview\nNo problems\n"
    assert ladder("check", "--questions").out == said
