"""What this book adds to Jupyter Book: a site that asks no other host for anything, and its provenance.

* MathJax is copied into the site from an installed package, and so is the checker of certificates, to be saved.
* The search page finds claims, too.
* A notebook's page says how long the notebook ran, and on what machine.
* A notebook's page has a form of its parameters: a command line to copy, or with `gspa serve` a run at once.
* The thebe extension, whose scripts load from a CDN even when unused, is left out.
* The sidebar's buttons have names for those who cannot see them.
* What Sphinx would do for every page again, it does once: stems of words for the search, titles for the sidebar.
* Every page's footer says from which version, commit and profile it was made.
* Links to the repository, Binder and Colab appear only when `repository.url` in `_config.yml` is set.
"""

import os
import re
import shutil
from functools import cache
from importlib.metadata import files
from pathlib import Path

from sphinx import addnodes
from sphinx.search.en import SearchEnglish

import gspa
from gspa import __version__
from gspa.book import panel, parameters, project, provenance

MATHJAX = "tex-svg-full.js"
CHECKER = "check_certificate.py"
INDEX = "claims-index.js"
RECORD = "{build record}"  # stands in the footer for a link whose address differs from page to page
# Shown once the repository has an address; until then nothing points to an invented one.
LINKS = {
    "use_repository_button": True,
    "use_issues_button": True,
    "launch_buttons": {
        "notebook_interface": "jupyterlab",
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
    },
}


def configure(app, config):
    """Finish the theme's options once Jupyter Book has made its own; several processes read and write the pages."""
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        app.extensions[name].parallel_read_safe = True  # they do not say so, and Sphinx would warn and use one process
    config.numfig = False  # captions name the papers' own figures; Jupyter Book would number them once more
    options = config.html_theme_options
    if options.get("repository_url"):
        options.update(LINKS)
    commit = provenance.commit(Path(app.confdir).parent)
    profile = os.environ.get("GSPA_PROFILE", "paper")
    made = [
        f"gspa {__version__}",
        f"commit {commit}" if commit else "not from a git checkout",
        f"profile {profile}",
    ]
    options["extra_footer"] = (
        f"<p class='gspa-provenance'>Made from {', '.join(made)}{RECORD}. Code under the MIT licence, "
        "text under CC BY 4.0.</p>"
    )


def link_record(app, pagename, templatename, context, doctree):
    """Lead the footer to the build record, from whatever folder the page is in, if this book has one."""
    here = "speed" in app.env.found_docs
    link = f" (<a href='{context['pathto']('speed').rstrip('#')}#build-record'>build record</a>)" if here else ""
    context["theme_extra_footer"] = context["theme_extra_footer"].replace(RECORD, link)


def silenced(app):
    """Take out what Jupyter Book and Sphinx bring unasked.

    One lets readers run cells on another host, the other looks for types in comments and trips over a named tuple of
    Python 3.13.
    """
    unwanted = {"sphinx_thebe", "sphinx.ext.autodoc.type_comment"}
    for listeners in list(app.events.listeners.values()):
        for listener in [one for one in listeners if one.handler.__module__ in unwanted]:
            app.disconnect(listener.id)


def named_toggles(app, pagename, templatename, context, doctree):
    """Name the sidebar's buttons that unfold the pages under a page; the theme draws them without a word."""
    drawn = context["generate_toctree_html"]

    def named(*options, **more):
        folded = r"(<a [^>]*>)([^<]*)(</a><details[^>]*><summary)>"
        return re.sub(folded, r'\1\2\3 aria-label="Pages under: \2">', str(drawn(*options, **more)))

    context["generate_toctree_html"] = named


class Search(SearchEnglish):
    """English, each word brought to its stem once: the pages share most of theirs."""

    def init(self, options):
        super().init(options)
        self.stem = cache(self.stem)


def titles_of(tocs):
    """Each page's contents without the headings below its title; a page with pages below keeps all."""
    short = {name: toc.deepcopy() for name, toc in tocs.items() if not any(True for _ in toc.findall(addnodes.toctree))}
    for toc in short.values():
        for title in toc:
            del title[1:]
    return tocs | short


def keep_titles(app, builder):
    """Once all pages are read, before several processes write them."""
    app.env.gspa_titles = titles_of(app.env.tocs)


def sidebar_of_titles(app, pagename, templatename, context, doctree):
    """Give the sidebar titles alone: Sphinx would copy every heading of the book, for every page, and drop it again."""
    drawn = context["toctree"]

    def of_titles(**options):
        whole, app.env.tocs = app.env.tocs, app.env.gspa_titles
        try:
            return drawn(**options)
        finally:
            app.env.tocs = whole

    context["toctree"] = of_titles


