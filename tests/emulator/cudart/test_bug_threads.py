"""Public threads about bugs, each as a small program of our own: threads/NAME.cu names its thread and the cause in its
first lines. The fault is told at the line marked BUG, or the reference says that it is not looked for; with an argument
the program is cured, and nothing is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.emulator.cudart.process import compiled

HERE = Path(__file__).parent
REFERENCE = HERE.parents[2] / "book" / "reference"
THREADS = {
    "barrier_of_256": "barrier",
    "begins_before_the_last_ends": "unordered",
    "free_does_not_wait": "unordered",
    "freed_in_its_first_stream": "unordered",
    "index_of_32_bits": "out_of_bounds",
    "lanes_past_their_part": "race",
    "leader_alone_waits": "race",
    "look_back_unfenced": "race",
    "neighbour_has_left": "absent_block",
    "no_count_given": "out_of_bounds",
    "pairs_of_an_odd_row": "misaligned",
    "scratch_used_again": "race",
    "staging_given_back": "too_early",
    "static_beside_48_kib": "launch_failed",
    "too_many_rows_of_blocks": "launch_failed",
    "unfenced_state": "proxy_fence",
    "waits_for_too_few": "unfinished_copy",
    "warp_in_lockstep": "race",
}
NOT_LOOKED_FOR = {
    "pageable_copy_trails": "that a copy from pageable memory, or `cudaMemcpy` within the device, may return before",
    "read_then_copied_over": "Not looked for is the other way round, a bulk copy to what a thread has read",
    "returned_before_barrier": "threads that have returned are not waited for, as on NVIDIA's GPUs",
}
"""What the reference says of it."""


@pytest.mark.soak(area="emulator")
@pytest.mark.parametrize("name", [*THREADS, *NOT_LOOKED_FOR])
def test_a_bug_of_a_public_thread_is_told_or_named_as_not_looked_for(name: str) -> None:
    path = HERE / "threads" / f"{name}.cu"
    with compiled(path, "sm_90a") as program:
        faulty, cured = program.run([]), program.run(["cured"])
    lines = [n for n, text in enumerate(path.read_text().splitlines(), 1) if "// BUG" in text]
    of_kernels = [each for record, _ in faulty.launches for each in record.findings]
    found = [(each.kind, each.line) for each in of_kernels]
    found += [(each.kind, each.place.line) for each in faulty.findings if each.place]
    assert found == ([(THREADS[name], *lines)] if name in THREADS else [])
    assert [record.findings for record, _ in cured.launches if record.findings] == []
    assert (cured.findings, cured.exit_code) == ([], 0)


def test_every_thread_is_tried_and_named() -> None:
    files = {path.stem: path.read_text() for path in (HERE / "threads").glob("*.cu")}
    assert files.keys() == {*THREADS, *NOT_LOOKED_FOR}
    assert [name for name, text in files.items() if not text.startswith("// https://github.com/")] == []
    said = " ".join(" ".join((REFERENCE / name).read_text().split()) for name in ("run.md", "emulator.md"))
    assert [name for name, words in NOT_LOOKED_FOR.items() if words not in said] == []
