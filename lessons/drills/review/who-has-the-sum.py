"""What drill `who-has-the-sum` asks for."""


def handed_on(each: int) -> int:
    """The value of lane 31 behind shuffles down, each of which gives it its own value to add."""
    value = each
    for _ in (16, 8, 4, 2, 1):
        value += value
    return value
