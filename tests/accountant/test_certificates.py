"""Certificates as they are issued: what is claimed is proved, costs nothing, and what is not covered is refused."""

from __future__ import annotations

import builtins
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

import gspa
from gspa import check_certificate
from gspa.accountant import budgets
from gspa.accountant.errors import DataUnavailable, InvalidValue, OutsideValidity
from gspa.cli import run

CHECKER = Path(check_certificate.__file__)


def proved(text: str) -> bool:
    """Whether the checker proves a file's text."""
    found = check_certificate.read(text)
    return bool(check_certificate.delta_of(found) <= check_certificate.ball(found["delta"]))


def claiming(found, eps):
    """The same certificate for another eps."""
    fields = json.loads(found.text) | {"eps": eps}
    fields["statement"] = check_certificate.statement(check_certificate.parsed(json.dumps(fields)))
    return json.dumps(fields)


@settings(max_examples=10, deadline=None)
@given(
    groups=st.lists(
        st.tuples(st.floats(0.0, 6.0).map(lambda eps: round(eps, 4)), st.integers(1, 3_000)),
        min_size=1,
        max_size=4,
        unique_by=lambda one: one[0],
    ),
    exponent=st.floats(-14, -0.5),
    name=st.sampled_from(["rr", "aligned", "common", "tv"]),
)
def test_what_is_claimed_is_proved_and_loses_nothing(groups, exponent, name):
    groups = groups if name in ("rr", "aligned") else groups[:1]
    runs = gspa.TotalVariation(tv=0.5 * math.tanh(max(groups[0][0], 0.01) / 2)) if name == "tv" else name
    if name == "tv":
        groups = [(max(groups[0][0], 0.01), groups[0][1])]
    who = budgets.from_array([eps for eps, _ in groups], count=[count for _, count in groups])
    found = gspa.certify(budgets=who, delta=10**exponent, mechanism=runs)
    assert proved(found.text)
    upper = gspa.epsilon(budgets=who, delta=10**exponent, mechanism="aligned" if name == "rr" else runs).upper
    assert upper <= found.eps <= max(upper * (1 + 5e-4), upper + 1e-6) or upper > 0.99 * max(eps for eps, _ in groups)
    assert found.bound.lower <= found.eps
    if found.bound.lower > 0:  # a smaller eps is not proved
        assert not proved(claiming(found, found.bound.lower * 0.99))


@pytest.mark.slow
def test_a_thousand_budgets():
    who = budgets.from_array([0.002 * (i + 1) for i in range(1_000)], count=[7] * 1_000)
    found = gspa.certify(budgets=who, delta=1e-6)
    upper = gspa.epsilon(budgets=who, delta=1e-6, mechanism="aligned").upper
    assert upper <= found.eps <= upper * (1 + 5e-4)


@pytest.mark.parametrize("n", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
def test_large_crowds(n):
    found = gspa.certify(eps=0.5, n=n, delta=1e-6)
    assert found.eps <= gspa.epsilon(eps=0.5, n=n, delta=1e-6, mechanism="aligned").upper * (1 + 5e-4)


def test_nothing_to_prove_where_delta_is_large():
    assert gspa.certify(eps=0.5, n=100, delta=0.2).eps == 0.0


def test_without_the_library_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **more):
        if name == "gspa" and "check_certificate" in (arguments[2] or ()):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataUnavailable, match=r"gspa\[certify\]"):
        gspa.certify(eps=0.5, n=10, delta=1e-6)


def test_a_total_variation_up_to_which_less_is_no_worse():
    """Closer inputs, beside others who hide them as little as local privacy allows: all outcomes, counted."""
    n, eps0, at = 12, 1.0, (0.1, 0.3, 0.6)
    p = math.exp(eps0)
    most = (1 - 1 / p) / 2
    claimed = [gspa.delta(eps=eps0, n=n, at_eps=e, mechanism=gspa.TotalVariation(tv=most)).upper for e in at]
    counts = np.array([(i, j, k) for i in range(n + 1) for j in range(n + 1 - i) for k in range(n + 1 - i - j)])
    counts = np.c_[counts, n - counts.sum(axis=1)]
    largest = 0.0
    for share in (0.02, 0.3, 0.7, 0.95, 1.0):
        a = share * most / (p - 1)
        alone = 1 - (p + 1) * a  # of which the others report e^-eps0, or e^eps0, times as much
        fourth = (1 - 2 * a - alone / p) / (p - 1 / p)
        law = np.array([a, a, (alone - fourth) / p, p * fourth])
        assert law.sum() == pytest.approx(1)
        one = np.array([p * a, a, alone - fourth, fourth])
        first, second = np.zeros(len(counts)), np.zeros(len(counts))
        for i in range(4):
            others = counts - np.eye(4, dtype=int)[i]
            there = (others >= 0).all(axis=1)
            first[there] += one[i] * multinomial.pmf(others[there], n - 1, law)
            second[there] += one[[1, 0, 2, 3]][i] * multinomial.pmf(others[there], n - 1, law)
        for e, promise in zip(at, claimed, strict=True):
            truth = float(np.maximum(first - math.exp(e) * second, 0).sum())
            assert truth <= promise
            largest = max(largest, truth / promise)
    assert largest > 0.5  # near enough to be a test
    with pytest.raises(OutsideValidity, match="at most"):
        gspa.certify(eps=eps0, n=n, delta=1e-3, mechanism=gspa.TotalVariation(tv=1.01 * most))


