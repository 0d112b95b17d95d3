"""How numbers and texts are written, for Markdown, HTML and a terminal."""

from __future__ import annotations

import math

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from gspa.book import text

HOSTILE = "<script>alert('x')</script> & \"quoted\" <img src=x onerror=y>"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.1 + 0.2, "0.3"),
        (1234567, "1,234,567"),
        (123456.0, "123,500"),
        (2.5e6, r"$2.5 \times 10^{6}$"),
        (-2.5e-7, r"$-2.5 \times 10^{-7}$"),
        (1e-5, "$10^{-5}$"),
        (-1e-5, "$-10^{-5}$"),
        (0.0, "0"),
        (-0.25, "−0.25"),
        (math.inf, "∞"),
        (math.nan, "–"),
        (True, "yes"),
        ("as it is", "as it is"),
    ],
)
def test_a_number_has_one_form(value, said):
    assert text.number(value) == said


@given(st.floats(-1e300, 1e300))
def test_every_number_keeps_four_digits(value):
    mantissa, power = text.parts(value)
    shown = float(mantissa.replace("−", "-").replace(",", "")) * 10.0 ** (power or 0)
    assert shown == pytest.approx(value, rel=5.1e-4, abs=1e-320)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("at delta = 1e-06 or less", "at delta = $10^{-6}$ or less"),
        ("2.50e+07 users", r"$2.5 \times 10^{7}$ users"),
        ("1e3 users", "1,000 users"),
        ("0e+00", "0"),
        ("$1e-6$ and `1e-6`", "$1e-6$ and `1e-6`"),
        ("abc1e-6, 1e-6x", "abc1e-6, 1e-6x"),
    ],
)
def test_powers_of_ten_are_written_as_such_outside_formulas(before, after):
    assert text.powers(before) == after


def test_html_of_emphasis_code_links_and_formulas():
    found = BeautifulSoup(text.html(r"*so* `x` [there](a.html) at $\epsilon_0 \le 1$ and 1e-6"), "html.parser")
    assert (found.em.get_text(), found.code.get_text(), found.a["href"]) == ("so", "x", "a.html")
    assert found.find(class_="math").get_text() == r"\(\epsilon_0 \le 1\)"
    assert found.find(class_="gspa-number").decode_contents() == "10<sup>−6</sup>"


def test_hostile_text_stays_text():
    found = BeautifulSoup(text.html(f"{HOSTILE} ${HOSTILE.replace(' ', '')}$"), "html.parser")
    assert {tag.name for tag in found()} == {"span"}
    assert found.get_text().startswith(HOSTILE)


@pytest.mark.parametrize(("value", "said"), [([0.12345, 2], "0.1235, 2"), ((1, 2, 3), "1, 2, 3"), (False, "no")])
def test_values_of_evidence(value, said):
    assert text.html_value(value) == said


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        (r"for every $\epsilon_i \le 1$", "for every eps_i <= 1"),
        (r"$C/\sqrt{n-1}$ and $\frac{1}{2}$", "C/sqrt(n-1) and (1)/(2)"),
        (r"**bold**, `code`, [a page](x.html)", "bold, code, a page"),
        (r"$2 \times 10^{-6}$", "2 x 10^-6"),
        (r"$\mathrm{Bern}(p)$", "Bern(p)"),
    ],
)
def test_a_terminal_sees_words(markdown, plain):
    assert text.plain(markdown) == plain
