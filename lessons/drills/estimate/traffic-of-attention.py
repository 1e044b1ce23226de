"""What fused attention saves."""

from grader.analysis.devices import DeviceSpec, named


def _parts(heads, s, board):
    """MB of scores, MB of the rest, and milliseconds of arithmetic."""
    spec = _board(board)
    return 2 * heads * s**2 / 1e6, 4 * 2 * heads * s * 128 / 1e6, 4e3 * s**2 * 128 * heads / spec.peak_tensor


def naive_ms(heads: int, s: int, board: str) -> dict[str, float]:
    """Scores written, read, written, read (Dao et al., 2022, algorithm 0), over the bandwidth."""
    scores, rest, _work = _parts(heads, s, board)
    move = (4 * scores + rest) * 1e6 / _board(board).peak_dram
    return {"answer": 1e3 * move, "scores": scores, "rest": rest}


def flop_ms(heads: int, s: int, board: str) -> float:
    """4·s²·d FLOP a head over the peak (Dao et al., 2022)."""
    return float(_parts(heads, s, board)[2])


def limit(heads: int, s: int, board: str) -> dict[str, object]:
    """The longer of the two times (Williams et al., 2009)."""
    scores, rest, work = _parts(heads, s, board)
    move, naive = (1e9 * mb / _board(board).peak_dram for mb in (rest, 4 * scores + rest))
    return {
        "answer": "arithmetic" if work > move else "memory bandwidth",
        "rest": rest,
        "move": move,
        "work": work,
        "naive": naive,
    }


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
