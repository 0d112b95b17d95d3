"""A headless Chromium for the tests of pages that compute, or a skip that says what is missing.

The `browser` extra brings playwright; Chromium is the machine's own (`GSPA_CHROMIUM`, else what is on the path), or
the one that `playwright install chromium` fetched. Every test's page is offline, and fails the test if the page
writes an error or a warning to the console, throws, or asks another host for anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from complaints import complaints_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

collect_ignore = ["conftest.py"]  # as the one above: fixtures only
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def _executable() -> str | None:
    """The machine's own browser; None: playwright's, if it was fetched."""
    named = os.environ.get("GSPA_CHROMIUM")
    return named or next((path for path in map(shutil.which, _NAMES) if path), None)


# Playwright's synchronous interface keeps an event loop running, in which notebooks of other tests could not be
# executed: one browser for each module, closed at its end.
@pytest.fixture(scope="module")
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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh offline page on a wide screen; what it must not do is checked when the test is over."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)  # a busy machine may pause
    complaints = complaints_of(context)
    yield context.new_page()
    context.close()
    assert complaints == []
