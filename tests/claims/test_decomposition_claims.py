"""G-L4 and G-L1: their verdicts, the numbers behind them, and that each check can say something else."""

from __future__ import annotations

import functools
import json
from fractions import Fraction

import numpy as np
import pytest

from gspa import decomposition, decomposition_tables, dominating, gallery, infeasible
from gspa import finite_mechanisms as finite
from gspa.claims import decomposition as checks
from gspa.claims import settle

DELTA = Fraction(1, 10)


@pytest.fixture(scope="module")
def domination():
    return dominating.domination(checks.mechanisms(cells=16, draws=0))


@pytest.fixture(scope="module")
def gaussian():
    return dominating.gaussian_pairs([0.5, 1.0], mu=1.0)


@pytest.fixture(scope="module")
def table():
    return decomposition_tables.decompositions(checks.mechanisms(cells=16))


@pytest.fixture(scope="module")
def cases():
    return infeasible.counterexamples(3, delta=DELTA)


@pytest.mark.parametrize(("claim", "verdict"), [("G-L4", "verified"), ("G-L1", "refuted")])
@pytest.mark.parametrize("profile", ["paper", "quick"])
def test_the_packages_own_numbers(claim, verdict, profile):
    found = settle(claim, profile=profile)
    assert found.verdict == verdict
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


class TestDominatingPair:
    def test_the_key_numbers(self, domination, gaussian):
        found = settle("G-L4", table=domination, gaussian=gaussian)
        assert found.verdict == "verified"
        assert found.evidence["largest error of the explicit channel, exact mechanisms"] == 0.0
        assert found.evidence["largest distance that linear programming leaves"] < 1e-9

    def test_the_laws_of_aaais_proof_are_refuted(self, monkeypatch, gaussian):
        # Lemma 4 with the masses that the proof of Lemma 1 prints.
        printed = functools.partial(decomposition.printed_table, text="aaai")
        monkeypatch.setattr(dominating, "quaternary_pair", printed)
        wrong = dominating.domination([finite.randomized_response(3), finite.quaternary(3, DELTA)])
        found = settle("G-L4", table=wrong, gaussian=gaussian)
        assert found.verdict == "refuted"
        assert "binary RR; Lemma 4's own pair" in found.reason

    def test_a_pair_with_too_little_delta_is_refuted(self, monkeypatch):
        right = finite.quaternary_pair
        monkeypatch.setattr(dominating, "quaternary_pair", lambda ratio, delta: right(ratio, delta / 2))
        found = settle("G-L4", profile="quick")
        assert found.verdict == "refuted"
        assert "or the truth" in found.reason
        assert "4-ary RR;" not in found.reason.replace("4-ary RR, or the truth;", "")

    @pytest.mark.parametrize(
        ("column", "value", "verdict"),
        [
            ("distance", 1e-3, "not checkable"),  # a channel is written down
            ("error", 1e-3, "not checkable"),  # the program has another
            ("gap", -1e-3, "refuted"),
            ("weaker", 0.0, "not yet checked"),
        ],
    )
    def test_each_number_counts(self, domination, gaussian, column, value, verdict):
        wrong = domination.copy()
        wrong.loc[2, column] = value
        assert settle("G-L4", table=wrong, gaussian=gaussian).verdict == verdict

    @pytest.mark.parametrize(
        ("column", "value", "verdict"), [("gap", -1e-3, "refuted"), ("gap_weaker", 0.0, "not yet checked")]
    )
    def test_the_uncut_gaussian_counts(self, domination, gaussian, column, value, verdict):
        wrong = gaussian.copy()
        wrong.loc[0, column] = value
        assert settle("G-L4", table=domination, gaussian=wrong).verdict == verdict


