"""Cases that learners are not shown: sizes and a seed of the course's own, in a file beside its assignments.

    seed = 482193                # the random inputs are drawn from it
    [[transpose]]                # a size to try besides the topic's own
    M = 77
    N = 130

The file is for the instructor to read and to change. It does not lie among an assignment's files, so nbgrader never
copies it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.correctness.cases import PUBLIC_SEED
from grader.judge.kernels.case_runner import work
from grader.workbook.expressions import Number, nearest
from grader.workbook.strict_toml import read
from grader.workbook.topic import Topic

SIZES_A_TOPIC = 3
_TRIES = 10_000

HEAD = """\
# Hidden cases: what submissions are tried on besides the workbook's public cases. Learners never see them, so keep
# this file out of everything that is released. A [[topic]] table is one size; the seed is what random inputs are
# drawn from, for the public sizes, too. Change what you like: submissions are marked anew where it matters.
"""


@dataclass(frozen=True)
class Hidden:
    """Hidden cases by topic."""

    secret: int  # the file's `seed`, never the public one: pseudonyms are made with all of it
    sizes: Mapping[str, Sequence[dict[str, Number]]] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """What random inputs are drawn from: as many bits as generators take everywhere."""
        most = 2**31
        return self.secret if self.secret < most else PUBLIC_SEED + 1 + self.secret % (most - PUBLIC_SEED - 1)

    def of(self, topic: Topic) -> tuple[dict[str, Number], ...]:
        """The sizes of a topic's hidden cases; none where the file has none."""
        return tuple(self.sizes.get(topic.name, ()))


def draw(topics: Iterable[Topic], seed: int | None = None) -> Hidden:
    """Hidden cases drawn at random: for each topic, sizes between those it is judged at.

    `seed`: what they are drawn from, so that tests have the same ones; None: the system's entropy.
    """
    source = random.SystemRandom() if seed is None else random.Random(seed)
    sizes = {topic.name: _sizes(topic, source) for topic in topics}
    return Hidden(source.randrange(2**127, 2**128), sizes)


def _sizes(topic: Topic, source: random.Random) -> list[dict[str, Number]]:
    """Sizes that the topic allows and does not have itself, no more work than its largest and no less than most."""
    own = topic.judge_cases
    amounts = sorted(work(topic, problem) for problem in own)
    least, most = amounts[len(own) // 2], amounts[-1]
    found: list[dict[str, Number]] = []
    for _ in range(_TRIES):
        drawn = {name: _drawn([case[name] for case in own], source) for name in own[0]}
        try:
            problem = topic.problem("count", drawn)
        except WarpladderError:  # such as a filter larger than the image
            continue
        if problem not in (*own, *found) and least <= work(topic, problem) <= most:
            found.append(problem)
        if len(found) == SIZES_A_TOPIC:
            return found
    raise WarpladderError(f"no hidden sizes were found for {topic.name}", file=topic.folder / "topic.toml")


def _drawn(values: Sequence[Number], source: random.Random) -> Number:
    """A size between the topic's own, or one of its own floats."""
    sizes = [value for value in values if isinstance(value, int)]
    return _between(sizes, source) if len(sizes) == len(values) else source.choice(values)


def _between(values: Sequence[int], source: random.Random) -> int:
    """From the smallest to the largest of the values; half of the time, small ones are as likely as large ones."""
    least, most = min(values), max(values)
    if source.random() < 0.5:
        return source.randint(least, most)
    return round(least - 1 + float((most - least + 1) ** source.random()))


def to_toml(hidden: Hidden) -> str:
    """The file's text."""
    tables = [
        f"[[{topic}]]\n" + "".join(f"{name} = {size}\n" for name, size in problem.items())
        for topic, problems in hidden.sizes.items()
        for problem in problems
    ]
    return "\n".join([f"{HEAD}\nseed = {hidden.secret}\n", *tables])


def load(path: Path, topics: Mapping[str, Topic]) -> Hidden:
    """Read the file; raises WarpladderError, with its line, for what is no size of a topic."""
    if not path.is_file():
        remedy = "`ladder course init` writes one; or take it back from a copy of the course"
        raise WarpladderError("the course's hidden cases are missing", file=path, remedy=remedy)
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    seed = table.get("seed", int)
    if seed <= PUBLIC_SEED:
        raise table.error(f"`seed` is {seed}, the public one or below", "seed", "take any other number")
    sizes: dict[str, list[dict[str, Number]]] = {}
    for name in (name for name in table.values if name != "seed"):
        if name not in topics:
            where = table.tables(name)[0]
            raise where.error(f"there is no topic `{name}`{nearest(name, topics)}", remedy="correct its name")
        topic = topics[name]
        for item in table.tables(name):
            item.allow(*(given.name for given in topic.signature.by_value))
            drawn = {
                given.name: item.get(given.name, int if given.kind == "size" else float)
                for given in topic.signature.by_value
            }
            try:
                sizes.setdefault(name, []).append(topic.problem("count", drawn))
            except WarpladderError as error:
                raise item.error(str(error)) from None
    return Hidden(seed, sizes)
