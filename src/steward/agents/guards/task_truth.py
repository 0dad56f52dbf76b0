"""What the task assistant may say: only what the record of calls bears out.

A model's wording is kept where every sentence of it is borne out; where one is not, the person reads what
the record says instead. Rendering never depends on understanding the model: a turn that changed something
is told from the ledger, and a turn in which nothing changed may not sound as if something had.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from steward.agents.assistant.small_talk import small_talk
from steward.agents.guards import grounding
from steward.agents.guards.base import Lenient
from steward.agents.guards.claims import Claim, claims_in, is_denial, is_done_heading
from steward.agents.guards.grounding import Ground
from steward.agents.guards.non_claims import claims_nothing, is_foreign
from steward.agents.guards.sentences import Sentence, sentences, words_of
from steward.agents.guards.wording import MAX_CHARACTERS
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_words import Record
from steward.agents.turn.ledger import Ledger
from steward.contract import linear_re as re
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus, CallRecord, CallStatus
from steward.language.dates.find import find_dates
from steward.language.reply import Words, read_answer
from steward.models.planner.words import is_question
from steward.tasks.envelopes import TaskCode

_FAMILIES: Mapping[str, frozenset[str]] = {
    words.ADD: frozenset({"create"}),
    words.COMPLETE: frozenset({"finish", "change"}),
    words.DELETE: frozenset({"remove"}),
    words.UPDATE: frozenset({"change"}),
}
_ABOUT_TASKS = re.compile(r"\b(?:tasks?|to-?dos?|list|due|remind\w*|your|you\s+have|you've|deadline)\b")
_TECHNICAL = re.compile(
    r"\b[A-Z]{3,}_[A-Z_]{2,}\b|\bTraceback\b|\b\w+(?:Error|Exception)\b|\b(?:\d{1,3}\.){3}\d{1,3}\b|\bHTTP\s*\d{3}\b"
    r"|\bstack\s?trace\b|\bstatus\s+code\b|\bpostgres\w*\b|\bSQL\b|\bJSON\b|\bMCP\b|\berrno\b|\bnull\b|\blocalhost\b"
    r"|\b(?:add|list|complete|delete|update)_task\w*\b|\buser_id\b|\btask_id\b|\b[45]\d\d\s+(?:error|server|too\s+many)\b",
    re.IGNORECASE,
)


# The question before a deletion, and the planner's word that no tool can do it: no model wrote them.
_OURS = (AnswerStatus.PENDING_APPROVAL, AnswerStatus.GAP)
_I_DID = re.compile(
    r"\bi(?:'ve|\s+have)?\s+(?:(?:just|already|also|now)\s+)*(?!need|want|ask|mention)(?:\w{2,}ed|went|took|put)\b"
)
STOPPED = "Then something went wrong, so I stopped there."
_RATE = re.compile(r"\brate.?limit|(?:too many|more) requests|\bquota\b", re.IGNORECASE)


class TaskQuestions(Lenient):
    """The person reads which task is to be deleted, as the record calls it; after a no, which one stays."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def confirm(self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger) -> str | None:
        if spec.name != words.DELETE:
            return None
        return words.confirmation(arguments, ledger.everything, self._now())

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:  # noqa: ARG002
        spared = [each for each in ledger.calls if each.status is CallStatus.REJECTED]
        if draft.status is not AnswerStatus.DONE or not spared or len(spared) < len(ledger.calls):
            return draft
        if any(each.tool != words.DELETE for each in spared):
            return draft
        return replace(
            draft, text="\n".join(words.kept(each.arguments, ledger.everything) for each in spared)
        )


class TaskTruth(TaskQuestions):
    """What the task assistant says is borne out by the record, or replaced by it."""

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        if draft.status in _OURS:
            return draft
        now = self._now()
        if draft.status is AnswerStatus.FAILED:  # our own words about a run that broke
            return _broken(draft, ledger, now)
        ground = Ground.of(ledger, said=session.utterance or "", now=now)
        if len(draft.text) <= MAX_CHARACTERS and not any(_faults(draft.text, ledger, ground)):
            return replace(draft, status=_as_said(draft, ledger))
        text, status = from_record(ledger, now)
        return replace(draft, text=text, status=status)


