"""Reading profiles. Sources: Nsight Compute, Profiling Guide (stall reasons, sectors); Williams et al., 2009."""

from math import ceil

TFLOPS, GB_S = 60, 4000


def idle_percent(kernels: int, kernel: int, launch: int) -> dict[str, float | str]:
    """Idle share where launches and kernels overlap in a stream."""
    period = max(kernel, launch)
    so = "The launches limit the rate." if launch > kernel else "The launches are hidden behind the kernels."
    return {"answer": 100 * (1 - kernel / period), "period": period, "so": so}


def which_kernel(a: int, fa: float, b: int, fb: float, c: int) -> dict[str, float | str]:
    """Saved: share · (1 − 1/factor)."""
    saved = {"A": a * (1 - 1 / fa), "B": b * (1 - 1 / fb), "C": c * (1 - 1 / 10)}
    return {"answer": max(saved, key=saved.__getitem__), "sa": saved["A"], "sb": saved["B"], "sc": saved["C"]}


def limiter(gflop: int, gb: float, ms: float) -> dict[str, float | str]:
    """Which peak is near."""
    arithmetic, memory = 100 * gflop / ms / TFLOPS, 1e5 * gb / ms / GB_S
    if max(arithmetic, memory) < 75:
        answer = "latency, or too little work"
    else:
        answer = "memory throughput" if memory > arithmetic else "arithmetic throughput"
    if min(arithmetic, memory) >= 75:
        answer = "both throughputs"
    return {"answer": answer, "arithmetic": arithmetic, "memory": memory}


def necessary_share(millions: int, us: int, percent: int) -> dict[str, float]:
    """Bytes moved over two arrays read and one written."""
    moved, needed = GB_S * percent / 100 * us / 1e3, 12 * millions
    return {"answer": moved / needed, "moved": moved, "needed": needed}


def stall_cure(case: str) -> dict[str, str]:
    """By the main stall reason."""
    if "long scoreboard" in case:
        return {
            "answer": "Issue several independent loads before the first use",
            "why": "Memory bandwidth is left, and accesses are coalesced already: too few loads are in flight.",
        }
    if "short scoreboard" in case:
        return {
            "answer": "Pad the shared-memory tile by a column",
            "why": "A request takes sixteen wavefronts instead of one, because of bank conflicts.",
        }
    if "LG throttle" in case:
        return {
            "answer": "Move the same bytes with fewer, wider loads",
            "why": "The queue for global and local requests is full, although each request is coalesced.",
        }
    return {
        "answer": "Use fewer or lighter arithmetic instructions",
        "why": "The FMA pipe is nearly full; neither memory nor latency is the limit.",
    }


def sectors_request(requests: int, sectors: int) -> dict[str, float]:
    """4 sectors are 32 lanes · 4 bytes."""
    per = sectors / requests
    return {"answer": 100 * 4 / per, "per": per}


def waves(blocks: int, sms: int, each: int) -> dict[str, float]:
    """Blocks over the slots of whole waves."""
    slots = sms * each
    count = ceil(blocks / slots)
    return {"answer": 100 * blocks / count / slots, "slots": slots, "waves": count}


def new_time(ms: int, sectors: int, share: int) -> dict[str, float]:
    """Loads shrink to 4 sectors a request; the rest stays."""
    rest, ratio = 1 - share / 100, 4 / sectors
    return {"answer": ms * (rest + share / 100 * ratio), "rest": rest, "ratio": ratio}
