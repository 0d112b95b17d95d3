"""A headless Chromium for the tests of pages that compute, or a skip that says what is missing.

The `browser` extra brings playwright; Chromium is the machine's own (`GSPA_CHROMIUM`, else what is on the path), or
the one that `playwright install chromium` fetched. Every test's page is offline, and fails the test if the page
writes an error or a warning to the console, throws, or asks another host for anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from complaints import MATHJAX, complaints_of, without_mathjax

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

collect_ignore = ["conftest.py"]  # as the one above: fixtures only
# Each of three workers is given a third of the tests, in this order, and one that has done its own takes of another's:
# the files whose tests take longest, or share what takes long to make, come first in a third.
_ORDER = (
    *("test_bench_page", "test_claims_page", "test_build_record_page", "test_executed"),
    *("test_book", "test_lab", "test_calculator_page", "test_calculator_numbers"),
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in the order above; tests of other folders, and of files that are not named, as they were, before them."""
    place = {name: number for number, name in enumerate(_ORDER, start=1)}
    here = Path(__file__).parent
    items.sort(key=lambda item: place.get(item.path.stem, 0) if item.path.parent == here else 0)


def _executable() -> str | None:
    """The machine's own browser; None: playwright's, if it was fetched."""
    named = os.environ.get("GSPA_CHROMIUM")
    return named or next((path for path in map(shutil.which, _NAMES) if path), None)


# Playwright's synchronous interface keeps an event loop running, in which notebooks of other tests could not be
# executed: one browser for all tests of this folder, closed after the last of them.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'")
    with api.sync_playwright() as driver:
        try:
            started = driver.chromium.launch(executable_path=_executable())
        except api.Error as refusal:
            pytest.skip(f"no Chromium to start: {str(refusal).splitlines()[0]}")
        yield started
        started.close()


WIDE = {"width": 1280, "height": 900}
FORGET = "() => { localStorage.clear(); sessionStorage.clear() }"


def _opened(browser: Browser) -> tuple[Page, list[str]]:
    """An offline page in a context of its own, and what it will be found to do that it must not."""
    context = browser.new_context(offline=True, viewport=WIDE)
    context.set_default_timeout(60_000)  # a busy machine may pause
    complaints = complaints_of(context)
    return context.new_page(), complaints


def _tab(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    page, complaints = _opened(browser)
    yield page, complaints
    page.context.close()


# Scripts that pages share, MathJax above all, are compiled once for a tab.
tab = pytest.fixture(_tab, scope="module")  # the tests of a module follow each other in it
other_tab = pytest.fixture(_tab, scope="module")  # stays where it is from test to test, which saves loading


@pytest.fixture
def page(tab: tuple[Page, list[str]]) -> Iterator[Page]:
    """An offline page on a wide screen, like a fresh one; what it must not do is checked when the test is over."""
    page, complaints = tab
    complaints.clear()
    yield page
    if page.url.startswith("file:"):
        page.evaluate(FORGET)
    page.goto("about:blank")
    page.set_viewport_size(WIDE)
    page.emulate_media(media="null", color_scheme="null")
    page.mouse.move(0, 0)
    assert complaints == []


@pytest.fixture
def formulas_raw(page: Page) -> Iterator[None]:
    """MathJax does nothing: for tests of what does not depend on how formulas look, which takes most of a visit."""
    page.route(MATHJAX, without_mathjax)
    yield
    page.unroute(MATHJAX)


@pytest.fixture
def fresh(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own, for a test that changes what later pages would find."""
    page, complaints = _opened(browser)
    yield page
    page.context.close()
    assert complaints == []


@pytest.fixture
def scriptless(browser: Browser) -> Iterator[Page]:
    """An offline page on which no script runs."""
    context = browser.new_context(offline=True, java_script_enabled=False)
    yield context.new_page()
    context.close()
