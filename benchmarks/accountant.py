"""The accountant's time, side by side with plain evaluations, in one run.

`python benchmarks/accountant.py` prints ratios and writes a figure of the growth with n to
`_build/benchmarks/accountant.svg`. Nothing here is asserted; seconds are this machine's and this moment's.

(a) a million distinct budgets against `numpy.exp` over the same numbers;
(b) one central epsilon against a loop over the number of clones with scipy.stats, as published code does it,
    and a composition against dp_accounting's of the same privacy loss distribution;
(c) growth with n.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from scipy import stats
from timing import best

from gspa import accountant, budgets, composition, figures, interop


def loop_delta(eps: float, *, eps0: float, n: int) -> float:
    """delta(eps) for uniform randomized response by a loop over C, within ten standard deviations."""
    w = 1 / (1 + np.exp(-eps0))
    clones = stats.binom(n - 1, 2 * (1 - w))
    total = 0.0
    for c in range(int(clones.ppf(1e-14)), int(clones.isf(1e-14)) + 1):
        i = np.arange(c + 2)
        b = stats.binom(c, 0.5)
        p0 = w * b.pmf(i - 1) + (1 - w) * b.pmf(i)
        p1 = (1 - w) * b.pmf(i - 1) + w * b.pmf(i)
        total += clones.pmf(c) * np.maximum(p0 - np.exp(eps) * p1, 0).sum()
    return total


def row(name: str, seconds: float, unit: float, what: str) -> None:
    """One line of the table."""
    print(f"{name:52} {seconds * 1e3:10.2f} ms   {seconds / unit:10.2f} x {what}")


def main() -> None:
    """Print the table and write the figure."""
    many = budgets.uniform(0.01, 2, n=1_000_000, rng=0)
    unit = best(lambda: np.exp(many.eps))
    print("(a) a million distinct budgets, delta = 1e-6")
    row("numpy.exp over the budgets", unit, unit, "numpy.exp")
    row("accountant.central_epsilon", best(lambda: accountant.central_epsilon(many, delta=1e-6)), unit, "numpy.exp")

    people = budgets.constant(0.5, n=2_000)
    ours = accountant.central_delta(people, eps=0.03)
    begin = time.perf_counter()
    looped = loop_delta(0.03, eps0=0.5, n=2_000)
    loop = time.perf_counter() - begin
    once = best(lambda: accountant.central_delta(people, eps=0.03))
    print(f"\n(b) one delta at n = 2,000: ours {ours.value:.12g}, loop {looped:.12g}")
    row("accountant.central_delta", once, once, "ours")
    row("loop over C with scipy.stats", loop, once, "ours")

    rounds = [(composition.shuffled(people), 100)]
    ours_composed = composition.compose(rounds, delta=1e-6)
    theirs = interop.compose_with_dp_accounting(rounds).get_epsilon_for_delta(1e-6)
    print(f"\n    100 rounds: ours {ours_composed.lower:.8g} to {ours_composed.upper:.8g}, dp_accounting {theirs:.8g}")
    composed = best(lambda: composition.compose(rounds, delta=1e-6), 3)
    row("composition.compose, both sides and the certificate", composed, composed, "ours")
    row(
        "dp_accounting, one pessimistic side of our export",
        best(lambda: interop.compose_with_dp_accounting(rounds).get_epsilon_for_delta(1e-6), 3),
        composed,
        "ours",
    )

    print("\n(c) central_epsilon, eps0 = 0.5, delta = 1e-6")
    sizes = [10**k for k in range(1, 10)]
    seconds = []
    for n in sizes:
        crowd = budgets.constant(0.5, n=n)
        seconds.append(best(lambda crowd=crowd: accountant.central_epsilon(crowd, delta=1e-6)))
        row(f"n = {n:,}", seconds[-1], seconds[0], "n = 10")

    figures.use_style()
    figure, axis = figures.plt.subplots(figsize=(6, 3.6), layout="constrained")
    axis.plot(sizes, 1e3 * np.array(seconds), color=figures.PALETTE[1], marker="o")
    axis.set(xscale="log", xlabel="number of users $n$", ylabel="one central epsilon (ms)", ylim=(0, None))
    target = Path("_build/benchmarks/accountant.svg")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})
    print(f"\nWrote {target}")


if __name__ == "__main__":
    main()
