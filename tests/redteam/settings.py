"""Random settings in bulk, each with a delta that an attack certainly reaches and a bound that must not be below it.

A family is a function of a generator and the most users, and returns a `Duel`. Where the bounds are nearly tight the
sampling is densest: a narrow victim in a wide and dense crowd for the blanket, others all alike for the pair.

`python tests/redteam/settings.py` fights them all and prints how close each family's attacks came.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import attack
import numpy as np

from gspa.accountant import budgets, engine, randomizers
from gspa.accountant import exact as exact_rr
from gspa.accountant import rounds as composition
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_delta, blanket_epsilon
from gspa.accountant.one_round import central_delta, central_epsilon, per_user_epsilon


class Duel(NamedTuple):
    """What an attack certainly reaches, what is claimed from above, and how to do it again."""

    truth: float
    claimed: float
    setting: str


def _log(rng, low, high):
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def _whole(rng, low, high):
    return round(_log(rng, low, high))


# --- reports on a line: the blanket --------------------------------------------------------------------


def _on_a_line(rng, mechanism, scales, count, victim, others, most_mu):
    """By delta at an eps, or by the eps at a delta, at which the attack must stay below that delta."""
    own, noise = scales[victim], np.asarray(scales, dtype=float)
    left = np.array(count) - (np.arange(len(scales)) == victim)
    crowd = [(s, x) for s, x, m in zip(scales, others, left, strict=True) if m]
    table = attack.line(mechanism, own, (0.0, 1.0), crowd, left[left > 0])
    arguments = {"count": count, "mechanism": mechanism, "victim": victim}
    text = f"{mechanism} scales {scales} count {count} victim {victim} others {others}"
    if rng.random() < 0.5:
        delta = _log(rng, 1e-12, 0.2)
        eps = blanket_epsilon(noise, delta=delta, mechanism=mechanism).upper
        return Duel(attack.delta(table, eps), delta, f"{text} delta {delta!r}: eps {eps!r}")
    eps = most_mu * rng.uniform(0, 5)
    return Duel(attack.delta(table, eps), blanket_delta(noise, eps=eps, **arguments).upper, f"{text} eps {eps!r}")


def narrow(rng, mechanism, most):
    """One narrow report in a wide, dense crowd: (f0 - e^eps f1)/g is heavy-tailed, and the blanket nearly tight."""
    own = _log(rng, 0.05, 5)
    wide = own * _log(rng, 3, 1e6)
    # mu^2 is about 2 int f^2 / (n g): between 3 and 1e-3
    mu = _log(rng, 0.03, 2)
    number = min(max(int(wide / own / mu**2), 2), most)
    return _on_a_line(rng, mechanism, [own, wide], [1, number], 0, [0.5, 0.5], mu)


def mixed(rng, mechanism, most):
    """A few scales, any victim."""
    groups = int(rng.integers(1, 4))
    scales = [_log(rng, 0.3, 30) for _ in range(groups)]
    count = [_whole(rng, 1, most / groups) for _ in range(groups)]
    victim = int(rng.integers(groups))
    if sum(count) == 1:
        count[victim] = 2
    others = rng.choice([0.0, 0.5, 1.0], groups).tolist()
    gap = 1 / scales[victim] / math.sqrt(sum(count))
    return _on_a_line(rng, mechanism, scales, count, victim, others, min(3 * gap, 2.0))


# --- finitely many answers: the pair ---------------------------------------------------------------------


def _budgets(rng, most, spread=30.0):
    """A few distinct budgets with counts; the first is the victim's and the largest."""
    groups = int(rng.integers(1, 5))
    top = _log(rng, 0.05, 6)
    eps = [top, *(top / _log(rng, 1, spread) for _ in range(groups - 1))]
    return np.array(eps), np.array([_whole(rng, 1, most / groups) for _ in eps])


def _against(rng, table, mechanism, text, people, top):
    """The attack against `central_delta` at an eps, or against `central_epsilon`."""
    if rng.random() < 0.5:
        delta = _log(rng, 1e-12, 0.3)
        eps = central_epsilon(people, delta=delta, mechanism=mechanism).upper
        return Duel(attack.delta(table, eps), delta, f"{text} delta {delta!r}: eps {eps!r}")
    eps = top * min(1.0, _log(rng, 0.3, 8) / math.sqrt(people.n))
    upper = central_delta(people, eps=eps, mechanism=mechanism).upper
    return Duel(attack.delta(table, eps), upper, f"{text} eps {eps!r}")


