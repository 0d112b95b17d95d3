"""Data sets, experiments, sweeps and claims: how their arguments are drawn."""

from __future__ import annotations

from pathlib import Path

import fuzz_runs as runs
from fuzz_values import (
    Kind,
    array,
    count,
    either,
    known_to,
    lists_of,
    name,
    number,
)

from gspa.budgets import DISTRIBUTIONS
from gspa.sweep_experiments import EXPERIMENTS

LEFT_OUT = {
    "claims.checks.settles": "a decorator for this package's own checks",
    "claims.checks.checks": "takes nothing and loads every check",
    "claims.checks.verify": "runs whole checks: tests/claims does; its names are drawn on the command line",
    "claims.checks.settle": "runs whole checks: tests/claims does",
    "claims.checks.differs": "takes the package's own two records",
    "datasets.load": "reads what is on this machine; its names are drawn on their own",
    "datasets.banner": "takes nothing but a data set",
    "datasets.status": "takes nothing: tests/test_datasets.py",
    "datasets.fetch": "takes nothing and downloads: tests/test_datasets.py",
    "experiments.figure4": "the whole experiment of a page: tests/test_experiments.py",
    "experiments.final_table": "takes only tables of trainings: tests/test_experiments.py",
    "sweep.run": "starts processes: tests/test_sweep.py; its settings are drawn below and on the command line",
    "sweep.write_table": "writes files: tests/test_sweep.py, and `TestMended`",
    "sweep.table": "takes the package's own records: tests/test_sweep.py",
}

_HERE = Path(__file__).parent
_VALUES = known_to([10, 100, "10", " 10 ", 10.0])
_SWEPT = {
    "n": count(10, 60),
    "f_conservative": number(0, 0.91),
    "eps_conservative": number(0.05, 0.5),
    "repeats": count(2, 5),
}

OWN: dict[str, dict[str, Kind]] = {
    "datasets.project": {"components": count(1, 8), "cache": either(False)},
    "experiments.setting_label": {"name": name("no noise", *DISTRIBUTIONS)},
    "experiments.budget_matrix": {"name": name("unif1", "constant")},
    "comparison.reached_from": {"percent": number(1, 90)},
    "comparison.extremes": {"budgets_near_zero": array(1e-6, 1e-2)},
    "sweep.target": {"name": name(*EXPERIMENTS, "01_page"), "project": either(runs.no_project)},
    "sweep.values_of": {"name": name("n", "eps", "mechanism"), "text": name("1", "1,2", "1, 2 ,3", ",", "1;2")},
    "sweep.rows_of": {"path": either(*(Path(place) for place in (_HERE / "users.csv", _HERE, "a\0b", "", "none.csv")))},
    "sweep.settings": {
        "axes": either({}, {"n": [1, 2]}, {"n": ["1", "x"]}, {"m": [1]}, {"n": []}, {"eps": [0.5, float("nan")]}),
        "rows": either([{}], [], [{"eps": "0.5"}, {"n": "3"}], [{"eps": None}], [{"k": "9" * 5000}]),
        "profile": name("paper", "quick"),
    },
    "sweep.check_output": {"output": either(*(Path(place) for place in ("x.csv", "a\0b.csv", "x.txt", "/", "é.csv")))},
    "sweep.read_table": {
        "path": either(*(str(_HERE / place) for place in ("swept.csv", "users.csv", "none.csv", "a\0b.csv", "x" * 999)))
    },
    "sweep.results_of": {"rows": either(runs.SWEPT), "parameters": lists_of(name("n"))},
    "sweep_experiments.epsilon": {
        "eps": number(0.05, 2),
        "mechanism": name("rr", "krr", "laplace"),
        "rounds": count(1, 3),
    },
    "sweep_experiments.mean": _SWEPT,
    "sweep_experiments.frequency": _SWEPT,
    "sweep_experiments.training": {"setting": name("mixed", "no noise"), "learning_rate": number(0.01, 0.5)},
}
