"""One notebook in one process: the job and its report, what a finished notebook looks like, what fails."""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from small_project import add, code, make, markdown

from gspa.book.notebook_source import INJECTED
from gspa.book.parameters import Notebook
from gspa.book.project import Project

pytestmark = pytest.mark.xdist_group("execute")  # the module's fixtures run real kernels: once is enough

BODY = [
    markdown("Some words."),
    "from gspa.book.page import Page",
    "%%say later\nThere are {{ users | number }} of them.",
    code("n * 6", tags=["hide-input"]),
    "users = 1000 * n",
    # The kernel works at the project's root, and what a cell's child prints must not reach the report.
    "import os, subprocess\nprint(sorted(os.listdir()), subprocess.call(['echo', 'noise']))",
]


def start(project: Project, notebook: Notebook, output: Path, **parameters: Any) -> subprocess.CompletedProcess[str]:
    job = {
        "source": str(notebook.path),
        "output": str(output),
        "parameters": parameters,
        "timeout": 60,
        "cwd": str(project.root),
    }
    return subprocess.run(
        [sys.executable, "-m", "gspa.book.execute"], input=json.dumps(job), capture_output=True, text=True, timeout=120
    )


def messages(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    output = project.root / "out" / "page.ipynb"
    output.parent.mkdir()
    return notebook, output, start(project, notebook, output, n=7)


class TestAFinishedNotebook:
    @pytest.fixture
    def text(self, finished) -> str:
        return finished[1].read_text(encoding="utf-8")

    @pytest.fixture
    def cells(self, text) -> list[dict[str, Any]]:
        return json.loads(text)["cells"]

    def test_the_report_counts_cells_and_ends_well(self, finished, cells):
        done = finished[2]
        assert done.returncode == 0
        first, *rest, last = messages(done)
        assert first == {"cells": len(cells)} == {"cells": 9}
        assert rest == [{"done": i} for i in range(1, 10)]
        assert last.pop("ok") is True
        assert last.keys() == {"cpu", "memory"}
        assert 0.3 < last["cpu"] < 100  # papermill alone takes as much to be imported
        assert 50 < last["memory"] < 2000

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
        assert str(finished[1].parents[2]) not in text

    def test_ids_are_place_and_source(self, finished, cells):
        sources = [cell.source for cell in nbformat.read(finished[0].path, as_version=4).cells]
        for place, source in [(0, sources[0]), (1, sources[1]), (3, sources[2]), (8, sources[7])]:
            assert cells[place]["id"] == f"c{place:03d}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"

    def test_what_is_said_above_its_numbers_holds_them(self, cells):
        assert cells[5]["outputs"][0]["data"]["text/markdown"] == ["There are 7,000 of them."]

    def test_the_installed_kernel_ran_it_whatever_the_editor_chose(self, text):
        assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"

    def test_the_kernel_worked_at_the_projects_root(self, cells):
        assert "['_config.yml', 'notebooks', 'out'] 0" in "".join(cells[8]["outputs"][-1]["text"])

    def test_it_is_one_readable_file_and_valid(self, finished, text):
        output = finished[1]
        assert [path.name for path in output.parent.iterdir()] == ["page.ipynb"]
        assert stat.S_IMODE(output.stat().st_mode) == 0o644
        assert text.endswith("}\n")
        nbformat.validate(nbformat.reads(text, as_version=4))


def test_a_failure_is_reported_and_leaves_the_older_output(tmp_path):
    project = make(tmp_path)
    body = [
        markdown("First."),
        "before = 1",
        "\n# setup\nvalue = n\nraise ValueError(f'no luck with {value}')",
        "1 + 1",
    ]
    notebook = add(project, "page", *body)
    output = tmp_path / "page.ipynb"
    output.write_text("the older output")
    saved_by_vs_code(notebook.path, {})
    done = start(project, notebook, output, n=7)
    assert done.returncode == 1
    error = messages(done)[-1]["error"]
    # The fifth cell of the source, though the run had an injected one before it.
    assert (error["cell"], error["source"]) == (5, "# setup")
    assert error["what"] == "ValueError: no luck with 7"
    trace = "\n".join(error["traceback"])
    assert "raise ValueError" in trace
    assert "\x1b" not in trace
    assert output.read_text() == "the older output"
    assert {path.name for path in tmp_path.iterdir()} == {"_config.yml", "notebooks", "page.ipynb"}
