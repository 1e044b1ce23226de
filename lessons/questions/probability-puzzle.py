"""Waiting for patterns of coin tosses.

Sources: Li, 1980 (mean waits by a martingale); Graham, Knuth and Patashnik, section 8.4 (races).
"""

from fractions import Fraction

HALF = Fraction(1, 2)


def from_prefix(pattern: str, matched: int) -> dict[str, float]:
    """Mean wait from a matched prefix: that from the start less that for the prefix without going back."""
    waits = _waits(pattern)
    return {"answer": int(waits[matched]), "whole": int(waits[0])}


def falls_back(pattern: str) -> dict[str, float | str]:
    """Letters matched after the last one failed."""
    tosses = pattern[:-1] + ("T" if pattern[-1] == "H" else "H")
    return {"answer": len(_matched(tosses, (pattern,))), "tosses": tosses}


def mean_wait(pattern: str) -> dict[str, float | str]:
    """Conway's sum of 2^k."""
    lengths = _overlaps(pattern)
    return {"answer": sum(2**k for k in lengths), "lengths": ", ".join(map(str, lengths))}


def race(mine: str, yours: str) -> dict[str, float | str]:
    """The probability that mine appears first, by linear equations over the matched prefixes."""
    both = (mine, yours)
    states = sorted({word[:k] for word in both for k in range(len(word) + 1)} - set(both))
    rows = []
    for state in states:
        row = {state: Fraction(1)}
        constant = Fraction(0)
        for toss in "HT":
            after = _matched(state + toss, both)
            if after == mine:
                constant += HALF
            elif after != yours:
                row[after] = row.get(after, Fraction(0)) - HALF
        rows.append([row.get(name, Fraction(0)) for name in states] + [constant])
    won = _solved(rows)[states.index("")]
    waits = {"wait_mine": int(_waits(mine)[0]), "wait_yours": int(_waits(yours)[0])}
    return {"answer": float(won), "fraction": str(won), **waits}


def biased_wait(p: float, pattern: str) -> dict[str, float | str]:
    """Sum of 1 / P(prefix) over the overlaps (Li, 1980)."""
    parts = []
    for k in _overlaps(pattern):
        heads = pattern[:k].count("H")
        parts.append(1 / (p**heads * (1 - p) ** (k - heads)))
    return {"answer": sum(parts), "terms": " + ".join(f"{part:.4g}" for part in parts)}


def _overlaps(pattern: str) -> list[int]:
    return [k for k in range(1, len(pattern) + 1) if pattern[:k] == pattern[-k:]]


def _matched(tosses: str, patterns: tuple[str, ...]) -> str:
    """The longest end of the tosses that begins one of the patterns."""
    ends = (tosses[i:] for i in range(len(tosses) + 1))
    return next(end for end in ends if any(pattern.startswith(end) for pattern in patterns))


def _waits(pattern: str) -> list[Fraction]:
    """Mean tosses from each matched prefix."""
    size = len(pattern)
    rows = []
    for k in range(size):
        row = [Fraction(int(i == k)) for i in range(size)] + [Fraction(1)]
        for toss in "HT":
            after = len(_matched(pattern[:k] + toss, (pattern,)))
            if after < size:
                row[after] -= HALF
        rows.append(row)
    return _solved(rows)


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss-Jordan elimination."""
    size = len(rows)
    for i in range(size):
        pivot = next(j for j in range(i, size) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i and rows[j][i]:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]
