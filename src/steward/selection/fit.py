"""Whether a tool can do what is asked: a judgement of one tool, comparable between requests.

A ranker says which tool comes first; this says whether the first one will do. It reads request and tool
piece by piece (late interaction): what a tool says of itself should be found in the request, rare words
counting more than common ones. The nearest tools are then read together with the request by the taught
reader. Owns the evidence and its weights; the words of a report are gaps.py's.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import cast

import numpy as np
from numpy.typing import NDArray

from steward.contract.ports import RankedTool, ReadText, TextReader
from steward.contract.tool import ToolSpec
from steward.language.reading import Readable, RequestReader
from steward.language.thresholds import DEFAULT, MANY
from steward.selection.definitions import UNSAFE, Definition, name_words
from steward.selection.lexical import LexicalRanker, stem

RARITY = Path(__file__).parent / "data" / "rarity.npy"
KEPT = 2_000  # tools whose reading is remembered
SHORT = 64  # pieces of a request; a request of more is a page that somebody pasted
WEIGHED = 2_000  # pairs of a request and a tool

# How much each piece of evidence says. Fitted on tools of the hand-written requests that were left out of
# teaching (scripts/reader/calibrate.py), where half of the requests had no tool.
WEIGHTS = {"cosine": 9.95, "tool_in_request": 3.03, "request_in_tool": -2.32}
BIAS = -3.49
# The same where the taught reader has looked at request and tool together.
TOGETHER, TOGETHER_COSINE, TOGETHER_BIAS = 0.41, 3.95, -0.61
SUREST = 5.0  # what the reader says beyond it, as a logit, says no more
LOOKED_AT, LOOKED_AT_MOST = 5, 10  # tools that it looks at; the second five only where none of the first fits
BY_WORDS = 2  # of the first five, those that share the rarest words with the request
NAMED = 2.0  # what it says for a tool that it is called by its name
KINSHIP, RELATED = 8.0, 0.5  # a tool nearer than this to a kind of ability is of that kind


@dataclass(frozen=True, slots=True)
class FitEvidence:
    """What speaks for a tool, each between 0 and 1 or little beyond."""

    cosine: float  # both texts as wholes
    tool_in_request: float  # how much of the tool's description the request speaks of
    request_in_tool: float  # how much of the request the tool speaks of


@dataclass(frozen=True, slots=True)
class Judged:
    definition: Definition
    fit: float  # the probability that it does what is asked
    evidence: FitEvidence | None = None  # None where only words were compared

    def for_kind(self, kinship: float) -> "Judged":
        """The same where it is known what kind of tool is wanted; `kinship`: how near the tool is to it."""
        return replace(self, fit=_logistic(_logit(self.fit) + KINSHIP * min(0.0, kinship - RELATED)))


class FitJudge:
    def __init__(self, reader: TextReader, *, together: RequestReader | None = None) -> None:
        """`together`: reads a request beside one tool; without it they are only read apart."""
        self._reader = reader
        self._together = together
        self._words = LexicalRanker()
        self._read: OrderedDict[str, ReadText] = OrderedDict()
        self._evidence: OrderedDict[tuple[str, tuple[str, ...]], FitEvidence | None] = OrderedDict()
        self._lock = Lock()

    def judge(self, request: str, tools: Sequence[Definition]) -> list[Judged]:
        """Every tool with its fit, best first. CPU-bound: async callers run it in a thread."""
        if not tools:
            return []
        evidence = self._weighed(request, [tool.texts for tool in tools])
        fits = chances(evidence)
        judged = sorted(map(Judged, tools, fits, evidence), key=_best_first)
        if self._together is None:
            return judged
        by_words = self._words.rank(request, [tool.spec for tool in tools], limit=BY_WORDS)
        return self._looked_at(request, _with_worded(judged, by_words), self._together)

    def fits(self, request: str, tools: Sequence[Readable]) -> Mapping[str, float]:
        """Implements `ToolJudge`."""
        definitions = [_definition(tool) for tool in tools]
        names = {id(each): tool.name for each, tool in zip(definitions, tools, strict=True)}
        return {names[id(each.definition)]: each.fit for each in self.judge(request, definitions)}

    def _looked_at(self, request: str, judged: list[Judged], together: RequestReader) -> list[Judged]:
        """The nearest, judged again; those behind them are no better than the last of these."""
        seen: list[Judged] = []
        for start in range(0, min(len(judged), LOOKED_AT_MOST), LOOKED_AT):
            near = judged[start : start + LOOKED_AT]
            seen += _read_together(request, near, together)
            if any(each.fit >= DEFAULT.judged for each in seen):
                break
        seen = _called_by_name(request, seen)
        if len(judged) > MANY:
            said = _stems(request)
            seen = [each if says_name(each.definition, frozenset(said)) else doubted(each) for each in seen]
        least = min((each.fit for each in seen), default=1.0)
        rest = [replace(each, fit=min(each.fit, least)) for each in judged[len(seen) :]]
        return sorted([*seen, *rest], key=_best_first)

    def _weighed(self, request: str, tools: Sequence[tuple[str, ...]]) -> list[FitEvidence]:
        """Each tool beside the request, weighed once in a turn however many ask."""
        with self._lock:
            known = {texts: self._evidence.get((request, texts)) for texts in tools}
        new = [texts for texts, evidence in known.items() if evidence is None]
        if new:
            asked, *told = self._readings([request, *(text for texts in new for text in texts)])
            weighed = iter(weigh_all(asked, told))
            for texts in new:
                known[texts] = max((next(weighed) for _ in texts), key=lambda each: each.tool_in_request)
        with self._lock:
            self._evidence.update(((request, texts), known[texts]) for texts in new)
            while len(self._evidence) > max(WEIGHED, len(tools)):
                self._evidence.popitem(last=False)
        return [evidence for texts in tools if (evidence := known[texts]) is not None]

    def _readings(self, texts: Sequence[str]) -> list[ReadText]:
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._read]
        found = dict(zip(new, self._reader.read(new), strict=True)) if new else {}
        with self._lock:
            self._read.update((text, _compact(reading)) for text, reading in found.items())
            readings = [self._read[text] for text in texts]
            while len(self._read) > max(KEPT, len(texts)):
                self._read.popitem(last=False)
        return readings


def _definition(tool: Readable) -> Definition:
    name = UNSAFE.sub("_", tool.name)[:64] or "tool"  # a server may call it anything
    return Definition(
        ToolSpec(name=name, description=tool.description, input_schema=tool.schema, examples=tool.examples)
    )


def _best_first(judged: Judged) -> float:
    return -judged.fit


def _with_worded(judged: Sequence[Judged], by_words: Sequence[RankedTool]) -> list[Judged]:
    """Best first by meaning; those that the words speak for stand among the first that are looked at."""
    ahead = LOOKED_AT - BY_WORDS
    names = {each.tool.name for each in by_words}
    worded = [each for each in judged[ahead:] if each.definition.spec.name in names]
    return [*judged[:ahead], *worded, *(each for each in judged[ahead:] if each not in worded)]


def _read_together(request: str, near: Sequence[Judged], together: RequestReader) -> list[Judged]:
    seen = [(each.definition.spec, each.definition.about) for each in near]
    texts = [together.tool(spec.name, about, spec.input_schema) for spec, about in seen]
    marked = together.mark(request, texts)
    pairs = zip(near, (marks.fit for _, marks in marked), strict=True)
    return [_together(each, fit) if _has_parameters(each) else _halved(each, fit) for each, fit in pairs]


def _has_parameters(judged: Judged) -> bool:
    return bool(judged.definition.spec.input_schema.get("properties"))


def _halved(judged: Judged, fit: float) -> Judged:
    """A tool without parameters shows the reader little: both readings of it count alike."""
    together = _together(judged, fit)
    return replace(judged, fit=_logistic((_logit(judged.fit) + _logit(together.fit)) / 2))


def _together(judged: Judged, fit: float) -> Judged:
    cosine = judged.evidence.cosine if judged.evidence is not None else 0.0
    said = max(-SUREST, min(SUREST, _logit(fit)))
    return replace(judged, fit=_logistic(TOGETHER * said + TOGETHER_COSINE * cosine + TOGETHER_BIAS))


def says_name(tool: Definition, said: frozenset[str]) -> bool:
    """Whether a request, by its stems, names a tool: "pause the music", for `music__pause_playback`."""
    missing = [word for word in tool.names.split() if stem(word) not in said]
    of_server = bool(tool.server) and all(stem(word) in said for word in tool.server.split())
    return len(tool.names.split()) > 1 and len(missing) <= of_server


def _called_by_name(request: str, seen: Sequence[Judged]) -> list[Judged]:
    """Of the tools whose names were said, the first counts for more: "add a task to create an event"."""
    said = _stems(request)
    places = [
        named_by(each.definition, said) if says_name(each.definition, frozenset(said)) else len(said) + 1
        for each in seen
    ]
    first = min(places, default=0)
    return [
        _named(each) if place == first <= len(said) else each
        for each, place in zip(seen, places, strict=True)
    ]


def with_own_verb(request: str, judged: Sequence[Judged]) -> list[Judged]:
    """The only tool whose name begins with the verb that the request begins with counts for more."""
    first = _stems(request)[:1]
    mine = [each for each in judged if [stem(word) for word in each.definition.names.split()[:1]] == first]
    if len(mine) != 1:
        return list(judged)
    return sorted((_named(each) if each is mine[0] else each for each in judged), key=_best_first)


def _stems(request: str) -> list[str]:
    return [stem(word) for word in name_words(request).split()]


def named_by(tool: Definition, words: Sequence[str]) -> int:
    """The place in the request by which all of a tool's name was said."""
    wanted = {stem(word) for word in tool.names.split()}
    return max((words.index(word) for word in wanted if word in words), default=len(words))


