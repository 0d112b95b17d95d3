"""The claims page in a browser: what an address shows, and what the form does; without a script all is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gspa.book import cards, text
from gspa.book.claims import Outcome, registry
from gspa.book.verdicts import Reading

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).resolve().parents[2] / "book" / "_static" / "claims.js"
READINGS = (Reading("literally", "refuted", "A zebra."), Reading("kindly", "refuted", "Still one."))
FOUND = {
    # Its readings are a table within the table, whose rows are no claims.
    "G-C3": Outcome("G-C3", "refuted", "A zebra.", {"gap": 0.25}, readings=READINGS),
    "G-A2": Outcome("G-A2", "refuted", "off by 3.", {"count": 12345}),
    "F10": Outcome("F10", "refuted", "off by 4.", {"count": 12345}),
    "G-TAB2": Outcome("G-TAB2", "verified", "Fine.", {"mean": 1.0}),
}
ALL = len(registry())
PAGE = cards.Found(FOUND, set())


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page as Sphinx nests it: a section for each heading, an anchor in it; and the scripts beside it."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("_static", "claims"):
        (folder / name).mkdir()
    (folder / "_static" / "claims.js").write_bytes(SCRIPT.read_bytes())
    (folder / "_static" / "claims-index.js").write_text(cards.index(PAGE), encoding="utf-8")
    for name, script in cards.rows(PAGE, {}).items():
        (folder / "claims" / name).write_text(script, encoding="utf-8")
    html = ["<!doctype html><meta charset=utf-8><title>x</title><article><section><h1>Claims</h1>"]
    depth, anchor = 1, ""
    for line in cards.parts(PAGE, [])["claims"].splitlines():
        head = re.fullmatch(r"(##+) (.*)", line)
        if target := re.fullmatch(r"\((.+)\)=", line):
            anchor = target[1]
        elif head:
            html += ["</section>"] * (depth - len(head[1]) + 1)
            depth = len(head[1])
            html.append(f"<section><span id='{anchor}'></span><h{depth}>{head[2]}</h{depth}>")
        elif not line.startswith("```"):
            html.append(line)
    page = folder / "claims.html"
    page.write_text("\n".join([*html, *["</section>"] * depth, "</article>"]), encoding="utf-8")
    return page.as_uri()


def shown(page):
    return page.locator(".gspa-claim:visible").evaluate_all("(rows) => rows.map((row) => row.id)")


def chosen(page):
    return {name: page.locator(f"[name={name}]").input_value() for name in ("paper", "verdict", "q")}


NOTHING = {"paper": "", "verdict": "", "q": ""}


def test_everything_is_shown_at_first(page, address):
    page.goto(address)
    assert shown(page) == list(registry())
    assert page.get_by_role("status").inner_text() == f"All {ALL} claims"


@pytest.mark.parametrize(
    ("hash_", "state", "expected"),
    [
        ("claims-gspa-refuted", {"paper": "gspa", "verdict": "refuted"}, ["G-C3", "G-A2"]),
        ("claims-refuted", {"verdict": "refuted"}, ["G-C3", "G-A2", "F10"]),
        ("claims-flame", {"paper": "flame"}, [name for name, one in registry().items() if one.paper == "flame"]),
        ("paper=gspa&verdict=verified", {"paper": "gspa", "verdict": "verified"}, ["G-TAB2"]),
        ("q=a%20zebra", {"q": "a zebra"}, ["G-C3"]),
        ("q=%", {"q": "%"}, None),  # an address cut short
        ("paper=nobody", {}, list(registry())),
        ("nowhere", {}, list(registry())),
    ],
)
def test_an_address_is_a_view(page, address, hash_, state, expected):
    page.goto(f"{address}#{hash_}")
    assert chosen(page) == NOTHING | state
    if expected is not None:
        assert shown(page) == expected
    if "paper" in state:  # papers without a shown claim are gone with their headings
        assert page.locator("h2:visible").count() == 1


@pytest.mark.parametrize(
    ("words", "first"),
    [("Theorem 2", "G-T2"), ("theorem 3", "G-T3"), ("Figure 4", "G-FIG4"), ("Lemma 2", "G-L2"), ("eq. (5)", "B-9")],
)
def test_a_place_in_the_paper_is_found_first(page, address, words, first):
    page.goto(address)
    page.get_by_label("Search").fill(words)
    assert shown(page)[0] == first
    page.get_by_label("Search").fill("")
    assert shown(page) == list(registry())


def test_a_row_unfolds_to_its_card_which_is_fetched_then(page, address):
    page.goto(address)
    assert "A zebra." not in page.content()
    page.locator("#G-C3 > summary").click()
    page.get_by_text("A zebra.").wait_for()
    assert page.locator("script[src^='claims/']").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('src'))"
    ) == ["claims/G-C3.js"]


def test_the_form_filters_counts_and_keeps_its_state_in_the_address(page, address):
    page.goto(address)
    page.get_by_label("Verdict").select_option("refuted")
    assert page.get_by_role("status").inner_text() == f"3 of {ALL} claims"
    page.get_by_label("Search").fill("zebra")
    assert shown(page) == ["G-C3"]
    assert page.url.endswith("#verdict=refuted&q=zebra")
    page.reload()
    assert shown(page) == ["G-C3"]
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function(f"document.querySelector('[role=status]').textContent === 'All {ALL} claims'")
    assert chosen(page) == NOTHING


@pytest.mark.parametrize(
    ("ways", "title"),
    [
        (
            ["eps_i, delta_i", "ε_i, δ_i", r"\epsilon_i, \delta_i", "epsilon_i, DELTA_i", "εi"],
            "Every (eps_i, delta_i) randomizer",
        ),
        (["5e-6", "5e-06", "5×10−6", "5 × 10^-6"], "SS-Simple is (0.91, 5e-6)-DP"),
        (["sqrt(log(4/delta)/n)", "√(log(4/δ)/n)"], "eps_L sqrt(log(4/delta)/n)"),
    ],
)
def test_a_formula_is_found_as_the_keyboard_has_it_and_as_the_page_has_it(page, address, ways, title):
    page.goto(address)
    found = []
    for way in ways:
        page.get_by_label("Search").fill(way)
        found.append(shown(page))
    (wanted,) = [name for name, one in registry().items() if title in text.plain(one.title)]
    assert all(wanted in names for names in found)
    assert all(len(names) < ALL / 2 for names in found)


def test_words_in_quotation_marks_are_a_phrase(page, address):
    page.goto(address)
    page.get_by_label("Search").fill("Theorem 3")
    words = shown(page)
    page.get_by_label("Search").fill('"Theorem 3"')
    phrase = shown(page)
    assert "G-T3" in phrase
    assert set(phrase) < set(words)


def test_the_keyboard_is_enough(page, address):
    page.goto(address)
    for _ in page.locator(".gspa-bars a").all():  # above the form
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("zebra")
    page.keyboard.press("Enter")  # submits nothing
    assert shown(page) == ["G-C3"]
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('[role=status]').textContent === 'All {ALL} claims'")


def test_a_link_to_a_claim_opens_it_whatever_was_filtered(page, address):
    page.goto(f"{address}#claims-gspa-refuted")
    page.evaluate("location.hash = 'F10'")
    page.get_by_text("off by 4.").wait_for()
    assert shown(page) == list(registry())
    assert -1 < page.locator("#F10").bounding_box()["y"] < 900  # a page scrolls by whole pixels
