"""The executed notebooks of the last build: nothing in what they show is left of how it was written.

They are read as files; no browser is needed, but a build.
"""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path

import pytest
from residue import residue, texts

from gspa.book import figures, say

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
# One that has been renamed since is still there.
EXECUTED = [
    path
    for path in sorted((ROOT / "_build" / "executed").glob("*/*.ipynb"))
    if (ROOT / "notebooks" / path.name).is_file()
]


@pytest.fixture(scope="module", params=EXECUTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def cells(request):
    return json.loads(request.param.read_text(encoding="utf-8"))["cells"]


def test_nothing_is_left_of_a_template_a_directive_or_a_role(cells):
    assert {text: found for cell in cells for text in texts(cell) if (found := residue(text))} == {}


def test_every_text_that_waited_for_its_numbers_was_said(cells):
    asked = [cell for cell in cells if "".join(cell["source"]).startswith("%%say")]
    assert asked
    for cell in asked:
        if " when " in "".join(cell["source"]).splitlines()[0] and not cell["outputs"]:
            continue  # its condition does not hold in this profile
        (output,) = cell["outputs"]
        assert "".join(output["data"]["text/markdown"]).strip(), cell["source"]
        assert isinstance(output["data"][say.MIME]["values"], dict)


def test_every_figure_is_followed_by_its_caption(cells):
    for cell in cells:
        outputs = cell.get("outputs", [])
        for output, following in zip_longest(outputs, outputs[1:]):
            if about := output.get("data", {}).get(figures.MIME):
                assert following is not None
                assert following["metadata"].get(figures.CAPTION)
                assert "".join(following["data"]["text/markdown"]) == about["caption"]


@pytest.mark.parametrize(
    "text",
    [
        "They are {{ found }}.",
        "{% if x %}",
        "{glue:text}`found`",
        "{doc}`page`",
        "```{note}\nx\n```",
        "::: note",
        "%%say\nx",
        "> A formula\n>\n> $$\n> x\n> $$\n",
    ],
)
def test_a_residue_is_seen_wherever_it_is(text):
    output = {"output_type": "display_data", "data": {"text/html": ["<p>a</p>\n", text]}, "metadata": {}}
    stream = {"output_type": "stream", "name": "stdout", "text": text}
    figure = {"output_type": "display_data", "data": {figures.MIME: {"caption": text, "tables": []}}}
    for cell in (
        {"cell_type": "markdown", "source": ["# A\n", text]},
        *({"cell_type": "code", "source": text, "outputs": [one]} for one in (output, stream, figure)),
    ):
        assert any(residue(one) for one in texts(cell))


def test_formulas_code_and_data_are_none():
    figure = {"image/svg+xml": "{{", figures.MIME: {"caption": "Fine.", "tables": [{"csv": "{{ x }}"}]}}
    shown = {"output_type": "display_data", "data": figure | {"text/html": r"\(2^{{x}}\)"}}
    cell = {"cell_type": "code", "source": "%%say\n{{ x }}", "outputs": [shown]}
    assert not any(residue(one) for one in texts(cell))
    assert residue("> A formula\n>\n> $$x > 0$$\n>\n> and $y$.") == []
    assert residue(r"Within $\mathbb{{E}}$ and `{'a': 1}` and e.g. {1, 2}: 3.") == []
