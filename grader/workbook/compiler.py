"""What the workbook adds to NVRTC: a file's constants, architectures, and errors a learner can act on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.emulator.nvrtc import compilation
from grader.emulator.nvrtc.compilation import Build, Diagnostic
from grader.emulator.ptx.declarations import named
from grader.errors import WarpladderError
from grader.workbook import undeclared
from grader.workbook.cuda_source import comma_index, launched, line_at, plain
from grader.workbook.expressions import nearest
from grader.workbook.suspects.syntax import ended_macro
from grader.workbook.unfinished import at_end, told

DEFAULT_ARCH = "sm_90a"

_SHOWN = 3  # errors in a message; the log has them all
_NAME_MAP = "__nv_name_map"  # where NVRTC says it looks up name expressions
_BOUNDS = r"(?:__launch_bounds__\s*\([^)]{0,200}\)\s*)?"
_KERNEL = re.compile(rf"__global__\s+(?:static\s+)?{_BOUNDS}void\s+{_BOUNDS}(\w+)")
_ABORTED = "Ptx assembly aborted due to errors"  # said after ptxas's errors
_PTX_INSTRUCTION = re.compile(r"[Ii]nstruction '([\w.:]+)'")
_TOO_MUCH_SHARED = re.compile(
    r"Entry function '([^']+)' uses too much shared data \((\w+) bytes, (\w+) max\)"
)

_WARNING = re.compile(
    r"^(?:\S.*\(\d+\): (?:warning|remark)\b.*(?:\n[ \t].*)*|Remark: The warnings.*)\n?", re.MULTILINE
)
_AT_END = re.compile(r"^At end of source: error: (.+)$", re.MULTILINE)
_NO_SPACE = "without execution space annotations"

_BARE = re.compile(r"\b((?:thread|block)Idx|(?:block|grid)Dim)\b(?!\s*\.)")
_TWO_TO_SHUFFLE = re.compile(r"\b(__shfl_\w*sync)\s*\(([^(),]{1,60},[^(),]{1,60})\)")
_OF_POINTER = re.compile(
    r'overloaded function "(atomic\w+)".{0,200}?types are: \('
    r"((?:(?:un)?signed )?(?:char|short)|bool|(?:unsigned )?long|long long) \*",
    re.DOTALL,
)
_RESTRICT_OF_C = re.compile(r"\*\s*(?:const\s+)?restrict\b")
_OPERANDS = re.compile(
    r'no operator "(?P<sign>[^"\s]+)" matches.*?operand types? (?:is|are): (?P<kinds>[^\n]+)', re.DOTALL
)
_IN_PART = re.compile(r"\bbar(?:rier)?(?:\.cta)?\.(?:(?:sync|arrive)[.\w]*[^,;]+,|red[.\w]*(?:[^,;]+,){3})")
_UPDATE = re.compile(r"^\s*(?:@!?%\w+ )?(?:(?:atom|red)\.(?![\w.:]*shared)|cp\.reduce)", re.M)
_VECTOR = re.compile(r"\b((?:u?(?:char|short|int|long|longlong)|float|double)[234])\b(?! ?\*)")
_TWO_INDICES = re.compile(
    r"(?P<array>[A-Za-z_]\w*)\s*\[(?P<row>[^\[\]]{1,100})\]\s*\[(?P<column>[^\[\]]{1,100})\]"
)
_OF_THREE = re.compile(r"\b(?:uint3|dim3)\b")

_REMEDIES = {
    _NO_SPACE: "write __device__ before the function (a constexpr helper too), "
    "and leave host code such as main() out of the file",
    "dynamic initialization is not supported for a function-scope static": (
        "leave out static: it would make one variable for all threads, and for all launches"
    ),
    'overloaded function "atomic': "atomics take an address, and a value of its type: atomicAdd(&x[0], value)",
    "must have a void return type": "write void, and store the result in an output",
    "initializer not allowed for __shared__": "declare it alone, let threads of the block set it, and then "
    "__syncthreads(): thread 0 a variable, each thread elements of an array",
    "without memory space annotations": "write constexpr for a number, __constant__ for a table; "
    "what a block works in is declared inside the kernel, with __shared__",
    "open source file": "device code has CUDA's headers and small ones of C, such as <cmath>, <cstdint>, "
    "<cstdio>, <cassert>, <limits>; CUDA's C++ library is under <cuda/std/…>",
    "explicitly marked as a __host__ function": "a header that is included here is for host code as well; include the "
    "part of it that is for device code, such as <cub/block/block_reduce.cuh> in place of <cub/cub.cuh>",
    "not supported on .target": 'of wgmma and setmaxnreg, the head of the launch block says smallest_arch = "sm_90a": '
    "other devices then leave the file out; --device emulator --arch sm_90a runs it",
    "invalid value for --gpu-architecture": "NVRTC 13 compiles for sm_75 and later, such as sm_80 or sm_90a",
}

_HEADERS = {
    "cuda_fp16.h": (
        "half",
        "__half",
        "half2",
        "__half2",
        "__half2float",
        "__float2half",
        "__hadd",
        "__hfma2",
    ),
    "cuda_bf16.h": (
        "nv_bfloat16",
        "__nv_bfloat16",
        "nv_bfloat162",
        "__nv_bfloat162",
        "__bfloat162float",
        "__bfloat1622float2",
        "__float2bfloat16",
        "__float2bfloat16_rn",
        "__float22bfloat162_rn",
    ),
    "cuda_pipeline.h": ("__pipeline_memcpy_async", "__pipeline_commit", "__pipeline_wait_prior"),
    "mma.h": ("nvcuda", "wmma"),
    "cooperative_groups.h": ("cooperative_groups", "cg"),
}
_BUILT_IN = (
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "__syncthreads",
    "__syncwarp",
    "atomicAdd",
    "__shfl_down_sync",
    "__shfl_xor_sync",
)
"""What a kernel has without any header, and is often spelled in another way."""
_STRINGS = ("$str", "__unnamed_")
"""What names of variables begin with in which the compiler keeps the texts of printf and assert."""
_HOSTS = re.compile(r"cuda(Malloc|Memcpy|Memset|Free|DeviceSynchronize|GetLastError|Stream|Event)\w*")


_SEVERAL = "which instance"
"""Said of a name expression that is a template's, or that of several functions."""


