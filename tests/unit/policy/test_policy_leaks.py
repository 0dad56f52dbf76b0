import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from steward.contract import runs
from steward.contract.runs import RunRecord
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.policy import leaks
from steward.policy.approval import assess, needs_person
from steward.policy.leaks import goes_out, note_answer, texts_of, words_of, would_carry
from steward.policy.rules import Rules


def ours(name: str, category: str, effect: Effect = Effect.READS) -> ToolSpec:
    return ToolSpec(
        name=name,
        description="x",
        input_schema={"type": "object", "properties": {"query": {}}},
        origin=Origin.BUILTIN,
        risk=RiskLevel.REVERSIBLE,
        effect=effect,
        category=category,
    )


def server(name: str, *, open_world: bool | None = None) -> ToolSpec:
    hints = ToolHints(open_world=open_world)
    return ToolSpec(name=name, description="x", origin=Origin.SERVER, risk=RiskLevel.REVERSIBLE, hints=hints)


MEMORY = ours("search_memory", "memory")
LIBRARY = ours("query_knowledge_base", "knowledge")
FETCH = ours("fetch_page", "web")
SEARCH = ours("web_search", "web")
TASK = ours("add_task", "tasks", Effect.WRITES_STORE)
LOOK = server("shelf__look")
RECALLED = {"items": [{"id": "a1b2c3d4", "content": "Ana takes metformin daily", "source": "person:local"}]}


def tainted(said: str = "", said_before: str = "", *, recalled: Any = RECALLED) -> RunRecord:
    run = RunRecord(said=said, said_before=said_before)
    note_answer(run, MEMORY, recalled)
    note_answer(run, FETCH, "Paris lies on the Seine. token 8f14e45fceea167a5a36dedd4bea2543")
    return run


def asks(query: str, run: RunRecord | None = None, spec: ToolSpec = SEARCH) -> bool:
    return would_carry(spec, {"query": query}, run or tainted()) is not None


@pytest.mark.parametrize(
    ("spec", "out"),
    [(SEARCH, True), (FETCH, True), (LOOK, True), (MEMORY, False), (TASK, False), (LIBRARY, False)],
)
def test_what_is_told_the_web_or_a_server_goes_out(spec: ToolSpec, out: bool) -> None:
    assert goes_out(spec) is out


def test_private_words_in_an_outgoing_call_are_shown_with_where_they_come_from() -> None:
    reason = would_carry(SEARCH, {"query": "metformin"}, tainted())
    assert reason == (
        'It would send out "metformin", read in private by search_memory, '
        "after 'fetch_page' brought in text that others wrote."
    )


def test_many_words_are_shown_in_part() -> None:
    words = "alder birch cedar maple rowan aspen larch hazel walnut"
    reason = would_carry(SEARCH, {"query": words}, tainted(recalled=words))
    assert "and 1 more" in str(reason)


@pytest.mark.parametrize(
    "query",
    [
        "METFORMIN",
        "metformins",
        "metformin%20daily",
        "m-e-t-f-o-r-m-i-n",
        "http://metformin.example.org/",
        base64.b64encode(b"ana takes metformin").decode(),
        base64.urlsafe_b64encode(b"metformin??>").decode(),
        base64.b32encode(b"metformin").decode(),
        b"metformin".hex(),
        "nimroftem",
        "zrgsbezva",
        "m\u00e9tformin",
        "met\u200bformin",
        "m\u0435tf\u043ermin",
        "&#109;&#x65;tformin",
        "\\u006d\\x65tformin",
        "%256d%2565tformin",
        base64.b64encode(base64.b64encode(b"metformin")).decode(),
    ],
)
def test_a_disguise_is_seen_through(query: str) -> None:
    assert asks(query)


def percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def entities(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 9, 40])
@pytest.mark.parametrize(
    ("first", "again"),
    [
        (percent, lambda text: text.replace("%", "%25")),
        (entities, lambda text: text.replace("&", "&amp;")),
        (base64_of, base64_of),
    ],
    ids=["percent", "entities", "base64"],
)
def test_a_disguise_is_seen_through_however_deep(
    first: Callable[[str], str], again: Callable[[str], str], depth: int
) -> None:
    text = first("metformin")
    for _ in range(min(depth, 9 if again is base64_of else depth)):
        text = again(text)
    assert asks(f"weather {text}")


