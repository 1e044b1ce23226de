"""Sources that a class hands in, each with what it is worth: known from the rung that it was, or from the mistake that
it is, and never from grading it."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from classroom.rewriting import by_other_names
from grader.workbook.topic import Topic

SUBMISSIONS = Path(__file__).parents[2] / "tests" / "submissions"
WRONG = "fail|error|timeout"

_KERNEL = re.compile(r"__global__[^{;]*\{")
_RUN = re.compile(r"( *)def run\(self\):\n")


@dataclass(frozen=True)
class Expected:
    """What has to come of a submission."""

    points: float | None  # before a late policy; None: it has no mark, since it cannot be read
    verdict: str = ""  # a regular expression that the verdict matches
    reason: str = ""  # and one that is found in the reason


@dataclass(frozen=True)
class Made:
    """A source, and what it is worth."""

    text: str
    expected: Expected


def rung(topic: Topic, name: str, draw: random.Random) -> Made:
    """A rung by other names: it reaches itself."""
    points = sum(claim.points for claim in topic.ladder.claims_up_to(name))
    text = by_other_names(topic.suffix, topic.rung(name).path.read_text("utf-8"), draw, _fixed(topic))
    return Made(text, Expected(points, "pass"))


def right(topic: Topic, draw: random.Random) -> Made:
    """A rung of the upper half."""
    ids = topic.ladder.ids
    return rung(topic, draw.choice(ids[len(ids) // 2 :]), draw)


def half_right(topic: Topic, draw: random.Random) -> Made:
    """A rung of the lower half."""
    ids = topic.ladder.ids
    return rung(topic, draw.choice(ids[: len(ids) // 2]), draw)


def original(topic: Topic, draw: random.Random) -> Made:
    """A rung with a statement of one's own, so that it is nobody else's work."""
    made = right(topic, draw)
    value = draw.randrange(2, 10**6)
    code = f"volatile int own = {value}; (void)own;" if topic.suffix == ".cu" else f"own = {value}"
    return Made(_at_the_start(made.text, topic.suffix, code), made.expected)


def copied(topic: Topic, text: str, draw: random.Random) -> str:
    """Somebody else's source by other names."""
    return by_other_names(topic.suffix, text, draw, _fixed(topic))


def wrong(topic: Topic, draw: random.Random) -> Made:
    """A mistake of a learner's: of the shelf `wrong`, or of expected.toml."""
    shelf = sorted((SUBMISSIONS / topic.name / "wrong").glob(f"*{topic.suffix}"))
    listed = [name for name, about in _mistakes(topic).items() if about["verdict"] == "fail"]
    picked = draw.choice([*shelf, *listed])
    if isinstance(picked, Path):
        return _rewritten(topic, picked, Expected(0, WRONG), draw)
    return _listed(topic, picked, draw)


def racing(topic: Topic, draw: random.Random) -> Made:
    """Threads, or streams, that do not wait for each other; another mistake where none has to wait."""
    races = re.compile("race|wait|before|too early")
    names = [
        name
        for name, about in _mistakes(topic).items()
        if about["verdict"] == "fail" and races.search(f"{name} {about['reason']}")
    ]
    return _listed(topic, draw.choice(names), draw) if names else wrong(topic, draw)


def hanging(topic: Topic, draw: random.Random) -> Made:
    """The naive rung, which first waits for what never comes."""
    made = rung(topic, topic.ladder.ids[0], draw)
    code = "volatile int turns = 1; while (turns) { }" if topic.suffix == ".cu" else "while True: pass"
    return Made(_at_the_start(made.text, topic.suffix, code), Expected(0, "timeout"))


def compile_error(topic: Topic, draw: random.Random) -> Made:
    """A rung that is no program."""
    made = right(topic, draw)
    code = draw.choice(("int missing = ;", "missing(;", "return }"))
    return Made(_at_the_start(made.text, topic.suffix, code), Expected(0, "error"))


