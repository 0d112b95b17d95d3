"""The commands that answer for your own budgets: the library's numbers, one clear line where there is none."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, asdict, fields
from decimal import Decimal
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gspa
from gspa.accountant import api, budgets, cli
from gspa.accountant import one_round as accountant
from gspa.accountant import rounds as composition
from gspa.accountant.arguments import integer
from gspa.accountant.bound import rounded
from gspa.accountant.errors import InvalidValue
from gspa.accountant.exact import exact_delta, exact_epsilon
from gspa.accountant.published import compare
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.cli import run


def answer(capsys, *arguments):
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def files(tmp_path):
    """Three kinds of users' files, two of them with what is refused."""
    texts = {"eps": "eps,count\n0.1,450\n1.5,50\n", "sigma": "sigma,count\n1,400\n1,600\n", "bad": "sigma\n1\n0\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


NOISE = "--mechanism gaussian --delta 1e-5"
CALIBRATE = "calibrate --target-eps 0.3 --delta 1e-5"
INVERSE = {"target_eps": 0.3, "delta": 1e-5}


def noisy():
    return gspa.epsilon(n=1000, delta=1e-5, mechanism=gspa.Gaussian(sigma=1.0))


EPSILON = "epsilon --eps 0.5 --n 1000 --delta 1e-5"


@pytest.mark.parametrize(
    ("line", "ask", "words"),
    [
        (EPSILON, lambda: exact_epsilon(budgets.constant(0.5, n=1000), delta=1e-5), "binary randomized response"),
        (
            f"{EPSILON} --mechanism aligned",
            lambda: accountant.central_epsilon(budgets.constant(0.5, n=1000), delta=1e-5),
            "any randomizers with aligned clones",
        ),
        (
            "epsilon --budgets {eps} --delta 1e-5",
            lambda: exact_epsilon(budgets.from_array([0.1, 1.5], count=[450, 50]), delta=1e-5),
            "",
        ),
        (
            "epsilon --eps 0.5 --n 1000 --honest 900",
            lambda: exact_epsilon(budgets.constant(0.5, n=900), delta=1e-4),
            "",
        ),
        (
            "epsilon --eps 0.5 --n 500 --delta 1e-5 --rounds 9",
            lambda: composition.compose([(composition.shuffled(budgets.constant(0.5, n=500)), 9)], delta=1e-5),
            "",
        ),
        (f"epsilon {NOISE} --n 1000 --sigma 4 --sensitivity 4", noisy, "4]"),
        (f"epsilon {NOISE} --budgets {{sigma}}", noisy, "values in [0, 1]"),
        (
            "delta --eps 0.5 --n 1000 --at-eps 0.03",
            lambda: exact_delta(budgets.constant(0.5, n=1000), eps=0.03),
            "",
        ),
        (f"{CALIBRATE} --n 500", lambda: api.calibrate(n=500, **INVERSE), ""),
        (f"{CALIBRATE} --eps 1 --mechanism laplace", lambda: api.calibrate(eps=1, mechanism="laplace", **INVERSE), ""),
        (f"{CALIBRATE} --eps 1 --n 5000", lambda: api.calibrate(eps=1, n=5000, **INVERSE), ""),
    ],
)
def test_a_commands_answer_is_the_librarys(capsys, files, line, ask, words):
    found, exact = answer(capsys, *line.format(**files).split()), ask()
    assert (found["lower"], found["value"], found["upper"]) == (exact.lower, exact.value, exact.upper)
    assert exact.method in found["method"]
    assert words in found["valid_for"]
    assert found["relation"] == "replace one user's record"
    if line.startswith(EPSILON):
        risk = gspa.risk(eps=0.5, n=1000, mechanism="aligned" if "aligned" in line else "rr")
        assert found["risk"] == {"fpr": list(risk.fpr), "tpr": list(risk.tpr), "advantage": risk.advantage}


def test_a_training_run_says_whether_it_keeps_its_deal(capsys):
    def asked(steps, deal):
        said = f"epsilon --mechanism allocation --sigma 2 --steps {steps} --epochs 4 --delta 1e-6 --deal"
        return [*said.split(), deal]

    fresh, kept = (answer(capsys, *asked(1, deal)) for deal in ("each epoch", "once"))
    # One step: each answer is a Gaussian one, so both are one with mu = sqrt(4)/2.
    for found in (fresh, kept):
        assert found["upper"] == pytest.approx(gdp_epsilon(delta=1e-6, mu=1.0), rel=1e-9)
    assert "one deal is kept for 4 epochs" in kept["valid_for"]
    assert "BallsInBinsSampling" in fresh["warnings"][0]
    upper = gspa.epsilon(delta=1e-6, mechanism=gspa.Allocation(2, 10, epochs=4, deal="once")).upper
    assert answer(capsys, *asked(10, "once"))["upper"] == upper
    assert run(["epsilon", "--eps", "1", "--n", "9", "--deal", "once"]) == 2
    assert run(asked(10, "twice")) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_each_command_names_the_mechanisms_that_it_has_the_options_for():
    assert set(cli._MECHANISMS) == set(api._KINDS)
    needed = {name: [one.name for one in fields(kind) if one.default is MISSING] for name, kind in api._KINDS.items()}
    for command in (cli.epsilon, cli.calibrate, cli.per_user):
        options = set(signature(command).parameters)
        named = signature(command).parameters["mechanism"].annotation.__metadata__[0].help
        assert set(re.findall(r"\w+", named.partition(":")[2])) == {
            name for name in cli._MECHANISMS if options >= set(needed[name])
        }


def test_each_users_own_record_is_a_line(capsys, tmp_path):
    file = tmp_path / "b.csv"
    file.write_text("eps,count\n1.5,100\n0.1,900\n")
    arguments = ["per-user", "--budgets", str(file), "--delta", "1e-5"]
    exact = api.per_user(budgets=str(file), delta=1e-5)
    assert answer(capsys, *arguments)["upper"] == exact.upper.tolist()
    assert run(arguments) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(", ")[0] for row in rows[:2]] == [
        f"row {i + 1}: eps <= {rounded(exact.upper[i], up=True)}" for i in range(2)
    ]
    assert "neighbours: replace one user's record" in rows


