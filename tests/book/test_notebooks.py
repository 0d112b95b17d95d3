"""The book's own notebooks: their committed form, their schemas, and what each must say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import mpmath
import nbformat
import pytest

from gspa import cli
from gspa.book import claims, parameters, say
from gspa.book.notebook_source import tidy
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
# The longest first: G-T2 is a part of G-T2p.
CLAIM = re.compile("|".join(sorted(map(re.escape, claims.registry()), key=len, reverse=True)))


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture
def text(name) -> str:
    return (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")


@cache
def read(name) -> nbformat.NotebookNode:
    """A committed notebook, which no test changes."""
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.fixture
def source(name) -> nbformat.NotebookNode:
    return read(name)


@pytest.fixture
def notebook(name) -> parameters.Notebook:
    return parameters.select(Project(ROOT), name)


def parameters_cell(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    (cell,) = [cell for cell in source.cells if "parameters" in cell.metadata.get("tags", [])]
    return cell


def code_of(source: nbformat.NotebookNode) -> list[str]:
    """The cells that are Python; what %%say says is prose."""
    return [c.source for c in source.cells if c.cell_type == "code" and not c.source.startswith("%%say")]


def prose_of(source: nbformat.NotebookNode) -> list[str]:
    said = [c.source.partition("\n")[2] for c in source.cells if c.source.startswith("%%say")]
    return said + [cell.source for cell in source.cells if cell.cell_type == "markdown"]


class TestForm:
    def test_it_is_in_the_committed_form(self, text):
        assert tidy(text) == text, "run: make tidy"

    def test_it_defines_no_function_uses_no_magic_and_installs_nothing(self, source):
        for cell in code_of(source):
            assert not re.search(r"^\s*[%!]|get_ipython|subprocess|pip install", cell, re.MULTILINE), cell
            for node in ast.walk(ast.parse(cell)):
                assert not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda), cell

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

    def test_only_small_profiles_have_values_of_their_own(self, notebook):
        assert notebook.properties["profile"]["enum"] == list(parameters.PROFILES)
        for profile, values in notebook.schema.get("profiles", {}).items():
            assert profile in parameters.PROFILES[1:]  # the defaults are the paper's
            assert values
            assert all(value != notebook.properties[key]["default"] for key, value in values.items())

    def test_every_parameter_says_what_it_is_and_where_it_ends(self, notebook):
        for key, entry in notebook.properties.items():
            assert len(entry["description"].strip()) >= 3, key
            if entry["type"] in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & set(entry), f"{key} has no lower end"
        assert "profile" in notebook.properties

    def test_the_schema_holds_nothing_that_is_not_read(self, notebook):
        known = {"title", "claims", "timeout", "needs_data", "properties", "ordered", "profiles"}
        assert set(notebook.schema) <= known
        assert notebook.timeout > 0

    def test_the_cell_checks_itself_before_anything_else_runs(self, name, source):
        first, _, third, *_ = [cell for cell in code_of(source)[:4] if not cell.startswith("Page.place(")]
        assert first == "from gspa.book.page import Page"
        assert f'page = Page("{name}", globals())' in third


class TestContent:
    def test_it_names_its_claims_as_the_schema_does(self, name, source, notebook):
        stated = notebook.schema["claims"]
        line = re.search(r"Claims settled here: (.+?)\.\s", "\n".join(prose_of(source)))
        assert line, "a cell above the parameters says: Claims settled here: ..."
        assert CLAIM.findall(line[1]) == stated
        assert {claims.claim(claim).notebook for claim in stated} <= {name}
        assert stated or line[1] == "none"

    def test_a_reader_of_the_file_sees_no_role_and_no_directive(self, source):
        for text in prose_of(source):
            assert not re.search(r"\{[a-z:]+\}`|^\s*(`{3,}|:{3,})\{", text, re.MULTILINE), text
            # JupyterLab would typeset the marks of a quotation's lines with the formula.
            assert not re.search(r"^> *\$\$ *$", text, re.MULTILINE), text

    def test_a_filter_is_given_the_whole_number(self, source):
        # Jinja reads {{ 2 * eps | number }} as 2 times a text.
        for text in [*prose_of(source), *code_of(source)]:
            bare = re.sub(r"\[[^\[\]]*\]", "", text)
            assert not re.search(r"\{\{[^(){}|]*\s[-+*/]\s[^(){}|]*\|\s*(number|fixed|percent)", bare), text

    def test_no_control_character_slipped_in(self, source):
        for cell in source.cells:
            assert not [character for character in cell.source if ord(character) < 32 and character != "\n"]

    def test_it_opens_with_a_title_the_result_and_how_to_rerun(self, name, source):
        assert re.match(r"# \S", source.cells[0].source)
        opening = "\n".join(cell.source for cell in source.cells[: source.cells.index(parameters_cell(source))])
        assert re.search(r"^%%say later( when page\.as_recorded)?\n\*\*Result\.\*\*", opening, re.MULTILINE)
        assert re.search(rf"`gspa run {name} -p \w+ ", "\n".join(cell.source for cell in source.cells))

    def test_the_example_in_its_opening_would_run(self, name, source, notebook):
        example = re.search(rf"`gspa run {name} ([^`]+)`", "\n".join(prose_of(source)))[1].split()
        given = {example[i + 1]: example[i + 2] for i in range(0, len(example), 3)}
        values = notebook.validate(given)
        assert all(values[key] != notebook.properties[key]["default"] for key in given)

    def test_it_ends_with_the_provenance_footer(self, source, notebook):
        assert source.cells[-1].source == "page.footer()"
        assert ("page.data" in "\n".join(code_of(source))) == notebook.needs_data

    def test_every_figure_has_a_name_a_caption_and_an_alternative_text(self, source):
        drawn = [
            call
            for cell in code_of(source)
            for call in ast.walk(ast.parse(cell))
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("page.figure", "page.moving")
        ]
        names = [ast.literal_eval(call.args[1]) for call in drawn]
        assert len(set(names)) == len(names)
        assert {*re.findall(r'Page\.place\("(.+)"\)', "\n".join(code_of(source)))} <= set(names)
        for name, call in zip(names, drawn, strict=True):
            assert re.fullmatch(r"[a-z0-9-]+", name)
            said = {word.arg: ast.unparse(word.value) for word in call.keywords}
            assert re.sub(r"\{%.*?%\}", "", said["caption"]).rstrip("'\"").endswith(".")
            if ast.unparse(call.func) == "page.figure":  # a moving one says it for each frame
                assert len(said["alt"]) > 10

    def test_a_visible_cell_is_short_enough_to_follow(self, source):
        for cell in source.cells:
            tags = cell.metadata.get("tags", [])
            hidden = {"hide-input", "remove-input", "parameters"} & set(tags) or "page.figure(" in cell.source
            if cell.cell_type == "code" and not hidden and not cell.source.startswith("%%say"):
                assert len(cell.source.splitlines()) <= 15, cell.source


@pytest.mark.slow
def test_papermill_alone_and_gspa_run_compute_the_same_numbers(tmp_path, monkeypatch):
    """The sources are plain papermill notebooks: `gspa run` adds checks and tidiness, not numbers."""
    source = ROOT / "notebooks" / "08_comparison.ipynb"
    ours, theirs = tmp_path / "ours.ipynb", tmp_path / "theirs.ipynb"
    given = ["-p", "steps", "4"]
    alone = [sys.executable, "-m", "papermill", str(source), str(theirs), *given]
    done = subprocess.run(alone, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    # The command in this process, whose notebooks are forked from one that has the libraries.
    monkeypatch.chdir(ROOT)
    assert cli.run(["run", "08_comparison", *given, "-o", str(ours)]) == 0
    notebooks = [nbformat.read(path, as_version=4) for path in (ours, theirs)]
    values = [say.values_of(notebook) for notebook in notebooks]
    assert values[0] == values[1]
    assert values[0]["floor"] == pytest.approx(epsilon_by_hand(), rel=1e-9)


def epsilon_by_hand() -> float:
    """Theorem 2 for 10,000 users with budget 0, as a central eps at delta = 1e-4, in mpmath."""
    mu = mpmath.sqrt(mpmath.mpf(4) / 9999)

    def excess(eps: mpmath.mpf) -> mpmath.mpf:
        delta = mpmath.ncdf(-eps / mu + mu / 2) - mpmath.e**eps * mpmath.ncdf(-eps / mu - mu / 2)
        return mpmath.log(delta / mpmath.mpf("1e-4"))

    with mpmath.workdps(30):
        return float(mpmath.findroot(excess, (0.05, 0.15), solver="anderson"))
