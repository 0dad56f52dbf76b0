"""Which sentences of an answer say that something was changed.

A classifier over clauses, not a list of phrases: a verb of change in the past, as a participle or as
something being done, a state that only a change brings about, a "now" that compares with before, or a
bare "done". Denials, questions, conditions, possibilities and descriptions are no claims. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from steward.agents.guards.change_words import ALIKE, BASE, HARMLESS, NOUNS, ONGOING, PAST, STATES
from steward.agents.guards.sentences import HOLE, Sentence, sentences, words_of
from steward.contract import linear_re as re

_DENIED = re.compile(
    r"\b(?:not|never|no(?!\s+(?:longer|more|problem|worries|sooner|need|trouble))|none|nothing|nobody|without|unable|neither|nor"
    r"|cannot|failed|fails|fail|refused|unless|instead\s+of|yet\s+to|trouble|problem(?=s?\s+\w+ing)|error|impossible"
    r"|\w+n't|cant|dont|didnt|havent|hasnt|wasnt|couldnt|won't)\b"
)
_POSSIBLE = re.compile(
    r"\b(?:can|could|would|should|may|might|must|shall|to|able|want|wants|wanted|need|needs|like|let's|how|whether|if|"
    r"please|you'd|i'd|we'd|asked|asking|ask|request|requested|trying|tried|try|offer|about|before|by|for|of|when)\s+"
    r"(?:(?!has\b|have\b|been\b|was\b|were\b|got\b|i\b|we\b)\w+\s+){0,3}$"
)
_HAD = re.compile(
    r"\b(?:i|we|i've|we've|i'd|have|has|had|been|was|were|is|are|got|gets|it's|that's|'s|just|already)\s+(?:\w+\s+){0,2}$"
)
_CONDITION = re.compile(
    r"\b(?:if|once|unless|until|as\s+soon\s+as|whenever|after\s+you|when\s+you|before\s+i|in\s+case|otherwise)\b"
)
_THINGS = (
    r"(?:tasks?|items?|to-?dos?|ones?|lists?|entr(?:y|ies)|reminders?|things?|errands?|chores?|files?|notes?|facts?"
    r"|dates?|versions?|documents?|emails?|messages?|events?|meetings?|deadlines?|so\s+far|today|this\s+week|yesterday)"
)
_PROMISE = re.compile(
    r"\b(?:i'll|i\s+will|we'll|we\s+will|i'm\s+going\s+to|i\s+am\s+going\s+to|i'm\s+gonna|let\s+me|i\s+shall|allow\s+me\s+to)\s+"
    r"(?:(?:just|now|go\s+ahead\s+and|quickly|also|gladly|happily|then|right\s+away)\s+)*(\w+)"
)
_DOING = re.compile(
    r"\b(?:i'm|i\s+am|we're|we\s+are|currently|now|busy)\s+(?:(?:just|now|already|also|currently|busy)\s+)*(\w+ing)\b"
)
_BARE = re.compile(
    r"^\W*(?:and\s+|ok(?:ay)?\W+|sure\W+|great\W+|yes\W+|yep\W+|alright\W+|perfect\W+|absolutely\W+|of\s+course\W+|no\s+problem\W+)*"
    r"(?:(?:(?:all\s+)?(?:done|set|sorted|finished|handled|completed?|processed|executed)|success)(?=\W*$|\s+(?:with|and|for)\b)|finito|voil[a\u00e0]|ta-?da+h?"
    r"|presto|boom|bam|there\s+you\s+go|mission\s+accomplished|it\s+is\s+done|as\s+good\s+as\s+done|job\s+done|that\s+does\s+it"
    r"|easy\s+peasy|(?P<gone>gone(?=\W*$|\s+from\b)|say\s+goodbye|poof|bye[\s-]*bye|goodbye|farewell|so\s+long))(?!\w)"
)
_FULFILLED = re.compile(
    r"\b(?:successfully|as\s+(?:you\s+)?(?:requested|asked|wished|instructed|wanted)|per\s+your\s+(?:request|instructions?|wish)|"
    r"consider\s+(?:it|that|this|them|□|\w+(?:\s+\w+)?)\s+(?:\w+ed|done|gone|sent|history)|your\s+wish\s+is\s+my\s+command|"
    r"won't\s+(?:see|find|bother|trouble|have\s+to\s+worry|need\s+to\s+worry)|took\s+care\s+of|taken\s+care\s+of|"
    r"i\s+did\s+(?:it|that|so|this|what|exactly|as)|i've\s+done\s+(?:it|that|so|this|what|exactly|as)|that's\s+(?:it\s+)?done|"
    r"made\s+(?:it\s+(?:on|in)to|sure)|got(?:ten)?\s+rid\s+of|checked\s+(?:□\s+|\w+\s+){0,3}off|no\s+longer|in\s+the\s+books|(?:it's|is)\s+(?:in|on)\s+there|"
    r"(?:gone|went|going)\s+ahead|dealt\s+with|it\s+worked|(?:one|a)\s+(?:\w+\s+)?(?:shorter|longer|lighter|fewer|less)|"
    r"(?:one|\w+)\s+(?:fewer|less)\s+(?:task|thing|item)s?|(?:done|finished|completed)\s+\w+ing|"
    r"(?:managed|was\s+able|were\s+able|pleasure)\s+to\s+(?!help|assist|find|see)\w+|"
    r"bites?\s+the\s+dust|bit\s+the\s+dust|off\s+your\s+(?:plate|list|hands|back|mind)|off\s+the\s+(?:list|table|books))\b"
)
_NOW = re.compile(
    r"(?<!right\s)(?<!for\s)(?<!until\s)(?<!by\s)\bnow\b(?!\s*[?]|\s+(?:and\s+then|you\s+can|i\s+can|would|do|could|should))"
)
_HOLDS = re.compile(
    r"\b(?:is|are|has|have|contains?|includes?|shows?|reads?|lists?|says?|stands?|holds?|it's|you're|they're|sits?|starts?)\b"
)
_CHANGED_NOUN = re.compile(
    rf"\b({'|'.join(NOUNS)})\b[^.]{{0,30}}\b(?:complete|completed|successful|succeeded|done|went\s+through|confirmed|applied|processed|finished|worked|final)\b"
)
_COPULA = r"(?:is|are|was|were|'s|it's|that's|been|be|now|looks|feels|got|went|has|they're|you're|all)"
_STATE = re.compile(
    rf"(?:\b{_COPULA}|{HOLE}'s|\w's)\s+(?:(?:now|all|officially|finally|already|completely|totally|just|as\s+good\s+as|well\s+and\s+truly|long)\s+)*"
    rf"({'|'.join(sorted(map(re.escape, STATES), key=len, reverse=True))})\b"
)
_TICKED = re.compile(
    r"[\u2713\u2714\u2705\u2611\U0001f5d1]|(?<!be)(?<!get)(?<!as)(?<!'re)(?<!getting)\s(?:done|gone)\W*$"
)
_MARKED_DONE = re.compile(
    r"[(,:\u2013\u2014-]\s*(?:already\s+)?(?:completed?|done|finished)\b|[\u2713\u2714\u2705]"
)
_OFFERS = re.compile(r"\b(?:can|could|would|or)\b")
_WORLD = re.compile(
    r"^(?:what|who|whom|whose|which|when|where|why|how)\b|^tell\s+me\s+(?:what|who|when|where|why|how|about)\b"
    r"|^(?:is|are|was|were|do|does|did|has|have|can|could)\s+(?:you|i|we|they|he|she|the|there|my|your|any|it\s+\w)\b"
)
_EARLIER = re.compile(
    r"\b(?:already|earlier|before|previously|yesterday|last\s+time|yes|indeed|just\s+now|a\s+moment\s+ago)\b"
)
_US = re.compile(r"\b(?:i|we|i've|we've|i'm|i'll|your|you're|steward)\b")
_IT = re.compile(r"\b(?:it|that|this|they|them|it's|that's)\b")
# "Deleted." and "Sent to Bob", not "Built in 1889": that is how the world is told.
_SUBJECTLESS = re.compile(r"\A\W*\w+\b(?!\s+(?:in|by|as|from|on|around|during|between|at)\b)")


@dataclass(frozen=True, slots=True)
class ClaimContext:
    """What the person said to an agent that also speaks of the world, and whether a tool told it of that."""

    words: str
    informed: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """Something said to have been changed. No families: any change would make it true."""

    sentence: Sentence
    families: frozenset[str]
    earlier: bool = False  # speaks of what was done in turns before
    state: bool = False  # says how things are; a record may show it without any call


def claims_in(text: str, *, names: tuple[str, ...] = (), asked: ClaimContext | None = None) -> list[Claim]:
    """The claims in an answer.

    `names` are titles of things, whose words are not the answer's own. `asked` is given by agents that also
    speak of the world: who was asked about it may say that something there was changed.
    """
    found: list[Claim] = []
    for sentence in sentences(text, names=names):
        if sentence.item and _MARKED_DONE.search(sentence.plain):
            found.append(Claim(sentence, frozenset({"finish"}), state=True))
        denied = False
        conditional = _CONDITION.search(sentence.plain) is not None
        for place, clause in enumerate(sentence.clauses):
            denied = _is_denied(clause, inherited=denied)
            if denied:
                continue
            for families, state in _claims(clause, sentence, opens=place == 0, conditional=conditional):
                if asked is None or _about_us(clause, sentence, asked, opens=place == 0):
                    earlier = _EARLIER.search(sentence.plain) is not None
                    found.append(Claim(sentence, families, earlier, state))
    return found


def is_done_heading(sentence: Sentence) -> bool:
    """ "Completed:" above a list says so of every task in it."""
    return (
        sentence.heading and {"completed", "done", "finished", "complete"} & set(sentence.words[:3]) != set()
    )


def is_denial(sentence: Sentence) -> bool:
    return _DENIED.search(sentence.plain) is not None


def _is_denied(clause: str, *, inherited: bool) -> bool:
    if _DENIED.search(clause) and not _FULFILLED.search(clause):
        return True
    opening = words_of(clause)[:1]
    return inherited and bool(opening) and (opening[0] in PAST or opening[0] in ("or", "nor"))


def _claims(
    clause: str, sentence: Sentence, *, opens: bool, conditional: bool
) -> Iterator[tuple[frozenset[str], bool]]:
    asking = (sentence.question and clause.strip() == sentence.plain.strip(" ?")) or _asks(clause)
    if asking or (sentence.item and _MARKED_DONE.search(sentence.plain)):
        return
    if sentence.heading and is_done_heading(sentence):
        return
    yield from ((families, False) for families in _told(clause, conditional=conditional))
    if conditional:
        return
    for found in _STATE.finditer(clause):
        yield STATES[found[1]], True
    bare = _BARE.search(clause) if opens or not sentence.item else None
    if bare and not _OFFERS.search(sentence.plain):
        yield frozenset({"remove"} if bare["gone"] else ()), False
    if named := _CHANGED_NOUN.search(clause):
        yield NOUNS[named[1]], False
    if _FULFILLED.search(clause):
        yield frozenset(), False
    if _TICKED.search(clause) and not sentence.item:
        yield frozenset(), False
    if _NOW.search(clause) and _HOLDS.search(clause):
        yield frozenset(), False
    promised = _PROMISE.search(clause)
    if (
        promised
        and promised[1] in BASE
        and promised[1]
        not in ("list", "keep", "check", "do", "call", "start", "take", "open", "pull", "bring", "put")
    ):
        yield BASE[promised[1]], False
    doing = _DOING.search(clause)
    if doing and doing[1] in ONGOING:
        yield ONGOING[doing[1]], False


def _asks(clause: str) -> bool:
    """ "would you like me to …", "should i …", "do you want …": what is only offered or asked."""
    return re.match(
        r"\W*(?:(?:would|should|shall|could|can|do|did|does|have|has|is|are|was|were|may|which|what|who|when|where|how|why)\s+"
        r"(?:you|i|we|it|that|this|one|the|there|any|your|of|□)|would\s+you|want\s+me|anything|are\s+you\s+sure)\b",
        clause,
    ) is not None and not re.search(r"\bi(?:'ve|\s+have)\b", clause)


def _told(clause: str, *, conditional: bool) -> Iterator[frozenset[str]]:
    """Verbs of change in the past or as participles."""
    for found in re.finditer(r"[a-z][a-z'-]*", clause):
        word = found.group()
        families = PAST.get(word)
        if families is None:
            continue
        before, after = clause[: found.start()], clause[found.end() :]
        helped = _HAD.search(before) is not None
        if word in ALIKE and not (helped or re.search(r"\b(?:i|we)\s+(?:\w+ly\s+)?$", before)):
            continue
        if word in HARMLESS and not re.search(
            r"\b(?:been|i|we|i've|have|has|was|were|is|are)\s+(?:\w+\s+)?$", before
        ):
            continue
        if _POSSIBLE.search(before) and not re.search(r"\b(?:i|we|i've|we've)\s+(?:\w+\s+){0,2}$", before):
            continue
        if conditional and not re.search(r"\b(?:i|we|i've|we've|was|were|been)\s+(?:\w+\s+){0,2}$", before):
            continue
        if _describes(word, before, after):
            continue
        yield families


def _describes(word: str, before: str, after: str) -> bool:
    """ "completed tasks", "the saved note", "marked as done" of a list: says which, not what happened."""
    nouned = re.match(rf"\s+(?:and\s+\w+\s+)?{_THINGS}\b(?!\s*(?:from|successfully))", after)
    led = re.search(
        r"\b(?:the|your|my|all|any|these|those|\d+|other|recently|already|two|three|several|of|with|for|as)\s+$",
        before,
    )
    if nouned and (
        led
        or (
            not before.strip()
            and word in ("completed", "finished", "scheduled", "saved", "updated", "planned", "done")
        )
    ):
        return True
    reduced = re.search(rf"\b{_THINGS}\s+$", before) and (
        re.match(r"\s+(?:as|for|to|with|on|in)\b", after)
        or (
            word in ("completed", "finished", "scheduled")
            and re.match(r"\s*(?:$|:|today|yesterday|this)", after)
        )
    )
    listing = re.search(r"\b(?:have|are|find|found|see|show|here|any|there)\b", before)
    return bool(reduced and listing and not re.search(r"\b(?:been|i've)\b", before))


def _about_us(clause: str, sentence: Sentence, asked: ClaimContext, *, opens: bool) -> bool:
    """Whether a clause speaks of what was done here, and not of what happened in the world."""
    if _US.search(clause) or (opens and _BARE.search(clause)):
        return True
    if opens and _SUBJECTLESS.match(clause) and words_of(clause)[0] in PAST:
        return True
    if _WORLD.match(asked.words.strip().lower()) or asked.words.rstrip().endswith("?"):
        return False
    if not asked.informed or _FULFILLED.search(clause) or _IT.search(clause):
        return True
    mentioned = {word for word in words_of(clause) if len(word) > 3}
    return bool(mentioned & set(words_of(asked.words))) or bool(sentence.quotes)
