"""The recipe's page: one question, with the commands and the lines of Python that answer it, as they were run."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from gspa.accountant.errors import CheckFailed
from gspa.book import provenance
from gspa.book.fill import fill
from gspa.files import digest, digest_tree, kept, own_folder, write_atomically

CERTIFICATE = "recipe.json"
"""Its name among the site's certificates."""
GROUPS = ((1.0, 40_000), (0.5, 10_000))  # of the example: the budget of a week's report, and how many have it
TABLE = "".join(["eps,count\n", *(f"{eps:g},{count}\n" for eps, count in GROUPS)])
WEEKS, DELTA, TARGET = 52, "1e-6", 1.0  # the delta as it is typed
_ASKED = f"--budgets budgets.csv --delta {DELTA} --mechanism laplace"
COMMANDS = {
    "calibrate": f"gspa calibrate --target-eps {TARGET:g} {_ASKED} --rounds {WEEKS}",
    "certify": f"gspa certify {_ASKED} -o {CERTIFICATE}",
}
LINES = (
    "import gspa",
    f'print(gspa.epsilon(budgets="budgets.csv",\n    delta={DELTA}, mechanism="laplace", rounds={WEEKS}))',
)
# One process for all: the package is imported once.
_CODE = """
import io, json, sys
from contextlib import redirect_stdout
from gspa.cli import run
commands, lines = json.load(sys.stdin)
printed, names = {}, {}
for name, command in commands.items():
    with redirect_stdout(io.StringIO()) as said:
        if run(command.split()[1:]) != 0:
            sys.exit(command)
    printed[name] = said.getvalue()
for line in lines:
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(line, "recipe", "single"), names)
    printed[line] = said.getvalue()
json.dump(printed, sys.stdout)
"""


def page(build: Path) -> tuple[str, str]:
    """The page's body (MyST Markdown) and the certificate; what was run once is kept in `build`."""
    # Only what decides the answers: an edit of the book's own code runs nothing again.
    theory = digest_tree(Path(__file__).parents[1] / "accountant", ("*.py",))
    answers, key = build / "recipe.json", digest(theory, json.dumps([COMMANDS, LINES, TABLE, provenance.versions()]))
    facts = kept(answers)
    if facts.get("key") != key:
        facts = {"key": key, "printed": _printed()}
        write_atomically(answers, json.dumps(facts))
    printed = facts["printed"]
    shown = {name: command.replace(" --delta", " \\\n    --delta") for name, command in COMMANDS.items()}
    factor = float(re.findall(r"times at most ([\d.]+)", printed["calibrate"])[0])
    raised = [math.floor(1000 * factor * eps) / 1000 for eps, _ in GROUPS]
    answered = {
        "first_lines": {name: _first_line(said) for name, said in printed.items()},
        "commands": shown,
        "lines": {line: line.replace("\n", "\n... ") for line in LINES},
        "printed": printed,
        "raised": [f"{eps:g}" for eps in raised],
        "proved": "certified in" in printed[LINES[-1]],
        "unshuffled": f"{WEEKS * raised[0]:.0f}",
        "certificate": CERTIFICATE,
    }
    asked = {"delta": float(DELTA), "target": TARGET, "groups": GROUPS, "users": sum(count for _, count in GROUPS)}
    return fill("recipe.md", table=TABLE, **asked, **answered), printed[CERTIFICATE]


def _first_line(said: str) -> str:
    first, end, more = said.partition("\n")
    return first + end + ("...\n" if more else "")


def _printed() -> dict[str, Any]:
    """What the commands and the lines print, by themselves, and the certificate by its file's name."""
    with own_folder("gspa-recipe-") as folder:
        (folder / "budgets.csv").write_text(TABLE, encoding="utf-8")
        asked = json.dumps([COMMANDS, LINES])
        done = subprocess.run([sys.executable, "-c", _CODE], cwd=folder, input=asked, capture_output=True, text=True)
        if done.returncode != 0:
            raise CheckFailed(f"the recipe's page: {done.stderr.strip()}")
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed | {CERTIFICATE: (folder / CERTIFICATE).read_text(encoding="utf-8")}