def _named(judged: Judged) -> Judged:
    return replace(judged, fit=_logistic(_logit(judged.fit) + NAMED))


def doubted(judged: Judged) -> Judged:
    """A tool of which the request does not speak, where one stands out easily: a weak hint is none."""
    spoken = 0.0 if judged.evidence is None else judged.evidence.tool_in_request
    if spoken >= DEFAULT.spoken_of or judged.fit >= DEFAULT.judged_of_many:
        return judged
    return replace(judged, fit=judged.fit * DEFAULT.judged / DEFAULT.judged_of_many)


def weigh_all(asked: ReadText, tools: Sequence[ReadText]) -> list[FitEvidence]:
    """A long request beside many tools costs a tenth as one product; a short one beside each alone is the
    same to the last bit whatever other tools there are.
    """
    if len(asked.pieces) <= SHORT:
        return [weigh(asked, each) for each in tools]
    whole = np.concatenate([each.piece_vectors for each in tools]).astype(np.float32)
    near = asked.piece_vectors @ whole.T
    ends = np.cumsum([len(each.piece_vectors) for each in tools])[:-1]
    return [
        _weighed(asked, each, part) for each, part in zip(tools, np.split(near, ends, axis=1), strict=True)
    ]


def weigh(asked: ReadText, tool: ReadText) -> FitEvidence:
    return _weighed(asked, tool, asked.piece_vectors @ tool.piece_vectors.astype(np.float32).T)


