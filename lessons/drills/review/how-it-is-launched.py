"""What drill `how-it-is-launched` asks for."""


def never_computed(m: int, n: int) -> dict[str, int]:
    """Elements of an m × n matrix beyond a grid of cdiv(m, 16) × cdiv(n, 16) blocks, x first."""
    columns, rows = -(-m // 16) * 16, -(-n // 16) * 16
    done = min(m, rows) * min(n, columns)
    return {"answer": m * n - done, "rows": rows, "columns": columns, "done": done}