class CompileFailed(WarpladderError):
    """The compiler refused a file. `log` is its whole text, `diagnostics` the same taken apart."""

    def __init__(self, error: compilation.CompileError, source: str, file: Path) -> None:
        errors = _worth_showing(error.diagnostics)
        message, remedy = _explain(errors[0], source) if errors else _of_log(error.log, source)
        if errors and "/" in errors[0].file:
            message = f"{_where(errors[0], file)}: {message}"
        further = [f"{_where(item, file)}: {_with_excerpt(item)}" for item in errors[1:_SHOWN]]
        if len(errors) > _SHOWN:
            further.append(f"{len(errors)} errors in all")
        super().__init__(
            "\n".join([message, *further]), file=file, line=_place(errors, source, file), remedy=remedy
        )
        self.of_launch = bool(errors) and errors[0].file == _NAME_MAP
        """The code may be right, and has no such kernel as the launch block names."""
        self.log = error.log
        self.diagnostics = error.diagnostics


def compile_source(
    source: str,
    *,
    file: Path,
    kernels: Sequence[str],
    arch: str = DEFAULT_ARCH,
    options: Sequence[str] = (),
    cuda: int = compilation.PINNED,
) -> Build:
    """Compile a kernel file's text; `kernels` are the name expressions to look up.

    `file` names the file in messages, `cuda` is the major version of CUDA whose NVRTC compiles. Raises
    CompileFailed, or WarpladderError where NVRTC is missing.
    """
    compiled = partial(compilation.build, source, name=file.name, arch=arch, options=options, cuda=cuda)
    try:
        return compiled(name_expressions=kernels)
    except compilation.CompileError as error:
        several = {_looked_up(item) for item in error.diagnostics if _SEVERAL in item.message}
        own = [name for name in kernels if name in several and _is_of_c(name, source)]
        if own:
            others = [name for name in kernels if name not in own]
            built = compile_source(source, file=file, kernels=others, arch=arch, options=options, cuda=cuda)
            if all(f".entry {name}(" in built.ptx for name in own):
                return replace(built, lowered={**built.lowered, **dict(zip(own, own, strict=True))})
        raise CompileFailed(error, source, file) from None
    except compilation.NvrtcNotFound as error:
        message, _, remedy = str(error).partition(": ")
        raise WarpladderError(message, remedy=remedy) from None


