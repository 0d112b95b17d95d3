"""The checker's other methods against outside values: enumeration, convolution and quadrature of few reports."""

from __future__ import annotations

import itertools
import json
import math
import random
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import process_time
from types import ModuleType

import flint
import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from gspa import check_certificate as checker

SOURCE = Path(checker.__file__)


@pytest.fixture(autouse=True)
def _coarser(monkeypatch):
    """Fewer cells, which are valid too; and the checker sets Arb's precision, which is one for the whole process."""
    monkeypatch.setattr(checker, "CELLS", 3_000)
    before = flint.ctx.prec
    yield
    flint.ctx.prec = before


def fields(family, method, users, eps, delta, **others):
    """A certificate's fields, the statement among them."""
    found = {
        "format": checker.FORMAT,
        "statement": "",
        "family": family,
        "parameters": {},
        "users": [list(group) for group in users],
        "relation": checker.REPLACE,
        "rounds": 1,
        "eps": eps,
        "delta": delta,
        "method": method,
        "proof": {},
    } | others
    found["statement"] = checker.worded(json.dumps(found))
    return found


def bound(found, program=checker):
    """The upper end of delta(eps), by a program."""
    return float(program.delta_of(program.read(json.dumps(found))).upper())


# --- What the shuffled bits reveal, by enumeration ---


@cache
def bits(users, eps):
    """delta(eps) of randomized response at all inputs of the others, as floats of exact sums."""
    victim = max(local for local, _ in users)
    others = [local for local, count in users for _ in range(count)]
    others.remove(victim)
    truth = [1 / (1 + math.exp(-local)) for local in others]
    w, e, worst = 1 / (1 + math.exp(-victim)), math.exp(eps), 0.0
    for inputs in itertools.product((0, 1), repeat=len(others)):
        law = np.ones(1)
        for t, held in zip(truth, inputs, strict=True):
            law = np.convolve(law, [1 - t, t] if held else [t, 1 - t])
        one, zero = np.convolve(law, [1 - w, w]), np.convolve(law, [w, 1 - w])
        worst = max(worst, np.maximum(one - e * zero, 0).sum(), np.maximum(zero - e * one, 0).sum())
    return worst


BITS = [
    (((1.0, 1),), 0.5),
    (((1.0, 2),), 0.3),
    (((0.5, 7),), 0.1),
    (((3.0, 6),), 1.5),
    (((1.0, 3), (0.25, 4)), 0.4),
    (((2.0, 1), (0.0, 3), (0.7, 3)), 0.9),
    (((0.8, 4),), 0.0),
]


@pytest.mark.parametrize(("users", "eps"), BITS)
def test_the_law_of_the_bits(users, eps):
    assert bound(fields("rr", "exact law", users, eps, 1e-9)) == pytest.approx(bits(users, eps), rel=1e-12)


@cache
def bits_of_many(n, local, eps):
    """The same of n users with one budget, by convolution."""
    t, w, e, worst = 1 / (1 + math.exp(-local)), 1 / (1 + math.exp(-local)), math.exp(eps), 0.0
    for ones in range(n):
        law = np.convolve(binom.pmf(np.arange(ones + 1), ones, t), binom.pmf(np.arange(n - ones), n - 1 - ones, 1 - t))
        one, zero = np.convolve(law, [1 - w, w]), np.convolve(law, [w, 1 - w])
        worst = max(worst, np.maximum(one - e * zero, 0).sum())
    return worst


@pytest.mark.parametrize(("n", "local", "eps"), [(43, 1.0, 0.4), (130, 0.5, 0.09), (130, 3.0, 1.5)])
def test_the_law_of_the_bits_of_many(n, local, eps):
    assert bound(fields("rr", "exact law", [(local, n)], eps, 1e-9)) == pytest.approx(
        bits_of_many(n, local, eps), rel=1e-9
    )


# --- k-ary randomized response whose blankets are told, by enumeration ---