def _as_said(draft: Draft, ledger: Ledger) -> AnswerStatus:
    """A question above a list of choices is one; "anything else?" behind a change is not."""
    if draft.status not in (AnswerStatus.DONE, AnswerStatus.QUESTION):
        return draft.status
    if any(record.tool in words.CHANGING for record in ledger.succeeded()):
        return AnswerStatus.DONE
    prose = [sentence for sentence in sentences(draft.text) if not sentence.item]
    asks = bool(prose) and prose[-1].question
    return AnswerStatus.QUESTION if asks else draft.status


def _broken(draft: Draft, ledger: Ledger, now: datetime) -> Draft:
    """What was done before it went wrong, and no technicalities."""
    done = [record for record in ledger.succeeded() if record.tool in words.CHANGING]
    if done:
        return replace(draft, text=f"{words.told(done, ledger.everything, now)}\n{STOPPED}")
    if _RATE.search(draft.text):
        return replace(draft, text=words.TOO_MANY_REQUESTS)
    return replace(draft, text=words.TROUBLE_CHANGING) if _TECHNICAL.search(draft.text) else draft


def from_record(ledger: Ledger, now: datetime) -> tuple[str, AnswerStatus]:
    """What this turn came to, told from the ledger alone."""
    changing = [record for record in ledger.calls if record.tool in words.CHANGING]
    told = [each for each in changing if each.status not in (CallStatus.REFUSED, CallStatus.PENDING_APPROVAL)]
    known = ledger.everything
    if told:
        status = (
            AnswerStatus.DONE if any(each.status is CallStatus.DONE for each in told) else AnswerStatus.FAILED
        )
        text = words.told(told, known, now)
        kept = all(each.error_code in words.DECLINED for each in told if each.status is not CallStatus.DONE)
        return text, AnswerStatus.DONE if kept else AnswerStatus.QUESTION if text.endswith("?") else status
    listings = [record for record in ledger.calls if record.tool == words.LIST]
    if not changing and listings:
        return words.one_told(listings[-1], known, now), _status(listings[-1])
    if listings and listings[-1].status is CallStatus.DONE:
        shown = words.one_told(listings[-1], known, now)
        return f"{words.NOTHING_CHANGED} {shown}", AnswerStatus.QUESTION
    return f"{words.NOTHING_CHANGED} {words.SEE_TASKS}", AnswerStatus.QUESTION


def _status(record: CallRecord) -> AnswerStatus:
    return AnswerStatus.DONE if record.status is CallStatus.DONE else AnswerStatus.FAILED


# --- what is wrong with an answer ---


def _faults(text: str, ledger: Ledger, ground: Ground) -> Iterator[str]:
    """Reasons not to say it; none when all of it is borne out."""
    found = sentences(text, names=ground.titles)
    claims = claims_in(text, names=ground.titles)
    borne_out = {claim.sentence.text for claim in claims if _supported(claim, ledger, ground)}
    if not found:
        yield "empty"
    if any(not _supported(claim, ledger, ground) for claim in claims):
        yield "claim"
    if not ledger.calls and any(_I_DID.search(each.plain) for each in found if each.text not in borne_out):
        yield "claim"  # whatever it was: nothing was called
    if _TECHNICAL.search(text):
        yield "technical"
    changed = [record for record in ledger.succeeded() if record.tool in words.CHANGING]
    if any(not _confirmed(record, found, ledger, ground) for record in changed):
        yield "unconfirmed"
    failed = [record for record in ledger.calls if record.tool in words.TASK_TOOLS and _went_wrong(record)]
    if failed and not any(map(is_denial, found)):
        yield "failure hidden"
    talk = _is_task_talk(ground) or bool(ledger.calls)
    yield from _from_nowhere(found, ledger, ground, talk=talk)
    loose = [
        sentence
        for sentence in found
        if sentence.text not in borne_out and (talk or ground.touches(sentence))
    ]
    if not changed and not all(claims_nothing(sentence, ground) for sentence in loose):
        yield "evasive"
    if _wrongly_headed(found, ground):
        yield "heading"


def _went_wrong(record: CallRecord) -> bool:
    """A failure; a person's no is none."""
    return record.status is CallStatus.FAILED and record.error_code not in words.DECLINED


