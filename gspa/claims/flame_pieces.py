"""Checks of what FLAME is built from: randomizers, one coordinate, budgets and errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import quad

from gspa import discrete, mechanisms
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome
from gspa.claims.registry import claim
from gspa.flame import amplification, attacks, error, privacy
from gspa.flame.padded import coordinate
from gspa.flame.randomizers import Buckets, Laplace

# (eps, b, n, delta) for Lemma 1; R_{gamma,b} has b + 1 answers. Values above 1 are outside the lemma.
LEMMA1 = (
    (0.1, 1, 2_000, 1e-6),
    (0.5, 1, 5_000, 1e-6),
    (0.5, 4, 10_000, 1e-8),
    (1.0, 1, 10_000, 1e-6),
    (1.0, 20, 20_000, 1e-4),
    (3.0, 2, 50_000, 1e-6),
    (5.0, 10, 200_000, 1e-9),
)


@settles("F10")
def buckets(*, profile: str = "paper", eps: float = 1.0, b: int = 4, n: int = 200_000, seed: int = 2024) -> Outcome:
    """Algorithm 1 and eq. (1), printed and corrected: the estimate's bias and the report's largest likelihood ratio."""
    evidence: dict[str, object] = {}
    p, x, points = math.exp(eps), np.linspace(0, 1, n), np.linspace(0, 1, 4 * b + 1)
    bias, ratio, right = {}, {}, {}
    for index, (name, local) in enumerate(_both(eps, b).items()):
        reports = local.randomize(x, np.random.default_rng([seed, index]))
        found = float(local.estimate(reports.sum(), users=n)) / n - float(x.mean())
        # A report's variance is at most b^2/4, and the estimate divides by b (1 - gamma).
        deviation = 0.5 / (1 - local.gamma) / math.sqrt(n)
        laws = np.array([local.law(float(v)) for v in points])
        means = local.estimate(laws @ np.arange(b + 1), users=1)
        bias[name] = float(np.abs(means - points).max())
        with np.errstate(divide="ignore"):
            ratio[name] = float((laws.max(axis=0) / laws.min(axis=0)).max())
        right[name] = bias[name] < 1e-9 and abs(found) < 5 * deviation and ratio[name] <= p * (1 + 1e-9)
        evidence[f"{name}: estimated minus true mean, {n:,} users"] = f"{found:.5f} ± {deviation:.5f} at most"
        evidence[f"{name}: largest bias of a report, exact"] = f"{bias[name]:.6f}"
        evidence[f"{name}: largest likelihood ratio (e^eps = {p:.4f})"] = f"{ratio[name]:.4f}"
    if right["printed"]:
        return Outcome("F10", "verified", "As printed it is unbiased and its reports are eps-LDP.", evidence)
    printed = _both(eps, b)["printed"]
    reason = (
        f"As printed the rounded value can be 0, which the uniform answer never is: its likelihood ratio is "
        f"{'infinite' if math.isinf(ratio['printed']) else format(ratio['printed'], '.4g')}, and the mean is off by "
        f"{bias['printed']:.4f} "
        f"(gamma/(2b(1-gamma)) = {printed.bias:.4f}) at eps = {eps:g}, b = {b}."
    )
    if not right["corrected"]:
        return Outcome("F10", "refuted", reason, evidence)
    return Outcome(
        "F10",
        "holds with correction",
        reason,
        evidence,
        correction=r"with $\mathrm{Unif}\{0,\ldots,b\}$ and $\gamma=(b+1)/(e^{\epsilon_l}+b)$ the reports are exactly "
        r"$\epsilon_l$-LDP and eq. (1) is unbiased.",
    )


def _both(eps: float, b: int) -> dict[str, Buckets]:
    return {"printed": Buckets(eps, b, printed=True), "corrected": Buckets(eps, b)}


@settles("F13")
def laplace_blanket(*, profile: str = "paper", eps: Sequence[float] = (0.01, 0.5, 2.0, 8.0)) -> Outcome:
    """gamma = e^{-eps/2} against the integral of the least density over all inputs."""
    evidence: dict[str, object] = {}
    worst = 0.0
    for e in eps:

        def least(y: float, e: float = e) -> float:
            return min(e / 2 * math.exp(-e * abs(y - x)) for x in (0.0, 0.25, 0.5, 0.75, 1.0))

        # the density is least at an end of [0, 1]; the other inputs are there to show it
        found = sum(quad(least, a, z, epsabs=0, epsrel=1e-12)[0] for a, z in ((-math.inf, 0.5), (0.5, math.inf)))
        stated = Laplace(e).gamma
        worst = max(worst, abs(found / stated - 1))
        evidence[f"eps = {e:g}: integral of the least density; stated"] = f"{found:.10f}; {stated:.10f}"
    evidence["largest relative difference"] = worst
    if worst < 1e-8:
        return Outcome("F13", "verified", f"The integral agrees to {worst:.1e}.", evidence)
    return Outcome("F13", "refuted", f"The integral differs by {worst:.3g} relatively.", evidence)


@settles("F20")
def lemma1(*, profile: str = "paper", cases: Sequence[tuple[float, int, int, float]] = LEMMA1) -> Outcome:
    """Lemma 1: as printed an attack; corrected, the certified value of the blanket's bound at each case."""
    evidence: dict[str, object] = {}
    worst, with_b, printed_fails = 0.0, 0.0, False
    for eps, b, n, delta in cases:
        stated = amplification.lemma1_epsilon(eps, n=n, delta=delta, answers=b)
        right = amplification.lemma1_epsilon(eps, n=n, delta=delta, answers=b + 1)
        exact = coordinate(Buckets(eps, b), n_p=n).epsilon(delta)
        shown = attacks.zero_delta(Buckets(eps, b, printed=True), n=n, eps=stated)
        printed_fails = printed_fails or shown > delta
        worst, with_b = max(worst, exact / right), max(with_b, exact / stated)
        evidence[f"eps_l = {eps:g}, b = {b}, n = {n:,}, delta = {delta:g}"] = (
            f"printed ({stated:.4f}, {delta:g}), delta of Algorithm 1 as printed {shown:.3f}; "
            f"b + 1: {right:.4f}, certified {exact:.4f}"
        )
    evidence["corrected Algorithm 1: certified eps over Lemma 1 with b + 1, largest"] = worst
    evidence["the same with b, for which there is no proof"] = with_b
    if worst > 1:
        return Outcome("F20", "refuted", f"The exact eps is {worst:.3f} times the lemma's with b + 1.", evidence)
    if not printed_fails:
        return Outcome("F20", "verified", f"The exact eps is at most {worst:.3f} times the lemma's.", evidence)
    return Outcome(
        "F20",
        "holds with correction",
        "For Algorithm 1 as printed the answer 0 alone gives delta = 1 - gamma at every eps. For the corrected one the "
        f"exact eps is at most {worst:.2f} of the lemma's value.",
        evidence,
        correction=r"for the corrected $\mathcal{R}_{\gamma,b}$, which has $b+1$ answers: "
        r"$\epsilon_c=\sqrt{14\log(2/\delta_c)(e^{\epsilon_l}+b)/(n-1)}$, where that is at most 1.",
    )


