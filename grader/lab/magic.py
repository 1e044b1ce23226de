"""`%%kernel`: a cell of CUDA C++ is kept under a name and compiled."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from grader.errors import WarpladderError
from grader.judge.kernels.compiled import prepare
from grader.judge.refused import Refused
from grader.lab import cells, launching, runs, show
from grader.lab.cells import Cell
from grader.workbook import compiler, units
from grader.workbook.kernel_file import KernelFile


def register(shell: Any) -> None:
    """Make `%%kernel` known to an IPython shell, and have our errors shown without a traceback."""
    shell.register_magic_function(kernel, magic_kind="cell", magic_name="kernel")
    shell.set_custom_exc((WarpladderError,), _without_traceback)
    runs.register(shell)


def kernel(line: str, cell: str) -> None:
    """Keep the cell under the name given and compile it: `%%kernel NAME [--topic TOPIC]`."""
    name, topic = cells.parse_line(line)
    kept = cells.keep(name, topic, cells.as_file(cell))
    try:
        said = _compiled(kept)
    except (Refused, WarpladderError) as error:
        text = str(error).replace(f"{kept.path.parent}/", "")
        show.display(Text.assemble(("✗ ", "bold red"), text))
        return
    show.display(Text.assemble(("✓ ", "bold green"), (name, "bold"), "   ", said))


def _compiled(kept: Cell) -> str:
    """What became of the cell; raises Refused or WarpladderError with the compiler's words."""
    if kept.topic is None:
        return "; ".join(f"{symbol}: {told}" for symbol, told in _resources(kept).items())
    topic = kept.load_topic()
    file = topic.parse(kept.path)
    if not isinstance(file, KernelFile):
        return f"a {topic.writes} for {topic.name}"
    built = prepare(file, compiler.DEFAULT_ARCH)
    told = [_told(used) for used in built.build.resources.values()]
    return f"for {topic.name}: " + "; ".join(told)


def _resources(kept: Cell) -> dict[str, str]:
    """What each kernel of a cell takes, by name; what templates take is not known before an instance is named."""
    names = launching.plain_kernels(kept)
    build = compiler.compile_source(kept.text, file=kept.path, kernels=names)
    templates = set(compiler.declared_kernels(kept.text)) - set(names)
    told = {name: _told(build.resources[build.lowered[name]]) for name in names}
    return {**told, **dict.fromkeys(sorted(templates), "a template")}


def _told(used: Any) -> str:
    spilled = used.spill_store_bytes + used.spill_load_bytes
    spills = f", {spilled} bytes spilled" if spilled else ""
    return f"{used.registers} registers a thread, {units.kib(used.shared_bytes)} of shared memory{spills}"


def _without_traceback(
    shell: Any, kind: type, error: WarpladderError, trace: Any, tb_offset: Any = None
) -> Any:
    """Show what is wrong and what to do, and not where in our code it was noticed."""
    said = [f"\x1b[31m{kind.__name__}\x1b[0m: {error}"]
    shell._showtraceback(kind, error, said)
    return said
