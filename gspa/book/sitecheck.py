"""What must hold of a rendered site before anyone sees it.

Every page of the table of contents exists, no page shows an error, every internal link and
anchor resolves, and no page asks another host for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx_external_toc.parsing import parse_toc_yaml

# Attributes by which a browser fetches something without being asked to.
_FETCHING = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
# <link> elements that point somewhere without loading it.
_PASSIVE_LINKS = {
    "canonical",
    "author",
    "license",
    "next",
    "prev",
    "search",
    "index",
    "top",
    "alternate",
    "help",
}
_ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_CSS_FETCH = re.compile(r"""(?:url\(|@import)\s*['"]?((?:https?:)?//[^'")\s]+)""", re.IGNORECASE)
_ERRORS = {
    "papermill-error-cell": "a failed notebook's error cell",
    # The package reference shows doctests, where an expected error's trace is three dots.
    r"Traceback \(most recent call last\)(?!:(?:<[^>]*>|\s)*\.\.\.)": "a traceback",
    # As MyST-NB writes it; a syntax error, for one, has no line that says "Traceback".
    'class="output traceback ': "an error output",
    'class="output stderr ': "a warning",
    # The package reference prints the value of a constant, which may be a place on the machine that built it.
    r"(?:Posix|Windows)Path\(": "a path of the machine",
}


class _Page(HTMLParser):
    """One page's ids, links and fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetches: list[str] = []
        self.inline: list[str] = []
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        for name in ("id", "name"):
            if name in values and not (name == "name" and tag != "a"):
                self.ids.add(values[name])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        rels = set(values.get("rel", "").lower().split())
        # "alternate stylesheet" is loaded, so that one passive word is not enough.
        if tag == "link" and rels and rels <= _PASSIVE_LINKS:
            return
        for name in _FETCHING.get(tag, ()):
            # Only a srcset is a list; a comma in another address, a data: one for instance, is part of it.
            parts = values.get(name, "").split(",") if name == "srcset" else [values.get(name, "")]
            self.fetches += [part.split()[0] for part in parts if part.split()]
        self.inline.append(values.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.inline.append(data)


def pages_of(toc: Path) -> list[str]:
    """The documents of a Jupyter Book table of contents, without suffix, the root first."""
    return list(parse_toc_yaml(toc))


def check(html: Path, *, pages: Iterable[str]) -> list[str]:
    """Every problem of the site under `html`, one line each; an empty list is a pass."""
    html = html.resolve()
    problems = [
        f"{page}: is in the table of contents and not in the site"
        for page in pages
        if not (html / f"{page}.html").is_file()
    ]
    # The theme leaves templates among its static files, which no one is sent to.
    found = [path for path in sorted(html.rglob("*.html")) if html / "_static" not in path.parents]
    parsed = {path: _Page(path.read_text(encoding="utf-8")) for path in found}
    for path, page in parsed.items():
        name = path.relative_to(html).as_posix()
        text = path.read_text(encoding="utf-8")
        problems += [f"{name}: shows {what}" for mark, what in _ERRORS.items() if re.search(mark, text)]
        problems += [f"{name}: asks another host for {url}" for url in page.fetches if _ELSEWHERE.match(url)]
        problems += [f"{name}: {url} is missing" for url in page.fetches if _lacks(html, path, url)]
        problems += [f"{name}: its style asks for {url}" for css in page.inline for url in _CSS_FETCH.findall(css)]
        problems += [f"{name}: {fault}" for link in page.links if (fault := _fault(html, path, link, parsed))]
    for path in sorted(html.rglob("*.css")):
        asked = _CSS_FETCH.findall(path.read_text(encoding="utf-8"))
        problems += [f"{path.relative_to(html).as_posix()}: asks another host for {url}" for url in asked]
    return problems


def _lacks(html: Path, page: Path, url: str) -> bool:
    """Whether a page fetches a file of its own site that is not there."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc or not parts.path:
        return False
    target = (page.parent / unquote(parts.path)).resolve()
    return html not in target.parents or not target.is_file()


def _fault(html: Path, page: Path, link: str, parsed: dict[Path, _Page]) -> str:
    """What is wrong with an internal link; empty for a good one and for links to other sites."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return ""
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    if html not in target.parents or not target.is_file():
        return f"link {link} leads nowhere"
    fragment = unquote(parts.fragment)
    if fragment and target in parsed and fragment not in parsed[target].ids:
        return f"link {link} has no such anchor"
    return ""
