import numpy as np
import pytest

from steward.knowledge import ranking
from steward.knowledge.ranking import Statistics
from steward.knowledge.relevance import in_order, relevance

STATS = Statistics(passages=100, average_length=10.0, frequency={"rare": 2, "common": 80})


def test_a_rare_term_counts_more_than_a_common_one() -> None:
    counts = np.array([[1.0, 0.0], [0.0, 1.0]])
    rare, common = ranking.bm25({"rare": 1, "common": 1}, counts, np.array([10.0, 10.0]), STATS)
    assert rare > common > 0


def test_a_long_passage_needs_more_mentions() -> None:
    short, long = ranking.bm25({"rare": 1}, np.array([[1.0], [1.0]]), np.array([5.0, 50.0]), STATS)
    assert short > long


def test_without_terms_nothing_matches() -> None:
    assert ranking.bm25({}, np.empty((2, 0)), np.array([5.0, 50.0]), STATS).tolist() == [0, 0]
    assert ranking.coverage({}, np.empty((2, 0)), STATS).tolist() == [0, 0]


def test_coverage_is_the_weight_of_what_is_mentioned() -> None:
    covered = ranking.coverage(
        {"rare": 1, "common": 1}, np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), STATS
    )
    assert covered[0] == pytest.approx(1)
    assert 0 < covered[1] < 0.1
    assert covered[2] == 0


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (99, 3)])
def test_counts_fall_into_four_classes(count: int, expected: int) -> None:
    assert ranking.count_class(count) == expected


def test_the_cross_encoder_can_turn_the_order_around() -> None:
    fused = np.array([1.0, 0.9, 0.1])
    assert np.argmax(ranking.blend(fused, np.array([-3.0, 4.0]), weight=0.6)) == 1
    assert np.argmax(ranking.blend(fused, np.empty(0), weight=0.6)) == 0


def test_a_passage_among_good_ones_rises() -> None:
    vectors = np.array([[1, 0], [1, 0.01], [0, 1], [0.01, 1]], np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = np.array([2.0, 0.5, 0.6, -1.0])
    moved = ranking.lean_on_neighbours(scores, vectors, share=0.3)
    assert moved[1] > moved[2]
    assert ranking.lean_on_neighbours(scores, vectors, share=0).tolist() == scores.tolist()


def test_a_vector_that_is_not_there_counts_as_the_average() -> None:
    vectors = np.array([[1, 0], [0, 0], [0, 1]], np.float32)
    assert ranking.similarity(vectors, np.array([1, 0], np.float32)).tolist() == [1, 0.5, 0]
    assert ranking.similarity(vectors[1:2], np.array([1, 0], np.float32)).tolist() == [0]


def test_repeats_point_to_the_first_that_said_it() -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    assert ranking.duplicates(vectors, ["a b", "c", "A  B", "d"], alike=0.97) == [None, None, 0, None]


def test_relevance_lies_between_0_and_1_and_never_rises_down_the_list() -> None:
    values = relevance(np.array([9.0, -9.0, 2.0]), np.array([0.9, 0.0, 0.5]), np.array([1.0, 0.0, 0.5]))
    assert all(0 < value < 1 for value in values)
    assert values[0] > values[2] > values[1]
    assert in_order(np.array([0.3, 0.9, 0.1])).tolist() == pytest.approx([0.6, 0.6, 0.1])
