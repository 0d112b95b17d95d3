"""Parameters of a notebook: what is read, what is refused and with which words, before anything runs."""

from __future__ import annotations

import math
import re
import shlex
import time
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from papermill.cli import papermill
from small_project import PROPERTIES, add, make

from gspa.accountant.errors import GspaError, InvalidValue
from gspa.book import parameters, sweep
from gspa.book.page import Page
from gspa.book.parameters import Notebook
from gspa.book.project import Project, find

KINDS = {
    "profile": PROPERTIES["profile"],
    "n_users": {"type": "integer", "default": 10, "minimum": 1, "maximum": 1000, "description": "number of users"},
    "delta": {"type": "number", "default": 1e-4, "exclusiveMinimum": 0, "exclusiveMaximum": 1, "description": "delta"},
    "noise": {"type": "boolean", "default": True, "description": "whether noise is added"},
    "label": {"type": "string", "default": "a", "description": "a name"},
    "split": {"type": "string", "default": "once", "enum": ["once", "per_epoch"], "description": "when"},
    "sizes": {"type": "array", "items": {"type": "integer", "minimum": 1}, "default": [1, 2], "description": "sizes"},
    "shares": {"type": "array", "items": {"type": "number"}, "default": [0.5], "description": "shares"},
    "low": {"type": "number", "default": 1, "description": "low end"},
    "high": {"type": "number", "default": 2, "description": "high end"},
    "seed": {"type": "integer", "default": 0, "minimum": 0, "description": "the seed"},
}

QUICK, MIDDLE = {"n_users": 2, "sizes": [1]}, {"n_users": 5}


@pytest.fixture
def notebook() -> Notebook:
    schema = {
        "properties": KINDS,
        "ordered": [["low", "high"]],
        "profiles": {"quick": QUICK},
    }
    return Notebook("page", Path("page.ipynb"), schema)


def refused(notebook: Notebook, name: str, value: object) -> str:
    with pytest.raises(InvalidValue) as caught:
        notebook.validate({name: value})
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"page: {name} = ")
    return message


class TestValidate:
    def test_a_page_without_a_middle_has_the_papers_sizes_there(self, notebook):
        assert notebook.validate({}, profile="middle") == notebook.validate({}) | {"profile": "middle"}
        assert [notebook.small(profile) for profile in parameters.PROFILES] == [False, False, True]

    @pytest.mark.parametrize(
        ("name", "words", "values"),
        [
            ("low", "a finite number", ["abc", "", "1,5", math.nan, math.inf, "nan", "-inf", "1e999"]),
            ("low", "a finite number", [True, None, [1.0], 10**5000]),
            ("delta", "a finite number > 0 and < 1; delta", [0, 1, -0.1, 1.5, "0", "2"]),
            (
                "n_users",
                "an integer >= 1 and <= 1000; number of users",
                [0, 1001, "0", "1e6", 2.5, "2.5", "abc", "", math.inf, "9" * 6000, True, None, {"a": 1}, 10**5000],
            ),
            ("noise", "true or false", ["maybe", "1", "", 1, 0, None]),
            ("split", "one of once, per_epoch", ["", "twice", "ONCE", 1, None]),
            ("label", "text", [3]),
            (
                "sizes",
                "a list, comma-separated, each an integer >= 1",
                ["", "1,,2", "1,x", "0", [1, 0], [True], [1.5], 0, True, None, [[1]]],
            ),
            ("shares", "each a finite number", ["0.5,nan", [math.inf], [0.5, math.nan]]),
        ],
    )
    def test_each_kind_has_its_words(self, notebook, name, words, values):
        for value in values:
            assert re.search(rf"must be .*{re.escape(words)}", refused(notebook, name, value)), value

    def test_the_ends_of_a_closed_range_pass(self, notebook):
        assert [notebook.validate({"n_users": n})["n_users"] for n in (1, "1000")] == [1, 1000]

    def test_a_text_among_many_numbers_is_refused_at_once(self, notebook):
        notebook.schema["properties"] = KINDS | {"sizes": {"uniqueItems": True} | KINDS["sizes"]}
        begin = time.process_time()
        refused(notebook, "sizes", ["a", *range(10_000)])
        assert time.process_time() - begin < 1.0  # that each differs from each is 50 million comparisons

    def test_ordered_pairs_hold_between_given_and_default_values(self, notebook):
        assert notebook.validate({"low": 2})["low"] == 2  # equal ends are an interval too
        with pytest.raises(InvalidValue) as caught:
            notebook.validate({"low": "2.5"})
        assert str(caught.value) == "page: low = 2.5: must be at most high = 2"
        with pytest.raises(InvalidValue, match=r"page: low = 1: must be at most high = 0\.5"):
            notebook.validate({"high": 0.5})


