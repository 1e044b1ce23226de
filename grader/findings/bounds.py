"""What would mend an access out of bounds: what the text shows of its index, and of the condition before it."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from grader.emulator.machine.records import Finding, Text
from grader.findings.phrases import ELEMENTS, near_device_memory, offset_of

GUARD = "Guard the access: threads that have no element must not touch memory."
_TOO_LATE = (
    "The condition in line {line} comes too late for this access: threads that have no element must not touch memory. "
    "Put it behind that condition, or give it one of its own."
)
_OF_NO_THREAD = (
    "The index, `{index}`, is the same in every thread. Where each thread has an element of its own, form the index of "
    "threadIdx.x, and of blockIdx.x as well where there are several blocks."
)
_FILLS = " In place of it, store 0 to `{array}`, or what leaves the result as it is."
_GUARD_EACH = (
    "Several elements of `{array}` are loaded in this line, each by an index of its own: guard each by that, as "
    "`({index} < {size} ? {array}[{index}] : 0)` does."
)
_GUARDED = (
    "The condition in line {line} lets this thread pass: does it compare the index that is used here, and with the "
    "size of this array?"
)
_OR_FORMED = " If it is as you mean it, the index is wrong: look at `{formed}`{vectors}."
_ONE_SUFFICES = (
    "The condition in line {line} lets this thread pass, since one of its indices is inside: let through only where "
    "all are (`&&` of `<`), or leave where any is not (`||` of `>=`)."
)
_ALIKE = (
    "`{array}` has the same index as `{longer}` in this line, and fewer elements: which index does it follow?"
)
_SUM_OF_BLOCKS = (
    "Each block writes an element of its own, `{array}[{index}]`. Where there is one for all, made of what all blocks "
    "have found, each adds to it: `atomicAdd({array}, …)`."
)
_LAST = " It is the first place that is not there: `<`, and not `<=`?"
_SHORT = "A short ends at 32,767, and goes on at -32,768: form indices in int or size_t."
_MORE = " It is the first place that is not there: `>=`, and not `>`?"
_NEGATIVE = "The condition in line {line} lets indices below 0 pass: what is subtracted, and at which end?"
_NONE_BELOW = (
    "The condition in line {line} lets indices below 0 pass: where the index is as you mean it, let `{index} >= 0` "
    "hold as well."
)
_BELOW_UNSEEN = (
    "The index, `{index}`, is below 0, and the condition in line {line} looks at `{compared}` alone: let "
    "`{index} >= 0{end}` hold as well{only}, or have 0 stand for what is not there{ends}."
)
_ONLY_BELOW = (
    "The condition in line {line} keeps out indices below 0, and none behind the end: `{index}` has to be less than "
    "the number of elements too."
)
_OTHER_INDEX = "The condition in line {line} compares `{compared}`, and the index is `{index}`."
_AS_WELL = " Let `{index} < {size}` hold as well."
_NOT_COMPARED = "The condition in line {line} looks at {compared} alone: let {test} as well{only}."
_PARTS_NOT_COMPARED = (
    "The condition in line {line} looks at {compared} alone: let each number of which the index is made be {inside} as "
    "well."
)
_VECTOR_ENDS = (
    "A vector begins within `{array}`, and its component {component} lies behind the end: {elements} elements are no "
    "whole vectors. Take vectors where they are, and single elements elsewhere."
)
_COMPONENT = re.compile(r"(?<!Idx)(?<!Dim)\.([yzw])\b")
_LOOKED_UP = (
    "The index is made of what was read from memory, `{formed}`, which no condition on the thread's own index keeps "
    "inside: look at how it is computed, and which values there are. The {end} element is `{array}`[{element}]."
)
_ELEMENTS_NOT_BYTES = (
    "An index, and what is added to a pointer, counts elements and not bytes: leave `sizeof` out."
)
_BYTES_COMPARED = (
    "The condition in line {line} counts bytes, and an index counts elements: leave `sizeof` out."
)
_SIZE_OF_POINTER = (
    "`sizeof` of a pointer is 8 bytes, whatever it points to: have the condition in line {line} compare with the "
    "number of elements that the kernel is passed."
)
_MOVED = (
    "`{array} += {by}` has moved the pointer already, and indices count from there: leave `{by}` out of the index, and "
    "of what it is compared with, or leave the pointer as it is."
)
_GOES_ON = (
    "`{name}` goes on by `{step}` in line {line} each time that this is done: it has gone too far. Set it anew where "
    "the loop around begins again, or use an index."
)
_DOTTED = re.compile(r"[A-Za-z_][\w.]*")
_WIDE = (
    "A pointer to {size} bytes counts {many} elements at a time, and the index, `{formed}`, is multiplied by {many} "
    "before: once is enough."
)
_BOTH_COMPARED = (
    "The condition in line {line} lets this thread pass: it and the index, `{formed}`, do not agree, and {stride}. "
    "Where the index is as you mean it, the condition has to compare `{one}` and `{other}` with how many there are of "
    "each, and `grid` to have as many; else mend the index."
)
_GIVEN = (
    "The condition in line {line} is right as the task gives it, so the index is wrong, `{formed}`{stride}."
)
_FIRST_OF_SEVERAL = (
    "The condition in line {line} looks at the first element alone, and the access takes {many}: `{index} + {last} "
    "{sign}`. Take what is left behind them one by one."
)
_UNEVEN_ROWS = (
    "An access of {size} bytes takes {many} {elements} of a row at once: all have to lie in it, and their address has "
    "to be a multiple of {size}. Where {rows} is no multiple of {many}, packs of {many} do not fill a row, and not "
    "every row begins at such an address."
)
_WHEN_WHOLE = (
    "Take {many} at once where `{rows} % {many} == 0` alone, and single {elements} elsewhere: on that condition, or in "
    'a second kernel, with `when = "{rows} % {many} != 0"` in its [[launch]] and `when = "{rows} % {many} == 0"` in '
    "this one's."
)
_OTHER_TYPE = (
    "`{array}` holds {elements}, of {nbytes} bytes each, and `{cast}*` has the access take {size}: a cast changes how "
    "the pointer counts, and not what lies there. Leave the pointer as it is, and cast the value."
)
_PACKS = (
    "The condition in line {line}, `{compared}`, counts elements, and the index counts packs of {many} elements, "
    "{size} bytes each, of which `{array}` has {bound} / {many}: compare with that."
)
_ROUNDED_UP = (
    "The condition in line {line}, `{compared}`, rounds up, with `{limit}`, and lets through a pack of {many} elements "
    "that is not all there: let through `{size} / {by}` whole ones, and take what is left one by one."
)
_UP = re.compile(
    r"\(\s*(?P<size>\w+)\s*\+\s*(?:(?P<less>\d+)|(?P<one>\w+)\s*-\s*1)\s*\)\s*/\s*(?P<by>\w+)"
    r"|\(\s*(?P<less_1>\w+)\s*-\s*1\s*\)\s*/\s*(?P<by_1>\w+)\s*\+\s*1"
    r"|\w*(?:cdiv|ceil_div|div_up)\w*\(\s*(?P<size_c>\w+)\s*,\s*(?P<by_c>\w+)\s*\)",
    re.IGNORECASE,
)
_HOST_POINTER = (
    "Pass the kernel a pointer that cudaMalloc has given, and copy to it with cudaMemcpy: what malloc, new or a "
    "std::vector give lies in the host's memory."
)
_UNMASKED = (
    "`{index}` holds all bits above those that are shifted out, and so comes to far more than the {elements} elements "
    "of `{array}`: keep the low bits alone, {mask}."
)
_WHOLE = (
    "`{index}` comes to far more than the {elements} elements of `{array}`, as a word of the input does that is taken "
    "whole: keep the low bits alone, {mask}."
)
FAR_BEHIND = 16
"""Arrays that an index has passed by which keeps bits that it was not to have: 4 more of them at the least."""
_BELOW = "The index is below 0: has the array room in front for what is subtracted, and is nothing subtracted twice?"
_UNSIGNED = " {what} is unsigned, and so is what is computed with it: no comparison with 0 keeps that out."
_SIGNED_CHAR = (
    "A char is signed, from -128 to 127, so that {meant} becomes {element}: write `{unsigned}` in place of "
    "`{signed}` in line {line}."
)
_TOO_MANY = (
    "{blocks:,} blocks of {threads:,} threads are {total:,} threads, more than an int counts, and indices become "
    "negative. `grid` counts blocks, not threads: one block for so many elements, cdiv(N, BLOCK)."
)
_IN_HEAP = "Use what malloc() or new has given up to its last byte, and until free() or delete."
_FREE_ONCE = (
    "Pass free() or delete each pointer that malloc() or new has given once, as it was given, and no other."
)
_SHARED = (
    "Is the array as large as the block's indices go, and the block as large as the kernel was made for?"
)
_FARTHER = (
    "The condition in line {line} lets `{compared}` pass, up to {bound:,}, and `{array}` has "
    "{elements:,} elements."
)
_DECLARED = "It is declared in {declared}: this index needs {needed:,} elements or more."
_LONGER, _MEND_INDEX = (
    "Make the array longer, or mend the index.",
    "Mend the index: it goes far beyond the array.",
)
_OF_FEWER = " A block has {threads:,} threads: is it as large as the kernel was made for?"
_OF_LANES = " A warp has 32 lanes, and those from {elements} on have no element there."
_SHARED_BYTES = " Bytes of `extern __shared__` arrays are given with the launch, as `shared`."
_NO_SHARED = (
    "`shared` in the launch block gives the bytes of `extern __shared__` arrays, 0 where it is left out: this access "
    "needs {needed}, and the array as many as all of its elements take."
)
_SIZE_IN_BYTES = "`sizeof({array})` counts bytes: elements are `sizeof({array}) / sizeof({array}[0])`."
_OF_BLOCK = (
    "`{array}` is the block's own, and its first element is `{array}`[0] in every block: leave blockIdx out."
)
_MORE_SHARED = (
    "`shared` in the launch block gives the bytes of `extern __shared__` arrays: the {has} there are enough for {many} "
    "elements of {size} bytes, and this access needs {needed} more."
)
_INDEX = (
    "Where a thread handles several elements, guard each. Where it has one, look at how its index is formed, since "
    "thread (0, 0, 0) of block (0, 0, 0) has an element of its own: {stride}."
)
_ROWS = (
    "The index of `{array}` in this line counts rows of `{size}` elements, but {stride}: multiply by the length of a "
    "row."
)
_BEGIN_INSIDE = (
    "A box that is stored may end outside of its tensor, but begins inside: take no negative coordinate, which a load "
    "alone allows; a GPU stops with an illegal instruction."
)
IN_CLUSTER = (
    "Is the rank below the number of the cluster's blocks, and the array as large there as its indices go?"
)


def remedy(finding: Finding) -> str:
    """What would mend it."""
    if finding.before is not None:
        return _BEGIN_INSIDE
    if finding.in_heap or finding.instruction == "free":
        return _FREE_ONCE if finding.instruction == "free" else _IN_HEAP
    element = finding.element or 0
    if finding.text is not None and (unmasked := _of_bits(finding, finding.text)):
        return unmasked
    if finding.text is not None and finding.text.signed_char and -128 <= element < 0:
        signed, unsigned, line = finding.text.signed_char
        return _SIGNED_CHAR.format(
            meant=element + 256, element=element, signed=signed, unsigned=unsigned, line=line
        )
    if finding.space == "shared":
        below = f"{_BELOW}{_unsigned(finding)}" if element < 0 else _behind_shared(finding)
        return IN_CLUSTER if finding.owner else below
    if finding.rows_of is not None or finding.uneven_rows:
        return _of_rows(finding)
    if finding.launched is not None:
        blocks, threads = finding.launched
        return _TOO_MANY.format(blocks=blocks, threads=threads, total=blocks * threads)
    if finding.allocation is None and not near_device_memory(finding.address):
        return _HOST_POINTER
    if _is_first_thread(finding) and _lies_behind_rows(finding):
        return _INDEX.format(stride=_stride(finding))
    if finding.element == -(2**15):
        return _SHORT
    if finding.wrapped:
        return f"{_BELOW}{_unsigned(finding)}"
    return _of_text(finding, finding.text) if finding.text is not None else _of_condition(finding)


def _of_rows(finding: Finding) -> str:
    """Of an index that takes another length for a row's, or of several elements at once that do not fill a row."""
    if finding.rows_of is not None:
        return _ROWS.format(array=finding.array, size=finding.rows_of, stride=_stride(finding))
    many, (_, elements) = _elements_at_a_time(finding), ELEMENTS.get(finding.dtype or "", (0, "elements"))
    said = _UNEVEN_ROWS.format(size=finding.size, many=many, elements=elements, rows=finding.uneven_rows)
    return f"{said} {when_whole(finding)}"


