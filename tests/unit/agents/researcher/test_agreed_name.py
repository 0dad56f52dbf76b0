import pytest

from steward.agents.researcher.quotable import agreed_name

PARIS = ("Paris is the capital of France.", "Trains reach the capital of France, Paris, within hours.")


@pytest.mark.req("RES-US1.1")
@pytest.mark.parametrize(
    ("question", "texts", "name"),
    [
        ("What is the capital of France?", PARIS, "Paris"),
        (
            "Who founded it?",
            ("Ingrid Solheim founded it.", "It was founded by Ingrid Solheim."),
            "Ingrid Solheim",
        ),
        ("What is the capital of France?", PARIS[:1], None),  # nobody agrees with it
        ("What is the capital of France?", ("Paris is big.", "Lyon is big."), None),
        ("What is the capital?", PARIS, None),  # two names, and not beside each other
        ("How do I get there?", ("Trains reach it.", "Trains go there."), None),
        ("How tall is it?", ("The tower is high.", "The tower is tall."), None),
    ],
)
def test_what_sites_agree_on_is_one_name_that_the_question_lacks(
    question: str, texts: tuple[str, ...], name: str | None
) -> None:
    assert agreed_name(question, texts) == name
