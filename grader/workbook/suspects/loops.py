"""Loops: steps that lead nowhere, loops that do not end, and bodies that do the same each time."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from grader.workbook.cuda_source import FUNCTION, KERNEL, constant, int_sizes, line_at, numbers
from grader.workbook.edit import Change, lines_of
from grader.workbook.suspects.text import Said, looked_at, sets

_LOOPS = 100  # of a file, that are looked at: bounds a stranger's work
_STORES = 8  # of a loop, and names of an index, that are followed: as well

_ASSIGNED = re.compile(r"(?P<name>\w+)\s*=(?!=)\s*(?P<value>[^;{}\[\]]{1,100})")
_ASSIGNS = re.compile(rf"(?<![\w.&*]){_ASSIGNED.pattern};")
_LAST_OF_GROUP = re.compile(
    r"(?P<name>\w+)\s*\+\s*(?P<offset>(?:[\w.]+|\([\w\s+-]+\))(?:\s*\*\s*(?:[\w.]+|\([\w\s+-]+\)))*)"
    r"\s*(?P<sign><=?)\s*(?P<bound>\w+)"
)
"""A condition that asks for the last of several that are taken at a time."""
_EMPTY_WHILE = re.compile(
    r"^([ \t]*)while[ \t]*\((?:[^()]|\([^()]*\)){1,300}\)[ \t]*;(?=[ \t]*(?:\n[ \t]*)?\{|[ \t]*\n\1[ \t]+\S)",
    re.MULTILINE,
)
_GOES_ON = re.compile(
    r"\bfor\s*\(\s*[\w ]{0,30}\b(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_]\w*)\s*;\s*(?P=name)\s*<[^;{}]{1,60};"
    r"\s*(?P=name)\s*\+=[^;{}]{1,60}\)\s*(?P<body>\{(?:[^{}]|\{[^{}]{0,1000}\}){1,1000}\}|[^;{}]{1,300};)"
)
_ONLY_SETS = re.compile(
    r"\bfor\s*\([^;{}]{0,200};[^;{}]{0,200};(?:[^;(){}]|\([^;(){}]*\)){0,100}\)\s*(?P<opened>\{)?\s*"
    r"(?P<name>[A-Za-z_]\w*)\s*=(?!=)(?P<value>[^;{}]{0,200}\[[^;{}]{0,200});\s*(?P<closed>\})?"
)
_FOR_ALL = re.compile(
    r"\bfor\s*\((?P<start>(?:[^;()]|\([^;()]*\)){0,100});(?P<condition>[^;{}]{1,100});"
    r"(?P<step>(?:[^;(){}]|\([^;(){}]*\)){0,100})\)(?!\s*;)"
)
_WHILE = re.compile(r"\bwhile\s*\((?P<condition>[^(){};]{1,100})\)(?!\s*;)")
_DO = re.compile(r"\bdo\s*(?=\{)")
_UNTIL = re.compile(r"\s*while\s*\((?P<condition>[^(){};]{1,100})\)\s*;")
_OF_ITSELF = re.compile(r"^(\w+)\s*=\s*\1\s*([*/]|<<|>>)\s*(?=\w+$)")
_BUILT_IN = re.compile(r"\b(?:(?:block|thread)Idx|(?:block|grid)Dim)\.[xyz]\b")
_FROM_MEMORY = re.compile(r"[(\[.]|->|(?:^|[<>=!&|,])\s*[*&]\s*\w")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b.*", re.MULTILINE)
_LEFT = re.compile(r"\b(?:break|return|goto|(?:__)?trap|asm)\b")
_SWAPS = re.compile(
    r"\bwhile\s*\(\s*atomicCAS\(\s*(?P<at>[^,;]{1,80}),\s*(?P<old>[a-z_]\w*)\s*,\s*(?P<new>[^;]{1,100}?)\)\s*!=\s*"
    r"(?P=old)\s*\)"
)
_CHANGES = re.compile(
    r"[-+*/%&|^]=|<<=|>>=|\+\+|--|(?:^|[;{}])\s*\w+\s*(?:\[[^\[\]]*\]\s*)*=(?!=)"
    r"|\b(?!(?:if|min|max|int|unsigned|float|size_t)\s*\()\w+\s*\(|\b(?:break|return|goto|for|while|do)\b"
)
"""What differs from time to time, or leaves a loop, or is a loop of its own."""
_COUNTED = re.compile(r"(?:\w+\s+)*(?P<name>\w+)\s*=\s*(?P<value>[^,;]+)$")
_OF_ONE_THREAD = re.compile(
    r"(?:\([\w ]+\)\s*|\w+\s*(?=\())?(?:\(?blockIdx\.(?P<axis>[xy])\)?\s*\*\s*[\w.]+\s*\+\s*threadIdx\.(?P=axis)"
    r"|threadIdx\.(?P<own>[xy])\s*\+\s*\(?blockIdx\.(?P=own)\)?\s*\*\s*[\w.]+)"
)
"""A thread's number in the grid, of threads that have one element each."""
_STORED = re.compile(r"\b(?P<array>\w+)\s*\[(?P<index>[^;\[\]]*)\]\s*=(?!=)")
_ADDED_UP = re.compile(r"(?:\+=|\batomicAdd\()[^;]{0,200}\w\s*\[(?P<index>[^;\[\]]*)\]")
_KEPT = re.compile(r"\breturn\b|\)\s*$|\belse\s*$")
"""What keeps threads from what stands behind it, in the text before that."""
_INPUT = re.compile(r"\bconst\s+[\w ]{1,40}\*\s*(?:const\s+|__restrict__\s+)*(\w+)\s*[,)]")
_NUMBERED = re.compile(r"\b(?:thread|block)Idx\b|\b__\w+\s*\(|\basm\b")
"""A thread's number, or a block's, or what may give it."""
_ADDS_TO = re.compile(r"(?P<atomic>\batomicAdd\s*\(\s*&?\s*)?(?P<to>[A-Za-z_]\w*\s*\[?)(?(atomic)|\s*\+=)")
_SHARES = re.compile(r"\batomicAdd\s*\(|\b__shared__\b")
_LEFT_AT_END = re.compile(r"[;}]\s*(?P<leave>return|break)\s*;\s*\}\s*$")
_NO_START = re.compile(r"\bfor\s*\(\s*;\s*(?P<name>\w+)\s*<")
_STEP_BY = re.compile(r"\w+\s*[-+]=\s*(?P<by>[^;]{1,100})$")
_ADDS_0 = re.compile(r"(\w+)\s*[-+]=\s*(?:0\s*$|0\s*\*|[^/?]{1,80}\*\s*0\s*$)")
_DIVIDED = re.compile(r"(\w+)\s*(?:/=|>>=)\s*\w+\s*$")
_MULTIPLIED = re.compile(r"(\w+)\s*(?:\*=|<<=)\s*\w+\s*$")
_SMALL_INDEX = re.compile(
    r"(?P<kind>(?:(?:un)?signed\s+)?(?:char|short)|u?int(?:8|16)_t)(?:\s+int)?\s+(?P<name>\w+)\s*="
)


