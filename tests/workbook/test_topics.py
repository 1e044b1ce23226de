"""Topics are found by folder name; a broken one says which file and line."""

import re
from pathlib import Path

import little_topic
import numpy as np
import pytest

from grader.errors import WarpladderError
from grader.workbook import exercises, topics
from grader.workbook.topic import Parts


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return little_topic.write(tmp_path)


def test_a_topic_is_read_whole(root: Path) -> None:
    topic = topics.discover(root)["copy"]
    assert (topic.title, topic.order, topic.library) == ("Copy", 3, "cupy.copy")
    assert [rung.id for rung in topic.rungs] == ["00_naive", "01_wide"]
    assert topic.judge_cases == ({"N": 1}, {"N": 33})
    assert (topic.tolerance.lambda_, topic.tolerance.terms["out"].evaluate({"N": 9})) == (6.0, 9)
    assert topic.max_points == 10
    assert topic.claims[0].line == 18
    assert topic.rung("01_wide").path == root / "kernels/optimized/copy/01_wide.cu"
    assert topic.starter.is_file()
    inputs = topic.reference.make_inputs({"N": 5}, np.random.default_rng(0), "exact")
    assert topic.reference.reference(inputs, {"N": 5})["out"].shape == (5,)


def test_a_rung_is_a_side_step_where_its_file_says_so(root: Path) -> None:
    little_topic.edit(
        root / "kernels/optimized/copy/01_wide.cu", "// [[launch]]", "// side_step = true\n// [[launch]]"
    )
    assert [rung.side_step for rung in topics.load("copy", root).rungs] == [False, True]


def test_topics_come_in_the_order_of_study_then_by_name(root: Path) -> None:
    for name, order in (("alpha", 9), ("beta", 1), ("also", 3)):
        folder = root / "lessons" / name
        folder.mkdir()
        (folder / "topic.toml").write_text(little_topic.TOPIC.replace("order = 3", f"order = {order}"))
        (root / "kernels/naive" / f"{name}.cu").write_text(little_topic.NAIVE)
        (root / "kernels/optimized" / name).mkdir()
        (root / "kernels/optimized" / name / "01_wide.cu").write_text(little_topic.NAIVE)
    assert list(topics.discover(root)) == ["beta", "also", "copy", "alpha"]


def test_folders_without_topic_are_not_topics(root: Path) -> None:
    (root / "lessons" / "notes").mkdir()
    assert list(topics.discover(root)) == ["copy"]


def test_problem_replaces_sizes(root: Path) -> None:
    topic = topics.load("copy", root)
    assert topic.problem("count") == {"N": 4096}
    assert topic.problem("main", {"N": 7}) == {"N": 7}
    with pytest.raises(WarpladderError, match="no size `K`"):
        topic.problem("count", {"K": 7})
    with pytest.raises(WarpladderError, match="sizes start at 1"):
        topic.problem("count", {"N": 0})


@pytest.mark.parametrize("ends", ["[9, 3]", "[3]", "[1.0, 3]", "[-1, 3]", '"many"'])
def test_ends_between_which_no_case_can_be_drawn(root: Path, ends: str) -> None:
    path = root / "lessons/copy/topic.toml"
    path.write_text(little_topic.TOPIC.replace("[sizes]\n", f"[sizes]\ndrawn = [{{ N = {ends} }}]\n"))
    with pytest.raises(WarpladderError, match="between which sizes a case is drawn"):
        topics.load("copy", root)


def test_sizes_that_follow_from_others(root: Path) -> None:
    path = root / "lessons/copy/topic.toml"
    text = little_topic.TOPIC.replace("int N)", "int N, int edge)").replace("{ N =", "{ edge = 0, N =")
    text = text.replace("[sizes]\n", '[sizes]\nfrom_zero = ["edge"]\nderived = { inner = "N - 2 * edge" }\n')
    path.write_text(text)
    topic = topics.load("copy", root)
    assert topic.signature.with_derived({"N": 9, "edge": 2}) == {"N": 9, "edge": 2, "inner": 5}
    assert topic.problem("count", {"edge": 3})["edge"] == 3
    with pytest.raises(WarpladderError, match=r"inner = N - 2 \* edge is -2"):
        topic.problem("main", {"N": 4, "edge": 3})
    with pytest.raises(WarpladderError, match="sizes start at 0"):
        topic.problem("main", {"edge": -1})
    with pytest.raises(WarpladderError, match="sizes start at 1"):
        topic.problem("main", {"N": 0})
    path.write_text(text.replace("{ edge = 0, N = 33 }", "{ edge = 17, N = 33 }"))
    with pytest.raises(WarpladderError, match="these sizes make no problem"):
        topics.load("copy", root)


