"""The blog's numbers of users: by hand, by linear programming, and solved by brute force."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

from gspa import clones, complexities
from gspa.errors import InvalidValue, UnknownName


def by_hand(problem, k, alpha, eps):
    grown = math.expm1(eps)
    return {
        "learning": k**2 / grown**2 + k**2 / math.exp(eps) + k,
        "private coin": k**1.5 / grown**2 + k**1.5 / math.exp(eps) + k**0.5,
        "public coin": k / grown**2 + k / math.exp(eps / 2) + k**0.5,
    }[problem] / alpha**2


def by_hand_shuffled(problem, k, alpha, eps, delta):
    log = math.log(1 / delta)
    return {
        "learning": k * log**0.5 / (alpha * eps) + k / alpha**2,
        "private coin": k**0.75 * log**0.5 / (alpha * eps) + k**0.5 / alpha**2,
        "public coin": k ** (2 / 3) * log ** (1 / 3) / (alpha ** (4 / 3) * eps ** (2 / 3))
        + (k * log) ** 0.5 / (alpha * eps)
        + k**0.5 / alpha**2,
    }[problem]


@pytest.mark.parametrize("problem", complexities.PROBLEMS)
@pytest.mark.parametrize("k", [2, 1000])
@pytest.mark.parametrize("eps", [0.03, 2.0, 9.0])
def test_the_printed_formulas_are_the_blogs(problem, k, eps):
    assert complexities.local_users(problem, k, 0.2, eps) == pytest.approx(by_hand(problem, k, 0.2, eps))
    found = complexities.shuffled_users(problem, k, 0.2, eps, 1e-5)
    assert found == pytest.approx(by_hand_shuffled(problem, k, 0.2, eps, 1e-5))


def test_the_algebra_gives_the_printed_terms():
    table = complexities.substitutions()
    assert len(table) == 18
    assert table.loc[table["leads"], "printed"].all()
    assert not table.loc[~table["leads"], "printed"].any()
    assert table.loc[~table["leads"], "term"].tolist() == [2, 1] * 3


@pytest.mark.parametrize("wrong", [sp.exp(-2 * complexities._x), sp.exp(-complexities._x / 2)])
def test_the_algebra_sees_another_term(monkeypatch, wrong):
    first, _, third = complexities._TERMS["learning"]
    changed = {**complexities._TERMS, "learning": (first, (sp.Integer(2), wrong), third)}
    monkeypatch.setattr(complexities, "_TERMS", changed)
    table = complexities.substitutions()
    own = table[table["problem"] == "learning"]
    assert not own.loc[own["leads"], "printed"].all()


def test_the_remark_after_eq_4_lacks_a_square():
    assert complexities.first_term() == ("k", "1")
    for k in (3.0, 50.0):  # in numbers
        first = k**2 / (0.1**2 * math.expm1(1e-5) ** 2)
        assert first / (k / (0.1**2 * 1e-10)) == pytest.approx(k, rel=1e-4)


def best_channel(k, eps):
    """max tr H over eps-LDP channels by linear programming: columns are multiples of those of 1 and e^eps."""
    columns = np.array(list(product([1.0, math.exp(eps)], repeat=k)))
    gain = ((columns[:, ::2] - columns[:, 1::2]) ** 2).sum(axis=1) / columns.sum(axis=1)
    found = linprog(-gain, A_eq=columns.T, b_eq=np.ones(k))
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("k", [2, 4, 6, 8])
@pytest.mark.parametrize("eps", [0.1, 1.0, 2.0, 5.0])
def test_the_information_is_the_linear_programs(k, eps):
    assert complexities.information(k, eps) == pytest.approx(best_channel(k, eps), rel=1e-9)


def test_no_channel_has_more_than_twice_the_identity():
    rng = np.random.default_rng(0)
    for outputs in (2, 5, 30):
        channel = rng.dirichlet(np.full(outputs, 0.3), size=8)
        split = channel[::2] - channel[1::2]
        matrix = (split / np.maximum(channel.sum(axis=0), 1e-300)) @ split.T
        assert np.linalg.eigvalsh(matrix).max() <= 2 + 1e-12
    identity = np.eye(8)[::2] - np.eye(8)[1::2]
    assert np.linalg.eigvalsh(identity @ identity.T).max() == 2


@pytest.mark.parametrize("problem", complexities.PROBLEMS)
def test_the_lower_bounds_are_of_the_stated_order(problem):
    table = complexities.necessary_over_stated(problem, k=(2, 64, 2**20), eps=(0.01, 1.0, 5.0, 20.0))
    assert 0.5 < table["ratio"].min() <= table["ratio"].max() < 4.01


def test_the_budget_inverts_eq_1():
    n = np.array([1e4, 1e6, 1e9])
    found = complexities.eps_local(n, 0.3, 1e-6)
    for users, x in zip(n, found, strict=True):
        assert clones.formulas(float(x), n=int(users), delta=1e-6)["blog"] == pytest.approx(0.3, rel=1e-9)
    # A target that eq. (1) would allow beyond the source's condition on n.
    edge = float(complexities.eps_local(np.array([1e6]), 50.0, 1e-6)[0])
    assert abs(clones.least_users(edge, delta=1e-6) - 1e6) < 2


@pytest.mark.parametrize("problem", complexities.PROBLEMS)
def test_solving_for_n_is_a_search(problem):
    found = float(complexities.solved_users(problem, 50, 0.2, 0.5, 1e-6))
    for n, enough in ((0.99 * found, False), (1.01 * found, True)):
        budget = float(complexities.eps_local(np.array([n]), 0.5, 1e-6)[0])
        assert (n >= by_hand(problem, 50, 0.2, budget)) is enough


def test_the_constants_stay_put_up_to_eps_1_and_not_beyond():
    grid = {"k": (1e2, 1e6), "alpha": (0.05, 0.5), "delta": (1e-4, 1e-12)}
    table = complexities.solved_over_printed("learning", eps=(0.01, 1.0), **grid)
    assert 1 < table["ratio"].min() <= table["ratio"].max() < 17
    wide = complexities.solved_over_printed("learning", k=(1e3,), alpha=(0.5,), eps=(2.0, 32.0), delta=(1e-100,))
    assert wide["ratio"].iloc[1] > 3 * wide["ratio"].iloc[0]


def test_nonsense_is_refused():
    with pytest.raises(UnknownName, match="learning"):
        complexities.local_users("learn", 2, 0.1, 1.0)
    with pytest.raises(InvalidValue, match="even"):
        complexities.information(3, 1.0)
