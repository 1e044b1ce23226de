"""Modules, functions and launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver, driver_ext
from grader.emulator.pycuda_api.compiler import SourceModule, compile
from grader.emulator.pycuda_api.driver.emulation import reset

pytestmark = pytest.mark.usefixtures("gpu")

SCALE = """
__constant__ float table[12];
__device__ int calls;
__global__ void scale(float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
    if (i == 0) calls = n + (int)table[n % 12];
}
"""


@pytest.fixture
def scale() -> Any:
    return SourceModule(SCALE).get_function("scale")


def arguments(x: Any, by: float = 2.0) -> tuple[Any, ...]:
    return driver.InOut(x), np.float32(by), np.int32(x.size)


def test_a_kernel_runs(scale: Any) -> None:
    x = np.arange(1000, dtype=np.float32)
    assert scale(*arguments(x), block=(256, 1, 1), grid=(4, 1)) is None
    assert (x == 2 * np.arange(1000)).all()


def test_in_out_and_inout() -> None:
    add = SourceModule(
        "__global__ void add(int *c, const int *a, int *b)"
        "{ int i = threadIdx.x; c[i] = a[i] + b[i]; b[i] = 0; }"
    ).get_function("add")
    a, b, c = np.arange(32, dtype=np.int32), np.full(32, 5, np.int32), np.full(32, -1, np.int32)
    add(driver.Out(c), driver.In(a), driver.InOut(b), block=(32, 1, 1))
    assert (c == a + 5).all()
    assert not b.any()


def test_handlers_check_their_arrays(scale: Any) -> None:
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    rest = (np.float32(1), np.int32(4))
    with pytest.raises(ValueError, match="read-only"):
        scale(driver.Out(read_only), *rest, block=(4, 1, 1))
    with pytest.raises(ValueError, match="not contiguous"):
        scale(driver.In(np.zeros((4, 4), np.float32)[:, 0]), *rest, block=(4, 1, 1))
    with pytest.raises(TypeError, match="could not determine array length of '<class 'list'>'"):
        scale(driver.In([1, 2]), *rest, block=(4, 1, 1))


def test_prepared_launches(scale: Any) -> None:
    x = driver.to_device(np.ones(64, np.float32))
    assert scale.prepare("Pfi") is scale
    scale.prepared_call((2, 1), (32, 1, 1), x, 2.0, 64)
    scale.prepared_async_call((2, 1), (32, 1, 1), driver.Stream(), x, 2.0, 64)
    assert scale.prepared_timed_call((2, 1), (32, 1, 1), x, 2.0, 64, shared_size=0)() > 0
    scale.prepare([np.intp, np.float32, np.int32])
    scale.prepared_async_call((2, 1), (32, 1, 1), None, x, 2.0, 64)
    assert (driver.from_device(x, 64, np.float32) == 16).all()
    with pytest.raises(TypeError, match="unknown keyword arguments: foo"):
        scale.prepared_call((2, 1), (32, 1, 1), x, 2.0, 64, foo=1)
    unprepared = SourceModule(SCALE).get_function("scale")
    with pytest.raises(AttributeError, match=r"call prepare\(\) first"):
        unprepared.prepared_call((2, 1), (32, 1, 1), x, 2.0, 64)


def test_launches_in_a_stream_and_timed(scale: Any) -> None:
    x = np.ones(32, np.float32)
    scale(*arguments(x), block=(32, 1, 1), stream=driver.Stream())
    assert (x == 2).all()
    assert scale(*arguments(x), block=(32, 1, 1), time_kernel=True) > 0
    with pytest.raises(AssertionError, match="Can't time"):
        scale(*arguments(x), block=(32, 1, 1), time_kernel=True, stream=driver.Stream())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "must specify block size"),
        ({"block": (4, 1, 1), "foo": 1}, ValueError, "extra keyword arguments: foo"),
        ({"block": (4,)}, TypeError, "three entries"),
        ({"block": (4.0, 1, 1)}, TypeError, "block must be an int, not float"),
        ({"block": (np.int64(4), 1, 1)}, TypeError, "not numpy.int64"),
        ({"block": [4, 1, 1]}, TypeError, "block must be a tuple"),
        ({"block": (4, 1, 1), "grid": [1, 1]}, TypeError, "grid must be a tuple"),
        ({"block": (4, 1, 1), "grid": (1.5, 1)}, TypeError, "grid must be an int, not float"),
        ({"block": (4, 1, 1), "grid": (-1, 1)}, OverflowError, "negative"),
        ({"block": (4, 1, 1), "grid": (1, 1, 1, 1)}, driver.LogicError, "too many grid dimensions"),
        ({"block": (2048, 1, 1)}, driver.LogicError, "cuFuncSetBlockShape failed: invalid argument.*1024"),
        ({"block": (64, 64, 1)}, driver.LogicError, "4096 threads"),
        ({"block": (0, 1, 1)}, driver.LogicError, "cuFuncSetBlockShape failed: invalid argument"),
        ({"block": (4, 1, 1), "grid": (0, 1)}, driver.LogicError, "cuLaunchKernel failed: invalid argument"),
        (
            {"block": (4, 1, 1), "grid": (1, 70000)},
            driver.LogicError,
            "cuLaunchKernel failed: invalid argument",
        ),
        ({"block": (4, 1, 1), "shared": 49153}, driver.LogicError, "49152 bytes of dynamic shared memory"),
        ({"block": (4, 1, 1), "shared": 4.0}, TypeError, "shared must be an int"),
        ({"block": (4, 1, 1), "stream": 3}, TypeError, "stream must be a Stream"),
        ({"block": (4, 1, 1), "texrefs": [1]}, driver.NotEmulated, "param_set_texref: texture"),
    ],
)
def test_launches_that_are_refused(scale: Any, options: Any, error: type[Exception], message: str) -> None:
    x = driver.mem_alloc(16)
    with pytest.raises(error, match=message):
        scale(x, np.float32(1), np.int32(4), **options)
    assert driver_ext.launch_records() == []


def test_wrong_arguments_are_refused(scale: Any) -> None:
    x = driver.mem_alloc(16)
    with pytest.raises(
        driver.LogicError, match=r"scale takes 16 bytes of arguments \(8, 4, 4\), 12 were given"
    ):
        scale(x, np.float32(1), block=(4, 1, 1))
    with pytest.raises(TypeError, match=r"parameter #2 \(0-based\): int"):
        scale(x, np.float32(1), 4, block=(4, 1, 1))


def test_what_is_known_of_a_function(scale: Any) -> None:
    assert 0 < scale.num_regs <= 255
    assert scale.get_attribute(driver.function_attribute.NUM_REGS) == scale.num_regs
    assert scale.shared_size_bytes == 0
    assert scale.local_size_bytes == 0
    assert scale.const_size_bytes == 48
    assert scale.max_threads_per_block == 1024
    assert scale.binary_version == scale.ptx_version == 90
    scale.set_cache_config(driver.func_cache.PREFER_SHARED)
    with pytest.raises(AttributeError, match="foo"):
        scale.foo  # noqa: B018


def test_more_dynamic_shared_memory_has_to_be_asked_for() -> None:
    function = SourceModule(
        "__global__ void f(int *out) { extern __shared__ int s[]; s[threadIdx.x] = 7; __syncthreads();"
        " out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }"
    ).get_function("f")
    out, size = np.zeros(32, np.int32), driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
    function.set_attribute(size, 100_000)
    assert function.max_dynamic_shared_size_bytes == 100_000
    function(driver.Out(out), block=(32, 1, 1), shared=100_000)
    assert (out == 7).all()
    assert driver_ext.launch_records()[0].shared_bytes == 100_000
    with pytest.raises(
        driver.LogicError, match="232448 bytes of dynamic shared memory, 232449 were asked for"
    ):
        function.set_attribute(size, 232_449)
    with pytest.raises(driver.LogicError, match="NUM_REGS cannot be set"):
        function.set_attribute(driver.function_attribute.NUM_REGS, 3)


def test_global_variables() -> None:
    module = SourceModule(SCALE)
    address, size = module.get_global("table")
    assert size == 48
    driver.memcpy_htod(address, np.arange(12, dtype=np.float32))
    x = np.zeros(5, np.float32)
    module.get_function("scale")(*arguments(x), block=(32, 1, 1))
    address, size = module.get_global("calls")
    assert driver.from_device(address, size // 4, np.int32) == [5 + 5]


def test_missing_symbols_are_named_with_what_there_is() -> None:
    module = SourceModule(SCALE)
    with pytest.raises(
        driver.LogicError, match=r'cuModuleGetFunction failed: named symbol not found.*"q".*scale'
    ):
        module.get_function("q")
    with pytest.raises(
        driver.LogicError, match=r'cuModuleGetGlobal failed: named symbol not found.*"q".*calls'
    ):
        module.get_global("q")
    with pytest.raises(driver.NotEmulated, match="get_texref"):
        module.get_texref("q")


def test_modules_from_buffers_and_files(tmp_path: Any) -> None:
    image = compile(SCALE)
    said: list[tuple[bool, str, str]] = []
    module = driver.module_from_buffer(image, message_handler=lambda *what: said.append(what))
    assert module.get_function("scale").num_regs > 0
    assert [ok for ok, _, _ in said] == [True]
    path = tmp_path / "scale.ptx"
    path.write_bytes(image)
    assert driver.module_from_file(str(path)).get_function("scale")
    with pytest.raises(driver.RuntimeError, match="cuModuleLoad failed: file not found"):
        driver.module_from_file(str(tmp_path / "none.ptx"))
    with pytest.raises(driver.NotEmulated, match="cubin"):
        driver.module_from_buffer(b"\x7fELF...")
    with pytest.raises(driver.LogicError, match="a PTX JIT compilation failed"):
        driver.module_from_buffer(
            b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f() { ret } }"
        )


def test_code_for_a_newer_gpu_is_refused() -> None:
    image = compile(SCALE, arch="sm_90")
    reset("sm_80")
    driver.init()
    driver.Device(0).make_context()
    with pytest.raises(
        driver.RuntimeError, match=r"no kernel image is available.*for sm_90, the emulated GPU is sm_80"
    ):
        driver.module_from_buffer(image)


def test_faults_become_findings_and_the_script_goes_on(scale: Any) -> None:
    x = driver.to_device(np.ones(32, np.float32))
    scale(x, np.float32(2), np.int32(33), block=(64, 1, 1))
    scale(x, np.float32(2), np.int32(32), block=(64, 1, 1))
    first, second = driver_ext.launch_records()
    assert [finding.kind for finding in first.findings] == ["out_of_bounds"]
    assert first.findings[0].line == 7
    assert second.findings == ()
    assert (driver.from_device(x, 32, np.float32) == 4).all()


def test_a_kernel_that_does_not_end_is_stopped_by_its_budget() -> None:
    loop = SourceModule(
        "__global__ void f(volatile int *go) { while (*go == 0) ; }",
    ).get_function("f")
    driver_ext.instruction_budget(10_000)
    with pytest.raises(driver.LaunchError, match=r"the launch timed out and was terminated.*budget"):
        loop(driver.In(np.zeros(1, np.int32)), block=(32, 1, 1))
    assert [record.status for record in driver_ext.launch_records()] == ["budget exhausted"]


def test_a_trap_is_a_launch_failure() -> None:
    trap = SourceModule('__global__ void f() { asm("trap;"); }').get_function("f")
    with pytest.raises(driver.LaunchError, match="unspecified launch failure"):
        trap(block=(32, 1, 1))


def test_sampled_blocks_run_alone(scale: Any) -> None:
    x = np.ones(128, np.float32)
    driver_ext.sampled_blocks([1, 3])
    scale(*arguments(x), block=(32, 1, 1), grid=(4, 1))
    assert list(x.reshape(4, 32)[:, 0]) == [1, 2, 1, 2]
    record = driver_ext.launch_records(clear=False)[0]
    assert (record.blocks_run, record.grid_blocks) == (2, 4)
    assert len(driver_ext.launch_records()) == 1
    assert driver_ext.launch_records() == []


def test_occupancy_and_limits() -> None:
    image = compile(SCALE)
    assert driver_ext.max_active_blocks(image, "scale", 256, 0) == 8
    assert driver_ext.max_active_blocks(image, "scale", 256, 100 * 1024) == 2
    assert driver_ext.max_active_blocks(image, "scale", 32, 0) == 32
    limits = driver_ext.device_limits()
    assert limits["max_threads_per_block"] == 1024
    assert limits["multiprocessor_count"] == 132
