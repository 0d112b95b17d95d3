"""The claims page, and the front page's counts and findings, made from outcomes (pure text in, text out)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from html import escape

from gspa._typeset import typeset
from gspa.claims.outcome import Outcome, prose_html, quote_html, show, slug
from gspa.claims.registry import PAPERS, SHORT, Claim, registry
from gspa.claims.verdicts import VERDICTS

# What a reader should know first, in this order; a line each on the landing page.
HEADLINES = ("G-T2p", "G-T2", "G-C3", "G-C4", "G-C2", "G-SGD3", "G-SGD1", "G-A2")
_FIRST = 4  # of them have room on the first screen


def verdict_of(name: str, outcomes: Mapping[str, Outcome]) -> str:
    """The verdict on a claim; one that no page settled is not yet checked."""
    return outcomes[name].verdict if name in outcomes else "not yet checked"


def counts(outcomes: Mapping[str, Outcome], paper: str | None = None) -> dict[str, int]:
    """How many claims carry each verdict: of the whole registry, or of one paper."""
    names = [name for name, entry in registry().items() if paper in (None, entry.paper)]
    tally = Counter(verdict_of(name, outcomes) for name in names)
    return {verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]}


def anchor(paper: str = "", verdict: str = "") -> str:
    """The claims page's anchor of a paper, a verdict, or a paper's claims of one verdict.

    >>> anchor("gspa", "holds with correction")
    'claims-gspa-holds-with-correction'
    """
    return "-".join(part for part in ("claims", paper, slug(verdict)) if part)


def dashboard(outcomes: Mapping[str, Outcome]) -> str:
    """The front page's table of counts (raw HTML for MyST): a row a verdict, a column a paper, each count a link."""
    total = counts(outcomes)
    head = "".join(f"<th scope='col'><a href='claims.html#{anchor(paper)}'>{SHORT[paper]}</a></th>" for paper in PAPERS)
    rows = []
    for verdict in total:
        cells = "".join(_count(counts(outcomes, paper).get(verdict, 0), paper, verdict) for paper in PAPERS)
        rows.append(
            f"<tr class='gspa-{slug(verdict)}'><th scope='row'><span class='gspa-verdict'>{verdict}</span></th>"
            f"{cells}{_count(total[verdict], '', verdict)}</tr>"
        )
    sums = "".join(f"<td>{sum(counts(outcomes, paper).values())}</td>" for paper in PAPERS)
    return "\n".join(
        [
            "```{raw} html",
            "<table class='gspa-dashboard'><caption>Claims by verdict and paper</caption>",
            f"<thead><tr><th scope='col'>Verdict</th>{head}<th scope='col'>all</th></tr></thead><tbody>",
            *rows,
            f"</tbody><tfoot><tr><th scope='row'>all</th>{sums}"
            f"<td><a href='claims.html'>{len(registry())}</a></td></tr></tfoot></table>",
            "```",
            "",
        ]
    )


def _count(number: int, paper: str, verdict: str) -> str:
    if not number:
        return "<td>0</td>"
    label = f"{number} {verdict}, {SHORT.get(paper, 'all papers')}"
    return f"<td><a href='claims.html#{anchor(paper, verdict)}' aria-label='{escape(label)}'>{number}</a></td>"


def highlights(outcomes: Mapping[str, Outcome], pages: Collection[str]) -> str:
    """The first headlines and their verdicts, for the front page's first screen (raw HTML for MyST).

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; others are not linked.
    """
    rows = [
        f"<li class='gspa-{slug(outcome.verdict)}'><span class='gspa-verdict'>{outcome.verdict}</span> "
        f"<a href='{_card(registry()[name], pages)}'>{prose_html(registry()[name].title)}</a></li>"
        for name, outcome in _headlines(outcomes)[:_FIRST]
    ]
    return "\n".join(["```{raw} html", "<ul class='gspa-highlights'>", *rows, "</ul>", "```", ""]) if rows else ""


def _card(entry: Claim, pages: Collection[str]) -> str:
    """Where a claim that this build settled is shown: on its notebook's page, else on the claims page."""
    return f"notebooks/{entry.notebook}.html#card-{entry.id}" if entry.notebook in pages else f"claims.html#{entry.id}"


def _headlines(outcomes: Mapping[str, Outcome]) -> list[tuple[str, Outcome]]:
    """The headlines that this build settled, in order."""
    settled = {name: outcome for name, outcome in outcomes.items() if outcome.verdict != "not yet checked"}
    return [(name, settled[name]) for name in HEADLINES if name in settled]


def findings(outcomes: Mapping[str, Outcome], pages: Collection[str]) -> str:
    """The landing page's paragraphs (raw HTML for MyST): one for each headline.

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; others are not linked.
    """
    found = _headlines(outcomes)
    if not found:
        return "This build settled no headline claim: it is a quick build, or the data was not at hand.\n"
    rows = []
    for name, outcome in found:
        entry, text = registry()[name], outcome.correction or outcome.reason
        rows.append(
            f"<dt class='gspa-{slug(outcome.verdict)}'><span class='gspa-verdict'>{outcome.verdict}</span> "
            f"{prose_html(entry.title)}</dt>"
            f"<dd>{prose_html(text[0].upper() + text[1:])} <a href='{_card(entry, pages)}'>{name}</a></dd>"
        )
    return "\n".join(["```{raw} html", "<dl class='gspa-findings'>", *rows, "</dl>", "```", ""])


