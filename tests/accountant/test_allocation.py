"""Random allocation: closed forms, quadrature, order, composition, refusals. Attacks: tests/redteam/test_dealt.py."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr

import gspa
from gspa.accountant import allocation, rounds
from gspa.accountant.allocation import (
    Allocated,
    Allocation,
    Dealt,
    shuffled_batches_epsilon,
)
from gspa.accountant.errors import GspaError, InvalidValue
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon


def allocation_epsilon(*, delta, **run):
    return gspa.epsilon(delta=delta, mechanism=Allocation(**run))


def allocation_delta(*, eps, **run):
    return gspa.delta(at_eps=eps, mechanism=Allocation(**run))


def allocated(*, sigma, steps, direction="replace"):
    """One epoch as a round."""
    return Allocated(Allocation(sigma, steps, direction)).round(direction, steps)


def two_steps(a, eps, direction):
    """delta(eps) of two Gaussian steps by quadrature: given the other answer, a half-line is best."""
    gain = math.exp(eps)

    def half_line(z):
        if direction == "replace":
            other = math.exp(a * z - a * a / 2) - gain * math.exp(-a * z - a * a / 2)
            rho = -other * math.exp(a * a / 2)
            s = math.log((rho + math.sqrt(rho * rho + 4 * gain)) / 2) / a
            return ndtr(a - s) - gain * ndtr(-a - s)
        x = math.exp(a * z - a * a / 2)
        level = 2 * gain - x if direction == "remove" else 2 / gain - x
        s = math.log(level) / a + a / 2 if level > 0 else -math.inf
        return ndtr(a - s) - gain * ndtr(-s) if direction == "remove" else ndtr(s) - gain * ndtr(s - a)

    corner = (math.log(2 * math.exp(eps if direction == "remove" else -eps)) + a * a / 2) / a
    density = 1 / math.sqrt(2 * math.pi)
    return quad(lambda z: half_line(z) * density * math.exp(-z * z / 2), -9, 9, points=[corner], limit=500)[0]


# --- closed forms and quadrature ------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "apart"), [("remove", 1), ("add", 1), ("both", 1), ("replace", 2)])
def test_one_step_is_the_mechanism_itself(direction, apart):
    for sigma, sensitivity, delta in ((1.0, 1.0, 1e-5), (0.4, 2.0, 1e-2)):
        asked = {"sigma": sigma, "steps": 1, "direction": direction, "sensitivity": sensitivity}
        mu = apart * sensitivity / sigma
        found = allocation_epsilon(**asked, delta=delta)
        assert found.upper == pytest.approx(gdp_epsilon(delta=delta, mu=mu), rel=1e-12)
        # The ends are apart by the allowance, 1e-11 on each side.
        at = allocation_delta(**asked, eps=0.7)
        assert at.upper * (1 - 3e-11) < at.lower < gdp_delta(0.7, mu=mu) < at.upper
        for more, times in (({"epochs": 4}, 4), ({"epochs": 5, "deal": "once"}, 5)):
            told = allocation_epsilon(**asked | more, delta=delta)
            assert told.upper == pytest.approx(gdp_epsilon(delta=delta, mu=math.sqrt(times) * mu), rel=1e-12)
        # Nor is it hidden in which of the steps it is.
        every = allocation_epsilon(**asked | {"steps": 4, "k": 4, "epochs": 5, "deal": "once"}, delta=delta)
        assert every.upper == pytest.approx(gdp_epsilon(delta=delta, mu=math.sqrt(20) * mu), rel=1e-12)


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("a", "eps", "epochs", "width"),
    [(0.3, 0.1, 1, 0.25), (1.0, 1.0, 1, 0.25), (2.0, 2.5, 1, 0.25), (0.05, 0.0, 1, 0.25), (0.5, 1.0, 3, 0.02)],
)
def test_two_steps_by_quadrature(a, eps, epochs, width, direction):
    """The answers' sums say all of a kept deal: a contribution that is sqrt(epochs) times as large."""
    truth = two_steps(a * math.sqrt(epochs), eps, direction)
    asked = {"sigma": 1 / a, "steps": 2, "epochs": epochs, "direction": direction}
    found = allocation_delta(**asked, eps=eps, deal="once")
    assert found.lower <= truth * (1 + 1e-8)
    assert truth * (1 - 1e-8) <= found.upper < (1 + width) * truth