def when_whole(finding: Finding) -> str:
    """The condition of a launch on which such accesses may be, and its opposite for a second kernel."""
    many, (_, elements) = _elements_at_a_time(finding), ELEMENTS.get(finding.dtype or "", (0, "elements"))
    return _WHEN_WHOLE.format(rows=finding.uneven_rows, many=many, elements=elements)


def _behind_shared(finding: Finding) -> str:
    """Of an access behind the end of the block's shared memory, some of which the launch may give."""
    if finding.text is not None and finding.text.in_bytes:
        return _SIZE_IN_BYTES.format(array=finding.array)
    if any("blockIdx" in each for each in finding.formed):
        return _OF_BLOCK.format(array=finding.array)
    if finding.text is None:
        return f"{_SHARED}{_SHARED_BYTES}"
    if not finding.text.dynamic:
        return _of_length(finding, finding.text)
    has = finding.allocation.nbytes if finding.allocation else 0
    size = finding.size or 0
    needed = f"{offset_of(finding) + size - has:,}"
    if not has or not size:
        return _NO_SHARED.format(needed=needed)
    return _MORE_SHARED.format(has=f"{has:,}", many=f"{has // size:,}", size=size, needed=needed)


def _of_length(finding: Finding, text: Text) -> str:
    """Of an access behind an array of shared memory whose length stands in the file."""
    elements, nbytes = (
        math.prod(finding.shape or (0,)),
        finding.allocation.nbytes if finding.allocation else 0,
    )
    if not (text.declared and elements and finding.element is not None):
        return _SHARED
    itemsize = nbytes // elements
    more = (finding.size or 0) // itemsize if itemsize else 0
    by_thread = "threadIdx" in f"{text.index} {text.formed}"
    block = _OF_FEWER.format(threads=text.threads) if by_thread and text.threads > elements else ""
    if elements < 32 and any(_LANE.fullmatch(each.strip()) for each in (text.index, text.formed)):
        block = _OF_LANES.format(elements=elements)
    needed = finding.element + max(more, 1)
    mends = _MEND_INDEX if needed >= FAR_BEHIND * elements else _LONGER
    return f"{_DECLARED.format(declared=text.declared, needed=needed)} {mends}{block}"


