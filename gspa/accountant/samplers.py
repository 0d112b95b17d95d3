"""Which accounting is valid for which way of drawing batches, and that of Poisson samples.

With X = e^(z a - a^2/2), z normal and a = sensitivity/sigma, a step of Poisson samples with the record has the density
ratio 1 + r (X - 1) to one without it, r the rate with which every record takes part; steps compose as independent
pairs, also where they depend on earlier answers (Abadi et al. 2016; Zhu, Dong and Wang 2022): a step is a round of
`gspa.accountant.rounds`.

>>> accounting_for(sampler="dealt once").elsewhere[0]
'jax_privacy: BallsInBinsSampling, cycle_length = steps'
>>> run = {"sigma": 1.0, "steps": 1_000, "delta": 1e-6}
>>> poisson, shuffled = (accounting_for(sampler=name).epsilon(**run) for name in ("poisson", "shuffled once"))
>>> poisson.upper < shuffled.lower
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gspa.accountant import arguments as check
from gspa.accountant.allocation import DEALS, Allocated, Allocation, shuffled_batches_epsilon
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue
from gspa.accountant.losses import MOST_MU, Atoms, sampled_gaussian
from gspa.accountant.rounds import Round, compose, compose_delta, depth_of
from gspa.accountant.tradeoff import gdp_epsilon

__all__ = ["SAMPLERS", "Accounting", "accounting_for", "poisson_delta", "poisson_epsilon"]


@dataclass(frozen=True)
class Accounting:
    """What may be said of a run that draws its batches in one way.

    Attributes:
        sampler: one of `SAMPLERS`.
        drawn: how the batches are drawn, in words.
        function: of this package, which certifies the run.
        elsewhere: what other libraries call the sampler or its accounting, as their code was read in 2026.
        neighbours: the relations for which it is valid.
        why: why it is valid.
        invalid: accountings that are often used for it and are not valid, each with the reason.
        reference: where this is shown.
    """

    sampler: str
    drawn: str
    function: str
    elsewhere: tuple[str, ...]
    neighbours: tuple[str, ...]
    why: str
    invalid: tuple[tuple[str, str], ...]
    reference: str

    def epsilon(self, *, sigma: float, steps: int, delta: float, epochs: int = 1, sensitivity: float = 1.0) -> Bound:
        """What the run may claim: its certified eps at delta, for the first of `neighbours`.

        Args:
            sigma: standard deviation of the noise in each step's sum, > 0.
            steps: batches in one epoch; a Poisson sample has the rate 1/steps.
            delta: in (0, 1).
            epochs: >= 1.
            sensitivity: the clipping norm, > 0.

        Returns:
            Bound whose upper end is certified for the run. The lower end is that of the analysis; for shuffled batches
            it is an attack, of one epoch where they are shuffled anew in each.
        """
        sigma, steps, epochs = check.positive(sigma=sigma), check.count(steps=steps), check.count(epochs=epochs)
        delta = check.probability(allow_zero=False, delta=delta)
        if self.sampler == "poisson":
            return poisson_epsilon(
                sigma=sigma, steps=steps * epochs, rate=1 / steps, delta=delta, sensitivity=sensitivity
            )
        if self.sampler.startswith("dealt "):
            deal = self.sampler.removeprefix("dealt ")
            return Allocated(Allocation(sigma, steps, epochs=epochs, sensitivity=sensitivity, deal=deal)).epsilon(delta)
        # One place in all epochs: their mean says all, and has the noise of one epoch over the root of their number.
        less = sigma / math.sqrt(epochs) if self.sampler == "shuffled once" else sigma
        attack = shuffled_batches_epsilon(sigma=less, steps=steps, delta=delta, sensitivity=sensitivity)
        upper = gdp_epsilon(delta=delta, mu=2 * sensitivity / sigma * math.sqrt(epochs))
        ends, method = (min(attack.lower, upper), upper, upper), "one Gaussian step an epoch"
        return Bound(*ends, method, attack.valid_for, delta=delta, note=attack.note, reached=True)


_ADD_REMOVE = "one record added or removed"
_REPLACE = "one record replaced"
_FIXED = (
    "where a record lands moves the others, so the batches say more of it than the noise of one step against none: "
    "with all other contributions opposed, a batch that holds the record stands out by twice the sensitivity"
)
_POISSON_ON_SHUFFLED = ("Poisson accounting", f"{_FIXED}. At little noise an attack exceeds it (Chua et al. 2024)")
_ALLOCATION_ON_SHUFFLED = ("random allocation", f"records are not dealt independently: {_FIXED}")
_TOLD = (
    "the order is drawn without looking at the data, so the adversary may be told all places; then a record moves one "
    "step an epoch, by at most twice the clipping norm if it is replaced"
)
_APART = (
    "the others' places do not depend on the record's, and the largest contributions are the worst ones, chosen "
    "adaptively or not"
)
_POISSON_ON_DEALT = (
    "Poisson accounting",
    "a Poisson sample leaves a record out of all steps with probability (1 - 1/t)^t; here it is always in one, which "
    "little noise reveals, so at a large delta there is no such bound",
)
_KEPT = "the place is the same in all, and is not drawn again"
_NO_EVENT = "dp_accounting: no event for it; SampledWithoutReplacementDpEvent draws each batch anew from all records"
_dealt = partial(
    Accounting,
    function="gspa.Allocation",
    neighbours=(_ADD_REMOVE, _REPLACE),
    reference="the proofs page of this book; Chua et al. 2025, arXiv:2412.16802; Feldman and Shenfeld 2025, "
    "arXiv:2502.08202",
)
_shuffled = partial(
    Accounting,
    function="gspa.accountant.allocation.shuffled_batches_epsilon",
    neighbours=(_REPLACE, "one record's contributions zeroed, with half the sensitivity of a replaced one"),
    reference="Chua et al. 2024, arXiv:2403.17673 and arXiv:2411.04205",
)

SAMPLERS: dict[str, Accounting] = {
    one.sampler: one
    for one in (
        Accounting(
            "poisson",
            "in each step every record takes part independently with one probability",
            "gspa.accountant.samplers.poisson_epsilon",
            (
                "dp_accounting: PoissonSampledDpEvent",
                "opacus: make_private(poisson_sampling=True), whose accountants all assume it",
                "jax_privacy: CyclicPoissonSampling, cycle_length = 1, no truncation",
                "prv_accountant: PoissonSubsampledGaussian",
            ),
            (_ADD_REMOVE,),
            "steps are independent, and each is a mixture of noise with the record and noise without it",
            (
                (_REPLACE, "both hypotheses are then mixtures, another pair, which this function does not compose"),
                (
                    "batches cut to a fixed size, or sums divided by the batch's own size",
                    "the others' contributions then depend on the record; divide by the expected size",
                ),
            ),
            "Zhu, Dong and Wang 2022, arXiv:2106.08567",
        ),
        _dealt(
            sampler="dealt each epoch",
            drawn="in each epoch every record is dealt, independently and afresh, to one step chosen uniformly",
            elsewhere=("PLD_accounting: gaussian_allocation_epsilon_range, num_epochs", _NO_EVENT),
            why=f"{_APART}; epochs are composed",
            invalid=(_POISSON_ON_DEALT, ("one deal for all epochs", "epochs are composed as independent deals")),
        ),
        _dealt(
            sampler="dealt once",
            drawn="every record is dealt once, independently, to one step chosen uniformly, and all epochs keep its "
            "place",
            elsewhere=(
                "jax_privacy: BallsInBinsSampling, cycle_length = steps",
                "jax_privacy: CyclicPoissonSampling, sampling_prob = 1, PartitionType.INDEPENDENT",
                _NO_EVENT,
            ),
            why=f"{_APART}; the mean of a place's E answers says all, so E epochs are one with the noise over the root "
            "of E; cycles that are not whole count as whole ones",
            invalid=(_POISSON_ON_DEALT, ("a deal afresh in each epoch", _KEPT)),
        ),
        _shuffled(
            sampler="shuffled each epoch",
            drawn="in each epoch the records are shuffled and cut into batches of one size",
            elsewhere=("opacus: make_private(poisson_sampling=False) with torch's DataLoader(shuffle=True)", _NO_EVENT),
            why=f"{_TOLD}; epochs are composed",
            invalid=(_POISSON_ON_SHUFFLED, _ALLOCATION_ON_SHUFFLED),
        ),
        _shuffled(
            sampler="shuffled once",
            drawn="the records are shuffled once and cut into batches of one size, which all epochs use",
            elsewhere=("jax_privacy: CyclicPoissonSampling, sampling_prob = 1, PartitionType.EQUAL_SPLIT", _NO_EVENT),
            why=f"{_TOLD}; E epochs in one place are one step with the noise over the root of E, so the order can hide "
            "a record at most once",
            invalid=(_POISSON_ON_SHUFFLED, _ALLOCATION_ON_SHUFFLED, ("amplification in every epoch", _KEPT)),
        ),
    )
}


_BOTH = "it names both: jax_privacy's BallsInBinsSampling is dealt once, PLD_accounting deals afresh in each epoch"


def accounting_for(*, sampler: str) -> Accounting:
    """The accounting that is valid for a way of drawing batches, and those that are not.

    Args:
        sampler: "poisson", "dealt each epoch", "dealt once", "shuffled each epoch" or "shuffled once".

    Raises:
        InvalidValue: "balls and bins" or "random allocation", which name both samplers that deal.
        UnknownName: another name; the nearest is suggested.
    """
    if any(word in str(sampler).lower() for word in ("ball", "bins", "allocation")):
        raise InvalidValue("sampler", sampler, " or ".join(f'"dealt {deal}"' for deal in DEALS), _BOTH)
    return SAMPLERS[check.one_of(SAMPLERS, sampler=sampler)]


# --- Poisson samples -----------------------------------------------------------------------------------------

_METHOD = "Poisson-sampled Gaussian steps, composed on a grid from both sides"


def _step(shift: float, rate: float, added: bool) -> Round:
    def pair(delta: float, times: int) -> tuple[Atoms, Atoms]:
        return sampled_gaussian(shift, depth=depth_of(delta, times), rate=rate, added=added)

    most = -math.log1p(-rate) * (1 + 2.0**-50) if added and rate < 1 else math.inf
    about = "noisy sums in which each record takes part in each step independently; a record added or removed"
    return Round(_METHOD, about, (pair,), most=most, reached=True)


def _worst(answer: Callable[[Round], Bound], sigma: float, rate: float, direction: str, sensitivity: float) -> Bound:
    shift = check.positive(sensitivity=sensitivity) / check.positive(sigma=sigma)
    shift, rate = check.in_range(0, MOST_MU, **{"sensitivity/sigma": shift}), check.in_range(1e-9, 1.0, rate=rate)
    check.one_of(("remove", "add", "both"), direction=direction)
    found = [answer(_step(shift, rate, one == "add")) for one in ("remove", "add") if direction in (one, "both")]
    low, high = max(one.lower for one in found), max(one.upper for one in found)
    return replace(found[0], lower=low, value=(low + high) / 2, upper=high, method=_METHOD, note="")


def poisson_delta(
    *, sigma: float, steps: int, rate: float, eps: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """delta(eps) of noisy sums over Poisson samples; arguments and errors as for `poisson_epsilon`, and eps >= 0.

    >>> bound = poisson_delta(sigma=1.0, steps=1_000, rate=1e-3, eps=0.2)
    >>> bound.lower <= bound.upper <= 1.01 * bound.lower
    True
    """
    steps = check.count(steps=steps)
    return _worst(lambda one: compose_delta([(one, steps)], eps=eps), sigma, rate, direction, sensitivity)


def poisson_epsilon(
    *, sigma: float, steps: int, rate: float, delta: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """The least eps at which noisy sums over Poisson samples are (eps, delta)-DP.

    Args:
        sigma: standard deviation of the noise in each step, > 0.
        steps: how many, of all epochs together.
        rate: probability with which a record takes part in a step, in [1e-9, 1].
        delta: in (0, 1).
        direction: "remove" (with the record against without), "add", or "both", the larger of the two.
        sensitivity: the largest norm of a record's contribution to a sum, > 0: the clipping norm; at most 1000 sigma.

    Returns:
        Bound on the worst contributions' eps, proved up to allowances for rounding as in `rounds.compose`.
    """
    steps = check.count(steps=steps)
    return _worst(lambda one: compose([(one, steps)], delta=delta), sigma, rate, direction, sensitivity)
