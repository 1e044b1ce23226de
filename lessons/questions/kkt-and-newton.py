"""Multipliers, and steps of root finders.

Sources: Boyd and Vandenberghe, section 5.5 (KKT); Nocedal and Wright, chapter 11 (Newton's method).
"""

from fractions import Fraction
from math import ceil, log2


def multiplier(a: int, b: int, c: int) -> dict[str, float | str]:
    """From 2(x − a) + μ = 0, 2(y − b) + μ = 0 and x + y = c where the constraint is active."""
    if a + b <= c:
        return {"answer": 0, "why": f"({a}, {b}) satisfies x + y ≤ {c}, so the constraint plays no part"}
    return {"answer": a + b - c, "why": f"x = {a} − μ/2, y = {b} − μ/2 and x + y = {c}"}


def sign_fails(c: int) -> dict[str, float]:
    """Half of c each; stationarity 2x − μ = 0 gives the multiplier."""
    return {"answer": c / 2, "mu": c}


def price(limit: int, mu: float, more: int) -> float:
    """First-order change of the optimum: multiplier × relaxation."""
    return mu * more


def newton_step(a: int, x: int) -> float:
    """x − f/f′ for f = x² − a."""
    return (x + a / x) / 2


def cycle(start: int, steps: int) -> int:
    """Newton's method on x³ − 2x + 2."""
    x = Fraction(start)
    for _ in range(steps):
        x -= (x**3 - 2 * x + 2) / (3 * x**2 - 2)
    return int(x)


def reciprocal_steps(bits: int, wanted: int) -> dict[str, float | str]:
    """Doublings from so many bits to those wanted."""
    path = [bits]
    while path[-1] < wanted:
        path.append(2 * path[-1])
    return {"answer": len(path) - 1, "path": " → ".join(map(str, path))}


def bisection_steps(width: int, digits: int) -> int:
    """Halvings of an interval."""
    return ceil(log2(width * 10**digits))
