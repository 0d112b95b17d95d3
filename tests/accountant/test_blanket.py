"""The blanket engine against enumeration, simulation, closed forms, attacks and its own finer self."""

from __future__ import annotations

import math
from functools import reduce
from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, laplace, norm

from gspa.accountant import attacks as audit
from gspa.accountant import blanket as _blanket_law
from gspa.accountant import budgets, rounds
from gspa.accountant.blanket import Envelope, Noise, Reduction, Reports
from gspa.accountant.errors import GspaError
from gspa.accountant.laplace_gaussian import Crowd, blanket_delta, blanket_epsilon, reports_pair
from gspa.accountant.random_sum import expectation_above, expectation_of_equal, positive_part
from gspa.accountant.tradeoff import gdp_delta

# Jorgensen et al.'s preference groups, as in Figure 3: (1/eps, count)
GROUPS = ([10.0, 2.0, 1.0], [5400, 3700, 900])


# --- the random sum -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "drift"),
    # The last one's is 1e-15, where an untilted Fourier sum has only noise.
    [*product([1, 50, 1000, 100_000], [0.0, 0.5, 3.0, 6.0]), (50, 0.94 * math.sqrt(50))],
)
def test_lattice_sum_against_binomial(m, drift):
    d = drift / math.sqrt(m)
    k = np.arange(m + 1)
    exact = float(binom.pmf(k, m, 0.5) @ np.maximum(2 * k - m - d * m, 0))
    found = positive_part(np.array([1 - d, -1 - d]), np.array([0.5, 0.5]), m, np.ones(1))
    assert found.lower <= exact * (1 + 1e-12)
    assert found.upper >= exact * (1 - 1e-12)
    # An atom at 0 is the worst case for the blur: 1.4% at m = 2.
    assert found.upper - found.lower <= 0.02 * exact


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 6))
def test_random_sum_against_convolution(seed, first, width):
    rng = np.random.default_rng(seed)
    points = rng.integers(-20, 21, size=rng.integers(2, 8))
    masses = rng.dirichlet(np.ones(points.size))
    weights = rng.random(width) + 1e-3
    law = np.zeros(41)
    np.add.at(law, points + 20, masses)
    exact, power = 0.0, np.ones(1)
    for m in range(1, first + width):
        power = np.convolve(power, law)
        if m >= first:
            exact += weights[m - first] * float(np.maximum(np.arange(power.size) - 20 * m, 0) @ power)
    found = positive_part(points * 0.37, masses, first, weights)
    assert found.lower <= 0.37 * exact * (1 + 1e-9)
    assert found.upper >= 0.37 * exact * (1 - 1e-9)


@pytest.mark.parametrize("m", [10**6, 10**9, 10**12, 2**53])
@pytest.mark.parametrize("z", [-2.0, 0.0, 3.0, 8.0])
def test_random_sum_of_any_number_of_copies(m, z):
    """Against the normal law, from which a symmetric lattice sum of so many differs by less than 1/m, relatively."""
    d = z / math.sqrt(m)
    exact = math.sqrt(m) * float(mpmath.npdf(z) - z * mpmath.erfc(z / mpmath.sqrt(2)) / 2)
    p = (1 + d) / 2 if z < 0 else 0.5  # a drift in the masses, or in the values
    values, masses = (np.array([1.0, -1.0]), np.array([1 - p, p])) if z < 0 else (np.array([1 - d, -1 - d]), None)
    found = positive_part(values, np.array([0.5, 0.5]) if masses is None else masses, m, np.ones(1))
    slack = (20 + z * z) / m + 2e-15 * math.sqrt(m) * (1 + abs(z))  # d itself is a double
    assert found.lower <= exact * (1 + slack)
    assert found.upper >= exact * (1 - slack)
    assert found.upper - found.lower <= 0.01 * exact


@pytest.mark.parametrize(("n", "c"), [(300, 0.4), (700, 0.2)])
@pytest.mark.parametrize("size", [4, 100])
def test_random_sum_among_equal_users_against_convolution(n, c, size):
    rng = np.random.default_rng(size)
    points, masses = rng.integers(-3, 5, size=size), rng.dirichlet(np.ones(size))
    law = np.zeros(8)
    np.add.at(law, points + 3, masses)
    drift = max(0.0, float(masses @ points) + 0.1)  # so that a positive sum is rare
    clones, exact, power = binom.pmf(np.arange(n), n - 1, c), 0.0, np.ones(1)
    for m in range(1, n + 1):
        power = np.convolve(power, law)
        exact += clones[m - 1] / m * float(np.maximum(np.arange(power.size) - (3 + drift) * m, 0) @ power)
    found = expectation_of_equal((points - drift, masses), c, n)
    assert found.lower <= exact * (1 + 1e-9)
    assert found.upper >= exact * (1 - 1e-9)
    assert found.upper - found.lower <= 0.01 * exact


