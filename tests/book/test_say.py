"""%%say: Markdown with Jinja2 from a notebook's names; what it says, when, and the numbers kept beside it."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from gspa.accountant.errors import GspaError
from gspa.book import say


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


@pytest.mark.parametrize(
    ("parts", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_in_words(parts, said):
    assert say.listed(parts) == said
