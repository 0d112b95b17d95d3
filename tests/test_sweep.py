"""Sweeps on this machine: which settings run, what the table holds, what a second run skips, what a failure costs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest
from small_project import add, make

from gspa import _sweep_engines, accountant, budgets, sweep
from gspa._sweep_engines import Local
from gspa._sweep_work import TRIES, Target, Task, compute, identity
from gspa.cli import run
from gspa.errors import GspaError, InvalidOutput, InvalidValue, UnknownName
from gspa.sweep import LAST_COLUMNS, Journal, rows_of, settings
from gspa.sweep_experiments import EXPERIMENTS

pytestmark = pytest.mark.xdist_group("pipeline")

EPSILON = EXPERIMENTS["epsilon"].parameters("epsilon")
GLUES = "from myst_nb import glue\nglue('six', 6 * n, display=False)\nglue('c', c / 2, display=False)"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory is a project with two notebooks."""
    project = make(tmp_path / "project")
    add(project, "01_page", GLUES, "glue('word', 'many', display=False)", "if n == 13: raise ValueError('thirteen')")
    monkeypatch.chdir(project.root)
    return project


class Here:
    """An engine in this process that notes what it was asked to run."""

    label = "this process"

    def __init__(self, stop_after: int | None = None) -> None:
        self.asked: list[dict[str, object]] = []
        self.stop_after = stop_after

    def identity(self, target):
        return identity(needs_data=target.needs_data)

    def run(self, target, tasks, expected):
        for task in tasks:
            if len(self.asked) == self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(dict(task.values))
            yield task, compute(target, task, expected)

    def close(self):
        return


class TestSettings:
    def test_a_grid_is_every_combination_in_order_and_once(self):
        found = settings(EPSILON, {"n": ["10", "1e2", "10"], "eps": [0.5, 1]})
        assert [(one["n"], one["eps"]) for one in found] == [(10, 0.5), (10, 1.0), (100, 0.5), (100, 1.0)]
        assert all(one["delta"] == 1e-4 for one in found)
        assert settings(EPSILON, {}) == [found[0] | {"n": 10_000}]

    def test_a_file_of_settings_and_an_axis_are_combined(self, tmp_path):
        (tmp_path / "s.csv").write_text("n,eps\n100,0.5\n\n200,\n", encoding="utf-8")
        rows = rows_of(tmp_path / "s.csv")
        assert rows == [{"n": "100", "eps": "0.5"}, {"n": "200"}]
        found = settings(EPSILON, {"delta": ["1e-5", "1e-6"]}, rows)
        assert [(one["n"], one["eps"], one["delta"]) for one in found] == [
            (100, 0.5, 1e-5),
            (100, 0.5, 1e-6),
            (200, 0.5, 1e-5),
            (200, 0.5, 1e-6),
        ]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "s.csv line 1: must name each parameter once"),
            ("n,n\n1,2\n", "s.csv line 1: must name each parameter once"),
            ("n,eps\n", "s.csv: has no settings below its header"),
            ("n,eps\n1,2\n3\n", "s.csv line 3: must have 2 values: n,eps"),
        ],
    )
    def test_a_bad_file_is_named_with_its_line(self, tmp_path, text, words):
        (tmp_path / "s.csv").write_text(text)
        with pytest.raises(GspaError) as refusal:
            rows_of(tmp_path / "s.csv")
        assert str(refusal.value) == words

    def test_no_file_and_no_text(self, tmp_path):
        with pytest.raises(GspaError, match="No such file"):
            rows_of(tmp_path / "none.csv")
        (tmp_path / "b.csv").write_bytes(b"n\n\xff\n")
        with pytest.raises(GspaError, match="not a CSV file in UTF-8"):
            rows_of(tmp_path / "b.csv")

    def test_what_is_wrong_is_refused_before_anything_runs(self):
        with pytest.raises(InvalidValue, match=r"epsilon: n = 0: must be an integer >= 1"):
            settings(EPSILON, {"n": [10, 0]})
        with pytest.raises(UnknownName, match="parameter 'nn'"):
            settings(EPSILON, {"nn": [1]})
        with pytest.raises(InvalidValue, match="that the file of settings does not set"):
            settings(EPSILON, {"n": [1]}, [{"n": "2"}])
        with pytest.raises(InvalidValue, match="at most 100,000; split the sweep"):
            settings(EPSILON, {"n": range(1, 1001), "eps": range(101)})

    def test_lists_are_separated_by_semicolons(self, here):
        shape = {"type": "array", "default": [1], "items": {"type": "integer"}, "description": "sizes"}
        profile = {"type": "string", "default": "paper", "enum": ["paper", "quick"], "description": "sizes"}
        notebook = add(here, "02_list", "1", properties={"profile": profile, "sizes": shape})
        texts = sweep.values_of(notebook, "sizes", "1,2;3")
        assert [one["sizes"] for one in settings(notebook, {"sizes": texts})] == [[1, 2], [3]]
        with pytest.raises(InvalidValue, match="none of them empty"):
            sweep.values_of(notebook, "sizes", "1;;2")


