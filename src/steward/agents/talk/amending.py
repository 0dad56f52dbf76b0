"""Words put right: "it's Tim's, not Tom's", "4417 not 4471", "she lives in York". Pure.

Owns which words of something told or named take the place of which, and the subject of a fact.
"""

from datetime import date, timedelta
from difflib import SequenceMatcher

from steward.contract import linear_re as re
from steward.models.planner.words import NUMBER_WORDS, stem

ALIKE = 0.6  # how much of a word must be the same for another to be a slip of it
_I = re.IGNORECASE
_VERB = (
    r"(?:is|are|was|were|'s|will be|has|have|had|lives?|works?|likes?|loves?|hates?|prefers?|drives?|plays?|"
    r"studies|speaks?|comes?|goes?|go|go out|opens?|closes?|starts?|begins?|ends?|costs?|weighs?|"
    r"wears?|eats?|drinks?|"
    r"takes?|needs?|uses?|owns?|sits?|keeps?|gets?|leaves?|arrives?)"
)
_FACT = re.compile(rf"^(?P<subject>\S.*?)(?P<verb>\s+(?:{_VERB})|'s)\s+(?P<value>\S.*)$", _I)
_OF_IT = re.compile(
    rf"^(?:it|he|she|they|that|this|these|those|(?:his|her|its|their) (?:name|number|address|"
    rf"[a-z]+))(?P<verb>\s+(?:{_VERB})|'s|'re)\s+(?P<value>\S.*)$",
    _I,
)
_BE = frozenset({"is", "are", "was", "were", "'s", "'re", "will be"})
_PLACED = re.compile(r"^(?P<lead>(?:on|in|at|by|from|to|until|till|for|near) )\S", _I)
_NOT_VALUE = re.compile(
    r"^(?:not|no|all|fine|ok|okay|good|great|nice|done|right|wrong|true|correct|too|very|so|really|"
    r"time|enough|important|urgent)\b",
    _I,
)
_WORD = re.compile(r"[\w'@.:/+-]+")
_ARTICLE = re.compile(r"^(?:the|some|an?)\s+", _I)
_POSSESSIVE = re.compile(r"['\u2019]s$", _I)
_CODE = re.compile(r"\d")
_COUNTED = re.compile(r"^(?:number|no\.?|nr\.?|#)\s*(?=\d)", _I)
_SHIFTED = re.compile(
    r"^(?:(?:for|on|to|make (?:it|that)) )?(?:the |an? )?(?P<many>\d{1,2}|one|two|three|four|five|six)?\s*"
    r"(?P<unit>days?|weeks?) (?P<way>before|after|earlier|later|sooner)(?: (?:that|then))?$",
    _I,
)
_NO_SUBJECT = frozenset({"i", "we", "you", "he", "she", "it", "they", "that", "this", "there"})


def subject_of(fact: str) -> str:
    """What a fact is about: "my passport number" of "my passport number is 51"."""
    found = _FACT.match(fact.strip(" .!"))
    subject = found["subject"] if found else ""
    return "" if subject.lower() in _NO_SUBJECT else subject


def amended(fact: str, said: str, *, old: str = "") -> str | None:  # noqa: PLR0911 - one line a form
    """A fact as it should be, where `said` puts it right; None where it says nothing of it."""
    said = said.strip(" .!\"'")
    if old:
        return replaced(fact, said, old)
    told = _FACT.match(fact.strip(" .!"))
    of_it = _OF_IT.match(said)
    if of_it is not None:
        if told is None or _NOT_VALUE.match(of_it["value"]):
            return None
        verb, known = of_it["verb"].strip().lower(), told["verb"].strip().lower()
        of_a_thing = said.lower().startswith(("it", "that", "this", "these", "those"))
        if not subject_of(fact) or (of_a_thing and verb in _BE and known not in _BE):
            return None
        kept = (
            told["verb"]
            if verb in _BE and told["verb"].strip().lower() in _BE
            else f" {of_it['verb'].strip()}"
        )
        kept = " is" if kept.strip() == "'re" else kept
        return f"{told['subject']}{kept} {of_it['value']}"
    slip = _slip_of(said, fact)
    if slip:
        return replaced(fact, _COUNTED.sub("", said), slip)
    own = _FACT.match(said)
    if own is not None:
        return said if told is not None and own["subject"].lower() == told["subject"].lower() else None
    if told is None or len(said.split()) > 6:
        return None
    if told["verb"].strip().lower() in _BE:
        return f"{told['subject']}{told['verb']} {said}"
    place = _PLACED.match(told["value"])  # "no, half past six" of what "closes at six"
    if len(told["value"].split()) > 4 or (_PLACED.match(said) and place is None):
        return None
    lead = place["lead"] if place and not _PLACED.match(said) else ""
    return f"{told['subject']}{told['verb']} {lead}{said}"


