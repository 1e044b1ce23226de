"""Sphinx configuration of the book: `make book` writes it to build/book/html.

The book's source folder is the repository, so that lessons, kernels and notebooks are shown where they lie. Its pages
load nothing from elsewhere: formulas become MathML while the book is built, and widgets their static pictures.
"""

import gc
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))

# Millions of nodes live to the end: to look for garbage among them, again and again, took a fifth of the build.
gc.set_threshold(200_000, 50, 1000)

project = "Warpladder"
author = "The Warpladder authors"
copyright = "2026, the Warpladder authors. Prose: CC BY 4.0, code: Apache License 2.0"
language = "en"  # with "en_GB", Sphinx 9 says nothing of how many pages the search found, and a script fails

extensions = [
    "myst_nb",
    "mathml",
    "ladders",
    "questions",
    "notebooks",
    "emulated",
    "command_line",
    "chapters",
    "beside",
    "values",
    "start",
    "navigation",
    "search",
    "sphinx_copybutton",
]
root_doc = "book/index"
include_patterns = [
    "book/**",
    "lessons/*/lesson.md",
    "lessons/*/interview.toml",
    "lessons/questions/*.toml",
    "notebooks/*.md",
    "docs/life-of-*.md",
]
exclude_patterns = [".*", "build", "grader", "kernels", "measurements", "tests", "book/_*"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 4

html_theme = "sphinx_book_theme"
html_title = "Warpladder"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_extra_path = ["extra"]  # index.html, which leads to the first page
html_css_files = ["book.css"]
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None  # a page says the same whenever it is built
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # without it the theme complains in the console on the first visit
html_theme_options = {
    "navbar_persistent": [],  # the sidebar has the search already
    "max_navbar_depth": 2,
    "collapse_navbar": True,  # on each page only its own chapter is listed: all of them took a third of the build
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "logo": {"text": html_title},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-dark",
}

# What one would type or keep: no line numbers, prompts or outputs, no differences and nothing that a cell printed.
copybutton_selector = "div.highlight pre:not(.ladder-difference pre, .cell_output pre)"
copybutton_exclude = ".linenos, .gp, .go"

# Notebooks run once: what they printed is kept in build/book/notebooks until their text changes.
nb_execution_mode = "cache"
# Of `make book NOTEBOOKS=…`; nothing named: all. No notebook is called "none", as `make pages` has it.
_run = os.environ.get("WARPLADDER_NOTEBOOKS", "").split()
_notebooks = Path(__file__).resolve().parents[1].glob("notebooks/*.md")
nb_execution_excludepatterns = [
    f"notebooks/{path.name}" for path in _notebooks if _run and path.stem not in _run
]
nb_execution_cache_path = str(Path(__file__).resolve().parents[1] / "build" / "book" / "notebooks")
nb_execution_timeout = 300
# Kernels would say, once a notebook, that they talk over TCP without encryption; they do so on this machine.
_quiet = Path(__file__).resolve().parents[1] / "build" / "book" / "ipython"
(_quiet / "profile_default").mkdir(parents=True, exist_ok=True)
(_quiet / "profile_default" / "ipython_kernel_config.py").write_text(
    "get_config().IPKernelApp.log_level = 40\n"
)
os.environ.setdefault("IPYTHONDIR", str(_quiet))
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
# What is folded in a notebook is a solution. Another cell would need words of its own in its metadata.
nb_code_prompt_show = "A solution"
nb_code_prompt_hide = "Hide the solution"
nb_ipywidgets_js = {}
