"""Questions: what one asks, whether it is several, and which words carry it. Pure."""

from steward.contract import linear_re as re
from steward.models.planner.words import STOP, bare, split_name, stem, stems, word_set

MOST_QUESTIONS = 4
ADDRESS = re.compile(r"https?://[^\s<>\"'\])}]*[^\s<>\"'\])}.,;:!?]")
_WH = r"(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|has|have)"
_JOINED = re.compile(rf"\s*(?:[;?]\s+|,?\s+(?:and|then|also)\s+(?:also\s+)?(?={_WH}\b))", re.IGNORECASE)
_COMPARED = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast|what(?:'s| is| are) the differences? between|"
    r"how (?:do|does|is|are))\s+(?P<a>.+?)\s+(?:and|with|to|vs\.?|versus|differ(?:ent)? from)\s+"
    r"(?P<b>.+?)(?:\s+(?:differ|compare))?(?:\s+(?:in terms of|with regard to|regarding|by|on|for|in)\s+"
    r"(?P<aspect>.+?))?\W*$",
    re.IGNORECASE,
)
_ABOUT_BOTH = re.compile(
    r"^(?P<lead>.*\b(?:about|on)\s+)(?P<a>\S.*?),?\s+and\s+(?:about|on)\s+(?P<b>\S.*)$", re.IGNORECASE
)
_DIFFER = re.compile(r"\b(?:compare|contrast|differ|difference|differences|versus|vs)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(its|their|his|her|it|they|he|she|there|them|him)\b", re.IGNORECASE)
_EXPLETIVE = re.compile(  # "is it raining?": nothing is meant by "it"
    r"\b(?:is|was|will|does|did|would)\s+it\s+(?:rain|snow|be|going|take|matter|mean|late|cold|hot|"
    r"warm)\w*\b",
    re.IGNORECASE,
)
_POSSESSIVE = frozenset({"its", "their", "his"})
_NAME = re.compile(r"\b[A-Z][\w'\u2019.-]*(?:\s+(?:of|de|van|von|the)?\s*[A-Z0-9][\w'\u2019.-]*)*")
_CODE = re.compile(r"\b[A-Za-z]{1,6}-?\d[\w-]*\b")
_HOW_TO = re.compile(r"how (?:do|does|can|could|should|would|must|to)\b", re.IGNORECASE)
_ABOUT_NOW = re.compile(
    r"\b(?:today|tonight|right now|now|current(?:ly)?|latest|newest|recent(?:ly)?|this (?:week|month|morning|"
    r"afternoon|evening|year)|at the moment|live|breaking|so far|up to date|these days|yesterday|tomorrow)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:search|look|check|research|find|ask)\b.*\b(?:again|anew|once more|afresh|web|online|internet)\b"
    r"|\b(?:refresh|re-?check|re-?search|up-?to-?date|update (?:this|that|it))\b",
    re.IGNORECASE,
)
# The wish itself, which is no question: what it is about stands beside it, or was asked before.
_ONCE_MORE = re.compile(
    r"^(?:(?:and|please|now)\s+)*(?:search|look|check|research|ask)(?:\s+(?:it|this|that))?(?:\s+up)?"
    r"(?:\s+(?:the\s+)?(?:web|internet))?(?:\s+for\s+(?:it|this|that))?\s+(?:again|anew|once more|afresh)\b"
    r"(?:\s+(?:online|on the (?:web|internet)))?(?:\s+for\s+(?:it|this|that)\b|\s+(?:for|about)\b)?"
    r"[\s:,.!-]*",
    re.IGNORECASE,
)
# The words that only ask. "Tell me a joke" asks for something to be made up, and is no such question.
_TELL_ME = r"tell me(?! an? (?!bit\b|little\b))"
_ASKING = re.compile(
    rf"^(?:please\s+)?(?:show me(?= how\b)|"
    rf"{_TELL_ME}(?: (?:a bit|a little|more|something|all|everything))?(?: about)?|"
    r"(?:explain|describe)(?: to me)?|do you know|"
    r"what (?:do|does) [\w ]{1,40}? say (?:about|on)|i(?:'d| would) like to know(?: about)?|"
    r"(?:can|could|may|should) (?:i|we))\s+(?=\S)",
    re.IGNORECASE,
)
_WHAT_IT_IS = re.compile(
    r"(?:what|who)(?:'s|\s+(?P<are>is|are|was|were))\s+(?P<article>an?\s+)?(?P<thing>[\w-]+(?:\s+[\w-]+)?)",
    re.IGNORECASE,
)
_MEANS = re.compile(r"what does [\w -]+ mean|what(?:'s| is| are) the differences? between .+", re.IGNORECASE)
_POINTING = word_set(
    "the my your our his her its their this that these those it in on at up for i you we they he she there"
)
_WANTS_TO_KNOW = re.compile(
    rf"^(?:find out|research|investigate|look (?:up|into)|search for|show me how|"
    rf"{_TELL_ME}|explain|describe|compare|"
    r"know (?:what|who|when|where|why|which|how|if|whether|about)|what(?! an? )|who|whom|whose|which|when|"
    r"where|why|how|is|are|was|were|does|do|did|has|have|"
    r"(?:about|after|at|before|by|for|from|in|of|on|since|to|under|until|with|within|without) "
    r"(?:what|whom|whose|which|when|where|how))\b",
    re.IGNORECASE,
)
_MAY = re.compile(  # "can I have ..." asks for it
    r"^(?:can|could|may|should|must|shall|will|am|would)\s+(?!you\b)(?!(?:i|we)\s+(?:have|get|order|book)\b)"
    r"\w+\s+\S",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|our|mine|ours)\b", re.IGNORECASE)
