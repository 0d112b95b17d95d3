"""The catalogue of published bounds: what it says about them, and whether it holds."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binom

from gspa.accountant import budgets, closed_forms
from gspa.accountant import published as bounds
from gspa.accountant.errors import UnknownName
from gspa.accountant.tradeoff import gdp_delta


class TestCatalogue:
    def test_entries_are_complete(self):
        for key, bound in bounds.CATALOGUE.items():
            assert bound.key == key
            assert all((bound.label, bound.source, bound.conditions, bound.valid_for))
        assert not bounds.CATALOGUE["gspa"].rigorous
        assert bounds.CATALOGUE["gspa"].personalized
        for key in ("fmt21", "erlingsson19"):
            assert bounds.CATALOGUE[key].valid_for == "any common eps0-LDP randomizer (one randomizer for all users)"

    def test_rows_hold_what_the_functions_say(self):
        crowd = budgets.constant(0.5, n=10_000)
        rows = {row.key: row for row in bounds.compare(crowd, delta=1e-4)}
        assert rows["gspa"].epsilon == closed_forms.gspa_epsilon(crowd, delta=1e-4)
        assert rows["fmt21"].epsilon == closed_forms.fmt21_epsilon(0.5, n=10_000, delta=1e-4)
        assert rows["erlingsson19"].epsilon == closed_forms.erlingsson19_epsilon(0.5, n=10_000, delta=1e-4)
        assert all(row.valid and not row.trivial for row in rows.values())
        assert rows["gspa"].note == "an estimate, not a certified upper bound"
        assert rows["fmt21"].note == ""

    def test_tightest_first_refused_last(self):
        rows = bounds.compare(budgets.draw("unif2", n=2000, rng=0), delta=1e-4)
        values = [row.epsilon for row in rows if row.valid]
        assert values == sorted(values)
        assert [row.valid for row in rows] == sorted((row.valid for row in rows), reverse=True)
        refused = {row.key: row for row in rows}["erlingsson19"]
        assert (refused.epsilon, refused.valid, refused.trivial) == (None, False, False)
        assert "needs eps0 <= 1/2; eps0 = 1.99" in refused.note

    def test_a_common_bound_gets_the_largest_eps_and_says_so(self):
        crowd = budgets.mixed_constant(0.5, 0.01, n=10_000)
        rows = {row.key: row for row in bounds.compare(crowd, delta=1e-4)}
        assert rows["fmt21"].epsilon == closed_forms.fmt21_epsilon(0.5, n=10_000, delta=1e-4)
        assert rows["fmt21"].note == "given the largest eps_i, 0.5, as the common eps0"
        assert "largest" not in rows["gspa"].note

    def test_local_delta(self):
        crowd = budgets.constant(0.5, n=10_000, delta=1e-10)
        rows = {row.key: row for row in bounds.compare(crowd, delta=1e-4)}
        assert rows["fmt21"].epsilon == closed_forms.fmt21_epsilon(0.5, n=10_000, delta=1e-4, delta0=1e-10)
        assert "pure local privacy, delta_i = 0" in rows["erlingsson19"].note

    @pytest.mark.parametrize("eps0", [0.5, 3.0])
    @pytest.mark.parametrize("delta", [1e-4, 0.05])
    def test_one_user_is_refused_by_closed_forms_and_shuffled_among_nobody_by_numerical_ones(self, eps0, delta):
        rows = bounds.compare(budgets.constant(eps0, n=1), delta=delta)
        assert len(rows) == len(bounds.CATALOGUE)
        answers = {row.key: row for row in rows if row.valid}
        assert set(answers) == {"fmt21_numerical", "fmt23_numerical", "su25"}
        # One Laplace report: delta(eps) = 1 - e^{(eps - eps0)/2}.
        assert answers.pop("su25").epsilon == pytest.approx(max(0.0, eps0 + 2 * math.log1p(-delta)), rel=1e-6)
        assert all(row.epsilon is None and row.note for row in rows if not row.valid)
        # Nobody to hide among: the local delta(eps) of randomized response, (e^eps0 - e^eps)/(1 + e^eps0).
        exact = math.log(math.exp(eps0) - delta * (1 + math.exp(eps0)))
        for row in answers.values():
            assert row.epsilon == pytest.approx(exact, rel=1e-7)
            assert exact <= row.epsilon < eps0
            assert not row.trivial

    def test_one_user_with_delta_below_any_rounding_gets_eps0_flagged_trivial(self):
        rows = {row.key: row for row in bounds.compare(budgets.constant(0.5, n=1), delta=1e-300)}
        for key in ("fmt21_numerical", "fmt23_numerical"):
            assert rows[key].epsilon == 0.5
            assert rows[key].trivial
            assert "holds without shuffling" in rows[key].note

    def test_every_bound_takes_figure_2s_sizes_and_published_order(self):
        # Figure 2: GSPA below FMT21 below Erlingsson19 at eps0 = 0.5 wherever all three speak.
        for n in range(1500, 10_001, 500):
            rows = bounds.compare(budgets.constant(0.5, n=n), delta=1e-4, keys=["gspa", "fmt21", "erlingsson19"])
            assert [row.key for row in rows] == ["gspa", "fmt21", "erlingsson19"]
        with pytest.raises(UnknownName, match="bound 'gsap': does not exist; did you mean 'gspa'"):
            bounds.compare(budgets.constant(0.5, n=10), delta=1e-4, keys=["gsap"])


def exact_delta(eps0, n, eps):
    """delta(eps) of n binary randomized responses when the others all hold 0: a lower bound.

    The count of ones is the victim's coin plus a binomial; the shuffled reports hold nothing else.
    """
    r = 1 / (1 + math.exp(eps0))
    others = binom.pmf(np.arange(n), n - 1, r)
    laws = np.convolve([1 - r, r], others), np.convolve([r, 1 - r], others)
    return max(float(np.maximum(p - math.exp(eps) * q, 0).sum()) for p, q in (laws, laws[::-1]))


def test_the_gaussian_limit_is_no_certificate():
    # Where the catalogue says "not rigorous": an exact protocol is worse than the estimate, here by 30 times.
    estimate = gdp_delta(3, mu=closed_forms.gspa_mu(budgets.constant(4, n=100)))
    assert exact_delta(4, 100, 3) > 30 * estimate
    row = next(row for row in bounds.compare(budgets.constant(4, n=1000), delta=1e-8) if row.key == "gspa")
    assert row.epsilon < 2
    assert exact_delta(4, 1000, row.epsilon) > 10 * 1e-8
    assert "not a certified upper bound" in row.note


def test_import_needs_neither_torch_nor_pandas_nor_stats():
    code = (
        "import sys, gspa.accountant.published; "
        "print(sorted({'torch', 'pandas', 'scipy.stats', 'matplotlib', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
