"""What makes the record tamper-evident: a chain of links over salted digests, and signed checkpoints.

A line's digest is taken over a random salt and its content. Its link is taken over the link before it, its
number and its digest. A checkpoint signs a link, and so everything up to it. Content and salt stand beside
the chain: without them a digest says nothing about what was in the line, and the chain is as whole as before.

Pure but for the key's file. Does not own where lines are kept (storage) nor when they are linked
(bootstrap/record.py). `examples/check_receipt.py` says the same without Steward: change both or neither.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from steward.contract.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "record.key"
BEGINNING = bytes(32)  # the link before the first line
SALT_BYTES = 16

Kind = Literal["through", "start"]
"""What a checkpoint says: all lines through this one, or that the lines kept start behind this one."""


def digest_of(salt: bytes, content: bytes) -> bytes:
    return hashlib.sha256(salt + content).digest()


def link_of(before: bytes, number: int, digest: bytes) -> bytes:
    return hashlib.sha256(b"steward-link-1" + before + number.to_bytes(8) + digest).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    home: str
    number: int
    link: bytes
    at: datetime
    kind: Kind
    signature: bytes = b""

    def message(self) -> bytes:
        """What is signed."""
        at = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        said = ("steward-checkpoint-1", self.home, str(self.number), self.link.hex(), at, self.kind)
        return "\n".join(said).encode()


def home_of(public_key: bytes) -> str:
    """A home's name in the record is its key's: whoever signs for it has that key."""
    return hashlib.sha256(public_key).hexdigest()[:32]


def signed_by(checkpoint: Checkpoint, public_key: bytes) -> bool:
    # Imported here: only whoever verifies or signs needs it.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(checkpoint.signature, checkpoint.message())
    except (InvalidSignature, ValueError):
        return False
    return home_of(public_key) == checkpoint.home


class Signer:
    """The key of a home, in a file that only its owner reads; made when it is first needed."""

    def __init__(self, home: Path) -> None:
        self._path = home / KEY_FILE

    @cached_property
    def home(self) -> str:
        return home_of(self.public_key)

    @cached_property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def signed(self, *, number: int, link: bytes, at: datetime, kind: Kind = "through") -> Checkpoint:
        unsigned = Checkpoint(home=self.home, number=number, link=link, at=at, kind=kind)
        signature = self._key.sign(unsigned.message())
        return Checkpoint(home=self.home, number=number, link=link, at=at, kind=kind, signature=signature)

    @cached_property
    def _key(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        try:
            kept = self._read()
            if kept is None:
                self._write(Ed25519PrivateKey.generate().private_bytes_raw())
                kept = self._read()  # another program may have been quicker: then its key counts
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(kept or ""))
        except OSError as error:
            raise ConfigError(
                f"The record's key {self._path} cannot be used: {error.strerror}.",
                fix="Check the folder's permissions, or choose another with STEWARD_HOME.",
            ) from error
        except ValueError as error:
            raise ConfigError(
                f"{self._path} is not a key.",
                fix="Restore it. Or remove it: this home then begins a chain of its own.",
            ) from error

    def _read(self) -> str | None:
        try:
            return self._path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None

    def _write(self, key: bytes) -> None:
        """Whole or not at all: written beside its place, then linked there."""
        partial = self._path.with_name(f".{KEY_FILE}.{os.urandom(8).hex()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                os.fchmod(descriptor, 0o600)  # whatever the mask of this program
                file.write(key.hex() + "\n")
                file.flush()
                os.fsync(descriptor)
            with suppress(FileExistsError):
                os.link(partial, self._path)
        finally:
            partial.unlink(missing_ok=True)
