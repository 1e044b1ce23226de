"""The engine that is asked for, by its name."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from grader.course.engines.engine import Engine
from grader.course.engines.threads import Threads
from grader.errors import WarpladderError
from grader.gpu_setup import installation

Name = Literal["threads", "dask"]


@contextmanager
def opened(name: Name, jobs: int, scheduler: str | None = None) -> Iterator[Engine]:
    """An engine with `jobs` marking processes, or with as many as the workers of a dask scheduler.

    Raises WarpladderError where it is not installed, or no scheduler answers.
    """
    if name == "threads":
        if scheduler is not None:
            raise WarpladderError("threads have no scheduler", remedy="give --engine dask as well")
        yield Threads(jobs)
        return
    for package in ("distributed", "cryptography"):
        if importlib.util.find_spec(package) is None:
            raise WarpladderError(f"{package} is not installed", remedy=installation("dask"))
    from grader.course.engines.cluster import local, remote

    with local(jobs) if scheduler is None else remote(scheduler) as engine:
        yield engine
