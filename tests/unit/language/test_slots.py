"""What a schema asks for, laid flat."""

from typing import Any

from steward.language.slots import SlotKind, slots_of, words_of


def schema(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def kinds(found: dict[str, Any]) -> dict[str, SlotKind]:
    return {slot.name: slot.kind for slot in slots_of(schema(found))}


def test_each_type_has_its_kind() -> None:
    stated = {
        "a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "number"}, "d": {"type": "boolean"},
        "e": {"type": "array"}, "f": {"type": "string", "enum": ["x"]}, "g": {"type": "object"},
    }  # fmt: skip
    assert "".join(kind[0] for kind in kinds(stated).values()) == "tinbleo"


def test_a_type_that_may_be_null_is_the_other_one() -> None:
    assert kinds({"a": {"type": ["integer", "null"]}}) == {"a": SlotKind.INTEGER}


def test_a_union_with_null_is_its_other_member() -> None:
    assert kinds({"a": {"anyOf": [{"type": "null"}, {"type": "number"}]}}) == {"a": SlotKind.NUMBER}


def test_of_several_types_a_text_is_taken() -> None:
    assert kinds({"a": {"oneOf": [{"type": "object"}, {"type": "string"}]}}) == {"a": SlotKind.TEXT}


def test_the_description_beside_a_union_stays() -> None:
    [slot] = slots_of(schema({"a": {"anyOf": [{"type": "string"}], "description": "A name"}}))
    assert slot.described == "A name"


def test_a_reference_is_followed() -> None:
    found = schema(
        {"a": {"$ref": "#/$defs/Size"}}, **{"$defs": {"Size": {"type": "string", "enum": ["s", "m"]}}}
    )
    [slot] = slots_of(found)
    assert slot.choices == ("s", "m")


def test_a_reference_to_nothing_is_a_text() -> None:
    assert kinds({"a": {"$ref": "#/$defs/Gone/Deep"}}) == {"a": SlotKind.TEXT}


def test_an_object_is_laid_out_by_its_fields() -> None:
    address = schema({"city": {"type": "string"}, "zip": {"type": "string"}}, "city")
    found = slots_of(schema({"address": address}, "address"))
    assert [(slot.path, slot.required) for slot in found] == [
        (("address", "city"), True),
        (("address", "zip"), False),
    ]


def test_a_field_of_an_optional_object_is_optional() -> None:
    found = slots_of(schema({"address": schema({"city": {"type": "string"}}, "city")}))
    assert not found[0].required


def test_an_object_without_a_type_is_known_by_its_properties() -> None:
    assert [slot.name for slot in slots_of(schema({"a": {"properties": {"b": {"type": "string"}}}}))] == [
        "a.b"
    ]


def test_what_is_nested_too_deep_stays_one_slot() -> None:
    deep = schema({"a": schema({"b": schema({"c": schema({"d": {"type": "string"}})})})})
    assert [slot.name for slot in slots_of(deep)] == ["a.b.c"]


def test_a_list_knows_its_members() -> None:
    [slot] = slots_of(schema({"a": {"type": "array", "items": {"type": "integer"}}}))
    assert slot.item is SlotKind.INTEGER


def test_a_list_of_choices_names_them() -> None:
    [slot] = slots_of(schema({"a": {"type": "array", "items": {"type": "string", "enum": ["x", None, "y"]}}}))
    assert slot.choices == ("x", "y")


def test_a_switch_is_on_or_off() -> None:
    [slot] = slots_of(schema({"a": {"type": "boolean"}}))
    assert slot.choices == (True, False)


def test_a_schema_without_properties_has_no_slots() -> None:
    assert slots_of({"type": "object", "properties": None}) == ()


def test_names_of_every_convention_are_the_same_words() -> None:
    names = ("createNewEvent", "create_new_event", "create-new-event", "create.new.event")
    assert {words_of(name).lower() for name in names} == {"create new event"}
