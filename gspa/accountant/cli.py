"""Commands that answer for your own budgets: mu, epsilon, delta, calibrate, per-user, attack, certify, bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from gspa.accountant.arguments import integer
from gspa.accountant.bound import DIGITS, OWN, Bound, rounded
from gspa.accountant.errors import GspaError, InvalidValue

_WHOLE = 16  # digits in which every number of users is written in full

_INTEGER: dict[str, Any] = {"parser": integer, "metavar": "<int>"}  # 1e4 is one, too

Eps = Annotated[float | None, typer.Option("--eps", help="One local budget for everybody.")]
Size = Annotated[int | None, typer.Option("--n", **_INTEGER, help="Number of users, with --eps.")]
Delta = Annotated[float, typer.Option("--delta", help="Central delta, in (0, 1).")]
BudgetsFile = Annotated[
    Path | None,
    typer.Option("--budgets", help="CSV with columns eps[,delta][,count]; for gaussian, sigma[,count]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Asked = Annotated[
    str | None,
    typer.Option("--mechanism", help="Only bounds that hold for it: common, rr, krr, laplace, clip_laplace."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write it; printed if left out.")]
Rounds = Annotated[int, typer.Option("--rounds", **_INTEGER, help="How often everybody reports.")]
Honest = Annotated[
    int | None,
    typer.Option("--honest", **_INTEGER, help="How many users follow the protocol; the others collude or drop out."),
]
AtEps = Annotated[float, typer.Option("--at-eps", help="Central eps at which delta is asked, >= 0.")]
TargetEps = Annotated[float, typer.Option("--target-eps", help="Central eps to meet, > 0.")]


def _budgets(eps: float | None, n: int | None, file: Path | None) -> Any:
    from gspa.accountant import budgets

    if file is not None:
        if eps is not None or n is not None:
            raise GspaError("--budgets: give either --budgets FILE or --eps with --n, not both")
        return budgets.from_csv(file)
    if eps is None or n is None:
        raise GspaError("--eps, --n: give both, for instance --eps 0.5 --n 10000, or --budgets FILE.csv")
    return budgets.constant(eps, n=n)


def mu(
    eps: Eps = None, n: Size = None, budgets: BudgetsFile = None, delta: Delta = 1e-4, as_json: Json = False
) -> None:
    """The paper's mu (Theorem 2) and the central eps that it promises at delta."""
    from gspa.accountant import closed_forms
    from gspa.accountant import published as bounds

    population = _budgets(eps, n, budgets)
    entry = bounds.CATALOGUE["gspa"]
    value = closed_forms.gspa_mu(population)
    central = closed_forms.gspa_epsilon(population, delta=delta)
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

    from gspa.accountant import api

    population = _budgets(eps, n, budgets)
    rows = api.published(delta=delta, budgets=population, mechanism=mechanism)
    if as_json:
        typer.echo(json.dumps({"n": population.n, "delta": delta, "bounds": [asdict(row) for row in rows]}))
        return
    typer.echo(f"n = {population.n:,}, largest eps = {population.eps_max:,}, delta = {delta:g}")
    for row in rows:
        if row.epsilon is None:
            value = "refused"
        else:
            value = f"eps <= {rounded(row.epsilon, up=True)}" if row.rigorous else f"eps = {row.epsilon:.6g}"
        typer.echo(f"\n{row.label}: {value}{' (trivial: no amplification)' if row.trivial else ''}")
        typer.echo(f"  valid for: {row.valid_for}")
        if row.note:
            typer.echo(f"  {row.note}")


def _print(bound: Bound, answer: str, as_json: bool, digits: int = DIGITS) -> None:
    """Print `answer` with the interval's ends, rounded outwards, and what they are of, in its braces."""
    if as_json:
        typer.echo(bound.to_json())
        return
    ends = {
        "lower": rounded(bound.lower, up=False, digits=digits),
        "upper": rounded(bound.upper, up=True, digits=digits),
    }
    own = "" if bound.reached else OWN
    ends |= {"word": "certified" if bound.proved else "computed", "own": own, "by": f"by {own}" if own else own}
    lines = [answer.format(**ends), *bound.words()]
    typer.echo("\n".join(lines))


def _runs(mechanism: str, **parameters: Any) -> Any:
    """The mechanism of that name; a matrix is read from its file."""
    from gspa.accountant import api, randomizers

    if (path := parameters.pop("matrix", None)) is not None:
        parameters["matrix"] = randomizers.read_matrix(path)
    return api.mechanism(mechanism, **parameters)


def _question(
    *, eps: float | None, n: int | None, budgets: Path | None, mechanism: str, **parameters: Any
) -> dict[str, Any]:
    """Who reports and what they run, as the front door's arguments."""
    from gspa.accountant import budgets as populations
    from gspa.accountant import randomizers

    runs = _runs(mechanism, **parameters)
    if isinstance(runs, randomizers.Randomizer) or runs == randomizers.Laplace():
        return {"budgets": _budgets(eps, n, budgets), "mechanism": runs}
    # They say themselves who reports. Read here: several questions may be asked, and a pipe is empty after the first.
    who: Path | populations.Columns | None = budgets
    if budgets is not None and isinstance(runs, randomizers.Gaussian) and runs.sigma is None:
        who = populations.read(budgets, column="sigma")
    return {"eps": eps, "n": n, "budgets": who, "mechanism": runs}


