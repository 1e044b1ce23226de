"""What threads of a block do for each other: trees of sums, shuffles, and lanes by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.workbook.cuda_source import FUNCTION, constant, int_sizes, line_at
from grader.workbook.suspects.text import Said, sets

_EVERY_STEP = re.compile(
    r"\bfor\s*\([\w ]{0,30}\b(?P<step>\w+)\s*=\s*1\s*;[^;{}]{1,60};\s*(?P=step)\s*(?:\*=\s*2|<<=\s*1|\+=\s*(?P=step))"
    r"[^%]{0,200}?(?P<thread>\b[\w.]+)\s*%\s*(?P=step)\s*==\s*0[^%]{0,200}?"
    r"\+=\s*\w+\[\s*(?P=thread)\s*\+\s*(?P=step)\s*\]"
)
_ALL_STEPS = re.compile(
    r"\b(?:for|while)\s*\((?P<head>(?:[^(){}]|\([^()]*\)){1,150}?)\)\s*\{?\s*(?:if\s*\(\s*[\w.]+\s*\+\s*\w+\s*<\s*[\w.]+\s*\)\s*\{?\s*)?"
    r"(?P<line>\w+)\[\s*(?P<thread>[\w.]+)\s*\]\s*(?:\+=|=(?!=)[^;=]{1,60}\+)\s*\w+\[\s*(?P=thread)\s*\+\s*(?P<step>\w+)\s*\]\s*;"
)
_LEAVES = re.compile(
    r"\bif\s*\(\s*(?P<index>[\w.]+)\s*(?:>=\s*(?P<size>\w+)|>\s*(?P<last>\w+)\s*-\s*1)\s*\)\s*\{?\s*return\s*;"
)
_PASSES = re.compile(
    r"\bif\s*\(\s*(?P<index>[\w.]+)\s*<\s*(?P<size>\w+)\s*\)\s*\{(?P<body>(?:[^{}]|\{[^{}]{0,500}\}){1,1000})\}"
)
_FIRST_BIT = r"(?P<bit>__ffs(?:ll)?\s*\((?:[^()]|\([^()]*\)){1,100}\))"
_VOTE = re.compile(
    r"\b(?P<vote>__(?:ballot|any|all)_sync)\s*\(\s*(?P<mask>[^,;]{1,60}),\s*(?P<one>[^,;=()]{1,60}?)\s*==\s*"
    r"(?P<other>[^,;=()]{1,60}?)\s*\)"
)
_LANES = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*(?:%|&)")


def every_step(text: str) -> Iterator[Said]:
    """Trees of neighbours in which those that a thread adds are threads' own as well."""
    for found in _EVERY_STEP.finditer(text):
        line, name, step = line_at(text, found.start("thread")), found["thread"], found["step"]
        yield (
            line,
            f"Line {line}: with `{name} % {step}` a thread adds, and so does the one `{step}` further on, whose "
            f"element it takes: `{name} % (2 * {step})`.",
        )


def all_steps(text: str) -> Iterator[Said]:
    """Trees of halves in which those that a thread adds are threads at work as well."""
    for found in _ALL_STEPS.finditer(text):
        line, name, step = line_at(text, found.start("line")), found["thread"], found["step"]
        halves = re.search(rf"\b{step}\s*(?:/=\s*2|>>=\s*1|=\s*{step}\s*(?:/\s*2|>>\s*1))", text)
        below = rf"(?<![\w.]){re.escape(name)}\s*<\s*{step}\b|\b{step}\s*>\s*{re.escape(name)}(?![\w.])"
        if halves and not re.search(below, found["head"]):
            yield (
                line,
                f"Line {line}: thread `{name}` adds the element of thread `{name} + {step}`, which may add in the same "
                f"step: only those add for which `{name} < {step}`.",
            )


def without_lanes(text: str) -> Iterator[Said]:
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


def masks(text: str) -> Iterator[Said]:
    """Lanes by a mask of one bit, which is how many of them there are, in place of the bits below it."""
    threads = "|".join([r"threadIdx\.x", *re.findall(r"\b(\w+)\s*=\s*threadIdx\.x\s*;", text)])
    masked = rf"\b(?P<name>\w+)\s*=\s*(?:{threads})\s*(?P<all>&\s*(?P<mask>\w+))\s*[;,]"
    for found in re.finditer(masked, text):
        name, mask = found["name"], constant(text, found["mask"]) or 0
        counts = rf"\[[^\[\]]*\b{name}\b|\b{name}\s*(?:<|\+|==\s*[1-9])"
        if mask > 2 and mask & (mask - 1) == 0 and ("lane" in name.lower() or re.search(counts, text)):
            line, below = line_at(text, found.start("all")), f"{mask - 1}"
            if not found["mask"].isdecimal():
                below = f"({found['mask']} - 1)"
            yield (
                line,
                f"Line {line}: `{found['all']}` keeps one bit alone, so `{name}` is 0 or {mask}: `& {below}`, or "
                f"`% {found['mask']}`.",
            )


def own_votes(text: str) -> Iterator[Said]:
    """Votes on whether a lane has what it has itself."""
    for found in _VOTE.finditer(text):
        one, other = (" ".join(found[side].split()) for side in ("one", "other"))
        same = one == other or any(
            name.isidentifier()
            and sets(text, name) == 1
            and re.search(rf"\b{name}\s*=\s*{re.escape(value)}\s*;", text)
            for name, value in ((one, other), (other, one))
        )
        if same:
            line, name = (
                line_at(text, found.start()),
                min(one, other, key=lambda each: not each.isidentifier()),
            )
            yield (
                line,
                f"Line {line}: in `{found['vote']}` each lane compares `{one}` with `{other}` of its own, which is "
                f"always true: `__match_any_sync({found['mask'].strip()}, {name})` gives the lanes that have the same.",
            )


def first_bits(text: str) -> Iterator[Said]:
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
