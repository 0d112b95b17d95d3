"""Phrases that follow the run: each word that a page prints can be another one."""

import math

import pandas as pd
import pytest

from gspa import wording


@pytest.mark.parametrize(
    ("number", "form", "said"),
    [(math.nan, ".3g", "no value"), (math.inf, ".1f", "no value"), (230.0, ".2g", "230"), (1.4e14, ".2g", "1.4e+14")],
)
def test_a_number_in_words(number, form, said):
    assert wording.value(number, form) == said


@pytest.mark.parametrize(
    ("total_variation", "printed", "said"),
    [(2e-3, 2e-6, "only the second"), (2e-5, 2e-6, "both are below"), (0.2, 0.01, "both are above")],
)
def test_both_numbers_beside_delta(total_variation, printed, said):
    assert said in wording.beside_delta(total_variation, printed, delta=1e-4)


class TestTheorem2:
    @pytest.mark.parametrize(
        ("constants", "rise", "double", "inside"),
        [
            ([0.0, 0.5, 1.0], "rises from 0 at a local budget of 0.5 to 1 at", "about every 2.0 in", "each row"),
            ([0.0, 0.0, 0.0], "too few budgets", "too small", "no row"),
        ],
    )
    def test_the_least_constants(self, constants, rise, double, inside):
        peaks = pd.DataFrame({"eps0": [0.5, 2.0, 4.0], "constant": constants, "n": [10, 10, 30]})
        assert rise in wording.constants_rise(peaks)
        assert double in wording.doubling(peaks)
        assert inside in wording.maxima(pd.DataFrame({"n": [10, 30, 100]}), peaks)

    def test_a_maximum_at_the_end_of_the_table_is_not_inside(self):
        peaks = pd.DataFrame({"eps0": [2.0, 4.0], "constant": [1.0, 2.0], "n": [10, 30]})
        assert wording.maxima(pd.DataFrame({"n": [10, 30]}), peaks).startswith("1 of the 2 rows")

    def test_the_promises_of_a_map(self):
        columns = {"paper": [2.0, 1.0], "lower": [1.0, 4.0], "ratio": [2.0, 0.25]}
        table = pd.DataFrame(columns | {"promise": ["holds", "too much"]})
        assert wording.too_much(table).endswith(
            "at 1 of 2 points; at the worst the paper promises 1 and the pair has 4"
        )
        assert wording.too_much(table.head(1)) == "It fails at none of the 1 points"

    @pytest.mark.parametrize(
        ("delta", "said"), [(1e-4, "Both are far too large"), (0.02, "0 of 2 rows and the second in 1")]
    )
    def test_what_the_slack_leaves(self, delta, said):
        left = pd.DataFrame({"lemma2_floor": [1e-3, 2e-3], "proved_floor": [0.01, 0.03]})
        assert said in wording.slack_left(left, delta=delta)

    def test_the_limit_beside_the_truth(self):
        accuracy = pd.DataFrame({"eps0": [1.0, 1.5, 2.0], "n": 10, "delta": 0.1, "percent": [230.0, 400.0, math.nan]})
        assert wording.tanh_within(accuracy) == (
            "For budgets up to 1 it is within 230 percent on the whole map, "
            "for budgets up to 2 it is within 400 percent on the whole map; the worst is at n = 10 and delta = 0.1"
        )
        assert wording.tanh_within(accuracy.tail(1)).startswith("The map has no point")
        table = wording.tanh_table(accuracy)
        assert list(table.columns)[1:] == ["1"], "a budget of 2 has no epsilon to compare with"
        assert table["1"].item() == "230"


