"""Planted errors: every check must notice a wrong formula. `mutants_*.py` list them, `_build/mutants.md` tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fabricated
import mutants_blog
import mutants_flame
import mutants_main
import pytest
import small_runs
from run_mutants import source_of

from gspa.claims.checks import checks
from gspa.claims.registry import registry
from gspa.project import ensure_writable, write_atomically

ROOT = Path(__file__).parents[2]
WORKERS = 2
MUTANTS = mutants_main.MUTANTS + mutants_blog.MUTANTS + mutants_flame.MUTANTS
KINDS = {"": "formula", "fabricated": "formula, fabricated runs", "small_runs": "formula, small runs"}


def covered() -> set[str]:
    return {claim for mutant in MUTANTS for claim in mutant.claims}


def jobs() -> Iterator[dict[str, Any]]:
    """Each claim as it is, once a setting, and then with each of its planted errors."""
    seen = set()
    for mutant in MUTANTS:
        for claim in mutant.claims:
            job = {"claim": claim, "settings": mutant.settings, "evidence": mutant.evidence}
            if (key := json.dumps(job)) not in seen:
                seen.add(key)
                yield job
            yield job | {"module": mutant.module, "old": mutant.old, "new": mutant.new, "what": mutant.what}


def test_every_claim_with_a_check_has_a_planted_error():
    assert set(registry()) == set(checks())
    assert not (without := set(checks()) - covered()), f"no planted error: {sorted(without)}"
    assert covered() <= set(checks())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: "-".join([*mutant.claims, mutant.module]))
def test_each_replaces_a_text_that_is_there_once(mutant):
    text = source_of(mutant.module).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old
    compile(text.replace(mutant.old, mutant.new), mutant.module, "exec")
    module, _, name = mutant.evidence.partition(".")
    assert not module or hasattr({"fabricated": fabricated, "small_runs": small_runs}[module], name)


def _table(found: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The rows of the table, and the planted errors that changed nothing."""
    before, rows, survivors = {}, [], []
    for one in found:
        key = one["claim"], json.dumps(one["settings"]), one["evidence"]
        if "module" not in one:
            before[key] = one["verdict"]
            continue
        # A program that breaks or does not end gives no verdict: only a refusal that names the fault counts. Nor does a
        # run that settles nothing.
        failed = one["verdict"].startswith(("raises", "took", "died", "not yet")) and not one.get("typed", False)
        caught = one["verdict"] != before[key] and not failed
        kind = KINDS[one["evidence"].partition(".")[0]]
        cells = (
            one["claim"],
            f"{one['module']}: {one['what']}",
            kind,
            before[key],
            one["verdict"],
            "yes" if caught else "NO",
        )
        rows.append("| " + " | ".join(cells) + " |")
        survivors += [] if caught else [f"{one['claim']}: {one['what']} ({one['verdict']} {one.get('why', '')})"]
    return rows, survivors


def test_the_table_tells_who_was_caught():
    settings = {"profile": "quick"}
    job = {"claim": "G-X", "settings": settings, "evidence": ""}
    planted = job | {"module": "m", "what": "w"}
    rows, survivors = _table(
        [
            job | {"verdict": "verified"},
            planted | {"verdict": "refuted"},
            planted | {"verdict": "verified"},
            planted | {"verdict": "not yet checked (size)"},
            planted | {"verdict": "raises KeyError", "typed": False},
            planted | {"verdict": "raises InvalidValue", "typed": True},
        ]
    )
    assert [row.split(" | ")[-1] for row in rows] == ["yes |", "NO |", "NO |", "NO |", "yes |"]
    assert len(survivors) == 3


@pytest.mark.slow
def test_every_planted_error_is_caught(capsys):
    asked = list(jobs())
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_mutants.py")), str(WORKERS)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(asked)
    unready = [
        one for one in found if "module" not in one and one["verdict"].startswith(("raises", "not yet", "took", "died"))
    ]
    rows, survivors = _table(found)
    pending = sorted(set(checks()) - covered())
    lines = [
        "# Planted errors",
        "",
        f"{len(rows)} planted errors for {len(covered())} claims, {len(survivors)} survivors; "
        f"claims without one: {', '.join(pending) or 'none'}.",
        "",
        "| claim | planted error | kind | verdict before | after | caught |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    path = ensure_writable(ROOT / "_build") / "mutants.md"
    write_atomically(path, "\n".join(lines))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert not unready, f"not settled even without an error: {unready}"
    # What nobody made up must be what is on record.
    other = [
        one
        for one in found
        if "module" not in one
        and not one["evidence"].startswith("fabricated")
        and one["verdict"] != registry()[one["claim"]].verdict
    ]
    assert not other, f"another verdict than the recorded one, without an error: {other}"
    assert not survivors, "\n".join(survivors)
