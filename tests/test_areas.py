"""Areas of the code: what decides a kept result lies in its area, and every change in there changes its key."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import grimp
import pytest

from grader import areas, cuda
from grader.areas import COURSE, EMULATOR, INTERVIEW, JUDGE, PACKAGE, RUNTIME
from grader.course import marking
from grader.course.engines.process import Process
from grader.course.hidden import Hidden
from grader.course.marking import Marker
from grader.course.orders import Order
from grader.emulator.codegen import native_code
from grader.emulator.runtime import build
from grader.judge import provenance
from grader.judge.provenance import made_with
from grader.workbook import topics
from grader.workbook.topics import Topic

GRAPH = grimp.build_graph("grader", cache_dir=None)

AREAS = {"runtime": RUNTIME, "emulator": EMULATOR, "judge": JUDGE, "interview": INTERVIEW, "course": COURSE}
FILES = {
    name: {PACKAGE / path for part in area for path in areas.files(part)} for name, area in AREAS.items()
}
KEYS = {PACKAGE / "areas.py"}
"""What makes keys and no result."""
MARKS = "grader.course.worker"
"""What marks: the rest of the course hands out, collects and shows."""


def path_of(module: str) -> Path:
    base = PACKAGE.parent.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def imported_by(modules: Iterable[str]) -> set[str]:
    """These modules, the packages they lie in, and all that they import."""
    found: set[str] = set()
    wanted = set(modules)
    while wanted:
        found |= wanted
        imports = {item for module in wanted for item in GRAPH.find_modules_directly_imported_by(module)}
        wanted = (imports | {module.rpartition(".")[0] for module in wanted} - {""}) - found
    return found


def test_what_an_area_imports_lies_in_it() -> None:
    for shown in ("grader.lab", "grader.lab.cells", "grader.lab.show", "grader.course.feedback"):
        GRAPH.remove_import(importer="grader.course", imported=shown)  # advice in notebooks
    course = {path for path in FILES["course"] if path.is_relative_to(PACKAGE / "course")}
    begin = {
        name: {module for module in GRAPH.modules if path_of(module) in files - course}
        for name, files in FILES.items()
    }
    begin["course"].add(MARKS)
    outside = {
        f"{name}: {module}"
        for name, modules in begin.items()
        for module in imported_by(modules)
        if path_of(module) not in FILES[name] | KEYS
    }
    assert not outside


def test_what_making_the_runtime_loads_lies_in_its_area() -> None:
    does = "import sys, grader.emulator.runtime.lowering"
    listing = "print(*(name for name in sys.modules if name.partition('.')[0] == 'grader'))"
    done = subprocess.run(
        [sys.executable, "-c", f"{does}; {listing}"], capture_output=True, text=True, check=True
    )
    loaded = {path_of(module) for module in done.stdout.split()}
    assert len(loaded) > 40
    assert loaded <= FILES["runtime"] | KEYS


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, of which fingerprints are made."""
    copy = tmp_path / "grader"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_content"))
    monkeypatch.setattr(areas, "PACKAGE", copy)
    areas._digest.cache_clear()
    yield copy
    areas._digest.cache_clear()


def test_an_edit_changes_the_areas_that_it_lies_in(edited: Path) -> None:
    before = {name: areas.fingerprint(area) for name, area in AREAS.items()}
    wrong = []
    for top in sorted(edited.iterdir()):
        path = min(item for item in [top, *top.rglob("*")] if item.is_file())
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        areas._digest.cache_clear()
        changed = {name for name, area in AREAS.items() if areas.fingerprint(area) != before[name]}
        path.write_bytes(content)
        original = PACKAGE / path.relative_to(edited)
        if changed != {name for name, files in FILES.items() if original in files}:
            wrong.append((original, changed))
    assert not wrong


