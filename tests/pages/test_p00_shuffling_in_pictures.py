"""Page 00's pictures, against enumeration and against a count of draws."""

import itertools
import math

import numpy as np
import p00_shuffling_in_pictures as p
import pytest
from matplotlib import pyplot as plt

import gspa


def test_randomized_response_and_its_clones():
    assert p.truthful(0.0) == 0.5
    assert p.truthful(2.0) / (1 - p.truthful(2.0)) == pytest.approx(math.exp(2))
    assert p.cloned(2.0) == pytest.approx(2 / (1 + math.exp(2)))


def test_a_toss_is_the_same_twice_and_the_shuffler_loses_nothing():
    first, again = (p.coins(eps0=1.0, toss=2, seed=7) for _ in range(2))
    assert first.equals(again)
    assert sorted(first["place"]) == list(range(10))
    assert (p.coins(eps0=50.0, toss=2, seed=7)["report"] == first["held"]).all()


def test_lies_are_as_frequent_as_the_budget_says():
    lies = [(t["held"] != t["report"]).mean() for t in (p.coins(eps0=1.0, toss=k, seed=1) for k in range(2000))]
    error = 5 * math.sqrt(p.truthful(1.0) * (1 - p.truthful(1.0)) / 20_000)
    assert np.mean(lies) == pytest.approx(1 - p.truthful(1.0), abs=error)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_laws_of_the_count_by_enumeration(n):
    keep, found = p.truthful(0.8), p.two_worlds(n=n, eps0=0.8)
    for world, held in (("tails", 0), ("heads", 1)):
        bits = [held] + [1] * ((n - 1) // 2) + [0] * (n - 1 - (n - 1) // 2)
        law = np.zeros(n + 1)
        for says in itertools.product((0, 1), repeat=n):
            law[sum(says)] += math.prod(keep if a == b else 1 - keep for a, b in zip(bits, says, strict=True))
        assert found[world].to_numpy() == pytest.approx(law)


def test_the_best_guess():
    assert p.guessed(p.two_worlds(n=1, eps0=1.0)) == pytest.approx(p.truthful(1.0))
    alone, hidden = (p.guessed(p.two_worlds(n=n, eps0=1.0)) for n in (1, 300))
    assert 0.5 < hidden < alone


def test_clones_hide_a_step_of_one():
    law = p.hidden_by(6)
    assert law["tails"].sum() == pytest.approx(1)
    assert law["heads"].to_numpy()[1:] == pytest.approx(law["tails"].to_numpy()[:-1])


def test_how_many_of_a_crowd_fall_near_ada():
    draws = np.random.default_rng(3)
    reports = draws.integers(0, 2, 200_000) + draws.laplace(size=200_000) / 0.3
    share = ((reports > p.NEAR[0]) & (reports < p.NEAR[1])).mean()
    assert p.near_ada(crowd=0.3, n=101) / 100 == pytest.approx(share, abs=5 * 0.5 / math.sqrt(200_000))


def test_a_quiet_crowd_is_good_cover_for_coins_and_poor_cover_for_noise():
    quiet, alike = p.cover(own=2.0, crowd=[0.01, 2.0], n=1_000, delta=1e-4).to_dict("records")
    assert quiet["coins"] < alike["coins"]
    assert quiet["noise"] > alike["noise"]
    apart = gspa.epsilon(eps=2.0, n=1_000, delta=1e-4, mechanism="aligned").upper
    assert alike["coins"] == pytest.approx(apart, rel=1e-9)


def test_every_picture_says_what_it_shows():
    frames = [
        p.ten_coins(p.coins(eps0=1.0, toss=1, seed=1)),
        p.stories(p.two_worlds(n=3, eps0=1.0)),
        p.clones(p.crowd_of(eps0=1.0, n=30, seed=1), eps0=1.0),
        p.flat_crowd(own=2.0, crowd=0.1, n=50, seed=1),
        p.cover_curves(p.cover(own=1.0, crowd=[0.1, 1.0], n=100, delta=1e-3), limits=(0.01, 1)),
    ]
    for frame in frames:
        assert frame.alt.endswith(".")
        assert "nan" not in frame.alt
    assert plt.get_fignums() == []
