"""ASCII mathematics as HTML: what is typeset, what is left alone, and that nothing is lost or broken."""

from __future__ import annotations

import re
from html import escape

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from gspa._typeset import GREEK, SIGNS, heading, scientific, typeset
from gspa.claims.errata import errata
from gspa.claims.registry import registry

THIN, FIXED = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("eps_i", "<i>ϵ</i><sub><i>i</i></sub>"),
        ("eps0 and eps_max", "<i>ϵ</i><sub>0</sub> and <i>ϵ</i><sub>max</sub>"),
        ("(eps, delta)-DP", "(<i>ϵ</i>, <i>δ</i>)-DP"),
        ("eps0_n", "<i>ϵ</i><sub>0</sub>_n"),
        ("f_{eps,delta}-DP", "<i>f</i><sub><i>ϵ</i>,<i>δ</i></sub>-DP"),
        ("G_mu", "<i>G</i><sub><i>μ</i></sub>"),
        ("n_(s,j) up to n_p", "<i>n</i><sub><i>s</i>,<i>j</i></sub> up to <i>n</i><sub><i>p</i></sub>"),
        ("Delta_2, Sigma^-1", "Δ<sub>2</sub>, Σ<sup>−1</sup>"),
        ("Top(|x~|)", "Top(|<i>x\N{COMBINING TILDE}</i>|)"),
        ("x2.55 at x_2 and x2", "×2.55 at <i>x</i><sub>2</sub> and <i>x</i><sub>2</sub>"),
        ("R_j(x)(y)", "<i>R</i><sub><i>j</i></sub>(<i>x</i>)(<i>y</i>)"),
        # Powers, whose exponent ends before a quotient.
        ("n^(1/2)", "<i>n</i><sup>1/2</sup>"),
        ("e^-eps/2", "<i>e</i><sup>−<i>ϵ</i></sup>/2"),
        ("e^eps_L log(1/delta)", "<i>e</i><sup><i>ϵ</i><sub><i>L</i></sub></sup> log(1/<i>δ</i>)"),
        ("k**(3/4)/(alpha*eps)", "<i>k</i><sup>3/4</sup>/(<i>α</i>·<i>ϵ</i>)"),
        ("10^-6.6", "10<sup>−6.6</sup>"),
        # Roots and brackets.
        ("sqrt(n)", "√<i>n</i>"),
        ("C/sqrt(n-1)", "<i>C</i>/√(<i>n</i>−1)"),
        ("sqrt(log(4/delta)/n)", "√(log(4/<i>δ</i>)/<i>n</i>)"),
        ("ceil(1/beta)", "⌈1/<i>β</i>⌉"),
        ("sqrt(n", "sqrt(<i>n</i>"),
        # Numbers: one form for a power of ten, everywhere.
        ("1e-06", "10<sup>−6</sup>"),
        ("5e-6", f"5{THIN}×{THIN}10<sup>−6</sup>"),
        ("-2.2e-16", f"−2.2{THIN}×{THIN}10<sup>−16</sup>"),
        ("2.06e+17", f"2.06{THIN}×{THIN}10<sup>17</sup>"),
        ("2.02e+03 times", "2,020 times"),
        ("0.0e+00", "0"),
        ("4.9e-324", f"4.9{THIN}×{THIN}10<sup>−324</sup>"),
        ("inf", "∞"),
        # Signs.
        ("s <= 1, s >= 2, s != 3", "<i>s</i> ≤ 1, <i>s</i> ≥ 2, <i>s</i> ≠ 3"),
        ("n = 1,000", f"<i>n</i>{FIXED}={FIXED}1,000"),
        ("1 - TV", "1 − TV"),
        ("stated -2, n-1, 1-gamma", "stated −2, <i>n</i>−1, 1−<i>γ</i>"),
        ("T - f, n_p - n_s", "<i>T</i> − <i>f</i>, <i>n</i><sub><i>p</i></sub> − <i>n</i><sub><i>s</i></sub>"),
        ("One coordinate - shuffled", "One coordinate – shuffled"),
        ("mu-GDP - its curve", "<i>μ</i>-GDP – its curve"),
        ("4 / sum p_i", "4 / ∑ <i>p</i><sub><i>i</i></sub>"),
        ("log10 delta", "log<sub>10</sub> <i>δ</i>"),
        ("Delta < 1 & f > 2", "Δ &lt; 1 &amp; <i>f</i> &gt; 2"),
    ],
)
def test_formulas(text, html):
    assert typeset(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "The bound beats all others in every scenario shown",
        "A plan, carried out here: the pair is a function of the data",
        "One of the two; sum to 1, and the sum of its parts",
        "binary RR (AAAI), 3-ary RR, 2 user(s) of SS-Double and SS-Topk",
        "G-T2p, G-FIG3A, B-1, F2 and E17 are claims",
        "Section 2 (a) and Figure 3 (c), the case (i), i.e. the first",
        "eqs. (9)-(11), Theorem 3.1, 2019-2021",
        "a user's, the protocols' own, SGD's",
        "betatron, sumptuous, muon, index, reps, deltas and infimum",
        "sqrt and ceil without brackets",
        "0 of 10 rows; 50% 0.5 + 50% 0.01; 1,000 to 2,000",
        "record_run",
        "",
    ],
)
def test_prose_stays_prose(text):
    assert typeset(text) == escape(text)


