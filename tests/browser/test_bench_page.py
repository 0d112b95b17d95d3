"""`gspa serve` as a reader meets it: numbers are changed on a page, the page runs, and says what moved.

The server has a project of its own around the built site, so that nobody's runs are touched.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from complaints import MATHJAX, complaints_of, without_mathjax
from test_book import COLOURS, CONTRAST, DESK, NARROW, PHONE, SITE, TYPESET, axe_in, luminance, violations

from gspa.book import cli

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "runs.html").is_file(), reason=f"no site in {SITE}: make book"),
]
NAME = "08_comparison"
QUICK = f"notebooks/{NAME}.html?profile=quick"
UNDER_WAY = "() => document.querySelector('[data-bench-under-way]').textContent"


class Served:
    """`gspa serve` in a process of its own."""

    def __init__(self, root: Path, port: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gspa", "serve", "--no-browser", "--port", str(port)],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        said = re.search(r"(http://[\d.]+:(\d+))/bench/#token=\S+(?=;)", self.process.stdout.readline())
        assert said is not None
        self.address, self.base, self.port = said[0], said[1], int(said[2])

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def checkout(folder: Path) -> Path:
    """A checkout made of links, with a store of its own."""
    (folder / "_build").mkdir()
    for name in ("_config.yml", "notebooks", "book"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "_build" / "html").symlink_to(SITE)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    one = Served(checkout(tmp_path_factory.mktemp("bench")))
    yield one
    one.end()


def known(browser: Browser, served: Served, **options: object) -> BrowserContext:
    """A browser that came with the printed address; formulas stay as they were written, which saves most of a visit."""
    context = browser.new_context(viewport=DESK, **options)
    context.set_default_timeout(120_000)  # a busy machine may pause
    context.route(MATHJAX, without_mathjax)
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_url("**/intro.html")  # the first page sends there
    page.close()
    return context


@pytest.fixture(scope="module")
def reader(browser: Browser, served: Served) -> Iterator[tuple[BrowserContext, list[str]]]:
    """A browser that is known to the server, and what its pages complain of."""
    made = known(browser, served)
    yield made, complaints_of(made)
    made.close()


@pytest.fixture
def context(reader: tuple[BrowserContext, list[str]], served: Served) -> Iterator[BrowserContext]:
    made, complaints = reader
    complaints.clear()
    yield made
    for page in made.pages:
        page.close()
    # A refusal of the server's, which some tests ask for, is logged by the browser itself.
    own = (f"asked for {served.base}/", "Failed to load resource: the server responded with a status of 4")
    assert [one for one in complaints if not one.startswith(own)] == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def opened(page: Page, served: Served, where: str = f"{QUICK}#bench") -> Page:
    page.goto(f"{served.base}/{where}")
    page.wait_for_selector("details.gspa-bench[open] [data-bench-run]:visible")
    return page


def click_run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def at_work(page: Page) -> None:
    """Wait until a number of cells is shown."""
    page.wait_for_function(f"({UNDER_WAY})().match(/\\d+ of \\d+ cells/)")


def axe(page: Page) -> list[str]:
    """What axe finds in light and in dark; formulas aside, which are MathJax's."""
    page.evaluate(TYPESET)
    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    page.evaluate(
        "() => document.querySelectorAll('.math, article > section > :not(h1, .gspa-bench, .gspa-result,"
        " #gspa-runs)').forEach((e) => e.remove())"
    )
    for mark in ("text", "link", "scrolls"):
        page.evaluate(f"() => document.querySelectorAll('article *').forEach((e) => e.setAttribute('data-{mark}', ''))")
    axe_in(page)
    found = []
    for theme, options in (("light", {}), ("dark", CONTRAST)):  # all else is the same in the dark
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        found += violations(page, options)
    return found


COMPARED = pytest.mark.skipif(
    "A quick build"
    not in ((SITE / "intro.html").read_text(encoding="utf-8") if (SITE / "intro.html").is_file() else ""),
    reason="a quick run is compared with a quick build: make book PROFILE=quick",
)