def _of_bits(finding: Finding, text: Text) -> str:
    """Of an access far outside of its array whose index keeps bits that it was not to have; "" of another."""
    element, elements = abs(finding.element or 0), math.prod(finding.shape or (0,))
    if not element >= FAR_BEHIND * elements > 0:
        return ""
    indices = [each.strip() for each in (text.index, text.formed)]
    far = element >= FAR_BEHIND * text.most
    words = [each for each in indices[:1] if far and _ONE_VALUE.fullmatch(each)]
    for said, found in ((_UNMASKED, filter(shifts_alone, indices)), (_WHOLE, words)):
        if index := next(iter(found), ""):
            own = f"({index})" if ">>" in index else index
            mask = f"`{own} & {elements - 1}`" if elements & (elements - 1) == 0 else f"`{own} % {elements}`"
            return said.format(index=index, elements=f"{elements:,}", array=finding.array, mask=mask)
    return ""


_LANE = re.compile(r"threadIdx\.x\s*(?:%\s*32|&\s*(?:31|0x1[fF]))[uU]?")
_ONE_VALUE = re.compile(r"[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?")


def shifts_alone(index: str) -> bool:
    """Whether an index is what a shift to the right has left of something, with no mask: any bits may be above."""
    return bool(re.fullmatch(r"[\w.\[\]]+\s*>>\s*(?:[\w.]+|\([^()]*\))(?:\s*[-+*]\s*[\w.]+)*", index.strip()))