def test_little_noise_is_hidden_by_a_smaller_set_than_the_gaussian_limit_prefers():
    """Where a rare report gives much away, the limit's own choice leaves both ends of the curve far apart."""
    crowd = Crowd.of([0.6], [50_000], "gaussian")
    above, below = reports_pair(crowd, delta=1e-6, times=52)
    ends = [float(law.mass @ np.maximum(-np.expm1(-law.loss), 0)) + law.missing for law in (above, below)]
    assert 0.009 < ends[1] < ends[0] < 0.0101
    _, unasked = reports_pair(Crowd.of([1.0], [50], "laplace"), delta=1e-3, times=2, both=False)
    assert (unasked.loss == 0).all()


# --- personal noise, cut into cells ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "scales"),
    [
        ("laplace", (1.0, 1.0)),
        ("laplace", (0.5, 5.0, 5.0)),
        ("laplace", (1.0, 0.3, 0.3)),
        ("gaussian", (0.5, 2.0, 2.0)),
    ],
)
def test_reports_cut_into_cells_and_enumerated(mechanism, scales):
    """Cutting is post-processing: the shuffled cells have at most the blanket's delta."""
    noise, edges = {"laplace": laplace, "gaussian": norm}[mechanism], np.r_[-np.inf, np.linspace(-1, 2, 16), np.inf]

    def shuffled(inputs):
        laws = [np.diff(noise.cdf(edges, loc=x, scale=s)) for x, s in zip(inputs, scales, strict=True)]
        joint = reduce(np.multiply.outer, laws)
        return np.mean([np.transpose(joint, order) for order in permutations(range(joint.ndim))], axis=0)

    for eps in (0.0, 0.6):
        crowds = product((0.0, 0.5, 1.0), repeat=len(scales) - 1)
        pairs = ((shuffled((0.0, *others)), shuffled((1.0, *others))) for others in crowds)
        worst = max(float(np.maximum(a - math.exp(eps) * b, 0).sum()) for two in pairs for a, b in (two, two[::-1]))
        bound = blanket_delta(scales, eps=eps, mechanism=mechanism, victim=0).upper
        assert bound / 2 < worst <= bound  # near enough for this to be a test


# --- simulation ------------------------------------------------------------------------------------------


def simulated(one, eps, draws, rng):
    """Monte Carlo of E[(1/(C+1)) (sum L_i)_+] with omega* by inversion on a grid; mean, standard error."""
    envelope, victim = one.envelope, one.victim
    y = np.linspace(0.5 - envelope.radius, 0.5 + envelope.radius, 200_001)
    log_density = envelope.log_q(np.abs(y - 0.5)) - envelope.log_total
    cdf = np.concatenate([[0], np.cumsum(0.5 * (np.exp(log_density[1:]) + np.exp(log_density[:-1])) * np.diff(y))])
    assert cdf[-1] == pytest.approx(1, abs=1e-6)
    f0, f1 = (np.exp(victim.log_density(np.abs(y - x))) for x in (0.0, 1.0))
    ratio = (f0 - math.exp(eps) * f1) / np.exp(log_density)
    clones = rng.choice(one.clones.edges[:-1], size=draws, p=one.clones.mass / one.clones.mass.sum()).astype(int)
    copies = clones + 1
    points = np.interp(rng.random(int(copies.sum())), cdf / cdf[-1], y)
    starts = np.concatenate([[0], np.cumsum(copies)[:-1]])
    sample = np.maximum(np.add.reduceat(np.interp(points, y, ratio), starts), 0) / copies
    return float(sample.mean()), float(sample.std() / math.sqrt(draws))