_MECHANISMS = [
    *("rr", "krr", "subset", "unary", "rappor", "hashing", "hadamard", "piecewise", "duchi", "discrete"),
    *("laplace", "gaussian", "aligned", "common", "tv", "allocation"),
]
_NEEDS = {"discrete": "matrix", "tv": "tv", "allocation": "steps"}  # an option that some commands do not have
# What users run, asked alike by several commands: option by option, in the order of the help.
_SHARED: dict[str, tuple[type, str]] = {
    "mechanism": (str, "What users run: {}."),
    "k": (int, "Number of items; steps of a record, for allocation."),
    "size": (int, "Items in a reported subset, for subset."),
    "kind": (str, "optimized (default) or symmetric, for unary."),
    "g": (int, "Values of a hash, for hashing."),
    "tv": (float, "Total variation of the randomizer, for tv."),
    "matrix": (Path, "CSV or NPY, a row an input, a column an output; for discrete."),
    "sigma": (float, "Noise, for gaussian (standard deviation) and allocation."),
    "scale": (float, "Scale of the noise, for laplace, instead of --eps."),
    "sensitivity": (float, "Width of the values' range, with --sigma or --scale; 1 if not given."),
    "steps": (int, "Steps of an epoch, for allocation."),
    "direction": (str, "Neighbours for allocation: remove, add, both (default) or replace."),
    "epochs": (int, "Epochs, for allocation."),
    "deal": (str, "each epoch (default; afresh) or once (kept for all epochs), for allocation."),
}
_WHO = {"eps": Eps, "n": Size, "budgets": BudgetsFile}


def _option(name: str, mechanisms: list[str]) -> Parameter:
    if name in _WHO:
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=_WHO[name], default=None)
    kind, said = _SHARED[name]
    option = typer.Option(f"--{name}", help=said.format(", ".join(mechanisms)), **(_INTEGER if kind is int else {}))
    default, taken = ("rr", kind) if name == "mechanism" else (None, kind | None)
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[taken, option], default=default)


