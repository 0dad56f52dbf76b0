"""References whose form a tool's schema shows by an example: "for example RB-1042" takes no "LC310".

Owns what form a reference has, and which forms a slot's description shows. Pure text.
"""

from functools import lru_cache

from steward.contract import linear_re as re
from steward.language.slots import Schema, SlotKind, slots_of

# Letters, then figures: "RB-1042", "lc310", "INC/2044".
_REFERENCE = re.compile(r"(?:^|[^\w@./-])(?P<letters>[A-Za-z]{1,5})[-/_]?\d{2,12}(?:$|[^\w@/-])")
_EXAMPLE = re.compile(
    r"\b(?:for example|for instance|e\.g\.|eg|such as|like|example:?)\s+(?P<shown>.*)$", re.IGNORECASE
)


@lru_cache(maxsize=2_048)
def forms_in(text: str) -> frozenset[str]:
    """The letters that the references in a text begin with."""
    return frozenset(found["letters"].upper() for found in _REFERENCE.finditer(text))


def shown_forms(schema: Schema) -> frozenset[str]:
    """The forms of references that a tool cannot do without."""
    needed = [slot for slot in slots_of(schema) if slot.required and slot.kind is SlotKind.TEXT]
    return frozenset(form for slot in needed for form in _shown(slot.described))


@lru_cache(maxsize=2_048)
def _shown(described: str) -> frozenset[str]:
    example = _EXAMPLE.search(described)
    return frozenset() if example is None else forms_in(example["shown"])
