"""Random kernels with every kind of control flow, as PTX and as a meaning in Python, thread by thread.

A program is a graph of blocks. Its text may place them in any order, so that the emulator meets joins before the
blocks that lead to them. What is the same in a whole warp and what is not is mixed on purpose: uniform registers are
changed inside divergent regions, read behind them, and left alone by those who did not go there.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
VARYING = {"word": ["%r0", "%r1"], "predicate": ["%p0", "%p1"], "wide": ["%w0"]}
UNIFORM = {"word": ["%r2", "%r3", "%r4", "%r5"], "predicate": ["%p2", "%p3"], "wide": ["%w1"]}
WORDS, PREDICATES, WIDE = (VARYING[kind] + UNIFORM[kind] for kind in ("word", "predicate", "wide"))
TABLE = 32


@dataclass
class Line:
    """One instruction: its text, what it computes, the registers it writes, and the registers and numbers it reads."""

    text: str
    action: str
    to: tuple[str, ...]
    sources: tuple[str | int, ...]
    guard: tuple[str, bool] | None = None


@dataclass
class Node:
    lines: list[Line] = field(default_factory=list)
    end: tuple[str, ...] = ("exit",)
    """("exit",), ("jump", target), ("branch", predicate, taken, other) or ("switch", register, targets …)."""


State = dict[str, int]
Results = tuple[int, ...]
ACTIONS: dict[str, Callable[..., Results]] = {
    "add": lambda table, a, b: ((a + b) & MASK,),
    "mad": lambda table, a, b, c: ((a * b + c) & MASK,),
    "xor": lambda table, a, b: (a ^ b,),
    "shift": lambda table, a, b: (a >> b,),
    "mov": lambda table, a: (a,),
    "select": lambda table, a, b, p: (a if p else b,),
    "compare": lambda table, a, b: (int(a < b), int(a >= b)),
    "less": lambda table, a, b: (int(a < b),),
    "and": lambda table, a, b: (a & b,),
    "test": lambda table, a, b: (int(a & b != 0),),
    "join": lambda table, a, b: (a | b << 32,),
    "part": lambda table, a: (a & MASK, a >> 32),
    "nothing": lambda table: (),
    "load": lambda table, a: (table[a % TABLE],),
    "load2": lambda table, a: (table[a % TABLE & ~1], table[a % TABLE | 1]),
}


def perform(line: Line, state: State, table: list[int]) -> None:
    if line.guard is not None and bool(state[line.guard[0]]) == line.guard[1]:
        return
    values = [state[source] if isinstance(source, str) else source for source in line.sources]
    state.update(zip(line.to, ACTIONS[line.action](table, *values), strict=True))


class Writer:
    """Makes a program. `structured` ones have ifs, loops, switches, breaks and returns; the others jump anywhere."""

    def __init__(self, seed: int, structured: bool) -> None:
        self.rng = random.Random(seed)
        self.nodes: list[Node] = []
        self.serial = 0
        self.counters: list[str] = []
        self.warp_barriers = self.rng.choice([0.0, 0.15])
        """How often lanes are to wait for each other: this may change the order in which they run, nothing else."""
        entry = self.node()
        if structured:
            last = self.sequence(entry, depth=0, exits=[])
            self.nodes[last].end = ("exit",)
        else:
            self.jungle(entry)
        order = list(range(1, len(self.nodes)))
        if self.rng.random() < 0.7:
            self.rng.shuffle(order)
        self.order = [0, *order]

    def node(self) -> int:
        self.nodes.append(Node())
        return len(self.nodes) - 1

    # -- straight code ----------------------------------------------------------------------------------------
    def some(self, at: int, most: int = 4) -> None:
        for _ in range(self.rng.randint(0, most)):
            line = self.line()
            if line.to and line.text[0] != "{" and self.rng.random() < 0.2:
                uniform = line.to[0] in (*UNIFORM["word"], *UNIFORM["predicate"], *UNIFORM["wide"])
                guard = (
                    self.rng.choice(UNIFORM["predicate"] if uniform else PREDICATES),
                    self.rng.random() < 0.5,
                )
                line = Line(
                    f"@{'!' if guard[1] else ''}{guard[0]} {line.text}",
                    line.action,
                    line.to,
                    line.sources,
                    guard,
                )
            self.nodes[at].lines.append(line)

    def line(self) -> Line:
        """A uniform register is computed from uniform ones alone, so that only control flow can spoil it."""
        pick = self.rng.choice
        if self.rng.random() < self.warp_barriers:
            return Line("bar.warp.sync -1;", "nothing", (), ())
        uniform = self.rng.random() < 0.5
        to = UNIFORM if uniform else VARYING
        words, predicates, wide = UNIFORM.values() if uniform else (WORDS, PREDICATES, WIDE)
        a, b, c, s, v = pick(words), pick(words), pick(words), pick(predicates), pick(wide)
        r, r2 = self.rng.sample(to["word"], 2)
        p, q = self.rng.sample(to["predicate"], 2)
        w = pick(to["wide"])
        number = self.rng.randint(0, 40)
        return pick([
            Line(f"add.u32 {r}, {a}, {number};", "add", (r,), (a, number)),
            Line(f"add.u32 {r}, {a}, {b};", "add", (r,), (a, b)),
            Line(f"mad.lo.u32 {r}, {a}, 31, {c};", "mad", (r,), (a, 31, c)),
            Line(f"xor.b32 {r}, {a}, {b};", "xor", (r,), (a, b)),
            Line(f"shr.u32 {r}, {a}, 3;", "shift", (r,), (a, 3)),
            Line(f"mov.u32 {r}, {number};", "mov", (r,), (number,)),
            Line(f"mov.u32 {r}, {a};", "mov", (r,), (a,)),
            Line(f"selp.b32 {r}, {a}, {b}, {s};", "select", (r,), (a, b, s)),
            Line(f"setp.lt.u32 {p}|{q}, {a}, {b};", "compare", (p, q), (a, b)),
            Line(f"{{ .reg .b32 %t; and.b32 %t, {a}, {1 << number % 6}; setp.ne.u32 {p}, %t, 0; }}",
                 "test", (p,), (a, 1 << number % 6)),
            Line(f"mov.b64 {w}, {{{a}, {b}}};", "join", (w,), (a, b)),
            Line(f"mov.b64 {{{r}, {r2}}}, {v};", "part", (r, r2), (v,)),
            Line(f"mov.b64 {w}, {v};", "mov", (w,), (v,)),
            Line(f"{{ .reg .b32 %t; .reg .b64 %a; and.b32 %t, {a}, {TABLE - 2}; mul.wide.u32 %a, %t, 4; "
                 f"add.s64 %a, %a, %table; ld.global.v2.u32 {{{r}, {r2}}}, [%a]; }}", "load2", (r, r2), (a,)),
            Line(f"{{ .reg .b32 %t; .reg .b64 %a; and.b32 %t, {a}, {TABLE - 1}; mul.wide.u32 %a, %t, 4; "
                 f"add.s64 %a, %a, %table; ld.global.u32 {r}, [%a]; }}", "load", (r,), (a,)),
        ])  # fmt: skip

    # -- structured control flow ------------------------------------------------------------------------------
    def sequence(self, at: int, depth: int, exits: list[int]) -> int:
        """Statements from block `at` on; the block in which they end. `exits` are targets of break and continue."""
        self.some(at)
        for _ in range(self.rng.randint(1, 3 - depth // 2)):
            kind = self.rng.random()
            if depth < 2 and kind < 0.45:
                at = self.choice(at, depth, exits)
            elif depth < 2 and kind < 0.75:
                at = self.loop(at, depth, exits)
            elif depth < 2 and kind < 0.85:
                at = self.switch(at, depth, exits)
            elif exits and kind < 0.95:
                at = self.leave(at, self.rng.choice(exits))
            elif depth and kind < 0.97:
                at = self.leave(at, None)
            self.some(at)
        return at

    def choice(self, at: int, depth: int, exits: list[int]) -> int:
        then, otherwise, join = self.node(), self.node(), self.node()
        self.nodes[at].end = ("branch", self.rng.choice(PREDICATES), str(then), str(otherwise))
        for side in (then, otherwise):
            last = self.sequence(side, depth + 1, exits) if self.rng.random() < 0.8 else side
            self.nodes[last].end = ("jump", str(join))
        return join

    def loop(self, at: int, depth: int, exits: list[int]) -> int:
        """A loop of at most 7 rounds: as many as a register says, which may differ from lane to lane."""
        counter, p = f"%k{len(self.counters)}", f"%q{len(self.counters)}"
        self.counters.append(counter)
        head, body, after = self.node(), self.node(), self.node()
        source = self.rng.choice(WORDS)
        self.nodes[at].lines += [Line(f"mov.u32 {counter}, 0;", "mov", (counter,), (0,))]
        self.nodes[at].end = ("jump", str(head))
        limit = f"{counter}n"
        if self.rng.random() < 0.5:
            self.nodes[at].lines.append(Line(f"and.b32 {limit}, {source}, 7;", "and", (limit,), (source, 7)))
        else:
            count = self.rng.randint(1, 5)
            self.nodes[at].lines.append(Line(f"mov.u32 {limit}, {count};", "mov", (limit,), (count,)))
        test = Line(f"setp.lt.u32 {p}, {counter}, {limit};", "less", (p,), (counter, limit))
        step = Line(f"add.u32 {counter}, {counter}, 1;", "add", (counter,), (counter, 1))
        self.nodes[head].lines += [test, step]
        self.nodes[head].end = ("branch", p, str(body), str(after))
        last = self.sequence(body, depth + 1, [*exits, head, after])
        self.nodes[last].end = ("jump", str(head))
        return after

    def switch(self, at: int, depth: int, exits: list[int]) -> int:
        join = self.node()
        cases = [self.node() for _ in range(self.rng.randint(2, 4))]
        targets = [str(self.rng.choice([*cases, join])) for _ in range(4)]
        self.nodes[at].end = ("switch", self.rng.choice(WORDS), *targets)
        for index, case in enumerate(cases):
            last = self.sequence(case, depth + 2, exits)
            through = index + 1 < len(cases) and self.rng.random() < 0.3  # falls into the next case
            self.nodes[last].end = ("jump", str(cases[index + 1] if through else join))
        return join

    def leave(self, at: int, target: int | None) -> int:
        """A break, a continue, or (without a target) a return, where a predicate holds."""
        after = self.node()
        if target is None:
            target = self.node()
            self.some(target, 2)
            self.nodes[target].end = ("exit",)
        self.nodes[at].end = ("branch", self.rng.choice(PREDICATES), str(target), str(after))
        return after

    # -- any control flow -------------------------------------------------------------------------------------
    def jungle(self, entry: int) -> None:
        """Jumps between any two blocks, irreducible loops among them; a budget of jumps ends it."""
        count = self.rng.randint(3, 12)
        inner = [self.node() for _ in range(count)]
        fuel, p = "%k0", "%q0"
        self.counters.append(fuel)
        self.nodes[entry].lines.append(Line(f"mov.u32 {fuel}, 0;", "mov", (fuel,), (0,)))
        self.some(entry)
        self.nodes[entry].end = ("jump", str(inner[0]))
        for index in inner:
            self.some(index)
            if self.rng.random() < 0.5:
                landing = self.node()
                self.nodes[index].lines.append(Line(f"add.u32 {fuel}, {fuel}, 1;", "add", (fuel,), (fuel, 1)))
                self.nodes[index].lines.append(
                    Line(f"setp.lt.u32 {p}, {fuel}, 12;", "less", (p,), (fuel, 12))
                )
                out = self.node()
                self.nodes[index].end = ("branch", p, str(landing), str(out))
                index = landing
                back = inner
            else:
                back = [i for i in inner if i > index] or [self.node()]
            pick = self.rng.choice
            self.nodes[index].end = pick([
                ("jump", str(pick(back))),
                ("branch", pick(PREDICATES), str(pick(back)), str(pick(back))),
                ("branch", pick(PREDICATES), str(pick(back)), str(pick(back))),
                ("switch", pick(WORDS), *[str(pick(back)) for _ in range(4)]),
            ])  # fmt: skip

    # -- both forms -------------------------------------------------------------------------------------------
    def ptx(self, name: str, *, explicit: bool = False) -> str:
        """The kernel: parameters are the data (a word a thread), the table and the results (9 words a thread).

        explicit: no block falls through into the next.
        """
        lines = [f".visible .entry {name}(.param .u64 data, .param .u64 table, .param .u64 out, .param .u32 seed)", "{",
                 f".reg .b32 {', '.join([*WORDS, '%thread', '%x'])};",
                 *(f".reg .b32 {c}, {c}n; .reg .pred %q{i};" for i, c in enumerate(self.counters)),
                 f".reg .pred {', '.join(PREDICATES)};", f".reg .b64 {', '.join(WIDE)}, %data, %table, %out, %at;",
                 "ld.param.u64 %data, [data]; ld.param.u64 %table, [table]; ld.param.u64 %out, [out];",
                 "mov.u32 %x, %ntid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %thread, %r2, %x, %r1;",
                 "mul.wide.u32 %at, %thread, 4; add.s64 %at, %at, %data; ld.global.u32 %r0, [%at];",
                 "ld.param.u32 %r3, [seed]; ld.global.u32 %r4, [%table]; ld.global.u32 %r5, [%table+4];",
                 "setp.lt.u32 %p0, %r0, 0x80000000; setp.lt.u32 %p1, %r1, 16;",
                 "setp.lt.u32 %p2, %r4, %r5; setp.eq.u32 %p3, %r2, 0;",
                 "mov.b64 %w0, {%r0, %r3}; mov.b64 %w1, {%r4, %r5};"]  # fmt: skip
        for position, index in enumerate(self.order):
            node = self.nodes[index]
            lines.append(f"L{index}:")
            lines += [line.text for line in node.lines]
            lines += self._ending(index, node, [] if explicit else self.order[position + 1 : position + 2])
        return "\n".join([*lines, "}"])

    def _ending(self, index: int, node: Node, following: list[int]) -> list[str]:
        kind, *rest = node.end
        if kind == "jump":
            return [] if [int(rest[0])] == following else [f"bra L{rest[0]};"]
        if kind == "branch":
            predicate, taken, other = rest
            if [int(taken)] == following:
                return [f"@!{predicate} bra L{other};"]
            return [f"@{predicate} bra L{taken};"] + ([] if [int(other)] == following else [f"bra L{other};"])
        if kind == "switch":
            register, *targets = rest
            return [f"{{ .reg .b32 %s; and.b32 %s, {register}, 3;", f"T{index}: .branchtargets "
                    + ", ".join(f"L{t}" for t in targets) + ";", f"brx.idx %s, T{index}; }}"]  # fmt: skip
        stores = [f"st.global.u32 [%at+{4 * i}], {r};" for i, r in enumerate(WORDS)]
        return ["mul.wide.u32 %at, %thread, 36; add.s64 %at, %at, %out;", *stores,
                "st.global.u32 [%at+24], %w0; st.global.u32 [%at+28], %w1;",
                "mov.u32 %x, 0; @%p0 add.u32 %x, %x, 1; @%p1 add.u32 %x, %x, 2; @%p2 add.u32 %x, %x, 4;",
                "@%p3 add.u32 %x, %x, 8; st.global.u32 [%at+32], %x;", "ret;"]  # fmt: skip

    def meaning(self, data: int, thread: int, block: int, seed: int, table: list[int]) -> list[int]:
        """The nine words one thread stores. `thread` is threadIdx.x."""
        state: State = {
            "%r0": data,
            "%r1": thread,
            "%r2": block,
            "%r3": seed,
            "%r4": table[0],
            "%r5": table[1],
        }
        state |= {"%p0": int(data < 0x80000000), "%p1": int(thread < 16), "%p2": int(table[0] < table[1])}
        state |= {"%p3": int(block == 0)}
        state |= {"%w0": data | seed << 32, "%w1": table[0] | table[1] << 32}
        at = 0
        while True:
            node = self.nodes[at]
            for line in node.lines:
                perform(line, state, table)
            kind, *rest = node.end
            if kind == "exit":
                break
            if kind == "jump":
                at = int(rest[0])
            elif kind == "branch":
                at = int(rest[1] if state[rest[0]] else rest[2])
            else:
                at = int(rest[1 + (state[rest[0]] & 3)])
        words = [state[r] for r in WORDS] + [state[w] & MASK for w in WIDE]
        return [*words, sum(state[p] << i for i, p in enumerate(PREDICATES))]
