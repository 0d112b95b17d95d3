"""One notebook: its report, what a finished one looks like, what fails, and what travels to where it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from small_project import add, code, make, markdown

from gspa.book import kernels
from gspa.book.notebook_source import INJECTED
from gspa.book.parameters import Notebook
from gspa.book.run import OWN, Executed, Task, compute, identity

BODY = [
    markdown("Some words."),
    "from gspa.book.page import Page",
    "%%say later\nThere are {{ users | number }} of them.",
    code("n * 6", tags=["hide-input"]),
    "users = 1000 * n",
    # The kernel works at the project's root, and what a cell's child prints must not reach the report.
    "import os, subprocess\nprint(sorted(os.listdir()), subprocess.call(['echo', 'noise']))",
]


def started(notebook: Notebook, **given: Any) -> tuple[Executed, list[tuple[int, int]]]:
    """What a run gave, and what it reported."""
    task = Task.of(notebook, notebook.defaults("paper") | given)
    told: list[tuple[int, int]] = []
    found = compute(task, task.within(identity(None)), dict, lambda done, cells: told.append((done, cells)))
    return found, told


def saved_by_vs_code(path: Path, kernelspec: dict[str, str]) -> None:
    """The notebook as that editor leaves it: an older format without ids, and the kernel that was chosen, if any."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["nbformat_minor"] = 2
    for cell in saved["cells"]:
        del cell["id"]
    saved["metadata"] = {"language_info": {"name": "python"}} | ({"kernelspec": kernelspec} if kernelspec else {})
    path.write_text(json.dumps(saved, indent=1), encoding="utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    project = make(tmp_path_factory.mktemp("finished") / "project")
    notebook = add(project, "page", *BODY)
    saved_by_vs_code(notebook.path, {"display_name": ".venv", "language": "python", "name": "of-another-machine"})
    return notebook, *started(notebook, n=7)


class TestAFinishedNotebook:
    @pytest.fixture
    def text(self, finished) -> str:
        return finished[1].text

    @pytest.fixture
    def cells(self, text) -> list[dict[str, Any]]:
        return json.loads(text)["cells"]

    def test_the_report_counts_cells_and_the_record_says_what_it_took(self, finished, cells):
        _, found, told = finished
        assert told == [(i, 9) for i in range(10)]
        assert len(cells) == 9
        assert (found.record["status"], found.record["error"]) == ("done", "")
        assert found.record["results"] == {"users": 7000}
        if kernels.POSSIBLE:
            assert 0 < found.record["cpu"] < 100
            assert 50 < found.record["memory"] < 2000

    def test_given_values_are_injected_after_the_parameters_cell(self, cells):
        assert cells[1]["metadata"]["tags"] == ["parameters"]
        assert cells[2]["id"] == INJECTED
        assert set(cells[2]["metadata"]["tags"]) == {INJECTED, "hide-input"}
        assert "".join(cells[2]["source"]).splitlines() == ["# Parameters", "n = 7"]
        assert cells[6]["outputs"][0]["data"]["text/plain"] == ["42"]

    def test_times_and_places_are_gone(self, finished, text, cells):
        for cell in cells:
            assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter"}
        recorded = json.loads(text)["metadata"]["papermill"]
        assert recorded["parameters"] == {"n": 7}
        assert set(recorded) == {"parameters", "version"}
        assert str(finished[0].path.parents[1]) not in text
        assert OWN not in text

    def test_what_is_said_above_its_numbers_holds_them(self, cells):
        assert cells[5]["outputs"][0]["data"]["text/markdown"] == ["There are 7,000 of them."]

    def test_the_installed_kernel_ran_it_whatever_the_editor_chose(self, text):
        assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"

    def test_the_kernel_worked_at_the_root_of_a_project_made_for_it(self, cells):
        assert "['_config.yml', 'book', 'notebooks'] 0" in "".join(cells[8]["outputs"][-1]["text"])

    def test_it_is_valid(self, text):
        assert text.endswith("}\n")
        nbformat.validate(nbformat.reads(text, as_version=4))


def test_a_failure_is_told_with_its_cell_in_the_source(tmp_path):
    project = make(tmp_path)
    body = [
        markdown("First."),
        "before = 1",
        "\n# setup\nvalue = n\nraise ValueError(f'no luck with {value}')",
        "1 + 1",
    ]
    notebook = add(project, "page", *body)
    saved_by_vs_code(notebook.path, {})
    found, _ = started(notebook, n=7)
    assert (found.record["status"], found.text) == ("failed", "")
    # The fifth cell of the source, though the run had an injected one before it.
    first, *trace = found.record["error"].splitlines()
    assert first == "notebook page, cell 5 (# setup): ValueError: no luck with 7"
    assert "raise ValueError" in "\n".join(trace)
    assert "\x1b" not in found.record["error"]


def test_a_worker_that_is_not_what_is_asked_for_computes_nothing(tmp_path):
    task = Task.of(add(make(tmp_path), "page", "1"), {"n": 3})
    found = compute(task, identity(None) | {"source": "0" * 64}, dict)
    assert found.record["error"] == "notebook page: the worker has another source; install the same everywhere"


def test_the_module_beside_the_notebook_travels_with_it(tmp_path):
    notebook = add(make(tmp_path), "page", "1")
    notebook.helper.write_text("SIX = 6\n")
    task = Task.of(notebook, {"n": 3})
    notebook.helper.unlink()
    assert task.files["notebooks/ppage.py"] == "SIX = 6\n"
