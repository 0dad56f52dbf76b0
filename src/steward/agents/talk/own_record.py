"""Steward's own record as knowledge, without a language model: a procedure for the planner.

"What did you do today?", "is anything waiting?", "why did you ask?", "what did that cost?": answered from the
record and the proposals, never from what was said. Owns telling these questions from others and the words of
the answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from steward.contract import linear_re as re
from steward.language.asking import asked_in
from steward.language.dates.find import find_dates
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.words import bare, intention, stems

OWN_RECORD = "own-record"
SHOW = "show_record"
MOST_TOLD = 20
COST = (
    "Nothing: I work here without a language model, so no tokens were used and nothing was paid for an "
    "answer."
)
_I = re.IGNORECASE
_AGENT = r"(?:you|steward|we)"
_DID = re.compile(
    rf"^(?:(?:so|and)\s+)?(?:what(?:'s| (?:all|else|exactly))?|which (?:ones?|things|changes|tasks|"
    rf"memories|files|documents)|anything|how (?:many|much)(?: (?:things|changes|tasks|to-?dos|"
    rf"memories|facts|files|documents))?|"
    rf"(?:tell|show) me what) (?:(?:did|have) {_AGENT}(?: (?:just|already|ever))? |"
    rf"{_AGENT}(?:'ve| have)?(?: (?:just|already))? )"
    rf"(?P<verb>[a-z]+)\b(?P<more>.*)$|"
    rf"^(?:did|have) {_AGENT}(?: (?:just|already|ever))? (?P<verb2>[a-z]+) (?P<more2>(?:anything|"
    rf"something)\b.*)$|"
    r"^what (?:happened|changed|was (?P<verb3>[a-z]+)|has (?:happened|changed|been "
    r"(?P<verb4>[a-z]+)))\b(?P<more3>.*)$|"
    r"^(?:show|list)(?: me)? (?:your (?:record|log|history|activity)|what you(?:'ve| have)? (?:did|"
    r"done)|the changes)\b(?P<more4>.*)$",
    _I,
)
_MEANT_OTHERWISE = re.compile(
    r"^\W*(?:know|think|say|said|mean|meant|remember|learn|tell|told|find|found|suggest|recommend|"
    r"mention|want|like)\b",
    _I,
)
_DID_IT = re.compile(
    rf"^(?:(?:so|and|but)\s+)?(?:did|have) {_AGENT}(?: (?:really|already|just|actually|"
    rf"ever))* (?P<verb>[a-z]+)(?: off)? (?P<what>\S.*)$",
    _I,
)
_BEEN_DONE = re.compile(
    r"^(?:(?:so|and|but)\s+)?(?:has|have|was|were|is|are) (?P<what>it|that|this|them|"
    r"those)(?: (?:already|now|really|been))* "
    r"(?P<verb>[a-z]+)$",
    _I,
)
# What one removed or added oneself, Steward did for them.
_BY_ME = re.compile(
    r"^(?P<ask>what|which (?:ones?|tasks|things|memories)) (?:have|did) i (?P<verb>delete|remove|erase|"
    r"forget|forgotten|deleted|removed|erased|add|added)"
    r"(?P<more>(?: .*)?)$",
    _I,
)
_IT = re.compile(r"^(?:it|that|this|them|those)(?: (?:now|already|yet|too|off|for me))*$", _I)
_COUNTS = re.compile(r"^(?:(?:so|and)\s+)?how (?:many|much)\b", _I)
_DOING = re.compile(r"^(?:do(?:ne|ing)?|ma[dk]e|making)$", _I)
_WAITING = re.compile(
    r"^(?:(?:is|are) (?:there )?(?:anything|something|any (?:calls?|approvals?|requests?|proposals?|"
    r"questions?)) (?:still )?"
    r"(?:waiting|pending|open|left)?(?: (?:for|on) (?:me|my (?:approval|yes|ok|answer)))?(?: to "
    r"(?:approve|decide|confirm))?|"
    r"what(?:'s| is| are) (?:still )?(?:waiting|pending)(?: (?:for|on) (?:me|my (?:approval|yes|ok|"
    r"answer)))?(?: to (?:approve|decide))?|"
    r"what (?:do|must|should|can) i (?:need to |have to )?(?:approve|confirm|decide)|(?:show|"
    r"list)(?: me)? (?:the |my )?(?:open |waiting |pending )?"
    r"(?:approvals|proposals)|do you need (?:anything|something|a yes|my (?:approval|ok|yes)) from me|"
    r"what (?:are you|do you) wait(?:ing)? for)\W*$",
    _I,
)
_SAYS_WAITING = re.compile(r"\b(?:wait\w*|pending|approv\w*|confirm|decide|proposals?|yes)\b|from me", _I)
_WHY = re.compile(
    r"^(?:but |and |so )?(?:why (?:did|do|are|were|would) you (?:have to |need to |always |even "
    r")?(?:ask(?:ed|ing)?|need(?:ing)? (?:my|a|an) "
    r"(?:yes|ok|approval|confirmation)|want(?:ing)? (?:my|a|an) (?:yes|ok|approval|confirmation)|"
    r"wait(?:ing)?)\b.*|"
    r"why (?:the|this|that) question|what (?:made|makes) you ask\b.*|why do you (?:want|"
    r"need) to know\b.*|why does (?:it|that|this) (?:need|ask|want)\b.*|what(?:'s| is) "
    r"the reason (?:for|you) ask.*)$",
    _I,
)
_COSTS = re.compile(
    r"^(?:(?:how much|what) (?:did|does|has|will) (?:that|this|it|(?:my |the )?(?:last |previous "
    r")?(?:answer|question|request|conversation|chat)|"
    r"today|all (?:of )?(?:this|that)) costs?\w*(?: me| us)?(?: so far| today)?|(?:did|does|will) "
    r"(?:that|this|it) cost (?:me )?(?:anything|something|money)|"
    r"how (?:much|many) (?:money|tokens) (?:did|have|has|was|were) (?:that|this|it|you)\b.*|was "
    r"(?:that|this) (?:free|expensive))\W*$",
    _I,
)
_ABOUT = {  # what was done, as people ask for it, and the tools that do it
    "remove": re.compile(r"delete|remove|forget|erase", _I),
    "create": re.compile(r"add|create|store|save|ingest|augment", _I),
    "finish": re.compile(r"complete|finish", _I),
    "store": re.compile(r"store_memory|save_fact|remember", _I),
    "send": re.compile(r"send|post|mail|notify|publish", _I),
    "run": re.compile(r"execution|run|exec", _I),
}


def asks_why(text: str) -> bool:
    """Whether somebody wants to know why they were asked."""
    return _WHY.match(bare(text)) is not None


_WHAT_AGAIN = re.compile(
    r"^(?:(?:wait|hold on|hang on|sorry|ok|um+|hm+|but|and|er)\b[\s,.!]*)*(?:what (?:was|is|"
    r"were) (?:it|that|the question)(?: again)?|"
    r"what(?: exactly)?(?: (?:are|were) you asking(?: me)?(?: for)?)?|which (?:one|task|thing|"
    r"memory)(?: (?:is|was|exactly).{0,20})?|"
    r"(?:can you )?(?:say|show|tell me|repeat|ask)(?: me)? (?:that|it|"
    r"the question)(?: to me)?(?: again)?|"
    r"(?:are you|is (?:there )?(?:anything|something)) waiting(?: for .{1,30})?|pardon|come again|sorry|"
    r"what (?:would|will|does) (?:that|it|this) do|what (?:are you|would you be) (?:deleting|doing|"
    r"removing|forgetting)(?: exactly)?)$",
    _I,
)


def asks_what_again(text: str) -> bool:
    """Whether somebody wants to see once more what they were asked."""
    return text.rstrip().endswith("?") and _WHAT_AGAIN.match(" ".join(text.split()).strip(" ?!.")) is not None


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,
    ) -> Decision | None:
        heard = [_plain(dialogue.utterance), *map(_plain, asked_in(dialogue.utterance))]
        said = heard[0]
        if dialogue.asked or SHOW not in {tool.name for tool in tools}:
            return None
        if _COSTS.match(said):
            return Tell(text=COST, confidence=1.0)
        meant = ((each, _asked(each, now) or _asked_of_one(each, now)) for each in heard)
        said, asked = next((each for each in meant if each[1] is not None), (said, None))
        if asked is None:
            return None
        step = next((each for each in dialogue.steps if each.tool == SHOW), None)
        if step is None:
            return Call(tool=SHOW, arguments=asked, goal=0, confidence=1.0)
        if step.failure is not None:
            return Tell(text=f"I could not look into the record: {step.failure}")
        return Tell(text=_told(asked, _items(step), said, now), confidence=1.0)


def _plain(text: str) -> str:
    return _BY_ME.sub(r"\g<ask> did you \g<verb>\g<more>", bare(text).rstrip(" ?!."))


def _asked(said: str, now: datetime) -> Mapping[str, Any] | None:
    if _WHY.match(said):
        return {"about": "asked"}
    if _WAITING.match(said) and _SAYS_WAITING.search(said):
        return {"about": "waiting"}
    found = _DID.match(said)
    if found is None:
        return None
    more = next((found[name] for name in ("more", "more2", "more3", "more4") if found[name] is not None), "")
    verb = _verb(found)
    if verb and _MEANT_OTHERWISE.match(verb):
        return None
    if not _only_when(more, now):
        return None
    since, until = _window(more, now)
    given = {"about": "changes", "since": since.isoformat()}
    return given if until is None else {**given, "until": until.isoformat()}


def _asked_of_one(said: str, now: datetime) -> Mapping[str, Any] | None:
    """ "Did you add it?": of a thing that Steward does, and no talk."""
    found = _DID_IT.match(said) or _BEEN_DONE.match(said)
    kind = intention(found["verb"]) if found else None
    if found is None or kind not in _ABOUT or _MEANT_OTHERWISE.match(found["verb"]):
        return None
    return {"about": "changes", "since": _window(found["what"], now)[0].isoformat()}


def _verb(found: re.Match) -> str:
    return next((found[name] for name in ("verb", "verb2", "verb3", "verb4") if found[name]), "")


_LEFT_OVER = re.compile(
    r"\b(?:for|with|to|from|in|on|at|since|during|so far|just now|lately|recently|until now|me|my|"
    r"the|tasks?|memor(?:y|ies)|list|"
    r"anything|something|everything|things?|changes?|today|yesterday|week|this|last|past|morning|"
    r"afternoon|evening|night|day|month|hour|"
    r"off|up|out|down|as|done|complete|completed|finished|my|else|all|exactly|here|already|ago|now)\b|\W",
    _I,
)


def _only_when(more: str, now: datetime) -> bool:
    """Whether nothing is asked beyond a time: "what did you say about tides" is about tides."""
    left = more
    for mention in reversed(find_dates(more, now)):
        start, end = mention.span
        left = f"{left[:start]} {left[end:]}"
    return not _LEFT_OVER.sub("", left)


def _window(more: str, now: datetime) -> tuple[datetime, datetime | None]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    said = more.lower()
    if "yesterday" in said:
        return today - timedelta(days=1), today
    if "week" in said:
        monday = today - timedelta(days=today.weekday())
        return (monday - timedelta(days=7), monday) if "last" in said else (monday, None)
    if "month" in said:
        return today - timedelta(days=31), None
    past = [each.start for each in find_dates(more, now) if each.start <= now and not each.time_only]
    if past and past[0].date() < today.date():
        start = past[0].replace(hour=0, minute=0, second=0, microsecond=0)
        return start, None if "since" in said else start + timedelta(days=1)
    return today, None


# --- told ---


def _told(asked: Mapping[str, Any], items: Sequence[Mapping[str, Any]], said: str, now: datetime) -> str:
    match asked["about"]:
        case "waiting":
            return _waiting(items, now)
        case "asked":
            return _why(items)
        case _:
            one = _DID_IT.match(said) or _BEEN_DONE.match(said)
            if one is not None and _asked(said, now) is None:
                return _one(items, one, asked, now)
            found = _DID.match(said)
            verb = _verb(found) if found else ""
            kind = None if _DOING.match(verb) else intention(verb)  # "done" is anything, not a task finished
            told = _changes(items, kind if kind in _ABOUT else None, asked, now)
            return told if not _COUNTS.match(said) else _counted(told)


def _waiting(items: Sequence[Mapping[str, Any]], now: datetime) -> str:
    if not items:
        return "Nothing waits for you."
    lines = [
        f"{number}. {_what(each)} (asked {_at(each, now)}; “steward approve {each.get('id')}”)"
        for number, each in enumerate(items, 1)
    ]
    head = "One call waits for your yes:" if len(items) == 1 else f"{len(items)} calls wait for your yes:"
    return "\n".join([head, *lines])


def _why(items: Sequence[Mapping[str, Any]]) -> str:
    if not items:
        return "I have not asked you for a yes yet."
    latest = items[0]
    return f"I asked because of this call: {_what(latest)}. {str(latest.get('why') or '').strip()}"


def _counted(told: str) -> str:
    """The number first, where one was asked for."""
    count = len(told.splitlines()) - 1
    return f"{count}. {told}" if count else f"None. {told}"


def _one(
    items: Sequence[Mapping[str, Any]], asked_for: re.Match, asked: Mapping[str, Any], now: datetime
) -> str:
    """Whether something was done, by the record: the last such change, or the one of what was named."""
    kind = _ABOUT[str(intention(asked_for["verb"]))]
    done = [each for each in items if kind.search(str(each.get("tool"))) and each.get("status") == "done"]
    named = asked_for["what"].strip()
    wanted: set[str] = set() if _IT.match(named) else set(stems(_LEFT_OVER.sub(" ", named)))
    fitting = [each for each in done if wanted <= set(stems(_what(each)))]
    if not fitting:
        return f"No: I did nothing of that {_when(asked, now)}."
    return f"Yes, at {_at(fitting[-1], now)}: {_what(fitting[-1])}."


def _changes(
    items: Sequence[Mapping[str, Any]], verb: str | None, asked: Mapping[str, Any], now: datetime
) -> str:
    kept = [each for each in items if verb is None or _ABOUT[verb].search(str(each.get("tool")))]
    when = _when(asked, now)
    if not kept:
        return f"I changed nothing {when}." if verb is None else f"None of that {when}."
    shown = kept[-MOST_TOLD:]
    lines = [
        f"{number}. {_at(each, now)}: {_what(each)}{_failed(each)}" for number, each in enumerate(shown, 1)
    ]
    more = (
        [f"… and {len(kept) - len(shown)} before that; “steward log” shows all."]
        if len(kept) > len(shown)
        else []
    )
    return "\n".join([f"This is what I did {when}:", *lines, *more])


def _when(asked: Mapping[str, Any], now: datetime) -> str:
    since = datetime.fromisoformat(str(asked["since"]))
    until = asked.get("until")
    if until is None:
        return "today" if since.date() == now.date() else f"since {since:%A}, {since.day} {since:%B}"
    last = datetime.fromisoformat(str(until)) - timedelta(days=1)
    if last.date() == since.date():
        return (
            "yesterday" if (now.date() - since.date()).days == 1 else f"on {since:%A}, {since.day} {since:%B}"
        )
    return f"from {since:%A}, {since.day} {since:%B} to {last:%A}, {last.day} {last:%B}"


def _at(item: Mapping[str, Any], now: datetime) -> str:
    try:
        at = datetime.fromisoformat(str(item.get("at"))).astimezone(now.tzinfo)
    except ValueError:
        return "at an unknown time"
    return f"{at:%H:%M}" if at.date() == now.date() else f"{at:%a} {at.day} {at:%b} {at:%H:%M}"


def _failed(item: Mapping[str, Any]) -> str:
    status = item.get("status")
    return {"failed": " (it failed)", "interrupted": " (interrupted: its outcome is unknown)"}.get(
        str(status), ""
    )


def _what(item: Mapping[str, Any]) -> str:
    said = str(item.get("what") or "").strip()
    if said:
        return said
    given = cast("Mapping[str, Any]", item.get("arguments") or {})
    told = ", ".join(f"{name} {_cut(value)}" for name, value in given.items() if name != "user_id")
    return f"`{item.get('tool')}`" + (f" ({told})" if told else "")


def _cut(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:80]}…"


def _items(step: Step) -> list[Mapping[str, Any]]:
    data = step.data
    found = cast("Mapping[str, Any]", data).get("items") if isinstance(data, Mapping) else None
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]