@cache
def told(users, k, eps):
    """delta(eps) where one sees the counts of all items among the victim and the S others who drew uniformly, and S."""
    victim, e = max(local for local, _ in users), math.exp(eps)
    others = [local for local, count in users for _ in range(count)]
    others.remove(victim)
    blankets = np.ones(1)
    for local in others:
        q = k / (math.exp(local) + k - 1)
        blankets = np.convolve(blankets, [1 - q, q])
    lie = 1 / (math.exp(victim) + k - 1)
    reports = [[1 - (k - 1) * lie if item == held else lie for item in range(k)] for held in (0, 1)]
    total, counts = 0.0, {(0,) * k: 1.0}
    for share in blankets:
        seen = {}
        for before, mass in counts.items():
            for item in range(k):
                after = tuple(n + (i == item) for i, n in enumerate(before))
                one, other = seen.get(after, (0.0, 0.0))
                seen[after] = (one + mass * reports[0][item], other + mass * reports[1][item])
        total += share * sum(max(one - e * other, 0) for one, other in seen.values())
        more = {}
        for before, mass in counts.items():
            for item in range(k):
                after = tuple(n + (i == item) for i, n in enumerate(before))
                more[after] = more.get(after, 0.0) + mass / k
        counts = more
    return total


ITEMS = [
    (((1.0, 5),), 3, 0.4),
    (((1.0, 1),), 4, 0.4),
    (((2.0, 6),), 4, 0.0),
    (((1.5, 2), (0.5, 3), (0.0, 1)), 3, 0.8),
    (((3.0, 12),), 3, 1.5),
]


@pytest.mark.parametrize(("users", "k", "eps"), ITEMS)
def test_k_items(users, k, eps):
    found = bound(fields("krr", "dominating pair", users, eps, 1e-9, parameters={"k": k}))
    assert found == pytest.approx(told(users, k, eps), rel=1e-12)
    subset = bound(fields("subset", "dominating pair", users, eps, 1e-9, parameters={"k": k, "size": 1}))
    assert subset == found


def test_subsets():
    """Above what all sets reveal, enumerated: two users, two of four items."""
    sets = list(itertools.combinations(range(4), 2))
    p, e = math.exp(1.0), math.exp(0.4)
    law = [np.array([p if item in one else 1.0 for one in sets]) for item in range(4)]
    law = [one / one.sum() for one in law]
    truth = 0.0
    for third in range(4):
        one, other = (np.outer(law[item], law[third]) for item in (0, 1))
        one, other = one + one.T, other + other.T
        truth = max(truth, np.maximum(one - e * other, 0).sum() / 2)
    found = bound(fields("subset", "dominating pair", [(1.0, 2)], 0.4, 1e-9, parameters={"k": 4, "size": 2}))
    alone = np.maximum(law[0] - e * law[1], 0).sum()
    assert truth < found < alone


@cache
def told_sets(users, k, size, eps):
    """The same for sets of items, by the counts of sets with one of the two inputs alone; "both" is told."""
    victim, *others = sorted((local for local, count in users for _ in range(count)), reverse=True)
    own, other, alone = (math.comb(k - 1, size - 1), math.comb(k - 1, size), math.comb(k - 2, size - 1))
    blankets = np.ones(1)
    for local in others:
        q = (own + other) / (own * math.exp(local) + other)
        blankets = np.convolve(blankets, [1 - q, q])
    p, total = math.exp(victim), 0.0
    a, coin = alone / (own * p + other), alone / (own + other)
    for s, share in enumerate(blankets):
        one, two = np.zeros((s + 2, s + 2)), np.zeros((s + 2, s + 2))
        for x, y in itertools.product(range(s + 1), repeat=2):
            if x + y <= s:
                mass = share * math.comb(s, x) * math.comb(s - x, y) * coin ** (x + y) * (1 - 2 * coin) ** (s - x - y)
                for (i, j), first, second in (((1, 0), p, 1), ((0, 1), 1, p), ((0, 0), *[(1 - 2 * coin) / coin] * 2)):
                    one[x + i, y + j] += mass * a * first
                    two[x + i, y + j] += mass * a * second
        total += np.maximum(one - math.exp(eps) * two, 0).sum()
    return total


SETS = [
    (((1.0, 2), (0.0, 3)), 8, 3, 0.4),  # neither (k-1)/(k-size) nor (k-1)/size is a binary fraction
    (((2.5, 1), (0.2, 3), (0.0, 2)), 5, 4, 0.3),
    (((0.7, 7),), 6, 5, 0.0),
    (((4.0, 3), (3.9, 3)), 9, 4, 3.95),
    (((1.0, 2), (1e-6, 2)), 1000, 999, 0.9),
]


@pytest.mark.parametrize(("users", "k", "size", "eps"), SETS)
def test_sets_of_items(users, k, size, eps):
    found = fields("subset", "dominating pair", users, eps, 1e-9, parameters={"k": k, "size": size})
    assert bound(found) == pytest.approx(told_sets(users, k, size, eps), rel=1e-7)


