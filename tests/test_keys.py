"""Kept results: each file of the package changes the keys of what it decides, and no others.

What decides what is worked out here a second time, from the graph of imports that import-linter uses, and where a
whole marking run can tell, from the modules that its processes load.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import grimp
import pytest

import grader
import grader.emulator.fingerprint as source
from grader import cuda
from grader.course import marking, orders
from grader.course.engines.process import Process
from grader.course.hidden import Hidden
from grader.course.marking import Marker
from grader.course.orders import Order
from grader.emulator.codegen import native_code
from grader.emulator.nvrtc import compilation
from grader.emulator.pycuda_api import shim
from grader.emulator.runtime import build
from grader.workbook import topics
from grader.workbook.topics import Topic

PACKAGE = Path(grader.__file__).resolve().parent
GRAPH = grimp.build_graph("grader", cache_dir=None)

KEYS: dict[str, Callable[[], object]] = {
    "compiled kernels": compilation._source_key.__wrapped__,
    "runtime": build._entry,
    "native code": native_code._generator_key.__wrapped__,
    "marks": orders.state_of_judge.__wrapped__,
}
MADE_BY = {
    "compiled kernels": ["grader.emulator.nvrtc.compilation", "grader.emulator.nvrtc.child"],
    "runtime": ["grader.emulator.runtime.build"],
    "native code": ["grader.emulator.ptx.parser", "grader.emulator.codegen.generator"],
    "marks": [
        "grader.course.worker",
        "grader.judge.child.server",  # which runs what is marked
        "grader.judge.child.recording",
        "grader.emulator.nvrtc.child",
        *shim.MODULES.values(),  # what a schedule may import
    ],
}


def path_of(module: str) -> str:
    base = PACKAGE.parent.joinpath(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return path.relative_to(PACKAGE.parent).as_posix()


def imported_by(modules: Iterable[str]) -> set[str]:
    """The files of these modules, of the packages they lie in, and of all that these import."""
    found: set[str] = set()
    wanted = set(modules)
    while wanted:
        found |= wanted
        imported = {item for module in wanted for item in GRAPH.find_modules_directly_imported_by(module)}
        wanted = (imported | {module.rpartition(".")[0] for module in wanted} - {""}) - found
    return {path_of(module) for module in found}


MODULES = sorted(path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py"))
DECIDES = {key: imported_by(modules) for key, modules in MADE_BY.items()}
DATA = {
    "grader/analysis/devices.toml": {"marks"},
    "grader/judge/kernels/read.cu": {"marks"},
    "grader/emulator/nvrtc/include/cmath": {"marks", "compiled kernels"},
    "grader/course/templates/feedback/mathjax.html.j2": {"marks"},
}


@pytest.fixture(scope="module")
def keys() -> dict[str, object]:
    return {name: key() for name, key in KEYS.items()}


def changed(path: str, keys: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The keys that are others once a comment was added to a file."""
    read = source.read
    monkeypatch.setattr(source, "read", lambda one: read(one) + (b"\n# edited\n" if one == path else b""))
    return {name for name, key in KEYS.items() if key() != keys[name]}


