"""The embedder and the cross-encoder: texts a second, and the time of one query.

Texts are made-up passages of realistic length (passages.py). On two cores both run two texts at a time; a
text gets the same vector in any company, so a batch is only a matter of keeping the cores busy.

    python benchmarks/embedding.py [TEXTS]
"""

import statistics
import sys
import time
from collections.abc import Callable

from passages import made_up

from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder


def timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    corpus = made_up(count, 50)
    embedder, reranker = MiniLMEmbedder(), CrossEncoder()
    embedder.embed(["warm"])
    reranker.score("warm", ["up"])
    for batch in (1, 16, count):
        parts = [corpus.texts[start : start + batch] for start in range(0, count, batch)]
        wall, processor = timed(lambda parts=parts: [embedder.embed(part) for part in parts])
        print(
            f"passages in batches of {batch:4}: {count / wall:7.1f}/s, {processor / count * 1e3:.1f} ms each"
        )
    queries = [timed(lambda q=question: embedder.embed([q]))[0] for question in corpus.questions]
    print(f"one query: {statistics.median(queries) * 1e3:.1f} ms")
    wall, processor = timed(lambda: reranker.score(corpus.questions[0], corpus.texts[:50]))
    print(f"cross-encoder: {50 / wall:7.1f} passages/s, {processor / 50 * 1e3:.1f} ms each")


if __name__ == "__main__":
    main()