@pytest.mark.parametrize(
    ("family", "method", "users", "delta", "more"),
    [
        ("rr", "exact law", ((1.0, 1), (0.0, 10**9), *((0.01 * i, 1) for i in range(1, 15))), 1e-6, {}),
        ("rr", "exact law", ((1.0, 65_536),), 1e-300, {}),
        ("rr", "dominating pair", ((1e-6, 10**10),), 1e-6, {"rounds": 2}),
        ("rr", "dominating pair", ((1.0, 2 * 10**9),), 1e-300, {}),
        ("krr", "dominating pair", ((1.0, 10**10),), 1e-300, {"parameters": {"k": 3}}),
    ],
)
def test_what_would_take_hours_or_gigabytes_is_refused(family, method, users, delta, more, monkeypatch):
    monkeypatch.setattr(checker, "WORK", checker.WORK / 50)  # which is less than a second of work
    with pytest.raises(checker.Refused, match="more than a minute, or 500 MB"):
        bound(fields(family, method, users, 0.0, delta, **more))
    assert checker.spent[0] > checker.WORK or family == "rr"


def test_blocks_of_numbers_of_blankets_are_above_and_near(monkeypatch):
    """Counted with their first, where there are too many of them: no less than every one by itself."""
    users, k, eps = ITEMS[-1]
    monkeypatch.setattr(checker, "PAIRS", 30)
    found = bound(fields("krr", "dominating pair", users, eps, 1e-9, parameters={"k": k}))
    assert told(users, k, eps) * (1 + 1e-9) < found < told(((3.0, 1),), k, eps)


@pytest.mark.parametrize("relation", ["remove one record", "add one record", "replace one record"])
def test_a_coarser_lattice_is_above(relation, monkeypatch):
    """Odd places moved to their neighbours, as in sums of very many terms."""
    monkeypatch.setattr(checker, "PLACES", 300)
    truth = in_the_plane(relation, 1.5, 0.0)
    assert truth < dealt(1.5, 2, relation, 0.0) < truth * 1.2


# --- Several rounds, by convolution of the pair's own losses ---


@cache
def rounds_of(n, local, eps, times):
    """delta(eps) of the pair of n users, composed exactly: all outcomes of all rounds."""
    p, q = math.exp(local), 2 / (math.exp(local) + 1)
    one, other = [], []
    for c in range(n):
        b = np.r_[0.0, binom.pmf(np.arange(c + 1), c, 0.5), 0.0]
        share = binom.pmf(c, n - 1, q) / (p + 1)
        one += list(share * (p * b[:-1] + b[1:]))
        other += list(share * (b[:-1] + p * b[1:]))
    P, Q = np.ones(1), np.ones(1)
    for _ in range(times):
        P, Q = np.outer(P, one).ravel(), np.outer(Q, other).ravel()
    return float(np.maximum(P - math.exp(eps) * Q, 0).sum())


@pytest.mark.parametrize(
    ("n", "local", "eps", "times"), [(3, 0.5, 0.4, 3), (5, 1.0, 0.8, 3), (10, 0.3, 0.1, 2), (2, 2.0, 3.0, 4)]
)
def test_rounds(n, local, eps, times):
    truth = rounds_of(n, local, eps, times)
    found = bound(fields("aligned", "dominating pair", [(local, n)], eps, truth, rounds=times))
    assert truth * (1 - 1e-12) <= found <= truth * 1.002


@pytest.mark.parametrize(
    ("local", "eps", "times"),
    [
        ("0.3", "0.599999999999999995", 2),  # the double next to 0.3 is below it
        ("0.100000000000000000000000000004", "0.2", 2),  # twice the one is the other, to 28 digits
        ("0.100000000000000000000000000004", "0.1000000000000000000000000000", 1),
    ],
)
def test_eps_just_below_the_largest_loss(local, eps, times):
    """One user: both reports are the truth with probability (p/(p+1))^2, and then the loss is a little above eps."""
    with mpmath.workdps(60):
        most = times * mpmath.mpf(local)
        truth = (1 / (1 + mpmath.exp(-mpmath.mpf(local)))) ** times * -mpmath.expm1(mpmath.mpf(eps) - most)
    found = fields("aligned", "dominating pair", [("LOCAL", 1)], "EPS", 0.5, rounds=times)
    text = json.dumps(found)
    for name, digits in (("LOCAL", local), ("EPS", eps)):
        text = text.replace(f'"{name}"', digits).replace(name, digits)
    high = checker.delta_of(checker.read(text)).upper()
    assert 0 < truth * (1 - 1e-9) < float(high) < 1e-6


