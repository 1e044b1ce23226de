"""A kernel file made ready: compiled, its constants known, its launches planned for a problem."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

from grader.emulator.nvrtc.compilation import PINNED, Build, Resources
from grader.errors import WarpladderError
from grader.judge.child.protocol import DeviceKind, Launch, Load, Pointer, Scalar, Tensor
from grader.judge.kernels.limits import Limits, by_architecture, by_limits, smaller_block
from grader.judge.refused import Refused
from grader.workbook import compiler, topics
from grader.workbook.compiler import CompileFailed
from grader.workbook.expressions import Expression, nearest
from grader.workbook.kernel_file import KernelFile
from grader.workbook.launches import tensor_map
from grader.workbook.launches.plan import LaunchPlan, PlannedLaunch, ScratchArray, plan
from grader.workbook.launches.tensor_map import TensorMap
from grader.workbook.reference import Problem

_IMAGES = {"gpu": "pycuda", "emulator": "emulator"}


@dataclass(frozen=True)
class Planned:
    """What to launch for one problem."""

    launches: tuple[Launch, ...]
    scratch: tuple[ScratchArray, ...]
    kernels: tuple[str, ...]  # the name expression of each launch


@dataclass(frozen=True)
class Kernel:
    """A kernel file, compiled for one architecture."""

    file: KernelFile
    build: Build
    constants: dict[str, int]

    @cached_property
    def module(self) -> str:
        """What the child calls this kernel's module: a file that was edited is another one, and so is other PTX."""
        told = f"{self.file.source}\0{self.build.ptx}"
        return f"{self.file.path} {hashlib.sha256(told.encode()).hexdigest()}"

    @cached_property
    def uses_variables(self) -> bool:
        """Whether its code uses variables of the module, which launches may change."""
        return compiler.uses_variables(self.build.ptx)

    @cached_property
    def keeps_state(self) -> bool:
        """Whether a launch may leave something for the next one in variables of the module."""
        return compiler.keeps_state(self.build.ptx)

    @cached_property
    def meets_in_part(self) -> bool:
        """Whether its code has barriers for a number of threads that stands there."""
        return compiler.meets_in_part(self.build.ptx)

    @cached_property
    def asks_for_multiprocessor(self) -> bool:
        """Whether its code asks on which multiprocessor a block runs."""
        return compiler.asks_for_multiprocessor(self.build.ptx)

    def load(self, kind: DeviceKind, cubins: int = PINNED) -> Load:
        """The operation that loads it on a device; `cubins` is the CUDA that the device's cubins are compiled with.

        Raises Refused where that compiler refuses what the pinned one has accepted.
        """
        return Load(self.module, self._built_with(cubins).image(_IMAGES[kind]), self.file.extended)

    def _built_with(self, cuda: int) -> Build:
        if cuda == PINNED:
            return self.build
        source, file, kernels = self.file.source, self.file.path, self.file.kernels
        try:
            arch = self.build.arch
            build = compiler.compile_source(source, file=file, kernels=kernels, arch=arch, cuda=cuda)
        except CompileFailed as error:
            raise Refused(
                "error", f"The compiler of CUDA {cuda}, which this driver needs, refuses it: {error}"
            ) from None
        for kernel, symbol in self.build.lowered.items():
            if build.lowered[kernel] != symbol:
                raise Refused(
                    "error",
                    f"`{kernel}` lies in an unnamed namespace, where two compilers give it two names, and this "
                    "driver needs two compilers. Give the namespace a name.",
                )
        return build

    def resources(self, launch: Launch) -> Resources:
        """Registers, shared memory and spills of the kernel that a launch launches."""
        return self.build.resources[launch.symbol]

    def plan(self, problem: Problem, limits: Limits) -> Planned:
        """The launches for a problem on a device of these limits. Raises Refused."""
        try:
            planned = plan(self.file, problem, self.constants, limits["multiprocessor_count"])
        except WarpladderError as error:
            raise Refused("error", str(error)) from None
        launches = tuple(self._launch(item, problem) for item in planned.launches)
        for item, launch in zip(planned.launches, launches, strict=True):
            used = self.resources(launch)
            block, grid = (self._depends(sides) for sides in (item.spec.block, item.spec.grid))
            most = limits["max_threads_per_block"]
            fixed = math.prod(launch.block) > most and not block
            smaller = smaller_block(self.file, item.spec, most) if fixed else ""
            impossible = by_limits(
                launch, used.shared_bytes, used.registers, limits, block and not grid, smaller
            )
            if impossible:
                raise impossible.refused(self.file.path, item.spec)
        return Planned(launches, planned.scratch, _kernels(planned))

    def fits(self, problem: Problem, limits: Limits) -> bool:
        """Whether such a device can launch it for a problem."""
        try:
            self.plan(problem, limits)
        except Refused:
            return False
        return True

    def _depends(self, sides: Sequence[Expression]) -> bool:
        """Whether a grid or a block is another for another problem, or device."""
        return any(not side.names <= self.constants.keys() for side in sides)

    def _launch(self, item: PlannedLaunch, problem: Problem) -> Launch:
        return Launch(
            symbol=self.build.lowered[item.kernel],
            grid=item.grid,
            block=item.block,
            shared_bytes=item.shared_bytes,
            args=tuple(self._argument(argument, problem) for argument in item.args),
            zero=item.zero,
            constant=item.constant,
            cluster=item.cluster,
            cooperative=item.cooperative,
        )

    def _argument(self, item: str | int | TensorMap, problem: Problem) -> Pointer | Scalar | Tensor:
        if isinstance(item, TensorMap):
            sides = (item.shape, item.strides, item.box)
            return Tensor(item.array, str(item.dtype), *sides, item.swizzle, item.fill == "nan")
        if isinstance(item, int):
            return Scalar("int32", item)
        if item not in problem:
            return Pointer(item)
        return Scalar(str(self.file.signature[item].dtype), problem[item])


