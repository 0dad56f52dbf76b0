"""What may be said in a turn, and what a conversation is called. Pure."""

from collections.abc import Sequence

from steward.contract import linear_re as re
from steward.contract.errors import InputError, NotFoundError
from steward.conversations.model import AnswerStatus, Turn

LONGEST = 32_000
TITLE = 80
PIECE = 48  # characters, about
_UNKEPT = re.compile("[\ud800-\udfff\0]")  # neither PostgreSQL nor JSON takes these
_WORDS = re.compile(r"\S+\s*|\s+")


def read_message(text: str) -> str:
    """What a person said, fit to be kept."""
    text = text.strip()
    if not text:
        raise InputError("The message is empty.", fix="Say what you want.")
    if len(text) > LONGEST:
        raise InputError(
            f"The message has {len(text)} characters.",
            fix=f"Use at most {LONGEST}; give a document to 'research-agent kb add-document' instead.",
        )
    if _UNKEPT.search(text):
        raise InputError("The message holds characters that are no text.", fix="Remove them.")
    return text


def title_of(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1].rstrip()}…"


def pieces(text: str) -> list[str]:
    """A text in pieces of some words each; together they are the text."""
    made: list[str] = []
    piece = ""
    for word in _WORDS.findall(text):
        piece += word
        if len(piece) >= PIECE:
            made.append(piece)
            piece = ""
    return [*made, piece] if piece else made


def unknown(conversation_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no conversation '{conversation_id[:80]}'.", fix="Leave it out to start a new one."
    )


def waiting_request(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns of the request that waits now: from where it was said, over every yes since."""
    start = len(turns) - 1
    while start > 0 and _goes_on(turns[start], turns[start - 1]):
        start -= 1
    return turns[max(0, start) :]


def _goes_on(turn: Turn, before: Turn) -> bool:
    """Whether a turn only decided what the one before it left waiting, or asked for it once more."""
    if before.answer.status is not AnswerStatus.PENDING_APPROVAL:
        return False
    waited = {call.proposal_id for call in before.answer.tool_calls if call.proposal_id}
    decided = {call.proposal_id for call in turn.answer.tool_calls}
    return not decided or bool(waited & decided)
