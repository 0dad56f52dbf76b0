"""The program of a reader process: a path a line in, one JSON object a line out, until the input ends."""

import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from steward.contract.errors import StewardError
from steward.documents.readers import read_file

MEMORY = 2 * 1024**3


def answer(path: str) -> dict[str, Any]:
    try:
        reading = read_file(Path(path))
    except StewardError as error:
        return {"error": error.message, "fix": error.fix}
    except MemoryError:
        return {"error": f"{Path(path).name} needs too much memory.", "fix": "Split it into smaller files."}
    except OSError as error:
        return {
            "error": f"{Path(path).name} cannot be read: {error.strerror}.",
            "fix": "Check its permissions.",
        }
    except Exception as error:  # noqa: BLE001 - a parser's own mistake must not end the worker
        name = Path(path).name
        return {"error": f"{name} cannot be read ({type(error).__name__}).", "fix": "Open and save it again."}
    return {
        "title": reading.title,
        "media_type": reading.media_type,
        "blocks": [asdict(block) for block in reading.blocks],
    }


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(orjson.dumps(answer(orjson.loads(line))) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