def test_parts_are_of_a_size(root: Path) -> None:
    path = root / "lessons/copy/topic.toml"
    path.write_text(little_topic.TOPIC.replace("[sizes]\n", '[sizes]\nparts = "N"\noverlap = 2\n'))
    assert topics.load("copy", root).parts == Parts("N", 2)
    path.write_text(little_topic.TOPIC.replace("[sizes]\n", '[sizes]\nparts = "K"\n'))
    with pytest.raises(WarpladderError, match="there is no size `K`"):
        topics.load("copy", root)


def test_a_float_by_value_belongs_to_the_problem(root: Path) -> None:
    path = root / "lessons/copy/topic.toml"
    text = little_topic.TOPIC.replace("int N)", "int N, float scale)")
    path.write_text(
        text.replace("1048576 }", "1048576, scale = 0.5 }").replace("{ N = 33", "{ N = 33, scale = 2")
    )
    topic = topics.load("copy", root)
    assert topic.judge_cases == ({"N": 1, "scale": 0.5}, {"N": 33, "scale": 2})
    assert topic.problem("count", {"scale": 1e-5}) == {"N": 4096, "scale": 1e-5}
    with pytest.raises(WarpladderError, match=r"N=1\.5: sizes are integers"):
        topic.problem("count", {"N": 1.5})
    for value, said in (
        (float("nan"), "scale=nan is no number"),
        (-1.0, "scale=-1.0: scale has to be positive"),
        (0, "scale=0: scale has to be positive"),
        (1e39, "is infinite as a float"),
        (10**400, "is infinite as a float"),
        (float("inf"), "is infinite as a float"),
        (1e-50, "is 0 as a float"),
    ):
        with pytest.raises(WarpladderError, match=said):
            topic.problem("count", {"scale": value})
    path.write_text(text)
    with pytest.raises(WarpladderError, match="does not give N, scale"):
        topics.load("copy", root)


@pytest.mark.parametrize("name", ["cpy", "nothing", "../copy/../nothing"])
def test_unknown_topic(root: Path, name: str) -> None:
    with pytest.raises(WarpladderError, match="there is no topic") as caught:
        topics.load(name, root)
    assert caught.value.remedy == "the topics are copy"


def test_small_exercises_are_named_where_one_is_asked_for() -> None:
    with pytest.raises(WarpladderError) as caught:
        topics.load("tree_sum", or_exercise=True)
    names = ", ".join(exercises.names())
    assert f", the small exercises {names}, and the whole program saxpy" in (caught.value.remedy or "")


def test_outputs_may_differ_in_their_tolerance(root: Path) -> None:
    file = root / "lessons/copy/topic.toml"
    little_topic.edit(file, "float* out, int N", "half* low, float* out, int N")
    little_topic.edit(file, 'unit = "float32"\nexact = 4', 'unit = { low = "float16" }\nexact = { low = 4 }')
    tolerance = topics.discover(root)["copy"].tolerance
    assert tolerance.unit == {"low": "float16", "out": "float32"}
    assert tolerance.exact == {"low": 4.0, "out": 0.0}


