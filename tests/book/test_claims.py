"""Claims, outcomes and errata: what is refused, what survives JSON, and what a run that lacked something settles."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gspa.accountant.errors import GspaError, InvalidValue, UnknownName
from gspa.book import claims
from gspa.book.claims import READING, Erratum, Outcome, claim, errata, registry, settle, settles
from gspa.book.verdicts import VERDICTS

NUMBERLESS = ("not checkable", "not yet checked")


def outcome(verdict="verified", **changes):
    """A sound outcome of that verdict."""
    correction = "so and so" if verdict == "holds with correction" else ""
    facts = {"reason": "It is so.", "evidence": {"gap": 0.5}, "correction": correction} | changes
    return Outcome("G-C3", verdict, **facts)


@settles("G-A2")
def check(table, limit):
    return dataclasses.replace(outcome("verified" if table < limit else "refuted"), claim="G-A2")


class TestOutcomes:
    @pytest.mark.parametrize("word", ["true", "Verified", "", "holds"])
    def test_another_verdict_is_refused_and_the_message_lists_all(self, word):
        with pytest.raises(InvalidValue, match="verdict = ") as refusal:
            outcome(word)
        assert all(known in str(refusal.value) for known in VERDICTS)

    @pytest.mark.parametrize("word", VERDICTS)
    def test_a_verdict_needs_its_numbers(self, word):
        if word in NUMBERLESS:
            assert outcome(word, evidence={}).evidence == {}
            return
        with pytest.raises(InvalidValue, match=r"evidence.*needs its numbers"):
            outcome(word, evidence={})

    @pytest.mark.parametrize("word", VERDICTS)
    def test_a_correction_comes_exactly_with_the_verdict_that_needs_one(self, word):
        with pytest.raises(InvalidValue, match="correction"):
            outcome(word, correction="" if word == "holds with correction" else "so and so")

    @pytest.mark.parametrize("word", [word for word in VERDICTS if word != "not yet checked"])
    def test_only_what_is_not_yet_checked_lacks_something(self, word):
        with pytest.raises(InvalidValue, match="missing"):
            outcome(word, missing="size")

    def test_outcomes_cannot_be_changed(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            outcome().verdict = "refuted"

    @pytest.mark.parametrize("word", VERDICTS)
    def test_json_keeps_everything_and_the_order(self, word):
        evidence = {"b": 0.1 + 0.2, "a": 3, "text": "1 ± 2", "flag": True, "pair": [1.0, 2.0], "$x$": "ϵ"}
        first = outcome(word, evidence=evidence, missing="data" if word == "not yet checked" else "")
        again = Outcome.from_dict(json.loads(json.dumps(first.to_dict(), sort_keys=True)))
        assert again == first
        assert list(again.evidence) == list(evidence)

    def test_what_is_read_is_checked_again(self):
        forged = outcome("not yet checked", evidence={}).to_dict() | {"verdict": "verified"}
        with pytest.raises(InvalidValue, match="evidence"):
            Outcome.from_dict(forged)

    def test_a_notebook_is_given_words_html_and_data(self):
        found = outcome("refuted", reason=r"Off at $\epsilon \le 1$.")
        shown = found._repr_mimebundle_()
        assert set(shown) == {"text/plain", "text/html", claims.MIME}
        assert shown["text/plain"] == "G-C3: refuted. Off at eps <= 1."
        assert Outcome.from_dict(json.loads(json.dumps(shown))[claims.MIME]) == found

    @pytest.mark.parametrize("recorded", VERDICTS)
    @pytest.mark.parametrize("word", VERDICTS)
    def test_a_run_differs_when_its_verdict_is_another(self, recorded, word, monkeypatch):
        entry = dataclasses.replace(claim("G-C3"), verdict=recorded)
        monkeypatch.setattr(claims, "registry", lambda: {"G-C3": entry})
        assert outcome(word).differs() == (recorded != word)
        assert not outcome("not yet checked", evidence={}, missing="size").differs()


class TestSettling:
    def test_a_check_is_given_its_pages_tables(self):
        assert settle(check, 1, 2, had=["size", "data"], changed=[]).verdict == "verified"
        assert settle(check, 2, 1, had=[], changed=[]).verdict == "refuted"

    def test_a_run_that_left_the_papers_setting_settles_nothing(self):
        found = settle(check, 1, 2, had=["size"], changed=["delta = 0.5"])
        assert (found.verdict, found.missing) == ("not yet checked", "settings")
        assert "delta = 0.5" in found.reason

    @pytest.mark.parametrize(("had", "missing"), [([], "size"), (["size"], "data"), (["size", "data"], "")])
    def test_what_a_claim_needs_is_looked_at_first(self, had, missing, monkeypatch):
        entry = dataclasses.replace(claim("G-A2"), needs=("size", "data"))
        monkeypatch.setattr(claims, "registry", lambda: {"G-A2": entry})
        found = settle(check, 1, 2, had=had, changed=[])
        assert (found.missing, found.verdict) == (missing, "not yet checked" if missing else "verified")

    def test_an_outcome_of_another_claim_is_refused(self):
        @settles("G-D1")
        def wrong():
            return outcome()

        with pytest.raises(GspaError, match="check of G-D1 returned an outcome of G-C3"):
            settle(wrong, had=[], changed=[])

    def test_an_unknown_id_gets_the_nearest_one(self):
        with pytest.raises(UnknownName, match="claim 'G-SGDD3': does not exist; did you mean 'G-SGD3'"):
            claim("G-SGDD3")

    def test_outcomes_are_read_from_executed_notebooks(self, tmp_path):
        shown = {"output_type": "display_data", "data": outcome()._repr_mimebundle_(), "metadata": {}}
        path = tmp_path / "one.ipynb"
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": [shown]}, {"cell_type": "markdown"}]}))
        assert claims.outcomes([path]) == {"G-C3": outcome()}
        assert claims.verdict_of("G-C3", {}) == "not yet checked"


class TestErrata:
    ONE = Erratum(1, "gspa", "G-C3", "eq. (10)", "half", "a third", "gap")

    @pytest.mark.parametrize(
        ("label", "row"),
        [
            ("gap", ("gap", 1)),
            ("slope (", ("slope (6)", 3)),
            ("slope", None),  # two begin so
            ("gap * mu", ("gap of mu", 2)),
            ("s*e", None),
            ("of mu", None),  # not its beginning
        ],
    )
    def test_a_label_or_the_only_one_that_begins_so(self, label, row):
        found = {"G-C3": outcome(evidence={"gap": 1, "gap of mu": 2, "slope (6)": 3, "slopes": 4})}
        assert dataclasses.replace(self.ONE, evidence=label).row(found) == row
        assert self.ONE.row({}) is None

    def test_the_list_is_well_formed(self):
        entries = errata()
        numbers = [one.number for one in entries]
        assert numbers == sorted(set(numbers))
        papers = [list(claims.PAPERS).index(one.paper) for one in entries]
        assert papers == sorted(papers)
        for one in entries:
            assert registry()[one.claim].paper == one.paper
            assert min(map(len, (one.place, one.printed, one.right, one.evidence))) > 0
            assert all(said.count("$") % 2 == 0 for said in (one.place, one.printed, one.right)), one.number
        assert any(one.evidence == READING for one in entries)

    @pytest.mark.parametrize(
        ("verdict", "weight"),
        [("refuted", "conclusion"), ("not reproduced", "conclusion"), ("holds with correction", "number")],
    )
    def test_its_weight_is_the_verdicts(self, verdict, weight, monkeypatch):
        entry = dataclasses.replace(claim("G-C3"), verdict=verdict)
        monkeypatch.setattr(claims, "registry", lambda: {"G-C3": entry})
        assert self.ONE.weight == weight
        assert dataclasses.replace(self.ONE, misprint=True).weight == "misprint"
