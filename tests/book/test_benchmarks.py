"""The page on speed shows what was recorded, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from gspa.accountant import budgets, rounds
from gspa.accountant.errors import DataUnavailable

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def scripts():
    """The scripts of the folder as modules."""

    @cache
    def load(name):
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield load


def recorded(script):
    return json.loads(script.RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["accountant", "allocation", "build", "growth", "install", "peers"])
def test_the_table_is_made_from_the_record(scripts, name):
    script = scripts(name)
    assert script.TABLE.read_text(encoding="utf-8") == script.table(recorded(script))


@pytest.mark.parametrize("name", ["growth", "peers"])
def test_the_figure_is_made_from_the_record(scripts, name, tmp_path):
    script = scripts(name)
    with mpl.rc_context({"backend": "Agg"}):
        script.draw(recorded(script), tmp_path / "again.svg")
    marks = [
        re.findall(r'<use xlink:href="#\S+" x="([\d.]+)" y="([\d.]+)"', path.read_text(encoding="utf-8"))
        for path in (script.FIGURE, tmp_path / "again.svg")
    ]
    assert marks[0] == marks[1] != []


class TestGrowth:
    @pytest.fixture
    def growth(self, scripts):
        return scripts("growth")

    def test_the_record_is_of_each_series(self, growth):
        rows = recorded(growth)["rows"]
        assert {row["axis"] for row in rows} == set(growth.SERIES)
        for row in rows:
            assert set(row["sizes"]) <= set(growth.SERIES[row["axis"]][1])
            assert len(row["sizes"]) == len(row["ms"]) == len(row["mib"]) > 3

    def test_the_exponent_is_that_of_a_power(self, growth):
        assert growth.exponent([1, 10, 100], [2, 2e3, 2e6]) == pytest.approx((3, 0), abs=1e-6)
        slope, error = growth.exponent([1, 10, 100, 1000], [1, 9, 130, 900])
        assert 0 < abs(slope - 1) < 3 * error < 0.2

    def test_the_peak_counts_arrays(self, growth):
        assert growth.peak(lambda: np.ones(2**20)) == pytest.approx(8, rel=0.01)

    def test_each_question_has_an_answer(self, growth):
        for questions, sizes in growth.SERIES.values():
            for ask in questions(sizes[3]).values():
                assert ask()


def test_no_number_is_typed_on_the_page():
    prose = (ROOT / "book" / "speed.md").read_text(encoding="utf-8").partition("## Build record")[0]
    prose = re.sub(r"^```python\n.*?^```|\{cite:t\}`\w+`", "", prose, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\d", prose)


def test_two_certified_answers_do_not_refute_each_other(scripts):
    allocation = scripts("allocation")
    for steps in allocation.STEPS:
        ours, theirs = (
            {row["who"]: row for row in recorded(allocation)["rows"] if row["steps"] == steps}[who]
            for who in ("gspa", "PLD_accounting")
        )
        assert max(ours["lower"], theirs["lower"]) <= min(ours["upper"], theirs["upper"])
        assert theirs["lower"] <= ours["lower"] <= ours["upper"] <= theirs["upper"]


class TestBuild:
    @pytest.fixture
    def build(self, scripts):
        return scripts("build")

    def test_the_causes_are_of_the_whole_and_more_cores_take_less(self, build):
        found = recorded(build)
        whole = found["whole"][found["profile"]]["cpu"]
        assert sum(build.by_cause(found).values()) == pytest.approx(whole, rel=0.01)
        one, *_, most = (seconds for _, seconds in build.scaling(found))
        assert most < found["whole"][found["profile"]]["seconds"] < one

    def test_each_aim_has_its_row_and_a_missed_one_says_so(self, build):
        found = recorded(build)
        rows = build.reached(found)
        table = build.TABLE.read_text(encoding="utf-8")
        assert all(f"| {what} | {aim:g} | {now:g}" in table for what, aim, now, _ in rows)
        slow = found["whole"] | {"quick": {"seconds": 60.0, "cpu": 1.0, "memory": 1}}
        shown = build.table(found | {"whole": slow})
        assert "| the quick book (s) | 60 | 60 (missed) |" in shown
        assert shown.count("(missed)") == 1 + sum(now >= aim for what, aim, now, _ in rows if "quick" not in what)

    def test_a_command_has_its_own_seconds_memory_and_environment(self, build, tmp_path, monkeypatch):
        monkeypatch.setenv("GSPA_DATA_DIR", "somewhere")
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        held = own + 50  # MiB, more than this process ever held
        work = f"import os, time; assert 'GSPA_DATA_DIR' not in os.environ; held = b'x' * ({held} << 20)\n"
        work += "while time.process_time() < 0.3: pass"
        spent = build.timed([sys.executable, "-c", work], tmp_path, 1, bare=True)
        assert held <= spent["memory"] < held + 100
        assert 0.3 <= spent["cpu"] <= spent["seconds"] + 0.2
        given = f"import os; assert os.environ['PYTHONPATH'] == {str(tmp_path)!r} and os.environ['GSPA_DATA_DIR']"
        build.timed([sys.executable, "-c", given], tmp_path)
        with pytest.raises(subprocess.CalledProcessError):
            build.timed([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)

    def test_an_earlier_record_is_kept_where_its_processor_was_another(self, build):
        def record(product, *others):
            book = {"seconds": product, "cpu": product}
            kept = [{"product": other, "measured": "", "quick": book, "book": book} for other in others]
            return {
                "profile": "paper",
                "whole": {"quick": book, "paper": book},
                "rates": {"product": product},
                "measured": "",
                "elsewhere": kept,
            }

        for product, before, kept in (
            (200.0, record(100.0), [100.0]),
            (110.0, record(100.0), []),
            (100.0, record(200.0, 105.0), [200.0]),
            (300.0, record(200.0, 190.0, 100.0), [200.0, 100.0]),
        ):
            assert [one["product"] for one in build.elsewhere(before, product)] == kept

    def test_a_stack_says_what_it_is_busy_with(self, build):
        def frame(*names):
            outer = None
            for name in names:
                code = SimpleNamespace(co_filename=name, co_name="f")
                outer = SimpleNamespace(f_code=code, f_back=outer)
            return outer

        page = "/x/notebooks/p08.py"
        assert build.cause(frame(page, "/x/gspa/accountant/pair.py", "/y/scipy/stats.py")) == "the accountant"
        assert build.cause(frame(page, "<frozen importlib._bootstrap>", "/y/scipy/stats.py")) == "imports"
        assert build.cause(frame(page, "/y/numpy/core.py")) == "the pages' own tables"
        assert build.cause(frame("/y/runpy.py")) == build.cause(None) == build.STARTUP

    def test_the_seconds_of_a_process_are_all_given_to_a_cause(self, build):
        def work():
            end = time.process_time() + 0.2
            while time.process_time() < end:
                budgets.constant(0.5, n=10)

        found = build.sampled(work)
        assert sum(found.values()) == pytest.approx(0.2, abs=0.1)
        assert max(found, key=found.get) == "the accountant"

    def test_pages_are_dealt_out_to_the_cores(self, build):
        lengths = [(4.0, 0.0), (3.0, 0.0), (2.0, 0.0), (1.0, 0.0)]
        assert [build.makespan(lengths, cores, 0.5) for cores in (1, 2, 4, 8)] == [10.5, 5.5, 4.5, 4.5]
        divided = [(1.0, 8.0)]  # eight seconds among all cores, and one that stays
        assert [build.makespan(divided, cores, 0.0) for cores in (1, 2, 8)] == [9.0, 5.0, 2.0]


class TestPeers:
    @pytest.fixture(scope="class")
    @staticmethod
    def peers(scripts):
        return scripts("peers")

    @pytest.fixture(scope="class")
    @staticmethod
    def compared(peers):
        return recorded(peers)

    def test_the_sheet_is_made_from_the_record(self, peers, compared):
        assert peers.DATA.read_text(encoding="utf-8") == peers.sheet(compared)

    def test_every_recorded_number_is_in_it_with_its_version(self, peers, compared):
        recorded = peers.peers_entries()
        words = {setting.key: setting.words for setting in peers.SETTINGS}
        rows = [tuple(row[name] for name in peers.COLUMNS) for row in compared["rows"] if row["origin"] == "recorded"]
        plain = {"note": "", "origin": "recorded"}
        whole = [plain | one | {"setting": words[one["setting"]]} for one in recorded]
        ours = [row for row in compared["rows"] if row["who"] == peers.OURS]
        judged = peers.flagged(ours + whole)[len(ours) :]
        expected = [tuple(one[name] for name in peers.COLUMNS) for one in judged]
        assert sorted(rows, key=str) == sorted(expected, key=str)
        assert all(one["version"] for one in recorded)

    @pytest.mark.parametrize("liew", [False, pytest.param(True, marks=pytest.mark.slow)])  # whose sums take seconds
    def test_our_numbers_are_what_the_package_computes(self, peers, compared, liew):
        kept = {(row["setting"], row["who"]): (row["lower"], row["upper"]) for row in compared["rows"]}
        for setting in peers.SETTINGS:
            for answer in setting.answers:
                if answer.who.startswith("Liew22") != liew:
                    continue
                if answer.who.startswith("dp_accounting"):
                    pytest.importorskip("dp_accounting")
                for found, before in zip(answer.ends(), kept[setting.words, answer.who], strict=True):
                    assert (found is None) == (before is None)
                    assert found is None or found == pytest.approx(before, rel=1e-6), setting.key

    def test_every_promise_below_our_lower_end_is_flagged_and_no_other(self, peers, compared):
        assert compared["rows"] == peers.flagged(
            [row | {"note": row["note"].removesuffix(peers.BROKEN).strip()} for row in compared["rows"]]
        )
        least = {row["setting"]: row["lower"] for row in compared["rows"] if row["who"] == peers.OURS}
        told = {(row["setting"], row["who"]) for row in compared["rows"] if peers.BROKEN in row["note"]}
        below = {(row["setting"], row["who"]) for row in compared["rows"] if row["upper"] < least[row["setting"]]}
        assert told == below
        assert {who for _, who in told} == {"Liu24, our evaluation", "HPS, Liu et al. 2024"}  # 0.3511, 0.3499 < 0.4988
        number = next(line.split(".")[0] for line in peers.table(compared).splitlines() if peers.BROKEN in line)
        marked = [line for line in peers.table(compared).splitlines() if f"({number})" in line]
        assert len(marked) == len(below)

    def test_a_row_for_every_answer_and_ends_rounded_outwards(self, peers):
        row = dict.fromkeys(peers.COLUMNS, "") | {"setting": "s", "who": "gspa", "origin": "computed", "seconds": None}
        made = [row | {"lower": 0.123456, "upper": 0.123456, "note": "why"}, row | {"lower": None, "upper": 2.0}]
        made += [
            row | {"who": "x", "lower": None, "upper": 0.123456, "origin": "recorded", "version": "9", "seconds": 7}
        ]
        text = peers.table({"rows": made, "measured": "2000-01", "cores": 3, "versions": {"numpy": "9"}})
        assert "| gspa (1) | 0.1234 | 0.1235 |  | this one |" in text
        assert "| x |  | 0.1235 | 7 | 9 |" in text
        assert "\n1. why\n" in text

    def test_a_peer_that_is_not_installed_is_left_out(self, peers, capsys):
        def missing():
            raise DataUnavailable("dp_accounting is not installed")

        one = peers.Answer(peers.OURS, lambda: (None, 1.0))
        found = peers.measure((peers.Setting("k", "words", (one, peers.Answer("them", missing))),))
        assert [row["who"] for row in found["rows"]] == [peers.OURS]
        assert "left out: them: dp_accounting is not installed" in capsys.readouterr().err

    def test_the_pages_example_runs(self, capsys):
        pytest.importorskip("dp_accounting")
        page = (ROOT / "book" / "speed.md").read_text(encoding="utf-8")
        exec(re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1), {})
        people = budgets.constant(0.5, n=10_000)
        ours = rounds.compose([(rounds.shuffled(people), 10), (rounds.gaussian(1 / 20), 1)], delta=1e-6)
        assert ours.lower <= float(capsys.readouterr().out) <= ours.upper * (1 + 1e-4)
