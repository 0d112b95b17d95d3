"""The committed form of a notebook: what `tidy` takes away, which ids it gives, what the command says."""

from __future__ import annotations

import hashlib
import json

import nbformat
import pytest
from small_project import code, markdown

from gspa.book import notebook_source
from gspa.book.notebook_source import INJECTED, stable_ids, tidy


def used_notebook() -> nbformat.NotebookNode:
    """A notebook as an editor leaves it after a run."""
    cell = code("print(1)", tags=["keep"], execution={"iopub.status.busy": "2024-01-01T00:00:00Z"}, scrolled=True)
    cell.outputs = [nbformat.v4.new_output("stream", text="1\n")]
    cell.execution_count = 7
    cell.metadata["papermill"] = {"duration": 1.5}
    cell.metadata["collapsed"] = False
    cell.metadata["mystnb"] = {"figure": {"caption": "A."}}
    metadata = {
        "kernelspec": {"display_name": "my env", "language": "python", "name": "my-env"},
        "language_info": {"name": "python", "version": "3.12.1"},
        "papermill": {"input_path": "a.ipynb"},
        "widgets": {},
    }
    return nbformat.v4.new_notebook(cells=[markdown("# Title"), cell, code("print(1)")], metadata=metadata)


class TestTidy:
    @pytest.fixture
    def tidied(self) -> str:
        return tidy(nbformat.writes(used_notebook()))

    def test_outputs_counts_timings_and_a_machines_kernel_go_and_the_rest_stays(self, tidied):
        def cell(place: int, source: str, **more: object) -> dict[str, object]:
            name = f"c{place:03d}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"
            return {"id": name, "source": [source], "metadata": {}} | more

        ran = {"cell_type": "code", "outputs": [], "execution_count": None}
        kept = {"tags": ["keep"], "mystnb": {"figure": {"caption": "A."}}}
        assert json.loads(tidied) == {
            "cells": [
                cell(0, "# Title", cell_type="markdown"),
                cell(1, "print(1)", **ran, metadata=kept),
                cell(2, "print(1)", **ran),
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }

    def test_other_ids_or_none_and_white_space_make_no_difference(self, tidied):
        other, older = json.loads(tidied), json.loads(tidied) | {"nbformat_minor": 4}
        for place, cell in enumerate(other["cells"]):
            cell["id"] = f"random{place}"
        for cell in older["cells"]:
            del cell["id"]
        assert tidy(tidied) == tidy(json.dumps(other, indent=4)) == tidy(json.dumps(older)) == tidied

    def test_a_broken_notebook_is_not_passed_on(self, tidied):
        broken = json.loads(tidied)
        del broken["cells"][1]["source"]
        with pytest.raises((nbformat.ValidationError, AttributeError)):
            tidy(json.dumps(broken))


def test_an_injected_cell_has_an_id_of_its_own():
    notebook = nbformat.v4.new_notebook(cells=[code("n = 1", tags=["parameters"]), code("n = 2", tags=[INJECTED])])
    stable_ids(notebook)
    first = notebook.cells[0].id
    assert notebook.cells[1].id == "injected-parameters"
    notebook.cells[1].source = "n = 3"
    stable_ids(notebook)
    assert [cell.id for cell in notebook.cells] == [first, "injected-parameters"]


class TestCommand:
    def test_check_names_what_is_untidy_and_touches_nothing(self, tmp_path, capsys):
        loose, neat = tmp_path / "loose.ipynb", tmp_path / "neat.ipynb"
        text = nbformat.writes(used_notebook())
        loose.write_text(text)
        neat.write_text(tidy(text))
        assert notebook_source.main(["--check", str(loose), str(neat)]) == 1
        said = capsys.readouterr().err
        assert str(loose) in said
        assert str(neat) not in said
        assert "make tidy" in said
        assert loose.read_text() == text

    def test_without_check_the_file_is_put_into_the_form(self, tmp_path, capsys):
        loose = tmp_path / "loose.ipynb"
        loose.write_text(nbformat.writes(used_notebook()))
        assert notebook_source.main([str(loose)]) == 0
        assert loose.read_text() == tidy(nbformat.writes(used_notebook()))
        assert notebook_source.main(["--check", str(loose)]) == 0
        assert capsys.readouterr().err == ""
