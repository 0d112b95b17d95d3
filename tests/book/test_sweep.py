"""Sweeps on this machine: which settings run, what the table holds, what a second run skips, what a failure costs."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest
from awaiting import until
from small_project import add

from gspa.accountant.errors import GspaError, InvalidOutput, InvalidValue, ProcessDied
from gspa.book import provenance, sweep
from gspa.book import run as pipeline
from gspa.book.run import Executed, Here
from gspa.book.sweep import LAST_COLUMNS, read_journal, rows_of, settings
from gspa.cli import run

SAYS = ["from gspa.book.page import Page", "six = 6 * n", "%%say\n{{ six }} of {{ c }}, {{ word }}"]
BODY = [SAYS[0], "word = 'many'", *SAYS[1:], "if n == 13: raise ValueError('thirteen')"]


@pytest.fixture
def notebook(project):
    """The only one of the project in which the tests work."""
    return add(project, "01_page", *BODY)


@pytest.fixture
def asked(monkeypatch):
    """No kernel: the settings that were run, each with six times its n as the result."""
    found: list[dict[str, object]] = []

    def six(task):
        found.append(dict(task.values))
        return {"six": 6 * task.values["n"], "share": np.float64(0.1) * task.values["c"]}

    instead(monkeypatch, six)
    return found


def instead(monkeypatch, results):
    """No kernel: a function of the task gives the results, or raises."""

    def compute(task, expected, data, report, stopped):
        try:
            found, error = results(task), ""
        except ZeroDivisionError as failure:
            found, error = {}, f"ZeroDivisionError: {failure}"
        return Executed(pipeline._record(task, task.within(expected), error) | {"results": found})

    monkeypatch.setattr(pipeline, "compute", compute)


class TestSettings:
    def test_a_grid_is_every_combination_in_order_and_once(self, notebook):
        found = settings(notebook, {"n": ["10", "1e2", "10"], "c": [0.25, 0.75]})
        assert [(one["n"], one["c"]) for one in found] == [(10, 0.25), (10, 0.75), (100, 0.25), (100, 0.75)]
        assert all(one["profile"] == "paper" for one in found)
        assert settings(notebook, {}) == [found[0] | {"n": 3, "c": 0.5}]

    def test_a_file_of_settings_and_an_axis_are_combined(self, notebook, tmp_path):
        (tmp_path / "s.csv").write_text("\ufeffn, c\n10,0.25\n\n20,\n", encoding="utf-8")
        rows = rows_of(tmp_path / "s.csv")
        assert rows == [{"n": "10", "c": "0.25"}, {"n": "20"}]
        found = settings(notebook, {"profile": ["paper", "quick"]}, rows)
        assert [(one["n"], one["c"], one["profile"]) for one in found] == [
            (10, 0.25, "paper"),
            (10, 0.25, "quick"),
            (20, 0.5, "paper"),
            (20, 0.5, "quick"),
        ]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (b"", "s.csv: cannot be read as a CSV file in UTF-8 (No columns to parse from file)"),
            (b"n,eps\n", "s.csv: has no settings below its header"),
            (b"n,eps\n1,2\n3,4,5\n", "s.csv: cannot be read as a CSV file in UTF-8 (Error tokenizing data"),
            (b"n\n\xff\n", "s.csv: cannot be read as a CSV file in UTF-8 ("),
        ],
    )
    def test_a_bad_file_is_named(self, tmp_path, text, words):
        (tmp_path / "s.csv").write_bytes(text)
        with pytest.raises(GspaError, match=re.escape(words)):
            rows_of(tmp_path / "s.csv")

    def test_what_is_wrong_is_refused_before_anything_runs(self, notebook):
        with pytest.raises(InvalidValue, match="that the file of settings does not set"):
            settings(notebook, {"n": [1]}, [{"n": "2"}])
        with pytest.raises(InvalidValue, match="at most 100,000; split the sweep"):
            settings(notebook, {"n": range(1, 1001), "c": range(101)})

    def test_lists_are_separated_by_semicolons(self, project):
        shape = {"type": "array", "default": [1], "items": {"type": "integer"}, "description": "sizes"}
        profile = {"type": "string", "default": "paper", "enum": ["paper", "quick"], "description": "sizes"}
        notebook = add(project, "02_list", "1", properties={"profile": profile, "sizes": shape})
        texts = sweep.values_of(notebook, "sizes", "1,2;3")
        assert [one["sizes"] for one in settings(notebook, {"sizes": texts})] == [[1, 2], [3]]


class TestRun:
    @staticmethod
    def swept(notebook, axes, output="t.csv", **more):
        with Here(1, dict) as place:
            return sweep.run(notebook, settings(notebook, axes), place=place, output=Path(output).absolute(), **more)

    def test_a_row_has_parameters_results_and_how_it_came_about(self, notebook, asked):
        self.swept(notebook, {"n": [10, 100]})
        rows = sweep.read_table("t.csv")
        assert list(rows)[:3] == list(notebook.properties)
        assert tuple(rows)[-len(LAST_COLUMNS) :] == LAST_COLUMNS
        assert rows["six"].tolist() == [60, 600]
        assert rows["share"].tolist() == [0.1 * 0.5] * 2  # not a digit is lost on the way
        assert set(rows["status"]) == {"done"}
        assert rows["error"].isna().all()
        assert rows["versions"].str.startswith("python 3.").all()
        assert rows["source"].iloc[0] == provenance.source_digest()[:16]
        assert (rows["seconds"] >= 0).all()
        assert rows["key"].is_unique

    def test_what_is_done_is_not_run_again_and_the_order_is_the_asked_one(self, notebook, asked):
        self.swept(notebook, {"n": [100, 10]})
        found = self.swept(notebook, {"n": [1, 10, 100]})
        assert [one["n"] for one in asked] == [100, 10, 1]
        assert (found.reused, found.failed) == (2, 0)
        assert sweep.read_table("t.csv")["n"].tolist() == [1, 10, 100]
        # A smaller sweep makes a smaller table; the journal still has the rest.
        self.swept(notebook, {"n": [1]})
        self.swept(notebook, {"n": [1, 10, 100]})
        assert len(asked) == 3

    def test_of_other_sources_all_run_again(self, notebook, asked, monkeypatch):
        self.swept(notebook, {"n": [10]})
        pipeline.identity.cache_clear()
        monkeypatch.setattr(provenance, "source_digest", lambda: "0" * 64)
        self.swept(notebook, {"n": [10]})
        pipeline.identity.cache_clear()
        assert len(asked) == 2

    def test_a_setting_that_fails_is_told_and_tried_again_next_time(self, notebook, monkeypatch):
        tried = []

        def moody(task):
            tried.append(task.values["n"])
            if task.values["n"] == 2:
                raise ZeroDivisionError("no luck\nat all")
            return {"value": 1, "error": 0.25, "n": task.values["n"] + 1}

        instead(monkeypatch, moody)
        assert self.swept(notebook, {"n": [1, 2, 3]}).failed == 1
        rows = sweep.read_table("t.csv")
        assert rows["status"].tolist() == ["done", "failed", "done"]
        assert rows["error"].iloc[1] == "ZeroDivisionError: no luck"
        # Results that are called like other columns do not overwrite them.
        assert rows["result_n"].tolist()[::2] == [2, 4]
        assert rows["result_error"].tolist()[::2] == [0.25, 0.25]
        self.swept(notebook, {"n": [1, 2, 3]})
        assert tried == [1, 2, 3, 2]

    def test_an_interrupt_leaves_a_table_of_what_was_finished(self, notebook, asked):
        def interrupt(label, done, cells, state):
            if label == "setting 3":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.swept(notebook, {"n": [1, 2, 3, 4]}, progress=interrupt)
        assert sweep.read_table("t.csv")["n"].tolist() == [1, 2]
        kept = self.swept(notebook, {"n": [1, 2, 3, 4]})
        assert kept.reused == 2
        assert kept.table["six"].tolist() == [6, 12, 18, 24]

    def test_a_line_cut_short_by_a_kill_costs_that_line_only(self, notebook, asked):
        self.swept(notebook, {"n": [1, 2]})
        journal = Path("t.csv.jsonl")
        journal.write_bytes(journal.read_bytes()[:-30])
        assert self.swept(notebook, {"n": [1, 2, 3]}).reused == 1
        assert set(read_journal(journal)) == set(sweep.read_table("t.csv")["key"])

    def test_what_is_no_whole_record_is_passed_over(self, notebook, asked):
        self.swept(notebook, {"n": [1]})
        journal = Path("t.csv.jsonl")
        (key,) = read_journal(journal)
        lines = ['{"key": "a"}', json.dumps({"key": key, "status": "done"}), "[1]", "[" * 100_000, "null"]
        journal.write_text(journal.read_text() + "\n".join(lines))
        assert self.swept(notebook, {"n": [1]}).reused == 1
        journal.unlink()
        journal.mkdir()
        with pytest.raises(InvalidOutput, match="cannot be read"):
            self.swept(notebook, {"n": [1]})

    def test_what_no_sweep_wrote_is_never_replaced(self, notebook, asked):
        Path("t.csv").write_text("mine\n")
        with pytest.raises(InvalidOutput, match="is there without its journal"):
            self.swept(notebook, {"n": [1]})
        assert Path("t.csv").read_text() == "mine\n"
        with pytest.raises(InvalidValue, match=r"ends in \.csv"):
            self.swept(notebook, {"n": [1]}, output="t.xlsx")
        Path("other.csv").write_text("a,b\n1,2\n")
        with pytest.raises(GspaError, match="is no table of gspa sweep"):
            sweep.read_table("other.csv")
        with pytest.raises(GspaError, match="cannot be read"):
            sweep.read_table("none.csv")

    def test_a_notebook_whose_kernel_dies_is_one_failed_row(self, notebook, monkeypatch):
        def dies(task):
            raise ProcessDied("notebook 01_page, cell 3 (x): DeadKernelError: Kernel died\nTry --jobs 1.")

        instead(monkeypatch, dies)
        found = self.swept(notebook, {"n": [1]})
        assert found.failed == 1
        assert found.table["error"].iloc[0] == "notebook 01_page, cell 3 (x): DeadKernelError: Kernel died"


@pytest.mark.slow  # real kernels
class TestCommand:
    def test_a_notebook_s_numbers_become_columns(self, notebook, capsys):
        assert run(shlex.split("sweep 01_page -p n 3,13,4 --jobs 2 --profile quick --page shown.ipynb --y six")) == 1
        out, err = capsys.readouterr()
        assert "Wrote" in out
        assert "2 done, 0 of them before, 1 failed" in out
        assert "gspa: 1 setting failed, the first with: notebook 01_page, cell 7 " in err
        rows = sweep.read_table("_build/sweeps/01_page.csv")
        assert rows["n"].tolist() == [3, 13, 4]
        assert rows["six"].tolist()[::2] == [18, 24]
        assert "word" not in rows
        assert "ValueError: thirteen" in rows["error"].iloc[1]
        assert set(rows["profile"]) == {"quick"}
        # The page from the template.
        page = nbformat.read("shown.ipynb", as_version=4)
        said = "\n".join(
            "".join(output["data"]["text/markdown"])
            for cell in page.cells
            for output in cell.get("outputs", [])
            if "text/markdown" in output.get("data", {})
        )
        assert "2 of 3 settings finished, 1 failed." in said
        images = [o for cell in page.cells for o in cell.get("outputs", []) if "image/svg+xml" in o.get("data", {})]
        assert len(images) == 1
        assert "- six: from 18 at n = 3 to 24 at 4." in said

    @pytest.mark.skipif(find_spec("distributed") is not None, reason="dask.distributed is installed")
    def test_a_scheduler_without_dask_is_one_line(self, notebook, capsys):
        assert run(shlex.split("sweep 01_page --scheduler tcp://127.0.0.1:1")) == 2
        assert "pip install 'gspa[book,cluster]'" in capsys.readouterr().err

    def test_ctrl_c_ends_with_a_table(self, project):
        add(project, "02_slow", "import time\nif n > 1: time.sleep(60)", "word = 1", *SAYS)
        command = [sys.executable, "-m", "gspa", "sweep", "02_slow", "-p", "n", "1,2", "--jobs", "1", "-o", "t.csv"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=project.root)
        journal = project.root / "t.csv.jsonl"
        until(journal.exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "the same command goes on from there" in err
        assert "Traceback" not in err
        assert sweep.read_table(project.root / "t.csv")["six"].tolist() == [6]
        assert [json.loads(line)["status"] for line in journal.read_text().splitlines()] == ["done"]


def test_the_template_is_in_the_committed_form():
    from gspa.book.notebook_source import tidy
    from gspa.book.parameters import read_yaml

    path = Path(sweep.__file__).parent / "templates" / "sweep_page.ipynb"
    text = path.read_text(encoding="utf-8")
    assert tidy(text) == text
    names = set(read_yaml(path.with_suffix(".schema.yaml"))["properties"])
    (cell,) = [c for c in nbformat.reads(text, 4).cells if "parameters" in c.metadata.get("tags", [])]
    assert {line.split(":")[0] for line in cell.source.splitlines()} == names