def test_a_columns_name_from_the_code_becomes_words_or_a_symbol():
    assert heading("repaired_attacked") == "repaired attacked"
    assert heading("eps_local") == "<i>ϵ</i><sub>local</sub>"
    assert heading("<script>") == "&lt;script&gt;"


@pytest.mark.parametrize(("number", "shown"), [("1", "1"), ("12.5", "12.5"), ("9.99", "9.99")])
def test_an_exponent_of_zero_changes_nothing(number, shown):
    assert scientific(number, 0) == shown


# What a sentence is made of, so that random ones have many formulas.
PIECES = st.sampled_from(
    [*GREEK, *SIGNS, *"abcnxABCT019.,;:()[]{}|_^*-+=<>&'\"~ /", " - ", "sqrt(", "1e-6", "**", "in ", "eps_", "^(", "$"]
)
SENTENCES = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40)


@given(SENTENCES)
def test_the_html_is_sound_and_adds_three_tags_only(text):
    html = typeset(text)
    rest = re.sub(r"</?(?:i|sub|sup)>", "", html)
    assert not set(rest) & set("<>\"'")
    assert not re.search(r"&(?!(?:lt|gt|amp|quot|#x27);)", rest)
    opened = []
    for close, name in re.findall(r"<(/?)(i|sub|sup)>", html):
        if close:
            assert opened.pop() == name
        else:
            opened.append(name)
    assert opened == []


def letters(text):
    """A sentence's words and numbers, however its formulas are written."""
    for name, sign in {**GREEK, **SIGNS}.items():
        text = text.replace(sign, "eps" if name == "epsilon" else name)
    text = text.replace("∑", "sum").replace("√", "sqrt").replace("⌈", "ceil").replace("⌉", "").replace("⌊", "floor")
    text = text.replace("⌋", "").replace("−", "-").replace("–", "-").replace("·", "*").replace("∞", "inf")
    text = text.replace("\N{COMBINING TILDE}", "~").replace("epsilon", "eps")
    return re.sub(r"[\s_^*(){}]", "", text)


@given(SENTENCES.filter(lambda text: not re.search(r"\de[+-]?\d|x\d+\.\d|[^\x20-\x7e]", text)))
def test_no_letter_is_lost(text):
    assert letters(BeautifulSoup(typeset(text), "html.parser").get_text()) == letters(text)


OURS = [text for one in registry().values() for text in (one.title, one.location)]
OURS += [re.sub(r"\$[^$]*\$", "", text) for one in errata() for text in (one.place, one.right)]


@pytest.mark.parametrize("text", OURS)
def test_the_books_own_sentences_keep_their_letters_and_lose_their_ascii(text):
    shown = BeautifulSoup(typeset(text), "html.parser").get_text()
    if not re.search(r"\de-?\d|x\d", text):
        assert letters(shown) == letters(text)
    assert not re.search(r"[_^]|[<>]=|\b(?:eps|delta|mu|sqrt)\b", shown)
