"""G-TAB1, G-E4, G-D3, G-F1 to G-F4: what they say of the package's numbers, and that they can say something else."""

from __future__ import annotations

import json

import pytest

from gspa import gaussian_dp, tradeoff
from gspa import hypothesis_testing as testing
from gspa.claims import settle
from gspa.claims.registry import claim
from gspa.discrete import TradeOff

VERDICTS = {
    "G-TAB1": "verified",
    "G-E4": "verified",
    "G-D3": "verified",
    "G-F1": "holds with correction",
    "G-F2": "verified",
    "G-F3": "verified",
    "G-F4": "holds with correction",
}


@pytest.mark.parametrize("name", VERDICTS)
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_the_packages_own_numbers(name, profile):
    found = settle(name, profile=profile)
    assert found.verdict == VERDICTS[name] == claim(name).verdict
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


class TestTable1:
    def test_exchanged_names_are_refuted(self):
        other = {"type I": "type II", "type II": "type I", "correct": "correct"}
        names = {cell: other[name] for cell, name in testing.TABLE_1.items()}
        found = settle("G-TAB1", table=testing.table_1(pairs=20, seed=1, names=names))
        assert found.verdict == "refuted"

    def test_columns_read_as_the_truth_of_the_alternative_are_refuted(self):
        flip = {"true": "false", "false": "true"}
        names = {(done, flip[truth]): name for (done, truth), name in testing.TABLE_1.items()}
        assert settle("G-TAB1", table=testing.table_1(pairs=20, seed=1, names=names)).verdict == "refuted"


class TestEquation4:
    def test_a_larger_bound_is_refuted(self):
        table = testing.equation_4(pairs=20, seed=1)
        found = settle("G-E4", table=table.assign(bound=table["bound"] + 0.01))
        assert found.verdict == "refuted"
        assert "short by 0.01" in found.reason

    def test_a_wrong_total_variation_is_refuted(self, monkeypatch):
        monkeypatch.setattr(testing, "events", lambda size: testing.np.eye(size))
        assert settle("G-E4", profile="quick").verdict == "refuted"

    def test_an_unsound_use_in_the_proof_is_refuted(self, monkeypatch):
        shifted = testing.shifted
        monkeypatch.setattr(
            testing, "shifted", lambda curve, first, second: shifted(curve, first=first / 2, second=second / 2)
        )
        found = settle("G-E4", profile="quick")
        assert found.verdict == "refuted"
        assert "use in (18)" in found.reason


class TestDefinition3:
    def test_another_order_of_rejection_is_no_infimum(self, monkeypatch):
        right = testing.neyman_pearson
        monkeypatch.setattr(testing, "neyman_pearson", lambda p, q: right(q, p))
        assert settle("G-D3", profile="quick").verdict == "not checkable"

    @pytest.mark.parametrize("column", ["rise", "bend", "above"])
    def test_a_curve_of_another_shape_is_refuted(self, column):
        table = testing.equation_5(pairs=5, levels=1, seed=1)
        table[column] = 0.01
        assert settle("G-D3", table=table, profile="quick").verdict == "refuted"

    def test_cells_that_do_not_approach_the_truth_prove_nothing(self, monkeypatch):
        from gspa import tradeoff_curves

        monkeypatch.setattr(tradeoff_curves, "gaussian", lambda alpha, mu: tradeoff.gaussian(alpha, mu=1.1 * mu))
        assert settle("G-D3", profile="quick").verdict == "not checkable"


class TestFact1:
    def test_the_smallest_counterexample(self):
        found = settle("G-F1", profile="quick")
        # e^{-1/2}/2 at alpha = 1.
        (value,) = [text for label, text in found.evidence.items() if "ignores its input" in label]
        assert value == "-0.3033 at alpha = 1"
        broken = found.evidence["(eps, delta)-DP but not f-DP with f as printed, where eps + delta < 1"].split(" of ")
        assert broken[0] == broken[1]
        assert found.evidence["the same, where eps + delta >= 1"].startswith("0 of ")

    def test_the_corrected_formula_in_its_place_is_verified(self, monkeypatch):
        monkeypatch.setattr(testing, "printed_fact_1", testing.fact_1)
        assert settle("G-F1", profile="quick").verdict == "verified"

    @pytest.mark.parametrize("change", [{"delta": 0.9}, {"delta": 1.1}])
    def test_a_wrong_correction_is_refuted(self, monkeypatch, change):
        right = testing.fact_1
        monkeypatch.setattr(
            testing, "fact_1", lambda eps, delta: right(eps=eps, delta=min(delta * change["delta"], 1 - 1e-9))
        )
        assert settle("G-F1", profile="quick").verdict == "refuted"