class TestFigure2:
    def test_slopes_that_do_not_show(self):
        slopes = pd.DataFrame({"epsilon_slope": [-0.55, math.nan]})
        assert wording.falls(slopes) == "falls as n to a power between -0.550 and -0.550"
        assert "is 0 at too many" in wording.falls(slopes.tail(1))

    @pytest.mark.parametrize(
        ("ratios", "said"),
        [
            ([0.5, 0.9], "10 to 50 percent smaller than its own baselines'"),
            ([0.5, 1.1], "(below 0: larger)"),
            ([], "none of the paper's own baselines applies"),
        ],
    )
    def test_how_much_smaller(self, ratios, said):
        assert wording.smaller(pd.Series(ratios, dtype=float)).endswith(said) or said in wording.smaller(
            pd.Series(ratios)
        )

    @pytest.mark.parametrize(("last", "origin"), [(32.0, True), (10.0, False)])
    def test_where_the_number_may_come_from(self, last, origin):
        row = {"population": "all", "bound": "B", "least": 5.0, "least_at": 1000, "at_last": last}
        said = wording.least_reduction(pd.DataFrame([row]))
        assert said.startswith("The least is 5.0 percent (against B, all, n = 1,000).")
        assert ("may be where" in said) is origin

    def test_no_baseline_and_no_size_are_said(self):
        assert wording.least_reduction(pd.DataFrame()) == "None of the baselines applies in this run."
        assert wording.reached(math.nan).startswith("is not reached")
        assert wording.reached(2500.0) == "is reached from n = 2,500 on"


class TestPersonalBudgets:
    def test_attack_and_certificate(self):
        table = pd.DataFrame({"promise": ["broken", "open"], "attacked": [0.1, 0.0], "certified": [0.101, 1.0]})
        assert wording.agreement(table).startswith("1 of 2 rows are left open: ")
        assert wording.agreement(table.head(1)).endswith("agree to 1 percent")
        assert wording.agreement(table.head(1).assign(promise="kept")).startswith(
            "Nothing is left open, and no promise"
        )

    def test_every_promise_has_its_clause(self):
        assert len({wording.judged(word) for word in ("broken", "kept", "open")}) == 3

    def test_the_sides_of_the_map(self):
        points = {"victim": [1.0, 2.0, 1.0, 2.0], "others": [1.0, 1.0, 2.0, 2.0]}
        table = pd.DataFrame(points | {"promise": ["kept", "broken", "broken", "kept"]})
        said = wording.where_broken(table)
        assert "alike the promise is broken at 0 of 2 points" in said
        assert said.endswith("not always the worst off.")
        assert "worst off" not in wording.where_broken(table.assign(promise=["kept", "broken", "kept", "kept"]))


class TestClones:
    @pytest.mark.parametrize(("times", "said"), [(2016.0, "where randomized"), (0.0126, "too private to show it")])
    def test_the_printed_inequality(self, times, said):
        words = wording.turned(pd.DataFrame({"times": [times, 0.0]}))
        assert said in words
        assert wording.value(times) in words

    def test_the_condition(self):
        needed = pd.DataFrame({"n": [712, 0], "constant": [0.94, 0.0]})
        assert wording.condition(needed).startswith("with 0.94 times")
        assert "every number" in wording.condition(needed.assign(n=0))

    def test_the_exponents(self):
        fitted = pd.DataFrame(
            {"stated": [1.0, 2.0], "exponent": [1.05, 2.0], "low": [1.02, 1.99], "high": [1.08, 2.01]}
        )
        assert "all 2 exponents lie within 0.1" in wording.shown(fitted, tolerance=0.1)
        assert (
            wording.bent(fitted)
            == "1 of 2 intervals do not contain the stated exponent; the largest difference is 0.05"
        )
        wide = wording.shown(fitted.assign(high=[9.0, 2.01]), tolerance=0.1)
        assert "of 1 of 2 exponents" in wide
        assert "of this size: 1; beyond: 0" in wide
        assert "beyond: 1)" in wording.shown(fitted, tolerance=0.01)

    @pytest.mark.parametrize(("own", "said"), [(2.69, "up to 2.7 times"), (0.9, "is met")])
    def test_equation_five_at_its_word(self, own, said):
        assert said in wording.literally(pd.DataFrame({"own": [0.5, own]}))
