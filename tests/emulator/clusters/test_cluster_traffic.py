"""Counters of what blocks of a cluster ask of each other's shared memory: of benchmarks/cluster_probes.cu, as Nsight
Compute counts the same kernels on an H200."""

from __future__ import annotations

from pathlib import Path

import nsight
import pytest

from grader.emulator import metrics

PROBES = Path(nsight.__file__).with_name("cluster_probes.cu")
WARPS = 32  # of 8 blocks
ONE, TWO, FOUR, ALL = 4 * WARPS, 8 * WARPS, 16 * WARPS, 32 * WARPS  # sectors of one word a lane, two words …
ON_AN_H200 = {
    "read<1> in out 1 1": ("ld", "ld", WARPS, ONE, 32 * ONE),
    "read<2> in out 2 1": ("ld", "ld", WARPS, TWO, 32 * TWO),
    "read<4> in out 4 1": ("ld", "ld", WARPS, FOUR, 32 * FOUR),
    "read<1> in out 0 1": ("ld", "ld", WARPS, WARPS, 32 * WARPS),
    "read<1> in out 2 1": ("ld", "ld", WARPS, TWO, 32 * TWO),
    "read<1> in out 8 1": ("ld", "ld", WARPS, ALL, 32 * ALL),
    "read<1> in out 32 1": ("ld", "ld", WARPS, ALL, 32 * ALL),
    "read<4> in out 8 1": ("ld", "ld", WARPS, ALL, 32 * ALL),
    "read<1> in out 1 0": None,
    "read<1> in out 1 3": ("ld", "ld", WARPS, ONE, 32 * ONE),
    "read_generic in out 1": ("ld", "ld", WARPS, ONE, 32 * ONE),
    "read_generic in out 0": None,
    "read_half in out": ("ld", "ld", WARPS, ONE, 32 * ONE),
    "write<1> in out 1": ("st", "st", WARPS, ONE, 32 * ONE),
    "write<2> in out 2": ("st", "st", WARPS, TWO, 32 * TWO),
    "write<4> in out 4": ("st", "st", WARPS, FOUR, 32 * FOUR),
    "write<1> in out 2": ("st", "st", WARPS, TWO, 32 * TWO),
    "write<1> in out 8": ("st", "st", WARPS, ALL, 32 * ALL),
    "write<1> in out 32": ("st", "st", WARPS, ALL, 32 * ALL),
    "add out 1": ("atom", "atom", WARPS, ONE, 64 * ONE),
    "add out 0": ("atom", "atom", WARPS, ALL, 64 * ALL),
    "add_unused out 1": ("atom", "atom", WARPS, ONE, 64 * ONE),
    "add_unused out 0": ("atom", "atom", WARPS, ALL, 64 * ALL),
    "exchange out 1": ("atom", "atom", WARPS, ONE, 64 * ONE),
    "send<1> in out": ("stas", "st", WARPS, ONE, 32 * ONE),
    "send<2> in out": ("stas", "st", WARPS, TWO, 32 * TWO),
    "send<4> in out": ("stas", "st", WARPS, FOUR, 32 * FOUR),
    "send_sum out": ("redas", "redas", WARPS, ONE, 32 * ONE),
    "copy in out 256": ("tma_st", "tma_st", 8, None, 8 * 256),
    "copy in out 4096": ("tma_st", "tma_st", 8, None, 8 * 4096),
    "copy_sum in out 4096": ("tma_red", "tma_red", 8, None, 8 * 4096),
    "multicast in out 1024": None,
    "arrive out": None,
    "meet out": None,
}
"""Of each probe the machine instruction, the way, instructions, sectors (which TMA does not count) and bytes."""


@pytest.fixture(scope="module")
def counted() -> list[nsight.Counted]:
    return nsight.launch_all("emulator", [str(PROBES)])


def test_every_probe_is_known_and_has_no_finding(counted: list[nsight.Counted]) -> None:
    assert {probe.name.removeprefix("probes/") for probe in counted} == set(ON_AN_H200)
    assert [probe.findings for probe in counted if probe.findings] == []


@pytest.mark.parametrize("name", ON_AN_H200)
def test_traffic_counts_as_on_a_gpu(name: str, counted: list[nsight.Counted]) -> None:
    counters = next(probe.counters for probe in counted if probe.name == f"probes/{name}")
    counted_there = {name for name in counters if "dshared" in name} - set(metrics.PEER_EXCESS.values())
    found = {name: counters[name] for name in counted_there if counters[name]}
    wanted = {}
    if ON_AN_H200[name] is not None:
        instruction, way, requests, sectors, nbytes = ON_AN_H200[name]
        wanted = {
            f"smsp__sass_inst_executed_op_dshared_{instruction}.sum": requests,
            f"l1tex__m_xbar2l1tex_read_bytes_mem_dshared_op_{way}.sum": nbytes,
        }
        if sectors is not None:
            wanted[f"l1tex__t_requests_pipe_lsu_mem_dshared_op_{way}.sum"] = requests
            wanted[f"l1tex__t_sectors_pipe_lsu_mem_dshared_op_{way}.sum"] = sectors
    assert found == wanted


def test_what_lies_in_the_own_block_counts_as_its_shared_memory(counted: list[nsight.Counted]) -> None:
    own, other = (
        next(probe.counters for probe in counted if probe.name == f"probes/read<1> in out 1 {step}")
        for step in (0, 3)
    )
    loads, wavefronts = (
        "smsp__sass_inst_executed_op_shared_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    )
    assert (own[loads], own[wavefronts]) == (WARPS, WARPS)
    assert (other[loads], other[wavefronts]) == (0, 0)


def test_a_multicast_counts_at_each_block_it_reaches(counted: list[nsight.Counted]) -> None:
    nbytes = [
        probe.counters["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"]
        for probe in counted
        if "multicast" in probe.name
    ]
    assert nbytes == [8 * 1024, 8 * 1024]  # 4 copies to 2 blocks each, 2 copies to 4


@pytest.mark.parametrize(
    ("name", "way", "excess"),
    [
        ("read<1> in out 1 1", "ld", 0),
        ("read<4> in out 4 1", "ld", 0),
        ("read<1> in out 0 1", "ld", 0),
        ("read<1> in out 2 1", "ld", 4),
        ("read<1> in out 32 1", "ld", 28),
        ("write<1> in out 32", "st", 28),
        ("send<2> in out", "st", 0),
        ("add out 1", "atom", 0),
        ("add out 0", "atom", 28),
    ],
)
def test_sectors_beyond_those_that_the_lanes_fill(
    name: str, way: str, excess: int, counted: list[nsight.Counted]
) -> None:
    counters = next(probe.counters for probe in counted if probe.name == f"probes/{name}")
    assert counters.get(metrics.PEER_EXCESS[way], 0) == excess * WARPS