_TEN = " ".join(["{0}"] * 10)
_BOMBS = {
    ".cu": (
        # Eleven levels of macros of ten each: 10^11 words.
        (
            "#define b0 1,\n" + "".join(f"#define b{n} {_TEN.format(f'b{n - 1}')}\n" for n in range(1, 12)),
            "int all[] = { b11 }; (void)all;",
        ),
        (
            "__device__ constexpr long bomb(long n)"
            "{ long s = 0; for (long i = 0; i < n; ++i) s += bomb(n - 1); return s; }\n",
            "constexpr long all = bomb(60); (void)all;",
        ),
        (
            "template <long N, long M> struct Bomb"
            "{ static const long v = Bomb<N - 1, 2 * M>::v + Bomb<N - 1, 2 * M + 1>::v; };\n"
            "template <long M> struct Bomb<0, M> { static const long v = M; };\n",
            "const long all = Bomb<40, 0>::v; (void)all;",
        ),
    ),
    ".py": (
        ("", "all = " + "(" * 100_000),
        ("", "all = " + "-" * 100_000 + "1"),
        ("", "all = 9 ** 9 ** 9 ** 9"),
        ("", "all = bytearray(1 << 40)"),
    ),
}


def compiler_bomb(topic: Topic, draw: random.Random) -> Made:
    """A few lines that take the compiler, or Python, all time or all memory."""
    head, code = draw.choice(_BOMBS[topic.suffix])
    made = rung(topic, topic.ladder.ids[0], draw)
    return Made(_at_the_start(made.text, topic.suffix, code, head), Expected(0, "error|timeout"))


def preprocessor_bomb(topic: Topic, draw: random.Random) -> Made:
    """Lines on which a search can go back and forth for ever, or that include themselves."""
    bombs = (
        ("#" + "/**/" * 40 + " x\n", ""),
        ("#include __FILE__\n", "includes"),
        ("#include" + " /* */" * 5_000 + "\n", "includes"),
        ("#include <" + "../" * 10_000 + "etc/passwd>\n", "includes"),
    )
    head, reason = draw.choice(bombs)
    made = rung(topic, topic.ladder.ids[0], draw)
    return Made(_at_the_start(made.text, topic.suffix, "", head), Expected(0, "error", reason))


def prints(topic: Topic, draw: random.Random) -> Made:
    """A kernel each of whose threads prints a line and does no more; or a right schedule that prints 18 kB."""
    made = rung(topic, topic.ladder.ids[0], draw)
    if topic.suffix == ".py":
        code = 'print("lines " * 3_000)'
        return Made(_at_the_start(made.text, topic.suffix, code), made.expected)
    code = 'printf("thread %d of block %d\\n", threadIdx.x, blockIdx.x); return;'
    return Made(_at_the_start(made.text, topic.suffix, code), Expected(0, WRONG))


Source = Callable[[Topic, random.Random], Made]


def _at_the_start(text: str, suffix: str, code: str, head: str = "") -> str:
    """A statement at the start of the kernel, or of a schedule's run; `head` stands before all code."""
    if suffix == ".py":
        found = _RUN.search(text)
        assert found, text
        return f"{head}{text[: found.end()]}{found[1]}    {code}\n{text[found.end() :]}"
    text = re.sub(r"(// ///\n)(?!.*// ///\n)", lambda end: end[0] + head, text, count=1, flags=re.DOTALL)
    found = _KERNEL.search(text)
    assert found, text
    return f"{text[: found.end()]}\n    {code}\n{text[found.end() :]}"


@cache
def _expected() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = tomllib.loads((SUBMISSIONS / "expected.toml").read_text("utf-8"))
    return found


def _mistakes(topic: Topic) -> dict[str, dict[str, str]]:
    """The mistakes of expected.toml in a topic, by file."""
    return {name: about for name, about in _expected().items() if name.startswith(f"{topic.name}/")}


def _listed(topic: Topic, name: str, draw: random.Random) -> Made:
    about = _expected()[name]
    # What a schedule says when it stops is not shown to learners.
    reason = "" if topic.suffix == ".py" and about["verdict"] == "error" else _on_any_line(about["reason"])
    return _rewritten(topic, SUBMISSIONS / name, Expected(0, about["verdict"], reason), draw)


def _on_any_line(reason: str) -> str:
    """A pattern of a reason without the numbers of lines, which move as a file is rewritten."""
    number = r"[\\\dd+]+"
    return re.sub(
        rf"(lines? ){number}( to )?(?:(?<= to ){number})?", r"\1\\d+\2", reason, flags=re.IGNORECASE
    )


def _rewritten(topic: Topic, path: Path, expected: Expected, draw: random.Random) -> Made:
    """A file by other names, but for those that its reason names."""
    keep = [*_fixed(topic), *re.findall(r"\w+", expected.reason)]
    return Made(by_other_names(topic.suffix, path.read_text("utf-8"), draw, keep), expected)


def _fixed(topic: Topic) -> Sequence[str]:
    """Names that are the problem's."""
    return [item.name for item in topic.signature.params] + [name for name, _ in topic.signature.derived]
