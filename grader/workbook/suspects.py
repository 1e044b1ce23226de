"""What is wrong in a kernel's text whatever it is run on: what the compiler warns of and often is the mistake, and what
it lets pass, such as a sum that begins with nothing. That a kernel is wrong is known before anybody looks here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.cuda_source import FUNCTION, constant, int_sizes, line_at, plain, shared_arrays

_LONGEST, _MOST = (
    500,
    20_000,
)  # characters of a line, and of a text, that are looked at: bounds a stranger's work

_MACROS = 20  # of a file, that are looked at: as well

_DECLARED = re.compile(
    r"^[ \t]*((?:float|double|(?:__)?half|(?:__)?nv_bfloat16|(?:unsigned[ \t]+)?(?:long[ \t]+long|long|short|char|int)"
    r"|unsigned|size_t|u?int\d+_t)[ \t]+)(\w+(?:\[[^\[\]\n]*\])*(?:[ \t]*,[ \t]*\w+(?:\[[^\[\]\n]*\])*)*)[ \t]*;",
    re.MULTILINE,
)
_ADDED = re.compile(r"(?:\[[^\[\]]*\])*\s*(?:(?:[-+*/%&|^]|<<|>>)=(?!=)|\+\+|--)")
_SET = re.compile(r"(?:\[[^\[\]]*\])*\s*=(?!=)([^;]{0,200});")
_UNSET = re.compile(r'variable "(\w+)" is used before its value is set')
_ASSIGNED = re.compile(r"\b(?:if|while)\s*\(.*?([\w.\[\]]+)\s*=(?!=)\s*([^=&|;()]+)")
_UNSIGNED = re.compile(r"([\w.][^()<>=&|;]*?)\s*(>=|<)\s*0\b")
_EMPTY_WHILE = re.compile(
    r"^([ \t]*)while[ \t]*\((?:[^()]|\([^()]*\)){1,300}\)[ \t]*;(?=[ \t]*(?:\n[ \t]*)?\{|[ \t]*\n\1[ \t]+\S)",
    re.MULTILINE,
)
_FOR = re.compile(r"\bfor\s*\([^;]*;(?P<condition>[^;]*);(?P<step>(?:[^()]|\([^()]*\))*)\)")
_NO_STEP = re.compile(r"^(\w+)\s*([-+*/]|<<|>>)\s*(?=[\w(])")
_UNBRACED = re.compile(
    r"^([ \t]*)(if|for|while)[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\)){0,100}\)){1,300}\)[ \t]*\n"
    r"(?P<own>\1[ \t]+)[^\n{};]{1,300};[ \t]*(?P<more>(?:\n(?P=own)[^ \t\n{}#][^\n{};]{0,300};[ \t]*)+)$",
    re.MULTILINE,
)
_PARAMETER = re.compile(r'parameter "(\w+)" was set but never used')
_VOID = re.compile(
    r"__device__\s[^;(){}]{0,60}\bvoid\s+\w+\s*\((?P<taken>[^(){}*&\[\]]{1,300})\)\s*\{(?P<body>[^}]{1,1000})\}"
)
_KEEPS = re.compile(r"\]\s*[-+*/]?=(?!=)|->|\b(?:atomic\w+|asm|printf|return|for|while|if|__syncthreads)\b")
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<taken>[\w, ]*)\))?[ \t]+(?P<body>\S[^\n]{0,200}?)[ \t]*$",
    re.M,
)
_WIDE = r"(?:size_t|u?int64_t|(?:unsigned )?long long)"
_LATE = re.compile(
    rf"(?:\(\s*{_WIDE}\s*\)|\b{_WIDE}|static_cast<\s*{_WIDE}\s*>)\s*"
    r"\((?P<inner>[^();.]{0,60}\b[A-Za-z_]\w*\s*\*\s*[A-Za-z_]\w*[^();.]{0,60})\)"
)
_NARROW = re.compile(
    r"\b(?P<kind>float|half|short|char)\s+(?P<name>\w+)\s*=(?=[^;]{0,100}\b(?:block|thread)Idx\b)"
    r"(?:\s|[*+-]|\b(?:block|thread|grid)(?:Idx|Dim)\.[xyz]\b|\b\w+\b(?!\s*[.(])|\b(?:float|short|int)\s*(?=\()|[()]){1,100};"
)
_GOES_ON = re.compile(
    r"\bfor\s*\(\s*[\w ]{0,30}\b(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_]\w*)\s*;\s*(?P=name)\s*<[^;{}]{1,60};"
    r"\s*(?P=name)\s*\+=[^;{}]{1,60}\)\s*(?P<body>\{(?:[^{}]|\{[^{}]{0,1000}\}){1,1000}\}|[^;{}]{1,300};)"
)
_ONLY_SETS = re.compile(
    r"\bfor\s*\([^;{}]{0,200};[^;{}]{0,200};(?:[^;(){}]|\([^;(){}]*\)){0,100}\)\s*(?P<opened>\{)?\s*"
    r"(?P<name>[A-Za-z_]\w*)\s*=(?!=)(?P<value>[^;{}]{0,200}\[[^;{}]{0,200});\s*(?P<closed>\})?"
)
_EVERY_STEP = re.compile(
    r"\bfor\s*\([\w ]{0,30}\b(?P<step>\w+)\s*=\s*1\s*;[^;{}]{1,60};\s*(?P=step)\s*(?:\*=\s*2|<<=\s*1|\+=\s*(?P=step))"
    r"[^%]{0,200}?(?P<thread>\b[\w.]+)\s*%\s*(?P=step)\s*==\s*0[^%]{0,200}?"
    r"\+=\s*\w+\[\s*(?P=thread)\s*\+\s*(?P=step)\s*\]"
)
_ALL_STEPS = re.compile(
    r"\b(?:for|while)\s*\([^{}]{1,150}?\)\s*\{?\s*(?:if\s*\(\s*[\w.]+\s*\+\s*\w+\s*<\s*[\w.]+\s*\)\s*\{?\s*)?"
    r"(?P<line>\w+)\[\s*(?P<thread>[\w.]+)\s*\]\s*(?:\+=|=(?!=)[^;=]{1,60}\+)\s*\w+\[\s*(?P=thread)\s*\+\s*(?P<step>\w+)\s*\]\s*;"
    r"[\s}]*__syncthreads\(\)"
)
_SIDE = re.compile(r"\b(?P<name>\w+)\s*=[^;=]{0,80}\bblockIdx\.(?P<axis>[xy])\b[^;=]{0,80}[;,]")
_LEAVES = re.compile(
    r"\bif\s*\(\s*(?P<index>[\w.]+)\s*(?:>=\s*(?P<size>\w+)|>\s*(?P<last>\w+)\s*-\s*1)\s*\)\s*\{?\s*return\s*;"
)
_PASSES = re.compile(
    r"\bif\s*\(\s*(?P<index>[\w.]+)\s*<\s*(?P<size>\w+)\s*\)\s*\{(?P<body>(?:[^{}]|\{[^{}]{0,500}\}){1,1000})\}"
)
_WHOLE = {"float": "16,777,216", "half": "2,048", "short": "32,767", "char": "127"}
_OVER_GRID = re.compile(
    r"\bint\s+(?P<name>\w+)\s*=[^;=]{0,80}\bblockIdx\b[^;{}]{0,40};(?=[^~]{0,1000}?\b(?P=name)\s*\+=\s*"
    r"(?P<step>[^;){}]{0,60}\bgridDim\.\w\s*\*[^;){}]{1,60}|[^;){}]{1,60}\*\s*gridDim\.\w))"
)
_INVERSE = r"1\.0?[fF]?\s*/(?!/)|\b__f?d?rcp_r[nzud]\s*\(|\b__fdividef\s*\("
_DIVISOR = re.compile(r"\b1\.0?[fF]?\s*/\s*\(?\s*\w+")
_INVERSES = re.compile(rf"\b(\w+)\s*=\s*(?:{_INVERSE})")
_TO_INT = re.compile(
    r"(?:\(\s*(?:int|unsigned(?:\s+int)?)\s*\)|<\s*(?:int|unsigned(?:\s+int)?)\s*>\s*\(|\b(?:int|unsigned|size_t)\s*\("
    r"|\b__float2u?int_r[nzud]\s*\(|\b(?:int|unsigned|size_t|u?int(?:32|64)_t|long long)\s+\w+\s*=(?!=))"
    r"(?P<value>(?:[^();{}\[\]]|\((?:[^();]|\([^();]*\)){0,100}\)){1,150})"
)
_OF_INT = re.compile(r"\b(?:int|unsigned|size_t|u?int(?:32|64)_t|long long)\s+(\w+)")
_HIGH = re.compile(r"\b(__u?mul(?:64)?hi)\s*\(")
_LOOP = re.compile(r"\b(?:for|while)\s*\(")
_KEPT = re.compile(
    r"\bif\s*\((?:[^(){};]|\([^(){};]{0,100}\)){1,200}\)\s*\{?\s*(?P<array>\w+)\s*(?:\[[^\[\]]{1,60}\]\s*){1,3}=(?!=)"
    r"[^;?\[]{0,100}?\b(?P<from>\w+)\[[^;?]{1,200};(?![\s}]*else\b)"
)
_FOR_STEP = re.compile(r"\bfor\s*\([^;()]*;[^;]*;\s*(\w+)\s*=(?!=)\s*([^;(){}\[\]]{1,100})\)")

_FOR_ALL = re.compile(
    r"\bfor\s*\((?P<start>(?:[^;()]|\([^;()]*\)){0,100});(?P<condition>[^;{}]{1,100});"
    r"(?P<step>(?:[^;(){}]|\([^;(){}]*\)){0,100})\)(?=(?P<behind>(?!\s*;)[^~]{0,500}))"
)
_LEFT = re.compile(r"\b(?:break|return|goto|trap)\b")
_ADDS_0 = re.compile(r"(\w+)\s*[-+]=\s*(?:0\s*$|0\s*\*|[^/?]{1,80}\*\s*0\s*$)")
_DIVIDED = re.compile(r"(\w+)\s*(?:/=|>>=)\s*\w+\s*$")
_SMALL_INDEX = re.compile(
    r"(?P<kind>(?:(?:un)?signed\s+)?(?:char|short)|u?int(?:8|16)_t)(?:\s+int)?\s+(?P<name>\w+)\s*="
)
_NOT_ROUNDED_UP = re.compile(
    r"(?<![\w.])(?P<size>[A-Za-z_][\w.]*)\s*\+\s*(?:(?P<by>[A-Za-z_][\w.]*)\s*-\s*1\s*/\s*(?P=by)\b"
    r"|(?P<less>\d+)\s*/\s*(?P<number>\d+)\b)(?![.(\[])"
)
_FIRST_BIT = r"(?P<bit>__ffs(?:ll)?\s*\((?:[^()]|\([^()]*\)){1,100}\))"
_LANES = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*(?:%|&)")
_TOP_BYTE = re.compile(
    r"(?:\[\s*|\b(?P<kept>\w+)\s*=\s*)(?P<all>(?P<word>[A-Za-z_]\w*)(?P<part>\.[xyzw]|\[[^\[\]]{1,60}\])?\s*>>\s*24)\s*[\];]"
)
_SWIZZLED = re.compile(
    r"\b(?P<array>\w+)\s*\[[^\[\]]{1,100}\]\s*\[\s*(?P<all>[A-Za-z_][\w.]*\s*\^\s*[A-Za-z_][\w.]*)\s*\]"
)
_RUNNING = re.compile(
    r"\b(?P<sum>[A-Za-z_]\w*)\s*(?:\+=|=\s*(?P=sum)\s*\+)\s*(?P<array>\w+)\[[^;]{1,100};[^~]{0,400}?"
    r"\b(?P<back>(?P=sum)\s*(?:-=|=\s*(?P=sum)\s*-)\s*(?P=array)\[[^;]{1,100}?)\s*;"
    r"|(?P<both>\b(?P<one>[A-Za-z_]\w*)\s*(?:\+=|=\s*(?P=one)\s*\+)\s*(?P<of>\w+)\[[^][;]{1,60}\]\s*-\s*(?P=of)\["
    r"[^][;]{1,60}\])\s*;"
)
_MULTIPLIED = re.compile(r"(\w+)\s*(?:\*=|<<=)\s*\w+\s*$")


def said(source: str, warnings: Sequence[Diagnostic], file: str) -> str:
    """The first of what is suspicious, by the line, in a sentence that says what mends it; "" for nothing."""
    text = plain(source[:_MOST])
    own = [item for item in warnings if item.file == file]
    found = chain(
        _warned(text, own),
        _sums(text),
        _steps(text),
        _stays(text),
        _waits(text),
        _stands(text),
        _kept(text),
        _every_step(text),
        _all_steps(text),
        _one_side(text),
        _without_lanes(text),
        _unbraced(text),
        _macros(text),
        _lost(text),
        _not_rounded_up(text),
        _first_bits(text),
        _top_bytes(text),
        _swizzles(text),
    )
    return min(found, default=(0, ""))[1]


def kept(source: str) -> str:
    """The first store to shared memory that leaves elements as an earlier step of a loop has left them, by its line, in
    a sentence that says what mends it; "" for none."""
    text, shared = plain(source[:_MOST]), shared_arrays(source)
    given = set(re.findall(r"\*\s*(?:__restrict__\s+)?(\w+)\s*[,)]", text))
    for found in _KEPT.finditer(text):
        again = _LOOP.search(text, max(text.rfind("\n}", 0, found.start()), 0), found.start())
        if again and found["array"] in shared and found["from"] in given - shared.keys():
            return (
                f"Line {line_at(text, found.start('array'))}: where the condition does not hold, `{found['array']}` "
                "keeps what an earlier step has stored there, and zero times that is NaN where it is NaN or infinite: "
                "store 0 there."
            )
    return ""


def running(source: str) -> str:
    """The first sum from which elements are subtracted that were added to it, likewise."""
    text = plain(source[:_MOST])
    for found in _RUNNING.finditer(text):
        name, taken = found["sum"] or found["one"], "back" if found["back"] else "both"
        return (
            f"Line {line_at(text, found.start(taken))}: `{' '.join(found[taken].split())}` takes back what was added. "
            f"`{name}` keeps all that was rounded off on the way, and an infinity or NaN for ever: add up the elements "
            "of each output anew."
        )
    return ""


def rounded(source: str) -> str:
    """The first quotient of integers, by the line, that is made of a rounded reciprocal, likewise."""
    text = plain(source[:_MOST])
    return min(chain(_by_floats(text), _by_high_halves(text)), default=(0, ""))[1]


def too_small(source: str) -> str:
    """The first index, by the line, that is formed in a type that large sizes go beyond, in a sentence that says what
    mends it; "" for none."""
    text = plain(source[:_MOST])
    return min(chain(_narrow(text), _late(text), _products(text), _over_grid(text)), default=(0, ""))[1]


def too_far(source: str) -> str:
    """The first index that goes on beyond what an int counts where an int counts all elements, likewise."""
    return min(_over_grid(plain(source[:_MOST])), default=(0, ""))[1]


_Said = tuple[int, str]
"""A line, and a sentence about it."""


def _warned(text: str, warnings: Sequence[Diagnostic]) -> Iterator[_Said]:
    lines = text.split("\n")
    for item in warnings:
        tell = next((tell for sign, tell in _WARNINGS.items() if sign in item.message), None)
        if tell is not None and 0 < item.line <= len(lines):
            sentence = tell(text, lines[item.line - 1][:_LONGEST], item)
            yield from [(item.line, sentence)] if sentence else []


def _unset(text: str, line: str, item: Diagnostic) -> str:
    name = _UNSET.search(item.message)
    before = "\n".join(text.split("\n")[: item.line])
    declared = [found for found in _DECLARED.finditer(before) if name and name[1] in _names(found)]
    added = bool(name and re.search(rf"\b{name[1]}\b{_ADDED.pattern}", line))
    if name is None or not declared:
        return f"Line {item.line}: `{name[1]}` is read here before it has a value." if name else ""
    return _no_value(text, declared[-1], name[1], item.line, added)


_ZEROS = {"float": "0.0f", "double": "0.0"}


def _no_value(text: str, declared: re.Match[str], name: str, used: int, added: bool) -> str:
    line, kind, sizes = line_at(text, declared.start(2)), declared[1].strip(), _names(declared)[name]
    where = "" if used == line else f" in line {used}"
    if not added:
        return f"Line {line}: `{name}` has no value before it is read{where}: set it first."
    begin = f"{kind} {name}{sizes} = {'{}' if sizes else _ZEROS.get(kind, '0')};"
    return f"Line {line}: `{name}` has no value before it is added to{where}: `{begin}`."


def _compares(text: str, line: str, item: Diagnostic) -> str:
    if not (found := _ASSIGNED.search(line)):
        return f"Line {item.line}: `=` sets and does not compare: `==`."
    name, value = found[1], found[2].strip()
    return f"Line {item.line}: `{name} = {value}` sets `{name}` and compares nothing: `{name} == {value}`."


def _never_below(text: str, line: str, item: Diagnostic) -> str:
    found = _UNSIGNED.search(line)
    if "threadIdx" in line or "blockIdx" in line:  # which says too much, and no more
        return ""
    if found and re.search(
        rf"(?<!\w){re.escape(found[1])}\s*<[^<]", line[found.end() :]
    ):  # what is below 0 is not less
        return ""
    always = {">=": "always", "<": "never"}
    what = (
        f"`{found[1]} {found[2]} 0` is {always[found[2]]} true" if found else "the comparison tells nothing"
    )
    return f"Line {item.line}: {what}, since an unsigned number is not below 0: use an int."


def _no_effect(text: str, line: str, item: Diagnostic) -> str:
    what = line.strip()
    if re.fullmatch(r"\w+;", what):  # as who wants no warning of what is not used writes
        return ""
    if head := _FOR.search(line):
        step = head["step"].strip()
        if "," in head["condition"]:
            return (
                f"Line {item.line}: of conditions with a comma in between only the last counts: write `&&`."
            )
        assigned = _NO_STEP.sub(r"\1 \2= ", step)
        mend = f": `{assigned}`" if assigned != step else ""
        return f"Line {item.line}: the step `{step}` of the loop changes nothing{mend}."
    if "==" in what:
        return f"Line {item.line}: `{what}` compares and sets nothing: `=`."
    return f"Line {item.line}: `{what}` computes a value that nothing keeps: assign it, with `=` or `+=`."


def _copied(text: str, line: str, item: Diagnostic) -> str:
    """A parameter that a function sets, and whose caller sees nothing of it."""
    found = _PARAMETER.search(item.message)
    name = found[1] if found else ""
    kind = re.search(rf"[(,]\s*([\w ]+?)\s+{name}\s*[,)]", line)
    if kind is None or "__global__" in line:
        return ""
    return _of_copy(item.line, kind[1], name)


def _of_copy(line: int, kind: str, name: str) -> str:
    return (
        f"Line {line}: `{name}` is a copy, and what is stored to it is lost when the function ends: return it, or "
        f"take a reference, `{kind}& {name}`."
    )


_WARNINGS: dict[str, Callable[[str, str, Diagnostic], str]] = {
    "is used before its value is set": _unset,
    'use of "=" where "==" may have been intended': _compares,
    "pointless comparison of unsigned integer with zero": _never_below,
    "expression has no effect": _no_effect,
    "was set but never used": _copied,
}
"""Of NVRTC's warnings those that often are the mistake."""


