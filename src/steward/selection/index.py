"""The index over tools: words, meaning and past use, fused into one calibrated score.

Owns the fusion and its weights. Tools come and go one by one; nothing is built again for the others. Vectors
arrive later than words (`missing`, `supply`), so a new tool is found by its words at once. Knows no database
and no registry: bootstrap brings tools, vectors and past requests.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from steward.contract import linear_re as re
from steward.contract.ports import Embedder, RankedTool
from steward.contract.tool import ToolSpec
from steward.selection.definitions import Definition
from steward.selection.past import PastRequests, PastVotes
from steward.selection.postings import Postings, WordScores
from steward.selection.requests import bare
from steward.selection.vectors import Vector, VectorTable, largest
from steward.selection.verbs import doing

LARGEST_WASTE = 0.25  # share of forgotten rows from which the arrays are made anew
CANDIDATES = 200  # tools that are looked at more closely
SAMPLE = 256  # tools that say what is usual for a request
# Weights by hand, chosen over eleven catalogues; learned ones did no better on catalogues never seen.
WORDS, WHOLE, OPENING, NAMES = 0.7, 1.0, 0.5, 0.5
NAME_USED, QUERY_COVERED, SAME_VERB = 2.0, 2.0, 0.5
# What is usual where there are too few tools to tell: mean and spread, and for how many tools they stand.
USUAL_WORDS, USUAL_COSINE, USUAL_FOR = (0.02, 0.06), (0.1, 0.12), 30
# The probability that a tool is what is meant, from what speaks for it.
CHANCE = {"words": 0.4, "whole": 1.5, "opening": 1.9, "names": 0.3, "name": 3.3, "query": 2.9, "past": 3.0}
CHANCE_BIAS = -4.6
_NAMES = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class IndexedTools:
    """Tools as they were given, with where each stands in the index."""

    tools: list[ToolSpec]
    rows: NDArray[np.intp]

    @cached_property
    def positions(self) -> dict[str, int]:
        """Every name and alias, and the tool that it means; a tool's own name comes first."""
        aliases = {alias: at for at, tool in enumerate(self.tools) for alias in tool.aliases}
        return aliases | {tool.name: at for at, tool in enumerate(self.tools)}

    @cached_property
    def sample(self) -> NDArray[np.intp]:
        step = max(1, len(self.rows) // SAMPLE)
        return self.rows[::step]


class ToolIndex:
    """Implements `ToolRanker`. Safe to use from several threads."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._lock = RLock()
        self._past = PastRequests()
        self._forget()

    def _forget(self) -> None:
        size = 0 if self._embedder is None else self._embedder.dimensions
        self._rows: dict[tuple[str, tuple[str, ...], tuple[str, ...]], int] = {}
        self._tools: list[Definition] = []
        self._verbs = array("b")
        self._postings = Postings()
        self._tables = tuple(VectorTable(size) for _ in range(3))
        self._waiting: dict[str, list[tuple[int, int]]] = {}  # text -> the table rows that want its vector
        self._examples: dict[str, list[str]] = {}  # request -> the tools that say they are for it; as above
        self._listing: IndexedTools | None = None

    # --- what is in it ---

    def sync(self, tools: Sequence[ToolSpec]) -> None:
        """Take in what is new and, once enough has gone, forget what is no longer there."""
        with self._lock:
            self._listed(tools)
            gone = len(self._rows) - len(tools)
            if gone > LARGEST_WASTE * max(20, len(self._rows)):
                known = self._known_vectors()
                self._forget()
                self._listed(tools)
                self.supply({text: known[text] for text in self.missing() if text in known})

    def take_in(self, tools: Sequence[ToolSpec]) -> None:
        """Know these tools by their words from now on."""
        with self._lock:
            self._listed(tools)

    def missing(self) -> list[str]:
        """Texts whose vectors the index waits for."""
        with self._lock:
            return list(self._waiting | self._examples)

    def supply(self, vectors: Mapping[str, Vector]) -> None:
        with self._lock:
            for text, vector in vectors.items():
                for table, row in self._waiting.pop(text, ()):
                    self._tables[table].put(row, vector)
                self._past.learn((text, tool, vector) for tool in self._examples.pop(text, ()))

    def learn(self, requests: Iterable[tuple[str, str, Vector]]) -> None:
        """(request, tool, vector) of calls that did what was asked."""
        with self._lock:
            self._past.learn(requests)

    def keep_learned(self, requests: Sequence[tuple[str, str]]) -> None:
        """Forget what calls have taught, but for these (request, tool) and what tools say of themselves."""
        with self._lock:
            named = [(example, tool.spec.name) for tool in self._tools for example in tool.spec.examples]
            self._past.keep([*requests, *named])

    def __len__(self) -> int:
        return len(self._tools)

    def _known_vectors(self) -> dict[str, Vector]:
        return {
            text: self._tables[table].row(row).copy()
            for row, tool in enumerate(self._tools)
            for table, text in enumerate(_texts(tool))
            if self._tables[table].has(row)
        }

    def _listed(self, tools: Sequence[ToolSpec]) -> IndexedTools:
        given = list(tools)
        if self._listing is None or self._listing.tools != given:  # identities are compared first: cheap
            rows = np.fromiter((self._row(tool) for tool in given), np.intp, len(given))
            self._listing = IndexedTools(given, rows)
        return self._listing

    def _row(self, tool: ToolSpec) -> int:
        key = (tool.definition_hash, tool.aliases, tool.examples)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self._tools)
            definition = Definition(tool)
            self._tools.append(definition)
            self._verbs.append(doing(definition.names, definition.opening))
            self._postings.add(row, definition)
            if self._embedder is not None:
                for table, text in enumerate(_texts(definition)):
                    self._waiting.setdefault(text, []).append((table, row))
                for example in tool.examples:
                    self._examples.setdefault(example, []).append(tool.name)
        return row

    # --- asking it ---

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]:
        if not tools or not query.strip():
            return ()
        vector = None if self._embedder is None else self._embedder.embed([query])[0]
        with self._lock:
            listing = self._listed(tools)
            order, chances = _Question(self, listing, query, vector).answer()
        scores = dict.fromkeys(_called(query, listing), 1.0)
        for at, chance in zip(order[:limit].tolist(), chances[:limit].tolist(), strict=True):
            if chance > 0:
                scores.setdefault(at, round(chance, 4))
        return tuple(RankedTool(listing.tools[at], score) for at, score in list(scores.items())[:limit])

    def found(self, query: str) -> WordScores:
        return self._postings.find(query)

    def verbs(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        return np.frombuffer(self._verbs, np.int8)[rows]

    def cosines(self, table: int, vector: Vector, rows: NDArray[np.intp]) -> tuple[Vector, NDArray[np.bool_]]:
        return self._tables[table].against(vector, rows, known=len(self._tools))

    def voice(self, vector: Vector, listing: IndexedTools) -> PastVotes | None:
        return self._past.hear(vector, listing.positions, count=len(listing.tools))


class _Question:
    """One request put to the index. Lives for that request."""

    def __init__(self, index: ToolIndex, listing: IndexedTools, query: str, vector: Vector | None) -> None:
        self._index = index
        self._listing = listing
        self._query = query
        self._vector = vector

    def answer(self) -> tuple[NDArray[np.intp], Vector]:
        """Positions in the listing, best first, and the chance of each."""
        rows = self._listing.rows
        found = self._index.found(self._query)
        words, name, query = found.score[rows], found.name[rows], found.query[rows]
        verb = _verb_match(doing(bare(self._query)), self._index.verbs(rows))
        total = WORDS * _z(words, USUAL_WORDS) + NAME_USED * name + QUERY_COVERED * query + SAME_VERB * verb
        evidence = {"words": words, "name": name, "query": query}
        if self._vector is None:
            keep = largest(total, CANDIDATES)
            some = (words[keep] > 0) | (name[keep] > 0)
            chances = _chances({key: value[keep] for key, value in evidence.items()}) * some
            return keep, np.minimum.accumulate(chances)
        whole, has = self._index.cosines(0, self._vector, rows)
        total = total + WHOLE * _z(whole, USUAL_COSINE) * has
        voice = self._index.voice(self._vector, self._listing)
        if voice is not None:
            total = voice.others * total + voice.points
        keep = largest(total, CANDIDATES)
        close = {key: value[keep] for key, value in evidence.items()} | {"whole": whole[keep]}
        final = total[keep]
        others = voice.others if voice is not None else 1.0
        for table, (key, weight) in enumerate((("opening", OPENING), ("names", NAMES)), 1):
            cosine, known = self._index.cosines(table, self._vector, rows[keep])
            usual, _ = self._index.cosines(table, self._vector, self._listing.sample)
            final = final + others * weight * _z(cosine, USUAL_COSINE, of=usual) * known
            close[key] = cosine
        if voice is not None:
            close["past"] = voice.nearest[keep]
        order = np.argsort(-final, kind="stable")
        chances = _chances({key: value[order] for key, value in close.items()})
        return keep[order], np.minimum.accumulate(chances)


def _texts(tool: Definition) -> tuple[str, str, str]:
    return tool.whole, tool.opening, tool.names


def _called(query: str, listing: IndexedTools) -> list[int]:
    """The tools that a request calls by their name; a plain word that happens to be a name is not enough."""
    said = query.strip()
    names = [said] if _NAMES.fullmatch(said) else [word for word in _NAMES.findall(said) if "_" in word]
    return [listing.positions[name] for name in dict.fromkeys(names) if name in listing.positions]


def _verb_match(wanted: int, verbs: NDArray[np.int8]) -> Vector:
    if not wanted:
        return np.zeros(len(verbs), np.float32)
    return np.where(verbs == wanted, 1, np.where(verbs == 0, 0, -1)).astype(np.float32)


def _z(values: Vector, usual: tuple[float, float], *, of: Vector | None = None) -> Vector:
    """How far each value is from what is usual among `of`, in spreads; few values lean on the given ones."""
    seen = values if of is None else of
    share = len(seen) / (len(seen) + USUAL_FOR)
    mean = share * float(seen.mean()) + (1 - share) * usual[0]
    spread = share * float(seen.std()) + (1 - share) * usual[1]
    return (values - np.float32(mean)) / np.float32(max(spread, 1e-4))


def _chances(evidence: Mapping[str, Vector]) -> Vector:
    logits = CHANCE_BIAS + sum(CHANCE[key] * value for key, value in evidence.items())
    return (1 / (1 + np.exp(-np.asarray(logits)))).astype(np.float32)
