"""Notebooks that run: what a finished one looks like, how failures are told, what is kept and what is run again."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from small_project import PROPERTIES, add, code, make, markdown

from gspa.accountant.errors import CheckFailed, InvalidOutput
from gspa.book import kernels, parameters, provenance, reader, say
from gspa.book import run as pipeline
from gspa.book.notebook_source import INJECTED

LINE = """from matplotlib import pyplot as plt
import pandas as pd
from gspa.book.figures import keeps_data
@keeps_data
def line(table):
    figure, axis = plt.subplots()
    axis.plot(table["x"])
    return figure
show.figure(line(pd.DataFrame({"x": [1, 2]})), "figure-x", caption="Of {{ users }}.", alt="Two points.")"""
PAGE = [
    markdown("Some words."),
    "from gspa.book.page import show\nshow.start(globals())\nshow.place('figure-first')",
    "%%say later\nOf {{ users | count('user') }}, {{ kept }} stay.",
    code("from ppage import SIX\nn * SIX", tags=["hide-input"]),
    "users = 1000 * n\nkept = 1",
    "kept = 2",
    # The kernel works at the project's root, and what a cell's child prints must not reach the report.
    "import os, subprocess\nprint(sorted(os.listdir()), subprocess.call(['echo', 'noise']))",
    "%%say\nThe share is {{ (1 / n) | percent }}; see [the notation](../book/notation.md).",
    LINE,
    "show.figure(line(pd.DataFrame({'x': [3, 4]})), 'figure-first', caption='{{ kept }}.', alt='Two more.')",
]
FAILING = {
    "raises": [markdown("Text."), "x = 1", "\ny = 2\nraise ValueError('no luck')", "1 + 1"],
    "leaves": ["import sys", "sys.exit(0)", "print('never reached')"],
    "dies": ["import os", "os._exit(1)"],
    "slow": ["import time", "time.sleep(60)"],
    "unsaid": ["from gspa.book import say; say.install()", "%%say\nThere are {{ nothing }} of them."],
}
GOOD = {
    "counts": ["n * 6", "print({'alpha', 'beta', 'gamma', 'delta', 'epsilon'})"],
    "also": ["import ipykernel\n'ipc' in ipykernel.get_connection_info()"],
    "page": PAGE,
}


def saved_by_vs_code(path: Path, kernelspec: dict[str, str]) -> None:
    """The notebook as that editor leaves it: an older format without ids, and the kernel that was chosen, if any."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["nbformat_minor"] = 2
    for cell in saved["cells"]:
        del cell["id"]
    saved["metadata"] = {"language_info": {"name": "python"}} | ({"kernelspec": kernelspec} if kernelspec else {})
    path.write_text(json.dumps(saved, indent=1), encoding="utf-8")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """One run over notebooks that succeed and notebooks that fail, each in its own way."""
    project = make(tmp_path_factory.mktemp("mixed") / "project")
    for name, body in (FAILING | GOOD).items():
        profiles = {"quick": {"n": 7}} if name == "page" else {}
        add(project, name, *body, timeout=1 if name == "slow" else 60, profiles=profiles)
    parameters.select(project, "page").helper.write_text("SIX = 6\n")
    mine = {"display_name": ".venv", "language": "python", "name": "of-another-machine"}
    saved_by_vs_code(project.notebooks / "page.ipynb", mine)
    saved_by_vs_code(project.notebooks / "raises.ipynb", {})
    folder = project.executed("quick")
    folder.mkdir(parents=True)
    (folder / "raises.ipynb").write_text("the older output")
    states = defaultdict(list)
    lock = threading.Lock()

    def progress(name: str, done: int, total: int, state: str) -> None:
        with lock:
            states[name].append((done, total, state))

    notebooks = parameters.discover(project).values()
    with pytest.raises(CheckFailed) as caught, pipeline.Here(3, dict) as place:
        pipeline.run_all(project, notebooks, profile="quick", place=place, progress=progress)
    # One paragraph a failure, then one about the site.
    told = {
        re.match(r"notebook (\w+)", part)[1]: part
        for part in str(caught.value).split("\n\n")[:-1]
        if "notebook" in part
    }
    return SimpleNamespace(project=project, folder=folder, states=states, told=told, message=str(caught.value))


