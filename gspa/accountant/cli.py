"""Commands that answer for your own budgets: mu, epsilon, delta, calibrate, per-user, attack, certify, bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gspa.accountant.arguments import integer
from gspa.accountant.bound import DIGITS, OWN, Bound, rounded
from gspa.accountant.errors import GspaError, InvalidValue

if TYPE_CHECKING:
    from gspa.accountant.budgets import Budgets
    from gspa.accountant.randomizers import Mechanism
    from gspa.accountant.settings import Setting

_WHOLE = 16  # digits in which every number of users is written in full

_MECHANISMS = [
    *("rr", "krr", "subset", "unary", "rappor", "hashing", "hadamard", "piecewise", "duchi", "discrete"),
    *("laplace", "gaussian", "aligned", "common", "tv", "allocation"),
]
_NEEDS = {"discrete": "matrix", "tv": "tv", "allocation": "steps"}  # an option that some commands do not have
_MUST = Parameter.empty
# What several commands ask alike: option by option, its type, what it is if left out, and its help.
_OPTIONS: dict[str, tuple[type, Any, str]] = {
    "at_eps": (float, _MUST, "Central eps at which delta is asked, >= 0."),
    "target_eps": (float, _MUST, "Central eps to meet, > 0."),
    "eps": (float, None, "One local budget for everybody."),
    "n": (int, None, "Number of users, with --eps."),
    "budgets": (Path, None, "CSV with columns eps[,delta][,count]; for gaussian, sigma[,count]."),
    "mechanism": (str, "rr", "What users run: {}."),
    "k": (int, None, "Number of items{}."),
    "size": (int, None, "Items in a reported subset, for subset."),
    "kind": (str, None, "optimized (default) or symmetric, for unary."),
    "g": (int, None, "Values of a hash, for hashing."),
    "tv": (float, None, "Total variation of the randomizer, for tv."),
    "matrix": (Path, None, "CSV or NPY, a row an input, a column an output; for discrete."),
    "sigma": (float, None, "Standard deviation of the noise, for gaussian{}."),
    "scale": (float, None, "Scale of the noise, for laplace, instead of --eps."),
    "sensitivity": (float, None, "Width of the values' range, with --sigma or --scale; 1 if not given."),
    "steps": (int, None, "Steps of an epoch, for allocation."),
    "direction": (str, None, "Neighbours for allocation: remove, add, both (default) or replace."),
    "epochs": (int, None, "Epochs, for allocation."),
    "deal": (str, None, "each epoch (default; afresh) or once (kept for all epochs), for allocation."),
    "delta": (float, 1e-4, "Central delta, in (0, 1)."),
    "rounds": (int, None, "How often everybody reports; once if left out."),
    "honest": (int, None, "How many users follow the protocol; the others collude or drop out."),
    "as_json": (bool, False, "Print JSON."),
    "family": (str, None, "Only bounds that hold for it: common, rr, krr, laplace, clip_laplace."),
    "output": (Path, None, "Where to write it; printed if left out."),
}
_FLAGS = {"as_json": ["--json"], "family": ["--mechanism"], "output": ["--output", "-o"]}  # not as they are named
_OF_ALLOCATION = {"k": "; steps of a record, for allocation", "sigma": " and allocation"}
_WHO = "eps n budgets"
_RUNS = "mechanism k size kind g tv matrix sigma scale sensitivity"
_ALL = f"{_WHO} {_RUNS} steps direction epochs deal"
_COMMANDS: list[tuple[Callable[..., None], str]] = []  # and an example of its options


def _option(name: str, mechanisms: list[str]) -> Parameter:
    kind, default, said = _OPTIONS[name]
    whole: dict[str, Any] = {"parser": integer, "metavar": "<int>"} if kind is int else {}  # 1e4 is one, too
    flags = _FLAGS.get(name, [f"--{name.replace('_', '-')}"])
    also = ", ".join(mechanisms) if name == "mechanism" else _OF_ALLOCATION.get(name, "") * ("allocation" in mechanisms)
    option = typer.Option(*flags, help=said.format(also), **whole)
    taken: Any = kind | None if default is None else kind
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[taken, option], default=default)


def _command(options: str, example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with these options, which its function gets by name."""
    names = options.split()
    mechanisms = [name for name in _MECHANISMS if _NEEDS.get(name, "mechanism") in names]

    def made(command: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            if (name := given.get("mechanism")) in _MECHANISMS and name not in mechanisms:
                raise InvalidValue("--mechanism", name, "one that this command answers for: " + ", ".join(mechanisms))
            command(**given)

        run.__signature__ = Signature([_option(name, mechanisms) for name in names])  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        _COMMANDS.append((run, example))
        return run

    return made


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for command, example in _COMMANDS:
        name = command.__name__.replace("_", "-")
        app.command(name, epilog=f"Example: gspa {name} {example}")(command)


# --- what is asked, and how it is answered -------------------------------------------------------------------


def _budgets(eps: float | None, n: int | None, budgets: Path | None) -> Budgets:
    from gspa.accountant.budgets import constant, from_csv

    if budgets is not None:
        if eps is not None or n is not None:
            raise GspaError("--budgets: give either --budgets FILE or --eps with --n, not both")
        return from_csv(budgets)
    if eps is None or n is None:
        raise GspaError("--eps, --n: give both, for instance --eps 0.5 --n 10000, or --budgets FILE.csv")
    return constant(eps, n=n)


def _runs(mechanism: str, matrix: Path | None = None, **parameters: Any) -> Mechanism:
    """The mechanism of that name; a matrix is read from its file."""
    from gspa.accountant import api, randomizers

    return api.mechanism(mechanism, matrix=matrix and randomizers.read_matrix(matrix), **parameters)


def _asked(given: dict[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """What users run, and who and how often, as the front door's arguments."""
    who = {name: given[name] for name in given if name in (*_WHO.split(), "rounds", "honest")}
    return _runs(**{name: given[name] for name in given if name not in who}), who


def _setting(given: dict[str, Any]) -> Setting:
    """What the front door makes of it: a file is read once for several questions."""
    from gspa.accountant.settings import setting

    runs, who = _asked(given)
    return setting(runs, **who)


def _say(as_json: bool, answer: dict[str, Any], lines: Iterable[str]) -> None:
    typer.echo(json.dumps(answer) if as_json else "\n".join(lines))


def _lines(bound: Bound, answer: str, digits: int = DIGITS) -> list[str]:
    """`answer` with the interval's ends, rounded outwards, and what they are of, in its braces; and the words."""
    own = "" if bound.reached else OWN
    first = answer.format(
        lower=rounded(bound.lower, up=False, digits=digits),
        upper=rounded(bound.upper, up=True, digits=digits),
        word="certified" if bound.proved else "computed",
        own=own,
        by=f"by {own}" if own else own,
    )
    return [first, *bound.words()]


# --- the commands, in the order of the help ------------------------------------------------------------------


@_command(f"{_WHO} delta as_json", "--eps 0.5 --n 10000 --delta 1e-4")
def mu(*, delta: float, as_json: bool, **who: Any) -> None:
    """The paper's mu (Theorem 2) and the central eps that it promises at delta."""
    from gspa.accountant import closed_forms
    from gspa.accountant import published as bounds

    population = _budgets(**who)
    entry = bounds.CATALOGUE["gspa"]
    value = closed_forms.gspa_mu(population)
    central = closed_forms.gspa_epsilon(population, delta=delta)
    answer = {"mu": value, "epsilon": central, "delta": delta, "n": population.n, "method": entry.label}
    lines = [
        f"mu = {value:.6g}, eps = {central:.6g} at delta = {delta:g}, n = {population.n:,}",
        f"An approximation, not a certificate. Valid for: {entry.valid_for}",
    ]
    _say(as_json, answer | {"valid_for": entry.valid_for}, lines)


@_command(f"{_ALL} delta rounds honest as_json", "--eps 0.5 --n 10000 --delta 1e-4")
def epsilon(*, delta: float, as_json: bool, **asked: Any) -> None:
    """The certified central eps of the shuffled reports, as an interval, and what it leaves an attacker."""
    one = _setting(asked)
    bound, risk = one.epsilon(delta), one.risk()
    rates = {"fpr": risk.fpr, "tpr": risk.tpr, "advantage": risk.advantage}
    answer = f"eps <= {{upper}}, {{own}}{{word}} in [{{lower}}, {{upper}}]\nany attacker: {risk}"
    _say(as_json, bound.to_dict() | {"risk": rates}, _lines(bound, answer))


@_command(f"at_eps {_ALL} rounds honest as_json", "--eps 0.5 --n 10000 --at-eps 0.05")
def delta(*, at_eps: float, as_json: bool, **asked: Any) -> None:
    """The certified central delta at a central eps, as an interval."""
    bound = _setting(asked).delta(at_eps)
    _say(as_json, bound.to_dict(), _lines(bound, "delta <= {upper}, {own}{word} in [{lower}, {upper}]"))


_FOUND = {
    "eps": "local eps <= {lower}; the largest",
    "sigma": "sigma >= {upper}; the smallest",
    "n": "n >= {upper}; the least",
    "rounds": "rounds <= {lower}; the largest",
    "factor of the budgets": "all budgets times at most {lower}; the largest factor",
    "factor of the noise": "all noise times at least {upper}; the least factor",
}


@_command(f"target_eps {_WHO} {_RUNS} delta rounds as_json", "--target-eps 0.1 --delta 1e-6 --n 10000")
def calibrate(*, target_eps: float, delta: float, as_json: bool, **asked: Any) -> None:
    """What meets a central (eps, delta): the local eps for --n, the least n for --eps, or the rounds for both.

    For gaussian the smallest sigma for --n, the least n for --sigma. With --budgets, the factor by which all budgets
    may be multiplied, or all noise. With --rounds, for so many reports of everybody.
    """
    from gspa.accountant.inverse import find

    runs, who = _asked(asked)
    if who["n"] is who["eps"] is who["budgets"] is asked["sigma"] is asked["scale"] is None:
        raise GspaError(
            "--n, --eps, --budgets: give --n, --eps or both, or --budgets; calibrate finds the local eps, the users, "
            "the rounds or a factor (of a matrix, give --n)"
        )
    found, bound = find(runs, **who, target=target_eps, delta=delta)
    answer = _FOUND[found.name] + " {by}is {word} in [{lower}, {upper}]"
    _say(as_json, bound.to_dict(), _lines(bound, answer, _WHOLE if found.whole else DIGITS))


@_command("budgets mechanism k size kind g sensitivity delta rounds as_json", "--budgets budgets.csv --delta 1e-6")
def per_user(*, budgets: Path | None, delta: float, rounds: int | None, as_json: bool, **runs: Any) -> None:
    """The certified central eps of each user's own record, a line for each row of the file."""
    from gspa.accountant import api

    rounds = 1 if rounds is None else rounds
    found = api.per_user(budgets=budgets, delta=delta, mechanism=_runs(**runs), rounds=rounds)
    answer = vars(found) | {"lower": found.lower.tolist(), "upper": found.upper.tolist()}
    own = f"{'' if found.reached else OWN}{'certified' if found.proved else 'computed'} "
    rows = zip(answer["lower"], answer["upper"], strict=True)
    ends = ((rounded(low, up=False), rounded(high, up=True)) for low, high in rows)
    lines = (f"row {i}: eps <= {high}, {own}in [{low}, {high}]" for i, (low, high) in enumerate(ends, start=1))
    _say(as_json, answer, chain(lines, found.words()))


@_command(f"{_ALL} delta as_json", "--eps 0.5 --n 10000 --delta 1e-4")
def attack(*, delta: float, as_json: bool, **asked: Any) -> None:
    """A central eps below which the shuffled reports are certainly not differentially private at delta."""
    bound = _setting(asked).attack(delta)
    _say(as_json, bound.to_dict(), _lines(bound, "eps >= {lower}, attacked"))


@_command(f"{_ALL} delta rounds honest output", "--eps 0.5 --n 10000 --delta 1e-6 -o cert.json")
def certify(*, delta: float, output: Path | None, **asked: Any) -> None:
    """A certificate of a central eps that a stranger can check: python check_certificate.py cert.json."""
    found = _setting(asked).certificate(delta)
    if output is None:
        typer.echo(found.text, nl=False)
        return
    try:
        found.write(output)
    except OSError as error:
        raise GspaError(f"--output: cannot write {output}: {error.strerror}") from None
    typer.echo(f"{found.statement}\nPROVED; check it with: python check_certificate.py {output}")


@_command(f"{_WHO} delta family as_json", "--eps 0.5 --n 10000 --delta 1e-4")
def bounds(*, delta: float, family: str | None, as_json: bool, **who: Any) -> None:
    """Every published bound side by side, the tightest first, with what it is valid for."""
    from dataclasses import asdict

    from gspa.accountant.published import compare

    population = _budgets(**who)
    rows = compare(population, delta=delta, mechanism=family)
    lines = [f"n = {population.n:,}, largest eps = {population.eps_max:,}, delta = {delta:g}"]
    for row in rows:
        if row.epsilon is None:
            value = "refused"
        else:
            value = f"eps <= {rounded(row.epsilon, up=True)}" if row.rigorous else f"eps = {row.epsilon:.6g}"
        trivial = " (trivial: no amplification)" if row.trivial else ""
        lines += [f"\n{row.label}: {value}{trivial}", f"  valid for: {row.valid_for}"]
        lines += [f"  {row.note}"] if row.note else []
    _say(as_json, {"n": population.n, "delta": delta, "bounds": [asdict(row) for row in rows]}, lines)