def _unsigned(finding: Finding) -> str:
    """Why an index that was to be below 0 is not."""
    text = finding.text or Text("")
    named = re.search(r"\b(?:thread|block)Idx\.[xyz]\b", f"{text.index} {text.formed}")
    return _UNSIGNED.format(what=f"`{named[0]}`" if named else "The index") if finding.wrapped else ""


def _of_text(finding: Finding, text: Text) -> str:
    """By what the line and the condition before it are seen to count, in place of elements."""
    nbytes, elements = ELEMENTS.get(finding.dtype or "", (0, ""))
    numbers = _NUMBERS if finding.action == "atomic" else _NUMBERS[:1]
    if text.cast in numbers and 0 < nbytes < (taken := finding.size or 0):
        return _OTHER_TYPE.format(
            array=finding.array, elements=elements, nbytes=nbytes, cast=text.cast, size=taken
        )
    if {*_DOTTED.findall(text.moved)} & {*_DOTTED.findall(f"{text.index} {text.formed}")}:
        return _MOVED.format(array=finding.array, by=text.moved)
    if _BYTES.search(f"{text.line} {text.index} {text.formed}") and "char" not in text.line:
        return _ELEMENTS_NOT_BYTES
    if _is_of_blocks(finding, text):
        return _SUM_OF_BLOCKS.format(array=finding.array, index=" ".join(text.index.split()))
    if size := re.search(r"\bsizeof\s*\(?\s*(\w+)", text.condition):
        compared = _BYTES_COMPARED if size[1] in _TYPES else _SIZE_OF_POINTER
        return compared.format(line=finding.guarded)
    many = _elements_at_a_time(finding)
    if (
        many > 1
        and text.pointee == finding.size
        and re.search(rf"(?<!\w){many}\s*\*|\*\s*{many}\b", f"{text.index} {text.formed}")
    ):
        return _WIDE.format(size=finding.size, many=many, formed=text.formed.strip() or text.index)
    return _of_condition(finding)


