"""Commands that answer for your own budgets: mu, epsilon, delta, calibrate, bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gspa.errors import GspaError

Eps = Annotated[float | None, typer.Option("--eps", help="One local budget for everybody.")]
Size = Annotated[int | None, typer.Option("--n", help="Number of users, with --eps.")]
Delta = Annotated[float, typer.Option("--delta", help="Central delta, in (0, 1).")]
BudgetsFile = Annotated[Path | None, typer.Option("--budgets", help="CSV with columns eps[,delta][,count].")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Mechanism = Annotated[
    str, typer.Option("--mechanism", help="rr, krr, subset, laplace, gaussian, common, tv: what the users run.")
]
Asked = Annotated[
    str | None,
    typer.Option("--mechanism", help="Only bounds that hold for it: common, rr, krr, laplace, clip_laplace."),
]
Items = Annotated[int | None, typer.Option("--k", help="Number of items, for krr and subset.")]
SubsetSize = Annotated[int | None, typer.Option("--size", help="Items in a reported subset, for subset.")]
Variation = Annotated[float | None, typer.Option("--tv", help="Total variation of the randomizer, for tv.")]
Rounds = Annotated[int, typer.Option("--rounds", help="How often everybody reports.")]
Honest = Annotated[
    int | None, typer.Option("--honest", help="How many users follow the protocol; the others collude or drop out.")
]
AtEps = Annotated[float, typer.Option("--at-eps", help="Central eps at which delta is asked, >= 0.")]
TargetEps = Annotated[float, typer.Option("--target-eps", help="Central eps to meet, > 0.")]

# Families whose certificate is the blanket's: scale 1/eps_i on inputs in [0, 1].
_BLANKET = ("laplace",)


def _budgets(eps: float | None, n: int | None, file: Path | None, honest: int | None = None) -> Any:
    from gspa import budgets
    from gspa.collusion import honest_only

    if file is not None:
        if eps is not None or n is not None:
            raise GspaError("--budgets: give either --budgets FILE or --eps with --n, not both")
        everybody = budgets.from_csv(file)
    elif eps is None or n is None:
        raise GspaError("--eps, --n: give both, for instance --eps 0.5 --n 10000, or --budgets FILE.csv")
    else:
        everybody = budgets.constant(eps, n=n)
    return everybody if honest is None else honest_only(everybody, honest=honest)


def mu(
    eps: Eps = None, n: Size = None, budgets: BudgetsFile = None, delta: Delta = 1e-4, as_json: Json = False
) -> None:
    """The paper's mu (Theorem 2) and the central eps that it promises at delta."""
    from gspa import bounds

    population = _budgets(eps, n, budgets)
    entry = bounds.CATALOGUE["gspa"]
    value = bounds.gspa_mu(population)
    central = bounds.gspa_epsilon(population, delta=delta)
    if as_json:
        answer = {"mu": value, "epsilon": central, "delta": delta, "n": population.n, "method": entry.label}
        typer.echo(json.dumps(answer | {"valid_for": entry.valid_for}))
        return
    typer.echo(f"mu = {value:.6g}, eps = {central:.6g} at delta = {delta:g}, n = {population.n:,}")
    typer.echo(f"An approximation, not a certificate. Valid for: {entry.valid_for}")


def bounds(
    eps: Eps = None,
    n: Size = None,
    budgets: BudgetsFile = None,
    delta: Delta = 1e-4,
    mechanism: Asked = None,
    as_json: Json = False,
) -> None:
    """Every published bound side by side, the tightest first, with what it is valid for."""
    from dataclasses import asdict

    from gspa import bounds as catalogue

    population = _budgets(eps, n, budgets)
    rows = catalogue.compare(population, delta=delta, mechanism=mechanism)
    if as_json:
        typer.echo(json.dumps({"n": population.n, "delta": delta, "bounds": [asdict(row) for row in rows]}))
        return
    typer.echo(f"n = {population.n:,}, largest eps = {population.eps_max:g}, delta = {delta:g}")
    for row in rows:
        value = "refused" if row.epsilon is None else f"eps = {row.epsilon:.6g}"
        typer.echo(f"\n{row.label}: {value}{' (trivial: no amplification)' if row.trivial else ''}")
        typer.echo(f"  valid for: {row.valid_for}")
        if row.note:
            typer.echo(f"  {row.note}")


def _print(bound: Any, name: str, as_json: bool) -> None:
    if as_json:
        typer.echo(bound.to_json())
        return
    typer.echo(f"{name} = {bound.value:.6g}, certified in [{bound.lower:.12g}, {bound.upper:.12g}]")
    typer.echo(f"method: {bound.method}")
    typer.echo(f"valid for: {bound.valid_for}")
    if bound.note:
        typer.echo(f"note: {bound.note}")