def claims_page(outcomes: Mapping[str, Outcome], pages: Collection[str]) -> str:
    """The body of the claims page: a section a paper, in it a table a verdict, every claim a row with an anchor.

    Without a script everything is listed, and an index leads to each claim by verdict. `claims.js` shows the
    form that filters.

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; others are named without a link.
    """
    parts = [*_form(outcomes), *_index(outcomes)]
    for paper, title in PAPERS.items():
        parts += [f"({anchor(paper)})=", f"## {title}", ""]
        for verdict, number in counts(outcomes, paper).items():
            rows = [
                _row(entry, outcomes.get(entry.id), pages)
                for entry in registry().values()
                if entry.paper == paper and verdict_of(entry.id, outcomes) == verdict
            ]
            parts += [
                f"({anchor(paper, verdict)})=",
                f"### {verdict[0].upper()}{verdict[1:]} ({number})",
                "",
                "```{raw} html",
                f"<div class='gspa-scroll' tabindex='0' role='region' aria-label='{SHORT[paper]}: {verdict}'>"
                f"<table class='gspa-claims gspa-registry' data-anchor='{anchor(paper, verdict)}'>",
                "<thead><tr><th scope='col'>Claim</th><th scope='col'>What it says</th>"
                "<th scope='col'>Verdict and evidence</th></tr></thead><tbody>",
                *rows,
                "</tbody></table></div>",
                "```",
                "",
            ]
    # After the rows, so that it sees them as they are in the file and not as MathJax leaves them.
    parts += ["```{raw} html", "<script src='_static/claims.js'></script>", "```", ""]
    return "\n".join(parts)


def _form(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Search and filters; hidden until the script that makes them work has run."""
    kinds = sorted({entry.kind for entry in registry().values()})
    choices = {
        "paper": {paper: SHORT[paper] for paper in PAPERS},
        "verdict": {slug(verdict): verdict for verdict in counts(outcomes)},
        "kind": {kind: kind for kind in kinds},
    }
    fields = [
        f"<label>{name.capitalize()} <select name='{name}'><option value=''>any</option>"
        + "".join(f"<option value='{value}'>{label}</option>" for value, label in options.items())
        + "</select></label>"
        for name, options in choices.items()
    ]
    return [
        "```{raw} html",
        "<form id='gspa-filter' class='gspa-filter' role='search' aria-label='Filter the claims' hidden>",
        "<label>Search <input type='search' name='q' autocomplete='off' placeholder='words, or an id'></label>",
        *fields,
        "<button type='reset'>Show all</button>",
        f"<p role='status' aria-live='polite'>{len(registry())} claims</p>",
        "</form>",
        "```",
        "",
    ]


def _index(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Every claim's link by verdict: the anchors of the front page's totals."""
    lines = ["```{raw} html", "<dl class='gspa-index' id='gspa-index'>"]
    for verdict, number in counts(outcomes).items():
        links = " ".join(
            f"<a href='#{name}'>{name}</a>" for name in registry() if verdict_of(name, outcomes) == verdict
        )
        lines.append(
            f"<div class='gspa-{slug(verdict)}' id='{anchor(verdict=verdict)}'>"
            f"<dt><span class='gspa-verdict'>{verdict}</span> {number}</dt><dd>{links}</dd></div>"
        )
    return [*lines, "</dl>", "```", ""]


def _row(entry: Claim, outcome: Outcome | None, pages: Collection[str]) -> str:
    verdict = outcome.verdict if outcome else "not yet checked"
    if outcome is None:
        found = ""
    else:
        evidence = "".join(f"<li>{typeset(k)}: {typeset(show(v))}</li>" for k, v in outcome.evidence.items())
        found = f"<p>{prose_html(outcome.reason)}</p>"
        if outcome.correction:
            found += f"<p><strong>Corrected:</strong> {prose_html(outcome.correction)}</p>"
        if evidence:
            found += f"<details><summary>Evidence for {entry.id}</summary><ul>{evidence}</ul></details>"
    where = escape(entry.notebook)
    if entry.notebook in pages:
        card = f"#card-{entry.id}" if outcome else ""
        where = f"<a href='notebooks/{entry.notebook}.html{card}'>{where}</a>"
    return (
        f"<tr id='{entry.id}' data-paper='{entry.paper}' data-verdict='{slug(verdict)}' data-kind='{entry.kind}'>"
        f"<th scope='row'>{entry.id}<br><span class='gspa-kind'>{entry.kind}</span></th>"
        f"<td><p>{prose_html(entry.title)}</p><details><summary>As printed ({prose_html(entry.location)})</summary>"
        f"<blockquote>{quote_html(entry.quote)}</blockquote></details></td>"
        f"<td class='gspa-{slug(verdict)}'><p><span class='gspa-verdict'>{verdict}</span> in {where}</p>{found}</td>"
        "</tr>"
    )
