"""Runs a command in a terminal of its own, under a program that waits for it as make does.

Prints the command's first line that names an address. A line on standard input closes the terminal; what the
command then ends with is the exit code, and 9 where it does not end.
"""

import os
import pty
import signal
import subprocess
import sys
import time

SECONDS_TO_END = 30.0


def wait_like_make(command: list[str]) -> int:
    signal.signal(signal.SIGHUP, lambda *_: None)
    return subprocess.run(command, check=False).returncode


def main() -> int:
    session, terminal = pty.fork()
    if session == 0:
        os._exit(wait_like_make(sys.argv[1:]))
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        shown = b""
        while b"http" not in shown or not shown.endswith(b"\n"):
            shown += screen.read(1)
        print(shown.decode(), flush=True)
        sys.stdin.readline()
    deadline = time.monotonic() + SECONDS_TO_END
    while time.monotonic() < deadline:
        ended, status = os.waitpid(session, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(session, signal.SIGKILL)
    return 9


if __name__ == "__main__":
    sys.exit(main())
