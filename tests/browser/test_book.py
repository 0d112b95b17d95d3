"""The built book in a real browser: quiet, typeset, described, reachable by keyboard, readable anywhere.

They look at the site in `_build/html`, or where `GSPA_SITE` says; `make browser` runs them after `make book`.
Every page is opened once, from a file: address and without a network, and its tests read what was seen then.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from gspa import sitecheck
from gspa.figures.data import LIMIT, MIME

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
# Sphinx's own pages; one page of the package's source stands for them all.
PAGES = [*BOOK, "search", "genindex", "py-modindex", "prf-prf", "_modules/index", "_modules/gspa/bound"]
# For looking things up; nobody reads them from one end to the other.
REFERENCE = {"api", "bibliography", "claims", "differences", "errata"}  # to look things up in
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

TYPESET = "() => window.MathJax?.startup?.promise"
# Axe needs seconds for the package reference's thousand entries, all alike, and for a formula's thousand outlines.
SHORTEN = """() => {
  for (const alike of ["dl.py", ".page-toc li"])
    [...document.querySelectorAll(alike)].slice(60).forEach((e) => e.remove());
}"""
WITHOUT_OUTLINES = "() => document.querySelectorAll('mjx-container').forEach((e) => e.replaceChildren())"
# One text for each combination of colours and size: what a check of contrast depends on.
TEXTS = """() => {
  const seen = new Map();
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
  };
  for (const e of document.body.querySelectorAll("*")) {
    if (e.closest("svg, script, style, mjx-container") || !e.checkVisibility()) continue;
    if (![...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    const style = getComputedStyle(e);
    const key = [style.color, ground(e), style.fontSize, style.fontWeight, style.opacity].join();
    if (!seen.has(key)) seen.set(key, e);
  }
  return [...seen.values()];
}"""
LOOKS = """() => {
  const images = [...document.querySelectorAll("main img:not(.toggler)")]; // the index's plus and minus are buttons
  const body = getComputedStyle(document.body);
  return {
    raw: [...document.querySelectorAll(".math")].filter((e) => !e.querySelector("mjx-container")).length,
    broken: document.querySelectorAll("mjx-merror, [data-mjx-error]").length,
    undescribed: images.filter((e) => (e.alt ?? "").trim().length < 10).map((e) => e.src),
    unloaded: images.filter((e) => !e.complete || !e.naturalWidth).map((e) => e.src),
    colours: [body.color, body.backgroundColor],
  };
}"""
NARROW = """() => ({
  over: document.documentElement.scrollWidth - innerWidth,
  // What starts left of its box cannot be scrolled to.
  cut: [...document.querySelectorAll("div.math mjx-container > svg")].filter(
    (e) => e.getBoundingClientRect().left < e.closest("div.math").getBoundingClientRect().left - 1).length,
  small: [...document.querySelectorAll(".gspa-figure img")].filter((e) => e.clientWidth < 480).map((e) => e.src),
})"""


@dataclass
class Visit:
    """What was seen of one page."""

    complaints: list[str] = field(default_factory=list)
    looks: dict[str, Any] = field(default_factory=dict)
    dark: dict[str, Any] = field(default_factory=dict)
    narrow: dict[str, Any] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)


def violations(page: Page, where: str, context: str, options: dict[str, object]) -> list[str]:
    """What axe calls serious or critical, a line each."""
    # preload would fetch the style sheets, which a page from a file: address may not.
    common = {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate(f"(options) => axe.run({context}, options)", common | options)
    return [
        f"{where}: {one['id']} ({one['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def look(browser: Browser, axe: str, name: str) -> Visit:
    """Open a page and see it on a phone, on a desk, light and dark."""
    seen = Visit()
    context = browser.new_context(offline=True, viewport=PHONE, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    context.on(
        "console",
        lambda message: seen.complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    context.on("weberror", lambda problem: seen.complaints.append(str(problem.error)))
    context.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:", "blob:")) else seen.complaints.append(request.url)
        ),
    )
    page = context.new_page()
    page.goto((SITE / f"{name}.html").as_uri())
    page.evaluate(TYPESET)
    page.add_style_tag(content="* { transition: none !important }")  # colours are to be those at the end
    page.wait_for_timeout(50)
    seen.narrow = page.evaluate(NARROW)
    page.evaluate(SHORTEN)
    page.evaluate(axe)
    scrolling = {"runOnly": ["scrollable-region-focusable"]}
    seen.violations += violations(page, "phone", "document", scrolling)
    page.set_viewport_size(DESK)
    page.evaluate("() => document.querySelectorAll('img').forEach((e) => (e.loading = 'eager'))")
    seen.looks = page.evaluate(LOOKS)
    page.evaluate(WITHOUT_OUTLINES)
    without = {"rules": {rule: {"enabled": False} for rule in ("scrollable-region-focusable", "color-contrast")}}
    seen.violations += violations(page, "desk", "document", without)
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        contrast = {"runOnly": ["color-contrast"]}
        seen.violations += violations(page, theme, f"{{include: ({TEXTS})()}}", contrast)
    seen.dark = page.evaluate(LOOKS)
    context.close()
    return seen


@pytest.fixture(scope="module")
def visit(browser: Browser) -> Callable[[str], Visit]:
    """What was seen of a page, which is opened when first asked for."""
    package = pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install -e '.[browser]'")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    seen: dict[str, Visit] = {}

    def visited(name: str) -> Visit:
        if name not in seen:
            seen[name] = look(browser, axe, name)
        return seen[name]

    return visited


@cache
def soup(name: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / f"{name}.html").read_bytes(), "html.parser")


def luminance(colour: str) -> float:
    """From 0, black, to 1, white; good enough to tell light from dark."""
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)


class TestEveryPage:
    """In a browser that is offline."""

    @pytest.fixture(params=PAGES)
    def seen(self, request, visit) -> Visit:
        return visit(request.param)

    def test_it_asks_nobody_for_anything_and_logs_no_error(self, seen):
        assert seen.complaints == []

    def test_every_formula_is_typeset(self, seen):
        assert (seen.looks["raw"], seen.looks["broken"]) == (0, 0)

    def test_every_picture_loads_and_says_what_it_shows(self, seen):
        assert seen.looks["undescribed"] == []
        assert seen.looks["unloaded"] == []

    def test_axe_finds_nothing_serious_light_dark_or_narrow(self, seen):
        assert seen.violations == []

    def test_it_fits_a_phone_where_figures_keep_a_readable_size(self, seen):
        assert seen.narrow["over"] <= 0
        assert seen.narrow["small"] == []

    def test_no_formula_is_cut_off_at_its_left_end(self, seen):
        assert seen.narrow["cut"] == 0

    def test_dark_mode_is_dark_and_light_mode_light(self, seen):
        text, ground = map(luminance, seen.looks["colours"])
        assert text < 0.4 < 0.9 < ground
        text, ground = map(luminance, seen.dark["colours"])
        assert ground < 0.2 < 0.7 < text


def test_axe_would_find_a_picture_without_words_and_pale_text(browser, visit):
    """The same calls on a page with two mistakes: they are not blind."""
    visit("rerun")
    package = pytest.importorskip("axe_playwright_python")
    page = browser.new_page()
    page.set_content("<html lang='en'><title>x</title><main><h1>x</h1><img src='data:,'><p>pale</p></main></html>")
    page.add_style_tag(content="p { color: #ccc }")
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    assert {"image-alt", "color-contrast"} <= {line.split()[1] for line in violations(page, "x", "document", {})}
    (pale,) = violations(page, "x", f"{{include: ({TEXTS})()}}", {"runOnly": ["color-contrast"]})
    assert "<p>pale</p>" in pale
    page.close()


class TestFigures:
    """Each figure that a notebook drew: caption, words, cell, command, data."""

    @pytest.fixture(params=NOTEBOOKS)
    def name(self, request) -> str:
        return request.param

    def test_each_has_its_line_and_its_data(self, name):
        notebook = json.loads((SITE / "_sources" / f"{name}.ipynb").read_text(encoding="utf-8"))
        drawn = {
            cell["metadata"]["mystnb"]["figure"]["name"]: [
                table for output in cell["outputs"] for table in output.get("data", {}).get(MIME, {}).get("tables", [])
            ]
            for cell in notebook["cells"]
            if "figure" in cell["metadata"].get("mystnb", {})
        }
        page = soup(name)
        figures = [figure for figure in page("figure") if figure.find_parent(class_="cell_output")]
        assert len(figures) == len(drawn)
        for figure, tables in zip(figures, drawn.values(), strict=True):
            caption = figure.find("figcaption")
            assert len(caption.find(class_="caption-text").get_text().split()) > 5
            assert all(len(image["alt"]) > 10 for image in figure("img"))
            line = caption.find(class_="gspa-made-from")
            command = line.find("code").get_text()
            assert command.split()[:3] == ["gspa", "run", name.removeprefix("notebooks/")]
            cell, source, *files = [link["href"] for link in line("a")]
            code = page.find(id=cell.removeprefix("#"))
            assert code.find("pre").get_text().strip() in [
                "".join(one["source"]).strip() for one in notebook["cells"] if one["cell_type"] == "code"
            ]
            assert ((SITE / name).parent / source).resolve() == (SITE / "_sources" / f"{name}.ipynb").resolve()
            assert tables
            assert len(files) == len(tables)
            for file, table in zip(files, tables, strict=True):
                path = (SITE / name).parent / file
                assert path.stat().st_size <= LIMIT
                rows = pd.read_csv(path)
                assert len(rows) == table["rows"] > 0
                assert len(rows.columns) > 1
                assert not [column for column in rows.columns if column.startswith("Unnamed")]
                assert f"({len(rows):,} " in line.get_text()
                assert path.read_text(encoding="utf-8") == table["csv"]

    def test_the_link_to_the_cell_unfolds_its_code(self, page, name):
        page.goto((SITE / f"{name}.html").as_uri())
        links = page.locator(".gspa-made-from a[href^='#cell-']")
        if links.count():
            anchor = links.first.get_attribute("href")
            code = page.locator(f"{anchor} pre")
            assert not code.is_visible()
            links.first.click()
            code.wait_for(state="visible")
            assert page.url.endswith(anchor)


class TestReading:
    def test_no_page_takes_more_than_ten_minutes(self):
        """240 words of prose a minute: no code, table, formula, figure, folded proof, nor card, which repeats it."""
        minutes = {}
        for name in set(BOOK) - REFERENCE:
            text = copy(soup(name).find("article"))
            for part in text.select("pre, table, figure, details, .dropdown, .math, .gspa-card, script, style"):
                part.extract()
            minutes[name] = len(text.get_text(" ").split()) / 240
        assert {name: round(time, 1) for name, time in minutes.items() if time > 10} == {}

    def test_the_next_links_lead_through_the_whole_book(self):
        walked, name = ["intro"], "intro"
        while following := soup(name).find("a", class_="right-next"):
            name = (SITE / name).parent.joinpath(following["href"]).resolve().relative_to(SITE.resolve()).as_posix()
            name = name.removesuffix(".html")
            walked.append(name)
        assert walked == BOOK


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

    def test_a_word_that_is_nowhere_is_not_found(self, page):
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=xylophonist")
        page.get_by_text("did not match any documents").wait_for()
        assert page.locator("#search-results li").count() == 0


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
        button = page.locator(".admonition.toggle button.toggle-button, details.sd-dropdown > summary").first
        button.focus()
        page.keyboard.press("Enter")
        proof = button.locator("xpath=..")
        assert proof.get_attribute("open") is not None or "toggle-hidden" not in proof.get_attribute("class")

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

    def test_a_wide_formula_is_a_stop_on_a_phone_and_not_on_a_desk(self, page):
        page.set_viewport_size(PHONE)
        page.goto((SITE / "notebooks/15_flame_privacy.html").as_uri())
        page.evaluate(TYPESET)
        figure = page.locator(".gspa-figure").first
        page.wait_for_function("() => document.querySelector('.gspa-figure').tabIndex === 0")
        figure.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('.gspa-figure').scrollLeft > 0")
        page.set_viewport_size(DESK)
        page.wait_for_function("() => document.querySelector('.gspa-figure').tabIndex === -1")


class TestThemeAndPrint:
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

    def test_figures_have_a_light_ground_in_dark_mode(self, page):
        page.emulate_media(color_scheme="dark")
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        colour = page.locator(".gspa-figure img").first.evaluate("(e) => getComputedStyle(e).backgroundColor")
        assert luminance(colour) == 1

    def test_print_is_the_text_alone_on_white(self, page):
        page.emulate_media(color_scheme="dark")
        page.goto((SITE / "notebooks/08_comparison.html").as_uri())
        page.evaluate(TYPESET)
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


class TestDownloads:
    @pytest.mark.parametrize("name", NOTEBOOKS)
    def test_the_button_gives_the_notebook_with_its_parameters(self, name):
        (button,) = soup(name)("a", class_="btn-download-source-button")
        path = ((SITE / name).parent / button["href"]).resolve()
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(notebook)
        assert [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
        assert "{glue:text}" not in "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")

    def test_a_downloaded_notebook_runs_and_says_the_same(self, tmp_path):
        name = "18_composition_and_renyi"
        source = SITE / "_sources" / "notebooks" / f"{name}.ipynb"
        again = tmp_path / "again.ipynb"
        command = [sys.executable, "-m", "papermill", str(source), str(again), "--cwd", str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True)
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
