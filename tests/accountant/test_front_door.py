"""The front door: which engine answers, never above a coarser one, and what stands beside the number."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from exact_shuffle import gaussian_delta, personal_rr_delta, rr_delta
from hypothesis import given, settings
from hypothesis import strategies as st

import gspa
from gspa.accountant import api, budgets, exact
from gspa.accountant.errors import GspaError, OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_delta, blanket_epsilon
from gspa.accountant.one_round import central_delta, central_epsilon, per_user_epsilon
from gspa.accountant.rounds import compose, shuffled, shuffled_reports


def worst(budget, victim, eps):
    """Over all inputs of the others, by enumeration."""
    inputs = product((0, 1), repeat=len(budget) - 1)
    return max(personal_rr_delta(budget, victim, eps, list(x)) for x in inputs)


class TestShuffledBits:
    def test_what_was_asked_for(self):
        asked = {"eps": 0.5, "n": 10_000, "delta": 1e-4}
        own, pair = gspa.epsilon(**asked), gspa.epsilon(**asked, mechanism="aligned")
        assert own.upper == pytest.approx(0.008463, abs=5e-7)
        assert pair.upper == pytest.approx(0.009664, abs=5e-7)
        # All others at 1, the worst inputs found, by scipy's binomial: the same number from outside.
        assert rr_delta(0.5, 10_000, own.lower, 9_999) >= 1e-4 * (1 - 1e-9)

    @settings(max_examples=40)
    @given(
        st.lists(st.floats(0, 6), min_size=1, max_size=3),
        st.integers(1, 20),
        st.floats(1e-8, 0.5),
        st.floats(0, 3),
    )
    def test_never_above_the_pair(self, eps, many, delta, at):
        crowd = budgets.from_array(eps, count=many)
        own, pair = gspa.epsilon(budgets=crowd, delta=delta), central_epsilon(crowd, delta=delta)
        assert own.lower <= own.value <= own.upper <= pair.upper
        assert gspa.delta(budgets=crowd, at_eps=at).upper <= central_delta(crowd, eps=at).upper
        assert own.note.startswith("others that hold 1")

    @pytest.mark.parametrize(
        ("crowd", "why"),
        [
            (budgets.constant(0.5, n=exact.QUICK + 1), "65,536 choices"),
            (budgets.from_array([0.5, 1.0], count=[300, 300]), "65,536 choices"),
            (budgets.from_array(np.linspace(0.1, 1, 50)), "65,536 choices"),
            (budgets.constant(0.5, n=100, delta=1e-6), "local delta_i > 0"),
            (budgets.constant(1e200, n=2), "a local eps of 10,000"),
        ],
    )
    def test_the_pair_answers_where_the_exact_law_does_not_and_says_so(self, crowd, why):
        for found, pair in (
            (gspa.epsilon(budgets=crowd, delta=1e-4), central_epsilon(crowd, delta=1e-4)),
            (gspa.delta(budgets=crowd, at_eps=0.01), central_delta(crowd, eps=0.01)),
        ):
            assert (found.upper, found.method) == (pair.upper, pair.method)
            assert found.note.startswith("the dominating pair, because ")
            assert why in found.note

    def test_users_without_a_say_are_no_choices(self):
        crowd = budgets.from_array([0.0, 1.0], count=[10**6, 50])
        assert gspa.epsilon(budgets=crowd, delta=1e-6).method.startswith("exact law")

    def test_rounds_compose_the_pair_and_say_so(self):
        found = gspa.epsilon(eps=0.5, n=500, delta=1e-5, rounds=9)
        one = shuffled(budgets.constant(0.5, n=500))
        assert found.upper == compose([(one, 9)], delta=1e-5).upper
        assert "rounds compose pairs" in found.note
        assert found.n == 500
        assert not gspa.epsilon(eps=0.5, n=500, delta=1e-5, rounds=9, mechanism="aligned").note

    def test_the_class_of_the_pair(self):
        assert gspa.epsilon(eps=1.0, n=50, delta=1e-4, mechanism=gspa.Aligned()).valid_for.startswith(
            "any randomizers with aligned clones"
        )
        with pytest.raises(OutsideValidity, match="attack a randomizer that has them"):
            gspa.attack(eps=1.0, n=50, delta=1e-4, mechanism="aligned")


class TestEachUser:
    def test_against_all_inputs(self):
        budget = [0.4, 1.2, 1.2, 2.5, 0.0]
        found = gspa.per_user(budgets=budget, delta=0.05)
        assert found.method.startswith("exact law")
        for i, (low, high) in enumerate(zip(found.lower, found.upper, strict=True)):
            assert worst(budget, i, float(high)) <= 0.05 * (1 + 1e-8)
            assert low == 0 or worst(budget, i, float(low)) >= 0.05 * (1 - 1e-8)
            assert high - low < 1e-8
        pair = per_user_epsilon(budgets.from_array(budget), delta=0.05)
        assert (found.upper <= pair.upper).all()

    def test_on_a_line(self):
        given_as = gspa.per_user(mechanism=gspa.Gaussian([4.0, 2.0, 2.0], sensitivity=2.0), delta=1e-2)
        for who, scale in enumerate((2.0, 1.0)):
            one = blanket_epsilon([2.0, 1.0], count=[1, 2], delta=1e-2, mechanism="gaussian", victim=who)
            assert given_as.upper[who] == one.upper, scale
        assert given_as.upper[1] == given_as.upper[2]
        assert "[0, 2]" in given_as.valid_for
        assert "0 and 2 as the worst values" in given_as.valid_for
        laplace = gspa.per_user(budgets=budgets.from_array([1.0, 0.5], count=[30, 70]), delta=1e-2, mechanism="laplace")
        assert laplace.upper[0] == blanket_epsilon([2.0, 1.0], count=[70, 30], delta=1e-2, victim=1).upper


class TestOnALine:
    def test_only_the_ratio_of_noise_and_sensitivity_counts(self):
        plain = blanket_epsilon([0.5], count=30, delta=1e-2, mechanism="gaussian")
        for width in (2.0, 0.25):
            found = gspa.epsilon(n=30, delta=1e-2, mechanism=gspa.Gaussian(0.5 * width, sensitivity=width))
            assert found.upper == plain.upper
            assert f"values in [0, {width:g}]" in found.valid_for

    def test_own_sigma_each(self, tmp_path):
        both = blanket_epsilon([1.0, 2.0], count=[30, 10], delta=1e-2, mechanism="gaussian")
        listed = [1.0] * 20 + [2.0] * 10 + [1.0] * 10
        file = tmp_path / "sigmas.csv"
        file.write_text("count,sigma\n20,1\n10,2\n10,1\n")
        for asked in (
            {"mechanism": gspa.Gaussian(listed)},
            {"mechanism": gspa.Gaussian(np.array(listed)), "n": 40},
            {"mechanism": "gaussian", "budgets": file},
            {"mechanism": gspa.Gaussian(), "budgets": str(file)},
        ):
            found = gspa.epsilon(**asked, delta=1e-2)
            assert (found.upper, found.n) == (both.upper, 40)
        assert hash(gspa.Gaussian(listed)) == hash(gspa.Gaussian(tuple(listed)))

    def test_laplace_scales_are_local_eps_the_other_way_round(self):
        by_eps = gspa.epsilon(eps=0.5, n=100, delta=1e-4, mechanism="laplace")
        by_scale = gspa.epsilon(n=100, delta=1e-4, mechanism=gspa.Laplace(scale=6.0, sensitivity=3.0))
        assert by_eps.upper == by_scale.upper
        attacked = gspa.attack(n=100, delta=1e-4, mechanism=gspa.Laplace(scale=6.0, sensitivity=3.0))
        assert attacked.lower == gspa.attack(eps=0.5, n=100, delta=1e-4, mechanism="laplace").lower
        assert "whose width is 3" in attacked.note

    @pytest.mark.slow
    def test_noise_for_a_target(self):
        found = gspa.calibrate(target_eps=0.2, delta=1e-4, n=300, mechanism=gspa.Gaussian(sensitivity=3.0))
        assert blanket_delta([found.upper / 3], count=300, eps=0.2, mechanism="gaussian").upper <= 1e-4
        assert gspa.attack(n=300, delta=1e-4, mechanism=gspa.Gaussian(found.lower, sensitivity=3.0)).lower > 0.2
        alone = gspa.calibrate(target_eps=1.0, delta=1e-4, n=1, mechanism="laplace")
        # One report: delta = 1 - e^((eps - eps_0)/2).
        assert alone.lower <= 1.0 - 2 * math.log1p(-1e-4) <= alone.upper


class TestCalibration:
    @pytest.mark.parametrize("mechanism", ["rr", "aligned", "common"])
    @pytest.mark.parametrize(("target", "delta", "n"), [(0.1, 1e-6, 10_000), (1.0, 1e-6, 10), (2.5719, 9.76e-8, 4_736)])
    def test_a_larger_budget_is_missed(self, mechanism, target, delta, n):
        found = gspa.calibrate(target_eps=target, delta=delta, n=n, mechanism=mechanism)
        assert gspa.delta(at_eps=target, eps=found.lower, n=n, mechanism=mechanism).upper <= delta * (1 + 1e-9)
        assert gspa.delta(at_eps=target, eps=found.upper, n=n, mechanism=mechanism).lower > delta * (1 - 1e-9)
        assert found.relative_width < 1e-6

    @pytest.mark.parametrize("mechanism", ["rr", "aligned"])
    @pytest.mark.parametrize(("eps", "target", "delta"), [(1.0, 0.05, 1e-8), (3.0, 1.0, 1e-3), (0.5, 0.6, 1e-5)])
    def test_one_user_fewer_fails(self, mechanism, eps, target, delta):
        found = gspa.calibrate(target_eps=target, delta=delta, eps=eps, mechanism=mechanism)
        n, asked = int(found.upper), {"eps": eps, "delta": delta, "mechanism": mechanism}
        assert found.lower == n
        assert gspa.epsilon(n=n, **asked).upper <= target
        if n > 1:
            assert gspa.epsilon(n=n - 1, **asked).lower > target

    @pytest.mark.parametrize(("eps", "n", "target"), [(0.5, 1_000, 0.3), (1.0, 2_000, 1.0), (2.0, 100, 0.5)])
    def test_one_more_round_is_too_many(self, eps, n, target):
        found = gspa.calibrate(target_eps=target, delta=1e-5, eps=eps, n=n)
        asked = {"eps": eps, "n": n, "delta": 1e-5}
        if found.lower:
            assert gspa.epsilon(**asked, rounds=int(found.lower)).upper <= target
        assert gspa.epsilon(**asked, rounds=int(found.upper) + 1).lower > target
        assert found.upper - found.lower <= 1

    @pytest.mark.parametrize("asked", [{"n": 10}, {"n": 100, "eps": 0.0}])
    def test_a_target_that_everything_meets(self, asked):
        with pytest.raises(OutsideValidity, match="misses"):
            gspa.calibrate(target_eps=700.0, delta=0.5, **asked)

    @pytest.mark.slow
    def test_more_users_than_the_exact_law_is_evaluated_for(self):
        asked = {"target_eps": 0.001, "delta": 1e-6, "eps": 0.5}
        found = gspa.calibrate(**asked)
        assert found.upper == gspa.calibrate(**asked, mechanism="aligned").upper > exact.QUICK
        assert "65,536 choices" in found.note
        assert "rounds compose pairs" in gspa.calibrate(target_eps=0.3, delta=1e-5, eps=0.2, n=50).note


class TestBesideTheNumber:
    DOORS = (
        lambda: gspa.epsilon(eps=1.0, n=50, delta=1e-3),
        lambda: gspa.epsilon(eps=1.0, n=50, delta=1e-3, mechanism=gspa.KRR(3)),
        lambda: gspa.epsilon(n=50, delta=1e-3, mechanism=gspa.Gaussian(1.0)),
        lambda: gspa.delta(at_eps=0.5, eps=1.0, n=50),
        lambda: gspa.calibrate(target_eps=0.5, delta=1e-3, n=50),
        lambda: gspa.attack(eps=1.0, n=50, delta=1e-3),
    )

    @pytest.mark.parametrize("door", DOORS)
    def test_relation_and_class_in_every_form(self, door):
        found = door()
        for text in (repr(found), str(found), json.dumps(found.to_dict())):
            assert "replace one user's record" in text
            assert found.valid_for in text
        assert found.to_dict()["relation"] == found.relation

    def test_the_first_line_is_the_safe_end(self):
        bound = gspa.epsilon(eps=0.5, n=10_000, delta=1e-5)
        first = str(bound).splitlines()[0]
        assert first.startswith("at most ")
        assert bound.upper <= float(first.split()[2].rstrip(",")) <= bound.upper * (1 + 1e-6)
        assert str(gspa.attack(eps=1.0, n=50, delta=1e-3, mechanism="laplace")).startswith("at least ")
        assert str(gspa.calibrate(target_eps=0.5, delta=1e-3, n=50)).startswith("certified in [")

    def test_one_warning_always_and_one_where_delta_is_large(self):
        fine = gspa.epsilon(eps=1.0, n=50, delta=1e-3).warnings
        assert len(fine) == 1
        assert "trusted" in fine[0]
        assert "honest" in fine[0]
        large = gspa.epsilon(eps=1.0, n=50, delta=0.02).warnings
        assert large[1:] == fine
        assert large[0].startswith("delta = 0.02 is at least 1/n: a mechanism that publishes one record in full")
        few = gspa.epsilon(eps=1.0, n=50, delta=1e-3, honest=40).warnings
        assert few == ("this rests on a shuffler that is trusted",)
        assert len(gspa.delta(at_eps=0.0, eps=1.0, n=50).warnings) == 2
        assert gspa.attack(n=50, mechanism=gspa.Gaussian(sigma=1.0), delta=1e-3).warnings == fine


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: gspa.Gaussian([1.0, 0.0]), r"sigma\[1\] = 0.0"),
        (lambda: gspa.Gaussian([]), "sigma = "),
        (lambda: gspa.Gaussian([[1.0], [2.0]]), "sigma = "),
        (lambda: gspa.Gaussian(1.0, sensitivity=math.inf), "sensitivity = inf"),
        (lambda: gspa.Laplace(sensitivity=2.0), "sensitivity = 2.0: must be given with scale"),
        (lambda: gspa.epsilon(n=20, delta=1e-4, mechanism=gspa.Gaussian(1.0, 5e-324)), "sensitivity = 5e-324"),
        (lambda: gspa.epsilon(n=3, delta=0.1, mechanism=gspa.Gaussian([1.0, 2.0])), "n = 3: must be left out, or 2"),
        (lambda: gspa.epsilon(delta=0.1, mechanism=gspa.Gaussian(1.0)), "n = None"),
        (lambda: gspa.epsilon(delta=0.1, budgets=[1.0], mechanism="gaussian"), r"columns sigma\[,count\]"),
        (lambda: gspa.epsilon(eps=1.0, n=3, delta=0.1, mechanism=gspa.Laplace(scale=1.0)), "eps = 1.0"),
        (
            lambda: gspa.epsilon(delta=0.1, honest=1, mechanism=gspa.Gaussian([1.0, 2.0])),
            "not known for 'gaussian' with unequal noise",
        ),
        (lambda: gspa.calibrate(target_eps=1.0, delta=0.1, mechanism="laplace"), "n = None"),
        (lambda: gspa.per_user(delta=0.1, mechanism="laplace"), "budgets = None"),
        (lambda: gspa.per_user(delta=0.1, mechanism=gspa.Gaussian(sigma=1.0)), "budgets = None"),
        (lambda: exact.exact_epsilon(budgets.constant(1.0, n=2), delta=0.1, victim=1), "victim = 1"),
        (lambda: api.mechanism("aligned", k=3), "does not use it"),
        (
            lambda: gspa.epsilon(n=9, delta=0.1, mechanism=gspa.Discrete(np.eye(100))),
            "pairs of inputs of all matrices = 9900: must be at most 5000; write equal rows once",
        ),
    ],
)
def test_refused_in_one_line(ask, words):
    with pytest.raises(GspaError, match=words) as refused:
        ask()
    assert len(str(refused.value).splitlines()) == 1


CLONES = [gspa.RandomizedResponse(), gspa.Aligned(), gspa.KRR(k=10), gspa.SubsetSelection(k=4, size=2), gspa.Common()]


class TestCalibrateIsTheInverse:
    def test_its_k_rr_passes(self):
        found = gspa.calibrate(target_eps=1e-6, delta=1e-6, n=1000, mechanism=gspa.KRR(k=10))
        assert gspa.epsilon(eps=found.lower, n=1000, delta=1e-6, mechanism=gspa.KRR(k=10)).upper <= 1e-6
        assert found.relative_width < 1e-3

    @pytest.mark.slow
    @settings(max_examples=20)
    @given(st.sampled_from(CLONES), st.floats(-6, 0.5), st.floats(-12, -1.5), st.integers(1, 2000), st.booleans())
    def test_its_local_eps_and_its_users_pass(self, runs, log_target, log_delta, n, users):
        target, at = 10**log_target, 10**log_delta
        if users:
            found = gspa.calibrate(target_eps=target, delta=at, eps=n / 1000, mechanism=runs)
            passed = gspa.epsilon(eps=n / 1000, n=int(found.upper), delta=at, mechanism=runs)
        else:
            found = gspa.calibrate(target_eps=target, delta=at, n=n, mechanism=runs)
            passed = gspa.epsilon(eps=found.lower, n=n, delta=at, mechanism=runs)
            assert found.lower >= target
        assert passed.upper <= target

    @pytest.mark.slow
    @pytest.mark.parametrize(("n", "target"), [(10_000, 1e-3), (1000, 0.1), (3, 1e-6)])
    def test_its_noise_passes(self, n, target):
        sigma = gspa.calibrate(target_eps=target, delta=1e-6, n=n, mechanism="gaussian").upper
        assert gspa.epsilon(n=n, delta=1e-6, mechanism=gspa.Gaussian(sigma=sigma)).upper <= target
        eps = gspa.calibrate(target_eps=target, delta=1e-6, n=n, mechanism="laplace").lower
        assert gspa.epsilon(eps=eps, n=n, delta=1e-6, mechanism="laplace").upper <= target

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("runs", "target", "gate"), [("gaussian", 1.0, 1e-4), ("laplace", 1.0, 1e-4), ("rr", 0.5, 1e-5)]
    )
    def test_what_it_finds_for_rounds_passes_to_the_gate(self, runs, target, gate):
        found = gspa.calibrate(target_eps=target, delta=1e-6, n=50_000, rounds=52, mechanism=runs)
        given = {"n": 50_000, "delta": 1e-6, "rounds": 52}
        if runs == "gaussian":
            given["mechanism"] = gspa.Gaussian(sigma=found.upper)
        else:
            given |= {"mechanism": runs, "eps": found.lower}
        assert target * (1 - gate) < gspa.epsilon(**given).upper <= target
        assert found.relative_width < 0.01

    def test_what_it_finds_for_rounds_of_unequal_noise_passes(self):
        asked = {"delta": 1e-6, "rounds": 20, "mechanism": "laplace"}
        found = gspa.calibrate(target_eps=1.0, budgets=budgets.from_array([0.5, 2.0], count=[3000, 40]), **asked)
        passed, missed = (
            gspa.epsilon(budgets=budgets.from_array([0.5 * factor, 2.0 * factor], count=[3000, 40]), **asked)
            for factor in (found.lower, found.upper)
        )
        assert 0.99 < passed.upper <= 1 < missed.upper
        # There the worst off has missed it, whose pair the lower end is of.
        scales = [1 / (0.5 * found.upper), 1 / (2.0 * found.upper)]
        worst = shuffled_reports(scales, count=[3000, 40], victim=1)
        assert 1 < compose([(worst, 20)], delta=1e-6).lower < 1.03

    @pytest.mark.parametrize("runs", [gspa.Laplace(scale=1.0), gspa.Gaussian(sigma=1.5)])
    def test_the_fewest_users_with_this_noise(self, runs):
        found = gspa.calibrate(target_eps=0.2, delta=1e-6, mechanism=runs)
        meets, misses = (gspa.epsilon(n=int(n), delta=1e-6, mechanism=runs) for n in (found.upper, found.lower))
        assert meets.upper <= 0.2
        assert misses.lower > 0.2 * (1 - 0.01)
        assert gspa.epsilon(n=int(found.upper) - 1, delta=1e-6, mechanism=runs).upper > 0.2 * (1 - 1e-4)

    @pytest.mark.parametrize("n", [5, 200, 5000])
    def test_at_most_less_total_variation_has_no_more_epsilon(self, n):
        most = -math.expm1(-1.0) / 2
        asked = [*(gspa.TotalVariation(tv * most) for tv in (0.03, 0.2, 0.6, 1.0)), "common"]
        found = [gspa.epsilon(eps=1.0, n=n, delta=1e-6, mechanism=runs).upper for runs in asked]
        assert all(less <= more * (1 + 1e-6) for less, more in pairwise(found))

    def test_a_total_variation_has_a_least_eps(self):
        runs = gspa.TotalVariation(tv=0.1)
        found = gspa.calibrate(target_eps=0.1, delta=1e-6, n=10_000, mechanism=runs)
        assert gspa.epsilon(eps=found.lower, n=10_000, delta=1e-6, mechanism=runs).upper <= 0.1
        with pytest.raises(OutsideValidity, match=r"eps = 0\.2006"):  # 2 artanh(0.1)
            gspa.calibrate(target_eps=1e-6, delta=1e-9, n=10, mechanism=runs)


@pytest.mark.filterwarnings("error")
class TestHugeBudgets:
    @pytest.mark.parametrize("eps", [700.0, 1e20])
    @pytest.mark.parametrize("runs", CLONES)
    @pytest.mark.parametrize("n", [2, 1000])
    def test_where_nobody_is_a_clone_the_answer_is_the_report_s_own(self, eps, runs, n):
        if eps > 700 and isinstance(runs, gspa.KRR | gspa.SubsetSelection):
            with pytest.raises(OutsideValidity, match="eps <= 700"):
                gspa.epsilon(eps=eps, n=n, delta=1e-6, mechanism=runs)
            return
        found = gspa.epsilon(eps=eps, n=n, delta=1e-6, mechanism=runs)
        assert found.lower <= eps <= found.upper + 1  # at most log(1 - delta/P(one of the two outcomes)) less
        # Sets that hold both items hide the victim of the attack.
        assert found.relative_width < (0.1 if isinstance(runs, gspa.SubsetSelection) else 1e-6)

    @pytest.mark.parametrize(
        "runs", ["rr", "aligned", "common", "laplace", gspa.KRR(k=10), gspa.TotalVariation(tv=0.3)]
    )
    def test_every_entry_answers_or_refuses(self, runs):
        eps = 1e20
        asked = {"eps": eps, "n": 1000, "mechanism": runs}
        for ask in (
            lambda: gspa.delta(**asked, at_eps=eps / 2),
            lambda: gspa.delta(**asked | {"eps": 1.0}, at_eps=eps),
            lambda: gspa.risk(**asked),
            lambda: gspa.per_user(budgets=[1.0, eps], delta=1e-6, mechanism=runs),
            lambda: gspa.calibrate(target_eps=eps, n=1000, delta=1e-6, mechanism=runs),
            lambda: gspa.epsilon(**asked, delta=1e-6, rounds=3),
            lambda: gspa.attack(**asked, delta=1e-6),
        ):
            with suppress(GspaError):
                ask()


# --- nobody to hide among: both ends against 50 digits -------------------------------------------------------
# One user, or one step: what the report alone gives away has a closed form, and rounding is all there is to err by.

ULP = 2.0**-53


def digits(number):
    return mpmath.mpf(float(number))


def laplace_truth(gap):
    return lambda e: max(-mpmath.expm1((e - gap) / 2), mpmath.mpf(0))


def sets_truth(eps, k, size):
    """Subset selection: sets with one of the two items tell them apart; of size 1 it is k-ary randomized response."""
    few, both, none = (mpmath.binomial(k - 2, size - held) for held in (1, 2, 0))
    mass = mpmath.exp(eps) * (few + both) + few + none
    return lambda e: max(few * (mpmath.exp(eps) - mpmath.exp(e)) / mass, mpmath.mpf(0))


def variation_truth(eps, tv):
    return lambda e: max(tv * (mpmath.exp(eps) - mpmath.exp(e)) / mpmath.expm1(eps), mpmath.mpf(0))


def twice_truth(eps):
    """Two rounds of randomized response: the losses are 2 eps, 0 and -2 eps."""
    return lambda e: max(-mpmath.expm1(e - 2 * eps) / (1 + mpmath.exp(-eps)) ** 2, mpmath.mpf(0))


def noisy(kind, rng):
    """Noise with a sensitivity: half of the time 1, and a scale that no double divides."""
    sensitivity = 1.0 if rng.random() < 0.5 else float(np.exp(rng.uniform(-3, 3)))
    noise = float(np.exp(rng.uniform(-5 if kind == "laplace" else -9, 7)))
    return sensitivity, noise, digits(sensitivity) / digits(noise)


def alone_laplace(rng):
    eps = float(np.exp(rng.uniform(-7, 6.5)))
    return {"n": 1, "eps": eps, "mechanism": "laplace"}, laplace_truth(digits(eps)), eps


def alone_laplace_scale(rng):
    sensitivity, scale, gap = noisy("laplace", rng)
    runs = gspa.Laplace(scale=scale, sensitivity=sensitivity)
    return {"n": 1, "mechanism": runs}, laplace_truth(gap), float(gap)


def alone_gaussian(rng):
    sensitivity, sigma, mu = noisy("gaussian", rng)
    runs = gspa.Gaussian(sigma=sigma, sensitivity=sensitivity)
    return {"n": 1, "mechanism": runs}, lambda e: gaussian_delta(e, mu), float(mu * (mu / 2 + rng.uniform(-5, 36)))


def one_step(rng):
    sensitivity, sigma, gap = noisy("gaussian", rng)
    direction = ("remove", "add", "both", "replace")[rng.integers(4)]
    gap *= 2 if direction == "replace" else 1
    runs = gspa.Allocation(sigma=sigma, steps=1, sensitivity=sensitivity, direction=direction)
    return {"mechanism": runs}, lambda e: gaussian_delta(e, gap), float(gap * (gap / 2 + rng.uniform(-5, 36)))


def alone(name):
    def draw(rng):
        eps = float(np.exp(rng.uniform(-7, 2 if name == "twice" else 5)))
        true, asked = digits(eps), {"n": 1, "eps": eps, "mechanism": name}
        if name == "krr":
            k = int(rng.integers(2, 30))
            return asked | {"mechanism": gspa.KRR(k=k)}, sets_truth(true, k, 1), eps
        if name == "subset":
            k = int(rng.integers(3, 20))
            size = int(rng.integers(1, k))
            return asked | {"mechanism": gspa.SubsetSelection(k=k, size=size)}, sets_truth(true, k, size), eps
        if name == "tv":
            tv = float(math.tanh(eps / 2) * rng.uniform(0.01, 0.99))
            return asked | {"mechanism": gspa.TotalVariation(tv=tv)}, variation_truth(true, digits(tv)), eps
        if name == "twice":
            return asked | {"mechanism": "rr", "rounds": 2}, twice_truth(true), 2 * eps
        return asked, sets_truth(true, 2, 1), eps

    return draw


ALONE = {
    "laplace, eps": alone_laplace,
    "laplace, scale": alone_laplace_scale,
    "gaussian": alone_gaussian,
    "one gaussian step": one_step,
    **{name: alone(name) for name in ("rr", "aligned", "krr", "subset", "common", "tv", "twice")},
}


def contradictions(family, number):
    """Settings in which an end is on the wrong side of the truth: about the local eps, and at delta near 0 and 1."""
    rng, found = np.random.default_rng([57, list(ALONE).index(family)]), []
    with mpmath.workdps(50 + 30):  # e^eps of the largest eps takes the digits beyond
        for i in range(number):
            asked, truth, near = ALONE[family](rng)
            at = max([near * (1 + ULP * int(rng.integers(-6, 7))), near * rng.random(), 0.0][(0, 0, 1, 2)[i % 4]], 0.0)
            answer, true = gspa.delta(at_eps=at, **asked), truth(digits(at))
            if not answer.lower <= true <= answer.upper:
                found.append((asked, at, answer.lower, float(true), answer.upper))
            delta = float([10.0 ** rng.uniform(-100, -15), rng.uniform(0, 1), 1 - ULP * int(rng.integers(1, 9))][i % 3])
            delta = max(delta, 1e-18) if "rounds" in asked else delta
            answer = gspa.epsilon(delta=delta, **asked)
            above, below = truth(digits(answer.upper)), truth(digits(answer.lower))
            if above > delta or (answer.lower > 0 and below < delta):
                found.append((asked, delta, answer.lower, answer.upper, float(above), float(below)))
    return found


@pytest.mark.parametrize("family", ALONE)
@pytest.mark.parametrize("number", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_with_nobody_to_hide_among_both_ends_hold_to_the_last_bit(family, number):
    assert contradictions(family, number) == []


def test_an_answer_of_the_report_alone_says_so():
    runs = gspa.Gaussian(sigma=1.0)
    asked = {"mechanism": runs, "delta": 1e-100}
    many, one = gspa.epsilon(n=1000, **asked), gspa.epsilon(n=1, **asked)
    assert many.upper == one.upper  # whatever n
    assert "no amplification was evaluated" in many.note
    assert "the lower end" not in many.note  # which an attack on the shuffled reports reaches
    alone = blanket_epsilon([1.0], count=1000, mechanism="gaussian", delta=1e-100)
    assert "the lower end, which bounds nothing of the shuffled reports" in alone.note
    assert one.note == ""
    assert (
        "no amplification was evaluated" in gspa.per_user(mechanism=gspa.Gaussian(sigma=[1.0, 1.0]), delta=1e-100).note
    )
    assert "no amplification" not in gspa.epsilon(n=1000, mechanism=runs, delta=1e-6).note


@pytest.mark.parametrize(
    ("asked", "reached"),
    [
        ({"mechanism": "rr"}, True),
        ({"mechanism": "rr", "rounds": 2}, False),
        ({"mechanism": "aligned"}, False),
        ({"mechanism": "common"}, False),
        ({"mechanism": gspa.TotalVariation(tv=0.3)}, False),
        ({"mechanism": gspa.KRR(k=4)}, True),
        ({"mechanism": gspa.SubsetSelection(k=4, size=2)}, True),
        ({"mechanism": "laplace"}, True),
        ({"mechanism": gspa.Allocation(sigma=2.0, steps=10)}, True),
        pytest.param({"mechanism": gspa.Allocation(sigma=2.0, steps=4, k=2)}, False, marks=pytest.mark.slow),
    ],
)
def test_an_interval_says_whether_it_is_of_the_mechanism_or_of_the_method(asked, reached):
    who = {} if isinstance(asked["mechanism"], gspa.Allocation) else {"eps": 1.0, "n": 50}
    for found in (gspa.epsilon(delta=1e-3, **who, **asked), gspa.delta(at_eps=0.1, **who, **asked)):
        assert found.reached is reached
        words = ", certified in [" if reached else ", the method's own value certified in ["
        assert words in str(found).splitlines()[0]
    if who and "rounds" not in asked and asked["mechanism"] != "laplace":
        assert gspa.calibrate(target_eps=0.5, delta=1e-3, n=50, mechanism=asked["mechanism"]).reached is reached
        assert gspa.per_user(budgets=[1.0] * 50, delta=1e-3, mechanism=asked["mechanism"]).reached is reached


def test_no_user_is_worse_off_than_the_worst():
    # The exact law can be tried for the worst user, not for each of three.
    people = budgets.from_array([0.5, 1.0, 2.0], count=[35, 35, 35])
    each, worst = gspa.per_user(budgets=people, delta=1e-5), gspa.epsilon(budgets=people, delta=1e-5)
    assert worst.upper < per_user_epsilon(people, delta=1e-5).lower.max()  # of the pair, which answers for each
    assert (each.lower <= each.upper).all()
    assert each.upper.max() == worst.upper
    assert "the dominating pair, because" in each.note
    assert each.note in "\n".join(each.words())
    local = gspa.per_user(budgets=budgets.from_array([0.5, 1.0], [0.0, 1e-9], [5, 5]), delta=1e-5)
    assert local.note == gspa.epsilon(budgets=budgets.from_array([0.5, 1.0], [0.0, 1e-9], [5, 5]), delta=1e-5).note


@pytest.mark.parametrize(("sigma", "delta"), [(0.13, 1e-6), (0.2, 1e-30)])
def test_rounds_whose_shuffle_hides_nothing_are_what_the_reports_are_alone(sigma, delta):
    mu = math.sqrt(2) / sigma
    found = gspa.epsilon(n=1000, mechanism=gspa.Gaussian(sigma=sigma), delta=delta, rounds=2)
    assert abs(gaussian_delta(found.upper, mu) / delta - 1) < 1e-8
    assert "no amplification was found" in found.note
    assert gspa.delta(at_eps=found.upper, n=1000, mechanism=gspa.Gaussian(sigma=sigma), rounds=2).upper <= 1.01 * delta


def test_a_wide_interval_says_so():
    found = gspa.epsilon(n=1000, mechanism=gspa.Gaussian(sigma=1.0), delta=1e-18)
    assert found.lower < found.upper / 2
    assert "not known to a factor of two" in found.note
    found = gspa.epsilon(eps=700.0, n=1000, delta=1e-30, mechanism="laplace", rounds=2)
    assert found.upper == 1400
    assert "no amplification was found" in found.note
