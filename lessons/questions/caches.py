"""Sets and misses. Source: Hennessy and Patterson, Computer Architecture, appendix B."""

LINE = 64


def set_of(kib: int, ways: int, address: int) -> dict[str, float]:
    """Line number modulo the number of sets."""
    sets = kib * 1024 // (ways * LINE)
    return {"answer": address // LINE % sets, "sets": sets}


def second_pass(count: int, stride: int) -> dict[str, float]:
    """Two passes through a simulated cache of 64 sets and 8 ways with LRU."""
    content: dict[int, list[int]] = {}
    lines = [i * stride // LINE for i in range(count)]
    misses = 0
    for _ in range(2):
        misses = 0
        for line in lines:
            ways = content.setdefault(line % 64, [])
            if line in ways:
                ways.remove(line)
            else:
                misses += 1
            ways.append(line)
            del ways[:-8]
    distinct = set(lines)
    deepest = max(sum(line % 64 == index for line in distinct) for index in content)
    return {"answer": misses, "lines": len(distinct), "sets": len(content), "deepest": deepest}


def kind_of_miss(case: str) -> dict[str, str]:
    """By the working set and its sets."""
    if case.startswith("One"):
        return {"answer": "compulsory", "why": "Each line is touched for the first time"}
    if "12 ints" in case:
        return {
            "answer": "conflict",
            "why": "Twelve lines fall into one set of eight ways, and the other 63 sets stay empty",
        }
    return {"answer": "capacity", "why": "The array is 32 times as large as the cache"}


def mean_clocks(l1: int, l2: int, memory: int) -> float:
    """Hit time and what the misses add, level by level."""
    return 4 + l1 / 100 * (14 + l2 / 100 * memory)


def store_traffic(loop: str, mb: int) -> dict[str, float | str]:
    """Lines read, and lines written back."""
    passes, why = {
        "a[i] = 0;": (2, "a is fetched although it is overwritten, and written back"),
        "a[i] = b[i];": (3, "b is read, a is fetched and written back"),
        "a[i] += b[i];": (3, "a and b are read, a is written back"),
        "s += a[i];": (1, "a is read"),
    }[loop]
    return {"answer": passes * mb, "why": why}


def loop_misses(n: int, order: str) -> dict[str, float | str]:
    """A column of n lines survives until its next element only if n lines fit."""
    lines = n * n // 16
    if order == "row by row":
        return {"answer": lines, "why": "Each line of 16 floats misses once"}
    if n <= 32 * 1024 // LINE:
        return {
            "answer": lines,
            "why": f"A column touches {n} lines, which fit into the cache's 512, so each line misses once",
        }
    return {
        "answer": n * n,
        "why": f"A column touches {n:,} lines, more than the cache's 512, so every access misses",
    }
