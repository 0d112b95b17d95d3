"""What an eps means for an attacker: against closed forms, enumeration and tests that attackers can run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_shuffle import binary_laws
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import gspa
from gspa.accountant.errors import GspaError, InvalidValue
from gspa.accountant.risk import attack_rates
from gspa.accountant.tradeoff import gdp_delta

RATES = (0.01, 0.001)


def best_rate(p, q, alpha):
    """The most powerful test's power at level alpha: outcomes by likelihood ratio, the last one at random."""
    order = np.argsort(np.log(p) - np.log(q))
    level, power = np.cumsum(p[order]), np.cumsum(q[order])
    return float(np.interp(alpha, np.r_[0.0, level], np.r_[0.0, power]))


@pytest.mark.parametrize("mu", [0.003, 0.1, 1.0, 3.0, 5.0, 8.0])
@pytest.mark.parametrize("alpha", [1e-6, 0.001, 0.01, 0.3, 0.9])
def test_a_gaussian_curve_has_its_closed_form(mu, alpha):
    advantage, (tpr,) = attack_rates(lambda eps: gdp_delta(eps, mu=mu), (alpha,))
    assert advantage == pytest.approx(2 * norm.cdf(mu / 2) - 1, rel=1e-12)
    assert tpr == pytest.approx(norm.cdf(norm.ppf(alpha) + mu), rel=1e-9)


@pytest.mark.parametrize(("eps", "n"), [(0.5, 1), (3.0, 1), (8.0, 1), (1.0, 2), (2.0, 7), (0.5, 100), (4.0, 120)])
def test_shuffled_bits_against_the_best_test_at_all_inputs(eps, n):
    found = gspa.risk(eps=eps, n=n, fpr=(*RATES, 0.2))
    p = 1 / (1 + math.exp(-eps))
    laws = [binary_laws(1 - p, p, 1 - p, p, n, ones) for ones in range(n)]
    pairs = [pair for law in laws for pair in (law, law[::-1])]
    largest = max(0.5 * float(np.abs(p - q).sum()) for p, q in pairs)
    assert largest * (1 - 1e-9) <= found.advantage <= largest * (1 + 1e-6)
    for alpha, tpr in zip(found.fpr, found.tpr, strict=True):
        true = max(best_rate(p, q, alpha) for p, q in pairs)
        # The inputs that are worst may change along the curve; then the curve of all is no test's own.
        assert true * (1 - 1e-9) <= tpr <= true * 1.01
        assert alpha <= tpr <= alpha + found.advantage + 1e-12


def test_reports_that_say_nothing_and_those_that_say_all():
    nothing = gspa.risk(eps=0.0, n=5)
    assert (nothing.tpr, nothing.advantage) == (RATES, 0.0)
    everything = gspa.risk(eps=100.0, n=3)
    assert everything.advantage == pytest.approx(1, abs=1e-12)
    assert all(rate == pytest.approx(1, abs=1e-9) for rate in everything.tpr)


@pytest.mark.parametrize(
    ("asked", "top"),
    [
        ({"eps": 1.0, "n": 500, "mechanism": gspa.KRR(4)}, 0.4),
        ({"n": 2000, "mechanism": gspa.Gaussian(1.5)}, 0.1),
        ({"eps": 0.5, "n": 500, "rounds": 20}, 0.6),
        ({"eps": 1.0, "n": 500, "honest": 300}, 0.4),
        ({"eps": 1.0, "n": 500, "mechanism": "aligned"}, 0.4),
    ],
)
def test_no_point_of_the_certified_curve_is_much_better(asked, top):
    """Every eps bounds the rates; the ones that were looked at are close to the best of many."""
    found = gspa.risk(**asked)
    curve = {eps: gspa.delta(at_eps=eps, **asked).upper for eps in np.linspace(0, top, 13)}
    assert found.advantage == curve[0.0]
    for alpha, tpr in zip(found.fpr, found.tpr, strict=True):
        best = min(min(math.exp(e) * alpha + d, 1 - math.exp(-e) * (1 - alpha - d)) for e, d in curve.items())
        assert alpha < tpr <= best * (1 + 1e-3)


@given(st.floats(0.01, 6), st.floats(1e-4, 0.5), st.floats(0, 0.3))
def test_rates_of_a_made_up_curve(eps0, alpha, local):
    """(eps, delta)-DP alone: the trade-off function of Kairouz, Oh and Viswanath."""

    def delta(eps):
        return local + (1 - local) * max(0.0, -math.expm1(eps - eps0) / (1 + math.exp(-eps0)))

    advantage, (tpr,) = attack_rates(delta, (alpha,), top=eps0)
    corners = [math.exp(eps0) * alpha + local, 1 - math.exp(-eps0) * (1 - alpha - local)]
    share = 1 / (1 + math.exp(eps0))
    rr = local + (1 - local) * min(
        math.exp(eps0) * alpha / (1 - local), 1 - math.exp(-eps0) * (1 - alpha / (1 - local))
    )
    assert advantage == pytest.approx(local + (1 - local) * (1 - 2 * share), rel=1e-9)
    assert min(rr, 1.0) * (1 - 1e-12) <= tpr <= min(1.0, *corners) * (1 + 1e-12)


@pytest.mark.parametrize("eps", [0.5, 1e-30])
def test_words_and_numbers(eps):
    found = gspa.risk(eps=eps, n=10_000)
    assert found.relation == "replace one user's record"
    assert str(found).count("<=") == 3
    assert len(str(found)) < 150
    shown = [float(part.split("%")[0]) / 100 for part in str(found).split("<= ")[1:]]
    for text, number in zip(shown, (*found.tpr, found.advantage), strict=True):
        assert number <= text * (1 + 1e-15) <= number * 1.001
    assert vars(found).keys() >= {"fpr", "tpr", "advantage", "method", "valid_for", "relation"}


@pytest.mark.parametrize("rates", [[], [0.0], [1.0], [float("nan")], 0.01, "0.01", [None]])
def test_rates_that_are_none(rates):
    with pytest.raises(GspaError, match=r"^fpr"):
        gspa.risk(eps=1.0, n=5, fpr=rates)


def test_a_setting_that_cannot_be_answered():
    with pytest.raises(InvalidValue, match="sigma = None"):
        gspa.risk(n=5, mechanism="gaussian")
