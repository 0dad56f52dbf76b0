"""The JSON-RPC numbers of the library's failures, by our own stable codes (KB-5.1)."""

from collections.abc import Mapping

from steward.contract.errors import ErrorCode

CONFIGURATION, COLLECTION, DOCUMENT, QUERY, SYSTEM = -32001, -32002, -32003, -32004, -32000
_NUMBERS: Mapping[str, int] = {
    "KB_CONFIGURATION": CONFIGURATION,
    ErrorCode.CONFIG_INVALID: CONFIGURATION,
    ErrorCode.CONFIG_MISSING: CONFIGURATION,
    "KB_COLLECTION": COLLECTION,
    "KB_DOCUMENT": DOCUMENT,
    "KB_PATH_FORBIDDEN": DOCUMENT,
    "KB_TOO_LARGE": DOCUMENT,
    "KB_QUERY": QUERY,
}


def wire_number(code: str) -> int:
    return _NUMBERS.get(code, SYSTEM)
