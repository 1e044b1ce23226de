"""The syntax tree of PTX: modules, functions, instructions, operands (PTX ISA, chapters 4 to 6).

It keeps what the emulator uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.places import Place

TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "e4m3x2": 2, "e5m2x2": 2, "u16x2": 4, "s16x2": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Reg:
    name: str


@dataclass(frozen=True)
class Imm:
    """An integer as written, or a floating-point constant with the bits of its 0f… or 0d… form."""

    value: int | float
    bits: int | None = None


@dataclass(frozen=True)
class Sym:
    """The name of a variable, function or label."""

    name: str


@dataclass(frozen=True)
class Mem:
    """[base + offset]; base is a register, a variable, or None for an absolute address."""

    base: Reg | Sym | None
    offset: int
    coordinates: tuple[Operand, ...] = ()
    """Of a tensor map, or a texture, at that address, innermost first; the layer of a layered texture before them."""


@dataclass(frozen=True)
class Vec:
    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """d|p: two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Not:
    """!p as an operand."""

    reg: Reg


Operand: TypeAlias = "Reg | Imm | Sym | Mem | Vec | Pair | Not"


@dataclass
class Instruction:
    opcode: str
    """The whole opcode with its modifiers, such as `ld.global.nc.f32`."""
    operands: tuple[Operand, ...]
    predicate: tuple[str, bool] | None
    """The guarding register and whether the guard is negated."""
    ptx_line: int
    place: Place
    collective: bool = False
    """Whether it stands in one of CUDA's functions that hand values round within a group."""
    written: tuple[str, ...] | None = field(default=None, init=False, repr=False, compare=False)
    """What instructions.destinations has found: passes ask for it a dozen times, and no pass changes the registers of
    an instruction; `replace` forgets it."""
    taken: tuple[str, ...] | None = field(default=None, init=False, repr=False, compare=False)
    """The same of instructions.sources."""

    @cached_property
    def parts(self) -> list[str]:
        return self.opcode.split(".")


@dataclass
class Label:
    name: str


@dataclass(frozen=True)
class Param:
    """One kernel parameter; offset and size in bytes."""

    name: str
    type: str
    nbytes: int
    align: int
    offset: int


@dataclass(frozen=True)
class Variable:
    """A module- or function-level variable in .global, .const, .shared or .local space."""

    name: str
    space: str
    align: int
    nbytes: int
    initial: bytes | None = None
    """The bytes it starts with, None for zeros; addresses in it are listed in `pointers`."""
    pointers: tuple[tuple[int, str, int], ...] = ()
    """(byte offset, variable name, addend) of initialisers that hold an address."""
    external: bool = False
    """extern __shared__ without a size: dynamic shared memory."""
    managed: bool = False
    """Of .global space: the host may use it as well, at the same address."""


@dataclass
class Function:
    name: str
    is_entry: bool
    params: list[Param] = field(default_factory=list)
    returns: list[Param] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    """Register name → declared type."""
    variables: dict[str, Variable] = field(default_factory=dict)
    """.local and .shared variables declared inside."""
    body: list[Instruction | Label] = field(default_factory=list)
    branch_targets: dict[str, list[str]] = field(default_factory=dict)
    max_threads: int | None = None
    """From .maxntid or .reqntid."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """Blocks of a cluster in each direction, from .reqnctapercluster."""
    directives: set[str] = field(default_factory=set)
    """Performance and cluster directives seen, by name."""
    prototypes: dict[str, tuple[list[Param], list[Param]]] = field(default_factory=dict)
    """Name of a .callprototype → what functions of that form return and take."""
    refusal: UnsupportedPtx | None = None
    """What the parser did not know in the body, which is then left out."""


@dataclass
class Module:
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    collectives: frozenset[int] = frozenset()
    """Files, see `places.collectives`."""
    refusals: dict[str, UnsupportedPtx] = field(default_factory=dict)
    """Name → what the parser did not know in its declaration, which is left out."""

    def code_address(self, name: str) -> int:
        """What stands for the address of a function; 0 where it is declared alone."""
        return 16 * (1 + list(self.functions).index(name)) if name in self.functions else 0