def _from_nowhere(found: Sequence[Sentence], ledger: Ledger, ground: Ground, *, talk: bool) -> Iterator[str]:
    for sentence in found:
        spoken = ground.spoken_of(sentence)
        if any(grounding.unknown_names(sentence, ground)):
            yield "name"
        if is_foreign(sentence, ground):
            yield "foreign"
        about = talk or _ABOUT_TASKS.search(sentence.plain) or ground.touches(sentence)
        if about and grounding.from_nowhere(sentence, ground):
            yield "nowhere"
        if grounding.wrong_details(sentence, ground) or grounding.wrong_count(sentence, ground, ledger):
            yield "detail"
        if grounding.emptiness_unseen(sentence, ground):
            yield "empty list"
        if sentence.item and spoken and all(task.get("id") in ground.gone for task in spoken):
            yield "gone"


def _is_task_talk(ground: Ground) -> bool:
    """Whether the turn is about tasks: not small talk, and not a question about the world."""
    if not isinstance(read_answer(ground.said), Words) or _ABOUT_TASKS.search(ground.said.lower()):
        return True
    return not is_question(ground.said) and small_talk(ground.said) is None


def _wrongly_headed(found: Sequence[Sentence], ground: Ground) -> bool:
    """Whether a task that is not done stands under "Completed:"."""
    under = False
    for sentence in found:
        under = (sentence.item and under) or is_done_heading(sentence)
        if under and any(not task.get("completed") for task in ground.spoken_of(sentence)):
            return True
    return False


# --- what bears a claim out ---


def _supported(claim: Claim, ledger: Ledger, ground: Ground) -> bool:
    spoken = ground.spoken_of(claim.sentence)
    done = [record for record in ledger.succeeded() if record.tool in words.CHANGING]
    if any(_bears_out(record, claim, spoken) for record in done):
        return True
    if claim.earlier and any(
        _bears_out(record, claim, spoken)
        for record in ledger.earlier
        if record.tool in words.CHANGING and record.status is CallStatus.DONE and spoken
    ):
        return True
    return bool(spoken) and all(_shown_by_record(claim, task, ground) for task in spoken)


def _bears_out(record: CallRecord, claim: Claim, spoken: Sequence[Record]) -> bool:
    if _no_change(record):
        return False
    families = _FAMILIES[record.tool]
    if record.tool == words.ADD and {"priority", "due_date"} & record.arguments.keys():
        families |= {"change"}  # "... and marked it as high priority"
    if record.tool == words.UPDATE and "completed" in words.changed_fields(record):
        families |= {"finish"}
    if claim.families and not claim.families & families:
        return False
    touched = {task.get("id") for task in words.tasks_in(record)}
    return not spoken or any(task.get("id") in touched for task in spoken)


def _no_change(record: CallRecord) -> bool:
    if words.data_of(record).get("code") == TaskCode.ALREADY_COMPLETED:
        return True
    return record.tool == words.UPDATE and not words.changed_fields(record)


def _shown_by_record(claim: Claim, task: Record, ground: Ground) -> bool:
    """Whether the record alone shows it: a task that is listed as done is done, whoever did it."""
    if "remove" in claim.families and "create" not in claim.families:
        return claim.state and task.get("id") in ground.gone
    told = claim.state or claim.earlier or not _I_DID.search(claim.sentence.plain)
    return "finish" in claim.families and told and bool(task.get("completed"))


def _confirmed(record: CallRecord, found: Sequence[Sentence], ledger: Ledger, ground: Ground) -> bool:
    """Whether a change is told with its title, its due date and its priority."""
    [*_, task] = list(words.tasks_in(record))[:1] or [{}]
    known = {**words.known_task(task.get("id"), ledger.everything), **task}
    about = [s for s in found if any(t.get("id") == task.get("id") for t in ground.spoken_of(s))]
    if not about or all(sentence.question for sentence in about):
        return False
    if record.tool == words.DELETE:
        return True
    text = " ".join(sentence.text for sentence in found).lower()
    due = known.get("due_date")
    priority = known.get("priority")
    set_now = priority in ("high", "low") or "priority" in record.arguments
    if isinstance(due, str) and record.tool != words.COMPLETE and not _says_due(text, due, ground.now):
        return False
    said = set(words_of(text))
    urgent = {"high": {"high", "urgent", "important", "top"}, "medium": {"medium", "normal"}, "low": {"low"}}
    return not set_now or record.tool == words.COMPLETE or bool(urgent.get(str(priority), set()) & said)


def _says_due(text: str, due: str, now: datetime) -> bool:
    if words.due_words(due, now).lower() in text or due[:10] in text:
        return True
    day = datetime.fromisoformat(due)

    return any(mention.start.date() == day.date() or mention.time_only for mention in find_dates(text, now))
