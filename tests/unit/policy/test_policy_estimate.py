"""The guess at what an unrated tool does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.tool import Origin, ToolHints, ToolSpec
from steward.policy import EffectKind, RiskLevel, Rules, assess, estimate
from steward.policy.estimate import estimate_tool


def kind(name: str, description: str = "", **properties: Any) -> EffectKind:
    return estimate_tool(name, description, {"type": "object", "properties": properties}).kind


@pytest.mark.parametrize(
    "name",
    [
        "get_user",
        "listIssues",
        "search-nodes",
        "issue_read",
        "server__list_things",
        "HTTPGetPage",
        "get_delete_status",
    ],
)
def test_a_reading_name_alone_is_read_only(name: str) -> None:
    assert kind(name) is EffectKind.READ_ONLY


@pytest.mark.parametrize(
    "name", ["create_user", "addComment", "post-message", "get_or_create_note", "check_in"]
)
def test_a_name_that_adds_is_a_write(name: str) -> None:
    assert kind(name) is EffectKind.WRITE


@pytest.mark.parametrize(
    "name",
    [
        "delete_user",
        "issue_write",
        "list_remove_item",
        "list_add_or_delete",
        "runCommand",
        "search_and_replace",
        "foo",
        "",
    ],
)
def test_a_name_that_changes_or_says_nothing_is_destructive(name: str) -> None:
    assert kind(name) is EffectKind.DESTRUCTIVE


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("db-stats", "Returns statistics about a database.", EffectKind.READ_ONLY),
        ("fleet_page", "Visualizes the fleet.", EffectKind.DESTRUCTIVE),
        ("troubleshoot", "Diagnose what is wrong with a machine.", EffectKind.DESTRUCTIVE),
        ("pods_log", "Get the logs of a pod.", EffectKind.READ_ONLY),
        ("deploy_status", "Check the status of a deployment.", EffectKind.READ_ONLY),
        ("tabs", "List, create, close or select a tab.", EffectKind.DESTRUCTIVE),
        ("scale", "Get or update the scale of a resource.", EffectKind.DESTRUCTIVE),
        ("get_thing", "This tool will finalize the thing.", EffectKind.WRITE),
        ("lookup_rows", "Executes a search against the index.", EffectKind.READ_ONLY),
        ("get_rows", "Get rows. Executes a search. Returns a page of them.", EffectKind.READ_ONLY),
        ("resolve_thread", "Resolve a review thread.", EffectKind.WRITE),
        ("verify_value", "Verify the value.", EffectKind.DESTRUCTIVE),
        ("read_mail", "START HERE: read the mail. Deletes what it has read.", EffectKind.DESTRUCTIVE),
        ("mail", "Read the mail. Permanently removes what it has read.", EffectKind.DESTRUCTIVE),
        (
            "find_slow",
            "Searches logs, waits for the analysis to complete and returns it.",
            EffectKind.DESTRUCTIVE,
        ),
        ("monitor_start", "", EffectKind.WRITE),
        (
            "things",
            "An example of an interface with one or two or three or four or five or six values.",
            EffectKind.DESTRUCTIVE,
        ),
        ("issue", "Get the issue and comment threads.", EffectKind.READ_ONLY),
        ("pages", "Tool for getting pages.", EffectKind.READ_ONLY),
        ("pages", "Tool for copying pages.", EffectKind.WRITE),
        ("pages", "Copies pages.", EffectKind.WRITE),
        ("get_schema", "Provides the schema of any resource type.", EffectKind.READ_ONLY),
        ("get_activity", "Always prefer this for activity logs. Lists them.", EffectKind.READ_ONLY),
        ("pages", "An interesting tool.", EffectKind.DESTRUCTIVE),
        ("get_it", "Get it. Does not delete anything.", EffectKind.READ_ONLY),
    ],
)
def test_the_description_is_read_with_the_name(name: str, description: str, expected: EffectKind) -> None:
    assert kind(name, description) is expected


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("query", "Run a SQL query.", EffectKind.DESTRUCTIVE),
        ("query_snowflake", "Query Snowflake.", EffectKind.DESTRUCTIVE),
        ("query", "Run a read-only SQL query.", EffectKind.READ_ONLY),
        ("explain_query", "Explain a SQL statement.", EffectKind.READ_ONLY),
        ("query_metrics", "Query metrics.", EffectKind.READ_ONLY),
    ],
)
def test_a_query_language_that_can_write_counts_as_writing(
    name: str, description: str, expected: EffectKind
) -> None:
    assert kind(name, description) is expected


def test_the_schema_shows_what_a_tool_can_do() -> None:
    assert kind("issues", "Get issues.", action={"enum": ["list", "get"]}) is EffectKind.READ_ONLY
    assert kind("issues", "Get issues.", action={"enum": ["list", "delete"]}) is EffectKind.DESTRUCTIVE
    assert kind("issues", "Get issues.", action={"enum": ["x"]}) is EffectKind.READ_ONLY
    assert kind("issues", "Get issues.", action={"type": "string"}) is EffectKind.READ_ONLY
    assert kind("issues", "Get issues.", mode="oddly written") is EffectKind.READ_ONLY
    assert (
        kind("get_page", "Get a page.", script={}, force={}, newName={}, content={}) is EffectKind.DESTRUCTIVE
    )
    assert kind("get_page", "Get a page.", outputPath={"type": "string"}) is EffectKind.DESTRUCTIVE
    assert estimate_tool("get_page", "", {"properties": ["odd"]}).kind is EffectKind.READ_ONLY


def test_actions_in_the_description_count() -> None:
    assert kind("issues", "Get issues. Use action 'delete' to remove one.") is EffectKind.DESTRUCTIVE


def test_hints_are_believed_only_against_the_tool_itself() -> None:
    claims = {"harmless": ToolHints(read_only=True), "changing": ToolHints(read_only=False)}
    assert estimate_tool("delete_all", "", hints=claims["harmless"]).kind is EffectKind.DESTRUCTIVE
    assert estimate_tool("get_all", "", hints=claims["changing"]).kind is EffectKind.DESTRUCTIVE
    assert estimate_tool("get_all", "", hints=ToolHints(destructive=True)).kind is EffectKind.DESTRUCTIVE


def test_a_guess_explains_itself_and_proposes_a_rating() -> None:
    guess = estimate(ToolSpec(name="delete_note", description="Delete a note."))
    assert (guess.kind, guess.rating) == (EffectKind.DESTRUCTIVE, RiskLevel.IRREVERSIBLE)
    assert guess.reasons[0] == "its name says 'delete'"
    assert estimate(ToolSpec(name="get_note", description="Get a note.")).rating is RiskLevel.REVERSIBLE
    assert (
        estimate(ToolSpec(name="add_note", description="Add a note.")).rating
        is RiskLevel.REVERSIBLE_WITH_DELAY
    )


def test_the_same_definition_is_judged_once() -> None:
    one, same = (ToolSpec(name="get_note", description="Get one.") for _ in range(2))
    assert estimate(one) is estimate(same)
    assert estimate(one) is not estimate(ToolSpec(name="get_note", description="Get another."))


def hinted(name: str, description: str) -> RiskLevel:
    hints = ToolHints(read_only=True)
    spec = ToolSpec(name=name, description=description, origin=Origin.SERVER, hints=hints, hints_trusted=True)
    return assess(spec, {}, Rules()).level


def test_a_trusted_server_is_contradicted_when_its_tool_plainly_destroys() -> None:
    assert hinted("notes__get", "Get a note.") is RiskLevel.REVERSIBLE
    assert hinted("notes__annotate", "Adds a note.") is RiskLevel.REVERSIBLE
    assert hinted("notes__delete", "Delete a note.") is RiskLevel.IRREVERSIBLE


texts = st.text(max_size=80)


@given(texts, texts, st.none() | st.booleans(), st.none() | st.booleans())
def test_a_guess_never_lowers_what_a_call_is_rated(
    name: str, description: str, read_only: bool | None, destructive: bool | None
) -> None:
    """Whatever a tool says of itself, an unrated tool stays irreversible until somebody rates it."""
    safe = "".join(letter for letter in name if letter.isascii() and letter.isalnum())[:60] or "x"
    spec = ToolSpec(
        name=safe,
        description=description,
        origin=Origin.SERVER,
        hints=ToolHints(read_only=read_only, destructive=destructive),
    )
    assert assess(spec, {}, Rules()).level is RiskLevel.IRREVERSIBLE


@given(texts, texts, st.dictionaries(texts, st.none() | texts | st.dictionaries(texts, st.lists(texts))))
def test_any_definition_can_be_judged(name: str, description: str, properties: dict[str, Any]) -> None:
    guess = estimate_tool(name, description, {"properties": properties})
    assert 0.5 <= guess.probability <= 1


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("analyze_issue", "Analyze an issue."),
        ("scrape_page", "Scrape a page."),
        ("audit_site", "Audit a site."),
        ("database_query", "Query a database of the account."),
    ],
)
def test_a_verb_that_is_often_more_than_a_look_is_not_enough(name: str, description: str) -> None:
    assert kind(name, description) is not EffectKind.READ_ONLY


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("fetch", "Fetch a URL and return its text."),
        ("build_status", "Check the status of a build."),
        ("compare_files", "Compare two files."),
    ],
)
def test_what_plainly_reads_or_works_out_an_answer_is_read_only(name: str, description: str) -> None:
    assert kind(name, description) is EffectKind.READ_ONLY


@pytest.mark.parametrize(
    ("name", "description", "reason"),
    [
        ("get_latex", "Download, process, cache, and return the source.", "it keeps what it reads"),
        ("audit_page", "Get scores. Full reports are saved to disk.", "its description says 'are saved to'"),
        ("get_page", "Get a page. Findings are written to the log.", "its description says 'are written to'"),
        (
            "get_issue",
            "Get an issue:\n1. Checks the cache.\n2. Deletes old ones.",
            "one of its steps changes",
        ),
    ],
)
def test_a_reader_that_leaves_something_behind_is_noticed(name: str, description: str, reason: str) -> None:
    guess = estimate_tool(name, description)
    assert any(reason in said for said in guess.reasons)
    assert (
        guess.probability <= estimate_tool(name, "Get one.").probability
        or guess.kind is not EffectKind.READ_ONLY
    )


def test_words_in_passing_about_others_are_no_sign() -> None:
    guess = estimate_tool("get_notes", "Get notes. Results are sorted in order. They are listed in groups.")
    assert guess.kind is EffectKind.READ_ONLY
    assert not any("its description says" in said for said in guess.reasons)


def test_a_parameter_that_says_where_to_save_makes_a_reader_a_writer() -> None:
    saving = {"requestFilePath": {"type": "string", "description": "Path of a file to save the body to."}}
    assert kind("get_request", "Get a request.", **saving) is not EffectKind.READ_ONLY
    assert (
        kind("get_request", "Get a request.", id={"description": "Which one."}, odd=True)
        is EffectKind.READ_ONLY
    )


def test_more_text_in_parameters_than_is_read_counts_against_a_tool() -> None:
    long = {f"p{number}": {"description": "x" * 5_000} for number in range(5)}
    assert kind("get_request", "Get a request.", **long) is not EffectKind.READ_ONLY
