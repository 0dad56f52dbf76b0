import pytest

from steward.contract.errors import InputError
from steward.contract.tool import Origin, RiskLevel, ToolHints, ToolSpec


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 65, "a/b", "a.b"])
def test_a_name_that_no_client_could_call_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        ToolSpec(name=name, description="")
    assert caught.value.code == "INVALID_INPUT"


def test_an_alias_follows_the_same_rule_as_a_name() -> None:
    with pytest.raises(InputError):
        ToolSpec(name="fine", description="", aliases=("not fine",))


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_could_never_be_met_is_refused(timeout: float) -> None:
    with pytest.raises(InputError):
        ToolSpec(name="slow", description="", timeout=timeout)


def test_risk_is_only_ever_raised() -> None:
    low, middle, high = RiskLevel
    assert [low.at_least(high), high.at_least(low), middle.at_least(middle)] == [high, high, middle]


def test_the_definition_hash_changes_with_anything_that_a_person_judged() -> None:
    spec = ToolSpec(name="send", description="Send it.", input_schema={"type": "object"})
    others = [
        ToolSpec(name="sent", description="Send it.", input_schema={"type": "object"}),
        ToolSpec(name="send", description="Send it all.", input_schema={"type": "object"}),
        ToolSpec(name="send", description="Send it.", input_schema={"type": "object", "required": ["to"]}),
        ToolSpec(name="send", description="Send it.", output_schema={"type": "string"}),
        ToolSpec(name="send", description="Send it.", hints=ToolHints(read_only=True)),
    ]
    assert len({spec.definition_hash, *(other.definition_hash for other in others)}) == 6


def test_the_definition_hash_ignores_the_order_of_keys_and_how_it_is_run() -> None:
    one = ToolSpec(name="a", description="", input_schema={"type": "object", "title": "A"}, timeout=1)
    other = ToolSpec(name="a", description="", input_schema={"title": "A", "type": "object"}, timeout=2)
    assert one.definition_hash == other.definition_hash


def test_only_a_trusted_word_makes_a_servers_call_replayable() -> None:
    hints = ToolHints(idempotent=True)
    assert [
        ToolSpec(name="a", description="", origin=Origin.SERVER, hints=hints).replayable,
        ToolSpec(name="a", description="", origin=Origin.SERVER, hints=hints, hints_trusted=True).replayable,
        ToolSpec(name="a", description="", origin=Origin.BUILTIN, hints=hints).replayable,
        ToolSpec(name="a", description="", origin=Origin.BUILTIN).replayable,
    ] == [False, True, True, False]


@pytest.mark.req("ORC-Q03", "ORC-Q12")
def test_a_manifest_entry_tells_a_model_what_it_needs_and_no_more() -> None:
    full = ToolSpec(
        name="add",
        description="Add two numbers.",
        input_schema={"type": "object", "required": ["a", "b"]},
        output_schema={"type": "number"},
        examples=("What is 2 and 2?",),
        category="arithmetic",
    )
    assert full.manifest_entry() == {
        "name": "add",
        "description": "Add two numbers.",
        "input_schema": {"type": "object", "required": ["a", "b"]},
        "output_schema": {"type": "number"},
        "examples": ["What is 2 and 2?"],
        "category": "arithmetic",
    }
    assert ToolSpec(name="a", description="b").manifest_entry() == {
        "name": "a",
        "description": "b",
        "input_schema": {"type": "object"},
    }
