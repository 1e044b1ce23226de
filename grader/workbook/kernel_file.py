"""The head of a .cu file: the idea in prose, and the TOML block that says how its kernels are launched.

    // /// launch
    // [[launch]]
    // kernel = "transpose"
    // grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
    // block = ["TILE", 8]
    // ///

Rungs and submissions have the same form. `parse_kernel_file` reads one; `grader.workbook.launches.plan` makes concrete
launches of it for one problem, once the compiler has resolved the file's constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.errors import WarpladderError
from grader.workbook.compiler import capability, declared_kernels
from grader.workbook.expressions import Expression
from grader.workbook.launches.spec import (
    LAUNCH_KEYS,
    SM_COUNT,
    LaunchSpec,
    Scratch,
    read_launch,
    read_scratch,
)
from grader.workbook.launches.tensor_map import TensorMapSpec, read_tensor_map
from grader.workbook.signature import Signature
from grader.workbook.source_file import SourceFile, read_source
from grader.workbook.strict_toml import Table, read

_OPENING = re.compile(r"//\s*///\s*launch\s*")
_CLOSING = re.compile(r"//\s*///\s*")
_MOST_LAUNCHES = 100
_ARCH = re.compile(r"sm_\d+a?")


@dataclass(frozen=True, kw_only=True)
class KernelFile(SourceFile):
    """A .cu file with its launch block."""

    launches: tuple[LaunchSpec, ...]
    scratch: tuple[Scratch, ...]
    tensor_maps: tuple[TensorMapSpec, ...] = ()
    smallest_arch: str | None = None  # where it is more than the topic's
    arch_line: int = 1  # where that stands; where it is not given, the line that opens the launch block
    given: frozenset[str] = frozenset()
    """Lines that the task gives, without indents: what is wrong is not there."""

    @property
    def extended(self) -> bool:
        """Whether it is launched in ways that PyCUDA does not bind: with clusters, cooperatively, with tensor maps."""
        return bool(self.tensor_maps) or any(item.clustered or item.cooperative for item in self.launches)

    def runs_on(self, arch: str) -> bool:
        """Whether a device of this architecture can run it: what needs sm_90a needs exactly that."""
        if self.smallest_arch is None or self.smallest_arch == arch:
            return True
        return self.smallest_arch[-1].isdecimal() and capability(arch) >= capability(self.smallest_arch)

    def dtype(self, array: str) -> np.dtype[np.generic]:
        """The element type of an array, by name."""
        for item in self.scratch:
            if item.name == array:
                return item.dtype
        return self.signature[array].dtype

    @property
    def unset(self) -> tuple[str, ...]:
        """The scratch arrays that no launch sets to zero."""
        zeroed = {name for launch in self.launches for name in launch.zero}
        return tuple(item.name for item in self.scratch if item.name not in zeroed)

    @property
    def block(self) -> list[str]:
        """The lines of the launch block."""
        lines = self.source.splitlines()
        opening, closing = _find_block(lines, self.source, self.signature, self.path, None)
        return lines[opening : closing + 1]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The name expressions to compile, each once."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.launches))

    @property
    def constant_names(self) -> tuple[str, ...]:
        """The names the launch block uses and the problem does not supply: the file has to define them."""
        given = (item.name for item in self.signature.by_value)
        supplied = {SM_COUNT, *given, *(name for name, _ in self.signature.derived)}
        used = {name for expression in _expressions(self) for name in expression.names}
        return tuple(sorted(used - supplied))


def parse_kernel_file(path: Path, signature: Signature, starter: Path | None = None) -> KernelFile:
    """Read a kernel file; raises WarpladderError naming file and line. Where it has no launch block, that of `starter`
    is shown."""
    return parse_source(read_source(path, "a .cu source file"), signature, path, starter)


def parse_source(source: str, signature: Signature, path: Path, starter: Path | None = None) -> KernelFile:
    """Read a kernel file's text; `path` names it in messages. Raises WarpladderError."""
    lines = source.splitlines()
    opening, closing = _find_block(lines, source, signature, path, starter)
    toml = [re.sub(r"^\s*// ?", "", line) for line in lines[opening + 1 : closing]]
    block = read(toml, path, first_line=opening + 2)
    if key := next((key for key in block.values if key in LAUNCH_KEYS), None):
        raise block.error(
            f"`{key}` stands in no launch", key, "write // [[launch]] in a line of its own above it"
        )
    block.allow("launch", "scratch", "tensor_map", "side_step", "smallest_arch")
    scratch = tuple(read_scratch(table, signature) for table in block.tables("scratch"))
    own = [item.name for item in scratch]
    arrays = [*(item.name for item in (*signature.inputs, *signature.outputs)), *own]
    maps = tuple(read_tensor_map(table, arrays) for table in block.tables("tensor_map"))
    for key, names in (("scratch", own), ("tensor_map", [item.name for item in maps])):
        if len(set(names)) < len(names):
            raise block.error(f"two [[{key}]] have the same name", key, "give each a name of its own")
    launches = tuple(read_launch(table, signature, own, maps) for table in block.tables("launch"))
    if not launches:
        raise block.error("the launch block launches nothing", remedy="add a [[launch]] table")
    if len(launches) > _MOST_LAUNCHES:
        raise block.error(f"{len(launches)} launches, where {_MOST_LAUNCHES} are the most", "launch")
    return KernelFile(
        path=path,
        idea=_idea(lines[:opening]),
        source=source,
        signature=signature,
        launches=launches,
        scratch=scratch,
        tensor_maps=maps,
        smallest_arch=_smallest_arch(block),
        arch_line=block.line("smallest_arch") if "smallest_arch" in block.values else opening + 1,
        side_step=block.get("side_step", bool, False),
    )