def test_two_rounds_of_many_are_between():
    """Above one round at the same eps, and below two of them each at half of it."""
    half, whole, twice = (
        bound(fields("aligned", "dominating pair", [(0.5, 2_000)], eps, 1e-6, rounds=times))
        for eps, times in ((0.04, 1), (0.08, 1), (0.08, 2))
    )
    assert whole < twice < 2 * half


# --- Reports on a line ---

UNIFORM = {"radius": 0.5, "slopes": [0.0], "breaks": []}


def line(family, users, eps, covers, delta=1e-6):
    """The bound with these covers."""
    return bound(fields(family, "privacy blanket", users, eps, delta, proof={"covers": covers}))


@pytest.mark.parametrize(("family", "scale", "local"), [("laplace", 1.0, None), ("gaussian", 1.5, 2 / 3)])
@pytest.mark.parametrize("eps", [0.0, 0.3, 0.9])
def test_one_report_alone(family, scale, local, eps):
    if family == "laplace":
        truth = 1 - math.exp((eps - scale) / 2)
    else:
        truth = norm.cdf(local / 2 - eps / local) - math.exp(eps) * norm.cdf(-local / 2 - eps / local)
    assert line(family, [(scale, 1)], eps, [None]) == pytest.approx(truth, rel=1e-12)
    # With a cover, and nobody who could be a draw from it, it is the same but for the lattice.
    cover = {"radius": 12.0, "slopes": [0.0], "breaks": []}
    assert line(family, [(scale, 1)], eps, [cover]) == pytest.approx(truth, rel=2e-3)
    assert line(family, [(scale, 1)], eps, [cover]) >= truth * (1 - 1e-12)


@cache
def blanket_of_two(family, scale, eps):
    """The blanket's delta of two users with the uniform cover of [0, 1], by quadrature; what leaves [0, 1] counts."""
    e = math.exp(eps)

    def density(t):
        if family == "laplace":
            return 0.5 * scale * math.exp(-scale * abs(t))
        return math.exp(-(t**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))

    outside = quad(lambda y: max(density(y) - e * density(y - 1), 0), -40 * max(scale, 1), 0, limit=400)[0]
    c = density(1.0)  # the least density on [0, 1], whatever the input
    y = (np.arange(4_000) + 0.5) / 4_000
    L = np.array([density(t) - e * density(t - 1) for t in y])
    alone = np.maximum(L, 0).mean()
    ordered = np.sort(L)
    total = np.r_[np.cumsum(ordered[::-1])[::-1], 0.0]
    at = np.searchsorted(ordered, -L)
    both = np.mean((total[at] + (len(L) - at) * L) / len(L)) / 2
    return outside + (1 - c) * alone + c * both


@pytest.mark.parametrize(
    ("family", "scale"), [("laplace", 1.0), ("laplace", 0.5), ("gaussian", 1.0), ("gaussian", 2.0)]
)
@pytest.mark.parametrize("eps", [0.0, 0.2])
def test_two_reports(family, scale, eps):
    found, truth = line(family, [(scale, 2)], eps, [UNIFORM]), blanket_of_two(family, scale, eps)
    assert truth * (1 - 1e-5) <= found <= truth * 1.003


