"""MESI by hand, and what a store buffer permits.

Sources: Nagarajan et al., A Primer on Memory Consistency and Cache Coherence, chapters 3, 4 and 7; Sewell et al., 2010.
"""

import itertools

NAMES = {"M": "Modified", "E": "Exclusive", "S": "Shared", "I": "Invalid"}
LINE = 64


def _accesses(trace: str) -> list[str]:
    """What is done in turn: "0 reads"."""
    return [access.removeprefix("core ") for access in trace.split(", ")]


def state_after(trace: str, core: int) -> dict[str, str]:
    """The states of a line in three caches, access by access."""
    states, shown = "III", []
    for access in _accesses(trace):
        states, _ = _step(states, access)
        shown.append(states)
    return {"answer": NAMES[states[core]], "states": ", ".join(shown)}


def bus_messages(trace: str) -> dict[str, float | str]:
    """Accesses that others have to hear of."""
    states, which = "III", []
    for number, access in enumerate(_accesses(trace), 1):
        states, heard = _step(states, access)
        if heard:
            which.append(str(number))
    return {"answer": len(which), "which": f"{'accesses' if which[1:] else 'access'} {', '.join(which)}"}


def shared_lines(align: int, threads: int) -> dict[str, float]:
    """Elements with a neighbour in their line."""
    each = LINE // align
    lines = [i // each for i in range(threads)]
    return {"answer": sum(lines.count(line) > 1 for line in lines), "each": each}


def false_time(threads: int, millions: int, ns: int) -> float:
    """All additions in turn, over one thread's own."""
    return threads * ns


def litmus(one: str, two: str, r: int, q: int) -> dict[str, str]:
    """All interleavings; under TSO a store may move past the thread's later load of the other variable."""
    first, second = one.split(", "), two.split(", ")
    if (r, q) in _outcomes(first, second):
        return {
            "answer": "yes, even without reordering",
            "why": "An interleaving that keeps both program orders gives this result",
        }
    delayed: set[tuple[int, int]] = set()
    for a in (first, _late(first)):
        for b in (second, _late(second)):
            delayed |= _outcomes(a, b)
    if (r, q) in delayed:
        return {
            "answer": "yes, but only by reordering",
            "why": "No interleaving that keeps both program orders gives this result, but a store may wait "
            "in the store buffer while a later load runs",
        }
    return {
        "answer": "no",
        "why": "Even with store buffers this result is impossible, as x86 never moves a store before an earlier load",
    }


def _step(states: str, access: str) -> tuple[str, bool]:
    """The states after an access, and whether it needs the bus."""
    core, verb = int(access[0]), access.split()[1]
    own = states[core]
    if verb == "reads":
        if own != "I":
            return states, False
        others = any(state != "I" for state in states)
        after = ["S" if state != "I" else "I" for state in states]
        after[core] = "S" if others else "E"
        return "".join(after), True
    after = ["I"] * len(states)
    after[core] = "M"
    return "".join(after), own in "SI"


def _late(order: list[str]) -> list[str]:
    """The store after the load, where it stands before."""
    return order[::-1] if order[0].endswith("= 1") else order


def _outcomes(first: list[str], second: list[str]) -> set[tuple[int, int]]:
    """(r, q) of all interleavings."""
    found = set()
    for places in itertools.combinations(range(4), 2):
        one, two = iter(first), iter(second)
        values = {"x": 0, "y": 0, "r": 0, "q": 0}
        for place in range(4):
            target, _, source = next(one if place in places else two).partition(" = ")
            values[target] = values.get(source, 1)
        found.add((values["r"], values["q"]))
    return found


PLACES = ("its own SM's L1", "the L2", "the other SM's L1", "DRAM")


def nearest_answer(how: str) -> dict[str, object]:
    """L1 may answer plain loads alone; no SM asks another one's L1."""
    whys = {
        "a plain load": "Nothing removes the line from this SM's L1 when another SM writes to it",
        "`__ldcg(p)`": "It caches in L2 and not in L1",
        "`atomicAdd(p, 0)`": "Atomic operations on global memory are performed in L2, which all SMs share",
        "an atomic load of device scope": "It has to see what other SMs wrote, so L1 may not supply the value",
    }
    return {"answer": PLACES[how != "a plain load"], "options": PLACES, "why": whys[how]}
