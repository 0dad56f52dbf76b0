"""Which tool is meant: by the words of its definition and, with an embedder, by their meaning.

Owns the score of a tool for an utterance. Knows no tool: everything comes from the definitions given.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic_ai import ToolDefinition

from steward.contract.ports import Embedder
from steward.contract.preferences import Preference, preferences, without_rivals
from steward.language.reading import Readable
from steward.models.planner.finding import shape_of, without_values
from steward.models.planner.parameters import Parameter, ParameterKind, parameters_of
from steward.models.planner.preferences import preferred
from steward.models.planner.readers import OURS, READER
from steward.models.planner.words import bare, intention, is_question, split_name, stems, word_set

THRESHOLD = 0.35  # below this nothing fits
CLOSE = 0.06  # two scores nearer than this are two readings
NAME_WEIGHT, EXAMPLE_WEIGHT, TEXT_WEIGHT, PARAMETER_WEIGHT = 1.0, 0.7, 0.5, 0.35
SHAPE_WEIGHT, INTENTION_WEIGHT = 0.8, 0.6
WORDS_ALONE = 0.8  # what the words are worth where the meaning does not speak for a tool
LOOK_UP = "@find"
REMOVES = "remove"  # the intention of a tool that deletes, forgets or clears
INTENTION_BONUS, INTENTION_PENALTY = 0.15, 0.6
QUESTION_PENALTY = 0.5  # who asks wants to know, and not to change
CHANGING = frozenset({"create", "remove", "change", "finish", "send", "store"})
MEANING_SHARE = 0.55
COSINE_FLOOR, COSINE_RANGE = 0.1, 0.5  # of the embedder: unrelated texts, and how far related ones rise
CACHED_TOOLS = 20_000
_TELLING = word_set("write drop tell let inform ask answer reply")


@dataclass(frozen=True)
class KnownTool:
    """A definition with what the planner needs of it worked out once."""

    definition: ToolDefinition

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        return self.definition.metadata or {}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.definition.parameters_json_schema)

    @cached_property
    def name_stems(self) -> frozenset[str]:
        return frozenset(stems(self.name)) | frozenset(stems(str(self.metadata.get("title") or "")))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        return tuple(map(str, cast("Sequence[Any]", self.metadata.get("examples") or ())))

    @cached_property
    def about(self) -> str:
        """Its description without what it says other tools are for."""
        return without_rivals(self.definition.description or "")

    @cached_property
    def readable(self) -> Readable:
        """As far as the taught reader looks at it."""
        return Readable(self.name, self.about, self.definition.parameters_json_schema, self.examples)

    @property
    def preferences(self) -> tuple[Preference, ...]:
        return preferences(self.definition.description or "")

    @property
    def own_words(self) -> frozenset[str]:
        return self.name_stems | frozenset(stems(self.about))

    @cached_property
    def choice_words(self) -> frozenset[str]:
        """Of what its parameters let one choose from: "savings" is said of an account."""
        choices = (str(choice) for each in self.parameters for choice in each.choices)
        return frozenset(word for choice in choices for word in stems(" ".join(split_name(choice))))

    @cached_property
    def text(self) -> str:
        name = " ".join(split_name(self.name))
        return f"{name}: {self.about}".strip()

    @cached_property
    def returns(self) -> Mapping[str, Any] | None:
        """What it declares to return. Pydantic AI takes that out of definitions, so metadata may carry it."""
        declared = self.definition.return_schema or self.metadata.get("returns")
        return cast("Mapping[str, Any]", declared) if isinstance(declared, Mapping) else None

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How much a stem says for this tool."""
        fields = (
            (
                PARAMETER_WEIGHT,
                " ".join(f"{each.label} {' '.join(map(str, each.choices))}" for each in self.parameters),
            ),
            (TEXT_WEIGHT, f"{self.about} {self.metadata.get('category') or ''}"),
            (EXAMPLE_WEIGHT, " ".join(self.examples)),
        )
        weights = {each: weight for weight, text in fields for each in stems(text)}
        weights |= {f"#{shape}": SHAPE_WEIGHT for each in self.parameters if (shape := shape_of(each))}
        if can_look_up(self):
            # Whatever it is can be looked for: here the verb alone chooses. Elsewhere the thing is named.
            weights[LOOK_UP] = INTENTION_WEIGHT
        return weights | dict.fromkeys(self.name_stems, NAME_WEIGHT)

    @cached_property
    def intention(self) -> str | None:
        """What the tool does, where its name or the first words of its description say it; the name of its
        server says no such thing: `mail__search_emails` sends none."""
        opening = (self.definition.description or "").split(".")[0].split()[:1]
        words = (*split_name(self.name.rpartition("__")[2]), *opening)
        return next((found for word in words if (found := intention(word))), None)

    @cached_property
    def reads(self) -> bool:
        """Whether calling it changes nothing: by its own word, else by what it does."""
        said = self.metadata.get("read_only")
        return bool(said) if said is not None else self.intention in ("list", "find", "read")

    @property
    def is_brought(self) -> bool:
        """Whether it is none of the house's own, which bring a reader along or say so."""
        return not self.metadata.get(READER) and not self.metadata.get(OURS)

    @property
    def changes(self) -> bool:
        """Whether it is known to change something: by its own word, else by what it does."""
        said = self.metadata.get("read_only")
        return said is False or (said is None and self.intention in CHANGING)


