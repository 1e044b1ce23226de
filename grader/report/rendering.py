"""Pages from the templates in `templates/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import jinja2
from markupsafe import Markup, escape

from grader.visible import visible

_CODE = re.compile(r"`([^`\n]+)`")


def environment(
    filters: Mapping[str, Callable[..., object]],
    constants: Mapping[str, object] | None = None,
    packages: Sequence[str] = (),
) -> jinja2.Environment:
    """What renders the templates: values are escaped, and one that a template misses is an error.

    Templates of `packages` come before the report's own.
    """
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (*packages, "grader.report")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: type(value)(visible(value)) if isinstance(value, str) else value,
    )
    made.filters |= {"code": code, **filters}
    made.globals.update(constants or {})
    return made


def code(text: str) -> Markup:
    """What is said in a message, with what stands in backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(visible(text)))))
