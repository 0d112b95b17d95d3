"""The committed form of a notebook: what `tidy` takes away, which ids it gives, what the command says."""

from __future__ import annotations

import hashlib
import json

import nbformat
import pytest
from small_project import code, markdown

from gspa.book import notebook_source, text
from gspa.book.claims import claim
from gspa.book.notebook_source import INJECTED, stable_ids, tidy, titled


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

    def test_outputs_counts_and_timings_go_and_the_rest_stays(self, tidied):
        notebook = json.loads(tidied)
        cell = notebook["cells"][1]
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert cell["metadata"] == {"tags": ["keep"], "mystnb": {"figure": {"caption": "A."}}}
        assert [cell["source"] for cell in notebook["cells"]] == [["# Title"], ["print(1)"], ["print(1)"]]

    def test_no_machines_kernel_or_version_is_left(self, tidied):
        notebook = json.loads(tidied)
        assert notebook["metadata"] == {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)

    def test_ids_are_place_and_source(self, tidied):
        expected = [
            f"c{place:03d}-{hashlib.sha256(source).hexdigest()[:8]}"
            for place, source in enumerate((b"# Title", b"print(1)", b"print(1)"))
        ]
        assert [cell["id"] for cell in json.loads(tidied)["cells"]] == expected

    def test_it_is_a_fixed_point(self, tidied):
        assert tidy(tidied) == tidied
        assert tidied.endswith("}\n")
        assert not tidied.endswith("\n\n")

    def test_other_ids_and_whitespace_make_no_difference(self, tidied):
        again = json.loads(tidied)
        for place, cell in enumerate(again["cells"]):
            cell["id"] = f"random{place}"
        assert tidy(json.dumps(again, indent=4)) == tidied

    def test_an_older_format_without_ids_is_brought_up_to_date(self):
        cell = {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [], "source": "x = 1"}
        old = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        new = json.loads(tidy(json.dumps(old)))
        assert new["nbformat_minor"] == 5
        assert new["cells"][0]["id"].startswith("c000-")

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


def test_a_check_stands_under_its_claims_title_and_tolerance_once():
    code = 'page.settle("G-C2", True)\npage.settle(\n    "G-D1", shown(True)\n)'
    once = titled(code)
    assert once.splitlines()[0] == "# G-C2: " + text.plain(claim("G-C2").title) + " (tolerance: slope 0.02)"
    assert once.splitlines()[1] == "# G-D1: " + text.plain(claim("G-D1").title)
    assert once.endswith(code)
    assert titled(once) == once


def test_the_readings_that_do_not_count_stand_under_the_title_by_their_place_in_the_cell():
    code = 'page.settle("G-T2", holds)'
    once = titled(code)
    title, excluded, last = once.splitlines()
    assert title.startswith("# G-T2: ")
    assert excluded == "# Not counted, as the claim's words do not allow it: reading 4"
    assert last == code
    assert titled(once) == once