def _weighed(asked: ReadText, tool: ReadText, near: NDArray[np.float32]) -> FitEvidence:
    """`near`: how near each piece of the request is to each of the tool."""
    cosine = float(asked.vector @ tool.vector.astype(np.float32))
    if not asked.pieces or not tool.pieces:
        return FitEvidence(cosine, 0.0, 0.0)
    rare = rarity()
    return FitEvidence(
        cosine,
        _mean(near.max(axis=0), rare[list(tool.pieces)]),
        _mean(near.max(axis=1), rare[list(asked.pieces)]),
    )


def _mean(values: NDArray[np.float32], weights: NDArray[np.float32]) -> float:
    return float(values @ weights / max(float(weights.sum()), 1e-6))


def chances(evidence: Sequence[FitEvidence]) -> list[float]:
    """The probability that each of these tools does what is asked."""
    by_luck = math.log(max(1.0, len(evidence) / MANY))
    return [
        _logistic(BIAS - by_luck + sum(weight * getattr(each, name) for name, weight in WEIGHTS.items()))
        for each in evidence
    ]


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


def _logit(probability: float) -> float:
    return math.log(max(probability, 1e-9) / max(1 - probability, 1e-9))


def _compact(reading: ReadText) -> ReadText:
    return ReadText(
        reading.vector, reading.pieces, cast("NDArray[np.float32]", reading.piece_vectors.astype(np.float16))
    )


@lru_cache(maxsize=1)
def rarity() -> NDArray[np.float32]:
    """How rare each of the reader's pieces is among descriptions of tools, 0 to 1."""
    return np.load(RARITY).astype(np.float32) / 255