_NUMBERS = (
    "double",
    "long long",
    "unsigned long long",
    "int64_t",
    "uint64_t",
    "size_t",
)
"""Types of one number of 8 bytes. All but the first are packs of several elements as well, where they are copied."""
_BYTES = re.compile(r"[-+*\[]\s*sizeof\b|\bsizeof\s*(?:\(\s*\w+\s*\)|\w+)\s*\*")
_TYPES = (
    "float",
    "double",
    "int",
    "unsigned",
    "char",
    "short",
    "long",
    "half",
    "float2",
    "float4",
    "int4",
    "size_t",
)


def _elements_at_a_time(finding: Finding) -> int:
    """How many elements of its array an access takes."""
    nbytes, elements = (
        finding.allocation.nbytes if finding.allocation else 0,
        math.prod(finding.shape or (0,)),
    )
    return (finding.size or 0) * elements // nbytes if nbytes else 0


def _is_of_blocks(finding: Finding, text: Text) -> bool:
    """Whether each block writes an element of its own where there is only one, of arrays that have more."""
    formed = f"{text.index} {text.formed}"
    alone = "blockIdx" in formed and "threadIdx" not in formed
    return alone and finding.action == "write" and math.prod(finding.shape or (0,)) == 1 < text.most


def _of_condition(finding: Finding) -> str:
    counted = finding.text.counted if finding.text is not None else None
    if finding.text is not None and counted is not None:
        finding = replace(finding, text=replace(finding.text, index=counted, formed=""))
    behind = finding.action == "read" and (finding.element or 0) >= 0
    if finding.text is not None and behind and finding.extent and finding.array and counted is None:
        every = re.findall(rf"\b{re.escape(finding.array)}\s*\[([^\[\]]+)\]", finding.text.line)
        indices = [*dict.fromkeys(" ".join(index.split()) for index in every)]
        if len(indices) > 1:
            return _GUARD_EACH.format(array=finding.array, index=indices[-1], size=finding.extent)
    if finding.guarded is None:
        name, step, line = finding.text.goes_on if finding.text else ("", "", 0)
        if name:
            return _GOES_ON.format(name=name, step=step, line=line)
        if finding.text and finding.text.of_no_thread and math.prod(finding.shape or ()) > 1:
            return _OF_NO_THREAD.format(index=finding.text.of_no_thread)
        if finding.guarded_later is not None:
            return _TOO_LATE.format(line=finding.guarded_later)
        fills = finding.text.fills if finding.text and finding.action == "read" else ""
        return f"{GUARD}{_FILLS.format(array=fills) if fills else ''}"
    formed = "" if finding.text is None else finding.text.formed.strip() or finding.text.index
    if finding.text is not None and finding.text.given and formed and (finding.element or 0) >= 0:
        stride = f": {_stride(finding)}" if len(finding.shape or ()) > 1 else ""
        return _GIVEN.format(line=finding.guarded, formed=formed, stride=stride)
    if finding.indexed_as is not None:
        return _ALIKE.format(array=finding.array, longer=finding.indexed_as)
    if finding.one_suffices:
        return _ONE_SUFFICES.format(line=finding.guarded)
    if finding.element is None or finding.text is None:
        return _GUARDED.format(line=finding.guarded)
    return _of_comparison(finding, finding.text, finding.guarded)