_TASK_WORDS = frozenset(
    map(
        stem,
        word_set(
            """research find search look tell explain summarise summarize give show please know learn describe
            investigate compare question answer latest current today now information info web internet online
            google"""
        ),
    )
)


def split_question(text: str, before: str = "") -> tuple[str, ...]:
    """The questions inside one, each standing on its own; `before` is what was asked in the turn before."""
    compared = _compared(text)
    if compared:
        return compared
    both = _ABOUT_BOTH.match(text.strip())
    if both is not None:
        return tuple(
            part
            for side in ("a", "b")
            for part in split_question(f"{both['lead']}{both[side].strip(' ?.')}?", before)
        )
    pieces = [_ONCE_MORE.sub("", piece.strip()).strip(" ,.?") for piece in _JOINED.split(text.strip())]
    parts = [piece for piece in pieces if piece]
    subject = "" if _EXPLETIVE.search(text) else _subject(before)
    found: list[str] = []
    for part in parts[:MOST_QUESTIONS]:
        standing = _with_subject(part, subject)
        subject = _subject(standing) or subject
        standing = _ASKING.sub("", standing)
        found.append(f"{standing}?" if re.match(rf"{_WH}\b", standing, re.IGNORECASE) else standing)
    return tuple(dict.fromkeys(found)) or (before or text.strip(),)


def _compared(text: str) -> tuple[str, ...]:
    found = _COMPARED.match(text.strip()) if _DIFFER.search(text) else None
    if found is None:
        return ()
    aspect = f" {found['aspect']}" if found["aspect"] else ""
    return tuple(f"{found[side].strip(' ?.')}{aspect}" for side in ("a", "b"))


def _subject(part: str) -> str:
    """The last name in a question: what 'it' means in the next one."""
    names = [match.group().strip() for match in _NAME.finditer(part) if match.start() > 0]
    return names[-1] if names else ""


def _with_subject(part: str, subject: str) -> str:
    if not subject or _NAME.search(part[1:]):
        return part

    def named(found: re.Match) -> str:
        return f"{subject}'s" if found[1].lower() in _POSSESSIVE else subject

    return _PRONOUN.sub(named, part, count=1)


def search_query(question: str) -> str:
    """What to type into a search field: the words that carry the question, in their order."""
    words = bare(question).strip(" ?.!").split()
    kept = [
        word
        for word in words
        if word.lower().strip(",;:'\"") not in STOP and stem(word.strip(",;:?.!'\"")) not in _TASK_WORDS
    ]
    return " ".join(kept) if len(kept) > 1 else bare(question).strip(" ?.!")


def keywords(text: str) -> tuple[str, ...]:
    """The stems that carry a question."""
    return tuple(each for each in stems(without_addresses(text)) if each not in _TASK_WORDS)


def names_in(question: str) -> frozenset[str]:
    """Stems of names and numbers: what an answer must be about. The first word is no name."""
    words = re.findall(r"[\w'\u2019.-]+", without_addresses(question))
    named = [word for word in words[1:] if word[:1].isupper() or any(c.isdigit() for c in word)]
    return frozenset(stem(part) for word in named for part in split_name(word) if part not in STOP)


def codes_in(text: str) -> frozenset[str]:
    """E04, F-22, WH1000: one of them says nothing of another."""
    return frozenset(found.group().lower() for found in _CODE.finditer(without_addresses(text)))


def addresses_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ADDRESS.findall(text)))


def without_addresses(text: str) -> str:
    """An address says where to look; its letters are no words."""
    return ADDRESS.sub(" ", text) if "://" in text else text


def topic_of(question: str) -> str:
    """A short stable name for what a question is about: `python_async_best_practices`."""
    words = [word for word in split_name(search_query(question)) if word not in STOP]
    return "_".join(words[:6]) or "general"


def asks_to_know(text: str) -> bool:
    """Whether somebody wants to know something of the world: that can be looked for, found or not."""
    return wants_to_know(text) and _OWN.search(text) is None


def wants_to_know(text: str) -> bool:
    """Whether somebody wants to know something, of the world or of what is their own."""
    said = bare(text)
    return _WANTS_TO_KNOW.match(said) is not None or _MAY.match(said) is not None


def may_be_done(text: str) -> bool:
    """Whether what has the form of a question may ask for something to be done: "can we have …"."""
    return _MAY.match(bare(text)) is not None


def asks_how(text: str) -> bool:
    """Whether somebody asks how a thing is done, rather than for it to be done."""
    return _HOW_TO.match(_ASKING.sub("", bare(text))) is not None


def asks_what(text: str) -> bool:
    """Whether somebody asks what a thing is, and nothing else about it."""
    said = bare(text).rstrip(" ?!.")
    found = _WHAT_IT_IS.fullmatch(said)
    if found is None:
        return _MEANS.fullmatch(said) is not None
    words = found["thing"].lower().split()
    kind = found["article"] or (found["are"] or "").lower() == "are"  # "a risk level", "risk levels"
    return words[0] not in _POINTING and (bool(kind) or len(words) == 1)


def about_now(question: str) -> bool:
    return _ABOUT_NOW.search(question) is not None


def repeats(text: str) -> bool:
    """Whether a text begins with the wish to search once more."""
    return _ONCE_MORE.match(text.strip()) is not None


def asks_again(text: str) -> bool:
    """Whether the person wants it looked up anew."""
    return _AGAIN.search(text) is not None