class TestTheCommand:
    def test_writes_what_the_program_proves(self, tmp_path, capsys):
        path = tmp_path / "cert.json"
        assert run(["certify", "--eps", "0.5", "--n", "1000", "--delta", "1e-6", "-o", str(path)]) == 0
        assert "PROVED" in capsys.readouterr().out
        done = subprocess.run([sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "PROVED")

    def test_prints_it_where_no_file_is_named(self, capsys):
        assert run(["certify", "--eps", "0.5", "--n", "100"]) == 0
        assert proved(capsys.readouterr().out)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ("--eps 0.5 --n 100 -o {}/no/c.json", "cannot write"),
            ("--eps 1 --n 30 --mechanism laplace --rounds 2", "other rounds are not covered"),
        ],
    )
    def test_it_refuses_in_a_line(self, tmp_path, capsys, options, words):
        assert run(f"certify {options.format(tmp_path)}".split()) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert words in err


# --- Beyond one round of clones ---


def test_matrices_and_local_deltas():
    first = gspa.Discrete([[0.5, 0.2, 0.3], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    who = [(first, 20), (gspa.Discrete([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]), 10)]
    local = budgets.from_array([0.5, 1.0], delta=[1e-9, 0.0], count=[100, 50])
    for asked in ({"population": who}, {"budgets": local, "mechanism": "aligned"}):
        found = gspa.certify(**asked, delta=1e-5)
        upper = gspa.epsilon(**asked, delta=1e-5).upper
        assert proved(found.text)
        assert upper <= found.eps <= upper * (1 + 5e-4)
        assert not proved(claiming(found, upper * 0.99))


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"eps": 0.5, "n": 500, "mechanism": "aligned", "rounds": 5}, marks=pytest.mark.slow),
        {"eps": 1.0, "n": 100, "mechanism": "laplace"},
        {"mechanism": gspa.Laplace(scale=[1.0] * 20 + [2.0] * 40)},
        {"budgets": [1.0] * 20 + [0.5] * 40, "mechanism": "laplace"},
        pytest.param({"n": 100, "mechanism": gspa.Gaussian(sigma=2.0)}, marks=pytest.mark.slow),
        pytest.param({"n": 50, "mechanism": gspa.Gaussian(sigma=3.0, sensitivity=2.0)}, marks=pytest.mark.slow),
        pytest.param({"mechanism": gspa.Allocation(sigma=2.0, steps=30)}, marks=pytest.mark.slow),
        pytest.param(
            {"mechanism": gspa.Allocation(sigma=4.0, steps=30, sensitivity=2.0, direction="replace")},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["rounds", "laplace", "two scales", "two budgets", "gaussian", "range", "allocation", "replace"],
)
def test_coarser_methods_are_proved_and_lose_little(asked, monkeypatch):
    monkeypatch.setattr(check_certificate, "CELLS", 4_000)  # which is valid, too
    found = gspa.certify(**asked, delta=1e-5)
    upper = gspa.epsilon(**asked, delta=1e-5).upper
    assert proved(found.text)
    assert upper * (1 + 1e-4) <= found.eps <= upper * 1.01
    assert not proved(claiming(found, upper * 0.98))


@pytest.mark.parametrize(
    ("asked", "delta"),
    [
        ({"mechanism": gspa.Allocation(sigma=0.6, steps=10)}, 1e-6),
        ({"n": 10**4, "mechanism": gspa.Gaussian(sigma=0.5)}, 1e-6),
        ({"eps": 1.0, "n": 10**6, "mechanism": "laplace"}, 1e-6),
        ({"eps": 1.0, "n": 10**5, "mechanism": gspa.KRR(k=10)}, 1e-6),
    ],
    ids=["little noise in few steps", "little noise", "many on a line", "many with items"],
)
@pytest.mark.slow
def test_what_is_large_is_accepted_and_loses_as_little(asked, delta):
    found = gspa.certify(**asked, delta=delta)
    upper = gspa.epsilon(**asked, delta=delta).upper
    assert upper <= found.eps <= upper * (1 + 6e-4)


