"""What holds for all tests."""

from collections.abc import Iterator

import pytest
import soak


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", metavar="K/N", type=soak.a_part, help="the K-th of N parts of the tests that are selected"
    )


def pytest_make_parametrize_id(val: object) -> str | None:
    """A text of a megabyte is not told in full where its test is named."""
    return f"{val[:60]!r}..." if isinstance(val, str | bytes) and len(val) > 1000 else None


@pytest.hookimpl(trylast=True)  # after -m has selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A part has every N-th test; those of one group (of pytest-xdist) stay together, as their fixtures are dear."""
    if part := config.getoption("--part"):
        number, of = map(int, part.split("/"))
        groups = sorted({_group(item) for item in items})
        mine = set(groups[number - 1 :: of])
        config.hook.pytest_deselected(items=[item for item in items if _group(item) not in mine])
        items[:] = [item for item in items if _group(item) in mine]


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else item.nodeid


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the history of whoever runs it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("WARPLADDER_HOME", str(tmp_path_factory.mktemp("home")))
        yield