def _sums(text: str) -> Iterator[_Said]:
    """Variables without a value that are added to, before anything else is done with them: in a loop the compiler does
    not warn of that."""
    for declared in _DECLARED.finditer(text):
        for name in _names(declared):
            use = re.compile(rf"(?<![.\w])(?<!->){name}\b").search(text, declared.end())
            added = bool(use and _ADDED.match(text, use.end()))
            if use and (added or _of_itself(text, use, name)):
                line, used = (line_at(text, at) for at in (declared.start(2), use.start()))
                yield line, _no_value(text, declared, name, used, added)


def _of_itself(text: str, use: re.Match[str], name: str) -> bool:
    """Whether a variable is set by what it was: `most = fmaxf(most, x)`."""
    found = _SET.match(text, use.end())
    return bool(found and "?" not in found[1] and re.search(rf"(?<![.\w&]){name}\b", found[1]))


def _names(declared: re.Match[str]) -> dict[str, str]:
    """The variables of a declaration, with their dimensions."""
    return dict(re.findall(r"(\w+)((?:\[[^\[\]]*\])*)\s*(?:,|$)", declared[2]))


def _steps(text: str) -> Iterator[_Said]:
    """Loops whose step sets their index to what never changes."""
    for found in _FOR_STEP.finditer(text):
        name, value = found[1], found[2].strip()
        names = re.findall(r"(?<!\.)\b[A-Za-z_]\w*", value)
        if name not in names and all(_sets(text, each) <= 1 for each in names):
            line, step = line_at(text, found.start()), f"`{name} = {value}`"
            yield (
                line,
                f"Line {line}: the step {step} sets `{name}` to the same each time: `{name} += {value}`.",
            )


