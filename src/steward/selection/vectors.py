"""Unit vectors in rows: a table of them that grows, and scanning one.

A row may wait for its vector. Scans run in pieces that the BLAS behind NumPy leaves on one thread: shared out
among cores, a product of this size waits longer for a busy core than it takes (12 ms against 0.3 on two cores
with others at work).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
PIECE = 512  # rows


def cosines(matrix: Vector, vector: Vector) -> Vector:
    """The product of each row with a vector."""
    if len(matrix) <= PIECE:
        return matrix @ vector
    found = np.empty(len(matrix), np.float32)
    for start in range(0, len(matrix), PIECE):
        np.dot(matrix[start : start + PIECE], vector, out=found[start : start + PIECE])
    return found


def largest(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.intp]:
    """Positions of the largest values, largest first; equal ones in their order."""
    if len(values) <= count:
        return np.argsort(-values, kind="stable")
    least = np.partition(values, len(values) - count)[len(values) - count]
    some = np.flatnonzero(values >= least)
    return some[np.argsort(-values[some], kind="stable")][:count]


class VectorTable:
    def __init__(self, dimensions: int) -> None:
        self._matrix: Vector = np.zeros((64, dimensions), np.float32)
        self._filled = np.zeros(64, np.bool_)

    def put(self, row: int, vector: Vector) -> None:
        self._reserve(row + 1)
        self._matrix[row] = vector
        self._filled[row] = True

    def has(self, row: int) -> bool:
        return row < len(self._filled) and bool(self._filled[row])

    def row(self, row: int) -> Vector:
        return self._matrix[row]

    def against(
        self, vector: Vector, rows: NDArray[np.intp], *, known: int
    ) -> tuple[Vector, NDArray[np.bool_]]:
        """The cosine with each of the rows, and which of them have a vector. `known`: rows there are."""
        self._reserve(known)
        if 2 * len(rows) < known:
            return cosines(self._matrix[rows], vector), self._filled[rows]
        return cosines(self._matrix[:known], vector)[rows], self._filled[rows]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._filled):
            size = max(2 * len(self._filled), rows)
            matrix = np.zeros((size, self._matrix.shape[1]), np.float32)
            matrix[: len(self._matrix)] = self._matrix
            filled = np.zeros(size, np.bool_)
            filled[: len(self._filled)] = self._filled
            self._matrix, self._filled = matrix, filled
