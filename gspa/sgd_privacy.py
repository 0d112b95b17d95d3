"""What Algorithm 3 of Chen et al. 2024 protects: each client alone, and all of them shuffled over T epochs.

Two records, two sensitivities. Algorithm 3 clips a client's *average* gradient to norm C, so one record can move
it by 2C (`gspa.sgd_sensitivity` exhibits it). Were every record's gradient clipped to C before averaging over
s records, one record would move it by 2C/s. The printed noise assumes 2C/m.

The lower bounds here are of Algorithm 3 itself with the loss l(theta, x) = <theta, x>, whose gradient is the record
x whatever the model: then nothing is adaptive, and the laws along one direction are Gaussian mixtures.

>>> round(release_epsilon(0.5, delta=1e-5, divisor=100), 1), round(release_epsilon(0.5, delta=1e-5, divisor=1), 3)
(96.4, 0.353)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln

from gspa import _validate as check
from gspa import budgets as budget_laws
from gspa.blanket import blanket_epsilon
from gspa.budgets import Budgets
from gspa.closed_forms import gspa_mu
from gspa.mechanisms import classical_gaussian_scale
from gspa.message_attack import message_attack_epsilon
from gspa.tradeoff import gdp_epsilon

SETTINGS = ("unif1", "unif2", "unif3", "constant", "mixed")  # Table 2's and U(0.5, 1)


def release_mu(eps: float, *, delta: float, divisor: int, records: int = 1, epochs: int = 1) -> float:
    """mu of a client's messages with line 7's noise, one record replaced; exact, and free of C.

    Line 7 has sigma = (2C/divisor) sqrt(2 log(1.25/delta))/eps, a movement is 2C/records, and `epochs` messages at
    the same records compose to the root of their number.

    Args:
        eps: the budget eps_i > 0 that line 7 uses.
        delta: the delta_i that line 7 uses, in (0, 1).
        divisor: line 7's m, >= 1.
        records: 1 when the average is clipped (Algorithm 3); the records s of a client when each gradient is.
        epochs: how many messages, >= 1.

    Raises:
        InvalidValue: an argument outside its range.

    >>> round(release_mu(0.5, delta=1e-5, divisor=100), 2)
    10.32
    """
    scale = classical_gaussian_scale(eps=eps, delta=delta, sensitivity=1 / check.count(divisor=divisor))
    return math.sqrt(check.count(epochs=epochs)) / (check.count(records=records) * scale)


def release_epsilon(eps: float, *, delta: float, divisor: int, records: int = 1, epochs: int = 1) -> float:
    """The least local eps at delta of a client whom line 7 promises (eps, delta); exact, errs upward by rounding.

    Arguments and errors as `release_mu`.
    """
    return gdp_epsilon(delta=delta, mu=release_mu(eps, delta=delta, divisor=divisor, records=records, epochs=epochs))


def local_table(
    eps: Sequence[float], *, delta: float, clients: int, samples: int, epochs: int, divisor: int | None = None
) -> pd.DataFrame:
    """True local eps against the promised one, in the readings of Algorithm 3 and after its repair.

    Args:
        eps: promised budgets > 0.
        delta: delta_i, in (0, 1).
        clients: the number of clients, one reading of line 7's m.
        samples: records of a client, the other reading.
        epochs: T.
        divisor: line 7's m in the two repaired columns; None for `clients`.

    Returns:
        One row a budget: `eps`; `clients`, `samples` (one message as printed with that m); `formula` (the same noise
        if the sensitivity were 2C/m); `repaired` (each record clipped, m = divisor, one message), `repaired_run`
        (all epochs).
    """
    m = clients if divisor is None else divisor
    rows = []
    for e in check.numbers(0, math.inf, eps=eps):

        def found(m: int, records: int = 1, epochs: int = 1, e: float = e) -> float:
            return release_epsilon(e, delta=delta, divisor=m, records=records, epochs=epochs)

        rows.append(
            {
                "eps": e,
                "clients": found(clients),
                "samples": found(samples),
                "formula": found(1),
                "repaired": found(m, samples),
                "repaired_run": found(m, samples, epochs),
            }
        )
    return pd.DataFrame(rows)


def log10_blanket_mass(dimension: int, ratio: float) -> float:
    """log10 of the mass that N(u, sigma^2 I) has in common for every u of length <= C, by quadrature to about 1e-9.

    The smallest of these densities at y is that of the farthest u, at a distance of y's length + C, so the mass is
    e^{-a^2/2} E[e^{-a R}] with a = C/sigma and R chi-distributed with d degrees of freedom: about e^{-a sqrt(d)}.
    It is the largest probability with which another client's message can be a draw that says nothing about it.

    Args:
        dimension: d >= 1.
        ratio: C/sigma > 0.

    Raises:
        InvalidValue: an argument outside its range.

    >>> round(log10_blanket_mass(1, 0.5), 6) == round(math.log10(math.erfc(0.5 / math.sqrt(2))), 6)
    True
    """
    d, a = check.count(dimension=dimension), check.in_range(1e-100, 1e100, ratio=ratio)
    top = 2 * (d - 1) / (math.sqrt(a * a + 4 * (d - 1)) + a)  # where the integrand is largest

    def log_integrand(r: float) -> float:
        return ((d - 1) * math.log(r) if d > 1 else 0.0) - r * r / 2 - a * r

    peak = log_integrand(top) if d > 1 else 0.0
    width = 1 / math.sqrt(1 + (d - 1) / top**2) if d > 1 else min(1.0, 1 / a)
    pieces = [max(top + k * width, 0.0) for k in (-40, -8, -2, 0, 2, 8, 40)]
    total = sum(
        quad(lambda r: math.exp(log_integrand(r) - peak) if r > 0 else float(d == 1), low, high, epsabs=0)[0]
        for low, high in pairwise(pieces)
        if high > low
    )
    log_norm = (d / 2 - 1) * math.log(2) + float(gammaln(d / 2))  # of the chi density
    return (peak + math.log(total) - log_norm - a * a / 2) / math.log(10)


def theorem5_epsilon(eps: float, *, n: int, epochs: int, delta: float) -> float:
    """The central eps at delta that Theorem 5 promises n clients of budget (eps, delta) after `epochs` epochs.

    Not a guarantee of Algorithm 3, see `theorem5_table`; arguments and errors as there.

    >>> round(theorem5_epsilon(0.5, n=100, epochs=50, delta=1e-5), 2)
    7.82
    """
    mu = gspa_mu(budget_laws.constant(check.positive(eps=eps), n=n, delta=delta))
    return gdp_epsilon(delta=delta, mu=math.sqrt(check.count(epochs=epochs)) * mu)


def _crowd(setting: str, clients: int, delta: float, seed: int) -> Budgets:
    drawn = budget_laws.draw(setting, n=clients, rng=np.random.default_rng([check.seed(seed=seed), 1])).expanded()
    return budget_laws.from_array(drawn.eps, delta, label=budget_laws.DISTRIBUTIONS[setting].label)


def theorem5_table(
    *,
    epochs: Sequence[int],
    clients: int,
    samples: int,
    delta: float,
    divisor: int,
    dimension: int,
    settings: Sequence[str] = SETTINGS,
    seed: int = 0,
) -> pd.DataFrame:
    """Theorem 5's promise beside what Algorithm 3 and its repair certainly give, at central delta = delta_i.

    Four numbers a row, for one record of the client with the largest budget, the order of the clients drawn once
    (line 3), so that T epochs are one shuffle of messages with noise sigma_i/sqrt(T):

    * `promised`: sqrt(T) mu through Fact 3, the sum of Theorem 5 over the clients;
    * `attacked`: a lower bound on eps of Algorithm 3 (`message_attack_epsilon`): the victim's clipped average is C
      or -C, the others' -C. The bound at T = 1 holds at every T for a fresh order every epoch too;
    * `local`: the victim's own messages without a shuffler, an upper bound: exact Gaussian composition;
    * `repaired`, `repaired_attacked`: each record clipped instead, both sides. The attack has all others' records at
      -C and the victim's at C: a budget for *one record* leaves the clients' averages apart, nobody hides among them.

    Args:
        epochs: values of T, >= 1.
        clients: n of Theorem 5's sum, >= 2.
        samples: records of one client.
        delta: delta_i of all and central delta, in (0, 1).
        divisor: line 7's m.
        dimension: the number of parameters, >= 1.
        settings: keys of `gspa.budgets.DISTRIBUTIONS`.
        seed: of the budgets drawn, as `gspa.experiments.figure4` draws them.

    Returns:
        One row for each (setting, T), with `setting`, `eps_max`, `T`, `mu` and `root_T_mu` besides.

    Raises:
        InvalidValue, OutsideValidity: an argument outside its range.
    """
    divisor, samples = check.count(divisor=divisor), check.count(samples=samples)
    rows = []
    for setting in settings:
        crowd = _crowd(setting, clients, delta, seed)
        eps = np.sort(crowd.expanded().eps)[::-1]
        mu = gspa_mu(crowd)
        # In units of C.
        sigma = np.array([2 * classical_gaussian_scale(eps=e, delta=delta, sensitivity=1 / divisor) for e in eps])
        for number in check.row(epochs=epochs):
            root = math.sqrt(check.count(T=number))
            noise = sigma / root

            def attack(low: float, others: float, noise: NDArray[np.float64] = noise) -> float:
                return message_attack_epsilon(
                    delta=delta,
                    high=1.0,
                    low=low,
                    sigma=noise[0],
                    others=others,
                    sigma_others=noise[1:],
                    dimension=dimension,
                )

            def alone(records: int, number: int = number, most: float = float(eps[0])) -> float:
                return release_epsilon(most, delta=delta, divisor=divisor, records=records, epochs=number)

            rows.append(
                {
                    "setting": crowd.label,
                    "eps_max": float(eps[0]),
                    "T": number,
                    "mu": mu,
                    "root_T_mu": root * mu,
                    "promised": gdp_epsilon(delta=delta, mu=root * mu),
                    "attacked": attack(-1.0, -1.0),
                    "local": alone(1),
                    "repaired": alone(samples),
                    "repaired_attacked": attack(1.0 - 2.0 / samples, -1.0),
                }
            )
    return pd.DataFrame(rows)


def certified_table(
    eps: float, *, delta: float, clients: int, samples: int, divisor: int, dimensions: Sequence[int]
) -> pd.DataFrame:
    """How much blanket there is under the other clients' messages, by dimension, for equal budgets.

    Three cases: Algorithm 3; the same noise with each record clipped; and noise for the replacement of a client's
    whole data (average clipped, sensitivity 2C). A clone must be possible wherever in the ball of radius C
    the other client's average lies.

    Args:
        eps: every client's budget > 0.
        delta: delta_i and the central delta, in (0, 1).
        clients: how many, >= 2.
        samples: records of one client.
        divisor: line 7's m.
        dimensions: numbers of parameters, >= 1.

    Returns:
        One row for each (noise, dimension): `noise`, `ratio` (C/sigma), `dimension`, `log10_mass`, `clones` (expected
        number of clones among the others), `local` (eps of one message alone, one record replaced; for the
        whole-client noise, all records), `certified` (the central eps of one epoch that `gspa.blanket` or
        `local` certifies for messages on a line; the same in every row of a noise).
    """
    clients, samples, divisor = (
        check.count(2, clients=clients),
        check.count(samples=samples),
        check.count(divisor=divisor),
    )
    scale = classical_gaussian_scale(eps=check.in_range(1e-100, 1e100, eps=eps), delta=delta)
    kinds = (
        ("Algorithm 3", 2 * scale / divisor, release_epsilon(eps, delta=delta, divisor=divisor)),
        (
            "each record clipped",
            2 * scale / divisor,
            release_epsilon(eps, delta=delta, divisor=divisor, records=samples),
        ),
        ("whole client", 2 * scale, release_epsilon(eps, delta=delta, divisor=1)),
    )
    rows = []
    for noise, sigma, local in kinds:
        line = blanket_epsilon([sigma / 2], count=[clients], delta=delta, mechanism="gaussian").upper
        for dimension in check.counts(dimensions=dimensions):
            log_mass = log10_blanket_mass(dimension, 1 / sigma)
            rows.append(
                {
                    "noise": noise,
                    "ratio": 1 / sigma,
                    "dimension": dimension,
                    "log10_mass": log_mass,
                    "clones": (clients - 1) * 10**log_mass,
                    "local": local,
                    "certified": min(local, line),
                }
            )
    return pd.DataFrame(rows)
