"""Which tier runs what: without a mark `make test`, `verify` for `make verify`, and `soak` for `make soak`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def sample(names: Iterable[str], few: Collection[str], area: str, verify: bool = False) -> list[object]:
    """Parameters of a test: a few stand for all, in `make test` or with `verify` in that, and the others are swept by
    the soak of an area."""
    found = list(names)
    assert set(few) <= set(found), f"{sorted(set(few) - set(found))} are not there"
    here = [pytest.mark.verify] if verify else []
    return [pytest.param(name, marks=here if name in few else pytest.mark.soak(area=area)) for name in found]
