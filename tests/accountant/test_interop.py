"""Export to dp_accounting: its own composition of our distribution, against our intervals."""

from __future__ import annotations

import builtins
import math
import textwrap

import pytest

import gspa
from gspa.accountant import allocation, budgets
from gspa.accountant.errors import DataUnavailable, InvalidValue, OutsideValidity
from gspa.accountant.interop import compose_with_dp_accounting
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import BINARY
from gspa.accountant.rounds import compose, gaussian, shuffled


def test_missing_library_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataUnavailable, match=r"gspa\[dp\]"):
        compose_with_dp_accounting([(gaussian(1.0), 1)])
    with pytest.raises(DataUnavailable, match=r"^dp_accounting is not installed; pip install 'gspa\[dp\]'$"):
        gspa.to_dp_accounting(eps=0.5, n=100)


class TestWithLibrary:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("dp_accounting")

    def test_its_own_grid_of_our_outcomes(self):
        # An independent discretization: their connect-the-dots of the two mass functions.
        from dp_accounting.pld import privacy_loss_distribution as google
        from exact_pair import pair_law

        crowd = budgets.constant(1.0, n=8)
        one, pair = shuffled(crowd), pair_law(problem_of(crowd, BINARY, 0))
        first = {key: math.log(p) for key, (p, _) in pair.items()}
        second = {key: math.log(q) for key, (_, q) in pair.items()}
        theirs = google.from_two_probability_mass_functions(second, first, value_discretization_interval=1e-3)
        bound = compose([(one, 5)], delta=1e-4)
        assert theirs.self_compose(5).get_epsilon_for_delta(1e-4) == pytest.approx(bound.value, rel=1e-3)

    def test_local_delta_round_without_eps(self):
        silent = shuffled(budgets.constant(0.0, n=3, delta=1e-3))
        law = compose_with_dp_accounting([(silent, 2)], step=1e-2)
        assert law.get_delta_for_epsilon(0.5) == pytest.approx(1 - 0.999**2, rel=1e-6)

    def test_a_known_step_is_their_gaussian(self):
        from dp_accounting.pld import privacy_loss_distribution as google

        alone = gspa.Allocation(sigma=2.0, steps=1, epochs=4)
        theirs = google.from_gaussian_mechanism(2.0, value_discretization_interval=1e-3).self_compose(4)
        low, high = (gspa.to_dp_accounting(mechanism=alone, step=1e-3, pessimistic=side) for side in (False, True))
        ends = low.get_epsilon_for_delta(1e-6), high.get_epsilon_for_delta(1e-6)
        assert ends[0] <= theirs.get_epsilon_for_delta(1e-6) <= ends[1] < 1.002 * ends[0]

    @pytest.mark.slow
    def test_an_allocation_in_both_orders(self, monkeypatch):
        monkeypatch.setattr(allocation, "_PER_DEVIATION", 8)
        bounds = {}
        for direction in ("remove", "add"):
            run = gspa.Allocation(2.0, 10, direction)
            one = allocation.Allocated(run).round(direction, 10)
            bounds[direction] = compose([(one, 5)], delta=1e-6)
            # The library answers for the worse order, and a round of either order holds both.
            low, high = (compose_with_dp_accounting([(one, 5)], step=1e-3, pessimistic=side) for side in (False, True))
            ends = low.get_epsilon_for_delta(1e-6), high.get_epsilon_for_delta(1e-6)
            assert bounds["remove"].lower * 0.999 < ends[0] < ends[1] < bounds["remove"].upper * 1.001
        assert bounds["add"].upper < ends[0]


class TestFrontDoor:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("dp_accounting")

    def test_the_documented_example(self):
        # The module's own text, run; against our interval for the same composition.
        from gspa.accountant import interop

        example = textwrap.dedent(interop.__doc__.split("::\n", 1)[1].split("\nIts answers", 1)[0])
        scope = {}
        exec(example, scope)
        ours = compose([(shuffled(budgets.constant(0.5, n=10_000)), 10), (gaussian(1 / 20), 1)], delta=1e-6)
        assert ours.lower <= scope["both"].get_epsilon_for_delta(1e-6) <= ours.upper * (1 + 1e-4)

    @pytest.mark.parametrize(
        "asked",
        [
            *({"mechanism": runs, "eps": 0.8, "n": 2_000, "honest": 1_500} for runs in ("rr", "common", "laplace")),
            {"mechanism": gspa.Discrete([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]]), "n": 20},
        ],
    )
    def test_between_the_ends_of_the_same_question(self, asked):
        bound = gspa.epsilon(delta=1e-6, rounds=2, **asked)
        low, high = (gspa.to_dp_accounting(rounds=2, **asked, pessimistic=side) for side in (False, True))
        assert 0.999 * bound.lower < low.get_epsilon_for_delta(1e-6) <= bound.upper
        assert bound.lower <= high.get_epsilon_for_delta(1e-6) < 1.001 * bound.upper

    def test_refusals(self):
        with pytest.raises(InvalidValue, match="non-empty"):
            compose_with_dp_accounting([])
        with pytest.raises(OutsideValidity, match="dp_accounting"):
            gspa.to_dp_accounting(eps=1, n=9, mechanism="laplace", step=1e-9)
        with pytest.raises(InvalidValue, match="rounds = 0"):
            gspa.to_dp_accounting(eps=0.5, n=10, rounds=0)
        with pytest.raises(InvalidValue, match="step"):
            gspa.to_dp_accounting(eps=0.5, n=10, step=0)
        with pytest.raises(InvalidValue, match="n = None"):
            gspa.to_dp_accounting(eps=0.5)
