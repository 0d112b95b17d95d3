"""Theorem 1 case by case: what fails, what holds, and the smallest counterexamples by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gspa import reduction as r
from gspa import reduction_cases as rc
from gspa.errors import InvalidValue

F = Fraction
BROKEN = {"rr-low-step", "rr-own-step", "ternary-own", "signed", "truth-alone", "truth"}


@pytest.fixture(scope="module")
def table():
    return rc.table(rc.cases()).set_index("key")


def test_what_fails_and_what_holds(table):
    assert set(table.index[table["excess"] > 0]) == BROKEN
    assert set(table.index[table["bounds"] == "no"]) == BROKEN
    assert len(table) == 15


def test_nothing_exceeds_the_corrected_pair(table):
    assert (table["corrected_excess"] <= 0).all()
    assert (table["corrected"] >= table["shuffled"]).all()


@pytest.mark.parametrize(
    ("key", "given", "at", "shuffled", "pair"),
    [
        # Two users, the last with eps = 0: the pair promises that nothing shows; the first step takes the
        # victim half of the time and tells 3/4 - 1/4.
        ("rr-low-step", {"ratio": 3, "n": 2}, 1, F(1, 4), F(0)),
        # Signed reports of two users: (p-1)/(p+1), where half of the pair's weight is hidden by a clone.
        ("signed", {"ratio": 3, "n": 2}, 1, F(1, 2), F(3, 8)),
        # 3-ary, the other says nothing: six multisets, 2/15 each on two of them; the pair has 1/4.
        ("ternary-own", {"ratio": 3, "n": 2}, 1, F(4, 15), F(1, 4)),
        ("truth-alone", {"ratio": 3, "n": 2}, 1, F(1, 10) + F(9, 20), F(9, 20)),
    ],
)
def test_smallest_counterexamples_by_hand(key, given, at, shuffled, pair):
    (case,) = [case for case in rc.cases(**given) if case.key == key]
    found, _ = case.worst(case.printed_pair())
    assert (found.ratio, found.shuffled, found.pair) == (at, shuffled, pair)


@pytest.mark.parametrize("p", [2, 3, 4, 5, 9, 40])
def test_the_closed_form_of_the_position_counterexample(p):
    ratios = (F(1), F(p), F(p))
    case = rc.Case("x", "RR", "position", ratios, [r.subset_selection(2, 1, q) for q in ratios])
    laws, pair = case.shuffled((0, 0)), case.printed_pair()
    assert r.delta_at(laws, F(1)) == F(2 * p * (p - 1), 3 * (p + 1) ** 2)
    assert r.delta_at(pair, F(1)) == F(p - 1, 2 * (p + 1))
    assert (case.worst(pair)[0].amount > 0) == (p > 3)


@pytest.mark.parametrize("given", [{"ratio": 9, "small": 2}, {"ratio": 3, "small": 3}, {"n": 2, "ratio": 2}])
def test_other_budgets_stay_within_the_corrected_pair(given):
    table = rc.table(rc.cases(**given))
    assert (table["corrected_excess"] <= 0).all()
    kept = table[~table["key"].isin(BROKEN)]
    assert (kept["excess"] <= 0).all()


@pytest.mark.slow
def test_four_users():
    table = rc.table(rc.cases(n=4)).set_index("key")
    assert (table["corrected_excess"] <= 0).all()
    assert set(table.index[table["excess"] > 0]) == BROKEN


def test_more_clones_than_aligned_ones_are_no_bound():
    """The corrected pair is not loose by construction: a little more and it fails."""
    (case,) = [case for case in rc.cases(ratio=9, n=2) if case.key == "ternary-own"]
    ratio, clones = case.aligned()
    better = r.count_pair(ratio, clones=[c * F(11, 10) for c in clones])
    assert case.worst(better)[0].amount > 0


def test_unequal_steps_take_the_largest_budget_and_the_least_clone():
    (case,) = [case for case in rc.cases(ratio=4) if case.key == "rr-own-step"]
    assert case.aligned() == (F(4), [F(1, 5)] * 2)


def test_an_adaptive_question_costs_clones():
    by_key = {case.key: case for case in rc.cases(ratio=4)}
    # A question that does not separate the victim's inputs has parts R(x0) itself: e^-eps/2.
    assert by_key["adaptive-step"].aligned() == (F(4), [F(1, 8)] * 2)
    assert len(list(by_key["adaptive-step"].histories(2))) == 4
    assert len(list(by_key["adaptive-user"].histories(0))) == 1 + 2 + 4
    assert list(by_key["signed"].histories(1)) == [()]


def test_hidden_neither_is_a_trap():
    for p in (3, 4, 10):
        trap = rc.hidden_neither(ratio=p)
        t = trap.ratio
        # delta p (p - t)/(p + 2)^2 against (p - t)/(p + 2)^2
        assert (trap.shuffled, trap.pair) == (p * (p - t) / F(p + 2) ** 2, (p - t) / F(p + 2) ** 2)


def test_trade_off_curves(table):
    by_key = {case.key: case for case in rc.cases()}
    alpha = np.linspace(0, 1, 201)
    for key in ("rr-own-user", "signed", "rr-own-step"):
        curves = {
            name: np.interp(alpha, line["alpha"], line["beta"])
            for name, line in rc.trade_off(by_key[key]).groupby("curve")
        }
        assert (curves["shuffled"] >= curves["corrected pair"] - 1e-12).all()
        assert ((curves["shuffled"] - curves["printed pair"]).min() < -1e-6) == (key in BROKEN)


def test_slips_of_the_proof():
    slips = rc.proof_slips(ratio=4, small=1)
    assert slips["printed"].tolist() == ["17/25", "3/10", "equal"]
    assert slips["needed"].tolist() == ["4/5", "3/5", "0, 3/5"]


def test_what_a_page_shows(table):
    rows = table.reset_index()
    assert rc.worst_of(rows)["key"] == "rr-low-step"
    assert rc.broken_list(rows).count(";") == len(BROKEN) - 1
    assert rc.broken_list(rows[rows["excess"] <= 0]) == "none"
    assert len(rc.readable(rows)) == 15
    coin = [r.subset_selection(2, 1, F(1))]
    assert rc.law_table({"user": r.shuffled_law(coin, (0,))})["attached to the user"].tolist() == [F(1, 2)] * 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ratio": 1}, "ratio"),
        ({"small": 9}, "small"),
        ({"delta": F(0)}, "delta"),
        ({"n": 5}, "n = 5"),
        ({"n": 1}, "n"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(InvalidValue, match=words):
        rc.cases(**given)


def test_equal_budgets_leave_no_row_twice():
    table = rc.table(rc.cases(ratio=4, small=4, n=2))
    assert not table.duplicated(["reports", "attached", "budgets"]).any()
    assert rc.exceeds(table, ["ternary-own"]).startswith("has no such process")


def test_what_a_page_says_of_a_case(table):
    rows = table.reset_index()
    assert rc.exceeds(rows, ["rr-own-user"]) == "stays within the pair"
    assert rc.exceeds(rows, ["signed"]) == "exceeds the pair"
    assert rc.exceeds(rows, ["signed", "rr-own-user"]) == "exceeds the pair in 1 of 2 processes"
