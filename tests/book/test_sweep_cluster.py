"""Sweeps on a Dask cluster: a local one of two workers, where dask.distributed is installed."""

from __future__ import annotations

import shlex
import warnings

import pytest
from small_project import add, make

pytest.importorskip("distributed")

from gspa.accountant.errors import GspaError, InvalidValue
from gspa.algorithms.cli import identity
from gspa.book import provenance, sweep
from gspa.book.sweep import Cluster
from gspa.cli import run

# What Dask warns of, such as a busy port, is not ours.
# Slow: a scheduler, two workers and real kernels.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pipeline"), pytest.mark.filterwarnings("ignore")]

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


@pytest.fixture
def here(tmp_path, monkeypatch):
    project = make(tmp_path / "project")
    monkeypatch.chdir(project.root)
    return project


def test_the_rows_are_those_that_this_machine_gives(cluster, here):
    add(here, "01_page", *SAYS)
    for name, where in (("there", f"--scheduler {cluster.scheduler_address}"), ("here", "--jobs 1")):
        assert run(shlex.split(f"sweep 01_page -p n 1,2,3 {where} -o {name}.csv")) == 0
    there, at_home = (sweep.read_table(f"{name}.csv") for name in ("there", "here"))
    same = ["n", "six", "versions", "source", "key"]
    assert there[same].equals(at_home[same])
    assert set(there["worker"]).isdisjoint(at_home["worker"])


def test_a_notebook_runs_on_both_workers_and_one_that_dies_is_replaced(cluster, here, capsys):
    flag = here.root / "died"
    dies = (
        f"import pathlib, psutil\nflag = pathlib.Path({str(flag)!r})\n"
        "if n == 2 and not flag.exists():\n    flag.touch()\n    psutil.Process().parents()[2].kill()"
    )
    add(here, "01_page", dies, *SAYS, "if n == 13: raise ValueError('thirteen')")
    line = f"sweep 01_page -p n 1,2,13 --scheduler {cluster.scheduler_address} -o t.csv"
    assert run(shlex.split(line)) == 1
    assert flag.exists()
    assert "2 done, 0 of them before, 1 failed" in capsys.readouterr().out
    rows = sweep.read_table("t.csv")
    assert rows["six"].tolist()[:2] == [6, 12]
    assert "thirteen" in rows["error"].iloc[2]
    assert rows["worker"].nunique() >= 2
    # The same command goes on: only what failed is tried again.
    assert run(shlex.split(line)) == 1
    assert "2 done, 2 of them before, 1 failed" in capsys.readouterr().out


def test_no_scheduler_there(here, capsys, tmp_path):
    add(here, "01_page", *SAYS)
    assert run(shlex.split("sweep 01_page --scheduler nonsense://x")) == 2
    with pytest.raises(InvalidValue, match="a scheduler file that exists"):
        Cluster(str(tmp_path / "none.json"), identity)
    err = capsys.readouterr().err
    assert "must be the address of a running Dask scheduler" in err
    assert "Traceback" not in err


def test_workers_of_another_gspa_are_refused(cluster, monkeypatch):
    place = Cluster(cluster.scheduler_address, identity)
    try:
        monkeypatch.setattr(provenance, "source_digest", lambda: "another")
        with pytest.raises(GspaError, match=r"worker tcp://.*: has another gspa than this machine"):
            place.identity(needs_data=False)
    finally:
        place.close()
