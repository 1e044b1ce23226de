"""What drill `filters-in-shared-memory` asks for."""


def room(r: int, s: int) -> dict[str, int]:
    """Floats beyond r * s bytes."""
    fit = r * s // 4
    return {"answer": r * s - fit, "bytes": r * s, "fit": fit}
