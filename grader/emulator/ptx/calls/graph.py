"""Which functions of a module call which, directly or through pointers."""

from __future__ import annotations

from functools import cached_property

from grader.emulator.ptx.tree import Function, Instruction, Module, Param, Sym


class CallGraph:
    """Which functions of a module call which."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @cached_property
    def taken(self) -> set[str]:
        """The functions whose address is taken."""
        names = {name for v in self.module.variables.values() for _, name, _ in v.pointers}
        for function in self.module.functions.values():
            for item in function.body:
                if isinstance(item, Instruction) and item.opcode.startswith("mov"):
                    names |= {o.name for o in item.operands if isinstance(o, Sym)}
        return names

    def candidates(self, returns: list[Param], params: list[Param]) -> list[Function]:
        """The functions that a call through a pointer may mean."""

        def form(function_returns: list[Param], function_params: list[Param]) -> list[list[int]]:
            return [[p.nbytes for p in side] for side in (function_returns, function_params)]

        return [
            f for f in self.module.functions.values()
            if f.name in self.taken and not f.is_entry and form(f.returns, f.params) == form(returns, params)
        ]  # fmt: skip

    def callees(self, name: str) -> set[str]:
        function = self.module.functions[name]
        found = set()
        for item in function.body:
            if isinstance(item, Instruction) and item.opcode.startswith("call"):
                for operand in item.operands:
                    if isinstance(operand, Sym) and operand.name in self.module.functions:
                        found.add(operand.name)
                    elif isinstance(operand, Sym) and operand.name in function.prototypes:
                        found |= {f.name for f in self.candidates(*function.prototypes[operand.name])}
        return found

    def recursive(self, entry: str) -> set[str]:
        """The functions a kernel may call that may call themselves, by way of others too."""
        edges: dict[str, set[str]] = {}
        waiting = [entry]
        while waiting:
            name = waiting.pop()
            if name not in edges:
                edges[name] = self.callees(name)
                waiting += edges[name]
        return {name for name in edges if name in _reached(edges, edges[name])}


def _reached(edges: dict[str, set[str]], start: set[str]) -> set[str]:
    seen: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += edges[name]
    return seen
