"""The calculator's page as a reader meets it: rendered with the site's theme, opened from a folder, offline."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from gspa.accountant import one_round as accountant
from gspa.accountant import published as bounds
from gspa.accountant import rounds as composition
from gspa.accountant.budgets import constant

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CONF = """
extensions = ["myst_parser"]
html_theme = "sphinx_book_theme"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["gspa.css"]
html_extra_path = ["_extra"]
"""
DEFAULT = accountant.central_epsilon(constant(0.5, n=10_000), delta=1e-4)


@pytest.fixture(scope="module")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as rendered by the book's theme, beside empty pages for its links."""
    source = tmp_path_factory.mktemp("calculator")
    for name in ("_static", "_extra"):
        shutil.copytree(ROOT / "book" / name, source / name)
    text = (ROOT / "book" / "calculator.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(((?:notebooks|api)/\w+)(?:\.md)?\)", text)
    for name in linked:
        (source / name).parent.mkdir(exist_ok=True)
        (source / f"{name}.md").write_text("# A page\n")
    (source / "calculator.md").write_text(text, encoding="utf-8")
    words = set(re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", text))
    meanings = "\n\n".join(f"{word}\n  A word." for word in sorted(words))
    (source / "glossary.md").write_text(f"# Words\n\n```{{glossary}}\n{meanings}\n```\n")
    entries = "\n".join(["calculator", "glossary", *linked])
    (source / "index.md").write_text(f"# Home\n\n```{{toctree}}\n{entries}\n```\n")
    (source / "conf.py").write_text(CONF)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(source / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (source / "html" / "calculator.html").as_uri()


def opened(page: Page, address: str) -> Page:
    """The page at this address once the whole answer is there."""
    page.goto("about:blank")  # else a new # alone would not load it again
    page.goto(address)
    settled(page)
    return page


def settled(page: Page) -> None:
    page.wait_for_timeout(250)  # longer than what the page waits for the next key
    page.wait_for_selector("#calc-result:not([aria-busy])")


def headline(page: Page) -> str:
    return page.inner_text("#calc-headline")


def test_the_first_answer(page: Page, address: str) -> None:
    opened(page, address)
    assert headline(page) == f"Central eps = {DEFAULT.value:.6g} at delta = 1e-4."
    low, high = map(float, re.findall(r"\d[\d.e-]*", page.inner_text("#calc-interval")))
    assert low <= DEFAULT.lower <= DEFAULT.upper <= high
    assert high - low < 2e-7 * high
    people = constant(0.5, n=10_000)
    assert page.inner_text("#calc-mu") == f"{bounds.gspa_mu(people):.6g}"
    assert page.inner_text("#calc-paper") == f"{bounds.gspa_epsilon(people, delta=1e-4):.6g}"
    assert "binary randomized response" in page.inner_text("#calc-holds")
    rows = bounds.compare(people, delta=1e-4, mechanism="rr")
    shown = page.locator("#calc-bounds tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.key)")
    valid = [row.key for row in rows if row.valid]
    assert shown[: len(valid)] == valid
    assert sorted(shown) == sorted(bounds.CATALOGUE)
    refused = page.locator("#calc-bounds tr.calc-refused td:last-child").all_inner_texts()
    assert len(refused) == len(rows) - len(valid)
    assert all("not established" in reason for reason in refused)
    assert "0.00966" in (page.get_attribute("#calc-curve", "aria-label") or "")
    assert page.locator("#calc-curve polyline").count() == 2


def test_the_command_line_gives_the_same(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, f"{address}#budgets=two&n=2000&eps=0.1&eps2=1&share=0.05&delta=1e-5&rounds=3")
    command = page.inner_text("#calc-command")
    script = f'gspa() {{ "{sys.executable}" -m gspa "$@" --json; }}\n{command}'
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert headline(page) == f"Central eps = {answer['value']:.6g} at delta = 1e-5, 3 rounds."


def test_by_keyboard_alone(page: Page, address: str) -> None:
    opened(page, address)
    page.focus("input[name=mechanism]")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # from one value to two groups
    assert page.is_checked("input[value=two]")
    assert page.is_visible("#calc-share")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "calc-n"
    page.keyboard.press("Control+A")
    page.keyboard.type("2000")
    page.keyboard.press("Tab")
    before = float(page.input_value("#calc-n-slider"))
    assert before == pytest.approx(3.301, abs=0.05)  # it has followed
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert float(page.input_value("#calc-n")) == pytest.approx(2000 * 10**0.2, rel=0.1)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"  # focus is to be seen
    settled(page)
    n = int(page.input_value("#calc-n"))
    wanted = accountant.central_epsilon(constant(0.5, n=n), delta=1e-4)
    assert headline(page) == f"Central eps = {wanted.value:.6g} at delta = 1e-4."
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "calc-copy":
            break
    assert page.evaluate("document.activeElement.id") == "calc-copy"
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('calc-copied').textContent !== ''")


@pytest.mark.parametrize(
    "setting",
    [
        "mechanism=rr&budgets=two&n=5000&eps=0.2&eps2=2&share=0.3&delta=1e-6&rounds=1",
        "mechanism=common&budgets=one&n=1e6&eps=2&delta=1e-8&rounds=10",
        "mechanism=rr&budgets=list&list=0.1,5400;0.5,3700;1,900&delta=1e-4&rounds=1",
    ],
)
def test_the_address_keeps_the_setting(page: Page, address: str, setting: str) -> None:
    opened(page, f"{address}#{setting}")
    first = headline(page)
    assert urlsplit(page.url).fragment == setting
    page.fill("#calc-delta", "1e-5")
    settled(page)
    kept = page.url
    assert "delta=1e-5" in kept
    second = headline(page)
    assert second != first
    opened(page, kept)
    assert headline(page) == second
    assert page.url == kept
    page.evaluate("hash => { location.hash = hash; }", f"#{setting}")  # a link on the page itself, or the back button
    settled(page)
    assert headline(page) == first


def test_where_the_paper_promises_too_much(page: Page, address: str) -> None:
    opened(page, f"{address}#n=1000&eps=5")
    people = constant(5.0, n=1000)
    paper = bounds.gspa_epsilon(people, delta=1e-4)
    exact = accountant.central_epsilon(people, delta=1e-4)
    assert paper < exact.lower
    assert f"only {paper / exact.lower:.3g} of the exact pair's" in page.inner_text("#calc-verdict")


def test_a_list_too_long_for_an_address(page: Page, address: str) -> None:
    opened(page, f"{address}#budgets=list")
    page.fill("#calc-list", "\n".join(f"{0.1 + i / 1e4:.4f}" for i in range(1000)))
    settled(page)
    assert page.is_disabled("#calc-copy")
    assert "too long" in page.inner_text("#calc-copied")
    assert "1,000 users" in page.inner_text("#calc-people")


def test_an_address_that_makes_no_sense(page: Page, address: str) -> None:
    opened(page, f"{address}#mechanism=magic&budgets=none&delta=%E0%A4%A&what=1&n")
    assert headline(page) == f"Central eps = {DEFAULT.value:.6g} at delta = 1e-4."


def test_bad_input(page: Page, address: str) -> None:
    opened(page, address)
    page.fill("#calc-eps", "fifty")
    page.wait_for_selector("#calc-eps-error:not(:empty)")
    assert "fifty is not a number from 0.001 to 20" in page.inner_text("#calc-eps-error")
    assert page.get_attribute("#calc-eps", "aria-invalid") == "true"
    assert page.locator("#calc-result.calc-stale").count() == 1
    assert headline(page) == f"Central eps = {DEFAULT.value:.6g} at delta = 1e-4."  # the last good one stays, greyed
    assert page.is_disabled("#calc-copy")
    page.fill("#calc-eps", "1")
    settled(page)
    assert page.locator(".calc-error:not(:empty), .calc-stale").count() == 0
    wanted = accountant.central_epsilon(constant(1.0, n=10_000), delta=1e-4)
    assert headline(page) == f"Central eps = {wanted.value:.6g} at delta = 1e-4."


def test_the_last_of_many_changes_is_answered(page: Page, address: str) -> None:
    opened(page, f"{address}#n=1000000&eps=1&rounds=1000&delta=1e-6")
    for rounds in ("900", "800", "20"):
        page.fill("#calc-rounds", rounds)
        page.wait_for_timeout(200)  # so that the work before has begun
    settled(page)
    crowd = composition.shuffled(constant(1.0, n=10**6))
    assert (
        headline(page)
        == f"Central eps = {composition.compose([(crowd, 20)], delta=1e-6).value:.6g} at delta = 1e-6, 20 rounds."
    )


def test_the_work_is_done_in_a_worker(page: Page, address: str) -> None:
    opened(page, address)
    assert len(page.workers) == 1


@pytest.mark.parametrize(
    "missing", ["delete window.Worker", "window.Worker = class { constructor() { throw Error(); } }"]
)
def test_without_workers(page: Page, address: str, missing: str) -> None:
    page.add_init_script(missing)
    opened(page, address)
    assert page.workers == []
    assert headline(page) == f"Central eps = {DEFAULT.value:.6g} at delta = 1e-4."
    assert page.locator("#calc-curve polyline").count() == 2


def test_without_javascript(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "gspa epsilon --eps 0.5" in page.inner_text("#calc-without")
    assert not page.is_visible("#calc")
    context.close()


@pytest.mark.parametrize("kind", ["one", "two", "list"])
def test_a_narrow_screen(page: Page, address: str, kind: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, f"{address}#budgets={kind}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    letters = page.locator("#calc-curve text").first.evaluate("text => text.getBoundingClientRect().height")
    assert letters >= 11  # the chart is drawn for the screen, not shrunk to it


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), found = [];
  for (const node of document.querySelectorAll("#calc *, #calc-result *")) {
    if (!node.getClientRects().length) continue;
    const style = getComputedStyle(node), behind = light(ground(node));
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    const name = node.id || node.className.baseVal || node.className || node.tagName;
    if (own) found.push([name, 4.5, ratio(light(parse(node.closest("svg") ? style.fill : style.color)), behind)]);
    if (node.matches(".calc-line")) found.push([name, 3, ratio(light(parse(style.stroke)), behind)]);
    if (node.matches("input[type=text]")) found.push([name, 3, ratio(light(parse(style.borderTopColor)), behind)]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(page: Page, address: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    opened(page, f"{address}#eps=2")  # with a bound that does not apply
    page.fill("#calc-n", "none")
    page.wait_for_selector("#calc-n-error:not(:empty)")
    assert page.get_attribute("html", "data-theme") == theme
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    assert [entry for entry in found if entry[2] < entry[1]] == []
