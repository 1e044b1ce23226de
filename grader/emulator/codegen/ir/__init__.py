"""LLVM IR, written as text.

The part of llvmlite.ir that code generation needs, under the same names. A large kernel is a million instructions of
LLVM's: here each is a line of text and a value of two fields, which takes a fifth of the time of llvmlite's objects.
LLVM checks the text when it reads it.
"""

from grader.emulator.codegen.ir.builder import Block, Function, IRBuilder, Module
from grader.emulator.codegen.ir.types import (
    ArrayType,
    Constant,
    DoubleType,
    FloatType,
    FunctionType,
    HalfType,
    IntType,
    Metadata,
    Type,
    Undefined,
    Value,
    VectorType,
    VoidType,
)

__all__ = [
    "ArrayType", "Block", "Constant", "DoubleType", "FloatType", "Function", "FunctionType", "HalfType", "IRBuilder",
    "IntType", "Metadata", "Module", "Type", "Undefined", "Value", "VectorType", "VoidType",
]  # fmt: skip
