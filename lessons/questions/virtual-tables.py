"""Objects with virtual functions. Source: Itanium C++ ABI, chapter 2 (data layout); C++ standard, [class.cdtor]."""

SIZES = {"char": 1, "int": 4, "double": 8}


def object_bytes(functions: str, members: str) -> dict[str, float | str]:
    """Members in order, each aligned to its size, after the vptr."""
    virtual = "virtual" in functions
    end, most = (8, 8) if virtual else (0, 1)
    for member in members.rstrip(";").split("; "):
        size = SIZES[member.split()[0]]
        end = -(-end // size) * size + size
        most = max(most, size)
    vptr = "There is a vptr of 8 bytes" if virtual else "There is no virtual function, so no vptr"
    return {
        "answer": -(-end // most) * most,
        "why": f"{vptr}. The members end at byte {end}, rounded up to a multiple of {most}",
    }


def tables_and_pointers(functions: int, classes: int, objects: int) -> int:
    """A vptr for each object."""
    return 8 * objects


def loop_clocks(base: int, penalty: int, run: int) -> dict[str, float]:
    """One misprediction at each change of type."""
    missed = 1000 // run
    return {"answer": 1000 * base + missed * penalty, "missed": missed}


def prints(code: str) -> dict[str, str]:
    """In constructors and destructors of B, f is B's."""
    if code.startswith("{ B b;"):
        return {"answer": "bbb", "why": "The object is a B all the time"}
    if "B b = d" in code:
        return {
            "answer": "bdbb",
            "why": "B's constructor prints b, d.f() prints d, and each of the two objects' destructors of B prints b",
        }
    return {
        "answer": "bdb",
        "why": "B's constructor and destructor call B::f, and in between the object is a D",
    }


def divergent(types: int, rule: str, clocks: int) -> dict[str, float]:
    """Targets that occur in a warp."""
    targets = types if rule.startswith("i ") else 1
    return {"answer": targets * clocks, "targets": targets}
