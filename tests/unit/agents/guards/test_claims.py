"""What any agent says it has done, against what its tools did."""

import pytest
from tests.support import false_claims as claims

from steward.agents.guards.claims import claims_in
from steward.agents.guards.truth import LEFT_OUT, NOTHING_DONE, SOMETHING_ELSE, ClaimsOnRecord
from steward.agents.guards.wording import MAX_CHARACTERS, NO_WORDS, PlainWords
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.conversations.model import AnswerStatus, CallRecord, CallStatus

TOOLS = {
    each.name: each
    for each in (
        ToolSpec(name="send_email", description="Send an e-mail.", origin=Origin.BUILTIN),
        ToolSpec(name="write_file", description="Write a file.", origin=Origin.BUILTIN),
        ToolSpec(name="store_memory", description="Remember a fact.", origin=Origin.BUILTIN),
        ToolSpec(name="web_search", description="Search.", origin=Origin.BUILTIN, effect=Effect.READS),
    )
}
RULE = ClaimsOnRecord(TOOLS.get)


def call(tool: str, status: CallStatus = CallStatus.DONE) -> CallRecord:
    return CallRecord(
        tool=tool, arguments={}, status=status, error="no route" if status is CallStatus.FAILED else None
    )


def said(
    text: str, *calls: CallRecord, asked: str = "do it", status: AnswerStatus = AnswerStatus.DONE
) -> Draft:
    session = AgentSession(agent="assistant", user="ana", utterance=asked)
    return RULE.review(Draft(text=text, status=status), ledger=Ledger(calls=list(calls)), session=session)


@pytest.mark.parametrize("lie", claims.ELSEWHERE)
def test_what_no_call_did_is_not_said_to_be_done(lie: str) -> None:
    assert said(lie).text != lie


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("I've sent the email to Bob.", "send_email"),
        ("I saved the file.", "write_file"),
        ("I'll remember that: you like tea.", "store_memory"),
        ("Done!", "write_file"),
        ("Your file has been written.", "write_file"),
    ],
)
def test_what_a_call_did_is_said(text: str, tool: str) -> None:
    assert said(text, call(tool)).text == text
    assert said(text, call("web_search")).text != text
    assert said(text, call(tool, CallStatus.FAILED)).text != text
    assert said(text, call(tool, CallStatus.PENDING_APPROVAL)).text != text


def test_one_kind_of_change_does_not_bear_out_another() -> None:
    assert said("I've deleted the file.", call("send_email")).text == SOMETHING_ELSE


@pytest.mark.parametrize(
    "text",
    [
        "Python 3.12 added a new type statement, and distutils was removed.",
        "The paper was updated in 2021; its authors deleted the third section.",
        "The company changed its name in 1998 and moved to Paris.",
        "Columbus set sail in 1492 and was sent by Spain.",
        "The museum has been closed since March.",
        "According to [1], the law was changed in 2020.",
        "Built in 1889, the tower was moved twice. It no longer serves as an antenna.",
        "Success in business depends on many things. I checked three sources and found them to agree.",
    ],
)
def test_what_happened_in_the_world_may_be_told_to_who_asks_about_it(text: str) -> None:
    assert said(text, call("web_search"), asked="What happened to it?").text == text


@pytest.mark.parametrize(
    "text",
    [
        "I can send the email for you. Shall I?",
        "Would you like me to delete the file?",
        "I haven't sent anything.",
        "Nothing was deleted.",
        "If you confirm, I'll delete the file.",
        "Once approved, the file is removed.",
        "I could not save the file.",
        "The file cannot be deleted while it is open.",
        "To send it I need the address.",
        "You asked me to delete the file, but I have no tool for that.",
        "I tried to send it and failed.",
        "Which file should be removed?",
        "You can mark messages as read by pressing R.",
        "I haven't added, changed or deleted anything.",
        "Here are your completed tasks.",
        "You have 2 tasks completed today:",
        "Let me know if anything should be changed.",
    ],
)
def test_denials_questions_offers_and_conditions_are_no_claims(text: str) -> None:
    assert claims_in(text) == []


def test_the_rest_of_an_answer_is_kept() -> None:
    text = "Paris is the capital of France and has two million people. I've emailed this to Bob."
    answer = said(text, call("web_search"), asked="What is the capital of France?")
    assert answer.text == f"Paris is the capital of France and has two million people\n\n{LEFT_OUT}"


def test_an_answer_that_is_nothing_but_a_claim_is_withheld_and_says_what_happened() -> None:
    assert said("All done, sent!") == Draft(text=NOTHING_DONE, status=AnswerStatus.FAILED)
    tried = said("All done, sent!", call("send_email", CallStatus.FAILED))
    assert tried.text == f"{NOTHING_DONE} What I tried did not work: no route"


def test_a_quote_written_otherwise_takes_its_line_with_it() -> None:
    text = "Paris is lovely in spring and has many museums to visit.\nI've saved “trip” to your notes."
    assert "saved" not in said(text, asked="What about Paris?").text


def test_our_own_words_are_not_checked() -> None:
    asked = "Are you sure? The file was chosen to be deleted."
    assert said(asked, status=AnswerStatus.PENDING_APPROVAL).text == asked


def test_what_was_done_in_an_earlier_turn_bears_out_who_says_so() -> None:
    ledger = Ledger(earlier=[call("send_email")])
    session = AgentSession(agent="assistant", utterance="Did you send it?")
    draft = Draft(text="Yes, I already sent the email.")
    assert RULE.review(draft, ledger=ledger, session=session) == draft


def test_a_tool_that_nobody_knows_any_more_may_have_done_anything() -> None:
    assert said("I've sent it.", call("gone_tool")).text == "I've sent it."


def plain(text: str) -> Draft:
    return PlainWords().review(Draft(text=text), ledger=Ledger(), session=AgentSession(agent="tasks"))


@pytest.mark.parametrize(
    "garbage",
    [
        "", "   \n ", "!!! ??? ...", "\x00\x01\x02", '{"name": "delete_task", "arguments": {}}',
        "<tool_call>delete</tool_call>", "[TOOL_CALLS] x", "<|im_start|>assistant", "la " * 200,
        '```json\n{"tool": "x"}\n```', "\u200b\u200b", "}{)(*&^%$#@!" * 9,
    ],
)  # fmt: skip
def test_garbage_becomes_plain_words(garbage: str) -> None:
    assert plain(garbage) == Draft(text=NO_WORDS, status=AnswerStatus.FAILED)


def test_words_stay_as_they_are_and_hidden_characters_go() -> None:
    assert plain("Hello there.").text == "Hello there."
    assert plain("Hel\u200blo\x07 there.").text == "Hello there."
    assert plain("42").text == "42"


def test_a_flood_is_cut() -> None:
    flood = " ".join(f"word{number}" for number in range(10_000))
    answer = plain(flood).text
    assert (len(answer) <= MAX_CHARACTERS + 2, answer.endswith(" …")) == (True, True)
