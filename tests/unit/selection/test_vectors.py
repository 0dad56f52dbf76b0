import numpy as np
import pytest

from steward.selection.vectors import PIECE, cosines, largest


@pytest.mark.parametrize("rows", [1, PIECE, 2 * PIECE + 7])
def test_a_scan_in_pieces_gives_every_rows_product(rows: int) -> None:
    matrix = np.random.default_rng(1).normal(size=(rows, 384)).astype(np.float32)
    np.testing.assert_allclose(cosines(matrix, matrix[0]), matrix @ matrix[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 3, 5, 9])
def test_the_largest_come_first_and_equal_ones_in_their_order(count: int) -> None:
    values = np.array([0.1, 0.9, 0.5, 0.9, 0.5, 0.2], np.float32)
    assert largest(values, count).tolist() == [1, 3, 2, 4, 5, 0][:count]