def _stays(text: str) -> Iterator[_Said]:
    """Loops that never end, since their step leaves the index where it is, at once or from 0 on."""
    for found in _FOR_ALL.finditer(text):
        if not _LEFT.search(found["behind"]) and (why := _never_ends(text, found)):
            line = line_at(text, found.start())
            yield line, f"Line {line}: {why}"


def _never_ends(text: str, loop: re.Match[str]) -> str:
    """Why a `for` does not come to its end; "" where that is not to be seen."""
    start, condition, step = (loop[part].strip() for part in ("start", "condition", "step"))
    compared = re.match(r"(\w+)\s*[<>]", condition)
    if not step and compared and _sets(text, compared[1]) <= 1:
        return f"the loop has no step, so `{condition}` stays true: `{compared[1]} += …`."
    if adds := _ADDS_0.match(step):
        return f"the step `{step}` adds 0, so `{adds[1]}` stays where it is, and the loop never ends."
    if small := _SMALL_INDEX.match(start):
        return _never_reached(text, small, condition)
    divided, multiplied = _DIVIDED.match(step), _MULTIPLIED.match(step)
    if divided and re.fullmatch(rf"{divided[1]}\s*(?:>=\s*0|>\s*-\s*1)", condition):
        return f"`{step}` ends at 0 and stays there, where `{condition}` is still true: `{divided[1]} > 0`."
    if multiplied and re.search(rf"\b{multiplied[1]}\s*=\s*0$", start):
        return (
            f"`{multiplied[1]}` begins with 0, which `{step}` leaves 0, so the loop never ends: begin with 1."
        )
    return ""


