"""The page of proofs: every theorem names its hypotheses, and what it points to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gspa.book.claims import registry

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "proofs.md").read_text(encoding="utf-8")
THEOREMS = dict(re.findall(r"^### (.+?)\n(.*?)(?=^#{2,3} |\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("name", THEOREMS)
def test_each_theorem_has_its_hypotheses_proof_use_and_check(name):
    parts = dict(re.findall(r"^(\w[\w ]+)\n: (.+)$", THEOREMS[name], re.MULTILINE))
    assert {"Assumes", "Proof", "Used by", "Checked by"} <= set(parts)
    assert all(text.rstrip().endswith((".", ")")) for text in parts.values())
    checked = parts["Checked by"]
    named = re.findall(r"claims\.html#([\w-]+)", checked)
    assert named or "tests/" in checked
    assert set(named) <= set(registry())


def test_what_it_points_to_is_there():
    for path in re.findall(r"`((?:tests|gspa)/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).is_file(), path
    for page in re.findall(r"\((notebooks/\w+\.ipynb|\w+\.md)\)", PAGE):
        assert (ROOT / page if page.startswith("notebooks") else ROOT / "book" / page).is_file(), page


def test_each_proof_of_a_notebook_is_listed():
    proofs = {
        path.name
        for path in (ROOT / "notebooks").glob("*.ipynb")
        if "<summary>Proof" in path.read_text(encoding="utf-8")
    }
    linked = {Path(page).name for page in re.findall(r"\((notebooks/\w+\.ipynb)\)", PAGE)}
    assert proofs <= linked
    assert linked - proofs <= {"17_exact_accounting.ipynb", "21_certificates.ipynb"}
