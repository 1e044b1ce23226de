"""Order and size of what owns something. Source: the C++ standard, [class.dtor], [except.ctor]; Itanium C++ ABI."""

PRINTED = {
    "T a('a'); T b('b');": "abBA",
    "T a('a'); { T b('b'); } T c('c');": "abBcCA",
    "T a('a'); T('b'); T c('c');": "abBcCA",
    "T a('a'); static T b('b'); T c('c'); // destructors of this call only": "abcCA",
}
OTHERS = ("abAB", "abcCBA", "abBcAC", "abcBCA")


def prints(code: str) -> dict[str, object]:
    """What the lines print, and what one may think."""
    return {"answer": PRINTED[code], "options": [*sorted(set(PRINTED.values())), *OTHERS][:6]}


def released(count: int, fails: int) -> int:
    """Members before the one that threw."""
    return fails - 1


def bytes_of(type: str) -> dict[str, float | str]:
    """Pointers of 8 bytes; a stateless deleter takes no room."""
    if "shared" in type:
        return {"answer": 16, "why": "It holds a pointer to the object and one to the control block"}
    if "void" in type:
        return {"answer": 16, "why": "The deleter is a function pointer, which has to be stored"}
    return {"answer": 8, "why": "The default deleter is empty and takes no room"}


def released_by_then(count: int, after: int, way: str) -> dict[str, float | str]:
    """What exists is destroyed on every way out of its scope; std::abort leaves none."""
    if "abort" in way:
        return {"answer": 0, "why": "The process ends at once, and no destructor runs"}
    return {"answer": after, "why": "Exactly the objects that were constructed are destroyed"}
