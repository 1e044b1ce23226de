"""The topics: found by folder name, declared once in `lessons/<topic>/topic.toml`, and nowhere else."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from grader.errors import WarpladderError
from grader.workbook import cuda_source, exercises, programs
from grader.workbook.content import content_root
from grader.workbook.expressions import Expression, Number, nearest
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.ladder import NAIVE, ClaimSpec, File, Ladder, Rung, read_claim
from grader.workbook.reference import Tolerance
from grader.workbook.schedule_file import parse_schedule
from grader.workbook.signature import Signature, read_problem, read_signature
from grader.workbook.strict_toml import Table, read
from grader.workbook.topic import FirstStep, KernelTopic, Parts, ScheduledKernel, ScheduleTopic, Topic

T = TypeVar("T")

_KEYS = (
    "title",
    "order",
    "signature",
    "kernel",
    "smallest_arch",
    "library",
    "sizes",
    "starter",
    "tolerance",
    "claim",
)
_SIZES = (
    "main",
    "count",
    "judge",
    "special",
    "sampled",
    "drawn",
    "from_zero",
    "derived",
    "parts",
    "overlap",
)
_RUNG_FILE = re.compile(r"\d\d_\w+")


def discover(root: Path | None = None) -> dict[str, Topic]:
    """Every topic under `root` (default: this installation's content), by name, in the order of study.

    Raises WarpladderError for a broken topic, naming file and line.
    """
    root = root or content_root()
    folders = [path.parent for path in sorted((root / "lessons").glob("*/topic.toml"))]
    topics = [_read_topic(folder, root) for folder in folders]
    return {topic.name: topic for topic in sorted(topics, key=lambda topic: (topic.order, topic.name))}


def load(name: str, root: Path | None = None, or_exercise: bool = False) -> Topic:
    """The topic called `name`; raises WarpladderError. Small exercises are found as well where they are asked for."""
    root = root or content_root()
    folder = root / "lessons" / name
    if (folder / "topic.toml").is_file():
        return _read_topic(folder, root)
    if name in exercises.names(root):
        if or_exercise:
            return exercises.load(name, root)
        remedy = f"ladder grade {name} FILE judges one"
        raise WarpladderError(f"`{name}` is a small exercise, and no topic with a ladder", remedy=remedy)
    if name in programs.names(root):
        remedy = f"ladder grade {name} FILE judges one, ladder run FILE runs it"
        raise WarpladderError(f"`{name}` is a whole program, and no topic with a ladder", remedy=remedy)
    known = names(root)
    message = f"there is no topic `{name}`{nearest(name, [*known, *exercises.names(root)])}"
    whole = programs.names(root)
    small = exercises.names(root) if or_exercise else []
    also = f", the small exercises {', '.join(small)}" if small else ""
    also += f", and the whole program{'s' if len(whole) > 1 else ''} {', '.join(whole)}" if whole else ""
    raise WarpladderError(message, remedy=f"the topics are {', '.join(known)}{also}")


def names(root: Path | None = None) -> list[str]:
    """What the topics are called, in the order of the alphabet."""
    return sorted(path.parent.name for path in ((root or content_root()) / "lessons").glob("*/topic.toml"))


def of_kernel(source: str, graded: Topic | None = None) -> str:
    """The topic or small exercise whose kernel a text has, by its name and what it takes; "" where it has none, or one
    that may be of the topic that it is `graded` as."""
    found = cuda_source.kernels(source)
    asked = [] if graded is None else _taken(graded)
    if graded is not None and any(
        name == graded.signature.name or takes == asked for name, takes in found.items()
    ):
        return ""
    known = {*names(), *exercises.names()} & found.keys()
    of_name = (name for name in found if name in known)
    return next((name for name in of_name if _taken(load(name, or_exercise=True)) == found[name]), "")


def _taken(topic: Topic) -> list[str]:
    return [cuda_source.taken(f"{item.ctype} {item.name}") for item in topic.signature.params]


def _read_topic(folder: Path, root: Path) -> Topic:
    path = folder / "topic.toml"
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*_KEYS)
    signature = read_signature(table)
    sizes = table.table("sizes")
    sizes.allow(*_SIZES)
    derived = sizes.below("derived")
    signature = dataclasses.replace(
        signature, derived=tuple((name, derived.expression(name)) for name in derived.values)
    )
    if not sizes.get("judge", list):
        raise sizes.error(
            "`judge` has no cases", "judge", "list at least the sizes 1 and some around the tile"
        )
    main = read_problem(sizes, "main", sizes.get("main", dict), signature)
    usual = {item.name: main[item.name] for item in signature.values}

    def problems(key: str) -> tuple[dict[str, Number], ...]:
        return tuple(read_problem(sizes, key, case, signature, usual) for case in sizes.get(key, list, []))

    common: dict[str, Any] = {
        "name": folder.name,
        "title": table.get("title", str),
        "order": table.get("order", int),
        "signature": signature,
        "smallest_arch": table.get("smallest_arch", str),
        "library": table.get("library", str, "") or None,
        "sizes_main": main,
        "sizes_count": read_problem(sizes, "count", sizes.get("count", dict), signature, usual),
        "judge_cases": problems("judge"),
        "special_cases": problems("special"),
        "sampled_cases": problems("sampled"),
        "from_zero": sizes.names("from_zero"),
        "drawn_cases": tuple(_ends(sizes, case, signature) for case in sizes.get("drawn", list, [])),
        "parts": _parts(sizes, signature),
        "tolerance": _tolerance(table.table("tolerance"), signature),
        "folder": folder,
        "first_step": _first_step(table.table("starter")) if "starter" in table.values else None,
    }
    kernels = root / "kernels"
    if "kernel" not in table.values:
        return KernelTopic(ladder=_ladder(kernels, table, signature, ".cu", parse_kernel_file), **common)
    if signature.values:
        message = f"`{signature.values[0].name}` is a float, and the jobs of schedules have sizes alone"
        raise table.error(message, "signature")
    return ScheduleTopic(
        ladder=_ladder(kernels, table, signature, ".py", parse_schedule),
        kernel=_kernel(table.table("kernel"), signature, kernels, folder.name),
        **common,
    )


def _parts(sizes: Table, signature: Signature) -> Parts | None:
    """Of which size the parts of a problem are problems of their own."""
    if "parts" not in sizes.values:
        return None
    size, known = sizes.get("parts", str), [item.name for item in signature.sizes]
    if size not in known:
        raise sizes.error(f"`parts`: there is no size `{size}`", "parts", f"the sizes are {', '.join(known)}")
    return Parts(size, sizes.get("overlap", int, 0))


def _first_step(table: Table) -> FirstStep:
    """What the starter asks for."""
    table.allow("concept", "section", "mend")
    mend = table.get("mend", list)
    pairs = [pair for pair in mend if isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair))]
    if len(pairs) != len(mend) or not mend:
        raise table.error(
            "`mend` holds no pairs of texts", "mend", 'write [["what stands there", "what is right"]]'
        )
    return FirstStep(
        table.get("concept", str), table.get("section", str), tuple((old, new) for old, new in pairs)
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _ladder(
    kernels: Path, table: Table, signature: Signature, suffix: str, parse: Callable[[Path, Signature], File]
) -> Ladder[File]:
    """The rungs under `kernels`, and the topic's [[claim]]s on them."""
    topic = table.file.parent.name
    rungs = tuple(Rung(name, parse(file, signature)) for name, file in _rung_files(kernels, topic, suffix))
    claims = tuple(_claim(claim, [rung.id for rung in rungs]) for claim in table.tables("claim"))
    return Ladder(topic, rungs, claims)


def _kernel(table: Table, job: Signature, kernels: Path, topic: str) -> ScheduledKernel:
    """What schedules launch, from the table `[kernel]`."""
    table.allow("signature", "launches", "shapes", "reach", "check_sizes", "in_place", "alone")
    signature = read_signature(table)
    file = parse_kernel_file(kernels / "naive" / f"{topic}.cu", signature)
    return ScheduledKernel(
        file=file,
        shapes=_shapes(table.table("shapes"), job),
        check_sizes=tuple(
            read_problem(table, "check_sizes", case, job) for case in table.get("check_sizes", list, [])
        ),
        launches=table.expression("launches", 1),
        reach=_by_pointer(table.table("reach"), signature),
        in_place=table.get("in_place", bool, False),
        alone=_alone(table.below("alone"), job),
    )


def _by_pointer(table: Table, signature: Signature) -> dict[str, Expression]:
    """An expression for each pointer of a signature, of its sizes."""
    found = {name: table.expression(name) for name in _pointers(table, signature)}
    for name, expression in found.items():
        _of_sizes(table, name, expression, signature)
    return found


def _shapes(table: Table, signature: Signature) -> dict[str, tuple[Expression, ...]]:
    """The lengths of the sides of each pointer's array, of the signature's sizes."""
    found = {name: table.expressions(name) for name in _pointers(table, signature)}
    for name, sides in found.items():
        for side in sides:
            _of_sizes(table, name, side, signature)
    return found


def _pointers(table: Table, signature: Signature) -> list[str]:
    """The pointers of a signature, which are the keys of a table."""
    found = [item.name for item in (*signature.inputs, *signature.outputs)]
    table.allow(*found)
    return found


def _of_sizes(table: Table, name: str, expression: Expression, signature: Signature) -> None:
    """Raises for an expression that names anything but sizes."""
    if unknown := expression.names - {size.name for size in signature.sizes}:
        raise table.error(f"`{name}` names {', '.join(sorted(unknown))}, not a size", name)


def _alone(table: Table, signature: Signature) -> dict[str, int]:
    """Some of the sizes."""
    table.allow(*(size.name for size in signature.sizes))
    return {name: table.get(name, int) for name in table.values}


def _rung_files(kernels: Path, topic: str, suffix: str) -> Iterator[tuple[str, Path]]:
    """Id and file of each rung, from rung 0 upwards."""
    yield NAIVE, kernels / "naive" / f"{topic}{suffix}"
    for path in sorted((kernels / "optimized" / topic).glob(f"*{suffix}")):
        if not _RUNG_FILE.fullmatch(path.stem):
            raise WarpladderError(
                "this is not the name of a rung",
                file=path,
                remedy=f"two digits and a word: 01_coalesced{suffix}",
            )
        yield path.stem, path


def _ends(table: Table, given: object, signature: Signature) -> dict[str, tuple[int, int]]:
    """Between which sizes a case is drawn, both included; `ladder check` sees that all of them make a problem."""
    names = [item.name for item in signature.sizes]
    found = {
        name: (ends, ends) if isinstance(ends, int) else tuple(ends) if isinstance(ends, list) else ()
        for name, ends in (given.items() if isinstance(given, dict) else ())
    }
    if {*found} != {*names} or not all(map(_is_range, found.values())):
        remedy = f"write {{ {', '.join(f'{name} = [1, 32]' for name in names)} }}, or a number for one that is fixed"
        raise table.error(
            f"`drawn`: {given!r} does not say between which sizes a case is drawn", "drawn", remedy
        )
    return found


def _is_range(ends: tuple[object, ...]) -> bool:
    """Whether these are two sizes, the smaller one first."""
    whole = [end for end in ends if type(end) is int and end >= 0]
    return len(whole) == len(ends) == 2 and whole[0] <= whole[1]


def _tolerance(table: Table, signature: Signature) -> Tolerance:
    table.allow("lambda", "terms", "unit", "yardstick", "exact")
    outputs = [item.name for item in signature.outputs]
    terms = _by_output(
        table, "terms", outputs, lambda of, key: of.expression(key, 1 if of is table else None)
    )
    for item in terms.values():
        _of_sizes(table, "terms", item, signature)
    return Tolerance(
        table.get("lambda", float),
        terms,
        _by_output(table, "unit", outputs, lambda of, key: of.get(key, str, "float32")),
        _by_output(table, "exact", outputs, lambda of, key: of.get(key, float, 0.0)),
        table.get("yardstick", str, "") or None,
    )


def _by_output(table: Table, key: str, outputs: list[str], read: Callable[[Table, str], T]) -> dict[str, T]:
    """What stands under a key, by output: one value for all of them, or a table of a value each."""
    if not isinstance(table.values.get(key), dict):
        return dict.fromkeys(outputs, read(table, key))
    each = table.table(key)
    each.allow(*outputs)
    return {name: read(each, name) for name in outputs}


def _claim(table: Table, rungs: list[str]) -> ClaimSpec:
    table.allow("rung", "text", "expect", "points", "per", "unit")
    rung = table.get("rung", str)
    if rung not in rungs:
        message = f"there is no rung `{rung}`{nearest(rung, rungs)}"
        raise table.error(message, "rung", f"the rungs are {', '.join(rungs)}")
    claim = read_claim(table, rung, table.get("points", int))
    if claim.expect is None and rung != rungs[0]:
        message = "a claim without `expect` is that the kernel is right, which every rung is"
        raise table.error(message, "rung", f'give it to {rungs[0]}, or compare something: expect = "… <= …"')
    return claim
