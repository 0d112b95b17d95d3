"""How text and numbers are written: Markdown with `$...$` in, Markdown, HTML or plain words out.

A number has one form everywhere: four significant digits, thousands separated, and far from 1 a power of ten.

>>> number(2021.4), number(1_000_000), number(2.1e-6), number(1e-6)
('2,021', '1,000,000', '$2.1 \\\\times 10^{-6}$', '$10^{-6}$')
>>> plain(r"for every $\\epsilon_i \\le 1$ and $n \\geq 2$")
'for every eps_i <= 1 and n >= 2'
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from html import escape
from typing import Any

_NARROW = "\N{NARROW NO-BREAK SPACE}"
_POWER = re.compile(r"(?<![\w.])(?P<sign>-)?(?P<mantissa>\d+(?:\.\d+)?)e(?P<exponent>[+-]?\d+)(?![\w.]*\w)")
_MATH = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.DOTALL)
_LETTERS = {"eps_0": r"\epsilon_0", "eps": r"\epsilon"} | {
    name: f"\\{name}" for name in ("alpha", "beta", "gamma", "delta", "sigma", "mu")
}
_GREEK = re.compile(rf"(?<![\w\\.-])(?:{'|'.join(_LETTERS)})(?![\w_(.=-]*\w)")
# What a terminal shows for the commands that statements use.
_WORDS = {"epsilon": "eps", "varepsilon": "eps", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ne": "!="}
_SIGNS = {"times": " x ", "cdot": " ", "to": "->", "pm": "+-", "infty": "inf", "ldots": "...", "dots": "..."}


def parts(value: float, digits: int = 4) -> tuple[str, int | None]:
    """A number's digits, and its power of ten where that is written apart."""
    if math.isnan(value):
        return "–", None
    if math.isinf(value):
        return ("−∞" if value < 0 else "∞"), None
    if value == 0:
        return "0", None
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -5 < power < 6:
        return f"{float(f'{value:.{digits}g}'):,.12g}".replace("-", "−"), None
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return mantissa.replace("-", "−"), power


def number(value: Any, digits: int = 4) -> str:
    """A number for Markdown; what is no number as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    mantissa, power = parts(value, digits)
    return mantissa if power is None else f"${_factor(mantissa)}10^{{{power}}}$"


def _factor(mantissa: str) -> str:
    if mantissa in ("1", "−1"):
        return mantissa[:-1].replace("−", "-")
    return mantissa.replace("−", "-") + r" \times "


def powers(text: str) -> str:
    """Markdown in which numbers such as 1e-06 have become powers of ten; formulas and code are left alone."""
    return _outside(lambda part: _POWER.sub(_written, part), text)


def greek(text: str) -> str:
    """Markdown in which the names of Greek letters have become letters; formulas and code are left alone.

    >>> greek("delta at eps_0 = 1, `delta`, and epsilon")
    '$\\\\delta$ at $\\\\epsilon_0$ = 1, `delta`, and epsilon'
    """
    return _outside(lambda part: _GREEK.sub(lambda name: f"${_LETTERS[name[0]]}$", part), text)


def _outside(change: Callable[[str], str], text: str) -> str:
    """Markdown, changed but for its formulas and code."""
    out, at = [], 0
    for kept in re.finditer(r"`[^`]*`|" + _MATH.pattern, text, re.DOTALL):
        out += [change(text[at : kept.start()]), kept.group()]
        at = kept.end()
    return "".join([*out, change(text[at:])])


def _written(match: re.Match[str]) -> str:
    sign, exponent = match["sign"] or "", int(match["exponent"])
    mantissa = match["mantissa"]
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    if float(mantissa) == 0:
        return "0"
    if 0 <= exponent < 6:
        return f"{sign}{float(mantissa) * 10**exponent:,.10g}"
    return f"${sign}{_factor(mantissa)}10^{{{exponent}}}$"


@lru_cache(maxsize=1 << 14)  # one text stands on several pages
def html(text: str) -> str:
    """A line or a few of Markdown as HTML: emphasis, code, links, formulas, and numbers in the book's form."""
    return str(_markdown().renderInline(powers(text)))


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(content: str, config: Mapping[str, Any]) -> str:
        return escape(content.strip(), quote=False)

    reader = MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=formula, allow_space=False)
    for kind in ("math_inline", "math_inline_double"):
        reader.add_render_rule(kind, _formula)
    return reader


