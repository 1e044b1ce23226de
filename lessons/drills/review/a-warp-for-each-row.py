"""What drill `a-warp-for-each-row` asks for."""


def lanes(n: int) -> dict[str, int]:
    """Lanes whose loop has the last turn; n is no multiple of 32."""
    return {"answer": n % 32, "turns": n // 32}