@cache
def blanket_of_many(family, users, i, cover, eps):
    """The blanket's delta of a user, by the masses of L on a fine lattice, and least densities on a grid."""
    radius, slopes, breaks = cover
    e, power, scale = math.exp(eps), 1 if family == "laplace" else 2, users[i][0]

    def density(scale, t):
        if family == "laplace":
            return 0.5 * scale * np.exp(-scale * abs(t))
        return norm.pdf(t, scale=scale)

    edges = np.linspace(0.5 - radius, 0.5 + radius, 40_001)
    y, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    u = (abs(y - 0.5) + 0.5) ** power
    corners = [0.5**power, *breaks, (radius + 0.5) ** power]
    log = sum(-slope * np.clip(u - a, 0, b - a) for slope, a, b in zip(slopes, corners, corners[1:], strict=False))
    cover = np.exp(log) / (np.exp(log).sum() * width)
    clones = np.ones(1)
    for k, (other, count) in enumerate(users):
        if other <= scale if family == "laplace" else other >= scale:
            c = min((density(other, y - x) / cover).min() for x in (0, 0.3, 0.5, 1))
            for _ in range(count - (k == i)):
                clones = np.convolve(clones, [1 - c, c])
    L = (density(scale, y) - e * density(scale, y - 1)) / cover
    step = math.sqrt(np.mean(L**2)) / 100
    low = np.floor(L / step).astype(int)
    up = L / step - low
    law = np.zeros(low.max() - low.min() + 2)
    np.add.at(law, low - low.min(), cover * width * (1 - up))
    np.add.at(law, low - low.min() + 1, cover * width * up)
    t = np.linspace(0.5 - radius - 30, 0.5 - radius, 200_001)
    total = np.maximum(density(scale, t) - e * density(scale, t - 1), 0).sum() * (t[1] - t[0])
    sums = np.ones(1)
    for c, mass in enumerate(clones):
        sums = np.convolve(sums, law)
        values = (np.arange(len(sums)) + low.min() * (c + 1)) * step
        total += mass * (sums @ np.maximum(values, 0)) / (c + 1)
    return total


@pytest.mark.parametrize(
    ("family", "users", "i", "cover", "eps"),
    [
        ("laplace", ((1.0, 4), (0.5, 3)), 0, (3.0, (0.2, 0.8), (1.5,)), 0.3),  # a cell of it has 1 in its middle
        ("laplace", ((1.0, 4), (0.5, 3)), 1, (2.0, (0.0, 0.4), (1.0,)), 0.1),
        ("gaussian", ((0.7, 3), (0.9, 4), (0.5, 2)), 0, (1.5, (0.3, 0.9), (1.0,)), 0.8),
    ],
)
def test_several_slopes_and_budgets(family, users, i, cover, eps):
    radius, slopes, breaks = cover
    covers = [None] * len(users)
    covers[i] = {"radius": radius, "slopes": list(slopes), "breaks": list(breaks)}
    read = checker.read(json.dumps(fields(family, "privacy blanket", users, eps, 1e-6, proof={"covers": covers})))
    flint.ctx.prec = 300
    noises = [checker.Noise.of(family, checker.ball(scale)) for scale, _ in read["users"]]
    more = [scale <= users[i][0] if family == "laplace" else scale >= users[i][0] for scale, _ in users]
    others = [(noises[k], n - (k == i)) for k, (_, n) in enumerate(users) if more[k]]
    found = checker.covered_delta(
        checker.cover_of(noises[i], read["proof"]["covers"][i]),
        noises[i],
        others,
        checker.ball(eps),
        checker.Decimal("1e-6"),
    )
    truth = blanket_of_many(family, users, i, cover, eps)
    assert truth * (1 - 1e-4) <= float(found.upper()) <= truth * 1.003


def test_users_with_less_noise_hide_nobody_with_more():
    """To the user with more noise the other's report might as well not be there."""
    together = line("laplace", [(1.0, 5), (0.5, 1)], 0.2, [None, UNIFORM])
    alone = line("laplace", [(0.5, 1)], 0.2, [UNIFORM])
    assert together >= max(line("laplace", [(1.0, 5)], 0.2, [None]), alone * (1 - 1e-9))
    cover = {"radius": 8.0, "slopes": [1.0], "breaks": []}
    hidden = {"radius": 8.0, "slopes": [0.5], "breaks": []}
    assert line("laplace", [(1.0, 5)], 0.2, [cover]) < line("laplace", [(1.0, 1)], 0.2, [cover]) * 0.9
    few, many = (line("laplace", [(1.0, 1), (0.5, n)], 0.2, [cover, hidden]) for n in (1, 200))
    assert many < few


@pytest.mark.parametrize(
    ("cover", "words"),
    [
        ({"radius": 8.0, "slopes": [1.1], "breaks": []}, "steeper"),
        ({"radius": 8.0, "slopes": [0.5, 0.2], "breaks": [2.0]}, "smaller than the one before"),
        ({"radius": 8.0, "slopes": [0.1, 0.2], "breaks": [20.0]}, "outside of the radius"),
        ({"radius": 0.4, "slopes": [0.1], "breaks": []}, "radius"),
        ({"radius": 8.0, "slopes": [0.1], "breaks": [1.0]}, "a break between any two"),
        ({"radius": 8.0, "slopes": [], "breaks": []}, "1 to"),
        ({"radius": 8.0, "slopes": [float("nan")], "breaks": []}, "no number"),
        ({"radius": 8.0, "slopes": [-0.1], "breaks": []}, "slope"),
        (5, "a cover"),
    ],
)
def test_covers_that_are_none(cover, words):
    with pytest.raises(checker.Refused, match=words):
        line("laplace", [(1.0, 5)], 0.2, [cover])


