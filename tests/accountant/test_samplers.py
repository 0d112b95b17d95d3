"""Which accounting is valid for which sampler, and Poisson sampling from both sides."""

from __future__ import annotations

import importlib
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from gspa.accountant.allocation import Allocated, Allocation
from gspa.accountant.errors import InvalidValue, UnknownName
from gspa.accountant.samplers import SAMPLERS, accounting_for, poisson_delta, poisson_epsilon
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon


def one_step(eps, *, sigma, rate, direction):
    """delta(eps) of one Poisson-sampled step: its density ratio is monotone, so the best test is a threshold."""
    with mpmath.workdps(40):
        a, e, q = mpmath.mpf(1) / mpmath.mpf(sigma), mpmath.e ** mpmath.mpf(eps), mpmath.mpf(rate)
        if direction == "remove":
            at = mpmath.log((e - 1 + q) / q) / a + a / 2  # above it the mixture is e^eps times as likely
            mixed = (1 - q) * mpmath.ncdf(-at) + q * mpmath.ncdf(a - at)
            return float(mixed - e * mpmath.ncdf(-at))
        if (inside := (1 / e - 1 + q) / q) <= 0:
            return 0.0
        at = mpmath.log(inside) / a + a / 2
        mixed = (1 - q) * mpmath.ncdf(at) + q * mpmath.ncdf(at - a)
        return float(mpmath.ncdf(at) - e * mixed)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("sigma", "rate", "eps"), [(1.0, 0.1, 0.05), (0.5, 0.01, 1.0), (2.0, 0.5, 0.1), (1, 1.0, 2.0), (1 / 25, 0.1, 5.0)]
)
def test_one_step_against_its_closed_form(sigma, rate, eps, direction):
    found = poisson_delta(sigma=sigma, steps=1, rate=rate, eps=eps, direction=direction)
    truth = one_step(eps, sigma=sigma, rate=rate, direction=direction)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 2e-3 * truth + 1e-16


def test_two_steps_against_numbers_in_the_plane():
    # E[(prod of two ratios - e^eps)_+] by a fine trapezoidal rule in two dimensions.
    z = np.linspace(-9, 11, 4001)
    ratio = 1 - 0.2 + 0.2 * np.exp(z / 1.3 - 0.5 / 1.3**2)
    mass = norm.pdf(z) * (z[1] - z[0])
    gain = np.maximum(np.outer(ratio, ratio) - math.exp(0.3), 0)
    truth = float(mass @ gain @ mass)
    found = poisson_delta(sigma=1.3, steps=2, rate=0.2, eps=0.3, direction="remove")
    assert found.lower * (1 - 1e-5) <= truth <= found.upper * (1 + 1e-5)


def test_every_record_in_every_step_is_the_gaussian_mechanism():
    found = poisson_epsilon(sigma=2.0, steps=9, rate=1.0, delta=1e-5)
    assert found.lower <= gdp_epsilon(delta=1e-5, mu=1.5) <= found.upper
    found = poisson_delta(sigma=4.0, steps=9, rate=1.0, eps=1.0, sensitivity=2.0)
    assert found.lower <= gdp_delta(1.0, mu=1.5) <= found.upper
    assert found.relative_width < 1e-3


def test_hardly_any_noise_hides_nothing():
    # Only whether the record takes part at all is left to chance.
    found = poisson_delta(sigma=1.0, steps=1, rate=0.1, eps=0.0, sensitivity=25.0, direction="remove")
    assert found.lower <= 0.1 <= found.upper <= 0.1001
    beyond = poisson_delta(sigma=1.0, steps=1, rate=0.1, eps=0.0, sensitivity=1000.0, direction="remove")
    assert beyond.lower <= 0.1 <= beyond.upper


@pytest.mark.parametrize(("sigma", "delta"), [(1.0, 1e-18), (1.0, 1e-40), (0.03, 1e-6), (0.03, 1e-30)])
def test_poisson_answers_where_allocation_does(sigma, delta):
    found = poisson_epsilon(sigma=sigma, steps=1, rate=0.25, delta=delta, direction="remove")
    assert one_step(found.upper, sigma=sigma, rate=0.25, direction="remove") <= delta
    assert one_step(found.lower, sigma=sigma, rate=0.25, direction="remove") >= delta
    assert found.relative_width < 1e-2


@pytest.mark.parametrize("eps", [6.5, 7.5])  # delta is 2e-15 and 7e-19
def test_a_tiny_delta_is_found_from_both_sides(eps):
    found = poisson_delta(sigma=1.0, steps=1, rate=0.25, eps=eps, direction="remove")
    assert found.lower <= one_step(eps, sigma=1.0, rate=0.25, direction="remove") <= found.upper
    assert found.upper <= 1.01 * found.lower