_CHOOSES = re.compile(r"\bif\s*\(([^;{}]*(?:[!=]=|!|%|(?<!&)&(?!&)|Idx\.[xyz]\s*[<>]=?\s*\d)[^;{}]*)\)")
"""What is asked that some threads alone are true of, and not only those before an end."""
_CALLS = re.compile(
    r"(?<![\w.])(?!(?:min|max|int|unsigned|long|size_t|u?int(?:32|64)_t|sizeof)\b)[A-Za-z_]\w*\s*\("
    r"|\basm\b|\b\w*Idx\b(?!\.)"
)
"""What may give a thread's number, or a block's, and is not seen to."""

_AS_ONE_WORD = re.compile(
    r"\breinterpret_cast\b|\(\s*(?:const\s+)?\w+\s*\*\s*\)|\b(?:float|double|u?int|u?char|u?short)[248]\b"
)
"""By which several elements are taken at a time."""

_ROUND_UP = "Round up, `({size} + {by} - 1) / {by}`, and let no thread take an element from `{size}` on."
_BY_ALL = (
    "Let each thread of the grid, by its number `blockIdx.x * blockDim.x + threadIdx.x`, take `({size} - 1) / all + 1` "
    "elements, where `all` is `gridDim.x * blockDim.x`, and none from `{size}` on."
)
_ALL_BY_EACH = (
    "thread, so that each thread stores all of them. Leave it out, and let a thread store the element of its own "
    "index."
)
_ALL_BY_BLOCK = (
    "block, so that every block stores the same ones. Share them among the threads of all blocks: "
    "`blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}` in place of `threadIdx.{axis}`, and the number of all "
    "threads, `gridDim.{axis} * blockDim.{axis}`, in place of a block's."
)


def same_steps(text: str) -> Iterator[Said]:
    """Loops whose step sets their index to what never changes."""
    for at, name, value in _assigned_steps(text):
        names, by = re.findall(r"(?<!\.)\b[A-Za-z_]\w*", value), value.strip()
        if name not in names and all(sets(text, each) <= 1 for each in names):
            line = line_at(text, at)
            yield (
                line,
                f"Line {line}: the step `{name} = {by}` sets `{name}` to the same each time: "
                f"`{name} += {by.lstrip('+ ')}`.",
            )


