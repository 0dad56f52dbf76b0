"""What programs that were killed left in the home: code that ran, uploads that broke off.

Owns knowing them by their names, which carry the process id of whoever made them. Touches nothing else, and
nothing of a process that lives.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from steward.bootstrap.tools.local_tools import CODE_FOLDER
from steward.contract import linear_re as re
from steward.providers.code_execution import PROGRAM
from steward.settings import Settings

logger = logging.getLogger(__name__)

_PROGRAM = re.compile(re.escape(PROGRAM) + r"(?:(\d+)-)?[0-9a-f]{8}")
_UPLOAD = re.compile(r"\.(\d+)-\w{8}")


def sweep(settings: Settings) -> None:
    """Never fails: what cannot be removed now goes with a later start."""
    swept = 0
    for path in _left_over(settings):
        with suppress(OSError):
            path.unlink()
            swept += 1
    if swept:
        logger.info("leftovers_swept", extra={"files": swept})


def _left_over(settings: Settings) -> Iterator[Path]:
    places = ((settings.home / CODE_FOLDER, "*", _PROGRAM), (settings.uploads_folder, "*/*", _UPLOAD))
    for folder, pattern, shape in places:
        for path in folder.glob(pattern):
            found = shape.fullmatch(path.name)
            if found is not None and path.is_file() and not _lives(found[1]):
                yield path


def _lives(pid: str | None) -> bool:
    if pid is None:  # from before names carried it
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
