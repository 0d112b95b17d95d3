"""What a claim is judged by may change only in the open: the repository's own history is the witness."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

from gspa.book.claims import registry

ROOT = Path(__file__).resolve().parents[2]
NOW = "book/claims.yaml"
PATHS = (NOW, "gspa/book/registry.yaml", "gspa/claims/registry.yaml")  # where it was before


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def numbers(tolerance):
    """A tolerance without the words that explain it."""
    words = ("why", "since", "written", "standard")
    return {name: value for name, value in (tolerance or {}).items() if name not in words}


def told(claim, field):
    """The field's values that the registry admits to: the present one and the former ones."""
    values = [claim.get(field), *(old[field] for old in claim.get("was", []) if field in old)]
    return [numbers(value) for value in values] if field == "tolerance" else [" ".join(v.split()) for v in values if v]


def silent_changes(history, claims):
    """Standards of the history under which a verdict was given and which the registry does not mention."""
    present = {claim["id"]: claim for claim in claims}
    for where, past in history:
        for old in past:
            claim = present.get(old["id"])
            if claim is None or "reason" in claim or old.get("verdict") == "not yet checked":
                continue  # nothing was known yet, or nothing is compared any more
            for field in ("tolerance", "quantity", "comparator"):
                if field != "tolerance" and not old.get(field):
                    continue
                value = numbers(old.get(field)) if field == "tolerance" else " ".join(old[field].split())
                if value not in told(claim, field):
                    yield f"{old['id']}: {field} was {value!r} in {where}; say so under `was`"


def times(history, claim):
    """For quantity with comparator, and for the tolerance: the day from which they stand, and whether before a verdict.

    What no commit has yet stands from today, after the verdict that some commit may have.
    """

    def of(field, entry):
        value = entry.get(field)
        return numbers(value) if field == "tolerance" else " ".join((value or "").split())

    versions = [(i, day, old[claim["id"]]) for i, (_, day, old) in enumerate(history) if claim["id"] in old]
    verdict = min((i for i, _, old in versions if old.get("verdict") != "not yet checked"), default=len(history))
    found = []
    for fields in (["quantity", "comparator"], ["tolerance"] if claim.get("tolerance") else []):
        first = [
            next(((i, day) for i, day, old in versions if of(field, old) == of(field, claim)), (len(history), None))
            for field in fields
        ]
        if first:
            i, day = max(first, key=lambda one: one[0])
            found.append((day, "before" if i < verdict else "with" if i == verdict else "after"))
    return found


@cache
def block(text):
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read(text):
    """The claims of one version: nearly all of them stand, to the letter, in the version before."""
    parts = re.split(r"^(?=- )", text, flags=re.MULTILINE)
    try:
        return [claim for part in parts for claim in block(part) or []]
    except yaml.YAMLError:  # one names what another has
        return block(text)


@pytest.fixture(scope="module")
def history():
    """Every version of the registry, the oldest first: where, its day, its claims by id."""
    try:
        commits = [line.split() for line in git("log", "--reverse", "--format=%H %cs", "--", *PATHS).splitlines()]
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no history: this is not a git checkout")
    return [
        (commit[:9], day, {claim["id"]: claim for claim in read(git("show", f"{commit}:{path}"))})
        for commit, day in commits
        for path in git("ls-tree", "--name-only", commit, *PATHS).split()
    ]


def test_no_standard_was_changed_in_silence(history):
    claims = read((ROOT / NOW).read_text(encoding="utf-8"))
    assert list(silent_changes([(where, old.values()) for where, _, old in history], claims)) == []


def test_when_a_standard_was_written_is_as_the_history_has_it(history):
    wrong = []
    for claim in read((ROOT / NOW).read_text(encoding="utf-8")):
        if "reason" in claim:
            continue
        entry = registry()[claim["id"]]
        stated = [entry.standard, *([entry.tolerance.get("standard", entry.standard)] if entry.tolerance else [])]
        said = [tuple(one.split(", ")) for one in stated]
        for (day, written), told in zip(times(history, claim), said, strict=True):
            if told != (day or told[0], written) or (day is None and told[0] < history[-1][1]):
                wrong.append(f"{claim['id']}: {told}, by the history {day}, {written}")
    assert wrong == []


CLAIM = {
    "id": "F6",
    "verdict": "verified",
    "quantity": "eps",
    "comparator": "20.53",
    "tolerance": {"eps": 0.01},
}


@pytest.mark.parametrize(
    ("change", "silent"),
    [
        ({"tolerance": {"eps": 0.005, "why": "half a digit"}}, True),
        ({"tolerance": {"eps": 0.01, "why": "in other words"}}, False),
        ({"tolerance": None}, True),
        ({"comparator": "20.54"}, True),
        ({"quantity": "another eps"}, True),
        ({"comparator": "20.54", "verdict": "not yet checked"}, False),
        ({}, False),
    ],
)
def test_a_change_needs_its_old_value(change, silent):
    assert bool(list(silent_changes([("then", [CLAIM | change])], [CLAIM]))) is silent
    old = [{key: value for key, value in change.items() if key != "verdict"}]
    assert list(silent_changes([("then", [CLAIM | change])], [CLAIM | {"was": old}])) == []
