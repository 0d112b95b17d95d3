"""Argument checks and error messages: what is refused, and with which words."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import gspa
from gspa.accountant import arguments as check
from gspa.accountant import budgets, tradeoff
from gspa.accountant.errors import (
    CheckFailed,
    GspaError,
    InvalidBudget,
    InvalidValue,
    OutsideValidity,
    ProcessDied,
    UnknownName,
)
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.algorithms.frequency import frequency_reports


@pytest.mark.parametrize(
    ("validator", "accepted"),
    [
        (check.real, [-3, 0, 2.5, np.float64(1), np.int64(4)]),
        (check.positive, [1e-300, 1, np.float32(0.5)]),
        (check.nonnegative, [0, 0.0, 7]),
        (check.probability, [0, 0.0, 1e-300, 1 - 1e-16]),
    ],
)
def test_accepted_numbers_come_back_as_equal_floats(validator, accepted):
    for value in accepted:
        result = validator(x=value)
        assert type(result) is float
        assert result == value


@pytest.mark.parametrize("validator", [check.real, check.positive, check.nonnegative, check.probability])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", None, True, np.True_, [1.0], 1j])
def test_no_check_takes_nan_infinity_booleans_or_other_types(validator, value):
    with pytest.raises(InvalidValue, match=r"^x = .*: must be "):
        validator(x=value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: check.positive(eps=0), "eps = 0: must be a finite number > 0"),
        (lambda: check.nonnegative(mu=-1e-9), "mu = -1e-09: must be a finite number >= 0"),
        (lambda: check.probability(delta=1), "delta = 1: must be in [0, 1)"),
        (lambda: check.probability(delta=-0.1), "delta = -0.1: must be in [0, 1)"),
        (lambda: check.probability(allow_zero=False, delta=0.0), "delta = 0.0: must be in (0, 1)"),
        (lambda: check.in_range(0, 1, f=1.5), "f = 1.5: must be in [0, 1]"),
        (lambda: check.count(n=0), "n = 0: must be an integer >= 1"),
        (lambda: check.count(2, n=1), "n = 1: must be an integer >= 2"),
        (lambda: check.count(n=1.5), "n = 1.5: must be an integer >= 1"),
        (lambda: check.count(n=math.nan), "n = nan: must be an integer >= 1"),
        (lambda: check.count(n=True), "n = True: must be an integer >= 1"),
        (lambda: check.count(n="10"), "n = '10': must be an integer >= 1"),
        (lambda: check.one_of(["a", "b"], kind=3), "kind = 3: must be one of a, b"),
        (lambda: check.array_in(0, 1, alpha=[[0.5, math.nan]]), "alpha[0, 1] = nan: must be in [0, 1]"),
        (lambda: check.array_in(0, 1, alpha=2), "alpha = 2.0: must be in [0, 1]"),
        (
            lambda: check.array_in(0, 1, alpha=["x"]),
            "alpha = ['x']: must be a number or a rectangular array of numbers",
        ),
        (
            lambda: check.array_in(0, 1, a=[[1], [1, 1]]),
            "a = [[1], [1, 1]]: must be a rectangular array of numbers",
        ),
    ],
)
def test_a_refusal_names_argument_value_and_range(call, words):
    with pytest.raises(InvalidValue) as refusal:
        call()
    assert str(refusal.value) == words
    assert refusal.value.exit_code == 2


def test_count_takes_whole_floats_and_numpy_integers():
    for value in (10_000, 1e4, np.int32(10_000), np.float64(1e4)):
        assert check.count(n=value) == 10_000
        assert type(check.count(n=value)) is int
    assert check.count(n=2**53 - 1) == 2**53 - 1
    for beyond in (2**53, 10**18 + 1):  # the latter not through a float
        with pytest.raises(InvalidValue, match=f"n = {beyond}: must be an integer from 1 to 2"):
            check.count(n=beyond)


def test_in_range_is_closed():
    assert check.in_range(0, 1, f=0) == 0
    assert check.in_range(0, 1, f=1) == 1


def test_array_in_keeps_the_shape_and_copies():
    given = np.array([[0.0, 1.0], [0.25, 0.5]])
    taken = check.array_in(0, 1, alpha=given)
    np.testing.assert_array_equal(taken, given)
    taken[0, 0] = 0.9
    assert given[0, 0] == 0
    assert check.array_in(0, math.inf, eps=3).shape == ()


def test_one_of_suggests_the_nearest_name():
    assert check.one_of({"laplace": 1}, mechanism="laplace") == "laplace"
    with pytest.raises(UnknownName) as refusal:
        check.one_of(["laplace", "gaussian"], mechanism="laplac")
    assert str(refusal.value) == "mechanism 'laplac': does not exist; did you mean 'laplace'?"
    with pytest.raises(UnknownName, match="known: laplace, gaussian"):
        check.one_of(["laplace", "gaussian"], mechanism="qqq")


def test_rng_passes_generators_through_and_seeds_reproducibly():
    generator = np.random.default_rng(3)
    assert check.rng(generator) is generator
    assert check.rng(5).random() == np.random.default_rng(5).random()
    with pytest.raises(InvalidValue, match=r"seed = -1: must be an integer >= 0"):
        check.rng(-1)


def test_long_values_are_shortened_to_one_line():
    message = str(InvalidValue("x", list(range(1000)), "short"))
    assert len(message) < 100
    assert "\n" not in message
    assert "..." in message
    # An array's repr breaks its lines.
    assert str(InvalidValue("x", np.eye(2), "short")) == "x = array([[1., 0.], [0., 1.]]): must be short"


def test_errors_belong_to_the_families_a_caller_would_catch():
    assert issubclass(InvalidBudget, InvalidValue)
    assert issubclass(InvalidValue, ValueError)
    assert issubclass(OutsideValidity, ValueError)
    assert issubclass(UnknownName, KeyError)
    assert all(issubclass(e, GspaError) for e in (InvalidValue, OutsideValidity, UnknownName, CheckFailed))
    assert CheckFailed("x").exit_code == 1
    refusal = OutsideValidity("FMT21", "n >= 2", "n = 1")
    assert str(refusal) == "FMT21: needs n >= 2; n = 1"


PART = np.ma.array([1, 1, 1], mask=[False, True, True])  # numpy's own asarray gives three ones
ONE = np.ma.array(1, mask=True)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: gspa.epsilon(budgets=PART, delta=1e-6),
        lambda: gspa.epsilon(budgets=list(PART), delta=1e-6),
        lambda: gspa.epsilon(eps=np.ma.masked, n=3, delta=1e-6),
        lambda: gspa.epsilon(eps=1.0, n=ONE, delta=1e-6),
        lambda: gspa.epsilon(mechanism=gspa.Gaussian(sigma=PART), delta=1e-6),
        lambda: gspa.epsilon(mechanism=gspa.Laplace(scale=PART), delta=1e-6),
        lambda: gspa.epsilon(mechanism=gspa.Laplace(scale=list(PART)), delta=1e-6),
        lambda: gspa.per_user(budgets=PART, delta=1e-6),
        lambda: gspa.risk(eps=1.0, n=3, fpr=PART / 2),
        lambda: budgets.from_array([1.0, 1.0, 1.0], 0 * PART),
        lambda: budgets.from_array([1.0, 1.0, 1.0], 0 * ONE),
        lambda: budgets.from_array([1.0, 1.0, 1.0], count=PART),
        lambda: budgets.from_array([1.0, 1.0, 1.0], count=ONE),
        lambda: blanket_epsilon(PART, delta=1e-6),
        lambda: blanket_epsilon([1.0, 1.0, 1.0], count=PART, delta=1e-6),
        lambda: blanket_epsilon([1.0], count=ONE, delta=1e-6),
        lambda: gspa.epsilon(n=10 * PART, eps=0.5, delta=1e-4),
        lambda: tradeoff.gaussian(PART / 2, mu=1.0),
        lambda: check.array_in(0, 1, alpha=[[PART, PART]]),
        lambda: frequency_reports(PART, [1.0, 1.0, 1.0], rng=0),
        lambda: frequency_reports([1, 1, 1], PART, rng=0),
    ],
)
def test_what_is_masked_is_never_put_back(ask):
    with pytest.raises(InvalidValue, match="masked"):
        ask()


def test_a_mask_that_hides_nothing_is_no_fault():
    whole = np.ma.array([1.0, 1.0, 1.0], mask=[False, False, False])
    assert gspa.epsilon(budgets=whole, delta=1e-6) == gspa.epsilon(budgets=[1.0, 1.0, 1.0], delta=1e-6)


@pytest.mark.parametrize(
    "error",
    [
        GspaError("plain"),
        InvalidValue("eps", -1, "> 0", "use a positive one"),
        InvalidBudget("eps", 0, "> 0"),
        OutsideValidity("a bound", "n > 1"),
        UnknownName("claim", "G-T9", ["G-T2"]),
        CheckFailed("failed"),
        ProcessDied("killed"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_pickling_keeps_type_message_and_attributes(error):
    """A worker's one clear line reaches the caller."""
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert found.args == error.args
    assert vars(found) == vars(error)
