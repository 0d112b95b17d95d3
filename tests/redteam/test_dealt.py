"""A red team against random allocation: no attack above what is certified from above, no truth below the lower end."""

from __future__ import annotations

import math

import dealt
import dealt_settings
import numpy as np
import pytest
from dealt_settings import allocation_delta, allocation_epsilon

from gspa.accountant import allocation

BLOCK = 20
BLOCKS = [
    (name, start) for name, (_, number, _, _) in dealt_settings.FAMILIES.items() for start in range(0, number, BLOCK)
]
QUICK = {"two or three steps": 5, "many steps": 1, "k of t steps": 2}  # those of several epochs take seconds


def _lost(name, seeds, most=math.inf):
    for seed in seeds:
        duel = dealt_settings.fight(name, seed, most)
        if dealt_settings.lost(name, duel):
            yield f"seed {seed}: {duel}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), BLOCKS)
def test_the_truth_is_between_the_ends(name, start):
    assert not list(_lost(name, range(start, start + BLOCK)))


@pytest.mark.parametrize("name", QUICK)
def test_it_is_in_some_of_the_settings(name):
    assert not list(_lost(name, range(10_000, 10_000 + QUICK[name]), 1.5))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("t", [2, 3])
def test_contributions_in_the_plane_are_no_worse(seed, t):
    rng = np.random.default_rng(seed)
    eps = float(rng.uniform(0, 1))
    first, second = rng.normal(size=(2, t, 2))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    if seed:  # all nearly as far as they may be
        second = -first + 0.3 * second
    second /= np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1)
    value, error = dealt.in_a_plane(first, second, t, eps, rng)
    bound = allocation_delta(sigma=1.0, steps=t, eps=eps, direction="replace")
    assert value - 4 * error <= bound.upper
    opposed = dealt.in_a_plane(first, -first, t, eps, rng)
    truth = dealt.exact(dealt.steps("replace", 1.0, t), eps)
    assert abs(opposed[0] - truth) < 4 * opposed[1]


def test_several_epochs_against_all_of_their_answers():
    bound = allocation_epsilon(direction="replace", steps=5, epochs=3, sigma=3.0, delta=1e-2)
    assert bound.relative_width < 1e-3
    one = dealt.steps("replace", 1 / 3, 5)
    value, error = dealt.epochs_sampled(one, 3, bound.value, np.random.default_rng(3), 100_000)
    assert abs(value - 1e-2) < 4 * error < 1e-3


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
def test_steps_that_depend_on_the_answer_before_are_no_worse(direction):
    eps = 0.4
    worst = dealt.steps(direction, 1.0, 2)
    upper = allocation_delta(sigma=1.0, steps=2, eps=eps, direction=direction).upper
    found = []
    for turned in (
        lambda z: np.where(z > 0, 1.0, -1.0),
        lambda z: np.where(z > 1, 0.2, 1.0),
        lambda z: np.clip(z, -1, 1),
        lambda z: np.where(z < -0.5, 0.0, 1.0),
        np.ones_like,
    ):

        def choose(z, turned=turned):
            if z is None:
                return worst.u, worst.v
            return worst.u * turned(z), worst.v * turned(z)

        found.append(dealt.adaptive(choose, eps, cells=300))
    assert max(found) <= upper
    # A sign that is chosen is no loss, and the worst contributions reach the truth.
    truth = dealt.exact(worst, eps)
    assert found[0] == pytest.approx(found[-1], rel=5e-3)
    assert found[-1] == pytest.approx(truth, rel=5e-3)


def test_only_one_of_the_records_contributions_may_be_smaller():
    """Not opposed, and of other sizes, on a line, at both steps."""
    eps = 0.3
    upper = allocation_delta(sigma=1.0, steps=2, eps=eps, direction="replace").upper
    for u, v in ((1.0, 0.0), (0.5, -1.0), (-0.3, -1.0), (1.0, -1.0), (1.0, 0.9)):
        found = dealt.adaptive(lambda z, u=u, v=v: (u, v) if z is None else (u + 0 * z, v + 0 * z), eps, cells=400)
        assert found <= upper


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
def test_the_ways_to_the_truth_agree(direction):
    rng = np.random.default_rng(5)
    for t, eps in ((2, 0.2), (3, 0.5)):
        one = dealt.steps(direction, 0.8, t)
        truth = dealt.exact(one, eps)
        assert dealt.below(one, eps) <= truth <= dealt.above(one, eps)
        assert dealt.below(one, eps) == pytest.approx(truth, rel=5e-3)
        value, error = dealt.sampled(one, eps, rng, 50_000)
        assert abs(value - truth) < 4.5 * error
        assert dealt.subsets(one, 1, eps, cells=100 if t == 3 else 800) == pytest.approx(truth, rel=1e-2)


def test_the_attack_sees_a_part_in_a_thousand(monkeypatch):
    """Bounds that are too low, or too high, by little: one step in a hundred too many, and one too few."""
    one = dealt.steps("remove", 0.5, 100)
    kept = allocation_epsilon(sigma=2.0, steps=100, delta=1e-5, direction="remove")
    assert dealt.below(one, kept.upper) <= 1e-5 <= dealt.above(one, kept.lower)
    monkeypatch.setattr(allocation.Allocated, "blocks", property(lambda asked: asked.run.steps + 1))
    short = allocation_epsilon(sigma=2.0, steps=100, delta=1e-5, direction="remove")
    assert short.upper < kept.lower
    assert dealt.below(one, short.upper) > 1e-5
    assert dealt.above(dealt.steps("remove", 0.5, 102), short.lower) < 1e-5