def test_a_report_that_needs_nobody_else():
    found = gspa.certify(eps=0.01, n=3, delta=0.1, mechanism="laplace")
    assert found.eps == 0.0
    assert json.loads(found.text)["proof"] == {"covers": [None]}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"eps": 0.5, "n": 100, "mechanism": "laplace", "rounds": 2}, "other rounds are not covered"),
        ({"n": 60, "mechanism": gspa.Discrete([[0.7, 0.3], [0.3, 0.7]]), "rounds": 2}, "other rounds are not covered"),
        ({"eps": 300.0, "n": 100}, "must be in \\[0, 200\\]"),
        ({"budgets": [0.001 * i for i in range(1, 1_002)]}, "1 to 1000"),
        ({"eps": 1e-6, "n": 10**12, "delta": 1e-12, "rounds": 2}, "at most 10,000,000,000 users"),
        ({"eps": 0.5, "n": 10, "delta": 0.0}, "delta"),
        ({"eps": 0.5}, "n = None"),
        ({"mechanism": gspa.Allocation(sigma=1.0, steps=10, epochs=2)}, "one epoch"),
        ({"mechanism": gspa.Allocation(sigma=1.0, steps=10, epochs=2, deal="once")}, r"one epoch at sigma/sqrt\(2\)"),
        ({"mechanism": gspa.Allocation(sigma=1.0, steps=10, k=2)}, "one epoch"),
        pytest.param(
            {"mechanism": gspa.Allocation(sigma=0.1, steps=10)},
            "within 1% of the accountant's",
            marks=pytest.mark.slow,
        ),
        ({"mechanism": gspa.Allocation(sigma=1.0, steps=10, direction="add")}, "relation: one of add or remove"),
        ({"eps": 0.0, "n": 5, "mechanism": "laplace"}, "local eps"),
        ({"n": 5, "mechanism": gspa.Gaussian(sigma=0.001)}, "standard deviation"),
        pytest.param(
            {"mechanism": gspa.Laplace(scale=[1 + i / 100 for i in range(9)] * 9)},
            "share scales",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_not_covered_is_said(asked, words):
    with pytest.raises((InvalidValue, OutsideValidity), match=words):
        gspa.certify(**{"delta": 1e-6} | asked)


@pytest.mark.parametrize(
    "options",
    [
        "--n 30 --mechanism gaussian --sigma 2",
        "--mechanism allocation --sigma 2 --steps 10 --direction replace",
        "--eps 1 --n 30 --mechanism aligned --rounds 3",
        "--n 30 --mechanism discrete --matrix {}",
    ],
)
def test_the_command_for_other_methods(tmp_path, capsys, monkeypatch, options):
    monkeypatch.setattr(check_certificate, "CELLS", 1_000)
    path, matrix = tmp_path / "cert.json", tmp_path / "a.csv"
    matrix.write_text("0.75,0.25\n0.25,0.75\n", encoding="utf-8")
    assert run(f"certify {options.format(matrix)} --delta 1e-4 -o {path}".split()) == 0
    assert "PROVED" in capsys.readouterr().out.splitlines()[-1]
    assert check_certificate.main([str(path)]) == 0


@pytest.mark.parametrize("over", [pytest.param(0.9, marks=pytest.mark.slow), 1.3])
def test_the_noise_of_a_certificate_is_no_more_than_that_of_the_reports(over, monkeypatch):
    monkeypatch.setattr(check_certificate, "CELLS", 4_000)
    exact = Fraction(over) / Fraction(0.7)
    found = gspa.certify(n=1, delta=1e-6, mechanism=gspa.Laplace(scale=0.7, sensitivity=over))
    ((eps, _, _),) = json.loads(found.text)["users"]
    assert exact <= Fraction(eps) <= exact * (1 + Fraction(2) ** -52)
    found = gspa.certify(n=1, delta=1e-3, mechanism=gspa.Gaussian(sigma=0.7, sensitivity=over))
    ((sigma, _, _),) = json.loads(found.text)["users"]
    assert 1 / exact * (1 - Fraction(2) ** -52) <= Fraction(sigma) <= 1 / exact
    found = gspa.certify(delta=1e-3, mechanism=gspa.Allocation(sigma=0.7, sensitivity=over, steps=1))
    assert json.loads(found.text)["parameters"]["sigma"] == sigma


@pytest.mark.parametrize("asked", [{"mechanism": "laplace"}, {"mechanism": "rr", "rounds": 2}])
def test_no_certificate_claims_more_than_local_privacy_guarantees(asked):
    assert gspa.certify(eps=3.3, n=1, delta=1e-6, **asked).eps <= 3.3 * asked.get("rounds", 1)


@pytest.mark.parametrize(
    "runs",
    [gspa.UnaryEncoding(5), gspa.Rappor(3), gspa.LocalHashing(9, 4), gspa.HadamardResponse(5), gspa.Piecewise()],
)
def test_other_named_mechanisms(runs):
    found, upper = (ask(eps=1.0, n=300, delta=1e-6, mechanism=runs) for ask in (gspa.certify, gspa.epsilon))
    assert upper.upper <= found.eps <= upper.upper * (1 + 5e-4)
