"""The built book in a real browser: quiet, typeset, described, reachable by keyboard, readable anywhere.

They look at the site in `_build/html`, or where `GSPA_SITE` says; `make browser` runs them after `make book`.
Every page is opened once, from a file: address and without a network, and looked at in all ways before the next.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from complaints import complaints_of
from matplotlib import pyplot as plt

import gspa
from gspa.book import sitecheck
from gspa.book.figures import MIME, PALETTE, ROLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("GSPA_SITE", ROOT / "_build" / "html"))
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "intro.html").is_file(), reason=f"no site in {SITE}: make book"),
]

BOOK = sitecheck.pages_of(ROOT / "book" / "_toc.yml")
NOTEBOOKS = [page for page in BOOK if page.startswith("notebooks/")]
# Sphinx's own pages; one page of the package's source stands for them all, which a quick build goes without.
SOURCES = ["_modules/index", "_modules/gspa/accountant/bound"]
PAGES = [*BOOK, "search", "genindex", "py-modindex", *(SOURCES if (SITE / "_modules").is_dir() else ())]
# For looking things up; nobody reads them from one end to the other.
REFERENCE = {name for name in BOOK if name.startswith("api")}
REFERENCE |= {"bibliography", "claims", "errata", "proofs"}
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

TYPESET = "() => window.MathJax?.startup?.promise"
# Axe needs seconds for hundreds of entries, all alike, and for a formula's thousand outlines.
SHORTEN = """() => {
  for (const [alike, most] of [["dl.py", 15], [".page-toc li", 60], [".gspa-registry tr[id]:nth-child(n + 9)", 0]])
    [...document.querySelectorAll(alike)].slice(most).forEach((e) => e.remove());
}"""
# As wide as before, so that what scrolls still does; what is read to the blind instead takes no room.
WITHOUT_OUTLINES = """() => document.querySelectorAll("mjx-container > svg, mjx-assistive-mml")
  .forEach((e) => e.replaceChildren())"""
WITHOUT_FORMULAS = "() => document.querySelectorAll('mjx-container').forEach((e) => e.replaceChildren())"
# Three rules look at marked elements alone; every element, text and link of a page would take them most of the time.
MARKED = {
    "scrollable-region-focusable": "[data-scrolls]",
    "color-contrast": "[data-text]",
    "link-in-text-block": "[data-link]",
}
CONTRAST: dict[str, object] = {"runOnly": ["color-contrast", "link-in-text-block"]}
# `region` looks at everything, and what it finds is moderate.
ELSEWHERE = [*MARKED, "region"]
# Where there is more than the box shows; what is folded takes long to measure, and axe passes it over.
SCROLLS = """() => [...document.querySelectorAll("body *:not(svg *)")]
  .filter((e) => e.checkVisibility())
  .filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)
  .forEach((e) => (e.dataset.scrolls = ""))"""
# One text, and one link, for each combination of what its check depends on: colours, size, decoration, surroundings.
MARK = """() => {
  const seen = new Set();
  const mark = (e, kind, ...key) => {
    if (!seen.has(kind + key)) e.dataset[kind] = "";
    seen.add(kind + key);
  };
  const grounds = new Map([[null, "none"]]);
  const ground = (e) => {
    if (!grounds.has(e)) {
      const colour = getComputedStyle(e).backgroundColor;
      grounds.set(e, colour === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : colour);
    }
    return grounds.get(e);
  };
  const length = (e) => e.textContent.replace(/\\s/g, "").length;
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const link = e.matches("a[href]");
    if (!(own || link) || e.closest("svg, script, style, mjx-container") || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const looks = [style.color, ground(e), style.fontSize, style.fontWeight, style.opacity];
    if (own) mark(e, "text", ...looks);
    if (!link) continue;
    let block = e.parentElement;
    while (getComputedStyle(block).display === "inline") block = block.parentElement;
    const { color, fontWeight } = getComputedStyle(block);
    const prose = length(block) > [...block.querySelectorAll("a[href]")].reduce((sum, a) => sum + length(a), 0);
    const { textDecorationLine, fontStyle, borderBottomWidth } = style;
    mark(e, "link", ...looks, textDecorationLine, fontStyle, borderBottomWidth, color, fontWeight, prose);
  }
}"""
# What is neither marked nor beside something marked is emptied, not removed: rows keep their stripes.
PRUNE = """() => {
  const kept = new Set(), above = new Set();
  for (const e of document.querySelectorAll("[data-text], [data-link]")) {
    const block = e.closest("p, li, dd, dt, td, th, figcaption, blockquote") ?? e;
    kept.add(block);
    for (let up = block; up; up = up.parentElement) above.add(up);
  }
  const prune = (e) => {
    for (const child of [...e.children])
      if (!above.has(child) && !child.matches("style, script")) child.replaceChildren();
      else if (!kept.has(child)) prune(child);
  };
  prune(document.body);
}"""
COLOURS = (
    "() => { const { color, backgroundColor } = getComputedStyle(document.body); return [color, backgroundColor] }"
)
FORMULAS = """() => ({
  raw: [...document.querySelectorAll(".math")].filter((e) => !e.querySelector("mjx-container")).length,
  broken: document.querySelectorAll("mjx-merror, [data-mjx-error]").length,
})"""
PICTURES = """() => {
  const images = [...document.querySelectorAll("main img:not(.toggler)")]; // the index's plus and minus are buttons
  return {
    undescribed: images.filter((e) => (e.alt ?? "").trim().length < 10).map((e) => e.src),
    unloaded: images.filter((e) => !e.complete || !e.naturalWidth).map((e) => e.src),
  };
}"""
NARROW = """() => ({
  over: document.documentElement.scrollWidth - innerWidth,
  // What starts left of its box cannot be scrolled to.
  cut: [...document.querySelectorAll("div.math mjx-container > svg")].filter(
    (e) => e.getBoundingClientRect().left < e.closest("div.math").getBoundingClientRect().left - 1).length,
  lost: [...document.querySelectorAll("span.math")].filter(
    (e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 4 && getComputedStyle(e).overflowX === "hidden")
    .map((e) => e.textContent),
  // Figures are drawn 4.8 inches wide with text of nine points, which three quarters of that show in nine pixels.
  small: [...document.querySelectorAll("figure img")].filter((e) => e.clientWidth < 0.74 * e.naturalWidth)
    .map((e) => e.src),
  wide: [...document.querySelectorAll("figure")]
    .filter((e) => [...e.querySelectorAll("*")].some((part) => part.scrollWidth > e.clientWidth + 1))
    .map((e) => e.textContent.trim()),
})"""


# What a filter makes of colours, as red, green, blue.
FILTERED = """([filter, colours]) => colours.map((colour) => {
  const drawn = new OffscreenCanvas(1, 1).getContext("2d");
  drawn.filter = filter;
  drawn.fillStyle = colour;
  drawn.fillRect(0, 0, 1, 1);
  return [...drawn.getImageData(0, 0, 1, 1).data.slice(0, 3)];
})"""


def axe_in(page: Page) -> None:
    """Load axe into a page; some rules are to look at what is marked."""
    package = pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install -e '.[browser]'")
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    rules = [{"id": rule, "selector": selector} for rule, selector in MARKED.items()]
    page.evaluate("(rules) => axe.configure({ rules })", rules)


def violations(page: Page, options: dict[str, object]) -> list[str]:
    """What axe calls serious or critical, a line each."""
    # preload would fetch the style sheets, which a page from a file: address may not.
    common = {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate("(options) => axe.run(document, options)", common | options)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def unfolded(page: Page) -> list[str]:
    """What is wrong with the link under the first figure to its cell's code, which is folded until one goes there."""
    links = page.locator(".gspa-made-from a[href^='#cell-']")
    if not links.count():
        return []
    anchor = str(links.first.get_attribute("href"))
    code = page.locator(f"{anchor} pre")
    folded = not code.is_visible()
    for _ in range(3):  # what is still being laid out may move the link from under the mouse
        links.first.click()
        if page.url.endswith(anchor):
            break
    code.wait_for(state="visible")
    return [] if folded and page.url.endswith(anchor) else [f"{anchor}, at first {'' if folded else 'not '}folded"]


def look(page: Page, complaints: list[str], address: str) -> dict[str, object]:
    """Open a page and see it on a phone, on a desk, light and dark: what is wrong, by what was looked at."""
    complaints.clear()
    page.set_viewport_size(PHONE)
    page.goto(address)
    page.evaluate(TYPESET)
    page.wait_for_selector("[aria-busy]", state="detached")
    page.wait_for_timeout(50)
    narrow = page.evaluate(NARROW)
    formulas = page.evaluate(FORMULAS)
    page.evaluate(WITHOUT_OUTLINES)
    # Colours are to be those at the end; outlines by the thousand would each be styled anew.
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    page.evaluate(SHORTEN)
    page.evaluate(SCROLLS)
    axe_in(page)
    phone = violations(page, {"runOnly": ["scrollable-region-focusable"]})

    page.set_viewport_size(DESK)
    page.evaluate("() => document.querySelectorAll('img').forEach((e) => (e.loading = 'eager'))")
    # A picture that arrives moves what is below it, and a click misses.
    page.wait_for_function("() => Array.from(document.images).every((e) => e.complete)")
    cell = unfolded(page)
    pictures = page.evaluate(PICTURES)
    page.evaluate(WITHOUT_FORMULAS)
    desk = violations(page, {"rules": {rule: {"enabled": False} for rule in ELSEWHERE}})

    theme = "(theme) => { document.documentElement.dataset.theme = theme }"
    page.evaluate(MARK)
    page.evaluate(theme, "dark")
    page.evaluate(MARK)
    page.evaluate(PRUNE)
    dark = page.evaluate(COLOURS)
    in_dark = violations(page, CONTRAST)
    page.evaluate(theme, "light")
    light = page.evaluate(COLOURS)
    in_light = violations(page, CONTRAST)
    (text, ground), (dark_text, dark_ground) = map(luminance, light), map(luminance, dark)
    seen = {
        "asked for something, or logged it": list(complaints),
        "formulas left as TeX": formulas["raw"],
        "formulas that MathJax refused": formulas["broken"],
        "pictures without words": pictures["undescribed"],
        "pictures that do not load": pictures["unloaded"],
        "axe on a phone": phone,
        "axe on a desk": desk,
        "contrast, light": in_light,
        "contrast, dark": in_dark,
        "wider than a phone": [f"{narrow['over']} pixels"] if narrow["over"] > 0 else [],
        "figures too small on a phone": narrow["small"],
        "figures wider than their column on a phone": narrow["wide"],
        "formulas cut off at their left end": narrow["cut"],
        "formulas cut off": narrow["lost"],
        "link to a cell's folded code": cell,
        "light mode is not light": [] if text < 0.4 < 0.9 < ground else light,
        "dark mode is not dark": [] if dark_ground < 0.2 < 0.7 < dark_text else dark,
    }
    return {what: found for what, found in seen.items() if found}


# Pages follow each other in one tab, where what they share, MathJax above all, is compiled once.
@pytest.fixture(scope="module")
def visit(browser: Browser) -> Iterator[Callable[[str], dict[str, object]]]:
    """What is wrong with the page at an address, by what was looked at."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    context.set_default_timeout(120_000)  # a busy machine may pause
    complaints = complaints_of(context)
    page = context.new_page()
    yield lambda address: look(page, complaints, address)
    context.close()


@cache
def soup(name: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / f"{name}.html").read_bytes(), "html.parser")


def luminance(colour: str) -> float:
    """From 0, black, to 1, white; good enough to tell light from dark."""
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)


def brightness(png: bytes) -> float:
    """The mean of all points of a picture, from 0, black, to 1, white."""
    return float(plt.imread(io.BytesIO(png))[..., :3].mean())


def contrast(one: list[int], other: list[int]) -> float:
    """That of WCAG, of two colours as red, green, blue."""
    low, high = sorted(
        sum(
            share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for share, part in zip((0.2126, 0.7152, 0.0722), (each / 255 for each in colour), strict=True)
        )
        for colour in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_typeset_described_accessible_and_fits(visit, name):
    assert visit((SITE / f"{name}.html").as_uri()) == {}


FINE = "<style>body { background: #fff; color: #222 } [data-theme=dark] body { background: #000; color: #ddd }</style>"
DRAWN = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='9'/%3E"
MISTAKES = (
    ("<script src='https://example.org/x.js'></script>", "asked for something, or logged it", "example.org"),
    ("<script>console.warn('a zebra')</script>", "asked for something, or logged it", "a zebra"),
    ("<script>throw Error('a giraffe')</script>", "asked for something, or logged it", "a giraffe"),
    ("<span class=math>x</span>", "formulas left as TeX", "1"),
    ("<span data-mjx-error=x>x</span>", "formulas that MathJax refused", "1"),
    ("<img src='data:,1' alt=x>", "pictures without words", "data:,1"),
    ("<img src='data:,2'>", "axe on a desk", "image-alt"),
    ("<img src='data:,3' alt='A line that rises.'>", "pictures that do not load", "data:,3"),
    (
        "<div style='height: 9px; overflow: auto'>a<br>b<br>c<br>d</div>",
        "axe on a phone",
        "scrollable-region-focusable",
    ),
    ("<p style='color: #ccc'>pale</p>", "contrast, light", ">pale</p>"),
    ("<p style='color: #333'>dim</p>", "contrast, dark", ">dim</p>"),
    (
        "<p>Words, <a href='#' style='color: #333; text-decoration: none'>a link</a>, more words.</p>",
        "contrast, light",
        "link-in-text-block",
    ),
    ("<p style='width: 500px'>wide</p>", "wider than a phone", "pixels"),
    (
        f"<figure><img width=50 src=\"{DRAWN}\" alt='A line that rises.'></figure>",
        "figures too small on a phone",
        "data:image",
    ),
    (
        f"<figure style='width: 90px'><img src=\"{DRAWN}\" alt='It falls.'><figcaption>Cut.</figcaption></figure>",
        "figures wider than their column on a phone",
        "Cut.",
    ),
    (
        "<div class=math><mjx-container><svg style='margin-left: -30px'></svg></mjx-container></div>",
        "formulas cut off at their left end",
        "1",
    ),
    (
        "<p class=gspa-made-from><a href='#cell-1'>cell</a></p><div id=cell-1><pre>code</pre></div>",
        "link to a cell's folded code",
        "not folded",
    ),
)
GREYS = (("light mode is not light", "136"), ("dark mode is not dark", "136"))


@pytest.fixture(scope="module")
def found(visit, tmp_path_factory) -> list[dict[str, object]]:
    """What is wrong with a page without a mistake, with one with every mistake, and with a grey one."""
    folder = tmp_path_factory.mktemp("pages")
    grey = "<style>body { background: #888 !important }</style>"
    for name, body in {
        "fine": "<p>x</p>",
        "bad": "".join(mistake[0] for mistake in MISTAKES),
        "grey": grey,
    }.items():
        text = f"<html lang=en><meta charset=utf-8><title>x</title><main><h1>x</h1>{FINE}{body}</main>"
        (folder / f"{name}.html").write_text(f"<!doctype html>{text}", encoding="utf-8")
    return [visit((folder / f"{name}.html").as_uri()) for name in ("fine", "bad", "grey")]


class TestTheEyes:
    """The same look at pages with mistakes: it is not blind."""

    def test_nothing_is_wrong_with_a_plain_page(self, found):
        assert found[0] == {}

    @pytest.mark.parametrize(("what", "said"), [mistake[1:] for mistake in MISTAKES])
    def test_a_mistake_is_seen(self, found, what, said):
        assert said in str(found[1][what])

    @pytest.mark.parametrize(("what", "said"), GREYS)
    def test_a_grey_page_is_neither_light_nor_dark(self, found, what, said):
        assert said in str(found[2][what])


class TestFigures:
    """Each figure that a notebook drew; tests/book/test_site.py has the line below it."""

    @pytest.fixture(params=NOTEBOOKS)
    def name(self, request) -> str:
        return request.param

    @pytest.mark.usefixtures("formulas_raw")
    def test_the_first_stands_in_the_first_screen(self, page, name):
        page.set_viewport_size(DESK)
        page.goto((SITE / f"{name}.html").as_uri())
        assert page.locator("main figure img").first.bounding_box()["y"] < 800

    def test_none_has_a_number_beside_that_of_the_paper(self, name):
        assert not soup(name)(class_="caption-number")

    def test_each_has_a_caption_of_some_words_and_data_in_named_columns(self, name):
        captions = [one.get_text() for one in soup(name).select(".cell_output figure .caption-text")]
        assert all(len(caption.split()) > 5 for caption in captions)
        sheets = [pd.read_csv(path) for path in (SITE / "_static" / "data" / Path(name).name).glob("*.csv")]
        assert len(sheets) >= len(captions) > 0
        for rows in sheets:
            assert len(rows) > 0
            assert len(rows.columns) > 1
            assert not [column for column in rows.columns if column.startswith("Unnamed")]


class TestColours:
    """One meaning a colour: whatever a figure draws is of the one table, a grey, or a shade of the one colour map."""

    def test_each_figure_takes_its_colours_from_the_table(self):
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        table = {colour.lower() for colour in (*PALETTE, *(colour for colour, _ in ROLES.values()))}
        pictures = sorted(SITE.glob("_images/*.svg")) + sorted(SITE.glob("_static/data/**/*.svg"))
        shades = {to_hex(colormaps["cividis"](k)) for k in range(256)}
        odd = {}
        for path in pictures:
            drawn = re.findall(r"(?:stroke|fill): ?(#[0-9a-fA-F]{6})", path.read_text(encoding="utf-8"))
            colours = {colour.lower() for colour in drawn}
            strange = {one for one in colours - table if not one[1:3] == one[3:5] == one[5:7]}
            if strange - shades:
                odd[path.name] = strange - shades
        assert len(pictures) > 20
        assert odd == {}


SCREEN = {"width": 1280, "height": 800}
BELOW = "(e) => e.getBoundingClientRect().bottom + scrollY - innerHeight"  # how far it reaches below the first screen


@pytest.mark.skipif(not (SITE / "recipe.html").is_file(), reason="a site from before the recipe")
class TestFirstScreens:
    """What the first page and the recipe are for is seen without scrolling."""

    def test_the_first_page_shows_three_pictures_with_their_verdicts(self, page):
        page.set_viewport_size(SCREEN)
        page.goto((SITE / "intro.html").as_uri())
        page.evaluate(TYPESET)
        pictures = page.locator(".gspa-strip a[href^='notebooks/'] img")
        assert pictures.count() == 3
        page.wait_for_function(
            "() => Array.from(document.querySelectorAll('.gspa-strip img')).every((e) => e.complete)"
        )
        assert max(pictures.nth(k).evaluate(BELOW) for k in range(3)) <= 0
        assert page.locator(".gspa-strip p .gspa-verdict").count() == 3

    def test_the_recipe_is_one_screen_from_the_question_to_the_certificate(self, page):
        page.set_viewport_size(SCREEN)
        page.goto((SITE / "recipe.html").as_uri())
        page.evaluate(TYPESET)
        link = page.locator("a[href^='certificates/']")
        assert link.evaluate(BELOW) <= 0
        assert (SITE / link.get_attribute("href")).is_file()


@pytest.mark.usefixtures("formulas_raw")
class TestFinding:
    """What each reader comes for is two clicks from the first page at most."""

    def test_an_engineer_sees_local_budgets_and_is_a_click_from_a_bound_for_laplace_noise(self, page):
        page.goto((SITE / "intro.html").as_uri())
        assert page.locator(".gspa-doors table").first.locator("tr").count() > 2
        page.get_by_role("link", name="calculator", exact=True).first.click()
        page.select_option("#calc-mechanism", "laplace")
        for field, value in (("n", "100,000"), ("eps", "2"), ("delta", "1e-8")):
            page.fill(f"#calc-{field}", value)
        page.get_by_text("certified at delta = 1e-8").first.wait_for()
        said = float(re.search(r"<= ([\d.]+)", page.inner_text("#calc-headline"))[1])
        bound = gspa.epsilon(eps=2, n=100_000, mechanism="laplace", delta=1e-8)
        assert bound.lower < said < 1.001 * bound.upper

    def test_a_student_is_a_click_from_the_first_chapter(self, page):
        page.goto((SITE / "intro.html").as_uri())
        page.get_by_role("link", name="five pictures").click()
        page.locator("figure img").first.wait_for()

    def test_a_reviewer_finds_a_theorems_verdict_by_its_name(self, page):
        page.goto((SITE / "intro.html").as_uri())
        page.get_by_role("link", name="claims", exact=True).first.click()
        page.locator("#gspa-filter input[name=q]").fill('"Theorem 3"')
        row = page.locator("#G-T3")
        row.wait_for()
        assert row.is_visible()
        assert not page.locator("#G-T5").is_visible()

    def test_whoever_wants_the_code_has_it_after_two_clicks(self, page):
        page.goto((SITE / "intro.html").as_uri())
        page.get_by_role("link", name="run again").click()
        page.locator("a[href$='.tar.gz']").first.wait_for()
        (archive,) = {link.get_attribute("href") for link in page.locator("a[href$='.tar.gz']").all()}
        assert (SITE / archive).is_file()


class TestReading:
    def test_no_page_takes_more_than_ten_minutes(self):
        """240 words a minute of prose and of open cards: no code, table, formula, figure, nor what is folded."""
        minutes = {}
        for name in set(BOOK) - REFERENCE:
            text = copy(soup(name).find("article"))
            for part in text.select("pre, table, figure, details, .dropdown, .math, script, style"):
                part.extract()
            minutes[name] = len(text.get_text(" ").split()) / 240
        assert {name: round(time, 1) for name, time in minutes.items() if time > 10} == {}


@pytest.mark.usefixtures("formulas_raw")
class TestSearch:
    def test_it_finds_a_word_from_a_file_address(self, page):
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=tanh")
        first = page.locator("#search-results li a").first
        first.wait_for()
        page.wait_for_function("() => /finished|found/.test(document.querySelector('#search-results').textContent)")
        found = {link.get_attribute("href") for link in page.locator("#search-results li a").all()}
        pages = {link.split("#")[0].split("?")[0].removesuffix(".html") for link in found}
        assert pages <= {path.relative_to(SITE).as_posix().removesuffix(".html") for path in SITE.rglob("*.html")}
        assert any("tanh" in soup(name).get_text() for name in pages)
        first.click()
        page.locator("article h1").first.wait_for()

    def test_it_leads_to_a_functions_entry(self, page):
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=central_epsilon")
        name = "gspa.accountant.one_round.central_epsilon"
        entry = page.locator(f"#search-results li a[href$='#{name}']").first
        entry.wait_for()
        entry.click()
        heading = page.locator(f"[id='{name}']")
        heading.wait_for()
        assert page.url.endswith(f"/api/accounting.html#{name}")
        assert 0 <= heading.bounding_box()["y"] < DESK["height"]

    @pytest.mark.parametrize(
        ("query", "first"),
        [("33%25", "G-C4"), ("Theorem+3", "G-T3"), ("Theorem 5", "G-T5"), ("Laplace", ""), ("clipping", "")],
    )
    def test_claims_are_found_by_their_place_and_their_words(self, page, query, first):
        page.goto(f"{(SITE / 'search.html').as_uri()}?q={query}")
        page.wait_for_selector(".gspa-found li a")
        found = page.locator(".gspa-found li a")
        assert first in found.first.get_attribute("href")
        assert "\\(" not in page.locator(".gspa-found").inner_text(), "no raw formulas"
        found.first.click()
        page.wait_for_load_state()
        here = page.evaluate("() => document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null")
        assert here, "the link leads to the card or the claim itself"


@pytest.mark.usefixtures("formulas_raw")
class TestKeyboard:
    def test_the_first_stop_skips_to_the_text(self, page):
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        page.keyboard.press("Tab")
        assert "Skip to main content" in page.evaluate("() => document.activeElement.textContent")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.closest('main') !== null")

    def test_folded_code_and_proofs_open_by_key(self, page):
        page.goto((SITE / "notebooks/04_decomposition.html").as_uri())
        summary = page.locator("details.hide > summary").first
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("details.hide").first.get_attribute("open") is not None
        button = page.locator("article details:not(.hide) > summary", has_text="Proof").first
        button.focus()
        page.keyboard.press("Enter")
        assert button.locator("xpath=..").get_attribute("open") is not None

    def test_what_has_the_focus_can_be_seen(self, page):
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        for stop in (".gspa-made-from a", "details.hide > summary", ".prev-next-footer a"):
            page.locator(stop).first.focus()
            page.keyboard.press("Shift+Tab")  # focus by key, which is what :focus-visible asks for
            page.keyboard.press("Tab")
            outline = page.evaluate(
                "() => { const s = getComputedStyle(document.activeElement);"
                " return [s.outlineStyle, s.boxShadow, s.textDecorationLine, s.textDecorationThickness] }"
            )
            assert outline[0] != "none" or outline[1] != "none", (stop, outline)

    def test_what_is_too_wide_for_a_phone_says_so_and_is_a_stop_and_on_a_desk_neither(self, page):
        hint = "(e) => getComputedStyle(e, '::before').content"
        page.set_viewport_size(PHONE)
        page.goto((SITE / "notebooks/12_shuffled_sgd.html").as_uri())
        page.wait_for_selector(".cell_output .output[data-gspa-reached]")
        table = page.query_selector(".cell_output .output[data-gspa-reached]")
        assert "sideways" in table.evaluate(hint)
        table.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("(e) => e.scrollLeft > 0", arg=table)
        page.set_viewport_size(DESK)
        page.wait_for_function("(e) => e.tabIndex === -1", arg=table)
        assert table.evaluate(hint) == "none"


@pytest.mark.usefixtures("formulas_raw")
class TestKnobs:
    """A figure that moves: frames that the notebook drew, exchanged by a slider."""

    @pytest.mark.parametrize(
        ("where", "figures"),
        [
            ("notebooks/00_shuffling_in_pictures", 5),
            ("notebooks/05_reduction_to_counts", 1),
            ("notebooks/07_gaussian_guarantee", 2),
            ("notebooks/09_personalized", 1),
            ("notebooks/17_exact_accounting", 1),
            ("intro", 1),
        ],
    )
    def test_each_figure_turns_by_keyboard_to_each_of_its_frames(self, page, where, figures):
        page.goto((SITE / f"{where}.html").as_uri())
        boxes = page.locator("figure:has(.gspa-knobs)")
        assert boxes.count() == figures
        for i in range(figures):
            box = boxes.nth(i)
            picture, seen = box.locator("img"), set()
            for k in range(box.locator("input").count()):
                knob = box.locator("input").nth(k)
                for _ in range(2):
                    at = knob.input_value()
                    knob.focus()
                    page.keyboard.press("ArrowRight" if at != knob.get_attribute("max") else "ArrowLeft")
                    assert knob.input_value() != at
                    page.wait_for_function("(e) => e.complete && e.naturalWidth > 0", arg=picture.element_handle())
                    seen.add((picture.get_attribute("src"), picture.get_attribute("alt")))
                    assert knob.get_attribute("aria-valuetext") == box.locator("output").nth(k).inner_text()
                    assert box.locator("[aria-live]").inner_text() == picture.get_attribute("alt")
            assert len(seen) >= 2

    def test_the_values_beside_the_knobs_are_those_of_the_frame(self, page):
        page.goto((SITE / "notebooks/00_shuffling_in_pictures.html").as_uri())
        box = page.locator("figure:has(.gspa-knobs)").nth(1)
        people, budget = box.locator("input").nth(0), box.locator("input").nth(1)
        people.focus()
        page.keyboard.press("Home")
        budget.focus()
        page.keyboard.press("End")
        assert box.locator("output").all_inner_texts() == ["1", "4"]
        alone = 100 / (1 + math.exp(-4))  # what one answer tells
        assert f"right {alone:.1f}% of the time" in box.locator("img").get_attribute("alt")

    def test_arrow_keys_and_a_pointer_read_the_values_off_the_lines(self, page):
        page.goto((SITE / "notebooks/00_shuffling_in_pictures.html").as_uri())
        table = pd.read_csv(SITE / "_static/data/00_shuffling_in_pictures/figure-cover.csv")
        table = table[table["own"] == 2].reset_index()
        box = page.locator("figure:has(.gspa-knobs)").nth(4)
        picture, reading = box.locator("img"), box.locator(".gspa-reading")
        assert not reading.is_visible()
        picture.focus()
        for row in (0, 1):
            page.keyboard.press("ArrowRight")
            said = reading.inner_text()
            assert f"{table['crowd'][row]:.4g}" in said
            assert f"numbers with noise: {table['noise'][row]:.4g}" in said
            assert f"coins: {table['coins'][row]:.4g}" in said
        assert "coins" in box.locator("[aria-live]").inner_text()
        page.keyboard.press("Escape")
        assert not reading.is_visible()
        shape = picture.bounding_box()
        picture.hover(position={"x": shape["width"] / 2, "y": shape["height"] / 2})
        assert "budget of everybody else" in reading.inner_text()
        page.mouse.move(1, 1)
        assert not reading.is_visible()

    def test_without_scripts_the_still_picture_and_the_text_are_there(self, scriptless):
        scriptless.goto((SITE / "notebooks/00_shuffling_in_pictures.html").as_uri())
        assert scriptless.locator(".gspa-knobs").count() == 0
        pictures = scriptless.locator("figure img")
        assert pictures.count() == 5
        assert all(pictures.nth(i).bounding_box()["height"] > 100 for i in range(5))


class TestTheClaimsPage:
    def test_it_is_small_and_a_claim_that_is_asked_for_brings_its_card(self, page):
        page.goto((SITE / "claims.html").as_uri())
        assert page.evaluate("() => document.querySelectorAll('*').length") < 8_000
        page.goto((SITE / "claims.html").as_uri() + "#G-T2")
        card = page.locator("#G-T2 .gspa-card")
        card.wait_for()
        page.wait_for_function("() => document.querySelector('#G-T2 .gspa-card mjx-container')")  # its formulas are set
        assert card.locator("blockquote").count() == 1


class TestThemeAndPrint:
    @pytest.mark.usefixtures("formulas_raw")
    def test_the_button_turns_the_page_dark_and_the_next_page_stays_so(self, page):
        page.goto((SITE / "intro.html").as_uri())
        ground = "() => getComputedStyle(document.body).backgroundColor"
        button = page.locator(".theme-switch-button").locator("visible=true").first
        for _ in range(3):  # light, dark, as the system has it
            if page.evaluate("() => document.documentElement.dataset.mode") == "dark":
                break
            button.click()
        page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
        page.goto((SITE / "claims.html").as_uri())
        assert luminance(page.evaluate(ground)) < 0.2

    @pytest.mark.usefixtures("formulas_raw")
    @pytest.mark.parametrize(
        "name", ["notebooks/08_comparison", "notebooks/00_shuffling_in_pictures", "intro", "speed"]
    )
    def test_figures_are_dark_in_dark_mode_and_light_elsewhere(self, page, name):
        page.emulate_media(color_scheme="dark")
        page.goto((SITE / f"{name}.html").as_uri())
        picture = page.locator("main figure img").first
        assert brightness(picture.screenshot()) < 0.3
        page.evaluate("() => { document.documentElement.dataset.theme = 'light' }")
        assert brightness(picture.screenshot()) > 0.7
        page.evaluate("() => { document.documentElement.dataset.theme = 'dark' }")
        page.emulate_media(media="print")
        assert picture.evaluate("(e) => getComputedStyle(e).filter") == "none"

    @pytest.mark.usefixtures("formulas_raw")
    def test_a_dark_figure_keeps_its_colours_apart_from_the_ground_and_from_each_other(self, page):
        page.emulate_media(color_scheme="dark")
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        style = page.locator("main figure img").first.evaluate("(e) => getComputedStyle(e).filter")
        roles = [colour for colour, _ in ROLES.values()]
        ground, *seen = page.evaluate(FILTERED, [style, ["#ffffff", *roles, *PALETTE]])
        assert min(contrast(colour, ground) for colour in seen) >= 3
        assert min(math.dist(one, other) for one, other in combinations(seen[: len(roles)], 2)) >= 50

    @pytest.mark.usefixtures("formulas_raw")
    def test_print_is_the_text_alone_on_white(self, page):
        page.emulate_media(color_scheme="dark")
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
        page.evaluate(
            "() => addEventListener('beforeprint', () => { window.printed = document.documentElement.dataset.theme })"
        )
        assert page.pdf().startswith(b"%PDF")
        assert page.evaluate("() => window.printed") == "light"
        page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
        page.emulate_media(media="print")
        for hidden in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".header-article", ".prev-next-footer"):
            assert not page.locator(hidden).first.is_visible(), hidden
        assert page.locator("#jb-print-docs-body h1").is_visible()  # the theme's own heading for paper
        assert page.locator(".gspa-made-from").first.is_visible()

    @pytest.mark.parametrize("name", [name for name in BOOK if name.startswith("report_")])
    def test_a_report_is_printed_on_two_pages(self, page, name):
        page.goto((SITE / f"{name}.html").as_uri())
        page.evaluate(TYPESET)
        margin = dict.fromkeys(("top", "bottom", "left", "right"), "1.2cm")
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", margin=margin))) <= 2


class TestDownloads:
    def test_a_downloaded_notebook_runs_where_it_was_put_and_says_the_same(self, tmp_path):
        (button,) = soup("notebooks/05_reduction_to_counts")("a", class_="btn-download-source-button")
        source = (SITE / "notebooks" / button["href"]).resolve()
        mine, again = tmp_path / "downloaded.ipynb", tmp_path / "again.ipynb"
        mine.write_bytes(source.read_bytes())
        command = [sys.executable, "-m", "papermill", mine.name, again.name]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        tables = [
            [
                pd.read_csv(io.StringIO(table["csv"]))
                for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
                for output in cell.get("outputs", [])
                for table in output.get("data", {}).get(MIME, {}).get("tables", [])
            ]
            for path in (source, again)
        ]
        assert tables[0]
        for first, second in zip(*tables, strict=True):
            pd.testing.assert_frame_equal(first, second)
