"""Addresses in an answer: those that the person or a tool named, and no others."""

from collections.abc import Sequence

from steward.agents.researcher.evidence import STORE
from steward.agents.researcher.questions import ADDRESS
from steward.agents.turn.results import as_text
from steward.conversations.model import CallRecord

UNNAMED = "(an address that no tool returned)"


def with_known_addresses(text: str, said: str, records: Sequence[CallRecord]) -> str:
    if "://" not in text:
        return text
    # What was stored are the answer's own words; they prove nothing.
    seen = [f"{as_text(dict(each.arguments))} {as_text(each.data)}" for each in records if each.tool != STORE]
    known = f"{said} {' '.join(seen)}"
    return ADDRESS.sub(lambda found: found[0] if found[0].rstrip("/") in known else UNNAMED, text)
