"""Probes as a candidate sees them: parameters drawn, answers computed, options shuffled."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from grader.errors import WarpladderError
from grader.interview.probes import numbers
from grader.interview.probes.kinds import (
    WRONG_SHOWN,
    ChoiceProbe,
    LineProbe,
    NumberProbe,
    OrderProbe,
    Parameters,
    Probe,
)
from grader.workbook import units

LETTERS = "abcdefgh"
"""What options and items are called."""

_PLURAL = re.compile(r"[a-z][a-z-]+s")
_AN = ("A", "E", "I", "O", "N")  # of what boards are called: NVIDIA is spelt out


@dataclass(frozen=True)
class Posed:
    """A probe with its parameters. Texts are Markdown."""

    probe: Probe
    parameters: Parameters
    text: str
    options: tuple[str, ...]  # to choose from, or to put in order; called a, b, c …
    code: tuple[str, ...]  # whose lines are counted from 1
    answer: str  # as a candidate would type it
    accepted: tuple[str, ...]  # letters or line numbers that are right; () of a number
    value: float | None  # of a number
    explain: str

    @property
    def unit(self) -> str:
        """Of a number."""
        return self.probe.unit if isinstance(self.probe, NumberProbe) else ""

    @property
    def chance(self) -> float:
        """How probable it is that a guess is right."""
        match self.probe:
            case ChoiceProbe():
                return 1 / len(self.options)
            case OrderProbe():
                return 1 / math.factorial(len(self.options))
            case LineProbe():
                return len(self.accepted) / len([line for line in self.code if line.strip()])
        assert isinstance(self.probe, NumberProbe)
        assert self.value is not None
        return numbers.chance(self.value, self.probe.tolerance)

    @property
    def ordered(self) -> bool:
        """Whether the options are to be put in order."""
        return isinstance(self.probe, OrderProbe)

    @property
    def wanted(self) -> str:
        """What is to be typed, in a few words."""
        match self.probe:
            case ChoiceProbe():
                return f"A letter, a to {LETTERS[len(self.options) - 1]}"
            case OrderProbe():
                return f"The letters in order, such as {LETTERS[: len(self.options)][::-1]}"
            case LineProbe():
                return f"The number of a line, 1 to {len(self.code)}"
        return numbers.wanted(self.unit)

    @property
    def clarified(self) -> str:
        """What the prompt asks for, at more length: said to a candidate who types `?`."""
        match self.probe:
            case ChoiceProbe():
                asks = "One letter, or the text of its option: one of them is right, and the others are not."
            case OrderProbe():
                asks = f"Each of the {len(self.options)} letters once, in the order that is asked for."
            case LineProbe():
                asks = "Type the number of the one line, as it is shown in front of the line."
            case NumberProbe():
                return numbers.clarified(self.text, self.unit, self.probe.tolerance)
        return f"{asks} {numbers.COSTS}"

    def read(self, typed: str) -> str | float:
        """What a candidate typed. Raises ValueError, in words for the candidate, where it is no answer."""
        match self.probe:
            case NumberProbe():
                return numbers.read_number(typed, self.unit)
            case ChoiceProbe():
                return _letters(typed, self.options, 1)
            case OrderProbe():
                return _letters(typed, self.options, len(self.options))
        return _line_number(typed, len(self.code))

    def right(self, given: str | float) -> bool:
        """Whether what `read` gave is the answer."""
        if isinstance(self.probe, NumberProbe):
            assert self.value is not None
            assert isinstance(given, float)
            return numbers.right(given, self.value, self.probe.tolerance)
        return given in self.accepted

    @property
    def said(self) -> str:
        """The answer in words, however the options are shuffled."""
        return in_words(self.answer, self.options) or self.answer


def pose(probe: Probe, seed: str, parameters: Parameters | None = None) -> Posed:
    """The probe with what is drawn by `seed`; `parameters` are those drawn for it elsewhere.

    The same seed gives the same question. Raises WarpladderError where it cannot be computed.
    """
    rng = random.Random(seed)
    given = parameters or {}
    drawn = {name: given.get(name, rng.choice(choices)) for name, choices in probe.draw.items()}
    return compute(probe, drawn, rng)


def every_draw(probe: Probe) -> Iterator[dict[str, Any]]:
    """All combinations of parameters."""
    for values in itertools.product(*probe.draw.values()):
        yield dict(zip(probe.draw, values, strict=True))


def compute(probe: Probe, parameters: Parameters, rng: random.Random) -> Posed:
    """The probe with these parameters, its answer computed; raises WarpladderError naming them."""
    shown = ", ".join(f"{name} = {value!r}" for name, value in parameters.items())
    case = f"`{probe.name}`{f' for {shown}' if shown else ''}"
    try:
        return _POSERS[type(probe)](probe, parameters, rng)
    except WarpladderError as error:
        raise WarpladderError(f"{case}: {error.message}", file=probe.functions, remedy=error.remedy) from None
    except KeyError as error:
        raise WarpladderError(
            f"{case}: there is no value {error}", file=probe.file, line=probe.line
        ) from None
    except Exception as error:
        raise WarpladderError(
            f"{case} fails with {type(error).__name__}: {error}", file=probe.functions
        ) from None


def formatted(text: str, values: Mapping[str, object]) -> str:
    """A text with {parameters} filled in; raises KeyError for one that there is not."""
    return _FORMATTER.vformat(text, (), values)


def _number(probe: NumberProbe, parameters: Parameters, rng: random.Random) -> Posed:
    values = _computed(probe, parameters)
    answer = values["answer"]
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not math.isfinite(answer):
        raise ValueError(f"its answer is {answer!r}, not a finite number")
    return _posed(probe, parameters, values, answer=units.compact(answer), value=float(answer))


def _choice(probe: ChoiceProbe, parameters: Parameters, rng: random.Random) -> Posed:
    if probe.computed:
        values = _computed(probe, parameters)
        right, options = str(values["answer"]), list(values.get("options", probe.options))
        if right not in options:
            raise ValueError(f"its answer {right!r} is none of {options}")
    else:
        right = rng.choice(probe.right)
        values, options = {"answer": right}, [right, *rng.sample(probe.wrong, WRONG_SHOWN)]
    rng.shuffle(options)
    letter = LETTERS[options.index(right)]
    return _posed(probe, parameters, values, answer=letter, accepted=(letter,), options=tuple(options))


def _order(probe: OrderProbe, parameters: Parameters, rng: random.Random) -> Posed:
    values = {} if probe.items else _computed(probe, parameters)
    items = [str(item) for item in probe.items or values["answer"]]
    options = rng.sample(items, len(items))
    if options == items:  # as good as none
        options = options[1:] + options[:1]
    answer = "".join(LETTERS[options.index(item)] for item in items)
    shown = {**values, "answer": ", ".join(items)}
    return _posed(probe, parameters, shown, answer=answer, accepted=(answer,), options=tuple(options))


def _line(probe: LineProbe, parameters: Parameters, rng: random.Random) -> Posed:
    accepted = tuple(str(number) for number in probe.marked)
    values = {"answer": accepted[0]}
    return _posed(probe, parameters, values, answer=accepted[0], accepted=accepted, code=probe.code)


_POSERS: dict[type[Probe], Callable[[Any, Parameters, random.Random], Posed]] = {
    NumberProbe: _number, ChoiceProbe: _choice, OrderProbe: _order, LineProbe: _line,
}  # fmt: skip


def _posed(
    probe: Probe,
    parameters: Parameters,
    values: Mapping[str, Any],
    answer: str,
    accepted: tuple[str, ...] = (),
    value: float | None = None,
    options: tuple[str, ...] = (),
    code: tuple[str, ...] = (),
) -> Posed:
    return Posed(
        probe=probe,
        parameters=parameters,
        text=formatted(probe.text, parameters),
        options=options,
        code=code,
        answer=answer,
        accepted=accepted,
        value=value,
        explain=formatted(probe.explain, {**parameters, **values}),
    )


def _computed(probe: Probe, parameters: Parameters) -> dict[str, Any]:
    """What the probe's function gives, its answer among it."""
    given = _function(probe.functions, probe.name)(**parameters)
    return dict(given) if isinstance(given, Mapping) else {"answer": given}


