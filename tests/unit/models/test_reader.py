"""The taught reader on requests that nobody taught it; `steward eval calls` measures how often it fails."""

from typing import Any

import pytest

from steward.language.reading import Readable, Reading, read
from steward.models.reader import TaughtReader, TextsApart


def tool(name: str, about: str, **properties: Any) -> Readable:
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return Readable(name, about, schema)


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
MAIL = tool("send_email", "Send an e-mail.", to=TEXT, subject=TEXT)
BRANCH = tool("git_checkout", "Switch to another branch of a repository.", branch_name=TEXT)
ROOM = tool("book_room", "Book a meeting room.", room=TEXT, people=WHOLE)
TOOLS = (MAIL, BRANCH, ROOM)


@pytest.fixture(scope="module")
def reader() -> TaughtReader:
    return TaughtReader()


def reading(reader: TaughtReader, request: str, *tools: Readable) -> Reading:
    return read(request, tools or TOOLS, reader)


def test_the_tool_that_serves_a_request_is_found(reader: TaughtReader) -> None:
    [call] = reading(reader, "switch to branch feature-x").calls
    assert (call.tool, call.arguments) == ("git_checkout", {"branch_name": "feature-x"})


def test_numbers_and_names_go_to_their_slots(reader: TaughtReader) -> None:
    [call] = reading(reader, "book the room Aurora for 6 people").calls
    assert call.arguments["people"] == 6


def test_where_a_value_stands_is_told(reader: TaughtReader) -> None:
    request = "switch to branch feature-x"
    [call] = reading(reader, request).calls
    assert [request[start:end] for start, end in call.where.values()] == ["feature-x"]


def test_what_was_not_said_is_missing(reader: TaughtReader) -> None:
    [call] = reading(reader, "send an email").calls
    assert [slot.name for slot in call.missing] == ["to"]


def test_what_no_tool_does_has_no_calls(reader: TaughtReader) -> None:
    assert reading(reader, "how tall is the tallest giraffe that ever lived").calls == ()


def test_the_fits_are_told_best_first(reader: TaughtReader) -> None:
    fits = reading(reader, "switch to branch feature-x").fits
    assert [fit for _, fit in fits] == sorted((fit for _, fit in fits), reverse=True)


def test_without_tools_nothing_fits(reader: TaughtReader) -> None:
    assert (read("hello", (), reader).calls, read("hello", (), reader).best) == ((), 0.0)


def test_a_tool_is_laid_out_once(reader: TaughtReader) -> None:
    first = reader.tool(MAIL.name, MAIL.description, MAIL.schema)
    assert reader.tool(MAIL.name, MAIL.description, MAIL.schema) is first


def test_texts_apart_are_unit_vectors_with_their_pieces() -> None:
    [read_text] = TextsApart().read(["play some music"])
    assert (len(read_text.pieces), read_text.piece_vectors.shape) == (3, (3, TextsApart().dimensions))


def test_no_texts_give_no_vectors() -> None:
    assert TextsApart().embed([]).shape == (0, TextsApart().dimensions)
