"""Ordinary PyCUDA scripts, unchanged, on a machine without a GPU."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader import emulate
from grader.errors import WarpladderError

SCRIPTS = Path(__file__).parent / "scripts"


def test_the_tutorials_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = tmp_path / "out.json"
    outcome = emulate.run(SCRIPTS / "doublify.py", profile=profile)
    assert outcome.failure is None
    assert outcome.exit_code == 0
    assert not outcome.times_read
    assert capsys.readouterr().out.splitlines() == [
        "doubled True on NVIDIA H200 (emulated)",
        "doubled again True",
    ]
    launches = json.loads(profile.read_text())
    assert [set(launch) for launch in launches] == 2 * [
        {"kernel", "grid", "block", "shared_bytes", "registers", "counters", "findings"}
    ]
    first = launches[0]
    assert (first["kernel"], first["grid"], first["block"]) == ("doublify", [1, 1, 1], [4, 4, 1])
    assert first["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 2
    assert first["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] == 1
    assert first["registers"] > 0
    assert first["findings"] == []


def test_streams_events_and_prepared_calls(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = emulate.run(SCRIPTS / "streams.py", arch="sm_80")
    assert outcome.failure is None
    assert [launch.kernel for launch in outcome.launches] == ["blur", "blur"]
    assert outcome.times_read
    assert capsys.readouterr().out.splitlines() == 2 * ["blurred True taking time True"]


@pytest.mark.parametrize(
    ("arguments", "failure", "status"),
    [
        (["one"], None, 0),
        (["one", "0"], None, 0),
        (["one", "3"], "the script ended with exit status 3\n", 3),
        (["one", "-1"], "the script ended with exit status -1\n", 255),
    ],
)
def test_arguments_imports_and_exit_status(
    arguments: list[str], failure: str | None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(sys.argv), list(sys.path)
    outcome = emulate.run(SCRIPTS / "arguments.py", arguments)
    assert outcome.failure == failure
    assert outcome.exit_code == status
    assert capsys.readouterr().out == f"hello from beside __main__ {arguments}\n"
    assert (sys.argv, sys.path) == before
    sys.modules.pop("helper_beside")


def test_findings_are_reported_and_the_traceback_starts_in_the_script(tmp_path: Path) -> None:
    profile = tmp_path / "out.json"
    script = SCRIPTS / "one_too_far.py"
    outcome = emulate.run(script, profile=profile)
    assert outcome.exit_code == 1
    assert outcome.failure is not None
    lines = outcome.failure.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert re.fullmatch(rf'  File "{script}", line \d+, in <module>', lines[1])
    assert lines[2] == "    check(a)"
    assert lines[-1] == "ValueError: stopped after 45"
    assert "runpy" not in outcome.failure
    assert "grader" not in outcome.failure
    first, second = json.loads(profile.read_text())
    assert [finding["kind"] for finding in first["findings"]] == ["out_of_bounds"]
    assert first["findings"][0]["line"] == 6
    assert first["findings"][0]["count"] == 1
    assert first["findings"][0]["thread"] == [10, 0, 0]
    assert second["findings"] == []


def test_the_traceback_names_errors_as_pycuda_does_and_skips_the_emulator(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import pycuda.autoinit, pycuda.driver as d\n"
        "try:\n    d.mem_alloc(0)\nexcept d.LogicError as e:\n    raise KeyError('x') from e\n"
    )
    failure = emulate.run(script).failure
    assert failure is not None
    assert "\npycuda._driver.LogicError: cuMemAlloc failed: invalid argument" in failure
    assert failure.count('  File "') == failure.count(f'  File "{script}"') == 2


def test_threads_have_contexts_of_their_own_and_are_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading, time\n"
        "import numpy as np\n"
        "import pycuda.driver as d\n"
        "from pycuda.compiler import SourceModule\n"
        "d.init()\n"
        "def work(number):\n"
        "    time.sleep(0.05)\n"
        "    context = d.Device(0).make_context()\n"
        "    module = SourceModule('__global__ void set(int *x, int to) { x[threadIdx.x] = to; }')\n"
        "    x = np.zeros(32, np.int32)\n"
        "    module.get_function('set')(d.Out(x), np.int32(number), block=(32, 1, 1))\n"
        "    assert (x == number).all()\n"
        "    context.pop()\n"
        "for number in range(4):\n"
        "    threading.Thread(target=work, args=(number,)).start()\n"
    )
    outcome = emulate.run(script)
    assert outcome.failure is None
    assert [launch.kernel for launch in outcome.launches] == ["set"] * 4


def test_findings_alone_make_the_exit_status(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text((SCRIPTS / "one_too_far.py").read_text().replace("check(a)\n", ""))
    outcome = emulate.run(script)
    assert outcome.failure is None
    assert outcome.exit_code == 1


@pytest.mark.parametrize(
    ("source", "last_line"),
    [
        ("def f(:\n", "SyntaxError"),
        ("import pycuda.gl", "ModuleNotFoundError: pycuda.gl is not emulated; emulated are"),
        (
            "from pycuda.driver import memcpy_atoa",
            "ImportError: pycuda.driver.memcpy_atoa is not emulated; emulated are",
        ),
        (
            "import pycuda.driver as d; d.memcpy_atoa",
            "AttributeError: pycuda.driver.memcpy_atoa is not emulated",
        ),
        ("import sys; sys.exit('no luck')", "no luck"),
        ("import pycuda.driver as d; d.mem_alloc(4)", "LogicError: cuMemAlloc failed: initialization error"),
    ],
)
def test_scripts_that_fail(source: str, last_line: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(source)
    outcome = emulate.run(script)
    assert outcome.exit_code == 1
    assert outcome.failure is not None
    assert last_line in outcome.failure.splitlines()[-1]


def test_a_script_of_cupy_is_refused_by_name(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import numpy\nimport cupy as cp\ncp.zeros(4)\n")
    with pytest.raises(WarpladderError, match="CuPy is not emulated") as refused:
        emulate.run(script)
    assert (refused.value.file, refused.value.line) == (str(script), 2)
    assert "GPU" in (refused.value.remedy or "")
    script.write_text("try:\n    import cupy\nexcept ImportError:\n    import numpy as cupy\n")
    assert emulate.run(script).exit_code == 0


@pytest.mark.parametrize(
    ("source", "said", "remedy"),
    [
        ("import numba.cuda as cuda\n", "Numba's CUDA is not emulated", "NUMBA_ENABLE_CUDASIM=1 python"),
        ("from numba import cuda\n", "Numba's CUDA is not emulated", "NUMBA_ENABLE_CUDASIM=1 python"),
        ("import triton.language as tl\n", "Triton is not emulated", "TRITON_INTERPRET=1 python"),
        ("from cuda.core.experimental import Device\n", "CUDA Python is not installed", "with a GPU"),
        ("import jax.numpy\n", "JAX is not installed, and not emulated", "with a GPU"),
        (
            "import warp\nwarp.zeros(4)\n",
            "NVIDIA Warp is not emulated, and finds no GPU: no CUDA here",
            "with a GPU",
        ),
    ],
)
def test_a_script_of_another_package_is_refused_by_name(
    source: str, said: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    (installed / "warp").mkdir(parents=True)
    (installed / "warp" / "__init__.py").write_text(
        "def zeros(n):\n    raise RuntimeError('no CUDA here\\nmore')\n"
    )
    monkeypatch.syspath_prepend(installed)
    script = tmp_path / "script.py"
    script.write_text(source)
    with pytest.raises(WarpladderError, match=said) as refused:
        emulate.run(script)
    sys.modules.pop("warp", None)
    assert (refused.value.file, refused.value.line) == (str(script), len(source.splitlines()))
    assert remedy in (refused.value.remedy or "")


def test_a_package_that_pycuda_brings_along_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pytools", None)  # as if it were not installed
    script = tmp_path / "script.py"
    script.write_text("import pycuda.autoinit\nfrom pytools import match_precision\n")
    with pytest.raises(WarpladderError, match="pytools is not installed; PyCUDA brings it along") as refused:
        emulate.run(script)
    assert (refused.value.line, refused.value.remedy) == (2, "pip install pytools")


def test_an_array_of_numpys_that_does_not_fit_is_told_at_its_line(tmp_path: Path) -> None:
    """In a process of its own: what another test has reserved may be freed meanwhile, or its heap have room."""
    script = tmp_path / "script.py"
    script.write_text("import numpy\nnumpy.empty(2**28, 'u1')\n")
    code = (
        "import sys; from pathlib import Path; from grader import emulate; from grader.emulator.machine import room; "
        "room.memory_bytes = lambda: 1 << 20; print(emulate.run(Path(sys.argv[1])).failure)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(script)], capture_output=True, text=True, check=True
    )
    assert "line 2" in done.stdout
    assert "Unable to allocate 256. MiB" in done.stdout.strip().splitlines()[-1]


def test_what_cannot_be_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="no such script"):
        emulate.run(tmp_path / "none.py")
    with pytest.raises(WarpladderError, match="no such folder"):
        emulate.run(SCRIPTS / "doublify.py", profile=tmp_path / "none" / "out.json")
    with pytest.raises(WarpladderError, match="no emulated GPU of architecture 'sm_30'"):
        emulate.run(SCRIPTS / "doublify.py", arch="sm_30")


def test_counters_do_not_change_from_process_to_process(tmp_path: Path) -> None:
    def profile_of_a_fresh_process(name: str) -> Any:
        profile = tmp_path / name
        code = (
            "import sys; from pathlib import Path; from grader import emulate; "
            "emulate.run(Path(sys.argv[1]), profile=Path(sys.argv[2]))"
        )
        command = [sys.executable, "-c", code, str(SCRIPTS / "streams.py"), str(profile)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(profile.read_text())

    assert profile_of_a_fresh_process("one") == profile_of_a_fresh_process("two")


def test_the_first_nan_that_is_stored_is_told_and_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = emulate.run(SCRIPTS / "mean_of_none.py")
    assert capsys.readouterr().out.split() == ["9.0", "nan", "nan"]
    assert (outcome.failure, outcome.exit_code) == (None, 0)
    origins = [launch.first_nan for launch in outcome.launches]
    assert [found is not None for found in origins] == [False, True, False]
    assert origins[1] is not None
    assert (origins[1].place.line, origins[1].operands) == (12, ("0", "0"))


NEVER_SET = """
import sys
import numpy as np
import pycuda.autoinit
from pycuda import curandom, gpuarray
from pycuda.compiler import SourceModule

add = SourceModule('''
__global__ void add(float *y, const float *x)
{
    y[threadIdx.x] += x[threadIdx.x];
}
''').get_function("add")
make = gpuarray.zeros if len(sys.argv) > 1 else gpuarray.empty
x, y = gpuarray.to_gpu(np.ones(64, np.float32)), make(64, np.float32)
add(y, x, block=(64, 1, 1))
like = gpuarray.empty_like(x)
like.fill(2)
gpuarray.sum(2 * like + x).get()
curandom.rand((10,)).get()
"""


def test_memory_that_was_never_set_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(NEVER_SET)
    first, *others = emulate.run(script).launches
    assert [(found.kind, found.line, found.count) for found in first.findings] == [
        ("uninitialised_global", 4, 64)
    ]
    assert [launch.findings for launch in others if launch.findings] == []
    assert emulate.run(script, ["cured"]).exit_code == 0