def _assigned_steps(text: str) -> Iterator[tuple[int, str, str]]:
    """The steps of loops that set a number to one that is not from memory, in their heads or, of a number that their
    conditions have, in their bodies: where, its name, and to what."""
    for loop in islice(loops_of(text), _LOOPS):
        if loop.step:
            found = [(loop.at, _ASSIGNED.fullmatch(loop.step))]
        else:
            names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", loop.condition))
            found = [
                (loop.inside + step.start(), step)
                for step in _ASSIGNS.finditer(loop.body)
                if step["name"] in names and sets(loop.body, step["name"]) == 1
            ]
        for at, step in found:
            if step and not _CALLS.search(step["value"]):
                yield at, step["name"], step["value"]


def endless(text: str) -> Iterator[Said]:
    """Loops that never end, since their step leaves the index where it is, at once or from 0 on, or they have none."""
    for loop in islice(loops_of(text), _LOOPS):
        if not _LEFT.search(loop.body) and (why := _never_ends(text, loop) or _unchanged(text, loop)):
            line = line_at(text, loop.at)
            yield line, f"Line {line}: {why}"


def skipped_step(text: str) -> Iterator[Said]:
    """Loops with a step in their body that `continue` goes past, where nothing before it differs from time to time."""
    for loop in islice(loops_of(text), _LOOPS):
        before, goes_on, behind = loop.body.partition("continue;")
        if loop.step or not goes_on or _CHANGES.search(before):
            continue
        for name in dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", loop.condition)):
            if sets(behind, name) == 1 and (step := _step_of(name).search(behind)):
                line = line_at(text, text.index(loop.body) + len(before))
                yield (
                    line,
                    f"Line {line}: `continue` goes past `{' '.join(step[0].split())}`, so the loop does the same again "
                    "and never ends: `break` where nothing is left to do, else a `for` loop, whose step `continue` "
                    "does as well.",
                )
                break


def ended_early(text: str) -> Iterator[Said]:
    """Loops that end before what looks like their body."""
    for found in _EMPTY_WHILE.finditer(text):
        line = line_at(text, found.end())
        yield line, f"Line {line}: the `;` behind `while (…)` ends the loop in front of its body: delete it."
    for loop in islice(loops_of(text), _LOOPS):
        left = _LEFT_AT_END.search(loop.body)
        if left and not re.search(r"\bcontinue\b", loop.body):
            line, what = line_at(text, loop.inside + left.start("leave")), left["leave"]
            yield (
                line,
                f"Line {line}: `{what};` ends the loop in its first turn: delete it, or put it behind the loop.",
            )


def other_index(text: str) -> Iterator[Said]:
    """Loops that go on from an index, and whose body has that index in place of their own variable."""
    for found in _GOES_ON.finditer(text):
        name, start, body = found["name"], found["start"], found["body"]
        index = re.search(rf"\[[^\[\]]*\b{start}\b[^\[\]]*\]", body)
        if index and not re.search(rf"\b{name}\b", body) and not sets(body, start):
            line, used = (line_at(text, at) for at in (found.start(), found.start("body") + index.start()))
            yield (
                line,
                f"Line {line}: the loop goes on by `{name}`, and its body does the same each time: `{name}` in place "
                f"of `{start}` in line {used}.",
            )


def set_anew(text: str) -> Iterator[Said]:
    """Loops that do nothing but set one variable, each time anew."""
    for found in _ONLY_SETS.finditer(text):
        name, line = found["name"], line_at(text, found.start("name"))
        if bool(found["opened"]) == bool(found["closed"]) and not re.search(rf"\b{name}\b", found["value"]):
            yield (
                line,
                f"Line {line}: each step of the loop sets `{name}` anew, and the last one stays: `{name} += …`.",
            )


def idle(source: str) -> list[int]:
    """The lines of `for` loops whose bodies have no use of the variable that counts them."""
    text = looked_at(source)
    return [
        line_at(text, loop.at)
        for loop in islice(loops_of(text), _LOOPS)
        if (counted := _COUNTED.match(loop.start)) and not re.search(rf"\b{counted['name']}\b", loop.body)
    ]


@dataclass(frozen=True)
class Turns:
    """What the loops around a line have that takes instructions in each turn."""

    by_thread: bool  # one does not count between constants
    asks: bool  # one asks a condition in its body


def around_line(source: str, line: int) -> Turns | None:
    """What the loops around a line of a text have; None where there is no loop."""
    places = [
        range(row.start, row.start + len(row.text) + 1) for row in lines_of(source) if row.number == line
    ]
    found, known = around(source, [*chain.from_iterable(places)]), numbers(source)
    return Turns(any(_by_thread(loop, known) for loop in found), any(map(_asks, found))) if found else None


def _by_thread(loop: Loop, known: Collection[str]) -> bool:
    """Whether a loop has bounds or a step that are no constants."""
    counted = _COUNTED.match(loop.start)
    bounds = f"{counted['value'] if counted else ''};{loop.condition};{loop.step}"
    return not {*re.findall(r"[A-Za-z_]\w*", bounds)} - {counted["name"] if counted else ""} <= {*known}