@pytest.mark.parametrize(
    ("mechanism", "scales", "count", "victim", "eps"),
    [
        ("laplace", [0.5, 2.0, 5.0], [5, 20, 30], 0, 0.4),
        ("gaussian", [0.8, 2.0], [20, 20], 1, 0.1),
    ],
)
def test_bracket_against_simulation(mechanism, scales, count, victim, eps):
    crowd = Crowd.of(scales, count, mechanism)
    one = min(crowd.reductions(victim, 1e-3)[0], key=lambda found: found.upper(eps))
    leak = _blanket_law.leak(one.victim, one.envelope.radius, eps)[1]
    mean, error = simulated(one, eps, 60_000, np.random.default_rng(7))
    low, high = one.lower(eps) - leak, one.upper(eps)
    assert high - low < 0.01 * high + leak
    assert low - 5 * error <= mean <= high + 5 * error
    assert error < 0.05 * mean


def test_clones_lie_under_every_input():
    for mechanism in ("laplace", "gaussian"):
        others = Reports.of(mechanism, np.array([0.5, 1.0, 4.0]), np.array([1, 1, 1]))
        envelope = Envelope(others.power, np.sort(others.kappa), np.array([0.8, 2.0]), 2.5)
        y = np.linspace(-2, 3, 5001)
        density = np.exp(envelope.log_q(np.abs(y - 0.5)) - envelope.log_total)
        assert np.sum(0.5 * (density[1:] + density[:-1])) * (y[1] - y[0]) == pytest.approx(1, abs=1e-5)
        for kappa, height, c in zip(others.kappa, others.log_height, envelope.clones(others), strict=True):
            report = Noise(others.power, float(kappa), float(height))
            for x in np.linspace(0, 1, 11):
                assert (np.exp(report.log_density(np.abs(y - x))) >= c * density * (1 - 1e-9)).all()


def test_a_finer_evaluation_stays_inside(monkeypatch):
    arguments = {"count": [5000, 1000], "eps": 0.04, "victim": 1}
    coarse = blanket_delta([5.0, 1.0], **arguments)
    monkeypatch.setattr(_blanket_law, "_CELLS", 9000)
    fine = blanket_delta([5.0, 1.0], **arguments)
    assert coarse.lower * (1 - 1e-6) <= fine.lower
    assert fine.upper <= coarse.upper * (1 + 1e-6)


def test_few_users_and_a_tiny_delta():
    """A rare large value of L decides, beside which the images of the Fourier sum are not small."""
    bound = blanket_epsilon([0.65], count=[17], delta=2e-11, mechanism="gaussian")
    assert bound.upper - bound.lower < 0.01 * bound.upper


# --- numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_attacks_stay_below(seed):
    rng = np.random.default_rng(seed)
    mechanism = rng.choice(["laplace", "gaussian"])
    scales = np.exp(rng.uniform(math.log(0.7), math.log(20), 3))
    count = rng.integers(1, 10 ** rng.integers(1, 5), 3)
    victim, delta = int(rng.integers(3)), 10 ** -rng.uniform(2, 7)
    arguments = {"count": count, "mechanism": mechanism, "victim": victim}
    found = blanket_epsilon(scales, delta=delta, **arguments)
    for others in (None, rng.random(3)):
        for statistic in audit.STATISTICS:
            attack = audit.attack_epsilon(scales, delta=delta, statistic=statistic, others=others, **arguments)
            assert attack.lower <= found.upper
    eps = float(rng.uniform(0, 1))
    attack = audit.attack_delta(scales, eps=eps, **arguments)
    assert attack.lower <= blanket_delta(scales, eps=eps, **arguments).upper


# --- whom and what the bound is for ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_the_ends_are_the_worst_inputs_of_the_least_noise(mechanism):
    """The convex order of the module's proof, integrated numerically with an envelope flatter than the victim."""
    kappa = np.array([0.3, 1.0])
    power = _blanket_law.POWER[mechanism]
    envelope = Envelope(power, kappa, np.array([1.6]), 30.0)
    victim = Noise(power, 1.2, 0.0)
    y = np.linspace(-14, 15, 58_001)
    omega = np.exp(envelope.log_q(np.abs(y - 0.5)))
    density = {x: np.exp(victim.log_density(np.abs(y - x))) for x in np.linspace(0, 1, 6)}
    for e in (1.0, 1.2, 2.0):
        for a in (-3.0, -1.0, -0.2, 0.0, 0.1, 0.5, 2.0):
            for sign in (1, -1):
                value = {
                    pair: float(np.maximum(sign * (density[pair[0]] - e * density[pair[1]]) - a * omega, 0).sum())
                    for pair in product(density, repeat=2)
                    if pair[0] < pair[1]
                }
                assert max(value.values()) <= value[0.0, 1.0] * (1 + 1e-7) + 1e-7  # kinks off the grid


