"""What holds for all tests."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the history of whoever runs it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("WARPLADDER_HOME", str(tmp_path_factory.mktemp("home")))
        yield
