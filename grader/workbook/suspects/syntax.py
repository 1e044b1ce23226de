"""What C++ reads otherwise than it looks: lines without braces, macros, the order of operators, and copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from grader.workbook.cuda_source import KERNEL, int_sizes, line_at, shared_arrays
from grader.workbook.suspects.loops import body_of
from grader.workbook.suspects.text import Said, sets

MACROS = 20  # of a file, that are looked at: bounds a stranger's work
_ELEMENTS = 200  # as well

_UNBRACED = re.compile(
    r"^([ \t]*)(if|for|while)[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\)){0,100}\)){1,300}\)[ \t]*\n"
    r"(?P<own>\1[ \t]+)[^\n{};]{1,300};[ \t]*(?P<more>(?:\n(?P=own)[^ \t\n{}#][^\n{};]{0,300};[ \t]*)+)$",
    re.MULTILINE,
)
MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<taken>[\w, ]*)\))?[ \t]+(?P<body>\S[^\n]{0,200}?)[ \t]*$",
    re.M,
)
_VOID = re.compile(
    r"__device__\s[^;(){}]{0,60}\bvoid\s+\w+\s*\((?P<taken>[^(){}*&\[\]]{1,300})\)\s*\{(?P<body>[^}]{1,1000})\}"
)
_KEEPS = re.compile(r"\]\s*[-+*/]?=(?!=)|->|\b(?:atomic\w+|asm|printf|return|for|while|if|__syncthreads)\b")
_NOT_ROUNDED_UP = re.compile(
    r"(?<![\w.])(?P<size>[A-Za-z_][\w.]*)\s*\+\s*(?:(?P<by>[A-Za-z_][\w.]*)\s*-\s*1\s*/\s*(?P=by)\b"
    r"|(?P<less>\d+)\s*/\s*(?P<number>\d+)\b)(?![.(\[])"
)
_COMPARED = (
    r"\((?:[^()=<>!?;]|\([^()]{0,60}\)){1,60}(?:[<>]=?|[!=]=)(?!<|>)(?:[^()?;]|\([^()]{0,60}\)){1,60}\)"
)
_CHOSEN_LAST = re.compile(
    rf"(?P<sum>(?<!\w)[A-Za-z_][\w.]*(?:\[[^\[\]]{{1,60}}\])?)\s*(?P<sign>[-+*/]|(?<![&|])[&|^](?![&|]))\s*"
    rf"(?P<condition>{_COMPARED})\s*\?(?P<values>[^?;]{{1,200}});"
)

_ENDED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<body>=?[ \t]*(?P<value>[\w.+*/() -]+?)[ \t]*;?)[ \t]*$",
    re.MULTILINE,
)
_ELEMENT_OF = re.compile(
    r"(?<![\w.])(?P<all>(?P<array>\w+)\[\s*(?P<index>[A-Za-z_][^\[\];]{0,60}?)\s*\])(?!\s*\[)"
)


def unbraced(text: str) -> Iterator[Said]:
    """Lines that stand as far in as the one that a condition, or a loop, without braces is for."""
    for found in _UNBRACED.finditer(text):
        line = line_at(text, found.start(2))
        last = line + 1 + found["more"].count("\n")
        yield (
            line,
            f"Line {line}: without braces the `{found[2]}` is for line {line + 1} alone: put {{ }} around lines "
            f"{line + 1} to {last}.",
        )


def macros(text: str) -> Iterator[Said]:
    """Macros without parentheses, of which an operator beside them takes a part alone."""
    for found in islice(MACRO.finditer(text), MACROS):
        name, body = found["name"], found["body"]
        bare = outside(body)
        operators = set(re.findall(r"(?<=[\w)\]])\s*([-+*/%])", bare))
        takes = r"\((?:[^()]|\([^()]*\))*\)" if found["taken"] is not None else ""
        chosen = "?" in bare
        front, behind = ("-+*/%<>", "-+*/%<>") if chosen else ("-*/%", "*/%")
        used = rf"(?P<front>[{front}])?\s*\b{name}\b{takes}(?:\s*(?P<behind>[{behind}]))?"
        for use in re.finditer(used, text[found.end() :]):
            weak = (chosen or operators & {"+", "-"}) and (use["front"] or use["behind"])
            if weak or (operators and use["front"] in ("/", "%")):
                line, at = line_at(text, found.start("name")), line_at(text, found.end() + use.start())
                sign = use["front"] or use["behind"]
                head = name if found["taken"] is None else f"{name}({found['taken']})"
                mend = f"`#define {head} ({body})`"
                what = f"the `{sign}` beside `{name}` in line {at} takes a part of it alone"
                yield line, f"Line {line}: a macro is put in as text, and {what}: {mend}."
                break


def ended_macro(text: str, line: str) -> str:
    """A macro in a line whose text has a `;` behind it, or a `=` in front, as a variable's would, in a sentence that
    says what mends it; "" for none."""
    for found in islice(_ENDED.finditer(text), MACROS):
        name, body, value = found.group("name", "body", "value")
        sign = "=" if body.startswith("=") else ";" if body.endswith(";") else ""
        if sign and re.search(rf"\b{name}\b", line):
            return (
                f"line {line_at(text, found.start('name'))}: the `{sign}` is put in wherever `{name}` stands: "
                f"`#define {name} {value}`"
            )
    return ""


def ended_macros(text: str) -> Iterator[Said]:
    """Such macros where they stand in the middle of an expression, which then ends there."""
    for found in islice(_ENDED.finditer(text), MACROS):
        used = re.compile(rf"[^\n]*\b{found['name']}\b(?!\s*;)[^\n]*").search(text, found.end())
        if used and (told := ended_macro(found[0], used[0])):
            line = line_at(text, found.start("name"))
            yield line, f"Line {line}:{told.partition(':')[2]}."


def multiplied(text: str) -> Iterator[Said]:
    """Elements that are multiplied by 0 where they are not there: they are read all the same."""
    sizes, shared = "|".join([*int_sizes(text)[0], "0"]), shared_arrays(text)
    for found in islice(_ELEMENT_OF.finditer(text), _ELEMENTS):
        whole, index = found["all"], found["index"]
        own = rf"(?<![\w+*-] )(?<!\w){re.escape(index)}"
        compares = rf"(?P<condition>[^;()?]*{own}\s*(?:[<>]=?)\s*(?:{sizes})\b[^;()?]*)"
        factor = rf"(?:static_cast<float>|\(float\)|float)?\s*\(\s*{compares}(?:\?[^;()]*)?\)"
        behind = re.compile(rf"\s*\*\s*{factor}").match(text, found.end())
        front = re.search(rf"{factor}\s*\*\s*$", text[max(0, found.start() - 200) : found.start()])
        kept = re.compile(r"\s*\*\s*([A-Za-z_]\w*)\s*[;)]").match(text, found.end())
        of_kept = kept and re.search(rf"\b{kept[1]}\s*=\s*{compares};", text)
        one = behind or front or of_kept
        if one and found["array"] not in shared:
            line, condition = line_at(text, found.start()), " ".join(one["condition"].split())
            yield (
                line,
                f"Line {line}: `{whole}` is read before it is multiplied, also where it is not there, and what is read "
                f"then may be NaN, which times 0 is NaN: `({condition} ? {whole} : 0)`.",
            )


def outside(text: str) -> str:
    """What stands in no parentheses."""
    while (less := re.sub(r"\([^()]*\)", "0", text)) != text:
        text = less
    return text


def lost(text: str) -> Iterator[Said]:
    """Functions that set a parameter of their own, and do nothing else."""
    for function in _VOID.finditer(text):
        for taken in function["taken"].split(","):
            kind, _, name = taken.strip().rpartition(" ")
            if kind and not _KEEPS.search(function["body"]) and sets(function["body"], name):
                line = line_at(text, function.start("taken"))
                yield line, of_copy(line, kind.strip(), name)


def all_return(text: str) -> Iterator[Said]:
    """A `return` on no condition, in front of what a kernel is to do."""
    for kernel in KERNEL.finditer(text):
        body = body_of(text, kernel.end() - 1)
        conditions: list[bool] = [False]
        for found in re.finditer(r"[{}]|\breturn\s*;", body[1:]):
            before = body[: 1 + found.start()].rstrip()
            if found[0] == "{":
                conditions.append(conditions[-1] or before.endswith((")", "else", "do", "=")))
            elif found[0] == "}":
                conditions.pop()
            elif not conditions[-1] and before[-1] in ";{}" and re.search(r"\w", body[1 + found.end() :]):
                line = line_at(text, kernel.end() + found.start())
                yield (
                    line,
                    f"Line {line}: all threads return there, on no condition: nothing behind it is done.",
                )
                break
            if not conditions:
                break


def of_copy(line: int, kind: str, name: str) -> str:
    """That a parameter is a copy of what the caller has."""
    return (
        f"Line {line}: `{name}` is a copy, and what is stored to it is lost when the function ends: return it, or "
        f"take a reference, `{kind}& {name}`."
    )


def not_rounded_up(text: str) -> Iterator[Said]:
    """Quotients rounded up, without the parentheses that make them quotients."""
    for found in _NOT_ROUNDED_UP.finditer(text):
        by, less = found["by"] or found["number"], found["less"]
        if less and int(less) != int(by) - 1:
            continue
        line, size, quotient = line_at(text, found.start()), found["size"], f"{less or 1} / {by}"
        rounded_up = f"({size} + {less or f'{by} - 1'}) / {by}"
        yield line, f"Line {line}: `/` is done before `+`, and `{quotient}` is 0: `{rounded_up}`."


def chosen_last(text: str) -> Iterator[Said]:
    """Conditions of a `?` to which what was to be added to its value belongs."""
    for found in _CHOSEN_LAST.finditer(text):
        values = " ".join(found["values"].split())
        line, first = line_at(text, found.start("sum")), f"{found['sum']} {found['sign']} "
        condition = found["condition"][1:-1].strip()
        yield (
            line,
            f"Line {line}: `?` is done last, so that all of `{first}{found['condition']}` is its condition: "
            f"`{first}({condition} ? {values})`.",
        )
