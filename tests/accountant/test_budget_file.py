"""Budgets from CSV files: what is read, and which line a refusal names."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from gspa.accountant import budgets
from gspa.accountant.budgets import read
from gspa.accountant.errors import GspaError, InvalidBudget
from gspa.accountant.one_round import central_epsilon
from gspa.cli import run

BLOCK = 4096  # rows


def write(folder, text):
    path = folder / "users.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "users.csv line 1 = '': must be a header: eps[,delta][,count]"),
        ("0.5\n0.6\n", "users.csv line 1 = '0.5': must be a header"),
        ("eps|count\n0.5|10\n", "line 1 = 'eps|count': must be a header: eps[,delta][,count]"),
        ("eps\n" + "1" * 60_000 + "x\n", "line 2, column eps = '111"),  # hours if its digits are parted in all ways
        ("eps\n", "must be a file with rows below its header"),
        ("delta\n0\n", "users.csv line 1 = 'delta': must be a header: eps[,delta][,count]"),
        ("eps,eps\n1,1\n", "users.csv line 1 = 'eps,eps': must be a header: eps[,delta][,count]"),
        ("eps\n0.5\nnan\n", "users.csv line 3, column eps = 'nan': must be a finite number >= 0"),
        ("eps\n0.5\n\n-1\n", "users.csv line 4, column eps = '-1': must be a finite number >= 0"),
        ("eps,delta\n0.5,0\n1,x\n", "users.csv line 3, column delta = 'x': must be in [0, 1)"),
        ("eps,count\n0.5,1.5\n", "users.csv line 2, column count = '1.5': must be an integer >= 1"),
        ("eps,delta\n0.5\n", "users.csv line 2 = '0.5': must be 2 values: eps,delta"),
        ("eps,delta\n1,0\n0,5,0\n", "line 3 = '0,5,0': must be 2 values: eps,delta; decimal commas need semicolons"),
        ("eps\n1\n1_000\n", "users.csv line 3, column eps = '1_000': must be a finite number >= 0; write it with"),
        ("eps,count\n1,1０\n", "users.csv line 2, column count = '1０': must be an integer >= 1; write it with"),
        ('eps,count\n1,"1,000"\n', "users.csv line 2, column count = '1,000': must be an integer >= 1; write it with"),
        (
            "eps;count\n0,5;1.000\n",
            "line 2, column count = '1.000': must be an integer >= 1; the numbers above it have",
        ),
        ("eps;count\n2;1.000\n1;3\n", "line 2, column count = '1.000': must be a number with an unambiguous decimal"),
        ("eps\tcount\n1,125\t3\n", "line 2, column eps = '1,125': must be a number with an unambiguous decimal mark"),
        ("eps;count,delta\n1;2,0\n", "line 1 = 'eps;count,delta': must be a header: eps[,delta][,count]"),
        ("eps,,count\n1,,2\n1,x,2\n", "line 3, column 2 = 'x': must be empty, as its name is; delete the column"),
        (",eps\n0,1\n1,\n", "users.csv line 3, column eps = '': must be a finite number >= 0; fill it in, or delete"),
        ("eps\n" + "9" * 70_000, "users.csv line 2 = '999"),
    ],
)
def test_refusals_name_line_and_column(tmp_path, text, words):
    with pytest.raises(GspaError) as refusal:
        read(write(tmp_path, text))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 250


GROUPS = {"eps": [0.5, 1.25e-6, 2.0], "count": [10.0, 3.0, 1500.0]}


@pytest.mark.parametrize(
    "text",
    [
        "eps,count\n.5,10\n1.25E-6,3\n+2,1500\n",
        "eps;count\n0,5;10\n1,25e-6;3\n2;1500\n",
        "sep=;\neps;count\n0,5;10\n1,25e-6;3\n2;1500\n",
        "eps;count\r\n0.5;10\r\n1.25e-6;3\r\n2;1500.000\r\n",
        "eps\tcount\n0,500\t10\n1,25e-6\t3\n2,000\t1500\n",
        ",eps,count\n0,0.5,10\n1,1.25e-6,3\n2,2,1500\n",
        '"","eps","count"\n"a",0.5,10\n"b",1.25e-6,3\n"c",2,1500\n',
        "Unnamed: 0.1,Unnamed: 0,eps,count\n0,x,0.5,10\n1,y,1.25e-6,3\n2,z,2,1500\n",
        "\n;;\neps;count;\n0,5;10;\n;;\n\n1,25e-6;3;\n \n2;1500\n;;\n",
        "eps,,count,,\n0.5,,10,,\n,,,,\n1.25e-6,,3,,\n2,,1500,,\n,\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_as_spreadsheets_and_pandas_write_them(tmp_path, text, encoding):
    path = tmp_path / "users.csv"
    path.write_text(text, encoding=encoding, newline="")
    assert {name: values.tolist() for name, values in read(path).items()} == GROUPS


def test_what_pandas_writes_is_what_is_read(tmp_path):
    frame = pd.DataFrame({"eps": np.random.default_rng(0).uniform(0, 1, 3 * BLOCK), "count": 3})
    for options in ({}, {"sep": ";", "decimal": ","}, {"sep": "\t"}, {"index": False, "sep": ";"}, {"quoting": 1}):
        frame.to_csv(tmp_path / "users.csv", **options)
        found = read(tmp_path / "users.csv")
        assert list(found) == ["eps", "count"]
        np.testing.assert_array_equal(found["eps"], frame["eps"])
        np.testing.assert_array_equal(found["count"], frame["count"])


@pytest.mark.parametrize("start", [b"PK\x03\x04\x14\0", b"\xd0\xcf\x11\xe0\xa1\xb1"])
def test_a_workbook_is_to_be_saved_as_csv(tmp_path, start):
    (tmp_path / "users.csv").write_bytes(start + bytes(1000))
    with pytest.raises(
        InvalidBudget, match=r"^users.csv = .*: must be a CSV file; this is a workbook: save it as CSV$"
    ):
        read(tmp_path / "users.csv")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names a pipe as Linux does")
@pytest.mark.parametrize(("mechanism", "name"), [("rr", "eps"), ("gaussian", "sigma")])
def test_a_pipe_is_read_once_and_answers_as_a_file(tmp_path, capsys, mechanism, name):
    line = ["epsilon", "--delta", "1e-2", "--mechanism", mechanism, "--budgets"]
    for rows, status in (("2,10\n2,30\n", 0), ("2,10\n2,x\n", 2)):
        path = write(tmp_path, f"{name},count\n{rows}")
        reads, writes = os.pipe()
        os.write(writes, path.read_bytes())
        os.close(writes)
        try:
            assert run([*line, f"/dev/fd/{reads}"]) == status
        finally:
            os.close(reads)
        piped = capsys.readouterr()
        assert run([*line, str(path)]) == status
        plain = capsys.readouterr()
        assert plain.out == piped.out
        assert plain.err == piped.err.replace(f"gspa: {reads} line", "gspa: users.csv line")
    assert plain.err.startswith("gspa: users.csv line 3, column count = 'x': must be an integer >= 1; write it with")


class TestManyRows:
    SIZE = 5 * BLOCK + 7

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            ("-1,0", ", column eps = '-1': must be a finite number >= 0"),
            ("0.5,1", ", column delta = '1': must be in [0, 1)"),
            ("0.5,x", ", column delta = 'x': must be in [0, 1); write it with the digits 0 to 9 and a decimal point"),
            ("0.5", " = '0.5': must be 2 values: eps,delta; complete or delete the row"),
            ("0.5,0,1", " = '0.5,0,1': must be 2 values: eps,delta; decimal commas need semicolons"),
        ],
    )
    @pytest.mark.parametrize("at", [0, BLOCK - 1, BLOCK, SIZE - 1])
    def test_the_first_bad_row_is_named(self, tmp_path, bad, words, at):
        rows = ["0.5,1e-6"] * self.SIZE
        rows[at] = bad
        for later in range(at + 1, self.SIZE, BLOCK // 2):
            rows[later] = "nan,nan"
        with pytest.raises(InvalidBudget) as refusal:
            read(write(tmp_path, "\n".join(["eps,delta", *rows])))
        assert str(refusal.value).startswith(f"users.csv line {at + 2}{words}")

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

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory that Linux counts")
    @pytest.mark.parametrize("rows", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
    def test_a_million_rows_are_answered_by_one_small_process(self, tmp_path, rows):
        eps = np.random.default_rng(0).uniform(0.01, 1, rows)
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
        assert (answer["n"], answer["lower"], answer["upper"]) == (rows, bound.lower, bound.upper)
        assert int(kibibytes) < 300 * 1024
