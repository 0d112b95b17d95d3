"""Prose with numbers: a cell that begins with %%say is Markdown with Jinja2, and its output is what it says.

    %%say
    {{ broken | count("setting") }} of {{ total }} exceed the pair, the worst {{ ratio | number }} times.

`%%say when CONDITION` says nothing in a run where the condition does not hold.

`%%say later` is for what stands above the cells that compute it, a page's first paragraph for instance: it appears as
soon as every name in it exists, and follows the names' values to the end of the run. The numbers that a text names are
kept beside it as data: they are what a sweep tabulates.

>>> render("{{ n | number }} users, {{ k | count('process', 'processes') }}", {"n": 10_000, "k": 1})
'10,000 users, 1 process'
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import cache
from typing import Any

from gspa.accountant.errors import GspaError
from gspa.book import text

MIME = "application/vnd.gspa.say+json"
"""Of the values that a text names, beside it in the cell's output."""


@cache
def _environment() -> Any:
    from jinja2 import Environment, StrictUndefined

    made = Environment(undefined=StrictUndefined, comment_start_string="{##}")
    made.filters |= {"number": text.number, "fixed": fixed, "percent": percent, "count": count, "all_of": all_of}
    return made


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals."""
    return f"{value:,.{decimals}f}".replace("-", "−")


def percent(value: float, digits: int = 3) -> str:
    """A share as a percentage: 0.1234 is 12.3%."""
    return f"{text.number(float(f'{100 * value:.{digits}g}'), digits)}%"


def count(value: int, one: str, many: str = "") -> str:
    """A number of things, singular or plural."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def listed(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]]) if len(parts) > 1 else "".join(parts)


def all_of(value: int, total: int) -> str:
    """So many of all: "none", "all 12", "3 of 12"."""
    return "none" if value == 0 else f"all {total:,}" if value == total else f"{value:,} of {total:,}"


def render(template: str, values: Mapping[str, Any]) -> str:
    """The text; numbers that a value brings as text, 1e-06, become powers of ten.

    Raises:
        GspaError: a name that does not exist, or a template that cannot be read.
    """
    from jinja2 import TemplateError

    try:
        return text.powers(_compiled(template).render(values).strip())
    except TemplateError as error:
        raise GspaError(f"%%say: {error}") from None


@cache
def _compiled(template: str) -> Any:
    """Kept: texts that wait for later cells are said anew after each of them."""
    return _environment().from_string(_compact(template))


def _compact(template: str) -> str:
    """The template with lines of nothing but tags joined to the next: they leave no empty line in a list or table."""
    return re.sub(r"^[ \t]*((?:\{%[^\n]*?%\}[ \t]*)+)\n", r"\1", template, flags=re.MULTILINE)


@cache
def names(template: str) -> frozenset[str]:
    """The names that a template takes from the notebook."""
    from jinja2 import meta

    return frozenset(meta.find_undeclared_variables(_environment().parse(template)))


def plain_values(wanted: Set[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the names whose values are numbers or words, in alphabetical order."""
    found: dict[str, Any] = {}
    for name in sorted(wanted & values.keys()):
        value = values[name]
        if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # numpy's
            value = value.item()
        if isinstance(value, Fraction) or (isinstance(value, float) and not math.isfinite(value)):
            value = str(value)  # JSON has no word for inf and nan
        if isinstance(value, bool | int | float | str):
            found[name] = value
    return found


def outputs(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What an executed notebook's cells put out, one after the other: data by its MIME type."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            yield output.get("data", {})


def values_of(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers and words that an executed notebook's texts name; of a name, the last one said."""
    found: dict[str, Any] = {}
    for data in outputs(notebook):
        found |= data.get(MIME, {}).get("values", {})
    return found


_OTHER = "*This run does not come to the verdicts on record; what it comes to is on the cards below.*"


def spoken(line: str, cell: str) -> tuple[str, bool]:
    """A cell's template, and whether it waits for its names.

    >>> spoken("when n > 1", "{{ n }} users")
    ('{% if n > 1 %}{{ n }} users{% endif %}', False)
    """
    asked = re.fullmatch(r"(later)? *(?:when (.+))?", line.strip())
    if asked is None:
        raise GspaError(f"%%say {line.strip()}: may be followed by 'later', and that by 'when CONDITION'")
    later, condition = asked.groups()
    if condition:
        cell = f"{{% if {condition} %}}{cell}{f'{{% else %}}{_OTHER}' if later else ''}{{% endif %}}"
    return cell, bool(later)


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition, such as `n_max >= 10000`, is true of these values."""
    return bool(_environment().compile_expression(condition, undefined_to_none=False)(**values))


class Speaker:
    """The magic's state: the notebook's names, and the texts that wait for some of them or follow them."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._waiting: list[tuple[Any, str, str]] = []  # display handle, template, what it shows now

    def say(self, line: str, cell: str) -> None:
        """%%say, %%say later."""
        from IPython.display import display

        cell, later = spoken(line, cell)
        if later:
            handle = display(self._bundle("", {}), raw=True, display_id=True)
            # A notebook that is run again says its texts anew.
            self._waiting = [one for one in self._waiting if one[1] != cell] + [(handle, cell, "")]
            self.refresh()
            return
        display(self._bundle(render(cell, self._shell.user_ns), self._values(cell)), raw=True)

    def refresh(self, *_: object) -> None:
        """Say again what its names have changed; called after each cell."""
        for index, (handle, template, shown) in enumerate(self._waiting):
            if names(template) <= self._shell.user_ns.keys():
                now = render(template, self._shell.user_ns)
                if now != shown:
                    self._waiting[index] = handle, template, now
                    handle.update(self._bundle(now, self._values(template)), raw=True)

    def _values(self, template: str) -> dict[str, Any]:
        return plain_values(names(template), self._shell.user_ns)

    @staticmethod
    def _bundle(said: str, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"text/markdown": said, "text/plain": text.plain(said), MIME: {"values": dict(values)}}


def install() -> None:
    """The magic in the IPython that runs this, if one does."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    if (shell := get_ipython()) is not None:
        speaker = Speaker(shell)
        shell.register_magic_function(speaker.say, magic_kind="cell", magic_name="say")
        shell.events.register("post_run_cell", speaker.refresh)