def test_escapes_that_are_mixed_without_end_are_asked_about() -> None:
    text = "weather in &#112;aris"
    for _ in range(2 * leaks.MOST_LAYERS):
        text = text.replace("&", "%26").replace("%", "&#37;")
    assert "nobody can read" in str(would_carry(SEARCH, {"query": text}, tainted()))


@pytest.mark.parametrize(
    "query",
    ["paris on the seine", "what time is it", "takes", "daily 2026 7", "8f14e45fceea167a5a36dedd4bea2543"],
)
def test_other_words_and_those_of_every_text_may_leave(query: str) -> None:
    assert not asks(
        query, tainted(recalled={"content": "what takes time on 2026-01-02, metformin"}, said="takes")
    )


def test_a_number_is_a_word_when_it_is_long() -> None:
    run = tainted(recalled={"content": "account 48250, room 12, code b7"})
    assert (asks("48250", run), asks("12 b7", run)) == (True, False)


def test_a_number_argument_is_looked_at_too() -> None:
    run = tainted(recalled="account 48250")
    assert would_carry(LOOK, {"deep": [{"amount": 48250}], "flag": True, "none": None}, run) is not None


def test_what_the_person_typed_may_leave_in_any_form_of_the_word() -> None:
    assert not asks("metformins", tainted("Search for metformin"))


def test_a_name_typed_earlier_in_the_conversation_may_leave() -> None:
    assert not asks("metformin", tainted(said_before="I take metformin"))


def test_a_number_typed_in_an_earlier_turn_may_not() -> None:
    assert asks("48250", tainted(said_before="my account is 48250", recalled="account 48250"))


def test_before_anything_of_others_was_read_all_may_leave() -> None:
    run = RunRecord()
    note_answer(run, MEMORY, RECALLED)
    assert not asks("metformin", run)


def test_a_document_is_private_and_written_by_others() -> None:
    run = RunRecord()
    note_answer(run, LIBRARY, "Severance agreed in Obernau")
    assert asks("Obernau", run)


def test_where_nothing_private_was_read_all_may_leave() -> None:
    run = RunRecord()
    note_answer(run, FETCH, "metformin")
    assert not asks("metformin", run)


def test_without_a_run_nothing_is_known() -> None:
    assert would_carry(SEARCH, {"query": "metformin"}, None) is None


def test_what_stays_inside_may_say_anything() -> None:
    assert would_carry(TASK, {"title": "metformin"}, tainted()) is None


def test_a_closed_servers_words_may_go_back_to_it_and_nowhere_else() -> None:
    run = RunRecord()
    note_answer(run, server("mail__read", open_world=False), "Dear Ana, Obernau is confirmed")
    assert (asks("Obernau", run, server("mail__search")), asks("Obernau", run)) == (False, True)


def test_an_open_servers_words_are_not_private() -> None:
    run = RunRecord()
    note_answer(run, LOOK, "Obernau")
    assert not asks("Obernau", run)


def test_a_list_of_what_servers_have_is_not_private() -> None:
    run = RunRecord()
    note_answer(run, ours("list_resources", "resources"), "Obernau")
    assert (run.private, run.untrusted) == ({}, "list_resources")


def test_an_answer_that_is_neither_private_nor_others_leaves_no_trace() -> None:
    run = RunRecord()
    note_answer(run, ours("get_current_time", "time"), "Monday")
    assert (run.private, run.untrusted) == ({}, None)


def test_an_address_that_the_search_named_may_be_read() -> None:
    run = tainted()
    note_answer(run, SEARCH, {"results": [{"url": "https://example.org/metformin", "title": "x"}]})
    assert not asks("https://example.org/metformin", run, FETCH)


def test_an_address_that_a_page_named_may_not_choose() -> None:
    run = tainted()
    note_answer(run, FETCH, "See https://example.org/metformin")
    assert asks("https://example.org/metformin", run, FETCH)


