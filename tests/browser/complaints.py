"""What a page of the book must not do in a browser, and what it may be kept from doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

MATHJAX = "**/mathjax/*.js"
_LOCAL = ("file:", "data:", "blob:", "about:")


def complaints_of(context: BrowserContext) -> list[str]:
    """A list that fills with what pages of this context do: complain on the console, throw, ask another host."""
    complaints: list[str] = []
    context.on(
        "console",
        lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    context.on("weberror", lambda problem: complaints.append(str(problem.error)))
    context.on(
        "request",
        lambda request: None if request.url.startswith(_LOCAL) else complaints.append(f"asked for {request.url}"),
    )
    return complaints


def without_mathjax(route: Route) -> None:
    """Answer with an empty script: formulas stay as they were written."""
    route.fulfill(body="", content_type="text/javascript")
