"""A page's first cell names the claims that it settles: each name leads to its card, further down the same page."""

import re

from docutils import nodes

BEFORE = "Claims settled here:"


def link(app, doctree, docname):
    """Make links of the claims' names, of those that have a card here."""
    cards = set(re.findall(r"id='card-([^']+)'", "".join(raw.astext() for raw in doctree.findall(nodes.raw))))
    for text in list(doctree.findall(nodes.Text)):
        before, found, after = text.partition(BEFORE)
        if found and cards:
            names, stop, rest = after.partition(".")
            text.parent.replace(text, [nodes.Text(before + found), *linked(names, cards), nodes.Text(stop + rest)])


def linked(names, cards):
    """The names between their commas; a name without a card stays text."""
    for part in re.split(r"([\s,]+)", names):
        if part in cards:
            yield nodes.reference("", part, refuri=f"#card-{part}", internal=True)
        elif part:
            yield nodes.Text(part)


def setup(app):
    """After the outputs of the cells are in the tree."""
    app.connect("doctree-resolved", link, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