def plain_citations(app, pagename, templatename, context, doctree):
    """Drop roles that docutils writes and ARIA has retired; as lists of entries they are broken ones, too."""
    body = context.get("body") or ""
    context["body"] = body.replace(' role="doc-biblioentry"', "").replace(
        '<div role="list" class="cit', '<div class="cit'
    )


def claims_first(app, pagename, templatename, context, doctree):
    """The search page looks through the claims as well."""
    if pagename == "search" and (Path(app.srcdir) / "_generated" / INDEX).is_file():
        app.add_js_file(INDEX)


def measured_times(app, pagename, templatename, context, doctree):
    """A page that was a notebook says how long it ran and where, once the record of this very build is read."""
    folder, _, name = pagename.rpartition("/")
    if folder != "notebooks" or "speed" not in app.env.found_docs:
        return
    scripts = "".join(f"<script src='../{file}'></script>" for file in ("build-record.js", "_static/build_record.js"))
    said = rf"\1 <span data-ran='{name}'></span>\2"
    context["body"] = (
        re.sub(r"(<p>Claims settled here.*?)(</p>)", said, context["body"], count=1, flags=re.DOTALL) + scripts
    )


def change_the_numbers(app, pagename, templatename, context, doctree):
    """A page that was a notebook has a form of its parameters, in front of the cell that lists them."""
    folder, _, name = pagename.rpartition("/")
    here = project.find(Path(app.confdir))
    if folder != "notebooks" or not (here.notebooks / f"{name}.schema.yaml").is_file():
        return
    form = panel.html(parameters.select(here, name), os.environ.get("GSPA_PROFILE", "paper"))
    cell = '<div class="cell tag_parameters'
    before, found, after = context["body"].partition(cell)
    context["body"] = before + form + found + after if found else before + form


def add_files(app, exception):
    """Copy MathJax, the checker and the pages' certificates to the site; a missing package is an error."""
    if exception or app.builder.format != "html":
        return
    source = next(path.locate() for path in files("sphinx-mathjax-offline") if path.name == MATHJAX)
    target = Path(app.outdir) / "mathjax"
    target.mkdir(exist_ok=True)
    shutil.copyfile(source, target / MATHJAX)
    shutil.copyfile(Path(gspa.__file__).with_name(CHECKER), Path(app.outdir) / CHECKER)
    for name in ("certificates", "claims", "download"):
        given = Path(app.srcdir) / "_generated" / name
        if given.is_dir():
            shutil.copytree(given, Path(app.outdir) / name, dirs_exist_ok=True)
    index = Path(app.srcdir) / "_generated" / INDEX
    if index.is_file():
        shutil.copyfile(index, Path(app.outdir) / "_static" / INDEX)


def answers_to_the_front_door(app, doctree):
    """Give what is described beside the front door the name by which source pages link to it.

    Sphinx knows a file by the module under which it met one of its objects first, and that is `gspa` for these files.
    """
    for signature in doctree.findall(addnodes.desc_signature):
        if signature.get("module") in front_door():
            signature["ids"].append(f"gspa.{signature['fullname']}")


@cache
def front_door():
    """The modules of what stands there; only pages that describe code need the second that importing them takes."""
    return {getattr(gspa, name).__module__ for name in gspa.__all__}


def dealt(app, env, docnames):
    """Deal the pages out, so that of those that are read at once none gets all that describe code."""
    docnames[:] = [name for start in range(app.parallel) for name in docnames[start :: app.parallel]]


def setup(app):
    """Register the handlers; 900 runs after the extensions whose work they amend."""
    if os.environ.get("GSPA_PROFILE") != "quick":  # its pages of source take a fifth of Sphinx's time
        app.setup_extension("sphinx.ext.viewcode")
    app.parallel = project.cores() + 1  # smaller parts: no core waits for the other's last
    # Cards bring formulas as HTML, which Sphinx does not count when it decides whether a page needs MathJax.
    app.set_html_assets_policy("always")
    app.add_search_language(Search)
    app.connect("config-inited", configure, priority=900)
    app.connect("builder-inited", silenced)
    app.connect("env-before-read-docs", dealt)
    app.connect("doctree-read", answers_to_the_front_door)
    app.connect("write-started", keep_titles)
    app.connect("html-page-context", link_record, priority=900)
    app.connect("html-page-context", named_toggles, priority=900)
    app.connect("html-page-context", sidebar_of_titles)
    app.connect("html-page-context", plain_citations)
    app.connect("html-page-context", claims_first)
    app.connect("html-page-context", measured_times)
    app.connect("html-page-context", change_the_numbers)
    app.connect("build-finished", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
