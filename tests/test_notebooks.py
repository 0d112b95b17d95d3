"""The book's own notebooks: their committed form, their schemas, and what each must say."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mpmath
import nbformat
import pytest

from gspa import claims, parameters
from gspa.execute import glued
from gspa.notebook_source import tidy
from gspa.project import Project

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
# The longest first: G-T2 is a part of G-T2p.
CLAIM = re.compile("|".join(sorted(map(re.escape, claims.registry()), key=len, reverse=True)))


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture
def text(name) -> str:
    return (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")


@pytest.fixture
def source(text) -> nbformat.NotebookNode:
    return nbformat.reads(text, as_version=4)


@pytest.fixture
def notebook(name) -> parameters.Notebook:
    return parameters.select(Project(ROOT), name)


def parameters_cell(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    (cell,) = [cell for cell in source.cells if "parameters" in cell.metadata.get("tags", [])]
    return cell


def code_of(source: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in source.cells if cell.cell_type == "code"]


class TestForm:
    def test_there_are_notebooks(self):
        assert {"08_comparison", "11_frequency", "12_shuffled_sgd"} <= set(NAMES)

    def test_it_is_valid_and_in_the_committed_form(self, text, source):
        raw = json.loads(text)
        assert (raw["nbformat"], raw["nbformat_minor"]) == (4, 5)
        nbformat.validate(source)
        assert tidy(text) == text, "run: make tidy"

    def test_it_carries_no_results(self, source):
        for cell in source.cells:
            if cell.cell_type == "code":
                assert cell.outputs == []
                assert cell.execution_count is None

    def test_ids_are_unique(self, source):
        ids = [cell.id for cell in source.cells]
        assert len(set(ids)) == len(ids)

    def test_it_defines_no_function_and_no_class(self, source):
        for cell in code_of(source):
            for node in ast.walk(ast.parse(cell)):
                assert not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda), cell

    def test_it_uses_no_magic_and_installs_nothing(self, source):
        for cell in code_of(source):
            assert not re.search(r"^\s*[%!]|get_ipython|subprocess|pip install", cell, re.MULTILINE), cell

    def test_the_table_of_contents_lists_each_notebook_once(self):
        chapters = re.findall(r"file:\s*notebooks/(\S+)", (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
        assert sorted(chapters) == NAMES


class TestParameters:
    def test_the_cell_and_the_schema_agree(self, source, notebook):
        cell = parameters_cell(source)
        namespace: dict[str, object] = {}
        exec(compile(cell.source, "parameters cell", "exec", dont_inherit=True), namespace)
        annotations = namespace.pop("__annotations__")
        del namespace["__builtins__"]
        expected = {key: entry["default"] for key, entry in notebook.properties.items()}
        assert list(namespace) == list(expected)
        assert namespace == expected
        kinds = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
        for key, entry in notebook.properties.items():
            kind = kinds[entry["type"]]
            assert type(namespace[key]) is kind, f"{key} is no {kind.__name__}"
            assert type(entry["default"]) is kind, f"the schema's default of {key} is no {kind.__name__}"
            annotation = annotations[key]
            assert getattr(annotation, "__origin__", annotation) is kind, f"{key} is annotated {annotation}"

    def test_the_cell_explains_each_name_in_a_comment(self, source):
        for line in parameters_cell(source).source.splitlines():
            assert re.fullmatch(r"\w+: \S+ = .+  # \S.*", line), line

    @pytest.mark.parametrize("profile", parameters.PROFILES)
    def test_every_profiles_values_are_themselves_allowed(self, notebook, profile):
        values = notebook.defaults(profile)
        assert set(values) == set(notebook.properties)
        assert values["profile"] == profile
        assert notebook.validate(values, profile=profile) == values

    def test_only_quick_has_values_of_its_own(self, notebook):
        for profile, values in notebook.schema.get("profiles", {}).items():
            assert profile == "quick"  # the defaults are the paper's
            assert values
            assert all(value != notebook.properties[key]["default"] for key, value in values.items())

    def test_every_parameter_says_what_it_is_and_where_it_ends(self, notebook):
        for key, entry in notebook.properties.items():
            assert len(entry["description"].strip()) >= 3, key
            if entry["type"] in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & set(entry), f"{key} has no lower end"
        assert "profile" in notebook.properties

    def test_ordered_pairs_are_parameters(self, notebook):
        for pair in notebook.schema.get("ordered", []):
            assert len(pair) == 2
            assert set(pair) <= set(notebook.properties)

    def test_the_schema_holds_nothing_that_is_not_read(self, notebook):
        known = {"title", "claims", "timeout", "needs_data", "properties", "ordered", "profiles"}
        assert set(notebook.schema) <= known
        assert notebook.timeout > 0

    def test_the_cell_checks_itself_before_anything_else_runs(self, name, source):
        second = code_of(source)[1]
        assert f'parameters.of_notebook("{name}", globals())' in second


class TestContent:
    def test_it_names_its_claims_as_the_schema_does(self, name, source, notebook):
        stated = notebook.schema["claims"]
        line = re.search(r"Claims settled here: (.+?)\.\s", source.cells[0].source)
        assert line, "the first cell says: Claims settled here: ..."
        assert CLAIM.findall(line[1]) == stated
        settled = [claim for cell in code_of(source) for claim in re.findall(r'claims\.settle\("([^"]+)"', cell)]
        assert sorted(settled) == sorted(stated)
        assert {claims.claim(claim).notebook for claim in stated} <= {name}
        assert stated or "none of its own" in line[1]

    def test_every_claim_it_settles_has_a_check(self, notebook):
        assert set(notebook.schema["claims"]) <= set(claims.checks())

    def test_no_control_character_slipped_in(self, source):
        # A caption's \\epsilon in double quotes became an escape character once, which MathJax cannot typeset.
        for cell in source.cells:
            text = cell.source + str(cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))
            assert not [character for character in text if ord(character) < 32 and character != "\n"]

    def test_it_opens_with_a_title_the_result_and_how_to_rerun(self, name, source):
        first = source.cells[0]
        assert first.cell_type == "markdown"
        assert re.match(r"# \S", first.source)
        assert "**Result.**" in first.source
        assert re.search(rf"`gspa run {name} -p \w+ ", first.source)

    def test_the_example_in_its_first_cell_would_run(self, name, source, notebook):
        example = re.search(rf"`gspa run {name} ([^`]+)`", source.cells[0].source)[1].split()
        given = {example[i + 1]: example[i + 2] for i in range(0, len(example), 3)}
        values = notebook.validate(given)
        assert all(values[key] != notebook.properties[key]["default"] for key in given)

    def test_it_ends_with_the_provenance_footer(self, source, notebook):
        last = source.cells[-1]
        assert last.cell_type == "code"
        assert last.source.startswith("provenance.footer(used")
        assert ("data=" in last.source) == notebook.needs_data

    def test_every_figure_has_a_name_a_caption_and_an_alternative_text(self, source):
        drawing = re.compile(r"^figures\.(?!use_style|table|describe)", re.MULTILINE)
        for cell in source.cells:
            if not (drawing.search(cell.source) or "mystnb" in cell.metadata):
                continue
            about = cell.metadata["mystnb"]
            assert re.fullmatch(r"[a-z0-9-]+", about["figure"]["name"])
            assert about["figure"]["caption"].strip().endswith(".")
            assert len(about["image"]["alt"].strip()) > 10

    def test_every_glued_name_that_the_prose_uses_is_glued_by_some_cell(self, source):
        role = re.compile(r"\{glue:text\}`([^`:]+)")
        used = set(role.findall("".join(cell.source for cell in source.cells if cell.cell_type == "markdown")))
        used |= set(role.findall(json.dumps([cell.metadata for cell in source.cells])))
        made = set(re.findall(r'glue\("([^"]+)"', "".join(code_of(source))))
        assert used <= made


def test_papermill_alone_and_gspa_run_compute_the_same_numbers(tmp_path):
    """The sources are plain papermill notebooks: `gspa run` adds checks and tidiness, not numbers."""
    source = ROOT / "notebooks" / "08_comparison.ipynb"
    ours, theirs = tmp_path / "ours.ipynb", tmp_path / "theirs.ipynb"
    given = ["-p", "n_max", "3000", "-p", "steps", "4"]
    commands = [
        [sys.executable, "-m", "gspa", "run", "08_comparison", *given, "-o", str(ours)],
        [sys.executable, "-m", "papermill", str(source), str(theirs), *given],
    ]
    # The two at once: each spends most of its time on imports.
    started = [
        subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for command in commands
    ]
    for process in started:
        said, _ = process.communicate()
        assert process.returncode == 0, said
    notebooks = [nbformat.read(path, as_version=4) for path in (ours, theirs)]
    values = [glued(notebook) for notebook in notebooks]
    assert values[0] == values[1]
    assert values[0]["n_last"] == 3000
    assert values[0]["eps_paper"] == pytest.approx(epsilon_by_hand(), rel=1e-9)


def epsilon_by_hand() -> float:
    """Theorem 2 for 3000 users with budget 0.5, as a central eps at delta = 1e-4, in mpmath."""
    mu = mpmath.sqrt(2 * (1 + mpmath.sqrt(mpmath.e)) / 2999)

    def excess(eps: mpmath.mpf) -> mpmath.mpf:
        delta = mpmath.ncdf(-eps / mu + mu / 2) - mpmath.e**eps * mpmath.ncdf(-eps / mu - mu / 2)
        return mpmath.log(delta / mpmath.mpf("1e-4"))

    with mpmath.workdps(30):
        return float(mpmath.findroot(excess, (0.05, 0.15), solver="anderson"))


def test_no_two_statements_share_a_label():
    labels = [
        label
        for name in NAMES
        for label in re.findall(r":label: ([\w-]+)", (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    ]
    assert sorted(label for label in set(labels) if labels.count(label) > 1) == []
