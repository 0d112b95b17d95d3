"""Planted faults in a small hand-made site: each is found and named, and a clean site passes."""

from __future__ import annotations

import pytest

from gspa.book import sitecheck

PAGES = ["index", "notebooks/one"]
INDEX = """<html><head>
<link rel="stylesheet" href="_static/style.css">
<link rel="canonical" href="https://elsewhere.example/index.html">
<link rel="author license" href="//elsewhere.example/who">
<style>h1 { background: url("_static/back.svg") }</style>
<script src="_static/local.js"></script>
</head><body id="top">
<h1 id="title">A page</h1>
<a href="notebooks/one.html">in</a> <a href="notebooks/one.html#deep">deep</a> <a href="#title">here</a>
<a href="https://elsewhere.example/page#x">out</a> <a href="//elsewhere.example">out</a>
<a href="mailto:a@elsewhere.example">mail</a> <a href="a%20file%20%C3%BC.txt">file</a> <a href="notebooks/">folder</a>
<a href="#caf%C3%A9">accent</a> <h2 id="caf\u00e9">Caf\u00e9</h2> <a name="old"></a> <a href="#old">old</a>
<a href="">nothing</a> <a href="?q=1">query</a> <a href="./index.html?x=1#title">self</a>
<img src="_static/back.svg" srcset="_static/back.svg 1x, _static/back.svg 2x">
<img src="data:image/png;base64,//8A,//9B"> a comma // and url(https://elsewhere.example/text) in the text
</body></html>"""
ONE = """<html><body><style>p { color: red }</style> url(//elsewhere.example) in the text
<h1 id="deep">One</h1> <a href="../index.html">up</a> <a href="../">up</a>
<p>An expected error in a doctest: <span class="gt">Traceback (most recent call last):</span>
<span class="w">    </span><span class="o">...</span> ValueError</p></body></html>"""


