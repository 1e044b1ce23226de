"""Every wrong submission of tests/submissions is refused, with the reason that expected.toml asks for; of one that is
wrong beyond what an int counts alone that is said, and of a slow one its costliest line is named, or why it is slow.

`mend` there has replacements of text: what following the remedies literally changes. A new mistake is a new file and
an entry there; this module changes only where it has a reason that no other has. `make test` grades one of each reason,
`make soak` all.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from marking import Marking
from tiers import sample

from grader.results import Grade, from_json, to_json
from grader.workbook import topics

FOLDER = Path(__file__).parents[1] / "submissions"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))


def test_every_submission_has_an_entry_and_every_entry_a_submission() -> None:
    assert {
        path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.*") if path.suffix in (".cu", ".py")
    } == set(EXPECTED)


ONE_A_REASON = (
    "add_bias/column_by_the_rows.cu",
    "add_bias/sizes_in_another_order.cu",
    "add_bias/wrong_axis_fills.cu",
    "block_sum/warp_in_step.cu",
    "gemm/compile_error.cu",
    "gemm/drops_one_term.cu",
    "gemm/missing_launch_block.cu",
    "gemm/row_and_column_exchanged.cu",
    "gemm/skips_zeros.cu",
    "gemm/sum_without_a_start.cu",
    "gemm/too_much_shared.cu",
    "gemm/wrong_parameters.cu",
    "hgemm/floats_for_halves.cu",
    "hgemm/missing_wait_for_copies.cu",
    "hgemm/sums_in_half.cu",
    "histogram/half_of_the_bins.cu",
    "layernorm/eps_in_the_code.cu",
    "layernorm_backward/last_band_left_out.cu",
    "layernorm_backward/second_mean_left_out.cu",
    "reduce/adds_to_the_output.cu",
    "reduce/barrier_in_a_branch.cu",
    "reduce/counter_keeps_counting.cu",
    "reduce/drops_nan.cu",
    "reduce/missing_threadfence.cu",
    "reduce/shuffle_from_absent_lanes.cu",
    "rmsnorm/sums_in_bf16.cu",
    "softmax/no_maximum.cu",
    "streams/computes_on_the_host.py",
    "streams/launch_does_not_wait_for_its_copy.py",
    "streams/never_copies_back.py",
    "stencil/halo_one_short.cu",
    "stencil/sum_in_an_int.cu",
    "stencil/tile_without_a_halo.cu",
    "transpose/bank_conflicts.cu",
    "transpose/endless_loop.cu",
    "transpose/missing_syncthreads.cu",
    "transpose/out_of_bounds_by_one.cu",
    "transpose/output_partly_unwritten.cu",
    "transpose/tile_read_as_it_was_stored.cu",
    "transpose/x_and_y_of_the_grid.cu",
    "vector_add/block_for_each_element.cu",
    "vector_add/grid_and_block_exchanged.cu",
    "vector_add/macro_without_parentheses.cu",
    "vector_add/subtracts.cu",
    "vector_add/without_global.cu",
)


@pytest.mark.parametrize("name", sample(sorted(EXPECTED), ONE_A_REASON, "judge"))
def test_a_wrong_submission_is_refused_with_a_reason_that_helps(name: str, marked: Marking) -> None:
    expected = EXPECTED[name]
    result = marked(topics.load(name.split("/")[0]), FOLDER / name)
    assert result.verdict == expected["verdict"], result.reason
    if "beyond" in expected:
        assert result.beyond is not None
        assert re.search(expected["beyond"], result.beyond), result.beyond
        assert {claim.held for claim in result.claims if not claim.expect} == {False}  # right at every size
        return
    if expected["verdict"] == "pass":
        cost = result.costliest
        said = f"line {cost.line}: {cost.says}. {cost.remedy}" if cost else result.hints[-1].text
        assert re.search(expected["reason"], said), said
        assert result.rung_reached == expected["rung"]
        return
    assert result.reason is not None
    assert re.search(expected["reason"], result.reason), result.reason
    assert result.rung_reached is None
    assert result.points == 0
    for case in result.cases[:-1]:
        assert case.verdict == "pass"
    assert from_json(to_json(result), Grade).points == 0  # whatever came out: infinities as well


MENDED = sorted(name for name, expected in EXPECTED.items() if "mend" in expected)


@pytest.mark.parametrize("name", sample(MENDED, ["transpose/bank_conflicts.cu"], "judge"))
def test_who_follows_the_remedy_has_a_right_kernel(name: str, tmp_path: Path, marked: Marking) -> None:
    text = (FOLDER / name).read_text("utf-8")
    for old, new in EXPECTED[name]["mend"]:
        assert old in text
        text = text.replace(old, new)
    mended = tmp_path / Path(name).name
    mended.write_text(text, "utf-8")
    result = marked(topics.load(name.split("/")[0]), mended)
    assert (result.verdict, result.beyond) == ("pass", None), result.reason
    assert result.rung_reached == EXPECTED[name].get("reaches", result.rung_reached)