class Answerable(Protocol):
    """A question with one answer, as it was drawn."""

    @property
    def options(self) -> Sequence[str]: ...

    @property
    def code(self) -> Sequence[str]: ...

    @property
    def unit(self) -> str: ...

    @property
    def answer(self) -> str: ...


class Answered(Answerable, Protocol):
    """And what was typed."""

    @property
    def given(self) -> str: ...

    @property
    def right(self) -> bool: ...


def answered(answer: Answered) -> str:
    """What was typed, and what is right, in Markdown: “no answer; right is b: It grows”, “16 is right”."""
    listed = answer.options or answer.code
    given = named(answer.given, answer) if answer.given and listed else answer.given or "no answer"
    if not answer.right:
        return f"{given.rstrip('.')}; right is {named(answer.answer, answer)}"
    key, colon, text = given.partition(": ")
    return f"{key} is right{colon}{text}"


def named(typed: str, asked: Answerable) -> str:
    """An answer with what it stands for: b: an option's text, line 3: its code, 4 blocks."""
    if asked.options:
        letters = _chosen(typed, asked.options)
        return f"{letters}: {in_words(letters, asked.options)}" if letters else typed
    if asked.code:
        number = _line_number(typed, len(asked.code))
        return f"line {number}: {asked.code[int(number) - 1].strip()}"
    return f"{typed} {units.unit_of(1 if typed == '1' else 0, asked.unit)}".strip()


