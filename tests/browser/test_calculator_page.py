"""The calculator's page as a reader meets it: rendered with the site's theme, opened from a folder, offline."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from test_book import DESK

import gspa
from gspa.accountant import api
from gspa.accountant import closed_forms as bounds
from gspa.accountant import rounds as composition
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import constant
from gspa.accountant.errors import GspaError
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
DEFAULT = gspa.epsilon(eps=0.5, n=10_000, delta=1e-6)
# Half of the default's time is the law of 10,000 bits; what the numbers are does not matter to all tests.
FEWER = gspa.epsilon(eps=0.5, n=1_000, delta=1e-6)


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


def said(page: Page) -> float:
    """The number in front."""
    return float(re.findall(r"\d[\d.e-]*", page.inner_text("#calc-upper"))[-1])


def answers(page: Page, bound: Bound, asked: str) -> bool:
    """Whether the headline has the bound's upper end, or one that is hardly larger, for what is asked."""
    right = re.fullmatch(rf"Central eps <= [\d.e-]+, certified at {re.escape(asked)}", headline(page))
    return right is not None and bound.lower <= said(page) <= bound.upper * (1 + 1e-3)


def shown(page: Page, name: str) -> str:
    return page.inner_text(f"#calc-{name}")


def test_the_first_answer(page: Page, address: str) -> None:
    opened(page, address)
    assert len(page.workers) == 1  # where the work is done
    assert answers(page, DEFAULT, "delta = 1e-6")
    assert said(page) == pytest.approx(DEFAULT.upper, rel=1e-6)
    people = constant(0.5, n=10_000)
    assert page.inner_text("#calc-mu") == f"{bounds.gspa_mu(people):.6g}"
    assert page.inner_text("#calc-paper") == f"{bounds.gspa_epsilon(people, delta=1e-6):.6g}"
    assert f"eps <= {said(page)}" in (page.get_attribute("#calc-curve", "aria-label") or "")
    assert page.locator("#calc-curve polyline").count() == 2


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_answer_is_on_the_first_screen_and_stays_while_the_last_field_is_changed(
    other_tab: tuple[Page, list[str]], turned: Turn, size: tuple[int, int]
) -> None:
    width, height = size
    other_tab[0].set_viewport_size({"width": width, "height": height})
    page = turned("n=1000")
    inside = """([name, height]) => {
      const box = document.getElementById(name).getBoundingClientRect();
      return box.height > 0 && box.top >= 0 && box.bottom <= height
        && document.elementFromPoint(box.left + 5, box.top + box.height / 2).closest("#" + name) !== null;
    }"""
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate(inside, ["calc-headline", height])
    page.locator("#calc-rounds").evaluate("(field) => field.scrollIntoView({ block: 'center' })")
    assert page.evaluate(inside, ["calc-rounds", height])
    assert page.evaluate(inside, ["calc-headline", height])


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ("mechanism=tv", "gspa epsilon --help"),
        ("target_eps=1&n=100&mechanism=discrete", "gspa calibrate --target-eps 1 --n 100 "),
        (
            f"mechanism=laplace&delta=1e-6&budgets={';'.join(f'0.{i}' for i in range(11, 30))}",
            "gspa epsilon --budgets budgets.csv --delta 1e-6 --mechanism laplace",
        ),
    ],
)
def test_the_command_of_a_refusal_can_be_copied(page: Page, address: str, asked: str, command: str) -> None:
    page.goto(f"{address}#{asked}")
    line = page.locator("#calc-mechanism-error")
    line.get_by_role("button", name="Copy the command line").click()
    line.locator("[role=status]:not(:empty)").wait_for()
    copied = page.evaluate("getSelection().toString()").strip()
    assert copied == line.locator("code").inner_text().strip()
    assert copied.startswith(command)
    page.select_option("#calc-mechanism", "rr")
    page.check("input[value=epsilon]")
    page.check("input[value=one]")
    page.wait_for_selector("#calc-mechanism-error:empty", state="attached")


