"""Which blocks of a grid belong to one cluster."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator.machine.clusters import together, whole


@pytest.mark.parametrize("cluster", [(1, 1, 1), (2, 1, 1), (2, 3, 1), (1, 3, 2), (2, 3, 2)])
def test_the_clusters_of_some_blocks_are_those_of_the_grid(cluster: tuple[int, int, int]) -> None:
    grid = (4, 6, 2)
    every = together(grid, cluster)
    of_block = {block: members for members in every.tolist() for block in members}
    drawn = np.array([29, 7, 30, 0, 29, 47], dtype=np.int64)
    expected = list(dict.fromkeys(tuple(of_block[block]) for block in drawn.tolist()))
    assert list(map(tuple, whole(drawn, grid, cluster).tolist())) == expected


def test_a_few_blocks_of_a_very_large_grid_take_no_memory_of_all() -> None:
    last = 2**31 * 65535 - 1
    found = whole(np.array([last, 5], dtype=np.int64), (2**31, 65535, 1), (2, 1, 1))
    assert found.tolist() == [[last - 1, last], [4, 5]]
