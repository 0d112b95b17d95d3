"""The formulas of plain sentences as HTML: Greek letters, signs, subscripts and superscripts, without MathJax.

Checks say their findings in ASCII ("eps_i <= 1e-6"), which a terminal shows and a search finds. A page shows the
same words typeset. Only what cannot be ordinary prose is touched: names of Greek letters, single letters, numbers
and the signs between them.

>>> typeset("eps_i <= 1e-6")
'<i>ϵ</i><sub><i>i</i></sub> ≤ 10<sup>−6</sup>'
>>> typeset("a user's C/sqrt(n-1)")
'a user&#x27;s <i>C</i>/√(<i>n</i>−1)'
"""

from __future__ import annotations

import re
from html import escape

GREEK = {
    "epsilon": "ϵ",  # as MathJax and the figures draw it
    "eps": "ϵ",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "eta": "η",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "chi": "χ",
    "omega": "ω",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Omega": "Ω",
}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "+-": "±", "->": "→"}
_AROUND = {"sqrt": ("√", ""), "ceil": ("⌈", "⌉"), "floor": ("⌊", "⌋")}
_MINUS, _THIN = "−", "\N{NARROW NO-BREAK SPACE}"

SCIENTIFIC = r"(?<![\w.])(?P<mantissa>\d+(?:\.\d+)?)e(?P<exponent>[+-]?\d+)(?![\w.]*\w)"
"""A number with a power of ten, as a regular expression; `scientific` shows it."""

_NAMES = "|".join(sorted(GREEK, key=len, reverse=True))
_GROUP = r"\{[^{}]*\}|\([^()]*\)"


def _sub(group: str) -> str:
    return rf"_(?P<{group}>{_GROUP}|[A-Za-z0-9]+)"


def _power(group: str) -> str:
    letter = rf"(?:{_NAMES}|[A-Za-z])(?:_[A-Za-z]+|\d+)?(?![A-Za-z])"
    return rf"(?:\^|\*\*)(?P<{group}>-?(?:{_GROUP}|\d+(?:\.\d+)?|{letter}))"


# In turns: what only looks like a formula, then formulas, the longest first.
_TOKEN = re.compile(
    "|".join(
        [
            # Abbreviations, a claim's id, a panel of a figure, "(c)" and "user(s)".
            r"\b[a-z]\.[a-z]\.|\b[GB]-[A-Z]*\d*[a-zA-Z]?\b|\bFigure \d+ \([a-z]\)|(?<![\w)])\([a-z]\)|\w\(s\)",
            r"(?<![A-Za-z])(?P<around>sqrt|ceil|floor)\(",
            SCIENTIFIC,
            r"(?<![A-Za-z])(?P<sum>sum)(?= [b-z](?:_|\b))",
            r"(?<![A-Za-z])(?P<log>log)(?P<base>\d+)\b",
            r"(?<![A-Za-z])(?P<times>x)(?=\d+\.\d)",
            rf"(?<![A-Za-z_])(?P<greek>{_NAMES})(?:(?P<index>\d+)|{_sub('sub')})?"
            rf"(?:{_power('greek_power')})?(?![A-Za-z])",
            rf"(?<![A-Za-z_'’.])(?P<letter>[A-Za-z])(?:(?P<number>(?<=[xvH])\d(?![\w.]*\w))|{_sub('low')})?"
            rf"(?P<tilde>~)?(?:{_power('power')})?(?![A-Za-z0-9_])",
            rf"(?<=[\w)\]}}]){_power('raised')}",
            r"(?P<sign><=|>=|!=|\+-|->)",
            r"(?P<equals> = )(?=-?\d)",
            r"(?P<dash> - )",
            r"(?P<minus>-)",
            r"(?<=[\w)])(?P<dot>\*)(?=[\w(])",
        ]
    )
)
# Beside a spaced sign: a formula's end and beginning; anything else makes a hyphen a dash.
_BEFORE = re.compile(rf"(?:[\d)\]}}|]|_\w+|TV|(?<![A-Za-z'’])[A-Za-z]|(?<![A-Za-z])(?:{_NAMES})\d*)$")
_AFTER = re.compile(
    rf"(?:[\d(|]|a_|(?![aAI]\b)[A-Za-z](?![A-Za-z-])|(?:{_NAMES})(?![A-Za-z-])|(?:TV|T|Pr|log|exp|max|min|sqrt|sum)\b)"
)
_SOLE_ARGUMENT = re.compile(rf"{_NAMES}|[A-Za-z]|\d+(?:\.\d+)?")


