"""Sentences that take back what was just done, or ask for it again: "put them both back", "undo the undo".

Owns telling them from other sentences, also where a reason stands beside them, and how many changes they
speak of. Pure; what they refer to is found by whoever follows them (`following`).
"""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.wishes import ORDERS, ordered
from steward.models.planner.words import NUMBER_WORDS, intention, is_question


@dataclass(frozen=True, slots=True)
class TakeBack:
    """What was done last was not meant; the last few things."""

    count: int = 1  # 0: all that was done in that turn, or one after the other
    wanted: bool = False  # what is gone is wanted back, in so many words
    again: bool = False  # where an undo was the last thing done, it is that which was not meant
    next_one: bool = False  # where an undo was the last thing done, what was done before that
    added: bool = False  # said of what was added: anything else it would delete
    done: bool = False  # said of what was marked as done, and of nothing else


ALL = 0
_I = re.IGNORECASE
_SMALL = r"(?:two|three|four|five|\d{1,2})"
_THEM = (
    rf"(?:them both|them all|both(?: of (?:them|those|these))?|(?:all|those|these|the)(?: of)? {_SMALL}"
    rf"(?: of them)?|all of (?:them|it|those)|everything|them|those|(?:the )?last {_SMALL}(?: \w+)?)"
)
_IT = rf"(?:it|that(?: one| task)?|this|{_THEM})"
_AS_IT_WAS = (
    r"(?: (?:(?:to )?(?:how|what|when|where|the way)|as) (?:it|they) (?:was|were)\b[^,;]*|"
    r" again| on(?:to)?(?: (?:the|my) list)?| after all| too| please)*"
)
_LEAD = (
    r"^(?:and |so |then |please |just |can you |could you |dear,? |(?:can|could|may) (?:i|we) |i'd like to )*"
)
_BACK = re.compile(
    rf"{_LEAD}(?:(?:change|put|set|move|turn|switch|bring|get|give me|have|take|add) {_IT} "
    rf"(?:both |all )?back{_AS_IT_WAS}|"
    rf"(?:put|bring|get|take) back {_IT}{_AS_IT_WAS}|(?:i )?want {_IT} back{_AS_IT_WAS}|"
    rf"(?:leave|keep) (?!with\b)\S.{{0,40}}? (?:as|where|how|when) (?:it|they) (?:was|were)(?: before)?|"
    rf"reopen {_IT}|(?:revert|undo|scrap)(?: {_IT})?{_AS_IT_WAS}|restore {_IT})$",
    _I,
)
# What says that it was not meant, without asking for anything.
_NOT_MEANT = re.compile(
    r"^(?:(?:as|where|how|when) (?:it|they) (?:was|were)(?: before)?|"
    rf"i (?:didn't|did not|haven't|have not)(?: yet| actually)?(?: (?:do|done|finish|finished) {_IT})?|"
    r"that was (?:a mistake|not meant|wrong)|that(?:'s| is) not what i (?:meant|wanted|said)|"
    rf"(?:please )?(?:don't|do not) (?:remember|keep|store|save|note|add|do|delete|remove|bother with) {_IT}"
    r"(?: (?:then|after all))?|"
    rf"(?:scratch|strike|scrap|belay) {_IT}(?: last one)?|"
    # What was before is praised: "it was better before", "I liked the old name more".
    r"(?:it|that|this|they|both|all|everything|the (?:old|first|previous)\b.{0,20}?)(?: of them)? "
    r"(?:was|were) (?:much |quite |perfectly )?(?:better|fine|right|good|ok|okay|nicer|correct)"
    r"(?: (?:before|as|how|where|the way)\b.{0,20})?|"
    r"(?:the|my) [\w' ]{1,30} (?:was|were) (?:much |quite |perfectly )?(?:better|fine|right|good|nicer) "
    r"before|"
    r"i (?:liked|preferred|prefer|like) (?:it|that|the (?:old|first|previous|original)\b.{0,20}?)"
    r"(?: (?:more|better|before|the way it was|as it was))*)$",
    _I,
)
_BEFORE = re.compile(r"\b(?:before|old|previous|original|first|(?:as|how|way) it was|was wrong)\b", _I)
_NOT_DONE = re.compile(
    r"^(?:(?:it|that|this|they|both|neither|none)(?: of (?:it|them|those|these))?(?:'s| is|'re| are)? )?"
    r"(?:not |isn't |aren't )?(?:quite |actually |really )?"
    r"(?:done|finished|complete|completed|ready)(?: yet| today| either)?$",
    _I,
)
_PRAISED = re.compile(
    r"^[\w' ]{1,30} (?:was|were) (?:much |quite )?(?:better|fine|right|good|correct)(?: after all)?$", _I
)
_WANTED = re.compile(
    rf"{_LEAD}(?:(?:bring|get|put|give me|have) (?:back {_IT}|{_IT} (?:both |all )?back)|restore {_IT}|"
    rf"(?:i )?want {_IT} back|i (?:do |still |actually |did )+(?:need|want) {_IT}|"
    rf"i shouldn't have (?:deleted|removed|done) {_IT}|undo(?: {_IT})?|un-?delete(?: {_IT})?|"
    rf"add {_IT} (?:back|again)|take {_IT} back|keep {_IT} after all|revert(?: {_IT})?)"
    r"(?: (?:again|please|on(?:(?:to)? (?:the|my) list)?|after all))*$",
    _I,
)
_OFF_AGAIN = re.compile(
    rf"^(?:please )?(?:take|cross|strike|get) {_IT} (?:back )?off(?: (?:of )?(?:the|my) list)?"
    r"(?: again| after all)?$",
    _I,
)
_AGAIN = re.compile(
    rf"{_LEAD}(?:(?:add|keep|do|have) {_IT} (?:after all|anyway)|"
    rf"re-?do(?: (?:{_IT}|the {_SMALL}))?|do {_IT} again|"
    r"(?:undo|revert|scrap) (?:the|that|your|both|those) undo(?:ing|s)?|take (?:the|that) undo back)"
    r"(?: (?:please|again|after all))*$",
    _I,
)
_BEFORE_IT = re.compile(
    r"^(?:(?:undo|revert) )?(?:also )?the (?:one|thing|change) before(?: (?:that|it|this))?$", _I
)
_NEGATED = re.compile(r"\bnot\b|n't\b|\bneither\b|\bnone\b", _I)
_UNDOES = re.compile(r"\b(?:undo|revert|scratch|take \w+(?: \w+)? back|take back)\b", _I)
_DENIES = re.compile(r"^(?:(?:oh|ah|sorry|wait|actually|hm+)\b[\s,]*)*(?:no|nope)\b", _I)
_HOW_MANY = re.compile(
    rf"\b(?:(?P<two>both|neither)|(?:all|none of|the last|last|those|these|the)(?: of| the| those)?\s+"
    rf"(?P<n>{_SMALL}))\b",
    _I,
)
_MANY = re.compile(r"\b(?:them|those|everything|all of it|they)\b", _I)
_CLAUSE = re.compile(r"\s*(?:[.;!]\s+|,\s+(?:and |but |so )?|\s+-+\s+|\s+(?:but|so)\s+)")
_HEDGE = re.compile(
    r"^(?:(?:oh|ah|no|nope|ok|okay|well|hm+|oops|whoops|sorry|please|wait|hold on|hang on|actually|"
    r"my mistake|my bad|on second thoughts?|and|but|so)\b[\s,.:!-]*)+",
    _I,
)


