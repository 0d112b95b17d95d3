"""Notebooks in JupyterLab, as a reader who downloads one has them: run, said, typeset and drawn, without a network.

Each runs from a folder of its own, with the values of the profile `quick` injected as papermill does.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from residue import residue

from gspa.book import parameters, processes
from gspa.book.notebook_source import INJECTED
from gspa.book.project import Project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("05_reduction_to_counts", "08_comparison", "12_shuffled_sgd")
# What is looked at is how texts, figures and cards show, which does not depend on what a network is trained on.
LESS = {"12_shuffled_sgd": {"dataset": "digits", "hidden_width": 20, "widths": [8]}}
# Cells out of sight would not be there; news would ask another host.
SETTINGS = {
    "lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
    "labconfig/page_config.json": {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}},
}
RUN = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await app.commands.execute("notebook:run-all-cells");
  await window.MathJax?.startup?.promise;
}"""
# What a reader reads, formulas aside; code, also the templates in it, is in an editor.
READ = """() => [...document.querySelectorAll(".jp-Notebook .jp-MarkdownOutput, .jp-Notebook .jp-OutputArea-output")]
  .map((part) => {
    const copy = part.cloneNode(true);
    for (const one of copy.querySelectorAll("mjx-container, code, pre, style, script, svg")) one.replaceWith("∎");
    return copy.textContent;
  })"""
SEEN = """() => {
  const all = (what) => [...document.querySelectorAll(`.jp-Notebook ${what}`)];
  const visible = (e) => e.checkVisibility() && e.getBoundingClientRect().height > 20;
  return {
    // A collapsed source has no number beside it, but what it said.
    ran: all(".jp-CodeCell").every((cell) => cell.querySelector(".jp-Placeholder")
      ? cell.querySelector(".jp-OutputArea-child")
      : /\\d/.test(cell.querySelector(".jp-InputPrompt").textContent)),
    errors: all("[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']")
      .map((e) => e.textContent),
    figures: all(".jp-RenderedSVG img, .jp-RenderedSVG svg").filter((e) => visible(e) && e.naturalWidth !== 0).length,
    cards: all(".gspa-card").filter(visible).length,
    formulas: all(".jp-MarkdownOutput mjx-container, .jp-OutputArea-output mjx-container").length,
    broken: all("mjx-merror, [data-mjx-error]").length,
    // JupyterLab takes formulas out before it reads Markdown: the sign of a quotation's second line is in it then.
    quoted: all("mjx-container").filter((e) => e.querySelector("mjx-c")?.matches(".mjx-c3E")).length,
  };
}"""


@dataclass
class Shown:
    """A notebook after all of its cells have run."""

    source: Any
    first: dict[str, Any]  # the text and the bold words of the first text that was said
    read: list[str]
    seen: dict[str, Any]
    asked: list[str]


def quick(name: str) -> Any:
    """The notebook with a cell of the quick profile's values after its parameters."""
    notebook = parameters.select(Project(ROOT), name)
    source = nbformat.read(notebook.path, as_version=4)
    values = {k: v for k, v in notebook.defaults("quick").items() if v != notebook.properties[k]["default"]}
    values |= LESS.get(name, {})
    assert values["profile"] == "quick"
    (place,) = [i for i, cell in enumerate(source.cells) if "parameters" in cell.metadata.get("tags", [])]
    code = "\n".join(f"{key} = {value!r}" for key, value in values.items())
    source.cells.insert(place + 1, nbformat.v4.new_code_cell(code, metadata={"tags": [INJECTED]}))
    return source


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that serves the three."""
    folder, own = tmp_path_factory.mktemp("reader"), tmp_path_factory.mktemp("settings")
    for name in NAMES:
        nbformat.write(quick(name), folder / f"{name}.ipynb")
    for name, setting in SETTINGS.items():
        path = own / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(setting), encoding="utf-8")
    port = free_port()
    options = [
        f"--port={port}",
        "--ip=127.0.0.1",
        "--no-browser",
        "--expose-app-in-browser",
        f"--notebook-dir={folder}",
    ]
    options += ["--IdentityProvider.token=", "--ServerApp.port_retries=0", "--allow-root"]
    env = processes.environment(own) | {"PYTHONPATH": str(ROOT), "GSPA_OFFLINE": "1"}
    with (own / "log").open("wb") as log:
        code = "from gspa.book import processes; processes.hold(); from jupyterlab.labapp import main; main()"
        line = [sys.executable, "-c", code, *options]
        # Its input ends with this process.
        how = {"stdin": subprocess.PIPE, "stdout": log, "stderr": subprocess.STDOUT}
        with subprocess.Popen(line, cwd=folder, env=env, **how) as server:
            address = f"http://127.0.0.1:{port}/"
            deadline = time.monotonic() + 120
            try:
                while not answers(f"{address}api"):
                    said = (own / "log").read_text(encoding="utf-8", errors="replace")
                    assert server.poll() is None, said
                    assert time.monotonic() < deadline, said
                    time.sleep(0.2)
                yield address
            finally:
                server.terminate()
                server.wait(30)


def answers(address: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def opened(page: Page, lab: str, name: str) -> list[str]:
    """Open the notebook and run all of its cells; what it asked of other hosts, all in vain."""
    asked: list[str] = []

    def elsewhere(route: Any) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route(lambda url: url.startswith("http") and not url.startswith(lab), elsewhere)
    page.goto(f"{lab}doc/tree/{name}.ipynb")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    page.evaluate(RUN)
    page.wait_for_function("() => document.querySelectorAll('.jp-Notebook .jp-MarkdownOutput').length")
    page.wait_for_timeout(2000)  # MathJax typesets what has been shown, one text after the other
    return asked


# One of the two without a network, and the one with it, are enough for every day.
@pytest.fixture(scope="module", params=[pytest.param(NAMES[0], marks=pytest.mark.slow), *NAMES[1:]])
def shown(request: pytest.FixtureRequest, browser: Browser, lab: str) -> Shown:
    """A notebook that has run, as a reader sees it."""
    name = request.param
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(300_000)
    asked = opened(page, lab, name)
    said = page.locator(".jp-Notebook .jp-OutputArea-output.jp-RenderedMarkdown").first
    first = {"text": said.inner_text(), "bold": said.locator("strong").all_inner_texts()}
    found = Shown(quick(name), first, page.evaluate(READ), page.evaluate(SEEN), asked)
    page.close()
    return found


def test_all_cells_ran_without_an_error(shown):
    assert shown.seen["ran"]
    assert shown.seen["errors"] == []


def test_nothing_is_left_of_a_template_a_directive_or_a_role(shown):
    assert len(shown.read) > 10
    assert [one for text in shown.read for one in residue(text)] == []


def test_the_first_text_tells_its_numbers_though_it_stands_above_them(shown):
    assert shown.first["bold"][0] == "Result."
    assert len(re.findall(r"\d", shown.first["text"])) > 3


def test_formulas_are_typeset(shown):
    assert shown.seen["formulas"] > 10
    assert shown.seen["broken"] == shown.seen["quoted"] == 0
    assert [text for text in shown.read if re.search(r"\\[a-z(\[]|\$", text)] == []


def test_figures_and_cards_are_shown(shown):
    code = "\n".join(cell.source for cell in shown.source.cells if cell.cell_type == "code")
    assert shown.seen["figures"] == code.count("page.figure(") > 0
    assert shown.seen["cards"] == code.count("page.settle(") > 0


def test_no_other_host_is_asked(shown):
    assert shown.asked == []
