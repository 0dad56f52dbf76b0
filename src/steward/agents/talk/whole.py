"""Sentences that leave out what was said before, in full: "and the rent?", "times 4", "what is it again?".

Owns what such a sentence takes over from the question before it. What is asked of a task or a list that was
shown is followed by `following`; whatever is no such sentence stays as it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any, cast

from steward.agents.talk.amending import subject_of
from steward.agents.talk.documents import titles_quoted
from steward.agents.talk.said_dates import dated
from steward.agents.tasks import task_words as words
from steward.contract import linear_re as re
from steward.language.asking import asks_of_day
from steward.language.corrections import said_of_place
from steward.language.dates.find import find_dates
from steward.language.tidy import with_apostrophes
from steward.language.wishes import ORDERS
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.words import intention, is_question, stems
from steward.tasks.filters import Filters, read_filters
from steward.tasks.priority import find_priority

CALCULATE, STORES, SEARCHES = "calculate", "store_memory", "search_memory"
LONGEST = 8  # words of a sentence that leaves something out
_I = re.IGNORECASE
_DROPPED = re.compile(
    r"^(?:(?:oh|ok|okay|no|actually|well|hmm)\b[\s,.]*)*(?:never ?mind(?: that)?|forget (?:it|that|"
    r"about (?:it|that))|"
    r"leave (?:it|that)|drop (?:it|that)|scrap that|skip (?:it|that))\s*(?:[,.;:!-]+\s*(?:and |but |"
    r"just )?|\s+(?:and|but|just)\s+)"
    r"(?P<rest>\S+\s+\S.*)$",
    _I,
)
_NOT_THE_OTHER = re.compile(r"^(?P<one>[^,]{2,60}?),?\s+(?:and )?not (?:the |that )?\S.*$", _I)
_INSTEAD = re.compile(r"^(?P<order>[a-z]+ .+?),?\s+instead\W*$", _I)
_PUT_OFF = re.compile(r"^(?:please )?put (?P<what>\S.{0,60}?) off (?:until|till|to) (?P<until>\S.*)$", _I)
_WAKE = re.compile(r"^(?:please |can you |could you )*wake me(?: up)? (?P<when>\S.*)$", _I)
# "Not the tank, I filled it. Remove it": what "it" is was said just before.
_OWN_IT = re.compile(
    r"^(?:(?:no|not|sorry|but|oh|wait|actually)[\s,]+)+(?:the|my|our) (?P<thing>[\w'-]+(?: [\w'-]+){0,2})"
    r"[,;.]\s.*[,.;!]\s+(?:and |so |please )*"
    r"(?P<verb>delete|remove|tick|cancel|finish|complete|mark|move|cross|check|strike|drop) it\b"
    r"(?P<rest>.*)$",
    _I,
)
_PUSHED = re.compile(
    r"^(?:please )?(?:push|bump|knock|shove|nudge|slide|shift) (?P<what>\S.{0,60}?) (?:on|back|out|"
    r"along) (?P<much>(?:by|to|until) \S.*)$",
    _I,
)
_LEADS = re.compile(r"^(?:(?:and|so|ok|okay|sorry|hm+|now|then|but|also|right)\b[\s,]*)+", _I)
_ELLIPSIS = re.compile(
    r"^(?:(?:ok|okay|so)[\s,]+)?(?:(?:and|or|also|what about|how about|and what about)\s+)+(?P<rest>.+)$", _I
)
_AGAIN = re.compile(
    r"^(?P<ask>what|who|where|when|which|how much|how many|how old)(?:'s|\s+is|\s+was|\s+are|\s+were) "
    r"(?:it|that|he|she|they|this)(?: again| now| then| called)*$",
    _I,
)
_BY_NOW = re.compile(r"(?<=\S)\s+(?:now|these days|nowadays|currently)\s*\?*$", _I)
_PLACED = re.compile(r"^(?P<prep>for|on|in|at|to|from|with|about|of|under|during)\s+\S.*$", _I)
_AMOUNT = re.compile(
    r"^(?P<lead>how (?:much|many)\s+)(?P<what>\S+(?:\s+\S+){0,2}?)(?P<rest>\s+(?:do|does|did|is|are|"
    r"was|were|can|have|has|will|would|should)\b.*)$",
    _I,
)
_IS = re.compile(
    r"^(?P<lead>(?:what|who|where|when|which|whose|how(?: \w+)?)(?:'s| is| are| was| were|"
    r" will be)\s+)(?P<np>.+?)"
    r"(?P<tail>\s+(?:due|called|coming|open|closed|happening|on|at|like|made|\w+ing|from))?$",
    _I,
)
_DOES = re.compile(
    r"^(?P<lead>(?:what|who|where|when|which|why|how|do|does|did|is|are|can|has|have)\b.*?\b(?:do|does|"
    r"did|can|will|would|should|has|have|is|are)\s+)"
    r"(?P<np>(?:the|my|our|your|his|her|their|its|a|an|this|that)\s+\S+(?:\s+\S+){0,5}?)(?P<tail>\s+\S+)$",
    _I,
)
_OBJECT = re.compile(
    r"^(?P<lead>.+\s)(?P<np>(?:the|my|our|your|his|her|their|an?)\s+\S+(?:\s+\S+){0,3})$", _I
)
# What takes the place of its like, wherever that stands: a code of a code, a name of a name.
_KINDS = tuple(
    re.compile(rf"\b{kind}\b") for kind in (r"[A-Za-z]+[-.]?\d[\w.-]*", r"[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*")
)
_INSIDE = re.compile(
    r"^(?P<lead>(?:what|who|where|when|which|why|how)\b(?:\s+[\w'-]+){0,2}?\s+(?:do|does|did|can|will|would|should|must|"
    r"may|is|are|was|were)\s+)(?P<np>[\w'-]+(?:\s+[\w'-]+){0,3}?)(?P<tail>\s+[a-z]+\s+(?:in|on|at|for|with|by|to|"
    r"from|per|under)\s.+)$",
    _I,
)
_FUNCTION_IN = re.compile(r"\b(?:i|you|we|he|she|it|they|of|in|on|for|to|with|at|by|and|or)\b", _I)
_OWN_NOUN = re.compile(r"^(?:the|an?|my|our|your|their)\s+(?!.*\bones?$)|^[a-z]+s$", _I)
# A question of one word goes on with the one before: "with whom?", "which?", "when?".
_SLUICE = re.compile(
    r"^(?:and\s+)?(?P<wh>(?:(?:with|for|by|from|to|at|on|in|of)\s+)?(?:who|whom|what|when|where|why|which|how"
    r"(?:\s+(?:much|many|long|often|far|old))?))$",
    _I,
)
_WH = re.compile(
    r"^(?:(?:with|for|by|from|to|at|on|in|of)\s+)?(?:how\s+(?:much|many|long|often|far|old)|what|whom?|when|where|why|"
    r"which|how)\b\s*",
    _I,
)
_YES_NO = re.compile(r"^(?:do|does|did|is|are|was|were|can|could|may|must|should|will|would|has|have)\b", _I)
_ONE = re.compile(r"^(?:the|an?|my|our)\s+(?P<which>[\w'-]+)\s+ones?$", _I)
_OF_TWO = re.compile(r"\b(?P<det>the|an?|my|our)\s+(?P<which>[\w'-]+)\s+(?P<noun>[a-z][\w'-]+)", _I)
_FUNCTION = re.compile(
    r"^(?:of|in|on|for|to|with|at|by|and|or|is|are|was|were|do|does|did|have|has|can|will)$", _I
)
_PRONOUN = re.compile(r"\b(?:its?|they|them|their)\b", _I)
_PERSON = re.compile(r"\b(?:its?|they|them|their|he|she|him|his|her)\b", _I)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|will|does|did|would)\s+it\s+(?:rain|snow|be|take|mean|late|cold|hot|warm)\w*\b", _I
)
_NOUN = re.compile(r"\b(?P<det>the|my|our|an?)\s+(?P<words>[\w'-]+(?:\s+[\w'-]+){0,3})", _I)
_OWNED = re.compile(r"^(?:the|my|our|your|his|her|their|an?|this|that)\s|^[A-Z]")
REST = re.compile(
    r"^(?:(?:what about|how about|all) )?(?:the )?(?:rest|others|other ones|remaining(?: ones)?|"
    r"ones left)(?: of (?:them|it))?$",
    _I,
)
AFTERWARDS = re.compile(r"^(?:after (?:that|then)|afterwards|later(?: on)?|beyond that)$", _I)
_NUMBER = r"[-+]?\d[\d.,]*"
_GOES_ON = re.compile(
    r"^(?:(?P<op>plus|minus|times|less|over|divided by|multiplied by|to the power of|add|subtract|"
    r"take away|take off|"
    r"multiply(?: it| that)? by|divide(?: it| that)? by|[-+*/x×÷])\s*(?P<more>[\d.]\S*.*)|"  # noqa: RUF001
    rf"(?P<part>half|double|twice|a (?:third|quarter)|{_NUMBER} ?(?:%|percent))(?: of)? (?:it|that))$",
    _I,
)
_OTHER_NUMBER = re.compile(rf"^(?P<number>{_NUMBER})(?P<unit>\s*[a-z%°]+)?$", _I)
_SPOKEN = {
    "add": "plus", "subtract": "minus", "less": "minus", "take away": "minus", "take off": "minus",
    "over": "divided by",
}  # fmt: skip


def in_full(dialogue: Dialogue, now: datetime) -> Dialogue:
    """The turn as if its sentence left nothing out."""
    said = " ".join(with_apostrophes(dialogue.utterance).split()).strip()
    if dialogue.asked:
        return _as_answer(dialogue, said)
    plain = _plainly_ordered(said, now)
    if plain is not None:
        return replace(dialogue, utterance=plain)
    last = next((step for step in reversed(dialogue.earlier) if not step.helper), None)
    if _BY_NOW.search(said) and is_question(_LEADS.sub("", said)) and _of_memory(dialogue):
        said = _BY_NOW.sub("?", said)
        dialogue = replace(dialogue, utterance=said)
    whole = (
        _of_that_day(said, last, now)
        or dated(dialogue, said, now)
        or _reckoned(said, last)
        or _remembered(said, last)
        or (None if _is_filter(said, last, now) else _asked_on(dialogue, said, now))
    )
    return dialogue if whole is None else replace(dialogue, utterance=whole)


def _plainly_ordered(said: str, now: datetime) -> str | None:
    """An order in other words for what the readers know: "push it back by a week", "wake me in an hour"."""
    instead = _INSTEAD.match(said)
    if instead is not None and said.split(maxsplit=1)[0].lower() in ORDERS:
        return instead["order"]
    put_off = _PUT_OFF.match(said)
    if put_off is not None:
        return f"move {put_off['what']} to {put_off['until']}"
    pushed = _PUSHED.match(said)
    if pushed is not None:
        return f"move {pushed['what']} {pushed['much']}"
    woken = _WAKE.match(said)
    if woken is not None and (dates := find_dates(woken["when"], now)):
        start, end = dates[0].span
        return f"remind me to wake up {woken['when'][start:end]}"
    placed = said_of_place(said)
    if placed is not None and (find_priority(placed[1]) or find_dates(placed[1], now)):
        return f"{'set' if find_priority(placed[1]) else 'move'} {placed[0]} to {placed[1]}"
    spoken = _OWN_IT.match(said)
    return None if spoken is None else f"{spoken['verb']} the {spoken['thing']}{spoken['rest']}"


def _of_that_day(said: str, last: Step | None, now: datetime) -> str | None:
    """ "What stays on friday?", where tasks were spoken of, asks for those of that day."""
    if last is None or last.tool not in words.TASK_TOOLS or read_filters(said, now).completed:
        return None
    day = asks_of_day(said, now)
    return f"show my open tasks for {day}" if day else None


def _of_memory(dialogue: Dialogue) -> bool:
    """Whether memory was spoken of in the turn before: "now" asks for its latest word then, not for news."""
    turn = len(dialogue.said_earlier)
    return any(step.tool in (STORES, SEARCHES) for step in dialogue.earlier if step.turn == turn)


def _as_answer(dialogue: Dialogue, said: str) -> Dialogue:
    """ "Forget it, what's on tomorrow?" leaves the question; "the guitar one, not the piano" answers it."""
    dropped = _DROPPED.match(said)
    if dropped is not None and _stands_alone(dropped["rest"]):
        return replace(dialogue, utterance=dropped["rest"], asked=None)
    instead = _INSTEAD.match(said)
    if instead is not None and said.split(maxsplit=1)[0].lower() in ORDERS:
        return replace(dialogue, utterance=instead["order"], asked=None)
    one = _NOT_THE_OTHER.match(said)
    return dialogue if one is None else replace(dialogue, utterance=one["one"])


def _stands_alone(text: str) -> bool:
    first = text.split(maxsplit=1)[0].lower().strip(",")
    return is_question(text) or first in ORDERS or intention(first) is not None


# --- sums ---


def _reckoned(said: str, last: Step | None) -> str | None:
    """ "Times 4" goes on with what was worked out last; "and 25 miles?" works it out for that."""
    if last is None or last.tool != CALCULATE or last.failure is not None:
        return None
    bare = _LEADS.sub("", said).strip(" ?.!")
    bare = re.sub(r"^(?:what(?:'s| is| about)|how about|(?:what )?if (?:i|you|we))\s+", "", bare, flags=_I)
    data: Any = last.data
    result = cast("Mapping[str, Any]", data).get("result") if isinstance(data, Mapping) else None
    on = _GOES_ON.match(bare)
    if on is not None and result is not None:
        if on["part"]:
            part = {"double": "2 times", "twice": "2 times"}.get(on["part"].lower(), f"{on['part']} of")
            return f"what is {part} {result}"
        op = re.sub(r"\s(?:it|that)\b", "", on["op"].lower())
        op = {"multiply by": "times", "divide by": "divided by"}.get(op, _SPOKEN.get(op, op))
        return f"what is {result} {op} {on['more']}"
    other = _OTHER_NUMBER.match(bare)
    before = str(last.arguments.get("expression") or "")
    first = re.search(_NUMBER, before)
    if other is None or first is None:
        return None
    return f"what is {before[: first.start()]}{other['number']}{before[first.end() :]}"


# --- what was told ---


def _remembered(said: str, last: Step | None) -> str | None:
    """ "What is it again?" asks for the fact that was noted last."""
    asked = _AGAIN.match(_LEADS.sub("", said).strip(" ?.!"))
    if asked is None or last is None or last.tool != STORES or last.failure is not None:
        return None
    subject = subject_of(str(last.arguments.get("content") or ""))
    return f"{asked['ask']} is {subject}?" if subject else None


# --- questions ---


def _is_filter(said: str, last: Step | None, now: datetime) -> bool:
    """Whether it only asks for other tasks of the list that was shown."""
    if last is None or last.tool != words.LIST:
        return False
    found = _ELLIPSIS.match(said.strip(" ?.!"))
    rest = found["rest"] if found else said
    return of_the_list(rest) or read_filters(f"show my tasks {rest}", now) != Filters()


def of_the_list(rest: str) -> bool:
    return REST.match(rest) is not None or AFTERWARDS.match(rest) is not None


def _asked_on(dialogue: Dialogue, said: str, now: datetime) -> str | None:
    """The question with what it takes over from those before it; None where it takes over nothing."""
    before = ""
    for text in dialogue.said_earlier:
        before = completed(with_apostrophes(text), before, now) or text
    whole = completed(said, before, now)
    leading = _ELLIPSIS.match(said)
    if whole is None and leading is not None and is_question(leading["rest"]):
        whole = leading["rest"]  # "and who made it?"
    titles = titles_quoted(dialogue)
    told = titles[0] if titles else recalled_subject(dialogue)
    pointed = _pointing(whole or said, before, told, person=not titles) if told else None
    return pointed or whole


def recalled_subject(dialogue: Dialogue) -> str:
    """What the memory is about that the turn before noted or found; empty where it did something else."""
    latest = [step for step in dialogue.earlier if step.turn == len(dialogue.said_earlier)]
    if not latest or any(step.tool not in (STORES, SEARCHES, "query_knowledge_base") for step in latest):
        return ""
    noted = next((step for step in latest if step.tool == STORES and step.failure is None), None)
    if noted is not None:
        return subject_of(str(noted.arguments.get("content") or ""))
    asked = set(stems(dialogue.said_before))
    told = (str(each.get("content") or "") for step in latest for each in _items(step))
    return next((subject_of(each) for each in told if asked & set(stems(each))), "")


def _items(step: Step) -> list[Mapping[str, Any]]:
    data: Any = step.data
    found: Any = cast("Mapping[str, Any]", data).get("items") if isinstance(data, Mapping) else None
    return [
        cast("Mapping[str, Any]", each)
        for each in cast("list[Any]", found or [])
        if isinstance(each, Mapping)
    ]


def _pointing(said: str, before: str, title: str, *, person: bool = False) -> str | None:
    """ "Who installed it?" after a question on the heat pump's manual: with what the manual is about."""
    pronoun = _PERSON.search(said) if person else _PRONOUN.search(said)
    if pronoun is None or not is_question(said) or _EXPLETIVE.search(said):
        return None
    known = set(stems(title))
    named = [_told_of(found, known) for found in _NOUN.finditer(before)]
    subject = max((each for each in named if each), key=len, default=title)
    owned = "'s" if pronoun[0].lower() in ("its", "their", "his", "her") else ""
    return f"{said[: pronoun.start()]}{subject}{owned}{said[pronoun.end() :]}"


