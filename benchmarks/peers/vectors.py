"""One peer's numbers for knowledge.py, in the peer's own environment: prints one JSON object."""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BATCH = 1_000


def chromadb(texts: list[str], vectors: np.ndarray, queries: np.ndarray) -> dict:
    import chromadb as library  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        client = library.PersistentClient(folder)
        collection = client.create_collection("bench", metadata={"hnsw:space": "cosine"})
        started, processor = time.perf_counter(), time.process_time()
        for start in range(0, len(texts), BATCH):
            end = min(start + BATCH, len(texts))
            collection.add(
                ids=[str(n) for n in range(start, end)],
                documents=texts[start:end],
                embeddings=vectors[start:end],
            )
        taken, processor = time.perf_counter() - started, time.process_time() - processor
        found, times = [], []
        for query in queries:
            started = time.perf_counter()
            rows = collection.query(query_embeddings=[query], n_results=10)
            times.append(time.perf_counter() - started)
            found.append([int(name) for name in rows["ids"][0]])
    return {
        "ingest/s": len(texts) / taken,
        "processor us/chunk": processor / len(texts) * 1e6,
        "vector query ms": statistics.median(times) * 1000,
        "found": found,
    }


def sqlite_vec(texts: list[str], vectors: np.ndarray, queries: np.ndarray) -> dict:
    import pysqlite3 as sqlite3  # noqa: PLC0415 - a Python's own may be built without extensions
    import sqlite_vec as library  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "bench.db")
        database.enable_load_extension(True)
        library.load(database)
        database.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
        database.execute(
            f"CREATE VIRTUAL TABLE v USING vec0(e float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        started, processor = time.perf_counter(), time.process_time()
        for start in range(0, len(texts), BATCH):
            rows = range(start, min(start + BATCH, len(texts)))
            with database:
                database.executemany("INSERT INTO texts VALUES (?, ?)", [(n + 1, texts[n]) for n in rows])
                database.executemany(
                    "INSERT INTO v (rowid, e) VALUES (?, ?)", [(n + 1, vectors[n].tobytes()) for n in rows]
                )
        taken, processor = time.perf_counter() - started, time.process_time() - processor
        found, times = [], []
        for query in queries:
            started = time.perf_counter()
            rows = database.execute(
                "SELECT rowid FROM v WHERE e MATCH ? AND k = 10 ORDER BY distance", (query.tobytes(),)
            ).fetchall()
            times.append(time.perf_counter() - started)
            found.append([row[0] - 1 for row in rows])
    return {
        "ingest/s": len(texts) / taken,
        "processor us/chunk": processor / len(texts) * 1e6,
        "vector query ms": statistics.median(times) * 1000,
        "found": found,
    }


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    data = np.load(folder / "data.npz")
    run = {"chromadb": chromadb, "sqlite-vec": sqlite_vec}[sys.argv[1]]
    print(json.dumps(run(json.loads((folder / "texts.json").read_text()), data["vectors"], data["queries"])))