SETTINGS = {
    "one": "eps=0.5&n=1000&delta=1e-6&mechanism=rr&rounds=1",
    "two": "budgets=0.1,190;1,100&delta=1e-5&mechanism=rr&rounds=1",
    "list": "budgets=0.1,5400;0.5,3700;1,900&delta=1e-6&mechanism=rr&rounds=3",
    "file": f"budgets={';'.join(f'0.{i:03d}' for i in range(100, 130))}&delta=1e-6&mechanism=aligned&rounds=1",
    "krr": "eps=1&n=1000&delta=1e-6&mechanism=krr&k=4&rounds=1",
    "laplace": "eps=1&n=10000&delta=1e-6&mechanism=laplace&rounds=1",
    "gaussian": "sigma=3&n=10000&delta=1e-6&mechanism=gaussian&sensitivity=2&rounds=1",
    "noises": "budgets=1,5000;2,1000&delta=1e-6&mechanism=gaussian&sensitivity=2&rounds=1",
    "weekly": "budgets=0.5,500;1,4500&delta=1e-6&mechanism=laplace&rounds=5",
    "unary": "eps=1&n=1000&delta=1e-6&mechanism=unary&k=4&kind=symmetric&rounds=1",
    "hashing": "eps=1&n=1000&delta=1e-6&mechanism=hashing&k=9&g=4&rounds=2",
    "matrix": "n=1000&delta=1e-6&mechanism=discrete&matrix=0.5,0.25,0.25;0.25,0.5,0.25&rounds=1",
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
    assert page.is_visible("#calc-file") == ("budgets" in SETTINGS[name] or "matrix" in SETTINGS[name])
    if page.is_visible("#calc-file"):
        (tmp_path / shown(page, "filename")).write_text(shown(page, "csv"))
    program, *arguments = shown(page, "command").split()
    assert program == "gspa"
    assert run(arguments) == 0
    _, attacker, *words = capsys.readouterr().out.splitlines()
    bound = called(page)
    said_there = dict(line.split(": ", 1) for line in words)
    for key, name_here in (("valid for", "holds"), ("neighbours", "relation"), ("method", "method")):
        assert said_there[key] == shown(page, name_here)
    note = shown(page, "note").removeprefix(". ").removesuffix(".")
    assert note.lower() == (bound.note.lower() if "others that hold" not in bound.note else "")
    assert page.locator("#calc-warnings li").count() == len(bound.warnings)
    assert headline(page).split(", ")[1].startswith("certified" if bound.proved else "computed")
    rates = [float(rate) for rate in re.findall(r"<= ([\d.]+)%", attacker)]
    here = [float(rate) for rate in re.findall(r"<= ([\d.]+)%", shown(page, "rates"))]
    assert all(0.97 * there <= one <= 1.02 * there for one, there in zip(here, rates, strict=True))
    assert bound.lower <= said(page) <= bound.upper * (1 + 1e-3)


def called(page: Page) -> Bound:
    """What the Python call answers that the page shows."""
    *imports, call = shown(page, "python").split("\n")
    names: dict[str, object] = {}
    exec("\n".join(imports), names)
    bound = eval(call, names)
    assert isinstance(bound, Bound)
    return bound


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("n=2000", "Local eps <= "),
        ("n=100&mechanism=krr&k=4&rounds=3", "Local eps <= "),
        ("n=2000&mechanism=gaussian", "Noise of sigma >= "),
        ("budgets=0.5,900;1,100&mechanism=krr&k=4", "All budgets times at most "),
        ("budgets=1,900;2,100&mechanism=gaussian", "All noise times at least "),
    ],
)
def test_what_meets_a_central_eps(
    turned: Turn, setting: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = turned(f"target_eps=0.1&delta=1e-6&{setting}")
    monkeypatch.chdir(tmp_path)
    if page.is_visible("#calc-file"):
        (tmp_path / "budgets.csv").write_text(shown(page, "csv"))
    bound, found = called(page), said(page)
    assert run(shown(page, "command").split()[1:]) == 0
    assert headline(page).startswith(words)
    assert found == pytest.approx(bound.value, rel=2e-3)
    if "times" in words:  # and what each group then has
        given = [float(group.split(",")[0]) for group in setting.split("&")[0].removeprefix("budgets=").split(";")]
        each = [float(number) for number in shown(page, "people").split(" = ")[1].split(", ")]
        assert each == pytest.approx([found * one for one in given], rel=1e-6)
    assert (shown(page, "method"), shown(page, "holds")) == (bound.method, bound.valid_for)
    for hidden in ("curve", "rates", "each", "mu", "bounds"):
        assert not page.is_visible(f"#calc-{hidden}")
    page.check("input[value=epsilon]")
    settled(page)
    assert headline(page).startswith("Central eps <= ")
    assert page.is_visible("#calc-curve")
    assert "target_eps" not in page.url


def test_what_is_shown_for_each_mechanism(turned: Turn) -> None:
    page = turned("n=1000")
    own = {"k", "size", "g", "kind", "sensitivity", "matrix", "eps", "sigma"}
    for name, asked, parts in [
        ("krr", {"k", "eps"}, {"bounds"}),
        ("subset", {"k", "size", "eps"}, set()),
        ("unary", {"k", "kind", "eps"}, set()),
        ("hashing", {"k", "g", "eps"}, set()),
        ("laplace", {"eps"}, {"bounds"}),
        ("gaussian", {"sigma", "sensitivity"}, set()),
        ("discrete", {"matrix"}, set()),
        ("aligned", {"eps"}, {"mu"}),
        ("rr", {"eps"}, {"mu", "bounds"}),
    ]:
        page.select_option("#calc-mechanism", name)
        page.fill("#calc-delta", "1e-6")
        settled(page)
        assert {one for one in own if page.is_visible(f"#calc-{one}")} == asked
        assert {one for one in ("mu", "bounds") if page.is_visible(f"#calc-{one}")} == parts
        assert page.locator("#calc-curve polyline").count() == 1 + ("mu" in parts)


def test_what_each_group_has(turned: Turn) -> None:
    page = turned("budgets=0.1,190;1,100&delta=1e-5&mechanism=krr")
    wanted = gspa.per_user(budgets=[0.1] * 190 + [1.0] * 100, delta=1e-5, mechanism=gspa.KRR(k=10))
    found = [float(end) for end in re.findall(r"eps <= ([\d.e-]+)", shown(page, "each"))]
    assert found == pytest.approx([wanted.upper[0], wanted.upper[-1]], rel=1e-3)


def test_reports_that_say_nothing(turned: Turn) -> None:
    page = turned("n=100&delta=1e-6&mechanism=discrete&matrix=0.5,0.5;0.5,0.5")
    assert headline(page).startswith("Central eps <= 0,")
    assert page.locator("#calc-curve polyline").count() == 1


def test_a_matrix_that_shows_an_input_for_certain(turned: Turn) -> None:
    page = turned("n=100&delta=1e-6&mechanism=discrete&matrix=1,0;0.5,0.5")
    assert headline(page) == "No central eps holds, certified at delta = 1e-6"
    with pytest.raises(GspaError):
        called(page)
    page.fill("#calc-matrix", "0.6,0.4\n0.5,0.5")
    settled(page)
    assert headline(page).startswith("Central eps <= ")


def test_the_command_for_published_bounds(turned: Turn, capsys: pytest.CaptureFixture[str]) -> None:
    page = turned("n=1000&eps=2")
    assert run(shown(page, "bounds").split()[1:]) == 0
    assert "GSPA" in capsys.readouterr().out


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
    page.focus("#calc-mechanism")
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
    page.focus("#calc-eps-slider")
    for _ in range(2):
        page.keyboard.press("ArrowRight")  # finer than the number's two digits: one press is one number
    assert page.input_value("#calc-eps") == "0.52"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#calc-eps") == "0.5"
    settled(page)
    n = int(page.input_value("#calc-n"))
    wanted = gspa.epsilon(eps=0.5, n=n, delta=1e-6)
    assert answers(page, wanted, "delta = 1e-6")
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
        "budgets=0.1,5400;0.5,3700;1,900&delta=1e-6&mechanism=rr&rounds=1",
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
    assert answers(page, FEWER, "delta = 1e-6")
    assert headline(page) != first
    page.go_back()
    settled(page)
    assert (headline(page), page.url) == (first, kept)


def test_the_fields_are_named_as_the_arguments_are(turned: Turn) -> None:
    page = turned("n=1000")
    kinds = set(page.locator("#calc-mechanism option").evaluate_all("all => all.map((one) => one.value)"))
    # Total variation is for Python and the command line, and a training run has no users.
    assert kinds == set(api._KINDS) - {"tv", "allocation"}
    named = page.locator("#calc label code:visible").all_inner_texts()
    assert set(named) == set(inspect.signature(gspa.epsilon).parameters) - {"honest", "population"}
    page.check("input[value=calibrate]")
    named = page.locator("#calc label code:visible").all_inner_texts()
    assert set(named) == set(inspect.signature(gspa.calibrate).parameters)
    for name in kinds - {"gaussian"}:
        page.select_option("#calc-mechanism", name)
        labels = set(page.locator("#calc .calc-row:visible label code").all_inner_texts())
        assert {one.name for one in fields(api._KINDS[name]) if one.init} <= labels | {"scale", "sensitivity"}, name


def test_where_the_paper_promises_too_much(turned: Turn) -> None:
    page = turned("n=1000&eps=5")
    people = constant(5.0, n=1000)
    paper = bounds.gspa_epsilon(people, delta=1e-6)
    exact = gspa.epsilon(budgets=people, delta=1e-6)
    assert paper < exact.lower
    assert f"only {paper / exact.upper:.3g} of the certified one" in page.inner_text("#calc-verdict")


def test_a_list_too_long_for_an_address(turned: Turn) -> None:
    page = turned("budgets=list")
    page.fill("#calc-list", "\n".join(f"{0.1 + i / 1e4:.4f}" for i in range(1000)))
    settled(page)
    assert page.is_disabled("#calc-copy")
    assert "too long" in page.inner_text("#calc-copied")
    assert "1,000 users" in page.inner_text("#calc-people")


def test_an_address_that_makes_no_sense(page: Page, address: str) -> None:
    opened(page, f"{address}#n=1000&delta=%E0%A4%A&what=1&eps")
    assert answers(page, FEWER, "delta = 1e-6")


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        ("mechanism=tv", "mechanism", "mechanism: must be rr, krr, subset, unary, rappor, hashing, hadamard"),
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
    assert answers(page, FEWER, "delta = 1e-6")  # the last good one stays, greyed
    assert page.is_disabled("#calc-copy")
    page.fill("#calc-eps", "1")
    settled(page)
    assert page.locator(".calc-error:not(:empty), .calc-stale").count() == 0
    wanted = gspa.epsilon(eps=1.0, n=1_000, delta=1e-6)
    assert answers(page, wanted, "delta = 1e-6")


def test_the_last_of_many_changes_is_answered(turned: Turn) -> None:
    page = turned("n=1000000&eps=1&rounds=2&delta=1e-6")
    for rounds in ("900", "800", "20"):
        page.fill("#calc-rounds", rounds)
        page.wait_for_timeout(200)  # so that the work before has begun
    settled(page)
    assert page.locator(".calc-waiting").count() == 0
    page.fill("#calc-rounds", "900")
    page.wait_for_selector(".calc-waiting", state="attached")
    page.fill("#calc-rounds", "")
    page.wait_for_selector(".calc-stale", state="attached")
    assert page.locator(".calc-waiting").count() == 0  # nothing is being computed any more
    page.fill("#calc-rounds", "20")
    settled(page)
    wanted = composition.compose([(composition.shuffled(constant(1.0, n=10**6)), 20)], delta=1e-6)
    assert wanted.lower <= said(page) <= wanted.upper * (1 + 1e-3)
    assert headline(page).endswith(" at delta = 1e-6, 20 rounds")


@pytest.mark.parametrize(
    "missing", ["delete window.Worker", "window.Worker = class { constructor() { throw Error(); } }"]
)
def test_without_workers(fresh: Page, address: str, missing: str) -> None:
    fresh.add_init_script(missing)
    opened(fresh, f"{address}#n=1000")
    assert fresh.workers == []
    assert answers(fresh, FEWER, "delta = 1e-6")
    assert fresh.locator("#calc-curve polyline").count() == 2


def test_without_javascript(scriptless: Page, address: str) -> None:
    scriptless.goto(address)
    assert "gspa epsilon --eps 0.5" in scriptless.inner_text("#calc-without")
    assert not scriptless.is_visible("#calc")


@pytest.mark.parametrize(
    "asked",
    [
        "n=1000",
        "budgets=list",
        "n=1000&mechanism=gaussian&delta=1e-6",
    ],
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
  for (const node of document.querySelectorAll("#calc *, #calc-answer *, #calc-result *")) {
    if (!node.getClientRects().length) continue;
    const style = getComputedStyle(node), behind = light(ground(node));
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    const name = node.id || node.className.baseVal || node.className || node.tagName;
    if (own) found.push([name, 4.5, ratio(light(parse(node.closest("svg") ? style.fill : style.color)), behind)]);
    if (node.matches(".calc-line")) found.push([name, 3, ratio(light(parse(style.stroke)), behind)]);
    const border = () => ratio(light(parse(style.borderTopColor)), behind);
    if (node.matches("input[type=text], select")) found.push([name, 3, border()]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(page: Page, address: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    opened(page, f"{address}#budgets=2,1000;1,10")
    page.fill("#calc-n", "none")
    page.wait_for_selector("#calc-n-error:not(:empty)")
    assert page.get_attribute("html", "data-theme") == theme
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    assert [entry for entry in found if entry[2] < entry[1]] == []