def in_its_place(new: str, old: str) -> bool:
    """Whether two facts say of the same subject where or when it is or does the same: "comes on"."""
    one, other = _FACT.match(new.strip(" .!")), _FACT.match(old.strip(" .!"))
    if one is None or other is None:
        return False
    places = _PLACED.match(one["value"]), _PLACED.match(other["value"])
    told = [(each["subject"].lower(), each["verb"].lower()) for each in (one, other)]
    leads = [place["lead"].lower() for place in places if place is not None]
    return told[0] == told[1] and len(leads) == 2 and leads[0] == leads[1]


def replaced(text: str, new: str, old: str) -> str | None:
    """The text with what was wrong in it replaced: word for word, and without regard to articles."""
    new, old = _ARTICLE.sub("", new.strip()), _ARTICLE.sub("", old.strip(" .!?\"'"))
    for one, other in ((old, new), (_POSSESSIVE.sub("", old), _POSSESSIVE.sub("", new))):
        found = re.search(rf"(?<![\w]){re.escape(one)}(?![\w])", text, flags=_I) if one else None
        if found is not None:
            return f"{text[: found.start()]}{other}{text[found.end() :]}"
    return None


def counted(said: str, title: str) -> str | None:
    """Another number of the same things: "three bags" for the "two bags" of a title."""
    new = said.strip(" .!").split()
    old = title.split()
    if len(new) < 2 or not _is_number(new[0]):
        return None
    same = [word.lower() for word in new[1:]]
    for at in range(len(old) - len(same)):
        thing = [word.lower() for word in old[at + 1 : at + 1 + len(same)]]
        if (_is_number(old[at]) or old[at].lower() in ("a", "an")) and [stem(word) for word in thing] == [
            stem(word) for word in same
        ]:
            return " ".join((*old[:at], *new, *old[at + 1 + len(same) :]))
    return None


def shifted(said: str, due: str) -> str | None:
    """A day told from the one that was set: "the day before", "two days later"."""
    found = _SHIFTED.match(said.strip(" .!"))
    if found is None or not due:
        return None
    many = 1 if found["many"] is None or not _is_number(found["many"]) else _number(found["many"])
    days = many * (7 if found["unit"].lower().startswith("week") else 1)
    days = -days if found["way"].lower() in ("before", "earlier", "sooner") else days
    return (date.fromisoformat(due[:10]) + timedelta(days=days)).isoformat() + due[10:]


def _is_number(word: str) -> bool:
    return word.isdigit() or word.lower() in NUMBER_WORDS


def _number(word: str) -> int:
    return int(word) if word.isdigit() else int(NUMBER_WORDS[word.lower()])


def _slip_of(said: str, text: str) -> str:
    """The one word that a single word was said for: "Zara" for "Sara", "4417" for "4471"."""
    name = _POSSESSIVE.sub("", _COUNTED.sub("", _ARTICLE.sub("", said)))
    if len(name.split()) != 1:
        return ""
    words = [_POSSESSIVE.sub("", word.strip(".,")) for word in _WORD.findall(text)]
    if _CODE.search(name):
        codes = [word for word in words if _CODE.search(word)]
        return codes[0] if len(codes) == 1 and codes[0] != name else ""
    rated = [(SequenceMatcher(None, name.lower(), word.lower()).ratio(), word) for word in words]
    best = max(rated, default=(0.0, ""))
    return best[1] if ALIKE <= best[0] < 1.0 else ""


def slip(said: str, title: str) -> str | None:
    """A title with the one word put right that was misheard; None where no word of it is near."""
    wrong = _slip_of(said, title)
    return replaced(title, said, wrong) if wrong else None