class TestFailures:
    def test_every_failure_is_told_and_nothing_else(self, mixed):
        assert set(mixed.told) == set(FAILING)
        assert mixed.message.endswith("The site was not replaced; finished notebooks are kept.")

    def test_a_cell_that_raised_is_named_by_number_first_line_and_error(self, mixed):
        first, *trace = mixed.told["raises"].splitlines()
        assert first == "notebook raises, cell 5 (y = 2): ValueError: no luck"
        assert any("raise ValueError('no luck')" in line for line in trace)
        assert "\x1b" not in mixed.message

    @pytest.mark.parametrize(
        ("name", "first"),
        [
            ("leaves", "notebook leaves, cell 4 (sys.exit(0)): SystemExit: 0"),
            ("dies", "notebook dies, cell 4 (os._exit(1)): DeadKernelError: Kernel died"),
            (
                "slow",
                "notebook slow, cell 4 (time.sleep(60)): CellTimeoutError: "
                "A cell timed out while it was being executed, after 1 seconds.",
            ),
            ("unsaid", "notebook unsaid, cell 4 (%%say): GspaError: %%say: 'nothing' is undefined"),
        ],
    )
    def test_no_way_to_fail_is_silent(self, mixed, name, first):
        assert mixed.told[name].splitlines()[0] == first

    def test_nothing_is_written_for_them_and_an_older_output_stays(self, mixed):
        kept = {path.name for path in mixed.folder.iterdir()}
        assert kept == {"raises.ipynb", *(f"{name}.{end}" for name in GOOD for end in ("ipynb", "json"))}
        assert (mixed.folder / "raises.ipynb").read_text() == "the older output"

    def test_progress_counts_cells_and_ends_with_the_result(self, mixed):
        assert set(mixed.states) == set(FAILING) | set(GOOD)
        assert mixed.states["counts"] == [(i, 5, "running") for i in range(6)] + [(1, 1, "done")]
        assert {states[-1][2] for name, states in mixed.states.items() if name in FAILING} == {"failed"}


class TestAFinishedNotebook:
    @pytest.fixture
    def text(self, mixed) -> str:
        return (mixed.folder / "page.ipynb").read_text()

    @pytest.fixture
    def cells(self, text) -> list[dict[str, Any]]:
        return json.loads(text)["cells"]

    def test_the_record_says_what_it_took(self, mixed):
        record = json.loads((mixed.folder / "page.json").read_text())
        assert (record["status"], record["error"]) == ("done", "")
        assert record["results"] == {"kept": 2, "n": 7, "users": 7000}
        assert (record["machine"], record["data"]) == (provenance.machine(), {})
        assert record["seconds"] > 0
        if kernels.POSSIBLE:
            assert 0 < record["cpu"] < 100
            assert 50 < record["memory"] < 2000

    def test_given_values_are_injected_after_the_parameters_cell_and_its_module_is_there(self, cells):
        assert cells[1]["metadata"]["tags"] == ["parameters"]
        assert cells[2]["id"] == INJECTED
        assert set(cells[2]["metadata"]["tags"]) == {INJECTED, "hide-input"}
        assert "".join(cells[2]["source"]).splitlines() == ["# Parameters", 'profile = "quick"', "n = 7"]
        assert cells[6]["outputs"][0]["data"]["text/plain"] == ["42"]

    def test_times_and_places_and_the_kernel_that_an_editor_chose_are_gone(self, mixed, text, cells):
        for cell in cells:
            assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter"}
        recorded = json.loads(text)["metadata"]["papermill"]
        assert recorded["parameters"] == {"profile": "quick", "n": 7}
        assert set(recorded) == {"parameters", "version"}
        assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
        assert str(mixed.project.root) not in text
        assert pipeline.OWN not in text

    def test_what_is_said_above_its_numbers_follows_them_to_the_end(self, cells):
        assert cells[5]["outputs"][0]["data"]["text/markdown"] == ["Of 7,000 users, 2 stay."]
        assert say.values_of({"cells": cells}) == {"kept": 2, "n": 7, "users": 7000}

    def test_the_kernel_worked_at_the_root_of_a_project_made_for_it(self, cells):
        assert "['_config.yml', 'book', 'notebooks'] 0" in "".join(cells[9]["outputs"][-1]["text"])

    def test_it_is_valid(self, text):
        assert text.endswith("}\n")
        nbformat.validate(nbformat.reads(text, as_version=4))

    def test_the_site_reads_prose_as_prose_and_puts_captions_under_figures(self, text):
        notebook = reader.read(text)
        assert notebook.cells[5].cell_type == notebook.cells[10].cell_type == "markdown"
        assert notebook.cells[10].source == "The share is 14.3%; see [the notation](../notation.md)."
        for drawn, name, caption, alt in (
            (notebook.cells[11], "figure-x", "Of 7000.", "Two points."),
            (notebook.cells[4], "figure-first", "2.", "Two more."),  # in the place kept for it
        ):
            assert drawn.metadata["mystnb"] == {"figure": {"name": name, "caption": caption}, "image": {"alt": alt}}
            assert len(drawn.outputs) == 1
        assert notebook.cells[12].outputs == []
        nbformat.validate(notebook)