def _never_reached(text: str, index: re.Match[str], condition: str) -> str:
    """Why an index never comes to a bound that its type does not hold; "" where it does, or the bound is not known."""
    name, kind = index["name"], " ".join(index["kind"].split())
    compared = re.fullmatch(rf"{name}\s*(<=?)\s*(.+)", condition)
    bound = constant(text, compared[2]) if compared else None
    most = (1 << (8 if "char" in kind or "8" in kind else 16) - (not kind.startswith("u"))) - 1
    if compared is None or bound is None or bound + (compared[1] == "<=") <= most:
        return ""
    return f"`{name}`, of type {kind}, holds no more than {most:,}, so `{condition}` is always true: make it an int."


def _waits(text: str) -> Iterator[_Said]:
    """Loops that end before what looks like their body."""
    for found in _EMPTY_WHILE.finditer(text):
        line = line_at(text, found.end())
        yield line, f"Line {line}: the `;` behind `while (…)` ends the loop in front of its body: delete it."


def _stands(text: str) -> Iterator[_Said]:
    """Loops that go on from an index, and whose body has that index in place of their own variable."""
    for found in _GOES_ON.finditer(text):
        name, start, body = found["name"], found["start"], found["body"]
        index = re.search(rf"\[[^\[\]]*\b{start}\b[^\[\]]*\]", body)
        if index and not re.search(rf"\b{name}\b", body) and not _sets(body, start):
            line, used = (line_at(text, at) for at in (found.start(), found.start("body") + index.start()))
            yield (
                line,
                f"Line {line}: the loop goes on by `{name}`, and its body does the same each time: `{name}` in place "
                f"of `{start}` in line {used}.",
            )


