"""What kinds of ability there are, and which of them a request needs.

Owns the lexicon (package data) and reading a request with it, by meaning where there is an embedder and
by words where there is none. What nobody wrote down gets a name from its verb and object.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steward.contract.ports import Capability, Embedder
from steward.language.acts import ReadActs
from steward.selection.lexical import words
from steward.selection.requests import (
    clauses,
    is_question,
    name_for,
    without_values,
)

DATA = Path(__file__).parent / "data"
NAMED = 0.45  # how near a request must be to a capability's examples to bear its name
PLAIN_WORDS = 0.34  # the same by words alone
TASKS = "task_management"
KEPT = 2_000  # tools whose kinships are remembered
TALK = 0.6  # how near to conversation a clause must be, where nothing else tells
PLAINLY = 0.65  # a question that is not plainly about a system asks for information


class AbilityKind(StrEnum):
    """What an ability is made of."""

    TALK = "talk"  # nothing is asked for
    LOOKUP = "lookup"  # any search over public facts, documents or memory gives it
    WRITING = "writing"  # a language model gives it by itself
    COMPUTING = "computing"  # a program gives it, whatever is put in
    SYSTEM = "system"  # only a tool gives it


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    capability: Capability
    kind: AbilityKind
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a request needs."""

    capability: Capability
    kind: AbilityKind
    clause: str  # the words that ask for it
    nearness: float


@dataclass(frozen=True, slots=True)
class Server:
    """A known MCP server and what it would add."""

    name: str
    about: str
    install: str
    capabilities: tuple[str, ...]


@lru_cache(maxsize=1)
def lexicon() -> tuple[LexiconEntry, ...]:
    rows: list[Mapping[str, Any]] = json.loads((DATA / "capabilities.json").read_text(encoding="utf-8"))
    return tuple(
        LexiconEntry(
            Capability(row["name"], row["description"]), AbilityKind(row["kind"]), tuple(row["examples"])
        )
        for row in rows
    )


def kind_named(name: str) -> AbilityKind | None:
    """The kind of an ability that the lexicon knows by this name."""
    return next((entry.kind for entry in lexicon() if entry.capability.name == name), None)


@lru_cache(maxsize=1)
def servers() -> tuple[Server, ...]:
    rows: list[Mapping[str, Any]] = json.loads((DATA / "servers.json").read_text(encoding="utf-8"))
    return tuple(
        Server(row["name"], row["about"], row["install"], tuple(row["capabilities"])) for row in rows
    )


_INFORMATION = Capability("public_information", "Facts that somebody has to look up.")


class LexiconExtractor:
    """Implements `CapabilityExtractor` without any language model."""

    def __init__(self, embedder: Embedder | None = None, *, acts: ReadActs | None = None) -> None:
        """`acts`: says whether somebody only talks; without it conversation is known by its likeness."""
        self._embedder = embedder
        self._acts = acts
        self._vectors: NDArray[np.float32] | None = None
        self._kinships: dict[str, list[float]] = {}  # by the tool's text

    async def extract(self, task_description: str) -> tuple[Capability, ...]:
        found = [
            need.capability for need in self.needs(task_description) if need.kind is not AbilityKind.TALK
        ]
        return tuple(dict.fromkeys(found))

    def needs(self, request: str) -> list[Need]:
        """What each command of a request needs. CPU-bound where there is an embedder."""
        if self._acts is not None and self._acts(request).only_talks:
            return [Need(lexicon()[0].capability, AbilityKind.TALK, request, 1.0)]
        asked = clauses(request)
        return [self._need(clause) for clause in (asked if len(asked) > 1 else [request])]

    def _need(self, clause: str) -> Need:
        by_meaning = self._embedder is not None
        scores = self._near(without_values(clause)) if by_meaning else self._by_words(clause)
        enough = NAMED if by_meaning else PLAIN_WORDS
        best = max(range(len(scores)), key=lambda index: scores[index])
        entry, near = lexicon()[best], scores[best]
        if self._acts is None and entry.kind is AbilityKind.TALK and near >= TALK:
            return Need(entry.capability, AbilityKind.TALK, clause, near)
        if self._asks(clause) and (entry.kind is not AbilityKind.SYSTEM or near < PLAINLY):
            return Need(_INFORMATION, AbilityKind.LOOKUP, clause, near)
        if entry.kind is AbilityKind.TALK or near < enough:
            return Need(Capability(name_for(clause), clause), AbilityKind.SYSTEM, clause, near)
        return Need(entry.capability, entry.kind, clause, near)

    def nearest_kind(self, clause: str) -> AbilityKind:
        """The kind of what it is nearest to, however far that is. CPU-bound where there is an embedder."""
        scores = self._near(without_values(clause)) if self._embedder else self._by_words(clause)
        return lexicon()[max(range(len(scores)), key=lambda index: scores[index])].kind

    def _asks(self, clause: str) -> bool:
        return is_question(clause) or (self._acts is not None and self._acts(clause).asks)

    def is_about(self, text: str, capability: str) -> bool:
        """Whether all of a request needs this ability. CPU-bound where there is an embedder."""
        return all(need.capability.name == capability for need in self.needs(text))

    def kinship(self, capability: str, tool: str) -> float:
        """How near a tool is to a kind of ability, by what it says of itself."""
        if self._embedder is None:
            return 0.0
        if tool not in self._kinships:
            if len(self._kinships) >= KEPT:
                self._kinships.clear()
            self._kinships[tool] = self._near(tool)
        best = zip(lexicon(), self._kinships[tool], strict=True)
        return next((score for entry, score in best if entry.capability.name == capability), 0.0)

    def _near(self, text: str) -> list[float]:
        """How near a text is to each entry, by meaning."""
        assert self._embedder is not None
        return _best_of_each((self._phrase_vectors() @ self._embedder.embed([text])[0]).tolist())

    def _phrase_vectors(self) -> NDArray[np.float32]:
        assert self._embedder is not None
        if self._vectors is None:
            self._vectors = _shipped(self._embedder.name)
        if self._vectors is None:
            self._vectors = self._embedder.embed(phrases())
        return self._vectors

    def _by_words(self, clause: str) -> list[float]:
        asked = set(words(clause))
        return _best_of_each([_overlap(asked, set(words(phrase))) for phrase in phrases()])


def suggestions(names: Sequence[str]) -> tuple[Server, ...]:
    """Known servers that would add what is missing, those that add more of it first."""
    wanted = set(names)
    offering = [server for server in servers() if wanted & set(server.capabilities)]
    return tuple(sorted(offering, key=lambda server: -len(wanted & set(server.capabilities))))[:5]


def _shipped(embedder: str) -> NDArray[np.float32] | None:
    """The phrases' vectors as scripts/build_selection.py made them, where they are this embedder's."""
    with np.load(DATA / "capabilities.npz") as file:
        if str(file["embedder"]) != embedder or len(file["vectors"]) != len(phrases()):
            return None
        return file["vectors"].astype(np.float32) * file["scale"]


@lru_cache(maxsize=1)
def phrases() -> list[str]:
    return [phrase for entry in lexicon() for phrase in (entry.capability.description, *entry.examples)]


def _best_of_each(scores: Sequence[float]) -> list[float]:
    best: list[float] = []
    at = 0
    for entry in lexicon():
        count = 1 + len(entry.examples)
        best.append(max(scores[at : at + count]))
        at += count
    return best


def _overlap(asked: set[str], phrase: set[str]) -> float:
    return len(asked & phrase) / max(1, len(asked | phrase))