@settles("F16")
def proposition1(
    *, profile: str = "paper", share: float = 3.0 / 50, delta: float = 1e-6, seed: int = 2024, repeats: int = 4_000
) -> Outcome:
    """Exponents of the exact standard deviation, with dummies in FLAME's proportion and without."""
    tolerance = float((claim("F16").tolerance or {})["exponent"])
    size = np.geomspace(1e6, 1e9, 7)
    few = np.full(7, 1e9)
    tables = {
        "n_p": error.error_table(n_p=size, n_s=np.full(7, 1e6 * share), eps_ck=np.full(7, 0.5), delta=delta),
        "n_s": error.error_table(n_p=few, n_s=size * share, eps_ck=np.full(7, 0.5), delta=delta),
        "eps_ck": error.error_table(n_p=few, n_s=few * share, eps_ck=np.geomspace(0.05, 1, 7), delta=delta),
    }
    stated = {"n_p": 1 / 6, "n_s": -1.0, "eps_ck": -2 / 3}
    found = {name: error.exponent(table, name) for name, table in tables.items()}
    alone = error.error_table(n_p=size, n_s=size, eps_ck=np.full(7, 0.5), delta=delta)
    alone_eps = error.error_table(n_p=few, n_s=few, eps_ck=np.geomspace(0.05, 1, 7), delta=delta)
    without = {"n_p = n_s": error.exponent(alone, "n_p"), "eps_ck": error.exponent(alone_eps, "eps_ck")}
    evidence: dict[str, object] = {
        f"exponent of {name}, n_s/n_p = {share:g}": f"{value:.3f}, stated {stated[name]:.3f}"
        for name, value in found.items()
    }
    evidence["no dummies, n_p = n_s: exponent of n_p"] = f"{without['n_p = n_s']:.3f}, stated {1 / 6 - 1:.3f}"
    evidence["no dummies: exponent of eps_ck"] = f"{without['eps_ck']:.3f}, stated {-2 / 3:.3f}"
    local = Buckets(0.5, 4)
    exact = error.standard_deviation(local, n_s=20, n_p=333)
    sd, se = error.simulated_deviation(local, n_s=20, n_p=333, repeats=repeats, rng=seed)
    evidence["check of the exact formula, b = 4, n_s = 20, n_p = 333"] = f"{exact:.4f}, simulated {sd:.4f} ± {se:.4f}"
    if abs(sd - exact) > 5 * se:
        return Outcome("F16", "not checkable", "The exact variance disagrees with its simulation.", evidence)
    off = {name: value for name, value in found.items() if abs(value - stated[name]) > tolerance}
    if not off:
        return Outcome("F16", "verified", f"All exponents are within {tolerance:g}.", evidence)
    said = ", ".join(f"{name}: {value:.2f} for {stated[name]:.2f}" for name, value in off.items())
    return Outcome(
        "F16",
        "refuted",
        f"With dummies the exponents are off ({said}). A dummy is all noise, with variance (b+2)/(12b) at least 1/12 "
        "whatever eps, so n_p - n_s of them leave sqrt((n_p - n_s)/12)/n_s. Without dummies the stated order holds "
        f"(exponents {without['n_p = n_s']:.2f} for {1 / 6 - 1:.2f} and {without['eps_ck']:.2f} for {-2 / 3:.2f}).",
        evidence,
    )