def _kept(text: str) -> Iterator[_Said]:
    """Loops that do nothing but set one variable, each time anew."""
    for found in _ONLY_SETS.finditer(text):
        name, line = found["name"], line_at(text, found.start("name"))
        if bool(found["opened"]) == bool(found["closed"]) and not re.search(rf"\b{name}\b", found["value"]):
            yield (
                line,
                f"Line {line}: each step of the loop sets `{name}` anew, and the last one stays: `{name} += …`.",
            )


def _every_step(text: str) -> Iterator[_Said]:
    """Trees of neighbours in which those that a thread adds are threads' own as well."""
    for found in _EVERY_STEP.finditer(text):
        line, name, step = line_at(text, found.start("thread")), found["thread"], found["step"]
        yield (
            line,
            f"Line {line}: with `{name} % {step}` a thread adds, and so does the one `{step}` further on, whose "
            f"element it takes: `{name} % (2 * {step})`.",
        )


def _all_steps(text: str) -> Iterator[_Said]:
    """Trees of halves in which those that a thread adds are threads at work as well."""
    for found in _ALL_STEPS.finditer(text):
        line, name, step = line_at(text, found.start("line")), found["thread"], found["step"]
        if re.search(rf"\b{step}\s*(?:/=\s*2|>>=\s*1|=\s*{step}\s*(?:/\s*2|>>\s*1))", text):
            yield (
                line,
                f"Line {line}: thread `{name}` adds the element of thread `{name} + {step}`, which may add in the same "
                f"step: only those add for which `{name} < {step}`.",
            )


