"""Passages with the searched words marked. Pure: text in, markup out; the text stays text."""

from html import escape

from steward.contract import linear_re as re

_WORD = re.compile(r"[^\W_]+")
# Words that every passage has: marking them marks nothing.
_COMMON = re.compile(
    r"an?|and|are|as|at|be|by|can|does?|for|from|has|have|how|i|in|is|its?|me|my|of|on|or|that|the|this|to|was"
    r"|were|what|when|where|which|who|why|will|with|your?"
)


def marked(text: str, query: str) -> str:
    """The text, escaped, with each word that shares its stem with a word of the query marked."""
    wanted = {_stem(word) for word in _WORD.findall(query.lower()) if not _COMMON.fullmatch(word)}
    pieces: list[str] = []
    last = 0
    for found in _WORD.finditer(text):
        if _stem(found[0].lower()) in wanted:
            pieces += [escape(text[last : found.start()]), f"<mark>{escape(found[0])}</mark>"]
            last = found.end()
    return "".join([*pieces, escape(text[last:])])


def _stem(word: str) -> str:
    """Near enough for marking: plural and tense make no difference, short words stay whole."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 4 else word
