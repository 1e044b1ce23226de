"""What drill `four-at-a-time` asks for."""


def never_written(n: int) -> dict[str, int]:
    """The element of c that no thread stores, from the indices in the source: the rest is shifted up by one."""
    quads, rest = divmod(n, 4)
    written = {*range(4 * quads), *(n - thread for thread in range(rest))}
    (missing,) = {*range(n)} - written
    return {"answer": missing, "quads": quads, "rest": rest}