def _one_side(text: str) -> Iterator[_Said]:
    """A thread's row compared with its column: half of the elements, and a diagonal, are then nobody's."""
    names = {axis: name for name, axis in _SIDE.findall(text)}
    if len(names) == 2:
        one, other = (rf"\b{name}\b" for name in names.values())
        for found in re.finditer(
            rf"{one}\s*[<>]=?\s*{other}(?!\s*[-+*/%])|{other}\s*[<>]=?\s*{one}(?!\s*[-+*/%])", text
        ):
            line = line_at(text, found.start())
            yield (
                line,
                f"Line {line}: `{found[0]}` compares a row with a column. Nothing is exchanged in place where `out` is "
                "an array of its own: every thread moves its element, and rows and columns may differ in number.",
            )


def _without_lanes(text: str) -> Iterator[_Said]:
    """Threads without an element leave before shuffles that read from them, or go round these."""
    shuffles = [each[1] for each in FUNCTION.finditer(text) if "__shfl" in _body(text, each.end())]
    shuffle = re.compile(rf"\b(?:__shfl_\w*sync|{'|'.join(shuffles) or '__shfl_sync'})\s*\(")
    begins = int_sizes(text)[1]
    for found in (*_LEAVES.finditer(text, begins), *_PASSES.finditer(text, begins)):
        passes = found.re is _PASSES
        of_thread = re.search(rf"\b{re.escape(found['index'])}\s*=[^;/>]*\bthreadIdx\.x\b[^;/>]*;", text)
        behind = found["body"] if passes else _body(text, found.end())
        if (
            of_thread
            and {found["size"], None if passes else found["last"]} & {*int_sizes(text)[0]}
            and shuffle.search(behind)
        ):
            line, what = line_at(text, found.start()), "go round" if passes else "return before"
            yield (
                line,
                f"Line {line}: threads without an element {what} the shuffle, which reads from them: let all threads "
                "come to it, those with 0 for a sum, and put the condition on the load alone.",
            )


def _body(text: str, start: int) -> str:
    """What is left of a function."""
    return text[start : text.find("\n}", start)]


