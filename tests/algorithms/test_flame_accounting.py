"""FLAME's certified protocols: against enumeration of small ones, attacks below certified, refusals."""

from __future__ import annotations

import dataclasses
import math
from functools import reduce
from itertools import combinations, product

import numpy as np
import pytest
from pair_oracle import sum_of_bernoullis

from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.tradeoff import gdp_epsilon, hockey_stick
from gspa.algorithms.flame import accounting, attacks
from gspa.algorithms.flame.padded import coordinate
from gspa.algorithms.flame.randomizers import Buckets, Laplace


def counts(columns):
    """The law of how many ones each coordinate shows, of independent bits with these chances."""
    return reduce(np.multiply.outer, [np.array(sum_of_bernoullis(chances)) for chances in columns]).ravel()


def bits_laws(d, k, p, dummies, *, poisson):
    """Laws of the counts of ones in d coordinates, one user and `dummies` fair bits each, all zeros or all ones."""
    laws = []
    for truth in (1 / (1 + p), p / (1 + p)):
        if poisson:
            slot = (1 - k / d) / 2 + k / d * truth
            laws.append(counts([[slot] + [0.5] * dummies] * d))
        else:
            every = list(combinations(range(d), k))
            shown = ([[truth if j in chosen else 0.5] + [0.5] * dummies for j in range(d)] for chosen in every)
            laws.append(np.mean([counts(one) for one in shown], axis=0))
    return laws


@pytest.mark.parametrize("eps", [0.05, 0.3, 0.6])
def test_one_user_index_by_index_is_exact(eps):
    # n = 1: every other report is a dummy, so C is certain and nothing is lost but the grid.
    d, k, p = 3, 1, 3
    exact = hockey_stick(*bits_laws(d, k, p, 2, poisson=True), eps)
    one = coordinate(Buckets(math.log(p), 1), n_p=3, n=1, beta=k / d)
    found = accounting.composed_delta(one, d, eps=eps)
    assert exact <= found * (1 + 1e-9)
    assert found < 1.3 * exact + 1e-9


@pytest.mark.parametrize(("d", "k", "dummies"), [(3, 1, 1), (4, 2, 2), (5, 2, 1), (5, 4, 2)])
@pytest.mark.parametrize("delta", [0.01, 1e-4])
def test_one_user_exactly_k_against_enumeration(d, k, dummies, delta):
    p = 3
    laws = bits_laws(d, k, p, dummies, poisson=False)
    found = accounting.double_exactly_k(Buckets(math.log(p), 1), d=d, k=k, n=1, n_p=dummies + 1, delta=delta)
    assert hockey_stick(*laws, found.upper) <= delta
    assert hockey_stick(*laws, 0.9 * found.lower) >= delta
    if k == 1:  # nothing is told but the grid
        assert hockey_stick(*laws, 0.95 * found.upper) >= delta


def test_two_users_exactly_k_against_enumeration():
    """The other user's indices are drawn, too: two of four each. Worst of all that the other holds."""
    local, d, k, n_p, delta = Buckets(1.0, 1), 4, 2, 3, 0.02
    found = accounting.double_exactly_k(local, d=d, k=k, n=2, n_p=n_p, delta=delta).upper
    truth = [float(local.law(x)[1]) for x in (0.0, 1.0)]
    chosen = list(combinations(range(d), k))
    worst = 0.0
    for other in product((0, 1), repeat=d):
        laws = []
        for mine in (0, 1):
            seen = []
            for ours, theirs in product(chosen, chosen):
                sent = [[truth[mine]] * (j in ours) + [truth[other[j]]] * (j in theirs) for j in range(d)]
                seen.append(counts([one + [0.5] * (n_p - len(one)) for one in sent]))
            laws.append(np.mean(seen, axis=0))
        worst = max(worst, hockey_stick(*laws, found), hockey_stick(*laws[::-1], found))
    assert 0 < worst <= delta


