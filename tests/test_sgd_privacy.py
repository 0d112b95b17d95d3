"""What Algorithm 3 protects: closed forms against mpmath, integrals and simulation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from gspa import audit, sgd_privacy
from gspa.errors import InvalidValue
from gspa.message_attack import message_attack_epsilon
from gspa.sgd import gaussian_sigma
from gspa.tradeoff import gdp_epsilon

DELTA = 1e-5


def gaussian_delta(eps, mu):
    """Fact 3 in 60 digits and more."""
    with mpmath.workdps(60 + int(mu * mu / 2)):
        e, m = mpmath.mpf(eps), mpmath.mpf(mu)
        return float(mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2))


@pytest.mark.parametrize(("eps", "divisor"), [(0.01, 100), (0.5, 100), (2.0, 100), (0.5, 600), (0.01, 600)])
def test_the_true_local_budget_is_that_of_a_movement_of_2c_over_line_7s_noise(eps, divisor):
    sigma = float(gaussian_sigma(eps, clip=2.0, divisor=divisor, delta=DELTA))
    mu = sgd_privacy.release_mu(eps, delta=DELTA, divisor=divisor)
    assert mu == pytest.approx(4.0 / sigma, rel=1e-12)
    found = sgd_privacy.release_epsilon(eps, delta=DELTA, divisor=divisor)
    assert found > eps
    assert gaussian_delta(found, mu) <= DELTA
    assert gaussian_delta(found * (1 - 1e-9), mu) > DELTA


def test_even_the_largest_mu_of_the_page_is_right():
    """mu = 248 lies outside the range for which `gdp_log_delta` states its error: e^eps has 13,780 digits."""
    mu = sgd_privacy.release_mu(2.0, delta=DELTA, divisor=600)
    found = sgd_privacy.release_epsilon(2.0, delta=DELTA, divisor=600)
    # The second term is e^eps Phi(-eps/mu - mu/2) <= phi(eps/mu - mu/2)/(eps/mu + mu/2), 4% of the first.
    a, b = found / mu - mu / 2, found / mu + mu / 2
    first, mills = norm.sf(a), norm.pdf(a) / b
    assert first - mills <= DELTA <= first - mills * (1 - 1 / b**2) + 1e-15


@given(st.floats(0.01, 2), st.integers(1, 600), st.integers(1, 600), st.integers(1, 100))
@settings(max_examples=30, deadline=None)
def test_records_and_epochs_scale_mu(eps, divisor, records, epochs):
    one = sgd_privacy.release_mu(eps, delta=DELTA, divisor=1)
    many = sgd_privacy.release_mu(eps, delta=DELTA, divisor=divisor, records=records, epochs=epochs)
    assert many == pytest.approx(one * divisor / records * math.sqrt(epochs), rel=1e-12)


def test_the_repair_keeps_the_promise_over_all_epochs_in_table_3():
    table = sgd_privacy.local_table(np.geomspace(0.01, 2, 9), delta=DELTA, clients=100, samples=600, epochs=50)
    assert (table["repaired_run"] < table["eps"]).all()
    assert (table["formula"] < table["eps"]).all()
    assert (table["clients"] > 70 * table["eps"]).all()
    assert (table["samples"] > table["clients"]).all()
    # With m = the records the epochs together break it, while one message keeps it.
    by_samples = sgd_privacy.local_table([0.5], delta=DELTA, clients=100, samples=600, epochs=50, divisor=600).iloc[0]
    assert by_samples["repaired"] == pytest.approx(by_samples["formula"])
    assert by_samples["repaired_run"] > 0.5


@pytest.mark.parametrize("ratio", [0.01, 0.5, 5.2])
@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
def test_blanket_mass_is_the_integral_of_the_farthest_density(dimension, ratio):
    """By radius, with the density itself: sphere area times r^(d-1) times the Gaussian at distance r + C."""
    area = 2 * math.pi ** (dimension / 2) / math.gamma(dimension / 2)
    mass, _ = quad(
        lambda r: area * r ** (dimension - 1) * math.exp(-((r + ratio) ** 2) / 2) / (2 * math.pi) ** (dimension / 2),
        0,
        30,
        epsabs=0,
        epsrel=1e-11,
        points=[1.0, 5.0],
    )
    assert sgd_privacy.log10_blanket_mass(dimension, ratio) == pytest.approx(math.log10(mass), abs=1e-8)


@pytest.mark.parametrize("ratio", [0.05, 5.0])
def test_blanket_mass_in_thousands_of_dimensions(ratio):
    """E[e^{-aR}] through the parabolic cylinder function."""
    with mpmath.workdps(40):
        d, a = 7110, mpmath.mpf(ratio)
        log = mpmath.log(mpmath.pcfd(-d, a)) + mpmath.loggamma(d) - mpmath.loggamma(mpmath.mpf(d) / 2)
        expected = (log + (1 - mpmath.mpf(d) / 2) * mpmath.log(2) - a * a / 4) / mpmath.log(10)
    assert sgd_privacy.log10_blanket_mass(7110, ratio) == pytest.approx(float(expected), abs=1e-7)


def test_the_blanket_thins_with_dimension_and_with_less_noise():
    by_dimension = [sgd_privacy.log10_blanket_mass(d, 1.0) for d in (1, 2, 5, 50, 5000)]
    assert by_dimension == sorted(by_dimension, reverse=True)
    by_ratio = [sgd_privacy.log10_blanket_mass(100, a) for a in (0.01, 0.1, 1.0, 10.0)]
    assert by_ratio == sorted(by_ratio, reverse=True)


def exact_delta(eps, high, low, sigma, other, sigma_other):
    """The hockey stick of two shuffled messages on a line, by integration over the plane."""
    y = np.linspace(-9, 9, 1201)
    step = y[1] - y[0]
    others = norm.pdf(y, other, sigma_other)

    def pair(mean):
        victim = norm.pdf(y, mean, sigma)
        return 0.5 * (victim[:, None] * others[None, :] + others[:, None] * victim[None, :])

    return float(np.maximum(pair(high) - math.exp(eps) * pair(low), 0).sum() * step**2)


@pytest.mark.parametrize("other", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("sigma_other", [0.5, 1.0, 2.0])
def test_an_attack_never_shows_more_than_the_truth(other, sigma_other):
    delta = 0.01
    shown = message_attack_epsilon(
        delta=delta, high=1.0, low=-1.0, sigma=0.8, others=[other], sigma_others=[sigma_other]
    )
    assert shown > 0.3
    # Integration errs by far less than 1e-4 here.
    assert exact_delta(shown, 1.0, -1.0, 0.8, other, sigma_other) >= delta - 1e-4


@given(
    st.floats(0.05, 3),
    st.floats(0.1, 4),
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0.1, 5)), max_size=5),
    st.integers(1, 5000),
)
@settings(max_examples=25, deadline=None)
def test_an_attack_never_shows_more_than_the_message_alone_allows(gap, sigma, others, dimension):
    shown = message_attack_epsilon(
        delta=1e-4,
        high=gap,
        low=0.0,
        sigma=sigma,
        others=[o for o, _ in others],
        sigma_others=[s for _, s in others],
        dimension=dimension,
    )
    assert shown <= gdp_epsilon(delta=1e-4, mu=gap / sigma) * (1 + 1e-9) + 1e-12


def test_the_attacks_probabilities_by_simulation():
    """In 30 dimensions, one wider message in the way: delta at the shown eps, by the attack's own statistic."""
    rng = np.random.default_rng(5)
    delta, sigma, wide, d, runs = 0.05, 0.5, 1.5, 30, 40_000
    asked = {"delta": delta, "high": 1.0, "low": 0.0, "sigma": sigma, "others": [0.0], "sigma_others": [wide]}
    flat, shown = (message_attack_epsilon(**asked, dimension=k) for k in (1, d))
    assert shown > flat + 0.5  # the length tells the two apart

    def rate(mean, t, longest):
        along = np.column_stack([rng.normal(mean, sigma, runs), rng.normal(0, wide, runs)])
        across = np.column_stack([sigma**2 * rng.chisquare(d - 1, runs), wide**2 * rng.chisquare(d - 1, runs)])
        return ((along > t) & (across <= longest * sigma**2)).any(1).mean()

    # Some threshold and length near the best must reach delta up to simulation error.
    found = max(
        rate(1.0, t, longest) - math.exp(shown - 0.1) * rate(0.0, t, longest)
        for t in (0.7, 1.0, 1.3, 1.6)
        for longest in (39.1, 49.6)
    )
    assert found > delta - 3 * math.exp(shown) * math.sqrt(0.02 / runs)


