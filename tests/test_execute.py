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

from gspa import execute
from gspa.errors import GspaError
from gspa.notebook_source import INJECTED
from gspa.parameters import Notebook
from gspa.project import Project

pytestmark = pytest.mark.xdist_group("execute")  # the module's fixtures run real kernels: once is enough

PROSE = "There are {glue:text}`users:,` of them, {glue:text}`share:.1f` percent; the word is {glue:text}`word`."
FIGURE = {
    "figure": {"name": "a-figure", "caption": "All {glue:text}`users:,`."},
    "image": {"alt": "{glue:text}`alt`", "width": "80%"},
}
BODY = [
    markdown(PROSE),
    "from myst_nb import glue\nglue('users', 1, display=False)",
    code("n * 6", mystnb=FIGURE, tags=["hide-input"]),
    "glue('users', 1000 * n, display=False); glue('share', 12.34, display=False)\n"
    "glue('word', 'many', display=False); glue('alt', f'{n} lines: all fall', display=False)",
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
        [sys.executable, "-m", "gspa.execute"], input=json.dumps(job), capture_output=True, text=True, timeout=120
    )


def messages(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    project = make(tmp_path_factory.mktemp("finished") / "project")
    notebook = add(project, "page", *BODY)
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
        assert first == {"cells": len(cells)} == {"cells": 8}
        assert rest == [{"done": i} for i in range(1, 9)]
        assert last == {"ok": True}

    def test_given_values_are_injected_after_the_parameters_cell(self, cells):
        assert cells[1]["metadata"]["tags"] == ["parameters"]
        assert cells[2]["id"] == INJECTED
        assert set(cells[2]["metadata"]["tags"]) == {INJECTED, "hide-input"}
        assert "".join(cells[2]["source"]).splitlines() == ["# Parameters", "n = 7"]
        assert cells[5]["outputs"][0]["data"]["text/plain"] == ["42"]

    def test_times_and_places_are_gone(self, finished, text, cells):
        for cell in cells:
            assert set(cell["metadata"]) <= {"tags", "mystnb"}
        recorded = json.loads(text)["metadata"]["papermill"]
        assert recorded["parameters"] == {"n": 7}
        assert set(recorded) == {"parameters", "version"}
        assert str(finished[1].parents[2]) not in text

    def test_ids_are_place_and_source(self, finished, cells):
        sources = [cell.source for cell in nbformat.read(finished[0].path, as_version=4).cells]
        for place, source in [(0, sources[0]), (1, sources[1]), (3, sources[2]), (7, sources[6])]:
            assert cells[place]["id"] == f"c{place:03d}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"

    def test_the_prose_holds_the_numbers(self, cells):
        # The last glued value of a name counts: 7000, not 1.
        assert cells[3]["source"] == ["There are 7,000 of them, 12.3 percent; the word is many."]

    def test_captions_and_alternative_texts_hold_them_too(self, cells):
        about = cells[5]["metadata"]["mystnb"]
        assert about["figure"] == {"name": "a-figure", "caption": "All 7,000."}
        assert about["image"] == {"alt": "7 lines: all fall", "width": "80%"}

    def test_the_kernel_worked_at_the_projects_root(self, cells):
        assert "['_config.yml', 'notebooks', 'out'] 0" in "".join(cells[7]["outputs"][-1]["text"])

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


def with_glue(*prose: str, **values: str) -> nbformat.NotebookNode:
    """A notebook of markdown cells and one code cell that glued the given reprs."""
    cell = code("...")
    for name, text in values.items():
        data = {"application/papermill.record/text/plain": text}
        output = nbformat.v4.new_output("display_data", data=data, metadata={"scrapbook": {"name": name}})
        cell.outputs.append(output)
    return nbformat.v4.new_notebook(cells=[*map(markdown, prose), cell])


class TestGlue:
    def test_numbers_and_texts_come_back_as_they_were(self):
        notebook = with_glue(a="1", b="1e-05", c="'it\\'s'", d="True", e="[1, 2]", f="-3")
        assert execute.glued(notebook) == {"a": 1, "b": 1e-5, "c": "it's", "d": True, "e": [1, 2], "f": -3}

    def test_other_outputs_are_not_glue(self):
        notebook = with_glue(a="1")
        notebook.cells[0].outputs.append(nbformat.v4.new_output("stream", text="b"))
        notebook.cells[0].outputs.append(nbformat.v4.new_output("display_data", data={"text/plain": "2"}))
        assert execute.glued(notebook) == {"a": 1}

    @pytest.mark.parametrize("text", ["nan", "inf", "np.float64(1.0)", "<Figure size 1x1>"])
    def test_what_is_no_plain_number_is_refused_by_name(self, text):
        with pytest.raises(GspaError, match=r"glue 'a': .* is no plain finite number or text"):
            execute.glued(with_glue(a=text))

    def test_a_format_is_applied(self):
        notebook = with_glue(
            "{glue:text}`a:.3f` {glue:text}`a:+.0e` {glue:text}`b:,`, `{glue:text}`", a="0.12345", b="1234567"
        )
        execute.resolve_glue(notebook)
        assert notebook.cells[0].source == "0.123 +1e-01 1,234,567, `{glue:text}`"

    def test_code_is_left_alone(self):
        notebook = with_glue("x", a="1")
        notebook.cells[1].source = "'{glue:text}`a`'"
        execute.resolve_glue(notebook)
        assert notebook.cells[1].source == "'{glue:text}`a`'"

    def test_a_name_that_no_cell_glued_is_refused(self):
        with pytest.raises(GspaError, match=r"the prose uses \{glue:text\}`b`, which no cell glued"):
            execute.resolve_glue(with_glue("{glue:text}`a` {glue:text}`b`", a="1"))

    @pytest.mark.parametrize("place", ["caption", "alt"])
    def test_in_a_caption_too(self, place):
        notebook = with_glue(a="1")
        notebook.cells[0].metadata["mystnb"] = {"figure": {place: "{glue:text}`b`"}}
        with pytest.raises(GspaError, match="which no cell glued"):
            execute.resolve_glue(notebook)

    def test_a_format_that_does_not_suit_the_value_is_named(self):
        with pytest.raises(GspaError, match=r"\{glue:text\}`a:\.3f`, which does not suit 'many'"):
            execute.resolve_glue(with_glue("{glue:text}`a:.3f`", a="'many'"))
