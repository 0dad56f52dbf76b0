"""Which mechanism holds on this machine, found by trying each on a file that must not be seen.

Owns the order: bubblewrap where it is installed, else our own namespaces, else Landlock; sandbox-exec on
macOS. Blocks for some milliseconds: async callers use a thread. The answer is kept, as kernels do not change.
"""

import logging
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from steward.providers.containment.plan import Containment, Mechanism
from steward.providers.containment.wrappers import SEATBELT, find_bubblewrap
from steward.providers.supervised import SUPERVISOR

logger = logging.getLogger(__name__)

_SECONDS = 10
_LOOK = '! (: < "$1") 2>/dev/null && (: < "$2")'


@cache
def strongest() -> Mechanism:
    """The first mechanism that keeps its word here."""
    return next((mechanism for mechanism in _candidates() if holds(mechanism)), Mechanism.NONE)


def _candidates() -> list[Mechanism]:
    if sys.platform == "darwin":
        return [Mechanism.SEATBELT] if Path(SEATBELT).exists() else []
    if not sys.platform.startswith("linux"):
        return []
    wrapped = [Mechanism.BUBBLEWRAP] if find_bubblewrap() else []
    return [*wrapped, Mechanism.NAMESPACES, Mechanism.LANDLOCK]


def holds(mechanism: Mechanism) -> bool:
    """Whether a program contained so cannot read what is hidden, and can read what is not."""
    with tempfile.TemporaryDirectory(prefix="steward-probe-") as name:
        folder = Path(os.path.realpath(name))
        secret, plain = folder / "hidden" / "secret", folder / "plain"
        secret.parent.mkdir()
        secret.touch()
        plain.touch()
        containment = Containment(mechanism=mechanism, hidden=(secret.parent,))
        words = containment.confine("probe", folder).words()
        return _tried([*words, "sh", "-c", _LOOK, "sh", str(secret), str(plain)], mechanism)


def _tried(words: list[str], mechanism: Mechanism) -> bool:
    lifeline, ours = os.pipe()
    try:
        tried = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", str(SUPERVISOR), str(lifeline), *words],
            pass_fds=(lifeline,), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
            check=False, env={"PATH": os.defpath},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.info("containment_unavailable", extra={"mechanism": mechanism, "problem": str(error)})
        return False
    finally:
        os.close(lifeline)
        os.close(ours)
    if tried.returncode != 0:
        said = tried.stderr.decode(errors="replace").strip()[-300:]
        logger.info("containment_unavailable", extra={"mechanism": mechanism, "problem": said})
    return tried.returncode == 0