def test_the_attack_agrees_with_the_window_attack_on_a_line():
    """Messages on [0, 1], the others at the lower end; neither attack is the best, both lie under the truth."""
    sigma = sgd_privacy.release_mu(0.02, delta=DELTA, divisor=100) ** -1
    window = audit.attack_epsilon(
        [sigma], count=[20], delta=DELTA, mechanism="gaussian", others=0.0, inputs=(0.0, 1.0), statistic="window"
    ).lower
    own = message_attack_epsilon(delta=DELTA, high=1.0, low=0.0, sigma=sigma, others=[0.0] * 19, sigma_others=sigma)
    assert own == pytest.approx(window, rel=0.35)


@pytest.fixture(scope="module")
def tables():
    asked = {"epochs": (1, 50), "clients": 100, "samples": 600, "delta": DELTA, "dimension": 7110}
    return {m: sgd_privacy.theorem5_table(divisor=m, **asked) for m in (100, 600)}


def test_every_setting_of_figure_4_breaks_theorem_5(tables):
    for table in tables.values():
        assert len(table) == 10
        assert (table["attacked"] > 10 * table["promised"]).all()
        assert (table["attacked"] <= table["local"]).all()
        # The 99 others with the victim's noise cost the attack log 100 at most.
        assert (table["attacked"] >= table["local"] - math.log(100) - 0.1)[table["setting"] == "0.5"].all()


