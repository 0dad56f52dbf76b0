"""The program of a reader process: a path a line in, JSON lines out, until the input ends.

A document answers with its head and a line for each block, then an empty line; what cannot be read with one
line that says why. Nobody needs the whole document twice at once.
"""

import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from steward.contract.errors import StewardError
from steward.documents.readers import read_file
from steward.knowledge.model import TOO_LARGE

MEMORY = 2 * 1024**3


def answer(path: Path) -> Iterator[dict[str, Any]]:
    try:
        reading = read_file(path)
    except StewardError as error:
        yield {"error": error.message, "fix": error.fix, "code": error.code}
    except MemoryError:
        yield {
            "error": f"{path.name} needs too much memory.",
            "fix": "Split it into smaller files.",
            "code": TOO_LARGE,
        }
    except OSError as error:
        yield {"error": f"{path.name} cannot be read: {error.strerror}.", "fix": "Check its permissions."}
    except Exception as error:  # noqa: BLE001 - a parser's own mistake must not end the worker
        reason = type(error).__name__
        yield {"error": f"{path.name} cannot be read ({reason}).", "fix": "Open and save it again."}
    else:
        yield {"title": reading.title, "media_type": reading.media_type}
        yield from map(asdict, reading.blocks)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        for part in answer(Path(orjson.loads(line))):
            out.write(orjson.dumps(part) + b"\n")
        out.write(b"\n")
        out.flush()


if __name__ == "__main__":
    main()