def _asks(loop: Loop) -> bool:
    """Whether a loop's body has a condition."""
    return bool(re.search(r"\bif\b|\?", loop.body))


def around(source: str, places: Sequence[int]) -> list[Loop]:
    """The loops in whose heads or bodies one of these places of the source is."""
    every = islice(loops_of(looked_at(source)), _LOOPS)
    ends = ((loop, loop.inside + len(loop.body)) for loop in every)
    return [loop for loop, end in ends if any(min(loop.at, loop.inside) <= at < end for at in places)]


def cut_short(loop: Loop) -> Iterator[tuple[Change, ...]]:
    """The changes that have a loop do nothing, and that have it do its first turn alone."""
    start, end = loop.inside, loop.inside + len(loop.body)
    for first, last in (("{ break; ", " }"), ("{ ", " break; }")):
        yield (start, start, first), (end, end, last)


def each_behind(text: str) -> Iterator[Said]:
    """Loops from a thread's own place in the grid to the end, by fewer than all threads of the grid, that store, or add
    up, elements behind it: those of other threads as well."""
    sizes = "|".join(int_sizes(text)[0])
    for loop in islice(loops_of(text), _LOOPS) if sizes else ():
        ends = re.fullmatch(rf"(\w+)\s*<\s*(?:{sizes})", loop.condition)
        if not ends or not (does := _does_at(text, loop.body, name := ends[1])):
            continue
        steps = [loop.step] if loop.step else [found[0] for found in _step_of(name).finditer(loop.body)]
        by = _by(text, name, steps[0].strip()) if len(steps) == 1 else ""
        own = _last_set(f"{text[: loop.at]}{loop.start};", name)
        place = _OF_ONE_THREAD.fullmatch(_behind_whole(text[: loop.at], own))
        if place and by:
            line, axis = line_at(text, loop.at), place["axis"] or place["own"]
            all_of = "all that are" if by == "1" else f"every `{by}`-th that is"
            yield (
                line,
                f"Line {line}: from its own, `{own}`, each thread {does} {all_of} behind it, and so those of "
                f"other threads as well: step by all threads of the grid, {_by_all(text, name, axis)}.",
            )


def _by_all(text: str, name: str, axis: str) -> str:
    """The step of a counter by all threads of a grid, which leads an int beyond what it counts where one size is all
    that there is."""
    step = f"`{name} += gridDim.{axis} * blockDim.{axis}`"
    far = len(int_sizes(text)[0]) == 1 and re.search(rf"\bint\s+{name}\s*=", text)
    return f"{step}, with `{name}` a size_t" if far else step


def _behind_whole(before: str, start: str) -> str:
    """What a loop begins at, without the whole groups of elements that it begins behind; each name as it was set."""
    made = [_last_set(before, term) or term for term in re.split(r"\s*\+\s*", start)]
    return " + ".join(term for term in made if not (len(made) > 1 and _of_whole(before, term)))


def _of_whole(before: str, term: str) -> bool:
    """Whether a number is that of the elements in whole groups, such as `N / 4 * 4`."""
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", term)[:_STORES]
    return any("/" in each for each in (term, *(_last_set(before, name) for name in names)))


def added_by_each(text: str) -> Iterator[Said]:
    """Loops that add elements of the input, whichever thread it is, and which no thread is kept from: to memory, or
    what is left behind whole groups of elements to a sum that threads share."""
    given = set(_INPUT.findall(text))
    shares = "threadIdx" in text and _SHARES.search(text)
    for kernel in islice(KERNEL.finditer(text), _LOOPS) if given and shares else ():
        begins = kernel.end() - 1
        body = body_of(text, begins)
        for loop in islice(loops_of(body), _LOOPS):
            counted, does, before = _COUNTED.match(loop.start), _ADDS_TO.search(loop.body), body[: loop.at]
            if not counted or not does or before.count("{") - before.count("}") != 1 or _KEPT.search(before):
                continue
            name, start = counted["name"], counted["value"].strip()
            added = loop.body.replace(does["to"], "", 1)
            arrays = set(re.findall(r"(\w+)\s*\[", added))
            if not (arrays and arrays <= given) or not (does["atomic"] or _of_whole(before, start)):
                continue
            if not _of_thread(before, f"{start};{loop.condition};{loop.step};{added}", name):
                line, own = line_at(text, begins + loop.at), "blockIdx.x * blockDim.x + threadIdx.x"
                yield (
                    line,
                    f"Line {line}: what this loop adds does not depend on the thread, so that each thread of the grid "
                    "adds all of it. Put `if (blockIdx.x == 0 && threadIdx.x == 0)` in front, or begin at the thread's "
                    f"own, `{name} = {'' if start == '0' else f'{start} + '}{own}`, and step by all threads, "
                    f"{_by_all(text, name, 'x')}.",
                )


