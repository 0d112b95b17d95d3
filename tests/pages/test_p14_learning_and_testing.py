"""Page 14: learners and testers against limits, enumeration and linear programming, numbers of users by hand, exponents
against scipy's regression; the cells of its claims on made tables; planted errors."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sympy as sp
from exact_shuffle import rr_delta_worst, solve
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Planted, in_readings, settle
from scipy.optimize import brentq, linprog
from scipy.stats import binom, linregress, multinomial, t

from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import registry

PAGE = "14_learning_and_testing"
DELTA = 1e-6
LOWER = {"B-8": "necessary", "B-11": "necessary_6", "B-12": "necessary_7"}
SHUFFLED = {"B-10": "learning", "B-13": "private coin", "B-14": "public coin"}


class TestLearners:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
    def test_the_projection_meets_the_optimality_conditions(self, values):
        import p14_learning_and_testing as p

        v = np.array(values)
        law = p.project(v)
        assert law.min() >= 0
        assert law.sum() == pytest.approx(1)
        # Nearest point of the simplex: v - law is one number where law > 0, and at most that elsewhere.
        shift = v - law
        assert np.ptp(shift[law > 1e-12]) < 1e-9
        assert shift[law <= 1e-12].max(initial=-math.inf) <= shift[law > 1e-12].max() + 1e-9

    def test_the_error_is_that_of_the_normal_limit(self, p):
        k, n = 64, 40_000_000
        response = HadamardResponse.of(k, eps=0.5)
        law, linear = response.law(np.full(k, 1 / k)), response.estimate(np.eye(response.outputs))
        deviation = np.sqrt((law @ linear**2 - (law @ linear) ** 2) / n)
        reports = np.random.default_rng(0).multinomial(n, law, size=200)
        found = p.distance(response.estimate(reports))
        expected = 0.5 * math.sqrt(2 / math.pi) * deviation.sum()
        assert found.mean() == pytest.approx(expected, abs=5 * found.std() / math.sqrt(200))

    def test_an_experiment_moves_one_quantity_at_a_time(self, p):
        points = p.around((8, 0.1, 2.0), (2.0,), (0.5,), (3.0, 4.0))
        assert points == [(8, 0.1, 2.0), (16, 0.1, 2.0), (8, 0.05, 2.0), (8, 0.1, 6.0), (8, 0.1, 8.0)]


class TestTesters:
    def test_the_power_is_that_of_enumeration(self, p):
        # k = 2 at eps_L = 1: four outputs, so that all histograms of 12 users can be listed.
        n, alpha = 12, 0.5
        tester = p.Tester.of(2, eps_local=1.0, coin="private")
        null = n * tester.response.law(tester.uniform)
        counts = np.array([c for c in product(range(n + 1), repeat=4) if sum(c) == n])
        score = (((counts - null) ** 2 - counts) / null).sum(axis=1)
        threshold = float(np.median(score)) + 0.01
        exact = 0.0
        for law in ([1.0, 0.0], [0.0, 1.0]):
            mass = multinomial.pmf(counts, n, tester.response.law(np.array(law)))
            exact += 0.5 * float(mass[score > threshold].sum())
        found = tester.power(n, alpha, threshold, 40_000, np.random.default_rng(0))
        assert found == pytest.approx(exact, abs=0.015)

    @pytest.mark.parametrize(
        ("k", "eps_local", "coin"), [(16, 0.5, "private"), (16, 3.0, "private"), (64, 2.0, "public")]
    )
    def test_the_known_mean_is_the_statistics(self, p, k, eps_local, coin):
        tester, rng = p.Tester.of(k, eps_local=eps_local, coin=coin), np.random.default_rng(1)
        found = tester.statistics(500, tester.alternatives(0.3, 4_000, rng), rng)
        assert found.mean() == pytest.approx(tester.mean(500, 0.3), abs=5 * found.std() / math.sqrt(4_000))

    def test_alternatives_are_at_their_distance(self, p):
        tester = p.Tester.of(10, eps_local=1.0, coin="private")
        laws = tester.alternatives(0.2, 7, np.random.default_rng(0))
        assert laws.sum(axis=1) == pytest.approx(np.ones(7))
        assert 0.5 * np.abs(laws - 0.1).sum(axis=1) == pytest.approx(np.full(7, 0.2))

    def test_a_hash_keeps_the_mean_square_distance(self, p):
        # Half of k signs are +1, dealt at random: the sum of s of them has the variance s (k - s)/(k - 1).
        k, alpha = 64, 0.25
        tester = p.Tester.of(k, eps_local=math.log(4), coin="public")
        assert tester.uniform.tolist() == [0.25] * 4
        laws = tester.alternatives(alpha, 4_000, np.random.default_rng(0))
        expected = (2 * alpha / k) ** 2 * 16 * (64 - 16) / 63
        assert ((laws - 0.25) ** 2).mean() == pytest.approx(expected, rel=0.05)

    @pytest.mark.parametrize("coin", ["private", "public"])
    def test_what_is_detectable_is_detected_two_times_in_three(self, p, coin):
        n = 20_000
        alpha = p.detectable(32, eps_local=1.0, n=n, start=0.1, coin=coin, rng=np.random.default_rng(0), counts=250_000)
        tester, rng = p.Tester.of(32, eps_local=1.0, coin=coin), np.random.default_rng(1)
        # Plain draws of whole histograms, where the page puts parts together.
        null = n * tester.response.law(tester.uniform)
        scores = []
        for laws in (np.tile(tester.uniform, (10_000, 1)), tester.alternatives(alpha, 10_000, rng)):
            counts = rng.multinomial(n, tester.response.law(laws))
            scores.append((((counts - null) ** 2 - counts) / null).sum(axis=1))
        found = (scores[1] > np.quantile(scores[0], 2 / 3)).mean()
        assert found == pytest.approx(2 / 3, abs=0.03)


def noisy(powers, *, noise=0.0):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.uniform(1, 100, 12) for name in powers})
    value = np.exp(noise * rng.normal(size=12)) * 3
    for name, power in powers.items():
        value = value * table[name] ** power
    return table.assign(n=value, regime="one")


class TestExponents:
    def test_a_true_power_law_is_recovered(self, p):
        found = p.fitted(noisy({"k": 1.5, "alpha": -2.0}), {"one": ({"k": 1.5, "alpha": -1}, [])})
        assert found["exponent"].tolist() == pytest.approx([1.5, -2.0], abs=1e-12)
        assert found["power"].tolist() == ["one: $k^{3/2}$", r"one: $\alpha^{-1}$"]
        assert (found["high"] - found["low"]).max() < 1e-10

    def test_one_factor_is_scipys_regression(self, p):
        table = noisy({"k": 0.7}, noise=0.3)
        found = p.fitted(table, {"one": ({"k": 1}, [])}).iloc[0]
        line = linregress(np.log(table["k"]), np.log(table["n"]))
        reach = t.ppf(0.975, len(table) - 2) * line.stderr
        expected = (line.slope, line.slope - reach, line.slope + reach)
        assert tuple(found[["exponent", "low", "high"]]) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize(
        ("low", "high", "close"),
        [(0.95, 1.05, True), (0.89, 1.05, None), (1.05, 1.2, None), (1.11, 1.2, False), (0.5, 0.89, False)],
    )
    def test_the_judgement_follows_the_interval(self, p, low, high, close):
        rows = pd.DataFrame({"stated": [1.0, 2.0], "low": [low, 1.99], "high": [high, 2.01]})
        assert p.held(rows, 0.1) == (close, int(not low <= 1 <= high))


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


def by_equation_1(n, eps, delta):
    """The eps_L at which eq. (1) of the post gives eps with n users, or the largest that its source allows."""
    most = math.log(n / (16 * math.log(2 / delta)))

    def excess(x):
        root = math.sqrt(math.exp(x) * math.log(4 / delta) / n)
        return math.log(1 + 16 * (math.exp(x) - 1) / (math.exp(x) + 1) * root) - eps

    return most if excess(most) <= 0 else brentq(excess, 0.0, most, xtol=1e-14)


class TestNumbersOfUsers:
    @pytest.mark.parametrize("problem", SHUFFLED.values())
    def test_the_formulas_are_the_blogs(self, ran, problem):
        K, A, E, L, X = (ran.names[name] for name in "KAELX")
        for k, eps in product([2, 1000], [0.03, 2.0, 9.0]):
            local = sum(ran.names["local_terms"][problem]) / A**2
            assert float(local.subs({K: k, A: 0.2, X: eps})) == pytest.approx(by_hand(problem, k, 0.2, eps))
            shuffled = sum(ran.names["printed"][problem]).subs({K: k, A: 0.2, E: eps, L: math.log(1e5)})
            assert float(shuffled) == pytest.approx(by_hand_shuffled(problem, k, 0.2, eps, 1e-5))

    @pytest.mark.parametrize("eps", [0, 12, 20])
    @pytest.mark.parametrize("k", [2, 16])
    def test_the_information_is_the_linear_programs(self, ran, k, eps):
        # max tr H over channels whose columns are multiples of those of 1 and e^eps.
        row = ran.names["channels"].query("k == @k").iloc[eps]
        columns = np.array(list(product([1.0, 1 + row["growth"]], repeat=2)))
        if k == 16:  # by symmetry: m pairs split, j high, of mass k in all
            split, high = np.array([(m, j) for m in range(9) for j in range(9 - m)]).T
            total = k + row["growth"] * (split + 2 * high)
            best = linprog(-split * row["growth"] ** 2 / total, A_eq=total[None], b_eq=[k])
        else:
            gain = (columns[:, 0] - columns[:, 1]) ** 2 / columns.sum(axis=1)
            best = linprog(-gain, A_eq=columns.T, b_eq=np.ones(k))
        assert row["trace"] == pytest.approx(-best.fun, rel=1e-9)

    @pytest.mark.parametrize("problem", SHUFFLED.values())
    def test_solving_for_n_is_a_search(self, ran, problem):
        rows = ran.names["solved"].iloc[[0, 40, 80]]
        for row in rows.to_dict("records"):
            k, alpha, eps, delta = (row[name] for name in ("k", "alpha", "eps", "delta"))
            n = row[problem] * by_hand_shuffled(problem, k, alpha, eps, delta)
            for users, enough in ((0.99 * n, False), (1.01 * n, True)):
                assert (users >= by_hand(problem, k, alpha, by_equation_1(users, eps, delta))) is enough

    def test_the_cases_of_equation_5_and_what_comes_out(self, ran):
        log = -math.log(DELTA)
        for row in ran.names["choices"].to_dict("records"):
            s = row["target"] ** 2 * row["n"] / log
            formula = row["certified"] / s**0.5 if s <= 1 else math.exp(row["certified"]) / s
            assert (row["s"], row["over (5)"]) == pytest.approx((s, formula))
        first = ran.names["choices"].iloc[2]  # a target of 0.1 and 100 users: s is below 1
        taken = math.sqrt(first["s"])
        exact = solve(lambda at: rr_delta_worst(taken, 100, at), DELTA, taken)
        assert 0.1 * first["literally"] == pytest.approx(exact, rel=1e-5)


class TestComplexities:
    @pytest.mark.parametrize(("k", "alpha"), [(4, 0.1), (64, 0.25)])
    def test_no_estimate_of_a_pair_is_right_both_ways_below_the_bound(self, ran, k, alpha):
        # The total variation of the two products, for the pair's own samples: their number is binomial.
        row = ran.names["bounds"].query("k == @k and alpha == @alpha").iloc[0]
        a, n = 2 * alpha, math.floor(row["free lower"] * k / alpha**2)
        apart = 0.0
        for m in range(n + 1):
            x = np.arange(m + 1)
            laws = [binom.pmf(x, m, 0.5 + sign * a) for sign in (1, -1)]
            apart += binom.pmf(m, n, 2 / k) * 0.5 * np.abs(laws[0] - laws[1]).sum()
        assert apart < 0.5

    @pytest.mark.parametrize("eps", [0.01, 1.0])
    def test_enough_users_are_enough_and_privacy_alone_by_hand(self, ran, p, eps):
        k, alpha = 64, 0.1
        row = ran.names["bounds"].query("k == @k and alpha == @alpha and eps == @eps").iloc[0]
        n = math.ceil(row["central upper"] * (k / alpha**2 + k / (alpha * eps)))
        rng, law = np.random.default_rng(0), np.full(k, 1 / k)
        noisy = rng.multinomial(n, law, size=200) + rng.laplace(scale=2 / eps, size=(200, k))
        assert p.distance(noisy / n).mean() < alpha
        n = math.ceil(row["free upper"] * k / alpha**2)
        assert 0.7 * alpha < p.distance(rng.multinomial(n, law, size=400) / n).mean() < alpha
        # 1/2 = n 4a/k tanh(eps/2) with a = 2 alpha.
        n = row["central lower"] * k / (alpha * eps)
        assert n * 8 * alpha / k * (math.exp(eps) - 1) / (math.exp(eps) + 1) == pytest.approx(0.5)

    def test_optimal_but_for_the_logarithm(self, ran):
        row = ran.names["orders"].query("k == 4096 and alpha == 0.1 and eps == 0.001").iloc[0]
        expected = by_hand_shuffled("learning", 4096, 0.1, 0.001, row["delta"]) / (4096 / 0.01 + 4096 / 0.0001)
        assert row["ratio"] == pytest.approx(expected)

    def test_collisions_have_their_moments(self, ran):
        k, alpha = 256, 0.2
        row = ran.names["free"].query("k == @k and alpha == @alpha").iloc[0]
        n, rng = round(row["upper"] * math.sqrt(k) / alpha**2), np.random.default_rng(0)
        up = (1 + 2 * alpha * np.where(np.arange(k) % 2, 1, -1)) / k
        drawn = (rng.multinomial(n, law, 20_000) for law in (np.full(k, 1 / k), up))
        found = [(counts * (counts - 1) // 2).sum(axis=1) for counts in drawn]
        (null, other), (spread, wide) = ([f(x) for x in found] for f in (np.mean, np.std))
        assert (other - null) / (spread + wide) == pytest.approx(math.sqrt(2), rel=0.02)

    def test_the_coupling_is_the_transport_program(self, p):
        # Earth mover's distance of the numbers of first items, k = 2: all samples fall in the one pair.
        n, alpha = 5, 0.3
        x = np.arange(n + 1)
        laws = binom.pmf(x, n, 0.5), (binom.pmf(x, n, 0.5 + alpha) + binom.pmf(x, n, 0.5 - alpha)) / 2
        cost = np.abs(x[:, None] - x).ravel()
        rows = [np.kron(np.eye(n + 1), np.ones(n + 1)), np.kron(np.ones(n + 1), np.eye(n + 1))]
        best = linprog(cost, A_eq=np.vstack(rows), b_eq=np.concatenate(laws))
        assert p.coupled(n, 2, alpha) == pytest.approx(best.fun, rel=1e-9)

    def test_the_coupling_is_no_worse_than_its_blocks(self, p):
        n, k, alpha = 4_000, 16, 0.1
        exact = 0.0
        for m in range(n + 1):
            if (mass := binom.pmf(m, n, 2 / k)) > 1e-14:
                x = np.arange(m + 1)
                mixed = (binom.cdf(x, m, 0.5 + alpha) + binom.cdf(x, m, 0.5 - alpha)) / 2
                exact += mass * np.abs(binom.cdf(x, m, 0.5) - mixed).sum()
        assert 8 * exact <= p.coupled(n, k, alpha) < 1.05 * 8 * exact

    def test_a_central_tester_needs_what_is_necessary(self, ran, p):
        k, alpha, eps = 16, 0.2, 1e-4
        low = p.coupling_users(k, alpha, eps)
        assert p.coupled(math.floor(low), k, alpha) * math.tanh(eps / 2) < 1 / 3
        total = 4 / 0.04 + 4 / (0.2 * 0.01) + 16 ** (1 / 3) / (0.2 ** (4 / 3) * 1e-4 ** (2 / 3)) + 1 / (0.2 * 1e-4)
        row = ran.names["central_testing"].query("leads.str.startswith('$1/')").iloc[0]
        assert row["lower"] == pytest.approx(low / total)
        assert row["lower"] <= row["upper"] < 5


def fits(ran, name, *, off=0.0, reach=0.02):
    """A table of exponents of the page, each `off` from what is stated."""
    middle = ran.names[name]["stated"] + off
    return ran.names[name].assign(exponent=middle, low=middle - reach, high=middle + reach)


class TestVerdicts:
    @pytest.mark.parametrize("claim", [*LOWER, *SHUFFLED])
    @pytest.mark.parametrize(
        ("off", "reach", "readings"),
        [
            (0.0, 0.02, ["verified", "verified"]),
            (0.05, 0.02, ["verified", "not reproduced"]),
            (0.2, 0.02, ["refuted", "refuted"]),
            (0.0, 0.2, ["not checkable", "not checkable"]),
        ],
    )
    def test_they_follow_the_exponents(self, ran, claim, off, reach, readings):
        name = {"B-8": "learner_fits", "B-10": "both_fits", "B-11": "tester_fits", "B-12": "tester_fits"}
        named = {name.get(claim, "shuffled_fits"): fits(ran, name.get(claim, "shuffled_fits"), off=off, reach=reach)}
        others = {one: ran.names[one] for one in ("channels", "terms", "solved", *LOWER.values())}
        assert in_readings(settle(claim, **named | others)) == readings

    def test_the_remark_lacks_a_square(self):
        k, one = sp.Symbol("k"), sp.Integer(1)
        assert settle("B-15", limits=[one, 1 / k]).verdict == "verified"
        assert settle("B-15", limits=[k, 2 * one]).verdict == "refuted"

    @pytest.mark.parametrize(
        ("change", "readings"),
        [
            ({"exchanged": 0.9}, ["verified", "holds with correction", "verified"]),
            ({"over (5)": [0.9, 0.2, 0.5]}, ["verified", "verified", "holds with correction"]),
            ({"over (5)": [11.0, 1.0, 0.5]}, ["refuted"] * 3),
        ],
    )
    def test_equation_5(self, change, readings):
        made = {"target": [1.0, 1.0, 8.0], "s": [0.1, 50.0, 50.0], "over (5)": [0.9, 0.2, 0.01]}
        made |= {"literally": [0.9, 1.2, 3.0], "exchanged": [0.1, 40.0, 50.0]} | change
        assert in_readings(settle("B-9", choices=pd.DataFrame(made))) == readings

    @pytest.mark.parametrize(
        ("claim", "name", "columns"),
        [
            ("B-27", "bounds", ["free upper", "free lower"]),
            ("B-28", "bounds", ["free lower", "central upper", "central lower"]),
            ("B-31", "free", ["upper", "lower"]),
            ("B-32", "central_testing", ["upper", "lower"]),
        ],
    )
    def test_orders(self, ran, claim, name, columns):
        table = ran.names[name]
        assert settle(claim, **{name: table}).verdict == "verified"
        for column in columns:
            for wrong in (table.index + 0.01, -1.0, np.where(table.index == 1, math.nan, 1.0)):
                assert settle(claim, **{name: table.assign(**{column: wrong})}).verdict == "refuted"


def test_the_page(ran):
    recorded = {name: one for name, one in registry().items() if one.notebook == PAGE}
    assert set(ran.outcomes) == set(recorded)
    for name, found in ran.outcomes.items():
        assert found.missing == "size" if recorded[name].needs else found.verdict == recorded[name].verdict
    assert not any("nan" in said for said in ran.said)


_PAPER = {"profile": "paper"}
_NOTEBOOK = "notebooks.14_learning_and_testing"
_HELPER = "notebooks.p14_learning_and_testing"
PLANTED = (
    Planted(
        "B-8",
        "algorithms.testing",
        "return cls(k, eps, 2 ** max(0, math.ceil(min(eps / math.log(2), math.log2(2 * k)) - 1e-9) - 1))",
        "return cls(k, eps, 1)",
        "Hadamard response with one block at every budget",
    ),
    Planted(
        "B-8 B-11 B-12",
        _NOTEBOOK,
        "(m * growth + items) ** 2).max()",
        "(m * growth + items)).max()",
        "a trace without its square",
        _PAPER,
    ),
    Planted(
        "B-9", _NOTEBOOK, "first, second = math.sqrt(s), math.log(s)", "first, second = s, math.log(s)", "eps_L = s"
    ),
    Planted(
        "B-10 B-29",
        _NOTEBOOK,
        '"learning": [K * sp.sqrt(L) / (A * E), K / A**2]',
        '"learning": [K * L / (A * E), K / A**2]',
        "log for its root",
    ),
    Planted("B-10", _NOTEBOOK, "rng.laplace(scale=2 / budget,", "rng.laplace(scale=2 / budget**2,", "noise 2/eps^2"),
    Planted(
        "B-11 B-14",
        _HELPER,
        "buckets = min(k, 2 ** max(1, round(min(eps_local / math.log(2), 60.0))))",
        "buckets = 2",
        "one bit of hash whatever the budget",
        _PAPER,
    ),
    Planted(
        "B-12 B-13",
        _HELPER,
        "found = tester.power(n, alpha, threshold, size, rng)",
        "found = tester.power(n, alpha**1.25, threshold, size, rng)",
        "alternatives at distance alpha^(5/4)",
        _PAPER,
    ),
    Planted("B-13", _NOTEBOOK, "sp.Rational(3, 4)", "sp.Rational(4, 5)", "k^(4/5) for k^(3/4)", _PAPER),
    Planted("B-14", _NOTEBOOK, "sp.cbrt(K**2 * L /", "sp.cbrt(K**3 * L /", "k for k^(2/3)", _PAPER),
    Planted("B-15", _NOTEBOOK, "(A**2 * (sp.exp(E) - 1) ** 2)", "(A**2 * (sp.exp(E) - 1))", "no square in (4)"),
    Planted("B-27", _NOTEBOOK, "items / (4 * distance**2)", "items / (4 * distance**3)", "alpha^3 for alpha^2"),
    Planted(
        "B-28", _NOTEBOOK, "* np.tanh(budget / 2))", "* np.sqrt(np.tanh(budget / 2)))", "the root of what one tells"
    ),
    Planted("B-31", _NOTEBOOK, "(1 + 4 * A**2) / K", "(1 + 4 * A) / K", "collisions that tell the distance itself"),
    Planted("B-32", _HELPER, "rng.laplace(scale=1 / eps,", "rng.laplace(scale=1 / eps**2,", "Laplace noise 1/eps^2"),
)
