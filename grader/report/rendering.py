"""Pages from the templates in `templates/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jinja2

from grader.visible import visible


def environment(
    filters: Mapping[str, Callable[..., object]], constants: Mapping[str, object] | None = None
) -> jinja2.Environment:
    """What renders the templates: values are escaped, and one that a template misses is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("grader.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: type(value)(visible(value)) if isinstance(value, str) else value,
    )
    made.filters.update(filters)
    made.globals.update(constants or {})
    return made