def test_unknown_rung(root: Path) -> None:
    with pytest.raises(WarpladderError, match="did you mean `01_wide`"):
        topics.load("copy", root).rung("01_wid")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("order = 3", "order = three", 2, "not TOML"),
        ("order = 3", 'order = "3"', 2, "not an integer"),
        ("order = 3\n", "", 1, "`order` is missing"),
        ("library =", "libary =", 5, "did you mean `library`"),
        ("float* out", "flot* out", 3, "is not a parameter"),
        ("count = { N = 4096 }", "count = { M = 4096 }", 9, "does not give N"),
        ("count = { N = 4096 }", "count = { N = 0 }", 9, "N=0: sizes start at 1"),
        ("{ N = 33 }", "{ N = 33, K = 1 }", 10, "does not give N"),
        ('terms = "N"', 'terms = "K"', 14, "names K, not a size"),
        ("exact = 4", "exact = { in = 4 }", 16, "unknown key `in`"),
        ('rung = "01_wide"', 'rung = "01_wade"', 19, "did you mean `01_wide`"),
        ("<= cdiv(N, 128)", "/ cdiv(N, 128)", 22, "is a number"),
        ("<= cdiv(N, 128)", "<= ceil(N, 128)", 22, "no function `ceil`"),
        ('cdiv(N, 128)"', 'cdiv(N, 128)"\nper = "N"', 23, "`per` without `unit`"),
    ],
)
def test_broken_topic(root: Path, old: str, new: str, line: int, said: str) -> None:
    little_topic.edit(root / "lessons/copy/topic.toml", old, new)
    with pytest.raises(WarpladderError) as caught:
        topics.discover(root)
    assert said in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(root / "lessons/copy/topic.toml"), line)


def test_a_rung_with_another_name_is_refused(root: Path) -> None:
    (root / "kernels/optimized/copy/wider.cu").write_text(little_topic.NAIVE)
    with pytest.raises(WarpladderError, match="two digits and a word") as caught:
        topics.discover(root)
    assert caught.value.file == str(root / "kernels/optimized/copy/wider.cu")


def test_a_missing_naive_rung_is_named(root: Path) -> None:
    (root / "kernels/naive/copy.cu").unlink()
    with pytest.raises(WarpladderError, match="cannot read the file") as caught:
        topics.discover(root)
    assert caught.value.file == str(root / "kernels/naive/copy.cu")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "has no reference.py"),
        ("x = 1 / 0", "ZeroDivisionError"),
        (little_topic.REFERENCE.replace("min_bytes", "bytes_min"), "`min_bytes` is missing"),
    ],
)
def test_broken_reference(root: Path, text: str | None, said: str) -> None:
    path = root / "lessons/copy/reference.py"
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(WarpladderError, match=said):
        _ = topics.load("copy", root).reference


RIGHT = """
[[claim]]
rung = "00_naive"
points = 5
text = "right at every size"
"""


def test_a_claim_without_a_comparison_pays_for_being_right(root: Path) -> None:
    toml = root / "lessons/copy/topic.toml"
    toml.write_text(toml.read_text() + RIGHT)
    ladder = topics.load("copy", root).ladder
    assert (ladder.right_points, ladder.max_points) == (5, 15)
    toml.write_text(toml.read_text().replace('rung = "00_naive"', 'rung = "01_wide"'))
    with pytest.raises(WarpladderError, match="which every rung is") as caught:
        topics.load("copy", root)
    assert "give it to 00_naive" in str(caught.value)


def test_products_are_no_sums() -> None:
    """Two operations for each input are what two sums over it take, as well as a product and a sum."""
    sums, products = topics.load("reduce2d"), topics.load("gemv")
    assert sums.only_adds(sums.sizes_main, times=2)
    assert not products.only_adds(products.sizes_main, times=2)


def test_a_claim_on_every_size_up_to_one_names_the_largest_that_is_tried() -> None:
    named = {
        topic.name: int(bound[1].replace(",", ""))
        for topic in topics.discover().values()
        for claim in topic.claims
        if (bound := re.search(r"every N up to ([\d,]+)$", claim.text))
    }
    assert len(named) == 5
    assert named == {name: max(case["N"] for case in topics.load(name).sampled_cases) for name in named}


def test_a_lesson_tells_of_a_rung_in_a_section_of_its_number() -> None:
    transpose = topics.load("transpose")
    assert transpose.section("01_coalesced_writes") == "01: read columns, write rows"
    assert transpose.section("99_gone") is None
    assert transpose.section("") is None


def test_an_idea_takes_no_shape_of_a_block_for_granted() -> None:
    ideas = [" ".join(rung.idea.split()) for topic in topics.discover().values() for rung in topic.rungs]
    assert all(ideas)
    assert not [idea for idea in ideas if re.search(r"the same \d+ × \d+ threads", idea)]