@pytest.mark.parametrize("sampler", ["dealt once", "dealt each epoch", "shuffled once", "poisson"])
def test_every_sampler_answers_at_a_tiny_delta(sampler):
    found = accounting_for(sampler=sampler).epsilon(sigma=2.0, steps=1, epochs=4, delta=1e-18)
    mu = 2.0 if sampler == "shuffled once" else 1.0  # who is in every step; replaced, where the batches are fixed
    assert found.lower <= gdp_epsilon(delta=1e-18, mu=mu)
    assert found.upper == pytest.approx(gdp_epsilon(delta=1e-18, mu=mu), rel=1e-3)


@pytest.mark.parametrize(
    ("sigma", "steps", "rate"), [(1.0, 100, 0.01), pytest.param(1.0, 1_000, 1e-3, marks=pytest.mark.slow)]
)
def test_google_gives_the_same(sigma, steps, rate):
    google = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    law = google.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=1e-4)
    theirs = law.self_compose(steps).get_epsilon_for_delta(1e-6)  # pessimistic
    found = poisson_epsilon(sigma=sigma, steps=steps, rate=rate, delta=1e-6)
    assert found.lower <= theirs
    assert found.upper == pytest.approx(theirs, rel=1e-3)
    assert found.relative_width < 1e-3


def test_eps_and_delta_are_inverses_and_fall_with_the_noise():
    found = poisson_epsilon(sigma=0.8, steps=20, rate=0.05, delta=1e-5)
    back = poisson_delta(sigma=0.8, steps=20, rate=0.05, eps=found.value)
    assert back.lower <= 1e-5 * (1 + 1e-3)
    assert back.upper >= 1e-5 * (1 - 1e-3)
    assert poisson_epsilon(sigma=0.9, steps=20, rate=0.05, delta=1e-5).upper < found.lower
    assert poisson_epsilon(sigma=0.8, steps=40, rate=0.05, delta=1e-5).lower > found.upper


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rate": 0.0}, "rate"),
        ({"rate": 1.5}, "rate"),
        ({"sigma": 9.9e-4}, "sigma"),
        ({"direction": "replace"}, "direction"),
    ],
)
def test_what_poisson_refuses(change, named):
    with pytest.raises((InvalidValue, UnknownName), match=named):
        poisson_epsilon(**{"sigma": 1.0, "steps": 10, "rate": 0.1, "delta": 1e-5} | change)


class TestAccountingFor:
    @pytest.mark.parametrize("name", SAMPLERS)
    def test_each_names_a_function_that_is_there_and_says_why(self, name):
        one = accounting_for(sampler=name)
        module, _, function = one.function.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))
        assert one.sampler == name
        assert one.neighbours
        assert one.invalid
        assert all(what and reason for what, reason in one.invalid)

    def test_each_gives_what_its_function_gives(self):
        run = {"sigma": 1.0, "steps": 5, "delta": 1e-5}
        told = {name: one.epsilon(**run) for name, one in SAMPLERS.items()}
        assert told["dealt each epoch"] == told["dealt once"] == Allocated(Allocation(1.0, 5)).epsilon(1e-5)
        assert told["poisson"] == poisson_epsilon(**run, rate=0.2)
        assert told["shuffled once"].upper == gdp_epsilon(delta=1e-5, mu=2.0)
        assert told["shuffled once"].lower == told["shuffled each epoch"].lower
        # Shuffled batches are certified for less than the others, and are attacked beyond what those would promise.
        assert told["shuffled once"].lower > max(told["poisson"].upper, told["dealt once"].upper)

    def test_batches_that_are_kept_are_one_step_with_less_noise(self):
        once, fresh = (SAMPLERS[f"shuffled {when}"] for when in ("once", "each epoch"))
        kept = once.epsilon(sigma=2.0, steps=4, delta=1e-5, epochs=4)
        assert kept.lower == once.epsilon(sigma=1.0, steps=4, delta=1e-5).lower
        apart = fresh.epsilon(sigma=2.0, steps=4, delta=1e-5, epochs=4)
        assert kept.upper == apart.upper
        assert kept.lower > apart.lower

    def test_a_name_of_two_samplers_is_refused_with_both(self):
        for name in ("balls and bins", "BallsInBinsSampling", "balls-in-bins", "random allocation"):
            with pytest.raises(InvalidValue, match='"dealt each epoch" or "dealt once"; it names both'):
                accounting_for(sampler=name)
        run = {"sigma": 2.0, "steps": 4, "epochs": 2, "delta": 1e-6}
        fresh, kept = (SAMPLERS[f"dealt {when}"] for when in ("each epoch", "once"))
        assert kept.epsilon(**run) == Allocated(Allocation(2.0, 4, epochs=2, deal="once")).epsilon(1e-6)
        assert any(name.startswith("jax_privacy: BallsInBinsSampling") for name in kept.elsewhere)
        assert any(name.startswith("PLD_accounting") for name in fresh.elsewhere)

    def test_another_name_is_refused_with_the_nearest(self):
        with pytest.raises(UnknownName, match="poisson"):
            accounting_for(sampler="poison")