def _of_thread(before: str, text: str, counter: str) -> bool:
    """Whether something in a text is made of a thread's number, or a block's, or may be: it is set more than once."""
    known, names = {counter}, {counter}
    while names:
        if _NUMBERED.search(text) or any(sets(before, name) > 1 for name in names - {counter}):
            return True
        names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text)) - known
        known |= names
        text = ";".join(_last_set(before, name) for name in sorted(names))
    return False


def all_by_each(source: str) -> Said | None:
    """A loop that stores to the same places whichever thread it is, or whichever block; None for none."""
    text = looked_at(source)
    arrays = set(re.findall(r"\*\s*(?:__restrict__\s*)?(\w+)\s*[,)]", text))
    for loop in islice(loops_of(text), _LOOPS):
        counted = _COUNTED.match(loop.start)
        for stored in islice(_STORED.finditer(loop.body), _STORES) if counted else ():
            array, index = stored["array"], stored["index"]
            if not counted or array not in arrays or not re.search(rf"\b{counted['name']}\b", index):
                continue
            before, line = text[: loop.inside + stored.start()], line_at(text, loop.at)
            made = _all_of(before, f"{array};{index};{_heads(before[loop.at :])}")
            asked = _all_of(before, ";".join(_CHOOSES.findall(before)))
            if _CALLS.search(made) or any("Idx" in each for each in (asked, *_DEFINE.findall(text))):
                continue
            axes = {*re.findall(r"\bthreadIdx\.([xyz])\b", made)}
            which = f"Line {line}: which elements of `{array}` this loop stores does not depend on the"
            if "Idx" not in made:
                return line, f"{which} {_ALL_BY_EACH}"
            if "blockIdx" not in made and len(axes) == 1:
                return line, f"{which} {_ALL_BY_BLOCK.format(axis=axes.pop())}"
    return None


def without_turns(source: str, line: int, size: str, by: str) -> str:
    """Why a loop has nothing to do where the quotient of a size in a line rounds down to 0, and what mends it; "" where
    no loop ends by it, or it takes several at a time as one word."""
    text = looked_at(source)
    given = rf"\(?\s*(?<![\w.]){size}\s*/\s*{by}\b\s*\)?"
    names = re.findall(rf"\b(\w+)\s*=\s*{given}\s*;", text)
    either = "|".join([given, *(rf"(?<![\w.]){name}\b" for name in names)])
    either = f"(?:{either})"
    ended = [loop.condition for loop in islice(loops_of(text), _LOOPS) if re.search(either, loop.condition)]
    if not ended or _AS_ONE_WORD.search(text):
        return ""
    term = r"(?:\w+(?:\.\w+)?|\([^()]*\))"
    product = re.search(rf"(?P<of>{term})\s*\*\s*{either}|{either}\s*\*\s*(?P<times>{term})", text)
    number = _all_of(text[: product.start()], product["of"] or product["times"]) if product else ""
    what = f"Line {line}: `{size} / {by}` rounds down, to 0 there, so that"
    round_up = _ROUND_UP.format(size=size, by=by)
    if "threadIdx.x" in number:
        of_grid = "blockIdx.x" in number or "blockIdx" not in text
        alone = int_sizes(text)[0] == [size] and not re.search(r"Idx\.[yz]", text)
        remedy = _BY_ALL.format(size=size) if of_grid and alone else round_up
        return f"{what} no thread has any element to take. {remedy}"
    if any(re.fullmatch(rf"\w+\s*<\s*{either}", condition) for condition in ended):
        return f"{what} the loop that ends by it makes no turn. {round_up}"
    return ""


def _heads(text: str) -> str:
    """The conditions and the steps of the loops in a text, which say with its start what a counter comes to."""
    return ";".join(f"{found['condition']};{found['step']}" for found in _FOR_ALL.finditer(text))


def _all_of(before: str, text: str) -> str:
    """A text with all that its variables are set to in what stands before it, and what those are."""
    known: set[str] = set()
    while names := set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text)) - known:
        known |= names
        values = re.findall(r"(?<![\w.])(\w+)\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)([^;{}]*)", before)
        text = ";".join([text, *(value for name, value in values if name in names)])
    return text


def _by(text: str, name: str, step: str) -> str:
    """By what a step goes on, where that is a number, or the blocks or the threads along an axis alone; "" of others,
    which may be all threads of a grid."""
    if re.fullmatch(rf"\+\+\s*{name}|{name}\s*\+\+", step):
        return "1"
    found = re.fullmatch(rf"{name}\s*(?:\+=|=\s*{name}\s*\+)\s*([\w.]+)", step)
    by = found[1] if found else ""
    known = re.fullmatch(r"(?:grid|block)Dim\.[xyz]", by) or constant(text, by) is not None
    return by if known else ""


