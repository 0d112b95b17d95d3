"""Page 20: the attack, the tables and the theorem against values from outside; the checks; planted errors."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from running import Planted, run_page
from scipy.stats import norm

from gspa.accountant.allocation import allocation_delta
from gspa.accountant.tradeoff import gdp_delta
from gspa.pages import p20_shuffled_batches as p

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


def test_the_attack_is_below_what_is_certified_and_above_random_allocation():
    table = p.by_sampler(sigma=0.5, steps=100, epsilons=(0.5, 4.0))
    assert (table["shuffled"] < table["told"]).all()
    assert (table["shuffled"] > table[["remove", "add"]].max(axis=1)).all()
    assert table["told"].tolist() == [gdp_delta(eps, mu=2.0) for eps in (0.5, 4.0)]
    kept = p.by_sampler(sigma=1.0, steps=100, epsilons=(0.5, 4.0), epochs=4)
    assert kept["shuffled"].tolist() == table["shuffled"].tolist()  # four epochs of twice the noise
    assert kept["told"].tolist() == table["told"].tolist()


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
        assert found <= allocation_delta(sigma=1.0, steps=2, eps=eps, direction="replace").upper * (1 + 1e-6)

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
        bound = allocation_delta(sigma=1.0, steps=2, eps=eps, direction=direction)
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


def test_the_advantage_follows_the_normal_law_for_many_steps():
    found = p.advantage(1_000_000)
    normal = math.sqrt((math.e - 1) / (2 * math.pi * 1_000_000))
    assert found["lower"] <= found["upper"]
    assert found["upper"] == pytest.approx(normal, rel=1e-3)
    # Opposed contributions: the variance of e^(2z - 2) - e^(z - 1/2) is e^4 - 2 e^2 + e.
    opposed = math.sqrt((math.e**4 - 2 * math.e**2 + math.e) / (2 * math.pi * 1_000_000))
    assert 0.98 * opposed < found["shuffled"] < 1.01 * opposed
    assert p.steps_needed(0.01) == 4096  # the normal law says 2,735


def test_separation_of_many_steps_tends_to_half_a_diagonal():
    table = p.separation((10, 100_000))
    # kappa sqrt(2) is at most 1, and near 1/2 where the largest noise is as large as the contribution.
    assert (table["kappa"] > table["stated"]).all()
    assert table["kappa"].iloc[1] * math.sqrt(2) == pytest.approx(0.5, abs=0.05)


def test_the_figure_draws_its_table():
    table = p.by_sampler(sigma=0.5, steps=10, epsilons=(1.0, 2.0))
    lines = p.delta_curves(table).axes[0].lines
    drawn = table.assign(dealt=table[["remove", "add"]].max(axis=1))
    assert [line.get_ydata().tolist() for line in lines] == [drawn[key].tolist() for key in p.LINES]
    names = [name for name, _ in p.LINES.values()]
    assert [line.get_label() for line in lines] == names
    assert {one.get_text() for one in lines[0].axes.texts} == set(names)
    plt.close("all")


def curve(**changes):
    """One row of `by_sampler` as the page has it, at eps = 4."""
    row = {"epsilon": 4.0, "poisson": 0.0065, "poisson_low": 0.0063, "remove": 0.0043, "remove_low": 0.0042}
    row |= {"add": 1e-33, "add_low": 0.0, "shuffled": 0.287, "told": 0.384}
    return pd.DataFrame([row | changes])


def ratios(*values):
    return pd.DataFrame({"steps": [100] * len(values), "sigma": 1.0, "ratio": values})


class TestChecks:
    @pytest.mark.parametrize("check", [p.one_epoch, p.many_epochs])
    def test_a_gap_below_ten_shows_nothing(self, check):
        assert check(curve()).verdict == "verified"
        assert check(curve(shuffled=0.05)).verdict == "not checkable"

    def test_add_against_remove(self):
        assert p.add_below_remove(curve()).verdict == "verified"
        assert p.add_below_remove(curve(add=0.0043, add_low=0.0041)).verdict == "not reproduced"
        assert p.add_below_remove(curve(add=0.006, add_low=0.005)).verdict == "refuted"

    def test_allocation_against_poisson(self):
        assert p.similar_or_better(ratios(0.9, 1.09)).verdict == "verified"
        assert p.similar_or_better(ratios(0.9, 1.11)).verdict == "not reproduced"
        assert p.at_least_as_good(ratios(0.9, 1.009), curve()).verdict == "verified"
        both = p.at_least_as_good(ratios(0.9, 1.02), curve(remove_low=0.0066, remove=0.0067))
        assert [one.verdict for one in both.readings] == ["not reproduced", "refuted"]

    @pytest.mark.parametrize(("low", "verdict"), [(0.1717, "verified"), (0.168, "not reproduced")])
    def test_the_package(self, low, verdict):
        rows = [{"steps": 1000, "lower": low, "upper": 0.172, "package_low": 0.1687, "package_high": 0.1757}]
        assert p.package_brackets(pd.DataFrame(rows)).verdict == verdict

    def test_renyi(self):
        table = p.renyi_table(noises=(1.0,), sizes=(2,), most=4)
        assert p.renyi_below(table).verdict == "verified"
        assert p.renyi_below(table.assign(shuffled=table["alone"])).verdict == "refuted"

    def test_the_example(self):
        example = {"n": 1, "canonne": 0.49131, "mironov": 0.7, "lower": 0.0046, "upper": 0.0046}
        assert p.example_reproduced(example, example).verdict == "verified"
        assert p.example_reproduced(example | {"canonne": 0.4915}, example).verdict == "not reproduced"

    @pytest.mark.parametrize(
        ("found", "verdicts"),
        [
            ({"lower": 0.0004, "upper": 0.0005, "shuffled": 0.002}, ["verified", "not checkable"]),
            ({"lower": 0.0004, "upper": 0.0005, "shuffled": 0.02}, ["verified", "refuted"]),
            ({"lower": 0.02, "upper": 0.03, "shuffled": 0.02}, ["refuted", "refuted"]),
            ({"lower": 0.009, "upper": 0.011, "shuffled": 0.002}, ["not reproduced", "not checkable"]),
        ],
    )
    def test_a_million_steps(self, found, verdicts):
        outcome = p.million_steps({"steps": 10} | found, 4096)
        assert [one.verdict for one in outcome.readings] == verdicts

    def test_separation(self):
        table = pd.DataFrame({"steps": [10, 100], "kappa": [0.3, 0.33], "stated": [0.29, 0.31]})
        assert p.separation_stated(table).verdict == "verified"
        assert p.separation_stated(table.assign(kappa=[0.28, 0.33])).verdict == "refuted"


def test_the_page():
    ran = run_page(PAGE)
    settled = {name: one.verdict for name, one in ran.outcomes.items()}
    sized = {"N-3", "N-4"}  # which want the authors' sizes
    assert {name for name, verdict in settled.items() if verdict != "verified"} == sized
    assert all(ran.outcomes[name].missing == "size" for name in sized)
    names = ran.names
    assert names["two_steps"].lower <= names["in_plane"] <= names["two_steps"].upper
    assert names["by_sum"] == pytest.approx(names["by_power"], rel=1e-12)
    assert names["sums"] == {1: [(-2, 0), (0, -2)], 0: [(-2, -1), (-1, -2)]}


def made(claim):
    """The checks' tables at small sizes."""
    if claim in ("N-1", "N-2", "N-10"):
        epochs = 5 if claim == "N-10" else 1
        sigma = 0.35 * math.sqrt(epochs)
        return (p.by_sampler(sigma=sigma, steps=1_000, epsilons=(1.0, 4.0)[: 1 if epochs > 1 else 2], epochs=epochs),)
    if claim in ("N-3", "N-4"):
        table = p.against_poisson(noises=(1.0,), counts=(100,), delta=1e-6)
        return (table,) if claim == "N-3" else (table, p.by_sampler(sigma=0.35, steps=1_000, epsilons=(0.5,)))
    return {
        "N-5": lambda: (p.beside_package(),),
        "N-6": lambda: (p.renyi_table(noises=(0.5, 4.0), sizes=(2, 10_000), most=20),),
        "N-7": lambda: (p.example_of_reports(n=600_000, delta=1 / 600_000), p.example_of_reports(n=10_000, delta=1e-6)),
        "N-8": lambda: (p.advantage(p.MILLION), 4096),
        "N-9": lambda: (p.separation((10, 1_000)),),
    }[claim]()


