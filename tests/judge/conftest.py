"""What tests of the judge share."""

from collections.abc import Iterator

import pytest
from marking import Marking

from grader.judge.runners.pool import DevicePool


@pytest.fixture(scope="session")
def marked() -> Iterator[Marking]:
    """Grades a file: `marked(topic, file)`."""
    with DevicePool("emulator", jobs=1, threads=1) as pool:
        yield Marking(pool)
