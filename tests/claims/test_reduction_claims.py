"""G-D6, G-T1: what they say of the package's own numbers, and that they can say something else."""

from __future__ import annotations

import json
from fractions import Fraction

import pandas as pd
import pytest

from gspa import reduction as r
from gspa import reduction_cases as rc
from gspa.claims import settle

F = Fraction


def fabricated(*excess, corrected=0):
    """A table of processes with these excesses over the printed pair."""
    rows = []
    for i, amount in enumerate(excess):
        rows.append({"key": str(i), "reports": f"kind {i}", "attached": "user", "budgets": "1, 3", "at": F(1)})
        rows[-1] |= {"shuffled": F(1, 2) + F(amount), "pair": F(1, 2), "excess": F(amount), "bounds": "?"}
        rows[-1] |= {"corrected": F(3, 4), "corrected_excess": F(corrected)}
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", ["G-D6", "G-T1"])
@pytest.mark.parametrize("profile", ["paper", "quick"])
def test_outcomes_are_json_and_the_same_at_either_size(name, profile):
    found = settle(name, profile=profile)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.verdict == {"G-D6": "verified", "G-T1": "holds with correction"}[name]


class TestDefinition6:
    def test_its_numbers(self):
        found = settle("G-D6")
        assert found.evidence["probabilities of all output vectors, sum"] == "1"
        assert found.evidence["distance of the output laws when the data are reordered"] == "0"
        assert found.evidence["distance from user-attached shuffling (Algorithms 1 to 3), equal budgets"] == "0"
        # e^eps = 1, 4, 4, data 0, 0, 1: by hand, the eight vectors differ by 1/25 to 1/20.
        assert found.evidence["distance from user-attached shuffling, own budgets"] == "1/10"

    def test_data_that_are_not_shuffled_are_noticed(self, monkeypatch):
        def in_order(steps, data, *, attached="position"):
            law = {(): F(1)}
            for rows, x in zip(steps, data, strict=True):
                law = {(*z, k): mass * p for z, mass in law.items() for k, p in enumerate(rows[x])}
            return law

        monkeypatch.setattr(r, "shuffled_law", in_order)
        found = settle("G-D6")
        assert found.verdict == "refuted"
        assert found.evidence["distance of the output laws when the data are reordered"] != "0"

    def test_lost_mass_is_noticed(self, monkeypatch):
        right = r.shuffled_law
        monkeypatch.setattr(
            r, "shuffled_law", lambda *args, **given: {z: p * F(99, 100) for z, p in right(*args, **given).items()}
        )
        assert settle("G-D6").verdict == "refuted"

    def test_a_step_beyond_its_budget_is_noticed(self, monkeypatch):
        right = r.subset_selection
        monkeypatch.setattr(r, "subset_selection", lambda k, size, ratio: right(k, size, 2 * ratio))
        assert settle("G-D6").verdict == "refuted"


class TestTheorem1:
    def test_its_numbers(self):
        found = settle("G-T1")
        shown = found.evidence
        assert shown["V as the AAAI text prints it, probabilities of one term at e^eps = 4, sum"] == "2/5"
        assert shown["largest excess over the corrected pair, all processes"] == "0"
        assert "6 of 15 processes leak more" in found.reason
        by_position = shown["binary RR, by position, e^eps 1, 4, 4: exceeds the pair"]
        assert by_position == "delta 8/25, printed pair 3/10, corrected 51/125, at e^eps = 1"
        assert "within the pair" in next(label for label in shown if label.startswith("2 of 3 items"))

    def test_no_excess_but_no_law_for_V_is_a_correction(self):
        assert settle("G-T1", table=fabricated(0, F(-1, 9))).verdict == "holds with correction"

    def test_verified_needs_a_law_for_V(self, monkeypatch):
        monkeypatch.setattr(r, "printed_clones", lambda ratio, delta=0: F(1, 2))
        assert settle("G-T1", table=fabricated(0, F(-1, 9))).verdict == "verified"
        assert settle("G-T1", table=fabricated(0, F(1, 9))).verdict == "holds with correction"

    def test_an_excess_over_the_corrected_pair_refutes(self):
        found = settle("G-T1", table=fabricated(0, F(1, 9), corrected=F(1, 1000)))
        assert found.verdict == "refuted"
        assert "corrected pair too" in found.reason

    def test_nothing_that_holds_refutes(self):
        assert settle("G-T1", table=fabricated(F(1, 9), F(1, 8))).verdict == "refuted"

    def test_the_largest_excess_is_named(self):
        assert "kind 1 by user" in settle("G-T1", table=fabricated(F(1, 9), F(1, 8), 0)).reason

    def test_a_pair_with_too_many_clones_is_not_verified_as_the_correction(self, monkeypatch):
        """The correction is checked, not believed: with 1/2 for every clone probability it fails."""
        monkeypatch.setattr(r, "aligned_clone_probability", lambda victim, other: F(1, 2))
        assert settle("G-T1", profile="quick").verdict == "refuted"

    def test_a_correction_that_forgets_delta_fails(self, monkeypatch):
        monkeypatch.setattr(rc.Case, "corrected_pair", rc.Case.printed_pair)
        assert settle("G-T1", profile="quick").verdict == "refuted"
