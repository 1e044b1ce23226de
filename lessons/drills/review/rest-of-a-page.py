"""What drill `rest-of-a-page` asks for."""

PAGE = 16


def rows_of_others(lengths: str) -> dict[str, object]:
    """Free places in the last pages of sequences."""
    free = [-int(length) % PAGE for length in lengths.replace(" and ", ", ").split(", ")]
    return {"answer": sum(free), "free": ", ".join(map(str, free[:-1])) + f" and {free[-1]}"}
