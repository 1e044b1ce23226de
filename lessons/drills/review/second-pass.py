"""What drill `second-pass` asks for."""


def largest(block: int) -> int:
    """Numbers in as many blocks as one block has threads."""
    return block * block