def test_files_that_come_go_and_move_change_an_area(edited: Path) -> None:
    seen = []
    for change in (
        lambda: None,
        lambda: (edited / "judge/kernels/read.cu").rename(edited / "judge/kernels/reads.cu"),
        lambda: (edited / "emulator/nvrtc/include/new").touch(),
        lambda: (edited / "emulator/nvrtc/include/cmath").unlink(),
    ):
        change()
        areas._digest.cache_clear()
        seen.append(areas.fingerprint(JUDGE))
    assert len(set(seen)) == len(seen)


def test_what_python_and_editors_leave_changes_nothing(edited: Path) -> None:
    before = areas.fingerprint(JUDGE)
    (edited / "judge/.grade.py.swp").touch()
    (edited / "judge/__pycache__").mkdir()
    (edited / "judge/__pycache__/grade.pyc").touch()
    areas._digest.cache_clear()
    assert areas.fingerprint(JUDGE) == before


@pytest.mark.parametrize("folder", sorted(areas.SHOWN))
def test_what_shows_results_changes_nothing(folder: str, edited: Path) -> None:
    before = {name: areas.fingerprint(area) for name, area in AREAS.items()}
    assert list((edited / folder).glob("*.py"))
    shutil.rmtree(edited / folder)
    areas._digest.cache_clear()
    assert {name: areas.fingerprint(area) for name, area in AREAS.items()} == before


def test_another_version_of_a_library_changes_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: dict[str, Callable[[], object]] = {
        "runtime": build._entry,
        "native code": native_code._generator_key.__wrapped__,
        "marks": lambda: made_with.__wrapped__(COURSE),
    }
    before = {name: key() for name, key in keys.items()}
    version = importlib.metadata.version
    changed = {}
    for library in ("numpy", "msgspec", "numba", "llvmlite"):
        monkeypatch.setattr(
            importlib.metadata, "version", lambda name, other=library: version(name) + ".1" * (name == other)
        )
        changed[library] = {name for name, key in keys.items() if key() != before[name]}
    assert changed == {
        "numpy": {"marks"},
        "msgspec": {"marks"},
        "numba": {"marks", "runtime"},
        "llvmlite": {"marks", "runtime", "native code"},
    }


def test_another_compiler_changes_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    before = made_with(COURSE)
    other = replace(provenance.find_toolkit(), fingerprint="another")
    monkeypatch.setattr(provenance, "find_toolkit", lambda: other)
    assert made_with.__wrapped__(COURSE) != before


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


@pytest.mark.soak(area="course")
def test_all_that_a_marking_run_loads_decides_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(LISTENER, encoding="utf-8")
    monkeypatch.setenv("HEARD", str(tmp_path / "heard"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(PACKAGE.parent)]))
    topic = topics.load("transfer")
    process = Process()
    answer = process.ask(Order(topic.name, topic.rungs[0].source, "emulator", None, 7, ()), 240.0)
    process.close()
    assert answer.marked is not None
    assert answer.marked.verdict == "pass"
    loaded = set((tmp_path / "heard").read_text(encoding="utf-8").split())
    assert "grader.judge.child.executor" in loaded, "the child was not listened to"
    assert {path_of(module) for module in loaded if path_of(module).is_file()} <= FILES["course"] | KEYS


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


def test_what_a_topic_asks_for_changes_its_marks(tmp_path: Path) -> None:
    missed = []
    for name in ("transpose", "streams"):
        folder = topics.load(name).folder
        shutil.copytree(folder, tmp_path / "lessons" / name)
        shutil.copytree(folder.parent.parent / "kernels", tmp_path / "kernels", dirs_exist_ok=True)
        before = entry(topics.load(name, tmp_path))
        for path in content(topics.load(name)):
            text = (tmp_path / path).read_text(encoding="utf-8")
            more = "\n" if path.endswith((".toml", ".py")) else "\n// edited\n"
            (tmp_path / path).write_text(text + more, encoding="utf-8")
            if entry(topics.load(name, tmp_path)) == before:
                missed.append(path)
            (tmp_path / path).write_text(text, encoding="utf-8")
    assert not missed


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
