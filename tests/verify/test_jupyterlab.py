"""A notebook in JupyterLab, in a real Chromium: cells of CUDA C++ are coloured as such, a number typed into the box is
checked, and it is still there when the notebook is opened again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect
from windows import LAPTOP, jupyter

import grader.lab

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]

EXTENSION = Path(grader.lab.__file__).parent / "labextension"
KERNEL = "%%kernel scale\n__global__ void scale(float* x)\n{\n    x[threadIdx.x] *= 2.0f;\n}"
SCHEDULE = "%%kernel plan --topic streams\nclass Schedule:\n    pass"
PATIENT = 60_000  # milliseconds: a kernel starts, and imports the workbook


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """JupyterLab with our extension, in a folder with one notebook."""
    extensions = tmp_path / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / "warpladder").symlink_to(EXTENSION)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    code = nbformat.v4.new_code_cell
    asks = "import grader.lab as lab\nlab.question('stores', lambda: 32)\nlab.predict('stores', None)"
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    cells = [code(asks), code(KERNEL), code(SCHEDULE)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=python), folder / "own.ipynb")
    own = {"JUPYTER_PATH": str(tmp_path / "share"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    with jupyter("lab", folder, tmp_path / "runtime", **own) as found:
        yield f"{found}/lab/tree/own.ipynb"


def opened(browser: Browser, address: str) -> Page:
    """The notebook in a window of its own, its first cell run."""
    tab = browser.new_page(viewport=LAPTOP)
    tab.goto(f"{address}?reset")
    cell = tab.locator(".jp-CodeCell").first
    cell.locator(".cm-content").click(timeout=PATIENT)
    expect(tab.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=PATIENT)
    tab.keyboard.press("Control+Enter")
    return tab


def test_kernels_are_coloured_and_what_is_typed_is_kept(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    tab = opened(browser, address)
    box = tab.locator(".widget-text input")
    box.fill("8", timeout=PATIENT)
    box.press("Enter")
    expect(tab.get_by_text("8 is not right.")).to_be_visible(timeout=PATIENT)
    box.fill("4 * 8")
    box.press("Enter")
    expect(tab.get_by_text("right: 32.")).to_be_visible(timeout=PATIENT)
    kept = tmp_path / "notebooks" / ".answers" / "own.json"
    assert json.loads(kept.read_text()) == {"stores": 32}

    kernel = tab.locator(".jp-CodeCell").nth(1).locator(".jp-InputArea-editor")
    schedule = tab.locator(".jp-CodeCell").nth(2).locator(".jp-InputArea-editor")
    expect(kernel.locator("[data-language]").first).to_have_attribute("data-language", "cpp")
    expect(schedule.locator("[data-language]").first).to_have_attribute("data-language", "python")
    tab.close()

    tab = opened(browser, address)
    expect(tab.locator(".widget-text input")).to_have_value("32", timeout=PATIENT)
    tab.close()