def test_the_attack_is_a_lower_bound(capsys):
    arguments = ["attack", "--eps", "0.5", "--n", "1000", "--delta", "1e-5"]
    low = answer(capsys, *arguments)["lower"]
    assert run(arguments) == 0
    assert capsys.readouterr().out.startswith(f"eps >= {rounded(low, up=False)}, attacked\n")
    assert low == exact_epsilon(budgets.constant(0.5, n=1000), delta=1e-5).lower


NOISY = ("--mechanism", "laplace")
ENDS = re.compile(r".*certified in \[(.+), (.+)\]")


@pytest.mark.parametrize(
    ("arguments", "start", "safe"),
    [
        (["epsilon", "--eps", "0.5", "--n", "1000"], "eps <= ", "upper"),
        (["delta", "--eps", "0.5", "--n", "1000", "--at-eps", "0.04"], "delta <= ", "upper"),
        (["calibrate", "--target-eps", "0.3", "--n", "500"], "local eps <= ", "lower"),
        (["calibrate", "--target-eps", "0.02", "--eps", "1"], "n >= ", "upper"),
        (["calibrate", "--target-eps", "2", "--eps", "1", "--n", "1000", *NOISY], "rounds <= ", "lower"),
    ],
)
def test_the_plain_answer_is_the_safe_end_with_the_interval_and_the_class(capsys, arguments, start, safe):
    exact = answer(capsys, *arguments)
    assert run(arguments) == 0
    first, *words = capsys.readouterr().out.splitlines()
    assert first.startswith(start)
    shown = re.split(r"[,;]", first.removeprefix(start))[0]
    low, high = map(Decimal, ENDS.fullmatch(first).groups())
    assert Decimal(shown) == (low if safe == "lower" else high)
    assert low <= Decimal(exact["lower"]) <= Decimal(exact["upper"]) <= high
    assert high - low <= Decimal(exact["upper"]) - Decimal(exact["lower"]) + Decimal("2e-6") * high
    if start in ("n >= ", "rounds <= "):  # whole numbers, in full
        assert (low, high) == (exact["lower"], exact["upper"])
    if arguments[0] == "epsilon":
        assert words.pop(0).startswith("any attacker: true-positive rate <= ")
    expected = [
        f"method: {exact['method']}",
        f"valid for: {exact['valid_for']}",
        "neighbours: replace one user's record",
    ]
    expected += [f"note: {exact['note']}"] if "note" in exact else []
    assert words == [*expected, *(f"warning: {warning}" for warning in exact["warnings"])]


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False), st.integers(1, 20), st.booleans())
def test_a_rounded_number_errs_to_its_side_by_less_than_a_unit_of_its_last_digit(value, digits, up):
    shown, exact = Decimal(rounded(value, up=up, digits=digits)), Decimal(value)
    assert exact <= shown if up else shown <= exact
    assert abs(shown - exact) < Decimal(1).scaleb(exact.adjusted() - digits + 1)
    assert len(shown.normalize().as_tuple().digits) <= digits


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["epsilon", "--eps", "-1", "--n", "10"], "eps = -1.0"),
        (["epsilon", "--eps", "1", "--n", "10", "--mechanism", "lapalce"], "did you mean 'laplace'?"),
        (["epsilon", "--eps", "1", "--n", "10", "--mechanism", "laplace", "--k", "3"], "does not use it"),
        (["delta", "--eps", "1", "--n", "10"], "--at-eps"),
        (["calibrate", "--target-eps", "0.3"], "--n, --eps"),
        (
            ["calibrate", "--target-eps", "0.3", "--eps", "1", "--mechanism", "gaussian"],
            "Gaussian noise has no finite local eps",
        ),
        (["per-user", "--mechanism", "tv"], "--mechanism = 'tv': must be one that this command answers for: rr"),
        (["calibrate", "--mechanism", "allocation", "--target-eps", "1"], "--mechanism = 'allocation': must be one"),
        (["epsilon", *NOISE.split(), "--budgets", "{sigma}", "--sigma", "1"], "budgets = "),
        (["epsilon", *NOISE.split(), "--budgets", "{eps}"], "column 'eps': does not exist"),
        (["epsilon", *NOISE.split(), "--budgets", "{bad}"], "line 3, column sigma = '0': must be a finite number > 0"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, files, arguments, words):
    assert run([word.format(**files) for word in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("gspa: ")
    assert words in line


LAPLACE = "bounds --eps 0.5 --n 5000 --delta 1e-5 --mechanism laplace"


def test_bounds_are_the_librarys_and_refuse_what_is_not_established_for_the_mechanism(capsys):
    found = answer(capsys, *LAPLACE.split())
    rows = compare(budgets.constant(0.5, n=5000), delta=1e-5, mechanism="laplace")
    assert found == {"n": 5000, "delta": 1e-5, "bounds": [asdict(row) for row in rows]}
    assert "not established" in {row.key: row.note for row in rows}["gspa"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("n", "epsilon --eps 1 --delta 1e-5 --n {}"),
        ("epochs", "epsilon --mechanism allocation --sigma 9 --steps 1 --delta 1e-5 --epochs {}"),
    ],
)
def test_whole_numbers_however_they_are_written(capsys, name, line):
    found = [answer(capsys, *line.format(text).split()) for text in ("10", "1e1", "10.0", "+1E+1")]
    assert all(one == found[0] for one in found)
    for bad in ("1.5", "1e-2", "nan", "inf", "many", "1e999999999"):
        assert run(line.format(bad).split()) == 2
        assert capsys.readouterr().err.startswith(f"gspa: Invalid value for '--{name}': '{bad}' is not a valid integer")


@pytest.mark.parametrize("text", ["9007199254740993", "9007199254740993.0", "9.007199254740993e15"])
def test_an_integer_is_not_rounded_on_its_way(text):
    assert integer(text) == 2**53 + 1


@pytest.mark.parametrize(
    "made",
    [
        lambda whole: gspa.KRR(k=whole(3)),
        lambda whole: gspa.SubsetSelection(k=whole(4), size=whole(2)),
        lambda whole: gspa.Allocation(sigma=2.0, steps=whole(10), k=whole(2), epochs=whole(3)),
    ],
)
def test_the_whole_number_that_was_checked_is_the_one_that_is_kept(made):
    assert repr(made(float)) == repr(made(int)) == repr(made(np.float64))


@pytest.mark.parametrize("make", [lambda s: gspa.Gaussian(sigma=s), lambda s: gspa.Laplace(scale=s)])
def test_noise_comes_in_any_sequence(make):
    for values in ([1, 2.5], (1, 2.5), np.array([1, 2.5]), pd.Series([1, 2.5], index=[7, 3])):
        assert make(values) == make((1.0, 2.5))
    for bad in (
        pd.Series([1.0, None]),
        pd.Series(["1"]),
        {1.0, 2.5},
        {},
        pd.DataFrame({"a": [1.0]}),
        "12",
        iter([1.0]),
    ):
        with pytest.raises(InvalidValue, match=r"^(sigma|scale)(\[1\])? = .*: must be") as refusal:
            make(bad)
        assert "\n" not in str(refusal.value)


def test_a_message_shows_the_start_of_a_value_that_has_no_end():
    tens: list[object] = [1]
    for _ in range(40):
        tens = [tens] * 10
    loop: list[object] = []
    loop.append(loop)
    deep: list[object] = []
    for _ in range(10**5):
        deep = [deep]
    for value in (
        tens,
        loop,
        deep,
        {"a": tens},
        (tens, loop),
        [10**5000],
        10**5000,
        "x" * 10**6,
        range(10**9),
        [0] * 10**7,
    ):
        for ask in (lambda v: gspa.KRR(k=v), lambda v: gspa.epsilon(eps=v, n=3, delta=0.1)):
            with pytest.raises(InvalidValue) as refusal:
                ask(value)
            assert len(str(refusal.value)) < 150