PLANTED = (
    Planted(
        "N-1",
        "pages.p20_shuffled_batches",
        "(Step(2 * shift, shift), Step(shift, 2 * shift))",
        "(Step(shift, 0.0), Step(0.0, shift))",
        "the attack of random allocation, the others not opposed",
        tables="made",
    ),
    Planted(
        "N-10",
        "pages.p20_shuffled_batches",
        "attack_on_shuffled(eps, sigma=sigma / math.sqrt(epochs), steps=steps)",
        "attack_on_shuffled(eps, sigma=sigma * math.sqrt(epochs), steps=steps)",
        "epochs add to the noise",
        tables="made",
    ),
    Planted(
        "N-2",
        "pages.p20_shuffled_batches",
        "found = allocation_delta(sigma=sigma, steps=steps, eps=eps, direction=direction)",
        'found = allocation_delta(sigma=sigma * {"add": 0.3}.get(direction, 1), steps=steps, eps=eps)',
        "less noise for the record added, and the larger of both",
        tables="made",
    ),
    Planted(
        "N-3 N-4",
        "pages.p20_shuffled_batches",
        "poisson = poisson_epsilon(sigma=sigma, steps=steps, rate=1 / steps, delta=delta)",
        "poisson = poisson_epsilon(sigma=sigma, steps=steps, rate=0.5 / steps, delta=delta)",
        "Poisson samples of half the rate",
        tables="made",
    ),
    Planted(
        "N-5",
        "pages.p20_shuffled_batches",
        'found = allocation_epsilon(sigma=1.0, steps=steps, delta=1e-6, direction="remove")',
        'found = allocation_epsilon(sigma=1.0, steps=steps, delta=1e-6, direction="add")',
        "the record added instead of removed",
        tables="made",
    ),
    Planted(
        "N-6 N-7",
        "pages.p20_shuffled_batches",
        "base = k * (k - 1) / (2 * sigma**2)",
        "base = k * (k + 1) / (2 * sigma**2)",
        "the noise alone is not divided out",
        tables="made",
    ),
    Planted(
        "N-8",
        "pages.p20_shuffled_batches",
        "found = allocation_delta(sigma=sigma, steps=steps, eps=0.0)",
        "found = allocation_delta(sigma=sigma, steps=math.isqrt(steps), eps=0.0)",
        "the root of the number of steps",
        tables="made",
    ),
    Planted(
        "N-9",
        "pages.p20_shuffled_batches",
        "sigma = 1 / math.sqrt(2 * math.log(steps))",
        "sigma = 1 / math.sqrt(math.log(steps))",
        "twice the variance of the noise",
        tables="made",
    ),
)
