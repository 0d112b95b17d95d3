"""E[(L_1 + ... + L_M)_+] for a random number M of independent copies of a discrete L, bracketed from both sides.

For any lambda > 0, with the characteristic function of the law of S tilted by e^(lambda s),

    E[S_+] = 1/(2 pi) int M(lambda + it) / (lambda + it)^2 dt,        M(z) = E[e^(z S)].

Three facts turn the integral into a bracket.

1. The trapezoidal sum with step 2 pi / P equals sum_j e^(-lambda j P) E[(S + j P)_+] over all
   integers j: the term j = 0 is what is wanted and every other one is >= 0. It errs upward, by an
   amount that Chernoff's bound limits.
2. S + Z with an independent centred Gaussian Z of standard deviation tau replaces S: Jensen makes
   this err upward too, and E[(S + Z)_+] - E[S_+] <= tau^2 p(0), p the density of S + Z, because
   E[(s + Z)_+] - s_+ <= tau phi(s / tau). The factor e^(-tau^2 t^2 / 2) then ends the sum after
   a few hundred terms, whatever M and however lattice-like L.
3. At the saddle point lambda every term is of the size of the result, so that roundings stay
   relative to it, however small it is.

No grid for S is needed, so the cost does not grow with M. Nor do the roundings, much: with x = lambda L, the
characteristic function and the moment generating function are formed as 1 + i t E[x] + E[e^(itx) - 1 - itx], whose last
part is of the size of E[x^2], about 1/M, and only the mean carries an error of a unit of E[|x|], about M^(-1/2):
together M^(1/2) units.

"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.accountant.arguments import UNIT, Array
from gspa.accountant.clones import CloneLaw
from gspa.accountant.errors import InternalError

Complex = NDArray[np.complex128]

_COARSE, _FINE, _FEW = 0.04, 0.01, 64  # smoothing of laws of many values, and of few
_FAR, _NEAR = 1e100, 1e-290  # of a value whose square is no double, and of one whose inverse hardly is
_REACH = 7.0  # e^(-7^2 / 2) = 2e-11 ends the Fourier sum
_DROPPED = 60.0  # terms below e^-60 of the largest are not formed
_ALIAS = 1e-4  # relative size of the images that is worth a longer period
_LONGEST = 400.0
_PASSES, _LEAST = 3, 1e-12  # how often a period is chosen, and for what part of E[e^(lambda S)] at least
_MULTIPLES = np.array([1.1, 1.25, 1.5, 2.0, 3.0, 5.0])
_BLOCK = 64
_WORTH = 500_000  # values times terms, from which on it pays to see first which terms matter
_NEIGHBOURS, _GROUPS = 4, 200  # values taken as one where only a size matters: so many, or more for as few groups
_EXPONENT = 500.0  # far from where e^x overflows
_WHOLE = 1e-9  # what the roundings of the callers' masses may come to; more is a lost mass


class Bracket(NamedTuple):
    """lower <= value <= upper."""

    lower: float
    upper: float


def log_mgf(values: Array, masses: Array, tilts: Array) -> Array:
    """log E[e^(t L)] at each t, for masses that add up to 1: no overflow, and to units of E[|t L|] if that is small."""
    scaled = np.multiply.outer(tilts, values)
    top = scaled.max(axis=1)
    gain = np.sum(masses * np.expm1(np.minimum(scaled, _EXPONENT)), axis=1)  # pairwise
    far = top + np.log(np.exp(scaled - top[:, None]) @ masses)
    near = (top < _EXPONENT) & (gain > -0.5)
    return np.where(near, np.log1p(np.where(near, gain, 0.0)), far)


def _saddle(values: Array, masses: Array, m: float) -> float:
    """The minimiser of m log E[e^(lambda L)] - 2 log lambda; any lambda > 0 would be valid."""
    top = float(values.max())
    gaps = values - top
    low, high = max(1e-3 / m / max(top, -float(values.min())), 1e-280), 1e3 / top

    def slope(tilt: float) -> float:
        tilted = masses * np.exp(tilt * gaps)
        return m * float(values @ tilted) / float(tilted.sum()) - 2 / tilt

    while slope(high) < 0 and high < 1e9 / top:
        high *= 10
    # Halving, to about 1e-6: over so many decades Brent's method takes 15 steps and saves 1%. Any tilt is valid.
    for _ in range(24):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return math.sqrt(low) * math.sqrt(high)


def _turns(x: Array, masses: Array, rows: int) -> tuple[Complex, Complex]:
    """e^(ijx) - 1, shape (rows, k), and E[e^(ijx) - 1 - ijx], shape (rows,), for j = 0 .. rows - 1."""
    one = -2 * np.sin(x / 2) ** 2 + 1j * np.sin(x)
    turn = 1 + one
    out = np.zeros((rows, x.size), dtype=np.complex128)
    for j in range(1, rows):
        np.multiply(out[j - 1], turn, out=out[j])
        out[j] += one
    steps = out[:-1] @ (masses * one) + masses @ (one - 1j * x)
    return out, np.r_[0.0, np.cumsum(steps)]


def _log_characteristic(scaled: Array, tilted: Array, step: float, terms: int) -> Complex:
    """log E[exp(i k step x)] for k = 0 .. terms - 1; shape (terms,).

    Two levels leave sqrt(terms) powers: with c and f the coarse and the fine part of t x,
    e^(i(c+f)) - 1 - i(c+f) = (e^(ic) - 1)(e^(if) - 1) + (e^(ic) - 1 - ic) + (e^(if) - 1 - if).
    """
    inner = math.isqrt(terms - 1) + 1
    fine, fine_excess = _turns(step * scaled, tilted, inner)
    coarse, coarse_excess = _turns(step * inner * scaled, tilted, -(-terms // inner))
    coarse *= tilted
    excess = (coarse @ fine.T + coarse_excess[:, None] + fine_excess[None, :]).ravel()[:terms]
    real, imaginary = excess.real, excess.imag + step * np.arange(terms) * math.fsum((tilted * scaled).tolist())
    with np.errstate(divide="ignore"):  # it may vanish
        log_size = 0.5 * np.log1p(np.clip(2 * real + real**2 + imaginary**2, -1.0, 0.0))
    return np.asarray(log_size + 1j * np.arctan2(imaginary, 1 + real))


def _needed(scaled: Array, tilted: Array, t: Array, rounding: Array, most: float) -> int:
    """How many of the t = 0, step, ... there are up to the last at which |E[e^(itx)]| may be above `most`.

    Neighbours taken as one at their mean change it by at most t^2/2 times their spread about it, and by twice their
    mass.
    """
    rising = np.argsort(scaled)
    scaled, tilted = scaled[rising], tilted[rising]
    at = np.arange(0, scaled.size, max(_NEIGHBOURS, scaled.size // _GROUPS))
    mass = np.maximum(np.add.reduceat(tilted, at), _NEAR)
    mean = np.add.reduceat(tilted * scaled, at) / mass
    spread = np.add.reduceat(tilted * (scaled - np.repeat(mean, np.diff(at, append=scaled.size))) ** 2, at)
    order = np.argsort(spread / mass)
    blurred = np.searchsorted((spread / mass)[order], 4 / np.maximum(t * t, _NEAR))  # before it a group's spread counts
    sums = [np.r_[0.0, np.cumsum(part[order])] for part in (spread, mass)]
    change = t * t / 2 * sums[0][blurred] + 2 * np.maximum(sums[1][-1] - sums[1][blurred], 0.0)
    size = np.exp(_log_characteristic(mean, mass, float(t[1]), t.size).real) + change
    above = np.flatnonzero(size + rounding + 8 * UNIT * scaled.size > most)
    return int(above[-1]) + 1 if above.size else 1


def _power_sum(log_zeta: Complex, first: int, stride: int, weights: Array) -> Complex:
    """sum_i weights[i] zeta^(first + i stride), in blocks of at most 64 powers."""
    if weights.size == 1:
        return np.asarray(weights[0] * np.exp(first * log_zeta))
    block = min(_BLOCK, 1 << (weights.size.bit_length() + 1) // 2)  # about the root of their number
    blocks = -(-weights.size // block)
    table = np.zeros(blocks * block)
    table[: weights.size] = weights
    jump = np.exp(stride * log_zeta)
    powers = np.ones((log_zeta.size, block), dtype=np.complex128)
    for known in 2 ** np.arange(block.bit_length() - 1):  # squares: a product after the other takes longer
        powers[:, known : 2 * known] = powers[:, :known] * jump[:, None]
        jump = jump * jump
    inner = powers @ table.reshape(blocks, block).T.astype(np.complex128)
    total = inner[:, -1].copy()
    for j in range(blocks - 2, -1, -1):
        total = total * jump + inner[:, j]
    return np.asarray(np.exp(first * log_zeta) * total)


def positive_part(
    values: Array, masses: Array, first: int, weights: Array, *, stride: int = 1, smoothing: float = _COARSE
) -> Bracket:
    """sum_i weights[i] E[(L_1 + ... + L_(first + i stride))_+].

    Args:
        values, masses: shape (k,), the law of L; masses >= 0 with sum 1, else it is an `InternalError`.
        first: >= 1, the smallest number of copies.
        weights: shape (w,), >= 0, not all 0.
        stride: >= 1, from one number of copies to the next.
        smoothing: tau lambda; the bracket's relative width is about its square.
    """
    kept = masses > 0
    values, masses = values[kept], masses[kept]
    total = float(masses.sum())
    if not abs(total - 1) <= _WHOLE:
        raise InternalError(f"the masses of a law of {masses.size} values add up to {total!r}")
    masses = masses / total
    if float(values.max()) <= 0:
        return Bracket(0.0, 0.0)
    if float(np.abs(values).max()) > _FAR or float(values.max()) < _NEAR:
        return Bracket(0.0, math.inf)
    copies = first + stride * np.arange(weights.size, dtype=np.float64)
    last = float(copies[-1])
    tilt = _saddle(values, masses, float(weights @ copies) / float(weights.sum()))
    log_m = float(log_mgf(values, masses, np.array([tilt]))[0])
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    log_weights = logs + copies * log_m
    height = float(log_weights.max())
    tilted_weights = np.exp(log_weights - height)
    size = float(tilted_weights.sum())  # E[e^(lambda S)] = size e^height
    scaled = tilt * values
    tilted = np.exp(np.log(masses) + scaled - log_m)
    tilted /= tilted.sum()

    # Work with lambda S; the value is usually size / 10, at least size / 100.
    log_weight = math.log(float(weights.sum())) - height
    images = _images(values, masses, copies, logs, log_weight, tilt, height)
    period, wanted = max(20.0, 12.0 + log_weight - math.log(size)), 0.01 * size
    if height > _EXPONENT:  # values so far apart that no tilt brings them together: nothing is known
        return Bracket(0.0, math.inf)
    if period > _LONGEST:  # about e^-400 of the weights: x_+ <= e^(lambda x)/(e lambda) is enough
        return Bracket(0.0, size * math.exp(height - 1) / tilt)
    longest, fine, unit = period + _LONGEST, smoothing, math.exp(height) / tilt
    least, most = 0.0, math.inf
    for _ in range(_PASSES):  # each pass has a bracket of its own
        while images(period, wanted) > _ALIAS * wanted and period < longest:
            period *= 1.25
        smoothing = 2 * fine if period > 150 else fine
        spread = smoothing * smoothing
        step = 2 * math.pi / period
        terms = math.ceil(_REACH / (smoothing * step)) + 1
        t = step * np.arange(terms, dtype=np.float64)
        # Each log zeta carries the mean's rounding and that of sums of k products of at most min(t^2 x^2, 4), of
        # factors that are powers; its multiple carries as many times that, and the sum over the numbers of copies a
        # unit a step.
        drift = 32 * (t * float(tilted @ np.abs(scaled)) + float(masses @ np.abs(scaled)))
        second = float(tilted @ np.minimum(np.abs(scaled), 1e100) ** 2)
        curved = (4.0 * values.size + 16 * math.isqrt(terms) + 64) * np.minimum(t * t * second, 4.0)
        rounding, most_dropped = UNIT * (drift + curved), math.exp(-_DROPPED / first)
        end = float(t[-1])
        if values.size * terms > _WORTH:
            t = t[: _needed(scaled, tilted, t, rounding, most_dropped)]
        log_zeta = _log_characteristic(scaled, tilted, step, t.size)
        formed = log_zeta.real > -_DROPPED / first
        sums = np.zeros(t.size, dtype=np.complex128)
        sums[formed] = _power_sum(log_zeta[formed], first, stride, tilted_weights)
        z = 1 + 1j * t
        density_terms = sums * np.exp(spread * z * z / 2)
        density_terms[1:] *= 2  # the frequencies -t
        value_terms = density_terms / (z * z)
        value = float(value_terms.real.sum()) / period
        density = float(density_terms.real.sum()) / period
        relative = last * rounding[: t.size] + UNIT * (512 + 8 * (weights.size / _BLOCK + _BLOCK))
        error = float(relative @ np.abs(value_terms)) / period + terms * math.exp(-_DROPPED) * size
        # sum_(k > K) 2 e^(-spread t_k^2 / 2) / t_k^2 <= 2 e^(-spread t_K^2 / 2) / (step t_K)
        cut = 2 * size * math.exp(spread * (1 - end * end) / 2) / (step * end * period)
        # The sum of densities leaves out cut/spread.
        loss = spread * (max(density, 0.0) + float(relative @ np.abs(density_terms)) / period) + cut
        least = max(least, (value - images(period, value) - loss - error - cut) * unit)
        most = min(most, max(value + error + cut, 0.0) * unit)
        if value >= wanted or period >= longest:
            break
        wanted = 0.1 * max(value, _LEAST * size)  # a rare large value decides: the images are looked at again
    return Bracket(least, most)


def _images(
    values: Array, masses: Array, copies: Array, logs: Array, log_weight: float, tilt: float, height: float
) -> Callable[[float, float], float]:
    """Not below the sum of the images j != 0 of fact 1, of a period and a value, in the units of `positive_part`."""
    exponents = logs + np.multiply.outer(log_mgf(values, masses, tilt * _MULTIPLES), copies) - height
    top, more = exponents.max(axis=1), _MULTIPLES - 1
    # log of sum_i weights[i] E[e^(a lambda S_i)] for a few a > 1, S blurred, all over e^height
    moments = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)) + 0.02 * _MULTIPLES**2

    def bound(period: float, value: float) -> float:
        decay = math.exp(-period)
        # j >= 1: e^(-j P) E[(X + j P)_+] <= e^(-j P) (j P weight + E X_+)
        left = (period * math.exp(min(log_weight - period, 700.0)) + decay * value) / (1 - decay) ** 2
        # j <= -1: e^(j P) E[(X - j P)_+] <= E[e^(a X)] e^(-(a - 1) j P) / (e a) for every a > 1
        right = moments - more * period - 1 - np.log(_MULTIPLES) - np.log1p(-np.exp(-more * period))
        return left + math.exp(min(float(right.min()), 700.0))

    return bound


# --- the same among C others, C with a law ---------------------------------------------------------------------


def expectation_above(atoms: tuple[Array, Array], law: CloneLaw, *, smoothing: float | None = None) -> float:
    """Not below E[(1/(C+1)) (L_1 + ... + L_(C+1))_+]; it decreases in C, so a block counts with its first C.

    `smoothing`, as in `positive_part`, is chosen by the number of atoms where it is left out.
    """
    weights = (law.mass + law.error) / (law.edges[:-1] + 1)
    rest = ((law.above, law.edges[-1]), (law.below, law.far), (law.far_mass, 0.0))
    alone = _alone(atoms, up=True)
    return _covered(atoms, law, law.edges[:-1], weights, alone, smoothing).upper + sum(
        mass * min(alone, _crude(*atoms, count + 1)) for mass, count in rest if mass > 0
    )


def expectation_below(atoms: tuple[Array, Array], law: CloneLaw) -> float:
    """Not above the same: a block counts with its last C."""
    last = law.edges[1:] - 1
    return _covered(atoms, law, last, np.maximum(law.mass - law.error, 0.0) / (last + 1), _alone(atoms, up=False)).lower


def expectation_of_equal(atoms: tuple[Array, Array], c: float, n: int) -> Bracket:
    """The same from both sides for C ~ Bin(n - 1, c): no law of C is needed, but a large n c.

    P(C = m - 1)/m = P(Bin(n, c) = m)/(n c), so it is E[(B_1 L_1 + ... + B_n L_n)_+]/(n c) with B_i ~ Bernoulli(c). That
    all B_i are 0, which no smoothing should blur, has probability (1 - c)^n <= e^(-n c).
    """
    values, masses = atoms
    alone = _alone(atoms, up=True)
    mixed, smoothing = np.r_[c * masses / masses.sum(), 1 - c], _FINE if values.size <= _FEW else _COARSE
    found = positive_part(np.r_[values, 0.0], mixed, n, np.ones(1), smoothing=smoothing)
    return Bracket(found.lower / (n * c) * (1 - 4 * UNIT), min(found.upper / (n * c) * (1 + 4 * UNIT), alone))


def _alone(atoms: tuple[Array, Array], *, up: bool) -> float:
    """E[L_+], rounded to one side."""
    values, masses = atoms
    side = (values.size + 4) * (UNIT if up else -UNIT)
    return float(masses @ np.maximum(values, 0.0)) * (1 + side)


def _covered(
    atoms: tuple[Array, Array],
    law: CloneLaw,
    others: Array,
    weights: Array,
    alone: float,
    smoothing: float | None = None,
) -> Bracket:
    """sum_i weights[i] E[(L_1 + ... + L_(C_i + 1))_+] for these numbers C_i, of which 0 needs no sum.

    E[(L_1 + ... + L_m)_+] is at most m E[L_+], also where the sum cannot be evaluated.
    """
    first = float(weights[0]) * alone if others[0] == 0 else 0.0
    if others[0] == 0:
        others, weights = others[1:], weights[1:]
    if not weights.any():
        return Bracket(first, first)
    most = float(weights @ (others + 1)) * alone * (1 + (weights.size + 4) * UNIT)
    stride = int(law.edges[1] - law.edges[0])
    smoothing = smoothing or (_FINE if atoms[0].size <= _FEW else _COARSE)
    found = positive_part(*atoms, int(others[0]) + 1, weights, stride=stride, smoothing=smoothing)
    return Bracket(first + found.lower, first + min(found.upper, most))


def _crude(values: Array, masses: Array, m: float) -> float:
    """Chernoff's bound on E[(L_1 + ... + L_m)_+]/m, at most 1: x_+ <= e^(a x)/(e a) for every a > 0."""
    top = float(values.max())
    if top <= 0:
        return 0.0
    if float(np.abs(values).max()) > _FAR:
        return 1.0
    tilts = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0]) / math.sqrt(m * float(masses @ values**2))
    logs = m * log_mgf(values, masses, tilts) - np.log(math.e * m * tilts)
    return math.exp(min(float(logs.min()), 0.0))