@pytest.mark.slow
def test_numbers_that_are_all_unlikely_do_not_take_minutes():
    """Most numbers of draws that are summed over have a probability far below every double."""
    start = process_time()
    cover = {"radius": 1e6, "slopes": [0.0], "breaks": []}
    assert line("laplace", [(0.001, 10**10)], 0.0, [cover]) >= math.tanh(0.001 / 4) / 1e5  # nearly nothing is said
    assert process_time() - start < 30


# --- Random allocation ---


def dealt(sigma, steps, relation, eps, delta=1e-6):
    """The bound of a training run."""
    parameters = {"sigma": sigma, "steps": steps}
    return bound(fields("allocation", "random allocation", [], eps, delta, parameters=parameters, relation=relation))


@pytest.mark.parametrize(
    ("relation", "mu"), [("remove one record", 1), ("add one record", 1), ("replace one record", 2)]
)
@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_one_step_is_the_gaussian_mechanism(relation, mu, eps):
    mu = mu / 1.25
    truth = norm.cdf(mu / 2 - eps / mu) - math.exp(eps) * norm.cdf(-mu / 2 - eps / mu)
    assert truth * (1 - 1e-9) <= dealt(1.25, 1, relation, eps) <= truth * 1.002


@cache
def in_the_plane(relation, sigma, eps):
    """delta(eps) of two steps: half the mean of the positive part of L_1 + L_2, by the trapezoidal rule."""
    z, e, a = np.linspace(-11, 15, 5_201), math.exp(eps), 1 / sigma
    mass = norm.pdf(z) * (z[1] - z[0])
    X, Y = np.exp(a * z - a * a / 2), np.exp(-a * z - a * a / 2)
    L = {"remove one record": X - e, "add one record": 1 - e * X, "replace one record": X - e * Y}[relation]
    # Sorted by L, the points whose L is above -L_1 are a tail, whose mass and part of the mean are kept sums.
    order = np.argsort(L)
    L, mass = L[order], mass[order]
    tails = np.append(np.cumsum(np.array([mass, mass * L])[:, ::-1], axis=1)[:, ::-1], np.zeros((2, 1)), axis=1)
    there, part = tails[:, np.searchsorted(L, -L)]
    return float(mass @ (L * there + part)) / 2


@pytest.mark.parametrize("relation", ["remove one record", "add one record", "replace one record"])
@pytest.mark.parametrize(("sigma", "eps"), [(1.0, 0.5), (1.5, 0.0), (1.2, 2.0)])
def test_two_steps(relation, sigma, eps):
    truth = in_the_plane(relation, sigma, eps)
    # Where a record is added L is below 1, which at eps = 2 is but a few places of the lattice.
    most = 1.1 if relation == "add one record" else 1.003
    assert truth * (1 - 1e-6) <= dealt(sigma, 2, relation, eps) <= truth * most


def test_both_directions_are_the_larger_one():
    one, other = (dealt(2.0, 20, f"{way} one record", 0.1) for way in ("remove", "add"))
    assert dealt(2.0, 20, "add or remove one record", 0.1) == max(one, other)
    assert other < one


# --- Planted errors ---