def _certified(
    population: Any,
    mechanism: str,
    k: int | None,
    size: int | None,
    tv: float | None,
    rounds: int,
    honest: int | None,
    *,
    delta: float = 1e-4,
    at_eps: float | None = None,
) -> Any:
    """eps at delta, or delta at a central eps, by the analysis that certifies this mechanism."""
    from gspa._validate import count

    several = count(rounds=rounds) > 1
    if mechanism in _BLANKET:
        if not (k is size is tv is None):
            raise GspaError(f"--k, --size, --tv: mechanism {mechanism!r} does not use them; leave them out")
        if honest is not None and population.eps_min < population.eps_max:
            # On a line it is not the smallest budgets whose loss must hurt most: the tails' shapes decide.
            raise GspaError(f"--honest: which users to leave out is not known for {mechanism!r} with unequal eps")
    if several:
        from gspa import composition

        many = [(composition.shuffled(population, mechanism=mechanism, k=k, size=size, tv=tv), rounds)]
        if at_eps is None:
            return composition.compose(many, delta=delta)
        return composition.compose_delta(many, eps=at_eps)
    if mechanism in _BLANKET:
        from gspa import blanket

        if at_eps is None:
            return blanket.blanket_epsilon(population, delta=delta, mechanism=mechanism)
        return blanket.blanket_delta(population, eps=at_eps, mechanism=mechanism)
    from gspa import accountant

    if at_eps is None:
        return accountant.central_epsilon(population, delta=delta, mechanism=mechanism, k=k, size=size, tv=tv)
    return accountant.central_delta(population, eps=at_eps, mechanism=mechanism, k=k, size=size, tv=tv)


def epsilon(
    eps: Eps = None,
    n: Size = None,
    budgets: BudgetsFile = None,
    delta: Delta = 1e-4,
    mechanism: Mechanism = "rr",
    k: Items = None,
    size: SubsetSize = None,
    tv: Variation = None,
    rounds: Rounds = 1,
    honest: Honest = None,
    as_json: Json = False,
) -> None:
    """The certified central eps of the shuffled reports, as an interval."""
    population = _budgets(eps, n, budgets, honest)
    _print(_certified(population, mechanism, k, size, tv, rounds, honest, delta=delta), "eps", as_json)


def delta(
    at_eps: AtEps,
    eps: Eps = None,
    n: Size = None,
    budgets: BudgetsFile = None,
    mechanism: Mechanism = "rr",
    k: Items = None,
    size: SubsetSize = None,
    tv: Variation = None,
    rounds: Rounds = 1,
    honest: Honest = None,
    as_json: Json = False,
) -> None:
    """The certified central delta at a central eps, as an interval."""
    population = _budgets(eps, n, budgets, honest)
    _print(_certified(population, mechanism, k, size, tv, rounds, honest, at_eps=at_eps), "delta", as_json)


def calibrate(
    target_eps: TargetEps,
    delta: Delta = 1e-4,
    n: Size = None,
    eps: Eps = None,
    mechanism: Mechanism = "rr",
    k: Items = None,
    size: SubsetSize = None,
    as_json: Json = False,
) -> None:
    """What meets a central (eps, delta): the local eps for --n, the least n for --eps, or the rounds for both."""
    from gspa import budgets
    from gspa import calibrate as solver

    if n is not None and eps is not None:
        crowd = budgets.constant(eps, n=n)
        found = solver.most_rounds(crowd, eps=target_eps, delta=delta, mechanism=mechanism, k=k, size=size)
        _print(found, "largest number of rounds", as_json)
    elif n is not None:
        found = solver.largest_local_epsilon(eps=target_eps, delta=delta, n=n, mechanism=mechanism, k=k, size=size)
        _print(found, "largest local eps", as_json)
    elif eps is not None:
        found = solver.least_users(eps, eps=target_eps, delta=delta, mechanism=mechanism, k=k, size=size)
        _print(found, "least number of users", as_json)
    else:
        raise GspaError("--n, --eps: give --n, --eps or both; calibrate finds the local eps, the users or the rounds")


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command(epilog="Example: gspa mu --eps 0.5 --n 10000 --delta 1e-4")(mu)
    app.command(epilog="Example: gspa epsilon --eps 0.5 --n 10000 --delta 1e-4")(epsilon)
    app.command(epilog="Example: gspa delta --eps 0.5 --n 10000 --at-eps 0.05")(delta)
    app.command(epilog="Example: gspa calibrate --target-eps 0.1 --delta 1e-6 --n 10000")(calibrate)
    app.command(epilog="Example: gspa bounds --eps 0.5 --n 10000 --delta 1e-4")(bounds)
