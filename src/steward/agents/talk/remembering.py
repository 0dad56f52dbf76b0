"""Memory as people use it, without a language model: a procedure for the planner.

Owns "forget my old address" (the one memory that is meant; the door shows it and asks) and "what do you know
about me?". Facts that are told or put right are `changed_facts`; what is only said is still asked about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from steward.agents.researcher.questions import keywords
from steward.agents.talk.changed_facts import told_fact
from steward.agents.talk.taking_back import read_take_back
from steward.contract import linear_re as re
from steward.language.references import read_ordinals
from steward.language.reply import Cancel, No, Yes, read_answer
from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.procedures import ASKED
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.things import at_places
from steward.models.planner.words import bare, is_all, is_cancel, is_question, places, stems

REMEMBERING = "remembering"
LISTS, SEARCHES, STORES, FORGETS = "list_memories", "search_memory", "store_memory", "forget_memory"
CANDIDATES = 10
MEANT = 0.5  # of the words that name a memory, for it to be one that is meant
NOTHING = "I remember nothing about {}, so there is nothing to forget."
KEPT = "All right, I keep it."
_I = re.IGNORECASE
_FORGET = re.compile(
    r"^(?:forget|un-?remember|stop remembering|(?:erase|delete|remove|drop|clear) (?:from (?:your |"
    r"my )?memory|"
    r"(?:the |my |that |your )*(?:memory|memories|fact|facts)|(?=(?:everything|anything|all|whatever|"
    r"what) (?:that )?"
    r"(?:you (?:know|remember|have)|(?:i|we) (?:told|said|mentioned)))))\s*"
    r"(?P<what>.*?)(?:\s+from (?:your |my )?memory)?\W*$",
    _I,
)
# Said of memories that were just listed: "drop the second one".
_DROP = re.compile(
    r"^(?:you )?(?:can |may |should )?(?:please )?(?:drop|delete|remove|erase|lose|scratch|scrap|ditch|"
    r"get rid of|clear)\s+(?P<what>\S.*?)\W*$",
    _I,
)
# One of several by what it is about, and not by its words: "the one about food".
_ONE_ABOUT = re.compile(
    r"^(?:the )?(?:one|thing|bit|part|fact|memory|stuff|entry)s?\s+(?:(?:i|you) \w+ )?(?:about|on|with|"
    r"for|of|to do with|regarding)\s+(?P<about>\S.*)$",
    _I,
)
_TOLD = re.compile(
    r"^(?:(?:about|of|that|the fact that|what|everything|anything|all|whatever)\s+)*"
    r"(?:(?:i|we) (?:(?:have |'ve |once |just )*(?:told|said|mentioned|taught)|asked)(?: (?:to "
    r")?you)?(?: to remember)?\s+)?"
    r"(?:you (?:know|remember|have|keep|stored?)\s+)?(?:(?:about|of|that|on|regarding)\s+)?",
    _I,
)
_THAT = re.compile(
    r"^(?:(?:it|that|this|them|about (?:it|that|this)|what i just (?:said|told you)|the last (?:one|"
    r"thing|memory))(?: again)?)?$",
    _I,
)
_EVERYTHING = re.compile(
    r"^(?:everything|all(?: of it)?|it all|all (?:my |your )?memories)(?: (?:about|of) me| you "
    r"know(?: about me)?)?$",
    _I,
)
_LISTS = re.compile(
    r"^(?:what (?:do|did|have) you (?:know|remember|learned?|memori[sz]ed?|stored?|kept|keep)(?: so "
    r"far)?(?: (?:about|of|on) (?:me|us|myself))?|"
    r"what (?:have|did) i (?:told|tell|taught|teach) you(?: (?:about me|so far|to remember))?|"
    r"(?:list|show|tell)(?: me)? (?:all |everything )?(?:of )?(?:my memories|your memor(?:y|ies)|the "
    r"memories|(?:the )?(?:facts|things|what) "
    r"you (?:know|remember)(?: about me)?|everything you (?:know|remember)(?: about me)?)|"
    r"everything you know about me|what(?:'s| is) in your memory)\W*$",
    _I,
)

_KNOWN_OF = re.compile(
    r"^what (?:do|did|have) you (?:know|remember|learned?|stored?|kept|got) (?:about|of|on) "
    r"(?P<who>\S.{0,60}?)\W*$",
    _I,
)


@dataclass(frozen=True, slots=True)
class Remembering:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        there = {tool.name for tool in tools}
        said = bare(dialogue.utterance)
        asked = dialogue.asked or {}
        if isinstance(asked.get("forget"), list):
            return _chosen(asked, dialogue)
        if dialogue.asked:
            return None
        if LISTS in there and _LISTS.match(said):
            return _listed(dialogue)
        if SEARCHES in there and (of := _KNOWN_OF.match(said)) is not None:
            return _known_of(of["who"], dialogue)
        found = _FORGET.match(said) or (_DROP.match(said) if _listed_before(dialogue) else None)
        if found is not None and FORGETS in there:
            return _forgotten(found["what"], dialogue)
        return told_fact(dialogue) if STORES in there else None


# --- what is known ---


def _listed(dialogue: Dialogue) -> Decision:
    step = next((each for each in dialogue.steps if each.tool == LISTS), None)
    if step is None:
        return Call(tool=LISTS, arguments={}, goal=0, confidence=1.0)
    if step.failure is not None:
        return Tell(text=f"I could not look: {step.failure}")
    items = _items(step)
    if not items:
        return Tell(text="I remember nothing about you yet. Tell me with “remember that …”.", confidence=1.0)
    lines = [f"{number}. {_content(each)}{_since(each)}" for number, each in enumerate(items, 1)]
    more = cast("Mapping[str, Any]", step.data).get("total")
    left = more - len(items) if isinstance(more, int) else 0
    tail = [f"… and {left} more: “steward memory list” shows all."] if left > 0 else []
    head = "This is what I remember:"
    return Tell(text="\n".join([head, *lines, *tail]), confidence=1.0)


def _known_of(who: str, dialogue: Dialogue) -> Decision | None:
    """All that is remembered about somebody; where nothing is, documents may know."""
    step = next((each for each in dialogue.steps if each.tool == SEARCHES), None)
    if step is None:
        return Call(tool=SEARCHES, arguments={"query": who, "top_k": CANDIDATES}, goal=0, helper=True)
    wanted = set(keywords(who))
    items = [] if step.failure is not None else _items(step)
    found = [each for each in items if wanted and wanted <= set(stems(_content(each)))]
    lines = [f"{number}. {_content(each)}{_since(each)}" for number, each in enumerate(found, 1)]
    head = f"This is what I remember about {who}:"
    return Tell(text="\n".join([head, *lines]), confidence=1.0) if found else None


# --- forgetting ---


def _forgotten(what: str, dialogue: Dialogue) -> Decision | None:  # noqa: PLR0911 - one line a case
    done = [step for step in dialogue.steps if step.tool == FORGETS]
    if done:
        return _told(done)
    first, _, more = what.partition(",")
    named = (first if more and read_take_back(more.strip()) else what).strip(" .!?\"'“”")
    if _THAT.match(named):
        return _just_told(dialogue)
    if _EVERYTHING.match(named):
        return Call(tool=FORGETS, arguments={"everything": True}, goal=0, confidence=1.0)
    items = _listed_before(dialogue)
    numbers = read_ordinals(named) or places(named)
    if items and numbers:
        at = [number - 1 if number > 0 else number for number in numbers]
        fits = all(-len(items) <= each < len(items) for each in at)
        return _forget(items[at[0]]) if fits and len(at) == 1 else None
    one = _ONE_ABOUT.match(named)
    about = one["about"] if one else _TOLD.sub("", named).strip() or named
    listed = next((step for step in dialogue.steps if step.tool == SEARCHES), None)
    if listed is None:
        return Call(tool=SEARCHES, arguments={"query": about[:500], "top_k": CANDIDATES}, goal=0, helper=True)
    if listed.failure is not None:
        return Tell(text=f"I could not look into my memory: {listed.failure} Nothing was forgotten.")
    found = _items(listed)
    meant = _meant(about, found)
    if one is not None and not meant:  # the nearest in meaning; the door shows its words and asks
        meant = found[:1]
    if not meant:
        return Tell(text=NOTHING.format(f"“{about}”"), confidence=1.0)
    if len(meant) == 1:
        return _forget(meant[0])
    lines = [f"{number}. {_content(each)}" for number, each in enumerate(meant, 1)]
    state = {"kind": ASKED, "forget": [{"id": each["id"], "content": _content(each)} for each in meant]}
    return Ask(question="\n".join(["Which of these should I forget?", *lines]), state=state)


def _listed_before(dialogue: Dialogue) -> list[Mapping[str, Any]]:
    """The memories that were shown last, where nothing was done since."""
    latest = next((step for step in reversed(dialogue.earlier) if not step.helper), None)
    return _items(latest) if latest is not None and latest.tool == LISTS else []


def _meant(about: str, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The memories that share most with what was named, and enough of it."""
    wanted = set(keywords(about))
    if not wanted:
        return []
    shared = [len(wanted & set(stems(_content(each)))) / len(wanted) for each in items]
    best = max(shared, default=0.0)
    return [each for each, part in zip(items, shared, strict=True) if part == best] if best >= MEANT else []


