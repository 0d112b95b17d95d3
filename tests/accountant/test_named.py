"""Named mechanisms against their textbook definitions: every data set of a few users, in fractions.

The matrices of `exact_shuffle` are written from the papers; of the package only the answers are used.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from exact_shuffle import (
    curves,
    duchi,
    hadamard,
    hashing,
    k_ary,
    optimized,
    piecewise,
    subset,
    symmetric,
    truth,
)

import gspa
from gspa.accountant.budgets import from_array

ROUNDING = 1 + 1e-12  # a local eps is a double, the fraction e^eps behind it is not


CASES = {
    "krr": (k_ary, {"k": 3}, gspa.KRR(k=3), 5),
    "krr of 5": (k_ary, {"k": 5}, gspa.KRR(k=5), 3),
    "krr of 2": (k_ary, {"k": 2}, gspa.KRR(k=2), 5),
    "rr": (k_ary, {"k": 2}, gspa.RandomizedResponse(), 5),
    "subset": (subset, {"k": 4, "size": 2}, gspa.SubsetSelection(k=4, size=2), 3),
    "all but one": (subset, {"k": 3, "size": 2}, gspa.SubsetSelection(k=3, size=2), 4),
    "hashing": (hashing, {"k": 2, "g": 3}, gspa.LocalHashing(k=2, g=3), 3),
    "binary hashing": (hashing, {"k": 3, "g": 2}, gspa.LocalHashing(k=3, g=2), 3),
    "hadamard": (hadamard, {"k": 3}, gspa.HadamardResponse(k=3), 4),
    "hadamard of 2": (hadamard, {"k": 2}, gspa.HadamardResponse(k=2), 4),
    "hadamard of 4": (hadamard, {"k": 4}, gspa.HadamardResponse(k=4), 3),
    "optimized": (optimized, {"k": 3}, gspa.UnaryEncoding(k=3), 3),
    "optimized of 2": (optimized, {"k": 2}, gspa.UnaryEncoding(k=2), 4),
    "symmetric": (symmetric, {"k": 3}, gspa.UnaryEncoding(k=3, kind="symmetric"), 3),
    "rappor": (symmetric, {"k": 2}, gspa.Rappor(k=2), 4),
    "piecewise": (piecewise, {}, gspa.Piecewise(), 3),
    "duchi": (duchi, {}, gspa.Duchi(), 4),
}
OWN = ("krr", "krr of 2", "rr", "subset", "hashing", "hadamard", "duchi")
QUICK = {(Fraction(9, 4), 3), (Fraction(10**72), 2)}
FAMILIES = ("krr", "subset", "hashing", "hadamard", "optimized", "symmetric", "piecewise", "duchi")  # for the second
FEW = [
    pytest.param(
        name, factor, n, marks=[] if (factor, n) in QUICK and (n == 3 or name in FAMILIES) else pytest.mark.slow
    )
    for name, (*_, most) in CASES.items()
    for factor in (Fraction(9, 4), Fraction(25), Fraction(10201, 10000), Fraction(10**72))
    for n in range(1, most + 1)
]


def shares(factor):
    return [Fraction(1), 1 + (factor - 1) / 4, 1 + (factor - 1) * 3 / 4]


class TestEveryDataSet:
    @pytest.mark.parametrize(("name", "factor", "n"), FEW)
    def test_one_eps(self, name, factor, n):
        table, sizes, runs, _ = CASES[name]
        eps, pairs = math.log(factor), list(curves([table(factor, **sizes)] * n))
        for share in shares(factor):
            true, at = truth(pairs, share), math.log(share)
            found = gspa.delta(eps=eps, n=n, at_eps=at, mechanism=runs)
            assert found.lower <= true * ROUNDING
            assert true <= found.upper * ROUNDING
            if true < 0.999:  # where it is flat a rounding of delta moves eps far
                bound = gspa.epsilon(eps=eps, n=n, delta=true, mechanism=runs)
                assert bound.lower <= at + 1e-11
                assert at <= bound.upper + 1e-11

    @pytest.mark.parametrize("factors", [(3, 2, 5), (4, 4, Fraction(3, 2)), (Fraction(101, 100), 30, 30)])
    @pytest.mark.parametrize("name", OWN)
    def test_own_eps(self, name, factors):
        table, sizes, runs, _ = CASES[name]
        factors = list(map(Fraction, factors))
        who = [math.log(factor) for factor in factors]
        pairs = list(curves([table(factor, **sizes) for factor in factors]))
        for share in shares(max(factors)):
            true = truth(pairs, share)
            found = gspa.delta(budgets=who, at_eps=math.log(share), mechanism=runs)
            assert found.lower <= true * ROUNDING
            assert true <= found.upper * ROUNDING

    @pytest.mark.parametrize(
        ("name", "written"),
        [
            *(("krr", True), ("krr", False), ("rr", False), ("subset", False), ("hashing", False)),
            pytest.param("piecewise", False, marks=pytest.mark.slow),
        ],
    )
    def test_rounds(self, name, written):
        """The same users in two rounds: products of the laws of one."""
        table, sizes, runs, _ = CASES[name]
        factor, n = Fraction(9, 4), 2
        rows = table(factor, **sizes)
        runs = gspa.Discrete([[float(mass) for mass in row] for row in rows]) if written else runs
        once, share = curves([rows] * n), Fraction(3, 2)
        twice = ([(p * a, q * b, d * d) for (p, q, d), (a, b, _) in product(one, one)] for one in once)
        true = truth(twice, share)
        found = gspa.delta(
            eps=None if written else math.log(factor), n=n, at_eps=math.log(share), mechanism=runs, rounds=2
        )
        assert true <= found.upper * ROUNDING
        assert found.lower <= true * ROUNDING or not found.reached


class TestOwnBudgets:
    def test_no_mass_is_missed(self):
        """Of each user's chance of a draw 1e-14 was, which two thousand users' law of draws showed."""
        who = from_array([1.7, 0.1, 0.2], count=[3, 742, 1098])
        found = gspa.epsilon(budgets=who, delta=1e-6, mechanism=gspa.KRR(k=4))
        assert 0 < found.lower <= found.upper < 1.7

    @pytest.mark.parametrize(("distinct", "rounds"), [(2, 1), (50, 1), pytest.param(3, 5, marks=pytest.mark.slow)])
    def test_nobody_is_worse_than_the_worst(self, distinct, rounds):
        who = from_array([1 / (3 + i) for i in range(distinct)][::-1], count=80)
        question = {"budgets": who, "delta": 1e-4, "mechanism": gspa.KRR(k=5), "rounds": rounds}
        each, worst = gspa.per_user(**question), gspa.epsilon(**question)
        assert each.upper.max() <= worst.upper
        assert (each.lower <= each.upper).all()


def test_others_hide_a_user_with_a_huge_budget():
    """At e^eps times a unit in the last place nothing is known any more, but delta falls with eps."""
    crowd = from_array([5.0] * 9000 + [200.0] * 25)
    found = gspa.epsilon(budgets=crowd, delta=2e-6, mechanism=gspa.KRR(4))
    assert 0 < found.lower <= found.upper < 1.1 * found.lower
