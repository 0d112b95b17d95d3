"""One padded coordinate: against enumeration of the shuffled reports, and against gspa.accountant.laplace_gaussian."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from exact_shuffle import histograms

from gspa.accountant import laplace_gaussian as blanket
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.tradeoff import hockey_stick
from gspa.algorithms.flame.padded import coordinate, overflow
from gspa.algorithms.flame.randomizers import Buckets, Laplace


def exact_delta(first, second, eps):
    keys = sorted(set(first) | set(second))
    p, q = (np.array([law.get(key, 0.0) for key in keys]) for law in (first, second))
    return max(hockey_stick(p, q, eps), hockey_stick(q, p, eps))


def blanket_value(local, n_p, eps):
    """E[(1/(C+1)) (L_1 + ... + L_(C+1))_+] by enumeration of C and of all answers."""
    k, gamma, e = local.answers, local.gamma, math.exp(eps)
    told = (1 - gamma) * k + gamma
    values = [told - e * gamma, gamma - e * told] + [gamma - e * gamma] * (k - 2)
    total = 0.0
    for c in range(n_p):
        weight = math.comb(n_p - 1, c) * gamma**c * (1 - gamma) ** (n_p - 1 - c)
        mean = np.mean([max(sum(values[i] for i in y), 0.0) for y in product(range(k), repeat=c + 1)])
        total += weight * mean / (c + 1)
    return total


@pytest.mark.parametrize("eps", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("b", [1, 2])
def test_the_bracket_holds_the_enumerated_blanket(b, eps):
    local = Buckets(1.0, b)
    exact = blanket_value(local, 4, eps)
    low, high = coordinate(local, n_p=4).delta(eps)
    assert low <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high <= 1.01 * exact  # the smoothing shows where sums lie on few points


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.8])
def test_no_inputs_of_the_others_beat_it(eps):
    local, n_p = Buckets(1.0, 2), 4
    high = coordinate(local, n_p=n_p).delta(eps).upper
    worst = 0.0
    for others in product((0.0, 0.25, 0.5, 1.0), repeat=n_p - 1):
        laws = [histograms([local.law(x), *(local.law(o) for o in others)], {(0, 0, 0): 1.0}) for x in (0.0, 1.0)]
        worst = max(worst, exact_delta(*laws, eps))
    assert 0 < worst <= high


@pytest.mark.parametrize("against", ["other", "blanket"])
@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_dummies_and_sampling_against_enumeration(against, eps):
    """Three users, each in with probability beta, padded to three reports; the victim's other report a dummy or not."""
    local, n, beta = Buckets(1.0, 1), 3, 0.4
    omega = np.full(2, 0.5)
    one = coordinate(local, n_p=n, n=n, beta=beta, against=against)
    high = max(one.delta(eps).upper, one.delta(eps, swap=True).upper)
    slots = {x: (1 - beta) * omega + beta * local.law(x) for x in (0.0, 0.5, 1.0)}
    worst = 0.0
    for others in product((0.0, 1.0), repeat=n - 1):
        crowd = [slots[o] for o in others]
        second = slots[1.0] if against == "other" else omega
        laws = [histograms([victim, *crowd], {(0, 0): 1.0}) for victim in (slots[0.0], second)]
        worst = max(worst, exact_delta(*laws, eps))
    assert 0 < worst <= high


def test_a_lone_report_is_its_own_pair():
    local = Buckets(1.0, 1)
    low, high = coordinate(local, n_p=1).delta(0.4)
    exact = hockey_stick(local.law(0.0), local.law(1.0), 0.4)
    assert low <= exact <= high < 1.005 * exact


@pytest.mark.parametrize(("eps0", "n", "eps"), [(0.5, 333, 0.1), (0.01, 1000, 0.001), (2.0, 50, 0.5)])
def test_laplace_agrees_with_the_blanket_engine(eps0, n, eps):
    low, high = coordinate(Laplace(eps0), n_p=n).delta(eps)
    other = blanket.blanket_delta([1 / eps0], count=[n], eps=eps)
    assert low <= other.upper
    assert other.lower <= high
    assert high < 1.01 * low


def test_epsilon_inverts_delta_upwards():
    one = coordinate(Laplace(0.5), n_p=333)
    eps = one.epsilon(1e-7)
    assert 0.99e-7 < one.delta(eps).upper <= 1e-7
    assert one.epsilon(0.9) == 0.0


def test_more_reports_fewer_users_and_less_sampling_help():
    local = Laplace(1.0)
    base = coordinate(local, n_p=100).delta(0.2).upper
    assert coordinate(local, n_p=200).delta(0.2).upper < base
    assert coordinate(local, n_p=100, n=50).delta(0.2).upper < base
    assert coordinate(local, n_p=100, n=100, beta=0.5).delta(0.1).upper < coordinate(local, n_p=100).delta(0.1).upper
    assert coordinate(local, n_p=100).delta(1.0) == (0.0, 0.0)


def test_overflow_by_hand():
    assert overflow(n_p=1, n=3, beta=0.5) == pytest.approx(0.5)
    assert overflow(n_p=3, n=3, beta=0.9) == 0.0


def test_refused():
    with pytest.raises(OutsideValidity, match="finite local budget"):
        coordinate(Buckets(1.0, 2, printed=True), n_p=5)
    with pytest.raises(OutsideValidity, match="at most 10"):
        coordinate(Laplace(10.5), n_p=5)
    with pytest.raises(OutsideValidity, match="n_p = 5"):
        coordinate(Laplace(1.0), n_p=5, n=6)
    for bad in ({"n_p": 0}, {"n_p": 5, "beta": 0.0}, {"n_p": 5, "beta": 0.5}, {"n_p": 5, "against": "none"}):
        with pytest.raises((InvalidValue, KeyError)):
            coordinate(Laplace(1.0), **bad)