def test_what_was_printed_in_a_row_is_one_output_wherever_the_kernel_cut_it(tmp_path):
    notebook = add(make(tmp_path), "page", "import sys\nfor word in 'ab':\n    print(word)\n    sys.stdout.flush()")
    with pipeline.Here(1, dict) as place:
        task = pipeline.Task.of(notebook, notebook.defaults("paper"))
        found = pipeline.one(place, task, place.identity(needs_data=False))
    assert [output["text"] for output in json.loads(found.text)["cells"][-1]["outputs"]] == [["a\n", "b\n"]]


def test_a_worker_that_is_not_what_is_asked_for_computes_nothing(tmp_path):
    task = pipeline.Task.of(add(make(tmp_path), "page", "1"), {"n": 3})
    found = pipeline.compute(task, pipeline.identity(None) | {"source": "0" * 64}, dict)
    assert found.record["error"] == "notebook page: the worker has another source; install the same everywhere"


class TestFinished:
    def test_they_are_kept_and_not_run_again(self, mixed):
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in mixed.folder.iterdir()}
        notebooks = [parameters.select(mixed.project, name) for name in GOOD]
        with pipeline.Here(2, dict) as place:
            runs = pipeline.run_all(mixed.project, notebooks, profile="quick", place=place)
        assert [(run.name, run.reused) for run in runs] == [(name, True) for name in sorted(GOOD)]
        assert [run.path for run in runs] == [mixed.folder / f"{name}.ipynb" for name in sorted(GOOD)]
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in mixed.folder.iterdir()} == before

    def test_the_same_run_twice_is_the_same_bytes(self, mixed, monkeypatch):
        """Even with the order of a set of strings on the page, which depends on the hash seed."""
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
        notebook = parameters.select(mixed.project, "counts")
        with pipeline.Here(1, dict) as place:
            task = pipeline.Task.of(notebook, notebook.defaults("quick"))
            found = pipeline.one(place, task, place.identity(needs_data=False))
        assert found.text == (mixed.folder / "counts.ipynb").read_text()

    @pytest.mark.skipif(os.name == "nt", reason="sockets are no files there")
    def test_kernels_that_start_at_once_compete_for_no_ports(self, mixed):
        cells = json.loads((mixed.folder / "also.ipynb").read_text())["cells"]
        assert cells[-1]["outputs"][0]["data"]["text/plain"] == ["True"]

    def test_only_what_differs_from_the_cell_is_injected(self, mixed):
        cells = json.loads((mixed.folder / "counts.ipynb").read_text())["cells"]
        assert "".join(cells[2]["source"]).splitlines()[1:] == ['profile = "quick"']
        assert cells[3]["outputs"][0]["data"]["text/plain"] == ["18"]


