"""Where a page ended: the last row's time and id, as one opaque word. Rows added meanwhile shift nothing."""

import base64
import binascii
from datetime import datetime

from steward.contract.errors import InputError


def encode(created_at: datetime, row_id: str) -> str:
    return base64.urlsafe_b64encode(f"{created_at.isoformat()} {row_id}".encode()).decode().rstrip("=")


def decode(cursor: str | None) -> tuple[datetime | None, str]:
    if cursor is None:
        return None, ""
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        time, _, row_id = packed.decode().partition(" ")
        created_at = datetime.fromisoformat(time)
        if created_at.tzinfo is None:
            raise ValueError("no time zone")
    except (ValueError, binascii.Error) as error:
        raise InputError(
            "This is not the 'next' of a page.", fix="Start without it, or use the page's own word."
        ) from error
    return created_at, row_id