@pytest.mark.parametrize(
    ("mechanism", "scales", "count"), [("laplace", [1.0, 0.3], [50, 5000]), ("gaussian", [2.0, 0.8], [50, 5000])]
)
def test_other_inputs_measured_for_a_victim_with_more_noise(mechanism, scales, count):
    """The blanket's value by a fine midpoint rule, under a density that suits this victim."""
    one = min(Crowd.of(scales, count, mechanism).reductions(0, 1e-6)[0], key=lambda found: found.upper(0.1))
    y = np.linspace(-30, 31, 40_001)
    inside = np.abs(y - 0.5) <= one.envelope.radius
    omega = np.exp(one.envelope.log_q(np.abs(y - 0.5)) - one.envelope.log_total)[inside]

    def value(*inputs):
        f0, f1 = (np.exp(one.victim.log_density(np.abs(y - x))) for x in inputs)
        gain = f0 - math.exp(0.1) * f1
        seen = float(np.maximum(gain[~inside], 0).sum()) * (y[1] - y[0])
        return expectation_above((gain[inside] / omega, omega / omega.sum()), one.clones) + seen

    ends = value(0.0, 1.0)
    assert ends == pytest.approx(one.upper(0.1), rel=1e-2)
    for inputs in [(0.0, 0.5), (0.25, 0.75), (0.9, 0.1)]:
        assert value(*inputs) <= ends


def test_the_most_precise_report_need_not_be_the_worst_off():
    """One Laplace user at eps = 1 among a million at eps = 5 is alone in the tails; they are not."""
    scales, count = [1.0, 0.2], [1, 10**6]
    precise = blanket_epsilon(scales, count=count, delta=1e-6, victim=1)
    exposed = audit.attack_epsilon(scales, count=count, delta=1e-6, victim=0)
    assert precise.upper < 0.05
    assert exposed.lower > 0.9
    assert blanket_epsilon(scales, count=count, delta=1e-6).upper >= exposed.lower


@pytest.mark.parametrize(
    ("eps", "count", "delta"),
    [((0.04632, 0.210645, 0.344049), (1531, 37, 27849), 5.5e-12), ((0.033167, 0.045037), (1458, 430), 1.4e-12)],
)
def test_no_common_law_of_one_slope_proves_much_less(eps, count, delta):
    """A few with little noise, whom the Gaussian limit does not see, must not keep the others from hiding anybody."""
    crowd = Crowd.of([1 / one for one in eps], count, "laplace", 1.0)
    for victim in range(len(eps)):
        upper = blanket_epsilon(crowd.scales, count=count, delta=delta, victim=victim).upper
        noise, others = crowd.noise(victim), crowd.reports.without(victim)
        for slope, radius in product(eps, (1.0, 10.0, 100.0, 400.0)):
            law = Envelope(1, np.array([slope]), np.zeros(0), radius)
            assert Reduction.of(noise, others, law, delta).upper(upper / 1.1) > delta


