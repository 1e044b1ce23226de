"""What drill `taking-turns` asks for."""


def shared_by(streams: int, buffers: int) -> dict[str, int]:
    """Streams of the chunks of buffer 0."""
    used = {chunk % streams for chunk in range(0, buffers * streams, buffers)}
    return {"answer": len(used), "twice": 2 * buffers}