def _last_set(text: str, name: str) -> str:
    """What a variable was last set to in a text; "" where it is not."""
    found = re.findall(rf"\b{re.escape(name)}\s*=(?!=)\s*([^;,]*)", text)
    return found[-1].strip() if found else ""


def _does_at(text: str, body: str, name: str) -> str:
    """Whether a loop stores to an element whose index has a variable, or is made of it, or adds such elements up for
    other threads; "" where it does neither."""
    kinds = [("stores", _STORED)]
    if _SHARES.search(text):  # a sum of its own may be of all that are behind a thread's element
        kinds.append(("adds", _ADDED_UP))
    for does, pattern in kinds:
        indices = [found["index"] for found in pattern.finditer(body)]
        made = (_last_set(body, index.strip()) if index.strip().isidentifier() else "" for index in indices)
        if any(re.search(rf"\b{name}\b", each) for each in (*indices, *made)):
            return does
    return ""


def begins_in_block(text: str) -> Iterator[Said]:
    """Loops that go on by all threads of the grid from a thread's number in its block, which each block has."""
    for loop in islice(loops_of(text), _LOOPS):
        step = re.fullmatch(r"(\w+)\s*(?:\+=|=\s*\1\s*\+)\s*([^;]*\bgridDim\.([xy])[^;]*)", loop.step.strip())
        if (
            step is None
            or not re.search(rf"\bblockDim\.{step[3]}|\b[A-Z]\w*\b", step[2])
            or "blockIdx" in loop.body
        ):
            continue
        own = _last_set(f"{text[: loop.at]}{loop.start};", step[1])
        own = _last_set(text[: loop.at], own) if own.isidentifier() else own
        if own == f"threadIdx.{step[3]}":
            line, axis = line_at(text, loop.at), step[3]
            yield (
                line,
                f"Line {line}: the loop goes on by all threads of the grid, and begins at `{own}`, as it does in every "
                f"block: begin at `blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}`.",
            )


def swaps(text: str) -> Iterator[Said]:
    """Loops that compare and swap until it succeeds, with what was there at first: once another has changed that, it
    never does."""
    for found in _SWAPS.finditer(text):
        at, old, new = (found[part].strip() for part in ("at", "old", "new"))
        before = text[: found.start()].rstrip()
        do = text.rfind("do", 0, found.start()) if before.endswith("}") else -1
        body = text[do : found.start()] if do >= 0 and _DO.match(text, do) else body_of(text, found.end())
        if not sets(body, old) and constant(text, old) is None:
            line = line_at(text, found.start())
            yield (
                line,
                f"Line {line}: once another thread has changed what is there, it never is `{old}` again, and the loop "
                f"does not end. Compare with what the last try has found: `while ((seen = atomicCAS({at}, {old}, "
                f"{new})) != {old}) {old} = seen;`.",
            )


def without_rest(source: str) -> str:
    """The first loop that takes several at a time, while all of them are there, in a kernel that takes nothing of what
    is left; "" for none. That something is left out is known before anybody looks here."""
    text = looked_at(source)
    for group in _groups(text):
        loop, name, bound, many = group.loop, group.name, group.bound, group.many
        if _comparisons(text, loop, bound) > 1:
            continue
        one = " * ".join(group.by) or "1"
        own = "" if re.match(rf"{name}\s*=|$", loop.start) else f", with `{name}` declared in front of both"
        second = f"in a second loop behind it, `for (; {name} < {bound}; {name} += {one})`{own}"
        return (
            f"Line {line_at(text, loop.at)}: the loop takes {many} at a time where all {many} are there, "
            f"`{loop.condition}`, and nothing takes what is left, which at small sizes is all: go on "
            f"{second if group.along == group.by else 'with what is left one by one'}."
        )
    return ""


def rest_once(text: str) -> Iterator[Said]:
    """An `if`, in place of a loop, behind one that takes several at a time while all of them are there."""
    called = [*(each[1] for each in FUNCTION.finditer(text)), *re.findall(r"#\s*define\s+(\w+)", text)]
    again = re.compile(rf"\b(?:for|while|do|goto|asm|{'|'.join(['goto', *called])})\b|\[[&=]")
    for group in _groups(text):
        loop, name, bound, behind = (
            group.loop,
            group.name,
            group.bound,
            group.loop.inside + len(group.loop.body),
        )
        end = text.find("\n}", behind)
        rest = text[behind : end if end >= 0 else len(text)]
        found = re.search(rf"\bif\s*\(\s*{name}\s*<\s*{bound}\s*\)", rest)
        outer = re.match(rf"{name}\s*=|$", loop.start)
        if not found or not outer or group.many < 3 or _comparisons(text, loop, bound) != 2:
            continue
        body = body_of(rest, found.end())
        ends = found.end() + len(body)
        in_loop = any(each.inside <= found.start() < each.inside + len(each.body) for each in loops_of(rest))
        if (
            in_loop
            or again.search(body)
            or sets(rest[: found.start()], name)
            or re.match(r"\s*else\b", rest[ends:])
        ):
            continue
        line, one = line_at(text, behind + found.start()), " * ".join(group.along) or "1"
        steps = (
            f"while ({name} < {bound})" if sets(body, name) else f"for (; {name} < {bound}; {name} += {one})"
        )
        yield (
            line,
            f"Line {line}: the loop in line {line_at(text, loop.at)} takes {group.many} at a time where all of them "
            f"are there. Up to {group.many - 1} are left behind it, of which this `if` takes one: `{steps}` in place "
            f"of `{found[0]}`.",
        )


