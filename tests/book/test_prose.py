"""The prose: no result is typed into it, where a rerun with other numbers would leave it behind."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = sorted(path for path in (ROOT / "book").glob("*.md") if not path.name.startswith("_"))

# Directives whose body is prose like any other.
BOXES = re.compile(r"^(`{3,})\{(?:dropdown|admonition|figure)\}[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
# Numbers there are a statement's own, a formula's, the code's, or computed.
NOT_PROSE = re.compile(
    r"^```[^\n]*\n.*?^```$"  # code, tables from a run
    r"|\A---\n.*?^---$"  # a page's settings
    r"|\$\$.*?\$\$|\$[^$]+?\$"
    r"|\{\{.*?\}\}|\{%.*?%\}|\{[\w:]+\}`[^`]*`|(?<!`)`[^`\n]+`(?!`)"
    r"|^>[^\n]*$|\"[^\"]*\"|“[^”]*”"  # a paper's words
    r"|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
# Numbers of places, numbers a paper printed, and the confidence of an interval.
NAMED = re.compile(
    r"(?:Theorem|Lemma|Section|Table|Figure|Corollary|Definition|Fact|Algorithm|Proposition|Python|eqs?\.)s?"
    r"\s*\(?\d+(?:\.\d+)*|printed\s+[\d.]+|\d+\s*(?:%|percent) (?:interval|confidence)"
)
RESULT = re.compile(
    r"(?<![\w.,])(?:\d+(?:\.\d+)?\s*(?:%|percent\b)|\d+\.\d+(?:e-?\d+)?(?!\w)|\d+e-?\d+|\d+(?:\.\d+)? times\b)"
)

# (page, number) to why it may stand there: it is given, not found.
ALLOWED = {
    ("01_local_privacy", "0.1 percent"): "how the examples of the table are chosen",
    ("01_local_privacy", "1%"): "how far beyond its limit the example goes",
    ("02_hypothesis_testing", "0.5"): "the eps at which the example is stated",
    ("07_gaussian_guarantee", "0.5"): "the local budgets of the example",
    ("07_gaussian_guarantee", "2.5"): "the local budget of the example",
    ("08_comparison", "0.01"): "the local budget of the example",
    ("08_comparison", "0.5"): "Table 2's constant budget",
    ("08_comparison", "33 percent"): "the claim's own number",
    ("09_personalized", "0.01"): "the others' budgets, and the lower end of the paper's range",
    ("12_shuffled_sgd", "0.5"): "Table 2's constant budget",
    ("calculator", "0.001"): "the range of the field",
    ("calculator", "1e-12"): "the range of the field",
    ("calculator", "1e4"): "a way to write a number",
    ("19_auditing", "0.01"): "the lower end of the paper's range of budgets",
    ("22_sgd_privacy", "0.5"): "Table 2's constant budget",
}


def typed(text: str) -> list[str]:
    """The numbers of a Markdown text that look like results."""
    prose = NOT_PROSE.sub(" ", BOXES.sub(r"\2", text))
    return [found.group() for found in RESULT.finditer(NAMED.sub(" ", prose))]


def found_in(path: Path) -> set[tuple[str, str]]:
    if path.suffix == ".md":
        texts = [path.read_text(encoding="utf-8")]
    else:
        cells = nbformat.read(path, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        texts += [cell.source.partition("\n")[2] for cell in cells if cell.source.startswith("%%say")]
    return {(path.stem, number) for text in texts for number in typed(text)}


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.name)
def test_no_result_is_typed(path):
    assert found_in(path) - set(ALLOWED) == set(), "compute it, or say in ALLOWED why it is given"


def test_every_allowance_is_still_used():
    present = set().union(*(found_in(path) for path in [*NOTEBOOKS, *PAGES]))
    assert set(ALLOWED) <= present


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("The bound is 2.41 times the truth.", ["2.41"]),
        ("It is 35 times as large.", ["35 times"]),
        ("Accuracy falls by 12% and by 3 percent.", ["12%", "3 percent"]),
        ("delta is 1e-6, or 0.0481.", ["1e-6", "0.0481"]),
        ("With 10,000 users and 3 outcomes.", []),
        ("$\\epsilon = 0.5$ and $$x = 0.25$$ and `delta = 1e-4`", []),
        ("{{ gap | fixed(3) }} and {% if 0.5 %}x{% endif %} {cite:p}`a2020`", []),
        ("Lemma 3.5, Table 2, eq. (4.1) and Figure 3.", []),
        ('They write "33.3% smaller".', []),
        ("> the accuracy of 94.5%", []),
        ("3.2 points below the printed 94.5.", ["3.2"]),
        ("a 95% interval", []),
        ("> **Theorem.** If x is 0.5 then.\n\nand 0.7", ["0.7"]),
        ("```{dropdown} Why\nIt is 0.75.\n```", ["0.75"]),
        ("```bash\ngspa run -p x 0.5\n```", []),
    ],
)
def test_what_counts_as_a_result(text, numbers):
    assert typed(text) == numbers


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.name)
def test_no_formula_heads_a_fold(path):
    """A fold's head is HTML, in which nothing sets a formula."""
    heads = re.findall(r"<summary>(.*?)</summary>", path.read_text(encoding="utf-8"))
    assert [head for head in heads if "$" in head] == []
