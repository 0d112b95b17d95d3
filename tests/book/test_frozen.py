"""What a claim is judged by may change only in the open: the repository's own history is the witness."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NOW = "gspa/book/registry.yaml"
PATHS = (NOW, "gspa/claims/registry.yaml")  # where it was before


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def numbers(tolerance):
    """A tolerance without the words that explain it."""
    return {name: value for name, value in (tolerance or {}).items() if name != "why"}


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
            if claim is None or not claim["notebook"] or old["verdict"] == "not yet checked":
                continue  # nothing was known yet, or nothing is compared any more
            for field in ("tolerance", "quantity", "comparator"):
                if field != "tolerance" and not old.get(field):
                    continue
                value = numbers(old.get(field)) if field == "tolerance" else " ".join(old[field].split())
                if value not in told(claim, field):
                    yield f"{old['id']}: {field} was {value!r} in {where}; say so under `was`"


@cache
def read(text):
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.fixture(scope="module")
def history():
    try:
        commits = git("log", "--format=%H", "--", *PATHS).split()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no history: this is not a git checkout")
    found = []
    for commit in commits:
        for path in git("ls-tree", "--name-only", commit, *PATHS).split():
            found.append((commit[:9], read(git("show", f"{commit}:{path}"))))
    return found


def test_no_standard_was_changed_in_silence(history):
    claims = read((ROOT / NOW).read_text(encoding="utf-8"))
    assert list(silent_changes(history, claims)) == []


CLAIM = {
    "id": "F6",
    "notebook": "n",
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
