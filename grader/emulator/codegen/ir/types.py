"""Types of LLVM, of which there is one object each, so that `is` compares them; and values."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self


class Type:
    """A type, which LLVM writes as `text`."""

    text: str
    _pointer: PointerType | None = None
    _known: ClassVar[dict[Any, Any]] = {}

    @classmethod
    def _one(cls, key: Any, text: str, **fields: Any) -> Self:
        """The type of this class with a key, made once."""
        known = Type._known.get((cls, key))
        if known is None:
            known = Type._known[cls, key] = object.__new__(cls)
            known.text = text
            for name, value in fields.items():
                setattr(known, name, value)
        return known

    def __str__(self) -> str:
        return self.text

    def as_pointer(self) -> PointerType:
        """The type of a pointer to such a value."""
        if self._pointer is None:
            self._pointer = PointerType(self)
        return self._pointer

    def __call__(self, value: int | float) -> Constant:
        """A constant of this type."""
        return Constant(self, value)


class PointerType(Type):
    """A pointer that knows what it points to; LLVM's do not."""

    pointee: Type

    def __new__(cls, pointee: Type) -> Self:
        return cls._one(pointee, "ptr", pointee=pointee)


class VoidType(Type):
    def __new__(cls) -> Self:
        return cls._one(None, "void")


class MetadataType(Type):
    def __new__(cls) -> Self:
        return cls._one(None, "metadata")


class IntType(Type):
    width: int

    def __new__(cls, width: int) -> Self:
        return cls._one(width, f"i{width}", width=width)


class HalfType(Type):
    def __new__(cls) -> Self:
        return cls._one(None, "half")


class FloatType(Type):
    def __new__(cls) -> Self:
        return cls._one(None, "float")


class DoubleType(Type):
    def __new__(cls) -> Self:
        return cls._one(None, "double")


class VectorType(Type):
    element: Type
    count: int

    def __new__(cls, element: Type, count: int) -> Self:
        return cls._one((element, count), f"<{count} x {element}>", element=element, count=count)


class ArrayType(Type):
    element: Type
    count: int

    def __new__(cls, element: Type, count: int) -> Self:
        return cls._one((element, count), f"[{count} x {element}]", element=element, count=count)


class FunctionType(Type):
    return_type: Type
    args: tuple[Type, ...]

    def __new__(cls, return_type: Type, args: Iterable[Type]) -> Self:
        args = tuple(args)
        text = f"{return_type} ({', '.join(map(str, args))})"
        return cls._one((return_type, args), text, return_type=return_type, args=args)


class Value:
    """What instructions have as operands: in text, `ref`."""

    __slots__ = ("ref", "type")

    def __init__(self, kind: Type, ref: str) -> None:
        self.type: Any = kind
        self.ref = ref


Number = int | float
Undefined = object()
"""The value of a constant that may be any."""


class Constant(Value):
    """A number; of a vector, one number for all its lanes or one for each; zeros where it is None."""

    __slots__ = ()

    def __init__(self, kind: Type, value: Number | Sequence[Number | Constant] | object | None) -> None:
        self.type = kind
        if type(value) is int and type(kind) is IntType:
            self.ref = str(value)
        elif value is None:
            self.ref = "zeroinitializer"
        elif value is Undefined:
            self.ref = "undef"
        elif isinstance(value, list | tuple):
            self.ref = _lanes(kind, value)
        elif isinstance(kind, VectorType):
            self.ref = f"splat ({kind.element} {_number(kind.element, value)})"
        else:
            self.ref = _number(kind, value)

    def bitcast(self, kind: Type) -> Constant:
        """The constant whose bits these are."""
        made = Constant(kind, None)
        made.ref = f"bitcast ({self.type} {self.ref} to {kind})"
        return made

    def splat(self, kind: VectorType) -> Constant:
        """The vector that has this constant in all lanes."""
        made = Constant(kind, None)
        made.ref = f"splat ({self.type} {self.ref})"
        return made


def _lanes(kind: Any, values: Sequence[Number | Constant]) -> str:
    refs = [value.ref if isinstance(value, Constant) else _number(kind.element, value) for value in values]
    return "<" + ", ".join(f"{kind.element} {ref}" for ref in refs) + ">"


def _number(kind: Type, value: Any) -> str:
    """As LLVM writes it; floating-point numbers by the bits of a double of the same value."""
    if isinstance(kind, IntType):
        return str(int(value))
    rounded = {"half": "e", "float": "f"}.get(kind.text)
    if rounded:
        (value,) = struct.unpack(rounded, struct.pack(rounded, value))
    return f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"


class Metadata(Value):
    """A string, as some intrinsics take."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        super().__init__(MetadataType(), f'!"{text}"')