def _kernels(planned: LaunchPlan) -> tuple[str, ...]:
    return tuple(item.kernel for item in planned.launches)


def prepare(file: KernelFile, arch: str) -> Kernel:
    """Compile a kernel file. Raises Refused with the compiler's words, or WarpladderError without a compiler.

    The file's constants need a second, cheaper compilation, which runs beside the first.
    """
    if not file.runs_on(arch):
        raise Refused("skip", f"needs {file.smallest_arch}")
    if refusal := by_architecture(file, arch):
        raise refusal
    names = file.constant_names
    try:
        with ThreadPoolExecutor(1) as beside:
            sizes = [size.name for size in file.signature.sizes]
            constants = beside.submit(
                compiler.constants, file.source, names, file=file.path, arch=arch, sizes=sizes
            )
            build = compiler.compile_source(file.source, file=file.path, kernels=file.kernels, arch=arch)
            kernel = Kernel(file, build, constants.result())
    except CompileFailed as error:
        whose = "" if error.of_launch else "The compiler refuses it: "
        raise Refused("error", f"{whose}{error}") from None
    except WarpladderError as error:
        if error.file is None:
            raise
        raise Refused("error", str(error)) from None
    _check_architecture(kernel)
    _check_parameters(kernel)
    _check_constants(kernel)
    return kernel


def _check_architecture(kernel: Kernel) -> None:
    """Refuse a file that leaves out that it is for one architecture alone: on others it would not even compile."""
    file = kernel.file
    instruction = compiler.specific_instruction(kernel.build.ptx)
    if instruction is None or (file.smallest_arch or "").endswith("a"):
        return
    raise Refused(
        "error",
        f"{file.path.name}:{file.arch_line}: the file uses {instruction}, which exists on sm_90a alone. Write "
        'smallest_arch = "sm_90a" at the head of the launch block; other devices then leave the file out.',
    )


def _check_parameters(kernel: Kernel) -> None:
    """Refuse kernels whose parameters are not what the launch block passes: the driver would not notice."""
    sizes = {item.name: item.nbytes for item in kernel.file.signature.by_value}
    sizes |= {item.name: tensor_map.BYTES for item in kernel.file.tensor_maps}
    for launch in kernel.file.launches:
        declared = compiler.parameter_bytes(kernel.build.ptx, kernel.build.lowered[launch.kernel])
        passed = tuple(sizes.get(item, 8) if isinstance(item, str) else 4 for item in launch.args)
        line = launch.line_of("args")
        own, name = kernel.file.signature.name, kernel.file.path.name
        if declared != passed and launch.kernel != own and launch.kernel in topics.names():
            raise Refused(
                "error",
                f"{name}:{line}: `{launch.kernel}` is the kernel of another topic, and takes other parameters than "
                f"`{own}`: ladder grade {launch.kernel} {name}.",
            )
        if len(declared) == len(passed) and declared != passed:
            place = next(i for i, size in enumerate(declared) if size != passed[i])
            item = launch.args[place]
            raise Refused(
                "error",
                f"{kernel.file.path.name}:{line}: `{launch.kernel}` has a parameter of {declared[place]} bytes "
                f"in the place of `{item if isinstance(item, str) else item.text}`, which has {passed[place]}. "
                f"Pointers have 8 bytes, an int 4, a CUtensorMap 128. The topic's parameters: {kernel.file.signature}.",
            )
        if declared != passed:
            names = ", ".join(item if isinstance(item, str) else item.text for item in launch.args)
            raise Refused(
                "error",
                f"{kernel.file.path.name}:{line}: `{launch.kernel}` takes {len(declared)} parameters "
                f"({_list(declared)} bytes) and is passed {names} ({_list(passed)} bytes). "
                f"Give it the topic's parameters, {kernel.file.signature}, or say in `args` what it takes.",
            )


def _check_constants(kernel: Kernel) -> None:
    """Refuse launch blocks that name a variable which the compiled file does not have."""
    known = compiler.variables(kernel.build.ptx)
    for launch in kernel.file.launches:
        for variable, array in launch.constant:
            if variable not in known:
                meant = nearest(variable, known) or "."
                raise Refused(
                    "error",
                    f"{kernel.file.path.name}:{launch.line_of('constant')}: `{array}` is to be copied into "
                    f"`{variable}`, and the compiled file has no such variable{meant} Declare __constant__ float "
                    f"{variable}[…] outside of any function, and use it.",
                )


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "no"