class TestRun:
    @staticmethod
    def swept(tmp_path, axes, engine=None, target="epsilon", output="t.csv"):
        experiment = EXPERIMENTS[target]
        return sweep.run(
            Target(target, experiment.needs_data),
            settings(experiment.parameters(target), axes),
            engine=engine or Here(),
            output=tmp_path / output,
        )

    def test_a_row_has_parameters_results_and_how_it_came_about(self, tmp_path):
        self.swept(tmp_path, {"n": [100, 1000]})
        rows = sweep.read_table(tmp_path / "t.csv")
        assert list(rows)[:6] == list(EPSILON.properties)
        assert tuple(rows)[-len(LAST_COLUMNS) :] == LAST_COLUMNS
        for _, row in rows.iterrows():  # not a digit is lost on the way
            bound = accountant.central_epsilon(budgets.constant(0.5, n=int(row["n"])), delta=1e-4)
            assert (row["lower"], row["value"], row["upper"]) == (bound.lower, bound.value, bound.upper)
        assert set(rows["status"]) == {"done"}
        assert rows["error"].isna().all()
        assert rows["versions"].str.startswith("python 3.").all()
        assert rows["source"].iloc[0] == identity(needs_data=False)["source"][:16]
        assert (rows["seconds"] >= 0).all()
        assert rows["key"].is_unique

    def test_what_is_done_is_not_run_again_and_the_order_is_the_asked_one(self, tmp_path):
        self.swept(tmp_path, {"n": [1000, 100]})
        engine = Here()
        found = self.swept(tmp_path, {"n": [10, 100, 1000]}, engine)
        assert [one["n"] for one in engine.asked] == [10]
        assert (found.reused, found.failed) == (2, 0)
        assert sweep.read_table(tmp_path / "t.csv")["n"].tolist() == [10, 100, 1000]
        # A smaller sweep makes a smaller table; the journal still has the rest.
        self.swept(tmp_path, {"n": [10]})
        self.swept(tmp_path, {"n": [10, 100, 1000]}, engine)
        assert len(engine.asked) == 1

    @pytest.mark.parametrize("what", ["source", "versions", "data"])
    def test_other_sources_versions_or_data_run_again(self, tmp_path, what):
        self.swept(tmp_path, {"n": [10]})

        class Other(Here):
            def identity(self, target):
                facts = identity(needs_data=False)
                return facts | {what: "0" * 64 if what == "source" else {"numpy": "0"}}

        engine = Other()
        found = self.swept(tmp_path, {"n": [10]}, engine)
        assert len(engine.asked) == 1
        # And a worker that is not what the sweep says computes nothing.
        assert found.table["error"].iloc[0].startswith(f"this worker has another {what} than the sweep")

    def test_a_setting_that_fails_is_told_and_tried_again_next_time(self, tmp_path, monkeypatch):
        def moody(n, **rest):
            if n == 2:
                raise ZeroDivisionError("no luck\nat all")
            return {"value": n, "error": np.float64(0.25), "n": n + 1}

        monkeypatch.setitem(EXPERIMENTS, "epsilon", sweep.EXPERIMENTS["epsilon"].__class__(moody, EPSILON.properties))
        found = self.swept(tmp_path, {"n": [1, 2, 3]})
        assert found.failed == 1
        rows = sweep.read_table(tmp_path / "t.csv")
        assert rows["status"].tolist() == ["done", "failed", "done"]
        assert rows["error"].iloc[1] == "ZeroDivisionError: no luck"
        # Results that are called like other columns do not overwrite them.
        assert rows["result_n"].tolist()[::2] == [2, 4]
        assert rows["result_error"].tolist()[::2] == [0.25, 0.25]
        engine = Here()
        self.swept(tmp_path, {"n": [1, 2, 3]}, engine)
        assert [one["n"] for one in engine.asked] == [2]

    def test_an_interrupt_leaves_a_table_of_what_was_finished(self, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            self.swept(tmp_path, {"n": [1, 2, 3, 4]}, Here(stop_after=2))
        assert sweep.read_table(tmp_path / "t.csv")["n"].tolist() == [1, 2]
        engine = Here()
        assert self.swept(tmp_path, {"n": [1, 2, 3, 4]}, engine).reused == 2
        assert [one["n"] for one in engine.asked] == [3, 4]

    def test_a_line_cut_short_by_a_kill_costs_that_line_only(self, tmp_path):
        self.swept(tmp_path, {"n": [1, 2]})
        journal = tmp_path / "t.csv.jsonl"
        journal.write_bytes(journal.read_bytes()[:-30])
        assert self.swept(tmp_path, {"n": [1, 2, 3]}).reused == 1
        assert set(Journal(journal).read()) == set(sweep.read_table(tmp_path / "t.csv")["key"])

    def test_what_no_sweep_wrote_is_never_replaced(self, tmp_path):
        (tmp_path / "t.csv").write_text("mine\n")
        with pytest.raises(InvalidOutput, match="is there without its journal"):
            self.swept(tmp_path, {"n": [1]})
        assert (tmp_path / "t.csv").read_text() == "mine\n"
        with pytest.raises(InvalidValue, match=r"ends in .csv or .parquet"):
            self.swept(tmp_path, {"n": [1]}, output="t.xlsx")
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        with pytest.raises(GspaError, match="is no table of gspa sweep"):
            sweep.read_table(tmp_path / "other.csv")
        with pytest.raises(GspaError, match="cannot be read"):
            sweep.read_table(tmp_path / "none.csv")

    def test_parquet_where_pyarrow_is(self, tmp_path):
        if find_spec("pyarrow") is None:
            with pytest.raises(InvalidValue, match=r"for .parquet install pyarrow"):
                self.swept(tmp_path, {"n": [1]}, output="t.parquet")
            return
        found = self.swept(tmp_path, {"n": [1, 2]}, output="t.parquet").table
        rows = sweep.read_table(tmp_path / "t.parquet")
        assert list(rows) == list(found)
        assert rows["upper"].tolist() == found["upper"].tolist()

    @pytest.mark.parametrize("name", sorted(set(EXPERIMENTS) - {"training"}))
    def test_each_experiment_gives_numbers_and_its_seed_decides(self, name):
        first, again, other = (
            compute(Target(name), Task("", values), identity(needs_data=False))["results"]
            for values in (
                small(name, seed=1),
                small(name, seed=1),
                small(name, seed=2),
            )
        )
        assert first == again
        assert (first == other) == (name == "epsilon")
        assert all(np.isfinite(value) for value in first.values() if not isinstance(value, str))


def small(name, seed):
    notebook = EXPERIMENTS[name].parameters(name)
    few = {"n": 50, "repeats": 20, "seed": seed}
    given = {key: value for key, value in few.items() if key in notebook.properties}
    return {key: value for key, value in notebook.validate(given).items() if key in notebook.properties}


class TestProcesses:
    def test_a_process_that_kills_itself_is_told_apart_from_its_neighbours(self, monkeypatch):
        """Two processes at once: the one that dies takes the pool with it, not the other's setting."""
        tasks = [Task(str(n), {"n": n}) for n in range(4)]
        monkeypatch.setattr(_sweep_engines, "compute", deadly)
        found = {task.key: record for task, record in Local(2).run(Target("x"), tasks, identity(needs_data=False))}
        assert set(found) == {"0", "1", "2", "3"}
        assert {key: one["status"] for key, one in found.items()} == {
            "0": "done",
            "1": "failed",
            "2": "done",
            "3": "done",
        }
        assert found["1"]["error"] == f"its process died ({TRIES} tries)"


def deadly(target, task, expected):
    if task.values["n"] == 1:
        os._exit(9)
    return {"status": "done"}


@pytest.mark.slow  # real kernels
class TestCommand:
    def test_a_notebook_s_numbers_become_columns(self, here, capsys):
        assert run(shlex.split("sweep 01_page -p n 3,13,4 --jobs 2 --profile quick --page shown.ipynb --y six")) == 1
        out, err = capsys.readouterr()
        assert "Wrote" in out
        assert "2 done, 0 of them before, 1 failed" in out
        assert "gspa: 1 setting failed, the first with: notebook 01_page, cell 5 " in err
        rows = sweep.read_table("_build/sweeps/01_page.csv")
        assert rows["n"].tolist() == [3, 13, 4]
        assert rows["six"].tolist()[::2] == [18, 24]
        assert rows["result_c"].tolist()[::2] == [0.25, 0.25]
        assert "word" not in rows
        assert "ValueError: thirteen" in rows["error"].iloc[1]
        assert set(rows["profile"]) == {"quick"}
        # The page from the template.
        page = nbformat.read("shown.ipynb", as_version=4)
        assert "2 of 3 settings finished, 1 failed." in page.cells[0].source
        assert "six against n. from 18 at n = 3 to 24 at n = 4." in page.cells[0].source
        images = [o for cell in page.cells for o in cell.get("outputs", []) if "image/svg+xml" in o.get("data", {})]
        assert len(images) == 1

    def test_a_notebook_whose_process_died_is_tried_again(self, here):
        flag = here.root / "died"
        dies = (
            f"import os, pathlib, psutil\nflag = pathlib.Path({str(flag)!r})\n"
            "if not flag.exists():\n    flag.touch()\n    psutil.Process().parents()[0].kill()"
        )
        add(here, "02_dies", dies, GLUES)
        assert run(shlex.split("sweep 02_dies -p n 3 -o t.csv")) == 0
        assert flag.exists()
        assert sweep.read_table("t.csv")["six"].tolist() == [18]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("sweep 01_pgae", "notebook or experiment '01_pgae': does not exist; did you mean '01_page'?"),
            ("sweep 01_page -p m 3", "01_page: parameter 'm': does not exist; known: profile, n, c"),
            ("sweep 01_page -p n 3,101", "01_page: n = 101: must be an integer >= 1 and <= 100; how many"),
            ("sweep 01_page -p n 3,,4", "-p n = '3,,4': must be values with ',' between them, none of them empty"),
            ("sweep 01_page -p n 3 -p n 4", "-p n: is given twice; put all of its values into one list"),
            ("sweep 01_page -p n", "-p: needs a name and a value, for instance -p n_max 3000"),
            ("sweep 01_page -o t.txt", "-o = 't.txt': must be a file name that ends in .csv or .parquet"),
            ("sweep 01_page --page t.html", "--page = 't.html': must be a file name that ends in .ipynb"),
            ("sweep 01_page --settings no.csv", "no.csv: cannot be read (No such file or directory)"),
            ("sweep 01_page --jobs 0", "jobs = 0: must be an integer >= 1"),
            ("sweep 01_page --jobs 2 --scheduler x", "--jobs, --scheduler: give one;"),
            ("sweep 01_page --profile fast", "profile 'fast': does not exist"),
        ],
    )
    def test_bad_input_is_one_line_before_anything_runs(self, here, capsys, line, words):
        assert run(shlex.split(line)) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"gspa: {words}")
        assert err.count("\n") == 1
        assert not (here.build / "sweeps" / "01_page.csv").exists()

    @pytest.mark.skipif(find_spec("distributed") is not None, reason="dask.distributed is installed")
    def test_a_scheduler_without_dask_is_one_line(self, here, capsys):
        assert run(shlex.split("sweep 01_page --scheduler tcp://127.0.0.1:1")) == 2
        assert "pip install 'gspa[book,cluster]'" in capsys.readouterr().err

    def test_ctrl_c_ends_with_a_table(self, here):
        add(here, "02_slow", "import time\nif n > 1: time.sleep(60)", GLUES)
        command = [sys.executable, "-m", "gspa", "sweep", "02_slow", "-p", "n", "1,2", "--jobs", "1", "-o", "t.csv"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=here.root)
        journal = here.root / "t.csv.jsonl"
        deadline = time.monotonic() + 60
        while not journal.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "the same command goes on from there" in err
        assert "Traceback" not in err
        assert sweep.read_table(here.root / "t.csv")["six"].tolist() == [6]
        assert [json.loads(line)["record"]["status"] for line in journal.read_text().splitlines()] == ["done"]


def test_the_template_is_in_the_committed_form():
    from gspa.notebook_source import tidy
    from gspa.parameters import read_yaml

    path = Path(sweep.__file__).parent / "templates" / "sweep_page.ipynb"
    text = path.read_text(encoding="utf-8")
    assert tidy(text) == text
    names = set(read_yaml(path.with_suffix(".schema.yaml"))["properties"])
    (cell,) = [c for c in nbformat.reads(text, 4).cells if "parameters" in c.metadata.get("tags", [])]
    assert {line.split(":")[0] for line in cell.source.splitlines()} == names
