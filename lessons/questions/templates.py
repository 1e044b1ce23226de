"""Templates: what is deduced, chosen and built. Source: the C++ standard, [temp.deduct.call], [over.match.best]."""


def kernels_built(types: int, tiles: int, layouts: int, targets: int) -> int:
    """Instances times architectures."""
    return types * tiles * layouts**2 * targets


def statics(calls: str) -> dict[str, str]:
    """A counter for each type that is deduced."""
    counts: dict[str, int] = {}
    printed, types = "", []
    for call in calls.split("next(")[1:]:
        argument = call.split(")")[0]
        kind = "char" if "'" in argument else "double" if "." in argument else "int"
        counts[kind] = counts.get(kind, 0) + 1
        printed += str(counts[kind])
        types.append(kind)
    return {"answer": printed, "types": ", ".join(types)}


def deduced(parameter: str, argument: str) -> dict[str, str]:
    """T for lvalues i of type int and c of type const int."""
    if parameter == "T":
        return {"answer": "int", "why": "The parameter is a copy, so const of the argument is dropped"}
    plain = "const int" if argument == "c" else "int"
    if parameter == "T&":
        return {"answer": plain, "why": "The & belongs to the parameter, and T keeps a const of the argument"}
    return {"answer": f"{plain}&", "why": "For an lvalue, a forwarding reference makes T an lvalue reference"}


def chosen(argument: str) -> dict[str, str]:
    """By exactness first, then non-template, then more specialised."""
    if argument.startswith("&"):
        return {"answer": "2", "why": "Both templates fit exactly, and T* is more specialised"}
    if argument == "d":
        return {"answer": "3", "why": "Template 1 fits exactly too, but a non-template wins"}
    return {"answer": "1", "why": "Template 1 fits exactly, and 3 would need a conversion"}


def local_bytes(m: int, n: int, bounds: str) -> dict[str, float | str]:
    """Arrays with indices unknown at compile time lie in local memory."""
    if bounds == "template parameters":
        return {
            "answer": 0,
            "why": "The loops are unrolled, so every index is a constant and each element is in a register",
        }
    return {
        "answer": 4 * m * n,
        "why": "Registers cannot be indexed by a variable, so the array is put into memory",
    }


def modulo(w: str) -> dict[str, str]:
    """By what is known of the divisor."""
    if "64" in w:
        return {"answer": "by one AND", "why": "The remainder by a power of two is in the lower bits"}
    if "100" in w:
        return {
            "answer": "by a multiplication, a shift and a subtraction",
            "why": "The reciprocal of the constant is known, in fixed point",
        }
    return {
        "answer": "by a division routine of a dozen instructions or more",
        "why": "Nothing is known about the divisor",
    }


CANDIDATES = ("the template", "`f(...)`", "neither, it does not compile", "either, it is ambiguous")


def substituted(expression: str) -> dict[str, object]:
    """A candidate whose signature cannot be formed is left out; the ellipsis is the worst of those that remain."""
    valid = expression in ("x + 1", "-x")
    why = (
        "The signature can be formed for int, and any conversion is better than an ellipsis"
        if valid
        else f"`{expression}` is not valid for an int, so that candidate is removed without an error"
    )
    return {"answer": CANDIDATES[not valid], "options": CANDIDATES, "why": why}
