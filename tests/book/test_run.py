"""Many notebooks: what is run again and what is kept, how failures are told, what pages found."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_project import PROPERTIES, add, make, markdown

from gspa.accountant.errors import CheckFailed, InvalidOutput
from gspa.book import parameters, provenance
from gspa.book import run as pipeline

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
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """One run over notebooks that succeed and notebooks that fail, each in its own way."""
    project = make(tmp_path_factory.mktemp("mixed") / "project")
    for name, body in (FAILING | GOOD).items():
        add(project, name, *body, timeout=1 if name == "slow" else 60)
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


class TestPlace:
    def test_the_book_gets_these_notebooks_and_no_stale_ones(self, tmp_path):
        project = make(tmp_path)
        folder = project.book / "notebooks"
        folder.mkdir(parents=True)
        (folder / "renamed_since.ipynb").write_text("stale")
        (folder / "a.ipynb").write_text("old")
        source = tmp_path / "executed" / "a.ipynb"
        source.parent.mkdir()
        source.write_text("new")
        pipeline.place(project, [pipeline.Run("a", source, False)])
        assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.ipynb": "new"}