class TestWhatIsRunAgain:
    """The cache's rules, with the notebooks' processes replaced by a count: no kernel has a say in them."""

    @pytest.fixture
    def book(self, tmp_path, monkeypatch):
        project = make(tmp_path)
        properties = PROPERTIES | {"k": {"type": "integer", "default": 1, "description": "a number"}}
        for name in ("plain", "with_data"):
            add(project, name, "n", properties=properties, needs_data=name == "with_data", profiles={"quick": {"n": 1}})
        ran: list[str] = []
        state = SimpleNamespace(project=project, ran=ran, data={"images": "aa"}, fail=(), interrupt=())

        def compute(task, expected, data, report, stopped):
            if task.name in state.interrupt:
                raise KeyboardInterrupt
            if task.name in state.fail:
                return pipeline.Executed(pipeline._record(task, expected, f"notebook {task.name}: failed"))
            ran.append(task.name)
            text = json.dumps([task.files, task.values, len(ran)])
            return pipeline.Executed(pipeline._record(task, expected, ""), text)

        monkeypatch.setattr(pipeline, "compute", compute)
        return state

    def again(self, book: SimpleNamespace, profile: str = "paper") -> list[str]:
        """Run all and tell which notebooks were computed; the others must say that they were reused."""
        book.ran.clear()
        notebooks = parameters.discover(book.project).values()
        pipeline.identity.cache_clear()
        with pipeline.Here(1, lambda: dict(book.data)) as place:
            runs = pipeline.run_all(book.project, notebooks, profile=profile, place=place)
        assert [run.name for run in runs] == ["plain", "with_data"]
        assert [run.name for run in runs if not run.reused] == sorted(book.ran)
        return sorted(book.ran)

    def file(self, book: SimpleNamespace, end: str) -> Path:
        return book.project.executed("paper") / f"plain.{end}"

    def test_nothing_when_nothing_changed(self, book):
        assert self.again(book) == ["plain", "with_data"]
        assert self.again(book) == []

    def test_a_profile_has_a_folder_and_values_of_its_own(self, book):
        self.again(book)
        assert self.again(book, "quick") == ["plain", "with_data"]
        values = json.loads((book.project.executed("quick") / "plain.ipynb").read_text())[1]
        assert (values["profile"], values["n"], values["k"]) == ("quick", 1, 1)
        assert self.again(book) == []

    @pytest.mark.parametrize(
        ("file", "old", "new", "again"),
        [
            ("plain.ipynb", "# plain", "# Plain", ["plain"]),
            ("plain.schema.yaml", "default: 0.5", "default: 0.25", ["plain"]),
            ("plain.schema.yaml", "how many", "number of users", []),  # a description
            ("plain.schema.yaml", "properties:", "timeout: 9\nproperties:", []),
            ("pplain.py", "", "x = 1\n", ["plain"]),  # its helper
            ("p99_other.py", "", "x = 1\n", []),  # another page's
        ],
    )
    def test_another_source(self, book, file, old, new, again):
        path = book.project.notebooks / file
        before = path.read_text() if old else ""
        assert old in before
        self.again(book)
        path.write_text(before.replace(old, new) if old else new)
        assert self.again(book) == again
        assert self.again(book) == []

    def test_other_data_where_data_matter(self, book):
        self.again(book)
        book.data = {"images": "bb"}
        assert self.again(book) == ["with_data"]

    def test_other_words_of_its_own_claims_and_of_no_other_page_s(self, book):
        book.project.book.mkdir()
        path = book.project.book / "claims.yaml"
        path.write_text("# Claims\n- id: A\n  found: so\n\n- id: AB\n  found: so\n")
        add(book.project, "plain", "n", claims=["A"], profiles={"quick": {"n": 1}})
        assert self.again(book) == ["plain", "with_data"]
        path.write_text(path.read_text().replace("AB\n  found: so", "AB\n  found: not so"))
        assert self.again(book) == []
        path.write_text(path.read_text().replace("A\n  found: so", "A\n  found: not so"))
        assert self.again(book) == ["plain"]

    def test_another_version_or_another_package_source(self, book, monkeypatch):
        self.again(book)
        monkeypatch.setattr(provenance, "versions", lambda: {"numpy": "0.1"})
        assert self.again(book) == ["plain", "with_data"]
        monkeypatch.setattr(provenance, "source_digest", lambda: "00")
        assert self.again(book) == ["plain", "with_data"]

    @pytest.mark.parametrize("how", ["edited", "emptied", "removed"])
    def test_an_output_that_is_not_what_was_written(self, book, how):
        self.again(book)
        output = self.file(book, "ipynb")
        if how == "removed":
            output.unlink()
        else:
            output.write_text(output.read_text() + " " if how == "edited" else "")
        assert self.again(book) == ["plain"]
        assert output.read_text()
        assert self.again(book) == []

    @pytest.mark.parametrize("text", [None, "", "{", "[]", "null", "{}", '{"key": 1}', b"\xff", "a part"])
    def test_a_record_that_cannot_be_believed(self, book, text):
        self.again(book)
        record = self.file(book, "json")
        if text is None:
            record.unlink()
        elif text == "a part":
            record.write_text(record.read_text()[:-20])
        else:
            record.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert self.again(book) == ["plain"]
        assert json.loads(record.read_text())["sha256"]

    def test_a_failed_one_is_tried_again_and_the_finished_one_is_not(self, book):
        book.fail = ("plain",)
        with pytest.raises(CheckFailed, match=r"(?s)^notebook plain: failed\n\nThe site was not replaced"):
            self.again(book)
        assert book.ran == ["with_data"]
        assert not self.file(book, "json").exists()
        book.fail = ()
        assert self.again(book) == ["plain"]

    def test_an_interrupt_keeps_what_was_finished(self, book):
        book.interrupt = ("with_data",)
        with pytest.raises(KeyboardInterrupt):
            self.again(book)
        book.interrupt = ()
        assert self.again(book) == ["with_data"]

    def test_an_output_place_that_cannot_be_is_refused_before_any_work(self, book):
        book.project.build.write_text("a file where a folder belongs")
        with pytest.raises(InvalidOutput, match="cannot be written"):
            self.again(book)
        assert book.ran == []
