"""What drill `saved-for-a-band` asks for."""

BAND = 64  # rows


def dgamma_of_column(M: int, what: str) -> dict[str, object]:
    """The sum of dy · (x - mean) · rstd, where dy and rstd are 1, x is 0, and row i has the mean i."""
    true = -sum(range(M))
    found = -sum(row % BAND for row in range(M))
    if "dbeta" in what:
        why = "dbeta is the sum of dy, and needs neither mean nor rstd"
        return {"answer": M, "why": why, "verdict": "That is right"}
    why = "In each band the means of its rows are taken to be 0, 1, 2 and so on, and each of them is subtracted once"
    return {"answer": found, "why": why, "verdict": f"Right would be {true:,}"}
