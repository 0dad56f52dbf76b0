"""What somebody takes back or corrects in the same breath: "monday, wait no, tuesday", "actually no, don't".

Owns the form: the words by which people correct themselves, and which words before them are replaced. A date
takes the place of a date, a time of a time, a number of a number, and any other word that of the last one.
"""

from collections.abc import Callable, Sequence

from steward.contract import linear_re as re
from steward.language.tidy import covered
from steward.language.values import Moment

Dates = Callable[[str], Sequence[Moment]]

# One of the first, with any of both around it: "no sorry", "oh wait, actually no", "I mean".
_STRONG = (
    r"(?:no|nope|wait|hang on|hold on|scratch that|strike that|correction|i mean(?:t)?|i meant to say|"
    r"or rather|make (?:that|it)|sorry|my mistake|on second thoughts?|changed my mind)"
)
_SOFT = r"(?:or|oh|oops|ah|um+|uh+|er+|actually|well|wait|sorry|no|that|let'?s say|rather)"
_PAUSES = ",.;:!?(…–—-"  # noqa: RUF001
_CUE = re.compile(
    rf"(?:\s*[,.;:!?(…–—-]+\s*|\s+)(?:{_SOFT}\b[\s,.…!-]*){{0,3}}(?P<strong>{_STRONG})\b"  # noqa: RUF001
    rf"(?:[\s,.…!:-]*\b(?:{_SOFT}|{_STRONG})\b){{0,3}}[\s,.…!:–—-]*",  # noqa: RUF001
    re.IGNORECASE,
)
_PAUSE = re.compile(rf"\s*[{_PAUSES}]")
_QUOTED = re.compile('["\u201c][^"\u201d]{1,400}["\u201d]')
_CORRECTS = re.compile(
    r"\b(?:i mean|scratch|strike|correction|rather|mistake|second thought|changed)", re.IGNORECASE
)
_TAKEN_BACK = (
    rf"(?:(?:(?:{_SOFT}|{_STRONG}|but|and|then)\b[\s,.…!-]*){{1,4}}"
    r"(?:(?:please\s+)?(?:don'?t|do not)(?:\s+(?:bother|do (?:that|it)|worry))?|leave it(?: out)?)|"
    rf"(?:(?:{_SOFT}|{_STRONG})\b[\s,.…!-]*){{0,4}}"
    r"(?:never ?mind|(?:forget|cancel|scratch) (?:it|that)|not needed|no need))"
)
_WITHDRAWN = re.compile(rf"[{_PAUSES}]\s*{_TAKEN_BACK}\s*(?:[,.;!?]|$)", re.IGNORECASE)
_ANY_QUOTED = re.compile("[\"\u201c][^\"\u201d]{1,200}[\"\u201d]|['\u2018][^'\u2019]{1,200}['\u2019]")
_WORD = re.compile(r"[^\s,.;:!?()]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CLOSING = re.compile(r"^\s*[,–—-]\s*")  # noqa: RUF001 - the pause behind what was put right
_AFTER = re.compile(r"\s*(?:[,.;!?)]|$)")
_LEADING = re.compile(r"(?:(?:at|on|for|to|by|from|in|it'?s|that'?s|the)\s+)+", re.IGNORECASE)
LOOKED_THROUGH = 4_000  # characters in which a correction is looked for
LONGEST_BREATH = 400  # characters: what a correction replaces stands this near
MOST_MENDED = 12
MOST_WORDS = 3  # of a correction that is neither a date nor a number


def withdrawn(text: str) -> bool:
    """Whether what was asked is taken back before its sentence ends."""
    found = _WITHDRAWN.search(text)
    return found is not None and found.start() > 0 and not covered(_QUOTED, text)[found.start()]


def mended(text: str, dates: Dates) -> str:
    """The text as who said it means it; unchanged where nothing is corrected, or it is not clear what."""
    for _ in range(MOST_MENDED):
        better = _once_mended(text, dates)
        if better is None or len(better) >= len(text):
            return text if better is None else better
        text = better
    return text


def _once_mended(text: str, dates: Dates) -> str | None:
    for found in _cues(text)[:3]:
        begin, end = max(0, found.start() - LONGEST_BREATH), found.end() + LONGEST_BREATH
        before, rest = text[begin : found.start()], text[found.end() : end]
        better = _replaced(before, rest, dates)
        if better is None and not _alone(found):
            lead = _LEADING.match(rest)
            better = _word_for_word(before, rest[lead.end() :] if lead else rest)
        if better is not None:
            return text[:begin] + better + text[end:]
    return None


def _cues(text: str) -> list[re.Match]:
    """Where a correction begins: behind a pause, or with words that are nothing else."""
    text = text[:LOOKED_THROUGH]
    quoted = covered(_QUOTED, text)
    found = [each for each in _CUE.finditer(text) if each.start() and not quoted[each.start()]]
    return [each for each in found if not _alone(each) or _PAUSE.match(each[0])]


def _alone(cue: re.Match) -> bool:
    """ "No milk", "make it loud", "wait for me": one such word is a correction only behind a pause."""
    between_pauses = _PAUSE.match(cue[0]) and cue[0].rstrip()[-1] in _PAUSES
    one = len(_WORD.findall(cue[0])) == len(cue["strong"].split())
    return one and not between_pauses and _CORRECTS.search(cue[0]) is None


def _replaced(before: str, behind: str, dates: Dates) -> str | None:
    lead = _LEADING.match(behind)
    start = lead.end() if lead else 0
    new = next((each for each in dates(behind) if each.start <= start + 1), None)
    if new is not None:
        old = _same_kind(before, new, dates(before), dates)
        if old is None:
            return None
        rest = _CLOSING.sub(" ", behind[new.end :]) if new.end < len(behind) else ""
        return before[: old[0]] + behind[new.start : new.end].strip() + before[old[1] :] + rest
    quoted, quotes = _ANY_QUOTED.match(behind, start), list(_ANY_QUOTED.finditer(before))
    if quoted is not None and quotes:
        return before[: quotes[-1].start()] + quoted[0] + before[quotes[-1].end() :] + behind[quoted.end() :]
    number = _NUMBER.match(behind, start)
    numbers = list(_NUMBER.finditer(before))
    if number is not None and numbers:
        tail, rest = before[numbers[-1].end() :], behind[number.end() :]
        counted = tail.strip()
        if counted and rest.lower().lstrip().startswith(counted.lower()):  # "3 pizzas, sorry 4 pizzas"
            tail = ""
        return before[: numbers[-1].start()] + number[0] + tail + rest
    return None


def _same_kind(before: str, new: Moment, found: Sequence[Moment], dates: Dates) -> tuple[int, int] | None:
    """The part of the last date before that says what the new one says: a day, a time, or both."""
    if not found:
        return None
    old = found[-1]
    if (old.dated, old.timed) == (new.dated, new.timed) or (new.dated and new.timed):
        return old.start, old.end
    words = [
        (old.start + each.start(), old.start + each.end())
        for each in _WORD.finditer(before[old.start : old.end])
    ]
    pieces = [(words[at][0], old.end) for at in range(1, len(words))]
    pieces += [(old.start, words[at][1]) for at in range(len(words) - 1)]
    for start, end in sorted(pieces, key=lambda piece: piece[0] - piece[1]):
        read = dates(before[start:end])
        if len(read) == 1 and (read[0].dated, read[0].timed) == (new.dated, new.timed):
            return start + read[0].start, start + read[0].end
    return None


def _word_for_word(before: str, behind: str) -> str | None:
    """ "call Ana, I mean call Anna", "email Tom, sorry, Tim about it", "buy milk, no wait, oat milk"."""
    said = _AFTER.search(behind)
    piece = behind[: said.start()].strip() if said else ""
    new, old = piece.split(), list(_WORD.finditer(before))
    if said is None or not new or len(old) < 2:
        return None
    same = next((each for each in reversed(old) if each[0].lower() == new[0].lower()), None)
    last = old[-1]
    if same is not None:
        return before[: same.start()] + piece + before[last.end() :] + behind[said.start() :]
    if len(new) == 1 or (len(new) <= MOST_WORDS and new[-1].lower() == last[0].lower()):
        return before[: last.start()] + piece + before[last.end() :] + behind[said.start() :]
    if new[0][0].isupper() and last[0][0].isupper():  # a name for a name, and the sentence goes on
        return before[: last.start()] + behind.lstrip()
    return None
