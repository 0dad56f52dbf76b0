"""What a request asks for, by its words: the commands in it, and the verb and object of each.

Owns the reading of English requests for naming what is wanted. Knows no tool and no capability.
"""

from steward.contract import linear_re as re

MOST_CLAUSES = 6
LONGEST_NAME = 6  # words
LONGEST_PARTED = 1_500  # characters; more is one text, and each clause is compared with the tools


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_VERBS = word_set(
    """add adjust alert allow analyse analyze answer apply arrange ask assign attach back block book build
    buy calculate call cancel capture change charge check choose clean clear click clone close collect
    commit compare compile complete compose compute connect convert copy correct count create crop cut
    decide delete deliver deploy describe design detect disable discard display download draft draw drop
    edit email enable encrypt end enrol enter erase estimate evaluate execute explain export extract
    fetch file fill filter find finish fix follow forget format forward freeze generate get give grant
    hide hire identify import improve increase inform insert install invite invoice join keep launch
    list load locate lock log look lower mail make manage mark measure merge message migrate modify
    monitor move mute notify open order organise organize park pause pay perform phone plan play plot
    post predict prepare print process produce provide publish pull purchase push put query raise rank
    read rebook recommend record redeem reduce refund register remember remind remove rename renew rent
    repair replace reply report request reschedule research reserve reset resize resolve restart restore
    retrieve return review rewrite roll rotate run save scale scan schedule scrape search select sell
    send set share ship show shut sign skip solve sort split start stop store stream submit subscribe
    suggest summarise summarize switch sync take tell test text track train transcribe transfer
    translate transport tune turn tweet unlock unsubscribe update upgrade upload use validate verify
    visit wake warn watch water withdraw write"""
)
_POLITE = re.compile(
    r"^\s*(?:(?:hey|hi|hello|ok|okay|so|well|now|please|kindly|(?:could|can|would|will) you(?: please)?|"
    r"i(?:'d| would)? (?:want|need|like|love)(?: you)? to|i am trying to|let'?s|go ahead and|help me(?: to)?|"
    r"i want you to|are you able to|is it possible to|"
    r"is there (?:a|any) way (?:for (?:me|you|us) )?to)\b[\s,!.]*)+",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']*'\B")
_JOINT = re.compile(
    r"\s*(?:[;,]?\s*\b(?:and then|then|after that|afterwards)\b|;|[.!?]\s+(?=[A-Z])|,?\s+and\s+)\s*",
    re.IGNORECASE,
)
# A name stands with a capital in a sentence; what is all capitals (PDFs, USD) is a kind of thing.
_VALUE = re.compile(r"(?<=[a-z0-9,] )(?![A-Z]{2,}s?\b)[A-Z][\w'\u2019-]*|\b\S{0,99}\d\S*")
_QUESTION = re.compile(
    r"(?:and\s+)?(?:tell me\s+|(?:do you )?know\s+|find out\s+)?"
    r"(?:what|who|whom|whose|when|where|why|which|how|explain|"
    # "I would like to have ..." has the same words and asks nothing.
    r"(?<!\bto )(?:is|are|was|were|does|did|do|has|have|should))\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|our)\s+(?!(?:area|city|town|country|state|region|neighbou?rhood|opinion|understanding)\b)|"
    r"\b(?:this|these)\s+"
    r"(?!(?:mean|week|month|year|morning|afternoon|evening|weekend|season|century|days)\b)[a-z]",
    re.IGNORECASE,
)
_SEARCH = re.compile(
    r"(?:google|research|browse)\b|(?:search|look)\b.*\b(?:web|internet|online)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NAMED = re.compile(r"(?:\d+(?:st|nd|rd|th)\b|[^\W\d_]+)(?:['\u2019-][^\W\d_]+)*")  # "the 90th number"
_SKIP = word_set(
    """a an the this that these those my your our their his her its some any all every each me us you it
    them new latest last next recent current existing following entire whole more few several another
    please"""
)
_BOUNDARY = word_set(
    """of in on at to for from by with about as into onto over under and or but if then so because since
    until till before after during while is are was were be been has have had that which who when where
    why how not using via per"""
)


def bare(text: str) -> str:
    """A request without the courtesies before it."""
    return _POLITE.sub("", text).strip()


def without_values(text: str) -> str:
    """What is asked, without the names, numbers and quotes that it is asked about."""
    kept = _VALUE.sub(" ", _QUOTE.sub(" ", text))
    return re.sub(r"\s+", " ", kept).strip() or text


def is_question(clause: str) -> bool:
    """Whether it asks to know or to look up something rather than to have something done."""
    courtesy = _POLITE.match(clause)
    at = courtesy.end() if courtesy else len(clause) - len(clause.lstrip())
    return bool(_QUESTION.match(clause, at) or _SEARCH.match(clause, at))


def speaks_of_own(clause: str) -> bool:
    """Whether it is about something that the speaker has or points at, which nobody has published."""
    return _OWN.search(clause) is not None


def clauses(request: str) -> list[str]:
    """The commands in a request, in order. A joint parts two only where a verb commands on both sides."""
    if len(request) > LONGEST_PARTED:
        return [request.strip()]
    hidden = _QUOTE.sub(lambda found: "\0" * len(found.group()), request)
    pieces: list[str] = []
    at = 0
    for joint in _JOINT.finditer(hidden):
        if verb_of(hidden[at : joint.start()]) and verb_of(hidden[joint.end() :]):
            pieces.append(request[at : joint.start()])
            at = joint.end()
    pieces.append(request[at:])
    return [piece.strip() for piece in pieces if piece.strip()][:MOST_CLAUSES] or [request.strip()]


def verb_of(clause: str) -> str | None:
    """The verb that a clause commands with; None when it commands nothing."""
    first = _WORD.match(bare(clause))
    return first.group().lower() if first and first.group().lower() in _VERBS else None


def name_for(clause: str) -> str:
    """A stable snake_case name for what a clause asks for: its verb and what the verb acts on."""
    verb = verb_of(clause)
    words = [word.lower() for word in _NAMED.findall(_QUOTE.sub(" ", bare(clause)))]
    if verb is not None:
        words = words[1:]
    thing: list[str] = []
    spelled = 0  # of these, what is no number
    for word in words:
        if word in _SKIP:
            continue
        if word in _BOUNDARY:
            if thing:
                break
            continue
        thing.append(re.sub(r"\W", "", word))
        spelled += thing[-1][0].isalpha()
        if spelled == 2 or len(thing) == LONGEST_NAME:
            break
    return "_".join([*([verb] if verb else []), *thing]) or "unknown_capability"


def snake_case(text: str) -> str:
    """Any name in the one form that names are compared in."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.strip())
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")[:64]
