import asyncpg
import pytest

from steward.storage.database import sql
from steward.storage.database.sql import NamedQueries
from steward.storage.library.spaces import Space

SPACE = Space(1, 384)


def test_queries_are_attributes_without_their_last_semicolon() -> None:
    named = NamedQueries("x", "-- about it\n\n-- name: one\nSELECT 1;\n\n-- name: two\n-- why\nSELECT 2\n")
    assert (named.names(), named.one, named.two) == (["one", "two"], "SELECT 1", "-- why\nSELECT 2")


def test_an_unknown_name_says_which_ones_there_are() -> None:
    with pytest.raises(AttributeError, match=r"x\.sql has no query 'three'; it has one"):
        _ = NamedQueries("x", "-- name: one\nSELECT 1").three


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 0;\n-- name: one\nSELECT 1",
        "-- name: one\n",
        "-- name: two words\nSELECT 1",
        "-- name:\nSELECT 1",
        "-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;",
    ],
)
def test_a_file_that_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"x\.sql"):
        NamedQueries("x", text)


@pytest.mark.parametrize("domain", sorted(path.stem for path in sql.FOLDER.glob("*.sql")))
async def test_postgres_accepts_every_named_query(domain: str, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    queries = sql.load(domain)
    assert queries.names()
    for name in queries.names():
        await connection.prepare(SPACE.fill_in(getattr(queries, name)))
    await connection.close()