def _held(rng, law, eps, count, items):
    """Tables of others who hold one item a group, or two."""
    rows, many = [], []
    for one, m in zip(eps, count, strict=True):
        split = [m] if rng.random() < 0.6 or m < 2 else [m - m // 2, m // 2]
        for part in split:
            rows.append(law(float(one), int(rng.choice(items))))
            many.append(part)
    return np.array(rows), np.array(many)


def _bits(eps, item):
    wrong = 1 / (1 + math.exp(eps))
    return np.array([1 - wrong, wrong]) if item == 0 else np.array([wrong, 1 - wrong])


def _alone(count):
    left = np.array(count)
    left[0] -= 1
    return left


def bits(rng, most):
    """Binary randomized response, own budgets: the pair, and the exact law at these inputs."""
    eps, count = _budgets(rng, most)
    count[0] += count.sum() == 1
    laws, many = _held(rng, _bits, eps, _alone(count), [0, 1])
    table = attack.Table(np.array([_bits(eps[0], 0), _bits(eps[0], 1)]), laws[many > 0], many[many > 0])
    people = budgets.from_array(eps, count=count)
    text = f"bits eps {eps.tolist()} count {count.tolist()} laws {laws.tolist()} {many.tolist()}"
    if rng.random() < 0.3:
        at = eps[0] * min(0.9, _log(rng, 0.3, 5) / math.sqrt(people.n))
        return Duel(attack.delta(table, at), exact_rr.exact_delta(people, eps=at).upper, f"exact {text} eps {at!r}")
    return _against(rng, table, randomizers.RandomizedResponse(), text, people, eps[0])


def _krr(k):
    def law(eps, item):
        row = np.full(k, 1 / (math.exp(eps) + k - 1))
        row[item] *= math.exp(eps)
        return row

    return law


def _subsets(k, size):
    """Sets by which of the items 0, 1 and 2 they contain: eight answers and how many sets each stands for."""
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    rest = [size - sum(row) for row in rows]
    ways = np.array([math.comb(k - 3, r) if 0 <= r <= k - 3 else 0 for r in rest], dtype=float)

    def law(eps, item):
        weight = ways * np.array([math.exp(eps) if row[item] else 1.0 for row in rows])
        return (weight / weight.sum())[ways > 0]

    return law


# Three items, of whom an output is told by what it says of each; a row of weights is of one item.


def _bit_vectors(kind):
    """Unary encoding: the bits of three items."""
    vectors = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])

    def law(eps, item):
        wrong = 1 / (1 + math.exp(eps / 2 if kind == "symmetric" else eps))
        one = np.full(3, wrong)
        one[item] = 1 - wrong if kind == "symmetric" else 0.5
        return np.where(vectors == 1, one, 1 - one).prod(axis=1)

    return law


def _hashes(g):
    """Local hashing: which of three items are hashed to the value that is sent."""
    hit = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]) == 1

    def law(eps, item):
        weight = np.where(hit, 1 / g, 1 - 1 / g).prod(axis=1) * np.where(hit[:, item], math.exp(eps), 1.0)
        return weight / weight.sum()

    return law


def _columns(rows):
    """Hadamard response: on which of a matrix's columns three of its rows are +1."""

    def law(eps, item):
        even = [(rows[item] & column).bit_count() % 2 == 0 for column in range(8)]
        weight = np.where(even, math.exp(eps), 1.0)
        return weight / weight.sum()

    return law


def _densities(values):
    """The piecewise mechanism: the masses of the cells between the steps of its densities at these values."""

    def law(eps, item):
        root = math.exp(eps / 2)
        c = (root + 1) / (root - 1)
        starts = [(c + 1) / 2 * x - (c - 1) / 2 for x in values]
        edges = np.unique([-c, c, *(min(max(e, -c), c) for x in starts for e in (x, x + c - 1))])
        middle = (edges[1:] + edges[:-1]) / 2
        inside = (starts[item] < middle) & (middle < starts[item] + c - 1)
        mass = np.diff(edges) * np.where(inside, root * root, 1.0)
        return mass / mass.sum()

    return law


def _of_items(rng, most, law, mechanism, text, items=(0, 1, 2)):
    """Others who hold any of these items; own budgets where the mechanism has them."""
    eps, count = _budgets(rng, most)
    if mechanism.common:
        eps, count = eps[:1], count[:1]
    count[0] += count.sum() == 1
    laws, many = _held(rng, law, eps, _alone(count), items)
    table = attack.Table(np.array([law(eps[0], 0), law(eps[0], 1)]), laws[many > 0], many[many > 0])
    text = f"{text} eps {eps.tolist()} count {count.tolist()} {laws.tolist()} {many.tolist()}"
    return _against(rng, table, mechanism, text, budgets.from_array(eps, count=count), eps[0])