def test_shuffling_adds_nothing_to_a_budget_for_one_record(tables):
    for table in tables.values():
        assert (table["repaired_attacked"] <= table["repaired"] * (1 + 1e-9)).all()
        np.testing.assert_allclose(table["repaired_attacked"], table["repaired"], rtol=1e-3)
    assert (tables[100]["repaired"] < tables[100]["promised"]).all()
    worst = tables[600].set_index(["setting", "T"]).loc[("U(0.01, 2)", 50)]
    assert worst["repaired_attacked"] > 1.5 * worst["promised"]


def test_theorem_5s_number_by_hand():
    # 99 clients of r = (1 - 1e-5)/(1 + e^0.5); 50 rounds.
    mu = math.sqrt(50 * 2 / (99 * (1 - 1e-5) / (1 + math.exp(0.5))))
    found = sgd_privacy.theorem5_epsilon(0.5, n=100, epochs=50, delta=DELTA)
    assert gaussian_delta(found, mu) == pytest.approx(DELTA, rel=1e-9)
    assert sgd_privacy.theorem5_epsilon(0.5, n=60_000, epochs=50, delta=DELTA) < found / 30


def test_what_can_be_certified():
    table = sgd_privacy.certified_table(
        0.5, delta=DELTA, clients=100, samples=600, divisor=100, dimensions=(1, 7110)
    ).set_index(["noise", "dimension"])
    assert table.loc[("Algorithm 3", 7110), "clones"] < 1e-100
    assert table.loc[("whole client", 1), "certified"] < 0.1 * table.loc[("whole client", 1), "local"]
    assert table.loc[("whole client", 7110), "clones"] < 2
    assert table.loc[("Algorithm 3", 1), "certified"] == table.loc[("Algorithm 3", 1), "local"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sgd_privacy.release_mu(0.0, delta=DELTA, divisor=1), "eps = 0.0"),
        (lambda: sgd_privacy.release_mu(1.0, delta=0.0, divisor=1), "delta = 0.0"),
        (lambda: sgd_privacy.release_mu(1.0, delta=DELTA, divisor=0), "divisor = 0"),
        (lambda: sgd_privacy.release_mu(1.0, delta=DELTA, divisor=1, records=0), "records = 0"),
        (lambda: sgd_privacy.release_mu(1.0, delta=DELTA, divisor=1, epochs=0), "epochs = 0"),
        (lambda: sgd_privacy.log10_blanket_mass(0, 1.0), "dimension = 0"),
        (lambda: sgd_privacy.log10_blanket_mass(1, 0.0), "ratio = 0.0"),
        (
            lambda: message_attack_epsilon(delta=DELTA, high=0.0, low=1.0, sigma=1.0, others=[], sigma_others=[]),
            "high - low",
        ),
        (
            lambda: message_attack_epsilon(delta=DELTA, high=1.0, low=0.0, sigma=1.0, others=[0.0], sigma_others=[0.0]),
            "sigma_others",
        ),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(InvalidValue, match=words):
        call()
