"""Requests that a tool served before, or names as its examples: the strongest hint on what a new one means.

Owns the remembered requests and what they say about a new one. Where they are kept is bootstrap's business.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np

from steward.selection.vectors import Vector, cosines, largest

MOST = 20_000  # the oldest are forgotten
NEIGHBOURS = 40
NEAR = 0.3  # cosine from which a past request says anything
RANGE = 0.4
MANY = 20  # past requests a tool, from which they outweigh descriptions by half
VOTE_WEIGHT, NEAREST_WEIGHT = 6.0, 8.0


@dataclass(frozen=True, slots=True)
class PastVotes:
    """What past requests say: points for each tool, and how much the rest of the evidence still counts."""

    points: Vector
    nearest: Vector  # the cosine of each tool's nearest past request; 0 where there is none near
    others: float


class PastRequests:
    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Vector] = {}  # by request and tool, the oldest first
        self._tools: list[str] = []  # as the matrix has them
        self._matrix: Vector | None = None  # until something is learned

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, requests: Iterable[tuple[str, str, Vector]]) -> None:
        """(request, tool, vector) of calls that succeeded; what is known already says nothing new."""
        for request, tool, vector in requests:
            if self._known.setdefault((request.strip().lower(), tool), vector) is vector:
                self._matrix = None
        for oldest in list(islice(self._known, max(0, len(self._known) - MOST))):
            del self._known[oldest]

    def keep(self, requests: Iterable[tuple[str, str]]) -> None:
        """Forget all but these (request, tool)."""
        kept = {(request.strip().lower(), tool) for request, tool in requests}
        self._known = {key: vector for key, vector in self._known.items() if key in kept}
        self._matrix = None

    def hear(self, vector: Vector, positions: Mapping[str, int], *, count: int) -> PastVotes | None:
        """What they say about a request, for tools at these positions; None when nothing is near."""
        if not self._known:
            return None
        if self._matrix is None:
            self._tools = [tool for _, tool in self._known]
            self._matrix = np.stack(list(self._known.values()))
        near_by = cosines(self._matrix, vector)
        near = largest(near_by, NEIGHBOURS)
        strength = min(1.0, max(0.0, (float(near_by[near[0]]) - NEAR) / RANGE))
        if strength <= 0:
            return None
        points, nearest = np.zeros(count, np.float32), np.zeros(count, np.float32)
        floor = max(NEAR, float(near_by[near[-1]]))
        for index in cast("list[int]", near.tolist()):
            position = positions.get(self._tools[index])
            if position is None:
                continue
            cosine = float(near_by[index])
            points[position] += max(0.0, cosine - NEAR) ** 2
            nearest[position] = max(nearest[position], cosine)
        top = float(points.max())
        if top <= 0:
            return None
        above = np.maximum(np.float32(0), nearest - np.float32(floor))
        share = min(1.0, len(self._tools) / (MANY * max(1, count)))
        told = np.float32(VOTE_WEIGHT * strength / top) * points + np.float32(NEAREST_WEIGHT) * above
        return PastVotes(told, nearest, 1 - 0.5 * strength * share)