def _unbraced(text: str) -> Iterator[_Said]:
    """Lines that stand as far in as the one that a condition, or a loop, without braces is for."""
    for found in _UNBRACED.finditer(text):
        line = line_at(text, found.start(2))
        last = line + 1 + found["more"].count("\n")
        yield (
            line,
            f"Line {line}: without braces the `{found[2]}` is for line {line + 1} alone: put {{ }} around lines "
            f"{line + 1} to {last}.",
        )


def _macros(text: str) -> Iterator[_Said]:
    """Macros without parentheses, of which an operator beside them takes a part alone."""
    for found in islice(_MACRO.finditer(text), _MACROS):
        name, body = found["name"], found["body"]
        bare = _outside(body)
        operators = set(re.findall(r"(?<=[\w)\]])\s*([-+*/%])", bare))
        takes = r"\([^()]*\)" if found["taken"] is not None else ""
        used = rf"(?P<front>[-*/%])?\s*\b{name}\b{takes}(?:\s*(?P<behind>[*/%]))?"
        for use in re.finditer(used, text[found.end() :]):
            weak = operators & {"+", "-"} and (use["front"] or use["behind"])
            if weak or (operators and use["front"] in ("/", "%")):
                line, at = line_at(text, found.start("name")), line_at(text, found.end() + use.start())
                sign = use["front"] or use["behind"]
                head = name if found["taken"] is None else f"{name}({found['taken']})"
                mend = f"`#define {head} ({body})`"
                what = f"the `{sign}` beside `{name}` in line {at} takes a part of it alone"
                yield line, f"Line {line}: a macro is put in as text, and {what}: {mend}."
                break


def _outside(text: str) -> str:
    """What stands in no parentheses."""
    while (less := re.sub(r"\([^()]*\)", "0", text)) != text:
        text = less
    return text


def _lost(text: str) -> Iterator[_Said]:
    """Functions that set a parameter of their own, and do nothing else."""
    for function in _VOID.finditer(text):
        for taken in function["taken"].split(","):
            kind, _, name = taken.strip().rpartition(" ")
            if kind and not _KEEPS.search(function["body"]) and _sets(function["body"], name):
                line = line_at(text, function.start("taken"))
                yield line, _of_copy(line, kind.strip(), name)


def _not_rounded_up(text: str) -> Iterator[_Said]:
    """Quotients rounded up, without the parentheses that make them quotients."""
    for found in _NOT_ROUNDED_UP.finditer(text):
        by, less = found["by"] or found["number"], found["less"]
        if less and int(less) != int(by) - 1:
            continue
        line, size, quotient = line_at(text, found.start()), found["size"], f"{less or 1} / {by}"
        rounded_up = f"({size} + {less or f'{by} - 1'}) / {by}"
        yield line, f"Line {line}: `/` is done before `+`, and `{quotient}` is 0: `{rounded_up}`."


def _first_bits(text: str) -> Iterator[_Said]:
    """The number of a bit, from 1 on, as that of a lane."""
    lanes = "|".join([r"lane\w*", r"threadIdx\.x", *_LANES.findall(text)])
    kept = re.findall(rf"\b(\w+)\s*=\s*{_FIRST_BIT}\s*;", text)
    bit = "|".join([_FIRST_BIT, *(rf"\b{name}\b" for name, _ in kept)])
    one_of = rf"(?P<all>{bit})(?!\s*[-\w])"
    compared = rf"(?<![\w.])(?:{lanes})\s*[!=]=\s*{one_of}"
    turned = rf"(?P<all>{bit})\s*[!=]=\s*(?:{lanes})(?![\w.])"
    shuffled = rf"\b__shfl_sync\s*\([^(),]{{1,60}},[^,;]{{1,60}},\s*{one_of}\s*[,)]"
    for pattern in (compared, turned, shuffled):
        for found in re.finditer(pattern, text):
            line, said = line_at(text, found.start("all")), f"`{found['all']} - 1`"
            yield line, f"Line {line}: __ffs counts bits from 1, and lanes are counted from 0: {said}."


def _top_bytes(text: str) -> Iterator[_Said]:
    """The top byte of an int as an index: it has the int's sign."""
    for found in _TOP_BYTE.finditer(text):
        word, part, kept = found.group("word", "part", "kept")
        kind = r"int[234]" if part and part[0] == "." else r"int"
        declared = re.search(rf"(?<!unsigned )\b{kind}\s*\*?\s*(?:const\s|__restrict__\s)?\s*{word}\b", text)
        if declared and (kept is None or re.search(rf"\[\s*{kept}\s*\]", text[found.end() :])):
            line, top = line_at(text, found.start("all")), found["all"]
            mend = f"`({top}) & 0xff`, or unsigned in place of int"
            yield line, f"Line {line}: `{top}` keeps the sign, so that a byte from 128 on is below 0: {mend}."


