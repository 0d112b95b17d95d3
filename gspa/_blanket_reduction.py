"""The two sides of one blanket bound: delta(eps) of one (B, omega*) for one victim, bracketed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa._blanket_law import Cells, Envelope, Noise, Reports, cells, leak, lower_atoms, upper_atoms
from gspa._random_sum import Bracket, log_mgf, positive_part
from gspa.clone_law import CloneLaw, clone_law

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
    clones: CloneLaw

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
        c = envelope.clones(others)
        depth = -math.log(max(_MISSING * delta, 1e-100))
        law = clone_law(c, 1 - c, others.count.astype(np.float64), depth=depth, above=depth)
        return cls(victim, inputs, envelope, cells(victim, inputs, envelope, size), law)

    def _directions(self) -> tuple[bool, ...]:
        # y -> 1 - y exchanges the laws of the inputs x and 1 - x and keeps omega*.
        return (False,) if self.inputs[0] + self.inputs[1] == 1 else (False, True)

    def upper(self, eps: float) -> float:
        """Not below the reduction's delta(eps)."""
        eps = min(eps, _LARGEST)  # delta falls with eps
        found = [
            expectation_above(upper_atoms(self.cells, eps, swap), self.clones) + self.leak(eps, swap)[1]
            for swap in self._directions()
        ]
        return min(max(found), 1.0)

    def lower(self, eps: float) -> float:
        """Not above the reduction's delta(eps)."""
        if eps > _LARGEST:
            return 0.0
        return max(
            expectation_below(lower_atoms(self.cells, eps, swap), self.clones) + self.leak(eps, swap)[0]
            for swap in self._directions()
        )

    def leak(self, eps: float, swap: bool) -> tuple[float, float]:
        """Bounds on what the victim's report outside B costs."""
        return leak(self.victim, self.inputs[::-1] if swap else self.inputs, self.envelope.radius, eps)


def expectation_above(atoms: tuple[Array, Array], law: CloneLaw) -> float:
    """Not below E[(1/(C+1)) (L_1 + ... + L_(C+1))_+]; it decreases in C, so a block counts with its first C."""
    weights = (law.mass + law.error) / (law.edges[:-1] + 1)
    rest = ((law.above, law.edges[-1]), (law.below, law.far), (law.far_mass, 0.0))
    return _covered(atoms, law, law.edges[0], weights).upper + sum(
        mass * _crude(*atoms, count + 1) for mass, count in rest if mass > 0
    )


def expectation_below(atoms: tuple[Array, Array], law: CloneLaw) -> float:
    """Not above the same: a block counts with its last C."""
    last = law.edges[1:] - 1
    return _covered(atoms, law, last[0], np.maximum(law.mass - law.error, 0.0) / (last + 1)).lower


def _covered(atoms: tuple[Array, Array], law: CloneLaw, first: float, weights: Array) -> Bracket:
    """sum_i weights[i] E[(L_1 + ... + L_(C_i + 1))_+], C_i one block's length after the other, from `first`."""
    if not weights.any():
        return Bracket(0.0, 0.0)
    return positive_part(*atoms, int(first) + 1, weights, stride=int(law.edges[1] - law.edges[0]))


def _crude(values: Array, masses: Array, m: float) -> float:
    """Chernoff's bound on E[(L_1 + ... + L_m)_+]/m, at most 1: x_+ <= e^(a x)/(e a) for every a > 0."""
    top = float(values.max())
    if top <= 0:
        return 0.0
    spread = math.sqrt(m * float(masses @ values**2))
    tilts = [2.0**k / spread for k in range(-1, 5)]
    logs = [m * log_mgf(values, masses, a) - math.log(math.e * a * m) for a in tilts]
    return min(1.0, math.exp(min(*logs, 0.0)))