@pytest.mark.parametrize("shared", [0, 1])
def test_topk_with_selections_that_differ(shared):
    """Two users, d = 4, k = 2, padded to 6: all ways to hold the other's bit; selections share `shared` indices."""
    local, n_p, delta, p = Buckets(0.5, 1), 6, 0.02, math.exp(0.5)
    first, second = {0, 1}, {1, 2} if shared else {2, 3}
    bound = accounting.topk(local, k=2, n_p=n_p, delta=delta, most_selected=2)
    bit = {0: 1 / (1 + p), 1: p / (1 + p)}
    worst = 0.0
    for other, mine in product(product((0, 1), repeat=2), product((0, 1), repeat=4)):
        laws = []
        for chosen, values in ((first, mine[:2]), (second, mine[2:])):
            held = {j: [bit[value]] for j, value in zip(sorted(chosen), values, strict=True)}
            # The other user always selects 0 and 1.
            sent = [held.get(j, []) + ([bit[other[j]]] if j < 2 else []) for j in range(4)]
            laws.append(counts([one + [0.5] * (n_p - len(one)) for one in sent]))
        worst = max(worst, hockey_stick(*laws, bound.upper))
    assert 0 < worst <= delta


@pytest.mark.parametrize(
    "local", [Buckets(0.5, 1), *(pytest.param(Laplace(e), marks=pytest.mark.slow) for e in (0.5, 2.0))]
)
def test_attacks_stay_below_what_is_certified(local):
    found = [
        accounting.simple(local, d=40, n=300, delta=1e-5),
        accounting.double_poisson(local, d=40, k=4, n=300, n_p=100, delta=1e-5),
        accounting.double_exactly_k(local, d=40, k=4, n=300, n_p=100, delta=1e-5),
        accounting.topk(local, k=4, n_p=100, delta=1e-5, most_selected=100),
        accounting.topk(local, k=4, n_p=100, delta=1e-5, most_selected=20),
    ]
    for bound in found:
        assert 0 < bound.lower < bound.upper
    assert all(bound.upper < 1.4 * bound.lower * math.exp(local.eps / 4) for bound in found)
    assert found[4].upper < found[3].upper
    assert found[1].upper < found[2].upper


def test_without_an_attack_the_lower_end_is_zero():
    assert accounting.simple(Laplace(0.5), d=5, n=100, delta=1e-5, attack=False).lower == 0.0


def test_a_single_fold_is_the_coordinate_itself():
    one = coordinate(Laplace(0.5), n_p=200)
    found = accounting.simple(Laplace(0.5), d=1, n=200, delta=1e-6, attack=False).upper
    assert one.epsilon(1e-6) == pytest.approx(found, rel=0.02)
    assert accounting.composed_delta(one, 1, eps=0.1) == pytest.approx(one.delta(0.1).upper, rel=0.1)


def test_many_folds_approach_the_gaussian_limit():
    # mu of one coordinate: E[(f0 - f1)^2/omega^2]/(gamma n_p), a sum over two outcomes for b = 1
    local, n, d = Buckets(0.1, 1), 1000, 2000
    p = math.exp(0.1)
    difference = 2 * (p - 1) / (p + 1)
    mu = math.sqrt(d * difference**2 / (local.gamma * n))
    found = accounting.simple(local, d=d, n=n, delta=1e-5, attack=False).upper
    assert found == pytest.approx(gdp_epsilon(delta=1e-5, mu=mu), rel=0.02)


def test_exactly_k_indices_approach_the_gaussian_limit():
    # A single user: each of k reports is one of d/k times n_p, all others uniform bits.
    local, n_p, d, k = Buckets(0.5, 1), 1000, 20_000, 200
    mu = 2 * math.tanh(0.25) * math.sqrt(k / (d / k * n_p))
    found = accounting.double_exactly_k(local, d=d, k=k, n=1, n_p=n_p, delta=1e-5, attack=False)
    assert found.upper == pytest.approx(gdp_epsilon(delta=1e-5, mu=mu), rel=0.02)


