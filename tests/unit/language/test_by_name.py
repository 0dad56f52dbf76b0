import pytest

from steward.language.by_name import ordered_name


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Use hello_world", "hello_world"),
        ("Please run the hello_world tool", "hello_world"),
        ("call `notes__search` with q = tea", "notes__search"),
        ("could you execute the script report-2?", "report-2"),
        ("What is hello_world?", None),
        ("Add a task to run hello_world", None),
        ("use the stairs", None),
        ("", None),
    ],
)
def test_an_order_that_names_an_identifier_means_that_and_nothing_else_does(
    said: str, name: str | None
) -> None:
    assert ordered_name(said) == name
