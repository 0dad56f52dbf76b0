"""A table of unit vectors that grows by rows; a row may wait for its vector."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


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
            return self._matrix[rows] @ vector, self._filled[rows]
        return (self._matrix[:known] @ vector)[rows], self._filled[rows]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._filled):
            size = max(2 * len(self._filled), rows)
            matrix = np.zeros((size, self._matrix.shape[1]), np.float32)
            matrix[: len(self._matrix)] = self._matrix
            filled = np.zeros(size, np.bool_)
            filled[: len(self._filled)] = self._filled
            self._matrix, self._filled = matrix, filled
