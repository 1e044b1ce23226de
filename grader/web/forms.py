"""What a browser sends with a form."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from grader.web.guard import LONGEST_BODY


async def form(request: Request) -> dict[str, str]:
    """The fields of a form; raises HTTPException for what is no form, or too long."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise HTTPException(415, "This is no form.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise HTTPException(413, "This is too long.")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20, errors="strict")
    except ValueError:
        raise HTTPException(400, "This cannot be read.") from None
    return {name: values[-1] for name, values in fields.items()}


def whole(text: str, digits: int) -> int | None:
    """A whole number of so many digits at most; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
