"""What the soak's clients asked for and what they heard: all that the checker believes.

Every operation carries a marker of its own, which comes back in titles, arguments and effects.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    TASK = "task added"
    KEYED = "task with a key, repeated until heard"
    COMPLETED = "task completed"
    FACT = "memory stored"
    TURN = "turn that adds a task"
    CALL = "call of an MCP server"
    APPROVED = "approved call of a Python tool"
    TOLLED = "approved call of an MCP server"
    DELETED = "yes to a deletion, in a conversation"
    JOB = "call in the background"
    REMINDER = "reminder by webhook"


APPROVALS = frozenset({Kind.APPROVED, Kind.TOLLED})
# What leaves a line in the receiver's file each time it happens.
EFFECTS = frozenset({Kind.CALL, Kind.APPROVED, Kind.TOLLED, Kind.JOB})


class Heard(Enum):
    YES = "acknowledged"
    NO = "said to have failed"
    NOTHING = "no answer, or an unknown outcome"


@dataclass(frozen=True, slots=True)
class Operation:
    kind: Kind
    marker: str
    heard: Heard
    proposal: str | None = None
    job: str | None = None
    conversation: str | None = None
    about: str | None = None  # the marker of the task that it changes
    said: str = ""  # what a refusal said


@dataclass(slots=True)
class History:
    operations: list[Operation] = field(default_factory=list[Operation])

    def note(self, operation: Operation) -> None:
        self.operations.append(operation)

    def of(self, *kinds: Kind) -> Sequence[Operation]:
        return [each for each in self.operations if each.kind in kinds]
