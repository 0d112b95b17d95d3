"""The templates of `gspa/book/templates`: texts in them are Markdown with formulas, and become HTML."""

from __future__ import annotations

from functools import cache
from typing import Any

from gspa.book import text

_OPEN = 3  # rows of evidence that a card shows without being asked


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("gspa.book", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    made.filters["md"] = lambda value: Markup(text.html(value))
    made.filters["light"] = lambda value: Markup(text.light(value))
    made.filters |= {"plain": text.plain, "number": text.number}
    made.filters["greek"] = text.greek
    made.filters["value"] = lambda value: Markup(text.html_value(value))
    made.filters["slug"] = slug
    made.globals |= {"anchor": anchor, "OPEN": _OPEN, "root": ""}
    return made


def fill(name: str, **values: Any) -> str:
    """A template of the book's, filled."""
    return str(_templates().get_template(name).render(**values))


def slug(verdict: str) -> str:
    """A verdict as a CSS class name."""
    return verdict.replace(" ", "-")


def anchor(paper: str = "", verdict: str = "") -> str:
    """The claims page's anchor of a paper, a verdict, or a paper's claims of one verdict.

    >>> anchor("gspa", "holds with correction")
    'claims-gspa-holds-with-correction'
    """
    return "-".join(part for part in ("claims", paper, slug(verdict)) if part)