def _asks(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with these shared options, or all of them, in place of its `**asked`."""
    shared = names or (*_WHO, *_SHARED)
    mechanisms = [name for name in _MECHANISMS if _NEEDS.get(name, "mechanism") in shared]

    def made(command: Callable[..., None]) -> Callable[..., None]:
        parameters = signature(command, eval_str=True).parameters.values()
        own = [one for one in parameters if one.kind != Parameter.VAR_KEYWORD and one.name not in shared]
        needed = [one for one in own if one.default is Parameter.empty]
        options = [*needed, *(_option(name, mechanisms) for name in shared), *(one for one in own if one not in needed)]

        def run(**given: Any) -> None:
            if (name := given["mechanism"]) in _MECHANISMS and name not in mechanisms:
                raise InvalidValue("--mechanism", name, "one that this command answers for: " + ", ".join(mechanisms))
            command(**given)

        run.__signature__ = Signature(options)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return made


@_asks()
def epsilon(
    *, delta: Delta = 1e-4, rounds: Rounds = 1, honest: Honest = None, as_json: Json = False, **asked: Any
) -> None:
    """The certified central eps of the shuffled reports, as an interval, and what it leaves an attacker."""
    from gspa.accountant import api

    asked = _question(**asked) | {"rounds": rounds, "honest": honest}
    bound, risk = api.epsilon(**asked, delta=delta), api.risk(**asked)
    if as_json:
        rates = {"fpr": risk.fpr, "tpr": risk.tpr, "advantage": risk.advantage}
        typer.echo(json.dumps(bound.to_dict() | {"risk": rates}))
        return
    _print(bound, f"eps <= {{upper}}, {{own}}{{word}} in [{{lower}}, {{upper}}]\nany attacker: {risk}", as_json)


@_asks()
def delta(*, at_eps: AtEps, rounds: Rounds = 1, honest: Honest = None, as_json: Json = False, **asked: Any) -> None:
    """The certified central delta at a central eps, as an interval."""
    from gspa.accountant import api

    bound = api.delta(**_question(**asked), at_eps=at_eps, rounds=rounds, honest=honest)
    _print(bound, "delta <= {upper}, {own}{word} in [{lower}, {upper}]", as_json)


@_asks("n", "eps", "budgets", "mechanism", "k", "size", "kind", "g", "tv", "matrix", "sigma", "scale", "sensitivity")
def calibrate(
    *,
    target_eps: TargetEps,
    delta: Delta = 1e-4,
    n: int | None,
    eps: float | None,
    budgets: Path | None,
    rounds: Annotated[int | None, typer.Option("--rounds", **_INTEGER, help="How often everybody reports.")] = None,
    as_json: Json = False,
    **asked: Any,
) -> None:
    """What meets a central (eps, delta): the local eps for --n, the least n for --eps, or the rounds for both.

    For laplace the largest local eps for --n, for gaussian the smallest sigma. With --budgets, the factor by which all
    budgets may be multiplied, or all noise. With --rounds, for so many reports of everybody.
    """
    from gspa.accountant import api, randomizers

    if n is None and eps is None and budgets is None:
        raise GspaError(
            "--n, --eps, --budgets: give --n, --eps or both, or --budgets; calibrate finds the local eps, the users, "
            "the rounds or a factor"
        )
    runs = _runs(**asked)
    found = api.calibrate(
        target_eps=target_eps, delta=delta, n=n, eps=eps, budgets=budgets, mechanism=runs, rounds=rounds
    )
    given = any(asked[name] is not None for name in ("sigma", "scale", "matrix"))
    if budgets is not None:
        noise = isinstance(runs, randomizers.Gaussian)
        words = (
            "all noise times at least {upper}; the least" if noise else "all budgets times at most {lower}; the largest"
        )
        _print(found, words + " factor {by}is {word} in [{lower}, {upper}]", as_json)
    elif n is not None and (eps is not None or given):
        _print(found, "rounds <= {lower}; the largest {by}is {word} in [{lower}, {upper}]", as_json, _WHOLE)
    elif isinstance(runs, randomizers.Gaussian):
        _print(found, "sigma >= {upper}; the smallest {by}is {word} in [{lower}, {upper}]", as_json)
    elif eps is None:
        _print(found, "local eps <= {lower}; the largest {by}is {word} in [{lower}, {upper}]", as_json)
    else:
        _print(found, "n >= {upper}; the least {by}is {word} in [{lower}, {upper}]", as_json, _WHOLE)


@_asks("budgets", "mechanism", "k", "size", "kind", "g", "sensitivity")
def per_user(
    *, budgets: Path | None, delta: Delta = 1e-4, rounds: Rounds = 1, as_json: Json = False, **asked: Any
) -> None:
    """The certified central eps of each user's own record, a line for each row of the file."""
    from gspa.accountant import api

    found = api.per_user(budgets=budgets, delta=delta, mechanism=_runs(**asked), rounds=rounds)
    if as_json:
        answer = {"lower": found.lower.tolist(), "upper": found.upper.tolist(), "method": found.method}
        answer |= {"valid_for": found.valid_for, "delta": found.delta, "relation": found.relation}
        typer.echo(json.dumps(answer | {"warnings": found.warnings, "note": found.note, "reached": found.reached}))
        return
    for i, (lower, upper) in enumerate(zip(found.lower, found.upper, strict=True), start=1):
        low, high = rounded(float(lower), up=False), rounded(float(upper), up=True)
        typer.echo(f"row {i}: eps <= {high}, {'' if found.reached else OWN}in [{low}, {high}]")
    typer.echo("\n".join(found.words()))


@_asks()
def attack(*, delta: Delta = 1e-4, as_json: Json = False, **asked: Any) -> None:
    """A central eps below which the shuffled reports are certainly not differentially private at delta."""
    from gspa.accountant import api

    _print(api.attack(**_question(**asked), delta=delta), "eps >= {lower}, attacked", as_json)


@_asks()
def certify(
    *,
    delta: Delta = 1e-4,
    rounds: Rounds = 1,
    honest: Honest = None,
    output: Output = None,
    **asked: Any,
) -> None:
    """A certificate of a central eps that a stranger can check: python check_certificate.py cert.json."""
    from gspa.accountant import api

    found = api.certify(**_question(**asked), delta=delta, rounds=rounds, honest=honest)
    if output is None:
        typer.echo(found.text, nl=False)
        return
    try:
        found.write(output)
    except OSError as error:
        raise GspaError(f"--output: cannot write {output}: {error.strerror}") from None
    typer.echo(f"{found.statement}\nPROVED; check it with: python check_certificate.py {output}")


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command(epilog="Example: gspa mu --eps 0.5 --n 10000 --delta 1e-4")(mu)
    app.command(epilog="Example: gspa epsilon --eps 0.5 --n 10000 --delta 1e-4")(epsilon)
    app.command(epilog="Example: gspa delta --eps 0.5 --n 10000 --at-eps 0.05")(delta)
    app.command(epilog="Example: gspa calibrate --target-eps 0.1 --delta 1e-6 --n 10000")(calibrate)
    app.command("per-user", epilog="Example: gspa per-user --budgets budgets.csv --delta 1e-6")(per_user)
    app.command(epilog="Example: gspa attack --eps 0.5 --n 10000 --delta 1e-4")(attack)
    app.command(epilog="Example: gspa certify --eps 0.5 --n 10000 --delta 1e-6 -o cert.json")(certify)
    app.command(epilog="Example: gspa bounds --eps 0.5 --n 10000 --delta 1e-4")(bounds)
