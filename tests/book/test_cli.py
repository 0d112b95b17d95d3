"""The command line: exit status, one clear line for bad input, numbers that are the library's."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import nbformat
import pytest
from package_reference import commands
from small_project import add, make, markdown, small_mnist

from gspa.accountant import budgets, closed_forms
from gspa.accountant import published as bounds
from gspa.algorithms import _mnist_files
from gspa.book import claims, say
from gspa.book.claims import Outcome
from gspa.book.verdicts import Reading
from gspa.cli import run

ROOT = Path(__file__).resolve().parents[2]
VERIFY = "verify --profile quick --claim G-TAB2"


@pytest.fixture
def told(capsys):
    """Run one command line that must end with this status; return what it printed, and what of errors."""

    def ask(line: str, status: int = 0):
        assert run(shlex.split(line)) == status
        return capsys.readouterr()

    return ask


@pytest.fixture
def refused(told):
    """Run one command line that must be refused with one line; return the line."""

    def check(line: str, status: int = 2) -> str:
        out, err = told(line, status)
        assert out == ""
        assert err.count("\n") == 1
        assert err.startswith("gspa: ")
        assert "Traceback" not in err
        return err[len("gspa: ") : -1]

    return check


@pytest.fixture
def answer(told):
    """Run one command line that must succeed; return what it printed, as JSON where asked."""

    def check(line: str):
        out, err = told(line)
        assert err == ""
        return json.loads(out) if "--json" in line else out

    return check


@pytest.fixture
def project(project):
    """The working directory is a project with one small notebook."""
    add(project, "01_page", "1", "if n == 13: raise ValueError('thirteen')", profiles={"quick": {"n": 1}})
    return project


class TestHelp:
    @pytest.mark.parametrize("command", commands(), ids=" ".join)
    def test_every_command_explains_itself_with_an_example(self, command, told):
        out, err = told(f"{' '.join(command)} --help")
        assert err == ""
        assert out.startswith(f"Usage: gspa {' '.join(command)} ")
        example = re.search(r"Example: gspa (.+)", out)[1].split()
        assert tuple(example[: len(command)]) == command
        for option in (word for word in example if word.startswith("--")):
            assert f"{option} " in out
        # Every option says what it is for.
        options = out.split("Options:")[1].split("Example:")[0]
        for line in options.strip().splitlines():
            if line.strip().startswith("-"):
                assert len(re.split(r"\s{2,}", line.strip(), maxsplit=1)) == 2, line

    def test_the_commands_are_listed(self, answer):
        listed = answer("--help")
        assert "checked" in listed
        for command in commands():
            assert re.search(rf"^  {command[0]} ", listed, re.MULTILINE)

    @pytest.mark.parametrize("group", ["", "data"])
    def test_a_group_alone_shows_its_help_and_is_no_success(self, group, told):
        out, err = told(group, 2)
        assert out == ""
        assert err.startswith(f"Usage: gspa {group}".rstrip())
        assert "Commands:" in err


class TestUsage:
    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("fly", "No such command 'fly'; see gspa --help"),
            ("mu --frob", "No such option: --frob; see gspa mu --help"),
            ("mu --eps", "'--eps' requires an argument"),
            ("mu 3", "unexpected extra argument"),
            ("mu --eps abc --n 10", "Invalid value for '--eps'"),
            ("build --jobs two", "Invalid value for '--jobs'"),
            ("run", "Missing argument"),
        ],
    )
    def test_bad_usage_is_one_line_that_names_the_help(self, refused, line, words):
        said = refused(line)
        assert words.lower() in said.lower()
        assert re.search(r"; see gspa( \w+)* --help$", said)


@pytest.mark.parametrize("command", ["mu", "bounds"])
class TestBudgets:
    """What both commands about a population refuse; tests/accountant/test_budget_file.py has the rules of a file."""

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            ("--eps -0.5 --n 10", "eps = -0.5: must be a finite number >= 0"),
            ("--eps 0.5 --n 0", "n = 0: must be an integer >= 1"),
            ("--eps 0.5 --n 1000 --delta 1", "delta = 1.0: must be in (0, 1)"),
            ("--eps 0.5", "--eps, --n: give both, for instance --eps 0.5 --n 10000, or --budgets FILE.csv"),
            ("--n 10 --budgets b.csv", "--budgets: give either --budgets FILE or --eps with --n, not both"),
            ("--budgets b.csv", "b.csv line 3, column eps = 'abc': must be a finite number >= 0"),
            ("--budgets none.csv", "none.csv = 'none.csv': must be a readable CSV file; No such file"),
        ],
    )
    def test_each_is_one_line(self, refused, command, options, line, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("b.csv").write_text("eps\n0.5\nabc\n0.5\n")
        assert refused(f"{command} {options}").startswith(line)


class TestMu:
    def test_one_user_has_nobody_to_hide_among(self, refused):
        assert "needs n >= 2 users" in refused("mu --eps 0.5 --n 1")

    def test_json_is_what_the_library_computes(self, answer):
        found = answer("mu --eps 0.5 --n 10000 --delta 1e-5 --json")
        population = budgets.constant(0.5, n=10_000)
        assert set(found) == {"mu", "epsilon", "delta", "n", "method", "valid_for"}
        assert found["mu"] == closed_forms.gspa_mu(population)
        assert found["epsilon"] == closed_forms.gspa_epsilon(population, delta=1e-5)
        assert (found["delta"], found["n"]) == (1e-5, 10_000)
        # Theorem 2 by hand: sqrt(2 / (9999 r)) with r = 1 / (1 + e^0.5) = 0.3775406687981454.
        assert found["mu"] == pytest.approx((2 / (9999 * 0.3775406687981454)) ** 0.5, rel=1e-14)

    def test_the_text_has_the_same_numbers_and_says_what_they_are_not(self, answer):
        text = answer("mu --eps 0.5 --n 10000")
        assert text.startswith("mu = 0.0230173, eps = 0.0517906 at ")
        assert "delta = 0.0001, n = 10,000" in text
        assert "An approximation, not a certificate." in text

    def test_a_file_of_budgets_with_counts(self, answer, tmp_path):
        (tmp_path / "b.csv").write_text("eps,count,delta\n0.1,500,0\n2,1500,1e-6\n")
        found = answer(f"mu --budgets {tmp_path / 'b.csv'} --json")
        population = budgets.from_array([0.1, 2.0], [0, 1e-6], [500, 1500])
        assert found["mu"] == closed_forms.gspa_mu(population)
        assert found["n"] == 2000


def test_the_text_of_bounds_lists_every_one_with_what_it_holds_for(answer):
    """tests/accountant/test_accountant_cli.py has its JSON."""
    text = answer("bounds --eps 0.5 --n 1000")
    for bound in bounds.CATALOGUE.values():
        assert f"\n{bound.label}: " in text
        assert f"  valid for: {bound.valid_for}" in text
    assert "Erlingsson19: refused\n" in text
    for row in bounds.compare(budgets.constant(0.5, n=1000), delta=1e-4):
        if row.valid and row.rigorous:  # an upper bound is rounded up
            shown = Decimal(re.search(rf"^{re.escape(row.label)}: eps <= (\S+)", text, re.M).group(1))
            assert 0 <= shown - Decimal(row.epsilon) <= Decimal("1e-6") * shown
    assert "GSPA: eps = " in text  # an estimate


RUN, SWEEP, BUILD, SERVE = "run 01_page", "sweep 01_page", "build", "serve --no-browser"


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("run 01_pgae", "notebook '01_pgae': does not exist; did you mean '01_page'?"),
        (f"{RUN} -p m 3", "01_page: parameter 'm': does not exist; known: profile, n, c"),
        (f"{RUN} -p n 101", "01_page: n = 101: must be an integer >= 1 and <= 100; how many"),
        (f"{RUN} -p n", "-p: needs a name and a value, for instance -p n_max 3000"),
        (f"{RUN} -pn=3", "-p: needs a name and a value, for instance -p n_max 3000"),
        (f"{RUN} --profile qick", "profile 'qick': does not exist; did you mean 'quick'?"),
        (f"{RUN} -o out.html", "-o = 'out.html': must be a file name that ends in .ipynb"),
        (f"{RUN} -o folder.ipynb", "-o = 'folder.ipynb': must be a file name that ends in .ipynb"),
        (f"{RUN} -o file/deep/x.ipynb", "output folder HERE/file/deep: cannot be written (Not a directory)..."),
        (f"{RUN} -f none.yml", "none.yml: cannot be read (No such file or directory)"),
        (f"{RUN} -f broken.yml", "broken.yml: is not valid YAML: ..."),
        (f"{RUN} -f zero.yml", "01_page: n = 0: must be an integer >= 1 and <= 100; how many"),
        ("sweep 01_pgae", "notebook '01_pgae': does not exist; did you mean '01_page'?"),
        (f"{SWEEP} -p m 3", "01_page: parameter 'm': does not exist; known: profile, n, c"),
        (f"{SWEEP} -p n 3,101", "01_page: n = 101: must be an integer >= 1 and <= 100; how many"),
        (f"{SWEEP} -p n 3,,4", "-p n = '3,,4': must be values with ',' between them, none of them empty"),
        (f"{SWEEP} -p n 3 -p n 4", "-p n: is given twice; put all of its values into one list"),
        (f"{SWEEP} -pn=3", "-p: needs a name and values, for instance -p n_max 3000,30000"),
        (f"{SWEEP} -o t.txt", "-o = 't.txt': must be a file name that ends in .csv"),
        (f"{SWEEP} --page t.html", "--page = 't.html': must be a file name that ends in .ipynb"),
        (f"{SWEEP} --settings no.csv", "no.csv: cannot be read as a CSV file in UTF-8 (No such file or directory)"),
        (f"{SWEEP} --jobs 0", "jobs = 0: must be an integer >= 1"),
        (f"{SWEEP} --jobs 2 --scheduler x", "--jobs, --scheduler: give one;..."),
        (f"{SWEEP} --profile fast", "profile 'fast': does not exist; known: paper, middle, quick"),
        ("verify --profile fast", "profile 'fast': does not exist; known: paper, middle, quick"),
        (f"{BUILD} --jobs 0", "jobs = 0: must be an integer >= 1"),
        (f"{BUILD} --jobs 2 --scheduler x", "--jobs, --scheduler: give one;..."),
        (f"{BUILD} --profile papr", "profile 'papr': does not exist; did you mean 'paper'?"),
        (f"{SERVE} --port 65536", "port = 65536: must be in [0, 65535]"),
        (SERVE, "HERE/_build/html: no site yet; run gspa build first"),
    ],
)
def test_what_is_refused_before_any_work_is_one_line(refused, project, asked, line):
    """Where a line of the table ends in three dots, more may follow."""
    Path("file").write_text("kept")
    Path("folder.ipynb").mkdir()
    Path("broken.yml").write_text("n: [1\n")
    Path("zero.yml").write_text("n: 0\n")
    before = sorted(project.root.rglob("*"))
    said = refused(asked).replace(str(project.root), "HERE")
    assert said.startswith(line[:-3]) if line.endswith("...") else said == line
    assert sorted(project.root.rglob("*")) == before
    assert Path("file").read_text() == "kept"


class TestRun:
    def test_parameters_come_from_the_profile_the_file_and_the_line_in_this_order(self, project, told):
        body = ["from gspa.book.page import Page", "page = Page('01_page', globals())"]
        quick = {"n": 1, "c": 0.125}
        add(project, "01_page", *body, "%%say\nThey are {{ n }}, {{ c }}, {{ profile }}.", profiles={"quick": quick})
        Path("values.yml").write_text("n: 20\nc: 2.5e-1\n")
        # The size without a profile, given: it stays as well.
        out, err = told("run 01_page --profile quick -f values.yml -p n 3 -o deep/page.ipynb")
        assert out == "Wrote deep/page.ipynb\n"
        assert err.splitlines() == ["01_page: done"]
        page = nbformat.read("deep/page.ipynb", as_version=4)
        assert say.values_of(page) == {"n": 3, "c": 0.25, "profile": "quick"}
        assert page.cells[5].outputs[0].data["text/markdown"] == "They are 3, 0.25, quick."
        # It has no middle: the paper's sizes.
        told("run 01_page --profile middle -o deep/page.ipynb")
        page = nbformat.read("deep/page.ipynb", as_version=4)
        assert say.values_of(page) == {"n": 3, "c": 0.5, "profile": "middle"}
        assert sorted(path.name for path in Path("deep").iterdir()) == ["page.ipynb"]

    def test_it_says_what_moved_against_the_book_and_without_one_against_the_record(self, project, told):
        project.book.mkdir()
        shutil.copy(ROOT / "book" / "claims.yaml", project.book)
        entry = claims.claim("G-TAB2")
        card = f'Outcome("G-TAB2", "{entry.verdict}", "So.", dict(gap=n), "Other." * {"corr" in entry.verdict})'
        add(project, "page", f"from gspa.book.claims import Outcome\n{card}", claims=["G-TAB2"])

        def said(line):
            wrote, *lines = told(f"run page -o x.ipynb {line}").out.splitlines()
            assert wrote == "Wrote x.ipynb"
            return lines

        assert said("-p n 4") == ["Verdicts that differ from the record:", "None."]
        project.executed("paper").mkdir(parents=True)
        Path("x.ipynb").rename(project.executed("paper") / "page.ipynb")
        assert said("-p n 4") == ["What moved against the book, profile paper:", "Nothing."]
        assert said("-p n 5") == ["What moved against the book, profile paper:", "G-TAB2   gap: 4 -> 5"]

    def test_a_notebook_that_raises_is_status_1_and_writes_nothing(self, project, told):
        # A failure's message is a screen with the traceback of the cell, not one of gspa's own.
        out, err = told("run 01_page -p n 13", 1)
        assert out == ""
        assert "gspa: notebook 01_page, cell 4 (if n == 13: raise ValueError('thirteen')): ValueError: thirteen" in err
        assert "gspa/" not in err
        assert list(project.build.rglob("*.ipynb")) == []

    @pytest.mark.slow
    def test_open_shows_the_page_with_its_figures_in_a_browser(self, tmp_path):
        """In a process of its own, with a browser that only notes what it is asked for."""
        here = make(tmp_path / "clone")
        add(here, "01_page", markdown("## Theirs\n\nA formula $x^2$."), "n + 1", title="A page")
        (here.root / "_config.yml").write_bytes((ROOT / "_config.yml").read_bytes())
        for part in ("_ext", "_static"):
            shutil.copytree(ROOT / "book" / part, here.book / part)
        shutil.copy(ROOT / "book" / "references.bib", here.book)
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "asked"}\n')
        browser.chmod(0o755)
        command = [sys.executable, "-m", "gspa", "run", "01_page", "-p", "n", "7", "-o", "out/mine.ipynb", "--open"]
        environment = os.environ | {"BROWSER": f"{browser} %s"}
        done = subprocess.run(command, cwd=here.root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        page = here.root / "out" / "mine_html" / "notebooks" / "01_page.html"
        assert done.stdout.splitlines() == ["Wrote out/mine.ipynb", f"Opened {page}"]
        assert (tmp_path / "asked").read_text().strip() == page.as_uri()
        text = page.read_text(encoding="utf-8")
        assert "<h1>01_page" in text
        assert "<pre>8\n</pre>" in text.replace("<span></span>", "")
        assert (page.parents[1] / "mathjax" / "tex-svg-full.js").is_file()
        assert sorted(path.name for path in here.build.iterdir()) == []

    def test_open_without_a_browser_says_where_the_page_is(self, project, told, monkeypatch):
        from gspa.book import site

        page = project.build / "x_html" / "page.html"
        monkeypatch.setattr(site, "render_page", lambda *given, **named: page)
        monkeypatch.setattr("webbrowser.open", lambda address: False)
        said = told("run 01_page -o x.ipynb --open").out
        assert said == f"Wrote x.ipynb\nNo browser here; open it yourself: {page}\n"

    def test_open_replaces_no_folder_of_somebody_elses(self, project, refused):
        mine = Path("x_html")
        mine.mkdir()
        (mine / "thesis.txt").write_text("years of work")
        said = refused("run 01_page -o x.ipynb --open")
        assert not Path("x.ipynb").exists()
        assert said.endswith("x_html: is there already and is no rendered page; move it or choose another -o")
        assert (mine / "thesis.txt").read_text() == "years of work"


def test_a_notebook_without_a_schema(refused, project):
    (project.notebooks / "01_page.schema.yaml").unlink()
    assert "01_page.ipynb: has no 01_page.schema.yaml beside it" in refused("build")


class TestVerify:
    """The record is only what a run is compared with: these tests set it, and the run stays real."""

    CARD = 'Outcome("G-TAB2", "verified", "The four distributions: $n$ is {}.".format(n), dict.fromkeys("abcd", 0.5))'

    @pytest.fixture(scope="class")
    @staticmethod
    def here(tmp_path_factory):
        """A project whose one notebook settles one claim; what has run in one test is kept for the others."""
        here = make(tmp_path_factory.mktemp("verify"))
        here.book.mkdir()
        for name in ("claims.yaml", "errata.yaml"):
            shutil.copy(ROOT / "book" / name, here.book)
        body = ["from gspa.book.claims import Outcome", TestVerify.CARD]
        add(here, "08_comparison", *body, claims=["G-TAB2"], profiles={"quick": {"n": 1}})
        return here

    @pytest.fixture
    def record(self, here, monkeypatch):
        """Call it with what is on record."""
        monkeypatch.chdir(here.root)

        def set_to(verdict: str) -> None:
            entry = claims.claim("G-TAB2")
            monkeypatch.setitem(claims.registry(), "G-TAB2", replace(entry, verdict=verdict))

        return set_to

    def test_an_agreeing_record_is_status_0_and_what_has_run_is_not_run_again(self, here, record, told):
        shutil.rmtree(here.build, ignore_errors=True)
        record("verified")
        for state in ("done", "unchanged"):
            out, err = told(VERIFY)
            assert re.match(r"G-TAB2 +verified +The four distributions: n is 1\.\n", out)
            assert out.endswith("1 of 1 settled in this run; nothing differs.\n")
            assert state in err

    @pytest.fixture
    def shown(self, record, monkeypatch):
        """Call it with what the page is to have shown, on record as verified; None: nothing."""
        record("verified")

        def show(outcome: Outcome | None) -> None:
            found = {"G-TAB2": outcome} if outcome else {}
            monkeypatch.setattr(claims, "outcomes", lambda paths: found if list(paths) else {})

        return show

    def test_a_verdict_of_one_reading_says_so(self, shown, told):
        two = Reading("one way", "verified", "So."), Reading("another", "refuted", "Not so.")
        shown(Outcome("G-TAB2", "verified", "So.", {"gap": 1.0}, readings=two))
        assert told(VERIFY).out.startswith("G-TAB2   verified in 1 of 2 readings So.\n")
        assert json.loads(told(f"{VERIFY} --json").out)["claims"][0]["agreeing"] == "in 1 of 2 readings"

    @pytest.mark.parametrize("verdict", ["refuted", "not yet checked"])
    def test_a_differing_record_is_status_1_and_named_and_json_has_the_evidence(self, record, told, verdict):
        record(verdict)
        out = told(VERIFY, 1).out
        assert f"DIFFERS from the record: {verdict}" in out
        assert out.endswith("1 of 1 settled in this run; 1 differs from the record.\n")
        found = json.loads(told(f"{VERIFY} --json", 1).out)
        (result,) = found["claims"]
        wanted = {"claim": "G-TAB2", "verdict": "verified", "recorded": verdict, "differs": True}
        assert (found["profile"], result | wanted, len(result["evidence"])) == ("quick", result, 4)

    @pytest.mark.parametrize(
        ("profile", "missing", "status"),
        [("paper", "size", 1), ("middle", "size", 0), ("quick", "size", 0), ("quick", "data", 1), ("paper", "data", 1)],
    )
    def test_what_could_not_be_checked_contradicts_nothing_and_strict_fails(
        self, shown, told, profile, missing, status
    ):
        shown(Outcome("G-TAB2", "not yet checked", "Lacking.", missing=missing))
        asked = f"verify --profile {profile} --claim G-TAB2"
        said = told(asked).out
        assert "0 of 1 settled in this run; nothing differs of what could be checked.\n" in said
        assert "Not checked: 1 claim " in told(f"{asked} --strict", status).out

    def test_an_erratum_without_its_row_fails(self, record, monkeypatch, told):
        record("verified")
        astray = replace(claims.errata()[0], claim="G-TAB2", evidence="no such row")
        monkeypatch.setattr(claims, "errata", lambda: (astray,))
        assert "the evidence of G-TAB2 has no row 'no such row'" in told("verify --profile paper --claim G-TAB2", 1).err
        told(VERIFY)  # a small run has other rows

    def test_a_statement_that_no_number_can_settle_is_told_with_its_reason(self, record, monkeypatch, told):
        entry = replace(claims.claim("G-TAB2"), notebook="", verdict="not checkable", reason="It is an opinion.")
        monkeypatch.setitem(claims.registry(), "G-TAB2", entry)
        out, err = told(f"{VERIFY} --strict")
        assert err == ""  # no notebook was looked at
        assert re.match(r"G-TAB2 +not checkable +It is an opinion\.\n", out)
        assert out.endswith("0 of 0 settled in this run; nothing differs.\n")

    def test_a_card_that_is_not_shown_is_not_yet_checked(self, shown, told):
        shown(None)
        assert "No card of" in told("verify --claim G-TAB2", 1).out

    @pytest.mark.parametrize("claims", ["--claim ''", "--claim G-TAB2 --claim G-TAB9"])
    def test_a_claim_that_does_not_exist_is_refused(self, refused, claims):
        assert re.match("claim '(G-TAB9)?': does not exist; (did you mean 'G-TAB|known: )", refused(f"verify {claims}"))


def test_a_port_in_use_is_said(refused, project):
    project.html.mkdir(parents=True)
    (project.html / "index.html").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(f"serve --no-browser --port {port}")
    assert said.startswith(f"port = {port}: must be a free port (")
    assert said.endswith("--port 0 picks one")


class TestData:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch) -> Path:
        """GSPA_DATA_DIR with four small IDX files, their checksums in place of MNIST's."""
        content = small_mnist()
        sums = {name: hashlib.sha256(payload).hexdigest() for name, payload in content.items()}
        monkeypatch.setattr(_mnist_files, "CHECKSUMS", sums)
        for name, payload in content.items():
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(payload))
        monkeypatch.setenv("GSPA_DATA_DIR", str(tmp_path))
        return tmp_path

    def test_sound_files_are_status_0(self, folder, answer):
        lines = answer("data status").splitlines()
        assert len(lines) == 4
        for name in _mnist_files.CHECKSUMS:
            assert f"{name}: ok ({folder / (name + '.gz')})" in lines
        rows = answer("data status --json")
        assert {row["file"]: row["state"] for row in rows} == dict.fromkeys(_mnist_files.CHECKSUMS, "ok")
        assert answer("data fetch") == f"MNIST is in {folder}\n"

    def test_another_payload_is_named_with_both_checksums(self, folder, told, refused):
        name = "t10k-labels-idx1-ubyte"
        path = folder / f"{name}.gz"
        other = gzip.decompress(path.read_bytes())[:-1] + b"\7"
        path.write_bytes(gzip.compress(other))
        expected, found = _mnist_files.CHECKSUMS[name], hashlib.sha256(other).hexdigest()
        out, err = told("data status", 1)
        assert err == ""
        assert f"{name}: damaged ({path})\n  expected SHA-256 {expected}, found {found}\n" in out
        assert out.count(": ok (") == 3
        (row,) = [row for row in json.loads(told("data status --json", 1).out) if row["state"] == "damaged"]
        assert (row["file"], row["path"]) == (name, str(path))
        assert (row["expected_sha256"], row["found_sha256"]) == (expected, found)
        assert expected in refused("data fetch")

    def test_a_missing_file_is_said_and_not_downloaded(self, folder, told, refused):
        (folder / "train-labels-idx1-ubyte.gz").unlink()
        assert "train-labels-idx1-ubyte: missing\n" in told("data status").out
        assert "train-labels-idx1-ubyte" in refused("data fetch")
        assert len(list(folder.glob("*.gz"))) == 3


class TestProcess:
    """The command where it is installed, and where what it needs is not."""

    def test_the_console_script_is_the_same_command(self):
        script = Path(sys.executable).with_name("gspa")
        if not script.is_file():
            pytest.skip("gspa is not installed as a script")
        done = subprocess.run([script, "mu", "--eps", "nan", "--n", "9"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (2, "gspa: eps = nan: must be a finite number >= 0\n")

    def test_without_typer_it_says_what_to_install(self, tmp_path):
        (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')")
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
        command = [sys.executable, "-m", "gspa", "mu", "--eps", "0.5", "--n", "10"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "gspa: needs typer, which is not installed: pip install 'gspa[cli]'\n"
