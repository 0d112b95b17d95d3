"""Outcomes: what is refused, what survives JSON, and what a browser is shown."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from gspa.claims.outcome import MIME, Outcome, card, math_html, not_yet, quote_html, show, slug
from gspa.claims.registry import claim, registry
from gspa.claims.verdicts import VERDICTS
from gspa.errors import InvalidValue

WORDS = {"verified", "holds with correction", "refuted", "not reproduced", "not checkable", "not yet checked"}
HOSTILE = "<script>alert('x')</script> & \"quoted\" <img src=x onerror=y>"


def outcome(verdict="verified", **changes):
    """A sound outcome of that verdict."""
    correction = "so and so" if verdict == "holds with correction" else ""
    facts = {"reason": "It is so.", "evidence": {"gap": 0.5}, "correction": correction} | changes
    return Outcome("G-C3", verdict, **facts)


def formula(text):
    return f'<span class="math notranslate nohighlight">\\({text}\\)</span>'


def test_the_six_words():
    assert set(VERDICTS) == WORDS
    for word in WORDS:
        assert outcome(word).verdict == word


@pytest.mark.parametrize("word", ["true", "Verified", "", "holds"])
def test_another_word_is_refused_and_the_message_lists_the_six(word):
    with pytest.raises(InvalidValue, match="verdict = ") as refusal:
        outcome(word)
    assert all(known in str(refusal.value) for known in WORDS)


@pytest.mark.parametrize("word", ["verified", "holds with correction", "refuted", "not reproduced"])
def test_a_verdict_without_evidence_is_refused(word):
    with pytest.raises(InvalidValue, match=r"evidence.*needs its numbers"):
        outcome(word, evidence={})


@pytest.mark.parametrize("word", ["not checkable", "not yet checked"])
def test_no_verdict_needs_no_evidence(word):
    assert outcome(word, evidence={}).evidence == {}


def test_a_correction_comes_exactly_with_the_verdict_that_needs_one():
    with pytest.raises(InvalidValue, match="correction"):
        outcome("holds with correction", correction="")
    for word in sorted(WORDS - {"holds with correction"}):
        with pytest.raises(InvalidValue, match="correction"):
            outcome(word, correction="so and so")


@pytest.mark.parametrize("missing", ["size", "data"])
def test_missing_comes_with_not_yet_checked_only(missing):
    assert not_yet("G-C3", missing=missing, reason="small").missing == missing
    for word in sorted(WORDS - {"not yet checked"}):
        with pytest.raises(InvalidValue, match="missing"):
            outcome(word, missing=missing)


def test_outcomes_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        outcome().verdict = "refuted"


@pytest.mark.parametrize("word", sorted(WORDS))
def test_dictionary_and_json_round_trip(word):
    evidence = {"number": 0.1 + 0.2, "count": 3, "text": "1 ± 2", "flag": True, "pair": [1.0, 2.0], "$x$": "ϵ"}
    first = outcome(word, evidence=evidence, missing="data" if word == "not yet checked" else "")
    assert Outcome.from_dict(first.to_dict()) == first
    assert Outcome.from_dict(json.loads(json.dumps(first.to_dict()))) == first


def test_from_dict_checks_again():
    forged = outcome("not yet checked", evidence={}).to_dict() | {"verdict": "verified"}
    with pytest.raises(InvalidValue, match="evidence"):
        Outcome.from_dict(forged)


def test_a_notebook_is_given_text_html_and_data():
    shown = outcome("refuted", reason="Off by 3.")._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html", MIME}
    assert shown["text/plain"] == "G-C3: refuted. Off by 3."
    assert Outcome.from_dict(json.loads(json.dumps(shown))[MIME]) == outcome("refuted", reason="Off by 3.")
    assert claim("G-C3").title in BeautifulSoup(shown["text/html"], "html.parser").get_text()


def test_the_card_says_everything():
    found = outcome("holds with correction", evidence={"gap": 0.123456, "points": 12345}, correction="but for $n > 1$")
    soup = BeautifulSoup(card(claim("G-C3"), found), "html.parser")
    assert [tag["class"] for tag in soup("div")] == [["gspa-card", "gspa-holds-with-correction"]]
    assert soup.div["id"] == "card-G-C3"
    assert soup.find(class_="gspa-verdict").get_text() == "holds with correction"
    assert claim("G-C3").quote in soup.blockquote.get_text()
    assert soup.blockquote.parent.summary.get_text() == f"As printed ({claim('G-C3').location})"
    assert soup.find(class_="gspa-correction").get_text() == r"Corrected: but for \(n > 1\)"
    assert [(row.th.get_text(), row.td.get_text()) for row in soup("tr")] == [("gap", "0.1235"), ("points", "12,345")]


def test_the_card_gives_the_verdict_first_and_the_quotation_last():
    found = outcome("holds with correction", reason="REASON", evidence={"LABEL": 1}, correction="CORRECTION")
    said = BeautifulSoup(card(claim("G-C3"), found), "html.parser").get_text()
    wanted = ["holds with correction", "G-C3", claim("G-C3").title, "REASON", "CORRECTION", "LABEL"]
    places = [said.index(part) for part in (*wanted, claim("G-C3").quote)]
    assert places == sorted(places)


@pytest.mark.parametrize(("rows", "folded"), [(1, False), (8, False), (9, True)])
def test_long_evidence_is_folded_and_says_how_long_it_is(rows, folded):
    soup = BeautifulSoup(card(claim("G-C3"), outcome(evidence={f"row {n}": n for n in range(rows)})), "html.parser")
    assert len(soup("tr")) == rows
    assert (soup.table.parent.name == "details") is folded
    if folded:
        assert soup.table.parent.summary.get_text() == f"Evidence ({rows} rows)"


def test_the_card_is_typeset_and_the_quotation_and_the_plain_text_are_not():
    entry = dataclasses.replace(claim("G-C3"), title="eps_i", quote="eps_i is >= 0", location="small eps_L")
    found = outcome("holds with correction", reason="delta <= 1e-6", evidence={"eps0": 1e-5}, correction="sqrt(n)")
    soup = BeautifulSoup(card(entry, found), "html.parser")
    said = soup.get_text(" ")
    assert not re.search(r"eps0|delta|sqrt|<=|1e-|eps_L", said)
    assert soup.th.decode_contents() == "<i>ϵ</i><sub>0</sub>"
    assert soup.td.decode_contents() == "10<sup>−5</sup>"
    assert soup.blockquote.decode_contents() == quote_html(entry.quote).replace(">=", "&gt;=")
    assert found._repr_mimebundle_()["text/plain"].endswith("delta <= 1e-6")


def test_a_notebooks_file_keeps_the_order_of_the_evidence():
    found = outcome(evidence={"b": 1, "a": 2, "the same": 3})
    kept = json.loads(json.dumps(found._repr_mimebundle_()[MIME], sort_keys=True))
    assert list(Outcome.from_dict(kept).evidence) == ["b", "a", "the same"]


def test_the_card_without_evidence_has_no_table():
    assert BeautifulSoup(card(claim("G-C3"), outcome("not checkable", evidence={})), "html.parser").table is None


def test_hostile_text_stays_text():
    entry = dataclasses.replace(claim("G-C3"), title=HOSTILE, quote=f"{HOSTILE} ${HOSTILE}$", location=HOSTILE)
    found = outcome("holds with correction", reason=HOSTILE, evidence={HOSTILE: HOSTILE}, correction=f"\\({HOSTILE}\\)")
    soup = BeautifulSoup(card(entry, found), "html.parser")
    assert soup(["script", "img"]) == []
    # title, quote (twice), location, reason, label, value, correction
    assert soup.get_text().count(HOSTILE) == 8
    assert {tag.name for tag in soup()} == {
        *("div", "p", "span", "blockquote", "details", "summary", "strong", "i"),
        *("table", "tbody", "tr", "th", "td"),
    }


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "plain"),
        ("a $x<y$ b", "a " + formula("x&lt;y") + " b"),
        ("$$x^2$$", formula("x^2")),
        (r"so \(a\) and \[b\].", "so " + formula("a") + " and " + formula("b") + "."),
        ("$a$ and $b$", formula("a") + " and " + formula("b")),
        (r"$$x = y \tag{3}$$", formula("x = y")),
        (r"$$\begin{equation} x \tag{4a} \end{equation}$$", formula("x")),
        (r"so \begin{equation} x \tag{1} \end{equation} as long", "so " + formula("x") + " as long"),
        ("\\[\nx\n\\]", formula("x")),
        (r"$$x = y \quad (3)$$", formula("x = y")),
        (r"$\begin{cases} a \\ b \end{cases}$", formula(r"\begin{cases} a \\ b \end{cases}")),
        ("costs $5", "costs $5"),
        ("$x$ costs $5", formula("x") + " costs $5"),
        ("$$x$$ and $y$", formula("x") + " and " + formula("y")),
        ("a < b & c", "a &lt; b &amp; c"),
    ],
)
def test_formulas_become_spans_for_mathjax(text, html):
    assert math_html(text) == html


@pytest.mark.parametrize(
    ("quote", "html"),
    [
        (r"variables \tilde{X}_0 , such", "variables " + formula(r"\tilde{X}_0") + " , such"),
        (r"the first two (X_0, X_1) , there", "the first two " + formula("(X_0, X_1)") + " , there"),
        (r"(0.9,5\times 10^{-6})-DP when", formula(r"(0.9,5\times 10^{-6})") + "-DP when"),
        (r"(see e^x) and", "(see " + formula("e^x") + ") and"),
        (r"from (e^x on", "from (" + formula("e^x") + " on"),
        (r"\text{Top k}(x).", formula(r"\text{Top k}(x)") + "."),
        (r"\{a_j \}^{k}", formula(r"\{a_j \}^{k}")),
        (r"$a_1$ and b_1", formula("a_1") + " and " + formula("b_1")),
        ("no formula, at 5%; l=1", "no formula, at 5%; l=1"),
        ("a_<b", formula("a_&lt;b")),
    ],
)
def test_a_quotations_formulas_are_typeset_without_dollar_signs_too(quote, html):
    assert quote_html(quote) == html


@pytest.mark.parametrize("name", registry())
def test_no_letter_of_a_quotation_is_lost(name):
    def letters(html):
        return BeautifulSoup(html, "html.parser").get_text().replace(r"\(", "").replace(r"\)", "")

    assert letters(quote_html(claim(name).quote)) == letters(math_html(claim(name).quote))


@pytest.mark.parametrize("name", registry())
def test_no_formula_of_the_registry_is_left_as_source(name):
    for html in (math_html(claim(name).title), quote_html(claim(name).quote)):
        soup = BeautifulSoup(html, "html.parser")
        for span in soup("span", class_="math"):
            inside = span.extract().get_text()
            assert inside.startswith(r"\(")
            assert inside.endswith(r"\)")
            # MathJax would number the line, or stop at a delimiter within a formula.
            assert not any(mark in inside[2:-2] for mark in ("$", r"\(", r"\)", r"\[", r"\]", r"\tag", "{equation}"))
            unescaped = re.sub(r"\\[{}]", "", inside)
            assert unescaped.count("{") == unescaped.count("}")
        assert not any(mark in soup.get_text() for mark in ("$", r"\(", r"\[", r"\tag", r"\begin"))
    bare = BeautifulSoup(quote_html(claim(name).quote), "html.parser")
    for span in bare("span", class_="math"):
        span.extract()
    assert not re.search(r"[$\\^_{}]", bare.get_text())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (1234567, "1,234,567"),
        (True, "yes"),
        (False, "no"),
        ([0.12345, 2], "0.1235 to 2"),
        ((1, 2, 3), "1, 2, 3"),
        ("as it is", "as it is"),
    ],
)
def test_evidence_is_shown_with_four_digits(value, text):
    assert show(value) == text


def test_slugs_are_css_classes_of_the_style_sheet():
    style = (Path(__file__).resolve().parents[2] / "book" / "_static" / "gspa.css").read_text(encoding="utf-8")
    for word in VERDICTS:
        assert " " not in slug(word)
        assert f".gspa-{slug(word)} " in style or f".gspa-{slug(word)}," in style
