"""Claims, outcomes and errata: what is refused, what survives JSON, and what a run that lacked something settles."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from gspa.accountant.errors import InvalidValue
from gspa.book import claims, project, say
from gspa.book.claims import READING, Erratum, Outcome, claim, errata, registry
from gspa.book.verdicts import VERDICTS, Reading

NUMBERLESS = ("not checkable", "not yet checked")


def outcome(verdict="verified", **changes):
    """A sound outcome of that verdict."""
    correction = "so and so" if verdict == "holds with correction" else ""
    facts = {"reason": "It is so.", "evidence": {"gap": 0.5}, "correction": correction} | changes
    return Outcome("G-C3", verdict, **facts)


def settled(holds, *, had=("size", "data"), changed=(), needs=()):
    """What a cell finds for a claim of one reading, on record as verified."""
    on_record = {"": Reading("", "verified", "The gap is {{ gap }}.")}
    entry = dataclasses.replace(claim("G-A2"), needs=tuple(needs), readings=on_record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "registry", lambda: {"G-A2": entry})
        return claims.outcome("G-A2", holds, {"gap": 0.5}, had=had, used={"n": 3}, changed=changed)


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


PLACE = {"id": "F1", "location": "Here", "title": "So", "quote": "So it is.", "notebook": "n"}


class TestAnEntry:
    def test_evidence_without_a_label_has_its_name_as_the_papers_write_it(self):
        assert claim("F12").label("ss_topk_attacked_at_eps_0") == r"SS-Topk attacked at $\epsilon$ 0"
        assert claim("F12").label("numbers_of_steps") == "numbers of steps"

    def test_a_reading_has_the_claims_verdict_and_words_where_it_has_none_of_its_own(self):
        said = {"verdict": "holds with correction", "found": "Reading {{ nth }}.", "correction": "but."}
        own = {
            "a": None,
            "b": {"verdict": "refuted"},
            "c": {"found": "It is {{ gap }}.", "excluded": "by the text"},
            "d": "Other.",
        }
        entry = claims._claim({**PLACE, **said, "readings": own})
        assert entry.readings == {
            "a": Reading("a", "holds with correction", "Reading {{ nth }}.", "but."),
            "b": Reading("b", "refuted", "Reading {{ nth }}."),
            "c": Reading("c", "holds with correction", "It is {{ gap }}.", "but.", "by the text"),
            "d": Reading("d", "holds with correction", "Other.", "but."),
        }
        assert entry.read("b", False, {"gap": 2}) == Reading("b", "refuted", "Reading 1.")
        assert [*claims._claim({**PLACE, **said}).readings] == [""]


class TestSettling:
    def test_the_verdict_is_the_rules_and_other_words_than_those_on_record_come_with_another(self):
        found = settled(True)
        assert (found.verdict, found.reason) == ("verified", "The gap is 0.5.")
        assert found.source == f"notebooks/{claim('G-A2').notebook}.ipynb"
        other = settled(False)
        assert other.verdict == "refuted"
        assert other.reason == "In this run: refuted. On record, at the paper's numbers: verified."

    def test_a_run_that_left_the_papers_setting_settles_nothing(self):
        found = settled(True, changed=["delta = 0.5"])
        assert (found.verdict, found.missing) == ("not yet checked", "settings")
        assert "delta = 0.5" in found.reason

    @pytest.mark.parametrize(("had", "missing"), [([], "size"), (["size"], "data"), (["size", "data"], "")])
    def test_what_a_claim_needs_is_looked_at_first(self, had, missing):
        found = settled(True, had=had, needs=("size", "data"))
        assert (found.missing, found.verdict) == (missing, "not yet checked" if missing else "verified")

    @pytest.mark.parametrize(("need", "missing"), [("n > 2", ""), ("n > 3", "settings")])
    def test_a_need_may_be_a_condition_on_the_parameters(self, need, missing):
        assert settled(True, needs=[need]).missing == missing


class TestErrata:
    ONE = Erratum(1, "G-C3", "eq. (10)", "half", "a third", "gap")

    @pytest.mark.parametrize(
        ("named", "row"), [("gap", ("gap", 1)), ("slope (6)", ("slope (6)", 3)), ("slope", None), ("of mu", None)]
    )
    def test_its_row_has_exactly_that_label(self, named, row):
        found = {"G-C3": outcome(evidence={"gap": 1, "gap of mu": 2, "slope (6)": 3})}
        assert dataclasses.replace(self.ONE, evidence=named).row(found) == row
        assert self.ONE.row({}) is None

    def test_its_row_may_be_named_as_in_the_cell(self):
        [name, *_] = claim("G-C3").evidence
        label = claim("G-C3").evidence[name]
        assert dataclasses.replace(self.ONE, evidence=name).row({"G-C3": outcome(evidence={label: 1})}) == (label, 1)
        bare = {"G-C3": outcome(evidence={"of no label": 2})}
        assert dataclasses.replace(self.ONE, evidence="of_no_label").row(bare) == ("of no label", 2)

    def test_it_has_its_claims_place_and_correction_where_it_has_none_of_its_own(self):
        told, found = claim("G-A2"), claims._erratum(1, "G-A2", {"evidence": "gap"})
        assert found.place == told.location
        assert [found.right] == [one.correction for one in told.readings.values() if one.correction]

    def test_the_list_is_well_formed(self):
        entries = errata()
        text = (project.find().book / "errata.yaml").read_text(encoding="utf-8")
        numbers = [int(number) for number in re.findall(r"^  (\d+):", text, re.MULTILINE)]
        assert [one.number for one in entries] == sorted(set(numbers))
        assert len(entries) == len(numbers)  # of two with one number YAML takes the last
        papers = [list(claims.PAPERS).index(one.paper) for one in entries]
        assert papers == sorted(papers)
        for one in entries:
            assert min(map(len, (one.place, one.printed, one.right, one.evidence))) > 0
            assert all(said.count("$") % 2 == 0 for said in (one.place, one.printed, one.right)), one.number
            assert not say.names(one.right), f"{one.number}: a correction with numbers stands on its card only"
            entry = registry()[one.claim]
            words = [text for read in entry.readings.values() for text in (read.found, read.correction)]
            named = {*entry.evidence}.union(*map(say.names, words))
            labels = entry.evidence.values()
            begins = any(one.evidence.startswith(f"{label}: ") for label in labels)
            assert begins or one.evidence in (READING, *named, *labels), one.number
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
