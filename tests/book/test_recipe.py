"""The recipe's page says what its commands and lines print, and runs them once."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import gspa
from gspa.accountant.budgets import from_array
from gspa.accountant.certificates import PROGRAM
from gspa.book import recipe

PRINTED = {
    "calibrate": "all budgets times at most 3.2504; the largest factor is certified in [3.2504, 3.26]\nmethod: m\n",
    "certify": "The shuffled reports are (0.25, 1e-6)-differentially private.\nPROVED\n",
    **dict.fromkeys(recipe.LINES, "at most 0.0625, certified in [0, 0.0625]\nmethod: m\n"),
    recipe.CERTIFICATE: "{}",
}


def test_its_numbers_are_those_that_were_printed(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "_printed", lambda: PRINTED)
    text, certificate = recipe.page(tmp_path)
    assert certificate == "{}"
    assert "By this computation, Ada's weekly budget may be raised to 3.25 and the others' to 1.625." in text
    (typed,) = re.findall(r"```bash\n(gspa calibrate (?:.|\n)+?)\n```", text)
    assert typed.replace("\\\n    ", "") == recipe.COMMANDS["calibrate"]
    assert "all budgets times at most 3.2504; the largest factor is certified in [3.2504, 3.26]\n...\n```" in text
    assert "rounds=52))\nat most 0.0625, certified in [0, 0.0625]\n...\n```" in text
    assert "measured, not proved" not in text
    assert f"```text\n{PRINTED['certify']}```" in text
    assert f'href="certificates/{recipe.CERTIFICATE}"' in text


def test_an_answer_that_is_not_proved_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(recipe, "_printed", lambda: PRINTED | {recipe.LINES[-1]: "at most 1, computed in [0, 1]\n"})
    assert "measured, not proved" in recipe.page(tmp_path)[0]


def test_what_was_run_is_kept_until_something_that_decides_it_changes(tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(recipe, "_printed", lambda: runs.append(1) or PRINTED)
    first = recipe.page(tmp_path)
    assert recipe.page(tmp_path) == first
    assert len(runs) == 1
    monkeypatch.setattr(recipe, "digest_tree", lambda *given: "another theory")
    assert recipe.page(tmp_path) == first
    (tmp_path / "recipe.json").write_text("half of it")
    assert recipe.page(tmp_path) == first
    assert len(runs) == 3


@pytest.mark.slow
def test_the_largest_budgets_meet_the_target_and_the_certificate_is_proved(tmp_path):
    text, certificate = recipe.page(tmp_path)
    said = re.findall(r"budget may be raised to ([\d.]+) and the others' to ([\d.]+)\.", text)[0]
    crowd = from_array([float(eps) for eps in said], count=[count for _, count in recipe.GROUPS])
    year = gspa.epsilon(budgets=crowd, delta=float(recipe.DELTA), mechanism="laplace", rounds=recipe.WEEKS)
    assert 0.99 * recipe.TARGET < year.upper <= recipe.TARGET
    (tmp_path / "year.json").write_text(certificate)
    command = [sys.executable, "-I", str(PROGRAM), str(tmp_path / "year.json")]
    assert subprocess.run(command, capture_output=True, text=True).stdout.endswith("PROVED\n")
