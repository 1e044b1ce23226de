"""The wheel carries lessons and kernels, and works away from the clone, in an environment of its own."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import grader

CLONE = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, check=True, cwd=CLONE, capture_output=True)
    (built,) = folder.glob("warpladder-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it; other packages come from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    # A path in a .pth file is searched last, and its own .pth files, such as the clone's, are not read.
    (folder / site_packages(folder) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def site_packages(environment: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(environment)}))


def run(environment: Path, program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(environment / "bin" / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=variables)


def test_nothing_but_the_package_lands_in_site_packages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    ours = f"warpladder-{grader.__version__}"
    shared = f"{ours}.data/data/share/jupyter/labextensions/"  # JupyterLab looks for its extensions there
    elsewhere = [name for name in names if not name.startswith(shared)]
    assert {name.split("/")[0] for name in elsewhere} == {"grader", f"{ours}.dist-info"}
    for part in (
        "lessons/gemm/topic.toml",
        "kernels/naive/gemm.cu",
        "lessons/transpose/starter.cu",
        "lessons/programs/saxpy/program.toml",
        "measurements/h200/gemm.json",
    ):
        assert f"grader/_content/{part}" in names
    assert "grader/report/templates/climb.html.j2" in names
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.verify
def test_an_installed_ladder_is_climbed(environment: Path, tmp_path: Path) -> None:
    where = run(
        environment,
        "python",
        "-c",
        "import grader.workbook.content as c; print(c.content_root())",
        cwd=tmp_path,
    )
    assert where.stdout.strip() == str(site_packages(environment) / "grader" / "_content"), where.stderr
    sizes = ("--set", "M=33", "--set", "N=65")
    done = run(
        environment,
        "ladder",
        "climb",
        "transpose",
        "--device",
        "emulator",
        *sizes,
        "--json",
        "-",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert {rung["verdict"] for rung in json.loads(done.stdout)["rungs"]} == {"pass"}