def krr(rng, most):
    """k-ary randomized response, own budgets, others at either input or at a third."""
    k = int(rng.choice([2, 3, 3, 4, 5, 8, 20, 100]))
    return _of_items(rng, most, _krr(k), randomizers.KRR(k), f"{k}-ary", range(min(k, 3)))


def subset(rng, most):
    """Subset selection, own budgets."""
    k = int(rng.choice([3, 4, 5, 8, 16, 50]))
    size = int(rng.integers(1, k))
    return _of_items(rng, most, _subsets(k, size), randomizers.SubsetSelection(k, size), f"subset {size} of {k}")


def unary(rng, most):
    """Unary encoding of either kind."""
    kind = str(rng.choice(["optimized", "symmetric"]))
    return _of_items(rng, most, _bit_vectors(kind), randomizers.UnaryEncoding(int(rng.integers(3, 50)), kind), kind)


def hashing(rng, most):
    """Local hashing, own budgets."""
    g = _whole(rng, 2, 100)
    return _of_items(rng, most, _hashes(g), randomizers.LocalHashing(int(rng.integers(3, 50)), g), f"hashed to {g}")


def hadamard(rng, most):
    """Hadamard response, own budgets."""
    rows = (1, 2, 3) if rng.random() < 0.5 else (1, 2, 4)
    return _of_items(rng, most, _columns(rows), randomizers.HadamardResponse(3 if rows[2] == 3 else 4), f"rows {rows}")


def piecewise(rng, most):
    """The piecewise mechanism, mostly at the ends."""
    ends = (-1.0, 1.0) if rng.random() < 0.7 else tuple(rng.uniform(-1, 1, 2))
    values = [*ends, float(rng.uniform(-1, 1))]
    return _of_items(rng, most, _densities(values), randomizers.Piecewise(), f"values {values}")


def matrices(rng, most):
    """Any matrices, zeros among them, in one group or several."""
    groups, inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(2, 5)), int(rng.integers(2, 7))
    shape = 0.3 if rng.random() < 0.3 else 3.0
    tables = rng.dirichlet(np.full(outputs, shape), (groups, inputs)) * (rng.random((groups, 1, outputs)) > 0.1)
    tables = np.maximum(tables, 1e-12 * (rng.random() < 0.5))
    tables /= np.maximum(tables.sum(axis=2, keepdims=True), 1e-300)
    if not np.allclose(tables.sum(axis=2), 1):
        return Duel(0.0, 1.0, "a row of zeros")
    count = np.array([_whole(rng, 1, most / groups) for _ in range(groups)])
    count[0] += count.sum() == 1
    left, held = _alone(count), tables[np.arange(groups), rng.integers(0, inputs, groups)]
    table = attack.Table(tables[0, :2], held[left > 0], left[left > 0])
    people = list(zip(tables, count.tolist(), strict=True))
    text = f"matrices {tables.tolist()} count {count.tolist()} held {held.tolist()}"
    if rng.random() < 0.5:
        delta = _log(rng, 1e-9, 0.3)
        try:
            eps = engine.discrete_epsilon(people, delta=delta).upper
        except OutsideValidity:  # a report that nobody hides
            return Duel(0.0, 1.0, text)
        return Duel(attack.delta(table, eps), delta, f"{text} delta {delta!r}: eps {eps!r}")
    eps = _log(rng, 0.3, 8) / math.sqrt(count.sum())
    return Duel(attack.delta(table, eps), engine.discrete_delta(people, eps=eps).upper, f"{text} eps {eps!r}")


def _some_randomizer(rng, eps):
    """Rows of an eps-LDP randomizer for three inputs: staircases in cyclic shifts, mixed with a mute report."""
    k = int(rng.choice([2, 3, 4, 6, 9]))
    if k == 2:
        rows = np.array([_bits(eps, 0), _bits(eps, 1), _bits(eps, int(rng.integers(2)))])
    else:
        width = int(rng.integers(1, k))
        weight = np.where(np.arange(k) < width, math.exp(eps), 1.0)
        shifts = [0, *rng.integers(1, k, 2)]
        rows = np.array([np.roll(weight, s) for s in shifts]) / weight.sum()
    speaks = 1.0 if rng.random() < 0.5 else rng.uniform(0.1, 1)
    return np.c_[speaks * rows, np.full(3, 1 - speaks)]