def test_what_nobody_wrote_and_nobody_can_read_asks() -> None:
    assert "nobody can read" in str(would_carry(SEARCH, {"query": "0f" * 20}, tainted()))


@pytest.mark.parametrize("query", ["AbCdEfGhIjKlMnOpQrStUvWxYz", "b" * 30 + "1"])
def test_a_long_run_of_letters_that_nobody_wrote_asks(query: str) -> None:
    assert asks(query)


@pytest.mark.parametrize(
    "query", ["Donaudampfschifffahrtsgesellschaft".lower(), "8f14e45fceea167a5a36dedd4bea2543"]
)
def test_a_long_word_and_what_was_read_or_typed_may_leave(query: str) -> None:
    assert not asks(query)


def test_more_than_can_be_compared_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "MOST_CHARACTERS", 10)
    assert asks("nothing of it at all")


def test_more_than_is_kept_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_WORDS", 1)
    assert asks("nothing", tainted(recalled="alder birch cedar"))


def test_more_values_than_are_looked_at_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "MOST_VALUES", 2)
    assert would_carry(LOOK, {"topics": ["a", "b", "c"]}, tainted(recalled="metformin")) is not None


def test_an_answer_of_more_values_than_are_looked_at_rules_nothing_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leaks, "MOST_VALUES", 2)
    assert asks("nothing", tainted(recalled=["metformin", "b", "c"]))


def test_the_names_of_arguments_are_looked_at_but_for_those_of_the_schema() -> None:
    run = tainted(recalled="metformin is the topic")
    topic = replace(LOOK, input_schema={"type": "object", "properties": {"topic": {}}})
    assert would_carry(topic, {"topic": {"metformin": 1}}, run) is not None
    assert would_carry(topic, {"topic": {"": 1}}, run) is None


def test_an_answer_of_any_room_that_is_not_known_to_be_nobodys_is_private() -> None:
    run = RunRecord(untrusted="fetch_page")
    note_answer(run, ours("a_new_tool", "a room of its own"), "Obernau")
    assert asks("Obernau", run)


def test_a_change_makes_private_what_it_tells_and_not_what_it_was_told() -> None:
    run = RunRecord(untrusted="fetch_page")
    note_answer(run, TASK, {"title": "Seine", "description": "Obernau"}, given={"title": "Seine"})
    assert (asks("Obernau", run), asks("Seine", run)) == (True, False)


def test_what_an_agent_is_to_be_told_later_asks_and_says_so() -> None:
    schedule = ours("add_schedule", "schedules", Effect.WRITES_STORE)
    reason = would_carry(schedule, {"request": "search for metformin", "schedule_id": "0f" * 20}, tainted())
    assert 'have an agent told, as if you had said it, "metformin"' in str(reason)


def test_a_number_under_an_id_of_a_closed_server_is_private() -> None:
    run = RunRecord(untrusted="fetch_page")
    note_answer(run, server("bank__look", open_world=False), {"passport_id": "X4401882"})
    assert asks("X4401882", run)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ({"id": "x", "created_at": "y", "content": "z", "score": 0.5}, ["z"]),
        ([1, 2.5, True, None, ("a",)], ["a", "2.5", "1"]),
    ],
)
def test_notes_about_an_answer_are_not_its_words(value: Mapping[str, Any], texts: list[str]) -> None:
    assert texts_of(value, but=leaks._ABOUT) == texts  # pyright: ignore[reportPrivateUsage]


def test_words_that_every_text_has_say_nothing() -> None:
    assert words_of("What would people know about metformin in May 2026?") == {"metformin"}


def test_a_call_that_carries_private_words_needs_a_person_whatever_is_trusted() -> None:
    assessment = assess(LOOK, {"topic": "metformin"}, Rules(), run=tainted())
    assert "metformin" in str(needs_person(assessment, confidence=1.0))


def test_an_irreversible_call_says_both() -> None:
    spec = server("shelf__burn")
    assessment = assess(spec, {"topic": "metformin", "path": "/x/id_rsa"}, Rules(), run=tainted())
    said = str(needs_person(assessment, confidence=1.0))
    assert ("touches something sensitive" in said, "metformin" in said) == (True, True)
