"""The blog's formulas and small crowds: mpmath, direct summation over shuffled laws, the package's guarded forms."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact_shuffle import rr_delta_worst, solve

from gspa import clone_budget, clone_cases, clones
from gspa.clone_forms import clones_blog_epsilon
from gspa.closed_forms import fmt21_epsilon
from gspa.errors import InvalidValue, OutsideValidity

DELTA = 1e-6


@pytest.mark.parametrize(("x", "n"), [(1e-4, 10**12), (0.5, 10_000), (3.0, 10_000), (10.0, 50)])
def test_the_formulas_in_mpmath(x, n):
    with mpmath.workdps(30):
        big = mpmath.mpf(x)
        log, tanh = mpmath.log(4 / mpmath.mpf(DELTA)), (mpmath.exp(big) - 1) / (mpmath.exp(big) + 1)
        root = mpmath.sqrt(mpmath.exp(big) * log / n)
        expected = {
            "blog": mpmath.log(1 + 16 * tanh * root),
            "source": mpmath.log(1 + tanh * (8 * root + 8 * mpmath.exp(big) / n)),
            "large": mpmath.log(1 + 8 * root),
            "linear": 8 * mpmath.exp(big / 2) * mpmath.sqrt(log / n),
            "small": 8 * big * mpmath.sqrt(log / n),
        }
    found = clones.formulas(x, n=n, delta=DELTA)
    assert found == pytest.approx({key: float(value) for key, value in expected.items()}, rel=1e-12)
    assert tuple(found) == clones.FORMULAS


@pytest.mark.parametrize("x", [0.01, 1.0, 4.0])
def test_inside_the_condition_they_are_the_packages_bounds(x):
    n = clones.least_users(x, delta=DELTA)
    found = clones.formulas(x, n=n, delta=DELTA)
    assert found["blog"] == pytest.approx(clones_blog_epsilon(x, n=n, delta=DELTA), rel=1e-12)
    assert found["source"] == pytest.approx(fmt21_epsilon(x, n=n, delta=DELTA), rel=1e-12)
    assert found["blog"] >= found["source"]
    with pytest.raises(OutsideValidity):
        fmt21_epsilon(x, n=n - 1, delta=DELTA)


def test_regimes_stand_between_exact_and_printed():
    table = clones.regimes([0.5, 6.0], [500, 1_000_000], delta=DELTA)
    assert (table["bits"] <= table["any"]).all()
    assert table.loc[table["valid"], "loose"].min() > 1
    assert (table["loose"] == table["blog"] / table["any"]).all()
    wrong = table[~table["valid"] & (table["loose"] < 1)]
    assert wrong[["eps_local", "n"]].to_numpy().tolist() == [[6.0, 500]]
    small = clones.regimes([0.5], [40], delta=DELTA)["bits"].item()
    assert small == pytest.approx(solve(lambda eps: rr_delta_worst(0.5, 40, eps), DELTA, 0.5), rel=1e-6)


def test_where_nothing_is_needed_the_quotient_is_missing():
    assert clones.regimes([0.01], [10**8], delta=1e-3)["loose"].isna().all()


def test_the_improvement_is_sqrt_n_over_its_constant():
    table = clones.improvement(1e-3, [100, 10**6], delta=DELTA)
    for row in table.itertuples():
        expected = math.sqrt(row.n) / (8 * math.sqrt(math.log(4 / DELTA)))
        assert row.factor == pytest.approx(expected, rel=5e-3)
        assert row.over_root * math.sqrt(row.n) == pytest.approx(row.factor)
        assert row.over_scaled == pytest.approx(1, rel=5e-3)
    assert table["factor"].iloc[0] < 1 < table["factor"].iloc[1]


def test_the_printed_direction_is_broken_by_direct_summation():
    found = clones.direction(2.0, n=30, delta=1e-3, shares=(0.0, 0.2, 1.0))
    for row in found.itertuples():
        assert row.exact == pytest.approx(rr_delta_worst(2.0, 30, row.eps), rel=1e-9, abs=1e-15)
    assert found["times"].iloc[0] > 100
    assert found["times"].iloc[-1] < 1


def test_without_the_constant_eq_1_is_false_by_direct_summation():
    row = clones.users_needed([4.0], delta=1e-2).iloc[0]
    n = int(row["n"])
    blog = clones.formulas(4.0, n=n, delta=1e-2)["blog"]
    assert rr_delta_worst(4.0, n, blog) > 1e-2
    assert row["exact"] > blog == row["blog"]
    assert row["constant"] == pytest.approx(n / (math.exp(4) * math.log(100)))
    # Five percent more users, and it holds.
    more = math.ceil(1.051 * n)
    assert rr_delta_worst(4.0, more, clones.formulas(4.0, n=more, delta=1e-2)["blog"]) < 1e-2


def test_where_eq_1_never_fails_none_is_reported():
    assert clones.users_needed([0.5], delta=DELTA)["n"].item() == 0


def test_malicious_users_leave_the_honest():
    found = clones.malicious(1.0, sizes=[1_000], share=0.25, delta=DELTA).iloc[0]
    assert found["honest"] == 750
    only = clones.malicious(1.0, sizes=[750], share=0.0, delta=DELTA).iloc[0]
    for key in ("any", "bits", "blog"):
        assert found[f"{key}_honest"] == only[f"{key}_all"] > found[f"{key}_all"]
    with pytest.raises(OutsideValidity, match="at least one"):
        clones.malicious(1.0, sizes=[2], share=0.9, delta=DELTA)


def test_the_floor_of_delta_is_below_delta():
    table = clones.pure(1.0, (1, 5, 50, 10**5), below=0.1)
    w, eps = math.e / (1 + math.e), 0.9
    for row in table[table["n"] <= 50].itertuples():
        assert 10**row.log10_floor == pytest.approx(w**row.n * (1 - math.exp(eps - 1)), rel=1e-9)
        assert 0 < 10**row.log10_floor <= row.exact * (1 + 1e-9)
    assert table["log10_floor"].iloc[-1] < -10_000


class TestCases:
    def test_named_messages_gain_nothing(self):
        table = clone_cases.senders(Fraction(3), sizes=(1, 2, 3))
        assert table["signed"].tolist() == [Fraction(1, 2)] * 3
        for row in table.itertuples():
            assert float(row.plain) == pytest.approx(rr_delta_worst(math.log(3), row.n, 0.0), rel=1e-12)
        assert (table["excess"] <= 0).all()
        assert (table["own"].iloc[1:] < table["plain"].iloc[1:]).all()

    def test_malicious_users_do_at_most_what_leaving_does(self):
        table = clone_cases.deviations(Fraction(3), n=4, bad=2, at=Fraction(1))
        assert table["honest_only"].iloc[0] == Fraction(3, 8)
        assert max(table["delta"]) == Fraction(3, 8)
        assert min(table["delta"]) < Fraction(3, 8)
        assert (table["everybody"] < table["honest_only"]).all()

    def test_no_pure_guarantee_improves(self):
        table = clone_cases.pure_ratios(Fraction(5, 2), sizes=(1, 3))
        assert table["shuffled"].tolist() == [Fraction(5, 2)] * 6

    def test_messages_are_only_permuted(self):
        found = clone_cases.messages(k=64, eps=2.0, n=500, seed=4)
        assert found == {
            "per_user": 1.0,
            "bits_before": 7,  # 128 outputs
            "bits_after": 7,
            "same_messages": True,
            "alphabet": True,
        }

    def test_one_common_bit_shows_one_number(self):
        assert clone_cases.one_bit(k=16, ratio=3.0) == (1, 0.0)
        with pytest.raises(InvalidValue, match="k = 3"):
            clone_cases.one_bit(k=3, ratio=3.0)


class TestEquationFive:
    def test_the_cases_and_their_quotients(self):
        table = clone_budget.choices([0.01, 0.5], [1_000, 10**6], delta=DELTA)
        assert table["case"].tolist() == ["s <= 1", "s >= 1", "s >= 1", "s >= 1"]
        log = -math.log(DELTA)
        assert table["s"].tolist() == pytest.approx([0.1 / log, 100 / log, 250 / log, 250_000 / log])
        first, last = table.iloc[0], table.iloc[-1]
        assert first["ratio"] == pytest.approx(first["certified"] / math.sqrt(first["s"]))
        assert last["ratio"] == pytest.approx(math.exp(last["certified"]) / last["s"])

    def test_the_quotients_say_what_comes_out(self):
        row = clone_budget.choices([1.0], [60], delta=1e-3).iloc[0]
        taken = math.log(row["s"])
        exact = solve(lambda eps: rr_delta_worst(taken, 60, eps), 1e-3, taken)
        assert row["own"] == pytest.approx(exact, rel=1e-6)
        assert row["other"] > row["own"]

    def test_nonsense_is_refused(self):
        with pytest.raises(InvalidValue, match="targets"):
            clone_budget.choices([0.0], [100], delta=DELTA)


def test_expansions_are_compared_where_they_should_be_right():
    table = clones.expansions(DELTA).set_index("formula")
    assert np.allclose(table.loc["small", ["over_blog", "over_source"]].astype(float), [1, 2], rtol=2e-3)
    assert np.allclose(table.loc["linear", ["over_blog", "over_source"]].astype(float), [0.5, 1], rtol=2e-3)
    assert table.loc["large", "over_source"].tolist() == pytest.approx([0.983, 1.0], abs=1e-3)
    with pytest.raises(InvalidValue, match="delta"):
        clones.expansions(0.0)