class TestDecomposition:
    def test_the_key_numbers(self, table, cases):
        found = settle("G-L1", table=table, cases=cases)
        assert found.verdict == "refuted"
        assert found.evidence["subset selection, 2 of 3 (arXiv)"].endswith("<= -1/14")
        assert found.evidence["subset selection, 2 of 3 (arXiv): largest coefficient"] == "1/6, claimed 1/4"
        assert found.evidence["mechanisms with delta > 0 for which (9) and (10) hold"] == "0 of 7"
        assert found.evidence["corrected: least of (largest coefficient) / (e^-eps/2), pure"] == pytest.approx(1.0)
        assert "subset selection, 2 of 3 has none is proved in fractions" in found.reason

    def test_a_gallery_of_randomized_response_alone_needs_two_corrections(self, table, cases):
        some = table[table["mechanism"].isin(["binary RR", "4-ary RR", "binary RR, or the truth"])]
        held = cases[cases["holds"]]
        found = settle("G-L1", table=some, cases=held)
        assert found.verdict == "holds with correction"
        assert "of its own" in found.correction
        found = settle("G-L1", table=some[some["delta"] == 0], cases=held)
        assert found.verdict == "holds with correction"
        assert "exchanged" in found.correction

    def test_one_certificate_is_enough(self, table, cases):
        some = table[table["mechanism"].isin(["binary RR", "4-ary RR"])]
        found = settle("G-L1", table=some, cases=cases)
        assert found.verdict == "refuted"
        others = cases[~cases["common"] | cases["holds"] | (cases["delta"] != "0") | (cases["statement"] == "AAAI")]
        # What is left is of different randomizers, of delta > 0, or AAAI's misprint.
        assert settle("G-L1", table=some, cases=others).verdict == "holds with correction"

    def test_reports_without_information_verify_it(self, cases):
        blank = finite.Mechanism("blank", np.full((3, 2), Fraction(1, 2)), Fraction(3), Fraction(0), ("0", "1"))
        blank_table = decomposition_tables.decompositions([blank])
        found = settle("G-L1", table=blank_table, cases=cases[cases["holds"]])
        assert found.verdict == "verified"

    def test_a_smaller_claim_is_not_refuted(self, monkeypatch):
        # With FMT21's coefficient in (11), pure mechanisms decompose; a shared Q_1 still does not exist.
        monkeypatch.setattr(decomposition_tables, "claimed", lambda m: (1 - m.delta) / (2 * m.ratio))
        some = decomposition_tables.decompositions(checks.mechanisms(cells=16))
        held = infeasible.counterexamples(3, delta=DELTA)
        held = held[held["holds"]]
        found = settle("G-L1", table=some, cases=held)
        assert found.verdict == "holds with correction"

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"share": 0.5}, "proved for every pure mechanism"),
            ({"variation_error": 0.1}, "proved for every pure mechanism"),
            ({"error": 0.1}, "corrected eqs. (9) and (10) fail"),
        ],
    )
    def test_a_failing_correction_leaves_no_verdict(self, table, cases, change, words):
        wrong = table.copy()
        for column, value in change.items():
            wrong.loc[2, column] = value
        found = settle("G-L1", table=wrong, cases=cases)
        assert found.verdict == "not checkable"
        assert words in found.reason

    def test_a_certificate_against_the_closed_form_leaves_no_verdict(self, table, cases):
        wrong = cases.copy()
        wrong.loc[wrong["case"] == "3-ary RR", "holds"] = False
        found = settle("G-L1", table=table, cases=wrong)
        assert found.verdict == "not checkable"
        assert "certificate disagree" in found.reason

    def test_a_split_part_that_cannot_be_solved_leaves_no_verdict(self, table, cases):
        wrong = cases.copy()
        wrong.loc[(wrong["case"] == "Lemma 4's own pair") & (wrong["statement"] == "corrected"), "holds"] = False
        assert settle("G-L1", table=table, cases=wrong).verdict == "not checkable"


def test_the_gallery_is_what_both_pages_use():
    names = [m.name for m in checks.mechanisms(cells=16)]
    assert names == [m.name for m in [*gallery.pure(3), *gallery.approximate(3, DELTA)]]
