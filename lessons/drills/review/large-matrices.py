"""What drill `large-matrices` asks for."""


def elements(columns: int) -> int:
    """The fewest rows with more than 2^31 elements, so that the last index is beyond an int."""
    return 2**31 // columns + 1
