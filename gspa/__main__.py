"""The `gspa` command: parse, run, and turn every deliberate error into one line."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Entry point of the console script; 0 ok, 1 a check failed, 2 bad input, 130 interrupted."""
    try:
        from gspa.cli import run
    except ModuleNotFoundError as error:
        print(f"gspa: needs {error.name}, which is not installed: pip install 'gspa[cli]'", file=sys.stderr)
        sys.exit(2)
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, signal.default_int_handler)  # ended so, a command clears up as after Ctrl-C
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
