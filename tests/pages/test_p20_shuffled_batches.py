"""Page 20: the attack and the theorem against values from outside, and the cells of its claims on made tables."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace as Ends

import mpmath
import numpy as np
import p20_shuffled_batches as p
import pandas as pd
import pytest
from running import Planted, recorded, settle
from scipy.stats import norm

import gspa
from gspa.accountant.tradeoff import gdp_delta

PAGE = "20_shuffled_batches"


def in_the_plane(eps, pair):
    """delta(eps) of two steps: half the mean of the positive part of L_1 + L_2, trapezoidal rule; pair: L of a z."""
    z = np.linspace(-10, 14, 4801)
    mass, one = norm.pdf(z) * (z[1] - z[0]), pair(z, math.exp(eps))
    return float(mass @ np.maximum(one[:, None] + one, 0) @ mass) / 2


@pytest.mark.parametrize("eps", [0.0, 0.5, 2.0])
def test_the_attack_on_two_batches_against_the_plane(eps):
    def present(z, gain):
        return np.exp(2 * z - 2) - gain * np.exp(z - 0.5)

    def zeroed(z, gain):
        return np.exp(z - 0.5) - gain * np.exp(2 * z - 2)

    truth = max(in_the_plane(eps, present), in_the_plane(eps, zeroed))
    assert 0.9 * truth < p.attack_on_shuffled(eps, sigma=1.0, steps=2) <= truth * (1 + 1e-6)


class TestLargestContributionsAreTheWorst:
    """The theorem of the page, on contributions that nobody chose well."""

    Z = np.linspace(-8, 8, 1201)
    MASS = norm.pdf(Z) * (Z[1] - Z[0])

    def ratio(self, shift):
        return np.exp(shift * self.Z - shift**2 / 2)

    @pytest.mark.parametrize("seed", range(6))
    def test_contributions_at_random(self, seed):
        rng = np.random.default_rng(seed)
        eps = rng.uniform(0, 1.5)
        u, v = rng.uniform(-1, 1, (2, 2))
        first, second = (self.ratio(u[i]) - math.exp(eps) * self.ratio(v[i]) for i in range(2))
        found = self.MASS @ np.maximum(first[:, None] + second, 0) @ self.MASS / 2
        assert found <= gspa.delta(at_eps=eps, mechanism=gspa.Allocation(1.0, 2, "replace")).upper * (1 + 1e-6)

    @pytest.mark.parametrize("direction", ["remove", "add", "replace"])
    def test_an_adversary_who_sees_the_first_answer(self, direction):
        # For each first answer the best of many second contributions.
        eps, tried = 0.4, np.linspace(-1, 1, 21)
        pairs = {
            "remove": [(u, 0.0) for u in tried],
            "add": [(0.0, v) for v in tried],
            "replace": list(itertools.product(tried[::4], tried[::4])),
        }[direction]
        present, absent = {"remove": (1, 0), "add": (0, 1), "replace": (1, -1)}[direction]
        first = self.ratio(present) - math.exp(eps) * self.ratio(absent)
        laws = [self.ratio(u) - math.exp(eps) * self.ratio(v) for u, v in pairs]
        best = np.max([np.maximum(first[:, None] + law, 0) @ self.MASS for law in laws], axis=0)
        found = float(self.MASS @ best) / 2
        bound = gspa.delta(at_eps=eps, mechanism=gspa.Allocation(1.0, 2, direction))
        assert found <= bound.upper * (1 + 1e-6)
        assert found >= bound.lower * (1 - 1e-6)  # full length is among those tried


@pytest.mark.parametrize(("sigma", "n", "order"), [(1.0, 3, 4), (0.5, 2, 5), (4.0, 4, 2)])
def test_renyi_divergences_against_the_abstracts_sum(sigma, n, order):
    with mpmath.workdps(30):
        total = mpmath.mpf(0)
        for k in itertools.product(range(order + 1), repeat=n):
            if sum(k) == order:
                ways = mpmath.factorial(order) / mpmath.fprod(mpmath.factorial(one) for one in k)
                total += ways * mpmath.exp(sum(one**2 for one in k) / (2 * mpmath.mpf(sigma) ** 2))
        scale = mpmath.exp(-order / (2 * mpmath.mpf(sigma) ** 2)) / mpmath.mpf(n) ** order
        truth = float(mpmath.log(total * scale) / (order - 1))
    assert p.shuffled_renyi(sigma=sigma, n=n, most=order)[-1] == pytest.approx(truth, rel=1e-12)


def test_one_user_has_the_gaussian_divergence():
    assert p.shuffled_renyi(sigma=2.0, n=1, most=5) == pytest.approx(np.arange(2, 6) / 8, rel=1e-12)


def curve(**changes):
    """One row of the table over eps, as the page has it at eps = 4."""
    row = {"epsilon": 4.0, "poisson": 0.0065, "poisson_low": 0.0063, "remove": 0.0043, "remove_low": 0.0042}
    row |= {"add": 1e-33, "add_low": 0.0, "shuffled": 0.287, "told": 0.384, "dealt": 0.0043}
    return pd.DataFrame([row | changes])


def ratios(*values):
    return pd.DataFrame({"steps": [100] * len(values), "sigma": 1.0, "ratio": values})


def verdicts(claim, **made):
    found = settle(claim, **made)
    return [one.verdict for one in found.readings] or found.verdict


class TestCells:
    # The registry's least factor is 10.
    @pytest.mark.parametrize(("shuffled", "verdict"), [(0.066, "verified"), (0.064, "not checkable")])
    def test_a_gap_below_ten_shows_nothing(self, shuffled, verdict):
        assert verdicts("N-1", curves=curve(shuffled=shuffled)) == verdict
        assert verdicts("N-10", kept=curve(shuffled=shuffled, ratio=shuffled / 0.0065)) == verdict

    def test_add_against_remove(self):
        assert verdicts("N-2", curves=curve()) == "verified"
        assert verdicts("N-2", curves=curve(add=0.0043, add_low=0.0041)) == "not reproduced"
        assert verdicts("N-2", curves=curve(add=0.006, add_low=0.005)) == "refuted"

    def test_allocation_against_poisson(self):
        assert verdicts("N-3", compared=ratios(0.9, 1.09)) == "verified"
        assert verdicts("N-3", compared=ratios(0.9, 1.11)) == "not reproduced"
        assert verdicts("N-4", compared=ratios(0.9, 1.009), curves=curve()) == ["verified", "verified"]
        more = curve(remove_low=0.0066, remove=0.0067)
        assert verdicts("N-4", compared=ratios(0.9, 1.02), curves=more) == ["not reproduced", "refuted"]

    @pytest.mark.parametrize(("low", "verdict"), [(0.1717, "verified"), (0.168, "not reproduced")])
    def test_the_package(self, low, verdict):
        rows = [{"steps": 1000, "lower": low, "upper": 0.172, "package_low": 0.1687, "package_high": 0.1757}]
        assert verdicts("N-5", packaged=pd.DataFrame(rows)) == verdict

    @pytest.mark.parametrize(("shuffled", "verdict"), [(0.9, "verified"), (1.0, "refuted"), (math.nan, "refuted")])
    def test_renyi(self, shuffled, verdict):
        assert verdicts("N-6", renyi=pd.DataFrame({"shuffled": [0.5, shuffled], "alone": 1.0})) == verdict

    def test_the_example(self):
        row = {"users": 1, "program": 0.4913, "canonne": 0.49131, "mironov": 0.7, "lower": 0.0046, "upper": 0.0046}
        assert verdicts("N-7", examples=pd.DataFrame([row])) == ["verified", "not reproduced"]
        assert verdicts("N-7", examples=pd.DataFrame([row | {"canonne": 0.4915}])) == ["not reproduced"] * 2

    @pytest.mark.parametrize(
        ("lower", "upper", "attacked", "readings"),
        [
            (0.0004, 0.0005, 0.002, ["verified", "not checkable"]),
            (0.0004, 0.0005, 0.02, ["verified", "refuted"]),
            (0.02, 0.03, 0.02, ["refuted", "refuted"]),
            (0.009, 0.011, 0.002, ["not reproduced", "not checkable"]),
        ],
    )
    def test_a_million_steps(self, lower, upper, attacked, readings):
        assert (
            verdicts("N-8", after=Ends(lower=lower, upper=upper), attacked=attacked, million=10, enough=4096)
            == readings
        )

    def test_separation(self):
        table = pd.DataFrame({"steps": [10, 100], "kappa": [0.3, 0.33], "stated": [0.29, 0.31]})
        assert verdicts("N-9", apart=table) == "verified"
        assert verdicts("N-9", apart=table.assign(kappa=[0.28, 0.33])) == "refuted"


@pytest.mark.slow
class TestThePage:
    def test_its_verdicts_and_sums(self, ran):
        sized = {"N-3", "N-4"}  # which want the authors' sizes
        assert ran.verdicts == recorded(PAGE) | dict.fromkeys(sized, "not yet checked")
        assert all(ran.outcomes[name].missing == "size" for name in sized)
        names = ran.names
        assert names["two_steps"].lower <= names["in_plane"] <= names["two_steps"].upper
        assert names["reached"] <= names["of_pair"] * (1 + 1e-6)
        assert names["by_sum"] == pytest.approx(names["by_power"], rel=1e-12)
        assert any(said.startswith("**Result.** A training run") for said in ran.said)

    def test_the_attack_is_below_what_is_certified_and_above_random_allocation(self, ran):
        table = ran.names["curves"]
        assert (table["shuffled"] < table["told"]).all()
        assert (table["shuffled"] > table["dealt"]).all()
        assert table["told"].tolist() == [gdp_delta(eps, mu=1 / 0.35) for eps in table["epsilon"]]
        kept = ran.names["kept"]  # five epochs of five times the variance are one epoch
        assert kept["shuffled"].iloc[0] == pytest.approx(table["shuffled"].iloc[0], rel=1e-9)

    def test_the_advantage_follows_the_normal_law_for_many_steps(self, ran):
        after, steps = ran.names["after"], ran.names["million"]
        assert after.lower <= after.upper
        assert after.upper == pytest.approx(math.sqrt((math.e - 1) / (2 * math.pi * steps)), rel=1e-3)
        # Opposed contributions: the variance of e^(2z - 2) - e^(z - 1/2) is e^4 - 2 e^2 + e.
        opposed = math.sqrt((math.e**4 - 2 * math.e**2 + math.e) / (2 * math.pi * steps))
        assert 0.98 * opposed < ran.names["attacked"] < 1.01 * opposed
        assert ran.names["guess"] == pytest.approx(2735, abs=1)
        assert ran.names["enough"] == 4096  # the power of two above it

    def test_separation_of_many_steps_tends_to_half_a_diagonal(self, ran):
        # kappa sqrt(2) is at most 1, and near 1/2 where the largest noise is as large as the contribution.
        assert ran.names["apart"]["kappa"].iloc[-1] * math.sqrt(2) == pytest.approx(0.5, abs=0.05)


_SIZED = {"profile": "paper", "noises": [1], "counts": [100]}
PLANTED = (
    Planted(
        "N-1",
        "notebooks.p20_shuffled_batches",
        "(Dealt(2 * shift, shift, steps), Dealt(shift, 2 * shift, steps))",
        "(Dealt(shift, 0.0, steps), Dealt(0.0, shift, steps))",
        "the attack of random allocation, the others not opposed",
    ),
    Planted(
        "N-10",
        "notebooks.20_shuffled_batches",
        "sigma=noise / math.sqrt(epochs)",
        "sigma=noise * math.sqrt(epochs)",
        "epochs add to the noise",
    ),
    Planted(
        "N-2",
        "notebooks.20_shuffled_batches",
        'add = gspa.delta(at_eps=eps, mechanism=gspa.Allocation(sigma, steps, "add"))',
        "add = gspa.delta(at_eps=eps, mechanism=gspa.Allocation(0.3 * sigma, steps))",
        "less noise for the record added, and the larger of both",
    ),
    Planted(
        "N-3 N-4",
        "notebooks.20_shuffled_batches",
        "poisson = poisson_epsilon(sigma=spread, steps=t, rate=1 / t, delta=delta)",
        "poisson = poisson_epsilon(sigma=spread, steps=t, rate=0.5 / t, delta=delta)",
        "Poisson samples of half the rate",
        _SIZED,
    ),
    Planted(
        "N-5",
        "notebooks.20_shuffled_batches",
        'gspa.Allocation(1.0, t, "remove")',
        'gspa.Allocation(1.0, t, "add")',
        "the record added instead of removed",
    ),
    Planted(
        "N-6 N-7",
        "notebooks.p20_shuffled_batches",
        "base = k * (k - 1) / (2 * sigma**2)",
        "base = k * (k + 1) / (2 * sigma**2)",
        "the noise alone is not divided out",
    ),
    Planted(
        "N-8",
        "notebooks.20_shuffled_batches",
        "after = gspa.delta(at_eps=0.0, mechanism=gspa.Allocation(1.0, million))",
        "after = gspa.delta(at_eps=0.0, mechanism=gspa.Allocation(1.0, math.isqrt(million)))",
        "the root of the number of steps",
    ),
    Planted(
        "N-9",
        "notebooks.20_shuffled_batches",
        "least_noise = 1 / math.sqrt(2 * math.log(t))",
        "least_noise = 1 / math.sqrt(math.log(t))",
        "twice the variance of the noise",
    ),
)
