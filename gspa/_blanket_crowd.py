"""Users on a line as the blanket engine sees them: who can be the victim, and which (B, omega*) to try."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa._blanket_choice import choose, limit
from gspa._blanket_law import POWER, Noise, Reports
from gspa._blanket_reduction import Reduction
from gspa.budgets import Budgets
from gspa.errors import InvalidValue, OutsideValidity
from gspa.tradeoff import gdp_delta, gdp_epsilon

Array = NDArray[np.float64]

METHOD = "privacy blanket"
MOST_VICTIMS = 64
_MOST_SCALE = 1e150  # its square is a double, and so is its inverse's
_SHARES = (0.3, 0.05, 1e-2, 1e-3, 1e-6)  # of delta: leaks tried with the exact value, not its Gaussian limit
_MOST_MU = 40.0  # beyond it the answer is what the report alone guarantees


def population(scales: Budgets | ArrayLike, count: ArrayLike, mechanism: str) -> tuple[Array, NDArray[np.int64]]:
    """Noise scales and multiplicities, checked; a user with eps = 0 gets an infinite scale.

    Raises:
        InvalidValue: no list of scales > 0, one that is finite and outside [1e-150, 1e150], or counts that do not fit.
    """
    check.one_of(POWER, mechanism=mechanism)
    if isinstance(scales, Budgets):
        if mechanism != "laplace":
            raise InvalidValue("mechanism", mechanism, "'laplace' for budgets", "give the Gaussian's sigma_j as scales")
        if scales.delta_max > 0:
            raise OutsideValidity(METHOD, f"delta_i = 0, got {scales.delta_max:g}", "Laplace reports are pure")
        with np.errstate(divide="ignore", over="ignore"):
            return _usable(1 / scales.eps), scales.count
    found = np.atleast_1d(check.array_in(0, math.inf, scales=scales))
    if found.ndim != 1 or found.size == 0 or not (found > 0).all():
        raise InvalidValue("scales", found.tolist(), "a non-empty list of noise scales > 0")
    many = check.array_in(1, 2.0**53, count=count)
    many = np.full(found.shape, float(many)) if many.ndim == 0 else many
    if many.shape != found.shape:
        raise InvalidValue("len(count)", many.size, f"len(scales) = {found.size}")
    if not (many == np.floor(many)).all():
        raise InvalidValue("count", many.tolist(), "whole numbers")
    if many.sum() > 2.0**53:
        raise InvalidValue("sum of count", float(many.sum()), "at most 2^53")
    return _usable(found), many.astype(np.int64)


def _usable(scales: Array) -> Array:
    bad = scales[np.isfinite(scales) & ((scales < 1 / _MOST_SCALE) | (scales > _MOST_SCALE)) | (scales == 0)]
    if bad.size:
        allowed = f"infinite or in [{1 / _MOST_SCALE:g}, {_MOST_SCALE:g}]"
        raise InvalidValue("scale", float(bad[0]), allowed, "the scale of Laplace reports is 1/eps")
    return scales


@dataclass(frozen=True)
class Crowd:
    """Checked arguments of both entrances."""

    reports: Reports
    scales: Array
    mechanism: str
    inputs: tuple[float, float]

    @classmethod
    def of(cls, scales: Budgets | ArrayLike, count: ArrayLike, mechanism: str, inputs: tuple[float, float]) -> Crowd:
        scale, many = population(scales, count, mechanism)
        return cls(Reports.of(mechanism, scale, many), scale, mechanism, check.two_inputs(inputs))

    def candidates(self, victim: int | None) -> list[int]:
        """Whom to evaluate, least noise first: one index per distinct finite scale, or the one asked for."""
        if victim is not None:
            last = self.scales.size - 1
            index = check.count(0, victim=victim)
            if index > last:
                raise InvalidValue("victim", victim, f"an index of scales, 0 to {last}")
            return [index] if math.isfinite(self.scales[index]) else []
        _, first = np.unique(self.scales, return_index=True)
        return [int(i) for i in first if math.isfinite(self.scales[i])]

    def noise(self, victim: int) -> Noise:
        """The victim's density."""
        return Noise(self.reports.power, float(self.reports.kappa[victim]), float(self.reports.log_height[victim]))

    def gap(self, victim: int) -> float:
        """The two inputs' distance in noise scales: a Laplace report's eps, a Gaussian one's mu."""
        return abs(self.inputs[1] - self.inputs[0]) / float(self.scales[victim])

    def local_epsilon(self, victim: int, delta: float) -> float:
        """What the victim's report alone guarantees; exact."""
        gap = self.gap(victim)
        if self.mechanism == "gaussian":
            return gdp_epsilon(delta=delta, mu=gap)
        return max(0.0, gap + 2 * math.log1p(-delta))  # delta = 1 - e^((eps - gap)/2)

    def local_delta(self, victim: int, eps: float) -> float:
        """The same, the other way round."""
        gap = self.gap(victim)
        return gdp_delta(eps, mu=gap) if self.mechanism == "gaussian" else max(0.0, -math.expm1((eps - gap) / 2))

    def reductions(self, victim: int, delta: float, size: int | None = None) -> tuple[list[Reduction], float]:
        """Tight (B, omega*) near this delta, and their Gaussian limit's mu; none if nobody covers the victim."""
        noise = self.noise(victim)
        others = self.reports.without(victim)
        if others.count.size == 0:
            return [], math.inf
        envelopes = [choose(noise, self.inputs, others, delta, corrected=False)]
        first = limit(noise, self.inputs, others, envelopes[0])
        if not first.corrected(delta) < 1.05 * first.mu:  # far from the limit either choice may win
            envelopes.append(choose(noise, self.inputs, others, delta, corrected=True))
        mu = min(limit(noise, self.inputs, others, one).mu for one in envelopes)
        if not mu < _MOST_MU:
            return [], math.inf
        reach = [0.5 + max(noise.quantile(min(share * delta, 0.25)), 1e-3) for share in _SHARES]
        found = []
        for envelope in envelopes:
            # A larger B was worse in the limit: it thins the cover. A smaller one bounds L.
            radii = [envelope.radius, *(r for r in reach if r < 0.999 * envelope.radius)]
            cut = [replace(envelope, radius=r).cut() for r in radii]
            found += [Reduction.of(noise, self.inputs, others, one, delta, size) for one in cut]
        return found, mu

    def valid_for(self, evaluated: list[int]) -> str:
        """The class of mechanisms; says so where the victim's inputs are not the proved worst ones."""
        kind = "Laplace" if self.mechanism == "laplace" else "Gaussian"
        text = f"{kind} reports of values in [0, 1], own noise scale each, any values of the others"
        if max(self.inputs) - min(self.inputs) < 1:
            return text + f", the victim's {self.inputs[0]:g} and {self.inputs[1]:g}"
        if all(self.scales[i] <= self.scales.min() for i in evaluated):
            return text
        return text + "; 0 and 1 as the worst values of a victim with more than the least noise: measured, not proved"