PLANTED = {
    "the lattice below": [("low * mass) / (high - low)", "low * mass) / (high - low) * 0.9")],
    "the top not counted": [
        ("lost = self.lost + sum(masses[high:], arb(0))", "lost = arb(0)"),
        ("FORGONE * delta / (", "0.01 / ("),
        ("BITS, FORGONE, FAR = 64, 1e-5, 40", "BITS, FORGONE, FAR = 64, 100, 40"),
    ],
    "the bottom not moved": [
        ("kept = [sum(masses[: low + 1], arb(0)), ", "kept = [arb(0), "),
        (
            "(below := below + float(masses[low].abs_upper())) <= spare",
            "(below := below + float(masses[low].abs_upper())) <= 0.6",
        ),
    ],
    "a power too few": [("return twice.plus(self, spare) if many % 2 else twice", "return twice")],
    "places below 0 subtracted": [("skip = max(-self.first, 0)", "skip = 0")],
    "what is beyond the cut": [
        ("+ rest", "+ 0 * rest"),
        ("above(arb(high)) < FORGONE * delta", "above(arb(high)) < 0.05"),
    ],
    "the second law forgotten": [
        (
            "means = [below(x - u) - e * below(x - v) for x in z]",
            "means = [below(x - u) - e * e * below(x - v) for x in z]",
        )
    ],
    "the shift halved": [('1 / ball(found["parameters"]["sigma"])', '0.5 / ball(found["parameters"]["sigma"])')],
    "one direction alone": [('"replace one record": ((1, -1),)', '"replace one record": ((1, 0),)')],
    "a report outside is forgotten": [("return outside(cover, victim, e, eps) + missing", "return missing")],
    "more draws than there are": [("(least.exp() * total).min(arb(1))", "(least.exp() * total * 1.3).min(arb(1))")],
    "the mean over one more": [("(first + 1) / (first + k + 1) for k", "(first + 1) / (first + k + 2) for k")],
    "a block too few": [("if start + many < len(shares)", "if False")],
    "copies without their share": [("masses + share * more", "masses + share * share * more")],
    "the densities exchanged": [("yield mass, got[0] - e * got[1]", "yield mass, got[0] - e * e * got[1]")],
    "alone at twice the noise": [("((eps - self.kappa) / 2).exp()", "((eps - self.kappa / 2) / 2).exp()")],
    "one round less": [(".times(rounds, ", ".times(rounds - 1, ")],
    "the infinite loss forgotten": [
        ("    total = sums.lost\n", "    total = arb(0)\n"),
        ("if once(arb(middle).exp()) < FORGONE * delta / rounds", "if once(arb(middle).exp()) < delta"),
    ],
    "masses of the other law": [("arb_poly([x[k] * (slopes", "arb_poly([(slopes")],
    "losses rounded down": [("loss = (sums.first + k) * step", "loss = (sums.first + k - 3) * step")],
    "one input alone": [
        ("for first in choices[-1][:: BLOCK + 1]:", "for first in [0]:"),
        ("free = min(BLOCK, choices[-1][-1] - first)", "free = 0"),
    ],
    "the peak missed": [
        ("need(bool(rises and falls)", "need(True"),
        ("for k in range(high, low - 1, -1):", "for k in range(low, low - 1, -1):"),
    ],
    "nobody hides a victim who is neither": [("(e - 1) * (s - c)) / scale", "(e - 1) * 0) / scale")],
    "hidden twice": [("(p - e) * (c + 1) - (e - 1) * (s - c)", "(p - e) * (c + 1) - 2 * (e - 1) * (s - c)")],
    "too many blankets": [("k / (size * ball(eps)", "1.2 * k / (size * ball(eps)")],
    "a coin too large": [("coin, a = 2 / (own + other)", "coin, a = 2.2 / (own + other)")],
    "the victim a blanket": [("others = [(n - (i == worst), k", "others = [(n, k")],
    "the tail twice": [("(N - D) * more", "2 * (N - D) * more")],
    "the victim counted among the others": [("groups = [(count - (i == worst), 1 / (", "groups = [(count, 1 / (")],
}
CASES = [
    *(("bits", users, eps) for users, eps in BITS),
    ("many", 43, 1.0, 0.4),
    *(("items", users, k, eps) for users, k, eps in ITEMS[:4]),
    *(("rounds", 3, 0.5, 0.4, 3), ("rounds", 5, 1.0, 0.8, 3)),
    *(("two", "laplace", 1.0, 0.2), ("two", "gaussian", 1.0, 0.0), ("alone", 1.0, 0.3)),
    *(("plane", relation, 1.0, 0.5) for relation in ("remove one record", "add one record", "replace one record")),
]


def case(kind, *at):
    """An outside value, and the certificate that it is for."""
    if kind == "bits":
        return bits(*at), fields("rr", "exact law", *at, 1e-9)
    if kind == "items":
        users, k, eps = at
        return told(*at), fields("krr", "dominating pair", users, eps, 1e-9, parameters={"k": k})
    if kind == "many":
        return bits_of_many(*at), fields("rr", "exact law", [(at[1], at[0])], at[2], 1e-9)
    if kind == "rounds":
        n, local, eps, times = at
        truth = rounds_of(*at)
        return truth, fields("aligned", "dominating pair", [(local, n)], eps, truth, rounds=times)
    if kind == "two":
        family, scale, eps = at
        proof = {"covers": [UNIFORM]}
        return blanket_of_two(*at), fields(family, "privacy blanket", [(scale, 2)], eps, 1e-6, proof=proof)
    if kind == "alone":
        scale, eps = at
        truth = 1 - math.exp((eps - scale) / 2)
        return truth, fields("laplace", "privacy blanket", [(scale, 1)], eps, 1e-6, proof={"covers": [None]})
    relation, sigma, eps = at
    parameters = {"sigma": sigma, "steps": 2}
    return in_the_plane(*at), fields(
        "allocation", "random allocation", [], eps, 1e-6, parameters=parameters, relation=relation
    )


