"""Probes of memory-model: which outcomes PTX allows, by listing every execution of a small program.

Nothing runs here: the executions are enumerated and held against the axioms of the PTX ISA, "Memory Consistency
Model", in the form that Lustig, Sahasrabuddhe and Giroux give them (ASPLOS 2019). Only strong accesses (relaxed,
release, acquire) and fences are modelled, one word each, without atomics of two parts, proxies and barriers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

SCOPES = {"cta": 0, "gpu": 1}
FENCES = (
    "nothing",
    "fence.acq_rel.cta",
    "fence.acq_rel.gpu",
    "fence.sc.cta",
    "fence.sc.gpu",
)  # from weak to strong
PLACES = {"in the same block": (0, 0), "in different blocks": (0, 1)}

TESTS = {
    "A stores 1 to x, then 1 to y; B reads y, then x. B must never see the new y and the old x": (
        ("W x", "FENCE", "W y"), ("R y", "FENCE", "R x"), (1, 0),
    ),
    "A stores 1 to x, then reads y; B stores 1 to y, then reads x. They must never both read 0": (
        ("W x", "FENCE", "R y"), ("W y", "FENCE", "R x"), (0, 0),
    ),
    "A reads x, then stores 1 to y; B reads y, then stores 1 to x. They must never both read 1": (
        ("R x", "FENCE", "W y"), ("R y", "FENCE", "W x"), (1, 1),
    ),
    "A stores 1 to x; B reads x twice. B must never read 1 and then 0": (
        ("W x",), ("R x", "FENCE", "R x"), (1, 0),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One operation of a thread: "W x", "R x" or a fence, strong, with its meaning and scope."""

    thread: int
    index: int
    what: str  # "W", "R" or "F"
    place: str  # the word, "" of a fence
    order: str  # relaxed, release, acquire, acq_rel or sc
    scope: int


Relation = set[tuple[Operation, Operation]]


def weakest_fence(program: str, where: str) -> dict[str, object]:
    """The weakest fence that, between the two accesses of each thread, forbids the outcome."""
    first, second, forbidden = TESTS[program]
    blocks = PLACES[where]
    for fence in FENCES:
        threads = [[fence if step == "FENCE" else step for step in thread] for thread in (first, second)]
        if forbidden not in outcomes(threads, blocks):
            return {"answer": fence, "options": list(FENCES)}
    raise ValueError(f"no fence forbids it: {program}")


def passed_on(middle: str, last: str, where: str) -> dict[str, object]:
    """Outcomes of three threads that pass a message on: A to B to C."""
    blocks = {"all in one block": (0, 0, 0), "in three blocks": (0, 1, 2)}[where]
    threads = [
        ["W x"],
        ["R x acquire gpu", f"W y {middle.replace('.', ' ')}"],
        [f"R y {last.replace('.', ' ')}", "R x"],
    ]
    seen = outcomes(threads, blocks)
    return {"answer": len(seen), "so": "is allowed" if (1, 1, 0) in seen else "is forbidden"}


def outcomes(threads: list[list[str]], blocks: tuple[int, ...]) -> set[tuple[int, ...]]:
    """What the reads, in order of threads, can return together; every word is 0 at first, and stores store 1."""
    ops = [_operation(thread, index, step) for thread, steps in enumerate(threads)
           for index, step in enumerate(step for step in steps if step != "nothing")]  # fmt: skip
    writes = [op for op in ops if op.what == "W"]
    reads = [op for op in ops if op.what == "R"]
    fences = [op for op in ops if op.order == "sc"]
    sources = [[None, *(w for w in writes if w.place == read.place)] for read in reads]
    found = set()
    for chosen in product(*sources):
        read_from = dict(zip(reads, chosen, strict=True))
        if any(_is_possible(ops, read_from, order, blocks) for order in permutations(fences)):
            found.add(tuple(int(source is not None) for source in chosen))
    return found


def _operation(thread: int, index: int, step: str) -> Operation:
    if step.startswith("fence"):
        _, order, scope = step.split(".")
        return Operation(thread, index, "F", "", order, SCOPES[scope])
    what, place, order, scope = [*step.split(), "relaxed", "gpu"][:4]
    return Operation(thread, index, what, place, order, SCOPES[scope])


def _is_possible(
    ops: list[Operation],
    read_from: dict[Operation, Operation | None],
    order: tuple[Operation, ...],
    blocks: tuple[int, ...],
) -> bool:
    """Whether an execution keeps the axioms; each word is stored to once, so coherence is "0, then 1"."""
    program = {(a, b) for a in ops for b in ops if a.thread == b.thread and a.index < b.index}
    observed = {(w, r) for r, w in read_from.items() if w is not None and _morally_strong(w, r, blocks)}
    joined = {(a, b) for w, r in observed for a in _releases(ops, w) for b in _acquires(ops, r)
              if _morally_strong(a, b, blocks)}  # fmt: skip
    joined |= {(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if _morally_strong(a, b, blocks)}
    base = _closure(program | joined)
    causal = base | {(a, c) for a, b in observed for z, c in base if b == z}
    if any((op, op) in causal for op in ops):
        return False
    for read, source in read_from.items():
        if source is not None and (read, source) in causal:
            return False  # it would read from a later store
        if source is None and any(
            (w, read) in causal for w in ops if w.what == "W" and w.place == read.place
        ):
            return False  # it would miss an earlier one
    return _coherent(program, read_from, blocks)


def _coherent(
    program: Relation, read_from: dict[Operation, Operation | None], blocks: tuple[int, ...]
) -> bool:
    """SC per location: two reads of a word in a thread do not go back from 1 to 0."""
    for first, second in program:
        if first.what == second.what == "R" and first.place == second.place:
            new = read_from[first]
            if new is not None and read_from[second] is None and _morally_strong(new, second, blocks):
                return False
    return True


def _releases(ops: list[Operation], write: Operation) -> Iterator[Operation]:
    """The first operations of the release patterns that end with this store."""
    if write.order == "release":
        yield write
    yield from (op for op in ops if op.what == "F" and op.thread == write.thread and op.index < write.index)


def _acquires(ops: list[Operation], read: Operation) -> Iterator[Operation]:
    """The last operations of the acquire patterns that begin with this load."""
    if read.order == "acquire":
        yield read
    yield from (op for op in ops if op.what == "F" and op.thread == read.thread and op.index > read.index)


def _morally_strong(a: Operation, b: Operation, blocks: tuple[int, ...]) -> bool:
    """Whether each one's scope includes the other's thread, or one thread has both."""
    same_block = blocks[a.thread] == blocks[b.thread]
    return a.thread == b.thread or same_block or (a.scope == b.scope == SCOPES["gpu"])


def _closure(relation: Relation) -> Relation:
    closed = set(relation)
    while new := {(a, d) for a, b in closed for c, d in closed if b == c} - closed:
        closed |= new
    return closed


def largest_chain(sms: int, per_sm: int) -> int:
    """Blocks that are resident at once."""
    return sms * per_sm
