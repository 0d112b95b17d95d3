"""The `gspa` command: parse, run, and turn every deliberate error into one line."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the console script; 0 ok, 1 a check failed, 2 bad input, 130 interrupted."""
    try:
        from gspa.cli import run
    except ModuleNotFoundError as error:
        print(f"gspa: needs {error.name}, which is not installed: pip install 'gspa[cli]'", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
