"""What messages about a kernel need to know of its text: its arrays, what a line does to them, and early returns.

PTX keeps neither. What is not written plainly, such as an extent that is a template's parameter, is left out: a message
then counts bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal, cast

from grader.workbook.expressions import ExpressionError, parse

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_CONSTANTS = re.compile(r"\b(?:constexpr|const)\s+[\w\s]{0,40}?\b(\w+\s*=[^;{}]{1,400});")
_INITIAL = re.compile(r"(\w+)\s*=\s*([^,()]{1,200}(?:\([^()]{0,100}\)[^,()]{0,100}){0,4})(?:,\s*|$)")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]{0,200})$", re.MULTILINE)
_DECLARATION = re.compile(
    r"__shared__\s+(?:(?:__align__|alignas)\s*\(\s*\w+\s*\)\s+)?(?:volatile\s+)?"
    r"((?:unsigned\s+)?(?:long\s+long|int|char|short)\b|[A-Za-z_]\w*)\s+([^\s;=(][^;=(]{0,400});"
)
_DECLARATOR = re.compile(r"(\w+)\s*((?:\[[^\[\]]*\]\s*)+)$")

_GUARD = re.compile(r"\bif\s*\(.{0,200}?(?:<|>)")
_BOTH_BEYOND = re.compile(r"\bif\s*\([^&|]{0,200}>=?\s*[A-Za-z_][^&|]{0,200}&&[^&|]{0,200}>=?\s*[A-Za-z_]")
_EITHER_INSIDE = re.compile(
    r"\bif\s*\([^&|]{0,200}<=?\s*[A-Za-z_][^&|]{0,200}\|\|[^&|]{0,200}<=?\s*[A-Za-z_]"
)
_LEAVES = re.compile(r"\b(?:return|continue|break)\b")
_WITH_BODY = re.compile(r"\bif\b[^{]*;\s*$")
_UNBRACED_IF = re.compile(r"\bif\b[^{;]*$")
_OVER_BLOCKS = re.compile(
    r"(?:(?P<front>[\w.]+|\))\s*\*\s*(?:\(\s*[\w ]+\)\s*|[\w<> ]+\((?=\s*blockIdx\.[xyz]\s*\)))?)?"
    r"\bblockIdx\.(?P<axis>[xyz])\s*\)?\s*(?:\*\s*(?P<behind>[A-Za-z_]\w*|\d+)\s*)?\+\s*threadIdx\.(?P=axis)\b(?!\s*[%/])"
)
_IN_GRID = re.compile(
    r"\b(\w+)\s*=[^;=?%]{0,60}\bblockIdx\.([xyz])\b[^;=?%]{1,80}\bthreadIdx\.\2\b[^;=?%]{0,60};"
)
_IN_GRID_BY_NAME = re.compile(r"\b(\w+)\s*=[^;=?%]{0,60}\bblockIdx\.([xyz])\b[^;=?%]{1,80}\+\s*(\w+)\s*;")
_CHOICE = re.compile(r"(?:<|>).{0,200}?\?")
_WITH_BODY_BELOW = re.compile(r"\b(?:if|for|while)\b.*\)\s*$|\belse\s*$")
_LAUNCHED = re.compile(r'^\s*//\s*kernel\s*=\s*"([^"]+)"', re.MULTILINE)
_BARRIER = "__syncthreads"
_RETURN = re.compile(r"\breturn\s*;")

_ARRAY = re.compile(
    r"\b(?:float|double|half|__half2?|(?:__)?nv_bfloat162?"
    r"|bool|char|short|int|unsigned|long|size_t|u?int\d+_t|(?:float|half|u?int)[248])"
    r"\s+([^;(){}=]{1,400})(?=[;={])"
)
_OF_ALL_THREADS = re.compile(
    r"\b(?P<words>(?:static\s+)?__device__|__device__\s+static|static)\b(?P<declared>[^;(){}=]{1,400})(?=[;={])"
)
_PRINTS = re.compile(r"\bprintf\s*\(")
_INDEXED = re.compile(r"\b([A-Za-z_]\w*)\s*\[")
_WITH_INDEX = re.compile(r"\b([A-Za-z_]\w*)\s*\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_BRACKETS = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_UPDATED = re.compile(r"\batomic\w+\s*\(\s*&?\s*([A-Za-z_]\w*)")
_SUMMED = (
    re.compile(
        r"\b([A-Za-z_]\w*)\s*((?:\[(?:[^\[\]]|\[[^\[\]]*\]){1,100}\])+)\s*(?:[-+]=|\+\+|=\s*\1\s*\2\s*[-+])"
    ),
    re.compile(r"\+\+\s*([A-Za-z_]\w*)\s*\["),
    re.compile(r"[;{})]\s*\*\s*\(?\s*([A-Za-z_]\w*)[^;={}]{0,100}\+="),
)
_TERM = r"((?:[^(),;\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+)"
_FACTOR = re.compile(r"\b([A-Za-z_]\w*)\s*(?=\*)|\*\s*([A-Za-z_]\w*)\b(?!\s*[.(\[])")
_ASSIGNMENT = re.compile(r"(?<![=<>!])=(?!=)")
_LONGEST = 1000  # characters of a line that are looked at: bounds the work that a stranger's text can ask for
_MOST_NAMES = 8  # of a line, that are followed: as well
_MOST_STEPS = 16  # lines from a step of a tree to others: as well
_MOST_BARRIERS = 32  # whose conditions are looked at: as well
_HALF_OF = re.compile(r"\b(?P<name>\w+)\s*=\s*(?P<of>blockDim\.x|[A-Za-z_]\w*)\s*(?:/\s*2|>>\s*1)\s*;")
_POINTER = r"\b(\w+)\s*(?:const\s*)?\*\s*(?:const\s+|__restrict__\s+)*"
_CAST_TO = r"[(<]\s*(?:const\s+)?(\w+)\s*(?:const\s*)?\*\s*(?:\)\s*{0}\b(?!\s*\[)|>\s*\(\s*{0}\s*\))"
_TO_POINTER = r"[(<]\s*(?:const\s+)?((?:unsigned\s+)?(?:long\s+long|\w+))(?:\s+int)?\s*(?:const\s*)?\*\s*[)>]"
_PLACE = r"\*?\s*\b([A-Za-z_]\w*)\b((?:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)\s*"
_STEP = re.compile(r"\s*((?P<to>(?P<array>\w+)\[[^\[\]]*\])\s*\+=\s*(?P=array)\[[^\[\]]*\])\s*;")
_CAST = r"(?:\w+_cast\s*<[^<>]*>|\([\w\s]+\*\s*\))\s*"
_BASE = re.compile(
    rf"(?P<cast>{_CAST})?(?P<inside>\((?!\s*\w+\s*\)))?\s*"
    r"(?:&\s*(?P<of>\w+)\s*\[(?P<index>.*)\]|\(?\s*(?P<to>\w+)\s*\)?\s*(?:\+(?P<by>.+)|(?P<less>-.+))?)\s*(?(inside)\))"
)
"""A place that a pointer is set to: of which array or pointer, and what is added to that."""
_UNSEEN = "?"
_ADDITION = re.compile(rf"{_PLACE}(?:(?:[-+*|&^]|<<|>>)=(?!=)|\+\+|--)|(?:\+\+|--)\s*{_PLACE}")

_BYTES = {
    "char": 1, "bool": 1, "half": 2, "__half": 2, "nv_bfloat16": 2, "__nv_bfloat16": 2, "short": 2, "int": 4,
    "unsigned": 4, "float": 4, "half2": 4, "__half2": 4, "nv_bfloat162": 4, "__nv_bfloat162": 4, "double": 8,
    "float2": 8, "int2": 8, "uint2": 8, "uchar4": 4, "float4": 16, "int4": 16, "uint4": 16,
    "unsigned int": 4, "unsigned char": 1, "unsigned short": 2, "long long": 8, "unsigned long long": 8, "uint64_t": 8,
}  # fmt: skip

_COMMA_INDEX = re.compile(
    r"\b(?!auto\b)(?P<array>[A-Za-z_]\w*)\s*\[\s*(?P<row>[^\[\]();,]{1,60}|\w+\([^()\[\];,]{1,60}\)),\s*"
    r"(?P<column>[^\[\]();,]{1,60}|\w+\([^()\[\];,]{1,60}\))\]"
)
BY_ONE = re.compile(
    r"\bfor\s*\([\w ]*\b(?P<counter>\w+)\s*=\s*(?P<start>[^;]{1,100}?)\s*;\s*(?P=counter)\s*<\s*"
    r"(?:(?P=start)\s*\+\s*)?(?P<many>\w+)\s*(?:;|&&)[^;]*;?\s*(?:\+\+\s*(?P=counter)|(?P=counter)\s*(?:\+\+|\+=\s*1))"
)
_STRING = re.compile(r'"[^"\n]*"')
_DIVISION = re.compile(
    r"[/%]\s*(\w+|\([\w\s*+-]{1,60}\))|\bcdiv\([^,()]{1,60},\s*([\w\s*()+-]{1,60}?)\)(?=[\s*,)]|$)",
    re.MULTILINE,
)

_NUMBER = re.compile(r"\b(\w+)\s*=\s*threadIdx\.([xyz])\s*(?=[;,])")
_TOGETHER = re.compile(
    r"\b__shared__\b|\b__(?:shfl|reduce|match|ballot|any|all)_|\basm\b|\b(?:cooperative_groups|cub|wmma)\b"
)

FUNCTION = re.compile(r"__device__\s[^;(){}]{0,100}?\b(\w+)\s*\((?P<taken>[^(){}]{1,300})\)\s*\{")
"""Where a function of a file begins: its name, and its parameters."""

KERNEL = re.compile(r"__global__[^;{}]{0,200}?\b(?P<name>\w+)\s*\((?P<taken>[^(){}]{1,400})\)\s*\{")
"""Where a kernel of a file begins, its name and its parameters."""
_QUALIFIER = re.compile(r"\b(?:const|__restrict__|__restrict|restrict|volatile|__grid_constant__)\b")


@dataclass(frozen=True)
class SharedArray:
    """One declaration: bytes of an element, and the extents; the first is None in `extern` arrays."""

    itemsize: int
    extents: tuple[int | None, ...]

    def shape(self, nbytes: int) -> tuple[int, ...] | None:
        """The shape of an array of that many bytes; None where the declaration is of another."""
        first, *others = self.extents
        row = self.itemsize
        for extent in others:
            row *= extent or 1
        found = nbytes // row if row else 0
        return (found, *(extent or 1 for extent in others)) if first in (None, found) and found else None


@lru_cache(maxsize=8)
def shared_arrays(source: str) -> Mapping[str, tuple[SharedArray, ...]]:
    """By name: what a file's declarations in shared memory say; several where functions use the same name."""
    text = plain(source)
    numbers = _numbers(text)
    found: dict[str, tuple[SharedArray, ...]] = {}
    for kind, declarators in _DECLARATION.findall(text):
        for name, extents in _declared(declarators, numbers):
            itemsize = _BYTES.get(" ".join(kind.split()))
            if itemsize:
                found[name] = (*found.get(name, ()), SharedArray(itemsize, extents))
    return found