def read_take_back(said: str, *, whole: bool = False) -> TakeBack | None:
    """`whole`: nothing else may stand beside it."""
    clauses = [bare for clause in _CLAUSE.split(said) if (bare := _HEDGE.sub("", clause).strip(" .!,"))]
    if any(map(_BEFORE_IT.match, clauses[:1])) and len(clauses) == 1:
        return TakeBack(next_one=True)
    if not clauses or is_question(clauses[0]) or said.endswith("?"):
        return None
    asks = [clause for clause in clauses if _asks(clause)]
    denied = _DENIES.match(said) is not None
    undone = [clause for clause in clauses if _NOT_DONE.match(clause) and _NEGATED.search(clause)]
    praised = [clause for clause in clauses if denied and _PRAISED.match(clause)]
    tells = [clause for clause in clauses if _NOT_MEANT.match(clause)] + undone + praised
    alone = len(asks) + len(tells) == len(clauses)
    if not alone and (whole or not asks or any(map(_orders, clauses))):
        return None  # a reason may stand beside what asks for it, and nothing that orders something else
    if not asks and not _takes_back(tells, said):
        return None
    if asks and all(map(_OFF_AGAIN.match, asks)):
        return TakeBack(how_many(said), added=True)
    undoes = any(map(_UNDOES.search, asks)) and not denied
    again = any(map(_AGAIN.match, asks)) or (bool(asks) and not undoes) or bool(praised and not asks)
    count = how_many(said)
    wanted = count <= 1 and any(map(_WANTED.match, clauses))
    return TakeBack(count, wanted=wanted, again=again, done=bool(undone) and not asks)


def without_reasons(said: str) -> str | None:
    """The wish alone, where a reason stands beside it that would make two wishes of it; else None."""
    back = read_take_back(said) if len(ordered(said)) > 1 else None
    if back is None:
        return None
    many = {ALL: "them", 1: "it"}.get(back.count, f"the {back.count}")
    return f"put {many} back" if back.again else f"undo {many}"


def _asks(clause: str) -> bool:
    return any(way.match(clause) for way in (_BACK, _WANTED, _AGAIN, _OFF_AGAIN))


def _takes_back(tells: list[str], said: str) -> bool:
    """ "It was fine" alone praises nothing that was before."""
    return any(not tell.lower().startswith(("it was", "i like", "i prefer")) for tell in tells) or (
        _BEFORE.search(said) is not None
    )


def _orders(clause: str) -> bool:
    if _asks(clause) or _NOT_MEANT.match(clause):
        return False
    first = clause.split(maxsplit=1)[0].lower()
    return is_question(clause) or first in ORDERS or intention(first) is not None


def how_many(said: str) -> int:
    """Of how many things these words speak; 0 is all of them."""
    found = _HOW_MANY.search(said)
    if found is None:
        return ALL if _MANY.search(said) else 1
    number = found["n"]
    if number is None:
        return 2
    return NUMBER_WORDS.get(number.lower()) or int(number)
