"""The outcome of a claim's check: verdict, reason, evidence, and the card that shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from gspa._typeset import typeset
from gspa.claims.registry import Claim, claim
from gspa.claims.verdicts import VERDICTS, Missing, Verdict
from gspa.errors import InvalidValue

MIME = "application/vnd.gspa.outcome+json"
_OPEN = 8  # rows of evidence that a card shows without being asked


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        claim: the registry's id.
        verdict: one of `VERDICTS`.
        reason: one or two sentences, numbers included, for the card and the claims page.
        evidence: label to number or text, in the order to show; Monte-Carlo numbers carry their error.
        correction: the corrected statement, where the printed one needs one.
        missing: why the claim could not be settled in this run ("size", "data", "settings"); empty when it was.
    """

    claim: str
    verdict: Verdict
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    correction: str = ""
    missing: Missing | Literal[""] = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidValue("verdict", self.verdict, "one of " + ", ".join(VERDICTS))
        if (self.verdict == "holds with correction") != bool(self.correction):
            raise InvalidValue("correction", self.correction, "given exactly when the verdict needs one")
        if self.missing and self.verdict != "not yet checked":
            raise InvalidValue("missing", self.missing, "empty unless the verdict is 'not yet checked'")
        if self.verdict not in ("not yet checked", "not checkable") and not self.evidence:
            raise InvalidValue("evidence", dict(self.evidence), "not empty: a verdict needs its numbers")

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON data."""
        return {
            "claim": self.claim,
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "correction": self.correction,
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """The inverse of `to_dict`; evidence may also be pairs, as a notebook's output has it."""
        return cls(**{**data, "evidence": dict(data["evidence"])})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": f"{self.claim}: {self.verdict}. {self.reason}",
            "text/html": card(claim(self.claim), self),
            # A notebook's file is written with its keys sorted; pairs keep the order that the check gave them.
            MIME: json.loads(json.dumps(self.to_dict() | {"evidence": list(self.evidence.items())})),
        }


def not_yet(claim: str, *, missing: Missing, reason: str) -> Outcome:
    """The outcome of a run that was too small, or lacked the data, to settle `claim`."""
    return Outcome(claim, "not yet checked", reason, missing=missing)


def slug(verdict: str) -> str:
    """A verdict as a CSS class name."""
    return verdict.replace(" ", "-")


def show(value: object) -> str:
    """A piece of evidence as a reader wants it: four significant digits, no float noise."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return " to ".join(show(part) for part in value) if len(value) == 2 else ", ".join(map(show, value))
    return str(value)


_MATH = re.compile(
    r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\\begin\{equation\}(.+?)\\end\{equation\}", re.DOTALL
)
# An equation's number and environment belong to the paper's page, not to a line of ours.
_LAYOUT = re.compile(r"\\(?:begin|end)\{equation\}|\\tag\{[^}]*\}|\\quad\s*\(\d+\)\s*$")


def math_html(text: str, between: Callable[[str], str] = escape) -> str:
    r"""Text with `$...$`, `\(...\)`, `\[...\]` or an equation environment as HTML that MathJax typesets.

    Args:
        text: what a paper prints, or we do.
        between: makes HTML of what stands between the formulas.
    """
    parts, end = [], 0
    for match in _MATH.finditer(text):
        formula = _LAYOUT.sub("", next(group for group in match.groups() if group is not None)).strip()
        parts += [
            between(text[end : match.start()]),
            f'<span class="math notranslate nohighlight">\\({escape(formula)}\\)</span>',
        ]
        end = match.end()
    return "".join([*parts, between(text[end:])])


def prose_html(text: str) -> str:
    """A sentence of ours as HTML: formulas as `math_html` has them, and its ASCII mathematics typeset."""
    return math_html(text, typeset)


# What makes a word of a quotation a formula: a command, or something raised or lowered.
_TEX = re.compile(r"\\[A-Za-z{|]|[_^]")
# Punctuation and endings such as "-DP" that belong to the sentence around a formula.
_ENDING = re.compile(r"(?:[.,;:]|-[A-Za-z]+)+$")


def quote_html(text: str) -> str:
    r"""A quotation as `math_html` has it, its formulas typeset also where the source lost their dollar signs.

    >>> quote_html(r"a variable \tilde{X}_0 , such that")
    'a variable <span class="math notranslate nohighlight">\\(\\tilde{X}_0\\)</span> , such that'
    """
    parts, end = [], 0
    for match in _MATH.finditer(text):
        parts += [_with_dollars(text[end : match.start()]), match.group()]
        end = match.end()
    return math_html("".join([*parts, _with_dollars(text[end:])]))


def _with_dollars(text: str) -> str:
    """Text without formulas of its own, dollar signs put around each run of words that is TeX."""
    words = _words(text)
    tex = [bool(_TEX.search(word)) for word in words]
    done, at = [], 0
    while at < len(words):
        upto = at + 1
        if tex[at]:
            while upto + 1 < len(words) and tex[upto + 1]:  # every other word is white space
                upto += 2
            done.append(_delimited("".join(words[at:upto])))
        else:
            done.append(words[at])
        at = upto
    return "".join(done)


def _words(text: str) -> list[str]:
    """Words and the white space between them, in turns; braces hold a word together."""
    words, word, depth = [], "", 0
    for index, letter in enumerate(text):
        escaped = index > 0 and text[index - 1] == "\\"
        depth += 0 if escaped else (letter == "{") - (letter == "}")
        if letter.isspace() and depth <= 0:
            words += [word, letter]
            word = ""
        else:
            word += letter
    return [*words, word]


def _delimited(run: str) -> str:
    ending = _ENDING.search(run)
    formula, after = (run[: ending.start()], ending.group()) if ending else (run, "")
    before = ""
    if formula.startswith("(") and formula.count("(") > formula.count(")"):
        before, formula = "(", formula[1:]
    if formula.endswith(")") and formula.count(")") > formula.count("("):
        formula, after = formula[:-1], ")" + after
    return f"{before}${formula}${after}"


def card(entry: Claim, outcome: Outcome) -> str:
    """The card that a notebook shows (an HTML fragment without scripts): verdict, reason, correction, evidence."""
    correction = (
        f"<p class='gspa-correction'><strong>Corrected:</strong> {prose_html(outcome.correction)}</p>"
        if outcome.correction
        else ""
    )
    return (
        f"<div class='gspa-card gspa-{slug(outcome.verdict)}' id='card-{entry.id}'>"
        f"<p class='gspa-head'><span class='gspa-verdict'>{outcome.verdict}</span> "
        f"<span class='gspa-id'>{entry.id}</span> {prose_html(entry.title)}</p>"
        f"<p>{prose_html(outcome.reason)}</p>{correction}{_evidence(outcome)}"
        f"<details><summary>As printed ({prose_html(entry.location)})</summary>"
        f"<blockquote>{quote_html(entry.quote)}</blockquote></details></div>"
    )


def _evidence(outcome: Outcome) -> str:
    """The table of evidence; folded where it would push the page's text away."""
    rows = "".join(
        f"<tr><th scope='row'>{typeset(label)}</th><td>{typeset(show(value))}</td></tr>"
        for label, value in outcome.evidence.items()
    )
    if not rows:
        return ""
    table = f"<table class='gspa-evidence'><tbody>{rows}</tbody></table>"
    if len(outcome.evidence) <= _OPEN:
        return table
    return f"<details><summary>Evidence ({len(outcome.evidence)} rows)</summary>{table}</details>"