def common(rng, most):
    """Some randomizer that all users share, of which the bound knows eps alone, or eps and total variation."""
    eps, number = _log(rng, 0.05, 4), max(_whole(rng, 2, most), 2)
    rows = _some_randomizer(rng, eps)
    half = (number - 1) // 2 if rng.random() < 0.3 else 0
    many = np.array([number - 1 - half, half])
    laws = rows[rng.integers(0, 3, many.size)]
    table = attack.Table(rows[:2], laws[many > 0], many[many > 0])
    tv = 0.5 * np.abs(rows[:, None] - rows[None]).sum(axis=2).max()
    people, text = (
        budgets.constant(eps, n=number),
        f"common eps {eps!r} n {number} rows {rows.tolist()} {many.tolist()}",
    )
    if rng.random() < 0.5 and 0 < tv < math.tanh(eps / 2):
        tv = min(float(tv) * (1 + 1e-12), math.tanh(eps / 2))
        mechanism, text = randomizers.TotalVariation(tv), f"{text} tv {tv!r}"
    else:
        mechanism = randomizers.Common()
    return _against(rng, table, mechanism, text, people, eps)


def leaking(rng, most):
    """Local delta: with probability delta_j the report says in clear what its sender holds."""
    eps, count = _budgets(rng, most)
    count[0] += count.sum() == 1
    leak = np.full(eps.size, _log(rng, 1e-9, 1e-2))
    if rng.random() < 0.5:
        leak = np.array([_log(rng, 1e-9, 1e-2) for _ in eps])

    def law(j, item):
        clear = np.eye(2)[item] * leak[j]
        return np.r_[(1 - leak[j]) * _bits(eps[j], item), clear]

    left = _alone(count)
    hold = rng.integers(0, 2, eps.size)
    laws = np.array([law(j, int(x)) for j, x in enumerate(hold)])
    table = attack.Table(np.array([law(0, 0), law(0, 1)]), laws[left > 0], left[left > 0])
    people = budgets.from_array(eps, delta=leak, count=count)
    text = f"leaking eps {eps.tolist()} leak {leak.tolist()} count {count.tolist()} hold {hold.tolist()}"
    at = eps[0] * min(1.0, _log(rng, 0.3, 8) / math.sqrt(people.n))
    return Duel(attack.delta(table, at), central_delta(people, eps=at).upper, f"{text} eps {at!r}")


def each_user(rng, most):
    """The bound of one user who need not be the worst."""
    eps, count = _budgets(rng, most)
    who = int(rng.integers(eps.size))
    left = count - (np.arange(eps.size) == who)
    if left.sum() == 0:
        count, left = count + 1, left + 1
    hold = np.full(eps.size, int(rng.integers(0, 2)))
    laws = np.array([_bits(e, x) for e, x in zip(eps, hold, strict=True)])
    table = attack.Table(np.array([_bits(eps[who], 0), _bits(eps[who], 1)]), laws[left > 0], left[left > 0])
    delta = _log(rng, 1e-9, 0.1)
    at = float(per_user_epsilon(budgets.from_array(eps, count=count), delta=delta).upper[who])
    text = f"user {who} eps {eps.tolist()} count {count.tolist()} hold {hold.tolist()} delta {delta!r}: eps {at!r}"
    return Duel(attack.delta(table, at), delta, text)


# --- rounds ------------------------------------------------------------------------------------------------


def _round_laws(table, points):
    """Both laws of the sum of `points` over one round's reports, in full: convolution of positive numbers."""
    crowd = np.ones(1)
    for row, m in zip(table.laws, table.count, strict=True):
        power, rest = np.bincount(points, weights=row), int(m)
        while rest:
            if rest % 2:
                crowd = np.convolve(crowd, power)
            power, rest = np.convolve(power, power) if rest > 1 else power, rest // 2
    return [np.convolve(crowd, np.bincount(points, weights=own)) for own in table.victim]


def rounds(rng, most):
    """T rounds of the same shuffled reports: the attacker adds up every round's own log likelihood ratio."""
    times = _whole(rng, 2, 1000)
    number = max(_whole(rng, 2, most), 2)
    line = rng.random() < 0.3
    delta = _log(rng, 1e-9, 0.1)
    if line:
        mechanism, scale = str(rng.choice(["laplace", "gaussian"])), _log(rng, 0.5, 30)
        table = attack.line(mechanism, scale, (0.0, 1.0), [(scale, 0.5)], [number - 1], cells=100)
        one = composition.shuffled_reports([scale], count=number, mechanism=mechanism)
        ratio = (table.victim[0] - table.victim[1]) / table.laws[0]
        points = np.rint((ratio - ratio.min()) / (np.ptp(ratio) + 1e-300) * 12).astype(np.int64)
        text = f"{times} rounds {mechanism} {scale!r} n {number}"
    else:
        eps = _log(rng, 0.05, 4)
        table = attack.Table(
            np.array([_bits(eps, 0), _bits(eps, 1)]), np.array([_bits(eps, 0)]), np.array([number - 1])
        )
        one, points = composition.shuffled(budgets.constant(eps, n=number)), np.array([0, 1])
        text = f"{times} rounds of bits eps {eps!r} n {number}"
    return _every_round(table, points, one, times, delta, text)