_TEN = re.compile(r"(?:(?P<factor>-?\d[\d.]*) \\times |(?P<sign>-?))10\^\{(?P<power>-?\d+)\}")


def _formula(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    content = tokens[index].content.strip()
    if ten := _TEN.fullmatch(content):  # a number needs no MathJax
        factor, sign, power = (part.replace("-", "−") for part in ten.groups(default=""))
        front = f"{factor}{_NARROW}×{_NARROW}" if factor else sign
        return f"<span class='gspa-number'>{front}10<sup>{power}</sup></span>"
    return f'<span class="math notranslate nohighlight">\\({escape(content, quote=False)}\\)</span>'


_SYMBOLS = {
    **{name: chr(945 + i) for i, name in enumerate(("alpha", "beta", "gamma", "delta", "epsilon"))},
    "mu": "μ",
    "nu": "ν",
    "sigma": "σ",
    "Sigma": "Σ",
    "Theta": "Θ",
    "sum": "∑",
    "times": "×",
    "prime": "′",
    "lceil": "⌈",
    "rceil": "⌉",
    "log": "log",
    "ln": "ln",
    "sqrt": "√",
    "tilde": "",
    ",": "\N{THIN SPACE}",
}


@lru_cache(maxsize=1 << 14)
def light(text: str) -> str:
    """A line of Markdown as HTML with its formulas as letters, subscripts and powers: a long list is there at once.

    >>> light(r"$\\epsilon_i$ near zero, $k^{2/3}$, $\\sqrt{T} \\mu$")
    'ε<sub>i</sub> near zero, k<sup>2/3</sup>, √T μ'
    """
    return "".join(
        _letters(escape(part[1:-1], quote=False)) if part.startswith("$") else html(part)
        for part in re.split(r"(\$[^$]+\$)", text)
    )


def _letters(formula: str) -> str:
    said = re.sub(r"\\mathrm\{(\w+)\}", r"\1", formula)
    said = re.sub(r"\\([A-Za-z]+|,)(?: (?=[\\\w]))?", lambda name: _SYMBOLS[name[1]], said)
    for sign, tag in (("_", "sub"), ("^", "sup")):
        said = re.sub(rf"\{sign}(?:\{{([^{{}}]*)\}}|(.))", rf"<{tag}>\1\2</{tag}>", said)
    said = re.sub(r"\{([^{}]{2,})\}", r"(\1)", said)
    return said.replace("{", "").replace("}", "")


def html_value(value: Any, digits: int = 4) -> str:
    """A cell of a table or a piece of evidence as HTML."""
    if isinstance(value, list | tuple):
        return ", ".join(html_value(part, digits) for part in value)
    return html(number(value, digits))


@lru_cache(maxsize=1 << 14)
def plain(text: str) -> str:
    """Markdown for a terminal: no dollars, no marks, commands as words."""
    return re.sub(r"[*`]|\]\([^)]*\)|\[(?=[^\]]*\]\()", "", _MATH.sub(_spoken, text))


def _spoken(match: re.Match[str]) -> str:
    """A formula in words.

    >>> plain(r"$\\sqrt{T} \\mu$, $\\frac{1}{n}$, $\\lceil 1/\\beta \\rceil$")
    'sqrt(T) mu, (1)/(n), ceil(1/beta)'
    """
    inside = match.group().strip("$").replace(r"\lceil", "ceil(").replace(r"\lfloor", "floor(")
    inside = re.sub(r"\s*\\r(?:ceil|floor)\b", ")", inside).replace("ceil( ", "ceil(").replace("floor( ", "floor(")
    inside = re.sub(
        r"\\(?:mathrm|text|operatorname|mathcal|mathbb|mathbf|tilde|hat|bar)(?:\{([^{}]*)\}| )", r"\1", inside
    )
    inside = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", inside)
    inside = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", inside)
    inside = re.sub(r"\\([A-Za-z]+)( ?)(?=(.?))", _command, inside).replace(r"\,", " ").replace("\\", "")
    inside = re.sub(
        r"\{([^{}]*)\}", lambda group: f"({group[1]})" if re.search(r"[^\w.-]", group[1]) else group[1], inside
    )
    return " ".join(inside.split())


def _command(match: re.Match[str]) -> str:
    name, space, after = match[1], match[2], match[3]
    if name in _SIGNS:
        return _SIGNS[name]
    word = _WORDS.get(name, name)
    if word in ("<=", ">=", "!="):
        return f" {word} "
    return word + (" " if after.isalnum() or after == "\\" or (space and after not in ",;.)^_") else "")