def constants(
    source: str, names: Sequence[str], *, file: Path, arch: str = DEFAULT_ARCH, sizes: Sequence[str] = ()
) -> dict[str, int]:
    """The values of the integer constants `names` (constexpr, const, enum, macro) at the end of `source`; `sizes` are
    the problem's, one of which a name may stand for.

    The compiler resolves them: the source is compiled again, to unoptimised PTX alone, with a variable for
    each name, and the variables' initialisers are read. Raises CompileFailed for an error in the source, and
    WarpladderError for a name that is no integer constant.
    """
    if not names:
        return {}
    first = source.count("\n") + 3  # the line of the first variable
    probe = "\n".join(
        [
            source,
            "template <long long value> struct ladder_integer { static constexpr long long v = value; };",
            *(
                f'extern "C" __constant__ long long ladder_constant_{n} = ladder_integer<({n})>::v;'
                for n in names
            ),
        ]
    )
    try:
        built = compile_source(
            probe, file=file, kernels=(), arch=arch.replace("sm_", "compute_"), options=("-G",)
        )
    except CompileFailed as error:
        lines = [item.line for item in error.diagnostics if item.severity == "error"]
        if not lines or not first <= min(lines) < first + len(names):
            raise
        name = names[min(lines) - first]
        raise WarpladderError(
            f"the launch block uses `{name}`, neither a size of the problem nor an integer constant here",
            file=file,
            line=_block_line(source, name),
            remedy=f"{_size(name, source, sizes)}write `constexpr int {name} = …;` outside of any function or "
            "namespace",
        ) from None
    found = re.findall(r"^\.const .*\bladder_constant_(\w+)(?: = (-?\d+))?;", built.ptx, re.M)
    return {name: int(value or 0) for name, value in found}


def _size(name: str, source: str, sizes: Sequence[str]) -> str:
    """That a name may stand for a size, where the file does not have it; "" where it does."""
    if not sizes or re.search(rf"\b{re.escape(name)}\b", plain(source)):
        return ""
    return f"name a size, {' or '.join(f'`{size}`' for size in sizes)}, or "


_TYPES = """
struct __half;
struct __nv_bfloat16;
template <class T> struct ladder_name { static constexpr int v = 0; };
template <class T> struct ladder_name<const T> : ladder_name<T> {};
#define LADDER_NAME(type, code) template <> struct ladder_name<type> { static constexpr int v = code; };
%s
template <class T> struct ladder_kind { static constexpr int v = 100 * ladder_name<T>::v; };
template <class T> struct ladder_kind<T*> { static constexpr int v = 100 * ladder_name<T>::v + 1; };
template <class T> struct ladder_kind<const T*> { static constexpr int v = 100 * ladder_name<T>::v + 2; };
template <class... P> struct ladder_kinds {
    template <int i> static constexpr int at() { constexpr int all[] = {ladder_kind<P>::v..., 0}; return all[i]; }
};
template <class... P> ladder_kinds<P...> ladder_of(void (*)(P...));
"""
_NAMES = ("float", "double", "__half", "__nv_bfloat16", "char", "signed char", "unsigned char", "short",
          "unsigned short", "int", "unsigned", "long", "unsigned long", "long long", "unsigned long long")  # fmt: skip
_FORMS = ("{}", "{}*", "const {}*")


def parameter_types(
    source: str, kernel: str, count: int, *, file: Path, arch: str = DEFAULT_ARCH
) -> tuple[str | None, ...]:
    """The C++ types of a kernel's `count` parameters: "float", "float*", "const float*", and None for pointers to
    anything but numbers. Raises CompileFailed where they cannot be told.

    The compiler says them, as it says constants: PTX has no types of pointers.
    """
    names = "\n".join(f"LADDER_NAME({name}, {code})" for code, name in enumerate(_NAMES, 1))
    probe = [
        source,
        _TYPES % names,
        *(
            f'extern "C" __constant__ int ladder_type_{n} = decltype(ladder_of({kernel}))::at<{n}>();'
            for n in range(count)
        ),
    ]
    arch = arch.replace("sm_", "compute_")
    built = compile_source(
        "\n".join(probe), file=file, kernels=(), arch=arch, options=("-G", "-default-device")
    )
    found = dict(re.findall(r"^\.const .*\bladder_type_(\d+)(?: = (\d+))?;", built.ptx, re.M))
    return tuple(_type_name(int(found[str(n)] or 0)) for n in range(count))