@pytest.mark.parametrize("changes", PLANTED.values(), ids=PLANTED)
def test_planted_errors_are_seen(changes):
    """With one piece of the program wrong, some bound lies below the outside value."""
    source = SOURCE.read_text(encoding="utf-8").replace("PER_DEVIATION = 20_000", "PER_DEVIATION = 3_000")
    for old, new in changes:
        assert source.count(old) >= 1, f"{old!r} is no longer in the program"
        source = source.replace(old, new)
    program = ModuleType("planted")
    exec(compile(source, "planted", "exec"), program.__dict__)
    for one in CASES:
        truth, asked = case(*one)
        try:
            found = bound(asked, program)
        except (program.Refused, ZeroDivisionError):
            continue
        if not found >= truth * (1 - 1e-5):
            return
    pytest.fail("no value is too small")


# --- Altered files ---

HONEST = [
    case("bits", ((1.0, 3), (0.25, 4)), 0.4),
    case("items", ((1.0, 5),), 3, 0.4),
    case("rounds", 5, 1.0, 0.8, 3),
    case("two", "laplace", 1.0, 0.2),
    case("plane", "replace one record", 1.0, 0.5),
]


@pytest.mark.parametrize(("truth", "asked"), HONEST, ids=["bits", "items", "rounds", "line", "allocation"])
def test_proved_above_the_truth_and_not_below(truth, asked, tmp_path, capsys):
    path = tmp_path / "cert.json"
    for share, status in ((1.01, 0), (0.995, 1)):
        found = asked | {"delta": truth * share}
        found["statement"] = checker.worded(json.dumps(found))
        path.write_text(json.dumps(found), encoding="utf-8")
        assert checker.main([str(path)]) == status
        assert capsys.readouterr().out.splitlines()[-1] == ("NOT PROVED" if status else "PROVED")
    path.write_text(json.dumps(found | {"statement": found["statement"] + " "}), encoding="utf-8")
    assert checker.main([str(path)]) == 2


ODD = [None, True, [], {}, "0.5", -1, 0, 0.5, 1.5, 10**13, [[1, 2]], float("nan"), float("inf"), [None], "exact law"]


@pytest.mark.parametrize(("truth", "asked"), HONEST, ids=["bits", "items", "rounds", "line", "allocation"])
def test_odd_fields_are_refused_in_a_line_or_mean_what_they_say(truth, asked, tmp_path, capsys):
    """Whatever is put in the place of a field or a part of one: no traceback, and nothing is proved that is not so."""
    rng, path = random.Random(7), tmp_path / "cert.json"
    asked = asked | {"delta": truth * 1.01}
    for _ in range(60):
        found = json.loads(json.dumps(asked))
        name = rng.choice([name for name in found if name not in ("statement", "eps", "delta")])
        inner = rng.random() < 0.5 and isinstance(found[name], dict | list) and found[name]
        if inner:
            key = rng.choice(list(found[name]) if isinstance(found[name], dict) else range(len(found[name])))
            found[name][key] = rng.choice(ODD)
        else:
            found[name] = rng.choice(ODD)
        with suppress(checker.Refused, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            found["statement"] = checker.worded(json.dumps(found))
        path.write_text(json.dumps(found), encoding="utf-8")
        status = checker.main([str(path)])
        out, err = capsys.readouterr()
        assert status in (0, 1, 2)
        if status == 2:
            assert (out, err.count("\n"), err[:9]) == ("", 1, "REFUSED: ")
        elif status == 0:  # only what is the same, or easier
            assert found["rounds"] <= asked["rounds"]
            assert found["family"] == asked["family"]
            assert found["parameters"].get("sigma", 1.0) >= asked["parameters"].get("sigma", 1.0)
            assert found["relation"] == asked["relation"] or found["relation"] in checker.CONTRIBUTIONS
