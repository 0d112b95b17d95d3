"""The two sides of one blanket bound: delta(eps) of one (B, omega*) for one victim, bracketed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa._bernoulli_sum import Window, bernoulli_sum
from gspa._blanket_law import Cells, Envelope, Noise, Reports, cells, leak, lower_atoms, upper_atoms
from gspa._random_sum import log_mgf, positive_part

Array = NDArray[np.float64]

_LARGEST = 200.0  # beyond it e^eps L overflows where it is squared
_MISSING = 1e-5  # of delta: what the window of C may leave out


@dataclass(frozen=True)
class Reduction:
    """One (B, omega*) for one victim: everything that does not depend on eps."""

    victim: Noise
    inputs: tuple[float, float]
    envelope: Envelope
    cells: Cells
    clones: Window

    @classmethod
    def of(
        cls,
        victim: Noise,
        inputs: tuple[float, float],
        others: Reports,
        envelope: Envelope,
        delta: float,
        size: int | None = None,
    ) -> Reduction:
        """From a (B, omega*) for about this delta; `size` is about the number of cells."""
        window = bernoulli_sum(envelope.clones(others), others.count, missing=max(_MISSING * delta, 1e-100))
        return cls(victim, inputs, envelope, cells(victim, inputs, envelope, size), window)

    def _directions(self) -> tuple[bool, ...]:
        # y -> 1 - y exchanges the laws of the inputs x and 1 - x and keeps omega*.
        return (False,) if self.inputs[0] + self.inputs[1] == 1 else (False, True)

    def upper(self, eps: float) -> float:
        """Not below the reduction's delta(eps)."""
        eps = min(eps, _LARGEST)  # delta falls with eps
        first, masses, below, above, noise = self.clones
        weights = masses / (first + 1 + np.arange(masses.size))
        worst = 0.0
        for swap in self._directions():
            atoms = upper_atoms(self.cells, eps, swap)
            covered = positive_part(*atoms, first + 1, weights).upper
            # The expectation is at most 1, and decreases in C: noise meets its value at the window's start.
            covered += below + above + noise * masses.size * _crude(*atoms, first + 1)
            worst = max(worst, covered + self.leak(eps, swap)[1])
        return min(worst, 1.0)

    def lower(self, eps: float) -> float:
        """Not above the reduction's delta(eps)."""
        if eps > _LARGEST:
            return 0.0
        first, masses, _, _, noise = self.clones
        weights = masses / (first + 1 + np.arange(masses.size))
        best = 0.0
        for swap in self._directions():
            atoms = lower_atoms(self.cells, eps, swap)
            covered = positive_part(*atoms, first + 1, weights).lower
            covered -= noise * masses.size * _crude(*atoms, first + 1)
            best = max(best, max(covered, 0.0) + self.leak(eps, swap)[0])
        return best

    def leak(self, eps: float, swap: bool) -> tuple[float, float]:
        """Bounds on what the victim's report outside B costs."""
        return leak(self.victim, self.inputs[::-1] if swap else self.inputs, self.envelope.radius, eps)


def _crude(values: Array, masses: Array, m: int) -> float:
    """Chernoff's bound on E[(L_1 + ... + L_m)_+]/m, at most 1: x_+ <= e^(a x)/(e a) for every a > 0."""
    top = float(values.max())
    if top <= 0:
        return 0.0
    spread = math.sqrt(m * float(masses @ values**2))
    tilts = [2.0**k / spread for k in range(-1, 5)]
    logs = [m * log_mgf(values, masses, a) - math.log(math.e * a * m) for a in tilts]
    return min(1.0, math.exp(min(*logs, 0.0)))
