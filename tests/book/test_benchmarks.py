"""The page on speed shows the recorded measurement, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def benchmark():
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("benchmark_accountant", folder / "accountant.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def test_table_and_figure_are_made_from_the_record(benchmark, tmp_path):
    found = json.loads(benchmark.RECORD.read_text(encoding="utf-8"))
    assert benchmark.TABLE.read_text(encoding="utf-8") == benchmark.table(found)
    with mpl.rc_context({"backend": "Agg"}):
        benchmark.draw(found, tmp_path / "again.svg")
    points = [re.findall(r'<use xlink:href="#\S+" x="([\d.]+)" y="([\d.]+)"', path.read_text(encoding="utf-8"))
              for path in (benchmark.FIGURE, tmp_path / "again.svg")]  # fmt: skip
    assert points[0] == points[1] != []


def test_the_table_holds_every_measured_number(benchmark):
    found = {
        "rows": [{"part": "p", "what": "ours", "ms": 2.5, "ratio": 1.0, "to": "ours"}],
        "sizes": [10, 100],
        "growth": [2.0, 5.0],
        "measured": "2000-01",
        "cores": 3,
        "versions": {"numpy": "9"},
    }
    text = benchmark.table(found)
    assert "| ours | 2.5 | 1 x ours |" in text
    assert "| n = 100 | 5 | 2.5 x n = 10 |" in text
    assert "Measured 2000-01 on 3 shared cores; numpy 9." in text


def test_no_time_is_typed_on_the_page():
    prose = (ROOT / "book" / "speed.md").read_text(encoding="utf-8")
    assert not re.search(r"\d", prose)