# --- one deal for all epochs ----------------------------------------------------------------------------------


def test_a_kept_deal_answer_by_answer():
    """Ten epochs of ten steps, every answer drawn: the record's own larger by 0.6, and weighted back."""
    rng, epochs, steps, a, far = np.random.default_rng(35), 10, 10, 0.5, 1.9
    z = rng.standard_normal((20_000, epochs, steps))
    z[:, :, 0] += far
    place = np.exp((a * z - a * a / 2).sum(axis=1))  # of the record there, over noise alone
    drawn = np.exp((far * z[:, :, 0] - far * far / 2).sum(axis=1))
    kept = allocation_epsilon(sigma=1 / a, steps=steps, epochs=epochs, delta=1e-6, deal="once")
    for eps, side in ((kept.lower, 1), (kept.upper, -1)):
        # By symmetry the record may be in the first place: P there is place[0], and P in all is their mean.
        found = place[:, 0] * np.maximum(1 - math.exp(eps) / place.mean(axis=1), 0) / drawn
        assert side * (found.mean() - 1e-6) > -4 * found.std() / math.sqrt(found.size)
    assert found.std() / math.sqrt(found.size) < 2e-8  # 2 percent of what is measured


def test_an_adversary_in_the_second_epoch_of_a_kept_deal():
    """Whatever the first answers were, the best of many second contributions gains nothing over full ones."""
    gain, full = math.exp(0.2), (1.0,)

    def least(first, tried, step):
        z = np.arange(-6, 6 + step / 2, step)
        mass = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * step
        ratio = {u: np.exp(u * z - u * u / 2) for u in (first, *tried)}
        total = 0.0
        for x, weight_x in zip(ratio[first], mass, strict=True):
            for y, weight_y in zip(ratio[first], mass, strict=True):
                best = max(
                    mass @ np.maximum(x * ratio[u][:, None] + y * ratio[v] - 2 * gain, 0) @ mass
                    for u in tried
                    for v in tried
                )
                total += weight_x * weight_y * best
        return total / 2

    upper = allocation_delta(sigma=1.0, steps=2, epochs=2, eps=0.2, direction="remove", deal="once").upper
    tried = (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert least(1.0, tried, 0.4) == pytest.approx(least(1.0, full, 0.4), rel=1e-12)
    assert least(0.5, tried, 0.4) < upper
    assert 0.97 * upper < least(1.0, full, 0.2) <= upper * (1 + 1e-3)


def test_one_epoch_of_either_deal_is_the_same():
    asked = {"sigma": 1.0, "steps": 20, "delta": 1e-5}
    once, fresh = (allocation_epsilon(**asked, deal=deal) for deal in ("once", "each epoch"))
    assert replace(once, warnings=fresh.warnings) == fresh


# --- order ---------------------------------------------------------------------------------------------------

SETTING = (st.floats(0.05, 1.5), st.integers(1, 3000), st.floats(1e-8, 0.1))


@settings(max_examples=6, deadline=None)
@given(*SETTING)
def test_replacing_is_the_worst_and_revealing_worse(shift, steps, delta):
    asked = {"sigma": 1 / shift, "steps": steps, "delta": delta}
    remove, add, both, replace = (
        allocation_epsilon(**asked, direction=one) for one in ("remove", "add", "both", "replace")
    )
    assert both.upper == max(remove.upper, add.upper)
    assert both.lower == max(remove.lower, add.lower)
    assert both.lower <= replace.upper
    assert replace.upper <= gdp_epsilon(delta=delta, mu=2 * shift) * (1 + 1e-12)


@settings(max_examples=6, deadline=None)
@given(*SETTING, st.sampled_from(["remove", "add", "replace"]))
def test_more_steps_more_noise_and_more_delta_do_no_harm(shift, steps, delta, direction):
    asked = {"sigma": 1 / shift, "steps": steps, "delta": delta, "direction": direction}
    here = allocation_epsilon(**asked)
    for other in ({"steps": 2 * steps}, {"sigma": 1.1 / shift}, {"delta": 2 * delta}, {"sensitivity": 0.9}):
        assert allocation_epsilon(**asked | other).lower <= here.upper
    there = allocation_delta(
        **{key: value for key, value in asked.items() if key != "delta"}, eps=max(here.upper, 1e-9)
    )
    assert there.lower <= delta * (1 + 1e-9)


@pytest.mark.slow
def test_k_steps_are_worse_than_one_and_better_than_k_known_ones():
    asked = {"sigma": 2.0, "steps": 6, "delta": 1e-5, "direction": "remove"}
    one, two = (allocation_epsilon(**asked, k=k) for k in (1, 2))
    assert one.upper < two.lower < two.upper < gdp_epsilon(delta=1e-5, mu=math.sqrt(2) / 2)
    assert "not an attack" in two.note
    assert "attack" not in one.note


# --- composition ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_blocks_by_convolution():
    # The density ratio of a block is a mean of 10 lognormals: its law by FFT on a grid of values, and that of the
    # sum of 10 losses by FFT on a grid of losses. Both grids keep the mean of the ratio: errors of 1e-4 in eps.
    sigma, size, copies, delta = 2.0, 10, 10, 1e-6
    width, points = 2e-4, 1 << 20
    edges = (np.arange(points) + 0.5) * width
    below = ndtr(sigma * (np.log(edges) + 1 / (2 * sigma**2)))
    law = np.diff(below, prepend=0.0)
    law = np.maximum(np.fft.irfft(np.fft.rfft(law) ** size, points), 0.0)
    ratio = np.arange(points) * width / size
    kept = (law > 1e-15) & (ratio > 0)
    ratio, law = ratio[kept], law[kept]
    step, center = 1e-4, 1 << 18
    loss, mass = np.log(ratio), law * ratio  # of the run with the record
    cell = np.floor(loss / step).astype(int)
    share = loss / step - cell
    grid = np.bincount(cell + center // copies, mass * (1 - share), 1 << 19)
    grid += np.bincount(cell + center // copies + 1, mass * share, 1 << 19)
    total = np.fft.irfft(np.fft.rfft(grid) ** copies, 1 << 19)
    losses = (np.arange(1 << 19) - copies * (center // copies)) * step
    truth = brentq(lambda eps: total @ np.maximum(-np.expm1(eps - losses), 0) - delta, 1, 4)
    found = allocation_epsilon(sigma=sigma, steps=size * copies, k=copies, delta=delta, direction="remove")
    assert found.lower - 1e-4 < truth < found.upper + 1e-4
    assert found.upper < found.lower * (1 + 5e-4)


@pytest.mark.slow
def test_with_a_gaussian_round():
    one = allocated(sigma=1.5, steps=40)
    alone = rounds.compose([(one, 3)], delta=1e-5)
    mixed = rounds.compose([(one, 3), (rounds.gaussian(0.3), 2)], delta=1e-5)
    revealed = gdp_epsilon(delta=1e-5, mu=math.hypot(math.sqrt(3) * 2 / 1.5, 0.3 * math.sqrt(2)))
    assert max(alone.upper, gdp_epsilon(delta=1e-5, mu=0.3 * math.sqrt(2))) < mixed.lower < mixed.upper < revealed
    assert mixed.relative_width < 0.02
    again = allocation_epsilon(sigma=1.5, steps=40, delta=1e-5, direction="replace", epochs=3)
    assert (again.lower, again.upper) == (alone.lower, alone.upper)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_round_composed_is_the_round(direction):
    asked = {"sigma": 2.0, "steps": 2, "direction": direction}
    exact, composed = (
        allocation_epsilon(**asked, delta=1e-4),
        rounds.compose([(allocated(**asked), 1)], delta=1e-4),
    )
    assert composed.lower <= exact.upper
    assert exact.lower <= composed.upper < 1.02 * exact.upper
    assert composed.lower > 0.98 * exact.lower


# --- batches of one size -------------------------------------------------------------------------------------


def test_shuffled_batches():
    found = shuffled_batches_epsilon(sigma=1.5, steps=50, delta=1e-4)
    assert 0 < found.lower < found.upper == pytest.approx(gdp_epsilon(delta=1e-4, mu=2 / 1.5), rel=1e-15)
    # The batch of the record stands out by twice the sensitivity.
    dealt = allocation_epsilon(sigma=0.75, steps=50, delta=1e-4)
    assert found.lower == dealt.lower
    one = shuffled_batches_epsilon(sigma=1.5, steps=1, delta=1e-4)
    assert (1 - 2e-9) * one.upper < one.lower <= one.upper


# --- the ends of what may be asked ---------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
@pytest.mark.parametrize("sigma", [1e-6, 1e-3, 0.01, 0.045, 1e6])
def test_huge_and_tiny_shifts(direction, sigma):
    asked = {"sigma": sigma, "steps": 10, "direction": direction}
    apart = (2 if direction == "replace" else 1) / sigma
    told = gdp_epsilon(delta=1e-3, mu=apart)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = allocation_epsilon(**asked, delta=1e-3)
        assert 0 <= found.lower <= found.upper <= told * (1 + 1e-14)
        if sigma < 0.05 and direction == "remove":  # told by the largest answer, but for a factor t
            assert found.lower > told * (1 - 1e-6) - math.log(10)
        for eps in (0.0, 1.0, 650.0, 1e3, 1e300):
            assert 0 <= allocation_delta(**asked, eps=eps).upper <= 1
        if sigma > 1:
            return
        twice = allocation_epsilon(**asked, delta=1e-3, epochs=2)
        assert twice.lower <= twice.upper
        assert twice.upper <= (1 + 1e-14) * gdp_epsilon(delta=1e-3, mu=math.sqrt(2) * apart)


@pytest.mark.slow
def test_hopeless_deltas():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for delta in (5e-324, 0.9999):
            for steps in (1, 20):
                found = allocation_epsilon(sigma=5.0, steps=steps, delta=delta, direction="remove")
                assert 0 <= found.lower <= found.upper < math.inf
        found = allocation_epsilon(sigma=50.0, steps=20, delta=5e-324, epochs=2, direction="add")
        assert 0 <= found.lower <= found.upper
        assert allocation_delta(sigma=1.0, steps=10**12, eps=1.0).lower >= 0


def test_where_the_ratio_turns_below_all_cells():
    """u = 2 v, both small: L's minimum lies far below the lowest edge, in the open cell, and its limit is 0."""
    law = Dealt(0.02, 0.01, 2).cells(0.0, 5.0, 100)
    ends, mass = law.above[0], law.below[1]
    assert ends[1] < 0
    assert law.extra >= mass[0] * -ends[1] > 0
    assert (
        Dealt(0.02, 0.0, 2).cells(0.0, 5.0, 100).extra == 0
    )  # it rises throughout: the lowest edge's value is the largest


def test_a_falling_ratio_is_not_taken_for_a_rising_one():
    """beyond(): where L falls, its value at the cut is the largest beyond it, not the least."""
    truth = quad(
        lambda z: (1 - math.exp(z - 0.5)) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) if z < 0.5 else 0.0,
        -9,
        0.5,
    )[0]
    _, upper = Dealt(0.0, 1.0, 2).beyond(0.0, -4.0)
    assert upper >= truth / 2


BAD = [
    *(({"sigma": sigma}, "sigma") for sigma in (0.0, math.nan)),
    *(({"sigma": sigma}, "sensitivity/sigma") for sigma in (1e-9, 1e9)),
    *(({"steps": steps}, "steps") for steps in (0, 2.5, 2**60)),
    *(({"delta": delta}, "delta") for delta in (0.0, 1.0)),
    *(({"k": k}, "k") for k in (0, 11)),
    *(({name: "other"}, name) for name in ("direction", "deal")),
    ({"epochs": 0}, "epochs"),
    ({"epochs": 10**7}, "k \\* epochs"),
    ({"deal": "once", "epochs": 10**13}, "sensitivity/sigma \\* sqrt"),
    ({"sensitivity": -1.0}, "sensitivity"),
]


@pytest.mark.parametrize(("wrong", "name"), BAD)
def test_refusals(wrong, name):
    with pytest.raises(GspaError, match=f"^{name}") as caught:
        allocation_epsilon(**{"sigma": 1.0, "steps": 10, "delta": 1e-5} | wrong)
    assert len(str(caught.value).splitlines()) == 1


def test_other_refusals():
    with pytest.raises(InvalidValue, match="eps"):
        allocation_delta(sigma=1.0, steps=10, eps=-1.0)


def test_a_lost_cell_is_seen(monkeypatch):
    edges = Dealt._edges
    monkeypatch.setattr(Dealt, "_edges", lambda *arguments: np.delete(edges(*arguments), -1))
    with pytest.raises(allocation.InternalError, match="add up to"):
        allocation_delta(sigma=1.0, steps=10, eps=0.1, direction="remove")


def test_a_tiny_delta_is_amplified_and_what_is_not_says_so():
    found = allocation_epsilon(sigma=1.0, steps=100, delta=1e-30)
    assert found.lower >= gdp_epsilon(delta=1e-30, mu=1.0) - math.log(100) - 1e-6  # the largest answer tells
    assert found.upper < gdp_epsilon(delta=1e-30, mu=1.0) - math.log(50)
    assert not found.note
    assert "no amplification" in allocation_epsilon(sigma=0.1, steps=100, delta=1e-6).note


@pytest.mark.parametrize("sigma", [0.03, 0.1])
def test_two_epochs_are_no_better_than_one_and_what_hides_nothing_says_so(sigma):
    found = allocation_epsilon(sigma=sigma, steps=100, delta=1e-6, epochs=2)
    assert found.lower >= gdp_epsilon(delta=1e-6, mu=1 / sigma) - math.log(100) - 1e-6  # one epoch's largest answer
    assert found.upper == pytest.approx(gdp_epsilon(delta=1e-6, mu=math.sqrt(2) / sigma), rel=1e-12)
    assert "no amplification was found" in found.note


def test_two_epochs_of_two_steps_against_all_of_their_losses():
    """Both orders of the two inputs count: of two epochs one may say more of the record, the other less."""
    a, eps = 1 / 1.5, 0.5
    z = np.linspace(-9, 9 + a, 500)
    noise = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    ratio = np.exp(a * z - a * a / 2)
    without = np.outer(noise, noise).ravel()
    held = without * np.add.outer(ratio, ratio).ravel() / 2
    for direction, p, q in (("remove", held, without), ("add", without, held)):
        loss = np.log(p) - np.log(q)
        order = np.argsort(loss)
        tail = [np.r_[np.cumsum(law[order][::-1])[::-1], 0.0] for law in (p, q)]
        beyond = np.searchsorted(loss[order], eps - loss)
        delta = float(p @ tail[0][beyond] - math.exp(eps) * (q @ tail[1][beyond]))
        found = allocation_delta(sigma=1 / a, steps=2, epochs=2, eps=eps, direction=direction)
        assert found.lower * (1 - 1e-4) <= delta <= found.upper * (1 + 1e-4)
        assert found.relative_width < 2e-3
