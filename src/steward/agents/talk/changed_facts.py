"""Facts that are told, put right or have changed, without a language model: part of `Remembering`.

Owns which remembered fact a sentence puts right: the one noted or recalled just now, or the one about the
same. The new words take the place of the old ones, which an undo brings back; where two still stand, the
person is asked.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from steward.agents.assistant.personal_facts import FACT, is_statement
from steward.agents.researcher.questions import keywords
from steward.agents.talk.amending import amended, in_its_place, subject_of
from steward.agents.talk.followups import Instead, read_follow_up
from steward.contract import linear_re as re
from steward.knowledge.memory_rules import replaces
from steward.language.telling import fact_not_to_forget
from steward.language.tidy import with_apostrophes
from steward.language.wishes import ordered
from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.procedures import ASKED
from steward.models.planner.words import bare, is_question, stems

SEARCHES, STORES = "search_memory", "store_memory"
CANDIDATES = 10
SAME_SUBJECT = 0.5  # of a remembered fact's words, for a new one to be about the same
_I = re.IGNORECASE
_CORRECTS = re.compile(
    r"\bno longer\b|\bnot .{1,60}\bany ?more\b|\bnow\b|\binstead of\b|,?\s+(?:and )?not\s+\S|\bactually\b|"
    r"\b(?:has|have|'s|'ve) (?:changed|moved)\b|\banymore\b|^(?:my|our) new\b",
    _I,
)
_NOT_OLD = re.compile(r",?\s+(?:and )?(?:not|instead of|rather than)\s+[^,.;]{1,80}$", _I)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|must)$", _I
)
_OF_ONESELF = re.compile(r"^(?:i|i'm|we|my|our)\b", _I)
_CLAUSE = re.compile(
    r"\s*(?:[,;.]\s+(?:but |and |instead )?|\s+(?:but|and instead)\s+)(?=(?:i|i'm|we|my|our|it)\b)", _I
)
_NEGATED = re.compile(r"\b(?:no longer|not|n't|never|any ?more)\b|n't\b", _I)
_ADVERB = re.compile(r"\s*\b(?:now|actually|these days|nowadays|any ?more|today)\b,?", _I)
_LEAD = re.compile(r"^(?:(?:no|nope|oh|sorry|wait|actually|by the way|btw|correction)\b[\s,.:!-]*)+", _I)
_KEEP = re.compile(
    r"[\s,.;!]*\b(?:(?:and|so|please|can you|could you|do)\s+)*(?:(?:remember|keep|note|save|store|"
    r"memori[sz]e)\s+"
    r"(?:that|it|this)(?: down| in mind)?|make a note(?: of (?:it|that))?|note it down)\b(?: please|"
    r" for me)?[\s.!]*$",
    _I,
)
_KEEP_FIRST = re.compile(
    r"^(?:please\s+)?(?:remember|note|save|store|keep in mind)(?:\s+that|\s*[:,])?\s+(?P<it>(?:it|he|"
    r"she|they)(?:'s|'re|\s+[a-z]+)\s+\S.*)$",
    _I,
)
_NEW = re.compile(r"^(?P<whose>my|our)\s+new\s+", _I)
_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:remember|keep in mind|bear in mind|memori[sz]e|note|make a note)(?:\s+that|"
    r"\s*[:,-])?\s+(?P<fact>\S.*)$",
    _I,
)
_PIECE = re.compile(r"\s*[,;.]\s+(?:(?:and|but|so)\s+)?")
_OF_IT = re.compile(r"^(?:it|he|she|they|(?:his|her|its|their) [a-z]+)(?:'s|'re|\s+[a-z]+)\s+\S", _I)
_CHANGED = re.compile(
    r"\b(?:now|these days|nowadays|any ?more|actually|instead|changed|moved|switched|wrong|correction|"
    r"update)\b|^no\b",
    _I,
)
_ASKED = re.compile(
    r"^(?:so |and |sorry |ok )*(?:what|where|who|when|which|how (?:old|big|tall|long))(?P<verb>'s| is|"
    r" are) (?P<subject>.+?)(?: called)?$",
    _I,
)
_NO_THING = re.compile(r"^(?:it|that|this|on|in|up|there|wrong|new|left|due)\b", _I)


class _Known(NamedTuple):
    """What was spoken of last: a fact, and the memory that it is; an empty id where there is none yet."""

    fact: str
    id: str
    noted: bool = False  # just now, and not only recalled


def told_fact(dialogue: Dialogue) -> Decision | None:
    """What is noted, put right or told anew; None where a sentence does nothing of it."""
    return _put_right(dialogue) or _corrected(dialogue) or _to_remember(dialogue)


# --- noted in so many words ---


def _to_remember(dialogue: Dialogue) -> Decision | None:
    """ "Remember I like mint": what states something of oneself is noted, and never looked for."""
    said = bare(with_apostrophes(dialogue.utterance))
    if (fact := fact_not_to_forget(said)) is not None:
        return _stored(fact, dialogue)
    found = _REMEMBER.match(said)
    if found is None or not is_statement(found["fact"]) or ordered(dialogue.utterance):
        return None
    return _stored(found["fact"].strip(" .!"), dialogue)


def _stored(fact: str, dialogue: Dialogue) -> Decision:
    kept = [step for step in dialogue.steps if step.tool == STORES]
    if not kept:
        return Call(tool=STORES, arguments={"content": fact}, goal=0, confidence=1.0)
    return _told(kept[0])


def _told(kept: Step) -> Tell:
    if kept.failure is not None:
        return Tell(text=f"I could not note that: {kept.failure}")
    told = f"I'll remember that: {kept.arguments.get('content')}."
    old = cast("Mapping[str, Any]", kept.memo.get("instead") or {}).get("content")
    return Tell(text=f"{told} It takes the place of “{old}”." if old else told, confidence=1.0)


# --- put right ---


def _put_right(dialogue: Dialogue) -> Decision | None:
    """ "No, it's 21": the fact spoken of last, as it should be."""
    kept = [step for step in dialogue.steps if step.tool == STORES]
    if kept and kept[0].arguments.get("corrected_id"):
        return _told(kept[0])
    said = " ".join(with_apostrophes(dialogue.utterance).split())
    known = _spoken_of(dialogue)
    if known is None or is_question(said) or said.endswith("?") or len(ordered(said)) > 1:
        return None
    if not known.id:
        return _answered(known.fact, said, dialogue)
    new = _as_amended(known, said)
    if new is None or new == known.fact:
        return None
    memo = {"instead": {"id": known.id, "content": known.fact}}
    arguments = {"content": new, "corrected_id": known.id}
    return Call(tool=STORES, arguments=arguments, goal=0, confidence=1.0, memo=memo)


def _as_amended(known: _Known, said: str) -> str | None:
    """A fact recalled is changed only by who says that it has changed; one just noted also by a slip."""
    asked_to_keep = _without_keeping(said)
    followed = read_follow_up(asked_to_keep)
    instead = followed if isinstance(followed, Instead) and not followed.other else None
    if known.noted and instead is not None and (instead.sure or instead.old):
        return amended(known.fact, _as_said(instead.rest), old=instead.old)
    if not _CHANGED.search(said) and asked_to_keep == said:
        return None
    clause = next(
        (piece for piece in _PIECE.split(_LEAD.sub("", asked_to_keep)) if _OF_IT.match(piece)), None
    )
    return None if clause is None else amended(known.fact, _as_said(clause))


def _without_keeping(said: str) -> str:
    """What is to be kept, without the words that ask for that."""
    first = _KEEP_FIRST.match(said)
    return first["it"] if first else _KEEP.sub("", said)


def _as_said(text: str) -> str:
    return " ".join(_ADVERB.sub("", text).split()).strip(" ,.!")


def _answered(subject: str, said: str, dialogue: Dialogue) -> Decision | None:
    """ "It's 512998340" to who just did not know it: noted where that is asked for, else asked about."""
    value = _without_keeping(said)
    told = amended(f"{subject} is x", _as_said(_LEAD.sub("", value)))
    if told is None or _OF_IT.match(_LEAD.sub("", value)) is None:
        return None
    if value != said:
        return _stored(told, dialogue)
    state = {"kind": "reader", "reader": "house", "tool": STORES, "memo": {FACT: told}}
    return Ask(question=f"Should I remember this: “{told}”?", state=state)


def _spoken_of(dialogue: Dialogue) -> _Known | None:
    """What the turn before noted, recalled or was asked in vain."""
    before = [step for step in dialogue.earlier if step.failure is None]
    latest = [step for step in before if step.turn == len(dialogue.said_earlier)]
    noted = [step for step in latest if step.tool == STORES and isinstance(step.data, str)]
    if noted:
        return _Known(str(noted[-1].arguments.get("content") or ""), str(noted[-1].data), noted=True)
    looked = [step for step in latest if step.tool == SEARCHES]
    if not looked or any(step.tool not in (SEARCHES, "query_knowledge_base") for step in latest):
        return None
    asked = set(keywords(dialogue.said_before))
    shared = [each for each in _items(looked[0]) if asked & set(stems(_content(each)))]
    if shared:
        best = max(shared, key=lambda each: len(asked & set(stems(_content(each)))))
        return None if _is_stated(best) else _Known(_content(best), str(best.get("id")))
    found = _ASKED.match(dialogue.said_before.strip(" ?.!"))
    if found is None or _NO_THING.match(found["subject"]):
        return None
    return _Known(found["subject"], "")


# --- changed since ---


def _corrected(dialogue: Dialogue) -> Decision | None:
    """What somebody says of themselves as a change takes the place of what is remembered about the same."""
    fact = _changed_fact(dialogue.utterance)
    if not fact:
        return None
    kept = [step for step in dialogue.steps if step.tool == STORES]
    if kept and kept[0].arguments.get("corrected_id"):
        return _told(kept[0])
    looked = [step for step in dialogue.steps if step.tool == SEARCHES]
    search = Call(tool=SEARCHES, arguments={"query": fact[:500], "top_k": CANDIDATES}, goal=0, helper=True)
    if kept:
        return (
            search if len(looked) == 1 and kept[0].failure is None else _replaced(fact, kept[0], looked[-1])
        )
    if not looked:
        return search
    old = _same_subject(fact, _items(looked[0]) if looked[0].failure is None else [])
    if old is None:
        return None
    memo = {"instead": {"id": old.get("id"), "content": _content(old)}}
    # Another value of the very same takes its place at once; about what is only alike the person is asked.
    at_once = _is_the_same(fact, _content(old)) and not _is_stated(old)
    place = {"corrected_id": old.get("id")} if at_once else {}
    return Call(tool=STORES, arguments={"content": fact, **place}, goal=0, confidence=1.0, memo=memo)


def _changed_fact(utterance: str) -> str:
    """What is so from now on, where somebody says so of their own or asks for it to be remembered."""
    said = _LEAD.sub("", _KEEP.sub("", with_apostrophes(utterance))).strip()
    asked_to = _REMEMBER.match(said)
    said = asked_to["fact"] if asked_to else said
    told = _CHANGED.search(said) is not None if asked_to else _CORRECTS.search(said) is not None
    of_oneself = asked_to or is_statement(said) or _OF_ONESELF.match(said)
    if not (told and of_oneself) or said.endswith("?") or ordered(said):
        return ""
    fact = _as_it_is_now(said)
    return fact if subject_of(fact) or _OF_ONESELF.match(fact) else ""


def _is_the_same(fact: str, old: str) -> bool:
    return replaces(fact, old) or in_its_place(fact, old)


def _is_stated(item: Mapping[str, Any]) -> bool:
    """A fact that was kept apart, which only its own tool changes."""
    return cast("Mapping[str, Any]", item.get("metadata") or {}).get("kind") == "fact"


def _replaced(fact: str, kept: Step, looked: Step) -> Decision:
    """Whether the old one is still remembered beside the new one is looked up, and not assumed."""
    if kept.failure is not None:
        return Tell(text=f"I could not note that: {kept.failure}")
    old = cast("Mapping[str, Any]", kept.memo.get("instead") or {})
    told = f"I'll remember that: {fact}."
    if not old or all(each.get("id") != old.get("id") for each in _items(looked)):
        taken = f" It takes the place of “{old.get('content')}”." if old else ""
        return Tell(text=f"{told}{taken}", confidence=1.0)
    question = f"{told} I also remember “{old.get('content')}”. Should I forget that?"
    return Ask(question=question, state={"kind": ASKED, "forget": [dict(old)]})


def _as_it_is_now(said: str) -> str:
    """The fact without what it is no longer: "I no longer work at A, I work at B now" says where I work."""
    parts = [part.strip() for part in _CLAUSE.split(said)]
    true = [part for part in parts if not _NEGATED.search(part)]
    left = true[-1] if len(parts) > 1 and true and _OF_ONESELF.match(true[-1]) else said
    shorter = _NOT_OLD.sub("", left)
    shorter = left if _AUXILIARY.search(shorter) else shorter  # "Tom does not eat meat" says no second thing
    return _NEW.sub(r"\g<whose> ", _ADVERB.sub("", shorter).strip(" .!,"))


def _same_subject(fact: str, items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    same = next((each for each in items if _is_the_same(fact, _content(each))), None)
    if same is not None:
        return same
    told = set(stems(fact))
    for each in items:
        known = set(stems(_content(each)))
        if known and told != known and len(known & told) / len(known) >= SAME_SUBJECT:
            return each
    return None


def _items(step: Step) -> list[Mapping[str, Any]]:
    data = step.data
    found = cast("Mapping[str, Any]", data).get("items") if isinstance(data, Mapping) else None
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]


def _content(item: Mapping[str, Any]) -> str:
    return str(item.get("content") or "").strip()
