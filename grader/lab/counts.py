"""What one run of a kernel was counted to do: a dict by Nsight Compute's names, with short names beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.console import RenderableType
from rich.text import Text

from grader.emulator import metrics
from grader.judge.kernels import counting
from grader.lab import show
from grader.lab.comparison import complaints, table
from grader.results import FindingResult, LineProfile
from grader.workbook import units

SHORT = {
    "load_requests": metrics.GLOBAL_REQUESTS["ld"],
    "load_sectors": metrics.GLOBAL_SECTORS["ld"],
    "store_requests": metrics.GLOBAL_REQUESTS["st"],
    "store_sectors": metrics.GLOBAL_SECTORS["st"],
    "shared_loads": metrics.SHARED_INSTRUCTIONS["ld"],
    "shared_load_wavefronts": metrics.SHARED_WAVEFRONTS["ld"],
    "shared_load_conflicts": metrics.SHARED_CONFLICTS["ld"],
    "shared_stores": metrics.SHARED_INSTRUCTIONS["st"],
    "shared_store_wavefronts": metrics.SHARED_WAVEFRONTS["st"],
    "shared_store_conflicts": metrics.SHARED_CONFLICTS["st"],
    "local_loads": metrics.LOCAL_INSTRUCTIONS["ld"],
    "local_stores": metrics.LOCAL_INSTRUCTIONS["st"],
    "multiply_adds": metrics.ARITHMETIC["ffma"],
    "tensor_ops": metrics.TENSOR_OPS["fp16", "fp32"],
    "instructions": metrics.WARP_INSTRUCTIONS,
}
"""Short name → Nsight Compute's. Sectors, requests, wavefronts and instructions are of warps; multiply_adds of threads,
tensor_ops are operations, two for a multiply-add."""

FACTS = {
    "flop": "floating-point operations, two for a multiply-add",
    "registers": "registers a thread",
    "spill_bytes": "registers kept in memory instead, bytes a thread",
    "shared_bytes": "shared memory a block, bytes",
    "dram_bytes": "bytes to and from DRAM",
}
"""What else can be compared, by attribute of Counts."""


@dataclass(frozen=True)
class About:
    """What is known of a run beside its counters."""

    name: str  # the kernel's, as it was asked for
    where: str  # the sizes, or grid and block
    registers: int  # a thread, of the hungriest launch
    spill_bytes: int  # a thread, stores and loads, likewise
    shared_bytes: int  # a block, static and dynamic, likewise
    occupancy: float  # resident warps over the most that a multiprocessor holds, of the emptiest launch
    dram_bytes: int  # to and from DRAM, all launches together
    lines: tuple[LineProfile, ...] = ()  # the source lines that did something
    findings: tuple[FindingResult, ...] = ()  # faults that the emulator saw
    wrong: str | None = None  # why the result is wrong, where somebody compared it


class Counts(dict[str, int]):
    """Counters by Nsight Compute's names, as the emulator counted them: `counts["smsp__inst_executed.sum"]`.

    `counts.load_sectors` and the other names of `SHORT` are the same by another name; a counter that was not touched
    is 0. Of `About`, all fields are attributes as well.
    """

    def __init__(self, counters: Mapping[str, int], about: About) -> None:
        super().__init__(counters)
        self.about = about

    def __missing__(self, name: str) -> int:
        if "__" not in name:
            raise KeyError(f"{name}: counters have Nsight Compute's names; short ones are attributes")
        return 0

    def __getattr__(self, name: str) -> int:
        if name in SHORT:
            return self[SHORT[name]]
        if name in About.__dataclass_fields__:
            found: int = getattr(self.about, name)
            return found
        raise AttributeError(f"{name} is not counted; short names are {', '.join((*SHORT, *FACTS))}")

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.about.name

    @property
    def faults(self) -> list[str]:
        """What is wrong with the run, each in a sentence; [] where nothing is known to be."""
        said = [self.about.wrong] if self.about.wrong else []
        for fault in self.about.findings:
            line = f"line {fault.line}: " if fault.line else ""
            said.append(f"{line}{fault.kind.replace('_', ' ')}: {fault.message}")
        return said

    def verified(self, right: bool) -> Counts:
        """The same, with a fault where the result, which the notebook compared itself, is not right."""
        if right:
            return self
        return Counts(self, replace(self.about, wrong="the numbers that came out are not the right ones"))

    def numbers(self) -> dict[str, float]:
        """All counters and facts by their short names."""
        return {name: getattr(self, name) for name in (*SHORT, *FACTS)}

    def meaning(self, name: str) -> str:
        """What a short name stands for."""
        return SHORT.get(name) or FACTS[name]

    @property
    def flop(self) -> int:
        """Floating-point operations that were executed, Tensor Cores' among them; a multiply-add is two."""
        return counting.flop(self)

    @property
    def occupancy(self) -> float:
        """Resident warps over the most that a multiprocessor holds."""
        return self.about.occupancy

    @property
    def lines(self) -> tuple[LineProfile, ...]:
        """The source lines that did something, each with its counters."""
        return self.about.lines

    @property
    def findings(self) -> tuple[FindingResult, ...]:
        """Faults that the emulator saw."""
        return self.about.findings

    def _repr_html_(self) -> str:
        return show.as_html(self._view())

    def __repr__(self) -> str:
        return show.as_text(self._view())

    def _view(self) -> RenderableType:
        return show.stacked(
            Text.assemble((self.about.name, "bold"), f"   {self.about.where}"),
            *complaints(self),
            table({"counted": self}, [name for name in SHORT if getattr(self, name)]),
            Text(
                f"\n{self.about.registers} registers a thread, {units.kib(self.about.shared_bytes)} of shared memory, "
                f"occupancy {units.percent(self.about.occupancy)} %, "
                f"{self.about.dram_bytes:,} bytes to and from DRAM"
            ),
        )
