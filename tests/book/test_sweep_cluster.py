"""Sweeps on a Dask cluster: a local one of two workers, where dask.distributed is installed."""

from __future__ import annotations

import shlex
import warnings
from contextlib import closing

import pytest
from awaiting import until
from small_project import add

pytest.importorskip("distributed")

from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue
from gspa.algorithms.cli import identity
from gspa.book import build_record, parameters, provenance, site, sweep
from gspa.book import run as pipeline
from gspa.book.bench_runs import Bench
from gspa.book.cluster import Cluster
from gspa.cli import run

# What Dask warns of, such as a busy port, is not ours.
# Slow: a scheduler, two workers and real kernels.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SAYS = ["from gspa.book.page import Page", "six = 6 * n", "%%say\n{{ six }}"]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process of its own."""
    from distributed import LocalCluster

    with (
        warnings.catch_warnings(action="ignore"),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found,
    ):
        yield found


def test_the_rows_are_those_that_this_machine_gives(cluster, project):
    add(project, "01_page", *SAYS)
    for name, where in (("there", f"--scheduler {cluster.scheduler_address}"), ("here", "--jobs 1")):
        assert run(shlex.split(f"sweep 01_page -p n 1,2,3 {where} -o {name}.csv")) == 0
    there, at_home = (sweep.read_table(f"{name}.csv") for name in ("there", "here"))
    same = ["n", "six", "versions", "source", "key"]
    assert there[same].equals(at_home[same])
    assert set(there["worker"]).isdisjoint(at_home["worker"])


def test_a_worker_that_dies_is_replaced(cluster, project, capsys):
    flag = project.root / "died"
    dies = (
        f"import pathlib, psutil\nflag = pathlib.Path({str(flag)!r})\n"
        "if n == 2 and not flag.exists():\n    flag.touch()\n    psutil.Process().parents()[1].kill()"
    )
    add(project, "01_page", dies, *SAYS, "if n == 13: raise ValueError('thirteen')")
    line = f"sweep 01_page -p n 1,2,13 --scheduler {cluster.scheduler_address} -o t.csv"
    assert run(shlex.split(line)) == 1
    assert flag.exists()
    assert "2 done, 0 of them before, 1 failed" in capsys.readouterr().out
    rows = sweep.read_table("t.csv")
    assert rows["six"].tolist()[:2] == [6, 12]
    assert "thirteen" in rows["error"].iloc[2]
    # The same command goes on: only what failed is tried again.
    assert run(shlex.split(line)) == 1
    assert "2 done, 2 of them before, 1 failed" in capsys.readouterr().out


def test_no_scheduler_there(project, capsys, tmp_path):
    add(project, "01_page", *SAYS)
    assert run(shlex.split("sweep 01_page --scheduler nonsense://x")) == 2
    with pytest.raises(InvalidValue, match="a scheduler file that exists"):
        Cluster(str(tmp_path / "none.json"), identity)
    err = capsys.readouterr().err
    assert "must be the address of a running Dask scheduler" in err
    assert "Traceback" not in err


def test_workers_of_another_gspa_are_refused(cluster, monkeypatch):
    pipeline.identity.cache_clear()
    with monkeypatch.context() as changed, Cluster(cluster.scheduler_address, identity) as place:
        changed.setattr(provenance, "source_digest", lambda: "another")
        with pytest.raises(GspaError, match=r"worker tcp://.*: has another source; install the same everywhere"):
            place.identity(needs_data=False)
    pipeline.identity.cache_clear()


def test_the_bench_sends_runs_there(cluster, project, monkeypatch):
    """What `gspa serve --scheduler` does; the page itself is not rendered here."""
    add(project, "01_page", *SAYS)
    for path in ("notebooks/01_page.html", "_sources/notebooks/01_page.ipynb"):
        (project.html / path).parent.mkdir(parents=True)
        (project.html / path).write_text('{"cells": []}')

    def render_page(project, name, output, folder, *, profile):
        (folder / "notebooks").mkdir(parents=True)
        (folder / "notebooks" / f"{name}.html").touch()

    monkeypatch.setattr(site, "render_page", render_page)
    with closing(
        Bench(project, place=lambda: Cluster(cluster.scheduler_address, dict), usable=lambda _: None)
    ) as bench:
        asked = bench.ask("01_page", {"n": 4})["id"]
        until(lambda: bench.one(asked)["state"] in ("done", "failed"), within=120)
        assert '"six": 24' in (project.build / "bench" / asked / "notebook.ipynb").read_text()


class TestABook:
    """`gspa build --scheduler`: the pages run on the workers."""

    def ran(self, project, cluster=None, progress=lambda *_: None):
        notebooks = parameters.discover(project).values()
        with Cluster(cluster.scheduler_address, dict) if cluster else pipeline.Here(2, dict) as place:
            return pipeline.run_all(project, notebooks, profile="quick", place=place, progress=progress)

    def test_its_pages_have_the_bytes_that_this_machine_gives(self, cluster, project):
        add(project, "01_page", *SAYS)
        add(project, "02_page", "n * 7")
        at_home = {run.name: run.path.read_bytes() for run in self.ran(project)}
        for kept in project.executed("quick").iterdir():
            kept.unlink()
        states = []
        there = self.ran(project, cluster, lambda name, done, total, state: states.append((name, state)))
        again = self.ran(project, cluster)
        assert {run.name: run.path.read_bytes() for run in there} == at_home
        assert [run.reused for run in again] == [True, True]
        assert {("01_page", "running"), ("01_page", "done"), ("02_page", "done")} <= set(states)
        facts = build_record.facts(there[0])
        assert facts["cpu"] > 0
        assert facts["machine"] == provenance.machine()

    def test_a_page_that_fails_is_told_as_here(self, cluster, project):
        add(project, "01_page", "1 / 0")
        told = []
        for where in (None, cluster):
            with pytest.raises(CheckFailed) as caught:
                self.ran(project, where)
            told.append(str(caught.value))
        assert "notebook 01_page, cell 3 (1 / 0): ZeroDivisionError" in told[0]
        assert told[1] == told[0]
