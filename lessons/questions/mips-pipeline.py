"""Clocks of the five-stage pipeline. Source: Patterson and Hennessy, Computer Organization and Design, chapter 4."""

import re

STAGES = ("IF", "ID", "EX", "MEM", "WB")


def stage_of(i: int, clock: int) -> dict[str, float | str]:
    """The stage of instruction i, which is fetched in clock i."""
    stage = clock - i + 1
    return {"answer": STAGES[stage - 1] if 1 <= stage <= len(STAGES) else "in none", "stage": stage}


def idle_stage(instruction: str) -> dict[str, str]:
    """Stores write no register; arithmetic touches no memory."""
    if instruction.startswith("sw"):
        return {"answer": "WB", "why": "It writes to memory and not to a register"}
    return {"answer": "MEM", "why": "It does not access memory, and its result only passes through"}


def pipeline_speedup(ex: int, mem: int, register: int) -> dict[str, float]:
    """The sum of the stages over the slowest with its register."""
    stages = [200, ex, 200, mem, 100]
    clock = max(stages) + register
    return {"answer": sum(stages) / clock, "whole": sum(stages), "clock": clock}


def clocks(how: str, program: str) -> dict[str, float]:
    """Clocks by a walk through the program: when each instruction is in EX, given its operands."""
    forwarding = how.startswith("with full")
    ready: dict[str, int] = {}  # the first clock of an EX that can use a register
    last = 2  # the clock of the EX before
    instructions = program.split("; ")
    for text in instructions:
        target, *sources = re.findall(r"r\d+", text)
        execute = max([last + 1, *(ready.get(name, 0) for name in sources)])
        load = text.startswith("lw")
        ready[target] = execute + (1 + load if forwarding else 3)
        last = execute
    total = last + 2
    return {"answer": total, "stalls": total - len(instructions) - 4}


def cpi(loads: int, used: int, branches: int, missed: int, penalty: int) -> dict[str, float]:
    """1 + stalls an instruction."""
    load_part, branch_part = loads * used / 1e4, branches * missed * penalty / 1e4
    return {"answer": 1 + load_part + branch_part, "load_part": load_part, "branch_part": branch_part}
