"""The form of a reference, as an example in a description shows it."""

from typing import Any

import pytest

from steward.language.forms.examples import forms_in, shown_forms


def schema(described: str, *, required: bool = True) -> dict[str, Any]:
    code = {"type": "string", "description": described}
    return {"type": "object", "properties": {"code": code}, "required": ["code"] if required else []}


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("drop KX-2044 please", {"KX"}),
        ("is lc310 still on?", {"LC"}),
        ("(INC/4471), and t-88.", {"INC", "T"}),
        ("at 10:30 on the 12th of May, by 11", set()),
        ("mail b12@hill.example or see a.b12/c", set()),
        ("WINTER5 and LK1 X", set()),
    ],
)
def test_a_reference_begins_with_its_letters(text: str, forms: set[str]) -> None:
    assert forms_in(text) == forms


def test_an_example_shows_the_form() -> None:
    assert shown_forms(schema("Number of the loan, for example LN-204")) == {"LN"}
    assert shown_forms(schema("Loan, e.g. LN-204 or BK-77")) == {"LN", "BK"}
    assert shown_forms(schema("Number of the loan LN-204")) == frozenset()
    assert shown_forms(schema("Loan, for example LN-204", required=False)) == frozenset()
