"""The build record: what a site was made from stays the same, how long it took does not and is kept apart."""

from __future__ import annotations

import json

from bs4 import BeautifulSoup

from gspa.book import build_record, provenance
from gspa.book.run import Run


def run_of(project, name, text="{}", **facts):
    path = project.executed("quick") / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if facts:
        path.with_suffix(".json").write_text(json.dumps(facts), encoding="utf-8")
    return Run(name, path, True)


MACHINE = {"cpu": "A chip", "cores": 2, "memory_gib": 7.5, "system": "Linux x86_64"}


def test_this_machine_has_a_name_cores_and_memory():
    found = provenance.machine()
    assert list(found) == ["cpu", "cores", "memory_gib", "system"]
    assert found["cpu"]
    assert found["cores"] >= 1
    assert found["memory_gib"] >= 0


class TestThePage:
    def test_it_says_from_what_the_site_was_made(self, project):
        runs = [run_of(project, "one", data={"x.gz": "ab" * 32}), run_of(project, "two")]
        text = build_record.page(project, runs, "quick")
        assert "| Commit | not from a git checkout |" in text
        assert "| Profile | quick |" in text
        assert f"`{provenance.source_digest()}`" in text
        for name, number in provenance.versions().items():
            assert f"| {name} | {number} |" in text
        assert f"| x.gz, SHA-256 | `{'ab' * 32}` |" in text

    def test_a_row_a_notebook_with_room_for_its_time(self, project):
        runs = [run_of(project, "one"), run_of(project, "two", text="{ }")]
        html = build_record.page(project, runs, "paper").split("```{raw} html")[1]
        soup = BeautifulSoup(html, "html.parser")
        assert [cell["data-time"] for cell in soup("td", attrs={"data-time": True})] == ["one", "two"]
        assert len({cell.get_text() for cell in soup("code")}) == 2
        # Without a script a reader still finds the times.
        assert soup.find("a", href="build-record.json")

    def test_times_are_not_on_it(self, project):
        first = build_record.page(project, [run_of(project, "one", seconds=1.5, machine=MACHINE)], "paper")
        second = build_record.page(project, [run_of(project, "one", seconds=9.5, machine=None)], "paper")
        assert first == second
        assert "A chip" not in first


class TestTheFiles:
    def test_both_hold_the_same_record(self, project, tmp_path):
        runs = [run_of(project, "one", seconds=1.5, cpu=2.5, memory=300, machine=MACHINE), run_of(project, "two")]
        build_record.write(tmp_path, runs, "paper")
        kept = json.loads((tmp_path / "build-record.json").read_text(encoding="utf-8"))
        assert kept == {
            "profile": "paper",
            "notebooks": [
                {"name": "one", "seconds": 1.5, "cpu": 2.5, "memory": 300, "machine": MACHINE},
                {"name": "two", "seconds": None, "cpu": None, "memory": None, "machine": None},
            ],
        }
        script = (tmp_path / "build-record.js").read_text(encoding="utf-8")
        assert json.loads(script.removeprefix("var gspaBuildRecord = ").removesuffix(";\n")) == kept
