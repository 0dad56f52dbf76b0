"""How a request and one tool are laid out for the reader: a row of tokens with marks in it.

    [CLS] request [SEP] [tool] name: description [slot] name kind: description [choice] … [SEP]

Teaching and reading lay out alike, because both do it here. Needs nothing but a tokenizer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steward.language.slots import Schema, Slot, SlotKind, slots_of, words_of

CLS, SEP = 101, 102
TOOL, SLOT, CHOICE = 1, 2, 3  # pieces of the vocabulary that no text contains
LONGEST = 512
LONGEST_REQUEST = 200
# Tokens of a description, of a slot and of a choice, and choices of a slot: what says most comes first.
DESCRIPTION, SLOT_TOKENS, CHOICE_TOKENS, CHOICES = 48, 32, 8, 20
CHARACTERS = 260  # of a description that are looked at


class Encoded(Protocol):
    """What a tokenizer gives for a text."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def offsets(self) -> list[tuple[int, int]]: ...


Encode = Callable[[str], Encoded]


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as the reader takes it in; made once for a tool."""

    name: str
    slots: tuple[Slot, ...]
    ids: tuple[int, ...]
    slot_marks: tuple[int, ...]  # where each slot begins in `ids`
    choice_marks: tuple[tuple[int, Any, int], ...]  # slot, value, where it begins


@dataclass(frozen=True, slots=True)
class Layout:
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]  # of the request's tokens, in characters
    tool_at: int  # where the second segment begins
    slots: tuple[Slot, ...]
    slot_marks: tuple[int, ...]
    choices: tuple[tuple[int, Any], ...]  # slot and value
    choice_marks: tuple[int, ...]
    choice_slots: tuple[int, ...]  # the mark of the slot that each choice belongs to

    @property
    def request_tokens(self) -> int:
        return len(self.offsets)


def tool_text(name: str, description: str, schema: Schema, encode: Encode) -> ToolText:
    ids = [TOOL, *encode(words_of(name)).ids[:24], *encode(f": {_cut(description)}").ids[:DESCRIPTION]]
    slots: list[Slot] = []
    slot_marks: list[int] = []
    choice_marks: list[tuple[int, Any, int]] = []
    for slot in slots_of(schema):
        slots.append(slot)
        slot_marks.append(len(ids))
        ids += [SLOT, *encode(_told(slot)).ids[:SLOT_TOKENS]]
        for choice in slot.choices[:CHOICES]:
            choice_marks.append((len(slots) - 1, choice, len(ids)))
            ids += [CHOICE, *encode(words_of(str(choice)).lower()).ids[:CHOICE_TOKENS]]
    return ToolText(name, tuple(slots), tuple(ids), tuple(slot_marks), tuple(choice_marks))


def lay_out(request: Encoded, tool: ToolText) -> Layout:
    """One row. What does not fit is left out from the end: the last slots, then their choices."""
    asked = request.ids[:LONGEST_REQUEST]
    base = len(asked) + 2
    ids = [CLS, *asked, SEP, *tool.ids][: LONGEST - 1]
    end = len(ids)
    ids.append(SEP)
    marks = [base + mark for mark in tool.slot_marks if base + mark < end]
    choices = [each for each in tool.choice_marks if base + each[2] < end]
    return Layout(
        ids=tuple(ids),
        offsets=tuple(request.offsets[:LONGEST_REQUEST]),
        tool_at=base,
        slots=tool.slots[: len(marks)],
        slot_marks=tuple(marks),
        choices=tuple((slot, value) for slot, value, _ in choices),
        choice_marks=tuple(base + mark for _, _, mark in choices),
        choice_slots=tuple(marks[slot] for slot, _, _ in choices),
    )


def _told(slot: Slot) -> str:
    kind = f"list of {slot.item}" if slot.kind is SlotKind.LIST else str(slot.kind)
    return f"{words_of(slot.name)} {kind}{' needed' if slot.required else ''}: {_cut(slot.described)}"


def _cut(text: str) -> str:
    return " ".join(text[:CHARACTERS].split())


def tokens_of(spans: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of characters as spans of tokens, first and last."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        inside = [at for at, (left, right) in enumerate(offsets) if left < end and right > start]
        if inside:
            found.append((inside[0], inside[-1]))
    return found