class TestYaml:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "values.yml"
        path.write_bytes(text.encode(errors="surrogateescape"))
        return path

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1e-5", 1e-5),
            ("1E5", 1e5),
            ("-2e3", -2000.0),
            ("+1.5e+2", 150.0),
            (".5e1", 5.0),
            ("1e-5x", "1e-5x"),
            ("'1e-5'", "1e-5"),
            ("0.5", 0.5),
            ("3", 3),
            ("true", True),
            ("[1e1, 2]", [10.0, 2]),
        ],
    )
    def test_a_number_in_scientific_notation_is_a_number(self, tmp_path, text, value):
        found = parameters.from_file(self.write(tmp_path, f"x: {text}\n"))
        assert found == {"x": value}
        assert type(found["x"]) is type(value)

    @pytest.mark.parametrize(
        "text",
        [
            "x: [1, 2\n",
            "x: 1\n y: 2\n",
            "a: b: c\n",
            "x: \tnot a tab\n\t- y",
            "x: 2024-13-45\n",  # looks like a date and is none
            "? [1]\n: 2\n",
            "x: \x00\n",
            "x: \udcff\n",  # a byte that is no UTF-8
            *("x: !!int ''\n", "x: !!bool maybe\n", "x: !!timestamp soon\n", "x: !!float ''\n"),
            "a: &a {x: 1}\nb: &b {<<: [*a, *a]}\n",
        ],
    )
    def test_a_syntax_error_is_one_line_that_names_the_file(self, tmp_path, text):
        path = self.write(tmp_path, text)
        with pytest.raises(GspaError) as caught:
            parameters.from_file(path)
        assert str(caught.value).startswith(f"{path}: is not valid YAML: ")
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("tag", ["object/apply:os.mkdir", "object/new:os.mkdir", "name:os.mkdir"])
    def test_python_tags_are_refused_and_not_executed(self, tmp_path, tag):
        trace = tmp_path / "executed"
        path = self.write(tmp_path, f"x: !!python/{tag} ['{trace}']\n")
        with pytest.raises(GspaError, match="is not valid YAML: could not determine a constructor"):
            parameters.from_file(path)
        assert not trace.exists()

    @pytest.mark.parametrize("text", ["", "- 1\n- 2\n", "just words\n", "3: 4\n"])
    def test_anything_but_a_mapping_of_names_is_refused(self, tmp_path, text):
        with pytest.raises(GspaError, match="must hold one mapping of parameter names to values"):
            parameters.from_file(self.write(tmp_path, text))

    TENS = ", ".join(f"&{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in pairwise("abcdefghijkl"))

    @pytest.mark.parametrize("name", ["n_users", "delta", "noise", "sizes", "split", "label", "profile"])
    @pytest.mark.parametrize("text", [f"[&a [{', '.join('1' * 10)}], {TENS}]", "&a [*a]", "[[[1]]]", "{a: {b: 1}}"])
    def test_a_value_of_another_type_is_refused_before_it_is_written_out(self, tmp_path, notebook, name, text):
        given = parameters.from_file(self.write(tmp_path, f"{name}: {text}\n"))
        assert len(refused(notebook, name, given[name])) < 250

    @pytest.mark.parametrize("text", ["[" * 5000, "[" * 200_000, "{a: " * 3000, "- " * 100_000, "? " * 3000])
    def test_deep_nesting_is_refused_with_its_line(self, tmp_path, text):
        path = self.write(tmp_path, f"x: 1\ny:\n  {text}")
        with pytest.raises(GspaError, match=rf"^{path} line 3: must have at most 50 levels of lists and mappings$"):
            parameters.from_file(path)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless file")
    def test_an_endless_file_is_given_up(self):
        with pytest.raises(GspaError, match=r"^/dev/zero: must have at most 1,048,576 characters$"):
            parameters.from_file(Path("/dev/zero"))


def test_notebooks_come_in_reading_order_with_their_schemas(tmp_path):
    project = make(tmp_path)
    add(project, "11_b", needs_data=True)
    for name in ("02_a", "08_c"):
        add(project, name, timeout=7)
    found = parameters.discover(project)
    assert list(found) == ["02_a", "08_c", "11_b"]
    assert found["08_c"].path == project.notebooks / "08_c.ipynb"
    assert found["08_c"].properties == PROPERTIES
    assert [(one.timeout, one.needs_data) for one in found.values()] == [(7, False), (7, False), (600, True)]


def papermills(project: Project, *options: str) -> dict[str, object]:
    """The names of a kernel that has run the cells of parameters as papermill writes them for these options."""
    source, output = project.notebooks / "page.ipynb", project.root / "prepared.ipynb"
    done = CliRunner().invoke(papermill, [str(source), str(output), "--prepare-only", *options])
    assert done.exit_code == 0, done.output
    cells = [cell.source for cell in nbformat.read(output, as_version=4).cells if "parameters" in str(cell.metadata)]
    names: dict[str, object] = {"In": ["", *cells]}
    for cell in cells:
        exec(cell, names)
    return names


class TestDoors:
    """A value is read, or refused with one line, in the same way whichever way it comes."""

    @pytest.fixture
    def page(self, project):
        add(project, "page", properties=KINDS, ordered=[["low", "high"]], profiles={"middle": MIDDLE, "quick": QUICK})
        return project

    def ways(self, project: Project, name: str, text: str) -> list[object]:
        """What each door makes of `text`: the value that the page then uses, or the line."""
        (file := project.root / "values.yml").write_text(f"{name}: {text}\n")
        notebook = parameters.select(project, "page")
        ways = {
            "run -p": lambda: notebook.validate({name: text}),
            "run -f": lambda: notebook.validate(parameters.from_file(file)),
            "sweep": lambda: sweep.settings(notebook, {name: [text]})[0],
            "papermill -p": lambda: used(papermills(project, "-p", name, text)),
            "papermill -r": lambda: used(papermills(project, "-r", name, text)),
            "papermill -f": lambda: used(papermills(project, "-f", str(file))),
            "papermill -y": lambda: used(papermills(project, "-y", file.read_text())),
            "a cell": lambda: used(papermills(project) | {name: text}),
        }

        def used(names: dict[str, object]) -> dict[str, object]:
            Page("page", names)
            return names

        found = []
        for way in ways.values():
            try:
                found.append(way()[name])
            except GspaError as error:
                found.append(str(error))
        return found

    @pytest.mark.parametrize(
        ("name", "text", "value"),
        [
            ("noise", "false", False),
            ("noise", "no", False),
            ("delta", "1e-6", 1e-6),
            ("low", "-3", -3.0),
            ("n_users", "1e2", 100),
            ("n_users", "20.0", 20),
            ("seed", "9007199254740993", 9007199254740993),
            ("shares", "0.5,0.1", [0.5, 0.1]),
            ("shares", "[0.5, 1e-6]", [0.5, 1e-6]),
            ("shares", "1", [1.0]),
            ("sizes", "5", [5]),
            ("sizes", "[1, 2.0, 3e0]", [1, 2, 3]),
            ("split", "per_epoch", "per_epoch"),
        ],
    )
    def test_what_is_right(self, page, name, text, value):
        for found in self.ways(page, name, text):
            assert found == value
            assert repr(found) == repr(value)  # 20.0 is no 20 where something is counted

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("noise", "maybe"),
            ("delta", "1e-400"),
            ("n_users", "1e999"),
            ("low", "nan"),
            ("low", "2.5"),
            ("sizes", "1,x"),
            ("sizes", "[1, 2.5]"),
            ("shares", "half"),
            ("profile", "qick"),
        ],
    )
    def test_what_is_wrong(self, page, name, text):
        (line,) = set(self.ways(page, name, text))
        assert str(line).startswith(f"page: {name} = ")
        assert "\n" not in str(line)

    @pytest.mark.parametrize(
        ("name", "given", "value"),
        [
            ("n_users", np.int64(20), 20),
            ("n_users", np.float32(20), 20),
            ("delta", np.float64(0.5), 0.5),
            ("low", np.int8(0), 0.0),
            ("noise", np.bool_(False), False),
            ("split", np.str_("once"), "once"),
            ("sizes", np.arange(1, 4), [1, 2, 3]),
            ("sizes", (1, 2.0), [1, 2]),
            ("sizes", range(1, 3), [1, 2]),
            ("shares", [np.float32(0.5), np.int64(1)], [0.5, 1.0]),
        ],
    )
    def test_a_cell_may_hold_what_numpy_makes(self, page, name, given, value):
        names = papermills(page) | {name: given}
        Page("page", names)
        assert (names[name], repr(names[name])) == (value, repr(value))

    @pytest.mark.parametrize("given", [np.nan, np.float64("inf"), np.array([1, 2]), 10**400, object(), "", {}])
    def test_and_what_is_no_number_there_is_refused(self, page, given):
        with pytest.raises(InvalidValue, match=r"^page: low = .*: must be a finite number; low end$"):
            Page("page", papermills(page) | {"low": given})

    def test_a_masked_part_is_no_part(self, page):
        with pytest.raises(InvalidValue, match=r"^page: sizes = \[1, None\]: must be a list"):
            Page("page", papermills(page) | {"sizes": np.ma.array([1, 2], mask=[False, True])})

    @pytest.mark.parametrize(
        ("options", "changed"),
        [
            ([], {}),
            (["-p", "profile", "quick"], QUICK),
            (["-p", "profile", "middle"], MIDDLE),
            (["-p", "profile", "quick", "-p", "n_users", "7"], QUICK | {"n_users": 7}),
            (["-p", "profile", "quick", "-p", "n_users", "10"], QUICK | {"n_users": 10}),  # the paper's own, but given
            (["-y", "{profile: quick, sizes: '1,2'}"], QUICK | {"sizes": [1, 2]}),
            (["-p", "n_users", "2"], {"n_users": 2}),
        ],
    )
    def test_a_profile_gives_its_sizes_to_what_was_left_alone(self, page, options, changed):
        names = papermills(page, *options)
        shown = Page("page", names)
        usual = {name: entry["default"] for name, entry in KINDS.items()} | {"profile": names["profile"]}
        assert shown.used == usual | changed
        assert {name: names[name] for name in KINDS} == shown.used
        assert shown.quick == (names["profile"] != "paper")
        # Where the same notebook runs by `gspa run`, papermill gets what makes it the same.
        injected = parameters.to_inject(parameters.select(page, "page"), shown.used)
        again = papermills(page, *(["-y", yaml.safe_dump(injected)] if injected else []))
        assert Page("page", again).used == shown.used

    def test_a_first_cell_that_runs_twice_changes_nothing(self, page):
        names = papermills(page, "-p", "profile", "quick")
        first = Page("page", names).used
        assert Page("page", names).used == first

    def test_an_edited_cell_is_what_a_run_begins_with(self, page):
        path = page.notebooks / "page.ipynb"
        path.write_text(path.read_text().replace("n_users = 10", "n_users = '2e1'").replace("'paper'", "'quick'"))
        notebook = parameters.select(page, "page")
        assert notebook.validate({})["n_users"] == 20
        assert notebook.validate({}, profile="quick")["n_users"] == 20
        values = notebook.validate({"n_users": 10})
        assert values["n_users"] == 10
        assert parameters.to_inject(notebook, values) == {"profile": "paper", "n_users": 10}
        path.write_text(path.read_text().replace("'2e1'", "0"))
        with pytest.raises(InvalidValue, match="page: n_users = 0: must be an integer"):
            parameters.select(page, "page").validate({})