def test_padding_that_does_not_hold_is_refused():
    with pytest.raises(OutsideValidity, match=r"n_p = 20"):
        accounting.double_poisson(Laplace(0.5), d=50, k=1, n=1000, n_p=20, delta=1e-5)
    with pytest.raises(OutsideValidity, match=r"n_p = 20"):
        accounting.double_exactly_k(Laplace(0.5), d=50, k=1, n=1000, n_p=20, delta=1e-5)
    with pytest.raises(OutsideValidity, match="who selected"):
        accounting.topk(Laplace(0.5), k=1, n_p=333, delta=1e-5, most_selected=334)


@pytest.mark.parametrize("local", [Laplace(0.5), Laplace(3.0), Buckets(1.0, 1), Buckets(1.0, 4)])
@pytest.mark.parametrize("n_p", [1, 3, 100])
def test_two_half_pairs_weigh_less_than_a_whole_one(local, n_p):
    found = accounting.topk(local, k=3, n_p=n_p, delta=1e-6, most_selected=n_p, attack=False)  # else it refuses
    assert 0 < found.upper <= 3 * local.eps


def test_the_pair_that_is_composed_is_the_one_that_was_compared():
    """A grid pair that is a little below two half pairs at one corner is not let through."""
    whole, half = (coordinate(Laplace(0.5), n_p=50, against=against) for against in ("other", "blanket"))
    law = accounting._grid_pair(whole, 5, 1e-5)
    assert accounting._covered(law, half, whole.most)
    forward, backward = accounting._grid(half, law.step, 1e-12)
    once, again = (accounting._connected(law.step, *both) for both in ((forward, backward), (backward, forward)))
    # the two together, by all pairs of their losses
    loss, mass = np.add.outer(once.loss, again.loss), np.multiply.outer(once.mass, again.mass)
    at = [i * law.step for i in range(40)]
    two = [float((mass * -np.expm1(np.minimum(eps - loss, 0))).sum()) for eps in at]
    near = min(law.delta(eps) / value for eps, value in zip(at, two, strict=True))
    for factor, covered in ((0.999 / near, False), (1.001 / near, True)):
        scaled = dataclasses.replace(law, mass=law.mass * factor, infinite=law.infinite * factor)
        below = all(scaled.delta(eps) >= value for eps, value in zip(at, two, strict=True))
        assert below is covered
        assert accounting._covered(scaled, half, whole.most) is covered


def test_it_is_refused_where_they_would_not(monkeypatch):
    # A whole pair of another, larger crowd does not dominate two half pairs of this one.
    whole, half = coordinate(Laplace(1.0), n_p=400), coordinate(Laplace(1.0), n_p=50, against="blanket")
    assert not accounting._covered(accounting._grid_pair(whole, 5, 1e-5), half, whole.most)
    monkeypatch.setattr(accounting, "_covered", lambda *a, **k: False)
    with pytest.raises(OutsideValidity, match="half pairs"):
        accounting.topk(Laplace(1.0), k=5, n_p=50, delta=1e-5, most_selected=50)


def test_arguments_refused():
    with pytest.raises(InvalidValue, match="k = 6"):
        accounting.double_poisson(Laplace(0.5), d=5, k=6, n=10, n_p=10, delta=1e-5)
    with pytest.raises(InvalidValue):
        accounting.simple(Laplace(0.5), d=5, n=10, delta=0.0)


