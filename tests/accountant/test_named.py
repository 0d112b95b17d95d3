"""Named mechanisms against their textbook definitions: every data set of a few users, in fractions.

Each matrix below is written from the paper that defines the mechanism; of the package only the answers are used.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import pytest
from exact_shuffle import curves, truth

import gspa
from gspa.accountant.budgets import from_array

ROUNDING = 1 + 1e-12  # a local eps is a double, the fraction e^eps behind it is not


def _weighted(likely, factor):
    """Rows of weights e^eps on what an input makes likely, 1 elsewhere."""
    rows = [[factor if one else Fraction(1) for one in row] for row in likely]
    return [[weight / sum(row) for weight in row] for row in rows]


def krr(factor, k):
    return _weighted([[x == y for y in range(k)] for x in range(k)], factor)


def subset(factor, k, size):
    return _weighted([[x in one for one in combinations(range(k), size)] for x in range(k)], factor)


def hashing(factor, k, g):
    """All functions of k items to g values, and the value that is sent."""
    outputs = list(product(product(range(g), repeat=k), range(g)))
    return _weighted([[hashed[x] == sent for hashed, sent in outputs] for x in range(k)], factor)


def hadamard(factor, k):
    """Row x + 1 of the Hadamard matrix of order K > k: +1 where x + 1 and the column share an even number of bits."""
    columns = range(1 << k.bit_length())
    return _weighted([[((x + 1) & y).bit_count() % 2 == 0 for y in columns] for x in range(k)], factor)


def _bits(k, p, q):
    """One's own bit is 1 with probability p, any other with q."""
    vectors = list(product((0, 1), repeat=k))
    chance = [[p if i == x else q for i in range(k)] for x in range(k)]
    return [
        [math.prod(c if bit else 1 - c for c, bit in zip(row, one, strict=True)) for one in vectors] for row in chance
    ]


def optimized(factor, k):
    return _bits(k, Fraction(1, 2), 1 / (1 + factor))


def symmetric(factor, k):
    root = _root(factor)
    return _bits(k, root / (1 + root), 1 / (1 + root))


def piecewise(factor):
    """The density of Wang et al. 2019, Algorithm 2, integrated over the cells between all its steps."""
    root = _root(factor)
    c = (root + 1) / (root - 1)
    high = (factor - root) / (2 * root + 2)
    starts = {x: (c + 1) / 2 * x - (c - 1) / 2 for x in map(Fraction, ("-1", "-1/2", "0", "1/3", "1"))}
    edges = sorted({-c, c, *starts.values(), *(start + c - 1 for start in starts.values())})
    return [
        [(b - a) * (high if start <= a and b <= start + c - 1 else high / factor) for a, b in pairwise(edges)]
        for start in starts.values()
    ]


def duchi(factor):
    share = [Fraction(1, 2) + Fraction(x) / 2 * (factor - 1) / (factor + 1) for x in ("-1", "-1/2", "0", "1")]
    return [[one, 1 - one] for one in share]


def _root(factor):
    return Fraction(math.isqrt(factor.numerator), math.isqrt(factor.denominator))


CASES = {
    "krr": (krr, {"k": 3}, gspa.KRR(k=3), 5),
    "krr of 5": (krr, {"k": 5}, gspa.KRR(k=5), 3),
    "krr of 2": (krr, {"k": 2}, gspa.KRR(k=2), 5),
    "rr": (krr, {"k": 2}, gspa.RandomizedResponse(), 5),
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
FEW = [
    pytest.param(name, factor, n, marks=[] if (factor, n) in QUICK else pytest.mark.slow)
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
        "name", ["krr", "rr", "subset", "hashing", pytest.param("piecewise", marks=pytest.mark.slow)]
    )
    @pytest.mark.parametrize("written", [False, True])
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
