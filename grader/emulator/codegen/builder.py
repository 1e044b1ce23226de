"""The LLVM function of a kernel under construction: its stack frame, the launch's state, memory, calls.

Nothing here knows of PTX instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.values import F32, F64, I1, I8, I32, I64, element_of, is_vector, shaped, suffix
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES
from grader.emulator.target import PREFIX

KERNEL_SYMBOL = "warp_kernel"

MOST_POOLED = 1024
"""So many different constants are left to LLVM, which compares each use of one with all that a function has had."""

_ROUNDING = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}
"""PTX's rounding modes → the numbers that C's FLT_ROUNDS and LLVM give them."""


class FunctionBuilder:
    """The function KERNEL_SYMBOL: int64 (int64 context, int64 warp), which runs one warp."""

    def __init__(self, name: str, block_count: int) -> None:
        self.module = ir.Module(name)
        self.function = ir.Function(self.module, ir.FunctionType(I64, [I64, I64]), KERNEL_SYMBOL)
        self.b = ir.IRBuilder(self.function, self.function.append_basic_block("entry"))
        self._pooled: set[tuple[Any, str]] = set()
        """The constants that were splatted."""
        self.block_count = block_count
        """Basic blocks of the kernel."""
        self.context, self.warp = self.function.args
        self._open_frame()
        self.sites_base = self.context_slot(layout.SITES)
        self.counts_base = self.context_slot(layout.BLOCK_COUNTS)
        self.lane_counts_base = self.context_slot(layout.LANE_COUNTS)

    def _open_frame(self) -> None:
        """The function's variables on the stack."""
        self.mask_slot = self.b.alloca(I64, name="mask")
        """The lanes that run the current block."""
        self.address_buffer = self._buffer(LANES * 8)
        self.value_buffer = self._buffer(LANES * 64)
        self.second_buffer = self._buffer(LANES * 8)
        self.scratch = self._buffer(32 + 2 * LANES * 8)
        self.fragment_buffer = self._buffer(4 * 16 * LANES * 4)
        self.tensor_scratch = self._buffer(((16 + 8) * 64 + 8) * 8)
        self.result_slot = self.b.alloca(I64, name="result")

    def _buffer(self, nbytes: int) -> Any:
        """The address of so many bytes."""
        return self.b.ptrtoint(self.b.alloca(ir.ArrayType(I8, nbytes), align=128), I64)

    def new_block(self, name: str = "") -> Any:
        """A further basic block of LLVM's."""
        return self.function.append_basic_block(name)

    def continue_in_new_block(self) -> None:
        """What follows stands in a block of its own, with nothing but a jump between."""
        behind = self.new_block()
        self.b.branch(behind)
        self.b.position_at_end(behind)

    # -- memory -----------------------------------------------------------------------------------------------
    def at(self, address: Any, llvm_type: Any) -> Any:
        """The int64 address as a pointer."""
        return self.b.inttoptr(address, llvm_type.as_pointer())

    def context_slot(self, slot: int) -> Any:
        return self.b.load(self.context_pointer(slot))

    def context_pointer(self, slot: int) -> Any:
        return self.at(self.b.add(self.context, I64(slot * 8)), I64)

    def warp_address(self, slot: int) -> Any:
        return self.b.add(self.warp, I64(slot * 8))

    def warp_pointer(self, slot: int) -> Any:
        return self.at(self.warp_address(slot), I64)

    def add_to(self, pointer: Any, amount: Any) -> None:
        self.b.store(self.b.add(self.b.load(pointer), amount), pointer)

    def load_vector(self, address: Any, element: Any) -> Any:
        """32 elements at a 128-byte aligned address."""
        return self.b.load(self.at(address, ir.VectorType(element, LANES)), align=64)

    def store_vector(self, value: Any, address: Any) -> None:
        self.b.store(value, self.at(address, value.type), align=64)

    # -- values -----------------------------------------------------------------------------------------------
    def splat(self, value: Any) -> Any:
        """A scalar in all lanes."""
        if is_vector(value):
            return value
        vector = ir.VectorType(value.type, LANES)
        if isinstance(value, ir.Constant):
            self._pooled.add((value.type, value.ref))
            if len(self._pooled) <= MOST_POOLED:
                return value.splat(vector)
            value = self.b.load(self.module.in_memory(value))
        one = self.b.insert_element(ir.Constant(vector, ir.Undefined), value, I32(0))
        return self.b.shuffle_vector(one, ir.Constant(vector, ir.Undefined),
                                     ir.Constant(ir.VectorType(I32, LANES), None))  # fmt: skip

    def convert_bits(self, value: Any, kind: Any) -> Any:
        """The value reinterpreted as `kind`: same bits, cut off or zero-extended where the widths differ."""
        have = element_of(value.type)
        if have == kind:
            return value
        if have in (F32, F64):
            have = I32 if have == F32 else I64
            value = self.b.bitcast(value, shaped(have, value))
        target = {F32: I32, F64: I64}.get(kind, kind)
        if have.width > target.width:
            value = self.b.trunc(value, shaped(target, value))
        elif have.width < target.width:
            value = self.b.zext(value, shaped(target, value))
        return value if target == kind else self.b.bitcast(value, shaped(kind, value))

    def lane_type(self, bits: int) -> Any:
        """A vector of 32 integers of so many bits."""
        return ir.VectorType(ir.IntType(bits), LANES)

    def bits(self, predicate: Any) -> Any:
        """A predicate as an int64 with one bit a lane."""
        if is_vector(predicate):
            return self.b.zext(self.b.bitcast(predicate, I32), I64)
        return self.b.select(predicate, I64(layout.FULL), I64(0))

    def lanes(self, mask: Any) -> Any:
        """An int64 bit mask as a vector of 32 booleans."""
        return self.b.bitcast(self.b.trunc(mask, I32), ir.VectorType(I1, LANES))

    # -- calls ------------------------------------------------------------------------------------------------
    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of the runtime (all int64); returns its int64 result."""
        kind = ir.FunctionType(I32, [I64.as_pointer(), I8.as_pointer(), *[I64] * len(arguments)])
        function = self._declared(PREFIX + name, kind)
        self.b.call(function, [self.result_slot, ir.Constant(I8.as_pointer(), None), *arguments])
        return self.b.load(self.result_slot)

    def call_host(self, *arguments: Any) -> Any:
        """Calls back into Python (all int64); returns its int64 result."""
        kind = ir.FunctionType(I64, [I64] * len(arguments)).as_pointer()
        return self.b.call(self.b.inttoptr(self.context_slot(layout.HOST_CALL), kind), arguments)

    def intrinsic(self, name: str, *arguments: Any, result: Any = None) -> Any:
        """An LLVM intrinsic, overloaded on the type of its first argument (and of the result, if given)."""
        types = [result, arguments[0].type] if result is not None else [arguments[0].type]
        full = name + "".join("." + suffix(t) for t in types)
        return self.b.call(
            self._declared(full, ir.FunctionType(types[0], [a.type for a in arguments])), arguments
        )

    def rounded(self, name: str, mode: str, *arguments: Any, result: Any = None) -> Any:
        """A floating-point operation of LLVM's, such as "fadd", in a rounding mode of PTX's: "rz", "rm" or "rp".

        The processor rounds so in a function of its own, where no other computation can get in between.
        """
        given = arguments[0].type
        kind = result or given
        full = f"{name}.{mode}.{suffix(kind)}.{suffix(given)}"
        known = self.module.globals.get(full)
        if known is None:
            of = ir.FunctionType(kind, [a.type for a in arguments])
            known = ir.Function(self.module, of, full, internal=True)
            self._define_rounded(known, name, mode)
        return self.b.call(known, arguments)

    def _define_rounded(self, function: Any, name: str, mode: str) -> None:
        kind, given = function.function_type.return_type, function.args[0].type
        types = [kind] if kind == given else [kind, given]
        words = [ir.Metadata(word) for word in ("round.dynamic", "fpexcept.strict")]
        b = ir.IRBuilder(function, function.append_basic_block())
        change = self._declared("llvm.set.rounding", ir.FunctionType(ir.VoidType(), [I32]))
        operation = self._declared(
            "llvm.experimental.constrained." + ".".join([name, *map(suffix, types)]),
            ir.FunctionType(kind, [*function.function_type.args, *(word.type for word in words)]),
        )
        b.call(change, [I32(_ROUNDING[mode])])
        value = b.call(operation, [*function.args, *words])
        b.call(change, [I32(_ROUNDING["rn"])])
        b.ret(value)

    def outlined(self, name: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """What `compute` makes of values, of the first one's type: in a function of its own, which all calls with this
        name and these types share. Long expansions that a kernel has a thousand times would take long to compile.

        It may use nothing but its arguments, and no function of the runtime.
        """
        types = [argument.type for argument in arguments]
        full = ".".join([name, *map(suffix, types)])
        known = self.module.globals.get(full)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(types[0], types), full, internal=True)
            outer, self.b = self.b, ir.IRBuilder(known, known.append_basic_block())
            self.b.ret(compute(*known.args))
            self.b = outer
        return self.b.call(known, arguments)

    def reduce(self, name: str, value: Any) -> Any:
        """An LLVM reduction of a vector to a scalar."""
        kind = ir.FunctionType(value.type.element, [value.type])
        return self.b.call(self._declared(f"{name}.{suffix(value.type)}", kind), [value])

    def leading_zeros(self, value: Any) -> Any:
        """How many leading bits are zero; all of them for zero."""
        kind = ir.FunctionType(value.type, [value.type, I1])
        return self.b.call(self._declared("llvm.ctlz." + suffix(value.type), kind), [value, I1(0)])

    def _declared(self, name: str, kind: Any) -> Any:
        """An external function, declared once."""
        return self.module.globals.get(name) or ir.Function(self.module, kind, name)