class TestAttacks:
    @pytest.mark.parametrize("real", [1, 3])
    def test_the_sum_of_bits_by_binomials(self, real):
        local, padded, eps = Buckets(1.0, 1), 60, 0.1
        chances = (1 / (1 + math.e), math.e / (1 + math.e))
        laws = [counts([[q] * real + [0.5] * (padded - real)]) for q in chances]
        found = attacks.sum_delta(local, real=real, padded=padded, eps=eps)
        assert found <= hockey_stick(*laws, eps)
        assert found == pytest.approx(hockey_stick(*laws, eps), abs=1e-9)

    def test_with_probability_beta(self):
        local, eps = Buckets(1.0, 1), 0.02
        slot = [0.5 * 0.75 + 0.25 / (1 + math.e), 0.5 * 0.75 + 0.25 * math.e / (1 + math.e)]
        laws = [counts([[q] * 2 + [0.5] * 38]) for q in slot]
        found = attacks.sum_delta(local, real=2, padded=40, eps=eps, beta=0.25)
        assert found == pytest.approx(hockey_stick(*laws, eps), abs=1e-9)

    def test_a_simulated_sum_of_laplace_reports(self):
        # The attacker's own statistic, drawn: the share of large sums under ones and zeros differs as computed.
        local, rng, n = Laplace(1.0), np.random.default_rng(5), 40_000
        score = np.clip(local.blanket((n, 9), rng), 0, 1).sum(axis=1)
        zero, one = (score + np.clip(local.randomize(np.full(n, x), rng), 0, 1) for x in (0.0, 1.0))
        threshold = 5.0
        shown = (one > threshold).mean() - (zero > threshold).mean()
        assert attacks.sum_delta(local, real=1, padded=10, eps=0.0) == pytest.approx(shown, abs=5 * math.sqrt(0.5 / n))

    @pytest.mark.parametrize("others", attacks.OTHERS)
    def test_epsilon_inverts_delta_downwards(self, others):
        local = Laplace(0.5)
        eps = attacks.sum_epsilon(local, real=20, padded=4_000, delta=1e-4, others=others)
        assert attacks.sum_delta(local, real=20, padded=4_000, eps=eps, others=others) >= 1e-4
        assert attacks.sum_delta(local, real=20, padded=4_000, eps=1.01 * eps, others=others) < 1e-4

    def test_few_and_many_reports_agree_where_the_method_changes(self):
        local = Laplace(0.5)
        found = [attacks.sum_delta(local, real=5, padded=padded, eps=0.05) for padded in (4_999, 5_000, 5_001)]
        assert found == pytest.approx([found[0]] * 3, rel=1e-3)

    def test_linked_messages_by_hand(self):
        # One value a message: counting messages beyond a threshold is an attack on the multiset of reports.
        local, messages = Laplace(3.0), 40
        found = attacks.linked_delta(local, k=1, messages=messages, eps=0.1)
        best = max(
            attacks._count_delta(messages - 1, *(1 - 0.5 * math.exp(-3 * abs(t - x)) if t > x else
                                 0.5 * math.exp(-3 * abs(t - x)) for x in (0.5, 0.0, 1.0)), eps=0.1)
            for t in np.linspace(0.01, 0.99, 99)
        )  # fmt: skip
        assert found == pytest.approx(best, rel=0.05)
        assert found <= coordinate(local, n_p=messages).delta(0.1).upper

    def test_linking_gives_more_away(self):
        apart = attacks.sum_delta(Laplace(0.5), real=157, padded=157 * 16_650, eps=0.24)
        assert attacks.linked_delta(Laplace(0.5), k=157, messages=16_650, eps=0.24) > 100 * apart

    def test_an_answer_zero(self):
        local = Buckets(1.0, 2)
        assert attacks.zero_delta(Buckets(1.0, 2, printed=True), n=9, eps=3.0, beta=0.5) == pytest.approx(
            0.5 * (1 - Buckets(1.0, 2, printed=True).gamma)
        )
        q = [float(local.law(x)[0]) for x in (0.0, 1.0)]
        first, second = (1 - (1 - a) * (1 - q[1]) ** 8 for a in q)
        assert attacks.zero_delta(local, n=9, eps=0.01) == pytest.approx(first - math.exp(0.01) * second)

    def test_refused(self):
        with pytest.raises(OutsideValidity):
            attacks.sum_delta(Buckets(1.0, 2), real=1, padded=5, eps=0.1)
        with pytest.raises(OutsideValidity):
            attacks.scored(Buckets(1.0, 1, printed=True))
        with pytest.raises(InvalidValue, match="padded = 5"):
            attacks.sum_delta(Laplace(1.0), real=6, padded=5, eps=0.1)
        with pytest.raises(InvalidValue, match="blanket"):
            attacks.sum_delta(Laplace(1.0), real=1, padded=5, eps=0.1, others="zero", beta=0.5)