@pytest.mark.parametrize("name", parameters.discover(find()))
def test_every_page_uses_what_it_checked(name):
    """Of the book's own notebooks: the text of each default is read, and a profile in the cell is the command's."""
    notebook = parameters.select(find(), name)
    for profile in parameters.PROFILES:
        usual = notebook.defaults("paper") | {"profile": profile}
        names = {key: parameters.written(value) for key, value in usual.items()}
        Page(name, names)
        wanted = notebook.validate({}, profile=profile)
        assert (names, repr(names)) == (wanted, repr(wanted))


def test_a_parameters_cell_that_lacks_names_is_said(tmp_path):
    page = add(make(tmp_path), "page")
    with pytest.raises(GspaError, match="page: the parameters cell lacks n, c, which the schema lists"):
        page.running({"profile": "paper", "In": ["", "n = 4"], "other": object()})


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, "gspa run page"),
        ({"profile": "quick", "n_users": 2, "sizes": [1]}, "gspa run page --profile quick"),
        ({"profile": "quick", "n_users": 3, "sizes": [1]}, "gspa run page --profile quick -p n_users 3"),
        ({"profile": "quick", "sizes": [1]}, "gspa run page --profile quick -p n_users 10"),
        (
            {"sizes": [3, 4], "delta": 1e-6, "noise": False, "label": "a b"},
            "gspa run page -p delta 1e-06 -p noise false -p label 'a b' -p sizes 3,4",
        ),
    ],
)
def test_a_runs_command_line_gives_the_same_run(notebook, changed, line):
    assert parameters.command(notebook, changed) == line
    words = shlex.split(line)[3:]
    profile = words[1] if words[:1] == ["--profile"] else "paper"
    pairs = words[2:] if profile == "quick" else words
    given = {pairs[i + 1]: pairs[i + 2] for i in range(0, len(pairs), 3)}
    usual = {name: entry["default"] for name, entry in KINDS.items()}
    assert notebook.validate(given, profile=profile) == usual | changed


def test_departures_name_what_the_paper_states_and_the_run_changed():
    notebook = parameters.select(find(), "12_shuffled_sgd")
    assert notebook.departures(notebook.validate({"clip": 3, "hidden_width": 7, "seed": 9})) == ["clip = 3.0"]


def test_a_profile_departs_from_nothing_that_the_paper_states():
    for notebook in parameters.discover(find()).values():
        for profile in parameters.PROFILES:
            assert notebook.departures(notebook.defaults(profile)) == []
