"""One Chromium for all tests of a process: each opens windows of its own, and closes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from windows import chromium_browser  # so that tests of the book as files do without Playwright

    with chromium_browser() as found:
        yield found