@pytest.mark.parametrize("path", MODULES)
def test_a_module_changes_the_keys_of_what_it_decides(
    path: str, keys: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(path, keys, monkeypatch) == {key for key, files in DECIDES.items() if path in files}


@pytest.mark.parametrize("path", DATA)
def test_data_changes_the_keys_of_what_it_decides(
    path: str, keys: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(path, keys, monkeypatch) == DATA[path]


@pytest.mark.parametrize(
    ("library", "others"),
    [
        ("numpy", {"marks"}),
        ("msgspec", {"marks"}),
        ("numba", {"marks", "runtime"}),
        ("llvmlite", {"marks", "runtime", "native code"}),
    ],
)
def test_another_version_of_a_library_changes_keys(
    library: str, others: set[str], keys: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version(name) + ".1" * (name == library))
    assert {name for name, key in KEYS.items() if key() != keys[name]} == others


def test_another_compiler_changes_marks(keys: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(compilation.find_toolkit(), fingerprint="another")
    monkeypatch.setattr(orders, "find_toolkit", lambda: other)
    assert KEYS["marks"]() != keys["marks"]


@pytest.mark.parametrize(
    ("key", "does"),
    [
        ("runtime", "from grader.emulator.runtime import build; build._functions()"),
        ("native code", "import grader.emulator.ptx.parser, grader.emulator.codegen.generator"),
        ("compiled kernels", "import grader.emulator.nvrtc.compilation"),
    ],
)
def test_what_is_loaded_to_make_a_thing_decides_it(key: str, does: str) -> None:
    listing = "import sys; print(*(name for name in sys.modules if name.partition('.')[0] == 'grader'))"
    done = subprocess.run(
        [sys.executable, "-c", f"{does}; {listing}"], capture_output=True, text=True, check=True
    )
    assert {path_of(module) for module in done.stdout.split()} <= DECIDES[key]


# ---- a real mark -------------------------------------------------------------------------------------------

# Python imports `sitecustomize` wherever it starts; this one notes every module of ours that is imported. Confined
# processes could neither import it nor note anything: here they are started as others are.
LISTENER = """
import os, sys

def open_(box, module, arguments, has, parent):
    heard = f"import os, sys; os.environ['HEARD'] = {os.environ['HEARD']!r}; sys.path[:0] = {sys.path!r}"
    return [sys.executable, "-c", f"{heard}; import sitecustomize, {module} as m; m.main({arguments!r})"]

def heard(event, arguments):
    if event == "import" and arguments[0].partition(".")[0] == "grader":
        with open(os.environ["HEARD"], "a") as file:
            file.write(arguments[0] + "\\n")
        vars(sys.modules.get("grader.sandbox.start", sys)).update(_command=open_)

sys.addaudithook(heard)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["transpose", "transfer"])
def test_all_that_a_marking_run_loads_decides_marks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(LISTENER, encoding="utf-8")
    monkeypatch.setenv("HEARD", str(tmp_path / "heard"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    topic = topics.load(name)
    process = Process()
    answer = process.ask(Order(name, topic.rungs[0].source, "emulator", None, 7, ()), 240.0)
    process.close()
    assert answer.marked is not None
    assert answer.marked.verdict == "pass"
    loaded = set((tmp_path / "heard").read_text(encoding="utf-8").split())
    assert "grader.judge.child.executor" in loaded, "the child was not listened to"
    modules = {path_of(module) for module in loaded if (PACKAGE.parent / path_of(module)).is_file()}
    assert modules <= DECIDES["marks"]


# ---- the topic and the device ------------------------------------------------------------------------------


def entry(topic: Topic, arch: str | None = None, device: str = "emulator") -> Path:
    marker = Marker(Path("marks"), Hidden(7, {}), device, arch)
    return marker._entry(marker._order(topic, "a source"))


def content(topic: Topic) -> list[str]:
    """The files of a topic that decide marks, from the content's root."""
    root = topic.folder.parent.parent
    kernels = [
        path for path in (root / "kernels").rglob("*.*") if topic.name in (path.stem, path.parent.name)
    ]
    assert len(kernels) >= len(topic.rungs)
    declared = [topic.folder / "topic.toml", topic.folder / "reference.py"]
    return [path.relative_to(root).as_posix() for path in [*declared, *kernels]]


@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in ("transpose", "streams") for path in content(topics.load(name))],
)
def test_what_a_topic_asks_for_changes_its_marks(name: str, path: str, tmp_path: Path) -> None:
    root = topics.load(name).folder.parent.parent
    shutil.copytree(root / "lessons" / name, tmp_path / "lessons" / name)
    shutil.copytree(root / "kernels", tmp_path / "kernels")
    before = entry(topics.load(name, tmp_path))
    with open(tmp_path / path, "a", encoding="utf-8") as file:
        file.write("\n" if path.endswith((".toml", ".py")) else "\n// edited\n")
    assert entry(topics.load(name, tmp_path)) != before


def test_another_device_has_its_own_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = topics.load("transpose")
    assert entry(topic) != entry(topic, "sm_80")
    seen = set()
    for card in ("an H200, driver 13000", "an H200, driver 13010", "a T4, driver 13000"):
        monkeypatch.setattr(cuda, "describe", lambda device, arch, card=card: card)
        monkeypatch.setattr(cuda, "gpu_problem", lambda: "")
        marking._device.cache_clear()
        seen.add(entry(topic, device="pycuda"))
    marking._device.cache_clear()
    assert len(seen) == 3