def _told_of(noun: re.Match, known: set[str]) -> str:
    """As much of a noun phrase as the title names."""
    told = list(takewhile(lambda word: known.intersection(stems(word)), noun["words"].split()))
    return " ".join((noun["det"], *told)) if told else ""


def completed(said: str, before: str, now: datetime) -> str | None:
    """ "And the rent?" after "what's the notice period?" asks "what's the rent?"."""
    question = _LEADS.sub("", before).strip(" ?.!")
    bare = said.strip(" ?.!")
    again = _AGAIN.match(_LEADS.sub("", bare))
    if again is not None and is_question(question) and question.lower().startswith(again["ask"].lower()):
        return f"{question}?"
    sluiced = _SLUICE.match(bare)
    if sluiced is not None:
        rest = _WH.sub("", question)
        # "Which?" goes on with "how many tasks"; "when?" only with what was done to something.
        goes_on = _YES_NO.match(rest) or (
            rest != question and sluiced["wh"].lower().startswith(("which", "how"))
        )
        return f"{sluiced['wh']} {rest}?" if goes_on else None
    found = _ELLIPSIS.match(bare)
    if found is None or not is_question(question) or len(bare.split()) > LONGEST:
        return None
    rest = found["rest"]
    if is_question(rest) or of_the_list(rest) or rest.split()[0].lower() in ORDERS:
        return None
    whole = _put_in(rest, question, now)
    return None if whole is None else f"{whole}?"