def _of_comparison(finding: Finding, text: Text, line: int) -> str:
    """By what its condition compares: the index, something of which that is made, or neither."""
    below, elements = (finding.element or 0) < 0, math.prod(finding.shape or (0,))
    compared, index = _compared(text.condition), " ".join(text.index.split())
    names = _names(re.sub(r"\[[^\[\]]*\]", "", f"{index} {text.formed}"))
    if not below and (
        said := _of_packs(finding, text, line, index) or _of_next(finding, compared, index, line)
    ):
        return said
    if index not in compared and not names & set(compared):
        near = [each for each in compared if names & _names(each)]
        if near and len(finding.shape or ()) == 1:
            said = _OTHER_INDEX.format(line=line, compared=near[0], index=index)
            return said + (
                _AS_WELL.format(index=index, size=finding.extent) if finding.extent and not below else ""
            )
        end, element = ("first", 0) if below else ("last", elements - 1)
        if looked_up := next((each for each in (index, text.formed.strip()) if "[" in each), ""):
            return _LOOKED_UP.format(formed=looked_up, end=end, array=finding.array, element=element)
        if (component := _COMPONENT.search(text.line)) and re.search(r"\+\s*[123]$", index):
            return _VECTOR_ENDS.format(array=finding.array, elements=elements, component=component[1])
        return _not_compared(finding, compared, index, line)
    if below:
        own = [each for each in compared if names & _names(each)]
        unseen = len(own) == 1 and index not in own and own[0] in names and index != own[0]
        if not unseen and index in compared and not re.search(r"[<>]=?\s*-?\s*[01]\b", text.condition):
            return _NONE_BELOW.format(line=line, index=index)
        if not unseen:
            return _NEGATIVE.format(line=line)
        end = _other_end(text, index, own[0])
        ends = ", at both ends" if end else ""
        only = _only(finding)
        return _BELOW_UNSEEN.format(line=line, index=index, compared=own[0], end=end, ends=ends, only=only)
    if index in compared and all(
        re.match(r"(?:>=\s*0|>\s*-\s*1|<\s*0)\b", sign) for sign in _SIGNS.findall(text.condition)
    ):
        return _ONLY_BELOW.format(line=line, index=index)
    if (
        index in compared
        and len(finding.shape or ()) == 1
        and text.bound is not None
        and text.bound > elements
    ):
        return _FARTHER.format(
            line=line, compared=text.compared, bound=text.bound, array=finding.array, elements=elements
        )
    both = [each for each in compared if names & _names(each)]
    if len(both) == len(finding.shape or ()) == 2 and not re.search(r"<=|[^->]>(?![=>])", text.condition):
        formed, (one, other) = text.formed.strip() or index, both
        return _BOTH_COMPARED.format(line=line, one=one, other=other, formed=formed, stride=_stride(finding))
    return _guarded(finding, text, index, line)


def _guarded(finding: Finding, text: Text, index: str, line: int) -> str:
    """Of a condition that compares something of which the index is made, and lets the thread pass."""
    said = _GUARDED.format(line=line)
    formed = " ".join(text.formed.split()) or ("" if index in _compared(text.condition) else index)
    if (
        finding.element == math.prod(finding.shape or (0,))
        and "(" not in text.limit
        and text.bound is not None
    ):
        more = _MORE if re.search(r"[^->]>(?![=>])", text.condition) else ""
        return said + (_LAST if "<=" in text.condition else more)
    if not formed:
        return said
    many = _elements_at_a_time(finding)
    vectors = (
        f", which counts vectors of {many} elements" if text.pointee == finding.size and many > 1 else ""
    )
    return said + _OR_FORMED.format(formed=formed, vectors=vectors)


def _of_next(finding: Finding, compared: list[str], index: str, line: int) -> str:
    """Of an index that adds to the one that its condition compares; "" of another."""
    first = next((each for each in compared if index.startswith(f"{each} + ")), "")
    if not (first and finding.extent):
        return ""
    said = _OTHER_INDEX.format(line=line, compared=first, index=index)
    return said + _AS_WELL.format(index=index, size=finding.extent)


