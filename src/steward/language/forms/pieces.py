"""Exact pieces: e-mail addresses, URLs, paths, host names and references, which nobody names in part.

Pure text. A piece goes from blank to blank, without brackets, quotes and closing punctuation around it.
"""

from steward.contract import linear_re as re

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+")
_PATH = re.compile(r"(?:[~.]{0,2}/\S|[A-Za-z]:\\|[^/\s]+/[^/\s]+/\S|[^/\\\s]*[/\\][^/\\\s]*\.[A-Za-z]\w*$)")
# "notes.txt", "db.local", "api.example.org:8080": a dot between names, of which one is more than a letter.
_HOST = re.compile(r"\w[\w-]*(?:\.[\w-]+)*(?:[A-Za-z]\.\w|\w\.[A-Za-z])[\w-]*(?:\.[\w-]+)*(?::\d{1,5})?")
_NUMBER = re.compile(r"[\d.,:]+[A-Za-z]{0,3}(?:[-\u2013][\d.,:]+[A-Za-z]{0,3})?")
# "RB-1988", "inc/2031-04": it begins with a letter, and a number stands behind one of its joints.
_REFERENCE = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[-/#_][A-Za-z0-9]+)*[-/#_]\d[A-Za-z0-9]*(?:[-/#_][A-Za-z0-9]+)*"
)
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+){2,}(?:-\w+)*|[vV]\d+(?:\.\d+)*")
_BRACKETS = "\"'`\u201c\u201d\u2018\u2019()[]{}<>,;"
_CLOSING = ".:!?"
_INSIDE_CODE = "/\\_@"


def whole_piece(text: str, start: int, end: int) -> tuple[int, int]:
    """A span that begins or ends inside an exact piece takes in all of it."""
    left, right = _bounds(text, start, end)
    words = text[left:right]
    if _ADDRESS.match(words):
        return left, left + len(words.rstrip(_CLOSING))
    first, last = _piece_at(text, start), _piece_at(text, end - 1)
    start = first[0] if first else _before(text, left, start)
    return start, max(last[1], start) if last else _behind(text, right, end)


def _bounds(text: str, start: int, end: int) -> tuple[int, int]:
    left, right = start, end
    while left > 0 and not text[left - 1].isspace() and text[left - 1] not in _BRACKETS:
        left -= 1
    while right < len(text) and not text[right].isspace() and text[right] not in _BRACKETS:
        right += 1
    return left, right


def _piece_at(text: str, at: int) -> tuple[int, int] | None:
    """The exact piece around a character; None where an ordinary word stands there."""
    if not 0 <= at < len(text) or text[at].isspace() or text[at] in _BRACKETS:
        return None
    left, right = _bounds(text, at, at + 1)
    words = text[left:right].rstrip(_CLOSING)
    return (left, left + len(words)) if at < left + len(words) and is_exact(words) else None


def is_exact(words: str) -> bool:
    if _NUMBER.fullmatch(words) and not _VERSION.fullmatch(words):
        return False  # "3.30pm", "2.5kg"
    if any(form.fullmatch(words) for form in (_MAIL, _REFERENCE, _VERSION)) or _PATH.match(words):
        return True
    return _HOST.fullmatch(words) is not None and any(len(each) > 1 for each in words.split("."))


def _before(text: str, left: int, start: int) -> int:
    return left if left < start and text[start - 1] in _INSIDE_CODE and text[left].isalnum() else start


def _behind(text: str, right: int, end: int) -> int:
    inside = right > end and text[end] in _INSIDE_CODE and text[end + 1 : end + 2].isalnum()
    return right if inside else end
