"""Signs that a tool leaves something behind although its name and first words are those of a reader.

Owns the reading of what a description says in passing ('Full reports are saved to disk', '2. Starts a new
analysis') and of what parameters are for ('path to save the body to'). What a sign weighs is decided in
`estimate`. Every pattern is bounded, so that a long description costs no more than its length.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from steward.policy.lexicon import VERBS, WEAK, Act, verb
from steward.policy.wording import WORD

_KEEPING = frozenset({"cache", "download", "save", "store", "persist", "record", "export"})
_KEPT_SOMEWHERE = re.compile(
    r"\b(?:sav(?:e|es|ed|ing)|writ(?:e|es|ing|ten)|stor(?:e|es|ed|ing)|download(?:s|ed|ing)?"
    r"|export(?:s|ed|ing)?)\b[^.]{0,60}"
    r"\b(?:to|into|as|path|file|disk|folder|director(?:y|ies)|locally)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:is|are|gets?|be)\s{1,3}(?:also\s|then\s|automatically\s)?([a-z]{2,20}ed|written|sent|kept)"
    r"\s{1,3}(?:to|in|into|on|as|locally)\b"
)
_STEP = re.compile(r"(?:^|[.\n;:*\u2022-]\s{0,4}|\d\.\s{0,4})([A-Z][a-z]{2,20}s)\b")
_OPENING_WORDS = 14
_MOST_TEXT = 20_000  # what is past it might say anything


def keeps_what_it_reads(sentence: str) -> bool:
    """Whether the first sentence speaks of keeping: 'Download, process, cache, and return ...'."""
    opening = [match[0].casefold() for match in list(WORD.finditer(sentence))[:_OPENING_WORDS]]
    found = (verb(word) for word in opening)
    return any(one is not None and one.base in _KEEPING for one in found)


def is_left_somewhere(description: str) -> str | None:
    """The words by which something is said to be saved, sent or changed, in the passive."""
    for match in _PASSIVE.finditer(description.casefold()):
        word = match[1]
        stems = (word[:-2], word[:-1], word[:-3]) if word.endswith("ed") else ("write",)
        if any(VERBS.get(stem, Act.READ) > Act.READ and stem not in WEAK for stem in stems):
            return match[0]
    return None


def takes_a_step(description: str) -> Act:
    """The gravest act among steps and list items that open in the third person: '2. Starts ...'."""
    worst = Act.READ
    for match in _STEP.finditer(description):
        said = verb(match[1].casefold())
        if said is not None and said.form == "third" and not said.weak and not said.noun_like:
            worst = max(worst, said.act)
    return worst


def saves_by_parameter(properties: Mapping[object, object]) -> str | None:
    """The parameter whose description tells where something is saved or written, or is not read any more."""
    read = 0
    for name, value in properties.items():
        about = cast("Mapping[str, Any]", value).get("description") if isinstance(value, Mapping) else None
        if not isinstance(about, str):
            continue
        read += len(about)
        if read > _MOST_TEXT or _KEPT_SOMEWHERE.search(about):
            return str(name)
    return None