@settles("F3")
def split(*, profile: str = "paper", eps_l: float = privacy.EPS_LOCAL, d: int = privacy.DIMENSION) -> Outcome:
    """78.5/7850 and 78.5/157."""
    one = privacy.setting(eps_l=eps_l, d=d)
    full = one.full()
    evidence: dict[str, object] = {
        "eps_ld = eps_l/d": full.eps,
        "k = d/50": one.k,
        "eps_lk = eps_l/k": one.eps,
    }
    if math.isclose(full.eps, 0.01, rel_tol=1e-12) and math.isclose(one.eps, 0.5, rel_tol=1e-12):
        return Outcome("F3", "verified", f"{eps_l:g}/{d} = {full.eps:g} and {eps_l:g}/{one.k} = {one.eps:g}.", evidence)
    return Outcome("F3", "refuted", f"{full.eps:g} and {one.eps:g} come out.", evidence)


@settles("F15")
def gaussian_baselines(
    *, profile: str = "paper", stated: Sequence[float] = (20.53, 0.24), delta: float = 5e-6
) -> Outcome:
    """What the classical Gaussian formula really gives at the two stated budgets."""
    evidence: dict[str, object] = {}
    real = {}
    for eps in stated:
        scale = mechanisms.classical_gaussian_scale(eps=eps, delta=delta, sensitivity=1.0)
        real[eps] = mechanisms.gaussian_epsilon(delta=delta, scale=scale)
        evidence[f"stated ({eps:g}, {delta:g}): exact eps at that delta"] = real[eps]
        evidence[f"stated ({eps:g}, {delta:g}): exact delta at that eps"] = float(
            mechanisms.gaussian_delta(eps, scale=scale)
        )
    limit = mechanisms.classical_gaussian_limit(delta=delta)
    evidence[f"the formula holds at delta = {delta:g} up to eps"] = limit
    broken = {eps: value for eps, value in real.items() if value > eps}
    if not broken:
        return Outcome("F15", "verified", "The formula's noise gives what is stated, or better.", evidence)
    said = ", ".join(f"({eps:g}, {delta:g}) is really ({value:.2f}, {delta:g})" for eps, value in broken.items())
    if len(broken) == len(real):
        return Outcome("F15", "refuted", f"{said}.", evidence)
    kept = ", ".join(
        f"({value:.3f}, {delta:g}) for ({eps:g}, {delta:g})" for eps, value in real.items() if value <= eps
    )
    return Outcome(
        "F15",
        "holds with correction",
        f"The formula is proved for eps up to 1 and holds at this delta up to {limit:.2f}: {said}.",
        evidence,
        correction=f"the noise used gives {said.split(' is really ')[1] if len(broken) == 1 else said} and {kept}.",
    )


@settles("F22")
def local_definition(*, profile: str = "paper", answers: int = 1_000_000, eps: float = 1.0) -> Outcome:
    """Definition 2 bounds single answers: a report that tells the input and a random number meets it."""
    small = min(answers, 1_000)  # the law is uniform: no larger one is needed to evaluate both sides
    delta = 1 / answers
    tell: Any = np.kron(np.eye(2), np.full(small, 1 / small))
    pointwise = float((tell[0] - math.exp(eps) * tell[1]).max()) * small / answers
    events = min(1.0, discrete.hockey_stick(tell[0], tell[1], eps))
    pure = np.array([Buckets(eps, 1).law(0.0), Buckets(eps, 1).law(1.0)])
    at_zero = float((pure[0] - math.exp(eps) * pure[1]).max()), discrete.hockey_stick(pure[0], pure[1], eps)
    evidence: dict[str, object] = {
        f"input and one of {answers:,} numbers: delta that Definition 2 asks at eps = {eps:g}": pointwise,
        "the same: delta over all sets of answers": events,
        "randomized response, delta = 0: over answers and over sets": f"{at_zero[0]:.1e} and {at_zero[1]:.1e}",
    }
    if events <= pointwise * (1 + 1e-9):
        return Outcome("F22", "verified", "Single answers say as much as sets.", evidence)
    if max(at_zero) > 1e-12:
        return Outcome("F22", "refuted", "Even at delta = 0 single answers do not bound sets.", evidence)
    return Outcome(
        "F22",
        "holds with correction",
        f"A report that tells the input outright, with a random number beside it, meets Definition 2 at delta = "
        f"{delta:g}; over sets of answers its delta is {events:g}.",
        evidence,
        correction=r"for every set $S$ of answers: "
        r"$\Pr[\mathcal{R}(x)\in S]\leq e^{\epsilon}\Pr[\mathcal{R}(x')\in S]+\delta$; "
        r"for single answers only if $\delta=0$.",
    )
