"""The build record in a browser: times where the script finds them, and a page that is whole without any."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from gspa.book import build_record as records
from gspa.book.project import Project
from gspa.book.run import Run

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("GSPA_SITE", ROOT / "_build" / "html"))
FAST = {"cpu": "A chip", "cores": 2, "memory_gib": 7.5, "system": "Linux x86_64"}
SLOW = {"cpu": "Another", "cores": 1, "memory_gib": 0, "system": "Darwin arm64"}
IN_FILE = "The times are in build-record.json."


@pytest.fixture
def made(tmp_path):
    """Writes the page as Sphinx passes it on, with a record of these facts beside it; None: without its files."""

    def make(facts):
        project, folder = Project(tmp_path / "project"), tmp_path / "site"
        runs = []
        for name, found in (facts or {"01_one": {}, "02_two": {}, "03_three": {}}).items():
            path = project.executed("quick") / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}", encoding="utf-8")
            path.with_suffix(".json").write_text(json.dumps(found), encoding="utf-8")
            runs.append(Run(name, path, True))
        (folder / "_static").mkdir(parents=True)
        script = ROOT / "book" / "_static" / "build_record.js"
        (folder / "_static" / script.name).write_bytes(script.read_bytes())
        raw = re.search(r"```\{raw\} html\n(.*?)```", records.page(project, runs, "quick"), re.DOTALL)[1]
        page = folder / "build_record.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><title>x</title>{raw}", encoding="utf-8")
        if facts is not None:
            records.write(folder, runs, "quick")
        return page.as_uri()

    return make


def times(page):
    return page.locator("[data-time]").all_inner_texts()


def test_times_their_sum_and_the_machine_are_shown(page, made):
    first = {"seconds": 1.25, "cpu": 2.04, "memory": 312, "machine": FAST}
    page.goto(made({"01_one": first, "02_two": {"seconds": 31.5, "machine": FAST}}))
    assert times(page) == ["1.3", "31.5"]
    assert page.locator("[data-cpu]").all_inner_texts() == ["2.0", ""]
    assert page.locator("[data-memory]").all_inner_texts() == ["312", ""]
    said = page.inner_text("#gspa-machine")
    assert said == f"33 seconds in all, on A chip, 2 cores at hand, 7.5 GiB of memory, Linux x86_64. {IN_FILE}"


def test_a_record_with_gaps_shows_what_there_is(page, made):
    page.goto(
        made(
            {
                "01_one": {"seconds": 2, "machine": FAST},
                "02_two": {},
                "03_three": {"seconds": 4, "machine": SLOW},
                "04_four": {"seconds": 8, "machine": None},
            }
        )
    )
    assert times(page) == ["2.0", "", "4.0", "8.0"]
    said = page.inner_text("#gspa-machine")
    assert said.startswith("14 seconds in all, on A chip")
    assert "; and on Another, 1 core at hand, Darwin arm64. " in said
    assert said.endswith(IN_FILE)


def test_an_empty_record_says_where_times_would_be(page, made):
    page.goto(made({"01_one": {}, "02_two": {}}))
    assert times(page) == ["", ""]
    assert page.inner_text("#gspa-machine") == IN_FILE


def test_a_record_of_a_page_that_is_gone_is_passed_over(page, made):
    address = made({"01_one": {"seconds": 2, "machine": FAST}, "02_two": {"seconds": 3, "machine": FAST}})
    page.goto(address)
    page.evaluate("() => document.querySelector('[data-time=\"01_one\"]').removeAttribute('data-time')")
    page.evaluate("() => document.querySelector('[data-time]').textContent = ''")
    page.evaluate("() => { document.getElementById('gspa-machine').textContent = '' }")
    page.add_script_tag(url=address.replace("build_record.html", "_static/build_record.js"))
    assert times(page) == ["3.0"]
    assert page.inner_text("#gspa-machine").startswith("3 seconds")


@pytest.mark.parametrize("scripts", [True, False])
def test_without_its_files_or_without_a_script_the_page_is_whole(browser, made, scripts):
    address = made({"01_one": {"seconds": 2, "machine": FAST}} if not scripts else None)
    context = browser.new_context(offline=True, java_script_enabled=scripts)
    thrown = []
    context.on("weberror", lambda problem: thrown.append(str(problem.error)))
    page = context.new_page()
    page.goto(address)
    rows = page.locator("tbody tr")
    assert rows.count() == (3 if scripts else 1)
    for row in rows.all():
        assert row.locator("a").is_visible()
        assert re.fullmatch(r"[0-9a-f]{16}", row.locator("code").inner_text())
    assert set(times(page)) == {""}
    assert page.inner_text("#gspa-machine") == IN_FILE
    assert thrown == []
    context.close()


@pytest.mark.skipif(not (SITE / "speed.html").is_file(), reason=f"no site in {SITE}: make book")
class TestTheSitesOwn:
    @pytest.fixture
    def record(self):
        return json.loads((SITE / "build-record.json").read_text(encoding="utf-8"))["notebooks"]

    @pytest.mark.usefixtures("formulas_raw")
    def test_each_page_has_its_time(self, page, record):
        page.goto((SITE / "speed.html").as_uri())
        assert page.locator("[data-time]").evaluate_all("cells => cells.map((cell) => cell.dataset.time)") == [
            one["name"] for one in record
        ]
        # Numbers are rounded twice, here and there: 0.25 may become 0.2 or 0.3.
        for shown, one in zip(times(page), record, strict=True):
            assert float(shown) == pytest.approx(one["seconds"], abs=0.051)
        total = float(page.inner_text("#gspa-machine").split()[0])
        assert total == pytest.approx(sum(one["seconds"] for one in record), abs=0.51)

    @pytest.mark.usefixtures("formulas_raw")
    def test_each_notebooks_page_says_how_long_it_ran(self, page, record):
        for one in record[:3]:
            page.goto((SITE / "notebooks" / f"{one['name']}.html").as_uri())
            said = re.match(
                r"For this site it ran (\d+) seconds? \((.*), (\d+) cores? at hand", page.inner_text("[data-ran]")
            )
            assert float(said[1]) == pytest.approx(max(one["seconds"], 1), abs=0.5)
            assert (said[2], int(said[3])) == (one["machine"]["cpu"], one["machine"]["cores"])