class TestRun:
    @COMPARED
    def test_change_n_run_and_see_what_moved(self, page, served):
        page.route(MATHJAX, lambda route: route.continue_())
        opened(page, served).get_by_label("n_max", exact=True).fill("20000")
        assert page.locator("[data-bench-command]").first.inner_text() == (
            f"gspa run {NAME} --profile quick -p n_max 20000"
        )
        click_run(page)
        at_work(page)
        assert "has begun" in page.get_by_role("status").inner_text()
        page.wait_for_url("**/bench/runs/*/page/notebooks/*")
        assert page.locator(".gspa-changes li").all_inner_texts() == ["n_max = 20000, was 10000"]
        row = page.locator(".gspa-moved tbody tr").first
        assert row.locator("td").nth(1).inner_text() != row.locator("td mark").inner_text()
        assert "1,000 to 20,000 users" in page.locator("#figure-2 img, #figure-2 ~ * img").first.get_attribute("alt")
        assert page.get_by_label("n_max", exact=True).input_value() == "20000"
        assert page.locator(".gspa-changed").count() == 1
        page.evaluate(TYPESET)
        assert page.locator("article mjx-container").count() > 100
        for picture in page.locator("article .gspa-figure img").all():
            picture.scroll_into_view_if_needed()
            page.wait_for_function("(e) => e.complete && e.naturalWidth > 0", arg=picture.element_handle())
        for kind in ("notebook", "HTML", "CSV"):
            with page.expect_download() as download:
                page.locator(".gspa-result").get_by_role("link", name=kind, exact=True).click()
            assert Path(download.value.path()).stat().st_size > 100
        assert axe(page) == []

    @pytest.mark.parametrize("shape", [PHONE, DESK], ids=["phone", "desk"])
    def test_the_form_and_the_list_are_accessible_and_fit(self, page, served, shape):
        page.set_viewport_size(shape)
        opened(page, served, f"{QUICK}&n_max=3000&delta=1e-5#bench")
        assert page.locator(".gspa-changed").count() == 2
        assert page.evaluate(NARROW)["over"] <= 0
        assert axe(page) == []
        page.goto(f"{served.base}/runs.html")
        page.wait_for_selector("#gspa-runs li, #gspa-runs p")
        assert page.evaluate(NARROW)["over"] <= 0
        assert axe(page) == []

    def test_by_keyboard_alone(self, page, served):
        page.goto(f"{served.base}/{QUICK.partition('?')[0]}")
        page.locator("#bench > summary").focus()
        page.keyboard.press("Enter")
        stops = []
        for _ in range(4):
            page.keyboard.press("Tab")
            stops.append(page.evaluate("() => document.activeElement.name"))
        assert stops == ["profile", "n_min", "n_max", "steps"]
        page.keyboard.type("6")
        page.get_by_label("profile", exact=True).select_option("quick")
        # What this server has run already, if the first test of all was its own.
        for name, value in (("steps", "10"), ("n_max", "3000")):
            page.get_by_label(name, exact=True).focus()
            page.keyboard.press("Control+a")
            page.keyboard.type(value)
        page.keyboard.press("Enter")
        page.wait_for_url("**/bench/runs/*/page/notebooks/*")
        assert page.locator(".gspa-changes li").all_inner_texts() == ["n_max = 3000, was 10000"]

    @pytest.mark.parametrize(
        ("name", "bad"),
        [
            ("n_max", ("2", "1.5", "")),
            ("n_min", ("20000",)),
            ("delta", ("0", "1")),
            ("near_zero", ("0.5,0.5", "0.5", "0.5,3", "0.5,x")),
        ],
    )
    def test_bad_values_are_refused_in_the_form(self, page, served, name, bad):
        asked = []
        page.on("request", lambda request: asked.append(request.method))
        field = opened(page, served).get_by_label(name, exact=True)
        for value in bad:
            field.fill(value)
            click_run(page)
            assert field.evaluate("(e) => e.validity.valid") is False, value
            assert "POST" not in asked, value

    def test_a_run_is_stopped(self, page, served):
        opened(page, served).get_by_label("n_max", exact=True).fill("4001")
        click_run(page)
        at_work(page)
        page.get_by_role("button", name="Stop the run with n_max = 4001").click()
        page.wait_for_function(f"({UNDER_WAY})().includes('was stopped')")
        page.goto(f"{served.base}/runs.html")
        page.wait_for_selector("#gspa-runs li:has-text('n_max = 4001'):has-text('was stopped')")

    @COMPARED
    def test_a_run_survives_a_reload_and_a_closed_tab(self, context, served):
        page = opened(context.new_page(), served)
        page.get_by_label("n_max", exact=True).fill("4002")
        click_run(page)
        at_work(page)
        page.reload()
        page.wait_for_function(f"({UNDER_WAY})().includes('n_max = 4002')")
        page.close()
        later = context.new_page()
        later.goto(f"{served.base}/runs.html")
        row = later.locator("#gspa-runs li", has_text="n_max = 4002")
        row.get_by_role("link", name="Open the page").click()
        later.wait_for_selector(".gspa-moved mark")

    def test_two_tabs_have_one_queue(self, context, served):
        one, other = (opened(context.new_page(), served) for _ in range(2))
        for page, n in ((one, "4003"), (other, "4004")):
            page.get_by_label("n_max", exact=True).fill(n)
            click_run(page)
        for page in (one, other):
            page.wait_for_url("**/bench/runs/*/page/notebooks/*")
        assert one.locator(".gspa-changes li").inner_text() == "n_max = 4003, was 10000"
        assert other.locator(".gspa-changes li").inner_text() == "n_max = 4004, was 10000"
        opened(one, served).get_by_label("n_max", exact=True).fill("4004")  # which is kept
        click_run(one)
        one.wait_for_url("**/bench/runs/*/page/notebooks/*")
        assert one.url == other.url
        other.goto(f"{served.base}/runs.html")
        for n in ("4003", "4004"):
            other.locator("#gspa-runs li").filter(has_text=f"n_max = {n}").wait_for()  # one: two would be an error