@dataclass(frozen=True)
class _Group:
    """A loop that takes several at a time while all of them are there, and how far apart these are, and the groups."""

    loop: Loop
    name: str
    bound: str
    many: int
    along: list[str]
    by: list[str]


def _groups(text: str) -> Iterator[_Group]:
    for loop in islice(loops_of(text), _LOOPS):
        last = _LAST_OF_GROUP.fullmatch(loop.condition)
        step = last and re.fullmatch(rf"{last['name']}\s*\+=\s*([^;]*)", loop.step or _only_step(loop))
        if not last or not step:
            continue
        (offset, along), (many, by) = _product(text, last["offset"]), _product(text, step[1])
        if offset == many - (last["sign"] == "<") and many > 1 and set(along) <= set(by):
            yield _Group(loop, last["name"], last["bound"], many, along, by)


def _product(text: str, product: str) -> tuple[int, list[str]]:
    """The whole number in a product, and its other factors; of what is none, 0."""
    factors = [each.strip() for each in product.split("*")]
    if not all(re.fullmatch(r"[\w.]+|\([\w ]+\)\s*[\w.]+|\([\w\s+-]+\)", each) for each in factors):
        return 0, []
    numbers = [constant(text, each) for each in factors]
    whole = math.prod(number for number in numbers if number is not None)
    return whole, sorted(each for each, number in zip(factors, numbers, strict=True) if number is None)


def _comparisons(text: str, loop: Loop, bound: str) -> int:
    """How often the function of a loop compares something with the loop's bound, or takes that apart."""
    begin, end = text.rfind("\n}", 0, loop.at) + 1, text.find("\n}", loop.at)
    body = text[begin : end if end >= 0 else len(text)]
    name = re.escape(bound)
    compares = rf"[<>]=?\s*{name}\b|\b{name}\s*(?:[-/%&<>]|$)|\bmin\s*\([^;]{{0,100}}\b{name}\b"
    return len(re.findall(compares, body))


@dataclass(frozen=True)
class Loop:
    """A loop, and where in the text its condition's line is."""

    at: int
    start: str
    condition: str
    step: str
    body: str
    inside: int
    """Where the body begins."""


def loops_of(text: str) -> Iterator[Loop]:
    """The loops whose conditions are no longer than a line."""
    for found in _FOR_ALL.finditer(text):
        start, condition, step = (found[part].strip() for part in ("start", "condition", "step"))
        yield Loop(found.start(), start, condition, step, body_of(text, found.end()), found.end())
    for found in _WHILE.finditer(text):
        yield Loop(found.start(), "", found["condition"].strip(), "", body_of(text, found.end()), found.end())
    for found in islice(_DO.finditer(text), _LOOPS):
        body = body_of(text, found.end())
        if until := _UNTIL.match(text, found.end() + len(body)):
            yield Loop(until.start("condition"), "", until["condition"].strip(), "", body, found.end())


def body_of(text: str, head: int) -> str:
    """What stands in the braces behind the head of a loop, or an `if`, or up to the first `;` outside parentheses."""
    deep = 0
    for found in re.compile(r"[(){};]").finditer(text, head):
        deep += {"(": 1, "{": 1, ")": -1, "}": -1}.get(found[0], 0)
        if deep <= 0 and found[0] in "};":
            return text[head : found.end()]
    return text[head:]


def _never_ends(text: str, loop: Loop) -> str:
    """Why a loop does not come to its end, of what its step is; "" where that is not to be seen."""
    condition, step = loop.condition, loop.step or _only_step(loop)
    if adds := _ADDS_0.match(step):
        return f"the step `{step}` adds 0, so `{adds[1]}` stays where it is, and the loop never ends."
    if first := _of_first(text, step):
        return first
    if small := _SMALL_INDEX.match(loop.start):
        return _never_reached(text, small, condition)
    assigned = _OF_ITSELF.sub(r"\1 \2= ", step)
    divided, multiplied = _DIVIDED.match(assigned), _MULTIPLIED.match(assigned)
    if divided and re.fullmatch(rf"{divided[1]}\s*(?:>=\s*0|>\s*-\s*1)", condition):
        return f"`{step}` ends at 0 and stays there, where `{condition}` is still true: `{divided[1]} > 0`."
    if multiplied and re.search(rf"\b{multiplied[1]}\s*=\s*0$", loop.start):
        return (
            f"`{multiplied[1]}` begins with 0, which `{step}` leaves 0, so the loop never ends: begin with 1."
        )
    return ""


