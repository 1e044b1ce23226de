"""What register banks leave of a kernel's FFMAs, from its machine code.

    python benchmarks/register_banks.py [TOPIC RUNG|FILE] [--listing N]

An FFMA reads three registers. Those with even numbers lie in one bank, those with odd numbers in another, and a bank
gives a warp one of its registers a clock. An operand that the instruction before has marked `.reuse` is kept, and read
from no bank. So a loop of a scheduler takes at least as many clocks as it has instructions, as it reads registers from
the even bank, and as it reads from the odd one. Conflicts within an instruction do not count: those of neighbours even
out.

Of a rung, gemm's 09_wide_tile if none is given, or of a .cu file for the topic, the script counts the basic block with
the most FFMAs, as ptxas has compiled it, and others with FFMAs in the same innermost loop. It shows N of the
instructions. An operand's bank stands behind it, unless it is reused. nvdisasm is of the wheel nvidia-cuda-nvdisasm
(extra `dev`). The rule was found with register_probe.py.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from listings import disassembled

from grader.judge.kernels.compiled import prepare
from grader.workbook import topics
from grader.workbook.kernel_file import KernelFile
from grader.workbook.topic import KernelTopic

ARCH = "sm_90a"

INSTRUCTION = re.compile(
    r"/\*(?P<place>[0-9a-f]{4,})\*/\s+(?:@!?U?P\d+ )?(?P<name>[A-Z0-9_.]+)\s*(?P<operands>.*?) ?;"
)
BRANCH = re.compile(r"BRA\S* .*`\((?P<label>\.L_\w+)\)")
REGISTER = re.compile(r"[-|]?R(\d+)\b\|?(\.reuse)?$")


@dataclass(frozen=True)
class Instruction:
    """A line of machine code, and which registers it reads from the even and from the odd bank, if it is an FFMA."""

    place: int
    text: str
    ffma: bool
    even: tuple[int, ...] = ()
    odd: tuple[int, ...] = ()


@dataclass(frozen=True)
class Counted:
    """Of a basic block: instructions, FFMAs, and registers that FFMAs read from either bank."""

    instructions: int
    ffmas: int
    even: int
    odd: int

    @property
    def clocks(self) -> int:
        """The fewest that a scheduler needs."""
        return max(self.instructions, self.even, self.odd)

    @property
    def rate(self) -> float:
        """The share of clocks in which an FFMA can start."""
        return self.ffmas / self.clocks


def blocks(listing: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The basic blocks of nvdisasm's text, from label to label, each with its label."""
    parts = ["", *re.split(r"^(\.L_\S+):$", listing, flags=re.MULTILINE)]
    for label, part in zip(parts[::2], parts[1::2], strict=True):
        found: list[Instruction] = []
        kept: dict[int, int] = {}  # by the operand's place
        for line in part.splitlines():
            if match := INSTRUCTION.search(line):
                instruction, kept = read(match, kept)
                found.append(instruction)
        yield label, found


def read(match: re.Match[str], kept: dict[int, int]) -> tuple[Instruction, dict[int, int]]:
    """An instruction, and the operands that it keeps for the next one."""
    place, text = int(match["place"], 16), f"{match['name']} {match['operands']}"
    if match["name"].partition(".")[0] != "FFMA":
        return Instruction(place, text, False), {}
    even_odd: tuple[list[int], list[int]] = ([], [])
    keeps = {}
    for position, operand in enumerate(match["operands"].split(",")[1:]):
        if register := REGISTER.match(operand.strip()):
            number = int(register[1])
            if kept.get(position) != number:
                even_odd[number % 2].append(number)
            if register[2]:
                keeps[position] = number
    return Instruction(place, text, True, *map(tuple, even_odd)), keeps


def count(block: Sequence[Instruction]) -> Counted:
    """What a basic block takes."""
    return Counted(
        len(block),
        sum(item.ffma for item in block),
        sum(len(item.even) for item in block),
        sum(len(item.odd) for item in block),
    )


def busiest(listing: str) -> list[Instruction]:
    """The basic block with the most FFMAs, and what else has FFMAs in the innermost loop around it."""
    labels, code = zip(*blocks(listing), strict=True)
    busy = max(range(len(code)), key=lambda number: count(code[number]).ffmas)
    loops = [
        (labels.index(branch["label"]), number)
        for number, block in enumerate(code)
        for item in block
        if (branch := BRANCH.match(item.text))
    ]
    around = [(first, last) for first, last in loops if first <= busy <= last]
    first, last = min(around, key=lambda loop: loop[1] - loop[0], default=(busy, busy))
    return [item for block in code[first : last + 1] if count(block).ffmas for item in block]


def kernel_file(topic: str, name: str) -> KernelFile:
    """A rung by its name, or a .cu file by its path. Raises WarpladderError."""
    found = topics.load(topic)
    assert isinstance(found, KernelTopic)
    return found.parse(Path(name)) if name.endswith(".cu") else found.ladder[name].file


def compiled(file: KernelFile) -> list[Instruction]:
    """The busiest loop of a kernel file."""
    return busiest(disassembled(prepare(file, ARCH).build.cubin))


def show(block: Sequence[Instruction], lines: int) -> None:
    """Counts of a block, and its first FFMAs."""
    found = count(block)
    print(
        f"{found.instructions} instructions, of them {found.ffmas} FFMAs\n"
        f"registers that FFMAs read: {found.even} from the even bank, {found.odd} from the odd one\n"
        f"at least {found.clocks} clocks, an FFMA in {100 * found.rate:.1f} % of them"
    )
    first = next(number for number, item in enumerate(block) if item.ffma)
    for item in block[first : first + lines]:
        banks = "".join(f" even R{r}" for r in item.even) + "".join(f" odd R{r}" for r in item.odd)
        print(f"  {item.text:44}{banks}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("topic", nargs="?", default="gemm")
    parser.add_argument("kernel", metavar="rung or file", nargs="?", default="09_wide_tile")
    parser.add_argument("--listing", type=int, default=10, metavar="N")
    given = parser.parse_args(arguments)
    show(compiled(kernel_file(given.topic, given.kernel)), given.listing)


if __name__ == "__main__":
    main()