def in_words(typed: str, options: Sequence[str]) -> str:
    """The texts of the options, Markdown, that were typed by letter or text; "" where it is no answer."""
    return " → ".join(options[LETTERS.index(letter)] for letter in _chosen(typed, options))


def _chosen(typed: str, options: Sequence[str]) -> str:
    """The letters of the options that were typed, one or all; "" where it is neither."""
    for count in {1, len(options)} - {0}:
        with suppress(ValueError):
            return _letters(typed, options, count)
    return ""


def _letters(typed: str, options: Sequence[str], count: int) -> str:
    """So many letters of the options, between which commas, spaces and arrows are passed over; or the letter of the one
    option whose text was typed, or of the only one that begins so."""
    letters = LETTERS[: len(options)]
    found = re.sub(r"[\s,;.>()<→-]", "", typed).lower()
    if len(found) == count and len(set(found)) == count and set(found) <= set(letters):
        return found
    if count == 1 and (text := _bare(typed)):
        texts = [_bare(option) for option in options]
        same = [n for n, option in enumerate(texts) if option == text]
        begun = [n for n, option in enumerate(texts) if re.match(rf"{re.escape(text)}\b", option)]
        if len(same or begun) == 1:
            return letters[(same or begun)[0]]
    each = "each once" if count > 1 else "one of them"
    raise ValueError(f"“{typed.strip()}” is not an answer: the options are {', '.join(letters)}, {each}")


def _bare(text: str) -> str:
    """A text without what is marked up, spaces doubled and a full stop at its end, in small letters."""
    return " ".join(re.sub(r"[`*_]", "", text).split()).rstrip(".").casefold()


def _line_number(typed: str, most: int) -> str:
    found = re.fullmatch(r"(?:lines?|l)?\s*(\d+)\.?", typed.strip(), re.IGNORECASE)
    if found is None or not 1 <= int(found[1]) <= most:
        raise ValueError(f"“{typed.strip()}” is not a line: lines are numbered from 1 to {most}")
    return str(int(found[1]))


class _Formatter(string.Formatter):
    """Formats numbers that have no format of their own as `units.compact` does, and with `.3g` those of a thousand and
    more: what is asked and what explains it show one number.

    `{n:loads}` is 1 load or 2 loads, and `{device:a}` is a Tesla T4 or
    an NVIDIA A100.
    """

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "a" and isinstance(value, str):
            return f"{'an' if value.startswith(_AN) else 'a'} {value}"
        if _PLURAL.fullmatch(format_spec) and isinstance(value, int | float):
            return units.quantity(value, format_spec)
        if not format_spec and isinstance(value, int | float) and not isinstance(value, bool):
            return units.compact(value)
        if format_spec.endswith("g") and isinstance(value, int | float) and 1000 <= abs(value) < units.LARGE:
            return units.compact(value)
        return super().format_field(value, format_spec)


_FORMATTER = _Formatter()


def _function(file: Path, name: str) -> Callable[..., object]:
    """The function of that name in the module beside a declaration; raises WarpladderError."""
    function = getattr(_module(file), name, None)
    if not callable(function):
        raise WarpladderError(f"`{name}` is missing", file=file, remedy=f"define {name}(…)")
    return function  # type: ignore[no-any-return]


@cache
def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"probes_of_{file.parent.name}_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise WarpladderError("there are no functions that compute its probes", file=file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise WarpladderError(f"it does not load: {type(error).__name__}: {error}", file=file) from error
    return module
