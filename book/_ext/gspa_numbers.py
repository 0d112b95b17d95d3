"""Numbers that a notebook put into prose or captions: 1e-06 becomes ten with its exponent, as in tables and cards."""

import re

from docutils import nodes
from sphinx import addnodes

from gspa._typeset import SCIENTIFIC, scientific

NUMBER = re.compile(rf"(?P<sign>(?<![\w.])-)?{SCIENTIFIC}")
# What is shown letter by letter, or is not text at all.
VERBATIM = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw, nodes.Invisible, addnodes.desc_signature)


def typeset(app, doctree, docname):
    """Write powers of ten out in a page's sentences."""
    if app.builder.format != "html":
        return
    for text in list(doctree.findall(nodes.Text)):
        if NUMBER.search(text) and not verbatim(text):
            text.parent.replace(text, list(parts(str(text))))


def verbatim(node):
    """Whether a node is inside one that is shown as it is."""
    while node is not None and not isinstance(node, VERBATIM):
        node = node.parent
    return node is not None


def parts(text):
    """The text, its numbers as HTML."""
    at = 0
    for number in NUMBER.finditer(text):
        yield nodes.Text(text[at : number.start()])
        shown = scientific(number["mantissa"], int(number["exponent"]))
        yield nodes.raw("", f"−{shown}" if number["sign"] else shown, format="html")
        at = number.end()
    yield nodes.Text(text[at:])


def setup(app):
    """After the outputs of the cells are in the tree."""
    app.connect("doctree-resolved", typeset, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
