"""B-8 to B-15: the verdicts on given and on computed evidence, and that each check can say something else."""

from __future__ import annotations

import pandas as pd
import pytest
import sympy as sp

from gspa import complexities, learning, uniformity
from gspa.claims import claim, settle
from gspa.claims import learning as checks

TERMS = complexities.substitutions()
STATED = {
    "B-8": learning.LOCAL,
    "B-10": learning.SHUFFLED,
    "B-11": {name: value for name, value in uniformity.LOCAL.items() if name.startswith("public")},
    "B-12": {name: value for name, value in uniformity.LOCAL.items() if name.startswith("private")},
    "B-13": {name: value for name, value in uniformity.SHUFFLED.items() if name.startswith("private")},
    "B-14": {name: value for name, value in uniformity.SHUFFLED.items() if name.startswith("public")},
}
EXPERIMENTS = list(STATED)


def fitted(stated, *, off=0.0, reach=0.02):
    """A table of exponents, each `off` from what is stated."""
    rows = [
        (regime, factor, power, power + off, power + off - reach, power + off + reach, 9)
        for regime, factors in stated.items()
        for factor, power in factors.items()
    ]
    return pd.DataFrame(rows, columns=["regime", "factor", "stated", "exponent", "low", "high", "points"])


def evidence(name, **changed):
    found = {"fitted": fitted(STATED[name])}
    if name == "B-10":
        found["central"] = fitted(learning.CENTRAL)
    if name in ("B-10", "B-13", "B-14"):
        found["terms"] = TERMS
    return {**found, **changed}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_stated_exponents_are_verified(name):
    found = settle(name, **evidence(name))
    assert found.verdict == "verified"
    assert found.verdict == claim(name).verdict
    shown = [label for label in found.evidence if "exponent of" in label]
    assert len(shown) == sum(map(len, STATED[name].values())) + (3 if name == "B-10" else 0)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_other_exponents_are_refuted_by_name(name):
    found = settle(name, **evidence(name, fitted=fitted(STATED[name], off=0.2)))
    assert found.verdict == "refuted"
    assert next(iter(STATED[name])) in found.reason


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_wide_intervals_settle_nothing(name):
    found = settle(name, **evidence(name, fitted=fitted(STATED[name], reach=0.2)))
    assert (found.verdict, found.missing) == ("not yet checked", "size")


@pytest.mark.parametrize("name", ["B-11", "B-12", "B-13", "B-14"])
def test_the_small_profile_settles_no_tester(name):
    assert settle(name, profile="quick", **evidence(name)).missing == "size"


@pytest.mark.parametrize("name", ["B-8", "B-11", "B-12"])
def test_a_lower_bound_of_another_order_refutes(name):
    necessary = pd.DataFrame({"k": [2, 2**20], "eps": [1.0, 1.0], "ratio": [1.0, 11.0]})
    assert settle(name, **evidence(name, necessary=necessary)).verdict == "refuted"


def test_a_mutated_lower_bound_refutes(monkeypatch):
    monkeypatch.setattr(complexities, "information", lambda k, eps: 1.0)
    assert settle("B-8", **evidence("B-8")).verdict == "refuted"


@pytest.mark.parametrize(("name", "problem"), [("B-10", "learning"), ("B-13", "private coin"), ("B-14", "public coin")])
def test_other_algebra_refutes(monkeypatch, name, problem):
    wrong = TERMS.copy()
    wrong.loc[(wrong["problem"] == problem) & (wrong["term"] == 2) & wrong["leads"], "printed"] = False
    assert settle(name, **evidence(name, terms=wrong)).verdict == "refuted"
    # The same from the formulas: a printed result with another power of k.
    first, *rest = complexities._PRINTED[problem]
    changed = {**complexities._PRINTED, problem: (first * sp.sqrt(complexities._k), *rest)}
    monkeypatch.setattr(complexities, "_PRINTED", changed)
    assert settle(name, **evidence(name, terms=complexities.substitutions())).verdict == "refuted"


@pytest.mark.parametrize("name", ["B-10", "B-13", "B-14"])
@pytest.mark.parametrize("ratio", [1e-2, 100.0])
def test_growing_constants_refute(name, ratio):
    solved = pd.DataFrame({"ratio": [1.0, ratio]})
    assert settle(name, **evidence(name, solved=solved)).verdict == "refuted"


def test_a_central_learner_of_another_order_refutes():
    assert settle("B-10", **evidence("B-10", central=fitted(learning.CENTRAL, off=0.3))).verdict == "refuted"


def test_the_learners_own_experiments_settle_their_claims():
    assert settle("B-8").verdict == claim("B-8").verdict == "verified"
    assert settle("B-10").verdict == claim("B-10").verdict == "verified"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["B-11", "B-12", "B-13", "B-14"])
def test_the_testers_own_experiments_settle_their_claims(name):
    assert settle(name).verdict == claim(name).verdict


def test_the_remark_lacks_a_square():
    found = settle("B-15")
    assert found.verdict == claim("B-15").verdict == "holds with correction"
    assert "tends to k." in found.reason
    assert settle("B-15", limits=("1", "1/k")).verdict == "verified"
    assert settle("B-15", limits=("k", "2")).verdict == "refuted"


class TestEquationFive:
    table = pd.DataFrame(
        {"s": [0.1, 50.0], "case": ["s <= 1", "s >= 1"], "ratio": [0.9, 0.2], "own": [0.9, 1.2], "other": [0.1, 40.0]}
    ).assign(eps=1.0)
    beyond = table.iloc[1:].assign(ratio=0.01)

    def settle(self, **change):
        return settle("B-9", table=self.table.assign(**change), beyond=self.beyond)

    def test_the_packages_own_numbers_need_the_correction(self):
        found = settle("B-9", profile="quick")
        assert found.verdict == claim("B-9").verdict == "holds with correction"
        assert r"\le 1" in found.correction

    def test_the_verdict_follows_the_numbers(self):
        assert self.settle().verdict == "holds with correction"
        assert self.settle(own=0.9, other=0.9).verdict == "verified"
        assert self.settle(ratio=[0.9, 0.01]).verdict == "refuted"
        assert self.settle(ratio=[20.0, 1.0]).verdict == "refuted"

    def test_one_case_alone_settles_nothing(self):
        assert self.settle(case="s >= 1").missing == "size"


def test_tolerances_are_the_registrys():
    assert {checks.exponent_tolerance(name) for name in EXPERIMENTS} == {0.1}
