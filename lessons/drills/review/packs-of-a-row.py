"""What drill `packs-of-a-row` asks for."""

THREADS, WIDTH = 32, 8  # of the kernel, where N is a multiple of 8


def element_of_gamma(column: int) -> dict[str, int]:
    """The element of gamma that the kernel multiplies the element of this column by."""
    pack, lane = divmod(column, WIDTH)
    thread = pack % THREADS
    return {"answer": thread * WIDTH + lane, "pack": pack, "lane": lane, "thread": thread}