def _expressions(file: KernelFile) -> Iterator[Expression]:
    """Every expression of the launch block."""
    for launch in file.launches:
        yield from launch.expressions()
    for item in file.scratch:
        yield from item.shape
    for map_ in file.tensor_maps:
        yield from map_.expressions()


def _smallest_arch(block: Table) -> str | None:
    if "smallest_arch" not in block.values:
        return None
    found = block.get("smallest_arch", str)
    if not _ARCH.fullmatch(found):
        raise block.error(f"`{found}` is no architecture", "smallest_arch", 'write "sm_90", or "sm_90a"')
    return found


def _find_block(
    lines: list[str], source: str, signature: Signature, path: Path, starter: Path | None
) -> tuple[int, int]:
    """The indices of the opening and closing lines of the launch block."""
    openings = [number for number, line in enumerate(lines) if _OPENING.fullmatch(line.strip())]
    if not openings and path.suffix == ".py":
        raise WarpladderError(
            "this is a Python file, and the topic is written in CUDA C++",
            file=path,
            remedy="pass a .cu file; schedules in Python are for the topics that say so in `ladder topics`",
        )
    if not openings:
        shown = _block_of_starter(source, starter) or _smallest_block(source, signature)
        raise WarpladderError(
            "missing launch block",
            file=path,
            line=1,
            remedy="put these lines at the top of the file:\n"
            + "\n".join(f"      // {row}" for row in shown),
        )
    if len(openings) > 1:
        raise WarpladderError(
            "this is a second launch block",
            file=path,
            line=openings[1] + 1,
            remedy="keep one block, with a [[launch]] table for each launch",
        )
    opening = openings[0]
    for number in range(opening + 1, len(lines)):
        line = lines[number].strip()
        if _CLOSING.fullmatch(line):
            return opening, number
        if not line.startswith("//"):
            raise WarpladderError(
                "the launch block is not closed, and this line is no comment",
                file=path,
                line=number + 1,
                remedy="begin every line of the block with //, and end it with the line `// ///`",
            )
    raise WarpladderError(
        "the launch block is not closed", file=path, line=opening + 1, remedy="end it with the line `// ///`"
    )


def _block_of_starter(source: str, starter: Path | None) -> list[str] | None:
    """The starter's block, for the kernels of this source, which need not have the starter's constants; None where it
    launches several and the source has others."""
    text = starter.read_text(encoding="utf-8") if starter is not None and starter.is_file() else ""
    block = re.search(r"^// /// launch\n(?:// ?.*\n)*?// ///$", text, re.M)
    if block is None:
        return None
    shown, kernels = block[0], declared_kernels(source)
    for name, value in re.findall(r"^constexpr int (\w+) = (\d+);", text, re.M):
        shown = re.sub(rf"\b{name}\b", value, shown)
    shown = re.sub(r'"(\d+)"', r"\1", shown)
    launched = re.findall(r'^// kernel = "(\w+)[^"]*"$', shown, re.M)
    if len(launched) == 1 and kernels and launched[0] not in kernels:
        shown = shown.replace(f'"{launched[0]}"', f'"{kernels[0]}"', 1)
    elif not {*launched} <= {*kernels} and len(launched) > 1:
        return None
    return [line.removeprefix("//").strip() for line in shown.splitlines()]


def _smallest_block(source: str, signature: Signature) -> list[str]:
    """A block that suits the signature, for a learner to start from."""
    kernels = declared_kernels(source)
    kernel = signature.name if signature.name in kernels or not kernels else kernels[0]
    sizes = [size.name for size in signature.sizes]
    if len(sizes) > 1:
        grid, block = f'["cdiv({sizes[1]}, 16)", "cdiv({sizes[0]}, 16)"]', "[16, 16]"
    else:
        grid, block = f'["cdiv({"".join(sizes) or 1}, 256)"]', "[256]"
    return ["/// launch", "[[launch]]", f'kernel = "{kernel}"', f"grid = {grid}", f"block = {block}", "///"]


def _idea(head: list[str]) -> str:
    """The comment before the launch block, without its slashes, its lines joined to paragraphs. A drawing, all of whose
    lines are indented, is left as it is."""
    text = [re.sub(r"^\s*//+ ?", "", line).rstrip() for line in head if line.strip().startswith("//")]
    paragraphs = re.split(r"\n\s*\n", "\n".join(text).strip())
    return "\n\n".join(
        paragraph if re.fullmatch(r"(    .*\n?)+", paragraph) else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
