"""Some lanes of a warp wait for some others, by a __syncwarp with a mask: who knows what others have written.

Each kernel is a body of 32 threads, over `box` in shared memory and, again, in global memory. `lane` is the thread.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

HEADS = {
    "shared": 'extern "C" __global__ void k(int* out) {{ __shared__ int box[64]; const int lane = threadIdx.x; {} }}',
    "global": 'extern "C" __global__ void k(int* out) {{ int* box = out + 64; const int lane = threadIdx.x; {} }}',
}
FILL = "box[lane] = lane; box[lane + 32] = -lane; "

ORDERED = {
    "two tiles of 16": "const unsigned tile = 0xffffu << (lane & 16); __syncwarp(tile); out[lane] = box[lane ^ 15];",
    "tiles of 4, twice": """
        const unsigned tile = 0xfu << (lane & 28);
        __syncwarp(tile); const int other = box[lane ^ 3]; __syncwarp(tile); box[lane] = other;
        __syncwarp(tile); out[lane] = box[lane ^ 1];""",
    "one tile in a branch": "if (lane < 8) { __syncwarp(0xff); out[lane] = box[7 - lane]; }",
    "from one mask to the next": """
        if (lane < 16) __syncwarp(0xffff);
        if (lane >= 8 && lane < 24) __syncwarp(0xffff00);
        if (lane >= 16 && lane < 24) out[lane] = box[lane - 16];""",
    "one word for a tile": """
        if (lane >= 16) return;
        __syncwarp(0xffff); out[lane] = box[0]; __syncwarp(0xffff); if (lane == 3) box[0] = 7;""",
    "two branches with one mask": """
        if (lane < 8) { __syncwarp(0xffff); }
        else if (lane < 16) { __syncwarp(0xffff); out[lane] = box[lane - 8]; }""",
    "a mask of all, not constant": "__syncwarp(__activemask()); out[lane] = box[31 - lane];",
    "a mask that names more than there are": "if (lane < 16) __syncwarp(out[lane] | 0xffff); out[lane] = box[lane];",
}

UNORDERED = {
    "the half that is not named": "if (lane < 16) { __syncwarp(0xffff); out[lane] = box[lane + 16]; }",
    "lanes that have left": "if (lane >= 16) return; __syncwarp(0xffff); out[lane] = box[lane + 16];",
    "the next tile": "__syncwarp(0xffu << (lane & 24)); out[lane] = box[lane ^ 8];",
    "one lane too few": "if (lane < 16) { if (lane < 15) __syncwarp(0x7fff); out[lane] = box[15 - lane]; }",
    "what is written afterwards": """
        if (lane >= 16) return;
        __syncwarp(0xffff); box[lane] = 2 * lane; out[lane] = box[15 - lane];""",
    "a store over what the others read": """
        __syncwarp();
        out[lane] = box[lane ^ 16];
        __syncwarp(0xffffu << (lane & 16));
        box[lane] = 40 + lane;""",
}


def found(bench: Bench, memory: str, body: str) -> list[str]:
    text = HEADS[memory].format(FILL + body)
    return bench.cuda(text, "k", 1, 32, np.zeros(128, np.int32)).findings


@pytest.mark.parametrize("memory", HEADS)
@pytest.mark.parametrize("name", ORDERED)
def test_lanes_that_are_named_are_ordered(name: str, memory: str, bench: Bench) -> None:
    assert found(bench, memory, ORDERED[name]) == []


@pytest.mark.parametrize("memory", HEADS)
@pytest.mark.parametrize("name", UNORDERED)
def test_lanes_that_are_not_named_are_not(name: str, memory: str, bench: Bench) -> None:
    assert set(found(bench, memory, UNORDERED[name])) == {"race"}


@pytest.mark.parametrize(("lanes", "findings"), [(16, []), (17, ["absent_lanes"])])
def test_a_lane_waits_with_a_mask_that_names_it(bench: Bench, lanes: int, findings: list[str]) -> None:
    body = f"if (lane < {lanes}) __syncwarp(0xffff); out[lane] = lane;"
    source = HEADS["shared"].format(body)
    assert bench.cuda(source, "k", 1, 32, np.zeros(32, np.int32)).findings == findings