def _put_in(rest: str, question: str, now: datetime) -> str | None:  # noqa: PLR0911 - one line a form
    """The question with these words in the place of those that they are said instead of."""
    dates = find_dates(question, now)
    if dates and any(each.span == (0, len(rest)) for each in find_dates(rest, now)):
        start, end = dates[-1].span
        return f"{question[:start]}{rest}{question[end:]}"
    alike = _of_its_kind(rest, question)
    if alike is not None:
        return alike
    placed = _PLACED.match(rest)
    if placed is not None:
        at = question.lower().rfind(f" {placed['prep'].lower()} ")
        return f"{question[:at] if at > 0 else question} {rest}"
    amount = _AMOUNT.match(question)
    if amount is not None and not _OWNED.match(rest):
        return f"{amount['lead']}{rest}{amount['rest']}"
    does = None if _IS.match(question) else _DOES.match(question)
    if does is not None:
        return f"{does['lead']}{rest}{does['tail']}"
    found = _IS.match(question)
    if found is not None:
        return f"{found['lead']}{rest}{found['tail'] or ''}"
    told = _OBJECT.match(question)
    return None if told is None else f"{told['lead']}{rest}"


def _of_its_kind(rest: str, question: str) -> str | None:
    """With "E04" for "E11", "Tom" for "Ana", "the rear one" for "the front tyre"; None without a like.

    A thing takes the place of the thing that is spoken of, and not of the place where that is.
    """
    inside = _INSIDE.match(question)
    if inside is not None and _OWN_NOUN.match(rest) and not _FUNCTION_IN.search(inside["np"]):
        return f"{inside['lead']}{rest}{inside['tail']}"
    for kind in _KINDS:
        like = [found for found in kind.finditer(question) if found.start() > 0]
        if like and kind.fullmatch(rest):
            return f"{question[: like[-1].start()]}{rest}{question[like[-1].end() :]}"
    one = _ONE.match(rest)
    pairs = [
        found
        for found in _OF_TWO.finditer(question)
        if not (_FUNCTION.match(found["which"]) or _FUNCTION.match(found["noun"]))
    ]
    if one is None or not pairs:
        return None
    start, end = pairs[-1].span("which")
    return f"{question[:start]}{one['which']}{question[end:]}"
