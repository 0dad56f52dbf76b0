"""What a tool's name and the opening of its description say it does, as verbs.

Owns the reading of names ('issue_write', 'listAdd', 'get_or_create') and sentences ('This tool will
fetch ...', 'Create or update ...'). What the verbs weigh is decided in `estimate`.
"""

from collections.abc import Sequence

from steward.contract import linear_re as re
from steward.policy.lexicon import PLAIN_READS, SURE_READS, VERBS, Act, Verb, verb

WORD = re.compile(r"[A-Za-z]+")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_LETTERS = re.compile(r"[^A-Za-z]+")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+|\s[-\u2013\u2014]\s")
_TOOL_REFERENCE = re.compile(r"[`'\"]?\b\w+_\w+\b(?:\(\))?[`'\"]?")
_LEAD_IN = re.compile(
    r"^\W*(?:(?:important|note|warning|workflow|required first|start here[^:.]*|discovery|deprecated)\b"
    r"[^:.]*[:.]\s*)+",
    re.IGNORECASE,
)
_QUERYING = re.compile(
    r"\W*(?:\w+\W+){0,4}?(?:execut|run|perform|issu)\w*\W+(?:\w+\W+){0,6}?"
    r"(?:quer(?:y|ies)|search(?:es)?|lookups?|checks?|analys[ie]s|aggregations?|scans?|health|inspection)\b",
    re.IGNORECASE,
)
_FILLERS = frozenset(
    """
    this the a an tool tools function endpoint action use used using will would can could allow allows enable
    let lets you your user users us we to for be help helps when call calls called with mcp api server utility
    ability way client clients model ai agent agents and or also easily simply quickly
    permanently safely recursively efficiently automatically force
    """.split()  # noqa: SIM905 - a list of words reads better as one
)
_JOINTS = frozenset({"and", "or", "then"})
_READ_NOUNS = frozenset(
    {"status", "info", "information", "history", "stats", "details", "metadata", "logs", "log"}
)
_RETURNS = re.compile(r"\breturn(?:s|ing)?\b", re.IGNORECASE)
_MAX_SENTENCES = 12
_MAX_WORDS = 30
_HEAD_WITHIN = 10  # words before the first verb; past them a sentence tells of something else


def name_words(name: str) -> list[str]:
    bare = name.rpartition("__")[2]
    return [word.casefold() for word in _NOT_LETTERS.split(CAMEL.sub("_", bare)) if word]


def name_verb(words: Sequence[str], headed: Verb | None = None) -> Verb | None:
    """The first verb, or the last word where the name is thing first: 'issue_write', 'list_add'.

    A word that may be a thing, as in 'pods_log', is one when the description plainly begins with reading.
    """
    verbs = [(index, Verb(word, VERBS[word], "base")) for index, word in enumerate(words) if word in VERBS]
    if not verbs:
        return None
    index, first = verbs[0]
    if first.base == "check" and words[index + 1 : index + 2] in (["in"], ["out"]):
        return Verb("check in", Act.WRITE, "base")
    rivals = [said for place, said in verbs if place and words[place - 1] in _JOINTS]
    if first.noun_like and len(verbs) > 1:
        last_index, last = verbs[-1]
        if last_index == len(words) - 1 and (first.weak or not last.noun_like):
            first = last
        elif verbs[1][0] == index + 1 and not verbs[1][1].noun_like:
            rivals.append(verbs[1][1])
    said = max([first, *rivals], key=lambda one: one.act)
    thing = said.noun_like and said.act > Act.READ and (index > 0 or words[-1] in _READ_NOUNS)
    return None if thing and headed is not None and headed.base in PLAIN_READS else said


def says_it_reads(words: Sequence[str], sentence: str, *, said: Sequence[Verb | None]) -> bool:
    """Whether something plain says so: a verb, a name such as 'deploy_status', or '... and return it'."""
    if any(one is not None and one.base in SURE_READS for one in said):
        return True
    return not _READ_NOUNS.isdisjoint(words) or _RETURNS.search(sentence) is not None


def sentences(description: str) -> list[str]:
    """The opening sentences, without the headings that servers shout and the names of other tools."""
    text = _TOOL_REFERENCE.sub(" ", _LEAD_IN.sub("", description))
    return [part for part in _SENTENCE.split(text) if WORD.search(part)][:_MAX_SENTENCES]


def head_verb(sentence: str) -> Verb | None:
    """What a sentence says is done: the gravest of its first verb and those joined to it."""
    if _QUERYING.match(sentence):
        return Verb("query", Act.READ, "base")
    said: list[Verb] = []
    opening = True  # nothing but fillers so far: here a word that may be a thing is a verb
    chained = False  # only verbs and joints so far, as in 'get, create or update'
    matches = list(WORD.finditer(sentence))[:_MAX_WORDS]
    for position, match in enumerate(matches):
        word = match[0].casefold()
        found = None if word in _FILLERS else verb(word)
        if not said:
            if found is not None and (opening or not found.noun_like):
                said.append(found)
                chained = True
            elif position > _HEAD_WITHIN:
                break
            opening = opening and word in _FILLERS
        elif found is None or found.form != said[0].form or not _joined(sentence, matches, position):
            chained = chained and word in _JOINTS
        elif chained or not found.noun_like:
            said.append(found)
    return max(said, key=lambda one: one.act) if said else None


def _joined(sentence: str, matches: Sequence[re.Match], position: int) -> bool:
    before = matches[position - 1]
    between = sentence[before.end() : matches[position].start()].strip()
    return before[0].casefold() in _JOINTS or between in {",", "/", "&"}


def opening_verb(sentence: str) -> Verb | None:
    """How a later sentence opens when it goes on in the third person: 'Creates a copy first.'"""
    if _QUERYING.match(sentence):
        return None
    for match in list(WORD.finditer(sentence))[:2]:
        found = verb(match[0].casefold())
        if found is not None and found.form == "third" and match[0][0].isupper():
            return found if found.act > Act.READ or found.base in PLAIN_READS else None
    return None