def rounds_of_items(rng, most):
    """The same where others hold a third item, and reports are told by their likelihood ratio."""
    times, number, delta = _whole(rng, 2, 1000), max(_whole(rng, 2, most), 2), _log(rng, 1e-9, 0.1)
    eps, kind = _log(rng, 0.05, 4), int(rng.integers(4))
    law, mechanism = (
        (_krr(5), randomizers.KRR(5)),
        (_subsets(6, 3), randomizers.SubsetSelection(6, 3)),
        (_hashes(4), randomizers.LocalHashing(8, 4)),
        (_bit_vectors("symmetric"), randomizers.UnaryEncoding(9, "symmetric")),
    )[kind]
    table = attack.Table(np.array([law(eps, 0), law(eps, 1)]), np.array([law(eps, 2)]), np.array([number - 1]))
    one = composition.shuffled(budgets.constant(eps, n=number), mechanism=mechanism)
    ratio = (table.victim[0] - table.victim[1]) / table.laws[0]
    points = np.rint((ratio - ratio.min()) / (np.ptp(ratio) + 1e-300) * 12).astype(np.int64)
    text = f"{times} rounds of {mechanism.label} eps {eps!r} n {number}"
    return _every_round(table, points, one, times, delta, text)


def _every_round(table, points, one, times, delta, text):
    p0, p1 = _round_laws(table, points)
    kept = (p0 > 1e-200) & (p1 > 1e-200)
    loss = np.where(kept, np.log(np.where(kept, p0, 1) / np.where(kept, p1, 1)), 0.0)
    unit = math.sqrt(float(p0 @ loss**2)) / 30
    score = np.clip(np.rint(loss / unit), -3000, 3000).astype(np.int64)
    at = composition.compose([(one, times)], delta=delta).upper
    if not math.isfinite(at):
        return Duel(0.0, delta, text)
    sides = [[attack.Part(score, law / law.sum(), times)] for law in (p0, p1)]
    text = f"{text} delta {delta!r}: eps {at!r}"
    return Duel(attack.sums_delta(*sides, at, threshold=at / unit), delta, text)


FAMILIES = {
    # name: (how to draw a setting, how many the full suite fights, the most users)
    "narrow Laplace report": (lambda rng, most: narrow(rng, "laplace", most), 600, 10**7),
    "narrow Gaussian report": (lambda rng, most: narrow(rng, "gaussian", most), 600, 10**7),
    "Laplace reports": (lambda rng, most: mixed(rng, "laplace", most), 400, 10**6),
    "Gaussian reports": (lambda rng, most: mixed(rng, "gaussian", most), 400, 10**6),
    "randomized response": (bits, 700, 10**6),
    "k-ary randomized response": (krr, 700, 10**6),
    "subset selection": (subset, 600, 10**6),
    "one common randomizer": (common, 500, 10**6),
    "local delta": (leaking, 400, 10**6),
    "each user": (each_user, 300, 10**6),
    "rounds": (rounds, 300, 1000),
    "unary encoding": (unary, 400, 10**6),
    "local hashing": (hashing, 400, 10**6),
    "Hadamard response": (hadamard, 400, 10**6),
    "piecewise mechanism": (piecewise, 400, 10**6),
    "matrices": (matrices, 300, 10**5),
    "rounds of items": (rounds_of_items, 100, 1000),
}


def fight(name, seed, most=None):
    """The duel of one setting."""
    draw, _, usual = FAMILIES[name]
    return draw(np.random.default_rng([list(FAMILIES).index(name), seed]), most or usual)


def main():
    """Every family, and how close its attacks came."""
    print("family | settings | broken | greatest truth/claimed | above 0.99")
    for name, (_, number, _) in FAMILIES.items():
        duels = [fight(name, seed) for seed in range(number)]
        ratios = np.array([duel.truth / duel.claimed if duel.claimed else 0.0 for duel in duels])
        broken = [duel.setting for duel in duels if duel.truth > duel.claimed]
        print(f"{name} | {number} | {len(broken)} | {ratios.max():.9f} | {int((ratios > 0.99).sum())}", flush=True)
        for setting in broken:
            print("  ", setting)


if __name__ == "__main__":
    main()
