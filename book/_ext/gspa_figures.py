"""What stands under each figure that a notebook drew: its cell, the command that remakes it, its data as CSV.

A notebook's cell only draws. The line under the caption, the anchor of the cell's code and the files
`_static/data/<page>/<figure>.csv` are made here, from what `Page.figure` put into the cell's output.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging, osutil

from gspa.book import parameters
from gspa.book.figures import MIME, script
from gspa.book.notebook_source import INJECTED
from gspa.book.project import find

LOG = logging.getLogger(__name__)
FOLDER = "_static/data"


class Drawings(SphinxTransform):
    """A picture alone in a paragraph, with an emphasized paragraph under it, is a figure with its caption."""

    default_priority = 200  # before figures get their names

    def apply(self, **kwargs):
        """Replace the two paragraphs."""
        alone = [one for one in self.document.findall(nodes.paragraph) if shape(one) == ["image"]]
        for picture in alone:
            below = picture.next_node(descend=False, siblings=True)
            if shape(below) == ["emphasis"]:
                below.parent.remove(below)
                caption = nodes.caption("", "", *below[0].children)
                picture.replace_self(nodes.figure("", picture[0], caption, align="center"))


def shape(node):
    """The kinds of what a paragraph consists of."""
    return [child.tagname for child in node.children] if isinstance(node, nodes.paragraph) else []


def annotate(app, doctree, docname):
    """Complete every figure of a page; a figure without a caption, an alternative text or data is a warning."""
    if app.builder.format != "html":
        return
    path = Path(app.env.doc2path(docname))
    notebook = None
    cells = {cell["cell_index"]: cell for cell in doctree.findall(is_cell)}
    for index, cell in cells.items():
        for figure in cell.findall(nodes.figure):
            notebook = notebook or json.loads(path.read_text(encoding="utf-8"))
            number = number_of(notebook, index)
            tables = [part for output in outputs(notebook, cell) for part in about(output).get("tables", [])]
            caption = next(iter(figure.findall(nodes.caption)), None)
            lacking = {
                "caption": caption is None,
                "alternative text": not all(image.get("alt", "").strip() for image in figure.findall(nodes.image)),
                "data; draw it with a function that is marked keeps_data": not tables,
            }
            for what in (what for what, lacks in lacking.items() if lacks):
                LOG.warning("cell %s has a figure without %s", number, what, location=docname, type="gspa")
            if any(lacking.values()):
                continue
            drawn = next(found for output in outputs(notebook, cell) if (found := about(output)))
            draws = drawing(notebook, index, drawn["name"])
            number = number_of(notebook, draws)
            anchor = anchored(cells[draws], number)
            files = written(app, path.stem, drawn["name"], tables)
            caption += made_from(app, docname, number, anchor, remake(app, path.stem, notebook), files)
            boxed(figure)
            figure += moved(app, docname, drawn)


def is_cell(node):
    """Whether a node is a notebook's code cell."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def number_of(notebook, index):
    """A cell's place in the source notebook, from 1: a run adds a cell of injected parameters, which does not count."""
    before = notebook["cells"][:index]
    return 1 + sum(INJECTED not in cell["metadata"].get("tags", []) for cell in before)


def drawing(notebook, index, name):
    """Which cell draws a figure: the one that shows it, or, if that only keeps its place, the next that names it."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    naming = (i for i, source in enumerate(sources) if i > index and f'"{name}"' in source)
    return next(naming) if "Page.place(" in sources[index] else index


def outputs(notebook, cell):
    """What the cell put out."""
    return notebook["cells"][cell["cell_index"]]["outputs"]


def about(output):
    """Name, caption and tables of the figure that an output is; empty if it is none."""
    return output.get("data", {}).get(MIME, {})


def anchored(cell, number):
    """An anchor on the cell's code, inside of what may be folded: a browser that goes there unfolds it."""
    name = f"cell-{number}"
    code = next(node for node in cell.findall(nodes.container) if node.get("nb_element") == "cell_code_source")
    if name not in code["ids"]:
        code["ids"].append(name)
    return name


def boxed(figure):
    """Put the picture into a box of its own, in which a pointer's reading stands."""
    box = nodes.container(classes=["gspa-figure"])
    for picture in [child for child in figure.children if not isinstance(child, nodes.caption | nodes.legend)]:
        figure.remove(picture)
        box += picture
    figure.insert(0, box)


def written(app, page, figure, tables):
    """Write the tables as files; their addresses from the site's root, with how many rows of how many they have."""
    folder = Path(app.outdir) / FOLDER / page
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for table in tables:
        name = f"{figure}.csv" if len(tables) == 1 else f"{figure}-{table['name']}.csv"
        (folder / name).write_text(table["csv"], encoding="utf-8", newline="\n")
        files.append((name, f"{FOLDER}/{page}/{name}", table["rows"], table["of"]))
    return files


def remake(app, page, notebook):
    """The command that makes the page's figures again, with the parameters they were made with."""
    used = notebook["metadata"].get("papermill", {}).get("parameters", {})
    return parameters.command(parameters.select(find(Path(app.confdir)), page), used)


def moved(app, docname, drawn):
    """Write the frames of a figure with knobs as files; what the page's script needs to exchange and to read them."""
    address = f"{FOLDER}/{Path(docname).name}"
    for i, frame in enumerate(drawn.get("moves", {}).get("frames", [])):
        place = Path(app.outdir) / address / f"{drawn['name']}-{i}.svg"
        place.write_text(frame["svg"], encoding="utf-8", newline="\n")
    folder = osutil.relative_uri(app.builder.get_target_uri(docname), address)
    return nodes.raw("", script(drawn, folder), format="html")


def made_from(app, docname, number, anchor, command, files):
    """The line's nodes."""
    here = app.builder.get_target_uri(docname)
    source = osutil.relative_uri(here, f"_sources/{docname}.ipynb")
    parts = [link("cell " + str(number), f"#{anchor}"), nodes.Text(" of "), link("the notebook", source)]
    parts += [nodes.Text("; remake it: "), nodes.literal(command, command), nodes.Text("; data: ")]
    for place, (name, address, rows, of) in enumerate(files):
        size = f" ({of:,} row{'s' * (of != 1)})" if rows == of else f" ({rows:,} of {of:,} rows, evenly chosen)"
        parts += [nodes.Text(", ")] if place else []
        parts += [link(name, osutil.relative_uri(here, address)), nodes.Text(size)]
    return nodes.inline("", "", nodes.Text("From "), *parts, nodes.Text("."), classes=["gspa-made-from"])


def link(text, target):
    """A link within the site."""
    return nodes.reference("", text, refuri=target, internal=True)


def setup(app):
    """Runs when a page's outputs have been chosen and its code has been folded."""
    app.add_transform(Drawings)
    app.connect("doctree-resolved", annotate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
