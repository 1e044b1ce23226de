"""Theoretical occupancy: known cases, the next step, CUDA's own calculator, and the emulated driver."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import sample

from grader import cuda
from grader.analysis.devices import board, boards, capability, named
from grader.analysis.occupancy import next_step, occupancy
from grader.emulator import devices as emulated
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limit"),
    [
        ("sm_90", 256, 32, 0, 8, "warps"),  # full
        ("sm_90", 1024, 32, 0, 2, "warps"),
        ("sm_90", 256, 128, 0, 2, "registers"),  # 4 warps a quarter
        ("sm_90", 256, 129, 0, 1, "registers"),  # rounded to 136: 3 warps a quarter, 12 in all
        ("sm_90", 1024, 64, 0, 1, "registers"),
        ("sm_90", 256, 32, 48 * 1024, 4, "shared memory"),  # 49 KiB with what CUDA keeps, 228 in all
        ("sm_90", 32, 32, 0, 32, "blocks"),  # half of the warps
        ("sm_86", 1024, 32, 0, 1, "warps"),  # 48 warps, two thirds
        ("sm_75", 256, 32, 0, 4, "warps"),
        ("sm_75", 64, 32, 8192, 8, "shared memory"),  # nothing is kept
        ("sm_80", 96, 33, 100, 16, "registers"),  # 33 is rounded to 40: 12 warps a quarter
        ("sm_90", 2048, 16, 0, 0, "block size"),
        ("sm_90", 256, 32, 228 * 1024, 0, "shared memory"),
    ],
)
def test_known_cases(arch: str, threads: int, registers: int, shared: int, blocks: int, limit: str) -> None:
    found = occupancy(capability(arch), threads, registers, shared)
    assert (found.blocks_per_sm, found.limited_by) == (blocks, limit)


def test_a_block_that_is_no_multiple_of_a_warp_fills_whole_warps() -> None:
    found = occupancy(capability("sm_90a"), 33, 32, 0)
    assert (found.warps_per_sm, found.fraction) == (64, 1.0)


@given(
    st.sampled_from(["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]),
    st.integers(1, 1024),
    st.integers(1, 255),
    st.integers(0, 64 * 1024),
)
def test_the_emulated_driver_says_the_same(arch: str, threads: int, registers: int, shared: int) -> None:
    expected = emulated.max_active_blocks(emulated.find(arch), threads, registers, shared)
    assert occupancy(capability(arch), threads, registers, shared).blocks_per_sm == expected


def test_boards_are_found_by_name_then_by_architecture() -> None:
    assert board("NVIDIA H200", "sm_90a").name == "NVIDIA H200"
    assert board("NVIDIA A100-SXM4-80GB", "sm_80").name == "NVIDIA A100"
    assert board("NVIDIA GH200 480GB", "sm_90a").capability.name == "9.0"
    with pytest.raises(WarpladderError, match="nothing is known of the GPU"):
        board("Tesla V100", "sm_70")


def test_no_ceiling_is_above_the_datasheet() -> None:
    for spec in boards():
        assert spec.dram_copy <= spec.dram_read < spec.peak_dram
        assert 2 * spec.capability.fma_lanes * spec.sms * spec.clock_hz <= 1.01 * spec.peak_flop
        assert spec.l2_scattered < spec.l2_rate
        assert spec.l1_latency < spec.l2_latency < spec.dram_latency


SEVEN = ("T4", "A100", "L4", "RTX 4090", "H100", "H200", "B200")
CALCULATOR = Path(__file__).with_name("cuda_occupancy.cu")


def asked_of_cuda(configurations: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> list[int]:
    """What cuda_occupancy.h answers, run on the emulator; -1 where it refuses."""
    chosen = cuda.select("emulator")
    image = compilation.build(CALCULATOR.read_text(), name=CALCULATOR.name).image("emulator")
    ask = chosen.driver.module_from_buffer(image).get_function("ask")
    blocks = np.empty(len(configurations), np.int32)
    ask(
        chosen.driver.In(configurations), chosen.driver.Out(blocks), np.int32(len(blocks)),
        grid=(-(-len(blocks) // 256), 1), block=(256, 1, 1),
    )  # fmt: skip
    return [int(number) for number in blocks]


@pytest.mark.parametrize("name", sample(SEVEN, SEVEN[-1:], "emulator"))
def test_cuda_s_own_calculator_says_the_same(name: str) -> None:
    sm = named(name).capability
    major, minor = map(int, sm.name.split("."))
    random = np.random.default_rng(4)
    count = 4000
    registers, threads = random.integers(1, 256, count), random.integers(1, 1025, count)
    static = random.integers(0, 49_153, count) * random.integers(0, 2, count)
    dynamic = random.integers(0, sm.shared_block_bytes - static + 1) * random.integers(0, 2, count)
    device = [np.full(count, value) for value in (major, minor, 32 * sm.warps, sm.shared_bytes)]
    told = asked_of_cuda(np.stack([*device, registers, static, dynamic, threads], 1).astype(np.int32))
    ours = [
        occupancy(sm, int(t), int(r), int(s)).blocks_per_sm
        for t, r, s in zip(threads, registers, static + dynamic, strict=True)
    ]
    assert ours == told
    assert len(set(told)) > 10


@pytest.mark.parametrize(
    ("name", "threads", "registers", "shared", "change"),
    [
        ("H200", 256, 42, 0, {"blocks_per_sm": 6, "registers": 40}),
        ("H200", 256, 255, 0, {"blocks_per_sm": 2, "registers": 128}),
        ("H200", 256, 32, 49152, {"blocks_per_sm": 5, "shared_bytes": 45568}),  # 228 KiB / 5, less 1 KiB
        ("H200", 1024, 80, 200_000, {"blocks_per_sm": 1, "registers": 64}),  # does not fit as it is
        ("H200", 512, 80, 150_000, {"blocks_per_sm": 2, "registers": 64, "shared_bytes": 115_712}),
        ("H200", 32, 32, 0, {"blocks_per_sm": 32, "threads": 64}),
        ("RTX 4090", 1024, 32, 0, {"blocks_per_sm": 2, "threads": 768}),  # 48 warps
        ("H200", 2048, 32, 0, {"blocks_per_sm": 2, "threads": 1024}),
    ],
)
def test_the_next_step(name: str, threads: int, registers: int, shared: int, change: dict[str, int]) -> None:
    step = next_step(named(name), threads, registers, shared)
    assert step is not None
    needed = {"threads": step.threads, "registers": step.registers, "shared_bytes": step.shared_bytes}
    found = {key: value for key, value in needed.items() if value is not None}
    assert {"blocks_per_sm": step.blocks_per_sm, **found} == change


def test_there_is_no_next_step_where_a_multiprocessor_is_full() -> None:
    assert next_step(named("H200"), 256, 32, 0) is None


@given(st.sampled_from(SEVEN), st.integers(1, 1024), st.integers(1, 255), st.integers(0, 64 * 1024))
def test_the_next_step_is_what_it_says_and_no_wider_step_would_do(
    name: str, threads: int, registers: int, shared: int
) -> None:
    spec = named(name)
    now, step = occupancy(spec, threads, registers, shared), next_step(spec, threads, registers, shared)
    if step is None:
        return
    then = {"threads": step.threads or threads, "registers": step.registers or registers}
    most = shared if step.shared_bytes is None else step.shared_bytes
    after = occupancy(spec, then["threads"], then["registers"], most)
    assert (after.blocks_per_sm, after.fraction) == (step.blocks_per_sm, step.fraction)
    assert after.warps_per_sm > now.warps_per_sm
    if step.registers is not None:
        more = occupancy(spec, then["threads"], step.registers + 1, most)
        assert more.blocks_per_sm < step.blocks_per_sm
    if step.shared_bytes is not None:
        more = occupancy(spec, then["threads"], then["registers"], step.shared_bytes + 1)
        assert more.blocks_per_sm < step.blocks_per_sm


def test_boards_answer_to_what_people_call_them() -> None:
    assert named("a100").name == "NVIDIA A100"
    assert named("rtx4090").name == "NVIDIA GeForce RTX 4090"
    assert named("L4").capability.name == "8.9"
    for name in ("V100", "NVIDIA", ""):
        with pytest.raises(WarpladderError, match="NVIDIA H200"):
            named(name)


def test_shared_memory_is_one_block_s_and_what_cuda_keeps_in_it() -> None:
    for spec in boards():
        sm = spec.capability
        assert sm.shared_bytes == sm.shared_block_bytes + sm.shared_reserved


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """benchmarks/occupancy.py, which asks a GPU's driver, on the emulated driver and with few kernels."""
    path = Path(__file__).parents[2] / "benchmarks" / "occupancy.py"
    spec = importlib.util.spec_from_file_location("occupancy_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LIVE", (20, 96))
    monkeypatch.setattr(module, "rungs", lambda device: iter(()))
    monkeypatch.setattr(sys, "argv", ["occupancy.py", "--device", "emulator", "--configurations", "30"])
    return module


@pytest.mark.slow
def test_the_benchmark_finds_no_mismatch(benchmark: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        benchmark.main()
    said = capsys.readouterr().out
    assert ended.value.code == 0, said
    assert "limits: 8 compared, 0 mismatches" in said
    assert "sweep: 30 asked" in said


def test_the_benchmark_prints_every_mismatch(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.emulator.pycuda_api.driver_ext.max_active_blocks", lambda *_: 77)
    with pytest.raises(SystemExit) as ended:
        benchmark.main()
    said = capsys.readouterr().out
    assert ended.value.code == 1
    assert said.count("MISMATCH kept<") == 30
    assert "driver 77, analysis" in said