def test_budgets_and_silent_users():
    spread = budgets.from_array([0.1, 0.5, 1.0], count=GROUPS[1])
    assert blanket_epsilon(spread, delta=1e-4) == blanket_epsilon(GROUPS[0], count=GROUPS[1], delta=1e-4)
    silent = budgets.from_array([0.0, 1.0], count=[50, 100])
    assert blanket_epsilon(silent, delta=1e-4).upper == blanket_epsilon([1.0], count=100, delta=1e-4).upper
    assert blanket_epsilon(silent, delta=1e-4, victim=0).upper == 0
    assert "measured" in blanket_epsilon(GROUPS[0], count=GROUPS[1], delta=1e-4, victim=0).valid_for
    assert "measured" not in blanket_epsilon(GROUPS[0], count=GROUPS[1], delta=1e-4, victim=2).valid_for


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scales": budgets.constant(1.0, n=5, delta=1e-6), "delta": 0.1}, "blanket: needs delta_i = 0, got 1e-06"),
        ({"scales": [1.0], "delta": 0.1, "mechanism": "laplacian"}, "did you mean 'laplace'"),
        ({"scales": [], "delta": 0.1}, "scales = .*non-empty list of noise scales > 0"),
        ({"scales": [-1.0], "delta": 0.1}, r"scales\[0\] = -1"),
        ({"scales": [0.0], "delta": 0.1}, "noise scales > 0"),
        ({"scales": [1.0], "delta": 0}, r"delta = 0: must be in \(0, 1\)"),
        ({"scales": [1.0], "count": [1, 2], "delta": 0.1}, r"len\(count\) = 2"),
        ({"scales": [1.0], "count": 1.5, "delta": 0.1}, "whole numbers"),
        ({"scales": [1.0], "victim": 1, "delta": 0.1}, "victim = 1: must be an index of scales, 0 to 0"),
        ({"scales": np.linspace(1, 2, 200), "delta": 1e-9}, "that may be the worst off = [0-9]+: must be at most 64"),
        ({"scales": budgets.constant(1.0, n=5), "mechanism": "gaussian", "delta": 0.1}, "mechanism = 'gaussian'"),
    ],
)
def test_refusals(arguments, words):
    scales = arguments.pop("scales")
    with pytest.raises(GspaError, match=words):
        blanket_epsilon(scales, **arguments)


def test_what_was_measured_is_not_called_proved():
    least = blanket_epsilon([1.0, 2.0], count=[100, 100], delta=1e-3, victim=0)
    more = blanket_epsilon([1.0, 2.0], count=[100, 100], delta=1e-3)
    assert least.proved
    assert "measured" not in least.valid_for
    assert (more.proved, "measured, not proved" in more.valid_for) in ((True, False), (False, True))
    other = blanket_epsilon([1.0, 2.0], count=[100, 100], delta=1e-3, victim=1)
    assert not other.proved
    assert "measured, not proved" in other.valid_for
    several = rounds.compose([(rounds.shuffled_reports([1.0, 2.0], count=[50, 50]), 2)], delta=1e-3)
    assert several.proved is ("measured" not in several.valid_for)


def test_over_rounds_no_single_common_law_is_better_than_what_the_curve_is_made_of(monkeypatch):
    """Few users and many rounds: which (B, omega*) is the best depends on eps."""

    def composed():
        crowd = rounds.shuffled_reports([1.025], count=45, mechanism="gaussian")
        return rounds.compose([(crowd, 200)], delta=1e-5)

    together, all_laws = composed(), Crowd.reductions
    alone = []
    for k in range(0, len(all_laws(Crowd.of([1.025], 45, "gaussian"), 0, 5e-8)[0]), 3):

        def one_law(crowd, who, _, *asked, k=k, **more):
            laws, mu = all_laws(crowd, who, 5e-8, *asked, **more)
            return laws[k : k + 1], mu

        monkeypatch.setattr(Crowd, "reductions", one_law)
        alone.append(composed().upper)
    assert together.lower <= together.upper <= min(alone) * (1 + 1e-9)
    assert max(alone) > min(alone) * 1.01  # it matters which


def test_over_rounds_of_unequal_noise_the_blanket_costs_little():
    """Few with little noise among many: where a rare report gives much away, each size of delta needs other laws."""
    crowd = rounds.shuffled_reports([6.15, 3.684, 1.911], count=[20, 1672, 32])
    found = rounds.compose([(crowd, 20)], delta=5.5e-9)
    assert 0 < found.lower <= found.upper < 1.1 * found.lower


def test_a_delta_that_the_gaussian_limit_says_little_of():
    """Of a victim with much noise among others with less: the limit's delta is 1e-36."""
    scales, count = [0.7306, 1.5476, 1.8436], [35, 9262, 254]
    assert 1e-14 < blanket_delta(scales, count=count, mechanism="gaussian", victim=2, eps=0.39).upper < 1e-12


def test_a_delta_that_the_limit_says_nothing_of():
    eps = 13.14137  # the Gaussian limit's delta is far above that of a report alone
    asked = {"scales": [0.4042], "count": [49], "mechanism": "gaussian"}
    assert blanket_delta(**asked, eps=eps).upper < 0.1 * gdp_delta(eps, mu=1 / 0.4042)
    delta = blanket_delta(**asked, eps=12.0).upper  # the limit's eps is above that of a report alone
    assert blanket_epsilon(**asked, delta=delta).upper <= 12.0 * (1 + 1e-3)