@pytest.fixture
def site(tmp_path):
    """A clean site; returns a function that writes one of its files."""
    root = tmp_path / "outer" / "html"

    def write(name, text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("index.html", INDEX)
    write("notebooks/one.html", ONE)
    write("notebooks/index.html", "<html></html>")
    write("a file \u00fc.txt", "x")
    write("_static/style.css", "@import 'other.css'; p { background: url(back.svg) } /* https://elsewhere.example */")
    write("_static/local.js", "1")
    write("_static/back.svg", "<svg/>")
    (root.parent / "secret.html").write_text("<html></html>", encoding="utf-8")
    write.root = root
    return write


def check(site):
    return sitecheck.check(site.root, pages=PAGES)


def plant(site, html):
    """What the check says of one more piece of HTML on the first page."""
    site("index.html", INDEX.replace("</body>", html + "</body>"))
    return check(site)


def test_a_clean_site_passes(site):
    assert check(site) == []


def test_missing_pages_are_named(site):
    (site.root / "notebooks" / "one.html").unlink()
    site("index.html", "<html></html>")
    assert check(site) == ["notebooks/one: is in the table of contents and not in the site"]
    assert sitecheck.check(site.root, pages=["index", "two"]) == [
        "two: is in the table of contents and not in the site"
    ]


@pytest.mark.parametrize(
    ("html", "what"),
    [
        ('<span id="papermill-error-cell">An exception</span>', "failed notebook's error cell"),
        ("<pre>Traceback (most recent call last)\n  Cell In[1]</pre>", "traceback"),
        ("<pre>Traceback (most recent call last):\n  File x, line 1</pre>", "traceback"),
        ('<div class="output traceback highlight-ipythontb">SyntaxError</div>', "error output"),
        ('<div class="output stderr highlight-myst-ansi">RuntimeWarning</div>', "a warning"),
        ("<span class='pre'>PosixPath('gspa/check_certificate.py')</span>", "a path of the machine"),
        ('<span class="gt">Traceback (most recent call last):</span>\n  <span>File</span> "x"', "traceback"),
    ],
)
def test_errors_on_a_page_are_found(site, html, what):
    problems = plant(site, html)
    assert len(problems) == 1
    assert problems[0].startswith("index.html: shows ")
    assert what in problems[0]


@pytest.mark.parametrize(
    ("link", "what"),
    [
        ("nowhere.html", "leads nowhere"),
        ("notebooks/two.html#deep", "leads nowhere"),
        ("_static/", "leads nowhere"),  # a folder without an index
        ("a%20file.txt", "leads nowhere"),
        ("../secret.html", "leads nowhere"),  # is there, but not part of the site
        ("notebooks/../../secret.html", "leads nowhere"),
        ("%2e%2e/secret.html", "leads nowhere"),
        ("/index.html", "leads nowhere"),  # the site may lie in a folder
        ("#nothing", "has no such anchor"),
        ("notebooks/one.html#nothing", "has no such anchor"),
        ("notebooks/one.html#Deep", "has no such anchor"),  # anchors have a case
        ("index.html?x=1#nothing", "has no such anchor"),
    ],
)
def test_broken_links_are_found(site, link, what):
    assert plant(site, f'<a href="{link}">x</a>') == [f"index.html: link {link} {what}"]


@pytest.mark.parametrize(
    "html",
    [
        '<script src="{}"></script>',
        '<SCRIPT SRC="{}"></SCRIPT>',
        '<img src="{}">',
        '<img src=" {}">',
        '<img src="_static/back.svg" srcset="{} 2x">',
        '<img srcset="_static/back.svg 1x, {} 2x">',
        '<picture><source srcset="{}"></picture>',
        '<link rel="stylesheet" href="{}">',
        '<link rel="alternate stylesheet" href="{}">',
        '<link rel="preconnect" href="{}">',
        '<link rel="icon" href="{}">',
        '<link href="{}">',
        '<iframe src="{}"></iframe>',
        '<video poster="{}"></video>',
        '<audio src="{}"></audio>',
        '<object data="{}"></object>',
        '<embed src="{}">',
        '<svg><image xlink:href="{}"/></svg>',
        '<svg><use href="{}"/></svg>',
        '<p style="background: url({})">x</p>',
        "<p style=\"background: URL( '{}' )\">x</p>",
        "<style>p {{ background: url({}) }}</style>",
        "<style>@import '{}';</style>",
        "<style>@import url({});</style>",
    ],
)
@pytest.mark.parametrize("host", ["https://elsewhere.example/x", "http://elsewhere.example/x", "//elsewhere.example/x"])
def test_requests_to_other_hosts_are_found(site, html, host):
    problems = plant(site, html.format(host))
    assert len(problems) == 1
    assert problems[0].startswith("index.html: ")
    assert problems[0].endswith(f" for {host}")


@pytest.mark.parametrize(
    "css", ["@import 'https://elsewhere.example/x';", "p { src: local(a), url(//elsewhere.example/x) }"]
)
def test_style_sheets_that_ask_other_hosts_are_found(site, css):
    site("_static/deep/more.css", css)
    problems = check(site)
    assert len(problems) == 1
    assert problems[0].startswith("_static/deep/more.css: asks another host for ")
    assert problems[0].endswith("//elsewhere.example/x")


def test_every_problem_of_every_page_is_listed(site):
    site("notebooks/one.html", '<a href="x.html">x</a><img src="//elsewhere.example/y"><a href="#z">z</a>')
    problems = check(site)
    # And the anchor on that page, which the first page links to, is gone.
    assert [problem.split(": ")[0] for problem in problems] == ["index.html", *["notebooks/one.html"] * 3]


@pytest.mark.parametrize("html", ['<img src="_static/gone.svg">', '<script src="gone.js?v=1"></script>'])
def test_a_missing_file_of_the_site_is_found(site, html):
    (problem,) = plant(site, html)
    assert problem.startswith("index.html: ")
    assert "gone" in problem
    assert problem.endswith("is missing")


def test_templates_among_the_themes_static_files_are_no_pages(site):
    site("_static/macros.html", '<script src="{{ prefix }}/x.js"></script>')
    assert check(site) == []