@dataclass(frozen=True, slots=True)
class Scored:
    tool: KnownTool
    score: float


class Ranking:
    """Scores tools. Vectors of definitions are kept, so that a step embeds only what was said."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def rank(self, utterance: str, tools: Sequence[KnownTool]) -> list[Scored]:
        """Best first; equal scores by name, so that the order never depends on anything else."""
        if not tools:
            return []
        said = bare(utterance)
        meaning = self._meaning(said, tools)
        words = _words(said, tools)
        wanted, asks = wanted_intention(said), is_question(said)
        scored: list[tuple[KnownTool, float]] = []
        for tool, by_words, by_meaning in zip(tools, words, meaning or [None] * len(tools), strict=True):
            score = _mixed(by_words, by_meaning)
            score = _with_intention(score, wanted, tool.intention)
            if asks and tool.intention in CHANGING:
                score *= QUESTION_PENALTY
            scored.append((tool, round(score, 4)))
        likeness = self._likeness if self._embedder else None
        chosen = preferred(said, scored, fits=THRESHOLD, likeness=likeness)
        return sorted(
            (Scored(tool, score) for tool, score in chosen), key=lambda each: (-each.score, each.tool.name)
        )

    def settled(
        self, utterance: str, fits: Mapping[str, float], tools: Sequence[KnownTool]
    ) -> Mapping[str, float]:
        """How surely each tool fits, where descriptions had their say on which is to be preferred."""
        judged = [(tool, fits[tool.name]) for tool in tools if tool.name in fits]
        likeness = self._likeness if self._embedder else None
        chosen = preferred(bare(utterance), judged, fits=THRESHOLD, likeness=likeness)
        return {tool.name: fit for tool, fit in chosen}

    def _meaning(self, said: str, tools: Sequence[KnownTool]) -> list[float] | None:
        if self._embedder is None or not said:
            return None
        texts = [(tool.text, *tool.examples) for tool in tools]
        self._embed([text for group in texts for text in group])
        query = self._embedder.embed([said])[0]
        flat = np.stack([self._vectors[text] for group in texts for text in group]) @ query
        scores: list[float] = []
        at = 0
        for group in texts:
            best = float(flat[at : at + len(group)].max())
            scores.append(_risen(best))
            at += len(group)
        return scores

    def _likeness(self, defined: str, said: str) -> float:
        """Of words of a definition, whose vector is kept, to what was said, whose vector is not."""
        assert self._embedder is not None
        self._embed([defined])
        return _risen(float(self._vectors[defined] @ self._embedder.embed([said])[0]))

    def _embed(self, texts: Sequence[str]) -> None:
        if self._embedder is None:
            return
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        while len(self._vectors) > max(CACHED_TOOLS, len(texts)):
            self._vectors.popitem(last=False)


def _risen(cosine: float) -> float:
    return min(1.0, max(0.0, (cosine - COSINE_FLOOR) / COSINE_RANGE))


def _mixed(by_words: float, by_meaning: float | None) -> float:
    if by_meaning is None:
        return by_words
    return max((1 - MEANING_SHARE) * by_words + MEANING_SHARE * by_meaning, WORDS_ALONE * by_words)


def wanted_intention(said: str) -> str | None:
    """What the sentence asks for, by its first verb; who is told something at an address is sent it."""
    words = split_name(said)[:4]
    if words and words[0] in _TELLING and "email" in without_values(said)[1]:
        return "send"
    for word in words:
        found = intention(word)
        if found:
            return found
    return "list" if said.lower().startswith(("what", "which", "how many")) else None


def _with_intention(score: float, wanted: str | None, offered: str | None) -> float:
    if not wanted or not offered or not score:
        return score
    looking = {"list", "find", "read"}
    if wanted == offered:
        return min(1.0, score + INTENTION_BONUS)
    return score if {wanted, offered} <= looking else score * INTENTION_PENALTY


def _words(said: str, tools: Sequence[KnownTool]) -> list[float]:
    """How much of what can be explained by any tool, each tool explains; rare words count for more."""
    plain, shapes = without_values(said)
    wanted = wanted_intention(plain)
    query = (
        *stems(plain),
        *(f"#{shape}" for shape in sorted(shapes)),
        *([LOOK_UP] if wanted == "find" else ()),
    )
    spread = Counter(each for tool in tools for each in query if each in tool.weights)
    worth = {each: math.log(1 + len(tools) / count) for each, count in spread.items()}
    total = sum(worth.values())
    if not total:
        return [0.0] * len(tools)
    covered = min(1.0, 0.4 + len(spread) / max(1, len(query)))  # a word or two in passing prove little
    return [
        covered * sum(worth[each] * tool.weights.get(each, 0.0) for each in worth) / total for tool in tools
    ]


def can_look_up(tool: KnownTool) -> bool:
    """Whether it searches for whatever it is asked."""
    return (
        tool.reads
        and tool.intention == "find"
        and any(each.kind is ParameterKind.TEXT for each in tool.parameters)
    )
