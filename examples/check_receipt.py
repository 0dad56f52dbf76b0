"""Checks a receipt of Steward's record without Steward: `python check_receipt.py FILE [--home NAME]`.

A receipt (`steward log receipt ID --export FILE`) holds the lines that the record has of one call: that it
waited, who said yes, that it was about to run, what became of it. This program needs only the file and the
package `cryptography`. It recomputes, for each line:

    digest     = sha256(salt + content)
    link       = sha256("steward-link-1" + link before it + number as 8 bytes + digest), line after line
    checkpoint = what the home signed with Ed25519: its name, the last number, the last link, when

A home's name is the beginning of the sha256 of its public key. Compare it with what `steward log verify`
prints there, or give it as --home: a receipt only proves what the owner of that key recorded.
Exit code 0: it is what was recorded. 1: it is not.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def wrong(line: dict[str, Any], home: str | None) -> str | None:
    """Why this line is not what was recorded, by this home if it matters; None when it is."""
    if home not in (None, line["home"]):
        return "another home signed it"
    key = bytes.fromhex(line["public_key"])
    if hashlib.sha256(key).hexdigest()[:32] != line["home"]:
        return "the key is not that home's"
    digest = hashlib.sha256(bytes.fromhex(line["salt"]) + line["content"].encode()).digest()
    link, number = bytes.fromhex(line["before"]), line["number"]
    for each in (digest, *map(bytes.fromhex, line["following"])):
        link = hashlib.sha256(b"steward-link-1" + link + number.to_bytes(8, "big") + each).digest()
        number += 1
    signed = line["checkpoint"]
    if signed["number"] != number - 1:
        return "lines are missing before the checkpoint"
    said = ("steward-checkpoint-1", line["home"], str(number - 1), link.hex(), signed["at"], signed["kind"])
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            bytes.fromhex(signed["signature"]), "\n".join(said).encode()
        )
    except InvalidSignature:
        return "it was changed after it was signed"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a receipt of Steward's record.")
    parser.add_argument("file", type=Path, nargs="?", help="without one, this program checks itself")
    parser.add_argument("--home", help="the name of the home that must have signed it")
    given = parser.parse_args()
    if given.file is None:
        return itself()
    try:
        receipt = json.loads(given.file.read_text(encoding="utf-8"))
        lines = receipt["lines"] if receipt["format"] == "steward-receipt-1" else []
        found = [(json.loads(line["content"]), wrong(line, given.home), line["home"]) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"This is no receipt: {error}")
        return 1
    for content, problem, home in found:
        yes = content.get("approved")
        approved = f", approved by {yes['by']}" if yes else ""
        what = f"{content['tool']} {content['status']}{approved}"
        print(f"{problem or 'ok'}: {content['at']} {what}, home {home}")
    return 0 if found and all(problem is None for _, problem, _ in found) else 1


def itself() -> int:
    """A line made here is found right, and the same line changed is not."""
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw()
    home = hashlib.sha256(public).hexdigest()[:32]
    content, salt, before = '{"tool": "send"}', bytes(16), bytes(32)
    digest = hashlib.sha256(salt + content.encode()).digest()
    link = hashlib.sha256(b"steward-link-1" + before + (1).to_bytes(8, "big") + digest).digest()
    at = "2026-11-16T12:00:00.000000+00:00"
    said = "\n".join(("steward-checkpoint-1", home, "1", link.hex(), at, "through"))
    signed = {"number": 1, "at": at, "kind": "through", "signature": key.sign(said.encode()).hex()}
    line = {"home": home, "public_key": public.hex(), "number": 1, "content": content, "salt": salt.hex()}
    line |= {"before": before.hex(), "following": [], "checkpoint": signed}
    assert wrong(line, home) is None
    assert wrong(line | {"content": '{"tool": "drop"}'}, home) == "it was changed after it was signed"
    print("A line made here was found right, and a changed one was not.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
