"""An utterance as hashed features: words, classes of words, their order, and pieces of words for typos."""

import itertools
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from steward.contract import linear_re as re
from steward.tasks.intents.lexicon import CLASSES, POLITE, POLITE_STARTS

BUCKETS = 1 << 15
_MOST_WORDS = 60
_WORD = re.compile(r"[a-z]+|\d+|[?:;]")
_JOINED = ((re.compile(r"\bto[\s-]?do(?:'?s)?\b(?=\s+(?:list|item|task)|s\b|\s*[:?.!,;]|\s*$)"), "todo"),
           (re.compile(r"\bto-do"), "todo"), (re.compile(r"\b(my|the|our) to do\b"), r"\1 todo"),
           (re.compile(r"\b(an?|new|another) to do\b"), r"\1 todo"))  # fmt: skip


def words_of(utterance: str) -> list[str]:
    """Lower case words without apostrophes; "to do list" is "todo list"; numbers are "#"."""
    text = utterance.lower().replace("\u2019", "'").replace("'", "")
    for pattern, joined in _JOINED:
        text = pattern.sub(joined, text)
    found = _WORD.findall(text)[:_MOST_WORDS]
    return ["#" if word.isdecimal() else word for word in found]


def polite_length(words: Sequence[str]) -> int:
    """How many words at the start only ask nicely."""
    at = 0
    while at < len(words):
        if words[at] in POLITE:
            at += 1
            continue
        for phrase in POLITE_STARTS:
            if tuple(words[at : at + len(phrase)]) == phrase:
                at += len(phrase)
                break
        else:
            return at
    return 0  # nothing but politeness: keep it


def feature_names(utterance: str) -> Iterator[str]:
    everything = words_of(utterance)
    words = everything[polite_length(everything) :]
    words = [word for word in words if word not in POLITE or len(words) == 1]
    yield "bias"
    yield f"n{min(len(words), 12)}"
    yield from (f"w {word}" for word in words)
    yield from (f"b {one} {two}" for one, two in itertools.pairwise(words))
    if words:
        yield f"first {words[0]}"
        yield f"first2 {' '.join(words[:2])}"
        yield f"last {words[-1]}"
        yield f"last2 {' '.join(words[-2:])}"
    if len(words) < len(everything):
        yield "polite"
    for word in words:
        padded = f"<{word}>"
        yield from (f"c {padded[k : k + 4]}" for k in range(len(padded) - 3))
    yield from _class_features(words)


def _class_features(words: Sequence[str]) -> Iterator[str]:
    """Which classes come where: the first class, pairs in order, and what stands between verb and list."""
    tags = [[name for name, members in CLASSES if word in members] for word in words]
    if tags:
        yield f"firstclass {'+'.join(tags[0]) or '-'} {'+'.join(tags[1]) if len(tags) > 1 else ''}"
    seen: set[str] = set()
    for k, here in enumerate(tags):
        for name in here:
            yield f"k {name}"
            yield f"kw {name} {words[k]} {min(k, 2)}"
            yield from (f"k2 {earlier} {name}" for earlier in seen)
            if k == 0:
                yield f"k0 {name}"
        seen.update(here)
    yield "k all " + "".join(sorted({name[0:2] for here in tags for name in here}))


def features(utterance: str) -> NDArray[np.int64]:
    """The buckets of an utterance's features, each once."""
    hashed = {zlib.crc32(name.encode()) % BUCKETS for name in feature_names(utterance)}
    return np.fromiter(sorted(hashed), dtype=np.int64, count=len(hashed))