def _just_told(dialogue: Dialogue) -> Decision | None:
    """What was remembered last in this conversation, where that was the last thing done."""
    latest = next((step for step in reversed(dialogue.earlier) if not step.helper), None)
    if latest is None or latest.failure is not None:
        return None
    if latest.tool == STORES and isinstance(latest.data, str):
        return Call(tool=FORGETS, arguments={"id": latest.data}, goal=0, confidence=1.0)
    items = _items(latest) if latest.tool in (SEARCHES, LISTS) else []
    return _forget(items[0]) if len(items) == 1 else None


def _chosen(asked: Mapping[str, Any], dialogue: Dialogue) -> Decision | None:
    done = [step for step in dialogue.steps if step.tool == FORGETS]
    options = [cast("Mapping[str, Any]", each) for each in cast("list[Any]", asked["forget"])]
    said = dialogue.utterance
    answer = read_answer(said)
    if is_cancel(said) or isinstance(answer, No | Cancel):
        return Tell(text=KEPT, confidence=1.0)
    if is_question(said):
        return None
    if len(options) == 1 and isinstance(answer, Yes):
        return _told(done) if done else _forget(options[0])
    labelled = [(each["id"], each) for each in options]
    at = at_places(places(bare(said)), cast("Any", labelled))
    picked = [cast("Mapping[str, Any]", each[1]) for each in at] or (
        options if is_all(said) else _meant(said, options)
    )
    left = [each for each in picked if all(step.arguments.get("id") != each["id"] for step in done)]
    if not picked or (len(picked) > 1 and not at and not is_all(said)):
        return _told(done) if done else None
    return _forget(left[0]) if left else _told(done)


