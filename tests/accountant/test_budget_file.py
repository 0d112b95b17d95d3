"""Budgets from CSV files: what is read, and which line a refusal names."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from gspa.accountant import budgets
from gspa.accountant.budgets import BLOCK, read
from gspa.accountant.errors import InvalidBudget, UnknownName
from gspa.accountant.one_round import central_epsilon


def write(folder, text):
    path = folder / "users.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "users.csv line 1 = '': must be a header: eps[,delta][,count]"),
        ("0.5\n0.6\n", "users.csv line 1 = '0.5': must be a header"),
        ("eps\n", "must be a file with rows below its header"),
        ("eps,delta\n\n\n", "users.csv = 'eps,delta': must be a file with rows below its header"),
        ("delta\n0\n", "users.csv line 1 = 'delta': must be a header with a column eps"),
        ("eps,eps\n1,1\n", "must be a header that names each column once"),
        ("eps\n0.5\nnan\n", "users.csv line 3, column eps = 'nan': must be a finite number >= 0"),
        ("eps\n0.5\n\n-1\n", "users.csv line 4, column eps = '-1': must be a finite number >= 0"),
        ("eps,delta\n0.5,0\n1,x\n", "users.csv line 3, column delta = 'x': must be in [0, 1)"),
        ("eps,delta\n0.5,1\n", "users.csv line 2, column delta = '1': must be in [0, 1)"),
        ("eps,count\n0.5,0\n", "users.csv line 2, column count = '0': must be an integer >= 1"),
        ("eps,count\n0.5,1.5\n", "users.csv line 2, column count = '1.5': must be an integer >= 1"),
        ("eps,delta\n0.5\n", "users.csv line 2 = '0.5': must be 2 values: eps,delta"),
        ("eps\n0.5,0.6\n", "users.csv line 2 = '0.5,0.6': must be 1 values: eps"),
        ("eps,delta\n0.5,\n", "users.csv line 2, column delta = '': must be in [0, 1)"),
        ("eps\n1_0\n", "must be a CSV file of plain numbers"),
    ],
)
def test_refusals_name_line_and_column(tmp_path, text, words):
    with pytest.raises(InvalidBudget) as refusal:
        read(write(tmp_path, text))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_unknown_column_gets_a_suggestion(tmp_path):
    with pytest.raises(UnknownName, match=r"users.csv: column 'epss': does not exist; did you mean 'eps'\?"):
        read(write(tmp_path, "epss\n1\n"))
    with pytest.raises(UnknownName, match=r"column 'weight': does not exist"):
        read(write(tmp_path, "eps,weight\n1,1\n"))


def test_no_such_file_a_folder_or_binary(tmp_path):
    with pytest.raises(InvalidBudget, match="readable CSV file; No such file or directory"):
        read(tmp_path / "absent.csv")
    with pytest.raises(InvalidBudget, match="readable CSV file; Is a directory"):
        read(tmp_path)
    path = tmp_path / "users.csv"
    path.write_bytes(b"eps\n\xff\xfe\n")
    with pytest.raises(InvalidBudget, match="a CSV file in UTF-8"):
        read(path)


class TestManyRows:
    SIZE = 5 * BLOCK + 7

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            ("-1,0", ", column eps = '-1': must be a finite number >= 0"),
            ("0.5,1", ", column delta = '1': must be in [0, 1)"),
            ("0.5,x", ", column delta = 'x': must be in [0, 1)"),
            ("0.5", " = '0.5': must be 2 values: eps,delta"),
            ("0.5,0,1", " = '0.5,0,1': must be 2 values: eps,delta"),
        ],
    )
    @pytest.mark.parametrize("at", [0, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK, SIZE - 1])
    def test_the_first_bad_row_is_named(self, tmp_path, bad, words, at):
        rows = ["0.5,1e-6"] * self.SIZE
        rows[at] = bad
        for later in range(at + 1, self.SIZE, BLOCK // 2):
            rows[later] = "nan,nan"
        with pytest.raises(InvalidBudget) as refusal:
            read(write(tmp_path, "\n".join(["eps,delta", *rows])))
        assert str(refusal.value) == f"users.csv line {at + 2}{words}"

    def test_blank_lines_count_as_lines(self, tmp_path):
        text = "eps\n" + "0.5\n\n" * self.SIZE
        with pytest.raises(InvalidBudget, match=f"^users.csv line {2 * self.SIZE + 2}, column eps = 'x'"):
            read(write(tmp_path, text + "x\n"))
        assert read(write(tmp_path, text))["eps"].size == self.SIZE

    @pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, SIZE])
    def test_every_row_is_read_in_order(self, tmp_path, size):
        found = read(write(tmp_path, "\n".join(["count,eps", *(f"{k},{k / 8}" for k in range(1, size + 1))])))
        assert list(found) == ["count", "eps"]
        np.testing.assert_array_equal(found["count"], np.arange(1, size + 1))
        np.testing.assert_array_equal(found["eps"], np.arange(1, size + 1) / 8)

    def test_a_bad_last_row_costs_little_more_than_reading(self, tmp_path):
        path = write(tmp_path, "eps,delta,count\n" + "0.5,1e-6,3\n" * 300_000 + "0.5,1e-6,0\n")
        with pytest.raises(InvalidBudget, match="line 300002, column count = '0'"):
            read(path)

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory that Linux counts")
    def test_a_million_rows_are_answered_by_one_small_process(self, tmp_path):
        eps = np.random.default_rng(0).uniform(0.01, 1, 10**6)
        path = write(tmp_path, "eps\n" + "\n".join(map(repr, eps.tolist())))
        # The peak since the program began; what `wait4` tells would hold the memory of this test's process too.
        peak = "import atexit, re; from pathlib import Path; from gspa.__main__ import main; atexit.register(lambda: "
        peak += "print(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])); main()"
        command = [sys.executable, "-c", peak, "epsilon", "--budgets", str(path), "--delta", "1e-6", "--json"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        answered = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        *text, kibibytes = answered.stdout.splitlines()
        answer = json.loads("\n".join(text))
        bound = central_epsilon(budgets.from_array(eps), delta=1e-6)
        assert (answer["n"], answer["lower"], answer["upper"]) == (10**6, bound.lower, bound.upper)
        assert int(kibibytes) < 300 * 1024