def _swizzles(text: str) -> Iterator[_Said]:
    """Columns of a square tile exchanged by their row, where that leads out of it."""
    tiles = shared_arrays(text)
    for found in _SWIZZLED.finditer(text):
        for rows, side in (tile.extents for tile in tiles.get(found["array"], ()) if len(tile.extents) == 2):
            if side is not None and rows == side and side & (side - 1):
                line, both = line_at(text, found.start("all")), 1 << side.bit_length()
                yield (
                    line,
                    f"Line {line}: `{found['all']}` goes up to {both - 1} where the two go up to {side - 1}: give "
                    f"`{found['array']}` a side that is a power of two, {both // 2} or {both}, or pad its rows in "
                    "place of that.",
                )


def _narrow(text: str) -> Iterator[_Said]:
    """Indices in types that do not hold every whole number up to an int's."""
    for found in _NARROW.finditer(text):
        line, kind, name = line_at(text, found.start()), found["kind"], found["name"]
        most = f"holds all whole numbers up to {_WHOLE[kind]} only"
        yield line, f"Line {line}: `{name}` is a {kind}, which {most}: make it an int."


_EXACTLY = (
    "Divide integers, which is cheap where the divisor is a constexpr, or check that {what} is right for the whole "
    "range."
)


def _by_floats(text: str) -> Iterator[_Said]:
    """Integers that are made of an index, times a float's reciprocal."""
    inverse = "|".join([_INVERSE, *(rf"\b{name}\b" for name in _INVERSES.findall(text))])
    index = "|".join([r"\b(?:block|thread)Idx\.", *(rf"\b{name}\b" for name in {*_OF_INT.findall(text)})])
    for found in _TO_INT.finditer(text):
        if re.search(inverse, found["value"]) and re.search(index, _DIVISOR.sub("", found["value"])):
            line = line_at(text, found.start("value"))
            yield (
                line,
                f"Line {line}: a quotient of integers is made of floats, and rounded: where it is a whole number, or "
                "nearly one, it may come out 1 too small or too large, and from 16,777,216 on it is off by more. "
                f"{_EXACTLY.format(what='the quotient')}",
            )


def _by_high_halves(text: str) -> Iterator[_Said]:
    """Quotients as the upper half of a product, by a reciprocal of so many bits."""
    for found in _HIGH.finditer(text):
        line = line_at(text, found.start())
        yield (
            line,
            f"Line {line}: `{found[1]}` divides by means of a reciprocal that is rounded, and the index multiplies "
            "what that is off: beyond some index the quotient is 1 too large, or too small. "
            f"{_EXACTLY.format(what='the magic number')}",
        )


def _late(text: str) -> Iterator[_Said]:
    """Products that are cast when they have been formed."""
    for found in _LATE.finditer(text):
        line, inner = line_at(text, found.start()), found["inner"].strip()
        yield (
            line,
            f"Line {line}: the cast comes too late, `{inner}` has been formed in int: `{_in_size_t(inner)}`.",
        )


def _products(text: str) -> Iterator[_Said]:
    """Rows times their length in ints."""
    for size in int_sizes(text)[0]:
        product = rf"[^;()\[\]=]{{0,60}}\b(?P<row>[A-Za-z_]\w*)\s*\*\s*{size}\b[^;()\[\]=]{{0,60}}"
        for found in re.finditer(rf"(?:\bint\s+\w+\s*=|\[|[<>]=?)\s*(?P<all>{product})\s*[;\])]", text):
            wide = rf"\b{_WIDE}\s+{found['row']}\b"
            if not re.search(wide, text) and "size_t" not in found["all"]:
                line, formed = line_at(text, found.start("all")), found["all"].strip()
                mend = f"`{_in_size_t(formed)}`, and a size_t to keep it in"
                yield line, f"Line {line}: `{formed}` is formed in int: {mend}."


def _over_grid(text: str) -> Iterator[_Said]:
    """Ints that go on by the threads of a grid: behind the last element, they may be more than an int counts."""
    for found in _OVER_GRID.finditer(text):
        line, name = line_at(text, found.start("name")), found["name"]
        step = f"`{name} += {found['step'].strip()}`"
        yield (
            line,
            f"Line {line}: `{name}` is an int, and {step} goes beyond what an int counts: make it a size_t.",
        )


def _in_size_t(product: str) -> str:
    return re.sub(r"\b([A-Za-z_]\w*)\s*\*", r"size_t(\1) *", product, count=1)


def _sets(text: str, name: str) -> int:
    """How often a variable is given a value."""
    return len(re.findall(rf"\b{name}\b(?:{_ADDED.pattern}|\s*=(?!=))|(?:\+\+|--)\s*{name}\b", text))