def _forget(item: Mapping[str, Any]) -> Call:
    return Call(tool=FORGETS, arguments={"id": item["id"]}, goal=0, confidence=1.0)


def _told(done: Sequence[Step]) -> Tell:
    failed = next((step for step in done if step.failure is not None), None)
    if failed is not None:
        return Tell(text=f"Nothing was forgotten: {failed.failure}")
    count = sum(_number(step) for step in done)
    return Tell(
        text="I've forgotten it." if count == 1 else f"I've forgotten {count} memories.", confidence=1.0
    )


def _number(step: Step) -> int:
    data = step.data
    count = cast("Mapping[str, Any]", data).get("forgotten") if isinstance(data, Mapping) else None
    return count if isinstance(count, int) else 1


# --- results ---


def _items(step: Step) -> list[Mapping[str, Any]]:
    data = step.data
    found = cast("Mapping[str, Any]", data).get("items") if isinstance(data, Mapping) else None
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]


def _content(item: Mapping[str, Any]) -> str:
    return str(item.get("content") or "").strip()


def _since(item: Mapping[str, Any]) -> str:
    about = item.get("metadata")
    when = (
        str(cast("Mapping[str, Any]", about).get("timestamp") or "")[:10]
        if isinstance(about, Mapping)
        else ""
    )
    return f" (since {when})" if when else ""