def typeset(text: str) -> str:
    """A plain sentence as HTML, escaped; only `<i>`, `<sub>` and `<sup>` are added.

    Args:
        text: ours, not a quotation; formulas for MathJax are cut out before.
    """
    if text in ("inf", "-inf"):
        return text.replace("-", _MINUS).replace("inf", "∞")
    parts, at = [], 0
    while match := _TOKEN.search(text, at):
        parts.append(escape(text[at : match.start()]))
        at = match.end()
        if match["around"]:
            close = _closing(text, at)
            if close:
                parts.append(_enclosed(match["around"], text[at:close]))
                at = close + 1
                continue
        parts.append(_token(match))
    return "".join([*parts, escape(text[at:])])


def heading(name: str) -> str:
    """The head of a table's column as HTML; a name from the code becomes words or a symbol.

    >>> heading("eps_max"), heading("over_certified")
    ('<i>ϵ</i><sub>max</sub>', 'over certified')
    """
    return typeset(name).replace("_", " ")


def _token(match: re.Match[str]) -> str:
    """The HTML of one match of `_TOKEN`."""
    found, text = match.lastgroup, match.string
    said = escape(match.group())
    if match["greek"]:
        said = _symbol(GREEK[match["greek"]]) + _lowered(match["index"] or match["sub"]) + _raised(match["greek_power"])
    elif match["letter"]:
        said = _letter(match)
    elif match["mantissa"]:
        said = scientific(match["mantissa"], int(match["exponent"]))
    elif match["log"]:
        said = f"log<sub>{match['base']}</sub>"
    elif match["raised"]:
        said = _raised(match["raised"])
    elif match["sign"]:
        said = SIGNS[match["sign"]]
    elif found == "equals" and _BEFORE.search(text[: match.start()]):
        said = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    elif found == "dash":
        formula = _BEFORE.search(text[: match.start()]) and _AFTER.match(text, match.end())
        said = f" {_MINUS} " if formula else " – "
    elif found == "minus" and _is_minus(text, match.start()):
        said = _MINUS
    elif found in ("sum", "times", "dot"):
        said = {"sum": "∑", "times": "×", "dot": "·"}[found]
    return said


def _letter(match: re.Match[str]) -> str:
    letter, low, power = match["letter"], match["number"] or match["low"], match["power"]
    bare = not (low or power or match["tilde"])
    if bare and letter in "aABI" and not match.string.startswith(" =", match.end()):
        return letter  # an article, a pronoun, or the name of an outcome
    tilde = "\N{COMBINING TILDE}" if match["tilde"] else ""
    return f"<i>{letter}{tilde}</i>{_lowered(low)}{_raised(power)}"


def _symbol(letter: str) -> str:
    """Small letters lean, capital ones stand, as MathJax has them."""
    return f"<i>{letter}</i>" if letter.islower() else letter


def scientific(mantissa: str, exponent: int) -> str:
    """A number with a power of ten, which below a million is written out.

    >>> scientific("2.02", 3), scientific("5", -6), scientific("0.0", 0)
    ('2,020', '5\\u202f×\\u202f10<sup>−6</sup>', '0')
    """
    if not float(mantissa):
        return "0"
    if 0 <= exponent < 6:
        return f"{float(mantissa) * 10**exponent:,.10g}"
    power = f"10<sup>{str(exponent).replace('-', _MINUS)}</sup>"
    return power if mantissa == "1" else f"{mantissa}{_THIN}×{_THIN}{power}"


def _lowered(index: str | None) -> str:
    if not index:
        return ""
    inside = _bare(index)
    letters = re.fullmatch("[a-zA-Z]{1,2}", inside) and inside not in GREEK
    return f"<sub>{f'<i>{inside}</i>' if letters else typeset(inside)}</sub>"


def _raised(power: str | None) -> str:
    if not power:
        return ""
    sign, rest = (_MINUS, power[1:]) if power.startswith("-") else ("", power)
    return f"<sup>{sign}{typeset(_bare(rest))}</sup>"


def _bare(group: str) -> str:
    """Without the brackets that only group."""
    return group[1:-1] if group[:1] in "({" else group


def _enclosed(name: str, inside: str) -> str:
    before, after = _AROUND[name]
    shown = typeset(inside)
    return f"{before}{shown}{after}" if after or _SOLE_ARGUMENT.fullmatch(inside) else f"{before}({shown})"


def _closing(text: str, start: int) -> int:
    """Where the bracket closes that was opened before `start`; 0 if it does not."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    return 0


def _is_minus(text: str, at: int) -> bool:
    """Whether a hyphen without spaces is a sign: before a number or letter, or between two parts of a formula."""
    before, after = text[:at], text[at + 1 :]
    if not re.search(r"[\w)\]'’]$", before):
        return bool(re.match(rf"\.?\d|(?:[A-Za-z]|{_NAMES})(?![A-Za-z-])", after))
    if re.match(r"\d", after):  # n-1, not a year's or a table's range
        return bool(re.search(r"(?<![\w-])[a-z]$|[a-z]\)$", before))
    return bool(re.search(r"(?<![\w.])1$", before) and re.match(rf"(?:{_NAMES})(?![A-Za-z-])", after))
