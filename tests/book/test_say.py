"""%%say: Markdown with Jinja2 from a notebook's names; what it says, when, and the numbers kept beside it."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import nbformat
import numpy as np
import papermill
import pytest

from gspa.accountant.errors import GspaError
from gspa.book import reader, say


class TestRender:
    @pytest.mark.parametrize(
        ("template", "values", "said"),
        [
            ("{{ n | number }} users", {"n": 10_000}, "10,000 users"),
            ("{{ x | number(2) }}", {"x": 0.12345}, "0.12"),
            ("{{ x | number }}", {"x": 2.5e-9}, r"$2.5 \times 10^{-9}$"),
            ("{{ x | fixed(1) }}", {"x": -1234.56}, "−1,234.6"),
            ("{{ x | percent }}", {"x": 0.12345}, "12.3%"),
            ("{{ k | count('process', 'processes') }}", {"k": 1}, "1 process"),
            ("{{ k | count('user') }}", {"k": 2}, "2 users"),
            ("{{ k | all_of(3) }}, {{ 3 | all_of(3) }}, {{ 0 | all_of(3) }}", {"k": 1}, "1 of 3, all 3, none"),
            ("{% if none %}a{% else %}b{% endif %}", {"none": False}, "b"),
            ("at {{ x }}", {"x": 1e-6}, "at $10^{-6}$"),
            ("- a{% if x %}b{% endif %}\n- c", {"x": 1}, "- ab\n- c"),
            ("{% for k in x %}\n- {{ k }}\n{% endfor %}\n- c", {"x": [1, 2]}, "- 1\n- 2\n- c"),
            ("$r_{{ '{' }}j{{ '}' }}$ and {#1}", {}, "$r_{j}$ and {#1}"),
        ],
    )
    def test_filters(self, template, values, said):
        assert say.render(template, values) == said

    @pytest.mark.parametrize(("template", "words"), [("{{ gone }}", "gone"), ("{% if %}", "Expected"), ("{{ x", "x")])
    def test_a_name_that_is_not_there_or_a_broken_template_is_one_line(self, template, words):
        with pytest.raises(GspaError, match=words) as refusal:
            say.render(template, {"x": 1})
        assert "\n" not in str(refusal.value)

    def test_the_names_of_a_template(self):
        assert say.names("{{ a | number }} {% for row in rows %}{{ row.x }}{% endfor %}") == {"a", "rows"}

    def test_plain_values_are_kept_and_others_not(self):
        values = {"a": np.float64(0.5), "b": Fraction(1, 3), "c": [1], "d": True, "e": 2, "f": np.arange(3)}
        assert say.plain_values(set(values), values) == {"a": 0.5, "b": "1/3", "d": True, "e": 2}

    def test_what_is_no_finite_number_is_kept_as_text(self):
        values = {"a": np.float64("nan"), "b": -math.inf, "c": np.float32("inf")}
        kept = say.plain_values(set(values), values)
        assert kept == {"a": "nan", "b": "-inf", "c": "inf"}
        json.dumps(kept, allow_nan=False)


FIRST = "%%say later\nOf {{ total | count('case') }}, {{ kept }} hold."


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that says something before it is computed, run by papermill in a kernel."""
    folder = tmp_path_factory.mktemp("said")
    code = nbformat.v4.new_code_cell
    cells = [
        nbformat.v4.new_markdown_cell("# A page"),
        code("from gspa.book.page import show\nshow.start(globals())\nshow.place('figure-first')"),
        code(FIRST),
        code("total = 3"),
        code("kept = 1"),
        code("%%say\nThe share is {{ (1 / total) | percent }}; see [the notation](../book/notation.md)."),
        code("kept = 2"),
        code(
            "from matplotlib import pyplot as plt\nimport pandas as pd\nfrom gspa.book.figures import keeps_data\n"
            "@keeps_data\ndef line(table):\n    figure, axis = plt.subplots()\n    axis.plot(table['x'])\n"
            "    return figure\n"
            "show.figure(line(pd.DataFrame({'x': [1, 2]})), 'figure-x', caption='Of {{ total }}.', alt='Two points.')"
        ),
        code("show.figure(line(pd.DataFrame({'x': [3, 4]})), 'figure-first', caption='{{ kept }}.', alt='Two more.')"),
    ]
    source = folder / "source.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source)
    papermill.execute_notebook(source, folder / "out.ipynb", kernel_name="python3", progress_bar=False)
    return folder / "out.ipynb"


class TestInANotebook:
    def test_a_later_text_follows_its_names_to_the_end(self, executed):
        cells = json.loads(executed.read_text(encoding="utf-8"))["cells"]
        (output,) = cells[2]["outputs"]
        assert "".join(output["data"]["text/markdown"]) == "Of 3 cases, 2 hold."

    def test_the_numbers_are_kept_as_data(self, executed):
        assert say.values_of(json.loads(executed.read_text(encoding="utf-8"))) == {"kept": 2, "total": 3}

    def test_the_site_reads_prose_as_prose_and_puts_captions_under_figures(self, executed):
        notebook = reader.read(executed.read_text(encoding="utf-8"))
        kinds = [cell.cell_type for cell in notebook.cells]
        assert kinds[2] == kinds[5] == "markdown"
        assert notebook.cells[5].source == "The share is 33.3%; see [the notation](../notation.md)."
        for drawn, name, caption, alt in (
            (notebook.cells[7], "figure-x", "Of 3.", "Two points."),
            (notebook.cells[1], "figure-first", "2.", "Two more."),  # in the place kept for it
        ):
            assert drawn.metadata["mystnb"] == {"figure": {"name": name, "caption": caption}, "image": {"alt": alt}}
            assert len(drawn.outputs) == 1
        assert notebook.cells[8].outputs == []
        nbformat.validate(notebook)


@pytest.mark.parametrize(
    ("parts", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_in_words(parts, said):
    assert say.listed(parts) == said
