"""What calls of the task tools mean, where the taught reader has filled them.

Owns how its pieces of text become a task, a filter or a change: titles free of by-words, dates and rules of
repetition by the tasks' own grammar, and the task that is pointed to. Which tool is meant was decided before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_changes import finisher
from steward.agents.tasks.task_choice import touch_reading
from steward.agents.tasks.task_lists import list_reading, looked_for
from steward.contract import linear_re as re
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.language.forms.quotes import quote_around, quotes_in
from steward.language.reading import ReadCall
from steward.language.references import Reference, read_ordinals, read_reference
from steward.language.telling import to_be_remembered
from steward.language.wishes import ORDERS, orders_it
from steward.models.planner.readers import InterpretedCall, ReaderQuestion
from steward.models.planner.words import bare, intention
from steward.tasks.changes import Changes, adds_a_note, read_update
from steward.tasks.filters import Filters, read_filters
from steward.tasks.matching import stem
from steward.tasks.model import Priority
from steward.tasks.new_tasks import NewTask, introduced, parted, read_new_tasks, without_list
from steward.tasks.priority import find_priority
from steward.tasks.verbs import TASK_VERBS

LISTENED_TO = 200  # words among which places of a list are looked for
LONGEST_PLACES = 12  # words: "the first one, the third one and the last"
_EDGES = " ,.;:!?\"'\u201c\u201d"
_QUOTES = "\"'\u201d"
_OPENING_QUOTES = tuple("\"'\u201c\u2018")
# "I have to get [the form]": from the verb on. "[the form] from the post office": to the end of the phrase.
_INFINITIVE = re.compile(
    r"\bto\s+(?P<rest>(?!(?:my|the|our|a|an|add)\b)\w+(?:\s+\w+){0,2}\s+)$", re.IGNORECASE
)
_CONTINUES = re.compile(
    r"\s+(?:from|in|at|with|for|to|of|about|into)(?:\s+(?!(?:me|by|before|until|due)\b)[\w'-]+){1,4}(?=\s*(?:[.,;!?]|(?:(?:by|before|on|until|due)(?:\s+the)?)?\s*$))",
    re.IGNORECASE,
)
_IS_LIST = re.compile(r"^(?:[\w'-]+\s+){0,5}(?:check)?list(?:\s+(?:of|for)\s.*)?$", re.IGNORECASE)
_DANGLING = re.compile(r"\s+(?:for|by|on|at|until|till|before)$", re.IGNORECASE)  # its date was taken out
_SENTENCE_END = re.compile(r"[.!?](?:\s+|$)")
_PLACING = frozenset({"to", "on", "onto", "in", "into", "from", "off", "for"})
_ARTICLES = frozenset({"a", "an", "the", "my", "our"})
_PRONOUNS = frozenset({"it", "that", "this", "them", "those", "these"})
_ALL = frozenset({"all", "every", "each", "everything", "both"})
_INTENTIONS = {words.COMPLETE: "finish", words.DELETE: "remove", words.UPDATE: "change"}
_THE_TASK = re.compile(
    r"^(?P<verb>[a-z]+)(?: off| out)?\s+(?:the|my|our|that|this)\s+(?:[\w'-]+\s+){1,6}?"
    r"(?:task|to-?do|item|reminder|entry|one)\b(?!\s+list)",
    re.IGNORECASE,
)
_VERB_BEFORE = re.compile(r"(?P<verb>[a-z]+)\s+(?:the\s+|some\s+)?$", re.IGNORECASE)
_FOR_A_DAY = frozenset({"", "for", "on", "by", "at", "due", "until", "till", "before", "due on", "due by"})
_KIND = re.compile(r"\s(?:task|to-?do|reminder|item|entry)\b", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|&|plus)\s+", re.IGNORECASE)
WHAT_TO_ADD = "What would you like to add?"
SOMETHING = "x"  # stands for the title where only the date is read
WHEN = ("due_date", "recurrence")
VERB_WITHIN = 3  # words in which a verb begins a sentence: "I have finished …"
JOINED = 8  # characters between two pieces that say one thing: "the 1st (of) every month"


def new_tasks(call: ReadCall, utterance: str, now: datetime) -> Sequence[NewTask]:
    """The tasks of one call, each thing that it lists by itself; none where nothing is named.

    Titles are as they were marked, the rest is read by the grammar from the words marked.
    """
    title = _title(call, utterance) or introduced(utterance)
    if not title:
        whole = new_list(utterance, now)
        return [] if whole is None else [whole]
    start = call.where.get("title", (0, 0))[0]
    quoted = utterance[max(start - 1, 0) : start + 1].strip()[:1] in _OPENING_QUOTES
    titles = [title] if quoted else [piece.strip(_EDGES) for piece in parted(title)]
    return [_new_task(call, each, utterance, now) for each in titles if each]


def put_together(calls: Sequence[ReadCall], utterance: str) -> Sequence[ReadCall]:
    """ "Order paper and toner" is one thing to do, though its objects were marked apart."""
    kept: list[ReadCall] = []
    for call in calls:
        last = kept[-1] if kept else None
        both = last is not None and words.ADD == last.tool == call.tool
        if last is None or not both or not {"title"} == set(call.where) <= set(last.where):
            kept.append(call)
            continue
        (start, stop), (begin, end) = last.where["title"], call.where["title"]
        start = _from_its_verb(utterance, start)
        joined = utterance[start:end]
        if _AND.fullmatch(utterance[stop:begin]) and parted(joined) == [joined]:
            where = {**last.where, "title": (start, end)}
            kept[-1] = replace(last, arguments={**last.arguments, "title": joined}, where=where)
        else:
            kept.append(call)
    return kept


def _from_its_verb(utterance: str, start: int) -> int:
    """Where a thing to do begins, of whose words only the object was marked: "buy [nails] and [screws]"."""
    found = _VERB_BEFORE.search(utterance[:start])
    does = found is not None and found["verb"].lower() in TASK_VERBS - ORDERS
    return found.start("verb") if found is not None and does else start


def _new_task(call: ReadCall, title: str, utterance: str, now: datetime) -> NewTask:
    if find_dates(title, now):  # a date in the title is none of its words
        parsed = read_new_tasks(f"add {title}", now)
        item = parsed[0] if len(parsed) == 1 else NewTask(title)
        item = replace(item, title=without_list(_DANGLING.sub("", item.title)).strip() or item.title)
    else:
        item = NewTask(without_list(title).strip() or title)
    urgency = find_priority(_said(call, "priority", utterance))
    when = [_timed(piece, now) for piece in _pieces(utterance, _spans(call, utterance, now))]
    due = next((each.due for each in when if each.due), None)
    near, marked = _right_behind(call, utterance, now), call.where.get("due_date")
    if near is not None and marked is not None and near.span[1] <= marked[0]:
        due = near  # what was marked is the day of another task: "the flights for monday, the visa by …"
    return replace(
        item,
        due=due or item.due or _date_at(call, utterance, now),
        recurrence=next((each.recurrence for each in when if each.recurrence), item.recurrence),
        priority=item.priority or (_priority(call) if urgency is None else urgency.priority),
        description=_said(call, "description", utterance) or item.description,
    )


def new_list(utterance: str, now: datetime) -> NewTask | None:
    """ "Make a grocery list": there is one list, so a task of that name; none where things go onto it."""
    parsed = read_new_tasks(utterance, now)
    if len(parsed) != 1 or not _IS_LIST.match(title := parsed[0].title):
        return None
    before = [word for word in utterance.lower().partition(title.lower())[0].split() if word not in _ARTICLES]
    return None if before and before[-1] in _PLACING else parsed[0]


def _spans(call: ReadCall, utterance: str, now: datetime) -> list[tuple[int, int]]:
    """Where it says when. A date of which a part was marked is meant as a whole: "Thanksgiving, [6 am]"."""
    marked = [call.where[name] for name in WHEN if name in call.where]
    dates = [each.span for each in find_dates(utterance, now)]
    return [_whole(span, dates) for span in marked]


def _whole(span: tuple[int, int], dates: Sequence[tuple[int, int]]) -> tuple[int, int]:
    met = [span, *(date for date in dates if date[0] < span[1] and span[0] < date[1])]
    return min(each[0] for each in met), max(each[1] for each in met)


def _timed(words: str, now: datetime) -> NewTask:
    parsed = read_new_tasks(f"add {SOMETHING} {words.lower()}", now)
    return parsed[0] if len(parsed) == 1 else NewTask(SOMETHING)


def _title(call: ReadCall, utterance: str) -> str:
    """The words marked as the title, with the rest of their phrase: "put the bins out", not "bins"."""
    if "title" not in call.where:
        return _said(call, "title", utterance)
    start, end = call.where["title"]
    quote = quote_around(utterance, start, end)
    if quote is not None and quote.end - quote.start < len(utterance.strip()):
        return quote.inner
    remembered = to_be_remembered(utterance)
    if remembered is not None and remembered[0] <= start < remembered[1]:
        start = remembered[1]
    others = [span for name, span in call.where.items() if name != "title"]
    before = utterance[max([0, *(stop for _, stop in others if stop <= start)]) : start]
    verb = None if remembered is not None and start == remembered[1] else _INFINITIVE.search(before)
    if verb is not None and not verb["rest"].rstrip().lower().endswith(" to"):
        start -= len(verb["rest"])
    following = utterance[end : min([len(utterance), *(first for first, _ in others if first >= end)])]
    kind = _KIND.match(following)
    if kind is not None and before.strip().lower() in ORDERS:
        end += kind.end()  # "add old reminder" has no article: the noun is the name's
        following = following[kind.end() :]
    more = _CONTINUES.match(following)
    if more is not None and utterance[end - 1 : end] not in _QUOTES:
        end += more.end()
    title = utterance[start:end].strip(_EDGES)
    return _as_an_order(title) if remembered is not None and start == remembered[1] else title


def _as_an_order(title: str) -> str:
    """ "Paying the rent" as "pay the rent", where it is a verb that things to do begin with."""
    first, _, rest = title.partition(" ")
    verb = next(
        (each for each in TASK_VERBS if first.lower().endswith("ing") and stem(first.lower()) == stem(each)),
        None,
    )
    return title if verb is None or not rest else f"{verb} {rest}"


def _pieces(utterance: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The texts of these spans in order; what stands close together is one piece, with what joins it."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] <= JOINED:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return [utterance[start:end] for start, end in joined]


def _date_at(call: ReadCall, utterance: str, now: datetime) -> DateMention | None:
    """The date that stands where the due date was marked; where none was, right behind the title."""
    start, end = call.where.get("due_date", (0, 0))
    mentions = find_dates(utterance, now)
    marked = next((each for each in mentions if each.span[0] < end and each.span[1] > start), None)
    if marked is not None or end or "title" not in call.where:
        return marked
    return _right_behind(call, utterance, now)


def _right_behind(call: ReadCall, utterance: str, now: datetime) -> DateMention | None:
    """The date that follows the title, with nothing between them but "for" or "by"."""
    end = call.where.get("title", (0, len(utterance)))[1]
    following = (each for each in find_dates(utterance, now) if each.span[0] >= end)
    return next(
        (each for each in following if utterance[end : each.span[0]].strip(_EDGES).lower() in _FOR_A_DAY),
        None,
    )


def what_to_add(certainty: float) -> InterpretedCall:
    return InterpretedCall(
        tool=words.ADD, question=ReaderQuestion(WHAT_TO_ADD, {"waits_for": "title"}), certainty=certainty
    )


def of_what_is_there(call: ReadCall, utterance: str) -> ReadCall:
    """ "Update the milk task" speaks of a task that is there: nobody adds one by changing it."""
    if call.tool == words.ADD and adds_a_note(utterance):
        return replace(call, tool=words.UPDATE, arguments={}, where={})
    found = _THE_TASK.match(bare(utterance)) if call.tool == words.ADD else None
    meant = intention(found["verb"]) if found else None
    tool = next((name for name, each in _INTENTIONS.items() if each == meant), None)
    return call if tool is None else replace(call, tool=tool, arguments={}, where={})


def listed(call: ReadCall, utterance: str, now: datetime) -> InterpretedCall:
    """When and how urgent is read by the grammar; what is looked for only where it was marked."""
    by_grammar = read_filters(utterance, now)
    search = _said(call, "search", utterance)
    if search and replace(by_grammar, search=None) == Filters():
        return looked_for(search, certainty=call.fit)
    completed = call.arguments.get("completed")
    still = False if by_grammar.completed is False else None  # "get done by friday" is not about what is done
    done = completed if isinstance(completed, bool) else still
    filters: Filters = replace(
        by_grammar,
        search=search or None,
        completed=done,
        done_after=by_grammar.done_after if done else None,
        done_before=by_grammar.done_before if done else None,
        due_before=by_grammar.due_before or (None if done else by_grammar.done_before),
        due_after=by_grammar.due_after or (None if done else by_grammar.done_after),
    )
    if filters.nearest:
        filters = Filters(nearest=True, priority=filters.priority)
    if filters.undated:  # the words that say so name no task
        filters = Filters(undated=True, completed=False)
    return list_reading(filters, now, certainty=call.fit)


def touched(call: ReadCall, utterance: str, now: datetime) -> InterpretedCall:
    """Completing, changing or deleting a task that is pointed to."""
    if call.tool != words.UPDATE:
        wanted = False if call.tool == words.COMPLETE else None
        return touch_reading(call.tool, _reference(call, utterance), wanted=wanted, certainty=call.fit)
    pointed, by_grammar = read_update(utterance, now)
    if by_grammar.description or by_grammar.recurrence or _is_quoted(by_grammar.title, utterance):
        touch = touch_reading(words.UPDATE, pointed, wanted=None, certainty=call.fit)
        return replace(touch, finish=finisher(by_grammar, now))
    understood = by_grammar != Changes() and not orders_it(by_grammar.title or "")
    reference = _reference(call, utterance, pointed if understood else None)
    changes = changed(call, utterance, now)
    touch = touch_reading(words.UPDATE, reference, wanted=changes.completed is False, certainty=call.fit)
    return replace(touch, finish=finisher(changes, now))


def _is_quoted(title: str | None, utterance: str) -> bool:
    """Whether the new name stands in quotes, and so is exactly what was said."""
    return any(each.inner == title for each in quotes_in(utterance))


def _reference(call: ReadCall, utterance: str, pointed: Reference | None = None) -> Reference:  # noqa: PLR0911 - one line a form
    """The task that the marked words name; where none are, a place, everything, "it", or what was said.

    `pointed` is what the grammar of changes took for the task, where it understood the change.
    """
    if pointed is not None and pointed.plural:
        return pointed
    named = _said(call, "task_id", utterance)
    if named.isdigit():
        named = f"task {named}"  # a place in the list that was shown
    said = bare(utterance).strip(_EDGES).split()
    whole = read_reference(" ".join(said[1:]))  # without the verb
    every = next((at for at, word in enumerate(said) if word.lower() in _ALL), None)
    if every is not None:  # "get rid of both the bank tasks"
        all_of_them = read_reference(" ".join(["all", *said[every + 1 :]]))
        of_these = all_of_them.text.lower() in named.lower() if all_of_them.text else every == 1
        if all_of_them.everything and of_these:
            return all_of_them
    reference = read_reference(named)
    if named and (not reference.pronoun or named.lower() in _PRONOUNS):
        return reference
    if whole.ordinals or whole.everything or whole.pronoun:
        return whole
    places = next((found for piece in _stretches(said[:LISTENED_TO]) if (found := read_ordinals(piece))), ())
    if places:
        return Reference("", ordinals=places)
    if any(word.strip(_EDGES).lower() in _PRONOUNS for word in said):
        return Reference("", pronoun=True)
    return pointed if pointed is not None and pointed.text else _after_verb(call.tool, said, utterance)


def _stretches(said: Sequence[str]) -> Iterator[str]:
    """Every few words of it, the longest first from each place on."""
    for start in range(len(said)):
        for end in range(min(len(said), start + LONGEST_PLACES), start, -1):
            yield " ".join(said[start:end])


def _after_verb(tool: str, said: Sequence[str], utterance: str) -> Reference:
    """ "Delete the call": what stands behind the verb, though no word of it was marked."""
    verbs = (at for at, word in enumerate(said[:VERB_WITHIN]) if intention(word) == _INTENTIONS[tool])
    at = next(verbs, None)
    return read_reference(utterance if at is None else " ".join(said[at + 1 :]))


def changed(call: ReadCall, utterance: str, now: datetime) -> Changes:
    """What is to be changed: by the grammar of changes where it finds something, else as it was marked."""
    behind = utterance.partition(": ")[2]  # "the call with Priya: make it half three"
    for text in dict.fromkeys((_sentence_of(call, utterance), utterance, behind)):
        by_grammar = read_update(text, now)[1] if text else Changes()
        if by_grammar != Changes() and not orders_it(by_grammar.title or ""):
            return by_grammar
    due = find_dates(_said(call, "due_date", utterance), now)
    priority = find_priority(_said(call, "priority", utterance))
    completed: Any = call.arguments.get("completed")
    title = _said(call, "title", utterance)
    timed = [each for each in find_dates(title, now) if each.span == (0, len(title))]  # "make it half three"
    due = due or timed
    return Changes(
        title=None if timed or orders_it(title) else title or None,
        due=due[0] if due else None,
        priority=_priority(call) if priority is None else priority.priority,
        completed=completed if isinstance(completed, bool) else None,
    )


def _sentence_of(call: ReadCall, utterance: str) -> str:
    """The sentence that names the task; what follows may say why: "She can't make it at 3."."""
    start, end = call.where.get("task_id", (0, len(utterance)))
    ends = [each.end() for each in _SENTENCE_END.finditer(utterance)]
    first = max([0, *(at for at in ends if at <= start)])
    return utterance[first : min([len(utterance), *(at for at in ends if at >= end)])].strip()


def _priority(call: ReadCall) -> Priority | None:
    said = str(call.arguments.get("priority") or "").lower()
    return next((each for each in Priority if each.value == said), None)


def _said(call: ReadCall, parameter: str, utterance: str) -> str:
    """The words that fill a parameter, as they stand in the utterance."""
    if parameter in call.where:
        start, end = call.where[parameter]
        return utterance[start:end].strip(_EDGES)
    value = call.arguments.get(parameter)
    return value.strip() if isinstance(value, str) else ""