def _not_compared(finding: Finding, compared: list[str], index: str, line: int) -> str:
    """Of an index that its condition does not look at."""
    below = (finding.element or 0) < 0
    looked_at = " and ".join(f"`{each}`" for each in dict.fromkeys(compared)) or "another index"
    if len(finding.shape or ()) > 1:
        inside = "at least 0" if below else "less than the size that it counts along"
        return _PARTS_NOT_COMPARED.format(line=line, compared=looked_at, inside=inside)
    if index and (below or finding.extent):
        test = f"`{index} {'>= 0' if below else f'< {finding.extent}'}` hold"
    else:
        inside = "at least 0" if below else f"less than the number of elements of `{finding.array}`"
        test = f"{f'`{index}`' if index else 'the index'} be {inside}"
    return _NOT_COMPARED.format(line=line, compared=looked_at, test=test, only=_only(finding))


def _only(finding: Finding) -> str:
    """Which line a condition lacks something for, where others stand behind it that need something else."""
    return f", for line {finding.place.line} only" if finding.text and finding.text.one_of_several else ""


def _other_end(text: Text, index: str, own: str) -> str:
    """The test for the end of the array that an index below 0 may pass as well, with a number that has a sign; "" where
    what is subtracted from the thread's own is a constant."""
    signed = not re.fullmatch(rf"{own}\s*-\s*[A-Z0-9_]+", text.formed.strip() or index)
    size = re.split(r"[<>]=?\s*", text.compared)
    return f" && {index} < {size[1]}" if signed and len(size) > 1 and size[0].strip() == own else ""


def _of_packs(finding: Finding, text: Text, line: int, index: str) -> str:
    """Of an access of several elements whose condition does not count as its index does; "" of another."""
    many, by_packs = _elements_at_a_time(finding), text.pointee == finding.size
    if many < 2 or not (by_packs or text.pointee * many == finding.size):
        return ""
    own = re.escape(index)
    first = rf"{many}\s*\*\s*{own}|{own}\s*\*\s*{many}" if by_packs else own
    # A comparison with 0 is of the end at which the first is the one that counts.
    if found := re.search(rf"(?<![\w+*/.-])\s*\b({first})\s*((?:<|>=)\s*(?!0\b)\w+)", text.condition):
        return _FIRST_OF_SEVERAL.format(line=line, many=many, index=found[1], last=many - 1, sign=found[2])
    if by_packs and (up := _UP.fullmatch(text.limit.strip())):
        size, by = up["size"] or up["less_1"] or up["size_c"], up["by"] or up["by_1"] or up["by_c"]
        if by == str(many) or not by.isdecimal():
            return _ROUNDED_UP.format(
                line=line, compared=text.compared, limit=text.limit, many=many, size=size, by=by
            )
    if not by_packs or text.bound != math.prod(finding.shape or ()):
        return ""
    bound = re.split(r"[<>]=?\s*", text.compared)[1]
    return _PACKS.format(
        line=line,
        compared=text.compared,
        many=many,
        size=finding.size,
        array=finding.array,
        bound=bound if bound.isidentifier() else f"({bound})",
    )


_SIGNS = re.compile(r"(?<![-<>])[<>](?![<>]).*?(?=&&|\|\||$)")
_COMPARED = re.compile(r"(?:\bif\s*\(|\bfor\s*\([^;]*;|\bwhile\s*\(|&&|\|\||[=(,])\s*([\w\s+*/.-]+?)\s*[<>]")


def _compared(condition: str) -> list[str]:
    """What stands before the signs of comparison."""
    return [" ".join(each.split()) for each in _COMPARED.findall(condition)]


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _is_first_thread(finding: Finding) -> bool:
    """Whether it is the one that has something to do whatever the size."""
    return not any((*(finding.block or (1,)), *(finding.thread or (1,)))) and not finding.any_of_warp


def _lies_behind_rows(finding: Finding) -> bool:
    """Whether a row's length may be wrong in its index. With one dimension, or below 0, a guard is often missing."""
    return finding.element is not None and finding.element >= 0 and len(finding.shape or ()) > 1


def _stride(finding: Finding) -> str:
    """What there is to know of an array for those who form an index."""
    length = (finding.shape or (1,))[-1]
    return f"a row of `{finding.array}` is {length} element{'' if length == 1 else 's'} long"
