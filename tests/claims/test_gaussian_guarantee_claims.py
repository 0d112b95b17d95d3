"""G-T2 and G-E17: what they say of the package's own numbers, and that they can say something else."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F

import pandas as pd
import pytest

from gspa import comparison, local_delta
from gspa import gaussian_guarantee as theorem2
from gspa.claims import settle


@pytest.fixture(scope="module")
def evidence():
    return {
        "constants": theorem2.constants(local=[0.5, 4.0, 8.0], sizes=[100, 1_000, 10_000]),
        "promises": theorem2.promises(local=[0.5, 2.0, 5.0], sizes=[1_000], deltas=[1e-4]),
        "left": theorem2.what_is_left(comparison.populations(steps=2), delta=1e-4),
    }


@pytest.mark.parametrize("name", ["G-T2", "G-E17"])
def test_outcomes_are_json(name):
    found = settle(name, profile="quick")
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


class TestTheorem2:
    @pytest.mark.parametrize("given", [True, False])
    def test_needs_a_correction(self, evidence, given):
        found = settle("G-T2", profile="quick", **(evidence if given else {}))
        assert found.verdict == "holds with correction"
        assert "leaves nothing to say at delta = 0.0001" in found.reason
        assert r"\Pr(C < c_0)" in found.correction
        assert found.evidence["least C at eps0 = 0.5, largest over n"].startswith("0 (")
        assert found.evidence["right side of (15) with C = sqrt(n-1), at its largest"] == -1

    def test_the_numbers(self, evidence):
        found = settle("G-T2", **evidence)
        assert "promises too much at 1 of 3 points, though at none up to eps0 = 2;" in found.reason
        # 8 expected clones among 10,000 users halve to 0.8 among 1,000: s = 0.0254, C = s sqrt(999).
        assert "reaches 0.804 at eps0 = 8" in found.reason
        assert found.evidence["worst point"].startswith("eps0 = 5, n = 1,000, delta = 0.0001: paper 1.882, ")
        assert found.evidence["smallest delta that Lemma 2's slack leaves there"] > 1e-4
        # 3 - 1 others of 4 against 3; and 2/sqrt(3 r) against sqrt(2/(3 r)).
        mus = [value for label, value in found.evidence.items() if "mu" in label.split() or "mu," in label]
        assert mus == pytest.approx([math.sqrt(3 / 2), math.sqrt(2)])

    def test_one_constant_and_no_broken_promise_verify(self, evidence):
        constants = evidence["constants"].assign(slack=0.0, constant=0.0)
        promises = evidence["promises"].assign(promise="holds")
        found = settle("G-T2", constants=constants, promises=promises, left=evidence["left"])
        assert found.verdict == "verified"

    def test_one_broken_promise_is_enough_against_verified(self, evidence):
        constants = evidence["constants"].assign(slack=0.0, constant=0.0)
        found = settle("G-T2", **(evidence | {"constants": constants}))
        assert found.verdict == "holds with correction"

    def test_constants_that_grow_with_the_budget_are_enough_too(self, evidence):
        found = settle("G-T2", **(evidence | {"promises": evidence["promises"].assign(promise="holds")}))
        assert found.verdict == "holds with correction"
        assert "at 0 of 3 points" in found.reason

    def test_a_constant_that_grows_with_n_refutes(self, evidence):
        constants = evidence["constants"].copy()
        constants.loc[constants["eps0"] == 4, "constant"] = [0.1, 0.5, 2.5]
        found = settle("G-T2", **(evidence | {"constants": constants}))
        assert found.verdict == "refuted"
        assert "No C serves all n at eps0 = 4" in found.reason

    def test_a_constant_that_grows_where_the_clones_are_few_settles_nothing(self, evidence):
        constants = evidence["constants"].copy()
        constants.loc[constants["eps0"] == 8, "constant"] = [0.1, 0.5, 2.5]  # 10,000 users: 6.7 clones
        found = settle("G-T2", **(evidence | {"constants": constants}))
        assert (found.verdict, found.missing) == ("not yet checked", "size")
        assert "At eps0 = 8" in found.reason

    def test_small_budgets_alone_do_not_verify(self, evidence):
        constants = evidence["constants"].assign(slack=0.0, constant=0.0)
        promises = evidence["promises"].assign(promise="holds")
        promises["eps0"] /= 2
        found = settle("G-T2", constants=constants, promises=promises, left=evidence["left"])
        assert (found.verdict, found.missing) == ("not yet checked", "size")

    def test_a_proved_slack_that_is_too_small_refutes(self, evidence):
        constants = evidence["constants"].copy()
        constants["proved"] = constants["slack"] / 2
        found = settle("G-T2", **(evidence | {"constants": constants}))
        assert found.verdict == "refuted"
        assert "more than the" in found.reason

    def test_a_wrong_formula_is_refuted(self, monkeypatch):
        # (A) as if every other user were a clone: too small a slack where few are.
        monkeypatch.setattr(theorem2, "proved_slack", lambda people, **_: (2 * math.pi * (people.n - 1)) ** -0.5)
        found = settle("G-T2", profile="quick")
        assert found.verdict == "refuted"
        assert "eps0 = 8, n = 1,000" in found.reason

    def test_a_slack_that_is_small_enough_leaves_a_statement(self, evidence):
        left = evidence["left"].assign(lemma2=1e-5)
        found = settle("G-T2", **(evidence | {"left": left}))
        assert "may leave a statement" in found.reason

    @pytest.mark.parametrize(
        "arguments", [{"local": [4.0], "sizes": [10, 30, 100]}, {"local": [1.0, 4.0], "sizes": [30]}]
    )
    def test_too_little_evidence_settles_nothing(self, evidence, arguments):
        found = settle("G-T2", **(evidence | {"constants": theorem2.constants(**arguments)}))
        assert (found.verdict, found.missing) == ("not yet checked", "size")


class TestEquation17:
    def test_is_refuted_exactly(self):
        found = settle("G-E17")
        assert found.verdict == "refuted"
        assert "delta_total = delta_n + (1 - delta_n) delta" in found.reason
        # By hand, tests/test_local_delta.py: 0.072 against 0.04; 0.6 against 1.
        assert found.evidence["(17), largest right minus left"] == "0.032 at alpha = 0.640"
        assert found.evidence["(17), smallest right minus left"].startswith("-0.4 at alpha = 0.000")
        assert found.evidence["delta_total = delta_n + (1 - delta_n) delta, exactly, at"] == 20

    def test_a_mechanism_that_gives_nothing_away_and_equal_sides_verify(self):
        told = local_delta.told_truth(ratio=3, delta_n=F(1, 5), others=[3], factors=[1, 2]).assign(n=2)
        told["total"] = told["paper"]
        sides = pd.DataFrame({"alpha": [0.0, 1.0], "left": [1.0, 0.0], "right": [1.0, 0.0]})
        sides = sides.assign(equal_alpha=sides["left"], mirrored=0.0)
        assert settle("G-E17", told=told, sides=sides).verdict == "verified"
        assert settle("G-E17", told=told).verdict == "holds with correction"
        assert settle("G-E17", sides=sides).verdict == "refuted"

    def test_says_so_where_the_corrected_value_is_not_exact(self):
        told = local_delta.told_truth(ratio=3, delta_n=F(1, 5), others=[3], factors=[1, 2]).assign(n=2)
        told["corrected"] += F(1, 100)
        assert "Nor is delta_n" in settle("G-E17", told=told).reason

    def test_without_a_local_delta_nothing_is_lost(self):
        # At delta_n = 0 the mechanism part agrees with the paper; what is left is T_symm.
        told = local_delta.told_truth(ratio=9, delta_n=F(0), others=[3], factors=[1, 2]).assign(n=2)
        sides = local_delta.equation17(ratio=9, delta_n=F(0), others=[1])
        assert settle("G-E17", told=told, sides=sides).verdict == "holds with correction"