class TestFact2:
    def test_a_channel_that_sharpens_is_refuted(self):
        table = testing.post_processing(pairs=20, seed=1)
        table.loc[3, "gap"] = -0.02
        found = settle("G-F2", table=table)
        assert found.verdict == "refuted"
        assert "short by 0.02" in found.reason

    def test_before_and_after_exchanged_is_refuted(self, monkeypatch):
        right = testing.least_gap
        monkeypatch.setattr(testing, "least_gap", lambda upper, lower: right(lower, upper))
        assert settle("G-F2", profile="quick").verdict == "refuted"


@pytest.fixture(scope="module")
def composed():
    return gaussian_dp.composition_table(families=([0.5, 0.5],), eps=(0.5,))


class TestFact3:
    def off(self, found):
        assert found.verdict == "refuted"
        return found.reason

    def test_a_wrong_curve(self, monkeypatch, composed):
        monkeypatch.setattr(gaussian_dp, "gdp_delta", lambda eps, mu: tradeoff.gdp_delta(eps, mu=1.01 * mu))
        assert self.off(settle("G-F3", composition=composed)) == "Off: the curve, the converse."

    def test_a_sum_in_place_of_the_root_of_squares(self, monkeypatch):
        monkeypatch.setattr(gaussian_dp, "compose_gdp", sum)
        assert self.off(settle("G-F3")) == "Off: composition."

    def test_another_rule_for_groups(self, monkeypatch, composed):
        monkeypatch.setattr(gaussian_dp, "group_gdp", lambda mu, k: k**0.5 * mu)
        assert self.off(settle("G-F3", composition=composed)) == "Off: groups."

    @pytest.mark.parametrize(("column", "value"), [("above", 0.01), ("below", 0.01)])
    def test_an_envelope_elsewhere(self, column, value, composed):
        table = gaussian_dp.envelope_table(mus=(1.0,), sizes=(10, 1000))
        table.loc[table["size"] == 1000, column] = value
        assert self.off(settle("G-F3", envelope=table, composition=composed)) == "Off: the converse."


class TestFact4:
    def test_the_readings(self):
        found = settle("G-F4", profile="quick")
        assert "true and says nothing" in found.reason
        assert found.evidence["the same with symmetric f and g: triples that refute"].startswith("0 of")
        assert [v for k, v in found.evidence.items() if "fair coin" in k] == ["0 and 0.25"]

    def test_the_correction_must_hold_itself(self):
        table = testing.fact_4_table(triples=20, seed=1)
        table.loc[0, "corrected"] = -0.1
        assert settle("G-F4", table=table).verdict == "refuted"

    def test_a_printed_rule_that_fails_is_said_to(self):
        table = testing.fact_4_table(triples=20, seed=1)
        table.loc[0, "printed"] = -0.1
        found = settle("G-F4", table=table)
        assert found.verdict == "holds with correction"
        assert "it fails for 1 of 20 triples" in found.reason

    def test_a_printed_rule_that_says_more_than_its_premise_is_verified(self):
        table = testing.fact_4_table(triples=20, seed=1)
        table.loc[0, "premise"] = -0.1
        assert settle("G-F4", table=table).verdict == "verified"

    def test_the_order_exchanged_is_refuted(self, monkeypatch):
        right = testing.chained

        def exchanged(first: TradeOff, second: TradeOff) -> TradeOff:
            return right(second, first)

        monkeypatch.setattr(testing, "chained", exchanged)
        assert settle("G-F4", profile="quick").verdict == "refuted"
