"""The rules that make evidence a verdict, and the readings from which the most favourable is taken."""

from __future__ import annotations

import ast
import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gspa.accountant.errors import InvalidValue
from gspa.book.claims import Outcome
from gspa.book.verdicts import VERDICTS, Reading, at_least, best, exactly, follows, interval, joined, ranked, within

ROOT = Path(__file__).resolve().parents[2]


def one(verdict, name="as printed", excluded=""):
    return Reading(name, verdict, f"found in {name}", "so" if verdict == "holds with correction" else "", excluded)


class TestReadings:
    @pytest.mark.parametrize(
        ("words", "verdict"),
        [
            (["refuted", "verified"], "verified"),
            (["refuted", "holds with correction"], "holds with correction"),
            (["refuted", "not reproduced"], "not reproduced"),
            (["refuted", "not checkable"], "not checkable"),
            (["holds with correction", "not checkable"], "holds with correction"),
            (["not yet checked", "refuted"], "not yet checked"),  # it may still be verified
            (["not yet checked", "verified"], "verified"),
            (["refuted", "refuted"], "refuted"),
        ],
    )
    def test_the_most_favourable_counts_in_any_order(self, words, verdict):
        for order in permutations(words):
            assert best([one(word, str(i)) for i, word in enumerate(order)]).verdict == verdict

    @given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=5), st.sampled_from(VERDICTS))
    def test_one_more_reading_never_makes_it_less_favourable_and_an_excluded_one_changes_nothing(self, words, more):
        readings = [one(word, str(i)) for i, word in enumerate(words)]
        first = best(readings)
        assert best([*readings, one(more, "more", excluded="the text says otherwise")]) == first
        assert best([*readings, one(more, "more")]) in (first, one(more, "more"))

    def test_none_admissible_is_refused(self):
        with pytest.raises(InvalidValue, match="admissible"):
            best([one("verified", excluded="no")])

    def test_an_outcome_says_in_how_many_readings(self):
        several = (one("refuted", "a"), one("verified", "b"), one("refuted", "c"), one("verified", "d", "not so"))
        found = Outcome("G-C3", "verified", "found in b", {"gap": 1.0}, readings=several)
        assert found.agreeing == "in 1 of 3 readings"
        alike = (one("refuted", "a"), one("refuted", "b"))
        assert Outcome("G-C3", "refuted", "found in a", {"gap": 1.0}, readings=alike).agreeing == ""
        assert Outcome.from_dict(found.to_dict()) == found

    def test_an_outcome_cannot_contradict_its_readings(self):
        readings = (one("refuted", "a"), one("verified", "b"))
        with pytest.raises(InvalidValue, match="verified"):
            Outcome("G-C3", "refuted", "found in a", {"gap": 1.0}, readings=readings)


class TestRules:
    def test_exactly(self):
        assert [exactly(True), exactly(False), exactly(False, near=True), exactly(True, near=True)] == [
            "verified",
            "refuted",
            "holds with correction",
            "verified",
        ]

    @given(st.floats(allow_nan=False), st.floats(0, 1e9))
    def test_within(self, gap, tolerance):
        assert (within(gap, tolerance) == "verified") == (-tolerance <= gap <= tolerance)
        assert within(math.nan, tolerance) == "not reproduced"
        assert within(0.0, tolerance, setting=True) == "holds with correction"

    @pytest.mark.parametrize("holds", [math.nan, 0.5, (math.nan, True), (False, math.nan), (False, "refuted")])
    def test_what_is_no_answer_is_refused(self, holds):
        with pytest.raises(InvalidValue, match="holds"):
            follows(holds)

    @given(st.floats(-9, 9), st.floats(0, 9))
    def test_ranked(self, low, width):
        found, other = ranked(low, low + width), ranked(-low - width, -low)
        assert {found, other} in ({"verified", "refuted"}, {"not reproduced"})
        assert (found == "verified") == (low > 0)
        assert ranked(math.nan, 1.0) == "not reproduced"

    def test_at_least(self):
        assert [at_least(3, 4, 3), at_least(1, 2, 3), at_least(2, 4, 3)] == ["verified", "refuted", "not checkable"]

    @given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=5))
    def test_joined_is_as_weak_as_its_weakest_part(self, parts):
        found = joined(*parts)
        assert found in parts
        assert ("refuted" in parts) == (found == "refuted")
        assert (found == "verified") == ({"verified"} <= set(parts) <= {"verified", "illustrated"})


def spelled(code):
    """The lines that are given a verdict in words. To compare with one is to read what a rule gave."""
    tree = ast.parse(code)
    read = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Compare) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in VERDICTS and id(node) not in read:
            yield node.lineno


def code_of(path):
    """A helper's source, or the code of a notebook's cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = ("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    return "\n".join(source for source in cells if not source.startswith("%%"))


PAGES = sorted(path for kind in ("py", "ipynb") for path in (ROOT / "notebooks").glob(f"*.{kind}"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_gives_a_verdict_but_by_a_rule(path):
    assert list(spelled(code_of(path))) == []


def test_a_spelled_verdict_is_found():
    assert list(spelled("f(x, 'refuted')\nif rule(x) == 'refuted': pass")) == [1]


def test_every_rule_is_used_by_some_page():
    rules = ("exactly", "within", "ranked", "at_least", "shown", "joined")
    text = "".join(map(code_of, PAGES))
    assert [rule for rule in rules if f"{rule}(" not in text] == []


@pytest.mark.parametrize("size", [2, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.999])
def test_the_interval_is_students(size, confidence):
    values = pd.Series(np.random.default_rng(size).normal(3, 2, size))
    expected = stats.t.interval(confidence, size - 1, loc=values.mean(), scale=stats.sem(values))
    # Two implementations of one quantile; both claim about twelve digits.
    assert interval(values, confidence=confidence) == pytest.approx(expected, rel=1e-9)
    assert np.isnan(interval(values[:1])).all()
