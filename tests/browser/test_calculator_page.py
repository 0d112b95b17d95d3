"""The calculator's page as a reader meets it: rendered with the site's theme, opened from a folder, offline."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from test_book import DESK

import gspa
from gspa.accountant import closed_forms
from gspa.accountant import published as bounds
from gspa.accountant import rounds as composition
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import constant
from gspa.cli import run

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
DEFAULT = gspa.epsilon(eps=0.5, n=10_000, delta=1e-4)
# Half of the default's time is the law of 10,000 bits; what the numbers are does not matter to all tests.
FEWER = gspa.epsilon(eps=0.5, n=1_000, delta=1e-4)


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
    answered(page)  # loaded, it is at work already
    return page


TURN = """(hash) => new Promise((turned) => {
  addEventListener("hashchange", turned, { once: true });
  if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = hash;
})"""
Turn = Callable[[str], "Page"]


# Loaded anew, a page reads and compiles all of its scripts, and its worker's: most of a test's time.
@pytest.fixture
def turned(other_tab: tuple[Page, list[str]], address: str) -> Iterator[Turn]:
    """The page that stays open from test to test, once the whole answer to what is behind the # is there.

    For what is shown; that an address is answered as well by a page that is loaded with it, some tests say.
    """
    page, complaints = other_tab
    complaints.clear()

    def turn(asked: str) -> Page:
        if page.url.partition("#")[0] != address:
            page.goto(address)
        page.evaluate(TURN, f"#{asked}")  # the page's own listener came first: it is at work
        answered(page)
        return page

    yield turn
    page.set_viewport_size(DESK)
    page.mouse.move(0, 0)
    assert complaints == []


def answered(page: Page) -> None:
    page.wait_for_selector("#calc-result:not([aria-busy])")


def settled(page: Page) -> None:
    page.wait_for_timeout(250)  # longer than what the page waits for the next key
    answered(page)


def headline(page: Page) -> str:
    return page.inner_text("#calc-headline")


def answer(bound: Bound, asked: str) -> str:
    """The headline for a bound so narrow that both implementations round it to the same digits."""
    low, high = rounded(bound.lower, up=False), rounded(bound.upper, up=True)
    return f"Central eps <= {high}, certified in [{low}, {high}] at {asked}"


def shown(page: Page, name: str) -> str:
    return page.inner_text(f"#calc-{name}")


def interval(page: Page) -> tuple[float, float]:
    low, high = map(float, re.findall(r"\d[\d.e-]*", page.inner_text("#calc-interval")))
    return low, high


def test_the_first_answer(page: Page, address: str) -> None:
    opened(page, address)
    assert len(page.workers) == 1  # where the work is done
    assert headline(page) == answer(DEFAULT, "delta = 1e-4")
    low, high = map(Decimal, re.findall(r"\d[\d.e-]*", page.inner_text("#calc-interval")))
    assert low <= Decimal(DEFAULT.lower) <= Decimal(DEFAULT.upper) <= high
    assert high - low < Decimal("2e-7") * high
    people = constant(0.5, n=10_000)
    assert page.inner_text("#calc-mu") == f"{closed_forms.gspa_mu(people):.6g}"
    assert page.inner_text("#calc-paper") == f"{closed_forms.gspa_epsilon(people, delta=1e-4):.6g}"
    rows = bounds.compare(people, delta=1e-4, mechanism="rr")
    shown = page.locator("#calc-bounds tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.key)")
    valid = [row.key for row in rows if row.valid]
    assert shown[: len(valid)] == valid
    assert sorted(shown) == sorted(bounds.CATALOGUE)
    refused = page.locator("#calc-bounds tr.calc-refused td:last-child").all_inner_texts()
    assert len(refused) == len(rows) - len(valid)
    assert all("not established" in reason for reason in refused)
    assert f"eps <= {high}" in (page.get_attribute("#calc-curve", "aria-label") or "")
    assert page.locator("#calc-curve polyline").count() == 2


SETTINGS = {
    "one": "eps=0.5&n=1000&delta=1e-4&mechanism=rr&rounds=1",
    "many": "eps=0.5&n=200,000&delta=1e-6&mechanism=rr&rounds=1",
    "aligned": "eps=0.5&n=10000&delta=1e-6&mechanism=aligned&rounds=1",
    "common": "eps=2&n=100000&delta=1e-8&mechanism=common&rounds=1",
    "two": "budgets=0.1,190;1,100&delta=1e-5&mechanism=rr&rounds=1",
    "often": "eps=0.5&n=2000&delta=1e-5&mechanism=common&rounds=3",
    "list": "budgets=0.1,5400;0.5,3700;1,900&delta=1e-4&mechanism=rr&rounds=3",
    "file": f"budgets={';'.join(f'0.{i:03d}' for i in range(100, 130))}&delta=1e-4&mechanism=aligned&rounds=1",
    "krr": "eps=1&n=1000&delta=1e-6&mechanism=krr&k=4&rounds=1",
    "laplace": "eps=1&n=10000&delta=1e-6&mechanism=laplace&rounds=1",
    "gaussian": "n=10000&delta=1e-6&mechanism=gaussian&sigma=3&sensitivity=2&rounds=1",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_question_elsewhere(
    turned: Turn,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command and the call that the page shows work when pasted, and answer what the page answers in its words."""
    page = turned(SETTINGS[name])
    monkeypatch.chdir(tmp_path)
    assert page.is_visible("#calc-file") == ("budgets" in SETTINGS[name])
    if "budgets" in SETTINGS[name]:
        (tmp_path / "budgets.csv").write_text(shown(page, "csv"))
    program, *arguments = shown(page, "command").split()
    assert program == "gspa"
    assert run(arguments) == 0
    first, attacker, *words = capsys.readouterr().out.splitlines()
    assert run([*arguments, "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)
    bound = called(page)
    wanted = json.loads(bound.to_json())
    assert {key: exact[key] for key in wanted} == wanted
    said = dict(line.split(": ", 1) for line in words)
    assert said["valid for"] == shown(page, "holds")
    assert said["neighbours"] == shown(page, "relation")
    note = shown(page, "note").removeprefix(". ").removesuffix(".")
    assert shown(page, "method") == said["method"]
    if bound.note and "others that hold" not in bound.note:
        assert note.lower() == bound.note.lower()
    else:
        assert note == ""
    assert page.locator("#calc-warnings li").count() == len(bound.warnings)
    rates = [float(rate) for rate in re.findall(r"<= ([\d.]+)%", attacker)]
    assert [float(rate) for rate in re.findall(r"<= ([\d.]+)%", shown(page, "rates"))] == pytest.approx(rates, rel=0.01)
    if name in ("laplace", "gaussian"):
        assert re.fullmatch(r"Central eps <= [\d.]+, certified at delta = 1e-6", headline(page))
        assert bound.lower <= float(shown(page, "upper").removeprefix("eps <= ")) <= 1.01 * bound.upper
    elif "rounds=1" in SETTINGS[name] and name not in ("krr", "many"):  # whose lower end is an attack in the package
        assert headline(page).startswith(f"Central {first} at delta = ")
    else:  # on grids, or in blocks, of their own
        low, high = interval(page)
        assert low <= bound.upper
        assert bound.lower <= high
        assert high == pytest.approx(bound.upper, rel=0.01 if name == "krr" else 1e-4)  # blocks of its own


def called(page: Page) -> Bound:
    """What the Python call answers that the page shows."""
    *imports, call = shown(page, "python").split("\n")
    names: dict[str, object] = {}
    exec("\n".join(imports), names)
    bound = eval(call, names)
    assert isinstance(bound, Bound)
    return bound


@pytest.mark.parametrize(
    "setting", ["n=2000", "n=2000&mechanism=aligned", "n=2000&mechanism=common", "n=100&mechanism=krr&k=4"]
)
def test_the_largest_local_eps(turned: Turn, setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = turned(f"target_eps=0.1&delta=1e-6&{setting}")
    bound = called(page)
    assert run(shown(page, "command").split()[1:]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    if "krr" in setting:
        low, high = (float(end) for end in re.findall(r"\d[\d.e-]*", shown(page, "interval")))
        assert low <= bound.upper
        assert bound.lower <= high
        assert low == pytest.approx(bound.lower, rel=0.01)
        assert shown(page, "upper") == f"eps <= {low:.7g}"
    else:
        assert headline(page) == f"Local {first.removeprefix('local ')} at central eps = 0.1, delta = 1e-6"
    assert (shown(page, "method"), shown(page, "holds")) == (bound.method, bound.valid_for)
    for hidden in ("eps", "rounds", "curve", "rates", "mu", "bounds"):
        assert not page.is_visible(f"#calc-{hidden}")
    page.check("input[value=epsilon]")
    settled(page)
    assert headline(page).startswith("Central eps <= ")
    assert page.is_visible("#calc-curve")
    assert "target_eps" not in page.url


def test_what_is_shown_for_each_mechanism(turned: Turn) -> None:
    page = turned("n=1000")
    for name, fields, parts in [
        ("krr", {"k"}, set()),
        ("laplace", set(), set()),
        ("gaussian", {"sigma", "sensitivity"}, set()),
        ("aligned", set(), {"mu"}),
        ("rr", set(), {"mu", "bounds"}),
    ]:
        page.check(f"input[value={name}]")
        page.fill("#calc-delta", "1e-6")
        settled(page)
        assert {one for one in ("k", "sigma", "sensitivity") if page.is_visible(f"#calc-{one}")} == fields
        assert {one for one in ("mu", "bounds") if page.is_visible(f"#calc-{one}")} == parts
        assert page.is_visible("#calc-eps") == (name != "gaussian")
        assert page.locator("#calc-curve polyline").count() == 1 + ("mu" in parts)


def test_delta_at_least_one_over_n_is_warned_of(turned: Turn) -> None:
    page = turned("n=1000&delta=1e-3&eps=1")
    assert "delta = 0.001 is at least 1/n" in page.inner_text("#calc-warnings")
    page.fill("#calc-delta", "9e-4")
    settled(page)
    assert "1/n" not in page.inner_text("#calc-warnings")
    assert "a shuffler that is trusted" in page.inner_text("#calc-warnings")


def test_what_is_shown_can_be_copied(turned: Turn) -> None:
    page = turned("budgets=0.1,1900;1,100")
    for name in ("command", "python", "csv"):
        page.evaluate("getSelection().empty(); document.getElementById('calc-copied').textContent = ''")
        page.click(f"button[data-copies={name}]")
        page.wait_for_function("document.getElementById('calc-copied').textContent !== ''")
        assert page.evaluate("getSelection().toString()").strip() == page.inner_text(f"#calc-{name}").strip()


def test_by_keyboard_alone(turned: Turn) -> None:
    page = turned("n=1000")
    page.focus("input[name=mechanism]")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # from one value to two groups
    assert page.is_checked("input[value=two]")
    assert page.is_visible("#calc-eps2")
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
    wanted = gspa.epsilon(eps=0.5, n=n, delta=1e-4)
    assert headline(page) == answer(wanted, "delta = 1e-4")
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
        "budgets=0.2,3500;2,1500&delta=1e-6&mechanism=rr&rounds=1",
        "eps=2&n=1e6&delta=1e-8&mechanism=common&rounds=10",
        "budgets=0.1,5400;0.5,3700;1,900&delta=1e-4&mechanism=rr&rounds=1",
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


def test_the_back_button_brings_the_setting_of_before(page: Page, address: str) -> None:
    opened(page, f"{address}#n=1000")
    page.fill("#calc-delta", "1e-5")
    settled(page)
    first, kept = headline(page), page.url
    page.evaluate("hash => { location.hash = hash; }", f"#{SETTINGS['one']}")
    settled(page)
    assert headline(page) == answer(FEWER, "delta = 1e-4") != first
    page.go_back()
    settled(page)
    assert (headline(page), page.url) == (first, kept)


@pytest.mark.parametrize(
    ("old", "kind", "new"),
    [
        (
            "mechanism=rr&budgets=two&n=5000&eps=0.2&eps2=2&share=0.3&delta=1e-6&rounds=1",
            "two",
            "budgets=0.2,3500;2,1500&delta=1e-6&mechanism=rr&rounds=1",
        ),
        ("budgets=two&n=10&share=0", "two", "budgets=0.5,9;1,1&delta=1e-4&mechanism=rr&rounds=1"),
        ("budgets=two&n=10&share=1", "two", "budgets=0.5,1;1,9&delta=1e-4&mechanism=rr&rounds=1"),
        (
            "mechanism=common&budgets=one&n=1e6&eps=2&delta=1e-8&rounds=10",
            "one",
            "eps=2&n=1e6&delta=1e-8&mechanism=common&rounds=10",
        ),
        (
            "mechanism=rr&budgets=list&list=0.1,5400;0.5,3700;1,900&delta=1e-4&rounds=1",
            "list",
            "budgets=0.1,5400;0.5,3700;1,900&delta=1e-4&mechanism=rr&rounds=1",
        ),
    ],
)
def test_an_address_of_before_still_asks_the_same(page: Page, address: str, old: str, kind: str, new: str) -> None:
    opened(page, f"{address}#{old}")
    assert page.is_checked(f"input[value={kind}]")
    assert urlsplit(page.url).fragment == new


def test_the_fields_are_named_as_the_arguments_are(turned: Turn) -> None:
    page = turned("n=1000")
    named = page.locator("#calc label code:visible, #calc legend code:visible").all_inner_texts()
    kinds = {"rr", "aligned", "common", "krr", "laplace", "gaussian"}
    assert kinds == set(page.locator("input[name=mechanism]").evaluate_all("all => all.map((one) => one.value)"))
    asked = inspect.signature(gspa.epsilon).parameters
    # An item of the label of krr; matrices are for Python and the command line.
    assert set(named) - kinds == set(asked) - {"honest", "population"} | {"k"}
    page.check("input[value=calibrate]")
    named = page.locator("#calc label code:visible, #calc legend code:visible").all_inner_texts()
    assert set(named) - kinds == {"mechanism", "k", "n", "budgets", "eps", "target_eps", "delta"} - {"budgets"}
    assert set(named) - kinds - {"k"} <= set(inspect.signature(gspa.calibrate).parameters)


def test_where_the_paper_promises_too_much(turned: Turn) -> None:
    page = turned("n=1000&eps=5")
    people = constant(5.0, n=1000)
    paper = closed_forms.gspa_epsilon(people, delta=1e-4)
    exact = gspa.epsilon(budgets=people, delta=1e-4)
    assert paper < exact.lower
    assert f"only {paper / exact.lower:.3g} of the certified one" in page.inner_text("#calc-verdict")


def test_a_list_too_long_for_an_address(turned: Turn) -> None:
    page = turned("budgets=list")
    page.fill("#calc-list", "\n".join(f"{0.1 + i / 1e4:.4f}" for i in range(1000)))
    settled(page)
    assert page.is_disabled("#calc-copy")
    assert "too long" in page.inner_text("#calc-copied")
    assert "1,000 users" in page.inner_text("#calc-people")


def test_an_address_that_makes_no_sense(page: Page, address: str) -> None:
    opened(page, f"{address}#n=1000&delta=%E0%A4%A&what=1&eps")
    assert headline(page) == answer(FEWER, "delta = 1e-4")


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        ("mechanism=subset", "mechanism", "mechanism: must be rr, aligned, common, krr, laplace, gaussian here"),
        ("budgets=none", "list", "budgets line 1, column eps = 'none': must be 0 or a number"),
        ("eps=30", "eps", "eps = 30: must be a number in [0.001, 20]"),
    ],
)
def test_another_question_in_the_address_is_not_answered(
    page: Page, address: str, asked: str, field: str, words: str
) -> None:
    page.goto(f"{address}#{asked}")
    page.wait_for_selector(f"#calc-{field}-error:not(:empty)")
    assert words in page.inner_text(f"#calc-{field}-error")
    assert not page.is_visible("#calc-result")


def test_bad_input(turned: Turn) -> None:
    page = turned("n=1000")
    page.fill("#calc-eps", "fifty")
    page.wait_for_selector("#calc-eps-error:not(:empty)")
    assert page.inner_text("#calc-eps-error") == "eps = 'fifty': must be a number in [0.001, 20]"
    assert page.get_attribute("#calc-eps", "aria-invalid") == "true"
    assert page.locator("#calc-result.calc-stale").count() == 1
    assert headline(page) == answer(FEWER, "delta = 1e-4")  # the last good one stays, greyed
    assert page.is_disabled("#calc-copy")
    page.fill("#calc-eps", "1")
    settled(page)
    assert page.locator(".calc-error:not(:empty), .calc-stale").count() == 0
    wanted = gspa.epsilon(eps=1.0, n=1_000, delta=1e-4)
    assert headline(page) == answer(wanted, "delta = 1e-4")


def test_the_last_of_many_changes_is_answered(turned: Turn) -> None:
    page = turned("n=1000000&eps=1&rounds=2&delta=1e-6")
    for rounds in ("900", "800", "20"):
        page.fill("#calc-rounds", rounds)
        page.wait_for_timeout(200)  # so that the work before has begun
    settled(page)
    wanted = composition.compose([(composition.shuffled(constant(1.0, n=10**6)), 20)], delta=1e-6)
    low, high = interval(page)
    assert low <= wanted.upper
    assert wanted.lower <= high
    assert high == pytest.approx(wanted.upper, rel=1e-4)
    assert headline(page).endswith(" at delta = 1e-6, 20 rounds")


@pytest.mark.parametrize(
    "missing", ["delete window.Worker", "window.Worker = class { constructor() { throw Error(); } }"]
)
def test_without_workers(fresh: Page, address: str, missing: str) -> None:
    fresh.add_init_script(missing)
    opened(fresh, f"{address}#n=1000")
    assert fresh.workers == []
    assert headline(fresh) == answer(FEWER, "delta = 1e-4")
    assert fresh.locator("#calc-curve polyline").count() == 2


def test_without_javascript(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "gspa epsilon --eps 0.5" in page.inner_text("#calc-without")
    assert not page.is_visible("#calc")
    context.close()


@pytest.mark.parametrize(
    "asked",
    ["n=1000", "budgets=two&n=1000", "budgets=list", "n=1000&mechanism=gaussian&delta=1e-6", "n=1000&mechanism=krr"],
)
def test_a_narrow_screen(other_tab: tuple[Page, list[str]], turned: Turn, asked: str) -> None:
    other_tab[0].set_viewport_size({"width": 390, "height": 800})
    page = turned(asked)
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
    opened(page, f"{address}#n=1000&eps=2")  # with a bound that does not apply
    page.fill("#calc-n", "none")
    page.wait_for_selector("#calc-n-error:not(:empty)")
    assert page.get_attribute("html", "data-theme") == theme
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    assert [entry for entry in found if entry[2] < entry[1]] == []
