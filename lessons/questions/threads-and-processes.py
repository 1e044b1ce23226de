"""What threads do to each other. Source: the C++ standard, [intro.races]; Coffman et al., System Deadlocks, 1971."""


def value_seen(start: int, add: int, who: str) -> dict[str, float | str]:
    """A thread shares the variable, a forked child has a copy."""
    if "fork" in who:
        return {"answer": start + 1, "why": "The child changes its own copy of the page"}
    return {"answer": start + add + 1, "why": "The thread shares the global variable"}


def least_value(threads: int, times: int) -> dict[str, float | str]:
    """1 if each runs the statement once, otherwise 2, whatever the number of threads."""
    if times == 1:
        return {"answer": 1, "why": "All threads load 0, and all store 1."}
    return {
        "answer": 2,
        "why": "Thread 1 loads 0 and pauses, and thread 2 runs all iterations but its last. Thread 1 stores 1, "
        "and thread 2 loads this 1 for its last iteration. Thread 1 and all others finish. Then thread 2 stores 2.",
    }


def can_deadlock(one: str, two: str, three: str) -> dict[str, str]:
    """Whether the graph "held, then wanted" has a circle."""
    edges = {tuple(order.split(", ")) for order in (one, two, three)}
    reach = set(edges)
    for _ in range(3):
        reach |= {(a, d) for a, b in reach for c, d in edges if b == c}
    if any(a == b for a, b in reach):
        return {
            "answer": "yes",
            "why": "Threads can each hold a mutex that another of them waits for, in a cycle",
        }
    return {"answer": "no", "why": "All threads follow one common order of the mutexes, so there is no cycle"}


def pool_size(cpu: int, wait: int, cores: int) -> dict[str, float]:
    """cores · (1 + wait/cpu)."""
    return {"answer": cores * (cpu + wait) / cpu, "total": cpu + wait}


def under_lock(task: int, locked: int, threads: int) -> dict[str, float]:
    """Tasks in a millisecond: the smaller of what cores and lock allow."""
    by_cores, by_lock = 1e3 * threads / task, 1e3 / locked
    return {"answer": min(by_cores, by_lock), "by_cores": by_cores, "by_lock": by_lock}