class TestWithoutAServer:
    def test_the_form_fills_in_the_command(self, browser, served):
        context = browser.new_context(offline=True, viewport=PHONE)
        context.route(MATHJAX, without_mathjax)
        complaints = complaints_of(context)
        page = context.new_page()
        page.goto((SITE / f"notebooks/{NAME}.html").as_uri() + "?profile=quick&n_max=3000#bench")
        assert page.locator("[data-bench-run]:visible").count() == 0
        command = page.locator("[data-bench-command]").first
        assert command.inner_text() == f"gspa run {NAME} --profile quick -p n_max 3000"
        page.get_by_label("near_zero", exact=True).fill("0.5, 0.1")
        assert command.inner_text().endswith("-p n_max 3000 -p near_zero '0.5, 0.1'")
        page.get_by_role("button", name="Copy").first.click()
        page.wait_for_selector("button:has-text('Copied'), button:has-text('Selected')")
        page.get_by_role("button", name="Back to the defaults").click()
        page.wait_for_function("() => !document.querySelector('[data-bench-command]').textContent.includes(' -p ')")
        page.goto((SITE / "runs.html").as_uri())
        assert "gspa serve" in page.locator("#gspa-runs pre").inner_text()
        context.close()
        assert complaints == []

    def test_without_scripts_the_command_stands_there(self, scriptless):
        scriptless.goto((SITE / f"notebooks/{NAME}.html").as_uri())
        scriptless.locator("#bench > summary").click()
        assert scriptless.locator("[data-bench-command]").first.inner_text().startswith(f"gspa run {NAME}")

    def test_a_reader_without_the_token_has_the_book_and_nothing_to_run(self, browser, served):
        context = browser.new_context()
        context.route(MATHJAX, without_mathjax)
        page = context.new_page()
        page.goto(f"{served.base}/{QUICK}#bench")
        assert page.locator("[data-bench-run]:visible").count() == 0
        assert luminance(page.evaluate(COLOURS)[1]) > 0.9
        context.close()

    def test_the_file_that_the_command_opens_leads_there_with_the_form(self, browser, served, tmp_path):
        context = browser.new_context()
        context.route(MATHJAX, without_mathjax)
        page = context.new_page()
        page.goto(cli._hidden(served.address, tmp_path))
        page.wait_for_url("**/intro.html")
        assert "token" not in page.url
        assert page.evaluate("() => localStorage.getItem('gspa-bench')") == served.address.partition("=")[2]
        assert context.cookies() == []
        page.goto(f"{served.base}/{QUICK}#bench")
        page.wait_for_selector("[data-bench-run]:visible")
        context.close()


def test_after_a_kill_the_page_says_so_and_the_next_server_has_the_runs(browser, tmp_path):
    root = checkout(tmp_path)
    first = Served(root)
    context = known(browser, first)
    page = opened(context.new_page(), first)
    page.get_by_label("steps", exact=True).fill("4")
    click_run(page)
    page.wait_for_url("**/bench/runs/*/page/notebooks/*")
    page.get_by_role("link", name="Change the numbers again").click()
    page.get_by_label("steps", exact=True).fill("5")
    page.get_by_role("button", name="Run", exact=True).click()
    at_work(page)
    first.process.kill()
    first.end()
    refusal = page.locator("#bench .gspa-refusal").first
    page.wait_for_selector("#bench .gspa-refusal:visible")
    assert "The server does not answer" in refusal.inner_text()
    second = Served(root, first.port)
    click_run(page)  # with the token of before
    page.wait_for_function("(e) => e.textContent.includes('open the address')", arg=refusal.element_handle())
    context.close()
    context = known(browser, second)
    page = context.new_page()
    page.goto(f"{second.base}/runs.html")
    page.wait_for_selector("#gspa-runs li")
    assert page.locator("#gspa-runs li strong").all_inner_texts() == ["steps = 4"]
    context.close()
    second.end()