def shared_extents(source: str) -> dict[str, str]:
    """By name: the extents, as they are written, of arrays of one dimension in shared memory that have one."""
    found = (
        re.fullmatch(r"\s*(\w+)\s*\[\s*([^\[\]]+?)\s*\]\s*", each)
        for _, declarators in _DECLARATION.findall(plain(source))
        for each in declarators.split(",")
    )
    return {match[1]: match[2] for match in found if match}


def declared_in_shared(source: str, array: str) -> str:
    """Where an array in shared memory is declared, with the constants that its extents name, in words: "line 14, as
    `counts[BINS]` with `BINS = 255` in line 10"; "" of an array that is not declared once."""
    text = plain(source)
    found = [
        (line_at(text, each.start(2) + own.start()), " ".join(own[0].split()))
        for each in _DECLARATION.finditer(text)
        for own in re.finditer(rf"\b{re.escape(array)}\s*(?:\[[^\[\]]{{1,100}}\]\s*)+", each[2])
    ]
    if len(found) != 1:
        return ""
    (line, declared), constants = found[0], ""
    for name in dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", declared.partition("[")[2])):
        if value := re.search(
            rf"\b{name}\s*=\s*[^;=]{{1,60}}(?=;)|^[ \t]*#define[ \t]+{name}[ \t].*", text, re.MULTILINE
        ):
            of_define = " ".join(value[0].split())
            constants += (
                f"{' and' if constants else ' with'} `{of_define}` in line {line_at(text, value.end() - 1)}"
            )
    return f"line {line}, as `{declared}`{constants}"


def bytes_of(kind: str) -> int:
    """Bytes of a type of which arrays are; 0 of one that is not known."""
    return _BYTES.get(" ".join(kind.split()), 0)


Axis = Literal["x", "y", "z"]
Space = Literal["shared", "local", "global"]


def arrays_in(source: str, line: int, space: Space, stored: bool) -> tuple[str, ...]:
    """The arrays of a memory space that a line indexes: those that it stores to, or those that it loads from.

    Whatever the file does not declare, such as a parameter, is in global memory. Empty where the line tells nothing.
    """
    text = plain(source)
    shared = _names(declarators for _, declarators in _DECLARATION.findall(text))
    local = _names(_ARRAY.findall(text)) - shared
    found = dict.fromkeys(_INDEXED.findall(_side(_line(text, line), stored)))
    spaces = {name: "shared" if name in shared else "local" if name in local else "global" for name in found}
    return tuple(name for name in found if spaces[name] == space)


def handed_on(source: str) -> list[str]:
    """The arrays in shared memory that some line stores to, and some line loads from."""
    named = re.compile(rf"\b(?:{'|'.join(shared_arrays(source)) or '(?!)'})\s*\[")
    lines = [number for number, text in enumerate(plain(source).splitlines(), 1) if named.search(text)]
    stored, loaded = (
        dict.fromkeys(name for line in lines for name in arrays_in(source, line, "shared", stored=side))
        for side in (True, False)
    )
    return [name for name in stored if name in loaded]


def stores_to(source: str, array: str) -> list[int]:
    """The lines that store to an array of global memory, or update it."""
    return [
        line
        for line, text in enumerate(plain(source).splitlines(), 1)
        if array in text
        and array in (*arrays_in(source, line, "global", stored=True), *updated_in(source, line))
    ]


def adds_in_global_memory(source: str) -> bool:
    """Whether a text adds to an element that no array of its own has, by no atomic function."""
    text = plain(source)
    own = _own(text)
    return any(found[1] not in own for summed in _SUMMED for found in summed.finditer(text))


def adds_by_atomics_alone(source: str) -> bool:
    """Whether what a text adds to elements that are not its own it adds by atomic functions."""
    return "atomicAdd" in plain(source) and not adds_in_global_memory(source)


def _own(text: str) -> set[str]:
    """The arrays that a text declares, in shared and in local memory."""
    return _names(declarators for _, declarators in _DECLARATION.findall(text)) | _names(_ARRAY.findall(text))


def adds_by_thread(source: str) -> bool:
    """Whether each thread of a block adds atomically to the element of global memory that has its number in the block:
    all blocks add to the same ones."""
    text = plain(source)
    for number, line in enumerate(text.splitlines(), 1):
        for array in set(_UPDATED.findall(line[:_LONGEST])) - _own(text):
            index, formed = index_of(source, number, array)
            if "threadIdx.x" in (index, formed):
                return True
    return False


def lines_that_print(source: str) -> list[int]:
    """The lines that call printf."""
    return [
        number for number, text in enumerate(plain(source).splitlines(), 1) if _PRINTS.search(text[:_LONGEST])
    ]


def indexed_by_data(source: str, array: str) -> str:
    """The declaration, `unsigned counts[256]`, of an array of a thread's own that some line indexes by what it, or the
    line in which a variable of the index is set, reads from another array; "" of any other."""
    text, name = plain(source), re.escape(array)
    for number, line in enumerate(text.splitlines(), 1):
        for index in (index for found, index in _WITH_INDEX.findall(line[:_LONGEST]) if found == array):
            names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", index))
            formed = (_set_to(source, number, each) for each in [*names][:_MOST_NAMES])
            declared = re.search(
                rf"\b((?:unsigned\s+)?\w+)\s+{name}\s*((?:\[[^\[\]]{{1,80}}\])+)\s*[;={{]", text
            )
            if declared and any("[" in each for each in (index, *formed)):
                return f"{declared[1]} {array}{declared[2]}"
    return ""


def adds_to(source: str, array: str) -> bool:
    """Whether some line adds to an element of an array."""
    return any(
        array in (found[1], found[3])
        for line in plain(source).splitlines()
        for found in _ADDITION.finditer(line[:_LONGEST])
    )


def in_global_memory(source: str, name: str) -> tuple[str, bool, bool] | None:
    """How a file declares a variable of its own that all threads of the grid share: by which words, `static`; whether
    inside a function; and whether it is an array. None of any other."""
    text = plain(source)
    for found in _OF_ALL_THREADS.finditer(text):
        if declared := re.search(rf"\b{re.escape(name)}\s*(\[|,|\Z)", found["declared"]):
            inside = text.count("{", 0, found.start()) > text.count("}", 0, found.start())
            return " ".join(found["words"].split()), inside, declared[1] == "["
    return None


def has_static(source: str) -> bool:
    """Whether a text has a variable that C keeps from call to call."""
    found = (each for each in _OF_ALL_THREADS.finditer(plain(source)) if each["words"] == "static")
    return any(not re.search(r"\b(?:const|constexpr|__shared__)\b", each["declared"]) for each in found)


def reads(source: str, line: int, name: str) -> bool:
    """Whether the kernel of a line reads a variable in some other line."""
    lines = (number for number in lines_of_kernel(source, line) if number != line)
    return any(re.search(rf"\b{re.escape(name)}\b", _side(statement(source, each), False)) for each in lines)


def updated_in(source: str, line: int) -> tuple[str, ...]:
    """The arrays that atomic functions of a line update. Empty where the line tells nothing."""
    return tuple(dict.fromkeys(_UPDATED.findall(statement(source, line))))


def factors(source: str, line: int, array: str) -> set[str]:
    """The names by which a line multiplies where it indexes an array, or a pointer to it: `K` in `B[(k + i) * K +
    column]` and `*(B + i * K)`; of an index that is a variable, those where it is set; of one that a function of the
    file forms, what is passed for a factor."""
    seen = _own_indices(source, line, array) or _added_to(statement(source, line), array)
    own = [index.strip() for index in seen or _through_pointers(source, line, array) or ()]
    formed = [_set_to(source, line, index) if index.isidentifier() else index for index in own]
    factors = {name for index in formed for found in _FACTOR.findall(index) for name in found if name}
    return factors.union(*(_passed_factors(plain(source), index) for index in formed))


def _passed_factors(text: str, index: str) -> set[str]:
    """The names that an index passes to a function which multiplies by them."""
    call = re.fullmatch(r"(\w+)\s*\(([\w\s,]{1,200})\)", index)
    function = next((each for each in FUNCTION.finditer(text) if call and each[1] == call[1]), None)
    if not call or not function:
        return set()
    body = text[function.end() :].partition("}")[0]
    taken = [each.split()[-1] for each in function["taken"].split(",") if each.strip()]
    by = {name for found in _FACTOR.findall(body) for name in found}
    passed = [each.strip() for each in call[2].split(",")]
    return {given for name, given in zip(taken, passed, strict=False) if name in by and given.isidentifier()}


def indexed_alike(source: str, line: int, array: str) -> set[str]:
    """The other arrays that a line indexes by the very text that it indexes an array by."""
    found = [(name, "".join(index.split())) for name, index in _indices(source, line)]
    own = {index for name, index in found if name == array}
    return {name for name, index in found if name != array and index in own}


def indexed_otherwise(source: str, line: int, array: str, condition: int) -> bool:
    """Whether the braces of a condition that a line stands in have another line that indexes an array by another
    text."""
    own = set(_own_indices(source, line, array))
    return _around(source, line)[0] == condition != 0 and any(
        _around(source, number)[0] == condition and not own >= set(_own_indices(source, number, array))
        for number in lines_of_kernel(source, line)
        if number != line
    )


def statement(source: str, line: int) -> str:
    """A line without comments."""
    return _line(plain(source), line)


def index_of(source: str, line: int, array: str) -> tuple[str, str]:
    """What a line indexes an array by, or adds to a pointer to it, and what that was last set to, of a variable. An
    array that has another name there is the one that is indexed, where there is but one index. Of a pointer that was
    set to a place of the array the index counts from its beginning: `i + d` of `p[d]` with `p = B + i`. Empty where it
    is not to be seen."""
    text = statement(source, line)
    found: Collection[str] | None = _own_indices(source, line, array) or _added_to(text, array)
    if not found and (found := _through_pointers(source, line, array)) is None:
        found = _BRACKETS.findall(text)
    indices = {index.strip() for index in found}
    index = next(iter(indices)) if len(indices) == 1 else ""
    return index, _set_to(source, line, index) if index.isidentifier() else ""


def counted_from_start(source: str, line: int, array: str) -> str:
    """The same index, with what lines above have added to the array's own pointer; "" where that is not to be seen."""
    index, _ = index_of(source, line, array)
    by = _added_since(source, 0, line, array) if index and array else ""
    return "" if by == _UNSEEN else _sum_of(by, index)


def _sum_of(*terms: str) -> str:
    """A sum, of which what binds less is in parentheses, and what is empty left out."""
    return " + ".join(f"({term})" if re.search(r"[?<>&|^]", term) else term for term in terms if term)


def _through_pointers(source: str, line: int, array: str) -> set[str] | None:
    """The indices of the pointers in a line that were set to places of an array, counted from its beginning, "" among
    them where one is not to be seen; None where no such pointer was moved."""
    text, found, is_moved = statement(source, line), set[str](), False
    names = dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", text)) if array else {}
    for name in [*names][:_MOST_NAMES]:
        indices = {*_own_indices(source, line, name)} or _added_to(text, name)
        alone = not indices and bool(re.search(rf"(?:^|[^\w)\]\s])\s*\*\s*{name}\b", text))
        place = _place_of(source, line, name, array, alone) if indices or alone else None
        if place is not None:
            is_moved = is_moved or place != ""
            whole = {_sum_of(place, index.strip()) for index in indices or {""}}
            found |= {""} if place == _UNSEEN else whole
    return found if is_moved else None


def _place_of(
    source: str, line: int, name: str, array: str, alone: bool, left: int = _MOST_NAMES
) -> str | None:
    """The place of an array that a pointer was set to, `i` in `p = B + i` and in `p = &B[i]`, with what was added to it
    since; "" for its beginning, _UNSEEN for one that is not to be seen, and None of what is no such pointer. Where a
    cast has it count other elements than the array, its place is to be seen only if it is `alone`, without an index."""
    if name == array:
        return _added_since(source, 0, line, name)
    sets = re.compile(
        rf"(?:^|[;{{}}(]|\bauto\b|[\w,>]\s*\*)\s*(?:const\s+|__restrict__\s+)*{name}\s*=(?!=)\s*{_TERM}"
    )
    above = ((number, sets.search(text[:_LONGEST])) for number, text in _upwards(source, line))
    number, found = next(((number, each) for number, each in above if each), (0, None))
    if found is None:
        return _passed_place(source, line, name)
    base = _BASE.fullmatch(found[1].strip())
    of, by = (
        (base["of"] or base["to"], base["index"] or base["by"] or base["less"] or "") if base else ("", "")
    )
    if not base or of == name or left == 0 or by.count("(") != by.count(")"):
        return _UNSEEN if re.search(rf"\b{re.escape(array)}\b", found[1]) else None
    place, since = (
        _place_of(source, number, of, array, alone, left - 1),
        _added_since(source, number, line, name, found.end()),
    )
    if place is None:
        return None
    counts_others = base["cast"] and not alone and (place or base["index"] or base["inside"])
    return _UNSEEN if _UNSEEN in (place, since) or counts_others else _sum_of(place, by.strip(), since)


def _added_since(source: str, since: int, line: int, name: str, place: int = 0) -> str:
    """What is added to a pointer from a place in a line of a function to another line; _UNSEEN where it is moved in
    another way, or in a loop, or in some threads alone."""
    moves = re.compile(rf"(?<![\w.*]){name}\s*(?:\+=\s*{_TERM}|-=|\+\+|--|=(?!=))|(?:\+\+|--)\s*{name}\b")
    lines = lines_of_kernel(source, line) or dict(_upwards(source, line))
    loop = next((at for at in sorted(lines) if re.search(r"\b(?:for|while|do)\b", lines[at])), None)
    around, terms = {*_all_around(source, line)}, []
    for number in sorted(each for each in lines if each >= since):
        for found in moves.finditer(lines[number], place if number == since else 0):
            if loop is not None and number >= loop:
                return _UNSEEN
            if number < line:
                everywhere = {*_all_around(source, number)} <= around and "if" not in lines[number]
                terms.append(found[1].strip() if found[1] and everywhere else _UNSEEN)
    return _UNSEEN if _UNSEEN in terms else _sum_of(*terms)


def _passed_place(source: str, line: int, name: str) -> str | None:
    """_UNSEEN of a pointer that a function of the file takes to which a call passes more than a name; None of any
    other."""
    text = plain(source)
    function = next((each for each in FUNCTION.finditer(text) if line in _lines_from(text, each)), None)
    names = [re.findall(r"\w+", each)[-1:] for each in function["taken"].split(",")] if function else []
    if function is None or [name] not in names:
        return None
    at = names.index([name])
    for call in re.finditer(
        rf"\b{function[1]}\s*\(((?:[^();{{}}]|\((?:[^()]|\([^()]*\))*\)){{1,300}})\)", text
    ):
        passed = re.findall(_TERM, call[1])
        if call.start() > function.end() and not (at < len(passed) and passed[at].strip().isidentifier()):
            return _UNSEEN
    return None


def _lines_from(text: str, function: re.Match[str]) -> range:
    """The lines of a function's body."""
    end = text.find("\n}", function.end())
    return range(line_at(text, function.end()), line_at(text, max(end, function.end())) + 1)


def beside_one_another(source: str, line: int, array: str) -> str:
    """How many elements of an array that lie side by side a thread takes in a loop around a line, as it is written:
    `4`; "" where that is not to be seen."""
    index, formed = index_of(source, line, array)
    made = _with_values(source, line, _with_values(source, line, formed or index))
    for _, text in islice(_upwards(source, line), _MOST_STEPS) if "threadIdx.x" in made else ():
        if head := BY_ONE.search(text[:_LONGEST]):
            counter, many = head["counter"], head["many"]
            added = rf"(?:^|\+)\s*{counter}\s*(?:$|\+)" if head["start"] == "0" else rf"^{counter}$"
            apart = re.search(rf"\*\s*\(*{many}\b|\b{many}\)*\s*\*", made)
            if apart and any(re.search(added, each) for each in (index, formed)):
                return many
    return ""


def _with_values(source: str, line: int, index: str) -> str:
    """An index with what its variables were last set to in place of these."""
    names = [*dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*[.(])", index))][:_MOST_NAMES]
    values = {name: value for name in names if (value := _set_to(source, line, name))}
    either = rf"(?<![\w.])(?:{'|'.join(values)})\b"
    return re.sub(either, lambda found: f"({values[found[0]]})", index) if values else index


def index_in_words(source: str, line: int, array: str) -> str:
    """The same in one: `i = col`, of a variable with what it was set to."""
    return " = ".join(filter(None, index_of(source, line, array)))


def lacks_block(source: str, line: int, array: str, axes: Iterable[Axis]) -> str:
    """The components of blockIdx along these axes, `blockIdx.x`, where a line's index of an array is seen to have none
    of them, nor anything that may be made of them; "" where it has, or that is not to be seen."""
    components = [f"blockIdx.{axis}" for axis in axes]
    found = _lacks(source, line, array, components)
    return " and ".join(found) if found == components else ""


def lacks_thread(source: str, line: int, array: str, axes: Iterable[Axis]) -> list[Axis]:
    """Those of these axes of whose component of threadIdx a line's index of an array is seen to have nothing; none
    where that is not to be seen."""
    return [axis for axis in axes if _lacks(source, line, array, [f"threadIdx.{axis}"])]


def exchanges(source: str) -> bool:
    """Whether a file has something by which threads may know what others have found: shared memory, or what lanes of a
    warp and groups of threads do together."""
    return bool(_TOGETHER.search(plain(source)))


def of_no_thread(source: str, line: int, array: str) -> str:
    """A line's index of an array that is seen to be the same in all threads of the grid, in a kernel without loops:
    `0`, or, of a variable, what it was set to as well, `i = 0`. "" for any other."""
    components = [f"{name}.{axis}" for name in ("blockIdx", "threadIdx") for axis in "xyz"]
    text = "\n".join(lines_of_kernel(source, line).values())
    if _lacks(source, line, array, components) != components or loops(text):
        return ""
    return index_in_words(source, line, array)


def _lacks(source: str, line: int, array: str, components: Sequence[str]) -> list[str]:
    """Those of these components of blockIdx or threadIdx of which a line's index of an array is seen to have nothing,
    nor anything that may be made of them; none where that is not to be seen, as in a function that is passed the
    index."""
    if not lines_of_kernel(source, line):
        return []
    index, _ = index_of(source, line, array)
    pointers = (_set_to(source, line - 1, name) for name, _ in _indices(source, line) if name != array)
    made, left = "", [index, *(text for text in pointers if re.search(rf"\b{re.escape(array)}\b", text))]
    for _ in range(_MOST_NAMES):
        found = " ".join(left)
        made = f"{made} {found}"
        names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*\b(?!\s*[.(])", found))
        left = [text for name in [*names][:_MOST_NAMES] if (text := _set_to(source, line - 1, name))]
        if not left:
            break
    other = re.compile(
        r"\b(?:block|thread)Idx\b(?!\.)|\bgridDim\b|\[|(?<!\bsize_t)(?<!\bint)(?<!\bunsigned)(?<=\w)\s*\("
    )
    if not index or left or other.search(made) or moved(source, line, array):
        return []
    return [each for each in components if each not in made]


def _added_to(text: str, array: str) -> set[str]:
    """What is added to an array's name: its index, where it is a pointer."""
    return {
        found[1].strip()
        for found in re.finditer(rf"(?<![\w.\[]){re.escape(array)}\s*\+(?![+=]){_TERM}", text)
        if array
    }


def pointee(source: str, line: int, array: str) -> int:
    """Bytes of what the pointer points to that a line indexes, or adds to, of an array: 4 in `(float4*)(a + i)`, 16 in
    `((float4*)a)[i]` and of a `float4* p` that was set to `a`. 0 where that is not to be seen."""
    text, name = statement(source, line), re.escape(array)
    if not array:
        return 0
    if cast := re.search(_CAST_TO.format(name), text):
        return bytes_of(cast[1])
    above = plain(source).splitlines()[:line]
    if re.search(rf"\b{name}\s*[\[+]", text):
        declared = rf"{_POINTER}{name}\b"
    else:
        named = "|".join(dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b(?=\s*[\[+])", text)[:_MOST_NAMES]))
        declared = rf"{_POINTER}(?:{named})\s*=[^;]*\b{name}\b"
    kinds = (re.findall(declared, each[:_LONGEST]) for each in reversed(above))
    return next(filter(None, (bytes_of(kind) for found in kinds for kind in found)), 0)


def cast_to(source: str, line: int, array: str) -> str:
    """The type that a pointer to an array is cast to in a line, or was where a pointer that is used there was set:
    `double` in `atomicAdd((double*)out, x)`. Empty where none is to be seen."""
    if not array:
        return ""
    text, cast = statement(source, line), rf"{_TO_POINTER}\s*\(?\s*&?\s*{re.escape(array)}\b"
    if found := re.search(cast, text):
        return " ".join(found[1].split())
    named = "|".join(dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", text)[:_MOST_NAMES]))
    declared = re.compile(rf"\b(?:{named})\s*=[^;]*?{cast}") if named else None
    above = plain(source).splitlines()[:line] if declared else []
    sets = (declared.search(each[:_LONGEST]) for each in reversed(above) if declared)
    return next((" ".join(found[1].split()) for found in sets if found), "")


_SIGNED_CHAR = r"(?<!unsigned )\b((?:signed\s+)?char|char[1-4]|int8_t)"


def signed_char(source: str, line: int, index: str) -> tuple[str, str, int] | None:
    """The type of signed bytes that an index in a line is cast to there, or that its variable or array is declared with
    last above it, that type without sign, and the line in which it stands; None where an index is of none."""
    found, text = (
        re.match(rf"\(\s*{_SIGNED_CHAR}\s*\)|static_cast<\s*{_SIGNED_CHAR}\s*>", index),
        plain(source),
    )
    name = re.match(r"[A-Za-z_]\w*", index)
    if found is None and name is not None:
        declared = rf"{_SIGNED_CHAR}\s*\*?\s*(?:const\s|__restrict__\s)?\s*{name[0]}\b"
        above = "\n".join(text.split("\n")[:line])
        *_, found = (None, *re.finditer(declared, above))
        line = line_at(text, found.start()) if found else line
    if found is None:
        return None
    signed = next(filter(None, found.groups()))
    return signed, "unsigned char" if signed.endswith("char") else f"u{signed}", line


def turned_against(source: str, line: int, array: str) -> str:
    """Another array in global memory that a line's kernel indexes with row and column exchanged: of two such arrays one
    is strided, whichever way threads lie. "" for none."""
    own = {_row_and_column(written_out(source, line, index)) for index in _own_indices(source, line, array)}
    turned = {each[::-1] for each in own if each}
    shared = shared_arrays(source)
    others = (
        name
        for number, text in lines_of_kernel(source, line).items()
        for name, index in _WITH_INDEX.findall(text)
        if name not in (array, *shared) and _row_and_column(written_out(source, number, index)) in turned
    )
    return next(others, "")


def _own_indices(source: str, line: int, array: str) -> list[str]:
    return [index for name, index in _indices(source, line) if name == array]


def written_out(source: str, line: int, index: str) -> str:
    """An index, or what a variable that is one was last set to."""
    return (_set_to(source, line, index.strip()) or index) if index.strip().isidentifier() else index


def _row_and_column(index: str) -> tuple[str, str] | None:
    """Both of `row * length + column`, without casts; None of another index."""
    flat = re.sub(r"\b(?:size_t|long long|long|static_cast\s*<[^<>]*>)|[()\s]", "", index[:_LONGEST])
    found = re.fullmatch(r"([\w.+]+)\*[\w.]+\+([\w.+]+)", flat)
    return (found[1], found[2]) if found else None


def _indices(source: str, line: int) -> list[tuple[str, str]]:
    """What a line indexes, and by which texts."""
    return _WITH_INDEX.findall(statement(source, line))


def _set_to(source: str, line: int, name: str) -> str:
    """What a variable was last set to before a line; "" where that is not to be seen."""
    assigned = re.compile(rf"\b{re.escape(name)}\s*=(?!=)([^;]*);")
    found = (assigned.search(text[:_LONGEST]) for _, text in _upwards(source, line))
    return next((one[1].strip() for one in found if one), "")


def _line(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[line - 1][:_LONGEST] if 0 < line <= len(lines) else ""


def _side(statement: str, stored: bool) -> str:
    """What a statement stores to, or what it loads from; all of it where there is no assignment."""
    found = _ASSIGNMENT.search(statement)
    if found is None:
        return statement
    left, right = statement[: found.start()], statement[found.end() :]
    return left if stored else f"{left} {right}" if left.endswith(tuple("+-*/%&|^<>")) else right


def _names(declarators: Iterable[str]) -> set[str]:
    """The arrays that are declared."""
    return {name for text in declarators for name in _INDEXED.findall(text)}


def accumulates(source: str, line: int, array: str | None, by_blocks: bool = False) -> bool:
    """Whether a line adds to an element of an array and reads no other one of it: `bins[value]++`, `*out += sum`. An
    element by the thread's own number, `sums[threadIdx.x] += other`, no other thread of the block adds to; those of
    other blocks do, `by_blocks`."""
    text, name = statement(source, line), re.escape(array or "")
    targets = [found[1] or found[3] for found in _ADDITION.finditer(text)]
    if not by_blocks and re.search(rf"\b{name}\s*\[\s*(?:{_of_thread_alone(source)})\s*\]", text):
        return False
    return array in targets and len(re.findall(rf"\b{name}\b", text)) == 1


def _of_thread_alone(source: str) -> str:
    """A pattern of what is the thread's number in its block, as written or by a variable that was set so."""
    return _own_numbers(source, "x")


def _own_numbers(source: str, axes: str) -> str:
    """The same of its numbers along some axes."""
    named = (name for name, axis in named_numbers(plain(source)) if axis in axes)
    return "|".join([rf"threadIdx\.[{axes}]", *named])


def named_numbers(text: str) -> list[tuple[str, str]]:
    """The variables that are set to the thread's number in its block along an axis, each with that."""
    return _NUMBER.findall(text)


def steps(source: str, line: int) -> tuple[tuple[str, int], ...]:
    """The lines that, in no loop, add another element of an array to one: `line`, and those around it that add to the
    same. Of each, what is added to what, and its number; none if `line` is not one of them."""
    own = _STEP.match(statement(source, line))
    if own is None or any(re.search(r"\b(?:for|while)\b", head) for _, head in _all_around(source, line)):
        return ()
    around = _around(source, line)[0]
    near = range(line - _MOST_STEPS, line + _MOST_STEPS)
    lines = ((number, text) for number, text in lines_of_kernel(source, line).items() if number in near)
    others = ((_STEP.match(text), number) for number, text in lines)
    return tuple(
        (found[1], number)
        for found, number in others
        if found and found["to"] == own["to"] and _around(source, number)[0] == around
    )


def one_a_thread(source: str, line: int, array: str) -> tuple[int, ...]:
    """The lines of a line's kernel in which each thread takes the element of an array that has its number in the block,
    and none but that, in no loop."""
    loop, own = re.compile(r"\b(?:for|while|do)\b"), re.compile(rf"\s*(?:{_of_thread_alone(source)})\s*")

    def one_each(number: int, text: str) -> bool:
        indices = [index for name, index in _WITH_INDEX.findall(text) if name == array]
        heads = [text, *(head for _, head in _all_around(source, number))]
        return bool(indices) and all(map(own.fullmatch, indices)) and not any(map(loop.search, heads))

    return tuple(number for number, text in lines_of_kernel(source, line).items() if one_each(number, text))


def one_row_a_thread(source: str, line: int, array: str) -> bool:
    """Whether a line's kernel stores to an array of two dimensions in the row of the thread's number along y alone."""
    own = {"threadIdx.y", *(name for name, axis in named_numbers(plain(source)) if axis == "y")}
    stored = {row for _, stores, row, _ in _of_two(source, line, array) if stores}
    return bool(stored) and stored <= own


def exchanged(source: str, line: int, array: str) -> bool:
    """Whether a line reads an array of two dimensions by the indices that its kernel stores it by, exchanged, also
    where a thread takes several elements by a loop."""
    accesses = [
        (number, stores, _base(row), _base(column))
        for number, stores, row, column in _of_two(source, line, array)
    ]
    stored = {(row, column) for _, stores, row, column in accesses if stores}
    read = {(row, column) for number, stores, row, column in accesses if number == line and not stores}
    return any((column, row) in stored and (row, column) not in stored for row, column in read)


def filling_loop(source: str, line: int, array: str) -> int | None:
    """The line of the loop around a line each step of which stores a part of an array of two dimensions alone, as its
    counter is added to one of the indices; None where there is none."""
    stored = [(number, row, column) for number, stores, row, column in _of_two(source, line, array) if stores]
    for head in _all_around(source, line):
        counter = re.search(r"\bfor\s*\([\w ]*?\b(\w+)\s*=", head[1])
        added = re.compile(rf"(?:^|\+)\s*{counter[1]}\s*(?:$|\+)") if counter else None
        for number, *indices in stored if added else ():
            sums = [index for index in indices if "+" in index]
            if added and any(map(added.search, sums)) and head in _all_around(source, number):
                return head[0]
    return None


def _of_two(source: str, line: int, array: str) -> Iterator[tuple[int, bool, str, str]]:
    """The accesses of a line's kernel to an array of two dimensions: their line, whether they store, and both
    indices."""
    two = re.compile(
        rf"\b{re.escape(array)}\s*\[([^\[\]]{{1,100}})\]\s*\[([^\[\]]{{1,100}})\](?P<stored>\s*=(?!=))?"
    )
    for number, text in lines_of_kernel(source, line).items():
        for found in two.finditer(text) if "__shared__" not in text else ():
            yield number, bool(found["stored"]), found[1].strip(), found[2].strip()


def _base(index: str) -> str:
    """An index without what is added to it."""
    return index.partition("+")[0].strip()


def clears(source: str, line: int, array: str | None) -> bool:
    """Whether a line sets an element of an array to 0."""
    index = r"(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?"
    set_to = rf"\b{re.escape(array or '')}\s*{index}\s*=\s*0(?:\.0?)?[uUfF]?\s*;"
    return bool(array and re.search(set_to, statement(source, line)))


def moved(source: str, line: int, array: str | None) -> str:
    """By what a line above has moved a pointer, in its kernel; "" where none has."""
    by = re.compile(rf"(?<![\w.]){re.escape(array or '')}\s*\+=\s*([^;]{{1,60}});")
    above = (text for number, text in lines_of_kernel(source, line).items() if number < line and array)
    return next((found[1].strip() for found in map(by.search, above) if found), "")


def goes_on(source: str, line: int, array: str) -> tuple[str, str, int]:
    """A pointer in a line that is an array, or was set to a place of it, with how the line's kernel moves it on in a
    loop, and in which line: `*b++`. Empty where none is."""
    names = dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\[)", statement(source, line)))
    lines = lines_of_kernel(source, line) if array else {}
    first = next(
        (number for number, text in lines.items() if re.search(r"\b(?:for|while|do)\b", text)), line + 1
    )
    for name in [*names][:_MOST_NAMES]:
        if name != array and array not in re.findall(r"\w+", _set_to(source, line, name)):
            continue
        moves = re.compile(rf"(?<![\w.]){name}\s*(?:\+\+|\+=[^;,)]{{1,60}})|\+\+\s*{name}\b")
        found = ((number, moves.search(text)) for number, text in lines.items() if number >= first)
        if step := next(((number, each[0].strip()) for number, each in found if each), None):
            return name, step[1], step[0]
    return "", "", 0


def compares_bytes(source: str, line: int, array: str | None) -> bool:
    """Whether something in a line's kernel is compared with the bytes of an array, `k < sizeof(tile)`, whose elements
    have several."""
    name = re.escape(array or "")
    size = rf"[<>]=?[^;]*?\bsizeof\s*\(?\s*{name}\b(?!\s*(?:\[|\)?\s*/))"
    compared = any(array and re.search(size, text) for text in lines_of_kernel(source, line).values())
    return compared and not re.search(rf"\b(?:char|u?int8_t)\s+{name}\s*\[", plain(source))


def launched(source: str) -> list[str]:
    """The kernels that a file's launch block names, also of a file that cannot be parsed."""
    return _LAUNCHED.findall(source)


def early_return(source: str, line: int, before_barrier: bool = False) -> int | None:
    """The line of the last `return` before `line` in the function that `line` is in; None without one. With
    `before_barrier`, one behind the last __syncthreads() before `line` is none: all have filled their part by then."""
    counts = not before_barrier
    for number, text in _upwards(source, line):
        if number == line:
            continue
        counts = counts or _BARRIER in text
        if counts and _RETURN.search(text):
            return number
    return None


def barrier_since(source: str, line: int, array: str) -> bool:
    """Whether a __syncthreads() stands between a line and the last one above it that stores to an array in shared
    memory."""
    between = False
    for number, text in _upwards(source, line):
        if number < line and array in text and array in arrays_in(source, number, "shared", stored=True):
            return between
        between = between or _BARRIER in text
    return False


def uneven_loop(source: str, line: int) -> int | None:
    """The line of the loop in whose body a line stands, under no other condition, and whose head depends on threadIdx:
    threads may go through it more often than others. None of another line."""
    number, head = _around(source, line)
    return number if _of_thread(source, number, head) else None


def only_if(source: str, line: int) -> int | None:
    """The line of the condition whose body a line stands in; None of another line."""
    number, head = _around(source, line)
    return number if re.search(r"\b(?:if|else)\b", head) else None


def of_first_thread(source: str, line: int) -> bool:
    """Whether a line stands in the body of a condition that is true in thread 0 of a block alone."""
    x, each = (
        rf"(?:(?:{own})\s*==\s*0|!\s*(?:{own}))\s*"
        for own in (_of_thread_alone(source), _own_numbers(source, "xyz"))
    )
    alone = re.compile(rf"\bif\s*\(\s*(?:{each}&&\s*)?{x}(?:&&\s*{each}){{0,2}}\)")
    return any(alone.search(head) for _, head in _all_around(source, line))


def barriers_of_some(source: str) -> Iterator[tuple[int, int]]:
    """The lines of each __syncthreads() in the body of an `if` whose condition depends on threadIdx, and of that."""
    lines = enumerate(plain(source).splitlines(), 1)
    for line, text in islice((each for each in lines if _BARRIER in each[1]), _MOST_BARRIERS):
        around = [(line, text.partition(_BARRIER)[0]), *_all_around(source, line)]
        heads = (at for at, head in around if re.search(r"\bif\b", head) and _depends(source, at, head))
        if at := next(heads, None):
            yield line, at


def in_turn(source: str, one: int, other: int) -> bool:
    """Whether two lines of one function stand in no loop together, as far as its braces tell: a thread has done with
    the upper one when it comes to the lower one."""
    around, also = list(_all_around(source, one)), list(_all_around(source, other))
    if not around or not also or around[-1] != also[-1]:
        return False
    common = [head for _, head in {*around[:-1]} & {*also[:-1]}]
    return all(re.match(r"(?!.*\b(?:for|while|do)\b).*\b(?:if|else)\b", head) for head in common)


def place_between(source: str, upper: int, lower: int) -> tuple[int, int]:
    """The lines between which a statement is in no body of a condition or a loop around one of two lines alone: where
    the outermost around the upper one ends, and where that around the lower one begins."""
    around, also = list(_all_around(source, upper)), list(_all_around(source, lower))
    text = plain(source).splitlines()
    own = [number for number, head in around if (number, head) not in also]
    if own:
        depth = 0
        for number in range(own[-1], len(text) + 1):
            depth += text[number - 1].count("{") - text[number - 1].count("}")
            if number >= upper and depth <= 0:
                upper = number
                break
    lower = next((number for number, head in reversed(also) if (number, head) not in around), lower)
    while lower > upper + 1 and _WITH_BODY_BELOW.search(text[lower - 2]):
        lower -= 1
    return upper, lower


def _around(source: str, line: int) -> tuple[int, str]:
    """The head of the innermost braces around a line, and where it stands; 0 and "" outside of any."""
    return next(_all_around(source, line), (0, ""))


def _all_around(source: str, line: int) -> Iterator[tuple[int, str]]:
    """The heads of all braces around a line, and where they stand, the innermost first and that of its function
    last."""
    closed = 0
    above = [each for each in _upwards(source, line) if each[0] < line]
    for at, (number, text) in enumerate(above):
        for brace in re.findall(r"[{}]", text)[::-1]:
            closed += 1 if brace == "}" else -1
            if closed < 0:
                head = next((each for each in above[at : at + 2] if each[1].strip() != "{"), (number, ""))
                yield head[0], head[1][:_LONGEST]
                closed = 0


def _of_thread(source: str, line: int, head: str) -> bool:
    """Whether the head of a loop depends on threadIdx, as written or by a variable that was set so."""
    return bool(re.search(r"\b(?:for|while)\b", head)) and _depends(source, line, head)


def _depends(source: str, line: int, head: str) -> bool:
    """Whether what is asked at the head of a body depends on threadIdx, as written or by a variable that was set so."""
    names = [*dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", head))][:_MOST_NAMES]
    return "threadIdx" in head or any("threadIdx" in _set_to(source, line, name) for name in names)


def guard(source: str, line: int, index: str = "") -> int | None:
    """The line of the comparison that `line` stands behind: its own, or the nearest `if` before it in its function
    whose block it is in, or that leaves; or the loop that counts `index`."""
    counts = re.compile(rf"\bfor\s*\([^;]*;\s*{index}\s*[<>]") if index.isidentifier() else None
    closed, leaves, ended, below = 0, False, False, ""
    for number, text in _upwards(source, line):
        found = _GUARD.search(text[:_LONGEST]) or (number == line and _CHOICE.search(text[:_LONGEST]))
        found = found or (counts and counts.search(text[:_LONGEST]))
        behind = (leaves or not (closed or ended)) and (_LEAVES.search(text) or not _WITH_BODY.search(text))
        if found and (number == line or (behind and not _ends_before(text, below))):
            return number
        below = f"{text}\n{below}" if number < line else ""
        leaves, ended = bool(closed and (leaves or _LEAVES.search(text))), False
        for brace in re.findall(r"[{}]", text if number < line else "")[::-1]:
            ended = ended or (brace == "{" and closed == 1 and text.strip() == brace)
            closed = closed + 1 if brace == "}" else max(closed - 1, 0)
    return None


def guard_behind(source: str, line: int, index: str) -> int | None:
    """The line of the first `if` of a kernel behind a line that compares a variable which that line has as an index."""
    if not index.isidentifier():
        return None
    compares = re.compile(rf"\bif\s*\([^;]*\b{index}\b\s*[<>]")
    below = (each for each in lines_of_kernel(source, line).items() if each[0] > line)
    return next((number for number, text in below if compares.search(text)), None)


def _ends_before(condition: str, below: str) -> bool:
    """Whether a condition without braces is for a statement that is over, and does not leave, in the lines below."""
    own = re.match(r"[^{;]*;", f"{condition}\n{below}")
    if own is None or own[0].count("(") != own[0].count(")"):  # in the head of a loop
        return False
    return bool(_UNBRACED_IF.search(condition) and not _LEAVES.search(own[0]))


def compared(source: str, line: int, index: str, sizes: Mapping[str, int | float]) -> tuple[str, int | None]:
    """How a line compares a variable of an index, such as `i < N`, and what that comes to with these sizes. "" and None
    where it does not, or where that is not to be seen."""
    names = "|".join(dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*[\[.(])", index)[:_MOST_NAMES]))
    compares = (
        rf"(?<![\w+*/.-])\s*\b((?:{names})\s*(?:<|>=)\s*([\w\s*/+()-]+?))\s*(?=;|&&|\|\||\)\s*(?:$|\{{|\w))"
    )
    found = re.search(compares, statement(source, line)) if names else None
    if not found:
        return "", None
    bound = bound_of(source, line, found[1])
    whole = {name: value for name, value in sizes.items() if isinstance(value, int)}
    known = numbers(source) | {name.lower(): value for name, value in whole.items()} | whole
    return found[1], _integer(bound, known)


def bound_of(source: str, line: int, comparison: str) -> str:
    """What is compared with in a line, as `N` in `i < N`; of a variable, what that was last set to."""
    bound = re.split(r"[<>]=?\s*", comparison)[-1]
    return (_set_to(source, line, bound) if bound.isidentifier() else "") or bound


def one_suffices(source: str, line: int) -> bool:
    """Whether the condition of a line leaves only where all indices are beyond the end, or lets through where one is
    inside."""
    text = statement(source, line)
    return bool(_BOTH_BEYOND.search(text) or _EITHER_INSIDE.search(text))


@dataclass(frozen=True)
class Counted:
    """An index of a thread over all blocks, `blockIdx.x * FACTOR + threadIdx.x`."""

    line: int
    axis: Axis
    factor: str | None
    """None where blocks are not multiplied by anything."""
    threads: int | None
    """What the factor is, where the file defines it."""


def counted(source: str) -> Iterator[Counted]:
    """The indices over all blocks whose factor is a number, a name, or missing. Of two factors each may be what it is
    for: threads, or elements of a thread."""
    text = plain(source)
    numbers = _numbers(text)
    for number, each in enumerate(text.splitlines(), 1):
        for found in _OVER_BLOCKS.finditer(each[:_LONGEST]):
            front, behind = found.group("front", "behind")
            if not (front and behind):
                factor = front or behind
                threads = _integer(factor, numbers) if factor else None
                yield Counted(number, cast(Axis, found["axis"]), factor, threads)


def other_blocks(source: str, block: Sequence[int]) -> list[Counted]:
    """The indices over all blocks by which a block has other threads along an axis than it has, the first of those that
    count the same."""
    found: dict[tuple[Axis, int | None], Counted] = {}
    for each in counted(source):
        if each.threads not in (None, block["xyz".index(each.axis)]):
            found.setdefault((each.axis, each.threads), each)
    return [*found.values()]


@dataclass(frozen=True)
class Halved:
    """A step that is halved until nothing is left of it, by which threads add elements in pairs."""

    line: int
    elements: int | None
    """Those that there are at first; None for the threads of a block in x."""


def halved(source: str) -> Iterator[Halved]:
    """The trees of halves in a file, of a constant or of the threads of a block."""
    text = plain(source)
    numbers = _numbers(text)
    for found in _HALF_OF.finditer(text):
        name, of = found["name"], found["of"]
        behind = text[found.end() : found.end() + _LONGEST]
        step = re.search(rf"\b{name}\s*(?:/=\s*2|>>=\s*1|=\s*{name}\s*(?:/\s*2|>>\s*1))\b", behind)
        pairs = re.search(rf"\[[^\[\]]*\+\s*{name}\s*\]", behind)
        to_1 = re.search(rf"\b{name}\s*(?:>\s*0|>=\s*1|!=\s*0)\b|[;(]\s*{name}\s*[;)]", behind)
        odd = re.search(rf"\b{name}\s*(?:%\s*2|&\s*1)\b", behind)
        if step and pairs and to_1 and not odd and (of == "blockDim.x" or of in numbers):
            yield Halved(line_at(text, found.start()), numbers.get(of))


def barrier(source: str) -> int | None:
    """The line of the first __syncthreads(); None without one."""
    lines = plain(source).splitlines()
    return next((number for number, text in enumerate(lines, 1) if _BARRIER in text), None)


def loops(source: str) -> bool:
    """Whether there is any loop."""
    return bool(re.search(r"\b(?:for|while)\b", plain(source)))


def _upwards(source: str, line: int) -> Iterator[tuple[int, str]]:
    """Lines without comments, from one upwards to where its function begins, or another one ends."""
    lines = plain(source).splitlines()
    for number in range(min(line, len(lines)), 0, -1):
        text = lines[number - 1]
        yield number, text
        if number < line and (text.startswith("}") or "__global__" in text):
            return


def lines_of_kernel(source: str, line: int) -> dict[int, str]:
    """By number: the lines, without comments, of the kernel to which one belongs; none of another function."""
    above = dict(_upwards(source, line))
    if not any("__global__" in text for text in above.values()):
        return {}
    lines = plain(source).splitlines()
    end = next((at for at in range(line, len(lines)) if lines[at].startswith("}")), len(lines))
    return {number: lines[number - 1][:_LONGEST] for number in range(min(above), end + 1)}


@lru_cache(maxsize=8)
def without_other_kernels(source: str, line: int) -> str:
    """The text with blank lines in place of the kernels to which a line does not belong, so that a name means what it
    means there; the whole text where the line belongs to none."""
    lines, own = source.splitlines(), lines_of_kernel(source, line)
    begin = (at for at, text in enumerate(plain(source).splitlines(), 1) if "__global__" in text)
    others = {number for at in begin if at not in own for number in lines_of_kernel(source, at)}
    return "\n".join("" if own and at in others - own.keys() else text for at, text in enumerate(lines, 1))


def line_at(text: str, place: int) -> int:
    """The number of the line with a character of a text."""
    return text.count("\n", 0, place) + 1


@lru_cache(maxsize=8)  # each finding of a kernel asks for it many times
def plain(source: str) -> str:
    """The text with blanks in place of comments."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def constant(source: str, text: str) -> int | None:
    """The integer that a text stands for, of numbers and of what the file defines; None of anything else."""
    return _integer(text, numbers(source))


def divisors(source: str, launched: Iterable[str]) -> set[int]:
    """The whole numbers by which a file divides, or the texts of its launch block do."""
    known = numbers(source)
    texts = "\n".join([_STRING.sub("", plain(source)), *launched])
    found = {_integer(each[1] or each[2], known) for each in _DIVISION.finditer(texts)}
    return {number for number in found if number}


def numbers(source: str) -> dict[str, int]:
    """The integers that a file defines."""
    return _numbers(plain(source))


def _numbers(text: str) -> dict[str, int]:
    """The integer constants of a text without comments whose values are to be seen."""
    found: dict[str, int] = {}
    constants = (pair for declarators in _CONSTANTS.findall(text) for pair in _INITIAL.findall(declarators))
    for name, value in [*_DEFINED.findall(text), *constants]:
        number = _integer(value, found)
        if number is not None:
            found[name] = number
    return found


def _declared(text: str, numbers: Mapping[str, int]) -> Iterator[tuple[str, tuple[int | None, ...]]]:
    for declarator in text.split(","):
        if match := _DECLARATOR.search(declarator.strip()):
            inner = re.findall(r"\[([^\[\]]*)\]", match[2])
            extents = [_integer(extent, numbers) for extent in inner]
            known = [
                extent is not None or (place == 0 and not inner[0].strip())
                for place, extent in enumerate(extents)
            ]
            if all(known):
                yield match[1], tuple(extents)


def _integer(text: str, numbers: Mapping[str, int]) -> int | None:
    try:
        return parse(text.replace("/", "//")).whole(numbers)
    except ExpressionError:
        return None


def comma_index(line: str, text: str) -> str:
    """Of two indices in one pair of brackets, what C++ makes of them, and what is written in their place; "" for
    none."""
    if not (found := _COMMA_INDEX.search(line)):
        return ""
    array, row, column = (" ".join(found[part].split()) for part in ("array", "row", "column"))
    several = re.search(rf"\b{array}\s*\[[^\[\],]*\]\s*\[", text)
    flat = f"`{row}` times the length of a row, plus `{column}`"
    return (
        f"of the numbers in `{array}[{row}, {column}]` C++ takes the last alone, `{array}[{column}]`: write "
        + (f"`{array}[{row}][{column}]`" if several else f"one index, {flat}")
    )


def kernels(source: str) -> dict[str, list[str]]:
    """The kernels of a text, and what each takes: of pointers the type they point to, `float*`, of all else ""."""
    found = KERNEL.finditer(plain(source))
    return {each["name"]: [taken(one) for one in each["taken"].split(",")] for each in found}


def numbers_in_grid(text: str) -> dict[str, str]:
    """Variables that are a thread's number among those of all blocks, with the axis along which they are."""
    own = dict(named_numbers(text))
    by_name = {
        found[1]: found[2] for found in _IN_GRID_BY_NAME.finditer(text) if own.get(found[3]) == found[2]
    }
    return by_name | {found[1]: found[2] for found in _IN_GRID.finditer(text)}


def kernel_body(text: str, kernel: str) -> tuple[int, int] | None:
    """Where the body of a kernel begins and ends, in a text without comments."""
    name = kernel.partition("<")[0]
    found = next((each for each in KERNEL.finditer(text) if each["name"] == name), None)
    if found is None:
        return None
    end = text.find("\n}", found.end())
    return found.end(), end if end >= 0 else len(text)


def never_used(source: str, name: str) -> bool:
    """Whether kernels of a text take an argument of this name, and none of them has it in its body."""
    text = plain(source)
    own = [each["name"] for each in KERNEL.finditer(text) if re.search(rf"\b{name}\b", each["taken"])]
    bodies = [kernel_body(text, each) for each in own]
    return bool(own) and not any(body and re.search(rf"\b{name}\b", text[slice(*body)]) for body in bodies)


def taken(parameter: str) -> str:
    """The type that a parameter points to, `float*`, without its name and qualifiers; "" where it does not point."""
    pointed, star, _ = _QUALIFIER.sub(" ", parameter).partition("*")
    return f"{' '.join(pointed.split())}*" if star else ""


def int_sizes(text: str) -> tuple[list[str], int]:
    """The first kernel's parameters that are ints, and where its body begins."""
    kernel = KERNEL.search(text)
    return (re.findall(r"\bint\s+(\w+)", kernel["taken"]), kernel.end()) if kernel else ([], 0)
