"""Ready-made arguments for functions that take more than numbers: small, made once, never changed."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from gspa import (
    aligned,
    audit_cases,
    auditing,
    budgets,
    comparison,
    discrete,
    estimator_choices,
    gaussian_guarantee,
    histograms,
    hypothesis_testing,
    infeasible,
    noise,
    normal_pair,
    normal_tables,
    reduction,
    reduction_cases,
    tradeoff,
)
from gspa import finite_mechanisms as finite
from gspa._rounds import gaussian, shuffled, shuffled_reports
from gspa.accountant import problem_of
from gspa.error_laws import Groups
from gspa.flame import (
    amplification,
    error,
    index_privacy,
    padded,
)
from gspa.flame.randomizers import Buckets, Laplace
from gspa.privacy_loss import privacy_loss
from gspa.randomizers import binary, subset

P = Fraction(3)
POPULATIONS = (
    budgets.constant(0.5, n=10),
    budgets.constant(0.0, n=3),
    budgets.constant(8.0, n=2),
    budgets.constant(1.0, n=1),
    budgets.constant(1e-9, n=5),
    budgets.constant(5e-324, n=2),
    budgets.constant(700.0, n=3),
    budgets.constant(1e308, n=2),
    budgets.constant(1.0, n=1000),
    budgets.from_array([0.1, 1.0, 3.0], 0.0, [3, 2, 1]),
    budgets.from_array([0.5, 0.7], 0.01),
    budgets.from_array([0.0, 2.0, 0.0]),
    budgets.from_array([0.5, 0.5], [0.0, 0.9]),
)
CURVES = (
    lambda alpha: tradeoff.gaussian(alpha, mu=1.0),
    lambda alpha: tradeoff.f_eps_delta(alpha, eps=0.5, delta=0.01),
    lambda alpha: 1 - alpha,
)
TRADE_OFFS = (
    discrete.neyman_pearson([0.5, 0.5], [0.25, 0.75]),
    discrete.neyman_pearson([1.0, 0.0], [0.0, 1.0]),
    discrete.neyman_pearson([0.2, 0.8], [0.2, 0.8]),
    hypothesis_testing.fact_1(eps=1.0, delta=0.1),
)
MECHANISMS = (
    finite.randomized_response(P),
    finite.randomized_response(2.5, k=3),
    finite.one_bit(Fraction(2)),
    finite.quaternary(P, Fraction(1, 10)),
    finite.extremal(P, inputs=3, patterns=2, rng=0),
)
PURE = tuple(mechanism for mechanism in MECHANISMS if mechanism.delta == 0)
LAWS = tuple(np.array(law) for law in ([0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [Fraction(1, 2), Fraction(1, 2)]))
ROWS = (
    reduction.subset_selection(2, 1, P),
    reduction.truth_with(Fraction(1, 10), P),
    reduction.signed(((Fraction(1),),) * 2, 0, 1),
)
SETTINGS = (
    amplification.Setting(d=20, k=2, n=50, n_p=10, eps=0.5, delta=1e-3),
    amplification.Setting(d=1, k=1, n=1, n_p=1, eps=5.0, delta=0.5),
    amplification.Setting(d=20, k=2, n=5000, n_p=1000, eps=0.5, delta=1e-3),
)
LOCALS = (Laplace(0.5), Buckets(0.5, 4), Buckets(3.0, 1), Laplace(20.0))
GROUPS = (Groups(n=50), Groups(n=20, f_conservative=0.2, f_liberal=0.1))


@cache
def worlds() -> tuple[histograms.Worlds, ...]:
    people = budgets.from_array([0.5, 1.0], 0.0, [4, 2])
    return histograms.randomized_response(people), histograms.randomized_response(people, k=3)


@cache
def problems() -> tuple[Any, ...]:
    return problem_of(POPULATIONS[0], binary(), 0), problem_of(POPULATIONS[9], subset(3, 1), 2)


@cache
def rounds() -> tuple[Any, ...]:
    return (
        shuffled(POPULATIONS[0]),
        shuffled(POPULATIONS[9], mechanism="krr", k=3),
        gaussian(1.0),
        shuffled_reports([1.0], count=20),
    )


@cache
def loss() -> Any:
    return privacy_loss(problems()[0])


@cache
def audit_settings() -> list[audit_cases.Case]:
    return audit_cases.cases(n=10)


@cache
def tables() -> dict[str, tuple[Any, ...]]:
    """Arguments that are another function's table, by the function that takes them."""
    audited = auditing.intervals(audit_settings()[:3], samples=200, seed=0)
    lemma1 = reduction_cases.table(reduction_cases.cases()[:3])
    figure2 = comparison.figure2(n_min=100, n_max=400, steps=3)
    noisy = noise.noise_table(eps=0.5, deltas=[1e-5], dimensions=[1, 4, 16])
    constants = gaussian_guarantee.constants(local=[0.5, 1.0], sizes=[10, 100])
    promises = gaussian_guarantee.promises(local=[0.5], sizes=[10, 100], deltas=[1e-4])
    distances = normal_tables.distance_table(eps0=[0.5, 1.0], sizes=[10, 100, 1000])
    return {
        "auditing.judge": (audited,),
        "auditing.from_below": (audited,),
        "auditing.from_above": (audited,),
        "auditing.shrunk": (audited,),
        "auditing.sensitivity": (audited,),
        "auditing.by_bound": (audited,),
        "reduction_cases.exceeds": (lemma1,),
        "reduction_cases.worst_of": (lemma1,),
        "reduction_cases.broken_list": (lemma1,),
        "reduction_cases.readable": (lemma1,),
        "comparison.slopes": (figure2,),
        "comparison.ratios": (figure2,),
        "comparison.drawn": (figure2,),
        "comparison.reductions": (comparison.ratios(figure2),),
        "comparison.reached_from": (comparison.ratios(figure2),),
        "noise.first_dimension": (noisy,),
        "gaussian_guarantee.peaks": (constants,),
        "gaussian_guarantee.safe_up_to": (promises,),
        "gaussian_guarantee.tanh_accuracy": (promises,),
        "normal_tables.rates": (distances,),
        "normal_tables.readable": (distances,),
        "normal_tables.readable_rates": (normal_tables.rates(distances),),
        "normal_tables.readable_seen": (normal_tables.seen_table(eps0=0.5, sizes=[10, 100, 1000]),),
        "normal_pair.readable_numbers": (normal_pair.lemma3_numbers(draws=3, users=4, seed=0),),
        "normal_pair.symbols_table": (normal_pair.lemma3_symbols(),),
        "estimator_choices.side_by_side": (estimator_choices.frequency_choices(GROUPS[0], repeats=3),),
        "flame.index_privacy.largest_fitting_l": (index_privacy.overflow_by_l(d=20, k=4, n=50, n_p=20),),
        "flame.error.exponent": (
            error.error_table(
                n_p=np.array([10**4, 10**5]), n_s=np.array([50, 100]), eps_ck=np.array([0.5, 1.0]), delta=1e-4
            ),
        ),
        "flame.privacy.headline": (),
    }


@cache
def coordinates() -> tuple[padded.Coordinate, ...]:
    return padded.coordinate(Laplace(0.5), n_p=10), padded.coordinate(Buckets(0.5, 4), n_p=5, n=20, beta=0.1)


@cache
def linear_cases() -> tuple[Any, ...]:
    return tuple(infeasible.cases(3, delta=Fraction(1, 10)))


@cache
def aligned_cases() -> tuple[Any, ...]:
    return tuple(aligned.cases()[:2])


@cache
def exact_laws() -> tuple[Any, ...]:
    rr = ROWS[0]
    return (
        reduction.two_laws([rr] * 3, others=(0, 0), attached="user"),
        reduction.count_pair(P, clones=[Fraction(1, 4)] * 2),
    )