def not_set_back(text: str) -> Iterator[Said]:
    """Loops within another one that go on from where they have ended before."""
    for outer in islice(loops_of(text), _LOOPS):
        for found in _NO_START.finditer(outer.body):
            name, before = found["name"], outer.body[: found.start()]
            begins = re.findall(rf"\b{name}\s*=(?!=)\s*([^;,]{{1,120}})[;,]", text[: outer.at])
            if begins and not re.search(rf"\b{name}\s*=(?!=)", f"{outer.step} {before}"):
                line = line_at(text, outer.inside + found.start())
                yield (
                    line,
                    f"Line {line}: nothing sets `{name}` back when the loop in line {line_at(text, outer.at)} goes on: "
                    f"`for (int {name} = {' '.join(begins[-1].split())}; …`.",
                )


def _of_first(text: str, step: str) -> str:
    """Why a step is 0 in the first block, or thread: it is a product of which one it is, and not of how many there
    are."""
    if not (found := _STEP_BY.match(step)):
        return ""
    by = found["by"].strip()
    value = by
    if (
        by.isidentifier()
        and sets(text, by) == 1
        and (given := re.search(rf"\b{by}\s*=(?!=)\s*([^;]+);", text))
    ):
        value = given[1]
    number = re.search(r"\b(block|thread)Idx\.([xyz])\b", value)
    if number is None or re.search(r"[-+/%?]", value):
        return ""
    many, which = {"block": ("gridDim", "block"), "thread": ("blockDim", "thread")}[number[1]]
    of = "" if value == by else f", as `{by}` is `{' '.join(value.split())}`"
    return (
        f"the step `{step}` is 0 in {which} 0{of}, and the loop never ends: {number[0]} is the number of one {which}, "
        f"and {many}.{number[2]} is how many there are."
    )


def _step_of(name: str) -> re.Pattern[str]:
    """What changes a variable."""
    return re.compile(rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|(?:[-+*/]|<<|>>)?=(?!=)[^;]*)")


def _only_step(loop: Loop) -> str:
    """What a loop's body alone does to the variable that its condition compares."""
    compared = re.match(r"\w+", loop.condition)
    if compared is None or sets(loop.body, compared[0]) != 1:
        return ""
    found = re.search(rf"\b{compared[0]}\s*(?:[-+*/]|<<|>>)?=(?!=)[^;]*", loop.body)
    return found[0].strip() if found else ""


def _unchanged(text: str, loop: Loop) -> str:
    """That nothing a loop does changes its condition; "" where something does, or may."""
    condition = _BUILT_IN.sub("1", loop.condition)
    names = dict.fromkeys(re.findall(r"(?<!\w)[A-Za-z_]\w*", condition))
    fixed = ("true", "false", *int_sizes(text)[0])
    own = [name for name in names if name not in fixed and constant(text, name) is None]
    does = "\n".join((loop.condition, loop.step, loop.body, *_DEFINE.findall(text)))
    if not own or _FROM_MEMORY.search(condition) or any(_may_change(text, does, name) for name in names):
        return ""
    return f"nothing in the loop changes `{own[0]}`, so `{loop.condition}` stays true: `{own[0]} += …`."


def _may_change(text: str, does: str, name: str) -> bool:
    """Whether a part of a text changes a variable, or may, as through a reference, or others do, in memory."""
    by_reference = (
        "[&" in text or "#define" in does or any("&" in each["taken"] for each in FUNCTION.finditer(text))
    )
    return bool(
        sets(does, name)
        or (by_reference and re.search(rf"[(,]\s*{name}\s*[,)]", does))
        or re.search(rf"(?<!&)&\s*(?:{name}\b|\w+\s*=\s*{name}\b)", text)
        or re.search(rf"\b(?:volatile|__shared__|__device__|__managed__)\b[^;(){{}}]*\b{name}\b", text)
    )


def _never_reached(text: str, index: re.Match[str], condition: str) -> str:
    """Why an index never comes to a bound that its type does not hold; "" where it does, or the bound is not known."""
    name, kind = index["name"], " ".join(index["kind"].split())
    compared = re.fullmatch(rf"{name}\s*(<=?)\s*(.+)", condition)
    bound = constant(text, compared[2]) if compared else None
    most = (1 << (8 if "char" in kind or "8" in kind else 16) - (not kind.startswith("u"))) - 1
    if compared is None or bound is None or bound + (compared[1] == "<=") <= most:
        return ""
    return f"`{name}`, of type {kind}, holds no more than {most:,}, so `{condition}` is always true: make it an int."
