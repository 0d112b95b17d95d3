"""The claims page and the landing page's findings, made from outcomes (pure text in, text out)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from html import escape

from gspa.claims.outcome import Outcome, math_html, show, slug
from gspa.claims.registry import PAPERS, Claim, registry
from gspa.claims.verdicts import VERDICTS

# What a reader should know first, in this order; a line each on the landing page.
HEADLINES = ("G-T2p", "G-T2", "G-C3", "G-C4", "G-C2", "G-SGD3", "G-SGD1", "G-A2")


def _settled(outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    return {name: outcome for name, outcome in outcomes.items() if outcome.verdict != "not yet checked"}


def counts(outcomes: Mapping[str, Outcome]) -> dict[str, int]:
    """How many claims of the whole registry carry each verdict."""
    tally = Counter(outcomes[name].verdict if name in outcomes else "not yet checked" for name in registry())
    return {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}


def findings(outcomes: Mapping[str, Outcome]) -> str:
    """The landing page's lines (MyST Markdown): the count, then one line for each headline."""
    settled = _settled(outcomes)
    total = ", ".join(f"{number} {verdict}" for verdict, number in counts(outcomes).items())
    lines = [
        f"Of {len(registry())} claims in the three papers: {total}. [All of them, with evidence](claims.md).",
        "",
    ]
    for name in (name for name in HEADLINES if name in settled):
        entry, outcome = registry()[name], settled[name]
        text = outcome.correction or outcome.reason
        lines.append(
            f"- {entry.title}: **{outcome.verdict}** ([{name}](notebooks/{entry.notebook}.ipynb)). "
            + text[0].upper()
            + text[1:]
        )
    if len(lines) == 2:
        lines.append("- This build settled no headline claim: it is a quick build, or the data was not at hand.")
    return "\n".join(lines) + "\n"


def claims_page(outcomes: Mapping[str, Outcome], pages: Collection[str]) -> str:
    """The body of the claims page: a table a paper, every claim a row with an anchor.

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; others are named without a link.
    """
    parts = []
    for paper, title in PAPERS.items():
        rows = [_row(entry, outcomes.get(entry.id), pages) for entry in registry().values() if entry.paper == paper]
        parts += [
            f"## {title}",
            "",
            "```{raw} html",
            "<div class='gspa-scroll' tabindex='0' role='region' aria-label='Claims table'><table class='gspa-claims'>",
            "<thead><tr><th scope='col'>Claim</th><th scope='col'>What it says</th>"
            "<th scope='col'>Verdict and evidence</th></tr></thead><tbody>",
            *rows,
            "</tbody></table></div>",
            "```",
            "",
        ]
    return "\n".join(parts)


def _row(entry: Claim, outcome: Outcome | None, pages: Collection[str]) -> str:
    verdict = outcome.verdict if outcome else "not yet checked"
    if outcome is None:
        found = ""
    else:
        evidence = "".join(f"<li>{escape(k)}: {escape(show(v))}</li>" for k, v in outcome.evidence.items())
        found = f"<p>{math_html(outcome.reason)}</p>"
        if outcome.correction:
            found += f"<p><strong>Corrected:</strong> {math_html(outcome.correction)}</p>"
        if evidence:
            found += f"<details><summary>Evidence for {entry.id}</summary><ul>{evidence}</ul></details>"
    where = escape(entry.notebook)
    if entry.notebook in pages:
        anchor = f"#card-{entry.id}" if outcome else ""
        where = f"<a href='notebooks/{entry.notebook}.html{anchor}'>{where}</a>"
    return (
        f"<tr id='{entry.id}'><th scope='row'>{entry.id}<br><span class='gspa-kind'>{entry.kind}</span></th>"
        f"<td><p>{math_html(entry.title)}</p><details><summary>As printed ({escape(entry.location)})</summary>"
        f"<blockquote>{math_html(entry.quote)}</blockquote></details></td>"
        f"<td class='gspa-{slug(verdict)}'><p><span class='gspa-verdict'>{verdict}</span> in {where}</p>{found}</td>"
        "</tr>"
    )
