"""Words of the glossary lead there, each at its first use on a notebook's page.

Notebooks are plain Markdown, so that they read well everywhere; what only a site can do is done here.
"""

import re

from docutils import nodes

FOLDER = "notebooks/"
CLOSED = (nodes.reference, nodes.literal, nodes.math, nodes.raw)  # of a paragraph, what is left alone

CLAIMS = "Claims settled here:"  # a line of links of its own, see gspa_claim_links


def link(app, doctree, docname):
    """Link the first use of each term."""
    if not docname.startswith(FOLDER):
        return
    objects = app.env.get_domain("std").objects
    waiting = {name: place for (kind, name), place in objects.items() if kind == "term"}
    for text in list(doctree.findall(nodes.Text)):
        if not waiting:
            return
        if text.parent is not None and is_prose(text) and CLAIMS not in text:
            text.parent.replace(text, pieces(app, docname, text.astext(), waiting))


def is_prose(text):
    """Whether a text is part of a paragraph, and of nothing in it that is closed."""
    above, inside = text.parent, False
    while above is not None:
        if isinstance(above, CLOSED) or (isinstance(above, nodes.container) and above.get("nb_element")):
            return False
        inside = inside or isinstance(above, nodes.paragraph)
        above = above.parent
    return inside


def pieces(app, docname, text, waiting):
    """The text cut at the terms that it is the first to use; the longest term wins."""
    here = [name for name in waiting if name.lower() in text.lower()]  # few: a search for all of them compiles slowly
    names = "|".join(re.escape(name) for name in sorted(here, key=len, reverse=True))
    found = here and re.search(rf"(?<![\w-])({names})(s|es)?(?![\w-])", text, re.IGNORECASE)
    if not found:
        return [nodes.Text(text)]
    name = next(name for name in waiting if name.lower() == found[1].lower())
    target, label = waiting.pop(name)
    address = app.builder.get_relative_uri(docname, target) + "#" + label
    linked = nodes.reference("", "", nodes.inline("", found[0], classes=["xref", "std", "std-term"]), internal=True)
    linked["refuri"] = address
    before, after = text[: found.start()], text[found.end() :]
    return [nodes.Text(before), linked, *pieces(app, docname, after, waiting)]


def setup(app):
    """Once every page's links are resolved, those of its claims among them."""
    app.connect("doctree-resolved", link, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