def _type_name(kind: int) -> str | None:
    name, form = divmod(kind, 100)
    return _FORMS[form].format(_NAMES[name - 1].removeprefix("__")) if name else None


def architecture(capability: tuple[int, int]) -> str:
    """What to compile for on a device of that compute capability; (9, 0) gives "sm_90a"."""
    major, minor = capability
    # From 9.0 on, "a" admits what is specific to the architecture: wgmma, setmaxnreg.
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def capability(arch: str) -> tuple[int, int]:
    """The compute capability of "sm_90a" is (9, 0); raises WarpladderError."""
    digits = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", arch)
    if not digits:
        raise WarpladderError(f"`{arch}` is no architecture", remedy="such as sm_80 or sm_90a")
    return int(digits[1]), int(digits[2])


def parameter_bytes(ptx: str, symbol: str) -> tuple[int, ...]:
    """The size in bytes of each parameter of a kernel, from its PTX; raises KeyError without that kernel."""
    entry = re.search(rf"\.entry {re.escape(symbol)}\s*\((.*?)\)", ptx, re.S)
    if not entry:
        raise KeyError(symbol)
    sizes = []
    for parameter in re.findall(r"\.param [^,]*", entry[1]):
        bits = re.search(r"\.[bfsu](\d+)", parameter)
        count = re.search(r"\[(\d+)\]", parameter)
        sizes.append(int(bits[1] if bits else 0) // 8 * int(count[1] if count else 1))
    return tuple(sizes)


def variables(ptx: str) -> tuple[str, ...]:
    """The names of a module's `__constant__` and `__device__` variables, from its PTX."""
    declared = r"^(?:\.\w+ )?\.(?:const|global) (?:\.align \d+ )?\.\w+ ([\w$]+)"
    return tuple(re.findall(declared, ptx, re.M))


def keeps_state(ptx: str) -> bool:
    """Whether a module's code uses `__device__` variables, in which a launch may leave something for the next one."""
    names = re.findall(r"^(?:\.\w+ )?\.global (?:\.align \d+ )?\.\w+ ([\w$]+)", ptx, re.M)
    return any(not name.startswith(_STRINGS) for name in named(ptx, names))


def uses_variables(ptx: str) -> bool:
    """Whether a module's code uses variables in global or constant memory, which hold something when it is loaded."""
    names = re.findall(r"^(?:\.\w+ )*\.(?:global|const) (?:\.align \d+ )?\.\w+ ([\w$]+)", ptx, re.M)
    return bool(named(ptx, names))


def meets_in_part(ptx: str) -> bool:
    """Whether a module's code has barriers for a number of threads that stands there."""
    return _IN_PART.search(ptx) is not None


def asks_for_multiprocessor(ptx: str) -> bool:
    """Whether a module's code asks on which multiprocessor a block runs."""
    return "%smid" in ptx


def updates_global_memory(ptx: str) -> bool:
    """Whether a module's code has atomics on memory that need not be shared: blocks may see those of others."""
    return _UPDATE.search(ptx) is not None


_BULK_INTO_GLOBAL = ("cp.reduce.async.bulk.global", "cp.reduce.async.bulk.tensor")


def adds_floats_in_global_memory(ptx: str) -> bool:
    """Whether a module has atomic sums of floats that may lie in global memory, where they flush subnormals.

    So PTX ISA, `atom` and `cp.reduce.async.bulk`.
    """
    sums = re.findall(r"^\s*(?:@!?%\w+ )?((?:atom|red|cp\.reduce)\.[\w.:]*add\.(?:\w+\.)*f32)", ptx, re.M)
    return any(opcode.startswith(_BULK_INTO_GLOBAL) or ".shared" not in opcode for opcode in sums)


def specific_instruction(ptx: str) -> str | None:
    """An instruction of a module's code that sm_90a has and neither sm_90 nor a later GPU: wgmma or setmaxnreg."""
    found = re.search(r"^\s*(?:@!?%\w+ )?(wgmma|setmaxnreg)\.", ptx, re.M)
    return found[1] if found else None


def zero_constants(ptx: str) -> tuple[str, ...]:
    """The `__constant__` variables that a module's code uses and that hold zeros unless they are copied to."""
    names = re.findall(r"^(?:\.visible )?\.const (?:\.align \d+ )?\.\w+ ([\w$]+)(?:\[\d+\])?;", ptx, re.M)
    return tuple(named(ptx, names))


def declared_kernels(source: str) -> tuple[str, ...]:
    """The names of the `__global__` functions of a source, as far as plain text shows them; for messages."""
    return tuple(dict.fromkeys(_KERNEL.findall(re.sub(r"//.*", "", source))))


def _worth_showing(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The errors; those about looking up kernels follow from the others, so they count only alone."""
    errors = [item for item in diagnostics if item.severity == "error"]
    causes = [item for item in errors if item.file != _NAME_MAP and item.message != _ABORTED]
    return causes or errors[:1]


def _without_warnings(log: str) -> str:
    """A log of which nothing is known to be an error, without its warnings where there is anything else."""
    return _WARNING.sub("", log).strip() or log.strip()


def _of_log(log: str, source: str) -> tuple[str, str | None]:
    """A message and a remedy for a log that names no line."""
    if ends := _AT_END.search(log):
        return f"at the end of the file: {ends[1]}", at_end(ends[1], plain(source))
    return _without_warnings(log), None


def _where(item: Diagnostic, file: Path) -> str:
    """The line of an error, and the header that it is in; ptxas knows neither."""
    if item.line == 0:
        return item.file
    inside = "" if item.file == file.name else f"{'/'.join(Path(item.file).parts[-2:])}, "
    return f"{inside}line {item.line}"


def _place(errors: Sequence[Diagnostic], source: str, file: Path) -> int | None:
    """The line of the file that the first error is about."""
    if errors and errors[0].file == file.name:
        return errors[0].line
    if errors and errors[0].file == _NAME_MAP:
        return _block_line(source, f'"{_looked_up(errors[0])}"')
    if errors and (found := _PTX_INSTRUCTION.search(errors[0].message)):
        return _only_line(source, found[1])
    return None


def _only_line(source: str, instruction: str) -> int | None:
    """The line whose inline PTX has this instruction; None where there are several, or none."""
    lines = [
        number
        for number, line in enumerate(source.splitlines(), 1)
        if instruction in line and not line.lstrip().startswith("//")
    ]
    return lines[0] if len(lines) == 1 else None


def _block_line(source: str, text: str) -> int | None:
    """The first line of the launch block in which `text` stands alone."""
    inside = False
    for number, line in enumerate(source.splitlines(), 1):
        if inside and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", line):
            return number
        inside = inside or "/// launch" in line
    return None


def _looked_up(item: Diagnostic) -> str:
    """The name expression that NVRTC could not look up."""
    return item.excerpt.partition("\n")[0].removeprefix("#pragma nv_mangled_name ").strip()


def _with_excerpt(item: Diagnostic) -> str:
    excerpt = "".join(f"\n      {line}" for line in item.excerpt.splitlines())
    return item.message + excerpt


def _explain(item: Diagnostic, source: str) -> tuple[str, str | None]:
    """A message and a remedy."""
    if item.file == _NAME_MAP:
        return _explain_lookup(item, source)
    if shared := _TOO_MUCH_SHARED.search(item.message):
        used, most = int(shared[2], 16), int(shared[3], 16)
        message = f"{shared[1]} declares {used:,} bytes of static shared memory; the most is {most:,}"
        return message, "use smaller tiles"
    if "open source file" in item.message and "/" in item.file:
        return (
            item.message,
            "that is one of CUDA's own headers: `ladder doctor` says which package it is missing from",
        )
    if _NO_SPACE in item.message and (kernel := _launched(item, source)):
        return (
            f"`{kernel}` is launched as a kernel, and stands here without __global__:\n{item.excerpt.strip()}",
            f'write `extern "C" __global__ void {kernel}(…)`',
        )
    general = next((remedy for sign, remedy in _REMEDIES.items() if sign in item.message), None)
    of_call = _without_atomic(item) or general or _of_c(item) or _without_axis(item) or _without_mask(item)
    of_call = of_call or _of_vectors(item) or _one_index(item)
    comma = comma_index(item.excerpt.partition("\n")[0], plain(source))
    of_macro = ended_macro(plain(source), item.excerpt.partition("\n")[0])
    of_call = of_macro or of_call or comma or _to_const(item, plain(source))
    if "/" not in item.file:
        of_call = of_call or told(item.message, item.excerpt, item.line, plain(source))
    return _with_excerpt(item), of_call or _missing(item, source) or _no_token(item)


def _to_const(item: Diagnostic, text: str) -> str | None:
    """What is declared const and stored to, with the line of its declaration."""
    stored = re.search(
        r"(?:^|[;{})])\s*\*?\s*(\w+)\s*(?:\[[^\[\]]*\]\s*)*[-+*/]?=(?!=)", item.excerpt.partition("\n")[0]
    )
    if "modifiable lvalue" not in item.message or stored is None:
        return None
    declared = re.search(rf"\bconst\b[^;,(){{}}=]*\b{stored[1]}\b", text)
    if declared is None:
        return None
    return f"`{stored[1]}` is declared const in line {line_at(text, declared.start())}: what is stored to has no const"


def _of_c(item: Diagnostic) -> str | None:
    """What CUDA C++ has for a keyword of C, and for its arrays and pointers of a length that is not constant."""
    if _RESTRICT_OF_C.search(item.excerpt):
        return "restrict is a keyword of C, for which CUDA C++ has __restrict__"
    line, _, caret = item.excerpt.partition("\n")
    before = line[: len(caret) - len(caret.lstrip())]
    if "must have a constant value" not in item.message or before.rfind("[") <= before.rfind("]"):
        return None
    if "__shared__" in line:
        return (
            "make the size a constexpr. If only the launch knows it, declare extern __shared__ float x[], and give its "
            "bytes in the launch block, as `shared`"
        )
    if re.search(r"\(\s*\*", line):
        return "a pointer to rows has their length as a constexpr: index the array itself, x[size_t(row) * N + column]"
    return "C++ has no array whose size is known at run time only: make the size a constexpr"


def _one_index(item: Diagnostic) -> str | None:
    """How an element of a matrix is indexed by a pointer, for which a line has an index a dimension."""
    if "pointer-to-object type but it has type" not in item.message:
        return None
    code, _, caret = item.excerpt.partition("\n")
    at = len(caret) - len(caret.lstrip())
    found = next((each for each in _TWO_INDICES.finditer(code) if each.start() <= at < each.end()), None)
    if found is None:
        return "a pointer has one index, such as x[size_t(row) * length + column], with the length of a row"
    array, row, column = (found[name].strip() for name in ("array", "row", "column"))
    return (
        f"a pointer has one index: `{array}[size_t({row}) * length + {column}]`, where `length` stands for how many "
        f"elements a row of `{array}` has"
    )


def _of_vectors(item: Diagnostic) -> str | None:
    """What is written for an operator of a vector, for which CUDA C++ has none."""
    found = _OPERANDS.search(f"{item.message}\n{item.excerpt}")
    if found is None:
        return None
    sign = found["sign"]
    first, _, second = f" {found['kinds']}".partition(f" {sign} ")
    vectors = [_VECTOR.search(each) for each in (first, second)]
    if not (kind := vectors[0] or vectors[1]):
        return None
    name = kind[1]
    one, other = (each + (".{0}" if vector else "") for each, vector in zip("ab", vectors, strict=True))
    of_each = f"{one} {sign} {other}" if first else f"{sign}a.{{0}}"
    parts = [of_each.format(part) for part in "xyzw"[: int(name[-1])]]
    said = f"{name} has no operators: component by component, "
    if sign in ("==", "!=", "<", "<=", ">", ">="):
        return said + (" || " if sign == "!=" else " && ").join(parts)
    return said + ("; ".join(parts) if sign.endswith("=") else f"make_{name}({', '.join(parts)})")


def _without_axis(item: Diagnostic) -> str | None:
    """What a built-in of three numbers is called with one of them, where all of it stands for a number."""
    bare, of_three = _BARE.search(item.excerpt), _OF_THREE.search(f"{item.message} {item.excerpt}")
    return f"x, y and z are numbers of their own: {bare[1]}.x" if bare and of_three else None


def _without_atomic(item: Diagnostic) -> str | None:
    """What there is in place of an array for whose type an atomic function is missing."""
    call = _OF_POINTER.search(f"{item.message}\n{item.excerpt}")
    if call is None:
        return None
    function, kind = call.groups()
    other = "unsigned long long, whose sums have the same bits" if "long" in kind else "unsigned or int"
    return f"there is no {function} for {kind}: make the array {other}"


def _without_mask(item: Diagnostic) -> str | None:
    """What a shuffle of a value and a lane is called with in front of them."""
    call = _TWO_TO_SHUFFLE.search(item.excerpt) if "no instance of" in item.message else None
    return (
        f"the mask of the lanes that take part comes first: {call[1]}(0xffffffff, {call[2]})"
        if call
        else None
    )


def _launched(item: Diagnostic, source: str) -> str | None:
    """The kernel of the launch block that a line declares as a function of the host."""
    lines = source.splitlines()
    line = lines[item.line - 1] if item.line and item.line <= len(lines) else ""
    return next((name for name in launched(source) if re.search(rf"\b{re.escape(name)}\s*\(", line)), None)


def _no_token(item: Diagnostic) -> str | None:
    """What a character is that is none of C++'s: many look like one that is, and some like nothing at all."""
    line = item.excerpt.partition("\n")[0]
    if item.message != "unrecognized token" or line.isascii():
        return None
    sign = next(sign for sign in line if not sign.isascii())
    name = unicodedata.name(sign, "no character").lower()
    return f"the line holds U+{ord(sign):04X}, {name}, which C++ does not know: delete it, or type it anew"


def _missing(item: Diagnostic, source: str) -> str | None:
    """What brings a name that the compiler does not know."""
    unknown = re.search(r'(?:identifier|name) "(\w+)" is undefined', item.message)
    if not unknown:
        return None
    if _HOSTS.fullmatch(unknown[1]):
        return "that is host code: memory, copies and launches are what the launch block is for"
    header = next((header for header, names in _HEADERS.items() if unknown[1] in names), None)
    if header is not None:
        return f"#include <{header}>"
    built_in = nearest(unknown[1], _BUILT_IN).removeprefix(", ")
    here = item.line is not None and "/" not in item.file
    return built_in or (undeclared.remedy(unknown[1], item.line or 0, plain(source)) if here else None)


def _is_of_c(kernel: str, source: str) -> bool:
    """Whether a kernel has the linkage of C: its symbol is its name, whatever else is called so."""
    return bool(re.search(rf'extern "C"\s+__global__[^;{{}}]*\b{re.escape(kernel)}\s*\(', plain(source)))


def _named_alike(kernel: str, source: str) -> str:
    """How a launch and the one kernel that no launch names come to the same name; "" where that is not to be seen."""
    text, line = plain(source), _block_line(source, f'"{kernel}"')
    free = [each for each in _KERNEL.finditer(text) if _block_line(source, f'"{each[1]}"') is None]
    if (
        len(free) != 1
        or line is None
        or not kernel.isidentifier()
        or re.search(r"\b(namespace|template)\b", text)
    ):
        return ""
    (only,) = free
    return (
        f'. Write `kernel = "{only[1]}"` in line {line}, or name the kernel `{kernel}` in line '
        f"{line_at(text, only.start(1))}"
    )


def _explain_lookup(item: Diagnostic, source: str) -> tuple[str, str]:
    kernel = (
        item.excerpt.splitlines()[0].removeprefix("#pragma nv_mangled_name ").strip() if item.excerpt else ""
    )
    kernels = ", ".join(declared_kernels(source)) or "none"
    if "undefined" in item.message:
        return (
            f"the launch block names the kernel `{kernel}`, which the file does not have",
            f"its kernels: {kernels}{_named_alike(kernel, source)}",
        )
    if _SEVERAL in item.message and "template" not in source:
        return (
            f"several functions are called `{kernel}`",
            'declare the kernel `extern "C"`, or rename the others',
        )
    if _SEVERAL in item.message:
        return f"`{kernel}` is a template", f'name an instance in the launch block: kernel = "{kernel}<…>"'
    if "non-__global__" in item.message:
        return (
            f"`{kernel}` is not a kernel",
            f"declare it with __global__ void; the file's kernels: {kernels}",
        )
    return f"the launch block's kernel `{kernel}`: {item.message}", f"the file's kernels: {kernels}"
